"""Testimonies that a group has changed: a cluster replaced, one testimony copied, copies that count once."""

from __future__ import annotations

import dataclasses

import networkx as nx
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bottomup.data import DataError
from bottomup.data.changes import (
    Change,
    deduplicate,
    draw_adversary,
    find_cluster,
    flood,
    replace_cluster,
)
from bottomup.data.testimonies import EMPTY, PARTLY_OUTSIDE, USED, build_testimonies


def submit(*testimonies, unknown=None):
    """Testimonies t0, t1, ... of units in a named cluster, blank for none."""
    units = {f"t{number}": own for number, (own, _) in enumerate(testimonies)}
    outside = unknown or {}
    return build_testimonies(
        units,
        [EMPTY if not own else PARTLY_OUTSIDE if name in outside else USED for name, own in units.items()],
        {f"t{number}": cluster for number, (_, cluster) in enumerate(testimonies)},
        outside,
    )


def told(testimonies):
    """Id, units and cluster of each, to compare with what is expected."""
    clusters = testimonies.clusters
    return [
        (
            name,
            testimonies.units_of(number).tolist(),
            None if clusters is None else (*clusters.names, "")[clusters.of_testimony[number]],
        )
        for number, name in enumerate(testimonies.ids)
    ]


def arrays(*lists):
    return [np.array(own, dtype=np.int32) for own in lists]


@pytest.fixture(scope="session")
def grid(make_grid):
    """Three rows of four, numbered from the south-west."""
    return make_grid(3, 4)


@pytest.fixture
def submitted():
    return submit(([0, 1], "C2"), ([2], "C10"), ([0, 4], "C2"), ([7], ""), ([0], "C2"), ([], "C10"))


# What a change costs.


@pytest.mark.parametrize(
    ("n_removed", "n_added", "n_replaced", "cost"),
    [(0, 0, 0, 0), (9, 9, 9, 9), (1, 0, 0, 0.5), (0, 399, 0, 199.5), (3, 5, 3, 4), (5, 3, 3, 4)],
)
def test_a_replacement_costs_one_and_what_comes_or_goes_alone_a_half(n_removed, n_added, n_replaced, cost):
    change = Change(submit(), submit(), np.arange(n_removed), np.arange(n_added), "")
    assert (change.n_replaced, change.cost) == (n_replaced, cost)


# Finding a cluster.


def test_a_cluster_by_name_or_by_the_number_of_its_testimonies(submitted):
    assert submitted.clusters.names == ("C2", "C10")
    assert find_cluster(submitted, "C10") == 1
    assert find_cluster(submitted) == find_cluster(submitted, n_members=3) == 0
    assert find_cluster(submitted, n_members=1) == 1
    many = submit(*[([0], name) for name in "abbbccc"])
    # As near as each other: the first.
    assert find_cluster(many, n_members=3) == 1
    assert find_cluster(many, n_members=2) == 0


def with_empty_cluster(testimonies, name):
    """The same with one more cluster, before all others, that no testimony is in."""
    clusters = testimonies.clusters
    moved = np.where(clusters.of_testimony >= 0, clusters.of_testimony + 1, -1).astype(np.int32)
    more = dataclasses.replace(clusters, names=(name, *clusters.names), of_testimony=moved)
    return dataclasses.replace(testimonies, clusters=more)


def test_a_cluster_without_testimony_is_not_found(submitted):
    testimonies = with_empty_cluster(submitted, "void")
    # Nought is nearest to nought, but there is nothing to take out.
    assert find_cluster(testimonies, n_members=0) == 2
    with pytest.raises(DataError, match="Cluster 'void' has no testimony to take out") as caught:
        find_cluster(testimonies, "void")
    assert caught.value.code == "empty_cluster"
    nowhere = dataclasses.replace(submitted.clusters, of_testimony=np.full(6, -1, dtype=np.int32))
    for clusters in (nowhere, dataclasses.replace(nowhere, names=())):
        with pytest.raises(DataError, match="No testimony lies in any cluster") as caught:
            find_cluster(dataclasses.replace(submitted, clusters=clusters))
        assert caught.value.code == "empty_cluster"


def test_an_unknown_cluster_and_no_clusters_are_refused(submitted):
    with pytest.raises(DataError, match=r"There is no cluster 'C3'\. Name one of C2, C10") as caught:
        find_cluster(submitted, "C3")
    assert caught.value.code == "unknown_cluster"
    with pytest.raises(DataError, match="have no clusters") as caught:
        find_cluster(submit(([0], "")))
    assert caught.value.code == "no_clusters"


# Replacing a cluster.


