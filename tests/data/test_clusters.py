"""Clusters from public geography: zones from columns and layers, and the zone of a testimony."""

from __future__ import annotations

import dataclasses

import geopandas as gpd
import numpy as np
import pandas as pd
import pytest
import shapely
from hypothesis import given, settings
from hypothesis import strategies as st

from bottomup.data import DataError
from bottomup.data.changes import flood, replace_cluster
from bottomup.data.clusters import Zones, cluster_by_zones, read_zones, zone_of
from bottomup.data.testimonies import EMPTY, USED, build_testimonies


def submit(*units, clusters=None):
    """Testimonies t0, t1, ... of the given units."""
    return build_testimonies(
        {f"t{number}": own for number, own in enumerate(units)},
        [USED if own else EMPTY for own in units],
        None if clusters is None else {f"t{number}": own for number, own in enumerate(clusters)},
    )


def square(south, west, north, east):
    """A rectangle between rows and columns of the grid, which begins at 38.5 north and 92.2 west."""
    return shapely.box(-92.2 + west / 100, 38.5 + south / 100, -92.2 + east / 100, 38.5 + north / 100)


@pytest.fixture
def write_layer(tmp_path):
    def write(polygons, **columns):
        path = tmp_path / "zones.geojson"
        gpd.GeoDataFrame(columns, geometry=polygons, crs="EPSG:4326").to_file(path)
        return path

    return write


@pytest.fixture(scope="session")
def two_by_three(make_grid):
    return make_grid(2, 3)


# Zones of units.


@pytest.mark.parametrize(
    ("column", "names", "of_unit"),
    [
        (["b", "a", "b", "a"], ("a", "b"), [1, 0, 1, 0]),
        (["10", "2", "10", "2"], ("2", "10"), [1, 0, 1, 0]),
        ([29, 29, 7, 7], ("7", "29"), [1, 1, 0, 0]),
        (["a", "", " ", None], ("a",), [0, -1, -1, -1]),
        ([29.0, np.nan, 7.0, 29.0], ("7", "29"), [1, -1, 0, 1]),
        (pd.array(["x", pd.NA, "x", "y"], dtype="string"), ("x", "y"), [0, -1, 0, 1]),
    ],
)
def test_zones_from_a_column(make_grid, column, names, of_unit):
    zones = read_zones("county", make_grid(2, 2, county=column))
    assert zones.names == names
    assert zones.of_unit.tolist() == of_unit
    assert zones.of_unit.dtype == np.int32
    assert zones.source == "column county of the units"


@pytest.mark.parametrize("blank", ["", None, "  "])
def test_a_blank_column_is_refused(make_grid, blank):
    with pytest.raises(DataError, match="No unit lies in any zone of 'county'"):
        read_zones("county", make_grid(2, 2, county=[blank] * 4))


def test_what_is_no_column_and_no_file_is_refused(make_grid):
    with pytest.raises(
        DataError, match=r"'parish'.* no column of the units and no file.* county, ward"
    ) as caught:
        read_zones("parish", make_grid(2, 2, county=list("aabb"), ward=list("abab")))
    assert caught.value.code == "zones"


def test_a_column_comes_before_a_file_of_that_name(make_grid, write_layer, monkeypatch):
    path = write_layer([square(0, 0, 2, 2)], name=["everything"])
    monkeypatch.chdir(path.parent)
    zones = read_zones(path.name, make_grid(2, 2, **{path.name: list("aabb")}))
    assert zones.names == ("a", "b")


def test_zones_from_polygons(make_grid, write_layer):
    """Columns of a grid of three, the last of them in no zone."""
    path = write_layer([square(0, 1, 2, 2), square(0, 0, 2, 1)], NAME=["west 10", "west 2"])
    zones = read_zones(path, make_grid(2, 3))
    assert zones.names == ("west 2", "west 10")
    assert zones.of_unit.tolist() == [0, 1, -1] * 2
    assert zones.source == "layer zones.geojson"


