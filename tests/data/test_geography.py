"""Maps from files: what is read, and that every flaw is one error that lists the units."""

import hashlib
import json
import struct
import warnings
import zipfile

import geopandas as gpd
import numpy as np
import pandas as pd
import pyogrio
import pytest
import shapely

from bottomup.data import DataError, Electorate, Geography, Votes, read_geography
from bottomup.data.errors import count
from bottomup.data.polygons import polygonal
from bottomup.data.repairs import Repair

NODES = "GEOID20,pop20,VAP,county,cd\n001,10,8,a,1\n002,20,15,a,1\n003,0,0,b,2\n"
EDGES = "u,v,shared_perim_m\n001,002,5.5\n003,002,7\n"


@pytest.fixture
def write(tmp_path):
    def write(name, text):
        path = tmp_path / name
        path.write_bytes(text if isinstance(text, bytes) else text.encode())
        return path

    return write


@pytest.fixture
def read_tables(write):
    def read(nodes=NODES, edges=EDGES, **options):
        return read_geography(write("nodes.csv", nodes), edges=write("edges.csv", edges), **options)

    return read


def test_tables_become_arrays(read_tables):
    geography = read_tables()
    assert geography.name == "nodes"
    assert geography.ids == ("001", "002", "003")
    assert geography.population.tolist() == [10, 20, 0]
    assert geography.population.dtype == np.int64
    assert geography.edges.tolist() == [[0, 1], [1, 2]]
    assert geography.edges.dtype == np.int32
    assert geography.shared_perimeter.tolist() == [5.5, 7.0]
    assert list(geography.columns) == ["VAP", "county", "cd"]
    assert geography.electorate == Electorate("VAP")
    assert geography.numbers("VAP").tolist() == [8, 15, 0]
    assert (geography.n_units, geography.n_edges, geography.total_population) == (3, 2, 30)
    assert geography.index_of["003"] == 2


@pytest.mark.parametrize(
    ("edges", "perimeter"),
    [
        ("001,002\n002,003\n", None),
        ("\ufeffsource;target;perim\n002;001;1\n001;002;1\n003;002;2\n", [1.0, 2.0]),
        ("weight\ttarget\tsource\n1\t001\t002\n1\t002\t003\n\n", None),
        ("u,v,shared_perim_deg\n001,002,0.1\n002,003,0.2\n", None),
        ("u,v\n1,2\n2.0,3\n", None),
    ],
)
def test_edges_are_read_from_any_common_table(read_tables, edges, perimeter):
    geography = read_tables(edges=edges)
    assert geography.edges.tolist() == [[0, 1], [1, 2]]
    assert (None if geography.shared_perimeter is None else geography.shared_perimeter.tolist()) == perimeter


def test_columns_of_codes_stay_text_and_numbers_become_numbers(read_tables):
    columns = read_tables(
        "id,pop,fips,share,blank\n1,1,007,0.5,\n2,1,010,1.5,3\n3,1,100,2,4\n", "u,v\n1,2\n2,3\n"
    ).columns
    assert columns["fips"].tolist() == ["007", "010", "100"]
    assert columns["share"].tolist() == [0.5, 1.5, 2.0]
    assert np.isnan(columns["blank"][0])
    assert columns["blank"].tolist()[1:] == [3, 4]


def test_digest_is_that_of_ids_people_and_edges(read_tables):
    digest = read_tables().digest
    text = b"".join(struct.pack("<q", 3) + unit for unit in (b"001", b"002", b"003"))
    numbers = struct.pack("<7q", 10, 20, 0, 0, 1, 1, 2)
    assert digest == hashlib.sha256(text + numbers).hexdigest()
    assert read_tables(name="other").digest == digest
    assert read_tables(NODES.replace("001,10", "001,11")).digest != digest
    assert read_tables(edges=EDGES + "001,003,1\n").digest != digest


