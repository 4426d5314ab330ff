"""What the map needs of a geography, worked out once for all visitors: everything in Web Mercator."""

from dataclasses import dataclass

import geopandas
import numpy as np
import pandas as pd
import shapely
from numpy.typing import NDArray

from bottomup.dashboard.raster import Rings, flatten_rings
from bottomup.data.geography import Geography
from bottomup.data.plans import Plan

__all__ = ["Scene", "build_scene", "label_points"]

WEB_MERCATOR = "EPSG:3857"
# Towns that are named on the map: the largest, and none so near a larger one that the words would touch.
_N_TOWNS = 9
_TOWN_SPACING = 0.11


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
    boundary_of : dict of str to float64 array, shape (points, 2)
        By plan name: the lines between its districts, as such a path.
    """

    rings: Rings
    center: NDArray[np.float64]
    area: NDArray[np.float64]
    counties: NDArray[np.float64]
    towns: pd.DataFrame
    boundary_of: dict[str, NDArray[np.float64]]


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
    return Scene(
        rings=rings,
        center=shapely.get_coordinates(shapely.point_on_surface(shapes)),
        area=shapely.area(shapes),
        counties=np.empty((0, 2)) if counties is None else _outlines(counties),
        towns=_chosen_towns(towns, rings),
        boundary_of={
            name: _lines_between(shapes, geography.edges, plan.assignment) for name, plan in plans.items()
        },
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
    pieces = shapely.get_parts(shapely.line_merge(lines))
    gap = np.full((1, 2), np.nan)
    return np.concatenate([part for piece in pieces for part in (shapely.get_coordinates(piece), gap)])


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


def label_points(scene: Scene, assignment: NDArray[np.integer], n_districts: int) -> NDArray[np.float64]:
    """Where the number of each district is written: inside its unit nearest to its centre of area.

    Returns
    -------
    float64 array, shape (k, 2)
        NaN for a district without units.
    """
    points = np.full((n_districts, 2), np.nan)
    weighted = scene.center * scene.area[:, None]
    for district in range(n_districts):
        members = np.flatnonzero(assignment == district)
        if members.size:
            middle = weighted[members].sum(axis=0) / scene.area[members].sum()
            distance = ((scene.center[members] - middle) ** 2).sum(axis=1)
            points[district] = scene.center[members[distance.argmin()]]
    return points
