"""Repairs: chosen, made, written to a log, and made again from it."""

from __future__ import annotations

import geopandas as gpd
import numpy as np
import pytest
import shapely
from awkward import CRS, box, grid, with_island, write
from hypothesis import given
from hypothesis import strategies as st

from bottomup.data import DataError, read_geography
from bottomup.data.findings import Findings
from bottomup.data.geography import Files, inspect_geography
from bottomup.data.repairs import (
    Repair,
    choose_repairs,
    read_repairs,
    repairs_digest,
    repairs_text,
)


def repaired(path, *words, **options):
    return read_geography(path, repairs=choose_repairs(words), **options)


def ends(geography):
    return {(geography.ids[u][-2:], geography.ids[v][-2:]) for u, v in geography.edges}


def test_a_piece_is_joined_to_its_nearest_unit(tmp_path):
    path = write("island of two units", tmp_path)
    geography = repaired(path, ["join", "09990001"])
    assert geography.n_edges == 114
    # The island's western unit is the nearer one, and the eastern end of the lowest row the nearest to it.
    assert geography.repairs == (
        Repair("join", "09990000", "09000007", "nearest to the piece of 09990001, 12.0 km away"),
    )
    row = geography.edges.tolist().index([7, 64])
    assert geography.shared_perimeter[row] == 0
    assert geography.shared_perimeter[:row].min() > 900


def test_units_are_left_out_with_all_that_is_wrong_with_them(tmp_path):
    geography = repaired(write("island of two units", tmp_path), ["drop", "09990000", "09990001"])
    plain = read_geography(write("plain", tmp_path))
    assert geography.digest == plain.digest
    assert geography.dropped == ("09990000", "09990001")
    labels = [f"row {row}" for row in (5, 6, 7, 8)]
    assert repaired(write("points mixed in", tmp_path), ["drop", *labels]).n_units == 4
    assert repaired(write("no shape", tmp_path), ["drop", "09000010"]).n_units == 63
    # An id that lost its zero in a spreadsheet is the same unit.
    assert (
        repaired(write("no population in two units", tmp_path), ["drop", "9000005", "9000009"]).n_units == 62
    )


def test_units_left_out_may_stand_in_tables_of_edges(tmp_path):
    frame = with_island(1)
    frame.drop(columns="geometry").to_csv(tmp_path / "units.csv", index=False)
    plain = read_geography(write("plain", tmp_path))
    rows = [f"{plain.ids[u]},{plain.ids[v]}\n" for u, v in plain.edges]
    (tmp_path / "edges.csv").write_text("".join(rows) + "09000000,09990000\n")
    geography = repaired(tmp_path / "units.csv", ["drop", "09990000"], edges=tmp_path / "edges.csv")
    assert geography.digest == plain.digest


def test_nodes_of_a_graph_are_left_out_with_their_edges(tmp_path):
    geography = repaired(write("adjacency", tmp_path), ["drop", "0", "7"])
    assert (geography.n_units, geography.n_edges) == (62, 108)


def test_edges_are_added_and_cut(tmp_path):
    path = write("plain", tmp_path)
    plain = read_geography(path)
    geography = repaired(path, ["add-edge", "09000000", "09000009"], ["cut-edge", "09000001", "09000000"])
    assert ends(geography) - ends(plain) == {("00", "09")}
    assert ends(plain) - ends(geography) == {("00", "01")}
    assert geography.digest != plain.digest
    assert np.array_equal(geography.edges, np.unique(geography.edges, axis=0))


def test_edges_change_in_the_order_of_the_log(tmp_path):
    """Cut off first, a corner has a nearest unit outside of its piece."""
    path = write("plain", tmp_path)
    cut = [["cut-edge", "09000000", "09000001"], ["cut-edge", "09000000", "09000008"]]
    geography = repaired(path, *cut, ["join", "09000000"])
    assert geography.repairs[-1].neighbour in ("09000001", "09000008", "09000009")
    with pytest.raises(DataError) as caught:
        repaired(path, ["join", "09000000"], *cut)
    assert (caught.value.code, caught.value.units) == ("not_connected", ("09000000",))


def test_polygons_are_made_valid_one_by_one_or_all(tmp_path):
    path = write("bow tie", tmp_path)
    for words in (["make-valid"], ["make-valid", "09000010"]):
        geography = repaired(path, words)
        assert geography.repaired == ("09000010",)
        assert geography.geometry.is_valid.all()
    with pytest.raises(DataError, match="crosses itself") as caught:
        repaired(path, ["make-valid", "09000011"])
    assert caught.value.units == ("09000010",)


def test_a_crs_is_taken_for_true_when_the_user_says_so(tmp_path):
    path = write("hidden CRS", tmp_path)
    with pytest.raises(DataError, match=r"`--repair set-crs EPSG:32615`"):
        read_geography(path)
    geography = repaired(path, ["set-crs", CRS])
    assert geography.geometry.area.to_numpy() == pytest.approx(1e6, rel=0.01)
    with pytest.raises(DataError) as caught:
        repaired(path, ["set-crs", "EPSG:4326"])
    assert caught.value.code == "wrong_crs"
    with pytest.raises(DataError, match="no coordinate reference system 'Missouri'"):
        repaired(path, ["set-crs", "Missouri"])


