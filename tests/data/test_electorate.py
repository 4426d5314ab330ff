"""Columns of people of voting age, of groups of them and of votes, under the names that publishers use."""

import numpy as np
import pandas as pd
import pytest

from bottomup.data import DataError, Electorate, Votes
from bottomup.data.electorate import find_electorate

IDS = ("a", "b")


def find(*names, numbers=None, **named):
    numbers = numbers or {}
    columns = pd.DataFrame({name: numbers.get(name, [1, 2]) for name in names})
    return find_electorate(columns, IDS, **named)


@pytest.mark.parametrize(
    ("names", "voting_age", "groups"),
    [
        (
            ["VAP20", "HVAP20", "WVAP20", "BVAP20", "ASIANVAP20", "AMINVAP20", "NHPIVAP20", "2MOREVAP20"],
            "VAP20",
            {
                "Black": "BVAP20",
                "Hispanic": "HVAP20",
                "Asian": "ASIANVAP20",
                "American Indian": "AMINVAP20",
                "Pacific Islander": "NHPIVAP20",
                "White": "WVAP20",
            },
        ),
        (["VAP", "HVAP", "BVAP", "BCVAP", "CVAP"], "VAP", {"Black": "BVAP", "Hispanic": "HVAP"}),
        (
            ["P0030001", "P0030003", "P0030004", "P0030005", "P0030006", "P0040001", "P0040002", "P0040005"],
            "P0030001",
            {
                "Black": "P0030004",
                "Hispanic": "P0040002",
                "Asian": "P0030006",
                "American Indian": "P0030005",
                "White": "P0040005",
            },
        ),
        (["P3_001N", "P3_003N", "P4_002N"], "P3_001N", {"Hispanic": "P4_002N", "White": "P3_003N"}),
        (
            ["V_20_VAP.Total", "V_20_VAP.Native", "V_20_CVAP.Black", "V_20_VAP_NH.White"],
            "V_20_VAP.Total",
            {"American Indian": "V_20_VAP.Native"},
        ),
        (["vap20", "black_vap", "vap_white"], "vap20", {"Black": "black_vap", "White": "vap_white"}),
        # Of several years the latest, and no group from another year than all of whom it is a part.
        (["VAP10", "BVAP10", "VAP20", "HVAP10", "HVAP20"], "VAP20", {"Hispanic": "HVAP20"}),
        (["VAP10", "VAP", "BVAP10", "BVAP"], "VAP", {"Black": "BVAP"}),
        (["VAP_2010", "BVAP_2010"], "VAP_2010", {"Black": "BVAP_2010"}),
        # A part of nobody knows how many.
        (["BVAP20", "TOTPOP20"], None, {}),
    ],
)
def test_groups_are_known_by_their_usual_names(names, voting_age, groups):
    assert find(*names) == Electorate(voting_age, groups)
    assert list(find(*names).groups) == list(groups)


@pytest.mark.parametrize(
    ("democratic", "republican", "name"),
    [
        ("PRES20D", "PRES20R", "President 2020"),
        ("GOV16D", "GOV16R", "Governor 2016"),
        ("SEN2018_D", "SEN2018_R", "U.S. Senate 2018"),
        ("pres20_dem", "pres20_rep", "President 2020"),
        ("16_pres_dem", "16_pres_rep", "President 2016"),
        ("T16SEND", "T16SENR", "U.S. Senate 2016"),
        ("G20PREDBID", "G20PRERTRU", "President 2020"),
        ("G16PREDCli", "G16PRERTru", "President 2016"),
        ("G18USSDMCC", "G18USSRHAW", "U.S. Senate 2018"),
        ("S20USSDWAR", "S20USSRLOE", "U.S. Senate 2020 (special)"),
        ("R21USSDOSS", "R21USSRPER", "U.S. Senate 2021 (runoff)"),
        ("E_20_PRES.Dem", "E_20_PRES.Rep", "President 2020"),
        ("datasets.E_16-20_COMP.Dem", "datasets.E_16-20_COMP.Rep", "Composite 2016–2020"),
        ("e_18_ag_dem", "e_18_ag_rep", "Attorney General 2018"),
        ("EC12D", "EC12R", "EC 2012"),
        ("PRES96D", "PRES96R", "President 1996"),
        ("Dem", "Rep", "unnamed election"),
    ],
)
def test_elections_are_known_by_their_usual_names(democratic, republican, name):
    assert find(republican, democratic, "PRES20TOT").elections == {name: Votes(democratic, republican)}


