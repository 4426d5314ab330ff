"""How units lie beside each other: gaps and overlaps between them, and units in several pieces."""

from __future__ import annotations

from collections.abc import Sequence

import geopandas as gpd
import numpy as np
import shapely
from numpy.typing import NDArray

from bottomup.data.adjacency import components, shared_boundaries
from bottomup.data.errors import count
from bottomup.data.findings import Findings

__all__ = ["inspect_coverage", "inspect_pieces"]

# Metres. Wider gaps are taken for what they may well be: a river, a lake or a road that is no unit.
GAP_WIDTH = 5.0
# Share of the smallest unit concerned. Less comes from rounding, and from lines that are straight in one
# projection and not in another.
_LEAST_SHARE = 1e-4
_METRES_PER_DEGREE = 111_320.0


def inspect_coverage(geometry: gpd.GeoSeries, ids: Sequence[str], findings: Findings) -> None:
    """Look for units that overlap, narrow gaps between units, and holes that belong to no unit.

    Parameters
    ----------
    geometry : GeoSeries, length n_units
        Valid polygons in the coordinates in which they were published, where a shared line is the same line
        exactly; missing ones do not count.
    ids : sequence of str
    findings : Findings
    """
    here = np.flatnonzero(~geometry.isna().to_numpy())
    shapes = geometry.to_numpy()[here]
    unit_of_length = 1.0
    if geometry.crs is not None and geometry.crs.is_geographic:
        unit_of_length = 1 / _METRES_PER_DEGREE
    elif geometry.crs is not None:
        unit_of_length = 1 / geometry.crs.axis_info[0].unit_conversion_factor
    names = np.asarray(ids, dtype=object)[here]

    edges = shapely.coverage_invalid_edges(shapes)
    doubtful = ~shapely.is_empty(edges)
    if doubtful.any():
        _find_overlaps(shapes, np.flatnonzero(doubtful), names, findings)
    gaps = shapely.coverage_invalid_edges(shapes, GAP_WIDTH * unit_of_length)
    narrow = np.flatnonzero(shapely.length(gaps) > shapely.length(edges) + unit_of_length)
    if len(narrow):
        _find_gaps(shapes, narrow, names, GAP_WIDTH * unit_of_length, findings)
    whole = shapely.union_all(shapes) if doubtful.any() else shapely.coverage_union_all(shapes)
    rings = [ring for part in shapely.get_parts(whole) for ring in part.interiors]
    if rings:
        _find_holes(shapes, shapely.polygons(rings), names, findings)


def _find_gaps(
    shapes: NDArray[np.object_],
    narrow: NDArray[np.int64],
    names: NDArray[np.object_],
    width: float,
    findings: Findings,
) -> None:
    beside, other = shapely.STRtree(shapes).query(shapes[narrow], predicate="dwithin", distance=width)
    beside = narrow[beside]
    apart = ~shapely.intersects(shapes[beside], shapes[other])
    pairs = np.unique(np.sort(np.column_stack([beside[apart], other[apart]]), axis=1), axis=0)
    if len(pairs):
        findings.add(
            "look",
            "gap",
            f"{count(len(pairs), 'pair')} of units have a gap of less than {GAP_WIDTH:g} m between them, and "
            "are no neighbours",
            "Close the gaps in a GIS program, or make the units neighbours: `--repair add-edge ID ID`.",
            names[np.unique(pairs)],
        )


def _find_holes(
    shapes: NDArray[np.object_], holes: NDArray[np.object_], names: NDArray[np.object_], findings: Findings
) -> None:
    hole, unit = shapely.STRtree(shapes).query(holes, predicate="intersects")
    smallest = np.full(len(holes), np.inf)
    np.minimum.at(smallest, hole, shapely.area(shapes[unit]))
    real = shapely.area(holes) > _LEAST_SHARE * smallest
    if real.any():
        findings.add(
            "look",
            "hole",
            f"the map has {count(int(real.sum()), 'hole')} that no unit covers",
            "Nothing needs to be done about lakes; if a unit is missing, add it.",
            names[np.unique(unit[real[hole]])],
        )


