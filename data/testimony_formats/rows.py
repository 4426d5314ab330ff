"""A row for each community, with a list of its units, as Representable writes them, a polygon, or both."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

import geopandas as gpd

from bottomup.data.tables import find_column, require_column, text_ids
from bottomup.data.testimony_formats.common import (
    TESTIMONY_COLUMNS,
    Columns,
    Community,
    Reading,
    cluster_column,
    refuse_repeated_ids,
    units_in,
)
from bottomup.data.testimony_formats.descriptions import describe, describing_columns
from bottomup.data.testimony_formats.people import is_personal, names_people

LIST_COLUMNS = ("block_group_ids", "census_block_ids", "tiles", "unit_ids", "units", "blocks", "geoids")
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
        # People may speak twice: their communities are numbered, see `people`.
        if names_people(
            id_column, columns, is_layer=shapes is not None, is_chosen=given.testimony is not None
        ):
            ids = [str(row) for row in range(1, len(records) + 1)]
        refuse_repeated_ids(path, id_column, ids)
    cluster = cluster_column(columns, given, path)
    clusters = [""] * len(records)
    if cluster is not None and cluster != id_column:
        clusters = text_ids(one.get(cluster) for one in records)
    described = describing_columns(columns, id_column, is_layer=shapes is not None)
    personal = [column for column in columns if column not in described and is_personal(column)]
    communities = tuple(
        Community(
            name,
            next((units for column in lists if (units := units_in(record.get(column)))), ()),
            (row,) if shapes is not None else (),
            own,
            describe(record, described, personal),
        )
        for row, (name, record, own) in enumerate(zip(ids, records, clusters, strict=True))
    )
    kind = "communities with lists of units" if lists else "polygons"
    return Reading(path, kind, communities, shapes, id_column or "", columns=tuple(columns))
