"""Shapes of communities: polygons written into cells, and layers, in the reference system that they name."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path

import geopandas as gpd
import numpy as np
import shapely

from bottomup.data.errors import DataError, list_some
from bottomup.data.polygons import check_crs, read_shapes, set_crs
from bottomup.data.testimony_formats.common import is_blank

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
    return in_crs(path, shapes, f"EPSG:{systems.pop() if systems else 4326}")


def in_crs(path: Path, shapes: Sequence[shapely.Geometry | None], name: str) -> gpd.GeoSeries:
    """Return shapes in the reference system of that name; those whose coordinates are not finite are missing.

    Raises
    ------
    DataError
        If there is no such system, or the coordinates cannot be in it.
    """
    array = np.array([*shapes, None], dtype=object)[:-1]
    coordinates, owner = shapely.get_coordinates(array, return_index=True)
    array[owner[~np.isfinite(coordinates).all(axis=1)]] = None
    with _advice_for_testimonies():
        frame = set_crs(gpd.GeoDataFrame(geometry=array), name)
        if (~frame.geometry.isna() & ~frame.geometry.is_empty).any():
            check_crs(frame, path)
    return frame.geometry


def shapes_of_layer(path: Path) -> gpd.GeoDataFrame:
    """Read a layer; see `bottomup.data.polygons.read_shapes`."""
    with _advice_for_testimonies():
        return read_shapes(path)


@contextmanager
def _advice_for_testimonies() -> Iterator[None]:
    """Let errors about a reference system say what helps here: repairs are for the map alone."""
    try:
        yield
    except DataError as error:
        if not error.code.endswith("_crs"):
            raise
        remedy = "Set the one that they are in, in a GIS program, and save again."
        raise DataError(error.code, error.message, remedy=remedy) from error
