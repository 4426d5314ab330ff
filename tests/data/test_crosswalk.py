"""Testimonies in the units of another map: by a crosswalk, or by what Census ids begin with."""

from __future__ import annotations

import dataclasses

import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bottomup.data import DataError, read_testimonies
from bottomup.data.crosswalk import crosswalk_by_prefix, kind_of_ids, read_crosswalk
from bottomup.data.identifiers import UnitMatcher

MAP = ("000", "001", "010", "011")


@pytest.fixture
def write(tmp_path):
    def write(name, text):
        (tmp_path / name).write_text(text)
        return tmp_path / name

    return write


@pytest.fixture
def read(make_grid, write):
    """Read testimonies of two by two units through a crosswalk."""

    def read(testimonies, crosswalk=None, **options):
        path = None if crosswalk is None else write("walk.csv", crosswalk)
        return read_testimonies(write("t.csv", testimonies), make_grid(2, 2), crosswalk=path, **options)

    return read


def units_of(testimonies):
    return {name: testimonies.units_of(n).tolist() for n, name in enumerate(testimonies.ids)}


WALK = "unit_of_testimony,unit_of_map\nx1,000\nx2,000\nx2,001\nx3,999\n"


def test_a_unit_belongs_when_any_part_does_without_shares(read):
    found = read("testimony,unit\na,x1\nb,x2\nc,x1\nc,nowhere\nd,x3\n", WALK)
    assert units_of(found) == {"a": [0], "b": [0, 1], "c": [0], "d": []}
    assert found.status == ("used", "used", "partly outside", "empty")
    assert found.unknown_units == {"c": ("nowhere",), "d": ("x3",)}
    assert found.remarks[0] == "t.csv: 3 communities went through the crosswalk"


def test_units_of_both_maps_may_be_named(read):
    assert units_of(read("testimony,unit\na,x1\na,011\n", WALK)) == {"a": [0, 3]}


@pytest.mark.parametrize(("threshold", "units"), [(0.5, [0]), (0.4, [0, 1]), (0.7, [])])
def test_shares_add_up_to_the_threshold(read, threshold, units):
    walk = "unit_of_testimony,unit_of_map,weight\nx1,000,0.2\nx2,000,0.4\nx2,001,0.4\nx4,011,1\n"
    found = read("testimony,unit\na,x1\na,x2\nb,x4\n", walk, threshold=threshold)
    assert units_of(found) == {"a": units, "b": [3]}


@pytest.mark.parametrize(
    "walk",
    [
        "x1,000\nx2,001\n",
        "from,to\nx1,000\nx2,001\n",
        "unit_of_map|unit_of_testimony\n000|x1\n001|x2\n",
        "from,to,share\nx1,000,1\nx2,001,1\n",
        "from\tto\tby area\nx1\t0\t1.0\nx2\t1\t1.0\n",
    ],
)
def test_crosswalks_as_they_come(read, walk):
    assert units_of(read("testimony,unit\na,x1\nb,x2\n", walk)) == {"a": [0], "b": [1]}


def test_leading_zeros_that_a_spreadsheet_took(read):
    assert units_of(read("testimony,unit\na,51000\n", "051000,000\n")) == {"a": [0]}


@pytest.mark.parametrize(
    ("walk", "message"),
    [
        ("x1\nx2\n", "has no row with two columns"),
        (
            "000,x1\n001,x2\n",
            "names no unit of the map in its column 'x1': x2",
        ),
        ("a,b,weight\nx1,000,half\nx2,000,2\n", "no numbers from 0 to 1 in 2 rows: 2, 3"),
    ],
)
def test_crosswalks_that_say_nothing_are_refused(read, walk, message):
    with pytest.raises(DataError, match=message) as caught:
        read("testimony,unit\na,x1\n", walk)
    assert caught.value.code == "crosswalk"


@settings(deadline=None)
@given(
    shares=st.dictionaries(
        st.tuples(st.sampled_from("abcd"), st.sampled_from(MAP)), st.integers(0, 10), min_size=1
    ),
    names=st.lists(st.sampled_from("abcde"), min_size=1, unique=True),
)
def test_the_rule_by_its_definition(tmp_path_factory, shares, names):
    path = tmp_path_factory.mktemp("walk") / "walk.csv"
    rows = [(theirs, ours, tenths / 10) for (theirs, ours), tenths in shares.items()]
    pd.DataFrame(rows, columns=["unit_of_testimony", "unit_of_map", "weight"]).to_csv(path, index=False)
    units, unknown = read_crosswalk(path, MAP).units_of(names, UnitMatcher(MAP), 0.5)
    tenths = [sum(shares.get((name, ours), 0) for name in names) for ours in MAP]
    assert units.tolist() == [place for place, total in enumerate(tenths) if total >= 5]
    assert set(unknown) == {name for name in names if not any(shares.get((name, ours)) for ours in MAP)}


