"""Testimonies as programs for drawing communities write them: the same units, whatever the file."""

from __future__ import annotations

import csv
import dataclasses
import io
import json
import os

import geopandas as gpd
import numpy as np
import pytest
import shapely
from hypothesis import given, settings
from hypothesis import strategies as st

from bottomup.data import DataError, read_testimonies

N_ROWS, N_COLUMNS = 2, 4
UNITS = tuple(f"0{row}{column}" for row in range(N_ROWS) for column in range(N_COLUMNS))


@pytest.fixture(scope="module")
def grid(make_grid):
    return make_grid(N_ROWS, N_COLUMNS)


@pytest.fixture
def read(tmp_path, grid):
    """Write a file and read it."""

    def read(name, content, geography=grid, **options):
        path = tmp_path / name
        if not isinstance(content, bytes):
            content = (content if isinstance(content, str) else json.dumps(content)).encode()
        path.write_bytes(content)
        return read_testimonies(path, geography, **options)

    return read


def covered(testimonies):
    """Ids of testimonies with the ids of their units."""
    parts = np.split(testimonies.units, testimonies.indptr[1:-1])
    return {
        name: [UNITS[u] for u in part.tolist()] for name, part in zip(testimonies.ids, parts, strict=True)
    }


def square(unit, crs=None):
    row, column = divmod(UNITS.index(unit), N_COLUMNS)
    box = shapely.box(
        -92.2 + column / 100, 38.5 + row / 100, -92.2 + (column + 1) / 100, 38.5 + (row + 1) / 100
    )
    return box if crs is None else gpd.GeoSeries([box], crs="EPSG:4326").to_crs(crs).iloc[0]


def feature(shape, **more):
    return {"type": "Feature", "geometry": None if shape is None else shapely.geometry.mapping(shape)} | more


def collection(*features):
    return {"type": "FeatureCollection", "features": list(features)}


def write_csv(header, *rows):
    text = io.StringIO()
    csv.writer(text).writerows([header, *rows])
    return text.getvalue()


def plan(assignment, n_parts=3, kind="community"):
    return {
        "assignment": assignment,
        "id": "5217364c",
        "problem": {"type": kind, "numberOfParts": 50},
        "parts": [
            {"id": n, "displayNumber": n + 1, "name": f"Home of Ann {n}", "description": "Ann Lee, 1 Main St"}
            for n in range(n_parts)
        ],
    }


# Districtr, version 1.


def test_a_districtr_plan(read):
    """It counts from 0 and people from 1; a unit may be in several communities, and some in none."""
    content = plan({"000": 0, "001": [0, 2], "011": 2, "010": None, "012": [], "013": -1})
    testimonies = read("jefferson.json", content)
    assert covered(testimonies) == {"jefferson-1": ["000", "001"], "jefferson-3": ["001", "011"]}
    assert testimonies.status == ("used", "used")
    assert testimonies.remarks == ("jefferson.json: 1 community without any unit left aside",)
    assert "Ann" not in repr(testimonies)


@pytest.mark.parametrize("envelope", [lambda p: p, lambda p: {"msg": "found", "plan": p}])
def test_a_plan_in_the_envelope_of_its_server(read, envelope):
    assert covered(read("a.json", envelope(plan({"000": 1})))) == {"a-2": ["000"]}


def test_a_part_goes_by_the_number_that_is_shown(read):
    """Some plans leave ids of parts out, or number them otherwise."""
    content = plan({"000": 7, "001": 8})
    content["parts"] = [{"id": 7, "displayNumber": 1}]
    assert covered(read("a.json", content)) == {"a-1": ["000"], "a-9": ["001"]}


def test_two_parts_that_show_the_same_number_are_two(read):
    content = plan({"000": 0, "001": 1, "011": 2})
    for part in content["parts"]:
        part["displayNumber"] = 1
    assert covered(read("a.json", content)) == {"a-1": ["000"], "a-1 (2)": ["001"], "a-1 (3)": ["011"]}


def test_a_plan_of_districts_says_so(read):
    testimonies = read("a.json", plan({"000": [0], "001": [1]}, n_parts=2, kind="multimember"))
    assert covered(testimonies) == {"a-1": ["000"], "a-2": ["001"]}
    assert testimonies.remarks == ("a.json: is a plan of districts; each district counts as a community",)


def test_a_blank_plan_is_no_testimony(read):
    with pytest.raises(
        DataError, match=r"holds no testimonies: a\.json: 3 communities without any unit"
    ) as caught:
        read("a.json", plan({}))
    assert caught.value.code == "no_testimonies"


@pytest.mark.parametrize("overlap", ["0_2", "0;2"])
def test_a_districtr_table(read, overlap):
    text = f'"id-missouri-missouri_blockgroups-50-Community",assignment\n000,0\n001,{overlap}\n011,2\n010,\n'
    assert covered(read("a.csv", text)) == {"a-1": ["000", "001"], "a-3": ["001", "011"]}


LAYER = [("000", 1), ("001", "1"), ("001", 3), ("011", [3])]


