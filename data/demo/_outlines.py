"""One clean coverage of county outlines: no gap, no overlap, every border shared vertex by vertex."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import shapely
from shapely.geometry import Polygon

from bottomup.data.demo._facts import GRID

#: Bends of a border that enclose less than the square of this many degrees are straightened.
SIMPLIFICATION = 0.004


def county_outlines(codes: Sequence[str]) -> list[Polygon]:
    """Return the outlines of Missouri's counties as one clean coverage.

    The published outlines were drawn county by county: most borders agree to the last digit, a few cross or
    leave slivers. All borders are noded together, each face goes to one county, and its faces are joined.

    Parameters
    ----------
    codes : sequence of str
        Five-digit county codes, in the order wanted.

    Returns
    -------
    list of Polygon
        One valid polygon per code, in degrees, every vertex on the grid.

    Raises
    ------
    ValueError
        If the published counties are not those asked for, or a county is not one simple polygon.
    """
    drawn = _published_outlines()
    if set(drawn) != set(codes):
        raise ValueError(f"county outlines and county figures differ: {sorted(set(drawn) ^ set(codes))}")
    originals = np.array([drawn[code] for code in codes], dtype=object)
    borders = shapely.union_all(shapely.boundary(originals), grid_size=GRID)
    faces = shapely.get_parts(shapely.polygonize([borders]))
    owner = _owners(faces, originals)
    joined = [shapely.union_all(faces[owner == county], grid_size=GRID) for county in range(len(codes))]
    outlines = list(shapely.coverage_simplify(joined, SIMPLIFICATION))
    for code, outline in zip(codes, outlines, strict=True):
        if outline.geom_type != "Polygon" or outline.interiors or not outline.is_valid:
            raise ValueError(f"the outline of county {code} is not one simple polygon: {outline.geom_type}")
    return outlines


def _published_outlines() -> dict[str, Polygon]:
    """Return the outlines as published, by five-digit code."""
    from bokeh_sampledata import us_counties

    return {
        f"{state:02d}{county:03d}": Polygon(np.column_stack([outline["lons"], outline["lats"]]))
        for (state, county), outline in us_counties.data.items()
        if state == 29
    }


def _owners(faces: np.ndarray, originals: np.ndarray) -> np.ndarray:
    """Give each face to one county.

    A face inside exactly one published outline is that county's. A sliver inside two, or enclosed by counties
    that fail to meet, goes to the neighbouring county with which it shares the longest border.
    """
    inside: list[list[int]] = [[] for _ in faces]
    points = shapely.point_on_surface(faces)
    for face, county in zip(*shapely.STRtree(originals).query(points, predicate="within"), strict=True):
        inside[face].append(int(county))
    owner = np.array([found[0] if len(found) == 1 else -1 for found in inside])
    for face in np.flatnonzero(owner < 0):
        allowed = inside[face] or sorted(set(owner[owner >= 0].tolist()))
        border = {
            county: shapely.length(
                shapely.intersection(faces[face].boundary, shapely.union_all(faces[owner == county]))
            )
            for county in allowed
        }
        owner[face] = max(border, key=lambda county: border[county])
    return owner
