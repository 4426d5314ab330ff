"""Files of a plan in the formats of other programs, each with what made the plan in it or beside it."""

from __future__ import annotations

import io
import json
import tempfile
import zipfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, BinaryIO, Literal

import geopandas as gpd
import pandas as pd
import pyarrow.parquet as pq
from numpy.typing import ArrayLike

from bottomup.data.districts import Plan
from bottomup.data.errors import DataError
from bottomup.data.export import plan_csv, plan_features, plan_geojson
from bottomup.data.geography import Geography
from bottomup.data.polygons import WGS84

__all__ = ["PLAN_FORMATS", "provenance_path", "write_archive", "write_plan"]

PLAN_FORMATS = {"csv": ".csv", "geojson": ".geojson", "gpkg": ".gpkg", "parquet": ".parquet", "shp": ".zip"}
"""Formats and the endings of their files; a shapefile is zipped."""
# What the table of a shapefile can hold.
_NAME_LENGTH, _TEXT_BYTES = 10, 254
# Files of the same plan are the same file: an archive would otherwise hold the time.
_NO_TIME = (1980, 1, 1, 0, 0, 0)


def write_plan(
    path: str | Path,
    geography: Geography,
    plan: Plan,
    *,
    kind: Literal["districts", "units"] = "units",
    statistics: Mapping[str, ArrayLike] | None = None,
    provenance: Mapping[str, Any] | None = None,
) -> list[Path]:
    """Write a plan to a file whose ending says the format, see :data:`PLAN_FORMATS`.

    What made the plan goes where other programs leave it alone: a member of the collection (GeoJSON), a table
    ``provenance`` of names and values (GeoPackage), the metadata of the schema (Parquet), a text file in the
    archive (shapefile), a file beside it (CSV).

    Parameters
    ----------
    path : path
        Is replaced when it exists.
    geography : Geography
        The map, with shapes unless a CSV is written.
    plan : Plan
        The plan.
    kind : {"districts", "units"}
        What the features are; a CSV always has units.
    statistics : mapping, optional
        Name to an array of shape (n_districts,), for districts only.
    provenance : mapping, optional
        What made the plan, ready for JSON.

    Returns
    -------
    list of Path
        The files that were written.

    Raises
    ------
    DataError
        If the ending is of no format, the map has no shapes, or the format cannot hold the plan.
    """
    path = Path(path)
    ending = path.suffix.lower()
    if ending == ".csv":
        return _write_csv(path, geography, plan, provenance)
    if ending in (".geojson", ".json"):
        text = plan_geojson(geography, plan, kind=kind, statistics=statistics, provenance=provenance)
        path.write_text(text, encoding="utf-8")
        return [path]
    if ending not in PLAN_FORMATS.values():
        raise DataError(
            "bad_format",
            f"{str(path)!r} does not end like a file that a plan can be written to.",
            remedy=f"Choose one of {', '.join(PLAN_FORMATS.values())}.",
        )
    shapes, properties = plan_features(geography, plan, kind=kind, statistics=statistics)
    frame = gpd.GeoDataFrame(pd.DataFrame(properties), geometry=list(shapes), crs=WGS84)
    if ending == ".gpkg":
        _write_geopackage(path, frame, kind, provenance)
    elif ending == ".parquet":
        _write_parquet(path, frame, provenance)
    else:
        _write_shapefile(path, frame, kind, provenance)
    return [path]


def provenance_path(path: Path) -> Path:
    """Return the file beside a CSV that says what made the plan."""
    return path.with_name(f"{path.stem}.provenance.json")


def write_archive(target: str | Path | BinaryIO, folder: Path, within: str = "") -> None:
    """Zip all files of a folder, in the order of their names: of the same files the same archive.

    Parameters
    ----------
    target : path or binary file
    folder : path
    within : str
        Name of a folder in the archive that they are to lie in.
    """
    with zipfile.ZipFile(target, "w") as archive:
        for part in sorted(path for path in folder.rglob("*") if path.is_file()):
            name = part.relative_to(folder).as_posix()
            entry = zipfile.ZipInfo(f"{within}/{name}" if within else name, _NO_TIME)
            archive.writestr(entry, part.read_bytes(), zipfile.ZIP_DEFLATED)


def _write_csv(
    path: Path, geography: Geography, plan: Plan, provenance: Mapping[str, Any] | None
) -> list[Path]:
    path.write_text(plan_csv(geography, plan), encoding="utf-8")
    if provenance is None:
        return [path]
    # Not a comment in the table: most programs would take it for a unit.
    beside = provenance_path(path)
    beside.write_text(_text(provenance), encoding="utf-8")
    return [path, beside]


def _write_geopackage(
    path: Path, frame: gpd.GeoDataFrame, kind: str, provenance: Mapping[str, Any] | None
) -> None:
    path.unlink(missing_ok=True)
    frame.to_file(path, driver="GPKG", layer=kind)
    if provenance is not None:
        rows = [
            (name, value if isinstance(value, str) else _text(value)) for name, value in provenance.items()
        ]
        table = gpd.GeoDataFrame(pd.DataFrame(rows, columns=["name", "value"]))
        table.to_file(path, driver="GPKG", layer="provenance", mode="a")


def _write_parquet(path: Path, frame: gpd.GeoDataFrame, provenance: Mapping[str, Any] | None) -> None:
    buffer = io.BytesIO()
    frame.to_parquet(buffer, compression="zstd")
    table = pq.read_table(buffer)
    if provenance is not None:
        table = table.replace_schema_metadata({**table.schema.metadata, b"provenance": _text(provenance)})
    pq.write_table(table, path, compression="zstd")


def _write_shapefile(
    path: Path, frame: gpd.GeoDataFrame, kind: str, provenance: Mapping[str, Any] | None
) -> None:
    for column in ("id", "district"):
        long = [text for text in frame[column] if len(text.encode()) > _TEXT_BYTES]
        if long:
            raise DataError(
                "text_too_long",
                f"a shapefile holds texts of up to {_TEXT_BYTES} bytes; column {column!r} has a longer one, "
                f"{long[0][:40]!r}…",
                remedy="Write a GeoPackage instead.",
            )
    short = _short_names([str(name) for name in frame.columns if name != frame.geometry.name])
    with tempfile.TemporaryDirectory() as folder:
        frame.rename(columns=short).to_file(
            Path(folder) / f"{kind}.shp", driver="ESRI Shapefile", encoding="utf-8"
        )
        lines = [f"{new}: {old}" for old, new in short.items() if new != old]
        about = "Columns with shortened names\n" + "\n".join(lines) + "\n\n" if lines else ""
        if provenance is not None:
            about += "What made the plan\n" + _text(provenance)
        (Path(folder) / f"{kind}.txt").write_text(about, encoding="utf-8")
        write_archive(path, Path(folder))


def _short_names(names: Sequence[str]) -> dict[str, str]:
    """Return a name of no more than ten characters for each name, no two alike."""
    short: dict[str, str] = {}
    for name in names:
        candidate, number = name[:_NAME_LENGTH].rstrip("_"), 1
        while candidate.lower() in {taken.lower() for taken in short.values()}:
            number += 1
            candidate = f"{name[: _NAME_LENGTH - len(str(number))]}{number}"
        short[name] = candidate
    return short


def _text(value: object) -> str:
    return json.dumps(value, indent=2, ensure_ascii=False) + "\n"