def test_half_of_a_unit_is_enough_and_of_two_halves_the_first_counts(make_grid, write_layer):
    west, east = square(0, 0, 1, 1.5), square(0, 1.5, 1, 3)
    grid = make_grid(1, 3)
    assert read_zones(write_layer([west, east], zone=["w", "e"]), grid).of_unit.tolist() == [1, 1, 0]
    assert read_zones(write_layer([east, west], zone=["e", "w"]), grid).of_unit.tolist() == [1, 0, 0]
    assert read_zones(write_layer([square(0, 0, 1, 1.4)], zone=["w"]), grid).of_unit.tolist() == [0, -1, -1]


def test_polygons_of_one_name_are_one_zone_and_nameless_ones_none(make_grid, write_layer):
    polygons = [square(0, column, 1, column + 1) for column in range(4)]
    zones = read_zones(write_layer(polygons, county=["a", "b", "a", None]), make_grid(1, 4))
    assert zones.names == ("a", "b")
    assert zones.of_unit.tolist() == [0, 1, 0, -1]


def test_polygons_without_a_known_column_are_called_by_their_rows(make_grid, write_layer):
    polygons = [square(0, column, 1, column + 1) for column in range(11)]
    zones = read_zones(write_layer(polygons, area=[1.0] * 11), make_grid(1, 11))
    assert zones.names == tuple(str(row) for row in range(1, 12))
    assert zones.of_unit.tolist() == list(range(11))


def test_polygons_elsewhere_are_refused(make_grid, write_layer):
    with pytest.raises(DataError, match=r"No unit lies in any zone of .*zones.geojson"):
        read_zones(write_layer([square(50, 50, 60, 60)], name=["far"]), make_grid(2, 2))


def test_a_layer_needs_the_shapes_of_units(make_grid, write_layer):
    bare = dataclasses.replace(make_grid(2, 2), geometry=None)
    with pytest.raises(DataError, match="the map has no shapes"):
        read_zones(write_layer([square(0, 0, 2, 2)], name=["all"]), bare)


# The zone of a testimony.


@pytest.mark.parametrize(
    ("units", "zone"),
    [
        ([0, 1, 2], 0),  # 10 people against 9, although fewer units
        ([1, 2, 3], 1),  # 9 against 4
        ([1, 3], 1),  # 4 against 4, a unit each: the first
        ([1, 3, 5], 2),  # 4 against 4, but two units
        ([5, 6], 1),  # nobody lives in either: the first
        ([5], 2),
        ([5, 7], 2),  # where most people live is in no zone
        ([7], -1),
        ([], -1),
    ],
)
def test_most_people_then_most_units_then_the_first(units, zone):
    of_unit = np.array([0, 1, 1, 2, 2, 2, 1, -1], dtype=np.int32)
    people = np.array([10, 4, 5, 4, 10, 0, 0, 90])
    assert zone_of(np.array(units, dtype=np.int32), of_unit, 3, people) == zone


GRID_UNITS = 6
SHAPES = st.lists(st.integers(0, GRID_UNITS - 1), max_size=GRID_UNITS, unique=True)


@settings(deadline=None)
@given(
    units=SHAPES,
    of_unit=st.lists(st.integers(-1, 2), min_size=GRID_UNITS, max_size=GRID_UNITS),
    people=st.lists(st.integers(0, 3), min_size=GRID_UNITS, max_size=GRID_UNITS),
)
def test_the_zone_by_its_definition(units, of_unit, people):
    def rank(zone):
        inside = [u for u in units if of_unit[u] == zone]
        return sum(people[u] for u in inside), len(inside), -zone

    touched = {of_unit[u] for u in units} - {-1}
    expected = max(touched, key=rank) if touched else -1
    arrays = (np.array(each, dtype=np.int32) for each in (sorted(units), of_unit))
    assert zone_of(*arrays, 3, np.array(people)) == expected


# Clusters of testimonies.


