"""Dual graphs in JSON: every form, names of nodes, and real files."""

from __future__ import annotations

import json

import networkx as nx
import numpy as np
import pytest
from awkward import graph, grid, write
from hypothesis import given, settings
from hypothesis import strategies as st

from bottomup.data import DataError, read_geography
from bottomup.data.graph_files import read_graph


@pytest.fixture
def save(tmp_path):
    def save(data, name="graph.json"):
        path = tmp_path / name
        path.write_text(data if isinstance(data, str) else json.dumps(data))
        return path

    return save


@pytest.mark.parametrize("name", ["links", "edges", "adjacency"])
def test_every_form_gives_the_same_map(name, tmp_path):
    geography = read_geography(write(name, tmp_path))
    assert (geography.n_units, geography.n_edges, geography.id_column) == (64, 112, "id")
    assert geography.geometry is None
    assert geography.shared_perimeter is None
    assert geography.digest == read_geography(write("links", tmp_path)).digest
    expected = {frozenset((str(u), str(v))) for u, v in graph().edges}
    assert {frozenset((geography.ids[u], geography.ids[v])) for u, v in geography.edges} == expected


def test_nodes_are_called_by_a_column_of_ids_where_they_have_one(save):
    of_grid = graph()
    nx.set_node_attributes(of_grid, dict(enumerate(grid()["GEOID"])), "GEOID")
    path = save(nx.adjacency_data(of_grid))
    geography = read_geography(path)
    assert (geography.id_column, geography.ids[0]) == ("GEOID", "09000000")
    assert geography.edges.tolist()[:2] == [[0, 1], [0, 8]]
    assert read_geography(path, id_column="id").id_column == "id"
    # A column that does not tell the units apart is no column of ids.
    nx.set_node_attributes(of_grid, "same", "GEOID")
    assert read_geography(save(nx.adjacency_data(of_grid))).id_column == "id"


def test_a_graph_can_be_the_edges_of_a_table_and_get_shapes(save, tmp_path):
    of_grid = graph()
    nx.set_node_attributes(of_grid, dict(enumerate(grid()["GEOID"])), "GEOID")
    grid().drop(columns="geometry").to_csv(tmp_path / "units.csv", index=False)
    grid().to_file(tmp_path / "shapes.gpkg")
    path = save(nx.node_link_data(of_grid, edges="links"))
    by_column = read_geography(tmp_path / "units.csv", edges=path)
    assert by_column.digest == read_geography(path).digest
    by_key = save(
        {grid()["GEOID"][u]: [grid()["GEOID"][v] for v in of_grid[u]] for u in of_grid}, "by_key.json"
    )
    assert read_geography(tmp_path / "units.csv", edges=by_key).digest == by_column.digest
    with_shapes = read_geography(path, shapes=tmp_path / "shapes.gpkg")
    assert with_shapes.geometry.area.to_numpy() == pytest.approx(1e6, rel=0.01)
    assert with_shapes.digest == by_column.digest


def test_old_files_count_nodes_where_newer_ones_have_keys(save):
    nodes = [{"id": "x", "pop": 1}, {"id": "y", "pop": 2}, {"id": "z", "pop": 3}]
    links = [{"source": 0, "target": 1}, {"source": 1, "target": 2}]
    geography = read_geography(save({"nodes": nodes, "links": links}))
    assert geography.edges.tolist() == [[0, 1], [1, 2]]
    assert geography.ids == ("x", "y", "z")


def test_a_node_for_what_is_outside_is_left_out(save, tmp_path):
    (tmp_path / "units.csv").write_text("id,pop\na,1\nb,1\n")
    path = save({"OUT_OF_STATE": ["a"], "a": ["b", "OUT_OF_STATE"], "b": ["a"]})
    geography = read_geography(tmp_path / "units.csv", edges=path)
    assert geography.edges.tolist() == [[0, 1]]
    assert "in 2 places" in {found.code: found.message for found in geography.findings}["virtual_node"]
    assert read_graph(path).keys == ["a", "b"]


@pytest.mark.parametrize(
    ("data", "code"),
    [
        ("{", "unreadable"),
        ("[1, 2]", "unreadable"),
        ({"nodes": [1, 2], "edges": []}, "unreadable"),
        ({"nodes": [{"id": 1}]}, "unreadable"),
        ({"nodes": [], "edges": []}, "empty_file"),
        ({"a": 1}, "unreadable"),
        ({"nodes": [{"id": 1}], "adjacency": [[], []]}, "unreadable"),
        ({"nodes": [{"id": 1, "pop": 1}], "links": [{"source": 1, "target": 7}]}, "unknown_edge_unit"),
        ({"nodes": [{"id": 1, "pop": 1}], "links": [{"source": 1, "target": 1}]}, "self_loop"),
        ({"nodes": [{"id": 1}], "links": []}, "no_column"),
    ],
)
def test_what_is_no_graph_is_refused(save, data, code):
    with pytest.raises(DataError) as caught:
        read_geography(save(data))
    assert caught.value.code == code


