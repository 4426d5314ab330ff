"""Exported plans: what RFC 7946 asks, and the same plan when read back."""

import dataclasses
import json
import re
import runpy
from pathlib import Path

import geopandas as gpd
import numpy as np
import pytest
import shapely
from hypothesis import given, settings
from hypothesis import strategies as st

from bottomup.data import DataError, Plan, load_plan, plan_csv, plan_geojson, read_plan

GOLDEN = Path(__file__).resolve().parents[1] / "golden"
golden = runpy.run_path(str(GOLDEN / "write_plans.py"))


@pytest.fixture
def towns():
    return golden["golden_plan"]()


def read_back(text, folder):
    path = folder / "plan.geojson"
    path.write_text(text, encoding="utf-8")
    return gpd.read_file(path)


@pytest.mark.parametrize("name", ["plan_districts.geojson", "plan_units.geojson", "plan.csv"])
def test_exports_are_the_golden_ones(name):
    assert golden["golden_files"]()[name] == (GOLDEN / name).read_text(encoding="utf-8")


@pytest.mark.parametrize("kind", ["districts", "units"])
def test_geojson_is_what_the_standard_asks(towns, kind):
    text = plan_geojson(*towns, kind=kind, provenance={"seed": 1})
    collection = json.loads(text)
    assert set(collection) == {"type", "features", "provenance"}
    assert collection["type"] == "FeatureCollection"
    assert collection["provenance"] == {"seed": 1}
    assert not re.search(r"\d\.\d{7}", re.sub(r'"deviation_fraction":[^}]*', "", text))
    for feature in collection["features"]:
        assert feature["type"] == "Feature"
        assert feature["id"] == feature["properties"]["id"]
        shape = shapely.geometry.shape(feature["geometry"])
        assert shape.is_valid
        west, south, east, north = shape.bounds
        assert -92.2 <= west < east <= -92.18
        assert 38.5 <= south < north <= 38.52
        for polygon in shapely.get_parts(shape):
            assert shapely.is_ccw(polygon.exterior)
            assert not any(shapely.is_ccw(ring) for ring in polygon.interiors)


def test_districts_carry_their_figures(towns):
    features = json.loads(
        plan_geojson(*towns, kind="districts", statistics={"share": np.array([0.25, np.inf])})
    )["features"]
    assert features[0]["properties"] == {
        "id": "07",
        "district": "07",
        "n_units": 2,
        "population": 200,
        "deviation": -5.0,
        "deviation_fraction": round(-5 / 205, 8),
        "share": 0.25,
    }
    assert features[1]["properties"]["population"] == 210
    assert features[1]["properties"]["share"] is None


def test_districts_are_dissolved(towns, tmp_path):
    geography, plan = towns
    frame = read_back(plan_geojson(geography, plan, kind="districts"), tmp_path)
    whole = geography.geometry.to_crs("EPSG:4326")
    for district, label in enumerate(plan.labels):
        expected = shapely.union_all(whole.to_numpy()[plan.assignment == district])
        own = frame.geometry[frame["district"] == label].item()
        assert own.symmetric_difference(expected).area < 1e-8
        assert shapely.get_num_coordinates(own) < 40


@settings(deadline=None, max_examples=30)
@given(labels=st.lists(st.sampled_from(["1", "02", "Nord-Est", "10"]), min_size=12, max_size=12))
def test_units_and_table_read_back_to_the_same_plan(make_grid, tmp_path_factory, labels):
    folder = tmp_path_factory.mktemp("export")
    grid = make_grid(3, 4)
    (folder / "plan.csv").write_text("".join(f"{u},{d}\n" for u, d in zip(grid.ids, labels, strict=True)))
    plan = read_plan(folder / "plan.csv", grid)

    (folder / "again.csv").write_text(plan_csv(grid, plan), encoding="utf-8")
    again = read_plan(folder / "again.csv", grid)
    assert again.labels == plan.labels
    assert np.array_equal(again.assignment, plan.assignment)

    frame = read_back(plan_geojson(grid, plan, kind="units"), folder)
    assert frame["id"].tolist() == list(grid.ids)
    assert frame["district"].tolist() == labels
    assert frame["population"].tolist() == grid.population.tolist()

    districts = read_back(plan_geojson(grid, plan, kind="districts"), folder)
    points = grid.geometry.representative_point().to_crs("EPSG:4326")
    joined = gpd.sjoin(gpd.GeoDataFrame(geometry=points), districts, predicate="within").sort_index()
    assert joined["district"].tolist() == labels


def test_overlapping_units_still_dissolve(towns, tmp_path):
    geography, plan = towns
    messy = geography.geometry.copy()
    messy[0] = messy[0].buffer(3)
    frame = read_back(
        plan_geojson(dataclasses.replace(geography, geometry=messy), plan, kind="districts"), tmp_path
    )
    assert frame.is_valid.all()
    expected = shapely.union_all(messy.to_numpy()[:2]).area
    assert frame.to_crs(messy.crs).area[0] == pytest.approx(expected, rel=1e-3)


def test_a_unit_smaller_than_the_last_decimal_keeps_a_shape(towns, tmp_path):
    geography, plan = towns
    tiny = geography.geometry.copy()
    tiny[4] = tiny[4].representative_point().buffer(0.001)
    frame = read_back(
        plan_geojson(dataclasses.replace(geography, geometry=tiny), plan, kind="units"), tmp_path
    )
    assert not frame.is_empty.any()
    assert frame.is_valid.all()
    assert len(frame) == 5


def test_what_cannot_be_written_is_refused(towns):
    geography, plan = towns
    with pytest.raises(DataError, match="no shapes"):
        plan_geojson(dataclasses.replace(geography, geometry=None), plan, kind="units")
    with pytest.raises(DataError, match="kind must be"):
        plan_geojson(geography, plan, kind="tracts")
    with pytest.raises(DataError, match=r"'share' with shape \(3,\)"):
        plan_geojson(geography, plan, kind="districts", statistics={"share": np.zeros(3)})
    with pytest.raises(DataError, match="'population' with shape"):
        plan_geojson(geography, plan, kind="districts", statistics={"population": np.zeros(2)})
    with pytest.raises(DataError, match="belong to districts"):
        plan_geojson(geography, plan, kind="units", statistics={"share": np.zeros(2)})
    short = Plan("short", plan.assignment[:3], plan.labels)
    with pytest.raises(DataError, match="assigns 3 units; the map has 5"):
        plan_geojson(geography, short, kind="units")


@pytest.mark.real
def test_missouri_reads_back_to_the_same_plan(missouri, tmp_path):
    plan = load_plan("cd2022", missouri)
    labels = [plan.labels[district] for district in plan.assignment]
    units = read_back(plan_geojson(missouri, plan, kind="units"), tmp_path)
    assert units["id"].tolist() == list(missouri.ids)
    assert units["district"].tolist() == labels
    assert units.is_valid.all()
    districts = read_back(plan_geojson(missouri, plan, kind="districts"), tmp_path)
    assert districts.is_valid.all()
    points = missouri.geometry.representative_point().to_crs("EPSG:4326")
    joined = gpd.sjoin(gpd.GeoDataFrame(geometry=points), districts, predicate="within").sort_index()
    assert joined["district"].tolist() == labels
