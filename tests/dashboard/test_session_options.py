from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace

import pytest

from bottomup.dashboard.options import parse_page_options
from bottomup.dashboard.session_options import input_arguments, with_inputs_of
from bottomup.data.errors import DataError


def saved_with(arguments: list[str] | None) -> SimpleNamespace:
    return SimpleNamespace(name="May.bottomup", arguments=arguments)


def test_inputs_are_found_again_from_another_folder(
    grid_tables: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    relative = [word.removeprefix(f"{tmp_path}/") for word in grid_tables]
    named = [*relative, "--plan", "even", "--name", "Grid", "--group", "Black=-b", "--deduplicate"]
    kept = input_arguments(parse_page_options([*named, "--ledger", "own.csv", "--session", "old.bottomup"]))
    assert str(tmp_path / "nodes.csv") in kept
    assert "even" in kept
    assert not {"--ledger", "--session", "own.csv", "old.bottomup"} & set(kept)
    monkeypatch.chdir("/")
    options = parse_page_options(["--session", "May.bottomup", "--ledger", "new.csv"])
    found = with_inputs_of(options, saved_with(kept))
    again = parse_page_options([*grid_tables, *named[len(relative) :], "--ledger", "new.csv"])
    assert vars(found) == vars(again) | {"session_file": "May.bottomup"}


def test_the_demonstration_is_found_again() -> None:
    kept = input_arguments(parse_page_options([]))
    assert kept == []
    assert with_inputs_of(parse_page_options(["--session", "May.bottomup"]), saved_with(kept)).units is None


def test_inputs_that_are_named_stand_before_those_of_the_file(grid_tables: list[str]) -> None:
    options = parse_page_options([*grid_tables, "--plan", "even", "--session-file", "May.bottomup"])
    assert with_inputs_of(options, saved_with(["--units", "gone.csv"])) is options
    assert options.session_file == "May.bottomup"


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (None, "does not say where its inputs are"),
        (["--units", "/nowhere/units.csv"], "was made of /nowhere/units.csv, which is not there"),
        (["--seats", "8"], "with other options than there are"),
    ],
    ids=["unknown", "gone", "options"],
)
def test_inputs_that_cannot_be_found_are_said_to_be_missing(arguments: list[str] | None, words: str) -> None:
    with pytest.raises(DataError, match=words) as error:
        with_inputs_of(parse_page_options(["--session", "May.bottomup"]), saved_with(arguments))
    assert "on the command line" in error.value.remedy
