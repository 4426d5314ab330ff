"""What the plans at hand say of every ε: measured as samples are, and drawn where the slider has it."""

from __future__ import annotations

import time
from collections.abc import Sequence
from types import SimpleNamespace

import numpy as np
import pytest

from bottomup.dashboard.binning import Bins
from bottomup.dashboard.palette import CHOSEN, ENSEMBLE, PAPER
from bottomup.dashboard.pool import RecordedLadders
from bottomup.dashboard.state import EPSILONS
from bottomup.dashboard.tradeoff import AtEpsilon, LadderLook, measure_ladder
from bottomup.dashboard.tradeoff_figure import ladder_plot, tradeoff_plot


def at(epsilon: float, scores: list[float], n_effective: float = 900) -> AtEpsilon:
    values = np.array(scores)
    return AtEpsilon(epsilon, n_effective, {"testimony": values, "cluster": values / 2})


FOUND = [at(0.0, [0.5, 0.6]), at(1.0, [0.6, 0.8], n_effective=50), at(10.0, [0.9, 0.9])]


class FakeLadders:
    """Plans whose testimony score is their ε, and nothing at some ε while it is early."""

    def __init__(self, missing: tuple[float, ...] = (), design: str = "A") -> None:
        self.missing, self.design = missing, design

    def within(self, epsilons: Sequence[float]) -> Sequence[float]:
        return epsilons

    def sample(self, epsilon: float) -> object:
        if epsilon in self.missing:
            return None
        return SimpleNamespace(
            n_effective=100 * epsilon,
            scores=lambda kind: np.full(3, epsilon if kind == "testimony" else -epsilon),
        )


def ladders(missing: tuple[float, ...] = (), design: str = "A") -> RecordedLadders:
    return FakeLadders(missing, design)  # type: ignore[return-value]


def test_every_epsilon_is_measured_by_both_scores() -> None:
    found = measure_ladder(ladders(), [0.0, 0.5], lambda: False)
    assert found is not None
    assert [(each.epsilon, each.n_effective) for each in found] == [(0, 0), (0.5, 50)]
    assert (found[1].mean("testimony"), found[1].mean("cluster")) == (0.5, -0.5)
    assert at(1.0, list(np.linspace(0, 1, 101))).band("testimony") == pytest.approx((0.05, 0.95))


def test_nothing_is_said_while_a_rung_has_no_plans_or_when_stopped() -> None:
    assert measure_ladder(ladders(missing=(0.5,)), [0.0, 0.5], lambda: False) is None
    assert measure_ladder(ladders(), [0.0, 0.5], lambda: True) is None


def wait(look: LadderLook, recorded: RecordedLadders, rounds: int) -> list[AtEpsilon]:
    end = time.monotonic() + 60
    while (found := look.at(recorded, rounds)) is None:
        assert time.monotonic() < end, "the ladder was never measured"
        time.sleep(0.005)
    return found


def test_the_ladder_is_measured_anew_when_it_has_grown_or_is_another() -> None:
    look, recorded = LadderLook([0.0, 1.0]), ladders()
    first = wait(look, recorded, 100)
    assert look.at(recorded, 119) is first
    look.at(recorded, 121)
    end = time.monotonic() + 60
    while look.at(recorded, 121) is first:
        assert time.monotonic() < end, "the look was not renewed"
        time.sleep(0.005)
    # What was measured of another design is never shown for this one.
    assert look.at(ladders(design="B"), 5) is None


def test_a_look_that_came_too_early_is_taken_again() -> None:
    look, recorded = LadderLook([0.0, 1.0]), FakeLadders(missing=(1.0,))
    assert look.at(recorded, 1) is None  # type: ignore[arg-type]
    recorded.missing = ()
    end, rounds = time.monotonic() + 60, 2
    while (found := look.at(recorded, rounds)) is None:  # type: ignore[arg-type]
        assert time.monotonic() < end, "the ladder was never measured"
        rounds += 1
        time.sleep(0.005)
    assert found[1].epsilon == 1.0


def test_the_curve_stands_where_the_slider_has_its_positions() -> None:
    plot = tradeoff_plot("", EPSILONS)
    plot.fill("testimony", FOUND, chosen=1.0, enacted=0.52)
    places = [EPSILONS.index(epsilon) for epsilon in (0.0, 1.0, 10.0)]
    assert plot.points.data["place"] == places
    assert plot.points.data["mean"] == pytest.approx([0.55, 0.7, 0.9])
    assert plot.points.data["fill"] == [ENSEMBLE, PAPER, ENSEMBLE]
    assert plot.chosen.data == {"place": [places[1]], "mean": [pytest.approx(0.7)]}
    assert (plot.enacted.location, plot.baseline.location) == (0.52, pytest.approx(0.55))
    # The words of two lines never meet: those of the lower one stand below it.
    assert (plot.enacted_label.text_baseline, plot.baseline_label.text_baseline) == ("top", "bottom")
    assert plot.figure.y_range.start < 0.5
    assert plot.epsilon_at(places[1] + 0.4) == 1.0
    assert (plot.epsilon_at(-5), plot.epsilon_at(99)) == (0.0, 10.0)
    assert "×2.7" in plot.points.data["words"][1]


def test_a_curve_without_plans_shows_the_enacted_plan_alone() -> None:
    plot = tradeoff_plot("", EPSILONS)
    plot.fill("testimony", [], chosen=1.0, enacted=0.5)
    assert plot.points.data["place"] == []
    assert (plot.enacted.visible, plot.baseline.visible) == (True, False)


def test_rows_hold_the_shares_of_plans_with_the_first_at_the_top() -> None:
    plot = ladder_plot()
    plot.fill("testimony", FOUND, Bins(0.4, 0.2, 3), chosen=10.0, enacted=0.5)
    bottom, top = np.array(plot.bars.data["bottom"]), np.array(plot.bars.data["top"])
    height = (top - bottom).reshape(3, 3)
    assert bottom.reshape(3, 3)[:, 0].tolist() == [2, 1, 0]
    assert height[2] == pytest.approx([0, 0, 0.82])
    assert height[0].sum() == pytest.approx(0.82)
    assert (top < bottom + 1).all()
    assert plot.bars.data["color"].reshape(3, 3)[:, 0].tolist() == [ENSEMBLE, ENSEMBLE, CHOSEN]
    assert plot.bars.data["hatch"].reshape(3, 3)[:, 0].tolist() == [" ", "right_diagonal_line", " "]
    assert plot.rows.data == {"bottom": [0], "top": [1]}
    assert list(plot.figure.yaxis[0].major_label_overrides.values()) == [
        "ε = 0\noff",
        "ε = 1\n×2.7",
        "ε = 10\n×22,026",
    ]
