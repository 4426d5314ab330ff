"""Folders of testimony files, and ids that are unique over them and name nobody."""

from __future__ import annotations

from collections import Counter
from collections.abc import Container
from dataclasses import replace
from pathlib import Path

from bottomup.data.errors import DataError
from bottomup.data.testimony_formats.common import (
    Columns,
    Reading,
    distinct,
    has_address,
    hide_addresses,
    stem,
)
from bottomup.data.testimony_formats.detect import read_file
from bottomup.data.testimony_formats.people import names_people

_SUFFIXES = frozenset(
    {".csv", ".tsv", ".txt", ".json", ".geojson", ".shp", ".gpkg", ".zip", ".kml", ".parquet", ".geoparquet"}
    | {".gml", ".fgb"}
)
_PARTS_OF_SHAPEFILES = frozenset({".dbf", ".shx", ".prj", ".cpg", ".sbn", ".sbx", ".qix", ".qmd", ".qpj"})


def read_files(
    path: str | Path, given: Columns, id_column: str, unit_ids: Container[str]
) -> tuple[list[Reading], tuple[str, ...]]:
    """Read a file, or every file of a folder and the folders in it.

    In a folder the ids of communities begin with the names of their files.

    Returns
    -------
    readings : list of Reading
        One for each file.
    remarks : tuple of str
        Which files of the folder have been left aside.

    Raises
    ------
    DataError
        If a file cannot be read, or a folder holds none that may be testimonies.
    """
    if not str(path) or not Path(path).is_dir():
        return [_without_persons(read_file(path, given, id_column, unit_ids), given)], ()
    folder = Path(path)
    inside = sorted(file for file in folder.rglob("*") if file.is_file() and not _is_hidden(file, folder))
    readable = [file for file in inside if file.suffix.lower() in _SUFFIXES]
    if not readable:
        raise DataError(
            "empty_folder",
            f"{str(path)!r} holds no file of testimonies.",
            remedy="Give a folder of tables, GeoJSON files, shapefiles or plans saved as JSON.",
        )
    others = [
        file for file in inside if file not in readable and file.suffix.lower() not in _PARTS_OF_SHAPEFILES
    ]
    prefixes = _prefixes(readable, folder)
    readings = []
    for file in readable:
        try:
            reading = _without_persons(read_file(file, given, id_column, unit_ids), given)
        except DataError as error:
            if file.suffix.lower() == ".txt":
                others.append(file)
                continue
            advice = f"{error.remedy} If it is no testimony, take it out of the folder.".strip()
            raise DataError(error.code, error.message, remedy=advice, units=error.units) from error
        readings.append(_prefixed(reading, prefixes[file]))
    ids = iter(distinct([one.id for reading in readings for one in reading.communities]))
    readings = [
        replace(reading, communities=tuple(replace(one, id=next(ids)) for one in reading.communities))
        for reading in readings
    ]
    return readings, tuple(
        f"{file.relative_to(folder)} is no table, plan or layer: left aside" for file in others
    )


def _is_hidden(file: Path, folder: Path) -> bool:
    return any(part.startswith((".", "__MACOSX")) for part in file.relative_to(folder).parts)


def _prefixes(files: list[Path], folder: Path) -> dict[Path, str]:
    """Return the shortest name that tells each file apart: without suffix, with it, or with its folder."""
    prefixes = {file: stem(file) for file in files}
    for name in (lambda file: file.name, lambda file: str(file.relative_to(folder))):
        times = Counter(prefixes.values())
        prefixes = {
            file: hide_addresses(name(file)) if times[prefix] > 1 else prefix
            for file, prefix in prefixes.items()
        }
    return prefixes


def _prefixed(reading: Reading, prefix: str) -> Reading:
    own = stem(reading.path)
    communities = tuple(
        replace(one, id=prefix + one.id.removeprefix(own))
        if one.id == own or one.id.startswith(f"{own}-")
        else replace(one, id=f"{prefix}-{one.id}")
        for one in reading.communities
    )
    return replace(reading, communities=communities)


def _without_persons(reading: Reading, given: Columns) -> Reading:
    """Number the communities of a file whose ids are the names or e-mail addresses of people."""
    column = reading.id_column
    is_personal = names_people(
        column,
        reading.columns,
        is_layer=reading.shapes is not None,
        is_chosen=given.testimony is not None,
    )
    if not is_personal and not any(has_address(one.id) for one in reading.communities):
        return reading
    numbered = tuple(replace(one, id=str(number)) for number, one in enumerate(reading.communities, start=1))
    where = f"its column {column!r} names" if column else "its ids name"
    return replace(
        reading,
        communities=numbered,
        remarks=(*reading.remarks, f"{where} people; testimonies are called by their numbers instead"),
    )