# Ids that begin with one another.

BLOCK_GROUPS = ("290510101001", "290510101002", "290510102001", "291890101001")


def by_prefix(names, ids):
    walk = crosswalk_by_prefix(names, ids)
    return (
        None if walk is None else {name: [place for place, _ in parts] for name, parts in walk.parts.items()}
    )


def test_parts_of_the_maps_units():
    blocks = ["290510101001003", "290510101001999", "291890101001000"]
    assert by_prefix(blocks, BLOCK_GROUPS) == {blocks[0]: [0], blocks[1]: [0], blocks[2]: [3]}


def test_wholes_of_the_maps_units():
    assert by_prefix(["29051010100", "29051010200"], BLOCK_GROUPS) == {
        "29051010100": [0, 1],
        "29051010200": [2],
    }
    assert by_prefix(["29051"], BLOCK_GROUPS) == {"29051": [0, 1, 2]}
    # Precincts of any code begin with their county.
    assert by_prefix(["29189"], ("29189NRW029", "29051A1", "29189X")) == {"29189": [0, 2]}


def test_leading_zeros_of_states():
    assert by_prefix(["10010201001000"], ("010010201001",)) == {"10010201001000": [0]}


@pytest.mark.parametrize(
    ("names", "ids"),
    [
        (["290510101001003"], ("29051X", "29051Y")),
        (["290510101001"], ("29051NRW029", "29051010100")),
        (["17"], BLOCK_GROUPS),
        (["x290510101001003"], BLOCK_GROUPS),
        # Precincts with numbers as long as a tract's, of which few fit by chance.
        (["290510101001", "290510102001", "290510103001"], ("29051010100", "29051000002")),
    ],
)
def test_ids_that_are_not_of_the_kind(names, ids):
    assert by_prefix(names, ids) is None


def test_blocks_on_a_map_of_block_groups(make_grid, write):
    grid = dataclasses.replace(make_grid(2, 2), ids=BLOCK_GROUPS)
    path = write("a.csv", "BLOCKID,DISTRICT\n290510101001003,1\n290510102001003,1\n170510102001003,2\n")
    found = read_testimonies(path, grid)
    assert units_of(found) == {"a-1": [0, 2], "a-2": []}
    assert found.remarks[0].startswith(
        "a.csv: 1 community of other Census units went by what their ids begin"
    )


def test_kinds_of_ids():
    assert kind_of_ids(BLOCK_GROUPS) == "Census block groups"
    assert kind_of_ids(["29051", "290510101001"]) == "Census block groups and counties"
    assert kind_of_ids(["29189NRW029", "29051010100"]) == ""
    assert kind_of_ids([]) == ""


# Units that lead nowhere.


def test_units_of_another_map_are_shown_beside_the_maps(make_grid, write):
    grid = dataclasses.replace(make_grid(2, 2), ids=("29189NRW029", "29189NRW030", "29051A", "29051B"))
    path = write("a.csv", "BLOCKID,DISTRICT\n" + "".join(f"{unit},1\n" for unit in BLOCK_GROUPS))
    with pytest.raises(DataError) as caught:
        read_testimonies(path, grid)
    assert caught.value.code == "no_unit_on_map"
    for part in (
        "4 unit ids not on the map, such as 290510101001, 290510101002, 290510102001 and 1 more",
        "(Census block groups, 12 characters)",
        "look like 29189NRW029, 29189NRW030, 29051A and 1 more (6 or 11 characters)",
        "--crosswalk FILE",
    ):
        assert part in str(caught.value)


def test_units_of_another_state_say_so(make_grid, write):
    grid = dataclasses.replace(make_grid(2, 2), ids=BLOCK_GROUPS)
    path = write("a.csv", "BLOCKID,DISTRICT\n250173114001024,1\n")
    with pytest.raises(DataError, match="Census blocks, of other states, 15 characters"):
        read_testimonies(path, grid)
