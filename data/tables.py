"""Text tables as people send them: any common separator, byte-order mark, blank lines, leading zeros."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

import numpy as np
import pandas as pd

from bottomup.data.errors import DataError, count, list_some

TABLE_SUFFIXES = frozenset({".csv", ".tsv", ".txt"})
SEPARATORS = (",", "\t", "|", ";")
# Numbers whose text would change if they were read as numbers are codes: 007, 01.
_CODE = re.compile(r"[+-]?0\d")


def is_table(path: str | Path) -> bool:
    """Tell whether a file is a text table, by its suffix."""
    return Path(path).suffix.lower() in TABLE_SUFFIXES


def require_file(path: str | Path) -> Path:
    """Return the path of a file that exists.

    Raises
    ------
    DataError
        If nothing is there.
    """
    found = Path(path)
    # An empty name, as an unset shell variable leaves it, would be the current folder.
    if not str(path) or not found.exists():
        raise DataError(
            "no_file",
            f"there is no file {str(path)!r}.",
            remedy="Check the spelling and the folder from which the command runs.",
        )
    return found


def read_rows(path: str | Path) -> Iterator[list[str]]:
    """Yield the rows of a text table, blank ones left out and cells stripped of outer blanks.

    Parameters
    ----------
    path : str or Path
        A file in UTF-8 (with or without byte-order mark) or, failing that, Windows-1252. Cells are separated
        by whichever of comma, tab, pipe and semicolon is the most frequent in the first line.

    Yields
    ------
    list of str
        The cells of a row.

    Raises
    ------
    DataError
        If there is no such file, it is not text, or its quotes do not match: a quote left open would swallow
        the rows below it.
    """
    text = _read_text(path)
    first_line = next((line for line in io.StringIO(text, newline=None) if line.strip()), "")
    outside_quotes = "".join(first_line.split('"')[::2])
    separator = max(SEPARATORS, key=outside_quotes.count)
    # The limit guards against endless files; this one is in memory. Cells with outlines or letters are long.
    csv.field_size_limit(max(len(text), csv.field_size_limit()))
    rows = csv.reader(io.StringIO(text, newline=""), delimiter=separator, strict=True)
    started = 1
    try:
        for row in rows:
            started = rows.line_num + 1
            cells = [cell.strip() for cell in row]
            if any(cells):
                yield cells
    except csv.Error as error:
        raise DataError(
            "unreadable",
            f"{str(path)!r} is not a readable table: {error} in the row that starts in line {started:,}.",
            remedy="Close every double quote, and write a double quote inside a cell twice.",
        ) from error


def _read_text(path: str | Path) -> str:
    try:
        content = require_file(path).read_bytes()
    except OSError as error:
        raise DataError(
            "unreadable", f"{str(path)!r} cannot be read: {error.strerror}.", remedy="Give a file of text."
        ) from error
    if b"\0" in content:
        raise DataError(
            "unreadable",
            f"{str(path)!r} is not text in UTF-8: it holds zero bytes, as UTF-16 and binary files do.",
            remedy="Save it again as CSV with UTF-8 text.",
        )
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError:
        return content.decode("cp1252", errors="replace")


def read_table(path: str | Path) -> pd.DataFrame:
    """Read a whole text table with a header row; every cell stays text.

    Columns that have neither a name nor a filled cell, as spreadsheets leave them, are left out.

    Raises
    ------
    DataError
        If it has no rows, a column name twice, or rows longer or shorter than the header.
    """
    rows = read_rows(path)
    header = next(rows, None)
    body = list(rows)
    if header is None or not body:
        raise DataError(
            "empty_file", f"{str(path)!r} holds no rows.", remedy="Row 1 names the columns, data follow."
        )
    refuse_rows(path, header, [row for row, cells in enumerate(body, start=2) if len(cells) != len(header)])
    used = [column for column, name in enumerate(header) if name or any(cells[column] for cells in body)]
    names = [header[column] for column in used]
    refuse_repeated(path, names, names)
    return pd.DataFrame([[cells[column] for column in used] for cells in body], columns=names, dtype=object)


def refuse_rows(path: str | Path, header: Sequence[str], rows: Sequence[int]) -> None:
    """Raise a DataError that lists rows (the header is row 1) that do not have the columns of the header."""
    if rows:
        raise DataError(
            "ragged_rows",
            f"{str(path)!r} has {count(len(header), 'column')} in row 1, its header, but not in "
            f"{count(len(rows), 'other row')} (blank lines do not count): "
            f"{list_some([str(row) for row in rows])}.",
            remedy="Row 1 must name the columns, and cells that contain the separator need double quotes.",
        )


def refuse_repeated(path: str | Path, header: Sequence[str], used: Iterable[str]) -> None:
    """Raise a DataError if one of the columns in use has the name of another column."""
    repeated = sorted({name or "(blank)" for name in used if list(header).count(name) > 1})
    if repeated:
        raise DataError(
            "repeated_column",
            f"{str(path)!r} has more than one column named {list_some(repeated)}.",
            remedy="Row 1 must name the columns: rename or remove all but one.",
        )


def as_numbers(column: pd.Series) -> pd.Series:
    """Return a text column as numbers when all of it is numbers, otherwise unchanged.

    Columns with leading zeros are codes and stay text; blank cells of a column of numbers become NaN.
    """
    text = column.astype(str)
    filled = text[text != ""]
    if filled.empty or filled.map(_CODE.match).map(bool).any():
        return column
    numbers = pd.to_numeric(filled, errors="coerce")
    if numbers.isna().any():
        return column
    return numbers if len(filled) == len(text) else numbers.reindex(text.index)


def flatten_records(table: pd.DataFrame) -> pd.DataFrame:
    """Replace every column of nested records by one column per leaf, named ``column.key.key``.

    Publishers put whole tables of votes into one property of each GeoJSON feature; spread out, they can be
    named as any other column.
    """
    nested = [name for name in table.columns if table[name].map(lambda cell: isinstance(cell, dict)).any()]
    flat = table.drop(columns=nested)
    for name in nested:
        records = [cell if isinstance(cell, dict) else {} for cell in table[name]]
        leaves = pd.json_normalize(records).add_prefix(f"{name}.")
        leaves.index = table.index
        flat = pd.concat([flat, leaves], axis=1)
    return flat


def text_ids(values: Iterable[object]) -> list[str]:
    """Return ids as text: whole numbers without decimals, missing ones as the empty string."""
    ids = []
    for value in values:
        if value is None or value is pd.NA or (isinstance(value, float) and np.isnan(value)):
            ids.append("")
        elif isinstance(value, float | np.floating) and float(value).is_integer():
            ids.append(str(int(value)))
        else:
            ids.append(str(value).strip())
    return ids


def find_column(columns: Sequence[str], candidates: Iterable[str]) -> str | None:
    """Return the first column that has one of the candidate names, upper and lower case being the same.

    Parameters
    ----------
    columns : sequence of str
        The columns of a file.
    candidates : iterable of str
        Names to look for, the best one first, in lower case.
    """
    by_name = {str(column).lower(): column for column in reversed(columns)}
    return next((by_name[name] for name in candidates if name in by_name), None)


def require_column(
    columns: Sequence[str],
    given: str | None,
    candidates: Iterable[str],
    what: str,
    argument: str,
    path: object,
) -> str:
    """Return the named column, or the one that its name gives away.

    Parameters
    ----------
    columns : sequence of str
        The columns of the file.
    given : str or None
        The name that the user gave.
    candidates : iterable of str
        Names to look for when none was given.
    what : str
        What the column holds, for the message.
    argument : str
        The argument that names the column, for the message.
    path : object
        The file, for the message.

    Raises
    ------
    DataError
        If the named column is not there, or none was named and none has a known name.
    """
    if given is not None:
        if given in columns:
            return given
        message = f"{str(path)!r} has no column {given!r} for the {what}."
    else:
        found = find_column(columns, candidates)
        if found is not None:
            return found
        message = f"none of the columns of {str(path)!r} is known to hold the {what}."
    rename = next((f"Rename the right one to {name!r}, or name it" for name in candidates), "Name it")
    present = list_some([str(name) or "(blank)" for name in columns], 40) or "none"
    raise DataError("no_column", message, remedy=f"{rename} with {argument}. The columns are: {present}.")
