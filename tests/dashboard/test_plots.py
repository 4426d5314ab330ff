from __future__ import annotations

import numpy as np
import pytest

from bottomup.dashboard.binning import Bins, choose_bins
from bottomup.dashboard.box_figure import box_plot
from bottomup.dashboard.early import early_words
from bottomup.dashboard.histogram_figure import bar_words, histogram_plot
from bottomup.dashboard.palette import district_colors, packed_colors
from bottomup.dashboard.plots import cluster_plot
from bottomup.dashboard.reliability import Reliability

BINS = Bins(0.5, 0.1, 4)


def test_bins_hold_all_values_and_give_shares() -> None:
    bins = choose_bins([[0.61, 0.62, 0.70], [0.55], [np.nan]])
    assert (bins.bar_of([0.55, 0.61, 0.70]) >= 0).all()
    assert bins.shares([0.61, 0.62, 0.70]).sum() == pytest.approx(1)
    assert bins.bar_of(bins.end + 1e-9) == -1
    assert bins.bar_of(bins.start - 1e-9) == -1


def test_bars_hold_equally_many_possible_values() -> None:
    step = 1 / 808
    bins = choose_bins([np.array([450, 530]) * step], step=step)
    possible = np.arange(808) * step
    inside = possible[(possible > bins.start) & (possible < bins.end)]
    counts = np.bincount(bins.bar_of(inside))
    assert len(set(counts[1:-1])) == 1


def test_bars_stay_while_they_hold_the_values_and_follow_when_not() -> None:
    before = choose_bins([[0.50, 0.60]])
    assert choose_bins([[0.51, 0.61]], before=before) is before
    assert choose_bins([[0.50, 0.90]], before=before) is not before
    assert choose_bins([[0.550, 0.551]], before=Bins(0.0, 0.1, 10)) != Bins(0.0, 0.1, 10)


def test_bins_of_nothing_and_of_a_single_value() -> None:
    assert choose_bins([[]]).n_bars > 0
    assert choose_bins([[0.4]]).bar_of(0.4) >= 0
    assert Bins(0, 1, 3).shares([]).tolist() == [0, 0, 0]


def test_spans_are_of_whole_bars_and_stay_within_them() -> None:
    assert BINS.span_of(0.65, 0.65) == pytest.approx((0.6, 0.7))
    assert BINS.span_of(0.75, 0.52) == pytest.approx((0.5, 0.8))
    assert BINS.span_of(-3, 9) == pytest.approx((0.5, 0.9))
    assert BINS.span_of(0.95, 0.99) is None
    assert BINS.span_of(0.1, 0.4) is None
    low, high = BINS.span_of(0.65, 0.75)
    scores = np.linspace(0.5, 0.9, 400, endpoint=False) + 0.0004
    inside = (scores >= low) & (scores < high)
    assert BINS.counts(scores[inside]).tolist() == [0, *BINS.counts(scores)[1:3], 0]


def test_plans_picked_out_stand_over_all_in_every_bar() -> None:
    plot = histogram_plot("score")
    scores, rows = [0.55, 0.65, 0.65, 0.75], np.array([False, True, False, True])
    plot.fill(BINS, scores, np.array([0.7]), enacted=0.6, rows=rows)
    assert plot.bars.data["share"].tolist() == [0.25, 0.5, 0.25, 0]
    assert plot.bars.data["part"].tolist() == [0, 0.25, 0.25, 0]
    assert plot.bars.data["words"][1] == "2 plans with 60.0% to 70.0%, 1 of them picked out"
    plot.fill(BINS, scores, np.array([0.7]), enacted=0.6)
    assert plot.bars.data["part"].tolist() == plot.bars.data["share"].tolist()
    assert bar_words(BINS, [1, 0, 1200, 3])[::2] == [
        "1 plan with 50.0% to 60.0%",
        "1,200 plans with 70.0% to 80.0%",
    ]


def test_a_histogram_of_few_plans_is_marked_and_shown_all_the_same() -> None:
    plot = histogram_plot("score")
    plot.fill(BINS, [0.55], np.array([0.7]), enacted=0.6, early="few plans: early")
    assert (plot.early.visible, plot.early.text) == (True, "few plans: early")
    assert set(plot.bars.data["hatch"]) == {"right_diagonal_line"}
    assert plot.bars.data["share"].tolist() == [1, 0, 0, 0]
    plot.fill(BINS, [0.55], np.array([0.7]), enacted=0.6)
    assert not plot.early.visible
    assert set(plot.bars.data["hatch"]) == {" "}


@pytest.mark.parametrize(
    ("n_effective", "found", "words"),
    [
        (199, None, "few plans: early"),
        (200, None, ""),
        (900, Reliability(1.0, "agree"), ""),
        (900, Reliability(1.0, "disagree"), "walks still disagree"),
        (900, Reliability(2.0, "disagree"), ""),
        (900, Reliability(1.0, "too early"), "few plans: early"),
        (900, Reliability(1.0, "agree", stuck="It stands."), "a walk stands still"),
    ],
)
def test_early_charts_say_why(n_effective: float, found: Reliability | None, words: str) -> None:
    assert early_words(n_effective, 1.0, found) == words


