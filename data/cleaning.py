"""Outlines of units: missing, not polygons, or crossing themselves; and made valid."""

from __future__ import annotations

from collections.abc import Sequence

import geopandas as gpd
import numpy as np
import shapely
from numpy.typing import NDArray

from bottomup.data.errors import count
from bottomup.data.findings import Findings
from bottomup.data.polygons import POLYGONS, polygonal
from bottomup.data.repairs import try_repair

# Making a polygon valid may change its area by this share of it without being asked.
_HARMLESS = 0.01


def clean_polygons(
    geometry: gpd.GeoSeries,
    ids: Sequence[str],
    findings: Findings,
    *,
    make_valid: NDArray[np.bool_] | None = None,
) -> tuple[gpd.GeoSeries, tuple[str, ...]]:
    """Check that every unit has a polygon, and make valid those that cross themselves.

    Parameters
    ----------
    geometry : GeoSeries, length n_units
        As read.
    ids : sequence of str
        Ids of the units.
    findings : Findings
        Takes what is found: shapes that are missing, not polygons, or beyond repair, and polygons that change
        by more than a hundredth of their area when they are made valid, which is for the user to choose.
    make_valid : bool array, shape (n_units,), optional
        The units for which the user did so; all of them when not given.

    Returns
    -------
    geometry : GeoSeries
        Valid polygons and multipolygons, in the same CRS; missing where there are none.
    repaired : tuple of str
        Ids of the units whose polygons were made valid; those without area are given a hair's breadth.
    """
    shapes = geometry.to_numpy().copy()
    missing = shapely.is_missing(shapes) | shapely.is_empty(shapes)
    if missing.any():
        unknown = _named(ids, missing)
        findings.settle(
            "null_geometry",
            f"there is no shape, or no readable one, for {missing.sum():,} of {count(len(ids), 'unit')}",
            f"Give them their polygons, or leave them out: {try_repair('drop', unknown)}.",
            unknown,
        )
    other = ~np.isin(shapely.get_type_id(shapes), POLYGONS) & ~missing
    if other.any():
        kinds = sorted({shape.geom_type for shape in shapes[other]})
        others = _named(ids, other)
        findings.settle(
            "not_polygon",
            f"{other.sum():,} of {count(len(ids), 'unit')} with {' or '.join(kinds)} instead of a polygon",
            "Units must be areas: give polygons or multipolygons, or leave these out: "
            f"{try_repair('drop', others)}.",
            others,
        )
    shapes[missing | other] = None
    invalid = ~shapely.is_valid(shapes) & ~shapely.is_missing(shapes)
    clean = polygonal(shapes)
    # Simplification can flatten a small unit to a line; a hair's breadth keeps it on the map and beside its
    # neighbours.
    flat = np.flatnonzero(shapely.is_empty(clean))
    hair = 1e-5 if geometry.crs is not None and geometry.crs.is_geographic else 1.0
    clean[flat] = shapely.buffer(shapely.make_valid(shapes[flat]), hair, quad_segs=1)
    lost = shapely.is_empty(clean) | ~shapely.is_valid(clean)
    lost &= ~shapely.is_missing(clean)
    if lost.any():
        findings.settle(
            "invalid_geometry",
            f"there are polygons that cannot be repaired for {lost.sum():,} of {count(len(ids), 'unit')}",
            "Draw these polygons again in a GIS program.",
            _named(ids, lost),
        )
        clean[lost] = None
    before, after = shapely.area(shapes), shapely.area(clean)
    changed = invalid & ~lost & (np.abs(after - before) > _HARMLESS * np.maximum(before, after))
    to_choose = changed if make_valid is None else changed & ~make_valid
    if make_valid is not None and to_choose.any():
        crossed = _named(ids, to_choose)
        findings.settle(
            "invalid_geometry",
            f"{to_choose.sum():,} of {count(len(ids), 'unit')} with an outline that crosses itself, and "
            "making it valid changes its area by more than 1 %",
            "Draw these polygons again in a GIS program, or take what they enclose: "
            f"{try_repair('make-valid', crossed)}.",
            crossed,
        )
    done = invalid & ~lost & ~to_choose
    if done.any():
        findings.add(
            "note",
            "made_valid",
            f"{done.sum():,} of {count(len(ids), 'unit')} with an outline that crossed itself and was made "
            "valid",
            units=_named(ids, done),
        )
    return gpd.GeoSeries(clean, crs=geometry.crs), tuple(_named(ids, done))


def _named(ids: Sequence[str], chosen: NDArray[np.bool_]) -> list[str]:
    return [unit for unit, is_chosen in zip(ids, chosen, strict=True) if is_chosen]
