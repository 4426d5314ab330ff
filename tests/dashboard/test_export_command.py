"""The command ``bottomup export``: a run's plans as files for other programs, and one of them on the map."""

import csv
import json

import geopandas as gpd
import numpy as np
import pandas as pd
import pytest
import shapely

from bottomup.dashboard.cli import main
from bottomup.data import read_geography, read_plan
from bottomup.sampler.ensembles import Ensemble

LABELS = ["02A", "1", "10", "North"]


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    """Units in a file, and a run of two chains on them."""
    folder = tmp_path_factory.mktemp("made")
    cells = [(i, j) for i in range(8) for j in range(8)]
    units = gpd.GeoDataFrame(
        {
            "GEOID20": [f"0{i}{j}" for i, j in cells],
            "pop20": 10,
            "vap": 8,
            "bvap": [i % 4 for i, _ in cells],
            "cd": [LABELS[i // 2] for i, _ in cells],
        },
        geometry=[shapely.box(j, i, j + 1, i + 1) for i, j in cells],
        crs="EPSG:32615",
    )
    units.geometry = units.geometry.scale(1000, 1000, origin=(0, 0)).translate(500_000, 4_200_000)
    units.to_file(folder / "units.gpkg")
    options = ["--units", str(folder / "units.gpkg"), "--plan", "cd", "--tolerance", "0.3"]
    assert main(["sample", *options, "--steps", "1000", "--thin", "100", "--out", str(folder / "run")]) == 0
    return folder


def export(made, *options):
    return main(["export", str(made / "run"), *map(str, options)])


def recorded(made):
    """The plans of the run, chain after chain."""
    plans = pd.read_parquet(made / "run" / "plans.parquet").sort_values("chain", kind="stable")
    return np.stack(plans["assignment"])


def test_all_plans_become_lines_of_json_with_what_they_mean_beside_them(made, tmp_path, capsys):
    assert export(made, "--out", tmp_path / "all.jsonl") == 0
    assert "20 plans of 64 units at epsilon 0" in capsys.readouterr().out
    lines = [json.loads(line) for line in (tmp_path / "all.jsonl").read_text().splitlines()]
    assert [list(line) for line in lines] == [["assignment", "sample"]] * 20
    assert [line["sample"] for line in lines] == list(range(1, 21))
    plans = np.array([line["assignment"] for line in lines])
    assert np.array_equal(plans, recorded(made) + 1)
    about = json.loads((tmp_path / "all.provenance.json").read_text())
    run = json.loads((made / "run" / "run.json").read_text())
    assert about["name"] == run["name"]
    assert about["ensemble"]["districts"] == {"1": "1", "2": "02A", "3": "10", "4": "North"}
    assert about["ensemble"]["units"] == pd.read_csv(made / "run" / "units.csv", dtype=str)["id"].tolist()
    assert about["ensemble"]["samples"] == [
        {"chain": 0, "first": 1, "last": 10},
        {"chain": 1, "first": 11, "last": 20},
    ]


def test_all_plans_become_a_table_of_units_and_plans_with_labels(made, tmp_path):
    assert export(made, "--format", "csv", "--out", tmp_path / "all.csv") == 0
    with (tmp_path / "all.csv").open(newline="") as file:
        header, *rows = csv.reader(file)
    assert header == ["GEOID20", *map(str, range(1, 21))]
    assert rows[9][0] == "011"
    labels = np.array(["1", "02A", "10", "North"])
    assert np.array_equal(np.array([row[1:] for row in rows]).T, labels[recorded(made)])


@pytest.mark.parametrize("number", [1, 13])
@pytest.mark.parametrize("name", ["csv", "geojson", "gpkg", "parquet", "shp"])
def test_one_plan_reads_back_to_itself_from_every_format(made, tmp_path, name, number):
    path = tmp_path / f"one.{'zip' if name == 'shp' else name}"
    options = [] if name == "csv" else ["--units", made / "units.gpkg"]
    assert export(made, "--plan", number, "--format", name, "--out", path, *options) == 0
    geography = read_geography(made / "units.gpkg")
    plan = read_plan(path, geography)
    assert plan.labels == ("1", "02A", "10", "North")
    assert np.array_equal(plan.assignment, recorded(made)[number - 1])


def test_districts_on_the_map_carry_the_shares_and_the_run(made, tmp_path):
    path = tmp_path / "one.geojson"
    options = ["--plan", 3, "--format", "geojson", "--units", made / "units.gpkg", "--out", path]
    assert export(made, *options) == 0
    collection = json.loads(path.read_text())
    about, run = collection["provenance"], json.loads((made / "run" / "run.json").read_text())
    assert about["name"] == run["name"]
    assert about["plan"] == {"sample": 3, "chain": 0, "epsilon": 0.0, "step": 300}
    plans = pd.read_parquet(made / "run" / "plans.parquet").query("chain == 0")
    for feature, share in zip(collection["features"], plans["black_vap_share"].iloc[2], strict=True):
        assert feature["properties"]["black_vap_share"] == pytest.approx(share)


def test_files_go_to_the_run_s_folder_and_are_never_replaced(made, capsys):
    assert export(made) == 0
    assert (made / "run" / "plans.jsonl").is_file()
    assert (made / "run" / "plans.provenance.json").is_file()
    assert export(made) == 2
    assert "plans.jsonl exists already; name another file with --out" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--format", "gpkg"], "--format gpkg is not for all plans; name one with --plan"),
        (["--format", "jsonl", "--plan", "1"], "--format jsonl is not for one plan; leave --plan out"),
        (["--format", "gpkg", "--plan", "1"], "needs the units of the run, with --units or --demo"),
        (["--plan", "1", "--kind", "units"], "--kind units needs a GIS format: geojson, gpkg, parquet, shp"),
        (["--plan", "21"], "plans are numbered from 1 to 20; got 21"),
        (["--epsilon", "3"], "no plans at epsilon 3; it has 0"),
        (["--plan", "1", "--format", "shp", "--demo"], "these units are not those of the run"),
        (["--plan", "1", "--out", "x.txt"], "--out x.txt must end in .csv for --format csv"),
    ],
)
def test_what_cannot_be_written_is_refused(made, capsys, options, message):
    assert export(made, *options) == 2
    assert message in capsys.readouterr().err


