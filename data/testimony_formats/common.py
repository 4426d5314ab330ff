"""What every reader of testimonies returns, and how cells and numbers of communities are read."""

from __future__ import annotations

import ast
import json
import re
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

import geopandas as gpd
import numpy as np

from bottomup.data.errors import DataError
from bottomup.data.identifiers import without_decimals
from bottomup.data.plans import natural_order
from bottomup.data.tables import find_column, require_column, text_ids

TESTIMONY_COLUMNS = (
    *("testimony", "testimony_id", "submission", "submission_id", "area_id", "plan_id", "entry_id"),
    *("community", "community_id", "coi", "coi_id", "id"),
)
CLUSTER_COLUMNS = ("cluster", "cluster_id")
UNASSIGNED = frozenset({"", "-1", "none", "null", "nan", "unassigned"})
_EMAIL = re.compile(r"[^\s@,;<>]+@[^\s@,;<>]+\.[^\s@,;<>]+")
_NUMBERS_TOGETHER = re.compile(r"\d+(?:[_;]\d+)+")
_BETWEEN_UNITS = re.compile(r"[\s,;|]+")


class Columns(NamedTuple):
    """Columns that the user has named; None for those to be found."""

    testimony: str | None = None
    unit: str | None = None
    cluster: str | None = None


@dataclass(frozen=True)
class Community:
    """One submitted community as its file has it.

    Attributes
    ----------
    id : str
        Unique in its file.
    units : tuple of str
        Ids of its units, which may be those of another map.
    rows : tuple of int
        Rows of the file whose shapes together are the community; empty when it has no shape.
    cluster : str
        Blank for none.
    text : str
        Name and description of the community; see `bottomup.data.testimony_formats.descriptions`.
    """

    id: str
    units: tuple[str, ...] = ()
    rows: tuple[int, ...] = ()
    cluster: str = ""
    text: str = ""


@dataclass(frozen=True, eq=False)
class Reading:
    """All that is kept of a file.

    Attributes
    ----------
    path : Path
    kind : str
        What the file is, in words.
    communities : tuple of Community
    shapes : callable or None
        Reads the shapes of the file's rows, when units are not enough; None when it has none.
    id_column : str
        The column that the ids are from; blank when they are numbers.
    remarks : tuple of str
        What has been left aside or understood in one of several ways.
    columns : tuple of str
        All columns of the file, when its ids are from one of them.
    """

    path: Path
    kind: str
    communities: tuple[Community, ...]
    shapes: Callable[[], gpd.GeoSeries] | None = None
    id_column: str = ""
    remarks: tuple[str, ...] = ()
    columns: tuple[str, ...] = ()


def stem(path: str | Path) -> str:
    """Return what communities without a name of their own are called by: the file's name without its suffix.

    An e-mail address in it is left out.
    """
    return hide_addresses(Path(path).stem)


def hide_addresses(text: str) -> str:
    """Return a text with its e-mail addresses taken out."""
    return _EMAIL.sub("address", text)


def has_address(text: str) -> bool:
    """Tell whether a text contains an e-mail address."""
    return _EMAIL.search(text) is not None


def is_blank(value: object) -> bool:
    """Tell whether a cell says nothing."""
    return value is None or (isinstance(value, float) and np.isnan(value)) or str(value).strip() == ""


def labels_of(value: object) -> tuple[str, ...]:
    """Return the communities that a cell puts a unit in: none, one, or several (``0_3``, ``0;3``, a list)."""
    if isinstance(value, list | tuple | np.ndarray):
        return tuple(dict.fromkeys(label for part in value for label in labels_of(part)))
    text = "" if is_blank(value) else without_decimals(str(value).strip())
    if text.startswith("[") and text.endswith("]"):
        return labels_of(_parse(text))
    if text.lower() in UNASSIGNED:
        return ()
    parts = re.split("[_;]", text) if _NUMBERS_TOGETHER.fullmatch(text) else [text]
    return tuple(dict.fromkeys(parts))


def units_in(value: object) -> tuple[str, ...]:
    """Return the unit ids of a cell: a list, a list printed as text, or ids with blanks or commas between."""
    if isinstance(value, str):
        text = value.strip()
        parsed = _parse(text) if text[:1] in ("[", "(", "{") else _BETWEEN_UNITS.split(text)
        value = list(parsed) if isinstance(parsed, list | tuple | set) else []
    if not isinstance(value, list | tuple | np.ndarray):
        return ()
    return tuple(dict.fromkeys(unit for unit in text_ids(value) if unit))


def parse_object(value: object) -> object:
    """Return what a cell with JSON, or with Python's way of printing it, holds; None for any other cell."""
    if isinstance(value, dict | list):
        return value
    text = str(value).strip()
    return _parse(text) if text[:1] in ("{", "[") else None


def _parse(text: str) -> object:
    try:
        return json.loads(text)
    except ValueError:
        pass
    try:
        return ast.literal_eval(text)
    except (ValueError, SyntaxError, RecursionError, MemoryError):
        return None


def number_communities(
    prefix: str,
    units_by_label: Mapping[str, Iterable[str]],
    rows_by_label: Mapping[str, Sequence[int]] | None = None,
    numbers: Mapping[str, str] | None = None,
) -> tuple[Community, ...]:
    """Return a community for each label, called ``prefix-label``, in natural order.

    Parameters
    ----------
    prefix : str
        What ids begin with.
    units_by_label : mapping
        Unit ids of each community.
    rows_by_label : mapping, optional
        Rows of the file whose shapes make the community.
    numbers : mapping, optional
        What to call labels instead.
    """
    rows, names = rows_by_label or {}, numbers or {}
    labels = natural_order(set(units_by_label))
    ids = distinct([f"{prefix}-{names.get(label, label)}" for label in labels])
    return tuple(
        Community(own, tuple(dict.fromkeys(units_by_label[label])), tuple(rows.get(label, ())))
        for own, label in zip(ids, labels, strict=True)
    )


def distinct(names: Sequence[str]) -> list[str]:
    """Return names of which none is the same as another: ``a``, ``a (2)``."""
    taken: set[str] = set(names)
    seen: set[str] = set()
    found = []
    for name in names:
        own, times = name, 2
        while own in seen or (own != name and own in taken):
            own, times = f"{name} ({times})", times + 1
        seen.add(own)
        found.append(own)
    return found


def cluster_column(columns: Sequence[str], columns_given: Columns, path: object) -> str | None:
    """Return the column of clusters, None when there is none and none was named."""
    if columns_given.cluster is None:
        return find_column(columns, CLUSTER_COLUMNS)
    return require_column(columns, columns_given.cluster, (), "clusters", "cluster_column", path)


def refuse_repeated_ids(path: object, column: str, ids: Sequence[str]) -> None:
    """Raise a DataError if ids of communities are blank or occur twice."""
    wrong = sorted(name for name, times in Counter(ids).items() if not name or times > 1)
    if wrong:
        raise DataError(
            "repeated_testimony",
            f"{str(path)!r} must have one row for each testimony, but in column {column!r} ids are blank or "
            "occur twice",
            remedy=f"Rename the column of ids to {TESTIMONY_COLUMNS[0]!r}, or name it with testimony_column.",
            units=wrong,
        )
