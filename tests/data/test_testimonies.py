"""Testimonies from tables and polygons: nothing lost, nothing personal kept."""

import dataclasses

import geopandas as gpd
import numpy as np
import pandas as pd
import pytest
import shapely
from hypothesis import given, settings
from hypothesis import strategies as st

from bottomup.data import DataError, read_testimonies
from bottomup.data import Testimonies as AllTestimonies

TABLE = """testimony,cluster,GEOID20,name,address
t2,C10,001,Ann,1 Main Street
t2,C10,000,Ann,1 Main Street
t1,C2,011,Bob,2 Main Street
t2,C10,001,Ann,1 Main Street
t3,,999,Cy,3 Main Street
t1,C2,998,Bob,2 Main Street
t4,C2,,Di,4 Main Street
"""


@pytest.fixture
def grid(make_grid):
    return make_grid(2, 2)


@pytest.fixture
def read(tmp_path, grid):
    def read(text, **options):
        path = tmp_path / "testimonies.csv"
        path.write_text(text)
        return read_testimonies(path, grid, **options)

    return read


def units_of(testimonies):
    return [part.tolist() for part in np.split(testimonies.units, testimonies.indptr[1:-1])]


def test_every_testimony_of_the_table_counts(read):
    testimonies = read(TABLE)
    assert testimonies.ids == ("t2", "t1", "t3", "t4")
    assert testimonies.n_testimonies == 4
    assert units_of(testimonies) == [[0, 1], [3], [], []]
    assert testimonies.sizes.tolist() == [2, 1, 0, 0]
    assert testimonies.status == ("used", "partly outside", "empty", "empty")
    assert testimonies.unknown_units == {"t3": ("999",), "t1": ("998",)}
    assert testimonies.clusters.names == ("C2", "C10")
    assert testimonies.clusters.of_testimony.tolist() == [1, 0, -1, 0]
    assert testimonies.clusters.source == "column"
    assert (testimonies.indptr.dtype, testimonies.units.dtype) == (np.int64, np.int32)
    assert testimonies.clusters.of_testimony.dtype == np.int32


def test_the_summary_counts_and_names(read):
    assert read(TABLE).summary() == (
        "4 testimonies: 1 used, 1 partly outside the map (t1), 2 with no unit on the map (t3, t4), "
        "2 unit ids not on the map (998, 999)"
    )
    assert read("testimony,unit\na,000\n").summary() == (
        "1 testimony: 1 used, 0 partly outside the map, 0 with no unit on the map"
    )


def test_nothing_personal_is_kept(read):
    testimonies = read(TABLE)
    kept = repr([getattr(testimonies, item.name) for item in dataclasses.fields(testimonies)])
    assert "t1" in kept
    assert not any(word in kept for word in ("Ann", "Bob", "Street"))


def test_clusters_may_be_missing(read):
    assert read("testimony|unit\na|000\n").clusters is None
    assert read("testimony,unit,cluster\na,000,\n").clusters is None


def test_columns_can_be_named(read):
    text = "who,GEOID20,where,kind\na,x,000,k\n"
    testimonies = read(text, testimony_column="who", unit_column="where", cluster_column="kind")
    assert units_of(testimonies) == [[0]]
    assert testimonies.clusters.names == ("k",)
    with pytest.raises(DataError, match=r"to 'testimony', or name it with .*: who, GEOID20, where, kind"):
        read(text)
    with pytest.raises(DataError, match="no column 'nope' for the clusters"):
        read(text, testimony_column="who", cluster_column="nope")


@pytest.mark.parametrize(
    ("text", "code", "units"),
    [
        ("testimony,unit,cluster\na,000,C1\nb,000,C1\na,001,C2\n", "two_clusters", ("a",)),
        ("testimony,unit\na,000\n,001\n", "nameless_testimony", ()),
        ("testimony,unit\n", "empty_file", ()),
        ("testimony,unit\na,777\nb,\n", "no_unit_on_map", ()),
        ("testimony,unit,unit\na,000,001\n", "repeated_column", ()),
        ("testimony,text,unit\na,parks, schools,000\n", "ragged_rows", ()),
        ("", "empty_file", ()),
    ],
)
def test_flawed_tables_are_refused(read, text, code, units):
    with pytest.raises(DataError) as caught:
        read(text)
    assert (caught.value.code, caught.value.units) == (code, units)