def test_a_folder_without_a_run_is_refused(tmp_path, capsys):
    assert main(["export", str(tmp_path)]) == 2
    assert "holds no run of `bottomup sample`: plans.parquet, units.csv, run.json" in capsys.readouterr().err


def test_a_run_of_an_earlier_version_that_was_killed_is_refused(made, tmp_path, capsys):
    for name in ("units.csv", "run.json"):
        (tmp_path / name).write_bytes((made / "run" / name).read_bytes())
    (part,) = (made / "run" / "plans.parquet").iterdir()
    (tmp_path / "plans.parquet").write_bytes(part.read_bytes()[:2000])
    assert main(["export", str(tmp_path)]) == 2
    assert "is not finished: the run still goes on, or was killed" in capsys.readouterr().err


def test_of_a_ladder_one_rung_is_exported(grid_tables, tmp_path):
    options = [
        "sample",
        *grid_tables,
        "--plan",
        "even",
        "--exchange",
        "--rungs",
        "0",
        "1.5",
        "--steps",
        "400",
    ]
    options += ["--thin", "200", "--tolerance", "0.5", "--burn-in", "2", "--out", str(tmp_path / "run")]
    assert main(options) == 0
    plans = pd.read_parquet(tmp_path / "run" / "plans.parquet")
    for asked, epsilon in ((None, 1.5), (1.5, 1.5), (0.0, 0.0)):
        ensemble = Ensemble(tmp_path / "run", asked)
        own = plans[plans["epsilon"] == epsilon].sort_values("chain", kind="stable")
        found = list(ensemble.samples())
        assert [sample.step for sample in found] == own["step"].tolist()
        assert {sample.epsilon for sample in found} == {epsilon}
        assert np.array_equal([sample.assignment for sample in found], np.stack(own["assignment"]))
        assert np.array_equal(ensemble.sample(len(found)).assignment, found[-1].assignment)