def layer(numbers=LAYER, **more):
    features = [
        feature(square(unit), properties={"GEOID10": unit, "districtr": n, "community": "Ann's"} | more)
        for unit, n in numbers
    ]
    return collection(*features)


def test_a_districtr_layer(read):
    testimonies = read("a.geojson", layer())
    assert covered(testimonies) == {"a-1": ["000", "001"], "a-3": ["001", "011"]}
    assert "Ann" not in repr(testimonies)


def test_a_districtr_layer_of_other_units_goes_by_area(read):
    """Halves of units: those of the map that are half covered belong."""
    west, east = shapely.box(-92.2, 38.5, -92.195, 38.51), shapely.box(-92.195, 38.5, -92.186, 38.51)
    rows = [
        feature(shape, properties={"GEOID10": unit, "districtr": 1})
        for shape, unit in ((west, "290510001"), (east, "290510002"))
    ]
    testimonies = read("a.geojson", collection(*rows))
    assert covered(testimonies) == {"a-1": ["000"]}
    assert testimonies.unknown_units == {}
    assert testimonies.remarks == ("a.geojson: 1 community of units of another map went by their areas",)


def test_a_districtr_shapefile(tmp_path, grid):
    units = ["000", "001", "011"]
    frame = gpd.GeoDataFrame(
        {"GEOID10": units, "districtr": [1, 1, 2], "communityn": ["Ann"] * 3},
        geometry=[square(unit) for unit in units],
        crs="EPSG:4269",
    )
    frame.to_file(tmp_path / "a.shp")
    assert covered(read_testimonies(tmp_path / "a.shp", grid)) == {"a-1": ["000", "001"], "a-2": ["011"]}


ASSIGNMENTS = st.dictionaries(
    st.sampled_from(UNITS), st.lists(st.integers(0, 3), max_size=3, unique=True), min_size=1
).filter(lambda found: any(found.values()))


@settings(deadline=None, max_examples=40)
@given(assignment=ASSIGNMENTS)
def test_a_plan_is_the_same_in_each_of_its_files(grid, tmp_path_factory, assignment):
    """As JSON, as table, as layer, and as our own table of testimonies and units."""
    folder = tmp_path_factory.mktemp("plans")
    pairs = [(unit, label) for unit, labels in assignment.items() for label in labels]
    header = "id-missouri-blockgroups-4-Community"
    (folder / "a.json").write_text(json.dumps(plan(assignment, n_parts=4)))
    rows = [(unit, "_".join(map(str, labels))) for unit, labels in assignment.items()]
    (folder / "a.csv").write_text(write_csv((header, "assignment"), *rows))
    (folder / "a.geojson").write_text(json.dumps(layer([(unit, label + 1) for unit, label in pairs])))
    (folder / "b.csv").write_text(write_csv(("testimony", "unit"), *((f"a-{n + 1}", u) for u, n in pairs)))
    expected = {f"a-{n + 1}": sorted(u for u, label in pairs if label == n) for n in {n for _, n in pairs}}
    for name in ("a.json", "a.csv", "a.geojson", "b.csv"):
        assert covered(read_testimonies(folder / name, grid)) == expected


# Districtr, version 2.


def test_a_table_of_version_2(read):
    text = "geo_id,zone\n000,2\n001,2\n001,1\n011,1\n010,\n012,null\n"
    assert covered(read("a.csv", text)) == {"a-1": ["001", "011"], "a-2": ["000", "001"]}


@pytest.mark.parametrize("ids", [("000", "001"), ("290510000000001", "290510000000002")])
def test_a_layer_of_version_2_with_metres_that_it_does_not_name(read, ids):
    """Its reference system stands inside each geometry; it matters only for units that are not the map's."""
    rows = []
    for unit, name in zip(("000", "001"), ids, strict=True):
        row = feature(square(unit, "EPSG:26915"), id=name, properties={"zone": "1"})
        row["geometry"]["crs"] = {"type": "name", "properties": {"name": "EPSG:26915"}}
        rows.append(row)
    assert covered(read("a.geojson", collection(*rows))) == {"a-1": ["000", "001"]}


def test_a_layer_of_zones_with_ids_is_a_row_each(read):
    rows = [feature(square(u), properties={"id": u, "zone": "east", "name": u}) for u in ("000", "001")]
    assert covered(read("a.geojson", collection(*rows))) == {"000": ["000"], "001": ["001"]}


# Representable.

ENTRY = "b315f2df-6908-4501-bd4a-bdc2ad486652"
PERSONAL = {"entry_name": "Ann's", "author_name": "Ann Lee", "address": "1 Main St", "comm_activities": "Ann"}