def test_histogram_shows_bars_outline_and_both_lines() -> None:
    plot = histogram_plot("score")
    plot.fill(BINS, [0.55, 0.65, 0.65], np.array([0.75, 0.85]), enacted=0.58, marked_bar=1)
    np.testing.assert_allclose(plot.bars.data["share"], [1 / 3, 2 / 3, 0, 0])
    assert plot.bars.data["color"][1] != plot.bars.data["color"][0]
    assert max(plot.outline.data["y"]) == pytest.approx(0.5)
    assert plot.enacted.location == 0.58
    assert plot.mean.location == pytest.approx(0.8)
    assert plot.enacted_label.text == "enacted 58.0%"
    assert plot.mean_label.text == "baseline mean 80.0%"
    # The enacted line is left of the mean, but there is no room for words on its left.
    assert (plot.enacted_label.text_align, plot.mean_label.text_align) == ("left", "right")
    plot.fill(BINS, [0.55], np.array([0.69]), enacted=0.70)
    assert (plot.mean_label.text_align, plot.enacted_label.text_align) == ("right", "left")
    assert plot.figure.x_range.start == 0.5
    assert plot.figure.y_range.end > 2 / 3


def test_histogram_without_a_baseline_has_no_mean() -> None:
    plot = histogram_plot("score")
    plot.fill(BINS, [0.55], np.empty(0), enacted=0.58)
    assert not plot.mean.visible
    assert not plot.mean_label.visible
    assert plot.enacted.visible


def test_cluster_rows_keep_their_names() -> None:
    plot = cluster_plot(["A", "B"])
    plot.fill([0.1, 0.2], [0.3, np.nan], [1, 0])
    assert plot.rows.data["name"] == ["A", "B"]
    assert plot.figure.y_range.factors == ["B", "A"]
    np.testing.assert_array_equal(plot.rows.data["enacted"], [1, 0])
    assert cluster_plot([str(i) for i in range(40)]).height > plot.height


def test_boxes_are_the_quantiles_by_rank() -> None:
    plot = box_plot("", "", 2)
    shares = np.column_stack((np.linspace(0, 0.1, 101), np.linspace(0.4, 0.6, 101)))
    plot.fill(shares, np.array([0.05, 0.7]))
    np.testing.assert_allclose(plot.boxes.data["median"], [0.05, 0.5])
    np.testing.assert_allclose(plot.boxes.data["low"], [0.005, 0.41])
    np.testing.assert_allclose(plot.boxes.data["upper"], [0.075, 0.55])
    assert plot.points.data["share"].tolist() == [0.05, 0.7]
    assert plot.figure.y_range.end > 0.7


def test_boxes_of_some_plans_stand_over_those_of_all_and_a_district_is_marked() -> None:
    plot = box_plot("", "", 2)
    shares = np.column_stack((np.linspace(0, 0.1, 101), np.linspace(0.4, 0.6, 101)))
    plot.fill(shares, np.array([0.05, 0.7]), rows=np.arange(101) >= 50, marked=(2, 0.85))
    np.testing.assert_allclose(plot.boxes.data["median"], [0.075, 0.55])
    np.testing.assert_allclose(plot.whole.data["median"], [0.05, 0.5])
    assert (plot.marked.data["rank"], plot.marked.data["share"]) == ([2], [0.85])
    assert plot.marked_label.text == "85.0%"
    assert plot.figure.y_range.end > 0.85
    plot.fill(shares, np.array([0.05, 0.7]), rows=np.zeros(101, dtype=bool))
    assert (len(plot.boxes.data["rank"]), len(plot.whole.data["rank"])) == (0, 2)
    assert not plot.marked_label.visible
    plot.fill(shares, np.array([0.05, 0.7]), early="few plans: early")
    assert len(plot.whole.data["rank"]) == 0
    assert (set(plot.boxes.data["hatch"]), plot.early.visible) == ({"right_diagonal_line"}, True)


def test_boxes_wait_for_plans() -> None:
    plot = box_plot("", "", 2)
    plot.fill(np.empty((0, 0)), np.array([0.2, 0.4]))
    assert len(plot.boxes.data["median"]) == 0
    assert plot.points.data["rank"].tolist() == [1, 2]


@pytest.mark.parametrize("n_districts", [1, 8, 17, 52, 120])
def test_every_district_has_a_color_of_its_own(n_districts: int) -> None:
    colors = district_colors(n_districts)
    assert len(set(colors)) == n_districts
    assert colors == district_colors(200)[:n_districts]


def test_packed_colors_are_opaque_with_red_lowest() -> None:
    assert packed_colors(["#ff8000"]).tolist() == [0xFF0080FF]
    assert packed_colors(["#ff8000"], brightness=0.5).tolist() == [0xFF004080]


def test_no_districts_no_colors() -> None:
    with pytest.raises(ValueError, match="n_districts"):
        district_colors(0)
