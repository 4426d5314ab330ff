"""Files of a plan in every format: what is in them, and the same plan when they are read back."""

import json
import zipfile

import geopandas as gpd
import numpy as np
import pyarrow.parquet as pq
import pyogrio
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bottomup.data import DataError, Plan, load_plan, read_plan
from bottomup.data.districts import clean_label, plan_from_labels
from bottomup.data.export_files import PLAN_FORMATS, provenance_path, write_plan

PROVENANCE = {"name": "0a1b2c", "seed": 7, "target": {"epsilon": 0.5}, "map": "Ünïts"}
LABELS = ["02A", "North \u201cEnd\u201d", "1", "10"]


@pytest.fixture
def plan(make_grid):
    grid = make_grid(4, 4)
    return grid, plan_from_labels("mine", [LABELS[unit // 8 * 2 + unit % 4 // 2] for unit in range(16)])


def provenance_in(path):
    """What a file says about what made its plan."""
    if path.suffix == ".csv":
        return json.loads(provenance_path(path).read_text(encoding="utf-8"))
    if path.suffix == ".geojson":
        return json.loads(path.read_text(encoding="utf-8"))["provenance"]
    if path.suffix == ".parquet":
        return json.loads(pq.read_schema(path).metadata[b"provenance"])
    if path.suffix == ".zip":
        with zipfile.ZipFile(path) as archive:
            (name,) = (name for name in archive.namelist() if name.endswith(".txt"))
            return json.loads(archive.read(name).decode().split("What made the plan\n")[1])
    rows = pyogrio.read_dataframe(path, layer="provenance")
    texts = dict(zip(rows["name"], rows["value"], strict=True))
    return {name: text if name in ("name", "map") else json.loads(text) for name, text in texts.items()}


@pytest.mark.parametrize("kind", ["units", "districts"])
@pytest.mark.parametrize("ending", PLAN_FORMATS.values())
def test_every_format_holds_the_plan_and_what_made_it(plan, tmp_path, kind, ending):
    geography, plan = plan
    path = tmp_path / f"plan{ending}"
    written = write_plan(path, geography, plan, kind=kind, provenance=PROVENANCE)
    assert sorted(written) == sorted(tmp_path.iterdir())
    assert provenance_in(path) == PROVENANCE
    again = load_plan(str(path), geography)
    assert again.labels == plan.labels
    assert np.array_equal(again.assignment, plan.assignment)


@pytest.mark.parametrize("ending", [".gpkg", ".parquet", ".zip"])
def test_districts_carry_their_figures_in_every_gis_format(plan, tmp_path, ending):
    geography, plan = plan
    statistics = {"black_vap_share": [0.25, 0.5, np.nan, 1.0], "black_vap_share_of_all": np.arange(4)}
    path = tmp_path / f"plan{ending}"
    write_plan(path, geography, plan, kind="districts", statistics=statistics)
    frame = gpd.read_parquet(path) if ending == ".parquet" else gpd.read_file(path)
    assert frame.crs.to_epsg() == 4326
    assert frame["district"].tolist() == list(plan.labels)
    assert frame["population"].tolist() == [40] * 4
    names = ["black_vap", "black_vap2"] if ending == ".zip" else list(statistics)
    assert frame[names[0]].tolist()[:2] == [0.25, 0.5]
    assert np.isnan(frame[names[0]].iloc[2])
    assert frame[names[1]].tolist() == [0, 1, 2, 3]
    assert all(len(name) <= 10 for name in frame.columns) or ending != ".zip"


def test_the_same_plan_makes_the_same_archive(plan, tmp_path):
    for name in ("a.zip", "b.zip"):
        write_plan(tmp_path / name, *plan, provenance=PROVENANCE)
    assert (tmp_path / "a.zip").read_bytes() == (tmp_path / "b.zip").read_bytes()


def test_a_file_that_is_there_is_replaced(plan, tmp_path):
    geography, plan = plan
    path = tmp_path / "plan.gpkg"
    write_plan(path, geography, plan, kind="districts", provenance=PROVENANCE)
    write_plan(path, geography, plan, kind="units")
    assert pyogrio.list_layers(path)[:, 0].tolist() == ["units"]


def test_what_a_format_cannot_hold_is_refused(plan, tmp_path):
    geography, plan = plan
    with pytest.raises(DataError, match=r"Choose one of \.csv, \.geojson, \.gpkg, \.parquet, \.zip"):
        write_plan(tmp_path / "plan.kml", geography, plan)
    long = Plan("long", plan.assignment, ("x" * 255, *plan.labels[1:]))
    with pytest.raises(DataError, match="texts of up to 254 bytes"):
        write_plan(tmp_path / "plan.zip", geography, long)
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("texts", ["2020-01-01 2020-01-02", "12:30 13:00", "nan None", "1.50 2.0", "{} []"])
def test_labels_that_look_like_something_else_stay_text(make_grid, tmp_path, texts):
    grid = make_grid(3, 4)
    plan = plan_from_labels("any", texts.split() * 6)
    for ending in PLAN_FORMATS.values():
        write_plan(tmp_path / f"plan{ending}", grid, plan)
        assert read_plan(tmp_path / f"plan{ending}", grid).labels == plan.labels


def labels():
    """Labels as people may write them, made what they are when read."""
    return st.text(min_size=1, max_size=12).map(clean_label).filter(bool)


@settings(deadline=None, max_examples=30)
@given(
    names=st.lists(labels(), min_size=2, max_size=4, unique=True),
    places=st.lists(st.integers(0, 3), min_size=12, max_size=12),
    ending=st.sampled_from(list(PLAN_FORMATS.values())),
)
def test_any_plan_in_any_format_reads_back_to_itself(make_grid, tmp_path_factory, names, places, ending):
    grid = make_grid(3, 4)
    plan = plan_from_labels("any", [names[place % len(names)] for place in places])
    path = tmp_path_factory.mktemp("any") / f"plan{ending}"
    write_plan(path, grid, plan, provenance=PROVENANCE)
    again = read_plan(path, grid)
    assert again.labels == plan.labels
    assert np.array_equal(again.assignment, plan.assignment)
    assert again.match.n_matched == 12


@given(st.text(max_size=20))
def test_cleaning_a_label_twice_changes_nothing(text):
    assert clean_label(clean_label(text)) == clean_label(text)


@pytest.mark.parametrize("kind", ["units", "districts"])
@pytest.mark.parametrize("ending", [".gpkg", ".zip", ".parquet"])
@pytest.mark.real
def test_missouri_reads_back_to_the_same_plan(missouri, tmp_path, kind, ending):
    plan = load_plan("cd2025_hb1", missouri)
    path = tmp_path / f"plan{ending}"
    write_plan(path, missouri, plan, kind=kind, provenance=PROVENANCE)
    again = read_plan(path, missouri)
    assert again.labels == plan.labels
    assert np.array_equal(again.assignment, plan.assignment)
