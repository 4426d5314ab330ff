"""Plans as people send them: what comes out of each kind of file, and what is said about it."""

import geopandas as gpd
import numpy as np
import pandas as pd
import pytest
import shapely
from hypothesis import given, settings
from hypothesis import strategies as st

from bottomup.data import DataError, load_plan, read_geography, read_plan

SIDE = 8


def awkward_frame():
    """Sixty-four squares in four quadrants, ids with a leading zero."""
    unit = np.arange(SIDE * SIDE)
    x, y = 500_000 + unit % SIDE * 1000.0, 4_200_000 + unit // SIDE * 1000.0
    return gpd.GeoDataFrame(
        {
            "GEOID": [f"0{9001000 + number}" for number in unit],
            "TOTPOP": 100 + unit * 37 % 50,
            "district": 1 + unit // SIDE // 4 * 2 + unit % SIDE // 4,
            "county": unit % SIDE // 2,
        },
        geometry=shapely.box(x, y, x + 1000, y + 1000),
        crs="EPSG:32615",
    )


@pytest.fixture(scope="module")
def squares(tmp_path_factory):
    path = tmp_path_factory.mktemp("units") / "plain.geojson"
    awkward_frame().to_crs(4326).to_file(path)
    return read_geography(path)


def labels_of(plan):
    return [plan.labels[district] for district in plan.assignment]


def expected():
    return awkward_frame()["district"].astype(str).tolist()


def test_lost_leading_zeros_are_put_back_and_said(squares, tmp_path):
    path = tmp_path / "plan.csv"
    frame = awkward_frame()
    frame.assign(GEOID=frame["GEOID"].astype(int))[["GEOID", "district"]].to_csv(path, index=False)
    plan = read_plan(path, squares)
    assert labels_of(plan) == expected()
    assert plan.match.n_matched == 64
    assert plan.match.sentences() == [
        "64 of 64 units matched, 0 missing, 0 unknown ids, 0 duplicates, 0 in several districts.",
        "64 ids lacked leading zeros or had decimals added, as spreadsheets do; they were matched to units "
        "such as '09001000'.",
    ]


def test_a_byte_order_mark_and_windows_lines_do_no_harm_but_a_blank_district_is_named(squares, tmp_path):
    path = tmp_path / "plan.csv"
    frame = awkward_frame()
    rows = [
        f"{row.GEOID},{'' if number == 3 else row.district}\r\n"
        for number, row in enumerate(frame.itertuples())
    ]
    path.write_bytes(("\ufeffBLOCKID,DISTRICT\r\n" + "".join(rows)).encode())
    with pytest.raises(DataError, match="63 of 64 units matched, 1 missing") as caught:
        read_plan(path, squares)
    assert (caught.value.code, caught.value.units) == ("plan_missing_units", ("09001003",))
    path.write_bytes(path.read_bytes().replace(b"09001003,", b"09001003,1"))
    assert labels_of(read_plan(path, squares)) == expected()


def test_text_labels_stay_as_they_are(squares, tmp_path):
    path = tmp_path / "plan.csv"
    frame = awkward_frame()
    texts = frame["district"].map({1: "01", 2: "02A", 3: "North", 4: "04"})
    frame.assign(district=texts)[["GEOID", "district"]].to_csv(path, index=False)
    plan = read_plan(path, squares)
    assert plan.labels == ("01", "02A", "04", "North")
    assert labels_of(plan) == texts.tolist()


@pytest.mark.parametrize(
    ("header", "order"),
    [
        ("GEOID,TOTPOP,district,county", ["GEOID", "TOTPOP", "district", "county"]),
        ("District,GEOID20", ["district", "GEOID"]),
        ("plan A,BLOCKID", ["district", "GEOID"]),
        (None, ["district", "GEOID"]),
        ("county,CD118FP,unit_id", ["county", "district", "GEOID"]),
    ],
    ids=["many", "turned round", "id named", "no header", "federal names"],
)
def test_the_two_columns_are_found_wherever_they_are(squares, tmp_path, header, order):
    path = tmp_path / "plan.txt"
    awkward_frame()[order].to_csv(path, index=False, sep="|", header=False)
    if header:
        path.write_text(header.replace(",", "|") + "\n" + path.read_text())
    assert labels_of(read_plan(path, squares)) == expected()


