"""Every awkward input has a stated outcome: all that is wrong, the units concerned, and what to do."""

from __future__ import annotations

import dataclasses

import geopandas as gpd
import numpy as np
import pytest
import shapely
from awkward import CRS, FRAMES, OTHERS, box, grid, write
from hypothesis import given, settings
from hypothesis import strategies as st

from bottomup.data import DataError, read_geography
from bottomup.data.findings import SEVERITIES, Findings
from bottomup.data.geography import Files, inspect_geography
from bottomup.data.inspection import inspect_districts, inspect_plan, inspect_testimonies
from bottomup.data.plans import plan_from_column
from bottomup.data.testimonies import build_testimonies


def inspect(path, **options):
    findings = Findings()
    return inspect_geography(Files(path, **options), findings, thorough=True), list(findings)


def grave(findings):
    """Codes and the ends of ids of all that is more than a note."""
    return {
        found.code: tuple(unit[-2:] for unit in found.units) for found in findings if found.severity != "note"
    }


OUTCOMES = {
    "plain": {},
    "island of one unit": {"not_connected": ("00",)},
    "island of two units": {"not_connected": ("00", "01")},
    "detached unit": {
        "not_connected": ("27",),
        "hole": ("18", "19", "20", "26", "27", "28", "34", "35", "36"),
    },
    "nobody in three units": {},
    "no population in two units": {"no_population": ("05", "09")},
    "negative population": {"population_negative": ("04",)},
    "text for people": {},
    "one huge unit": {},
    "bow tie": {
        "invalid_geometry": ("10",),
        "hole": ("01", "02", "03", "09", "10", "11", "17", "18", "19"),
    },
    "no shape": {
        "null_geometry": ("10",),
        "hole": ("01", "02", "03", "09", "11", "17", "18", "19"),
    },
    "points mixed in": {"not_polygon": (" 5", " 6", " 7", " 8")},
    "overlap": {"overlap": ("10", "11")},
    "narrow gap": {"gap": ("10", "11"), "hole": ("02", "03", "10", "11", "18", "19")},
    "plan in pieces": {},
    "unbalanced plan": {},
    "9,025 units": {},
    "hidden CRS": {"wrong_crs": ()},
    "heights": {},
    "links": {},
    "edges": {},
    "adjacency": {},
    "table alone": {"no_edges": ()},
    "no map": {"unreadable": ()},
}


@pytest.mark.parametrize("name", [*FRAMES, *OTHERS])
def test_each_awkward_input_has_its_outcome(name, tmp_path):
    path = write(name, tmp_path)
    geography, findings = inspect(path)
    assert grave(findings) == OUTCOMES[name]
    for found in findings:
        assert found.message
        assert found.message.count("\n") == 0
        assert found.remedy or not found.stops
    order = list(SEVERITIES)
    assert [order.index(found.severity) for found in findings] == sorted(
        order.index(found.severity) for found in findings
    )
    first = next((found for found in findings if found.stops), None)
    if first is None:
        assert read_geography(path).digest == geography.digest
    else:
        with pytest.raises(DataError) as caught:
            read_geography(path)
        assert (caught.value.code, caught.value.units) == (first.code, first.units)


def test_what_is_no_more_than_a_note_is_said_all_the_same(tmp_path):
    def notes(name):
        return {found.code: found for found in inspect(write(name, tmp_path))[1] if found.severity == "note"}

    assert notes("nobody in three units")["zero_population"].units == ("09000000", "09000001", "09000002")
    assert notes("detached unit")["unit_in_pieces"].units == ("09000027",)
    text = notes("text for people")["population_text"]
    assert (text.units, "'1,370'" in text.message) == (("09000004",), True)
    assert "ids from 'GEOID' (found by its name); people from 'TOTPOP'" in notes("plain")["columns"].message
    assert "WGS 84, EPSG:4326" in notes("plain")["crs"].message
    assert "heights were left out" in notes("heights")["crs"].message


