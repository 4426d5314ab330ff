"""The histogram of a score: all plans, those picked out of them, the baseline and the enacted plan."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from bokeh.models import (
    BoxAnnotation,
    BoxSelectTool,
    ColumnDataSource,
    HoverTool,
    Label,
    NumeralTickFormatter,
    Range1d,
    Span,
)
from bokeh.plotting import figure
from numpy.typing import ArrayLike, NDArray

from bottomup.dashboard.binning import Bins
from bottomup.dashboard.figures import TOOLTIP, base_figure, early_label, line_label
from bottomup.dashboard.palette import BASELINE, CHOSEN, ENACTED, ENSEMBLE, MUTED, PALE, PAPER

__all__ = ["HistogramPlot", "bar_words", "histogram_plot"]

_HEADROOM = 1.5
# Width of a letter of a label, as a share of the narrowest plot.
_ROOM_PER_LETTER = 0.023


@dataclass(frozen=True, eq=False)
class HistogramPlot:
    """Bars of an ensemble over the outline of the baseline, with the enacted plan and the baseline's mean.

    Attributes
    ----------
    figure : bokeh.plotting.figure
        A drag across it is told by its event ``SelectionGeometry``, a tap by ``Tap``.
    bars : ColumnDataSource
        ``left``, ``right``, ``share``, ``color``, ``hatch`` and ``words`` of each bar, and ``part``, the
        share of all plans that lie in the bar and are picked out.
    outline : ColumnDataSource
        ``x``, ``y`` of the baseline's outline.
    enacted, mean : Span
    enacted_label, mean_label : Label
    early : Label
        Why the bars are not to be relied on yet; unseen when they are.
    """

    figure: figure
    bars: ColumnDataSource
    outline: ColumnDataSource
    enacted: Span
    mean: Span
    enacted_label: Label
    mean_label: Label
    early: Label

    def fill(
        self,
        bins: Bins,
        ensemble: ArrayLike,
        baseline: NDArray[np.float64],
        *,
        enacted: float,
        rows: NDArray[np.bool_] | None = None,
        marked_bar: int | None = None,
        early: str = "",
    ) -> None:
        """Show these scores.

        Parameters
        ----------
        bins : Bins
        ensemble : array_like, shape (R,)
        baseline : float64 array
        enacted : float
        rows : bool array, shape (R,), optional
            The plans picked out: they stand out, and all others step back.
        marked_bar : int, optional
            The bar from which the chosen plan comes.
        early : str
            Why the bars are to be read with care; they are hatched then.
        """
        edges, scores = bins.edges, np.asarray(ensemble, dtype=float)
        colors = [ENSEMBLE] * bins.n_bars
        if marked_bar is not None:
            colors[marked_bar] = CHOSEN
        counts = bins.counts(scores)
        picked = counts if rows is None else bins.counts(scores[rows])
        n_plans = max(1, len(scores))
        heights, shares = counts / n_plans, bins.shares(baseline)
        self.bars.data = {
            "left": edges[:-1],
            "right": edges[1:],
            "share": heights,
            "part": picked / n_plans,
            "color": colors,
            "hatch": ["right_diagonal_line" if early else " "] * bins.n_bars,
            "words": bar_words(bins, counts, None if rows is None else picked),
        }
        self.outline.data = {
            "x": np.repeat(edges, 2),
            "y": np.concatenate(([0.0], np.repeat(shares, 2), [0.0])),
        }
        self.early.update(text=early, visible=bool(early))
        self.figure.x_range.update(start=bins.start, end=bins.end)
        # Room above the highest bar for the two labels.
        self.figure.y_range.end = _HEADROOM * max(float(heights.max()), float(shares.max()), 0.05)
        mean = float(np.mean(baseline)) if len(baseline) else np.nan
        _place(
            self.enacted, self.enacted_label, enacted, f"enacted {enacted:.1%}", bins, to_left=enacted < mean
        )
        _place(self.mean, self.mean_label, mean, f"baseline mean {mean:.1%}", bins, to_left=mean <= enacted)


def bar_words(bins: Bins, counts: Sequence[int] | NDArray, picked: NDArray | None = None) -> list[str]:
    """What each bar holds, in plain words."""
    edges = bins.edges
    words = [
        f"{count:,} plan{'' if count == 1 else 's'} with {low:.1%} to {high:.1%}"
        for count, low, high in zip(counts, edges[:-1], edges[1:], strict=True)
    ]
    if picked is None:
        return words
    return [f"{each}, {part:,} of them picked out" for each, part in zip(words, picked, strict=True)]


def _place(line: Span, label: Label, at: float, text: str, bins: Bins, *, to_left: bool) -> None:
    """Put a line and its label: on the side away from the other line where there is room for the words."""
    visible = bool(np.isfinite(at))
    line.visible = label.visible = visible
    if visible:
        line.location = at
        room_left = (at - bins.start) / (bins.end - bins.start)
        room = room_left if to_left else 1 - room_left
        needed = min(0.5, _ROOM_PER_LETTER * len(text))
        right = to_left != (room >= needed)
        label.update(x=at, text=text, text_align="left" if right else "right", x_offset=6 if right else -6)


def histogram_plot(x_title: str) -> HistogramPlot:
    """Make an empty histogram of a score that lies between 0 and 1."""
    plot = base_figure(x_title, "plans")
    plot.x_range = Range1d(0.0, 1.0)
    plot.y_range = Range1d(0.0, 1.0)
    plot.xaxis.formatter = NumeralTickFormatter(format="0.[0]%")
    plot.yaxis.formatter = NumeralTickFormatter(format="0.[0]%")
    plot.yaxis.ticker.desired_num_ticks = 4
    # The room for labels above the bars may reach beyond what a share can be.
    plot.yaxis.bounds = (0.0, 1.0)
    names = ("left", "right", "share", "part", "color", "hatch", "words")
    bars = ColumnDataSource({name: [] for name in names})
    outline = ColumnDataSource({"x": [], "y": []})
    whole = plot.quad("left", "right", "share", 0, source=bars, fill_color=PALE, line_color=PAPER)
    plot.quad(
        "left",
        "right",
        "part",
        0,
        source=bars,
        fill_color="color",
        fill_alpha=0.85,
        line_color=PAPER,
        hatch_pattern="hatch",
        hatch_color=PAPER,
        hatch_alpha=0.55,
        hatch_scale=8,
    )
    plot.line("x", "y", source=outline, color=BASELINE, line_width=2.5)
    _let_point(plot, whole)
    enacted = Span(dimension="height", line_color=ENACTED, line_width=3.5, visible=False)
    mean = Span(dimension="height", line_color=MUTED, line_width=2.5, line_dash="dashed", visible=False)
    enacted_label, mean_label = line_label(ENACTED, bold=True), line_label(MUTED)
    early = early_label()
    for mark in (mean, enacted, mean_label, enacted_label, early):
        plot.add_layout(mark)
    enacted_label.y_offset, mean_label.y_offset = -4, -25
    return HistogramPlot(plot, bars, outline, enacted, mean, enacted_label, mean_label, early)


def _let_point(plot: figure, bars: object) -> None:
    """Words at the bar under the pointer, and a drag across bars, both without a toolbar."""
    drag = BoxSelectTool(
        dimensions="width",
        # The bars themselves are left as they are: what the drag picks out is for the page to say.
        renderers=[],
        overlay=BoxAnnotation(
            fill_color=ENSEMBLE,
            fill_alpha=0.12,
            line_color=ENSEMBLE,
            line_alpha=0.8,
            editable=False,
            visible=False,
        ),
    )
    plot.add_tools(
        drag, HoverTool(renderers=[bars], tooltips=TOOLTIP, mode="vline", point_policy="follow_mouse")
    )
    plot.toolbar.active_drag = drag
