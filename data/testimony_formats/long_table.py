"""Tables with a row for each testimony and unit."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from bottomup.data.errors import DataError, count, list_some
from bottomup.data.identifiers import ID_COLUMNS
from bottomup.data.tables import refuse_repeated, refuse_rows, require_column
from bottomup.data.testimony_formats.common import (
    TESTIMONY_COLUMNS,
    Columns,
    Community,
    Reading,
    cluster_column,
)


def read_long(
    path: Path, header: Sequence[str], rows: Sequence[Sequence[str]], given: Columns, id_column: str
) -> Reading:
    """Read testimony, unit and, where there is one, cluster from each row.

    Raises
    ------
    DataError
        If a column cannot be found, a row names no testimony or has more cells than the header, or a
        testimony is in two clusters.
    """
    testimony_name = require_column(
        header, given.testimony, TESTIMONY_COLUMNS, "testimony ids", "testimony_column", path
    )
    testimony_at = header.index(testimony_name)
    others = [name for position, name in enumerate(header) if position != testimony_at]
    unit_names = (id_column.lower(), *ID_COLUMNS)
    unit_at = header.index(require_column(others, given.unit, unit_names, "unit ids", "unit_column", path))
    cluster_name = cluster_column(header, given, path)
    cluster_at = None if cluster_name is None else header.index(cluster_name)
    used = [column for column in (testimony_at, unit_at, cluster_at) if column is not None]
    refuse_repeated(path, header, [header[column] for column in used])

    width = 1 + max(used)
    units: dict[str, dict[str, None]] = {}
    clusters: dict[str, str] = {}
    wide: list[int] = []
    nameless: list[str] = []
    torn: dict[str, str] = {}
    for number, row in enumerate(rows, start=2):
        if any(row[len(header) :]):
            wide.append(number)
        cells = [*row, *[""] * (width - len(row))]
        testimony = cells[testimony_at]
        if not testimony:
            nameless.append(str(number))
            continue
        own = units.setdefault(testimony, {})
        if cells[unit_at]:
            own[cells[unit_at]] = None
        if cluster_at is not None and cells[cluster_at]:
            cluster = clusters.setdefault(testimony, cells[cluster_at])
            if cluster != cells[cluster_at]:
                torn[testimony] = f"{testimony} ({cluster} and {cells[cluster_at]})"
    refuse_rows(path, header, wide)
    if nameless:
        raise DataError(
            "nameless_testimony",
            f"{str(path)!r} names no testimony in {count(len(nameless), 'row')} (the header is row 1, blank "
            f"lines do not count): {list_some(nameless)}.",
            remedy="Give every row its testimony, or remove it.",
        )
    if torn:
        raise DataError(
            "two_clusters",
            f"{str(path)!r} puts {count(len(torn), 'testimony', 'testimonies')} into more than one cluster, "
            f"{list_some(list(torn.values()))}",
            remedy="A testimony belongs to one cluster at most.",
            units=list(torn),
        )
    if not units:
        raise DataError(
            "empty_file", f"{str(path)!r} holds no testimonies.", remedy="Give it a row for each unit."
        )
    communities = tuple(
        Community(name, tuple(own), cluster=clusters.get(name, "")) for name, own in units.items()
    )
    return Reading(
        path,
        "a table of testimonies and units",
        communities,
        id_column=testimony_name,
        columns=tuple(header),
    )
