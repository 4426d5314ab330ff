"""Repairs of a map that its user chose, and the log from which they can be made again."""

from __future__ import annotations

import csv
import hashlib
import io
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import NamedTuple

from bottomup.data.errors import DataError, list_some
from bottomup.data.tables import read_table

__all__ = [
    "ACTIONS",
    "Repair",
    "choose_repairs",
    "read_repairs",
    "repairs_digest",
    "repairs_text",
    "try_repair",
]

ACTIONS = {
    "set-crs": "take the coordinates for those of a CRS, such as EPSG:26915",
    "drop": "leave units out, such as water or islands",
    "make-valid": "make polygons valid that cross themselves; without ids, all of them",
    "join": "join the piece of a unit to the nearest unit outside of it",
    "add-edge": "make two units neighbours",
    "cut-edge": "let two units not be neighbours",
}
"""What can be done, and what it means. In this order it happens, but edges change in the order of the log."""
EDGE_ACTIONS = ("join", "add-edge", "cut-edge")
_COLUMNS = ("action", "subject", "neighbour", "why")


class Repair(NamedTuple):
    """One row of the log.

    Attributes
    ----------
    action : str
        One of :data:`ACTIONS`.
    subject : str
        The unit, or the CRS; blank for all units.
    neighbour : str
        The other unit of an edge; blank while a ``join`` has not been made.
    why : str
        For people.
    """

    action: str
    subject: str = ""
    neighbour: str = ""
    why: str = ""

    def check(self) -> None:
        """Raise a DataError if the action is unknown or does not have what it needs."""
        if self.action not in ACTIONS:
            raise DataError(
                "bad_repair", f"there is no repair {self.action!r}.", remedy=f"Repairs: {', '.join(ACTIONS)}."
            )
        n_needed = {"make-valid": 0, "add-edge": 2, "cut-edge": 2}.get(self.action, 1)
        if n_needed > (self.subject != "") + (self.neighbour != ""):
            needed = {1: "a CRS" if self.action == "set-crs" else "a unit", 2: "two units"}[n_needed]
            raise DataError(
                "bad_repair", f"repair {self.action} needs {needed}.", remedy="Name it by its id."
            )


def choose_repairs(words: Iterable[Sequence[str]]) -> tuple[Repair, ...]:
    """Return repairs from words as they are typed: an action, then what it is about.

    Parameters
    ----------
    words : iterable of sequences of str
        For example ``["drop", "001", "002"]`` or ``["add-edge", "001", "004"]``.
    """
    repairs: list[Repair] = []
    for action, *names in words:
        if action in ("add-edge", "cut-edge"):
            if len(names) != 2:
                raise DataError(
                    "bad_repair",
                    f"repair {action} needs two units; got {len(names)}: {list_some(names)}.",
                    remedy="Give each pair a repair of its own.",
                )
            repairs.append(Repair(action, *names))
        else:
            repairs += [Repair(action, name) for name in names or [""]]
    for repair in repairs:
        repair.check()
    return tuple(repairs)


def read_repairs(path: str | Path) -> tuple[Repair, ...]:
    """Read a log of repairs: a table with the columns ``action, subject, neighbour, why``.

    Raises
    ------
    DataError
        If it is no such table, or an action is unknown or incomplete.
    """
    table = read_table(path)
    missing = [name for name in _COLUMNS[:2] if name not in table.columns]
    if missing:
        raise DataError(
            "bad_repair",
            f"{str(path)!r} is no log of repairs: it has no column {list_some(missing)}.",
            remedy=f"Its columns are {', '.join(_COLUMNS)}; `bottomup check` writes one.",
        )
    columns = [table.get(name, [""] * len(table)) for name in _COLUMNS]
    repairs = tuple(Repair(*row) for row in zip(*columns, strict=True))
    for repair in repairs:
        repair.check()
    return repairs


def repairs_text(repairs: Iterable[Repair]) -> str:
    """Return the log as :func:`read_repairs` reads it."""
    text = io.StringIO()
    rows = csv.writer(text, lineterminator="\n")
    rows.writerow(_COLUMNS)
    rows.writerows(repairs)
    return text.getvalue()


def repairs_digest(repairs: Iterable[Repair]) -> str:
    """SHA-256, in hexadecimal, of what is done to what; the reasons do not count."""
    return hashlib.sha256(repairs_text(repair._replace(why="") for repair in repairs).encode()).hexdigest()


def try_repair(action: str, units: Sequence[str], n_most: int = 3) -> str:
    """Return the option that makes a repair, for a remedy."""
    named = " ".join(f'"{unit}"' if " " in unit else unit for unit in units[:n_most])
    return f"`--repair {action} {named}{' …' if len(units) > n_most else ''}`"
