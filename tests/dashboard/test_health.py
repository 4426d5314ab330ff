from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest

from bottomup.dashboard.design import Design
from bottomup.dashboard.health import (
    MOST_POINTS,
    RungFigures,
    Workings,
    quantities_of,
    ranked_figures,
    trace_of,
)
from bottomup.dashboard.health_words import (
    basis,
    exchange_table,
    figures_table,
    headline,
    moves_sentence,
    moves_table,
    remedies,
    run_table,
    trace_sentence,
)
from bottomup.dashboard.prepared import Prepared
from bottomup.dashboard.recording import Plans
from bottomup.dashboard.reliability import Reliability
from bottomup.dashboard.wording import reliability_line
from bottomup.dashboard.worker import Progress
from bottomup.sampler.diagnostics import Convergence
from bottomup.sampler.types import Mixture

DESIGN = Design("quadrants", 0.05, 0.005, 1)


def convergence(
    quantity: str, rhat: float, bulk: float, tail: float, *, constant: bool = False
) -> Convergence:
    return Convergence(quantity, 2, 200, rhat, bulk, tail, constant, seconds=100.0)


RUNGS = (
    RungFigures(
        1.25,
        (
            convergence("cut_edges", 1.01, 300, 250),
            convergence("score_testimony", 1.2, 30, 40),
            convergence("Democratic 1", math.inf, math.nan, math.nan),
            convergence("Democratic 2", 1.04, 80, 150),
        ),
    ),
    RungFigures(
        0.0,
        (
            convergence("cut_edges", 1.02, 120, 50),
            convergence("score_testimony", math.nan, math.nan, math.nan, constant=True),
            convergence("Democratic 1", 1.03, 400, 400),
        ),
    ),
)


def plans(n: int, cluster: float = math.nan) -> Plans:
    step = np.arange(1, n + 1) * 10
    return Plans(
        step=step,
        cut_edges=(step % 70).astype(np.int32),
        testimony=step / 1000,
        cluster=np.full(n, cluster),
        preserved=np.zeros((n, 1), dtype=np.uint8),
        shares={name: np.tile([0.1, 0.4], (n, 1)) for name in ("Democratic", "Black")},
    )


def workings(counter: np.ndarray, rates: tuple[float, ...] = (0.6, 0.1)) -> Workings:
    return Workings(
        epsilons=(0.0, 1.25, 4.0),
        starts=("plan <b>", "plan from random trees"),
        start_values=({}, {}),
        mixture=Mixture(flips=5, community_flips=0, merge_splits=1, walks=0),
        counter=counter,
        exchange_rates=rates,
        round_trips=(3, 4),
        drift=2e-9,
    )


@pytest.fixture
def counted() -> Workings:
    counter = np.zeros((2, 3, 4, 6), dtype=np.int64)
    counter[0, 1, 0] = 10, 0, 0, 70, 0, 20
    counter[0, 1, 2] = 0, 0, 0, 0, 0, 100
    counter[1, 1, 0] = 0, 0, 0, 4000, 0, 1
    return workings(counter)


@pytest.fixture(scope="module")
def running(prepared: Prepared) -> Progress:
    ladders = prepared.build_ladders(Design("quadrants", 0.5, 0.0, 1))
    while ladders.rounds < 30:
        ladders.run(lambda: ladders.rounds >= 30)
    return Progress(phase="running", standing=ladders.standing(), steps_per_second=1234.0)


def test_what_stands_in_the_way_of_agreement_comes_first() -> None:
    found = [(each.convergence.quantity, each.epsilon, each.finding) for each in ranked_figures(RUNGS)]
    assert found == [
        ("Democratic 1", 1.25, "disagree"),
        ("score_testimony", 1.25, "disagree"),
        # Fewest effective plans first, in the tail or in the bulk.
        ("cut_edges", 0.0, "too few"),
        ("Democratic 2", 1.25, "too few"),
        ("Democratic 1", 0.0, "agree"),
        ("cut_edges", 1.25, "agree"),
        ("score_testimony", 0.0, "constant"),
    ]


def test_one_walk_alone_never_agrees() -> None:
    alone = [RungFigures(1.0, (convergence("cut_edges", math.nan, 500, 500),))]
    assert ranked_figures(alone)[0].finding == "unknown"


