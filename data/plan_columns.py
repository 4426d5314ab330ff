"""Which columns of a plan's file hold the unit ids and the districts."""

from __future__ import annotations

import re
from collections.abc import Sequence

from bottomup.data.errors import DataError, list_some
from bottomup.data.identifiers import ID_COLUMNS
from bottomup.data.tables import find_column

__all__ = ["find_district_column", "find_unit_column"]

# The best first: a layer of districts has names and numbers of the state beside those of its districts.
_DISTRICT_NAMES = (
    re.compile(r"district"),
    re.compile(r"dist(rict)?_?(id|no|num|number|label|n|name)|districts?|dist|assignment"),
    re.compile(r"(cd|sldl|sldu|sd|hd)_?\d{0,4}_?(fp|st)?(20|30)?"),
    re.compile(r"plan|label|namelsad\d*|name\d*"),
)


def find_unit_column(columns: Sequence[str]) -> str | None:
    """Return the column whose name says that it holds unit ids."""
    return find_column(columns, ID_COLUMNS)


def find_district_column(columns: Sequence[str], given: str | None, path: object) -> str | None:
    """Return the named column, or the one whose name says that it holds districts.

    Raises
    ------
    DataError
        If the named column is not there.
    """
    if given is not None:
        if given not in columns:
            raise DataError(
                "no_column",
                f"{str(path)!r} has no column {given!r} for the districts.",
                remedy=f"The columns are: {list_some(list(columns), 40)}.",
            )
        return given
    for names in _DISTRICT_NAMES:
        for column in columns:
            if names.fullmatch(column.lower()):
                return column
    return None