def test_representable_layers(read):
    """By block groups, by blocks, by text that is a list, and by the outline when ids are of another map."""
    rows = [
        feature(square("000"), properties={"entry_ID": "a", "block_group_ids": ["000", "001"]} | PERSONAL),
        feature(square("000"), properties={"entry_ID": "b", "census_block_ids": ["011"]} | PERSONAL),
        feature(square("000"), properties={"entry_ID": "c", "block_group_ids": "['012', '013']"} | PERSONAL),
        feature(square("010"), properties={"entry_ID": "d", "block_group_ids": ["080310083885"]} | PERSONAL),
        feature(square("000"), properties={"entry_ID": "e", "block_group_ids": []} | PERSONAL),
    ]
    testimonies = read("a.geojson", collection(*rows))
    assert covered(testimonies) == {
        **{"a": ["000", "001"], "b": ["011"], "c": ["012", "013"], "d": ["010"], "e": ["000"]}
    }
    assert "Ann" not in repr(testimonies)
    assert testimonies.remarks == ("a.geojson: 1 community of units of another map went by their areas",)


SHAPES_AS_TEXT = {
    "wkt": lambda shape: shape.wkt,
    "ewkt": lambda shape: f"SRID=4326;{shape.wkt}",
    "geojson": shapely.to_geojson,
    "hex": lambda shape: shape.wkb_hex,
    "ewkb": lambda shape: shapely.to_wkb(shapely.set_srid(shape, 4326), hex=True, include_srid=True),
}


@pytest.mark.parametrize("write", SHAPES_AS_TEXT.values(), ids=SHAPES_AS_TEXT)
def test_representable_tables_of_polygons(read, write):
    """The outline of whole blocks goes before the line that was drawn."""
    header = ["id", "user_name", "user__email", "entry_name", "user_polygon", "census_blocks_polygon"]
    whole = square("000").union(square("001"))
    text = write_csv(
        header,
        ["7", "Ann Lee", "ann@example.org", "Ann's", write(square("013")), write(whole)],
        ["8", "Bob", "bob@example.org", "Bob's", write(square("013")), ""],
    )
    testimonies = read("a.csv", text)
    assert covered(testimonies) == {"7": ["000", "001"], "8": []}
    assert testimonies.status == ("used", "invalid")
    assert not any(word in repr(testimonies) for word in ("Ann", "Bob", "@"))


def test_a_table_with_lists_of_units(read):
    text = write_csv(
        ["entry_ID", "cluster", "block_group_ids"], ["a", "C1", "['000', '001']"], ["b", "", "[]"]
    )
    testimonies = read("a.csv", text)
    assert covered(testimonies) == {"a": ["000", "001"], "b": []}
    assert testimonies.clusters.of_testimony.tolist() == [0, -1]
    tiles = write_csv(["", "plan_id", "tiles"], ["0", "c1-1", "['000', '013']"], ["1", "c2-1", "['001']"])
    assert covered(read("b.csv", tiles)) == {"c1-1": ["000", "013"], "c2-1": ["001"]}


def test_polygons_in_a_named_reference_system(read):
    far = "SRID=26915;" + square("011", "EPSG:26915").wkt
    assert covered(read("a.csv", write_csv(["id", "wkt"], ["a", far]))) == {"a": ["011"]}
    with pytest.raises(DataError, match="several reference systems in column 'wkt': EPSG:4326, EPSG:26915"):
        read("b.csv", write_csv(["id", "wkt"], ["a", far], ["b", f"SRID=4326;{square('000').wkt}"]))


def test_polygons_that_cannot_be_where_they_say(read):
    """Metres where degrees are meant are not taken for places off the map."""
    metres = square("011", "EPSG:26915").wkt
    with pytest.raises(DataError, match="but longitudes and latitudes") as caught:
        read("a.csv", write_csv(["id", "wkt"], ["a", metres]))
    assert caught.value.code == "wrong_crs"
    assert "--repair" not in caught.value.remedy
    with pytest.raises(DataError, match="no coordinate reference system 'EPSG:1'"):
        read("b.csv", write_csv(["id", "wkt"], ["a", "SRID=1;" + metres]))


def test_ids_of_rows_must_differ(read):
    rows = [feature(square("000"), properties={"entry_ID": ENTRY, "block_group_ids": ["000"]})] * 2
    with pytest.raises(DataError) as caught:
        read("a.geojson", collection(*rows))
    assert (caught.value.code, caught.value.units) == ("repeated_testimony", (ENTRY,))


# What is said of the communities.


def test_names_and_descriptions_of_communities_come_along(read):
    rows = [
        {
            "Community name": "Old Town",
            "description": "Near the\nriver; write to ann@example.org, 573-555-0100.",
        },
        {"Community name": "", "description": None},
        {"Community name": "Lee's Summit", "description": "Drawn by Ann  Lee.", "Submitted by": "Ann Lee"},
    ]
    whole = dict.fromkeys(("Community name", "description", "Submitted by", "comment"), "") | {
        "comment": "Mine"
    }
    features = [
        feature(square(f"00{n}"), properties={"id": f"t{n}"} | whole | own) for n, own in enumerate(rows)
    ]
    testimonies = read("a.geojson", collection(*features))
    assert testimonies.texts == {
        "t0": "Old Town: Near the river; write to address, ….",
        "t2": "…'s Summit: Drawn by … ….",
    }


def test_what_testimonies_are_called_by_is_not_said_twice(read):
    text = write_csv(["title", "block_group_ids"], ["Old Town", "['000', '001']"])
    testimonies = read("a.csv", text, testimony_column="title")
    assert (testimonies.ids, testimonies.texts) == (("Old Town",), {})


