"""Options that say where testimonies come from, whose units they name, and which clusters they make."""

from __future__ import annotations

import json

import geopandas as gpd
import pytest
import shapely

from bottomup.dashboard.cli import main
from bottomup.dashboard.options import load_inputs, page_arguments, parse_page_options
from bottomup.data import DataError

N_COLUMNS = 6


@pytest.fixture
def units(tmp_path):
    """Six squares in a row, two districts."""
    squares = [
        shapely.box(500_000 + 1000 * x, 4_270_000, 501_000 + 1000 * x, 4_271_000) for x in range(N_COLUMNS)
    ]
    frame = gpd.GeoDataFrame(
        {"GEOID20": [f"00{x}" for x in range(N_COLUMNS)], "pop20": 10, "district": [1, 1, 1, 2, 2, 2]},
        geometry=squares,
        crs="EPSG:26915",
    )
    frame.to_file(tmp_path / "units.gpkg")
    return ["--units", str(tmp_path / "units.gpkg"), "--plan", "district"]


@pytest.fixture
def submitted(tmp_path):
    """A folder with a plan of Districtr in our units, and one in those of another map."""
    folder = tmp_path / "submitted"
    folder.mkdir()
    (folder / "ours.json").write_text(json.dumps({"assignment": {"000": 0, "001": 0, "005": 1}}))
    (folder / "theirs.json").write_text(json.dumps({"assignment": {"x": 0}}))
    (tmp_path / "walk.csv").write_text("unit_of_testimony,unit_of_map\nx,004\n")
    return folder


def load(*arguments):
    return load_inputs(parse_page_options([str(argument) for argument in arguments]))


def test_a_folder_and_a_crosswalk(units, submitted, tmp_path):
    without = load(*units, "--testimonies", submitted).testimonies
    assert (without.ids, without.sizes.tolist()) == (("ours-1", "ours-2", "theirs-1"), [2, 1, 0])
    assert "1 unit id not on the map, such as x" in without.remarks[-1]
    through = load(*units, "--testimonies", submitted, "--crosswalk", tmp_path / "walk.csv").testimonies
    assert through.sizes.tolist() == [2, 1, 1]


def test_clusters_by_distance(units, submitted, tmp_path):
    arguments = [*units, "--testimonies", submitted, "--crosswalk", tmp_path / "walk.csv"]
    clusters = load(*arguments, "--clusters", "hausdorff:2").testimonies.clusters
    assert clusters.of_testimony.tolist() == [0, 1, 1]
    assert not clusters.is_public
    with pytest.raises(DataError, match=r"9 clusters cannot be made of 3 testimonies"):
        load(*arguments, "--clusters", "hausdorff:9")
    assert load(*arguments, "--clusters", "hausdorff:2:single").testimonies.clusters.tree.linkage == "single"
    with pytest.raises(DataError, match=r"no linkage 'ward'.* Choose average, complete or single"):
        load(*arguments, "--clusters", "hausdorff:2:ward")


def test_a_crosswalk_alone_is_refused(units, tmp_path):
    with pytest.raises(DataError, match="--crosswalk given without --testimonies"):
        load(*units, "--crosswalk", tmp_path / "walk.csv")


def test_a_page_gets_the_same_options(units, submitted):
    arguments = [*units, "--testimonies", str(submitted), "--crosswalk", "w.csv", "--clusters", "hausdorff:2"]
    again = page_arguments(parse_page_options(arguments))
    assert vars(parse_page_options(again)) == vars(parse_page_options(arguments))


def test_the_command_says_what_has_become_of_each(units, submitted, capsys):
    assert main(["check", *units, "--testimonies", str(submitted), "--clusters", "hausdorff:2"]) in (0, 1)
    said = " ".join(capsys.readouterr().out.split())
    for words in (
        "3 testimonies: 2 used",
        "(theirs-1)",
        "2 clusters by distance (average linkage): none merged",
    ):
        assert words in said


def test_no_testimonies_end_a_command_with_what_to_do(units, tmp_path, capsys):
    (tmp_path / "none.geojson").write_text('{"type":"FeatureCollection","features":[]}')
    arguments = [*units, "--testimonies", str(tmp_path / "none.geojson"), "--out", str(tmp_path / "run")]
    assert main(["sample", *arguments]) == 2
    assert "holds no testimonies: none.geojson: holds no feature" in capsys.readouterr().err
