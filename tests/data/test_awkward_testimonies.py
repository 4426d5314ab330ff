"""Testimonies that give trouble: every one has a status, and nothing is dropped without a word."""

from __future__ import annotations

import geopandas as gpd
import numpy as np
import pytest
import shapely

from bottomup.data import DataError, read_testimonies
from bottomup.data.changes import deduplicate
from bottomup.data.extent import extent_of

SIDE = 8
UPPER = 168
"""The most people of one of four districts of 16 units with ten people, 5 % more."""
UNUSUAL = 'Ünïcode / <script>alert(1)</script>, "quoted"'


@pytest.fixture(scope="module")
def grid(make_grid):
    return make_grid(SIDE, SIDE)


def square(column, row, columns, rows):
    """Some squares of the grid, from the south-west."""
    west, south = -92.2 + column / 100, 38.5 + row / 100
    return shapely.box(west, south, west + columns / 100, south + rows / 100)


SHAPES = {
    "aligned": square(0, 0, 2, 2),
    "aligned (duplicate)": square(0, 0, 2, 2),
    "overlaps": square(1, 1, 2, 2),
    "tiny": square(0.1, 0.1, 0.3, 0.3),
    "two parts": square(0, 0, 1, 1).union(square(6, 6, 1, 1)),
    "whole state": square(0, 0, 8, 8),
    "bigger than a district": square(0, 0, 6, 6),
    UNUSUAL: square(4, 4, 2, 2),
    "over the edge": square(6, 0, 4, 2),
    "bigger and over the edge": square(-3, 0, 9, 8),
    "elsewhere": square(100, 100, 2, 2),
    "crosses itself": shapely.Polygon(
        [(-92.2, 38.5), (-92.18, 38.52), (-92.18, 38.5), (-92.2, 38.52)],
    ),
    "no shape": None,
    "a point": shapely.Point(-92.19, 38.51),
    "a line drawn as an area": shapely.Polygon([(-92.2, 38.5), (-92.18, 38.5), (-92.19, 38.5)]),
}
STATUSES = {
    "aligned": "used",
    "aligned (duplicate)": "duplicate of aligned",
    "overlaps": "used",
    "tiny": "empty on this map",
    "two parts": "used",
    "whole state": "larger than a district",
    "bigger than a district": "larger than a district",
    UNUSUAL: "used",
    "over the edge": "partly outside",
    "bigger and over the edge": "partly outside; larger than a district",
    "elsewhere": "empty on this map",
    # Both of its halves count, and hold just half of each unit.
    "crosses itself": "duplicate of aligned",
    "no shape": "invalid shape",
    "a point": "invalid shape",
    "a line drawn as an area": "invalid shape",
}


@pytest.fixture(scope="module")
def testimonies(grid, tmp_path_factory):
    path = tmp_path_factory.mktemp("awkward") / "testimonies.geojson"
    frame = gpd.GeoDataFrame(
        {"name": list(SHAPES), "text": ""}, geometry=list(SHAPES.values()), crs="EPSG:4326"
    )
    frame.to_file(path)
    return read_testimonies(path, grid, testimony_column="name")


def test_each_has_its_status(testimonies, grid):
    assert testimonies.ids == tuple(SHAPES)
    assert dict(zip(testimonies.ids, testimonies.statuses(grid.population, UPPER), strict=True)) == STATUSES


def test_the_summary_names_all_that_is_not_plainly_used(testimonies):
    assert testimonies.summary() == (
        "15 testimonies: 8 used, 2 partly outside the map (over the edge, bigger and over the edge), "
        "2 with no unit on the map (tiny, elsewhere), 3 without a usable polygon (no shape, a point, a line "
        "drawn as an area), 2 with the units of an earlier one, counted all the same (aligned (duplicate), "
        "crosses itself)"
    )


def test_those_that_no_plan_keeps_are_named(testimonies, grid):
    assert set(testimonies.never_whole(grid.population, UPPER)) == {
        name
        for name, status in STATUSES.items()
        if any(word in status for word in ("empty", "invalid", "larger"))
    }


def test_copies_that_are_left_out_say_of_whom(testimonies, grid):
    once = deduplicate(testimonies)
    found = dict(zip(once.ids, once.statuses(grid.population, UPPER), strict=True))
    assert found["aligned (duplicate)"] == "duplicate of aligned, left out"
    assert once.n_testimonies == len(SHAPES)


def test_the_units_of_one_can_be_seen(testimonies, grid):
    parts = extent_of(testimonies, grid, "two parts")
    assert parts.ids == ("000", "066")
    assert parts.population.tolist() == [10, 10]
    assert (parts.piece.tolist(), parts.n_pieces) == ([0, 1], 2)
    unusual = extent_of(testimonies, grid, UNUSUAL)
    assert (unusual.ids, unusual.n_pieces) == (("044", "045", "054", "055"), 1)
    assert [grid.ids[unit] for unit in unusual.units] == list(unusual.ids)
    none = extent_of(testimonies, grid, "tiny")
    assert (none.ids, none.n_pieces, none.unknown) == ((), 0, ())


def test_units_off_the_map_are_seen_too(grid, tmp_path):
    path = tmp_path / "t.csv"
    path.write_text("testimony,unit\na,000\na,999\n")
    assert extent_of(read_testimonies(path, grid), grid, "a").unknown == ("999",)


def test_an_unknown_testimony_has_no_units(testimonies, grid):
    with pytest.raises(DataError, match=r"no testimony 'nobody'.*aligned") as caught:
        extent_of(testimonies, grid, "nobody")
    assert caught.value.code == "unknown_testimony"


def write_copies(path, n):
    frame = gpd.GeoDataFrame(
        {"id": range(1, n + 1)}, geometry=[SHAPES["aligned"]] * n if n else [], crs="EPSG:4326"
    )
    frame.to_file(path, driver="GeoJSON")
    return path


def test_four_hundred_copies_are_four_hundred_testimonies(grid, tmp_path):
    flooded = read_testimonies(write_copies(tmp_path / "t.geojson", 400), grid)
    assert flooded.n_testimonies == 400
    assert (flooded.sizes == 4).all()
    assert flooded.same_units == dict.fromkeys(map(str, range(2, 401)), "1")
    assert "399 with the units of an earlier one, counted all the same (2, 3, " in flooded.summary()
    once = deduplicate(flooded)
    assert (once.sizes > 0).sum() == 1
    assert np.array_equal(once.units, flooded.units_of(0))


def test_no_testimonies_are_refused_with_what_to_do(grid, tmp_path):
    with pytest.raises(DataError, match=r"no testimonies: .*holds no feature.*leave them out") as caught:
        read_testimonies(write_copies(tmp_path / "t.geojson", 0), grid)
    assert caught.value.code == "no_testimonies"