def test_a_column_can_be_named(squares, tmp_path):
    path = tmp_path / "plan.csv"
    awkward_frame()[["GEOID", "district", "county"]].to_csv(path, index=False)
    assert read_plan(path, squares, district_column="county").labels == ("0", "1", "2", "3")
    with pytest.raises(DataError, match="no column 'nope' for the districts") as caught:
        read_plan(path, squares, district_column="nope")
    assert "GEOID" not in caught.value.remedy
    assert "district, county" in caught.value.remedy


def test_rows_of_no_unit_are_left_out_and_named(squares, tmp_path):
    path = tmp_path / "plan.csv"
    frame = awkward_frame()[["GEOID", "district"]]
    path.write_text(frame.to_csv(index=False) + "TOTAL,4\n99,1\n09001000,1\n")
    plan = read_plan(path, squares)
    assert labels_of(plan) == expected()
    assert plan.match.unknown == ("TOTAL", "99")
    assert plan.match.duplicate == ("09001000",)
    assert plan.match.sentences()[1:] == [
        "Not on the map and left out: TOTAL, 99.",
        "Named more than once: 09001000.",
    ]


def test_ids_that_a_spreadsheet_has_rounded_are_called_so(squares, tmp_path):
    path = tmp_path / "plan.csv"
    path.write_text("GEOID,district\n2.90019E+11,1\n2.90021E+11,2\n")
    with pytest.raises(DataError, match="A spreadsheet has rounded them"):
        read_plan(path, squares)


def blocks_of(frame, n_blocks, lost_zero=False):
    """Blocks whose ids go on from those of their units, each unit's in its own district."""
    first = 1 if lost_zero else 0
    return [
        [f"{unit}{block:03d}"[first:], district]
        for unit, district in zip(frame["GEOID"], frame["district"].astype(str), strict=True)
        for block in range(n_blocks)
    ]


@pytest.mark.parametrize("lost_zero", [False, True])
def test_blocks_are_counted_into_the_units_that_their_ids_begin_with(squares, tmp_path, lost_zero):
    rows = blocks_of(awkward_frame(), 5, lost_zero)
    rows[0][1] = rows[1][1] = "4"  # two of five blocks of the first unit
    rows[5 * 9 + 2][1] = ""  # a block without a district does not count
    rows.append(["999999999999", "1"])
    pd.DataFrame(rows, columns=["BLOCKID", "DISTRICT"]).to_csv(tmp_path / "blocks.txt", index=False)
    plan = read_plan(tmp_path / "blocks.txt", squares)
    assert labels_of(plan) == expected()
    assert plan.match.unknown == ("999999999999",)
    assert plan.match.notes == (
        "319 blocks with a district belong to units by the start of their ids.",
        "1 unit with blocks in several districts went to the one with most of their blocks, against "
        "2 blocks: 09001000.",
    )


def test_a_tie_of_blocks_goes_to_the_first_district_in_whatever_order(squares, tmp_path):
    rows = blocks_of(awkward_frame(), 2)
    rows[0][1] = "10"
    plans = []
    for some in (rows, rows[::-1]):
        pd.DataFrame(some, columns=["BLOCKID", "DISTRICT"]).to_csv(tmp_path / "blocks.csv", index=False)
        plans.append(labels_of(read_plan(tmp_path / "blocks.csv", squares)))
    assert plans[0] == plans[1] == expected()


def test_a_block_in_two_districts_is_refused(squares, tmp_path):
    rows = [*blocks_of(awkward_frame(), 2), ["09001000000", "3"]]
    pd.DataFrame(rows, columns=["BLOCKID", "DISTRICT"]).to_csv(tmp_path / "blocks.csv", index=False)
    with pytest.raises(DataError) as caught:
        read_plan(tmp_path / "blocks.csv", squares)
    assert (caught.value.code, caught.value.units) == ("plan_repeated_units", ("09001000000",))


def districts_with_labels():
    """Districts as polygons, with a point for the label of each among them."""
    frame = awkward_frame()
    whole = frame.dissolve("district").reset_index()
    points = gpd.GeoDataFrame(
        {"name": [f"label {district}" for district in (1, 2, 3, 4)]},
        geometry=whole.geometry.centroid.to_numpy(),
        crs=frame.crs,
    )
    return pd.concat([whole, points], ignore_index=True)