@pytest.mark.parametrize(
    ("nodes", "edges", "code", "units"),
    [
        (NODES + "001,5,4,a,1\n", EDGES, "repeated_id", ("001",)),
        (NODES + ",5,4,a,1\n", EDGES, "blank_id", ("row 4",)),
        (NODES.replace("002,20", "002,"), EDGES, "no_population", ("002",)),
        (NODES.replace("002,20", "002,many"), EDGES, "population_not_numeric", ("002",)),
        (NODES.replace("002,20", "002,inf"), EDGES, "population_infinite", ("002",)),
        (NODES.replace("002,20", "002,-1"), EDGES, "population_negative", ("002",)),
        (NODES.replace("002,20", "002,2.5"), EDGES, "population_fraction", ("002",)),
        (NODES.replace("002,20", "002,1e20"), EDGES, "population_too_large", ("002",)),
        ("id,pop\n001,0\n002,0\n003,0\n", EDGES, "no_people", ()),
        (NODES, EDGES + "001,009,1\n", "unknown_edge_unit", ("009",)),
        (NODES, EDGES + "003,003,1\n", "self_loop", ("003",)),
        (NODES, "u,v\n001,002\n", "not_connected", ("003",)),
        (NODES, "u\n001\n", "edges_columns", ()),
        (NODES, "u,v\n", "edges_columns", ()),
        (NODES, "", "edges_columns", ()),
        (NODES, EDGES + "001,,1\n", "edges_columns", ()),
        (NODES, "008,009\n001,002\n002,003\n", "unknown_edge_unit", ("008", "009")),
        (NODES + "004,1,1\n", EDGES, "ragged_rows", ()),
        ("sep=,\n" + NODES, EDGES, "ragged_rows", ()),
        ("Commission,,,,\n" + NODES, EDGES, "repeated_column", ()),
        (NODES.replace("county", "cd"), EDGES, "repeated_column", ()),
        (NODES.replace("003,", '"003,'), EDGES, "unreadable", ()),
        (NODES.replace("GEOID20", "label"), EDGES, "no_column", ()),
        (NODES.replace("pop20", "people"), EDGES, "no_column", ()),
        ("", EDGES, "empty_file", ()),
    ],
)
def test_each_flaw_of_a_table_is_one_error(read_tables, nodes, edges, code, units):
    with pytest.raises(DataError) as caught:
        read_tables(nodes, edges)
    assert caught.value.code == code
    assert caught.value.units == units
    assert all(unit in str(caught.value) for unit in units)


def test_named_columns_win_and_must_exist(read_tables):
    nodes = NODES.replace("GEOID20", "label").replace("pop20", "people")
    geography = read_tables(
        nodes, id_column="label", population_column="people", elections={"Fair": ("cd", "VAP")}
    )
    assert geography.id_column == "label"
    assert geography.electorate.elections == {"Fair": Votes("cd", "VAP")}
    with pytest.raises(DataError, match=r"no column 'nope'.*label, people, VAP"):
        read_tables(nodes, id_column="nope")


def test_one_column_cannot_be_two_things(read_tables):
    with pytest.raises(DataError, match="id_column and population_column") as caught:
        read_tables(id_column="pop20")
    assert caught.value.code == "same_column"


def test_columns_without_name_and_content_are_left_out(read_tables):
    nodes = "".join(f"{line},,\n" for line in NODES.splitlines())
    geography = read_tables(nodes)
    assert list(geography.columns) == ["VAP", "county", "cd"]
    assert geography.digest == read_tables().digest


@pytest.mark.parametrize(
    "encode", [lambda text: text.encode("utf-16"), lambda text: text.encode() + bytes(3)]
)
def test_tables_that_are_no_text_are_refused(read_tables, encode):
    with pytest.raises(DataError, match=r"zero bytes.*UTF-8 text"):
        read_tables(encode(NODES))


def test_a_quote_left_open_is_found_where_it_starts(read_tables):
    with pytest.raises(DataError, match="in the row that starts in line 3"):
        read_tables(NODES.replace("15,a", '15,"a'))


def test_cells_may_be_as_long_as_outlines(read_tables):
    outline = "POLYGON ((" + "0 0, " * 40_000 + "0 0))"
    assert read_tables(NODES.replace(",b,", f',"{outline}",')).columns["county"][2] == outline