def test_a_submission_has_the_title_that_the_portal_shows(read):
    header = ["id", "title", "first", "text", "districtr_data"]
    drawn = json.dumps(plan({"000": 0, "001": 1}, n_parts=2))
    testimonies = read("a.csv", write_csv(header, ["c1-1", "Ann's Old Town", "Ann", "We are one.", drawn]))
    assert testimonies.texts == {"c1-1": "…'s Old Town", "c1-2": "…'s Old Town"}


# Portals.


@pytest.mark.parametrize("write", [json.dumps, str], ids=["JSON", "as Python prints it"])
def test_submissions_of_a_portal(read, write):
    two = {"plan": plan({"000": 0, "001": [0, 1], "011": 1}, n_parts=2), "msg": "Plan successfully found"}
    districts = {"plan": plan({"000": 0, "001": 1}, n_parts=2, kind="multimember")}
    one_district = {"plan": plan({"012": 0}, n_parts=1, kind="multimember")}
    header = ["id", "type", "first", "last", "email", "text", "link", "districtr_data"]
    rows = [
        # Two rows for the two areas of a submission, each with all of it.
        ["c132-1", "coi", "Ann", "Lee", "ann@example.org", "Ann, of 1 Main St", "link", write(two)],
        ["c132-2", "coi", "Ann", "Lee", "ann@example.org", "Ann, of 1 Main St", "link", write(two)],
        ["p9", "plan", "Bob", "", "", "", "link", write(districts)],
        ["p10", "plan", "Bob", "", "", "", "link", write(one_district)],
        ["w3", "written", "Cy", "", "", "Keep us together", "", ""],
        ["c7", "coi", "Di", "", "", "", "link", "{'plan': cut o"],
    ]
    testimonies = read("portal.csv", write_csv(header, *rows))
    assert covered(testimonies) == {"c132-1": ["000", "001"], "c132-2": ["001", "011"], "p10-1": ["012"]}
    assert testimonies.remarks == (
        "portal.csv: 1 row without a map left aside",
        "portal.csv: 1 row with plans of several districts left aside",
        "portal.csv: 1 row whose map cannot be read left aside",
    )
    assert not any(word in repr(testimonies) for word in ("Ann", "Bob", "@", "Main"))


def test_assignments_alone_in_a_portal(read):
    rows = [["23", "{'000': '0', '001': '1'}"], ["23", "{'011': '0'}"]]
    testimonies = read("a.csv", write_csv(["id", "plan"], *rows))
    assert covered(testimonies) == {"23-1": ["000"], "23-2": ["001"], "23-1 (2)": ["011"]}


def test_links_are_no_maps(read):
    text = write_csv(["id", "type", "link", "email"], ["c1", "coi", "https://districtr.org/COI/1", "a@b.org"])
    with pytest.raises(
        DataError, match=r"the maps are not in it\. Save the plans that the links lead to as JSON"
    ):
        read("a.csv", text)


# Tables of blocks.


@pytest.mark.parametrize(
    "text",
    [
        "BLOCKID,DISTRICT\n000,1\n001,1\n011,2\n010,0\n012,\n",
        "\ufeffGEOID20,District\r\n000,1\r\n001,1\r\n011,2\r\n010,0\r\n",
        "GEOID20|district\n000|1\n001|1.0\n011|2\n010|0\n",
        ",BLOCKID,DISTRICT\n0,000,1\n1,001,1\n2,011,2\n3,010,0\n",
        # As a spreadsheet leaves it.
        "BLOCKID,DISTRICT\n0,1\n1,1\n11,2\n10,0\n",
    ],
)
def test_tables_of_blocks_and_communities(read, text):
    testimonies = read("a.csv", text)
    assert covered(testimonies) == {"a-1": ["000", "001"], "a-2": ["011"]}
    assert testimonies.remarks == ("a.csv: 1 unit with the number 0 are in no community",)


def test_a_table_of_blocks_without_header(read, grid):
    blocks = dataclasses.replace(grid, ids=tuple(f"290510{n:09d}" for n in range(8)))
    testimonies = read("a.csv", "290510000000000,1\n290510000000003,2\n290510000000001,1\n", blocks)
    assert covered(testimonies) == {"a-1": ["000", "001"], "a-2": ["003"]}


def test_labels_that_differ_in_a_zero_are_two(read):
    assert covered(read("a.csv", "GEOID20,district\n000,01\n001,1\n")) == {"a-01": ["000"], "a-1": ["001"]}


@pytest.mark.parametrize("column", ["district", "count", "zone"])
def test_a_table_of_testimonies_may_have_other_columns(read, column):
    assert covered(read("a.csv", f"id,GEOID20,{column}\nx,000,1\ny,001,1\n")) == {"x": ["000"], "y": ["001"]}


def test_counts_of_submissions_are_one_community(read):
    testimonies = read("C32.csv", "GEOID20,count\n000,4\n001,1\n011,0\n010,2\n")
    assert covered(testimonies) == {"C32": ["000", "001", "010"]}
    assert testimonies.remarks == (
        "C32.csv: counts many submissions together; their common area counts as one community",
    )