def test_a_map_in_json_is_no_graph(tmp_path):
    grid().to_crs(4326).to_file(tmp_path / "map.geojson")
    path = (tmp_path / "map.geojson").rename(tmp_path / "map.json")
    assert read_graph(path) is None
    assert read_geography(path).n_edges == 112
    assert read_graph(tmp_path / "map.gpkg") is None


@settings(deadline=None, max_examples=25)
@given(data=st.data(), n=st.integers(2, 9))
def test_the_order_of_nodes_and_edges_does_not_matter(data, n, tmp_path_factory):
    folder = tmp_path_factory.mktemp("graphs")
    of_units = nx.path_graph(n)
    pairs = data.draw(st.sets(st.tuples(st.integers(0, n - 1), st.integers(0, n - 1))))
    of_units.add_edges_from(pair for pair in pairs if pair[0] != pair[1])
    digests = set()
    for form in ("links", "edges", "adjacency"):
        order = data.draw(st.permutations(range(n)))
        shuffled = nx.Graph()
        # Keys are other than before; the ids are what counts.
        shuffled.add_nodes_from(
            (order[u], {"GEOID": f"u{u}", "POP": u + 1}) for u in data.draw(st.permutations(range(n)))
        )
        edges = data.draw(st.permutations(list(of_units.edges)))
        shuffled.add_edges_from((order[v], order[u]) for u, v in edges)
        content = (
            nx.adjacency_data(shuffled) if form == "adjacency" else nx.node_link_data(shuffled, edges=form)
        )
        (folder / f"{form}.json").write_text(json.dumps(content))
        geography = read_geography(folder / f"{form}.json")
        assert geography.population.tolist() == list(range(1, n + 1))
        assert geography.n_edges == of_units.number_of_edges()
        digests.add(geography.digest)
    assert len(digests) == 1


@pytest.mark.real
def test_graphs_as_published_are_the_tables_made_of_them(real_data):
    missouri = real_data / "missouri_vtd2020"
    by_table = read_geography(missouri / "nodes.csv", edges=missouri / "edges.csv")
    by_graph = read_geography(missouri / "nodes.csv", edges=missouri / "dra_graph.json")
    assert by_graph.digest == by_table.digest
    assert (by_graph.n_units, by_graph.n_edges, by_graph.total_population) == (4604, 12_731, 6_154_913)
    blocks = real_data / "missouri_bg2010"
    by_table = read_geography(blocks / "nodes.csv", edges=blocks / "edges.csv")
    by_graph = read_geography(blocks / "nodes.csv", edges=blocks / "gerrychain_graph.json")
    assert by_graph.digest == by_table.digest
    assert (by_graph.n_units, by_graph.n_edges, by_graph.total_population) == (4506, 12_406, 5_988_927)


@pytest.mark.real
def test_new_hampshire_is_the_same_from_its_graph_and_its_shapes(real_data):
    folder = real_data / "new_hampshire"
    of_graph = read_geography(folder / "NH_dual_graph_stripped.json")
    of_shapes = read_geography(folder / "NH.shp")
    assert of_graph.digest == of_shapes.digest
    assert (of_graph.n_units, of_graph.n_edges, of_graph.total_population) == (320, 854, 1_316_470)
    assert np.array_equal(of_graph.numbers("VAP"), of_shapes.numbers("VAP"))
    assert of_graph.electorate == of_shapes.electorate
    on_a_map = read_geography(folder / "NH_dual_graph_stripped.json", shapes=folder / "NH.shp")
    assert on_a_map.geometry.area.sum() / 1e6 == pytest.approx(24_214, rel=0.01)


@pytest.mark.real
def test_every_edge_of_missouri_is_that_of_the_published_list(real_data):
    """Our own rook adjacency from the outlines against the list: nothing is left to be explained."""
    folder = real_data / "missouri_vtd2020"
    own = read_geography(folder / "units_full.geojson.zip")
    published = read_geography(folder / "nodes.csv", edges=folder / "edges.csv")
    assert own.ids == published.ids
    only_own = set(map(tuple, own.edges.tolist())) - set(map(tuple, published.edges.tolist()))
    only_published = set(map(tuple, published.edges.tolist())) - set(map(tuple, own.edges.tolist()))
    assert (only_own, only_published, own.n_edges) == (set(), set(), 12_731)
    assert own.total_population == 6_154_913