def test_folders_and_empty_names_are_no_tables(read_tables, tmp_path):
    nodes = tmp_path / "folder.csv"
    nodes.mkdir()
    with pytest.raises(DataError, match=r"folder\.csv' cannot be read: Is a directory"):
        read_geography(nodes, edges=nodes)
    with pytest.raises(DataError, match="no file ''"):
        read_geography("")


def test_an_example_of_what_is_no_number_is_given(read_tables):
    with pytest.raises(DataError, match=r"in 1 of 3 units \(the first: '13,70'\): 002"):
        read_tables(NODES.replace("002,20", '002,"13,70"'))


def test_numbers_and_nouns_agree():
    assert [count(n, "unit") for n in (0, 1, 1200)] == ["0 units", "1 unit", "1,200 units"]
    assert [count(n, "person", "people") for n in (1, 2)] == ["1 person", "2 people"]


def test_a_column_known_by_name_only_counts_when_it_holds_numbers(read_tables):
    assert read_tables(NODES.replace("8,a", "many,a")).electorate == Electorate()


def test_pieces_are_listed_with_their_people(read_tables):
    with pytest.raises(DataError) as caught:
        read_tables(edges="u,v\n002,003\n")
    text = str(caught.value)
    assert "The largest is 2 units with 20 people; another is 1 unit with 10 people: 001." in text
    assert caught.value.units == ("001",)


def test_long_lists_are_cut_in_the_text_only():
    ids = [f"{number:02}" for number in range(13)]
    error = DataError("code", "units are lost", remedy="Find them.", units=ids)
    assert error.units == tuple(ids)
    assert str(error) == "units are lost: 00, 01, 02, 03, 04, 05, 06, 07, 08, 09 and 3 more. Find them."
    assert isinstance(error, ValueError)


def test_a_table_of_units_needs_edges(write):
    with pytest.raises(DataError, match="neighbours"):
        read_geography(write("nodes.csv", NODES))
    with pytest.raises(DataError, match="no file"):
        read_geography("nowhere.gpkg")


@pytest.mark.parametrize("suffix", [".geojson", ".gpkg", ".shp", ".parquet", ".shp.zip"])
def test_any_gis_format_gives_the_same_map(tmp_path, make_frame, make_grid, suffix):
    frame = make_frame(3, 4)
    path = tmp_path / f"grid{suffix}"
    if suffix == ".parquet":
        frame.to_parquet(path)
    else:
        frame.to_file(path)
    geography = read_geography(path)
    expected = make_grid(3, 4)
    assert geography.name == "grid"
    assert geography.ids == expected.ids
    assert geography.digest == expected.digest
    assert geography.shared_perimeter == pytest.approx(expected.shared_perimeter, rel=1e-6)
    assert geography.geometry.crs.axis_info[0].unit_name == "metre"
    # A hundredth of a degree squared at 38.5 degrees north.
    assert geography.geometry.area.to_numpy() == pytest.approx(968_000, rel=0.01)


def test_edges_take_the_place_of_shared_boundaries(tmp_path, write, make_frame):
    make_frame(1, 3).to_file(tmp_path / "grid.gpkg")
    ring = write("edges.csv", "u,v\n000,001\n001,002\n002,000\n")
    assert read_geography(tmp_path / "grid.gpkg", edges=ring).edges.tolist() == [[0, 1], [0, 2], [1, 2]]


def test_shapes_are_joined_to_a_table_by_id(tmp_path, write, make_frame):
    frame = make_frame(2, 2)
    frame.iloc[::-1].rename(columns={"GEOID20": "id"})[["id", "geometry"]].to_file(tmp_path / "s.geojson")
    nodes = write("n.csv", "GEOID20,pop\n000,1\n001,1\n010,1\n")
    edges = write("e.csv", "000,001\n000,010\n")
    geography = read_geography(nodes, edges=edges, shapes=tmp_path / "s.geojson")
    back = geography.geometry.to_crs("EPSG:4326")
    assert shapely.equals_exact(back.to_numpy(), frame.geometry.to_numpy()[:3], tolerance=1e-7).all()
    frame.rename(columns={"GEOID20": "label"}).to_file(tmp_path / "other.geojson")
    with pytest.raises(DataError, match=r"no column 'GEOID20'.*Columns: label, pop20\."):
        read_geography(nodes, edges=edges, shapes=tmp_path / "other.geojson")
    with pytest.raises(DataError) as caught:
        read_geography(
            write("n.csv", "GEOID20,pop\n000,1\n001,1\n999,1\n"),
            edges=write("e.csv", "000,001\n000,999\n"),
            shapes=tmp_path / "s.geojson",
        )
    assert (caught.value.code, caught.value.units) == ("no_shape", ("999",))