def test_quantities_are_those_that_are_to_agree_and_have_values() -> None:
    found = quantities_of([plans(4), plans(6)], ["Democratic"])
    assert list(found) == ["score_testimony", "cut_edges", "Democratic 1", "Democratic 2"]
    assert [len(draws) for draws in found["cut_edges"]] == [4, 6]
    assert found["Democratic 2"][0][0] == 0.4
    assert "score_cluster" in quantities_of([plans(4), plans(4, cluster=0.5)], [])


@pytest.mark.parametrize("n", [1, 2, 499, 500, 501, 1000])
def test_a_trace_is_thinned_and_ends_where_the_walk_is(n: int) -> None:
    own = plans(n)
    trace = trace_of(own.step, own.testimony)
    assert 0 < len(trace.step) <= MOST_POINTS
    assert trace.step[-1] == own.step[-1]
    assert len(set(np.diff(trace.step))) <= 1
    np.testing.assert_array_equal(trace.value, trace.step / 1000)
    # Figures are of all plans of the later half, drawn or not.
    later = own.testimony[n // 2 :]
    assert trace.counts_from == own.step[n // 2]
    assert trace.mean == pytest.approx(later.mean())
    assert trace.low <= trace.mean <= trace.high <= later.max()


@pytest.mark.parametrize(
    ("found", "kind", "words"),
    [
        (Reliability(1.0, "agree"), "agree", "Two walks from unlike starts agree"),
        (
            Reliability(1.0, "disagree", "cut_edges", seconds_left=200.0),
            "disagree",
            "Not yet: keep sampling, about 4 more minutes",
        ),
        (Reliability(1.0, "disagree", "cut_edges"), "disagree", "Not yet: keep sampling"),
        (
            Reliability(1.0, "too early", seconds_left=9000),
            "too-early",
            "Too early to say: keep sampling, it may take more than an hour",
        ),
        (Reliability(1.0, "one start"), "disagree", "Cannot be judged: there is no second, unlike start"),
        (Reliability(1.0, "agree", stuck="…", stuck_by=("ratio",)), "disagree", "Stuck: a walk stands still"),
        (
            Reliability(1.0, "agree", stuck="…", stuck_by=("ratio",) * 2),
            "disagree",
            "Stuck: walks stand still",
        ),
        (Reliability(2.0, "agree"), "wait", "Looking at this ε …"),
    ],
)
def test_the_verdict_is_that_of_the_strip(
    running: Progress, found: Reliability, kind: str, words: str
) -> None:
    progress = replace(running, reliability=found)
    assert headline(progress, 1.0) == (kind, words)
    if kind != "wait":
        assert (
            f'class="reliability {"one-start" if found.verdict == "one start" else kind}"'
            in reliability_line(progress, 1.0)
        )


def test_before_there_are_walks_the_verdict_says_what_to_do(running: Progress) -> None:
    assert headline(Progress(), 1.0).words == "Nothing to judge yet: press Start"
    assert headline(Progress(phase="preparing"), 1.0).words == "Preparing the walks …"
    assert headline(replace(running, phase="failed"), 1.0).words == "Stopped by an error"


def test_a_verdict_says_what_it_rests_on() -> None:
    words = basis(Reliability(1.0, "disagree", rungs=RUNGS), ("plan <b>", "plan from random trees"), 2)
    assert "Starts: plan &lt;b&gt; and plan from random trees." in words
    assert "latest 200 plans of each walk: 7 quantities, at ε = 1.25, and where testimony is ignored" in words
    assert (
        "<b>2 are within both limits</b>: R-hat below 1.05, at least 100 effective plans. 1 never varies"
        in words
    )
    assert "Worst: lowest Democratic share at ε = 1.25, R-hat infinite." in words
    alone = basis(Reliability(1.0, "one start"), ("plan a",), 2)
    assert "nothing to compare it with. Its start: plan a." in alone
    assert "limits" not in alone


def test_remedies_follow_the_reason_and_the_settings() -> None:
    bounds = Reliability(1.0, "disagree", stuck="…", stuck_by=("population bounds",))
    words = remedies(bounds, DESIGN._replace(moves="walk"), 2)
    assert words.startswith("<h2>What would help")
    assert "Widen the population tolerance, now 5 %." in words
    assert "mixture of moves" in words
    assert "another second start, or another enacted plan." in words
    assert "compactness" not in words
    ratio = remedies(replace(bounds, stuck_by=("ratio",)), DESIGN, 1)
    assert "Lower the weight of compactness, now 0.005." in ratio
    assert "smaller ε than 1" in ratio
    assert "tolerance" not in ratio
    assert "mixture" not in ratio
    assert "enacted plan" not in ratio


def test_what_agrees_in_minutes_needs_no_remedy_and_what_takes_hours_does() -> None:
    soon = Reliability(1.0, "disagree", seconds_left=600.0)
    assert remedies(soon, DESIGN, 2) == ""
    assert remedies(Reliability(1.0, "agree"), DESIGN, 2) == ""
    assert remedies(Reliability(1.0, "too early"), DESIGN, 2) == ""
    slow = remedies(replace(soon, seconds_left=7200.0), DESIGN, 2)
    assert slow.startswith("<h2>If that is too long")
    assert "tolerance" in slow
    assert "compactness" in slow


def test_the_table_of_figures_has_heads_limits_and_a_word_for_every_row() -> None:
    figures = ranked_figures(RUNGS)
    table = figures_table(figures[:3], len(figures), 2)
    assert "<caption>The worst 3 of 7 quantities" in table
    assert "R-hat below 1.05, and at least 100 effective plans" in table
    assert table.count('scope="col"') == 7
    assert table.count('scope="row"') == 3
    first, second, third = table.split("<tr>")[2:]
    assert "Lowest Democratic share" in first
    assert "<td>infinite</td><td>–</td><td>–</td><td>–</td>" in first
    # Of both sizes the smaller one, over the seconds of the run.
    assert "<td>1.200</td><td>30</td><td>40</td><td>0.3</td>" in second
    assert "walks differ" in second
    assert "too few plans" in third
    assert "<caption>All 7 quantities" in figures_table(figures, 7, 2)


def test_steps_are_told_by_move_walk_and_reason(counted: Workings) -> None:
    table = moves_table(counted, 1)
    assert "at ε = 1.25" in table
    # The kinds that the mixture has, each with a row for either walk.
    assert table.count('rowspan="2"') == 2
    assert "Marked Edge Walk" not in table
    assert "<td>100</td><td>10.0%</td><td>0</td><td>0</td><td>70.0%</td><td>0</td><td>20.0%</td>" in table
    assert "<td>4,001</td><td>0</td><td>0</td><td>0</td><td>100.0%</td><td>0</td><td>under 0.1%</td>" in table
    words = moves_sentence(counted, 1)
    assert "first walk changed its plan in <b>5.0%</b> of 200 steps; 60.0% were refused by the odds" in words
    assert (
        "second walk changed its plan in <b>0</b> of 4,001 steps; 100.0% were refused by the population"
        in words
    )
    assert moves_sentence(counted, 2) == "<p>No step has been counted yet.</p>"


def test_exchanges_that_are_rare_are_named(counted: Workings) -> None:
    table = exchange_table(counted)
    assert "0 and 1.25</th><td>60%</td>" in table
    assert '<td>10%</td><td class="words poor">rare</td>' in table
    assert "not tried yet" in exchange_table(replace(counted, exchange_rates=(math.nan, 0.5)))


def test_the_run_tells_speed_length_and_memory(running: Progress) -> None:
    table = run_table(running, 12_345_678)
    assert "1,234, all " in table
    assert "12.3 MB" in table
    assert "30, of which 30 to place the ε" in table
    assert "paused" in run_table(replace(running, steps_per_second=0.0), 0)


def test_a_trace_is_told_in_words() -> None:
    own = plans(10)
    trace = trace_of(own.step, own.testimony)
    words = trace_sentence("score_testimony", [trace, trace], [0.5, 0.25])
    assert "The first walk began at 50.0%; in its later half it averages <b>8.0%</b>" in words
    assert "The second walk began at 25.0%" in words
    assert "began at 12;" in trace_sentence("cut_edges", [trace_of(own.step, own.cut_edges)], [12.0])