def test_others_take_the_places_of_a_cluster(submitted, grid):
    change = replace_cluster(submitted, grid, 0, arrays([11, 10, 11], [10], [9]))
    assert told(change.after) == [
        ("adversary 1", [10, 11], "adversary"),
        ("t1", [2], "C10"),
        ("adversary 2", [10], "adversary"),
        ("t3", [7], ""),
        ("adversary 3", [9], "adversary"),
        ("t5", [], "C10"),
    ]
    assert change.after.status == (USED,) * 5 + (EMPTY,)
    assert change.removed.tolist() == change.added.tolist() == [0, 2, 4]
    assert (change.n_replaced, change.cost) == (3, 3)
    assert change.words == "3 testimonies of cluster C2 replaced by 3 others"
    assert change.before is submitted
    assert told(submitted)[0] == ("t0", [0, 1], "C2")
    # Old clusters keep their numbers, so that the rest of the law stays.
    assert change.after.clusters.names == ("C2", "C10", "adversary")
    assert change.after.clusters.source == submitted.clusters.source


def test_fewer_and_more_than_were_there(submitted, grid):
    fewer = replace_cluster(submitted, grid, 0, arrays([11]))
    assert [name for name, _, _ in told(fewer.after)] == ["adversary 1", "t1", "t3", "t5"]
    assert (fewer.removed.tolist(), fewer.added.tolist(), fewer.cost) == ([0, 2, 4], [0], 2)
    more = replace_cluster(submitted, grid, 1, arrays([11], [10], [9]))
    assert [name for name, _, _ in told(more.after)] == [
        *("t0", "adversary 1", "t2", "t3", "t4", "adversary 2", "adversary 3")
    ]
    assert (more.removed.tolist(), more.added.tolist(), more.cost) == ([1, 5], [1, 5, 6], 2.5)
    none = replace_cluster(submitted, grid, 0, [])
    assert told(none.after) == [("t1", [2], "C10"), ("t3", [7], ""), ("t5", [], "C10")]
    assert none.after.clusters.names == ("C2", "C10")
    assert (none.cost, none.words) == (1.5, "3 testimonies of cluster C2 replaced by 0 others")


def test_the_only_testimony_there_is(grid):
    change = replace_cluster(submit(([0, 1], "C")), grid, 0, arrays([5]))
    assert told(change.after) == [("adversary 1", [5], "adversary")]
    assert told(replace_cluster(submit(([0, 1], "C")), grid, 0, []).after) == []


def test_an_adversary_without_a_unit_counts_as_empty(submitted, grid):
    change = replace_cluster(submitted, grid, 1, arrays([], [3]))
    assert told(change.after)[1] == ("adversary 1", [], "adversary")
    assert change.after.status == (USED, EMPTY, USED, USED, USED, USED)


def test_names_that_are_taken_are_not_given_again(grid):
    before = submit(([0], "adversary"), ([1], "C"))
    before = dataclasses.replace(before, ids=("adversary 1", "t1"))
    change = replace_cluster(before, grid, find_cluster(before, "C"), arrays([5]))
    assert told(change.after) == [("adversary 1", [0], "adversary"), ("adversary 2", [5], "adversary'")]


def test_what_is_known_of_the_others_stays(grid):
    before = submit(([0], "C"), ([1], "D"), ([2], "D"), unknown={"t0": ("x",), "t1": ("y", "z")})
    after = replace_cluster(before, grid, 0, arrays([5])).after
    assert after.unknown_units == {"t1": ("y", "z")}
    assert after.status == (USED, PARTLY_OUTSIDE, USED)
    once = deduplicate(submit(([0], "C"), ([0], "C"), ([1], "D"), ([1], "D")))
    assert replace_cluster(once, grid, 0, arrays([5], [6])).after.duplicate_of == {"t3": "t2"}


def test_without_clusters_there_is_nothing_to_replace(grid):
    with pytest.raises(ValueError, match="have no clusters"):
        replace_cluster(submit(([0], "")), grid, 0, [])


# A flood.


def test_copies_go_where_the_testimony_is(submitted, grid):
    change = flood(submitted, grid, "t1", 3)
    assert told(change.after)[:6] == told(submitted)
    assert told(change.after)[6:] == [("t1 copy 1", [2], "C10"), ("t1 copy 2", [2], "C10")]
    assert change.after.status[6:] == (USED, USED)
    assert (change.removed.tolist(), change.added.tolist()) == ([], [6, 7])
    # Two more have come, with nobody's testimony gone.
    assert (change.n_replaced, change.cost) == (0, 1)
    assert change.words == "testimony t1 submitted 3 times"


