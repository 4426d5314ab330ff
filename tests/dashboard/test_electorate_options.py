"""Options that name columns of groups and elections, on every command that reads a map."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from bottomup.dashboard.cli import main
from bottomup.dashboard.options import load_inputs, page_arguments, parse_page_options
from bottomup.data import DataError, Votes

NAMED = ["--voting-age", "adults", "--group", "Two or more=b", "--group", "Black=a"]
NAMED += ["--election", "Mayor 2021=a,b", "--election=Sheriff=b,a"]


@pytest.fixture
def with_votes(grid_tables: list[str]) -> list[str]:
    """Units with columns of unusual names, and with those of two elections that are known."""
    nodes = Path(grid_tables[1])
    table = pd.read_csv(nodes, dtype={"GEOID20": str})
    table = table.assign(adults=8, a=range(64), b=1, HVAP=2, PRES20D=3, PRES20R=4, G18USSDMCC=5, G18USSRHAW=1)
    table.to_csv(nodes, index=False)
    return [*grid_tables, "--plan", "even"]


def test_named_columns_come_before_those_that_are_found(with_votes: list[str]) -> None:
    geography = load_inputs(parse_page_options([*with_votes, *NAMED])).geography
    assert geography.electorate.voting_age == "adults"
    assert list(geography.electorate.groups.items()) == [
        *(("Two or more", "b"), ("Black", "a"), ("Hispanic", "HVAP")),
    ]
    assert list(geography.electorate.elections.items()) == [
        ("Mayor 2021", Votes("a", "b")),
        ("Sheriff", Votes("b", "a")),
        ("President 2020", Votes("PRES20D", "PRES20R")),
        ("U.S. Senate 2018", Votes("G18USSDMCC", "G18USSRHAW")),
    ]


def test_the_page_is_given_them(with_votes: list[str]) -> None:
    options = parse_page_options([*with_votes, *NAMED])
    assert parse_page_options(page_arguments(options)) == options


def test_check_says_which_columns_were_taken(with_votes: list[str], capsys: pytest.CaptureFixture) -> None:
    assert main(["check", *with_votes, *NAMED[:4], "--json"]) == 0
    (taken,) = (each["message"] for each in json.loads(capsys.readouterr().out) if each["code"] == "columns")
    for words in (
        "people of voting age from 'adults';",
        "Two or more people of voting age from 'b'",
        "Hispanic people of voting age from 'HVAP' (found by its name)",
        "votes for President 2020 from 'PRES20D' (Democratic) and 'PRES20R' (Republican)",
    ):
        assert words in taken


@pytest.mark.parametrize(
    ("named", "words"),
    [
        (["--group", "Black"], "--group 'Black' does not say which column to take"),
        (["--group", "=a"], "--group '=a' does not say"),
        (["--election", "Mayor=a"], "--election 'Mayor=a' does not say which columns to take"),
        (["--election", "Mayor=a,"], "does not say which columns"),
        (["--group", "Black=nope"], "no column 'nope', named for group 'Black'"),
        (["--group", "Black=a"], "Name it with --voting-age"),
    ],
)
def test_what_cannot_be_taken_is_refused(with_votes: list[str], named: list[str], words: str) -> None:
    with pytest.raises(DataError) as caught:
        load_inputs(parse_page_options([*with_votes, *named]))
    assert words in str(caught.value)


def test_the_demonstration_has_columns_of_its_own() -> None:
    with pytest.raises(DataError, match="--group given without --units"):
        load_inputs(parse_page_options(["--group", "Black=a"]))


def test_sample_writes_a_share_of_every_group_and_election(
    with_votes: list[str], tmp_path: Path, capsys: pytest.CaptureFixture
) -> None:
    options = [*with_votes, "--voting-age", "adults", "--group", "Black=a", "--steps", "2000", "--thin", "50"]
    assert main(["sample", *options, "--out", str(tmp_path / "run")]) == 0
    plans = pd.read_parquet(tmp_path / "run" / "plans.parquet")
    assert [name for name in plans.columns if name.endswith("_share")] == [
        "black_vap_share",
        "hispanic_vap_share",
        "democratic_president_2020_share",
        "democratic_u_s_senate_2018_share",
    ]
    assert (np.stack(plans["hispanic_vap_share"]) == np.full((len(plans), 4), 0.25)).all()
    run = json.loads((tmp_path / "run" / "run.json").read_text())
    judged = list(run["outcome"]["diagnostics"]["by_epsilon"][0]["quantities"])
    assert "Black 4" in judged
    assert "Democratic, President 2020 1" in judged
    assert not [name for name in judged if name.startswith(("Hispanic", "Democratic, U.S."))]
    said = capsys.readouterr().out
    assert "Of 4 shares, which are all recorded, Black and Democratic, President 2020 are to agree" in said
    assert "\nlowest Democratic share, President 2020" in said

    assert main(["export", str(tmp_path / "run"), "--plan", "1"]) == 0
