"""Plans from GIS files: units with a district each, or districts drawn as polygons."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import geopandas as gpd
import numpy as np
import shapely

from bottomup.data.districts import clean_label, natural_order
from bottomup.data.errors import DataError, count, list_some
from bottomup.data.geography import Geography
from bottomup.data.identifiers import UnitMatcher
from bottomup.data.matching import MatchReport
from bottomup.data.plan_columns import find_district_column, find_unit_column
from bottomup.data.plan_tables import assign_by_id
from bottomup.data.polygons import plain_columns, read_shapes
from bottomup.data.snapping import projected_polygons, shared_areas
from bottomup.data.tables import find_column, text_ids

__all__ = ["read_plan_shapes"]

# A line drawn twice, once more coarsely, cuts slivers from units; a unit less whole than this is reported.
_WHOLE = 0.99
# Beyond a district's line, drawn twice, slivers of the units outside lie within; that is not inside.
_SLIVER = 1e-3
# Shares of area are compared to so many decimals, so that their order does not hang on rounding.
_SHARE_DECIMALS = 9
_NAMES = ("name", "label", "id")


def read_plan_shapes(
    path: str | Path, geography: Geography, district_column: str | None = None
) -> tuple[list[str], MatchReport]:
    """Read the district of each unit from a GIS file.

    Features that are units of the map are matched by their ids; otherwise they are taken for districts, and
    each unit goes to the district with the largest share of its area.

    Parameters
    ----------
    path : path
        A GIS file.
    geography : Geography
        The map; with shapes, unless the file has its units.
    district_column : str, optional
        The column with the districts; common names are recognised.

    Returns
    -------
    labels : list of str
        Label of each unit, blank for those that have none.
    match : MatchReport
        With the features that are no polygons of a district; they are left out.

    Raises
    ------
    DataError
        If the file cannot be read, does not say which districts it holds, or the map has no shapes to lay
        over them.
    """
    frame = read_shapes(path)
    table = plain_columns(frame)
    columns = [str(name) for name in table.columns]
    unit_column = find_unit_column(columns)
    column = find_district_column([name for name in columns if name != unit_column], district_column, path)
    if column is None:
        # Of a layer of districts the ids may be all there is.
        column = unit_column
    if column is None:
        raise DataError(
            "no_column",
            f"none of the columns of {str(path)!r} is known to hold districts.",
            remedy="Rename the right one to 'district', or name it with district_column. The columns are: "
            f"{list_some(columns, 40) or 'none'}.",
        )
    labels = [clean_label(label) for label in text_ids(table[column])]
    if unit_column is not None and column != unit_column:
        ids = text_ids(table[unit_column])
        matcher = UnitMatcher(geography.ids)
        n_units = len({place for place in matcher.positions(ids) if place >= 0})
        # A layer of districts may have ids too, such as 1 to 8, and these may be units by accident.
        if len(labels) > len(set(labels)) and 2 * n_units > geography.n_units:
            return assign_by_id(str(path), list(zip(ids, labels, strict=True)), geography, matcher)
    if geography.geometry is None:
        raise DataError(
            "no_unit_shapes",
            f"{str(path)!r} holds districts as polygons, but the map has no shapes to lay over them.",
            remedy="Give shapes with the units, or the plan as a table of unit ids.",
        )
    return _assign_by_area(path, frame, labels, geography)


def _assign_by_area(
    path: str | Path, frame: gpd.GeoDataFrame, labels: Sequence[str], geography: Geography
) -> tuple[list[str], MatchReport]:
    assert geography.geometry is not None
    polygons = projected_polygons(frame.geometry, geography.geometry.crs)
    has_area = shapely.area(polygons) > 0
    used = [row for row, label in enumerate(labels) if label and has_area[row]]
    if not used:
        raise DataError(
            "no_shapes",
            f"{str(path)!r} holds no polygon with a district.",
            remedy="Give the districts as polygons with a column of their names.",
        )
    order = natural_order({labels[row] for row in used})
    number = {label: district for district, label in enumerate(order)}
    outlines = geography.geometry.to_numpy()
    polygon, unit, area = shared_areas(polygons[used], outlines)
    district = np.array([number[labels[row]] for row in used], dtype=np.int64)[polygon]
    shares = np.zeros((geography.n_units, len(order)))
    np.add.at(shares, (unit, district), area)
    shares /= shapely.area(outlines)[:, None]
    best = shares.max(axis=1)
    # Of equal shares the first in natural order counts, in whatever order the file has its rows.
    chosen = np.round(shares, _SHARE_DECIMALS).argmax(axis=1)
    found = [order[place] if share > _SLIVER else "" for place, share in zip(chosen, best, strict=True)]
    ids = np.asarray(geography.ids, dtype=object)
    return found, MatchReport(
        source=str(path),
        n_units=geography.n_units,
        missing=tuple(ids[best <= _SLIVER]),
        notes=tuple(
            _notes(frame, labels, has_area, len(order), list(ids[(best > _SLIVER) & (best < _WHOLE)]))
        ),
    )


def _notes(
    frame: gpd.GeoDataFrame,
    labels: Sequence[str],
    has_area: np.ndarray,
    n_districts: int,
    split: Sequence[str],
) -> list[str]:
    notes = [
        f"{count(n_districts, 'district')} drawn as polygons: each unit went to the one with most of its "
        "area."
    ]
    if split:
        notes.append(
            f"{count(len(split), 'unit')} with less than {_WHOLE:.0%} of the area in one district: "
            f"{list_some(split)}."
        )
    names = _names(frame, labels)
    kinds = sorted({shape.geom_type for shape in frame.geometry[~has_area] if shape is not None})
    other = [name for name, is_area in zip(names, has_area, strict=True) if not is_area]
    if other:
        what = f" ({', '.join(kinds)})" if kinds else ""
        notes.append(f"Left out, being no polygons{what}: {list_some(other)}.")
    unnamed = [
        name for name, label, is_area in zip(names, labels, has_area, strict=True) if is_area and not label
    ]
    if unnamed:
        notes.append(f"Left out, having no district: {list_some(unnamed)}.")
    return notes


def _names(frame: gpd.GeoDataFrame, labels: Sequence[str]) -> list[str]:
    """Return what to call each feature: its district, its name, or its row."""
    column = find_column([str(name) for name in frame.columns], _NAMES)
    given = text_ids(frame[column]) if column is not None else [""] * len(labels)
    return [
        label or name or f"row {row}"
        for row, (label, name) in enumerate(zip(labels, given, strict=True), start=1)
    ]
