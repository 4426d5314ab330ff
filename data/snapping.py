"""From drawn polygons to units: a unit belongs to a polygon when enough of its area lies inside."""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

import geopandas as gpd
import numpy as np
import pandas as pd
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


class Snapped(NamedTuple):
    """What polygons cover.

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
    if not 0 < threshold <= 1:
        raise DataError("bad_threshold", f"threshold must be above 0 and at most 1; got {threshold}.")
    if geography.geometry is None:
        raise DataError(
            "no_unit_shapes",
            f"{str(path)!r} holds polygons, but the map has no shapes to lay them over.",
            remedy="Give shapes with the units, or testimonies as a table of unit ids.",
        )
    frame = read_shapes(path)
    crs = geography.geometry.crs
    segment = _SEGMENT_DEGREES if frame.crs.is_geographic else _SEGMENT_LENGTH
    # Repaired first: adding vertices to a figure of eight loses one of its halves.
    drawn = gpd.GeoSeries(polygonal(frame.geometry.to_numpy()), crs=frame.crs)
    polygons = polygonal(drawn.segmentize(segment).to_crs(crs).to_numpy())
    outlines = geography.geometry.to_numpy()
    unit_areas = shapely.area(outlines)
    tree = shapely.STRtree(outlines)

    testimony, unit = tree.query(polygons, predicate="intersects")
    inside = np.zeros(len(unit))
    whole = _pairs(tree.query(polygons, predicate="covers"), len(outlines))
    covered = np.isin(_pairs((testimony, unit), len(outlines)), whole)
    inside[covered] = unit_areas[unit[covered]]
    partial = np.flatnonzero(~covered)
    inside[partial] = shapely.area(
        shapely.intersection(polygons[testimony[partial]], outlines[unit[partial]])
    )

    on_map = np.bincount(testimony, weights=inside, minlength=len(polygons))
    own_areas = np.nan_to_num(shapely.area(polygons))
    enough = inside >= threshold * unit_areas[unit] * (1 - _ROUNDING)
    testimony, unit = testimony[enough], unit[enough]
    order = np.lexsort((unit, testimony))
    ends = np.cumsum(np.bincount(testimony, minlength=len(polygons)))[:-1]
    return Snapped(
        properties=plain_columns(frame),
        units=np.split(unit[order].astype(np.int32), ends),
        partly_outside=on_map < own_areas * (1 - OUTSIDE_TOLERANCE),
    )


def _pairs(indices: tuple[NDArray[np.int64], NDArray[np.int64]], n_units: int) -> NDArray[np.int64]:
    return indices[0] * n_units + indices[1]
