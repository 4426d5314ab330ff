"""Clusters by Hausdorff distance: against the definition, and what is said when there cannot be any."""

from __future__ import annotations

import dataclasses
import time

import networkx as nx
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bottomup.data import DataError, read_testimonies
from bottomup.data.changes import deduplicate
from bottomup.data.clusters import cluster_as
from bottomup.data.merge_tree import LINKAGES, MergeTree
from bottomup.data.proximity import cluster_by_distance, hausdorff_distances, merge_testimonies
from bottomup.data.testimonies import EMPTY, USED, build_testimonies


def submit(*units):
    return build_testimonies(
        {f"t{number}": own for number, own in enumerate(units)}, [USED if own else EMPTY for own in units]
    )


@pytest.fixture(scope="module")
def line(make_grid):
    """Ten units in a row."""
    return make_grid(1, 10)


def test_the_farthest_unit_counts(line):
    """From {0, 1} to {1 … 4}: 1 from 0 to 1, 3 from 4 to 1."""
    distances = hausdorff_distances(submit([0, 1], [1, 2, 3, 4], [], [9], [1, 0]), line)
    assert distances.tolist() == [[0, 3, 9, 0], [3, 0, 8, 3], [9, 8, 0, 9], [0, 3, 9, 0]]


def test_what_no_path_joins_is_as_far_as_there_are_units(line):
    apart = dataclasses.replace(line, edges=line.edges[line.edges[:, 0] != 4])
    assert hausdorff_distances(submit([0], [9]), apart)[0, 1] == 10


@settings(deadline=None, max_examples=50)
@given(
    shapes=st.lists(st.sets(st.integers(0, 11), min_size=1), min_size=2, max_size=6),
    cut=st.sets(st.integers(0, 16), max_size=6),
)
def test_distances_by_their_definition(make_grid, shapes, cut):
    grid = make_grid(3, 4)
    grid = dataclasses.replace(grid, edges=np.delete(grid.edges, sorted(cut), axis=0))
    graph = nx.Graph(grid.edges.tolist())
    graph.add_nodes_from(range(12))
    steps = {one: dict.fromkeys(graph, 12) | own for one, own in nx.all_pairs_shortest_path_length(graph)}

    def one_way(these, those):
        return max(min(steps[u][v] for v in those) for u in these)

    found = hausdorff_distances(submit(*shapes), grid)
    for i, one in enumerate(shapes):
        for j, other in enumerate(shapes):
            assert found[i, j] == max(one_way(one, other), one_way(other, one))
    # A metric: equal units and nothing else are at no distance, and no detour is shorter.
    assert (found[:, None, :] <= found[:, :, None] + found[None, :, :]).all()
    assert ((found == 0) == [[one == other for other in shapes] for one in shapes]).all()


def test_near_testimonies_share_a_cluster(line):
    submitted = submit([0], [8, 9], [], [1], [9], [0, 1])
    clustered = cluster_by_distance(submitted, line, 2)
    assert clustered.clusters.names == ("1", "2")
    assert clustered.clusters.of_testimony.tolist() == [0, 1, -1, 0, 1, 0]
    assert clustered.clusters.of_testimony.dtype == np.int32
    assert clustered.clusters.source == "Hausdorff distance on the dual graph, average linkage, cut to 2"
    assert clustered.remarks == (
        "2 clusters by distance (average linkage): merged up to 1 steps apart, the next are 8.5",
    )
    assert submitted.clusters is None


def test_all_in_one_cluster_and_each_in_its_own(line):
    submitted = submit([0], [2], [9])
    assert cluster_by_distance(submitted, line, 1).remarks == (
        "1 cluster by distance (average linkage): merged up to 8 steps apart",
    )
    assert cluster_by_distance(submitted, line, 3).remarks == (
        "3 clusters by distance (average linkage): none merged, the next are 2",
    )