def test_four_hundred_copies_of_one(grid):
    before = submit(([0, 1], "C"))
    change = flood(before, grid, "t0", 400)
    assert change.after.n_testimonies == len(set(change.after.ids)) == 400
    assert (change.after.sizes == 2).all()
    assert (change.after.clusters.of_testimony == 0).all()
    assert change.cost == 199.5
    once = deduplicate(change.after)
    assert once.sizes.tolist() == [2] + [0] * 399
    assert once.n_testimonies == 400
    assert "399 left out as copies (t0 copy 1, " in once.summary()


def test_a_flood_of_one_is_none(submitted, grid):
    change = flood(submitted, grid, "t0", 1)
    assert change.after.digest == submitted.digest
    assert change.cost == 0


def test_copies_without_clusters_in_none_or_on_no_unit(submitted, grid):
    bare = flood(submit(([0], "")), grid, "t0", 2).after
    assert bare.clusters is None
    assert told(flood(submitted, grid, "t3", 2).after)[-1] == ("t3 copy 1", [7], "")
    after = flood(submitted, grid, "t5", 2).after
    assert told(after)[-1] == ("t5 copy 1", [], "C10")
    assert after.status[-1] == EMPTY
    assert ("2 with no unit on the map (t5, t5 copy 1)") in after.summary()


def test_copies_of_copies_have_names_of_their_own(submitted, grid):
    once = flood(submitted, grid, "t1", 2).after
    twice = flood(once, grid, "t1", 2).after
    assert twice.ids[-2:] == ("t1 copy 1", "t1 copy 2")


def test_what_cannot_be_flooded_is_refused(submitted, grid):
    with pytest.raises(DataError, match=r"There is no testimony 't9'\. Ids look like t0, t1, t2") as caught:
        flood(submitted, grid, "t9", 3)
    assert caught.value.code == "unknown_testimony"
    with pytest.raises(ValueError, match="number of copies must be at least 1; got 0"):
        flood(submitted, grid, "t0", 0)


# Copies that count once.


def test_the_same_units_in_the_same_cluster_count_once():
    every = submit(
        *(([1, 0], "C"), ([0, 1], "C"), ([0, 1], "D"), ([0, 1], ""), ([1], "C"), ([0, 1], ""), ([0, 1], "C"))
    )
    once = deduplicate(every)
    assert [units for _, units, _ in told(once)] == [[0, 1], [], [0, 1], [0, 1], [1], [], []]
    assert once.duplicate_of == {"t1": "t0", "t5": "t3", "t6": "t0"}
    assert once.status == ("used", "duplicate", "used", "used", "used", "duplicate", "duplicate")
    assert (once.n_testimonies, once.ids, once.clusters) == (7, every.ids, every.clusters)
    assert (once.indptr.dtype, once.units.dtype) == (np.int64, np.int32)
    assert once.summary().endswith("3 left out as copies (t1, t5, t6)")
    assert every.sizes.sum() == 13


def test_empty_testimonies_are_no_copies_of_each_other():
    once = deduplicate(submit(([], "C"), ([], "C"), ([0], "C")))
    assert once.duplicate_of == {}
    assert once.status == (EMPTY, EMPTY, USED)
    assert deduplicate(submit()).n_testimonies == 0


def test_without_clusters_shape_alone_counts():
    once = deduplicate(submit(([0, 3], ""), ([0], ""), ([0, 3], "")))
    assert once.clusters is None
    assert once.duplicate_of == {"t2": "t0"}


def test_to_leave_out_copies_twice_is_to_do_it_once(grid):
    once = deduplicate(submit(([0, 1], "C"), ([0, 1], "C"), ([2], "C")))
    twice = deduplicate(once)
    assert (twice.digest, twice.status, twice.duplicate_of) == (once.digest, once.status, once.duplicate_of)
    # And copies that come later are known as copies of the first.
    later = deduplicate(flood(once, grid, "t0", 2).after)
    assert later.duplicate_of == {"t1": "t0", "t0 copy 1": "t0"}


TESTIMONIES = st.lists(
    st.tuples(st.lists(st.integers(0, 3), unique=True, max_size=3), st.sampled_from(["", "C", "D"])),
    min_size=1,
    max_size=6,
)


def shapes_in_clusters(testimonies):
    """Which shapes count in which cluster."""
    return {(tuple(units), cluster) for name, units, cluster in told(testimonies) if units}


