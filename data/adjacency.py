"""The dual graph: which units share a boundary of positive length, and which pieces the graph falls into."""

from __future__ import annotations

import geopandas as gpd
import numpy as np
import shapely
from numpy.typing import NDArray
from scipy.sparse import coo_array
from scipy.sparse.csgraph import connected_components

from bottomup.data.polygons import local_crs


def rook_edges(geometry: gpd.GeoSeries) -> tuple[NDArray[np.int32], NDArray[np.float64]]:
    """Join the units that share a boundary of positive length.

    The boundaries are compared in the coordinates in which they were published, where a shared line is the
    same line exactly; only the shared part is projected, to be measured. Units that overlap are neighbours
    too, as messy files draw one line twice.

    Parameters
    ----------
    geometry : GeoSeries, length n_units
        Valid polygons; a missing one has no neighbours. Without a CRS the coordinates are taken for metres.

    Returns
    -------
    edges : int32 array, shape (n_edges, 2)
        Positions of the two ends, the smaller first; rows in lexicographic order.
    shared_perimeter : float64 array, shape (n_edges,)
        Metres. For units that only overlap, half the perimeter of the overlap.
    """
    polygons = geometry.to_numpy()
    first, second = shapely.STRtree(polygons).query(polygons, predicate="intersects")
    once = first < second
    first, second = first[once], second[once]
    shared, weight = shared_boundaries(polygons, first, second)
    joined = np.flatnonzero(shapely.length(shared) > 0)
    lines = gpd.GeoSeries(shared[joined], crs=geometry.crs)
    if geometry.crs is not None:
        lines = lines.to_crs(local_crs(geometry))
    edges = np.column_stack([first[joined], second[joined]]).astype(np.int32)
    order = np.lexsort((edges[:, 1], edges[:, 0]))
    return edges[order], (weight[joined] * lines.length.to_numpy())[order]


def shared_boundaries(
    polygons: NDArray[np.object_], first: NDArray[np.int64], second: NDArray[np.int64]
) -> tuple[NDArray[np.object_], NDArray[np.float64]]:
    """Return what the boundaries of pairs of polygons have in common.

    Parameters
    ----------
    polygons : object array
        Valid polygons.
    first, second : int64 array, shape (n_pairs,)
        Positions of the two.

    Returns
    -------
    shared : object array, shape (n_pairs,)
        Where boundaries meet in points at most, the overlap of the polygons.
    weight : float64 array, shape (n_pairs,)
        What to multiply the length with: an overlap's outline runs along the common line twice.
    """
    boundaries = shapely.boundary(polygons)
    shared = shapely.intersection(boundaries[first], boundaries[second])
    weight = np.ones(len(shared))
    pointwise = np.flatnonzero(shapely.length(shared) == 0)
    shared[pointwise] = shapely.intersection(polygons[first[pointwise]], polygons[second[pointwise]])
    weight[pointwise] = 0.5
    return shared, weight


def components(
    n: int, edges: NDArray[np.int32], subset: NDArray[np.bool_] | None = None
) -> NDArray[np.int32]:
    """Label the connected pieces of a graph, or of a part of it.

    Parameters
    ----------
    n : int
        Number of units.
    edges : int32 array, shape (n_edges, 2)
        Ends of the edges.
    subset : bool array, shape (n,), optional
        The units to keep; an edge counts when both its ends are kept.

    Returns
    -------
    int32 array, shape (n,)
        Piece of each unit, numbered from 0 in the order of their first units; -1 outside `subset`.
    """
    kept = np.ones(n, dtype=bool) if subset is None else np.asarray(subset, dtype=bool)
    inside = edges[kept[edges[:, 0]] & kept[edges[:, 1]]]
    graph = coo_array((np.ones(len(inside), dtype=np.int8), (inside[:, 0], inside[:, 1])), shape=(n, n))
    _, labels = connected_components(graph, directed=False)
    _, first_units, pieces = np.unique(labels[kept], return_index=True, return_inverse=True)
    number = np.empty(len(first_units), dtype=np.int32)
    number[np.argsort(first_units)] = np.arange(len(first_units), dtype=np.int32)
    result = np.full(n, -1, dtype=np.int32)
    result[kept] = number[pieces]
    return result


def build_csr(
    n: int, edges: NDArray[np.int32]
) -> tuple[NDArray[np.int64], NDArray[np.int32], NDArray[np.int32]]:
    """List the neighbours of every unit in compressed rows.

    Parameters
    ----------
    n : int
        Number of units.
    edges : int32 array, shape (n_edges, 2)
        Ends of the edges, each edge once.

    Returns
    -------
    indptr : int64 array, shape (n + 1,)
        Unit ``u`` owns the slots ``indptr[u]:indptr[u + 1]``.
    indices : int32 array, shape (2 * n_edges,)
        Neighbours, ascending within a unit.
    edge_ids : int32 array, shape (2 * n_edges,)
        Row of `edges` that leads to the neighbour.
    """
    ends = np.concatenate([edges, edges[:, ::-1]])
    order = np.lexsort((ends[:, 1], ends[:, 0]))
    indptr = np.zeros(n + 1, dtype=np.int64)
    np.cumsum(np.bincount(ends[:, 0], minlength=n), out=indptr[1:])
    edge_ids = np.tile(np.arange(len(edges), dtype=np.int32), 2)[order]
    return indptr, ends[order, 1].astype(np.int32), edge_ids
