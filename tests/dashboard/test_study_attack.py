"""The attack of a study: its testimonies in a table that gives the same scores again."""

from dataclasses import replace

import numpy as np
import pytest

from bottomup.dashboard.study_attack import attacked_inputs, change_of, write_submitted
from bottomup.data.changes import deduplicate
from bottomup.data.clusters import Zones, cluster_as, cluster_by_zones
from bottomup.data.errors import DataError
from bottomup.data.testimonies import build_testimonies, read_testimonies
from bottomup.sampler.problem import Problem
from bottomup.sampler.sensitivity import Weighting
from bottomup.sampler.statistics import score_plans

UNITS = {
    **{"a": [0, 1], "b": [1, 2, 8], "a again": [0, 1], "nowhere": []},
    **{"Zoë, of the “river”": [30, 31], "f": [34, 35], "g": [20, 21, 26], "h": [20, 21, 26]},
}
CLUSTERS = {
    **{"a": "10", "b": "10", "a again": "10", "nowhere": "10"},
    **{"Zoë, of the “river”": "2, east", "f": "2, east", "g": "9", "h": ""},
}


@pytest.fixture(scope="module")
def geography(inputs_of):
    return inputs_of().geography


@pytest.fixture(scope="module")
def changed(inputs_of):
    """Return a maker of changes by an adversary on a border of the town's plan."""

    def change(testimonies, cluster="10"):
        return change_of(replace(inputs_of(), testimonies=testimonies), 4, cluster, 1)

    return change


def submitted():
    status = ["used" if own else "empty" for own in UNITS.values()]
    return build_testimonies(UNITS, status, CLUSTERS)


def told(testimonies):
    """Id, units and cluster of each."""
    clusters = testimonies.clusters
    return [
        (name, testimonies.units_of(place).tolist(), (*clusters.names, "")[clusters.of_testimony[place]])
        for place, name in enumerate(testimonies.ids)
    ]


def written(path, geography, testimonies):
    """Testimonies as they are read from the table made of them."""
    write_submitted(path, geography, testimonies)
    return read_testimonies(path, geography)


def assert_same_scores(geography, one, other):
    plans = np.random.default_rng(5).integers(0, 4, (300, geography.n_units), dtype=np.uint8)
    for weighting in (Weighting(), Weighting("mass")):
        problems = [Problem.build(geography, own, weighting) for own in (one, other)]
        found = [score_plans(problem, plans, 4) for problem in problems]
        for name in ("score_testimony", "score_cluster"):
            values = getattr(found[0], name)
            assert len(set(values.tolist())) > 1
            np.testing.assert_array_equal(values, getattr(found[1], name))
        for score in ("testimony", "cluster"):
            assert problems[0].sensitivity(score) == problems[1].sensitivity(score)


def test_a_table_of_attacked_testimonies_gives_the_same_ones_again(geography, changed, tmp_path):
    change = changed(submitted())
    assert change.words == "4 testimonies of cluster 10 replaced by 4 others"
    found = written(tmp_path / "attacked.csv", geography, change.after)
    assert told(found) == told(change.after)
    # The one that nobody is in any more; the others are in another order, which no score knows.
    assert set(change.after.clusters.names) - set(found.clusters.names) == {"10"}
    assert found.clusters.names != change.after.clusters.names[1:]
    assert_same_scores(geography, change.after, found)
    assert [path.name for path in tmp_path.iterdir()] == ["attacked.csv"]


def test_testimonies_without_an_attack_are_the_same_to_the_last_bit(geography, tmp_path):
    honest = submitted()
    assert written(tmp_path / "all.csv", geography, honest).digest == honest.digest
    without = replace(honest, clusters=None)
    assert written(tmp_path / "none.csv", geography, without).digest == without.digest


def test_copies_that_count_once_are_left_out_again(geography, changed, tmp_path):
    # The first of two copies stays, and the second must not count after the attack either.
    change = changed(deduplicate(submitted()), "2, east")
    once = deduplicate(change.after)
    found = deduplicate(written(tmp_path / "attacked.csv", geography, change.after))
    assert told(found) == told(once)
    assert found.units_of(2).size == 0
    assert_same_scores(geography, once, found)


def test_public_zones_are_taken_from_the_map_again(geography, changed, tmp_path):
    zones = Zones(("west", "east"), np.arange(36, dtype=np.int32) % 6 // 3, "column half of the units")
    change = changed(cluster_by_zones(submitted(), geography, zones), "west")
    found = cluster_by_zones(written(tmp_path / "attacked.csv", geography, change.after), geography, zones)
    assert found.digest == change.after.digest
    inputs = {"units": "u.csv", "testimonies": "t.csv", "clusters": "half", "deduplicate": True}
    assert attacked_inputs(inputs, tmp_path / "attacked.csv") == {
        **inputs,
        "testimonies": str(tmp_path / "attacked.csv"),
    }


@pytest.mark.parametrize("clusters", ["hausdorff:3", "Hausdorff : 3 : single"])
def test_clusters_of_near_testimonies_stay_what_they_were_before_the_attack(
    geography, changed, tmp_path, clusters
):
    honest = cluster_as(clusters, submitted(), geography)
    change = changed(honest, None)
    path = tmp_path / "attacked.csv"
    found = written(path, geography, change.after)
    assert told(found) == told(change.after)
    assert_same_scores(geography, change.after, found)
    inputs = {"demo": True, "clusters": clusters, "crosswalk": "walk.csv"}
    assert attacked_inputs(inputs, path) == {"demo": True, "testimonies": str(path)}


def test_what_cannot_be_attacked_is_said(changed):
    with pytest.raises(DataError, match="changes testimonies, and there are none"):
        changed(None)
    with pytest.raises(DataError, match="There is no cluster 'Q'"):
        changed(submitted(), "Q")