def test_community_labels_that_are_words(read):
    testimonies = read("a.csv", "GEOID20,district\n000,North\n001,02A\n011,North\n")
    assert covered(testimonies) == {"a-02A": ["001"], "a-North": ["000", "011"]}


# Wide tables of marks.

# Three testimonies: downtown covers 000 and 001, "the hills" 001 and 013, and nowhere none.
WIDE = {"downtown": ["000", "001"], "the hills": ["001", "013"], "nowhere": []}


def wide(corner="GEOID20", yes="1", no="0", units=UNITS, table=WIDE, by_unit=True):
    """A row for each unit and a column for each testimony, or the transpose."""
    grid = [[yes if unit in own else no for own in table.values()] for unit in units]
    if by_unit:
        return write_csv([corner, *table], *([unit, *row] for unit, row in zip(units, grid, strict=True)))
    return write_csv(
        [corner, *units], *([name, *row] for name, row in zip(table, zip(*grid, strict=True), strict=True))
    )


@pytest.mark.parametrize(
    ("yes", "no"), [("1", "0"), ("1.0", "0.0"), ("true", "false"), ("TRUE", "FALSE"), ("1", ""), ("X", "")]
)
def test_wide_tables_of_marks(read, yes, no):
    """By unit and by testimony; a column that is wholly blank is none, a row that is named is one."""
    by_unit = read("a.csv", wide(yes=yes, no=no))
    assert covered(by_unit) == {name: own for name, own in WIDE.items() if own or no}
    assert by_unit.remarks == (() if no else ("a.csv: 1 column without marks left aside: nowhere",))
    by_testimony = read("b.csv", wide("testimony", yes, no, by_unit=False))
    assert covered(by_testimony) == WIDE
    assert by_testimony.remarks == ()
    assert by_testimony.status == ("used", "used", "empty")


@pytest.mark.parametrize("by_unit", [True, False])
@pytest.mark.parametrize("corner", ["id", "", "Block group"])
def test_ids_of_the_map_show_what_a_row_is(read, corner, by_unit):
    assert covered(read("a.csv", wide(corner, by_unit=by_unit))) == WIDE


@pytest.mark.parametrize("corner", ["id", "", "Block group"])
def test_rows_and_headings_that_may_both_be_units(read, corner):
    """A spreadsheet has taken the zeros off the ids, and testimonies are numbered."""
    table = {"1": ["001"], "2": ["000"]}
    text = wide(corner, table=table).replace("\n0", "\n").replace("\n0", "\n")
    with pytest.raises(DataError, match=r"Rename that column to 'unit_id'.* to 'testimony'") as caught:
        read("a.csv", text)
    assert caught.value.code == "two_layouts"
    assert covered(read("b.csv", text.replace(corner, "unit_id", 1))) == table


@pytest.mark.parametrize(("corner", "by_unit"), [("GEOID20", False), ("testimony", True)])
def test_a_corner_that_contradicts_the_ids(read, corner, by_unit):
    with pytest.raises(DataError, match=f"whether column '{corner}' names units or testimonies") as caught:
        read("a.csv", wide(corner, by_unit=by_unit))
    assert caught.value.code == "two_layouts"


def test_columns_of_a_wide_table_may_be_named(read):
    assert covered(read("a.csv", wide("community", table=WIDE), unit_column="community")) == WIDE
    named = read("b.csv", wide("unit", by_unit=False), testimony_column="unit")
    assert covered(named) == WIDE


def test_a_wide_table_of_testimonies_may_have_clusters(read):
    lines = wide("testimony", by_unit=False).splitlines()
    clusters = ["cluster", "1", "1", "0"]
    text = "".join(f"{line},{own}\n" for line, own in zip(lines, clusters, strict=True))
    testimonies = read("a.csv", text)
    assert covered(testimonies) == WIDE
    assert testimonies.clusters.of_testimony.tolist() == [1, 1, 0]


def test_what_else_a_wide_table_says_of_communities(read):
    """Their titles come along, the people do not."""
    rows = [["a", "Old Town", "Ann Lee", "1", "0"], ["b", "Lee Hill", "Bo Lee", "0", "1"]]
    text = write_csv(["testimony", "title", "submitted by", "000", "001"], *rows)
    testimonies = read("a.csv", text)
    assert testimonies.texts == {"a": "Old Town", "b": "… Hill"}
    assert testimonies.remarks == ("a.csv: 1 column without marks left aside: submitted by",)


def test_columns_about_the_units_are_left_aside(read):
    rows = [[str(n), unit, f"Tract {n}", 100 + n, int(n < 2)] for n, unit in enumerate(UNITS)]
    testimonies = read("a.csv", write_csv(["", "GEOID20", "NAME", "pop20", "downtown"], *rows))
    assert covered(testimonies) == {"downtown": ["000", "001"]}
    assert testimonies.remarks == ("a.csv: 2 columns without marks left aside: NAME, pop20",)


