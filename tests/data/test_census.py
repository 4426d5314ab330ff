"""Units with their people from shapefiles and P.L. 94-171 tables of the published shape."""

import geopandas as gpd
import pytest
import shapely

from bottomup.data import Electorate, read_geography
from bottomup.data.census import make_plan, make_testimonies, make_units, read_figures
from bottomup.data.errors import DataError
from publishing import PEOPLE, VOTING_DISTRICTS, shapefile, summary_file, zipped


def squares(n):
    return [shapely.box(-92.0 + i / 100, 38.0, -91.99 + i / 100, 38.01) for i in range(n)]


def block_groups(ids=tuple(PEOPLE), land=None):
    return gpd.GeoDataFrame(
        {"GEOID": list(ids), "NAMELSAD": "Block Group", "ALAND": land or [1] * len(ids)},
        geometry=squares(len(ids)),
        crs="EPSG:4269",
    )


@pytest.fixture
def figures(tmp_path):
    path = tmp_path / "mo2020.pl.zip"
    path.write_bytes(summary_file())
    return read_figures(path)


def write_shapes(folder, frame):
    path = folder / "units.zip"
    path.write_bytes(zipped(shapefile(folder / "parts", "units", frame)))
    return path


def test_figures_are_those_of_the_places(figures):
    blocks = figures.by_level["150"]
    assert {unit: tuple(row) for unit, row in zip(blocks.index, blocks.to_numpy(), strict=True)} == PEOPLE
    assert list(figures.by_level["700"]["P0010001"]) == [30, 70]
    assert list(figures.by_level["700"].index) == list(VOTING_DISTRICTS)
    # A row for part of the state does not count.
    assert figures.n_people == 100


def test_units_are_read_with_their_people_and_no_options(figures, tmp_path):
    # In another order than the figures.
    frame = block_groups(tuple(PEOPLE)[::-1])
    out = tmp_path / "block_groups.gpkg"
    what = make_units(write_shapes(tmp_path, frame), figures, "150", out)
    assert what == "4 units, 100 people"
    geography = read_geography(out)
    assert geography.ids == tuple(PEOPLE)
    assert list(geography.population) == [10, 20, 30, 40]
    assert geography.n_edges == 3
    assert list(geography.columns["P0030001"]) == [8, 15, 20, 33]
    assert list(geography.columns["P0030004"]) == [2, 5, 0, 30]
    assert list(geography.columns["county"]) == ["29001", "29001", "29003", "29003"]
    assert geography.electorate == Electorate("P0030001", {"Black": "P0030004"})


def test_voting_districts_have_letters_and_columns_of_their_own(figures, tmp_path):
    frame = gpd.GeoDataFrame(
        {"GEOID20": list(VOTING_DISTRICTS), "NAMELSAD20": ["One", "A"], "ALAND20": [1, 1]},
        geometry=squares(2),
        crs="EPSG:4269",
    )
    out = tmp_path / "voting_districts.gpkg"
    assert make_units(write_shapes(tmp_path, frame), figures, "700", out) == "2 units, 100 people"
    assert list(gpd.read_file(out)["P0030004"]) == [7, 30]


def test_water_has_no_people_and_land_must_have_figures(figures, tmp_path):
    ids = (*PEOPLE, "290039900000")
    path = write_shapes(tmp_path, block_groups(ids, [1, 1, 1, 1, 0]))
    out = tmp_path / "units.gpkg"
    assert make_units(path, figures, "150", out) == "5 units, 100 people"
    out.unlink()
    path = write_shapes(tmp_path, block_groups(ids))
    with pytest.raises(DataError, match="290039900000") as caught:
        make_units(path, figures, "150", out)
    assert caught.value.code == "no_figures"
    assert not out.exists()


def test_people_without_an_outline_are_named(figures, tmp_path):
    path = write_shapes(tmp_path, block_groups(tuple(PEOPLE)[:3]))
    with pytest.raises(DataError, match="290030002002") as caught:
        make_units(path, figures, "150", tmp_path / "units.gpkg")
    assert caught.value.code == "no_outline"


def test_units_that_do_not_cover_the_state_say_so(tmp_path):
    def widen(tables):
        lines = tables["mo000012020.pl"].splitlines()
        lines[0] = lines[0].replace("|100|", "|140|")
        tables["mo000012020.pl"] = "\n".join(lines)

    path = tmp_path / "mo2020.pl.zip"
    path.write_bytes(summary_file(change=widen))
    what = make_units(
        write_shapes(tmp_path, block_groups()), read_figures(path), "150", tmp_path / "units.gpkg"
    )
    assert what == "4 units, 100 people of the state's 140: they do not cover it all"


def test_tables_of_another_shape_are_refused(tmp_path):
    def without(tables):
        del tables["mo000022020.pl"]

    def narrow(tables):
        tables["mo000022020.pl"] = tables["mo000022020.pl"].replace("|0\n", "\n")

    def short(tables):
        tables["mo000022020.pl"] = "\n".join(tables["mo000022020.pl"].splitlines()[:-1])

    path = tmp_path / "mo2020.pl.zip"
    for change, code in ((without, "no_table"), (narrow, "other_table"), (short, "no_figures")):
        path.write_bytes(summary_file(change=change))
        with pytest.raises(DataError, match=r"000022020\.pl") as caught:
            read_figures(path)
        assert caught.value.code == code


def test_a_plan_has_labels_without_water(tmp_path):
    frame = gpd.GeoDataFrame({"CD118FP": ["01", "02", "ZZ"]}, geometry=squares(3), crs="EPSG:4269")
    out = tmp_path / "plan.gpkg"
    assert make_plan(write_shapes(tmp_path, frame), "CD118FP", out) == "2 districts"
    assert list(gpd.read_file(out)["district"]) == ["01", "02"]
    frame = gpd.GeoDataFrame({"District": [1.0, 2.0]}, geometry=squares(2), crs="EPSG:4269")
    make_plan(write_shapes(tmp_path, frame), "District", out)
    assert list(gpd.read_file(out)["district"]) == ["1", "2"]


def test_of_testimonies_only_id_and_outline_are_kept(tmp_path):
    frame = gpd.GeoDataFrame(
        {"plan_id": [" c1-1", " c1-2"], "author": ["x", "y"]}, geometry=squares(2), crs="EPSG:32615"
    )
    frame = frame.set_geometry(frame.geometry.set_crs("EPSG:4269", allow_override=True).to_crs("EPSG:32615"))
    out = tmp_path / "testimonies.gpkg"
    assert make_testimonies(write_shapes(tmp_path, frame), "plan_id", out) == "2 testimonies"
    made = gpd.read_file(out)
    assert list(made.columns) == ["testimony", "geometry"]
    assert list(made["testimony"]) == ["c1-1", "c1-2"]
    assert made.crs.to_epsg() == 32615
