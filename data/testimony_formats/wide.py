"""Wide tables of yes and no: a row for each unit and a column for each testimony, or the other way round."""

from __future__ import annotations

from collections import Counter
from collections.abc import Container, Iterable, Sequence
from pathlib import Path
from typing import NamedTuple

from bottomup.data.errors import DataError, count, list_some
from bottomup.data.identifiers import ID_COLUMNS, without_decimals
from bottomup.data.tables import find_column, refuse_repeated, refuse_rows
from bottomup.data.testimony_formats.common import (
    TESTIMONY_COLUMNS,
    Columns,
    Community,
    Reading,
    cluster_column,
    refuse_repeated_ids,
)
from bottomup.data.testimony_formats.descriptions import describe, describing_columns
from bottomup.data.testimony_formats.people import is_personal, names_people

Rows = Sequence[Sequence[str]]

_YES = frozenset({"1", "true", "x"})
_NO = frozenset({"0", "false"})
_WRITE = "Write 1 and 0, true and false, or x and nothing"


class _Layout(NamedTuple):
    """Where things stand in a wide table: its column of names, its columns of marks, and what a row is."""

    label: int
    marks: list[int]
    by_unit: bool


def read_wide(
    path: Path, header: Sequence[str], rows: Rows, given: Columns, id_column: str, unit_ids: Container[str]
) -> Reading | None:
    """Read a table of marks: 1 and 0, true and false, or x and nothing.

    Whether its rows are units or testimonies follows from the name of the column that is not of marks, and
    where that may be either, from the ids of the map.

    Parameters
    ----------
    path : path
    header : sequence of str
    rows : sequence of sequences of str
    given : Columns
        Columns that the user has named.
    id_column : str
        The column of unit ids on the map.
    unit_ids : container of str
        The ids of the map's units.

    Returns
    -------
    Reading or None
        None for a table of another kind.

    Raises
    ------
    DataError
        If it may be read in two ways, a cell is neither yes nor no, blanks stand among zeros, a unit or a
        testimony occurs twice or has no name, or a row has more cells than the header.
    """
    rows = _padded(rows, len(header))
    layout = _find_layout(path, header, rows, given, id_column, unit_ids)
    if layout is None:
        return None
    refuse_rows(path, header, [number for number, row in enumerate(rows, 2) if any(row[len(header) :])])
    label, marks, by_unit = layout
    refuse_repeated(path, header, [header[at] for at in (label, *marks)])
    nameless = [str(at + 1) for at in marks if not header[at]]
    if nameless:
        raise DataError(
            "nameless_column",
            f"{str(path)!r} has marks in columns without a heading, number {list_some(nameless)}.",
            remedy="Row 1 must name each unit or testimony.",
        )
    return (
        _by_unit(path, header, rows, layout) if by_unit else _by_testimony(path, header, rows, given, layout)
    )


def _by_unit(path: Path, header: Sequence[str], rows: Rows, layout: _Layout) -> Reading:
    label, marks, _ = layout
    aside = _others(path, header, rows, {label, *marks})
    units = [row[label] for row in rows]
    _refuse_repeated_units(path, header[label], units)
    names = [header[at] for at in marks]
    _refuse_blanks(path, "column", names, ([row[at] for row in rows] for at in marks))
    yes = _cells_that_say_yes(rows)
    communities = tuple(
        Community(name, tuple(unit for unit, row in zip(units, rows, strict=True) if row[at] in yes))
        for name, at in zip(names, marks, strict=True)
    )
    return Reading(path, "a table of units by testimonies", communities, remarks=_left_aside(aside))


