from __future__ import annotations

import math
import re
from dataclasses import replace

import numpy as np
import pytest

from bottomup.dashboard.design import Design
from bottomup.dashboard.pool import Sample
from bottomup.dashboard.prepared import Prepared
from bottomup.dashboard.recording import Plans
from bottomup.dashboard.reliability import Reliability
from bottomup.dashboard.wording import ladder_line, number_of_plans, progress_line, reliability_line
from bottomup.dashboard.worker import Progress


@pytest.fixture(scope="module")
def running(prepared: Prepared) -> Progress:
    ladders = prepared.build_ladders(Design("quadrants", 0.5, 0.0, 1))
    while ladders.rounds < 30:
        ladders.run(lambda: ladders.rounds >= 30)
    return Progress(phase="running", standing=ladders.standing())


@pytest.mark.parametrize(
    ("found", "told"),
    [
        (Reliability(1.0, "agree"), "<b>Can be relied on:</b> two walks from unlike starts agree"),
        (Reliability(1.0, "one start"), "<b>Cannot be judged:</b>"),
        (Reliability(1.0, "too early", seconds_left=30), "<b>Too early to say</b>.*about 1 more minute."),
        (
            Reliability(1.0, "disagree", "Democratic 3", seconds_left=200.0),
            "still disagree on the districts' Democratic shares. Keep sampling: about 4 more minutes.",
        ),
        (
            Reliability(1.0, "disagree", "cut_edges", in_baseline=True, seconds_left=9000.0),
            "on compactness .cut edges. when testimony is ignored. Keep sampling: .*more than an hour",
        ),
        (Reliability(1.0, "disagree", "score_testimony"), "testimonies kept whole. Keep sampling.</p>"),
        (Reliability(1.0, "agree", stuck="The walk at ε = 1 is stuck."), "Do not rely.*is stuck."),
        (Reliability(2.0, "agree"), "Looking at this ε"),
    ],
)
def test_whether_it_can_be_relied_on_is_said_in_words(
    running: Progress, found: Reliability, told: str
) -> None:
    line = reliability_line(replace(running, reliability=found), 1.0)

    assert re.search(told, line), line
    assert line.startswith('<p class="reliability')


def test_nothing_is_said_before_there_is_something() -> None:
    assert reliability_line(Progress(), 1.0) == ""
    assert ladder_line(Progress()) == ""
    assert progress_line(Progress()) == "Not started yet."


def test_progress_tells_the_warming_up_from_the_rest(running: Progress) -> None:
    assert progress_line(running) == "Warming up: round 30 of 120"
    assert running.standing is not None
    later = replace(running, standing=replace(running.standing, rounds=1234))
    assert progress_line(later) == "Round 1,234"


def test_the_ladders_own_figures(running: Progress) -> None:
    found = Reliability(1.0, "disagree", "cut_edges", rhat=1.234, ess=56.7)
    line = ladder_line(replace(running, reliability=found))
    assert "walks at ε = 0 to 10" in line
    assert "largest R-hat 1.23, least ESS 57" in line
    assert "R-hat" not in ladder_line(replace(running, reliability=replace(found, rhat=math.nan)))


def test_how_many_plans_and_what_they_are_worth() -> None:
    n = 500
    column = np.zeros(n)
    plans = Plans(column, column, column, column, column, {})
    sample = Sample(1.0, (0.8, 1.25), 2, 321, 400.4, plans, column, column)
    words = number_of_plans(sample)
    assert "Drawn from 500 plans, the later half of two walks up to round 321" in words
    assert "0.8 and 1.2 and weighted to 1, they are worth 400" in words.replace("\u00a0", " ")
    assert "Early" not in words
    words = number_of_plans(replace(sample, rungs=(1.0,), n_effective=150.0, n_ladders=1))
    assert "the later half of one walk up to round 321. Early days" in words
