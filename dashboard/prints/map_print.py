"""The map of a plan on paper: districts in the page's colours, and the enacted plan as a red line."""

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from numpy.typing import NDArray

from bottomup.dashboard.palette import ENACTED, INK, PAPER, district_colors
from bottomup.dashboard.prints.sheet import new_sheet, say_empty, shorten
from bottomup.dashboard.raster import rasterise
from bottomup.dashboard.scene import Scene, label_points, names_to_the_left

__all__ = ["draw_map"]

# The longer side of the coloured picture; the lines over it are lines.
_PIXELS = 1500
_LETTERS = 6


def draw_map(
    scene: Scene,
    assignment: NDArray[np.integer],
    names: tuple[str, ...],
    title: str,
    source: str,
    *,
    enacted: str = "",
    inches: float = 6.2,
) -> Figure:
    """Draw it.

    Parameters
    ----------
    scene : Scene
    assignment : integer array, shape (n,)
        District of each unit.
    names : tuple of str
        Of the districts.
    title, source : str
    enacted : str
        Name of the plan that lies over it as a red line; none when empty.
    inches : float
        The longer side of the map; words are as large on a small one.
    """
    bounds = scene.rings.total_bounds
    across, up = bounds.right - bounds.left, bounds.top - bounds.bottom
    scale = inches / max(across, up)
    figure, axes = new_sheet(title, source, scale * up + 1.1, max(3.6, scale * across + 0.4))
    axes.set_axis_off()
    if not assignment.size:
        say_empty(axes, "No plan")
        return figure
    # Counties lie over the colours and under the borders of districts.
    for order, picture in zip((1, 3), _paint(scene, assignment, len(names)), strict=True):
        axes.imshow(
            picture,
            extent=(bounds.left, bounds.right, bounds.bottom, bounds.top),
            origin="lower",
            interpolation="antialiased",
            zorder=order,
        )
    _add_lines(axes, scene, enacted)
    _name_towns(axes, scene)
    for (x, y), name in zip(label_points(scene, assignment, len(names)), names, strict=True):
        if np.isfinite(x):
            axes.text(
                x,
                y,
                shorten(name, _LETTERS),
                ha="center",
                va="center",
                color=INK,
                fontsize=9,
                fontweight="bold",
                zorder=6,
                bbox={"boxstyle": "circle,pad=0.25", "facecolor": PAPER, "edgecolor": INK, "linewidth": 0.7},
            )
    return figure


def _paint(
    scene: Scene, assignment: NDArray[np.integer], n_districts: int
) -> tuple[NDArray[np.uint8], NDArray[np.uint8]]:
    """Pictures of the districts and of their borders, clear elsewhere; the first row is the southernmost."""
    bounds = scene.rings.total_bounds
    across, up = bounds.right - bounds.left, bounds.top - bounds.bottom
    scale = _PIXELS / max(across, up)
    width, height = max(1, round(across * scale)), max(1, round(up * scale))
    unit = rasterise(scene.rings, bounds, width, height)
    district = np.concatenate(([0], np.asarray(assignment, dtype=np.int64) + 1))[unit]
    colors = ["#000000", *district_colors(n_districts)]
    table = np.array([[int(c[i : i + 2], 16) for i in (1, 3, 5)] + [255] for c in colors], dtype=np.uint8)
    table[0, 3] = 0
    borders = np.zeros((*district.shape, 4), dtype=np.uint8)
    borders[_borders(district)] = (*(int(INK[i : i + 2], 16) for i in (1, 3, 5)), 255)
    return table[district], borders


def _borders(district: NDArray[np.int64]) -> NDArray[np.bool_]:
    """Pixels beside another district, or beside the outside."""
    is_border = np.zeros(district.shape, dtype=bool)
    for apart in (1, 2):
        differs = district[apart:] != district[:-apart]
        is_border[apart:] |= differs
        is_border[:-apart] |= differs
        differs = district[:, apart:] != district[:, :-apart]
        is_border[:, apart:] |= differs
        is_border[:, :-apart] |= differs
    return is_border & (district > 0)


def _add_lines(axes: Axes, scene: Scene, enacted: str) -> None:
    if len(scene.counties):
        axes.plot(*scene.counties.T, color=PAPER, linewidth=0.7, zorder=2)
        axes.plot(*scene.counties.T, color=INK, linewidth=0.3, alpha=0.45, zorder=2)
    line = scene.boundary_of.get(enacted, np.empty((0, 2)))
    if len(line):
        # White beside the red keeps it apart from dark borders where there is no colour.
        axes.plot(*line.T, color=PAPER, linewidth=2.8, solid_capstyle="round", zorder=4)
        axes.plot(*line.T, color=ENACTED, linewidth=1.5, solid_capstyle="round", zorder=4)
    marks = [(Line2D([], [], color=INK, linewidth=0.8), "districts of the plan")]
    if len(line):
        marks.append((Line2D([], [], color=ENACTED, linewidth=2.2), f"enacted plan {shorten(enacted, 24)}"))
    axes.legend(
        *zip(*marks, strict=True),
        loc="upper left",
        bbox_to_anchor=(0.0, 0.0),
        ncols=2,
        frameon=False,
        fontsize=8,
        labelcolor=INK,
        borderaxespad=0.1,
    )


def _name_towns(axes: Axes, scene: Scene) -> None:
    towns = scene.towns
    if towns.empty:
        return
    to_the_left = names_to_the_left(towns, scene.rings.total_bounds)
    for town, is_left in zip(towns.itertuples(index=False), to_the_left, strict=True):
        axes.plot(town.x, town.y, "o", color=INK, markersize=2.6, zorder=5)
        axes.annotate(
            town.name,
            (town.x, town.y),
            xytext=(-4 if is_left else 4, 0),
            textcoords="offset points",
            ha="right" if is_left else "left",
            va="center",
            color=INK,
            fontsize=7,
            zorder=5,
            bbox={"facecolor": PAPER, "edgecolor": "none", "alpha": 0.6, "pad": 0.4},
        )