def test_text_for_people_is_understood_when_the_column_agrees_about_it(tmp_path):
    people = {}
    for cells in (["1,370", "1000"], ["1 370", "20"], ["1'370", "1'234'567"]):
        frame = grid().head(2).assign(TOTPOP=cells)
        frame.to_file(tmp_path / "units.gpkg")
        people[cells[0]] = read_geography(tmp_path / "units.gpkg").population.tolist()
    assert people == {"1,370": [1370, 1000], "1 370": [1370, 20], "1'370": [1370, 1_234_567]}
    for cells in (["1,370", "1 370"], ["1,37", "20"], ["1,370", "12,3456"]):
        grid().head(2).assign(TOTPOP=cells).to_file(tmp_path / "units.gpkg")
        with pytest.raises(DataError) as caught:
            read_geography(tmp_path / "units.gpkg")
        assert caught.value.code == "population_not_numeric"


def test_all_is_found_in_one_go_and_the_error_says_that_there_is_more(tmp_path):
    frame = grid().astype({"TOTPOP": float})
    frame.loc[1, "TOTPOP"], frame.loc[2, "TOTPOP"], frame.loc[3, "TOTPOP"] = np.nan, -5, np.inf
    frame.loc[20, "GEOID"], frame.loc[30, "GEOID"] = "", "09000031"
    shapes = frame.geometry.to_numpy().copy()
    shapes[40], shapes[50], shapes[63] = None, shapely.Point(X_FAR, X_FAR), box(20, 20)
    frame = frame.set_geometry(gpd.GeoSeries(shapes, crs=CRS))
    frame.to_parquet(tmp_path / "units.parquet")
    geography, findings = inspect(tmp_path / "units.parquet")
    assert geography is None
    assert [found.code for found in findings if found.stops] == [
        "blank_id",
        "repeated_id",
        "null_geometry",
        "not_polygon",
        "no_population",
        "population_infinite",
        "population_negative",
        "not_connected",
    ]
    assert next(found for found in findings if found.code == "blank_id").units == ("row 21",)
    with pytest.raises(
        DataError, match="There are 7 more findings of that weight; `bottomup check` lists all"
    ):
        read_geography(tmp_path / "units.parquet")


X_FAR = 505_000


def test_pieces_come_with_their_people_and_the_way_to_the_nearest_unit(tmp_path):
    far = grid().iloc[:9].copy()
    far["GEOID"] = [f"0998{i:04d}" for i in range(9)]
    far["TOTPOP"] = np.arange(9)
    # Nine separate units, each three kilometres from the next.
    far.geometry = [box(10 + 4 * i, 0) for i in range(9)]
    frame = gpd.GeoDataFrame(np.concatenate([grid(), far]), columns=far.columns, geometry="geometry", crs=CRS)
    frame.to_parquet(tmp_path / "units.parquet")
    _, findings = inspect(tmp_path / "units.parquet")
    pieces = [found for found in findings if found.code == "not_connected"]
    assert [found.units for found in pieces] == [(unit,) for unit in far["GEOID"]]
    assert "in 10 pieces. The largest is 64 units with" in pieces[0].message
    assert "another is 1 unit with 0 people, nearest to 09000007, 2.0 km away" in pieces[0].message
    assert "another is 1 unit with 8 people" in pieces[8].message
    assert "`--repair join 09980008`" in pieces[8].remedy


