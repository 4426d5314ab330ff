"""A row for each community, with a list of its units, as Representable writes them, a polygon, or both."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

import geopandas as gpd
import shapely

from bottomup.data.errors import DataError, list_some
from bottomup.data.tables import find_column, require_column, text_ids
from bottomup.data.testimony_formats.common import (
    TESTIMONY_COLUMNS,
    Columns,
    Community,
    Reading,
    cluster_column,
    is_blank,
    refuse_repeated_ids,
    units_in,
)

LIST_COLUMNS = ("block_group_ids", "census_block_ids", "tiles", "unit_ids", "units", "blocks", "geoids")
# The outline of whole blocks before the line that was drawn: it is what Representable shows.
_SHAPE_COLUMNS = (
    "census_blocks_polygon",
    "geometry",
    "wkt",
    "the_geom",
    "geom",
    "user_polygon",
    "polygon",
    "geojson",
)
_N_LOOKED_AT = 50


def list_columns(columns: Sequence[str], records: Sequence[Mapping[str, object]]) -> list[str]:
    """Return the columns whose cells list units: several ids in some cell."""
    found = [column for name in LIST_COLUMNS if (column := find_column(columns, (name,))) is not None]
    is_named = [column for column in found if column.lower().endswith("_ids")]
    return [
        column
        for column in dict.fromkeys(found)
        if column in is_named or any(len(units_in(one.get(column))) > 1 for one in records[:_N_LOOKED_AT])
    ]


def shape_column(columns: Sequence[str], records: Sequence[Mapping[str, object]]) -> str | None:
    """Return the column of a table whose cells are polygons in text."""
    for column in sorted(columns, key=_shape_rank):
        filled = [one[column] for one in records[:_N_LOOKED_AT] if not is_blank(one.get(column))]
        if filled and all(_looks_like_shape(str(cell)) for cell in filled):
            return column
    return None


def _shape_rank(column: str) -> int:
    name = column.lower()
    return _SHAPE_COLUMNS.index(name) if name in _SHAPE_COLUMNS else len(_SHAPE_COLUMNS)


def _looks_like_shape(cell: str) -> bool:
    text = cell.strip()
    start = text[:40].upper()
    if start.startswith(("POLYGON", "MULTIPOLYGON", "SRID=", "GEOMETRYCOLLECTION")):
        return True
    if start.startswith("{"):
        return '"coordinates"' in text
    return (
        len(text) > 40
        and start.startswith(("0103", "0106", "00000000"))
        and not set(start) - set("0123456789ABCDEF")
    )


def shapes_in_cells(path: Path, column: str, cells: Sequence[object]) -> gpd.GeoSeries:
    """Return polygons written as WKT, with or without SRID, as GeoJSON, or as hexadecimal WKB.

    Raises
    ------
    DataError
        If rows are in different reference systems. A cell that cannot be read is a missing shape.
    """
    systems: set[int] = set()
    shapes = []
    for cell in cells:
        text = "" if is_blank(cell) else str(cell).strip()
        shape = None
        try:
            if text[:5].upper() == "SRID=":
                number, _, text = text[5:].partition(";")
                systems.add(int(number))
            if text.startswith("{"):
                shape = shapely.from_geojson(text)
            elif text[:1] == "0":
                shape = shapely.from_wkb(bytes.fromhex(text))
            elif text:
                shape = shapely.from_wkt(text)
        except (shapely.errors.GEOSException, ValueError):
            shape = None
        if shape is not None and shapely.get_srid(shape):
            systems.add(int(shapely.get_srid(shape)))
        shapes.append(shape)
    if len(systems) > 1:
        raise DataError(
            "several_crs",
            f"{str(path)!r} has polygons in several reference systems in column {column!r}: "
            f"{list_some([f'EPSG:{code}' for code in sorted(systems)])}.",
            remedy="Save them in one.",
        )
    return gpd.GeoSeries(shapes, crs=f"EPSG:{systems.pop() if systems else 4326}")


def read_communities(
    path: Path,
    columns: Sequence[str],
    records: Sequence[Mapping[str, object]],
    shapes: Callable[[], gpd.GeoSeries] | None,
    given: Columns,
) -> Reading:
    """Read a table or layer with a row for each community.

    Raises
    ------
    DataError
        If ids are blank or occur twice, or a named column is not there.
    """
    lists = list_columns(columns, records)
    id_column = find_column(columns, TESTIMONY_COLUMNS) if given.testimony is None else given.testimony
    if id_column is None:
        ids = [str(row) for row in range(1, len(records) + 1)]
    else:
        require_column(columns, id_column, (), "testimony ids", "testimony_column", path)
        ids = text_ids(one.get(id_column) for one in records)
        refuse_repeated_ids(path, id_column, ids)
    cluster = cluster_column(columns, given, path)
    clusters = [""] * len(records)
    if cluster is not None and cluster != id_column:
        clusters = text_ids(one.get(cluster) for one in records)
    communities = tuple(
        Community(
            name,
            next((units for column in lists if (units := units_in(record.get(column)))), ()),
            (row,) if shapes is not None else (),
            own,
        )
        for row, (name, record, own) in enumerate(zip(ids, records, clusters, strict=True))
    )
    kind = "communities with lists of units" if lists else "polygons"
    return Reading(path, kind, communities, shapes, id_column or "")
