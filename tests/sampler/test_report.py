import json
import math

import pytest

from bottomup.sampler.diagnostics import Convergence
from bottomup.sampler.report import RungReport, conclusion, describe_rung, quantity_title


def convergence(quantity="cut_edges", rhat=1.01, ess=500.0, n_draws=1000):
    return Convergence(quantity, 2, n_draws, rhat, ess, ess, False, 10.0)


def report(verdict, *convergences, epsilon=1.0, seconds_left=None):
    return RungReport(epsilon, verdict, convergences or (convergence(),), seconds_left)


@pytest.mark.parametrize(
    ("quantity", "title"),
    [
        ("score_testimony", "testimony score"),
        ("units_moved", "units with new mates"),
        ("Democratic 1", "lowest Democratic share"),
        ("Democratic 2", "2nd lowest Democratic share"),
        ("Black 3", "3rd lowest Black share"),
        ("Black 11", "11th lowest Black share"),
        ("Black 21", "21st lowest Black share"),
        ("Black 38", "highest Black share"),
    ],
)
def test_quantities_have_names(quantity, title):
    assert quantity_title(quantity, 38) == title


def test_agreement_is_claimed_of_unlike_starts_alone():
    assert conclusion([report("agree")], 2, 8, False) == (
        "The 2 chains from unlike starts agree: R-hat is below 1.05 for all that was measured."
    )
    for words, n_starts, text in [
        ("One chain from one start: agreement cannot be claimed", 1, False),
        ("One ladder from one start: agreement cannot be claimed", 1, True),
        ("The 2 chains began at plans that are alike, so agreement cannot be claimed", 2, False),
    ]:
        assert conclusion([report("one start")], n_starts, 8, text).startswith(words)


def test_disagreement_names_the_worst_quantity_and_the_time_left():
    found = report(
        "disagree",
        convergence(),
        convergence("Democratic 4", 1.314),
        convergence("Black 2", 1.2),
        seconds_left=700.0,
    )
    assert conclusion([found], 2, 8, False) == (
        "The 2 chains from unlike starts do not agree yet: R-hat 1.31 for the 4th lowest Democratic share; "
        "about 12 min more at this speed."
    )
    still = report("disagree", convergence(rhat=math.inf))
    assert conclusion([still], 3, 8, False) == (
        "The 3 chains from unlike starts do not agree yet: R-hat infinite for the cut edges."
    )


@pytest.mark.parametrize(
    ("seconds", "time"), [(7.2, "8 s"), (89.0, "89 s"), (100.0, "2 min"), (9000.0, "2 h"), (2e5, "2 days")]
)
def test_too_early_says_how_much_longer(seconds, time):
    assert conclusion([report("too early", seconds_left=seconds)], 2, 8, False) == (
        "It is too early to tell whether the 2 chains from unlike starts agree: there are too few draws; "
        f"about {time} more at this speed."
    )


def test_a_ladder_agrees_when_every_rung_does():
    low, high = report("agree", epsilon=0.0), report("agree", epsilon=2.0)
    assert "agree at every epsilon of the ladder" in conclusion([low, high], 2, 8, True)
    apart = report("disagree", convergence(rhat=1.5), epsilon=1.0, seconds_left=60.0)
    early = report("too early", epsilon=2.0, seconds_left=120.0)
    assert conclusion([low, apart, early], 2, 8, True) == (
        "The 2 ladders from unlike starts do not agree yet at epsilon 1: R-hat 1.50 for the cut edges "
        "at epsilon 1. It is too early to tell at epsilon 2: there are too few draws; about 2 min more at "
        "this speed."
    )


def test_figures_are_ready_for_json():
    undefined = convergence(rhat=math.inf, ess=math.nan)
    found = json.loads(json.dumps(describe_rung(report("disagree", undefined)), allow_nan=False))
    assert found["epsilon"] == 1
    assert found["seconds_left"] is None
    assert found["quantities"]["cut_edges"] == {
        "rhat": None,
        "ess_bulk": None,
        "ess_tail": None,
        "ess_bulk_per_second": None,
        "ess_tail_per_second": None,
        "draws_of_each_chain": 1000,
        "is_constant": False,
        "agrees": False,
    }
    assert describe_rung(report("agree"))["quantities"]["cut_edges"]["ess_bulk_per_second"] == 50
