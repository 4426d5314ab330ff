"""What the map needs of a geography, worked out once for all visitors: everything in Web Mercator."""

from dataclasses import dataclass

import geopandas
import numpy as np
import pandas as pd
import shapely
from numpy.typing import NDArray

from bottomup.dashboard.boundaries import Borders, line_path
from bottomup.dashboard.raster import Rings, View, flatten_rings
from bottomup.data.geography import Geography
from bottomup.data.plans import Plan

__all__ = ["Scene", "build_scene", "label_points", "names_to_the_left"]

WEB_MERCATOR = "EPSG:3857"
# Towns that are named on the map: the largest, and none so near a larger one that the words would touch.
_N_TOWNS = 9
_TOWN_SPACING = 0.11
# Room that the name of a town takes, in pixels on the smallest map: on a larger one it takes less of the map.
_SMALLEST_MAP = (410, 500)
_LETTER_PIXELS = 7.5
# Where only the map's end is near, the names may be measured without reserve, and the margin counts.
_LEAST_LETTER_PIXELS = 6.5
_MARGIN_PIXELS = 8
_NAME_HALF_HEIGHT = 8
_GAP_PIXELS = 8
# Of the disc behind a district's number.
_DISC_RADIUS = 14


@dataclass(frozen=True, eq=False)
class Scene:
    """The parts of the map that stay while plans change, in Web Mercator metres.

    Attributes
    ----------
    rings : Rings
        Outlines of the units.
    center : float64 array, shape (n, 2)
        A point inside each unit.
    area : float64 array, shape (n,)
    counties : float64 array, shape (points, 2)
        County outlines as one path with a row of NaN after every line; empty when the inputs have none.
    towns : pandas.DataFrame
        ``name``, ``x``, ``y`` of the towns to be named.
    clear : bool array, shape (n,)
        Whether a district's number can be written in the unit without covering the name of a town.
    disc : float
        Width of the disc behind a district's number, in metres on the smallest map.
    boundary_of : dict of str to float64 array, shape (points, 2)
        By plan name: the lines between its districts, as such a path.
    borders : Borders
        The lines between units.
    """

    rings: Rings
    center: NDArray[np.float64]
    area: NDArray[np.float64]
    counties: NDArray[np.float64]
    towns: pd.DataFrame
    clear: NDArray[np.bool_]
    disc: float
    boundary_of: dict[str, NDArray[np.float64]]
    borders: Borders


def build_scene(
    geography: Geography,
    plans: dict[str, Plan],
    counties: geopandas.GeoDataFrame | None = None,
    towns: pd.DataFrame | None = None,
) -> Scene:
    """Project the geography, and the outlines that lie over it, for the map.

    Raises
    ------
    ValueError
        When the geography has no geometry.
    """
    if geography.geometry is None:
        raise ValueError("geography must have a geometry to be drawn; it was read without one.")
    geometry = geography.geometry.to_crs(WEB_MERCATOR)
    shapes = geometry.to_numpy()
    rings = flatten_rings(geometry)
    center = shapely.get_coordinates(shapely.point_on_surface(shapes))
    named_towns = _chosen_towns(towns, rings)
    return Scene(
        rings=rings,
        center=center,
        area=shapely.area(shapes),
        counties=np.empty((0, 2)) if counties is None else _outlines(counties),
        towns=named_towns,
        clear=_clear_of_names(center, named_towns, rings.total_bounds),
        disc=2 * _DISC_RADIUS * _metres_per_pixel(rings.total_bounds),
        boundary_of={
            name: _lines_between(shapes, geography.edges, plan.assignment) for name, plan in plans.items()
        },
        borders=Borders(shapes, geography.edges),
    )


def _outlines(areas: geopandas.GeoDataFrame) -> NDArray[np.float64]:
    boundaries = shapely.boundary(areas.geometry.to_crs(WEB_MERCATOR).to_numpy())
    # Neighbours share most of their outlines: the union draws each line once.
    return _path(shapely.union_all(boundaries))


def _lines_between(
    shapes: NDArray[np.object_], edges: NDArray[np.int32], assignment: NDArray[np.int32]
) -> NDArray[np.float64]:
    """Lines along which units of different districts touch."""
    cut = edges[assignment[edges[:, 0]] != assignment[edges[:, 1]]]
    if not len(cut):
        return np.empty((0, 2))
    touching = shapely.intersection(shapes[cut[:, 0]], shapes[cut[:, 1]])
    pieces = shapely.get_parts(touching)
    # Outlines that overlap by a little meet in slivers instead of lines; points are corners.
    dimension = shapely.get_dimensions(pieces)
    lines = np.concatenate((pieces[dimension == 1], shapely.boundary(pieces[dimension == 2])))
    return _path(shapely.union_all(lines))


