"""The tree of near testimonies as a figure, with the line that cuts it into clusters, and in words."""

from collections.abc import Sequence

import numpy as np
from bokeh.models import FixedTicker, Label, Node, Range1d, Span
from bokeh.plotting import figure
from numpy.typing import NDArray

from bottomup.dashboard.figures import FONT, base_figure
from bottomup.dashboard.palette import BASELINE, ENSEMBLE, INK, PAPER
from bottomup.data.errors import count, list_some
from bottomup.data.merge_tree import Linkage, MergeTree

__all__ = ["MOST_NAMED", "dendrogram", "describe_clusters", "describe_cut", "describe_linkage"]

MOST_NAMED = 24
"""Leaves up to which each has its name."""
_LONGEST_NAME = 10
_MANY = 200
_OF_PAIRS: dict[Linkage, str] = {
    "average": "the mean over pairs of their testimonies",
    "complete": "those between their two farthest testimonies",
    "single": "those between their two nearest testimonies",
}


def dendrogram(tree: MergeTree, n_clusters: int, names: Sequence[str] = ()) -> figure:
    """Draw the tree, what is joined in colour, with a line through the distance of the cut.

    Parameters
    ----------
    tree : MergeTree
    n_clusters : int
    names : sequence of str, length n_members, optional
        What members are called; shown when there are at most `MOST_NAMED`.
    """
    n = len(tree.members)
    is_named = 0 < len(names) <= MOST_NAMED
    plot = base_figure("" if is_named else count(n, "testimony", "testimonies"), "steps apart")
    drawn = tree.branches()
    n_made = n - n_clusters
    width = 1.0 if n > _MANY else 1.5
    for rows, color in ((slice(n_made, None), BASELINE), (slice(0, n_made), ENSEMBLE)):
        plot.multi_line(drawn.x[rows].tolist(), drawn.y[rows].tolist(), line_color=color, line_width=width)
    cut = tree.cut_height(n_clusters)
    top = max(float(tree.heights[-1]), cut) or 1.0
    # Room above the line for its words.
    plot.y_range = Range1d(0, 1.12 * top)
    plot.x_range = Range1d(-0.02 * n - 0.5, n - 0.5 + 0.02 * n)
    plot.add_layout(Span(location=cut, dimension="width", line_color=INK, line_dash=[6, 4], line_width=1.5))
    plot.add_layout(
        Label(
            x=Node.frame.right,
            y=cut,
            text=count(n_clusters, "cluster"),
            text_align="right",
            text_color=INK,
            text_font=FONT,
            text_font_size="14px",
            y_offset=2,
            background_fill_color=PAPER,
            background_fill_alpha=0.85,
        )
    )
    plot.grid.grid_line_color = None
    plot.xaxis.ticker = FixedTicker(ticks=list(range(n)) if is_named else [])
    if is_named:
        plot.xaxis.major_label_overrides = {
            place: _short(names[member]) for place, member in enumerate(drawn.order.tolist())
        }
        plot.xaxis.major_label_orientation = np.pi / 2
        plot.xaxis.major_tick_line_color = None
    return plot


def _short(name: str) -> str:
    # Ids of one file mostly differ at their ends.
    return name if len(name) <= _LONGEST_NAME else f"…{name[1 - _LONGEST_NAME :]}"


def describe_cut(tree: MergeTree, n_clusters: int) -> str:
    """Say how far apart what is joined is, and what is not."""
    n = len(tree.members)
    n_made = n - n_clusters
    said = f"{count(n_clusters, 'cluster')} of {count(n, 'testimony', 'testimonies')}, "
    last = float(tree.heights[n_made - 1]) if n_made else None
    if last is None:
        said += "none joined"
    elif last == 0:
        said += "joined where their units are the same"
    else:
        said += f"joined up to {last:.3g} steps apart"
    if n_made == n - 1:
        return f"{said}."
    following = float(tree.heights[n_made])
    if following == last:
        return f"{said}; others just as near stay apart so that the number is met."
    return f"{said}; the next are {following:.3g} apart."


def describe_linkage(linkage: Linkage) -> str:
    """Say what the distances are."""
    return (
        "Steps lead from unit to unit: between testimonies, from the farthest unit of one to the other; "
        f"between clusters, {_OF_PAIRS[linkage]} ({linkage} linkage)."
    )


def describe_clusters(tree: MergeTree, n_clusters: int) -> str:
    """Say what the figure alone shows otherwise: where the tree ends, and how large the clusters are."""
    sizes: NDArray[np.int64] = np.sort(np.bincount(tree.cut(n_clusters)))[::-1]
    return (
        f"A tree of {count(len(tree.members), 'testimony', 'testimonies')}, which are all joined at "
        f"{tree.heights[-1]:.3g} steps apart. Testimonies in each cluster, the largest first: "
        f"{list_some([f'{size:,}' for size in sizes], 40)}."
    )