def test_points_among_the_districts_are_named_and_left_out(squares, tmp_path):
    districts_with_labels().to_crs(4326).to_file(tmp_path / "mixed.geojson")
    plan = load_plan(str(tmp_path / "mixed.geojson"), squares)
    assert labels_of(plan) == expected()
    assert plan.match.n_matched == 64
    assert plan.match.notes[-1] == (
        "Left out, being no polygons (Point): label 1, label 2, label 3, label 4."
    )


def test_a_unit_goes_to_the_district_with_most_of_its_area(squares, tmp_path):
    x, y = 500_000.0, 4_200_000.0
    lines = gpd.GeoDataFrame(
        {"NAME": ["West", "East"]},
        geometry=[shapely.box(x, y, x + 3400, y + 8000), shapely.box(x + 3400, y, x + 8000, y + 8000)],
        crs="EPSG:32615",
    )
    for rows in (lines, lines[::-1]):
        rows.to_file(tmp_path / "lines.gpkg")
        plan = read_plan(tmp_path / "lines.gpkg", squares)
        assert labels_of(plan) == ["West" if unit % 8 < 3 else "East" for unit in range(64)]
        assert "8 units with less than 99% of the area in one district" in plan.match.notes[1]


def test_units_outside_every_district_are_missing(squares, tmp_path):
    districts = awkward_frame().query("district < 4").dissolve("district").reset_index()
    districts.to_file(tmp_path / "three.gpkg")
    with pytest.raises(DataError, match="48 of 64 units matched, 16 missing") as caught:
        read_plan(tmp_path / "three.gpkg", squares)
    assert len(caught.value.units) == 16


def test_units_in_a_gis_file_are_matched_by_id(squares, tmp_path):
    frame = awkward_frame()[::-1]
    moved = frame.assign(geometry=frame.translate(50_000))
    moved.to_file(tmp_path / "units.gpkg")
    plan = read_plan(tmp_path / "units.gpkg", squares)
    assert labels_of(plan) == expected()
    assert plan.match.notes == ()


def test_gis_files_that_are_no_plan_say_why(squares, tmp_path):
    frame = awkward_frame()
    frame[["county", "geometry"]].rename(columns={"county": "x"}).to_file(tmp_path / "x.gpkg")
    with pytest.raises(DataError, match="The columns are: x") as caught:
        read_plan(tmp_path / "x.gpkg", squares)
    assert caught.value.code == "no_column"
    frame.assign(geometry=frame.centroid).drop(columns="GEOID").to_file(tmp_path / "points.gpkg")
    with pytest.raises(DataError, match="no polygon with a district"):
        read_plan(tmp_path / "points.gpkg", squares, district_column="county")


@settings(deadline=None, max_examples=40)
@given(
    labels=st.lists(st.sampled_from(["1", "02", "2", "Nord-Est", "10"]), min_size=12, max_size=12),
    order=st.permutations(range(12)),
    separator=st.sampled_from(",\t|;"),
    header=st.booleans(),
)
def test_any_order_of_rows_gives_the_same_plan(make_grid, tmp_path_factory, labels, order, separator, header):
    grid = make_grid(3, 4)
    path = tmp_path_factory.mktemp("rows") / "plan.csv"
    lines = [f"{grid.ids[unit]}{separator}{labels[unit]}\n" for unit in order]
    path.write_text(("GEOID20" + separator + "district\n" if header else "") + "".join(lines))
    plan = read_plan(path, grid)
    assert labels_of(plan) == labels
    assert plan.match.n_matched == 12


@pytest.fixture(scope="module")
def published(real_data):
    """Missouri with its outlines as they were published."""
    folder = real_data / "missouri_vtd2020"
    return read_geography(
        folder / "nodes.csv", edges=folder / "edges.csv", shapes=folder / "units_full.geojson.zip"
    )


@pytest.mark.parametrize(
    ("file", "column"), [("tl_2022_29_cd118.shp", "cd2022"), ("HB1_Cong_Dist_2025.shp", "cd2025_hb1")]
)
@pytest.mark.real
def test_the_enacted_districts_of_missouri_become_the_plans_that_they_are(
    published, real_files, file, column
):
    plan = read_plan(real_files / "missouri_plans" / file, published)
    known = load_plan(column, published)
    assert plan.n_districts == 8
    assert plan.match.n_matched == 4604
    assert np.array_equal(plan.assignment, known.assignment)