def test_the_two_clusters_and_the_row_are_named(read):
    with pytest.raises(DataError, match=r"a \(C1 and C2\)"):
        read("testimony,unit,cluster\na,000,C1\na,001,C2\n")
    with pytest.raises(DataError, match=r"in 1 row .*: 3"):
        read("testimony,unit\na,000\n,001\n")


def test_a_blank_cluster_does_not_contradict_a_name(read):
    assert read("testimony,unit,cluster\na,000,\na,001,C1\n").clusters.of_testimony.tolist() == [0]


@settings(deadline=None, max_examples=50)
@given(
    rows=st.lists(
        st.tuples(st.sampled_from("abcd"), st.sampled_from(["000", "001", "010", "011", "9"])), min_size=1
    ).filter(lambda rows: any(unit != "9" for _, unit in rows))
)
def test_a_written_table_reads_back(make_grid, tmp_path_factory, rows):
    grid = make_grid(2, 2)
    path = tmp_path_factory.mktemp("t") / "t.csv"
    pd.DataFrame(rows, columns=["testimony", "unit"]).to_csv(path, index=False)
    testimonies = read_testimonies(path, grid)
    expected: dict[str, set[int]] = {}
    for testimony, unit in rows:
        expected.setdefault(testimony, set()).update({grid.index_of[unit]} if unit != "9" else ())
    assert testimonies.ids == tuple(expected)
    assert units_of(testimonies) == [sorted(units) for units in expected.values()]


def test_the_digest_sees_units_and_clusters(read):
    digests = [
        read(text).digest
        for text in (
            "testimony,unit,cluster\na,000,C\nb,001,C\n",
            "testimony,unit,cluster\na,000,C\nb,010,C\n",
            "testimony,unit,cluster\na,000,C\nb,001,D\n",
            "testimony,unit\na,000\nb,001\n",
            "testimony,unit\na,000\nc,001\n",
        )
    ]
    assert len(set(digests)) == len(digests)
    assert read("testimony,unit\na,000\na,001\n").digest == read("testimony,unit\na,001\na,000\n").digest


def strip(width, height=2.0):
    """Return a box from the south-west corner of the grid, in units of its squares."""
    return shapely.box(-92.2, 38.5, -92.2 + width / 100, 38.5 + height / 100)


@pytest.fixture
def read_polygons(tmp_path, grid):
    def read(shapes, crs="EPSG:4326", threshold=0.5, testimony_column=None, **columns):
        frame = gpd.GeoDataFrame(columns, geometry=shapes, crs="EPSG:4326", index=range(len(shapes)))
        frame.to_crs(crs).to_file(tmp_path / "testimonies.gpkg")
        return read_testimonies(
            tmp_path / "testimonies.gpkg", grid, threshold=threshold, testimony_column=testimony_column
        )

    return read


@pytest.mark.parametrize(
    ("width", "threshold", "units"),
    [
        (1.0, 0.5, [0, 2]),
        (1.5, 0.5, [0, 1, 2, 3]),
        (1.49, 0.5, [0, 2]),
        (1.49, 0.4, [0, 1, 2, 3]),
        (0.4, 0.5, []),
        (1.0, 1.0, [0, 2]),
        (0.999, 1.0, []),
    ],
)
def test_a_unit_belongs_when_enough_of_it_lies_inside(read_polygons, width, threshold, units):
    testimonies = read_polygons([strip(width), strip(2)], threshold=threshold)
    assert units_of(testimonies) == [units, [0, 1, 2, 3]]
    assert testimonies.ids == ("1", "2")


def test_polygons_beside_the_map_are_refused(read_polygons):
    with pytest.raises(DataError, match="No polygon covers 50% of the area of any unit") as caught:
        read_polygons([strip(-5), strip(0.4)])
    assert caught.value.code == "no_unit_on_map"


def test_long_straight_lines_do_not_bend_away(make_grid, tmp_path):
    grid = make_grid(1, 9)
    # Five degrees of a parallel, along the southern side of the units.
    shape = shapely.box(-95, 38.5, -90, 38.51)
    gpd.GeoDataFrame(geometry=[shape], crs="EPSG:4326").to_file(tmp_path / "t.gpkg")
    assert units_of(read_testimonies(tmp_path / "t.gpkg", grid, threshold=1)) == [list(range(9))]


