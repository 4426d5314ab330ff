"""Shares on paper: people by ranked district, and testimonies kept whole by cluster."""

from collections.abc import Sequence

import numpy as np
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator
from numpy.typing import ArrayLike, NDArray

from bottomup.dashboard.box_figure import quantiles_by_rank
from bottomup.dashboard.palette import ENACTED, ENSEMBLE, INK, PALE, PAPER, RULE
from bottomup.dashboard.prints.sheet import add_key, new_sheet, percent_axis, say_empty, shorten

__all__ = ["MOST_CLUSTERS", "draw_boxes", "draw_clusters"]

MOST_CLUSTERS = 60
"""Rows of a chart that still fits on a page."""
_ROW_INCHES = 0.2


def draw_boxes(
    title: str,
    source: str,
    x_title: str,
    ensemble: NDArray[np.floating],
    enacted: NDArray[np.floating],
    early: str = "",
) -> Figure:
    """Boxes of a share by ranked district, with the enacted plan as points.

    Parameters
    ----------
    title, source, x_title : str
    ensemble : float array, shape (R, k)
        Ascending in each plan.
    enacted : float array, shape (k,)
    early : str
        Why the boxes are to be read with care; they are hatched then.
    """
    figure, axes = new_sheet(title, source, 3.8)
    ranks = np.arange(1, len(enacted) + 1)
    boxes = quantiles_by_rank(ensemble) if len(ensemble) else np.empty((5, 0))
    known = np.flatnonzero(np.isfinite(boxes).all(axis=0)) if boxes.size else np.empty(0, dtype=np.int64)
    if known.size:
        drawn = axes.bxp(
            [
                dict(zip(("whislo", "q1", "med", "q3", "whishi"), boxes[:, place], strict=True))
                for place in known
            ],
            positions=ranks[known],
            widths=0.6,
            showfliers=False,
            patch_artist=True,
            manage_ticks=False,
            boxprops={"facecolor": PALE, "edgecolor": ENSEMBLE, "hatch": "////" if early else None},
            whiskerprops={"color": ENSEMBLE},
            capprops={"color": ENSEMBLE},
            medianprops={"color": INK, "linewidth": 1.6},
        )
        name = "middle half of plans; lines reach the middle 90 %"
        drawn["boxes"][0].set_label(f"{name} ({early})" if early else name)
    else:
        say_empty(axes)
    axes.plot(
        ranks,
        enacted,
        "o",
        color=ENACTED,
        markeredgecolor=PAPER,
        markersize=6.5,
        label="enacted plan",
        zorder=4,
    )
    axes.set_xlim(0.4, len(enacted) + 0.6)
    axes.xaxis.set_major_locator(MaxNLocator(20, integer=True))
    axes.set_xlabel(x_title)
    percent_axis(axes, "y")
    add_key(axes, 2)
    return figure


def draw_clusters(
    title: str,
    source: str,
    names: Sequence[str],
    ensemble: ArrayLike,
    baseline: ArrayLike,
    enacted: ArrayLike,
) -> Figure:
    """How much of each cluster is kept whole: bars, circles of the baseline, red ticks of the enacted plan.

    Of more than `MOST_CLUSTERS` those are shown that change most; the title says so.

    Parameters
    ----------
    title, source : str
    names : sequence of str
    ensemble, baseline, enacted : array_like of float
        Shares between 0 and 1, one per cluster; NaN where unknown.
    """
    shares = [np.asarray(each, dtype=np.float64) for each in (ensemble, baseline, enacted)]
    rows = np.arange(len(names))
    if len(names) > MOST_CLUSTERS:
        change = np.nan_to_num(np.abs(shares[0] - shares[1]))
        rows = np.sort(np.argsort(-change, kind="stable")[:MOST_CLUSTERS])
        title = f"{title}: the {MOST_CLUSTERS} of {len(names):,} that change most"
    figure, axes = new_sheet(title, source, 1.7 + _ROW_INCHES * max(3, len(rows)))
    kept, ignoring, of_enacted = (each[rows] for each in shares)
    places = np.arange(len(rows))
    if not len(rows):
        say_empty(axes, "There are no clusters")
    axes.barh(places, np.nan_to_num(kept), 0.64, color=ENSEMBLE, label="this ensemble")
    axes.plot(
        ignoring,
        places,
        "o",
        markersize=5.5,
        markerfacecolor=PAPER,
        markeredgecolor=INK,
        markeredgewidth=1.2,
        linestyle="",
        label="baseline, testimony ignored",
    )
    # White beside the red keeps it apart from the bar where there is no colour.
    for color, width, words in ((PAPER, 6, None), (ENACTED, 3, "enacted plan")):
        axes.plot(
            of_enacted,
            places,
            "|",
            color=color,
            markersize=11,
            markeredgewidth=width,
            linestyle="",
            label=words,
        )
    axes.set_yticks(places, [shorten(names[row]) for row in rows.tolist()], fontsize=8)
    axes.set_ylim(len(rows) - 0.4, -0.6)
    axes.set_xlim(-0.02, 1.03)
    axes.grid(visible=False, axis="y")
    axes.grid(axis="x", color=RULE, linewidth=0.8)
    axes.set_xlabel("testimonies kept whole")
    percent_axis(axes, "x")
    add_key(axes, 3)
    return figure