def polygon_with(longitude):
    with np.errstate(invalid="ignore"):
        return shapely.Polygon([(-92.19, 38.5), (-92.18, 38.5), (longitude, 38.51)])


def with_shape(frame, shape):
    changed = frame.copy()
    changed.loc[1, "geometry"] = shape
    return changed


@pytest.mark.parametrize(
    ("shape", "code"),
    [
        (None, "null_geometry"),
        (shapely.Polygon(), "null_geometry"),
        (polygon_with(np.nan), "null_geometry"),
        (polygon_with(np.inf), "null_geometry"),
        (shapely.Point(-92.19, 38.5), "not_polygon"),
    ],
)
def test_shapes_that_are_no_areas_are_named(tmp_path, make_frame, shape, code):
    with_shape(make_frame(2, 2), shape).to_parquet(tmp_path / "grid.parquet")
    with pytest.raises(DataError) as caught:
        read_geography(tmp_path / "grid.parquet")
    assert (caught.value.code, caught.value.units) == (code, ("001",))


@pytest.mark.parametrize("rings", [[[[-92, 38], [-91, 38], [-91, 39]]], "oops"], ids=["open ring", "text"])
def test_shapes_that_cannot_be_read_are_named_and_warn_nobody(tmp_path, make_frame, rings):
    features = make_frame(2, 2).to_geo_dict()
    features["features"][1]["geometry"]["coordinates"] = rings
    (tmp_path / "grid.geojson").write_text(json.dumps(features))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with pytest.raises(DataError, match="no readable one, for 1 of 4 units: 001") as caught:
            read_geography(tmp_path / "grid.geojson")
    assert caught.value.code == "null_geometry"


@pytest.mark.parametrize(
    "shape",
    [
        # A bow tie, and a square flattened to a line by simplification.
        shapely.Polygon([(-92.19, 38.5), (-92.18, 38.51), (-92.18, 38.5), (-92.19, 38.51)]),
        shapely.Polygon([(-92.19, 38.5), (-92.19, 38.51), (-92.19, 38.505), (-92.19, 38.5)]),
    ],
)
def test_polygons_that_change_when_made_valid_are_repaired_when_the_user_says_so(tmp_path, make_frame, shape):
    with_shape(make_frame(2, 2), shape).to_file(tmp_path / "grid.geojson")
    with pytest.raises(DataError, match="--repair make-valid 001") as caught:
        read_geography(tmp_path / "grid.geojson")
    assert (caught.value.code, caught.value.units) == ("invalid_geometry", ("001",))
    geography = read_geography(tmp_path / "grid.geojson", repairs=[Repair("make-valid", "001")])
    assert geography.repaired == ("001",)
    assert geography.geometry.is_valid.all()
    assert geography.geometry.area.min() > 0
    assert [0, 1] in geography.edges.tolist()


def test_repair_keeps_all_that_is_enclosed():
    eight = [(0, 0), (1, 1), (2, 2), (2, 0), (1, 1), (0, 2)]
    overlapping = shapely.MultiPolygon([shapely.box(0, 0, 2, 2), shapely.box(1, 0, 3, 2)])
    with_line = shapely.GeometryCollection([shapely.box(0, 0, 1, 1), shapely.LineString([(0, 0), (5, 5)])])
    shapes = polygonal(np.array([shapely.Polygon(eight), overlapping, with_line, None], dtype=object))
    assert shapely.area(shapes[:3]).tolist() == [2, 6, 1]
    assert shapely.is_valid(shapes[:3]).all()
    assert shapes[3] is None


