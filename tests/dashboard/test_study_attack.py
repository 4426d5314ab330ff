"""The attack of a study: its testimonies in a table that gives the same scores again."""

import argparse
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from bottomup.dashboard.attack_files import COLUMNS
from bottomup.dashboard.attack_words import sentences
from bottomup.dashboard.cli import main
from bottomup.dashboard.options import add_input_options, load_inputs
from bottomup.dashboard.stored_attack import attack_of_study
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


LAW = [
    *("--plan", "even", "--tolerance", "0.3", "--cut-edges", "24", "--chains", "2", "--exchange"),
    *("--rungs", "0", "1", "2", "--burn-in", "20", "--steps", "4000", "--thin", "80"),
]
HONEST = {"a": "00 01", "b": "01 11", "c": "33 43 53", "d": "62 63", "e": "77"}


@pytest.fixture
def study(grid_tables, tmp_path):
    """Inputs with two clusters, a change, and a maker of runs before and after it: a folder for each seed."""
    honest, attacked = tmp_path / "testimonies.csv", tmp_path / "attacked.csv"
    clusters = dict.fromkeys("ab", "X") | dict.fromkeys("cde", "Y")
    rows = [f"{name},{unit},{clusters[name]}\n" for name, own in HONEST.items() for unit in own.split()]
    honest.write_text("testimony,unit,cluster\n" + "".join(rows))
    parser = argparse.ArgumentParser()
    add_input_options(parser)
    inputs = load_inputs(parser.parse_args([*grid_tables, "--plan", "even"]))
    change = change_of(inputs, 4, "X", 1)
    write_submitted(attacked, inputs.geography, change.after)

    def run(name, *options, is_attacked=False):
        words = [str(attacked) if is_attacked and own == str(honest) else own for own in grid_tables]
        assert main(["sample", *words, *LAW, *options, "--out", str(tmp_path / name)]) == 0
        return tmp_path / name

    return inputs, change, run


def shares_kept(folders, epsilon, communities):
    """Share of communities in one district, of an even number of plans from the later half."""
    found = []
    for folder in folders:
        plans = pd.read_parquet(folder / "plans.parquet")
        ids = pd.read_csv(folder / "units.csv", dtype=str)["id"].tolist()
        for _, ladder in plans[plans["epsilon"] == epsilon].groupby("chain"):
            for plan in ladder["assignment"].tolist()[-(len(ladder) // 4 * 2) :]:
                district = dict(zip(ids, plan, strict=True))
                found += [len({district[unit] for unit in own}) == 1 for own in communities]
    return np.mean(found)


def test_a_study_s_runs_tell_what_its_attack_reaches(study):
    inputs, change, run = study
    honest = [run("honest-1"), run("honest-2", "--seed", "2")]
    attacked = [run("attacked-1", is_attacked=True)]
    found = attack_of_study(inputs, change, honest, attacked, "testimony", [0, 0.5, 2])
    assert found.outcome.attack.change.words == "2 testimonies of cluster X replaced by 2 others"
    assert found.outcome.are_comparable
    assert not found.outcome.hopeless
    keys = [(row["score"], row["epsilon"], row["data_set"], row["group"]) for row in found.rows]
    assert keys == [
        ("testimony", epsilon, data_set, group)
        for epsilon in (0, 0.5, 2)
        for data_set in ("honest", "attacked")
        for group in ("honest", "adversary", "others")
    ]
    assert {name for row in found.rows for name in row} == set(COLUMNS)
    ids = inputs.geography.ids
    theirs = [[ids[unit] for unit in change.after.units_of(place)] for place in change.added.tolist()]
    groups = {"honest": [HONEST["a"].split(), HONEST["b"].split()], "adversary": theirs}
    for row in found.rows:
        if row["epsilon"] != 0.5 and row["group"] in groups:
            folders = honest if row["data_set"] == "honest" else attacked
            kept = shares_kept(folders, row["epsilon"], groups[row["group"]])
            assert row["kept"] == pytest.approx(kept, rel=1e-5)
    assert found.sentences == sentences(found.outcome, found.outcome.scores[0])
    assert "odds times e^(2 ε)" in " ".join(found.sentences)
    # Without epsilons those of the runs.
    table = attack_of_study(inputs, change, honest, attacked, "testimony").rows
    assert sorted({row["epsilon"] for row in table}) == [0, 1, 2]
    assert table[:6] == found.rows[:6]

    for epsilons in ([0.5, 2], [0], [0, 2, 1], [0, 3]):
        with pytest.raises(DataError, match="must ascend from 0 and hold at least one more, up to 2"):
            attack_of_study(inputs, change, honest, attacked, "testimony", epsilons)
    with pytest.raises(DataError, match="not those that these testimonies give"):
        attack_of_study(inputs, change, honest, honest, "testimony")
    with pytest.raises(DataError, match="holds no run that can be read"):
        attack_of_study(inputs, change, honest, [attacked[0] / "plans.parquet"], "testimony")


@pytest.mark.parametrize(
    ("options", "differing"),
    [
        (["--rungs", "0", "1.5", "2"], "rungs"),
        (["--compactness", "0.02"], "compactness"),
        (["--score", "cluster"], "score"),
    ],
)
def test_runs_that_are_no_pair_are_refused(study, options, differing):
    inputs, change, run = study
    honest, attacked = run("honest"), run("attacked", *options, is_attacked=True)
    with pytest.raises(DataError, match="differ in more than testimonies and seeds") as found:
        attack_of_study(inputs, change, [honest], [attacked], "testimony")
    assert found.value.units == (differing,)


def test_the_score_asked_for_is_that_of_the_runs(study):
    inputs, change, run = study
    honest, attacked = run("honest"), run("attacked", is_attacked=True)
    with pytest.raises(DataError, match="goes by the testimony score, not the cluster score"):
        attack_of_study(inputs, change, [honest], [attacked], "cluster")
