"""Neighbours, pieces and compressed rows, against slow and obvious counterparts."""

import geopandas as gpd
import networkx as nx
import numpy as np
import pytest
import shapely
from hypothesis import given, settings
from hypothesis import strategies as st

from bottomup.data.adjacency import build_csr, components, rook_edges


def neighbours(*polygons, crs=None):
    edges, shared = rook_edges(gpd.GeoSeries(list(polygons), crs=crs))
    return [tuple(edge) for edge in edges.tolist()], shared


@settings(deadline=None, max_examples=40)
@given(
    n_rows=st.integers(1, 5),
    n_columns=st.integers(1, 5),
    order=st.randoms(use_true_random=False),
    n_missing=st.integers(0, 6),
)
def test_grid_squares_are_neighbours_when_they_share_a_side(n_rows, n_columns, order, n_missing):
    cells = [(row, column) for row in range(n_rows) for column in range(n_columns)]
    order.shuffle(cells)
    cells = cells[: max(1, len(cells) - n_missing)]
    edges, shared = neighbours(*(shapely.box(x, y, x + 1, y + 1) for y, x in cells))
    expected = [
        (i, j)
        for i in range(len(cells))
        for j in range(i + 1, len(cells))
        if abs(cells[i][0] - cells[j][0]) + abs(cells[i][1] - cells[j][1]) == 1
    ]
    assert edges == expected
    assert np.array_equal(shared, np.ones(len(expected)))


@settings(deadline=None, max_examples=25)
@given(seed=st.integers(0, 2**32 - 1), n_points=st.integers(4, 30))
def test_voronoi_cells_agree_with_the_touching_relation(seed, n_points):
    points = np.random.default_rng(seed).uniform(0, 100, (n_points, 2))
    cells = shapely.get_parts(
        shapely.voronoi_polygons(shapely.multipoints(points), extend_to=shapely.box(0, 0, 100, 100))
    )
    edges, shared = neighbours(*cells)
    expected = [
        (i, j)
        for i in range(len(cells))
        for j in range(i + 1, len(cells))
        if shapely.relate(cells[i], cells[j])[4] == "1"
    ]
    assert edges == expected
    assert (shared > 0).all()


def test_a_common_corner_is_not_enough():
    assert neighbours(shapely.box(0, 0, 1, 1), shapely.box(1, 1, 2, 2))[0] == []


def test_a_side_may_be_shared_in_part_and_without_common_vertices():
    edges, shared = neighbours(
        shapely.box(0, 0, 1, 3), shapely.box(1, 0, 2, 1.25), shapely.box(1, 1.25, 2, 3)
    )
    assert edges == [(0, 1), (0, 2), (1, 2)]
    assert shared == pytest.approx([1.25, 1.75, 1.0])


def test_units_that_overlap_by_a_sliver_are_neighbours():
    edges, shared = neighbours(shapely.box(0, 0, 10, 10), shapely.box(9.999, 0.0005, 20, 10.0005))
    assert edges == [(0, 1)]
    assert shared[0] == pytest.approx(10, rel=0.01)


def test_an_enclave_is_a_neighbour_along_its_whole_outline():
    enclave = shapely.box(4, 4, 6, 6)
    edges, shared = neighbours(shapely.box(0, 0, 10, 10).difference(enclave), enclave)
    assert edges == [(0, 1)]
    assert shared == pytest.approx([8])


def test_lengths_are_metres_whatever_the_crs():
    squares = gpd.GeoSeries([shapely.box(-92, 38, -91.99, 38.01), shapely.box(-91.99, 38, -91.98, 38.01)])
    degrees, in_degrees = rook_edges(squares.set_crs("EPSG:4326"))
    feet, in_feet = rook_edges(squares.set_crs("EPSG:4326").to_crs("EPSG:3437"))
    assert degrees.tolist() == feet.tolist() == [[0, 1]]
    # A hundredth of a degree of latitude is 1,110 m at 38 degrees.
    assert in_degrees == pytest.approx([1110.0], rel=1e-3)
    assert in_feet == pytest.approx(in_degrees, rel=1e-4)


@settings(deadline=None)
@given(data=st.data(), n=st.integers(1, 12))
def test_components_are_those_of_networkx(data, n):
    pairs = st.tuples(st.integers(0, n - 1), st.integers(0, n - 1)).filter(lambda pair: pair[0] < pair[1])
    edges = np.array(sorted(data.draw(st.sets(pairs) if n > 1 else st.just(set()))), dtype=np.int32)
    edges = edges.reshape(-1, 2)
    subset = np.array(data.draw(st.lists(st.booleans(), min_size=n, max_size=n)))
    graph = nx.Graph()
    graph.add_nodes_from(range(n))
    graph.add_edges_from(edges.tolist())
    expected = np.full(n, -1)
    pieces = sorted(nx.connected_components(graph.subgraph(np.flatnonzero(subset).tolist())), key=min)
    for number, piece in enumerate(pieces):
        expected[list(piece)] = number
    assert components(n, edges, subset).tolist() == expected.tolist()
    assert components(n, edges).max() + 1 == nx.number_connected_components(graph)


@settings(deadline=None)
@given(data=st.data(), n=st.integers(2, 12))
def test_compressed_rows_list_every_neighbour_once_with_its_edge(data, n):
    pairs = st.tuples(st.integers(0, n - 1), st.integers(0, n - 1)).filter(lambda pair: pair[0] < pair[1])
    edges = np.array(sorted(data.draw(st.sets(pairs))), dtype=np.int32).reshape(-1, 2)
    indptr, indices, edge_ids = build_csr(n, edges)
    assert (indptr.dtype, indices.dtype, edge_ids.dtype) == (np.int64, np.int32, np.int32)
    for unit in range(n):
        own = slice(indptr[unit], indptr[unit + 1])
        expected = sorted((sum(edge) - unit, row) for row, edge in enumerate(edges.tolist()) if unit in edge)
        assert list(zip(indices[own].tolist(), edge_ids[own].tolist(), strict=True)) == expected
