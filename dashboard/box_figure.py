"""Shares of people by ranked district: boxes of many plans, points of the enacted one."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from bokeh.models import ColumnDataSource, HoverTool, Label, Node, NumeralTickFormatter, Range1d
from bokeh.plotting import figure
from numpy.typing import NDArray

from bottomup.dashboard.figures import FONT, TOOLTIP, base_figure, early_label
from bottomup.dashboard.palette import CHOSEN, ENACTED, ENSEMBLE, INK, PALE, PAPER, RULE, SCALE

__all__ = ["LEVELS", "BoxPlot", "box_plot", "quantiles_by_rank"]

LEVELS = (0.05, 0.25, 0.5, 0.75, 0.95)
"""What a box shows: ends of its lines, ends of the box, and the line in it."""
_NAMES = ("low", "lower", "median", "upper", "high")
_MARGIN = 0.1
# Of more districts than this only some are labelled, and points are small, so that boxes can be seen.
_FEW_DISTRICTS = 12


def quantiles_by_rank(shares: NDArray[np.floating]) -> NDArray[np.float64]:
    """Quantiles of each rank over many plans, shape (5, k), from shares of shape (R, k); R at least 1."""
    return np.quantile(np.asarray(shares, dtype=np.float64), LEVELS, axis=0)


@dataclass(frozen=True, eq=False)
class BoxPlot:
    """Boxes of a share by ranked district, with the enacted plan as points.

    Attributes
    ----------
    figure : bokeh.plotting.figure
        A tap is told by its event ``Tap``.
    boxes : ColumnDataSource
        ``rank``, the quantiles ``low``, ``lower``, ``median``, ``upper``, ``high``, ``hatch`` and ``words``.
    whole : ColumnDataSource
        ``rank`` and quantiles of all plans, to stand behind the boxes of some; empty when these are all.
    points : ColumnDataSource
        ``rank`` and ``share`` of the enacted plan.
    marked : ColumnDataSource
        ``rank``, ``left``, ``right`` and ``share`` of the district pointed at; empty while none is.
    marked_label, early : Label
    """

    figure: figure
    boxes: ColumnDataSource
    whole: ColumnDataSource
    points: ColumnDataSource
    marked: ColumnDataSource
    marked_label: Label
    early: Label

    def fill(
        self,
        ensemble: NDArray[np.floating],
        enacted: NDArray[np.floating],
        *,
        rows: NDArray[np.bool_] | None = None,
        marked: tuple[int, float] | None = None,
        early: str = "",
    ) -> None:
        """Show the shares of many plans against those of one.

        Parameters
        ----------
        ensemble : float array, shape (R, k)
            Ascending in each plan.
        enacted : float array, shape (k,)
        rows : bool array, shape (R,), optional
            The plans picked out: their boxes stand over the pale ones of all.
        marked : (int, float), optional
            Rank from 1 and share of the district pointed at.
        early : str
            Why the boxes are to be read with care; they are hatched then.
        """
        rank = np.arange(1, len(enacted) + 1)
        picked = ensemble if rows is None else ensemble[rows]
        boxes = _columns(rank, picked)
        self.boxes.data = {
            **boxes,
            "hatch": ["right_diagonal_line" if early else " "] * len(boxes["rank"]),
            "words": [
                f"Number {place}: typically {median:.1%}, half of the plans {lower:.1%} to {upper:.1%}; "
                f"enacted {own:.1%}"
                for place, median, lower, upper, own in zip(
                    boxes["rank"], boxes["median"], boxes["lower"], boxes["upper"], enacted, strict=False
                )
            ],
        }
        self.whole.data = _columns(rank, ensemble if rows is not None else ensemble[:0])
        self.points.data = {"rank": rank, "share": enacted}
        self.early.update(text=early, visible=bool(early))
        self._mark(marked, len(enacted))
        ends = [own.data[name] for own in (self.boxes, self.whole) for name in ("low", "high")]
        seen = np.concatenate((*ends, enacted, [] if marked is None else [marked[1]]))
        low, high = float(np.nanmin(seen)), float(np.nanmax(seen))
        margin = _MARGIN * max(high - low, 0.05)
        self.figure.y_range.update(start=max(0.0, low - margin), end=high + margin)

    def _mark(self, marked: tuple[int, float] | None, n_districts: int) -> None:
        self.marked_label.visible = marked is not None
        if marked is None:
            self.marked.data = {name: [] for name in self.marked.data}
            return
        rank, share = marked
        self.marked.data = {"rank": [rank], "left": [rank - 0.5], "right": [rank + 0.5], "share": [share]}
        # Where no boxes are: they rise from the lower left to the upper right.
        is_low = rank <= n_districts / 2
        self.marked_label.update(
            x=rank + 0.5 if is_low else rank - 0.5,
            y=Node.frame.top if is_low else Node.frame.bottom,
            y_offset=-24 if is_low else 4,
            text=f"{share:.1%}",
            text_align="left" if is_low else "right",
            text_baseline="top" if is_low else "bottom",
            x_offset=6 if is_low else -6,
        )


def _columns(rank: NDArray[np.int64], shares: NDArray[np.floating]) -> dict[str, Sequence[float] | NDArray]:
    if not len(shares):
        return {name: [] for name in ("rank", *_NAMES)}
    return {"rank": rank, **dict(zip(_NAMES, quantiles_by_rank(shares), strict=True))}


def box_plot(y_title: str, x_title: str, n_districts: int) -> BoxPlot:
    """Make an empty chart of a share between 0 and 1 by ranked district."""
    boxes = ColumnDataSource({name: [] for name in ("rank", *_NAMES, "hatch", "words")})
    whole = ColumnDataSource({name: [] for name in ("rank", *_NAMES)})
    points = ColumnDataSource({"rank": [], "share": []})
    marked = ColumnDataSource({"rank": [], "left": [], "right": [], "share": []})
    plot = base_figure(x_title, y_title)
    plot.x_range = Range1d(0.4, n_districts + 0.6)
    plot.y_range = Range1d(0.0, 1.0)
    has_few = n_districts <= _FEW_DISTRICTS
    step = 1 if has_few else 5 * (1 + n_districts // 60)
    plot.xaxis.ticker = sorted({1, *range(step, n_districts + 1, step)})
    plot.yaxis.formatter = NumeralTickFormatter(format="0.[0]%")
    plot.yaxis.ticker.desired_num_ticks = 5
    plot.xgrid.grid_line_color = None
    plot.vstrip("left", "right", source=marked, fill_color=RULE, line_color=SCALE, level="underlay")
    plot.segment("rank", "low", "rank", "high", source=whole, color=PALE, line_width=6)
    plot.vbar("rank", 0.8, "upper", "lower", source=whole, fill_color=PALE, fill_alpha=0.6, line_color=None)
    plot.segment("rank", "low", "rank", "high", source=boxes, color=ENSEMBLE, line_width=2)
    bars = plot.vbar(
        "rank",
        0.55,
        "upper",
        "lower",
        source=boxes,
        fill_color=PALE,
        line_color=ENSEMBLE,
        line_width=2,
        hatch_pattern="hatch",
        hatch_color=PAPER,
        hatch_alpha=0.7,
        hatch_scale=8,
    )
    plot.vbar("rank", 0.55, "median", "median", source=boxes, line_color=CHOSEN, line_width=3)
    plot.scatter(
        "rank",
        "share",
        source=points,
        size=12 if has_few else 8,
        fill_color=ENACTED,
        line_color=PAPER,
        line_width=1.5,
    )
    plot.scatter(
        "rank",
        "share",
        source=marked,
        size=24,
        marker="diamond",
        fill_color=None,
        line_color=CHOSEN,
        line_width=3,
    )
    plot.add_tools(HoverTool(renderers=[bars], tooltips=TOOLTIP, mode="vline"))
    label = Label(
        x=0,
        y=0,
        text="",
        text_color=INK,
        text_font=FONT,
        text_font_size="15px",
        text_font_style="bold",
        background_fill_color=PAPER,
        background_fill_alpha=0.85,
        visible=False,
    )
    early = early_label(at_left=True)
    plot.add_layout(label)
    plot.add_layout(early)
    return BoxPlot(plot, boxes, whole, points, marked, label, early)
