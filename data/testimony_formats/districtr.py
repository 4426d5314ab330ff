"""Plans of Districtr: version 1 as JSON, table or layer of units, version 2 as table or layer."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

import geopandas as gpd

from bottomup.data.errors import count
from bottomup.data.identifiers import ID_COLUMNS
from bottomup.data.tables import find_column, text_ids
from bottomup.data.testimony_formats.common import (
    Community,
    Reading,
    labels_of,
    number_communities,
    stem,
)

# Such as id-missouri-missouri_blockgroups-50-Community.
_TABLE_HEADER = re.compile(r"id-[^,]+-\d+-.+", re.IGNORECASE)
_LAYER_COLUMNS = ("districtr", "zone")
FEATURE_ID = "(feature id)"
"""What the id of a GeoJSON feature is called among its columns."""


def is_plan(content: object) -> bool:
    """Tell whether JSON is a Districtr plan, possibly in the envelope that its server sends."""
    return isinstance(content, dict) and isinstance(_plan(content).get("assignment"), dict)


def _plan(content: dict) -> dict:
    inner = content.get("plan")
    return inner if isinstance(inner, dict) else content


def communities_of_plan(content: dict, prefix: str) -> tuple[tuple[Community, ...], tuple[str, ...]]:
    """Return the communities of a plan, called by the numbers that its drawer saw, and remarks.

    The file counts communities from 0; people see them from 1.
    """
    plan = _plan(content)
    listed = plan.get("parts")
    parts = [part for part in listed if isinstance(part, dict)] if isinstance(listed, list) else []
    shown = {str(part.get("id")): str(part.get("displayNumber") or "") for part in parts}
    units: dict[str, list[str]] = {}
    for unit, value in plan["assignment"].items():
        for label in labels_of(value):
            units.setdefault(label, []).append(str(unit))
    numbers = {label: shown.get(label) or _counted_from_one(label) for label in units}
    remarks = []
    problem = plan.get("problem")
    if units and isinstance(problem, dict) and problem.get("type") != "community":
        remarks.append("is a plan of districts; each district counts as a community")
    n_blank = len(parts) - len(units)
    if n_blank > 0:
        remarks.append(f"{count(n_blank, 'community', 'communities')} without any unit left aside")
    return number_communities(prefix, units, numbers=numbers), tuple(remarks)


def read_plan(path: Path, content: dict) -> Reading:
    """Read a plan that was saved as JSON."""
    communities, remarks = communities_of_plan(content, stem(path))
    return Reading(path, "a Districtr plan", communities, remarks=remarks)


def is_table_header(header: Sequence[str]) -> bool:
    """Tell whether a table's header is that of Districtr, version 1."""
    return len(header) == 2 and bool(_TABLE_HEADER.fullmatch(header[0])) and header[1].lower() == "assignment"


def read_table(path: Path, rows: Sequence[Sequence[str]]) -> Reading:
    """Read a table of version 1; it counts communities from 0."""
    units: dict[str, list[str]] = {}
    for row in rows:
        for label in labels_of(row[1] if len(row) > 1 else ""):
            units.setdefault(label, []).append(row[0])
    numbers = {label: _counted_from_one(label) for label in units}
    return Reading(path, "a Districtr table", number_communities(stem(path), units, numbers=numbers))


def _counted_from_one(label: str) -> str:
    return str(int(label) + 1) if label.isdecimal() else label


def layer_column(columns: Sequence[str]) -> str | None:
    """Return the column that makes a layer one of units with the communities that they lie in.

    Version 2 writes ``zone`` and little else, so that a layer of zones with ids of their own is not taken
    for one.
    """
    column = find_column(columns, _LAYER_COLUMNS)
    if column is None or column.lower() == "districtr":
        return column
    others = {name.lower() for name in columns} - {"zone", FEATURE_ID, "geo_id", "community", "geometry"}
    has_unit = find_column(columns, (FEATURE_ID, "geo_id")) is not None
    return column if has_unit and not others else None


def read_layer(
    path: Path,
    columns: Sequence[str],
    records: Sequence[Mapping[str, object]],
    shapes: Callable[[], gpd.GeoSeries],
    id_column: str,
) -> Reading:
    """Read units with shapes; layers count communities from 1."""
    number_column = layer_column(columns)
    assert number_column is not None
    unit_column = find_column(columns, (id_column.lower(), *ID_COLUMNS, FEATURE_ID))
    # A feature's running number is no unit.
    names = [""] * len(records) if unit_column is None else text_ids(one.get(unit_column) for one in records)
    units: dict[str, list[str]] = {}
    rows: dict[str, list[int]] = {}
    for row, (record, unit) in enumerate(zip(records, names, strict=True)):
        for label in labels_of(record.get(number_column)):
            rows.setdefault(label, []).append(row)
            units.setdefault(label, []).extend([unit] if unit else [])
    kind = "a Districtr layer of units"
    return Reading(path, kind, number_communities(stem(path), units, rows), shapes=shapes)