@settings(deadline=None)
@given(testimonies=TESTIMONIES, new=TESTIMONIES, data=st.data())
def test_a_replacement_takes_out_one_shape_and_puts_in_one(testimonies, new, data):
    """With copies counting once: on this rests that their sensitivities are the same."""
    place = data.draw(st.integers(0, len(testimonies) - 1))
    changed = [*testimonies[:place], new[0], *testimonies[place + 1 :]]
    # Anchors keep all clusters on both sides.
    anchors = [([9], "C"), ([9], "D")]
    before, after = (deduplicate(submit(*each, *anchors)) for each in (testimonies, changed))
    for each in (before, after):
        assert sum(size > 0 for size in each.sizes) == len(shapes_in_clusters(each))
    assert shapes_in_clusters(before) == shapes_in_clusters(submit(*testimonies, *anchors))
    assert len(shapes_in_clusters(before) - shapes_in_clusters(after)) <= 1
    assert len(shapes_in_clusters(after) - shapes_in_clusters(before)) <= 1


# The adversary that is drawn.


def graph_of(geography):
    graph = nx.Graph(geography.edges.tolist())
    graph.add_nodes_from(range(geography.n_units))
    return graph


@pytest.mark.parametrize("seed", range(8))
def test_as_many_as_large_around_one_place_and_away(make_grid, seed):
    grid = make_grid(5, 6)
    removed = submit(([0, 1, 2], "C"), ([0], "C"), ([1, 6, 7, 12], "C"), ([], "C"), ([29], "D"))
    drawn = draw_adversary(removed, grid, np.arange(4), most_people=1000, seed=seed)
    assert [len(own) for own in drawn] == [3, 1, 4, 1]
    assert all(own.dtype == np.int32 and (np.diff(own) > 0).all() for own in drawn)
    (centre,) = drawn[1]
    assert all(centre in own for own in drawn)
    graph = graph_of(grid)
    assert all(nx.is_connected(graph.subgraph(own.tolist())) for own in drawn)
    # The place is in the farther half of the map by steps from the nearest of those removed.
    steps = nx.multi_source_dijkstra_path_length(graph, {0, 1, 2, 6, 7, 12}, weight=None)
    assert steps[int(centre)] >= np.median(list(steps.values()))
    again = draw_adversary(removed, grid, np.arange(4), most_people=1000, seed=seed)
    assert [own.tolist() for own in again] == [own.tolist() for own in drawn]


def test_seeds_draw_different_places(make_grid):
    grid, removed = make_grid(5, 6), submit(([0, 1, 2, 3], "C"))
    drawn = {tuple(draw_adversary(removed, grid, np.arange(1), 1000, seed)[0]) for seed in range(12)}
    assert len(drawn) > 6


@pytest.mark.parametrize(("most_people", "size"), [(1000, 6), (35, 3), (30, 3), (29.9, 2), (5, 1)])
def test_no_drawn_testimony_holds_more_people_than_allowed(make_grid, most_people, size):
    """Ten in each unit; a single unit is drawn however many live there."""
    drawn = draw_adversary(submit((range(6), "C")), make_grid(4, 4), np.arange(1), most_people, seed=3)
    assert len(drawn[0]) == size


def test_testimonies_as_large_as_the_map(grid):
    everything = submit((range(12), "C"), (range(12), "C"))
    drawn = draw_adversary(everything, grid, np.arange(2), most_people=10**6, seed=0)
    assert [own.tolist() for own in drawn] == [list(range(12))] * 2
    # There is no place away from them, so any will do.
    assert len(draw_adversary(everything, grid, np.arange(2), most_people=40, seed=0)[0]) == 4


def test_nobody_removed_or_on_no_unit(grid):
    assert draw_adversary(submit(([0], "C")), grid, np.arange(0), 1000, seed=0) == []
    assert [len(own) for own in draw_adversary(submit(([], "C")), grid, np.arange(1), 1000, seed=0)] == [1]


def test_an_island_that_a_bridge_joins(make_grid):
    """Two and two units with one bridge: whoever spoke there is answered from across it."""
    grid = make_grid(1, 4)
    apart = dataclasses.replace(grid, edges=np.array([[0, 1], [2, 3], [1, 2]], dtype=np.int32))
    for seed in range(5):
        (drawn,) = draw_adversary(submit(([0, 1], "C")), apart, np.arange(1), 1000, seed)
        assert drawn.tolist() in ([2, 3], [1, 2])


def test_removing_and_drawing_together(make_grid):
    """The whole experiment: as many testimonies as before, the others as they were."""
    grid = make_grid(4, 4)
    before = submit(([0, 1], "C"), ([4], "C"), ([15], "D"), ([2, 3], "C"))
    cluster = find_cluster(before, n_members=3)
    removed = np.flatnonzero(before.clusters.of_testimony == cluster)
    adversary = draw_adversary(before, grid, removed, 1000, seed=1)
    change = replace_cluster(before, grid, cluster, adversary)
    assert change.after.n_testimonies == before.n_testimonies
    assert (change.after.sizes == before.sizes).all()
    assert told(change.after)[2] == told(before)[2]
    assert change.cost == change.n_replaced == 3