def test_fitted_clusters_are_conditional(line):
    """One testimony in place of another moves a third: what public clusters rule out."""
    before = cluster_by_distance(submit([0], [4], [9]), line, 2)
    after = cluster_by_distance(submit([0], [4], [1]), line, 2)
    assert not before.clusters.is_public
    assert before.clusters.zone_of_unit is None
    assert before.clusters.of_testimony.tolist() == [0, 0, 1]
    assert after.clusters.of_testimony.tolist() == [0, 1, 0]


@pytest.mark.parametrize(("linkage", "height"), [("average", 6.5), ("complete", 8.0), ("single", 5.0)])
def test_linkages(line, linkage, height):
    submitted = submit([0], [3], [8])
    tree = merge_testimonies(submitted, line, linkage)
    assert tree.heights.tolist() == [3.0, height]
    clusters = cluster_by_distance(submitted, line, 2, linkage).clusters
    assert clusters.source == f"Hausdorff distance on the dual graph, {linkage} linkage, cut to 2"
    assert (clusters.tree.linkage, clusters.tree.heights.tolist()) == (linkage, [3.0, height])


def test_the_number_is_met_where_distances_are_equal(line):
    """Four pairs at the same distance: SciPy's own cut by a number would make one of them, or all."""
    tree = merge_testimonies(submit(*([unit] for unit in range(0, 10, 2))), line, "complete")
    for n_clusters in range(1, 6):
        assert len(np.unique(tree.cut(n_clusters))) == n_clusters


@settings(deadline=None, max_examples=50)
@given(shapes=st.lists(st.sets(st.integers(0, 9)), min_size=2, max_size=9), data=st.data())
def test_cuts_nest_and_copies_stay_together(line, shapes, data):
    if sum(bool(own) for own in shapes) < 2:
        shapes = [{0}, {1}, *shapes]
    tree = merge_testimonies(submit(*shapes), line)
    filled = [own for own in shapes if own]
    assert tree.n_apart == len({frozenset(own) for own in filled})
    n_clusters = data.draw(st.integers(1, tree.n_apart))
    clustered = cluster_by_distance(submit(*shapes), line, n_clusters)
    own = clustered.clusters.of_testimony
    assert set(own[own >= 0]) == set(range(n_clusters))
    assert [cluster < 0 for cluster in own] == [not units for units in shapes]
    coarse, fine = tree.cut(max(1, n_clusters - 1)), tree.cut(n_clusters)
    assert len(set(zip(fine, coarse, strict=True))) == n_clusters
    for one, units in enumerate(filled):
        assert all(fine[one] == fine[two] for two, others in enumerate(filled) if units == others)


@pytest.mark.parametrize("n_clusters", [0, 3, 99])
def test_a_number_that_cannot_be(line, n_clusters):
    with pytest.raises(
        DataError, match=r"of 3 testimonies with units, of which 2 differ. .* from 1 to 2"
    ) as caught:
        cluster_by_distance(submit([0], [5], [5], []), line, n_clusters)
    assert caught.value.code == "number_of_clusters"


@pytest.mark.parametrize(("shapes", "found"), [([[0], []], "there is 1"), ([[]], "there are 0")])
def test_one_testimony_has_no_neighbours(line, shapes, found):
    with pytest.raises(DataError, match=found) as caught:
        cluster_by_distance(submit(*shapes), line, 1)
    assert caught.value.code == "too_few_testimonies"


# A drawing of the tree.


def test_branches_of_a_small_tree(line):
    """Testimonies without units are not in it."""
    drawn = merge_testimonies(submit([0], [], [1], [8], [9]), line).branches()
    assert drawn.order.tolist() == [0, 1, 2, 3]
    assert drawn.x.tolist() == [[0, 0, 1, 1], [2, 2, 3, 3], [0.5, 0.5, 2.5, 2.5]]
    assert drawn.y.tolist() == [[0, 1, 1, 0], [0, 1, 1, 0], [1, 8, 8, 1]]


