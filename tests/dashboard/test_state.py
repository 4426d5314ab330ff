from __future__ import annotations

import itertools
import math
import subprocess
import sys

import pytest

from bottomup.dashboard.state import EPSILONS, Settings, Shown, odds_factor, promise, promise_caption
from bottomup.sampler import sensitivity


@pytest.mark.parametrize("module", ["state", "worker", "pool", "reliability", "binning", "raster"])
def test_models_need_no_page(module: str) -> None:
    code = f"import sys, bottomup.dashboard.{module}; print('panel' in sys.modules, 'bokeh' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["False", "False"]


def test_epsilon_positions_are_off_and_then_evenly_spread_on_a_log_scale() -> None:
    assert EPSILONS[0] == 0
    assert (EPSILONS[1], EPSILONS[11], EPSILONS[-1]) == (0.1, 1.0, 10.0)
    ratios = [high / low for low, high in itertools.pairwise(EPSILONS[1:])]
    assert min(ratios) > 1.15
    assert max(ratios) < 1.4


@pytest.mark.parametrize(
    ("epsilon", "factor"), [(0.1, "1.11"), (1.0, "2.7"), (2.0, "7.4"), (5.0, "148"), (10.0, "22,026")]
)
def test_promise_states_the_odds(epsilon: float, factor: str) -> None:
    assert odds_factor(epsilon) == factor
    assert f"at most ×{factor}." in promise(epsilon)
    assert math.isclose(float(factor.replace(",", "")), math.exp(epsilon), rel_tol=0.02)


def test_promise_without_weight_and_its_caption() -> None:
    assert "ignored" in promise(0)
    public = promise_caption(sensitivity.testimony_sensitivity(50), None)
    assert "stationarity" in public
    assert "Δ" not in public
    assert "Conditional" not in public
    looking = promise_caption(sensitivity.coverage_sensitivity_from_data([2, 1], 100), False)
    assert "0.0200" in looking
    assert "computed from the data" in looking
    assert "Conditional on the clusters" in looking
    assert "Conditional" not in promise_caption(sensitivity.mass_sensitivity(50), True)


def test_settings_refuse_values_out_of_bounds() -> None:
    settings = Settings(["a", "b"], "a")
    for name, value in {
        "epsilon": 11,
        "score": "other",
        "tolerance": 0.7,
        "seed": -1,
        "enacted": "c",
    }.items():
        with pytest.raises(ValueError, match=name):
            setattr(settings, name, value)
    assert settings.epsilon == 1.0
    assert settings.design == ("a", 0.05, 0.005, 1, "mixture", "testimony", "coverage")


def test_settings_refuse_an_unknown_enacted_plan() -> None:
    with pytest.raises(ValueError, match=r"one of \['a'\]; got 'b'"):
        Settings(["a"], "b")


def test_two_settings_do_not_share_their_plans() -> None:
    first, second = Settings(["a"], "a"), Settings(["b"], "b")
    assert first.param.enacted.objects == ["a"]
    assert second.param.enacted.objects == ["b"]


def test_forgetting_the_chosen_plan_shows_the_walk_again() -> None:
    shown = Shown(kind="chosen")
    shown.forget()
    assert (shown.kind, shown.chosen) == ("current", None)
    shown.kind = "enacted"
    shown.forget()
    assert shown.kind == "enacted"