def test_wide_tables_in_units_of_another_map_go_through_a_crosswalk(read, tmp_path):
    (tmp_path / "walk.csv").write_text("unit_of_testimony,unit_of_map\nt1,000\nt2,001\n")
    table = {"a": ["t1"], "b": ["t1", "t2"]}
    for corner, by_unit in (("precinct", True), ("testimony", False)):
        text = wide(corner, units=("t1", "t2"), table=table, by_unit=by_unit)
        found = read("a.csv", text, crosswalk=tmp_path / "walk.csv")
        assert covered(found) == {"a": ["000"], "b": ["000", "001"]}


@pytest.mark.parametrize(
    ("code", "says", "text"),
    [
        ("unclear_marks", r"1 column with .* too: a \('2' in row 3\)", "GEOID20,a,b\n000,1,1\n001,2,0\n"),
        ("unclear_marks", r"b \('3' in row 4\)", "GEOID20,a,b\n000,1,1\n001,0,1\nTotal,1,3\n"),
        ("unclear_marks", "both blanks and zeros in 1 column: b", "GEOID20,a,b\n000,1,1\n001,0,\n010,0,0\n"),
        ("unclear_marks", "both blanks and zeros in 1 row: 2", "testimony,000,001\na,0,\nb,1,1\n"),
        ("repeated_unit", "one row for each unit.*: 000", "GEOID20,a,b\n000,1,0\n000,0,1\n"),
        ("repeated_testimony", "blank or occur twice: a", "testimony,000,001\na,1,0\na,0,1\n"),
        ("repeated_column", "more than one column named a", "GEOID20,a,a\n000,1,0\n001,0,1\n"),
        ("nameless_column", "without a heading, number 3", "GEOID20,a,,b\n000,1,0,1\n001,0,1,1\n"),
        ("ragged_rows", "not in 1 other row", "GEOID20,a,b\n000,1,0\n001,0,1,1\n"),
        ("two_layouts", "columns 'GEOID20', 'district', or", "GEOID20,district,a,b\n000,1,1,0\n001,2,0,1\n"),
        ("two_layouts", "columns 'id', 'GEOID20', or", "id,GEOID20,a,b\n1,000,1,0\n2,001,0,1\n"),
    ],
)
def test_unclear_wide_tables_are_refused(read, code, says, text):
    with pytest.raises(DataError, match=says) as caught:
        read("a.csv", text)
    assert caught.value.code == code
    assert caught.value.remedy


def test_tables_with_a_row_for_each_testimony_and_unit_may_have_marks(read):
    """A testimony has several rows, so what is said of it with yes and no is no map."""
    text = "testimony,unit,spoken,verified\nx,000,1,0\nx,001,1,0\ny,001,0,1\n"
    assert covered(read("a.csv", text)) == {"x": ["000", "001"], "y": ["001"]}
    with pytest.raises(DataError, match="known to hold the unit ids"):
        read("b.csv", "testimony,spoken,verified\nx,1,0\ny,0,1\n")


@pytest.mark.parametrize("corner", ["name", "Speaker", "Submitted by"])
def test_people_in_wide_tables_are_numbered(read, corner):
    """In a table a name and no more may be a person's; ids and titles are kept."""
    table = {"Ann Lee": ["000"], "Bo Ray": ["001"]}
    testimonies = read("a.csv", wide(corner, table=table, by_unit=False))
    assert covered(testimonies) == {"1": ["000"], "2": ["001"]}
    assert "Ann" not in repr(testimonies)
    twice = wide(corner, table=table, by_unit=False).replace("Bo Ray", "Ann Lee")
    assert covered(read("a.csv", twice)) == {"1": ["000"], "2": ["001"]}
    assert read("a.csv", wide("title", table=table, by_unit=False)).ids == ("Ann Lee", "Bo Ray")
    mails = {"ann@example.org": ["000"], "bo@example.org": ["001"]}
    assert covered(read("a.csv", wide(table=mails))) == {"1": ["000"], "2": ["001"]}


TABLES = st.lists(st.sets(st.sampled_from(UNITS), min_size=1), min_size=1, max_size=5)


@settings(deadline=None, max_examples=30)
@given(shapes=TABLES, marks=st.sampled_from([("1", "0"), ("x", ""), ("True", "False")]))
def test_a_wide_table_says_what_a_long_one_says(grid, tmp_path_factory, shapes, marks):
    table = {f"t{n}": sorted(own) for n, own in enumerate(shapes)}
    folder = tmp_path_factory.mktemp("wide")
    (folder / "long.csv").write_text(
        write_csv(("testimony", "unit"), *((name, unit) for name, own in table.items() for unit in own))
    )
    (folder / "units.csv").write_text(wide("GEOID20", *marks, table=table))
    (folder / "testimonies.csv").write_text(wide("testimony", *marks, table=table, by_unit=False))
    digests = {read_testimonies(folder / name, grid).digest for name in ("long.csv", "units.csv")}
    assert digests == {read_testimonies(folder / "testimonies.csv", grid).digest}


# Layers without communities.


def test_points_are_no_communities(read):
    with pytest.raises(DataError, match="holds points or lines only, no area") as caught:
        read("a.geojson", collection(feature(shapely.Point(-92.19, 38.5), properties={"name": "School"})))
    assert caught.value.code == "no_testimonies"