def _by_testimony(path: Path, header: Sequence[str], rows: Rows, given: Columns, layout: _Layout) -> Reading:
    label, marks, _ = layout
    cluster = cluster_column(header, given, path)
    at_cluster = None if cluster is None else header.index(cluster)
    others = _others(path, header, rows, {label, at_cluster, *marks})
    # A unit that nobody marks may have an empty column.
    others = [name for name in others if any(row[header.index(name)] for row in rows)]
    described = describing_columns(others, header[label], is_layer=False)
    personal = [name for name in others if name not in described and is_personal(name)]
    numbers = range(1, len(rows) + 1)
    in_file = [str(number + 1) for number in numbers]
    _refuse_blanks(path, "row", in_file, ([row[at] for at in marks] for row in rows))
    names = [row[label] for row in rows]
    if names_people(
        header[label],
        [header[label], *others],
        is_layer=False,
        is_chosen=given.testimony is not None,
    ):
        names = [str(number) for number in numbers]
    refuse_repeated_ids(path, header[label], names)
    yes = _cells_that_say_yes(rows)
    communities = tuple(
        Community(
            name,
            tuple(header[at] for at in marks if row[at] in yes),
            cluster="" if at_cluster is None else row[at_cluster],
            text=describe({other: row[header.index(other)] for other in others}, described, personal),
        )
        for name, row in zip(names, rows, strict=True)
    )
    return Reading(
        path,
        "a table of testimonies by units",
        communities,
        id_column=header[label],
        remarks=_left_aside([name for name in others if name not in described]),
        columns=(header[label], *others),
    )


def _cells_that_say_yes(rows: Rows) -> frozenset[str]:
    return frozenset(cell for cell in set().union(*rows) if _meaning(cell) in _YES)


def refuse_marks_beside(path: Path, header: Sequence[str], rows: Rows, used: Iterable[int]) -> None:
    """Raise a DataError if a table that is read by some of its columns has several of marks besides."""
    read, rows = sorted(set(used)), _padded(rows, len(header))
    marks = [header[at] for at in range(len(header)) if at not in read and _is_marked(rows, at)]
    if len(marks) > 1:
        columns = list_some([repr(header[at]) for at in read])
        raise DataError(
            "two_layouts",
            f"{str(path)!r} may be read by its columns {columns}, or by the marks in its columns "
            f"{list_some(marks)}.",
            remedy="Keep one of the two: for marks, the column of units or that of testimonies alone.",
        )


def _find_layout(
    path: Path, header: Sequence[str], rows: Rows, given: Columns, id_column: str, unit_ids: Container[str]
) -> _Layout | None:
    unit_names = (id_column.lower(), *ID_COLUMNS)
    testimony, unit = given.testimony, given.unit
    if testimony is None:
        testimony = find_column([name for name in header if name != unit], TESTIMONY_COLUMNS)
    if unit is None:
        unit = find_column([name for name in header if name != testimony], unit_names)
    if testimony is not None and unit is not None:
        both = [header.index(name) for name in (testimony, unit) if name in header]
        if given == Columns() and all(_are_distinct(rows, at) for at in both):
            refuse_marks_beside(path, header, rows, both)
        return None
    by_unit = unit is not None
    label = unit if testimony is None else testimony
    cluster = None if by_unit else cluster_column(header, given, path)
    marks = [at for at, name in enumerate(header) if name not in (label, cluster) and _is_marked(rows, at)]
    if label is None:
        label_at = _find_label(header, rows, marks)
    else:
        label_at = header.index(label) if label in header else None
    # A first column without a heading holds the running numbers of rows.
    marks = [at for at in marks if at or header[at]]
    if label_at is None or not marks:
        return None
    rows_on_map = any(row[label_at] in unit_ids for row in rows)
    heads_on_map = any(header[at] in unit_ids for at in marks)
    is_either = label is None or (given == Columns() and label.lower() in unit_names)
    if is_either and not by_unit:
        if rows_on_map and heads_on_map:
            raise _unclear(path, header[label_at], "there are units of the map in it and in the headings")
        return _Layout(label_at, marks, rows_on_map) if rows_on_map or heads_on_map else None
    if by_unit and heads_on_map and not rows_on_map:
        raise _unclear(path, header[label_at], "units of the map are in the headings, not in it")
    if not by_unit and rows_on_map and not heads_on_map:
        raise _unclear(path, header[label_at], "units of the map are in it, not in the headings")
    # Yes and no may be said of testimonies as well; ids of other units have a number in them.
    if not by_unit and not heads_on_map and not all(any(map(str.isdecimal, header[at])) for at in marks):
        return None
    return _Layout(label_at, marks, by_unit)