@settings(deadline=None, max_examples=50)
@given(
    shapes=st.lists(st.sets(st.integers(0, 9), min_size=1), min_size=2, max_size=9),
    linkage=st.sampled_from(LINKAGES),
)
def test_a_line_crosses_as_many_branches_as_there_are_clusters(line, shapes, linkage):
    tree = merge_testimonies(submit(*shapes), line, linkage)
    drawn = tree.branches()
    assert sorted(drawn.order.tolist()) == list(range(len(shapes)))
    assert (drawn.y[:, 1] >= drawn.y[:, [0, 3]].max(axis=1)).all()
    # What merges stands side by side: a cluster's members are neighbours.
    for n_clusters in range(1, tree.n_apart + 1):
        own = tree.cut(n_clusters)[drawn.order]
        assert np.count_nonzero(np.diff(own)) == n_clusters - 1
        n_made = len(shapes) - n_clusters
        at = tree.cut_height(n_clusters)
        assert (tree.heights[:n_made] <= at).all()
        assert (tree.heights[n_made:] >= at).all()


def test_a_deep_tree_can_be_drawn():
    """Thousands of copies of one testimony merge one after the other."""
    n = 3_000
    places = np.arange(n - 1)
    merges = np.column_stack([np.where(places, n + places - 1, 0), places + 1, np.zeros(n - 1), places + 2])
    tree = MergeTree(np.arange(n), merges.astype(float), "average")
    assert sorted(tree.branches().order.tolist()) == list(range(n))


# As the option says it.


def test_the_option_names_the_number_or_zones(make_grid):
    grid = make_grid(1, 10, county=list("aaaaabbbbb"))
    submitted = submit([0], [1], [9])
    assert cluster_as("hausdorff:2", submitted, grid).clusters.of_testimony.tolist() == [0, 0, 1]
    assert cluster_as("county", submitted, grid).clusters.is_public
    with pytest.raises(DataError, match="after a colon, such as hausdorff:35"):
        cluster_as("hausdorff", submitted, grid)
    with pytest.raises(DataError, match="no column of the units and no file"):
        cluster_as("nearness:3", submitted, grid)


def test_the_option_names_a_linkage(line):
    """Average when none is named: it is the same."""
    submitted = submit([0], [3], [8])
    for option, linkage in (
        ("hausdorff:2", "average"),
        ("hausdorff:2:average", "average"),
        ("Hausdorff:2:Single", "single"),
        ("hausdorff: 2 : complete", "complete"),
    ):
        assert cluster_as(option, submitted, line).clusters.tree.linkage == linkage
    for other, words in (("median", "no linkage 'median'"), ("ward", "needs points with a mean")):
        with pytest.raises(DataError, match=words) as caught:
            cluster_as(f"hausdorff:2:{other}", submitted, line)
        assert caught.value.code == "unknown_linkage"
        assert "average, complete or single, such as hausdorff:2:average" in caught.value.remedy


def test_copies_count_once_in_their_cluster(line):
    once = deduplicate(cluster_by_distance(submit([0], [0], [9]), line, 2))
    assert once.status == ("used", "duplicate", "used")


@pytest.mark.real
def test_missouri_in_time(real_data, missouri):
    testimonies = read_testimonies(real_data / "missouri_coi" / "surrogate_testimonies.csv", missouri)
    started = time.process_time()
    clustered = cluster_by_distance(testimonies, missouri, 35)
    assert time.process_time() - started < 10
    assert len(np.unique(clustered.clusters.of_testimony)) == 35
    # Drawn around the places of the published clusters, they are found again for the most part.
    given_names, found = testimonies.clusters.of_testimony, clustered.clusters.of_testimony
    table = np.zeros((len(testimonies.clusters.names), 35), dtype=int)
    np.add.at(table, (given_names, found), 1)
    assert table.max(axis=0).sum() > 0.6 * testimonies.n_testimonies
