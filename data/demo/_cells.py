"""The drawn block groups: Voronoi pieces of each county, smaller and closer together where its towns are."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
import pandas as pd
import shapely
from scipy.sparse import coo_matrix
from scipy.sparse.csgraph import connected_components
from scipy.spatial import cKDTree
from shapely.geometry import Polygon

from bottomup.data.demo._density import COUNTRYSIDE, to_degrees, to_plane, town_density
from bottomup.data.demo._facts import GRID, SEED

#: Points drawn per cell to stand for the people of a county while its seeds settle.
POINTS_PER_CELL = 40

#: Rounds in which every seed moves to the middle of the points nearest to it.
SETTLING_ROUNDS = 8


@dataclass(frozen=True, eq=False)
class Cells:
    """The drawn block groups of the whole state, county by county.

    Attributes
    ----------
    county : int64 array, shape (n,)
        Position of each cell's county among the counties given.
    rings : list of list of tuple of int
        Outline of each cell, counterclockwise, as grid positions; the first is not repeated at the end.
    centres : float64 array, shape (n, 2)
        Centroids on the plane, in kilometres.
    areas : float64 array, shape (n,)
        Square kilometres.
    """

    county: np.ndarray
    rings: list[list[tuple[int, int]]]
    centres: np.ndarray
    areas: np.ndarray


def draw_cells(
    outlines: list[Polygon], n_cells: np.ndarray, populations: np.ndarray, towns: pd.DataFrame
) -> Cells:
    """Fill every county with its number of cells.

    Parameters
    ----------
    outlines : list of Polygon
        Clean coverage of county outlines, in degrees.
    n_cells : int array, shape (n_counties,)
        Cells wanted in each county.
    populations : int array, shape (n_counties,)
        People of each county.
    towns : DataFrame
        Towns that draw the cells together.

    Returns
    -------
    Cells
        Counties in order; in a county, cells from north to south.
    """
    seeds = [
        _settled_seeds(outline, int(wanted), float(people), towns, np.random.default_rng([SEED, 1, county]))
        for county, (outline, wanted, people) in enumerate(zip(outlines, n_cells, populations, strict=True))
    ]
    owner_county = np.repeat(np.arange(len(outlines)), [len(found) for found in seeds])
    faces, owner = _noded_faces(outlines, seeds)
    segments = [_directed_segments(face) for face in faces]
    owner = _join_stray_pieces(segments, owner, owner_county)
    rings = _rings(segments, owner, len(owner_county))
    polygons = [Polygon(to_plane(np.array(ring) * GRID)) for ring in rings]
    return Cells(
        owner_county, rings, shapely.get_coordinates(shapely.centroid(polygons)), shapely.area(polygons)
    )


def _settled_seeds(
    outline: Polygon, wanted: int, people: float, towns: pd.DataFrame, rng: np.random.Generator
) -> np.ndarray:
    """Return seed positions in degrees, on the grid, from north to south."""
    n_points = POINTS_PER_CELL * wanted
    points = to_plane(_points_inside(outline, 4 * n_points, rng))
    area = shapely.area(shapely.transform(outline, to_plane))
    density = COUNTRYSIDE * people / area + town_density(points, towns)
    chosen = points[_draw(density, n_points, rng)]
    seeds = chosen[_draw(np.ones(n_points), wanted, rng)]
    for _ in range(SETTLING_ROUNDS):
        nearest = cKDTree(seeds).query(chosen)[1]
        counts = np.bincount(nearest, minlength=wanted)
        sums = np.stack([np.bincount(nearest, chosen[:, axis], minlength=wanted) for axis in (0, 1)], axis=1)
        middle = sums / np.maximum(counts, 1)[:, None]
        # A bend of the outline can leave the middle outside: that seed waits.
        moves = (counts > 0) & shapely.contains_xy(outline, to_degrees(middle))
        seeds[moves] = middle[moves]
    grid = np.unique(np.rint(to_degrees(seeds) / GRID).astype(np.int64), axis=0)
    if len(grid) != wanted:
        raise ValueError(f"two seeds fell on one grid point: {wanted} wanted, {len(grid)} left")
    return grid[np.lexsort((grid[:, 0], -grid[:, 1]))] * GRID


def _points_inside(outline: Polygon, n_points: int, rng: np.random.Generator) -> np.ndarray:
    """Draw points evenly inside an outline."""
    west, south, east, north = outline.bounds
    shapely.prepare(outline)
    found: list[np.ndarray] = []
    while sum(map(len, found)) < n_points:
        points = rng.random((n_points, 2)) * [east - west, north - south] + [west, south]
        found.append(points[shapely.contains_xy(outline, points)])
    return np.concatenate(found)[:n_points]


def _draw(weights: np.ndarray, n_draws: int, rng: np.random.Generator) -> np.ndarray:
    """Draw positions without repetition, the chance of each in proportion to its weight."""
    keys = -np.log1p(-rng.random(len(weights))) / weights
    return np.sort(np.argsort(keys, kind="stable")[:n_draws])


def _noded_faces(outlines: list[Polygon], seeds: list[np.ndarray]) -> tuple[np.ndarray, np.ndarray]:
    """Cut the state along county borders and Voronoi lines; return faces and the seed each belongs to.

    All lines are noded on the grid at once, so a vertex of one face is a vertex of every face it touches.
    """
    lines = [shapely.boundary(outline) for outline in outlines]
    for outline, found in zip(outlines, seeds, strict=True):
        if len(found) < 2:
            continue
        voronoi = shapely.voronoi_polygons(
            shapely.MultiPoint(to_plane(found)),
            only_edges=True,
            extend_to=shapely.transform(outline, to_plane),
        )
        lines.append(shapely.intersection(shapely.transform(voronoi, to_degrees), outline))
    faces = shapely.get_parts(shapely.polygonize([shapely.union_all(lines, grid_size=GRID)]))
    points = shapely.point_on_surface(faces)
    face_of, county_of = shapely.STRtree(outlines).query(points, predicate="within")
    owner = np.full(len(faces), -1)
    starts = np.concatenate([[0], np.cumsum([len(found) for found in seeds])])
    positions = to_plane(shapely.get_coordinates(points))
    for county, found in enumerate(seeds):
        mine = face_of[county_of == county]
        owner[mine] = starts[county] + cKDTree(to_plane(found)).query(positions[mine])[1]
    if (owner < 0).any():
        raise ValueError(f"{int((owner < 0).sum())} pieces of the state lie in no county")
    return faces, owner


Segment = tuple[tuple[int, int], tuple[int, int]]


def _directed_segments(face: Polygon) -> list[Segment]:
    """Return the outline of a face as grid segments with the face on the left."""
    ring = np.rint(shapely.get_coordinates(face.normalize().exterior) / GRID).astype(np.int64)[::-1]
    if face.interiors:
        raise ValueError("a piece of the state encloses another")
    return [(tuple(a), tuple(b)) for a, b in pairwise(ring.tolist())]


def _join_stray_pieces(segments: list[list[Segment]], owner: np.ndarray, county: np.ndarray) -> np.ndarray:
    """Keep the largest connected piece of each cell; give the others to the neighbour they border longest.

    Clipping at a bent outline can cut a Voronoi piece in two, and each cell must be one polygon.
    """
    left_of = {segment: face for face, found in enumerate(segments) for segment in found}
    owner = owner.copy()
    while True:
        same = [
            (face, left_of[b, a])
            for (a, b), face in left_of.items()
            if (b, a) in left_of and owner[left_of[b, a]] == owner[face]
        ]
        heads, tails = np.array(same, dtype=np.int64).reshape(-1, 2).T
        joined = coo_matrix((np.ones(len(heads)), (heads, tails)), shape=(len(owner), len(owner)))
        piece = connected_components(joined, directed=False)[1]
        area = np.bincount(piece, [_twice_area(found) for found in segments])
        largest: dict[int, int] = {}
        for face in range(len(owner)):
            best = largest.setdefault(int(owner[face]), int(piece[face]))
            if area[piece[face]] > area[best]:
                largest[int(owner[face])] = int(piece[face])
        stray = [face for face in range(len(owner)) if piece[face] != largest[int(owner[face])]]
        if not stray:
            break
        for face in stray:
            border: dict[int, float] = defaultdict(float)
            for a, b in segments[face]:
                other = left_of.get((b, a))
                if other is not None and other not in stray and county[owner[other]] == county[owner[face]]:
                    border[int(owner[other])] += float(np.hypot(a[0] - b[0], a[1] - b[1]))
            if border:
                owner[face] = max(border, key=lambda cell: border[cell])
    missing = set(range(len(county))) - set(owner.tolist())
    if missing:
        raise ValueError(f"{len(missing)} cells lost their whole area")
    return owner


def _twice_area(segments: list[Segment]) -> float:
    """Return twice the area inside a counterclockwise outline, in grid units."""
    return float(sum(a[0] * b[1] - b[0] * a[1] for a, b in segments))


def _rings(segments: list[list[Segment]], owner: np.ndarray, n_cells: int) -> list[list[tuple[int, int]]]:
    """Join the faces of each cell: segments walked both ways drop out, the rest is the outline."""
    by_cell: list[set[Segment]] = [set() for _ in range(n_cells)]
    for found, cell in zip(segments, owner, strict=True):
        for a, b in found:
            if (b, a) in by_cell[cell]:
                by_cell[cell].remove((b, a))
            else:
                by_cell[cell].add((a, b))
    rings = []
    for cell, outline in enumerate(by_cell):
        follow = dict(outline)
        ring = [min(follow)]
        while (after := follow[ring[-1]]) != ring[0]:
            ring.append(after)
        if not len(ring) == len(follow) == len(outline):
            raise ValueError(f"cell {cell} is not one simple polygon")
        rings.append(ring)
    return rings
