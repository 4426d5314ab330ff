"""Tables of units and the number of the community, or the count of submissions, that each is in."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from bottomup.data.errors import count
from bottomup.data.identifiers import ID_COLUMNS, without_decimals
from bottomup.data.tables import find_column
from bottomup.data.testimony_formats.common import (
    TESTIMONY_COLUMNS,
    Community,
    Reading,
    labels_of,
    number_communities,
    stem,
)

NUMBER_COLUMNS = ("district", "districts", "zone", "assignment", "community_number", "district_id")
COUNT_COLUMNS = ("count", "counts", "n", "heat")


def find_columns(header: Sequence[str], id_column: str) -> tuple[int, int, bool] | None:
    """Find the columns of units and of numbers, and whether the numbers count submissions.

    A table without a header has two columns of which the first begins with the id of a Census unit.
    """
    if (
        len(header) == 2
        and len(without_decimals(header[0])) >= 10
        and without_decimals(header[0]).isdecimal()
    ):
        return 0, 1, False
    unit = find_column(header, (id_column.lower(), *ID_COLUMNS))
    if unit is None:
        return None
    for names, counts in ((NUMBER_COLUMNS, False), (COUNT_COLUMNS, True)):
        found = find_column(header, names)
        if found is not None:
            return header.index(unit), header.index(found), counts
    return None


def is_table_of_blocks(header: Sequence[str], id_column: str) -> bool:
    """Tell whether a table has units and numbers, and nothing else that testimonies might be called by."""
    places = find_columns(header, id_column)
    if places is None:
        return False
    others = [name for place, name in enumerate(header) if place != places[0]]
    return find_column(others, TESTIMONY_COLUMNS) is None


def read_blocks(path: Path, header: Sequence[str], rows: Sequence[Sequence[str]], id_column: str) -> Reading:
    """Read a table of units and numbers, as DistrictBuilder, Dave's and Districtr (version 2) write it."""
    places = find_columns(header, id_column)
    assert places is not None
    unit, number, counts = places
    width = 1 + max(unit, number)
    cells = [list(row) + [""] * (width - len(row)) for row in rows]
    if header[unit][:1].isdecimal():
        cells.insert(0, list(header))
    if counts:
        return _read_counts(path, cells, unit, number)
    units: dict[str, list[str]] = {}
    n_none = 0
    for row in cells:
        for label in labels_of(row[number]):
            # 0 is what these programs give to a unit that is in nothing.
            if label == "0":
                n_none += 1
            elif row[unit]:
                units.setdefault(label, []).append(row[unit])
    remarks = (f"{count(n_none, 'unit')} with the number 0 are in no community",) if n_none else ()
    return Reading(
        path, "a table of units and communities", number_communities(stem(path), units), remarks=remarks
    )


def _read_counts(path: Path, cells: Sequence[Sequence[str]], unit: int, number: int) -> Reading:
    """Read how many submissions cover each unit: one community of all that any covers."""
    units = [row[unit] for row in cells if row[unit] and labels_of(row[number]) not in ((), ("0",))]
    return Reading(
        path,
        "counts of submissions by unit",
        (Community(stem(path), tuple(dict.fromkeys(units))),) if units else (),
        remarks=("counts many submissions together; their common area counts as one community",),
    )
