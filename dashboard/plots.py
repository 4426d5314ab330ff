"""Figures: each builder returns a figure together with the sources through which it is filled."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from bokeh.models import ColumnDataSource, FactorRange, Label, Node, NumeralTickFormatter, Range1d, Span
from bokeh.plotting import figure
from numpy.typing import ArrayLike, NDArray

from bottomup.dashboard.binning import Bins
from bottomup.dashboard.palette import BASELINE, ENACTED, ENSEMBLE, INK, MUTED
from bottomup.dashboard.scaling import scale_with_page
from bottomup.dashboard.whatif import GroupShares

__all__ = [
    "BoxPlot",
    "ClusterPlot",
    "HistogramPlot",
    "LimitPlot",
    "box_plot",
    "cluster_plot",
    "histogram_plot",
    "limit_plot",
]

_FONT = "Roboto, 'Liberation Sans', Arial, sans-serif"
_CHOSEN = "#12385f"
_ROW_PIXELS = 25
_HEADROOM = 1.5
_MARGIN = 0.06
_NAMED_EPSILONS = (0.0, 0.1, 0.2, 0.5, 1.0, 2.0, 5.0, 10.0)
# Width of a letter of a label, as a share of the narrowest plot.
_ROOM_PER_LETTER = 0.023


@dataclass(frozen=True, eq=False)
class HistogramPlot:
    """Bars of an ensemble over the outline of the baseline, with the enacted plan and the baseline's mean.

    Attributes
    ----------
    figure : bokeh.plotting.figure
    bars : ColumnDataSource
        ``left``, ``right``, ``share`` and ``color`` of each bar.
    outline : ColumnDataSource
        ``x``, ``y`` of the baseline's outline.
    enacted, mean : Span
    enacted_label, mean_label : Label
    """

    figure: figure
    bars: ColumnDataSource
    outline: ColumnDataSource
    enacted: Span
    mean: Span
    enacted_label: Label
    mean_label: Label

    def fill(
        self,
        bins: Bins,
        ensemble: ArrayLike,
        baseline: NDArray[np.float64],
        *,
        enacted: float,
        marked_bar: int | None = None,
    ) -> None:
        """Show these scores; ``marked_bar`` is the bar from which the chosen plan comes."""
        edges = bins.edges
        colors = [ENSEMBLE] * bins.n_bars
        if marked_bar is not None:
            colors[marked_bar] = _CHOSEN
        heights, shares = bins.shares(ensemble), bins.shares(baseline)
        self.bars.data = {"left": edges[:-1], "right": edges[1:], "share": heights, "color": colors}
        self.outline.data = {
            "x": np.repeat(edges, 2),
            "y": np.concatenate(([0.0], np.repeat(shares, 2), [0.0])),
        }
        self.figure.x_range.update(start=bins.start, end=bins.end)
        # Room above the highest bar for the two labels.
        self.figure.y_range.end = _HEADROOM * max(float(heights.max()), float(shares.max()), 0.05)
        mean = float(np.mean(baseline)) if len(baseline) else np.nan
        _place(
            self.enacted, self.enacted_label, enacted, f"enacted {enacted:.1%}", bins, to_left=enacted < mean
        )
        _place(self.mean, self.mean_label, mean, f"baseline mean {mean:.1%}", bins, to_left=mean <= enacted)


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
    plot = _figure(x_title, "plans")
    plot.x_range = Range1d(0.0, 1.0)
    plot.y_range = Range1d(0.0, 1.0)
    plot.xaxis.formatter = NumeralTickFormatter(format="0.[0]%")
    plot.yaxis.formatter = NumeralTickFormatter(format="0.[0]%")
    plot.yaxis.ticker.desired_num_ticks = 4
    # The room for labels above the bars may reach beyond what a share can be.
    plot.yaxis.bounds = (0.0, 1.0)
    bars = ColumnDataSource({"left": [], "right": [], "share": [], "color": []})
    outline = ColumnDataSource({"x": [], "y": []})
    plot.quad(
        "left",
        "right",
        "share",
        0,
        source=bars,
        fill_color="color",
        line_color="white",
        line_width=1,
        fill_alpha=0.85,
    )
    plot.line("x", "y", source=outline, color=BASELINE, line_width=2.5)
    enacted = Span(dimension="height", line_color=ENACTED, line_width=3.5, visible=False)
    mean = Span(dimension="height", line_color=MUTED, line_width=2.5, line_dash="dashed", visible=False)
    enacted_label = _label(ENACTED, bold=True)
    mean_label = _label(MUTED, bold=False)
    for mark in (mean, enacted, mean_label, enacted_label):
        plot.add_layout(mark)
    enacted_label.y_offset, mean_label.y_offset = -4, -25
    return HistogramPlot(plot, bars, outline, enacted, mean, enacted_label, mean_label)


def _label(color: str, *, bold: bool) -> Label:
    return Label(
        x=0,
        y=Node.frame.top,
        text="",
        text_color=color,
        text_font=_FONT,
        text_font_size="15px",
        text_font_style="bold" if bold else "normal",
        text_baseline="top",
        background_fill_color="white",
        background_fill_alpha=0.9,
        visible=False,
    )


@dataclass(frozen=True, eq=False)
class ClusterPlot:
    """One row per cluster: how often its testimonies are kept whole.

    Attributes
    ----------
    figure : bokeh.plotting.figure
    rows : ColumnDataSource
        ``name``, ``ensemble``, ``baseline``, ``enacted``, shares between 0 and 1.
    height : int
        Pixels that it takes for every name to be read, at a font of 16 pixels on the page.
    """

    figure: figure
    rows: ColumnDataSource
    height: int

    def fill(self, ensemble: ArrayLike, baseline: ArrayLike, enacted: ArrayLike) -> None:
        """Show these shares, one per cluster."""
        self.rows.data = {
            "name": self.rows.data["name"],
            "ensemble": np.asarray(ensemble, dtype=float),
            "baseline": np.asarray(baseline, dtype=float),
            "enacted": np.asarray(enacted, dtype=float),
        }


def cluster_plot(names: Sequence[str]) -> ClusterPlot:
    """Make an empty chart with a row for each cluster, the first at the top."""
    empty = np.full(len(names), np.nan)
    rows = ColumnDataSource({"name": list(names), "ensemble": empty, "baseline": empty, "enacted": empty})
    plot = _figure(
        "testimonies kept whole", "", y_range=FactorRange(factors=list(reversed(names)), range_padding=0.01)
    )
    plot.x_range = Range1d(-0.03, 1.04)
    plot.xaxis.formatter = NumeralTickFormatter(format="0.[0]%")
    plot.xaxis.ticker.desired_num_ticks = 5
    plot.add_layout(plot.xaxis[0].clone(axis_label=None), "above")
    plot.ygrid.grid_line_color = None
    plot.yaxis.major_tick_line_color = None
    plot.hbar("name", 0.62, "ensemble", 0, source=rows, color=ENSEMBLE, fill_alpha=0.85)
    plot.scatter(
        "baseline", "name", source=rows, size=11, fill_color="white", line_color=MUTED, line_width=2.2
    )
    plot.scatter(
        "enacted",
        "name",
        source=rows,
        size=19,
        marker="dash",
        angle=np.pi / 2,
        line_color=ENACTED,
        line_width=4,
    )
    return ClusterPlot(plot, rows, 90 + _ROW_PIXELS * len(names))


@dataclass(frozen=True, eq=False)
class BoxPlot:
    """Boxes of a share by ranked district, with the enacted plan as points.

    Attributes
    ----------
    figure : bokeh.plotting.figure
    boxes : ColumnDataSource
        ``rank`` and the quantiles ``low``, ``lower``, ``median``, ``upper``, ``high``.
    points : ColumnDataSource
        ``rank`` and ``share`` of the enacted plan.
    """

    figure: figure
    boxes: ColumnDataSource
    points: ColumnDataSource

    def fill(self, ensemble: NDArray[np.floating], enacted: NDArray[np.floating]) -> None:
        """Show the shares of many plans, shape (R, k) in ascending rows, against those of one, shape (k,)."""
        rank = np.arange(1, len(enacted) + 1)
        if len(ensemble):
            low, lower, median, upper, high = np.quantile(ensemble, (0.05, 0.25, 0.5, 0.75, 0.95), axis=0)
            self.boxes.data = {
                "rank": rank,
                "low": low,
                "lower": lower,
                "median": median,
                "upper": upper,
                "high": high,
            }
        else:
            self.boxes.data = {name: [] for name in self.boxes.data}
        self.points.data = {"rank": rank, "share": enacted}
        seen = np.concatenate((self.boxes.data["low"], self.boxes.data["high"], enacted))
        low, high = float(np.nanmin(seen)), float(np.nanmax(seen))
        margin = _MARGIN * max(high - low, 0.05)
        self.figure.y_range.update(start=max(0.0, low - margin), end=high + margin)


def box_plot(y_title: str, x_title: str, n_districts: int) -> BoxPlot:
    """Make an empty chart of a share between 0 and 1 by ranked district."""
    boxes = ColumnDataSource({name: [] for name in ("rank", "low", "lower", "median", "upper", "high")})
    points = ColumnDataSource({"rank": [], "share": []})
    plot = _figure(x_title, y_title)
    plot.x_range = Range1d(0.4, n_districts + 0.6)
    plot.y_range = Range1d(0.0, 1.0)
    plot.xaxis.ticker = list(range(1, n_districts + 1)) if n_districts <= 20 else plot.xaxis.ticker
    plot.yaxis.formatter = NumeralTickFormatter(format="0.[0]%")
    plot.yaxis.ticker.desired_num_ticks = 5
    plot.xgrid.grid_line_color = None
    plot.segment("rank", "low", "rank", "high", source=boxes, color=ENSEMBLE, line_width=2)
    plot.vbar(
        "rank", 0.55, "upper", "lower", source=boxes, fill_color="#bcd3ec", line_color=ENSEMBLE, line_width=2
    )
    plot.vbar("rank", 0.55, "median", "median", source=boxes, line_color=_CHOSEN, line_width=3)
    plot.scatter(
        "rank", "share", source=points, size=12, fill_color=ENACTED, line_color="white", line_width=1.5
    )
    return BoxPlot(plot, boxes, points)


@dataclass(frozen=True, eq=False)
class LimitPlot:
    """A share by ε: with an attack, without it, and between them what the limit allows.

    Attributes
    ----------
    figure : bokeh.plotting.figure
    points : ColumnDataSource
        ``place`` of ε on the slider, ``under``, ``without``, ``baseline``, ``least`` and ``most``.
    epsilons : tuple of float
        Positions of the slider.
    """

    figure: figure
    points: ColumnDataSource
    epsilons: tuple[float, ...]

    def fill(self, shares: Mapping[float, GroupShares]) -> None:
        """Show these shares, by ε; the area of the limit is left out where there is none."""
        self.points.data = {
            "place": [self.epsilons.index(epsilon) for epsilon in shares],
            **{
                name: [getattr(own, name) for own in shares.values()]
                for name in ("under", "without", "baseline")
            },
            **{
                name: np.array([getattr(own, name) for own in shares.values()], dtype=np.float64)
                for name in ("least", "most")
            },
        }


def limit_plot(title: str, epsilons: Sequence[float], x_title: str = "") -> LimitPlot:
    """Make an empty chart of a share between 0 and 1 by ε, evenly spread as on the slider."""
    names = ("place", "under", "without", "baseline", "least", "most")
    points = ColumnDataSource({name: [] for name in names})
    plot = _figure(x_title, "", title=title)
    plot.title.text_font, plot.title.text_font_size = _FONT, "15px"
    plot.title.text_color = INK
    plot.x_range = Range1d(-0.5, len(epsilons) - 0.5)
    plot.y_range = Range1d(-0.02, 1.02)
    plot.yaxis.formatter = NumeralTickFormatter(format="0%")
    plot.yaxis.ticker.desired_num_ticks = 4
    named = {place: f"{epsilon:g}" for place, epsilon in enumerate(epsilons) if epsilon in _NAMED_EPSILONS}
    plot.xaxis.ticker = list(named)
    plot.xaxis.major_label_overrides = named
    plot.xgrid.grid_line_color = None
    plot.varea("place", "least", "most", source=points, fill_color="#bcd3ec", fill_alpha=0.45)
    plot.line("place", "baseline", source=points, color=BASELINE, line_width=2.5)
    plot.line("place", "without", source=points, color=MUTED, line_width=3, line_dash="dashed")
    plot.line("place", "under", source=points, color=ENSEMBLE, line_width=4)
    plot.scatter("place", "under", source=points, size=7, color=ENSEMBLE)
    return LimitPlot(plot, points, tuple(epsilons))


def _figure(x_title: str, y_title: str, **options: Any) -> figure:
    plot = figure(
        **options,
        tools="",
        toolbar_location=None,
        sizing_mode="stretch_both",
        x_axis_label=x_title or None,
        y_axis_label=y_title or None,
        min_border_right=14,
        outline_line_color=None,
        background_fill_color="white",
        border_fill_color="white",
    )
    plot.axis.axis_label_text_font = _FONT
    plot.axis.axis_label_text_font_size = "15px"
    plot.axis.axis_label_text_font_style = "normal"
    plot.axis.axis_label_text_color = INK
    plot.axis.major_label_text_font = _FONT
    plot.axis.major_label_text_font_size = "14px"
    plot.axis.major_label_text_color = INK
    plot.axis.axis_line_color = "#b6bdc4"
    plot.axis.major_tick_line_color = "#b6bdc4"
    plot.axis.minor_tick_line_color = None
    plot.grid.grid_line_color = "#edf0f2"
    scale_with_page(plot)
    return plot