def test_testimonies_go_to_their_zones(make_grid):
    grid = make_grid(1, 4, county=["b", "b", "a", None])
    submitted = submit([0, 1, 2], [2], [3], [], clusters=["C1", "C1", "C2", ""])
    clustered = cluster_by_zones(submitted, grid, read_zones("county", grid))
    assert clustered.clusters.names == ("a", "b")
    assert clustered.clusters.of_testimony.tolist() == [1, 0, -1, -1]
    assert clustered.clusters.of_testimony.dtype == np.int32
    assert clustered.clusters.source == "column county of the units"
    assert clustered.clusters.is_public
    # Nothing else changes, nor what was given.
    assert clustered.ids == submitted.ids
    assert clustered.status == submitted.status
    assert submitted.clusters.names == ("C1", "C2")
    assert not submitted.clusters.is_public
    assert clustered.digest != submitted.digest


def test_zones_without_testimony_keep_their_names(make_grid):
    grid = make_grid(1, 4, county=list("abcd"))
    clustered = cluster_by_zones(submit([2]), grid, read_zones("county", grid))
    assert clustered.clusters.names == ("a", "b", "c", "d")
    assert clustered.clusters.of_testimony.tolist() == [2]


def test_an_island_in_no_zone_has_no_say_in_the_zone(make_grid):
    """Units without a zone count for none, however many people live there."""
    grid = make_grid(1, 4, [1, 1, 1, 999], county=["a", "b", "b", ""])
    clustered = cluster_by_zones(submit([0, 1, 2, 3], [0, 3]), grid, read_zones("county", grid))
    assert clustered.clusters.of_testimony.tolist() == [1, 0]


def test_zones_that_no_testimony_lies_in_are_refused(make_grid):
    grid = make_grid(1, 3, county=["a", None, None])
    zones = read_zones("county", grid)
    with pytest.raises(DataError, match="No testimony has a unit in any zone of column county"):
        cluster_by_zones(submit([1, 2], []), grid, zones)
    none = cluster_by_zones(submit(), grid, zones)
    assert none.clusters.of_testimony.shape == (0,)


@settings(deadline=None)
@given(
    shapes=st.lists(SHAPES, min_size=1, max_size=5),
    of_unit=st.lists(st.integers(-1, 2), min_size=GRID_UNITS, max_size=GRID_UNITS).filter(
        lambda zones: max(zones) >= 0
    ),
    people=st.lists(st.integers(0, 9), min_size=GRID_UNITS, max_size=GRID_UNITS),
    new=SHAPES,
    data=st.data(),
)
def test_under_public_zones_a_replacement_moves_nobody_else(two_by_three, shapes, of_unit, people, new, data):
    """What the sensitivities of the cluster scores take for granted."""
    grid = dataclasses.replace(two_by_three, population=np.array(people))
    zones = Zones(("a", "b", "c"), np.array(of_unit, dtype=np.int32), "zones")
    place = data.draw(st.integers(0, len(shapes) - 1))
    # One more, so that some testimony lies in a zone.
    anchor = [next(u for u in range(GRID_UNITS) if of_unit[u] >= 0)]
    before = cluster_by_zones(submit(*shapes, anchor), grid, zones)
    after = cluster_by_zones(submit(*shapes[:place], new, *shapes[place + 1 :], anchor), grid, zones)
    others = np.arange(len(shapes) + 1) != place
    np.testing.assert_array_equal(before.clusters.of_testimony[others], after.clusters.of_testimony[others])


def test_attacks_under_public_zones_are_clustered_as_if_they_had_been_submitted(make_grid):
    """The zones stay public: new testimonies go to theirs, and nobody else moves."""
    grid = make_grid(2, 3, county=list("aabbcc"))
    zones = read_zones("county", grid)
    before = cluster_by_zones(submit([0, 1], [0], [3, 4], [5], []), grid, zones)
    swapped = replace_cluster(before, grid, 0, [np.array([5]), np.array([2, 3]), np.array([4])]).after
    flooded = flood(before, grid, "t2", 4).after
    for after in (swapped, flooded):
        assert after.clusters.is_public
        assert after.clusters.names == before.clusters.names
        again = cluster_by_zones(after, grid, zones)
        np.testing.assert_array_equal(after.clusters.of_testimony, again.clusters.of_testimony)
    assert swapped.clusters.of_testimony.tolist() == [2, 1, 1, 2, -1, 2]
    assert flooded.clusters.of_testimony.tolist() == [0, 0, 1, 2, -1, 1, 1, 1]