# Folders.


@pytest.fixture
def folder(tmp_path):
    inside = tmp_path / "submitted"
    (inside / "second").mkdir(parents=True)
    (inside / "a.json").write_text(json.dumps(plan({"000": 0, "001": 1}, n_parts=2)))
    (inside / "a.geojson").write_text(json.dumps(layer([("011", 1)])))
    (inside / "second" / "a.json").write_text(json.dumps(plan({"010": 0}, n_parts=1)))
    (inside / "b.csv").write_text("testimony,unit,cluster\nt1,012,C1\nt2,013,C1\n")
    (inside / "blank.json").write_text(json.dumps(plan({}, n_parts=1)))
    (inside / "README.txt").write_text("Received in March.\n")
    (inside / "letter.pdf").write_bytes(b"%PDF")
    (inside / ".hidden.csv").write_text("x\n")
    frame = gpd.GeoDataFrame({"id": ["s"]}, geometry=[square("003")], crs="EPSG:4326")
    frame.to_file(inside / "c.shp")
    return inside


def test_a_folder_of_everything(folder, grid):
    testimonies = read_testimonies(folder, grid)
    assert covered(testimonies) == {
        "a.geojson-1": ["011"],
        "a.json-1": ["000"],
        "a.json-2": ["001"],
        "b-t1": ["012"],
        "b-t2": ["013"],
        "c-s": ["003"],
        f"second{os.sep}a.json-1": ["010"],
    }
    assert testimonies.clusters.names == ("C1",)
    assert sorted(testimonies.remarks) == [
        "README.txt is no table, plan or layer: left aside",
        "blank.json: 1 community without any unit left aside",
        "letter.pdf is no table, plan or layer: left aside",
    ]


def test_files_whose_communities_come_to_the_same_name(tmp_path, grid):
    (tmp_path / "a.csv").write_text("testimony,unit\n1-1,000\n")
    (tmp_path / "a-1.csv").write_text("GEOID20,district\n001,1\n")
    assert covered(read_testimonies(tmp_path, grid)) == {"a-1-1": ["001"], "a-1-1 (2)": ["000"]}


def test_a_folder_names_the_file_that_cannot_be_read(folder, grid):
    (folder / "notes.csv").write_text("who,what\nAnn,parks\n")
    with pytest.raises(DataError, match=r"notes\.csv.* take it out of the folder") as caught:
        read_testimonies(folder, grid)
    assert caught.value.code == "no_column"


def test_a_folder_without_testimonies(tmp_path, grid):
    (tmp_path / "letter.pdf").write_bytes(b"%PDF")
    with pytest.raises(DataError, match="holds no file of testimonies") as caught:
        read_testimonies(tmp_path, grid)
    assert caught.value.code == "empty_folder"


# People.


@pytest.mark.parametrize(
    ("header", "names"),
    [
        ("testimony", ["ann@example.org", "bob@example.org"]),
        ("testimony", ["x", "Bob <bob@example.org>"]),
        ("author_name", ["Ann Lee", "Bob"]),
        ("user__email", ["a", "b"]),
        ("Submitted by", ["Ann", "Bob"]),
    ],
)
def test_people_are_numbered(read, header, names):
    rows = [[names[0], "000"], [names[1], "001"], [names[0], "011"]]
    testimonies = read("a.csv", write_csv([header, "unit"], *rows), testimony_column=header)
    assert covered(testimonies) == {"1": ["000", "011"], "2": ["001"]}
    assert testimonies.remarks == (
        f"a.csv: its column {header!r} names people; testimonies are called by their numbers instead",
    )
    assert not any(name in repr(testimonies) for name in names if len(name) > 1)


def test_addresses_in_names_of_files_are_left_out(read):
    assert covered(read("ann@example.org.json", plan({"000": 0}, n_parts=1))) == {"address-1": ["000"]}


def test_names_of_places_are_kept_as_they_are(read):
    name = 'Ünïcode / <script>alert(1)</script>, "quoted"'
    rows = [feature(square("000"), properties={"id": 1, "name": name})]
    assert covered(read("a.geojson", collection(*rows), testimony_column="name")) == {name: ["000"]}


def people_and_places(header, **columns):
    """A long table with further columns."""
    rows = [["Ann Lee", "000"], ["Bo Ray", "001"], ["Ann Lee", "011"]]
    more = [["x", "y", "x"] for _ in columns]
    table = [row + [own[at] for own in more] for at, row in enumerate(rows)]
    return write_csv([header, "unit", *columns], *table)


@pytest.mark.parametrize(
    "header",
    [
        *("full name", "First Name", "submitted by", "Speaker", "Name of submitter", "Your name", "Username"),
        *("first", "last", "E-mail", "Contact name", "Name (resident)"),
    ],
)
def test_columns_that_say_that_they_name_people(read, header):
    testimonies = read("a.csv", people_and_places(header), testimony_column=header)
    assert covered(testimonies) == {"1": ["000", "011"], "2": ["001"]}
    assert "Ann" not in repr(testimonies)