def _unclear(path: Path, column: str, why: str) -> DataError:
    return DataError(
        "two_layouts",
        f"{str(path)!r} is a table of marks, but whether column {column!r} names units or testimonies is not "
        f"clear: {why}.",
        remedy="Rename that column to 'unit_id' when each row is a unit, to "
        f"{TESTIMONY_COLUMNS[0]!r} when each row is a testimony.",
    )


def _padded(rows: Rows, width: int) -> Rows:
    """Return rows of which none has fewer cells than the header."""
    return [row if len(row) >= width else [*row, *[""] * (width - len(row))] for row in rows]


def _meaning(cell: str) -> str:
    return without_decimals(cell.lower())


def _is_marked(rows: Rows, at: int) -> bool:
    """Tell whether a column has marks, and nothing else but blanks."""
    meanings = {_meaning(cell) for cell in {row[at] for row in rows}} - {""}
    return bool(meanings) and meanings <= _YES | _NO


def _are_distinct(rows: Rows, at: int) -> bool:
    cells = {row[at] for row in rows}
    return len(cells) == len(rows) and "" not in cells


def _find_label(header: Sequence[str], rows: Rows, marks: Sequence[int]) -> int | None:
    """Return the column that rows are called by: the first that tells them apart, or is filled in all."""
    filled = [at for at in range(len(header)) if at not in marks and all(row[at] for row in rows)]
    return next((at for at in filled if _are_distinct(rows, at)), next(iter(filled), None))


def _others(path: Path, header: Sequence[str], rows: Rows, used: Container[int | None]) -> list[str]:
    """Return the columns without marks; refuse those that would be marks but for some of their cells."""
    others, unclear = [], []
    for at, name in enumerate(header):
        if at in used:
            continue
        cells = [(number, cell) for number, row in enumerate(rows, 2) if (cell := row[at])]
        strange = [(number, cell) for number, cell in cells if _meaning(cell) not in _YES | _NO]
        if strange and 2 * len(strange) <= len(cells):
            number, cell = strange[0]
            unclear.append(f"{name or at + 1} ({cell!r} in row {number})")
        elif name:
            others.append(name)
    if unclear:
        raise DataError(
            "unclear_marks",
            f"{str(path)!r} is a table of marks, but {count(len(unclear), 'column')} with marks "
            f"{'holds' if len(unclear) == 1 else 'hold'} something else too: {list_some(unclear)}.",
            remedy=f"{_WRITE}; take out columns and rows that are about something else, such as totals.",
        )
    return others


def _left_aside(columns: Sequence[str]) -> tuple[str, ...]:
    if not columns:
        return ()
    return (f"{count(len(columns), 'column')} without marks left aside: {list_some(columns)}",)


def _refuse_blanks(path: Path, kind: str, names: Sequence[str], cells: Iterable[Sequence[str]]) -> None:
    """Raise a DataError if a testimony has blanks where its other cells say no."""
    unclear = []
    for name, own in zip(names, cells, strict=True):
        distinct = set(own)
        if "" in distinct and any(_meaning(cell) in _NO for cell in distinct):
            unclear.append(name)
    if unclear:
        raise DataError(
            "unclear_marks",
            f"{str(path)!r} has both blanks and zeros in {count(len(unclear), kind)}: {list_some(unclear)}.",
            remedy=f"{_WRITE}: a blank among zeros may be a no or a gap.",
        )


def _refuse_repeated_units(path: Path, column: str, labels: Sequence[str]) -> None:
    wrong = sorted(name for name, times in Counter(labels).items() if not name or times > 1)
    if wrong:
        raise DataError(
            "repeated_unit",
            f"{str(path)!r} must have one row for each unit, but in column {column!r} ids are blank or occur "
            "twice",
            remedy="Give each unit one row.",
            units=wrong,
        )
