"""Tells by its content what a file of testimonies is, and reads it."""

from __future__ import annotations

import json
from collections.abc import Callable, Container, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

import geopandas as gpd
import shapely

from bottomup.data.errors import DataError
from bottomup.data.polygons import plain_columns
from bottomup.data.tables import is_table, read_rows, refuse_rows, require_file
from bottomup.data.testimony_formats import blocks, districtr, long_table, portal, rows, wide
from bottomup.data.testimony_formats.common import Columns, Reading
from bottomup.data.testimony_formats.shapes import in_crs, shape_column, shapes_in_cells, shapes_of_layer

_JSON_SUFFIXES = frozenset({".json", ".geojson", ".csv", ".tsv", ".txt"})
_WITHOUT_AREA = frozenset({"Point", "MultiPoint", "LineString", "MultiLineString"})


class _Layer(NamedTuple):
    columns: list[str]
    records: list[dict[str, object]]
    shapes: Callable[[], gpd.GeoSeries]
    kinds: set[str]


def read_file(path: str | Path, given: Columns, id_column: str, unit_ids: Container[str] = ()) -> Reading:
    """Read one file of testimonies in any of the known formats.

    Parameters
    ----------
    path : path
    given : Columns
        Columns that the user has named.
    id_column : str
        The column of unit ids on the map, which is looked for first.
    unit_ids : container of str
        The ids of the map's units, where the file alone does not show which of its ids are units.

    Returns
    -------
    Reading
        Without communities when there are none in the file; its remarks then say why.

    Raises
    ------
    DataError
        If it is in none of the formats, or what it says contradicts itself.
    """
    found = require_file(path)
    content = _read_json(found)
    if districtr.is_plan(content):
        assert isinstance(content, dict)
        return districtr.read_plan(found, content)
    features = _features(content)
    if features is not None:
        return _from_layer(found, _geojson_layer(found, features), given, id_column)
    if is_table(found) and content is None:
        return _from_table(found, given, id_column, unit_ids)
    return _from_layer(found, _gis_layer(found), given, id_column)


def _read_json(path: Path) -> object:
    """Return what a JSON file holds, None for any other file."""
    if path.suffix.lower() not in _JSON_SUFFIXES or not path.is_file():
        return None
    with path.open("rb") as file:
        if file.read(200).removeprefix(b"\xef\xbb\xbf").lstrip()[:1] not in (b"{", b"["):
            return None
    try:
        return json.loads(path.read_bytes().decode("utf-8-sig"))
    except (ValueError, RecursionError):
        return None


def _features(content: object) -> list[dict] | None:
    """Return the features of GeoJSON, None when it is something else."""
    if not isinstance(content, dict) or content.get("type") != "FeatureCollection":
        return None
    features = content.get("features")
    if not isinstance(features, list) or not all(isinstance(one, dict) for one in features):
        return None
    return features


def _geojson_layer(path: Path, features: Sequence[Mapping]) -> _Layer:
    records = []
    for feature in features:
        properties = feature.get("properties")
        record = dict(properties) if isinstance(properties, dict) else {}
        if isinstance(feature.get("id"), str):
            record[districtr.FEATURE_ID] = feature["id"]
        records.append(record)
    columns = list(dict.fromkeys(str(name) for record in records for name in record))

    def shapes() -> gpd.GeoSeries:
        hidden = _hidden_crs(features)
        if hidden is not None:
            return in_crs(path, [_shape(one.get("geometry")) for one in features], hidden)
        return shapes_of_layer(path).geometry

    geometries = [feature.get("geometry") for feature in features]
    kinds = {str(one.get("type")) for one in geometries if isinstance(one, dict)}
    return _Layer(columns, records, shapes, kinds)


def _hidden_crs(features: Sequence[Mapping]) -> str | None:
    """Return the one CRS that is written inside every geometry, where readers of GeoJSON do not look."""
    names = set()
    for feature in features:
        geometry = feature.get("geometry")
        crs = geometry.get("crs") if isinstance(geometry, dict) else None
        properties = crs.get("properties") if isinstance(crs, dict) else None
        names.add(properties.get("name") if isinstance(properties, dict) else None)
    name = names.pop() if len(names) == 1 else None
    return name if isinstance(name, str) else None


def _shape(geometry: object) -> shapely.Geometry | None:
    try:
        return shapely.from_geojson(json.dumps(geometry)) if geometry else None
    except (shapely.errors.GEOSException, ValueError, TypeError):
        return None


def _gis_layer(path: Path) -> _Layer:
    frame = shapes_of_layer(path)
    table = plain_columns(frame)
    columns = [str(name) for name in table.columns]
    records = [dict(zip(columns, row, strict=True)) for row in table.itertuples(index=False, name=None)]
    kinds = {str(kind) for kind in frame.geometry.geom_type.dropna()}
    return _Layer(columns, records, lambda: frame.geometry, kinds)


def _from_layer(path: Path, layer: _Layer, given: Columns, id_column: str) -> Reading:
    columns, records, shapes, kinds = layer
    if not records:
        return Reading(path, "an empty layer", (), remarks=("holds no feature",))
    if kinds and kinds <= _WITHOUT_AREA:
        return Reading(path, "a layer without areas", (), remarks=("holds points or lines only, no area",))
    if given.testimony is None and districtr.layer_column(columns) is not None:
        return districtr.read_layer(path, columns, records, shapes, id_column)
    own = [name for name in columns if name != districtr.FEATURE_ID]
    return rows.read_communities(path, own, records, shapes, given)


def _from_table(path: Path, given: Columns, id_column: str, unit_ids: Container[str]) -> Reading:
    table = list(read_rows(path))
    if not table:
        raise DataError("empty_file", f"{str(path)!r} holds no rows.")
    header, body = table[0], table[1:]
    if given == Columns():
        if districtr.is_table_header(header):
            return districtr.read_table(path, body)
        places = blocks.find_columns(header, id_column)
        if places is not None and blocks.is_table_of_blocks(header, id_column):
            wide.refuse_marks_beside(path, header, body, places[:2])
            return blocks.read_blocks(path, header, body, id_column)
    if given.unit is None:
        records = [dict(zip(header, row, strict=False)) for row in body]
        if portal.plan_column(header, records) is not None:
            return portal.read_portal(path, header, records, given)
        drawn = shape_column(header, records)
        if drawn is not None or rows.list_columns(header, records):
            refuse_rows(path, header, [row for row, cells in enumerate(body, 2) if any(cells[len(header) :])])
            shapes = None if drawn is None else _shapes_of(path, drawn, records)
            return rows.read_communities(path, header, records, shapes, given)
        if portal.has_links_only(header):
            portal.refuse_links(path)
    marked = wide.read_wide(path, header, body, given, id_column, unit_ids)
    if marked is not None:
        return marked
    return long_table.read_long(path, header, body, given, id_column)


def _shapes_of(
    path: Path, column: str, records: Sequence[Mapping[str, object]]
) -> Callable[[], gpd.GeoSeries]:
    return lambda: shapes_in_cells(path, column, [one.get(column) for one in records])
