"""A real file of each kind that a commission receives, read as it is."""

from __future__ import annotations

import dataclasses
import json

import numpy as np
import pytest

from bottomup.data import DataError, read_geography, read_testimonies
from bottomup.data.proximity import cluster_by_distance
from bottomup.data.testimony_formats.common import Columns
from bottomup.data.testimony_formats.detect import read_file

pytestmark = pytest.mark.real
V1, V2, HEAT = "districtr_v1", "districtr_v2", "mggg_block_heatmap"
PLAN = f"{V1}/districtr-plan-5217364c"
# What is in each file: communities, different units, and rows with a shape.
FOUND = {
    f"{V1}/assignment-5217364c.csv": (2, 9, 0),
    f"{PLAN}.json": (2, 9, 0),
    f"{PLAN}.export.geojson": (2, 9, 9),
    f"{PLAN}.shp": (2, 9, 9),
    f"{PLAN}.landmarks.geojson": (0, 0, 0),
    f"{V1}/lowell_districts_assignment.csv": (3, 1845, 0),
    f"{V1}/lowell_districts_plan.json": (3, 1845, 0),
    f"{V1}/mo_blank_coi.json": (0, 0, 0),
    f"{V1}/mo_blank_congress.json": (0, 0, 0),
    f"{V2}/zone_assignments_csv_export.csv": (2, 3, 0),
    f"{V2}/zone_assignments_geojson_export.geojson": (2, 3, 3),
    f"{HEAT}/WI_cluster_C32.csv": (1, 1743, 0),
    f"{HEAT}/WI_cluster_C33.csv": (1, 1583, 0),
    "representable/co_339_units_and_geometry_no_text.geojson": (339, 11_550, 339),
    "representable/co_examples_full_schema_reviewed.geojson": (4, 262, 4),
}


@pytest.fixture(scope="module")
def block_groups(real_data):
    """Missouri's block groups of 2010, which Districtr's Missouri plans name."""
    folder = real_data / "missouri_bg2010"
    return read_geography(folder / "nodes.csv", edges=folder / "edges.csv")


def test_every_file_is_tried(real_data):
    folder = real_data / "coi_formats"
    parts = {".cpg", ".dbf", ".prj", ".shx"}
    inside = {file for file in folder.rglob("*") if file.is_file() and file.suffix not in parts}
    assert {file.relative_to(folder).as_posix() for file in inside} == set(FOUND)


@pytest.mark.parametrize("name", FOUND)
def test_what_is_in_the_file(real_data, name):
    reading = read_file(real_data / "coi_formats" / name, Columns(), "GEOID20")
    units = {unit for community in reading.communities for unit in community.units}
    n_rows = sum(len(community.rows) for community in reading.communities)
    assert (len(reading.communities), len(units), n_rows) == FOUND[name]
    assert len({community.id for community in reading.communities}) == len(reading.communities)
    if not reading.communities:
        assert reading.remarks


@pytest.mark.parametrize(
    "name", [f"{V1}/assignment-5217364c.csv", *(f"{PLAN}.{end}" for end in ("json", "export.geojson", "shp"))]
)
def test_a_plan_on_its_own_block_groups(real_data, block_groups, name):
    """Two communities of two and seven block groups, in each of the files that hold them."""
    testimonies = read_testimonies(real_data / "coi_formats" / name, block_groups)
    assert [name.rpartition("-")[2] for name in testimonies.ids] == ["1", "2"]
    own = [{block_groups.ids[unit] for unit in testimonies.units_of(number)} for number in (0, 1)]
    assert own[0] == {"291892218001", "291892127001"}
    assert len(own[1]) == 7
    assert testimonies.status == ("used", "used")


@pytest.mark.parametrize("end", ["export.geojson", "shp"])
def test_a_plan_on_voting_districts_by_area(real_data, missouri, end):
    testimonies = read_testimonies(real_data / "coi_formats" / f"{PLAN}.{end}", missouri)
    assert testimonies.status == ("used", "used")
    assert testimonies.sizes.tolist() == [1, 28]
    assert "by their areas" in testimonies.remarks[0]


def test_a_plan_on_voting_districts_without_areas_needs_a_crosswalk(real_data, missouri, tmp_path):
    path = real_data / "coi_formats" / f"{PLAN}.json"
    with pytest.raises(
        DataError, match=r"9 unit ids not on the map, such as 29189.*Census block groups"
    ) as caught:
        read_testimonies(path, missouri)
    assert "--crosswalk" in caught.value.remedy
    ours = [unit for unit in missouri.ids if unit.startswith("29189")]
    rows = [f"{unit},{ours[place]}" for place, unit in enumerate(json.loads(path.read_text())["assignment"])]
    (tmp_path / "walk.csv").write_text("unit_of_testimony,unit_of_map\n" + "\n".join(rows))
    assert read_testimonies(path, missouri, crosswalk=tmp_path / "walk.csv").sizes.tolist() == [2, 7]


def test_blocks_of_wisconsin_on_their_block_groups(real_data, block_groups):
    """By what ids begin with, on a map of the block groups that the file names."""
    path = real_data / "coi_formats" / HEAT / "WI_cluster_C32.csv"
    named = sorted({line[:12] for line in path.read_text().splitlines()[1:]})
    n = block_groups.n_units
    ids = tuple(named + [f"55000{number:07d}" for number in range(n - len(named))])
    testimonies = read_testimonies(path, dataclasses.replace(block_groups, ids=ids))
    assert testimonies.sizes.tolist() == [len(named)]
    assert "what their ids begin with" in testimonies.remarks[1]


def test_nothing_of_people_stays(real_data, tmp_path):
    path = real_data / "coi_formats" / "representable" / "co_examples_full_schema_reviewed.geojson"
    content = json.loads(path.read_text())
    for feature in content["features"]:
        feature["properties"] |= {"author_name": "Ann Lee", "address": "1 Main Street"}
    (tmp_path / "a.geojson").write_text(json.dumps(content))
    kept = repr(read_file(tmp_path / "a.geojson", Columns(), "GEOID20").communities)
    said = [
        value
        for feature in content["features"]
        for name, value in feature["properties"].items()
        if isinstance(value, str) and value and name not in ("entry_ID", "entry_name")
    ]
    assert len(said) > 8
    assert not any(value in kept for value in said)
    # The community's own name is no person's.
    assert "Montbello" in kept


def test_the_whole_folder(real_data, missouri):
    """Communities of six states on the map of one: four are on it, all are counted."""
    testimonies = read_testimonies(real_data / "coi_formats", missouri)
    assert testimonies.n_testimonies == sum(n for n, _, _ in FOUND.values()) == 363
    assert len(set(testimonies.ids)) == 363
    assert {name: testimonies.status.count(name) for name in set(testimonies.status)} == {
        "used": 4,
        "empty": 359,
    }
    assert sum(size > 0 for size in testimonies.sizes) == 4


def test_missouri_testimonies_can_be_clustered_as_published(real_data, missouri):
    testimonies = read_testimonies(real_data / "missouri_coi" / "surrogate_testimonies.csv", missouri)
    assert (testimonies.n_testimonies, testimonies.sizes.sum(), testimonies.remarks) == (808, 53_136, ())
    clustered = cluster_by_distance(testimonies, missouri, 35)
    assert len(np.unique(clustered.clusters.of_testimony)) == 35