@pytest.mark.parametrize(
    "header", ["name of the community", "title", "area name", "Community", "entry_name", "Neighborhood name"]
)
def test_columns_that_name_communities(read, header):
    testimonies = read("a.csv", people_and_places(header, email=1), testimony_column=header)
    assert covered(testimonies) == {"Ann Lee": ["000", "011"], "Bo Ray": ["001"]}


@pytest.mark.parametrize(
    ("beside", "is_kept"),
    [
        ("", True),
        ("comment, county", True),
        ("email", False),
        ("Phone number", False),
        ("address", False),
        ("title", False),
        ("name of the community", False),
        ("Submitted by", True),
        ("author_name, email", True),
        ("first, last", True),
        ("speaker, title", True),
    ],
)
@pytest.mark.parametrize("header", ["name", "Name"])
def test_a_name_alone_goes_by_its_company(read, header, beside, is_kept):
    """It is a person's where something else names the community, or says how to reach a person."""
    text = people_and_places(header, **dict.fromkeys(beside.split(", ") if beside else ()))
    testimonies = read("a.csv", text, testimony_column=header)
    assert testimonies.ids == (("Ann Lee", "Bo Ray") if is_kept else ("1", "2"))
    assert ("Ann" in repr(testimonies)) == is_kept


def test_a_layer_with_names_and_addresses_is_numbered(read):
    """People may speak twice; a community called after its place may not."""
    rows = [feature(square(unit), properties={"name": "Ann Lee", "e-mail": "x"}) for unit in ("000", "001")]
    testimonies = read("a.geojson", collection(*rows), testimony_column="name")
    assert covered(testimonies) == {"1": ["000"], "2": ["001"]}
    assert "Ann" not in repr(testimonies)


# Whatever else comes.

NAMES = st.sampled_from(
    [
        *("", "id", "GEOID20", "unit", "testimony", "cluster", "district", "count", "zone", "assignment"),
        *("plan", "districtr_data", "link", "type", "wkt", "block_group_ids", "tiles", "author"),
        *("000", "001", "name", "title", "description", "email"),
        "id-a-b-2-Community",
    ]
)
CELLS = st.one_of(
    st.sampled_from(["", "1", "0", "x", "true"]),
    st.sampled_from(["", "000", "001", "0_1", "['000']", "{}", "{'plan': {}}", '{"assignment": {"000": 0}}'])
    | st.sampled_from(["POLYGON EMPTY", "POLYGON ((0 0, 1 1", "SRID=x;POINT (0 0)", '{"coordinates": 1}'])
    | st.sampled_from(["[", "nan", "-1", "0103", "SRID=1;POLYGON ((0 0, 1 0, 1 1, 0 0))", square("000").wkt]),
    st.text(max_size=5),
)
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers(-2, 3) | st.floats() | st.sampled_from(["000", "001", "", "x"]),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(["000", "id", "x"]), inner),
    max_leaves=5,
)


def read_or_refuse(path, grid):
    """The outcome is testimonies, each of its own name, or the error that this package raises about files."""
    try:
        testimonies = read_testimonies(path, grid)
    except DataError:
        return
    assert len(set(testimonies.ids)) == testimonies.n_testimonies == len(testimonies.status)


@settings(deadline=None, max_examples=200)
@given(header=st.lists(NAMES, min_size=1, max_size=4), data=st.data())
def test_any_table_is_read_or_refused(grid, tmp_path_factory, header, data):
    rows = data.draw(st.lists(st.lists(CELLS, min_size=1, max_size=len(header) + 1), max_size=4))
    path = tmp_path_factory.mktemp("any") / "a.csv"
    path.write_text(write_csv(header, *rows), encoding="utf-8")
    read_or_refuse(path, grid)


@settings(deadline=None, max_examples=200)
@given(
    assignment=st.dictionaries(st.sampled_from(["000", "001", "x", ""]), VALUES),
    parts=VALUES,
    problem=VALUES,
)
def test_any_plan_is_read_or_refused(grid, tmp_path_factory, assignment, parts, problem):
    path = tmp_path_factory.mktemp("any") / "a.json"
    path.write_text(json.dumps({"assignment": assignment, "parts": parts, "problem": problem}))
    read_or_refuse(path, grid)


@settings(deadline=None, max_examples=200)
@given(
    features=st.lists(
        st.fixed_dictionaries(
            {
                "type": st.just("Feature"),
                "properties": VALUES | st.dictionaries(NAMES | st.just("districtr"), VALUES, max_size=3),
                "geometry": st.none()
                | st.just(shapely.geometry.mapping(square("000")))
                | st.fixed_dictionaries(
                    {"type": st.sampled_from(["Polygon", "Point", "x"]), "coordinates": VALUES}
                ),
            },
            optional={"id": VALUES},
        ),
        max_size=3,
    )
)
def test_any_layer_is_read_or_refused(grid, tmp_path_factory, features):
    path = tmp_path_factory.mktemp("any") / "a.geojson"
    path.write_text(json.dumps(collection(*features)))
    read_or_refuse(path, grid)