def test_a_crs_is_needed_and_must_be_true(tmp_path, make_frame):
    frame = make_frame(2, 2)
    frame.set_crs(None, allow_override=True).to_parquet(tmp_path / "none.parquet")
    with pytest.raises(DataError) as caught:
        read_geography(tmp_path / "none.parquet")
    assert caught.value.code == "no_crs"
    frame.to_crs("EPSG:26915").set_crs("EPSG:4326", allow_override=True).to_parquet(tmp_path / "lie.parquet")
    with pytest.raises(DataError) as caught:
        read_geography(tmp_path / "lie.parquet")
    assert caught.value.code == "wrong_crs"


@pytest.mark.parametrize(
    ("crs", "move", "doubt"),
    [
        ("EPSG:26915", 0.0, "look like degrees"),
        ("EPSG:26915", 1e9, "not on Earth"),
        ("EPSG:4978", 0.0, "no place on Earth"),
        ("EPSG:4326", 200.0, "in this order"),
        # Longitudes and latitudes of the Moon.
        ("IAU_2015:30100", 0.0, "not on Earth"),
    ],
)
def test_coordinates_that_cannot_be_in_their_crs_are_refused(tmp_path, make_frame, crs, move, doubt):
    frame = make_frame(1, 2).set_crs(crs, allow_override=True)
    frame.geometry = frame.translate(move, move)
    frame.to_parquet(tmp_path / "grid.parquet")
    with pytest.raises(DataError, match=doubt) as caught:
        read_geography(tmp_path / "grid.parquet")
    assert caught.value.code == "wrong_crs"


def test_a_file_has_one_map(tmp_path, make_frame, make_grid):
    path = tmp_path / "grid.gpkg"
    make_frame(2, 2).to_file(path, layer="units")
    pyogrio.write_dataframe(pd.DataFrame({"style": ["red"]}), path, layer="styles")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert read_geography(path).digest == make_grid(2, 2).digest
    make_frame(1, 2).to_file(path, layer="rest")
    with pytest.raises(DataError, match="2 layers with shapes: units, rest") as caught:
        read_geography(path)
    assert caught.value.code == "several_layers"


def test_a_zipped_folder_is_read(tmp_path, make_frame, make_grid):
    make_frame(2, 2).to_file(tmp_path / "grid.shp")
    with zipfile.ZipFile(tmp_path / "grid.zip", "w") as archive:
        for part in sorted(tmp_path.glob("grid.[!z]*")):
            archive.write(part, f"county/{part.name}")
            archive.writestr(f"__MACOSX/county/._{part.name}", "x")
    assert read_geography(tmp_path / "grid.zip").digest == make_grid(2, 2).digest
    (tmp_path / "broken.zip").write_bytes((tmp_path / "grid.zip").read_bytes()[-100:])
    with pytest.raises(DataError, match="could not be read as a map") as caught:
        read_geography(tmp_path / "broken.zip")
    assert caught.value.code == "unreadable"


def test_a_map_of_one_unit_is_read_without_a_warning(tmp_path, make_frame):
    make_frame(1, 1).to_file(tmp_path / "one.gpkg")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert read_geography(tmp_path / "one.gpkg").n_edges == 0


def test_tables_and_shapes_of_one_map_have_one_digest(tmp_path, write, make_frame):
    frame = make_frame(3, 3)
    frame.to_file(tmp_path / "grid.gpkg")
    from_shapes = read_geography(tmp_path / "grid.gpkg")
    frame.drop(columns="geometry").to_csv(tmp_path / "nodes.csv", index=False)
    pairs = [(from_shapes.ids[u], from_shapes.ids[v]) for u, v in from_shapes.edges]
    edges = write("edges.csv", "".join(f"{v},{u}\n" for u, v in reversed(pairs)))
    from_tables = read_geography(tmp_path / "nodes.csv", edges=edges)
    assert from_tables.digest == from_shapes.digest


