"""The charts of a study on paper: distributions, lines and a table of colours, each by epsilon."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from matplotlib.artist import Artist
from matplotlib.axes import Axes
from matplotlib.colors import TwoSlopeNorm
from matplotlib.figure import Figure
from matplotlib.patches import Patch
from matplotlib.ticker import FuncFormatter, MaxNLocator, NullFormatter, ScalarFormatter
from numpy.typing import ArrayLike, NDArray

from bottomup.dashboard.palette import BASELINE, CHOSEN, ENACTED, ENSEMBLE, INK, MUTED, PALE, PAPER
from bottomup.dashboard.prints.sheet import add_key, new_sheet, percent_axis, shorten

__all__ = [
    "Level",
    "Line",
    "draw_boxes_by_epsilon",
    "draw_changes",
    "draw_convergence",
    "draw_histograms",
    "draw_lines",
    "draw_ranked",
]

_HUES = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#56b4e9", "#5b6672")
"""Of lines, told apart by colour-blind eyes; markers and dashes tell them apart in grey."""
_MARKERS = ("o", "s", "^", "D", "v", "P")
_DASHES = ((0, ()), (0, (5, 2)), (0, (1.5, 1.5)), (0, (6, 2, 1.5, 2)))
_OTHER_PLAN = "#7a4b00"
_COLORS = (BASELINE, PALE, ENSEMBLE, CHOSEN)
"""Of ensembles side by side, from epsilon 0 up."""
_ROW_INCHES = 0.2


class Line(NamedTuple):
    """A line of a chart."""

    name: str
    values: ArrayLike
    """float, one for each place; nan where there is none."""


class Level(NamedTuple):
    """What stands across a chart, such as a plan's score."""

    name: str
    """Empty for one that goes with the one before."""
    value: float
    is_enacted: bool = False


def draw_boxes_by_epsilon(
    title: str,
    source: str,
    y_title: str,
    epsilons: Sequence[float],
    quantiles: NDArray[np.floating],
    is_early: Sequence[bool],
    levels: Sequence[Level],
) -> Figure:
    """A box of a score for every epsilon, with plans as lines across.

    Parameters
    ----------
    title, source, y_title : str
    epsilons : sequence of float
    quantiles : float array, shape (5, E)
        Of the plans at each epsilon: 5, 25, 50, 75 and 95 %.
    is_early : sequence of bool
        Where chains disagree: these boxes are hatched.
    levels : sequence of Level
    """
    figure, axes = new_sheet(title, source, 3.8)
    names = ("whislo", "q1", "med", "q3", "whishi")
    drawn = axes.bxp(
        [dict(zip(names, box, strict=True)) for box in quantiles.T],
        positions=range(len(epsilons)),
        widths=0.6,
        showfliers=False,
        patch_artist=True,
        manage_ticks=False,
        boxprops={"facecolor": PALE, "edgecolor": ENSEMBLE},
        whiskerprops={"color": ENSEMBLE},
        capprops={"color": ENSEMBLE},
        medianprops={"color": INK, "linewidth": 1.6},
    )
    for box, early in zip(drawn["boxes"], is_early, strict=True):
        if early:
            box.set_hatch("////")
    handles: list[Artist] = [
        Patch(facecolor=PALE, edgecolor=ENSEMBLE, label="middle half of plans; lines: middle 90 %")
    ]
    if any(is_early):
        words = "chains do not agree yet"
        handles.append(Patch(facecolor=PALE, edgecolor=ENSEMBLE, hatch="////", label=words))
    handles += _draw_levels(axes, levels, percent=True)
    _name_epsilons(axes, epsilons)
    axes.set_ylabel(y_title)
    percent_axis(axes, "y")
    add_key(axes, 2, handles)
    return figure