@pytest.mark.parametrize("crs", ["EPSG:26915", "EPSG:3857", "EPSG:4269"])
def test_polygons_may_come_in_any_crs(read_polygons, crs):
    assert units_of(read_polygons([strip(1.2)], crs=crs)) == [[0, 2]]


def test_every_polygon_counts_whatever_its_state(read_polygons):
    bow_tie = shapely.Polygon([(-92.2, 38.5), (-92.19, 38.51), (-92.19, 38.5), (-92.2, 38.51)])
    testimonies = read_polygons(
        [
            strip(2),
            None,
            strip(1).union(shapely.box(-92.3, 38.5, -92.2, 38.52)),
            strip(-5),
            bow_tie,
            shapely.Point(-92.19, 38.51),
        ],
        entry_id=["whole", "null", "west", "away", "bow", "point"],
        cluster=["C1", "C1", None, "C2", "C2", "C2"],
        author=["Ann"] * 6,
    )
    assert testimonies.ids == ("whole", "null", "west", "away", "bow", "point")
    assert units_of(testimonies) == [[0, 1, 2, 3], [], [0, 2], [], [0], []]
    assert testimonies.status == ("used", "invalid", "partly outside", "empty", "used", "invalid")
    assert testimonies.clusters.of_testimony.tolist() == [0, 0, -1, 1, 1, 1]
    assert "Ann" not in repr(testimonies)


def test_polygon_ids_must_differ(read_polygons):
    with pytest.raises(DataError) as caught:
        read_polygons([strip(1), strip(2)], id=["a", "a"])
    assert (caught.value.code, caught.value.units) == ("repeated_testimony", ("a",))
    assert read_polygons(
        [strip(1), strip(2)], id=["a", "a"], other=["x", "y"], testimony_column="other"
    ).ids == (
        "x",
        "y",
    )


def test_polygons_need_a_map_with_shapes_and_a_sensible_threshold(read_polygons, grid, tmp_path):
    with pytest.raises(DataError, match="threshold must be above 0"):
        read_polygons([strip(1)], threshold=0)
    bare = dataclasses.replace(grid, geometry=None)
    with pytest.raises(DataError, match="no shapes to lay them over"):
        read_testimonies(tmp_path / "testimonies.gpkg", bare)


@pytest.mark.real
def test_drawn_missouri_testimonies(real_data, missouri):
    testimonies = read_testimonies(real_data / "missouri_coi" / "surrogate_testimonies.csv", missouri)
    assert testimonies.n_testimonies == 808
    assert testimonies.sizes.sum() == 53_136
    assert set(testimonies.status) == {"used"}
    assert testimonies.clusters.of_testimony.min() >= 0


@pytest.mark.real
def test_published_cluster_polygons_cover_what_their_overlay_says(real_data, missouri):
    folder = real_data / "missouri_coi"
    testimonies = read_testimonies(
        folder / "MO_20210924_phase_C_summary.shp", missouri, testimony_column="cluster"
    )
    overlay = pd.read_csv(folder / "mo_coi_cluster_x_vtd.csv", dtype={"GEOID20": str})
    covered = overlay[overlay["frac_of_vtd"] >= 0.5].groupby("cluster")["GEOID20"].agg(set)
    own = dict(zip(testimonies.ids, units_of(testimonies), strict=True))
    assert testimonies.n_testimonies == 39
    for cluster in covered.index.intersection(own):
        ids = {missouri.ids[unit] for unit in own[cluster]}
        # Simplified outlines move a few units across the half.
        assert len(ids ^ covered[cluster]) <= 0.1 * len(covered[cluster]) + 2


def test_testimonies_that_no_plan_can_keep_whole_are_named() -> None:
    testimonies = AllTestimonies(
        ids=("small", "empty", "large", "just"),
        indptr=np.array([0, 1, 1, 4, 6]),
        units=np.array([0, 0, 1, 2, 1, 2], dtype=np.int32),
        clusters=None,
        status=("used", "empty", "used", "used"),
    )
    assert testimonies.never_whole(np.array([5, 10, 20]), upper=30) == ("empty", "large")
