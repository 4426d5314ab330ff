"""From drawn polygons to units: a unit belongs to a polygon when enough of its area lies inside."""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

import geopandas as gpd
import numpy as np
import pandas as pd
import pyproj
import shapely
from numpy.typing import NDArray

from bottomup.data.errors import DataError
from bottomup.data.geography import Geography
from bottomup.data.polygons import plain_columns, polygonal, read_shapes

# A polygon along the state line of another map misses ours by a hair; this share of it is no matter.
OUTSIDE_TOLERANCE = 0.01
# A line straight in one projection bends by centimetres a kilometre in another: long ones are given more
# vertices first, and a unit that misses the threshold by this share of its area does not miss it.
_SEGMENT_DEGREES, _SEGMENT_LENGTH = 0.01, 1000.0
_ROUNDING = 1e-4


class Covered(NamedTuple):
    """What polygons cover.

    Attributes
    ----------
    units : list of int32 arrays
        Positions of the units of each polygon, ascending.
    partly_outside : bool array
        Whether more than a hundredth of the polygon lies off the map.
    has_area : bool array
        False for what is missing, is no polygon, or cannot be made a valid one.
    """

    units: list[NDArray[np.int32]]
    partly_outside: NDArray[np.bool_]
    has_area: NDArray[np.bool_]


class Snapped(NamedTuple):
    """What the polygons of a file cover.

    Attributes
    ----------
    properties : DataFrame
        The columns of the file, a row per polygon.
    units : list of int32 arrays
        Positions of the units of each polygon, ascending.
    partly_outside : bool array
        Whether more than a hundredth of the polygon lies off the map.
    """

    properties: pd.DataFrame
    units: list[NDArray[np.int32]]
    partly_outside: NDArray[np.bool_]


def snap_polygons(path: str | Path, geography: Geography, threshold: float) -> Snapped:
    """Find the units of every polygon of a file.

    Parameters
    ----------
    path : path
        A GIS file. Features that are no polygons cover nothing; invalid polygons are made valid.
    geography : Geography
        The map, with shapes.
    threshold : float
        Share of a unit's area that must lie inside, above 0 and at most 1.

    Returns
    -------
    Snapped

    Raises
    ------
    DataError
        If the threshold makes no sense, the map has no shapes, or the file cannot be read.
    """
    check_can_snap(path, geography, threshold)
    frame = read_shapes(path)
    covered = cover(frame.geometry, geography, threshold)
    return Snapped(plain_columns(frame), covered.units, covered.partly_outside)


def check_can_snap(source: object, geography: Geography, threshold: float) -> None:
    """Refuse a threshold that makes no sense, and a map without shapes; `source` is named in the message.

    Raises
    ------
    DataError
    """
    check_threshold(threshold)
    if geography.geometry is None:
        raise DataError(
            "no_unit_shapes",
            f"{str(source)!r} holds polygons, but the map has no shapes to lay them over.",
            remedy="Give shapes with the units, or testimonies as a table of unit ids.",
        )


def check_threshold(threshold: float) -> None:
    """Raise a DataError for a share that makes no sense as a threshold."""
    if not 0 < threshold <= 1:
        raise DataError("bad_threshold", f"threshold must be above 0 and at most 1; got {threshold}.")


def cover(geometry: gpd.GeoSeries, geography: Geography, threshold: float) -> Covered:
    """Find the units of every shape.

    Parameters
    ----------
    geometry : GeoSeries
        With a CRS. Shapes that are no polygons cover nothing; invalid polygons are made valid.
    geography : Geography
        The map, with shapes.
    threshold : float
        See :func:`snap_polygons`.
    """
    assert geography.geometry is not None
    polygons = projected_polygons(geometry, geography.geometry.crs)
    outlines = geography.geometry.to_numpy()
    unit_areas = shapely.area(outlines)
    testimony, unit, inside = shared_areas(polygons, outlines)

    on_map = np.bincount(testimony, weights=inside, minlength=len(polygons))
    own_areas = np.nan_to_num(shapely.area(polygons))
    enough = inside >= threshold * unit_areas[unit] * (1 - _ROUNDING)
    testimony, unit = testimony[enough], unit[enough]
    order = np.lexsort((unit, testimony))
    ends = np.cumsum(np.bincount(testimony, minlength=len(polygons)))[:-1]
    return Covered(
        units=np.split(unit[order].astype(np.int32), ends),
        partly_outside=on_map < own_areas * (1 - OUTSIDE_TOLERANCE),
        has_area=own_areas > 0,
    )


def projected_polygons(geometry: gpd.GeoSeries, crs: pyproj.CRS) -> NDArray[np.object_]:
    """Return polygons, valid and in another coordinate reference system, with their lines kept.

    Shapes that are no polygons come back empty or missing.
    """
    segment = _SEGMENT_DEGREES if geometry.crs.is_geographic else _SEGMENT_LENGTH
    # Repaired first: adding vertices to a figure of eight loses one of its halves.
    drawn = gpd.GeoSeries(polygonal(geometry.to_numpy()), crs=geometry.crs)
    return polygonal(drawn.segmentize(segment).to_crs(crs).to_numpy())


def shared_areas(
    polygons: NDArray[np.object_], outlines: NDArray[np.object_]
) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.float64]]:
    """Measure how much of each unit lies in each polygon.

    Parameters
    ----------
    polygons, outlines : object array
        Valid polygons in the same coordinates; `outlines` are those of the units.

    Returns
    -------
    polygon, unit : int64 array
        Positions of the pairs that meet.
    area : float64 array
        Common to the two; 0 where they only touch.
    """
    tree = shapely.STRtree(outlines)
    polygon, unit = tree.query(polygons, predicate="intersects")
    area = np.zeros(len(unit))
    whole = _pairs(tree.query(polygons, predicate="covers"), len(outlines))
    covered = np.isin(_pairs((polygon, unit), len(outlines)), whole)
    area[covered] = shapely.area(outlines)[unit[covered]]
    partial = np.flatnonzero(~covered)
    area[partial] = shapely.area(shapely.intersection(polygons[polygon[partial]], outlines[unit[partial]]))
    return polygon, unit, area


def _pairs(indices: tuple[NDArray[np.int64], NDArray[np.int64]], n_units: int) -> NDArray[np.int64]:
    return indices[0] * n_units + indices[1]
