"""Where real files are published, what they are, and under what licence: nothing here uses the network."""

from __future__ import annotations

import csv
import tomllib
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from pathlib import PurePosixPath
from typing import Any
from urllib.parse import unquote, urlsplit

from bottomup.data.errors import DataError

__all__ = ["LOCK_FILE", "Source", "SourceFile", "State", "find_state", "sources_of"]

LOCK_FILE = "sources.lock"
"""Records, in the folder that was fetched to, what files were when they first came."""
GENERAL = "census.toml"
"""Sources that exist for every state; a state's own are in a file of its name, where there is one."""


@dataclass(frozen=True)
class State:
    """A state as addresses of the Census Bureau name it.

    Attributes
    ----------
    fips : str
        Two digits.
    postal : str
        Two capital letters.
    name : str
        In English, with blanks.
    """

    fips: str
    postal: str
    name: str

    @property
    def folder(self) -> str:
        """The name without blanks, as the Census Bureau calls the state's folder."""
        return self.name.replace(" ", "_")


@dataclass(frozen=True)
class SourceFile:
    """One file as it is published.

    Attributes
    ----------
    address : str
        Where it is published.
    name : str
        What it is called on disk.
    checksum : str
        ``sha256:`` or ``git:`` and hexadecimal digits; the second is the id of the blob in a Git repository.
        Blank when it is not known.
    n_bytes : int or None
        None when it is not known.
    """

    address: str
    name: str
    checksum: str = ""
    n_bytes: int | None = None


@dataclass(frozen=True)
class Source:
    """Something published, in one file or several.

    Attributes
    ----------
    name, title : str
        Short, and in words.
    kind : {"units", "figures", "plan", "testimonies"}
    becomes : str
        The file that is made of it.
    licence, citation : str
    files : tuple of SourceFile
    column : str
        For plans and testimonies, the column that names them.
    summary_level : str
        For units, their level in the figures of the Census Bureau.
    note : str
        What to know about it.
    """

    name: str
    title: str
    kind: str
    becomes: str
    licence: str
    citation: str
    files: tuple[SourceFile, ...]
    column: str = ""
    summary_level: str = ""
    note: str = ""


@cache
def _states() -> tuple[State, ...]:
    with files(__name__).joinpath("states.csv").open(encoding="utf-8") as stream:
        return tuple(State(**row) for row in csv.DictReader(stream))


def find_state(text: str) -> State:
    """Return the state that a name, postal code or FIPS code means.

    Raises
    ------
    DataError
        If there is none.
    """
    wanted = " ".join(text.replace("_", " ").replace("-", " ").split()).lower()
    for state in _states():
        if wanted in (state.name.lower(), state.postal.lower(), state.fips, state.fips.lstrip("0")):
            return state
    raise DataError(
        "unknown_state",
        f"there is no state {text!r}.",
        remedy="Give its name, its postal code or its FIPS code, such as missouri, MO or 29.",
    )


def sources_of(state: State) -> tuple[Source, ...]:
    """Return what can be fetched for a state, in the order in which to fetch it."""
    found = list(_read_sources(GENERAL, state))
    own = f"{state.folder.lower()}.toml"
    if files(__name__).joinpath(own).is_file():
        found += _read_sources(own, state)
    return tuple(found)


def _read_sources(name: str, state: State) -> tuple[Source, ...]:
    table = tomllib.loads(files(__name__).joinpath(name).read_text(encoding="utf-8"))
    return tuple(
        Source(**{**entry, "files": tuple(_source_file(file, state) for file in entry["files"])})
        for entry in table["source"]
    )


def _source_file(entry: dict[str, Any], state: State) -> SourceFile:
    address = entry["address"].format(fips=state.fips, postal=state.postal.lower(), folder=state.folder)
    name = entry.get("name") or PurePosixPath(unquote(urlsplit(address).path)).name
    return SourceFile(address, name, entry.get("checksum", ""), entry.get("n_bytes"))
