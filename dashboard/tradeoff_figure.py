"""What ε buys: a score by ε as a curve, and its histograms one below another."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from bokeh.models import ColumnDataSource, HoverTool, Label, Node, NumeralTickFormatter, Range1d, Span
from bokeh.plotting import figure

from bottomup.dashboard.binning import Bins
from bottomup.dashboard.early import FEW_PLANS
from bottomup.dashboard.figures import TOOLTIP, base_figure, factor_or_off, line_label, name_epsilons
from bottomup.dashboard.histogram_figure import bar_words
from bottomup.dashboard.palette import BASELINE, CHOSEN, ENACTED, ENSEMBLE, MUTED, PALE, PAPER, RULE
from bottomup.dashboard.tradeoff import AtEpsilon

__all__ = ["LadderPlot", "TradeoffPlot", "ladder_plot", "tradeoff_plot"]

_MARGIN = 0.12
# Of the room between two rows, what the highest bar takes.
_ROW = 0.82


@dataclass(frozen=True, eq=False)
class TradeoffPlot:
    """Mean of a score by ε with the middle 90 % of plans, the enacted plan, the baseline and the chosen ε.

    Attributes
    ----------
    figure : bokeh.plotting.figure
    points : ColumnDataSource
        ``place`` of ε on the slider, ``mean``, ``low``, ``high``, ``fill`` and ``words``.
    chosen : ColumnDataSource
        ``place``, ``mean`` of the chosen ε; empty while it is unknown.
    enacted, baseline : Span
    enacted_label, baseline_label : Label
    epsilons : tuple of float
        Positions of the slider.
    """

    figure: figure
    points: ColumnDataSource
    chosen: ColumnDataSource
    enacted: Span
    baseline: Span
    enacted_label: Label
    baseline_label: Label
    epsilons: tuple[float, ...]

    def fill(self, kind: str, found: Sequence[AtEpsilon], *, chosen: float, enacted: float) -> None:
        """Show one score at these epsilons, of which the first is 0; points of few plans are hollow."""
        means = [each.mean(kind) for each in found]
        low, high = np.array([each.band(kind) for each in found]).reshape(-1, 2).T
        self.points.data = {
            "place": [self.epsilons.index(each.epsilon) for each in found],
            "mean": means,
            "low": low,
            "high": high,
            "fill": [PAPER if each.n_effective < FEW_PLANS else ENSEMBLE for each in found],
            "words": [
                f"ε = {each.epsilon:g}, {factor_or_off(each.epsilon)}: {mean:.1%} on average"
                for each, mean in zip(found, means, strict=True)
            ],
        }
        here = [
            (self.epsilons.index(chosen), mean)
            for each, mean in zip(found, means, strict=True)
            if each.epsilon == chosen
        ]
        self.chosen.data = {"place": [place for place, _ in here], "mean": [mean for _, mean in here]}
        baseline = means[0] if means else np.nan
        is_above = not enacted < baseline
        _across(self.enacted, self.enacted_label, enacted, f"enacted {enacted:.1%}", above=is_above)
        _across(self.baseline, self.baseline_label, baseline, f"baseline {baseline:.1%}", above=not is_above)
        seen = np.array([*low, *high, enacted, baseline])
        seen = seen[np.isfinite(seen)]
        if seen.size:
            margin = _MARGIN * max(float(np.ptp(seen)), 0.05)
            # The words of the lower line stand below it.
            self.figure.y_range.update(start=seen.min() - 2 * margin, end=seen.max() + margin)

    def epsilon_at(self, x: float) -> float:
        """The ε nearest to a place on the lower axis."""
        return self.epsilons[min(max(round(x), 0), len(self.epsilons) - 1)]


def _across(line: Span, label: Label, at: float, text: str, *, above: bool) -> None:
    is_known = bool(np.isfinite(at))
    line.visible = label.visible = is_known
    if is_known:
        line.location = at
        label.update(y=at, text=text, text_baseline="bottom" if above else "top", y_offset=3 if above else -3)


def tradeoff_plot(x_title: str, epsilons: Sequence[float]) -> TradeoffPlot:
    """Make an empty curve of a score between 0 and 1 by ε, evenly spread as on the slider."""
    points = ColumnDataSource({name: [] for name in ("place", "mean", "low", "high", "fill", "words")})
    chosen = ColumnDataSource({"place": [], "mean": []})
    plot = base_figure(x_title, "")
    plot.x_range = Range1d(-0.5, len(epsilons) - 0.5)
    plot.y_range = Range1d(0.0, 1.0)
    plot.yaxis.formatter = NumeralTickFormatter(format="0.[0]%")
    plot.yaxis.ticker.desired_num_ticks = 5
    name_epsilons(plot, epsilons, with_odds=True)
    plot.varea("place", "low", "high", source=points, fill_color=PALE, fill_alpha=0.5)
    plot.line("place", "mean", source=points, color=ENSEMBLE, line_width=3.5)
    dots = plot.scatter(
        "place", "mean", source=points, size=8, fill_color="fill", line_color=ENSEMBLE, line_width=2
    )
    plot.scatter("place", "mean", source=chosen, size=18, color=CHOSEN)
    plot.add_tools(HoverTool(renderers=[dots], tooltips=TOOLTIP, mode="vline"))
    enacted = Span(dimension="width", line_color=ENACTED, line_width=3.5, visible=False)
    baseline = Span(dimension="width", line_color=BASELINE, line_width=2.5, visible=False)
    enacted_label, baseline_label = line_label(ENACTED, bold=True), line_label(MUTED)
    for label in (enacted_label, baseline_label):
        label.update(x=Node.frame.right, y=0, x_offset=-4, text_align="right")
    for mark in (baseline, enacted, enacted_label, baseline_label):
        plot.add_layout(mark)
    return TradeoffPlot(
        plot, points, chosen, enacted, baseline, enacted_label, baseline_label, tuple(epsilons)
    )


@dataclass(frozen=True, eq=False)
class LadderPlot:
    """Histograms of a score at several ε, one below another, with one line of the enacted plan.

    Attributes
    ----------
    figure : bokeh.plotting.figure
    bars : ColumnDataSource
        ``left``, ``right``, ``bottom``, ``top``, ``color``, ``hatch`` and ``words`` of each bar.
    means : ColumnDataSource
        ``mean``, ``bottom`` and ``top`` of each row.
    rows : ColumnDataSource
        ``bottom`` and ``top`` of the row of the chosen ε.
    enacted : Span
    enacted_label : Label
    """

    figure: figure
    bars: ColumnDataSource
    means: ColumnDataSource
    rows: ColumnDataSource
    enacted: Span
    enacted_label: Label

    def fill(
        self, kind: str, found: Sequence[AtEpsilon], bins: Bins, *, chosen: float, enacted: float
    ) -> None:
        """Show one score at these epsilons, the first at the top; rows of few plans are hatched."""
        n = len(found)
        counts = [bins.counts(each.scores[kind]) for each in found]
        shares = [own / max(1, len(each.scores[kind])) for own, each in zip(counts, found, strict=True)]
        highest = max((float(own.max()) for own in shares), default=1.0) or 1.0
        bottoms = np.repeat(np.arange(n - 1, -1, -1), bins.n_bars)
        edges = bins.edges
        self.bars.data = {
            "left": np.tile(edges[:-1], n),
            "right": np.tile(edges[1:], n),
            "bottom": bottoms,
            "top": bottoms + _ROW * np.concatenate([np.zeros(0), *shares]) / highest,
            "color": np.repeat(
                [CHOSEN if each.epsilon == chosen else ENSEMBLE for each in found], bins.n_bars
            ),
            "hatch": np.repeat(
                ["right_diagonal_line" if each.n_effective < FEW_PLANS else " " for each in found],
                bins.n_bars,
            ),
            "words": [
                f"ε = {each.epsilon:g}: {words}"
                for each, own in zip(found, counts, strict=True)
                for words in bar_words(bins, own)
            ],
        }
        bottom = np.arange(n - 1, -1, -1)
        self.means.data = {
            "mean": [each.mean(kind) for each in found],
            "bottom": bottom,
            "top": bottom + _ROW,
        }
        here = [n - 1 - row for row, each in enumerate(found) if each.epsilon == chosen]
        self.rows.data = {"bottom": here, "top": [each + 1 for each in here]}
        self.figure.x_range.update(start=bins.start, end=bins.end)
        self.figure.y_range.end = n
        self.figure.yaxis.ticker = [n - 1 - row + _ROW / 2 for row in range(n)]
        self.figure.yaxis.major_label_overrides = {
            n - 1 - row + _ROW / 2: f"ε = {each.epsilon:g}\n{factor_or_off(each.epsilon)}"
            for row, each in enumerate(found)
        }
        is_right = enacted < (bins.start + bins.end) / 2
        self.enacted.update(location=enacted, visible=True)
        self.enacted_label.update(
            x=enacted,
            text=f"enacted {enacted:.1%}",
            text_align="left" if is_right else "right",
            x_offset=6 if is_right else -6,
            visible=True,
        )


def ladder_plot() -> LadderPlot:
    """Make empty rows of histograms of a score between 0 and 1."""
    names = ("left", "right", "bottom", "top", "color", "hatch", "words")
    bars = ColumnDataSource({name: [] for name in names})
    means = ColumnDataSource({"mean": [], "bottom": [], "top": []})
    rows = ColumnDataSource({"bottom": [], "top": []})
    plot = base_figure("", "")
    plot.x_range, plot.y_range = Range1d(0.0, 1.0), Range1d(0.0, 1.0)
    plot.xaxis.formatter = NumeralTickFormatter(format="0.[0]%")
    plot.yaxis.major_tick_line_color = None
    plot.ygrid.grid_line_color = None
    chosen = plot.hstrip("bottom", "top", source=rows, fill_color=RULE, line_color=None)
    chosen.level = "underlay"
    quads = plot.quad(
        "left",
        "right",
        "top",
        "bottom",
        source=bars,
        fill_color="color",
        fill_alpha=0.85,
        line_color=None,
        hatch_pattern="hatch",
        hatch_color=PAPER,
        hatch_alpha=0.55,
        hatch_scale=8,
    )
    plot.segment("mean", "bottom", "mean", "top", source=means, color=MUTED, line_width=2, line_dash="dotted")
    plot.add_tools(HoverTool(renderers=[quads], tooltips=TOOLTIP))
    enacted = Span(dimension="height", line_color=ENACTED, line_width=3.5, visible=False)
    label = line_label(ENACTED, bold=True)
    label.y_offset = -4
    plot.add_layout(enacted)
    plot.add_layout(label)
    return LadderPlot(plot, bars, means, rows, enacted, label)