def _find_overlaps(
    shapes: NDArray[np.object_],
    doubtful: NDArray[np.int64],
    names: NDArray[np.object_],
    findings: Findings,
) -> None:
    first, second = shapely.STRtree(shapes[doubtful]).query(shapes[doubtful], predicate="intersects")
    once = first < second
    first, second = doubtful[first[once]], doubtful[second[once]]
    areas = shapely.area(shapely.intersection(shapes[first], shapes[second]))
    smaller = np.minimum(shapely.area(shapes[first]), shapely.area(shapes[second]))
    real = areas > _LEAST_SHARE * smaller
    if real.any():
        worst = np.argmax(areas / smaller)
        findings.add(
            "look",
            "overlap",
            f"{count(int(real.sum()), 'pair')} of units overlap; most, {areas[worst] / smaller[worst]:.2%} "
            f"of the smaller one, do {names[first[worst]]} and {names[second[worst]]}. Units that overlap "
            "are taken for neighbours",
            "Correct the outlines in a GIS program if that is not so.",
            names[np.unique([first[real], second[real]])],
        )


def inspect_pieces(
    geometry: gpd.GeoSeries,
    ids: Sequence[str],
    edges: NDArray[np.int32],
    findings: Findings,
) -> None:
    """Look for units in several pieces, and for units that only such a unit holds together with the rest.

    A district that holds a unit in two distant pieces is connected in the dual graph and not on the ground.

    Parameters
    ----------
    geometry : GeoSeries, length n_units
        Valid polygons in the coordinates in which they were published.
    ids : sequence of str
    edges : int32 array, shape (n_edges, 2)
        The dual graph, whose neighbours share a boundary.
    findings : Findings
    """
    shapes = geometry.to_numpy()
    n_parts = shapely.get_num_geometries(shapes)
    several = n_parts > 1
    if not several.any():
        return
    names = np.asarray(ids, dtype=object)
    findings.add(
        "note",
        "unit_in_pieces",
        f"{several.sum():,} of {count(len(ids), 'unit')} are in several pieces, which count as one unit",
        units=names[several],
    )
    parts, owner = shapely.get_parts(shapes, return_index=True)
    first_part = np.searchsorted(owner, np.arange(len(shapes)))
    among_single = ~several[edges].any(axis=1)
    joined = [first_part[edges[among_single]]]
    # Only the parts of units in pieces need to be looked at one by one.
    of_several = np.flatnonzero(several[owner])
    first, second = shapely.STRtree(parts).query(parts[of_several], predicate="intersects")
    first = of_several[first]
    other = owner[first] != owner[second]
    first, second = first[other], second[other]
    positive = shapely.length(shared_boundaries(parts, first, second)[0]) > 0
    joined.append(np.column_stack([first[positive], second[positive]]))
    pieces = components(len(parts), np.concatenate(joined).astype(np.int32))
    main = np.bincount(pieces).argmax()
    # A part that touches nothing, such as an island of its own unit, holds nobody together.
    alone = np.bincount(pieces)[pieces] == 1
    apart = np.unique(owner[(pieces != main) & ~alone])
    behind = apart[~several[apart]]
    if len(behind):
        findings.add(
            "look",
            "held_by_pieces",
            f"{count(len(behind), 'unit')} touch the rest of the map only through another unit that is in "
            "several pieces: a district there can look connected and not be so on the ground",
            "Cut the edges that should not count (`--repair cut-edge ID ID`), or join the units to others.",
            names[behind],
        )
    touching = np.zeros(len(shapes), dtype=bool)
    touching[edges.ravel()] = True
    adrift = np.unique(owner[alone & several[owner]])
    adrift = adrift[touching[adrift]]
    if len(adrift):
        findings.add(
            "note",
            "piece_apart",
            f"{count(len(adrift), 'unit')} have a piece that touches no other unit, such as an island",
            units=names[adrift],
        )