def draw_lines(
    title: str,
    source: str,
    x_title: str,
    y_title: str,
    places: Sequence[float],
    lines: Sequence[Line],
    levels: Sequence[Level] = (),
    *,
    is_log: bool = False,
    is_share: bool = False,
) -> Figure:
    """Lines over epsilons, or over numbers on a logarithmic scale.

    Parameters
    ----------
    title, source, x_title, y_title : str
    places : sequence of float
        Where the values of the lines are: evenly spaced and named for epsilons, to scale where ``is_log``.
    lines : sequence of Line
    levels : sequence of Level
    is_log : bool
        Whether both axes are logarithmic.
    is_share : bool
        Whether the values are shares, to be written as percent.
    """
    figure, axes = new_sheet(title, source, 3.8)
    x = np.asarray(places, dtype=np.float64) if is_log else np.arange(len(places))
    handles: list[Artist] = []
    for number, line in enumerate(lines):
        (handle,) = axes.plot(
            x,
            np.asarray(line.values, dtype=np.float64),
            color=_HUES[number % len(_HUES)],
            marker=None if is_log else _MARKERS[number % len(_MARKERS)],
            linestyle=_DASHES[number % len(_DASHES)],
            markersize=4.5,
            markeredgecolor=PAPER,
            linewidth=1.8,
            label=line.name,
        )
        handles.append(handle)
    handles += _draw_levels(axes, levels, percent=is_share)
    if is_log:
        axes.set_xscale("log")
        axes.set_yscale("log")
        for axis in (axes.xaxis, axes.yaxis):
            # Powers of ten are written out: names may hold what a formula would be made of.
            axis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:,.12g}"))
            axis.set_minor_formatter(NullFormatter())
    else:
        _name_epsilons(axes, places)
    axes.set_xlabel(x_title)
    axes.set_ylabel(y_title)
    if is_share and not is_log:
        percent_axis(axes, "y")
    add_key(axes, 2, handles)
    return figure


def draw_convergence(
    title: str, source: str, epsilons: Sequence[float], lines: Sequence[Line], limit: Level
) -> Figure:
    """R-hat less 1 by epsilon on a logarithmic scale, with the limit below which chains agree."""
    excess = [Line(line.name, np.maximum(np.asarray(line.values) - 1, 1e-4)) for line in lines]
    figure = draw_lines(
        title, source, "ε", "R-hat", epsilons, excess, [limit._replace(value=limit.value - 1)]
    )
    axes = figure.axes[0]
    axes.set_yscale("log")
    top = max(1.0, *(float(np.nanmax(line.values, initial=1e-4)) for line in excess if len(excess)))
    axes.set_ylim(8e-4, 2 * top)
    ticks = [tick for tick in (0.001, 0.01, 0.05, 0.1, 0.5, 1.0, 2.0, 5.0) if tick <= 2 * top]
    axes.set_yticks(ticks, [f"{1 + tick:g}" for tick in ticks])
    axes.yaxis.set_minor_formatter(NullFormatter())
    return figure


def draw_histograms(
    title: str,
    source: str,
    x_title: str,
    values: ArrayLike,
    chains: Sequence[ArrayLike],
    law: ArrayLike,
    gaussian: ArrayLike,
) -> Figure:
    """Shares of plans by cut edges: of every chain, of the law, and of the law's bare Gaussian.

    Parameters
    ----------
    title, source, x_title : str
    values : array_like of numbers, shape (V,)
        Consecutive whole numbers.
    chains : sequence of array_like of float, each of shape (V,)
    law, gaussian : array_like of float, shape (V,)
    """
    figure, axes = new_sheet(title, source, 3.8)
    edges = np.append(np.asarray(values, dtype=np.float64) - 0.5, np.max(values) + 0.5)
    for number, chain in enumerate(chains):
        words = f"{len(chains)} chains" if number == 0 else None
        axes.stairs(np.asarray(chain), edges, color=ENSEMBLE, linewidth=0.9, alpha=0.6, label=words)
    axes.plot(values, np.asarray(law), "o", color=INK, markersize=4, label="the law, from independent trees")
    axes.plot(
        values,
        np.asarray(gaussian),
        color=MUTED,
        linewidth=1.4,
        linestyle=(0, (4, 2)),
        label="its bare Gaussian",
    )
    axes.set_xlabel(x_title)
    axes.set_ylabel("share of plans")
    axes.set_ylim(bottom=0)
    percent_axis(axes, "y")
    add_key(axes, 3)
    return figure


def draw_changes(
    title: str,
    source: str,
    names: Sequence[str],
    epsilons: Sequence[float],
    changes: NDArray[np.floating],
    is_sacrificed: NDArray[np.bool_],
) -> Figure:
    """How much more of each cluster is kept whole than in the baseline, as colours, by epsilon.

    Parameters
    ----------
    title, source : str
    names : sequence of str
    epsilons : sequence of float
    changes : float array, shape (number of names, E)
        Differences of shares; nan where unknown.
    is_sacrificed : bool array, shape (number of names, E)
        Marked by a cross.
    """
    figure, axes = new_sheet(title, source, 1.9 + _ROW_INCHES * max(3, len(names)))
    largest = max(0.05, float(np.nanmax(np.abs(changes), initial=0.0)))
    image = axes.imshow(
        changes, cmap="PuOr_r", norm=TwoSlopeNorm(0.0, -largest, largest), aspect="auto", interpolation="none"
    )
    rows, columns = np.nonzero(is_sacrificed)
    axes.plot(columns, rows, "x", color=INK, markersize=5, markeredgewidth=1.2, linestyle="")
    axes.grid(visible=False)
    axes.set_yticks(range(len(names)), [shorten(name, 30) for name in names], fontsize=8)
    _name_epsilons(axes, epsilons)
    axes.set_xlim(-0.5, len(epsilons) - 0.5)
    bar = figure.colorbar(image, ax=axes, shrink=0.5, aspect=25, pad=0.02)
    bar.set_label("kept whole, beside the baseline", color=INK, fontsize=9)
    bar.ax.tick_params(labelsize=8, colors=INK)
    bar.formatter = _PointFormatter()
    bar.update_ticks()
    if len(rows):
        words = "× kept whole clearly less often than in the baseline"
        axes.set_title(words, loc="left", fontsize=8, color=INK, pad=6)
    return figure