def _path(lines: shapely.Geometry) -> NDArray[np.float64]:
    return line_path(shapely.get_parts(shapely.line_merge(lines)))


def _chosen_towns(towns: pd.DataFrame | None, rings: Rings) -> pd.DataFrame:
    if towns is None or towns.empty:
        return pd.DataFrame({"name": [], "x": [], "y": []})
    largest_first = towns.sort_values("population", ascending=False, kind="stable")
    points = geopandas.points_from_xy(largest_first["lon"], largest_first["lat"], crs="EPSG:4326")
    xy = shapely.get_coordinates(np.asarray(points.to_crs(WEB_MERCATOR)))
    bounds = rings.total_bounds
    spacing = _TOWN_SPACING * max(bounds.right - bounds.left, bounds.top - bounds.bottom)
    kept: list[int] = []
    for i in range(len(xy)):
        near = any(np.hypot(*(xy[i] - xy[j])) < spacing for j in kept)
        if not near and len(kept) < _N_TOWNS:
            kept.append(i)
    names = largest_first["name"].to_numpy()[kept]
    return pd.DataFrame({"name": names, "x": xy[kept, 0], "y": xy[kept, 1]})


def names_to_the_left(towns: pd.DataFrame, bounds: View) -> NDArray[np.bool_]:
    """Which towns have their names to the left of their dots, because the map ends on the right."""
    n_letters = np.array([len(name) for name in towns["name"]], dtype=float)
    reach = _metres_per_pixel(bounds) * (_GAP_PIXELS + _LEAST_LETTER_PIXELS * n_letters - _MARGIN_PIXELS)
    return towns["x"].to_numpy() + reach > bounds.right


def _metres_per_pixel(bounds: View) -> float:
    """Of the smallest map, in which everything is in sight."""
    width, height = bounds.right - bounds.left, bounds.top - bounds.bottom
    return max(width / _SMALLEST_MAP[0], height / _SMALLEST_MAP[1])


def _clear_of_names(points: NDArray[np.float64], towns: pd.DataFrame, bounds: View) -> NDArray[np.bool_]:
    """Which points may be the middle of a district's number, on the smallest map."""
    per_pixel = _metres_per_pixel(bounds)
    n_letters = np.array([len(name) for name in towns["name"]], dtype=float)
    reach = per_pixel * (_GAP_PIXELS + _LETTER_PIXELS * n_letters)
    to_the_left = names_to_the_left(towns, bounds)
    x, y = towns["x"].to_numpy(), towns["y"].to_numpy()
    around = per_pixel * (_DISC_RADIUS + _GAP_PIXELS)
    left = x - np.where(to_the_left, reach + per_pixel * _DISC_RADIUS, around)
    right = x + np.where(to_the_left, around, reach + per_pixel * _DISC_RADIUS)
    half_height = per_pixel * (_DISC_RADIUS + _NAME_HALF_HEIGHT)
    across, up = points[:, :1], points[:, 1:]
    covered = (across > left) & (across < right) & (np.abs(up - y) < half_height)
    return ~covered.any(axis=1)


def label_points(scene: Scene, assignment: NDArray[np.integer], n_districts: int) -> NDArray[np.float64]:
    """Where the number of each district is written: in the unit nearest to its centre of area that is free.

    Free is a unit where the number covers neither the name of a town nor another number. Where no unit of a
    district is free, its number stands in the nearest one of all. The smallest district chooses first.

    Returns
    -------
    float64 array, shape (k, 2)
        NaN for a district without units.
    """
    x, y = scene.center.T
    area = np.bincount(assignment, scene.area, n_districts)
    with np.errstate(invalid="ignore"):
        middle_x = np.bincount(assignment, scene.area * x, n_districts) / area
        middle_y = np.bincount(assignment, scene.area * y, n_districts) / area
    distance = np.hypot(x - middle_x[assignment], y - middle_y[assignment])
    by_distance = np.lexsort((distance, assignment))
    ends = np.cumsum(np.bincount(assignment, minlength=n_districts))
    points = np.full((n_districts, 2), np.nan)
    for district in np.argsort(area):
        members = by_distance[ends[district - 1] if district else 0 : ends[district]]
        if not members.size:
            continue
        placed = points[np.isfinite(points[:, 0])]
        free = members[scene.clear[members]]
        # One look at the best place is enough where numbers are not close together, which is the rule.
        if _is_near(scene.center[free[:1]], placed, scene.disc).any():
            free = free[~_is_near(scene.center[free], placed, scene.disc)]
        points[district] = scene.center[free[0] if free.size else members[0]]
    return points


def _is_near(points: NDArray[np.float64], others: NDArray[np.float64], distance: float) -> NDArray[np.bool_]:
    """Which points lie nearer to any of the others than this distance."""
    between = points[:, None, :] - others[None, :, :]
    return ((between**2).sum(axis=2) < distance**2).any(axis=1)