@pytest.mark.parametrize(
    "names",
    [
        ["PRES20D"],
        ["PRES20D", "PRES16R"],
        ["G20PREDBID", "G18USSRHAW"],
        # Who of the two stood in the end is not known.
        ["S20USSDWAR", "S20USSDLIE", "S20USSRLOE"],
        ["P20PREDBID", "P20PRERTRU"],
        ["red", "bird", "d", "r"],
    ],
)
def test_what_is_no_pair_of_candidates_is_no_election(names):
    assert find(*names).elections == {}


def test_the_latest_for_president_comes_first_and_then_the_latest():
    names = [f"{contest}{party}" for contest in ("GOV22", "PRES16", "SEN20", "PRES20") for party in "DR"]
    assert list(find(*names).elections) == [
        *("President 2020", "Governor 2022", "U.S. Senate 2020", "President 2016"),
    ]
    # The same election under a second name is the same.
    assert find(*names, "G20PREDBID", "G20PRERTRU").elections == find(*names).elections


@pytest.mark.parametrize("bad", [[1, np.nan], [-1, 2], ["one", "two"], [np.inf, 1]])
def test_columns_known_by_name_count_only_with_numbers(bad):
    names = ["VAP20", "BVAP20", "HVAP20", "PRES20D", "PRES20R", "GOV18D", "GOV18R"]
    found = find(*names, numbers={"BVAP20": bad, "PRES20R": bad})
    assert found == Electorate("VAP20", {"Hispanic": "HVAP20"}, {"Governor 2018": Votes("GOV18D", "GOV18R")})
    # The next best will do.
    assert find("VAP20", "VAP", numbers={"VAP20": bad}) == Electorate("VAP")


def test_what_the_user_names_comes_first_and_replaces_what_is_known():
    names = ["VAP20", "BVAP20", "HVAP20", "PRES20D", "PRES20R", "GOV18D", "GOV18R", "x", "y"]
    found = find(
        *names,
        groups={"black": "x", "Haitian": "y"},
        elections={"governor 2018": ("x", "y"), "Mayor": ("y", "x")},
    )
    assert list(found.groups.items()) == [("black", "x"), ("Haitian", "y"), ("Hispanic", "HVAP20")]
    assert list(found.elections) == ["governor 2018", "Mayor", "President 2020"]
    assert found.elections["Mayor"] == Votes("y", "x")
    assert find("adults", "BVAP20", voting_age="adults") == Electorate("adults", {"Black": "BVAP20"})
    assert find("VAP10", "VAP20", "BVAP20", "BVAP10", voting_age="VAP10") == Electorate(
        "VAP10", {"Black": "BVAP10"}
    )


@pytest.mark.parametrize(
    ("named", "code", "words"),
    [
        ({"voting_age": "nope"}, "no_column", "no column 'nope', named for the people of voting age"),
        ({"groups": {"Green": "nope"}}, "no_column", "no column 'nope', named for group 'Green'"),
        ({"elections": {"Mayor": ("VAP", "nope")}}, "no_column", "no column 'nope', named for election"),
        ({"groups": {"Green": "county"}}, "no_numbers", "column 'county', named for group 'Green', holds no"),
        ({"elections": {"Mayor": ("county", "VAP")}}, "no_numbers", "in 2 of 2 units: a, b"),
    ],
)
def test_named_columns_must_exist_and_hold_numbers(named, code, words):
    with pytest.raises(DataError, match=words) as caught:
        find("VAP", "county", numbers={"county": ["x", "y"]}, **named)
    assert caught.value.code == code


def test_a_named_group_needs_all_of_whom_it_is_a_part():
    with pytest.raises(DataError, match="voting_age_column") as caught:
        find("x", groups={"Green": "x"})
    assert caught.value.code == "no_voting_age"
    with pytest.raises(ValueError, match="groups need voting_age"):
        Electorate(groups={"Green": "x"})