def test_many_pieces_are_one_finding_beyond_the_first(tmp_path):
    frame = grid()
    frame.geometry = [box(2 * (i % 8), 2 * (i // 8)) for i in range(64)]
    frame.to_file(tmp_path / "units.gpkg")
    _, findings = inspect(tmp_path / "units.gpkg")
    pieces = [found for found in findings if found.code == "not_connected"]
    assert [len(found.units) for found in pieces] == [1] * 20 + [43]
    assert "43 more pieces of the dual graph, with 43 units" in pieces[-1].message


def test_units_held_together_by_a_unit_in_pieces_are_named(tmp_path):
    """Two units beside the far half of a third: one dual graph, two places on the ground."""
    halves = shapely.union_all([box(0, 0), box(10, 0)])
    shapes = [halves, box(1, 0), box(11, 0), box(12, 0)]
    frame = gpd.GeoDataFrame({"id": list("abcd"), "pop": 5}, geometry=shapes, crs=CRS)
    frame.to_file(tmp_path / "units.gpkg")
    geography, findings = inspect(tmp_path / "units.gpkg")
    assert geography.edges.tolist() == [[0, 1], [0, 2], [2, 3]]
    assert grave(findings) == {"held_by_pieces": ("b",)}
    # An island of a unit's own holds nobody.
    shapes[0] = shapely.union_all([box(0, 0, 1, 1), box(0, 30)])
    shapes[2:] = [box(2, 0), box(3, 0)]
    frame.set_geometry(gpd.GeoSeries(shapes, crs=CRS)).to_file(tmp_path / "units.gpkg")
    _, findings = inspect(tmp_path / "units.gpkg")
    assert grave(findings) == {}
    assert {found.code: found.units for found in findings}["piece_apart"] == ("a",)


def test_a_map_across_the_antimeridian_is_in_one_piece(tmp_path):
    shapes = [
        shapely.box(179.8, 52, 179.9, 52.1),
        # Cut apart at the antimeridian, as GeoJSON has it.
        shapely.union_all([shapely.box(179.9, 52, 180, 52.1), shapely.box(-180, 52, -179.9, 52.1)]),
        shapely.box(-179.9, 52, -179.8, 52.1),
    ]
    frame = gpd.GeoDataFrame({"id": list("abc"), "pop": 5}, geometry=shapes, crs="EPSG:4326")
    frame.to_file(tmp_path / "units.gpkg")
    geography, findings = inspect(tmp_path / "units.gpkg")
    assert geography.edges.tolist() == [[0, 1], [1, 2]]
    assert shapely.get_num_geometries(geography.geometry.to_numpy()).tolist() == [1, 1, 1]
    assert "antimeridian" in {found.code for found in findings}
    assert geography.geometry.total_bounds[2] - geography.geometry.total_bounds[0] < 30_000


def test_a_unit_too_large_comes_with_the_least_tolerance(tmp_path):
    geography, _ = inspect(write("one huge unit", tmp_path))
    findings = Findings()
    assert inspect_districts(geography, 3, 0.05, findings) is not None
    (found,) = findings
    assert (found.code, found.units) == ("unit_too_large", ("09000000",))
    people = geography.population
    assert f"at least {np.ceil((people.max() / (people.sum() / 3) - 1) * 1e4) / 1e4}" in found.remedy
    inspect_districts(geography, 4, 0.05, findings := Findings())
    assert "No tolerance helps" in next(iter(findings)).remedy


@pytest.mark.parametrize(
    ("name", "codes"),
    [
        ("plain", []),
        ("plan in pieces", ["district_not_connected"]),
        ("unbalanced plan", ["district_out_of_bounds"]),
    ],
)
def test_plans_are_looked_at(name, codes, tmp_path):
    geography, _ = inspect(write(name, tmp_path))
    findings = Findings()
    bounds = inspect_districts(geography, 4, 0.1, findings)
    inspect_plan(geography, plan_from_column(geography, "district"), bounds, findings)
    assert [found.code for found in findings if found.stops] == codes


def test_testimonies_that_no_plan_keeps_are_named(tmp_path):
    geography, _ = inspect(write("plain", tmp_path))
    units = {"a": [0, 1], "b": [], "c": list(range(40))}
    testimonies = build_testimonies(units, ["used", "empty", "used"])
    findings = Findings()
    inspect_testimonies(geography, testimonies, 2_000, findings)
    assert grave(findings) == {"testimony_empty": ("b",), "testimony_too_large": ("c",)}
    assert "3 testimonies: 2 used" in next(f.message for f in findings if f.code == "testimonies")


@settings(deadline=None, max_examples=8)
@given(order=st.permutations(range(16)))
def test_the_order_of_rows_does_not_matter(order, tmp_path_factory):
    folder = tmp_path_factory.mktemp("order")
    frame = grid(4)
    frame.to_parquet(folder / "units.parquet")
    expected = read_geography(folder / "units.parquet")
    frame.iloc[list(order)].to_parquet(folder / "units.parquet")
    again = read_geography(folder / "units.parquet")
    assert again.digest == expected.digest
    # Not only the name of a run: the arrays that a seed works on are the same.
    assert again.ids == expected.ids
    assert np.array_equal(again.edges, expected.edges)
    assert np.array_equal(again.population, expected.population)
    assert again.columns["district"].tolist() == expected.columns["district"].tolist()
    # Nor does it matter in which order a geography that was not read from a file lists its units.
    place = np.empty(16, dtype=np.int64)
    place[list(order)] = np.arange(16)
    shuffled = dataclasses.replace(
        expected,
        ids=tuple(expected.ids[unit] for unit in order),
        population=expected.population[list(order)],
        edges=place[expected.edges][::-1].astype(np.int32),
    )
    assert shuffled.digest == expected.digest