def test_a_file_that_is_no_map_is_an_error(write):
    path = write("units.geojson", "not a map")
    with pytest.raises(DataError) as caught:
        read_geography(path)
    assert caught.value.message == (
        f"{str(path)!r} could not be read as a map: not recognized as being in a supported file format."
    )


def test_nested_records_become_columns(tmp_path, make_frame):
    frame = make_frame(1, 2).drop(columns="pop20")
    features = frame.to_geo_dict()
    for feature, people in zip(features["features"], (3, 4), strict=True):
        feature["properties"]["datasets"] = {
            "T_20_CENS": {"Total": people},
            "V_20_VAP": {"Total": 2, "Black": 1},
        }
    (tmp_path / "grid.geojson").write_text(json.dumps(features))
    geography = read_geography(tmp_path / "grid.geojson")
    assert geography.population.tolist() == [3, 4]
    assert geography.electorate == Electorate("datasets.V_20_VAP.Total", {"Black": "datasets.V_20_VAP.Black"})
    assert geography.numbers("datasets.V_20_VAP.Black").tolist() == [1, 1]


def test_ids_that_are_numbers_become_plain_text(tmp_path, make_frame):
    frame = make_frame(1, 2)
    frame["GEOID20"] = [29001.0, 29003.0]
    frame.to_file(tmp_path / "grid.gpkg")
    assert read_geography(tmp_path / "grid.gpkg").ids == ("29001", "29003")


def test_maps_can_cross_the_antimeridian(tmp_path):
    west, east = shapely.box(179.9, 52, 180, 52.1), shapely.box(-180, 52, -179.9, 52.1)
    frame = gpd.GeoDataFrame({"id": ["w", "e"], "pop": [1, 1]}, geometry=[west, east], crs="EPSG:4326")
    frame.to_file(tmp_path / "a.gpkg")
    (tmp_path / "e.csv").write_text("w,e\n")
    bounds = read_geography(tmp_path / "a.gpkg", edges=tmp_path / "e.csv").geometry.total_bounds
    assert bounds[2] - bounds[0] < 20_000


def test_a_geography_can_be_made_of_bare_arrays():
    geography = Geography("two", ("a", "b"), np.array([1, 2]), np.array([[0, 1]], dtype=np.int32))
    assert geography.total_population == 3
    assert isinstance(geography.columns, pd.DataFrame)


@pytest.mark.real
def test_missouri_is_the_same_from_tables_and_from_polygons(real_data, missouri):
    published = read_geography(real_data / "missouri_vtd2020" / "units_full.geojson.zip")
    assert (missouri.n_units, missouri.n_edges, missouri.total_population) == (4604, 12731, 6_154_913)
    assert published.digest == missouri.digest
    assert len(published.repaired) == 16
    # The published lengths are rounded to a decimetre, and measured in another projection.
    assert np.median(np.abs(published.shared_perimeter / missouri.shared_perimeter - 1)) < 0.005
    both = [_numbers_by_name(geography) for geography in (published, missouri)]
    assert len(both[1]) == 1 + 6 + 2 * 5
    for name, numbers in both[1].items():
        assert np.array_equal(both[0][name], numbers)


def _numbers_by_name(geography):
    electorate = geography.electorate
    columns = {"": electorate.voting_age, **electorate.groups}
    for election, votes in electorate.elections.items():
        columns |= {f"{election} {party}": column for party, column in votes._asdict().items()}
    return {name: geography.numbers(column) for name, column in columns.items()}


@pytest.mark.real
def test_new_hampshire_in_feet(real_data):
    geography = read_geography(real_data / "new_hampshire" / "NH.shp")
    assert (geography.n_units, geography.n_edges) == (320, 854)
    # The state has 24,214 square kilometres.
    assert geography.geometry.area.sum() / 1e6 == pytest.approx(24_214, rel=0.01)


@pytest.mark.real
def test_metres_dressed_as_degrees_are_refused(real_data):
    path = real_data / "coi_formats" / "districtr_v2" / "zone_assignments_geojson_export.geojson"
    with pytest.raises(DataError, match=r"from \(875211, .*longitudes and latitudes, in this order"):
        read_geography(path, population_column="zone")