def test_repairs_of_units_that_are_not_there_must_be_settled(tmp_path):
    path = write("plain", tmp_path)
    for words in (["drop", "x"], ["join", "x"], ["make-valid", "x"], ["cut-edge", "09000000", "x"]):
        with pytest.raises(DataError) as caught:
            repaired(path, words)
        assert (caught.value.code, caught.value.units) == ("repair_unknown_unit", ("x",))


def test_repairs_that_change_nothing_are_worth_a_look(tmp_path):
    path = write("plain", tmp_path)
    words = (["add-edge", "09000000", "09000001"], ["cut-edge", "09000000", "09000009"], ["join", "09000000"])
    findings = Findings()
    geography = inspect_geography(Files(path, repairs=choose_repairs(words)), findings)
    assert [found.code for found in findings if found.severity == "look"] == ["repair_needless"] * 3
    assert geography.digest == read_geography(path).digest


def test_a_graph_without_shapes_has_no_nearest_unit(tmp_path):
    (tmp_path / "graph.json").write_text('{"a": ["b"], "b": ["a"], "c": []}')
    (tmp_path / "units.csv").write_text("id,pop\na,1\nb,1\nc,1\n")
    with pytest.raises(DataError, match=r"the map has no shapes.*add-edge ID ID"):
        repaired(tmp_path / "units.csv", ["join", "c"], edges=tmp_path / "graph.json")
    geography = repaired(tmp_path / "units.csv", ["add-edge", "c", "a"], edges=tmp_path / "graph.json")
    assert geography.edges.tolist() == [[0, 1], [0, 2]]


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["paint", "a"], "no repair 'paint'.*set-crs, drop"),
        (["add-edge", "a"], "add-edge needs two units; got 1: a"),
        (["cut-edge", "a", "b", "c"], "cut-edge needs two units; got 3"),
        (["drop"], "drop needs a unit"),
        (["set-crs"], "set-crs needs a CRS"),
    ],
)
def test_incomplete_repairs_are_refused(words, message):
    with pytest.raises(DataError, match=message):
        choose_repairs([words])


names = st.text(st.characters(exclude_categories=["C", "Z"]), min_size=1)
repairs_of_any_kind = st.one_of(
    st.builds(Repair, st.sampled_from(["drop", "join", "set-crs"]), names, st.just(""), names),
    st.builds(Repair, st.sampled_from(["add-edge", "cut-edge", "join"]), names, names, names),
    st.just(Repair("make-valid")),
)


@given(st.lists(repairs_of_any_kind, min_size=1))
def test_the_log_comes_back_as_it_was_written(tmp_path_factory, repairs):
    path = tmp_path_factory.mktemp("log") / "repairs.csv"
    path.write_text(repairs_text(repairs), encoding="utf-8")
    assert read_repairs(path) == tuple(repairs)


def test_a_log_names_its_columns_and_known_actions(tmp_path):
    path = tmp_path / "repairs.csv"
    path.write_text("unit,what\na,drop\n")
    with pytest.raises(DataError, match=r"no column action, subject"):
        read_repairs(path)
    path.write_text("action,subject\npaint,a\n")
    with pytest.raises(DataError, match="no repair 'paint'"):
        read_repairs(path)
    path.write_text("action,subject\ndrop,a\n")
    assert read_repairs(path) == (Repair("drop", "a"),)


def test_reasons_do_not_count_in_the_name_of_a_run_and_everything_else_does():
    one = (Repair("drop", "a", "", "water"),)
    assert repairs_digest(one) == repairs_digest([Repair("drop", "a", "", "an island")])
    assert (
        len(
            {repairs_digest(r) for r in (one, [], [Repair("drop", "b")], [Repair("join", "a")], [*one, *one])}
        )
        == 5
    )


def test_what_was_done_replays_to_the_same_map(tmp_path):
    path = write("island of two units", tmp_path)
    words = [["join", "09990001"], ["drop", "9000063"], ["cut-edge", "09000000", "09000001"]]
    first = repaired(path, *words)
    (tmp_path / "repairs.csv").write_text(repairs_text(first.repairs))
    again = read_geography(path, repairs=read_repairs(tmp_path / "repairs.csv"))
    assert again.digest == first.digest
    assert again.repairs == first.repairs
    assert again.repair_record == first.repair_record
    assert first.repair_record["repairs"]["rows"] == [
        "join 09990000 09000007",
        "drop 9000063",
        "cut-edge 09000000 09000001",
    ]
    assert read_geography(write("plain", tmp_path)).repair_record == {}


def test_equally_near_units_are_chosen_by_id(tmp_path):
    frame = grid(2)
    frame.geometry = [box(0, 0), box(1, 0), shapely.box(*box(0, 9).bounds), box(1, 1)]
    frame = gpd.GeoDataFrame(frame, crs=CRS)
    frame.to_parquet(tmp_path / "units.parquet")
    one = repaired(tmp_path / "units.parquet", ["join", "09000002"])
    frame.iloc[::-1].to_parquet(tmp_path / "units.parquet")
    other = repaired(tmp_path / "units.parquet", ["join", "09000002"])
    assert one.repairs == other.repairs
    assert one.digest == other.digest