class _PointFormatter(ScalarFormatter):
    """Differences of shares in points, signed."""

    def __call__(self, value: float, position: int | None = None) -> str:
        return f"{100 * value:+.0f} points" if value else "0"


def draw_ranked(
    title: str,
    source: str,
    x_title: str,
    parts: Sequence[tuple[str, NDArray[np.floating]]],
    points: Sequence[tuple[str, bool, NDArray[np.floating]]],
) -> Figure:
    """Boxes of a share by ranked district for several epsilons side by side, with plans as points.

    Parameters
    ----------
    title, source, x_title : str
    parts : sequence of (str, float array of shape (5, k))
        What each ensemble is called, and its quantiles; from epsilon 0 up, four at most.
    points : sequence of (str, bool, float array of shape (k,))
        Name of a plan, whether it is the enacted one, and its shares.
    """
    figure, axes = new_sheet(title, source, 4.2)
    width = 0.8 / len(parts)
    names = ("whislo", "q1", "med", "q3", "whishi")
    handles: list[Artist] = []
    for place, (name, quantiles) in enumerate(parts):
        color = _COLORS[place]
        ranks = np.arange(1, quantiles.shape[1] + 1)
        axes.bxp(
            [dict(zip(names, box, strict=True)) for box in quantiles.T],
            positions=ranks - 0.4 + width * (place + 0.5),
            widths=0.86 * width,
            showfliers=False,
            patch_artist=True,
            manage_ticks=False,
            boxprops={"facecolor": color, "edgecolor": INK, "linewidth": 0.6},
            whiskerprops={"color": INK, "linewidth": 0.6},
            capprops={"color": INK, "linewidth": 0.6},
            medianprops={"color": PAPER if color in (ENSEMBLE, CHOSEN) else INK, "linewidth": 1.2},
        )
        handles.append(Patch(facecolor=color, edgecolor=INK, linewidth=0.6, label=name))
    for number, (name, is_enacted, values) in enumerate(points):
        color = ENACTED if is_enacted else _OTHER_PLAN
        (drawn,) = axes.plot(
            np.arange(1, len(values) + 1),
            values,
            "_",
            color=color,
            markersize=26,
            markeredgewidth=2.4 if is_enacted else 1.6,
            linestyle="",
            label=name,
            zorder=4 + (len(points) - number),
        )
        handles.append(drawn)
    axes.set_xlim(0.4, parts[0][1].shape[1] + 0.6)
    axes.xaxis.set_major_locator(MaxNLocator(20, integer=True))
    axes.set_xlabel(x_title)
    percent_axis(axes, "y")
    add_key(axes, 2, handles)
    return figure


def _draw_levels(axes: Axes, levels: Sequence[Level], *, percent: bool) -> list[Artist]:
    handles: list[Artist] = []
    for number, level in enumerate(level for level in levels if np.isfinite(level.value)):
        shown = f"{level.value:.1%}" if percent else f"{level.value:g}"
        handle = axes.axhline(
            level.value,
            color=ENACTED if level.is_enacted else (MUTED if number == 0 and not percent else _OTHER_PLAN),
            linewidth=2.2 if level.is_enacted else 1.5,
            linestyle=(0, ()) if level.is_enacted else (0, (4, 2)),
            label=f"{level.name} {shown}" if percent else level.name,
            zorder=1.5,
        )
        if level.name:
            handles.append(handle)
    return handles


def _name_epsilons(axes: Axes, epsilons: Sequence[float]) -> None:
    axes.set_xticks(range(len(epsilons)), [f"{epsilon:g}" for epsilon in epsilons], fontsize=8)
    axes.set_xlim(-0.6, max(1, len(epsilons)) - 0.4)
    axes.set_xlabel("ε")
