"""From files to units: a table, outlines and edges, with all that is wrong with them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

import geopandas as gpd
import numpy as np
import pandas as pd
import shapely
from numpy.typing import NDArray

from bottomup.data.adjacency import rook_edges
from bottomup.data.checks import check_ids, name_rows
from bottomup.data.cleaning import clean_polygons
from bottomup.data.edges import join_units, note_virtual, read_edges
from bottomup.data.electorate import Votes
from bottomup.data.errors import DataError, count, list_some
from bottomup.data.findings import Findings
from bottomup.data.graph_files import GraphFile, read_graph
from bottomup.data.identifiers import ID_COLUMNS, UnitMatcher
from bottomup.data.polygons import POLYGONS, check_crs, open_shapes, plain_columns, set_crs, unwrap
from bottomup.data.repairs import Repair, try_repair
from bottomup.data.tables import (
    find_column,
    flatten_records,
    is_table,
    read_table,
    require_column,
    text_ids,
)

__all__ = ["Files", "UnitTable", "join_edges", "open_units"]


@dataclass(frozen=True)
class Files:
    """What the user named, as `bottomup.data.geography.read_geography` takes it."""

    units: str | Path
    edges: str | Path | None = None
    shapes: str | Path | None = None
    id_column: str | None = None
    population_column: str | None = None
    repairs: tuple[Repair, ...] = ()
    voting_age_column: str | None = None
    groups: Mapping[str, str] = field(default_factory=dict)
    elections: Mapping[str, Votes] = field(default_factory=dict)

    def chosen(self, action: str) -> tuple[Repair, ...]:
        """The repairs of one kind."""
        return tuple(repair for repair in self.repairs if repair.action == action)


@dataclass(frozen=True, eq=False)
class UnitTable:
    """Units in the order of their ids, before anything is known about neighbours.

    Attributes
    ----------
    ids : tuple of str
        Blank ones are called by their rows.
    id_column : str
        Blank when none was found.
    columns : DataFrame
        Everything the file says about each unit.
    geometry : GeoSeries or None
        Valid polygons as published; missing where there are none.
    repaired : tuple of str
        Units whose polygons were made valid.
    graph : GraphFile or None
        Where the units are the nodes of a graph.
    of_key : dict of str to str
        What the nodes of it are called as units, also those that were left out.
    dropped : tuple of str
        Units that the user left out.
    """

    ids: tuple[str, ...]
    id_column: str
    columns: pd.DataFrame
    geometry: gpd.GeoSeries | None
    repaired: tuple[str, ...]
    graph: GraphFile | None
    of_key: dict[str, str]
    dropped: tuple[str, ...]


def open_units(files: Files, findings: Findings) -> UnitTable | None:
    """Read units with their outlines; None when a file cannot be read at all."""
    with findings.catching():
        return _open_units(files, findings)
    return None


def _open_units(files: Files, findings: Findings) -> UnitTable:
    graph = read_graph(files.units)
    geometry = None
    if graph is not None:
        table = flatten_records(graph.attributes)
        note_virtual(graph, files.units, findings)
    elif is_table(files.units):
        if files.edges is None:
            findings.settle(
                "no_edges",
                f"{str(files.units)!r} is a table: nothing in it says which units are neighbours.",
                "Give edges, a table with two columns of unit ids or a graph in JSON; or give units as a GIS "
                "file.",
            )
        table = read_table(files.units)
    else:
        if files.shapes is not None:
            findings.settle(
                "two_shapes",
                f"{str(files.units)!r} has shapes of its own, and shapes={str(files.shapes)!r} was given as "
                "well.",
                "Leave shapes out.",
            )
        frame = _placed(files.units, files, findings)
        table, geometry = flatten_records(plain_columns(frame)), frame.geometry

    candidates = (graph.id_column(), *ID_COLUMNS) if graph is not None else ID_COLUMNS
    id_column, ids = "", [""] * len(table)
    with findings.catching():
        id_column = require_column(
            list(table.columns), files.id_column, [name.lower() for name in candidates], "unit ids",
            "id_column", files.units,
        )  # fmt: skip
        ids = text_ids(table[id_column])
    kept, dropped = _drop(name_rows(ids), files, findings)
    kept &= ~_labels(ids, kept, geometry, findings)
    named = check_ids(ids, id_column, files.units, findings, kept) if id_column else name_rows(ids)
    # One order for one map, whatever the order of rows in its file.
    order = np.array(sorted(np.flatnonzero(kept), key=lambda row: (named[row], row)), dtype=np.int64)
    if not len(order):
        raise DataError(
            "empty_file", f"{str(files.units)!r} holds no units.", remedy="Give a file with units."
        )
    in_order = tuple(named[row] for row in order)
    repaired: tuple[str, ...] = ()
    if geometry is None and files.shapes is not None and id_column:
        geometry = _shapes_of(in_order, id_column, files, findings)
    elif geometry is not None:
        geometry = geometry.iloc[order].reset_index(drop=True)
    if geometry is not None:
        outlines_decide = graph is None and files.edges is None
        chosen = _made_valid(in_order, files, findings) if outlines_decide else None
        geometry, repaired = clean_polygons(geometry, in_order, findings, make_valid=chosen)
    return UnitTable(
        ids=in_order,
        id_column=id_column,
        columns=table.iloc[order].reset_index(drop=True),
        geometry=geometry,
        repaired=repaired,
        graph=graph,
        of_key={} if graph is None else dict(zip(graph.keys, named, strict=True)),
        dropped=dropped,
    )


def _placed(path: str | Path, files: Files, findings: Findings) -> gpd.GeoDataFrame:
    """Read shapes, and say where on Earth they are taken to be."""
    frame = open_shapes(path)
    for repair in files.chosen("set-crs"):
        frame = set_crs(frame, repair.subject)
    try:
        check_crs(frame, path)
    except DataError as error:
        findings.settle(error.code, error.message, error.remedy, error.units)
        # All else can be looked at in the plane.
        return frame.set_crs(None, allow_override=True)
    frame, crosses = unwrap(frame)
    if crosses:
        findings.add(
            "note",
            "antimeridian",
            "the map crosses the antimeridian; longitudes behind it were counted on beyond 180",
        )
    crs = frame.crs
    code = f", {':'.join(crs.to_authority())}" if crs.to_authority() else ""
    heights = "; heights were left out" if shapely.has_z(frame.geometry.to_numpy()).any() else ""
    findings.add(
        "note",
        "crs",
        f"the coordinates of {Path(path).name} are in {crs.name}{code}{heights}. Lengths and areas are "
        "measured in an equal-area projection of the map's own",
    )
    return frame


def _drop(
    named: tuple[str, ...], files: Files, findings: Findings
) -> tuple[NDArray[np.bool_], tuple[str, ...]]:
    """Leave out the units that the user chose to leave out."""
    kept = np.ones(len(named), dtype=bool)
    matcher = UnitMatcher(named)
    unknown = []
    for repair in files.chosen("drop"):
        row = matcher.position(repair.subject)
        if row < 0:
            unknown.append(repair.subject)
        else:
            kept[np.array([name == named[row] for name in named])] = False
    refuse_unknown("drop", unknown, findings)
    return kept, tuple(name for name, is_kept in zip(named, kept, strict=True) if not is_kept)


def refuse_unknown(action: str, unknown: list[str], findings: Findings) -> None:
    """Add a finding about repairs of units that are not there."""
    if unknown:
        findings.settle(
            "repair_unknown_unit",
            f"repair {action} names {count(len(unknown), 'unit')} not on the map",
            "Correct the log of repairs, or leave these rows out.",
            unknown,
        )


def _labels(
    ids: list[str], kept: NDArray[np.bool_], geometry: gpd.GeoSeries | None, findings: Findings
) -> NDArray[np.bool_]:
    """Tell which rows are labels of a map: features without an id that are no areas."""
    if geometry is None or not any(ids):
        return np.zeros(len(ids), dtype=bool)
    shapes = geometry.to_numpy()
    labels = kept & ~shapely.is_missing(shapes) & ~np.isin(shapely.get_type_id(shapes), POLYGONS)
    labels &= np.array([not unit for unit in ids])
    if labels.any():
        named = [name for name, is_label in zip(name_rows(ids), labels, strict=True) if is_label]
        kinds = sorted({shape.geom_type for shape in shapes[labels]})
        findings.settle(
            "not_polygon",
            f"{count(len(named), 'row')} of {len(ids):,} with {' or '.join(kinds)} instead of a polygon, and "
            "without an id: labels of a map rather than units",
            f"Leave them out: {try_repair('drop', named)}.",
            named,
        )
    return labels


def _made_valid(ids: tuple[str, ...], files: Files, findings: Findings) -> NDArray[np.bool_]:
    chosen = np.zeros(len(ids), dtype=bool)
    matcher = UnitMatcher(ids)
    unknown = []
    for repair in files.chosen("make-valid"):
        if not repair.subject:
            chosen[:] = True
        elif repair.subject in matcher:
            chosen[matcher.position(repair.subject)] = True
        else:
            unknown.append(repair.subject)
    refuse_unknown("make-valid", unknown, findings)
    return chosen


def _shapes_of(
    ids: tuple[str, ...], id_column: str, files: Files, findings: Findings
) -> gpd.GeoSeries | None:
    """Return the polygons of a GIS file in the order of the units."""
    path = files.shapes
    assert path is not None
    frame = _placed(path, files, findings)
    columns = list(plain_columns(frame).columns)
    column = id_column if id_column in columns else find_column(columns, ID_COLUMNS)
    if column is None:
        findings.settle(
            "no_column",
            f"{str(path)!r} has no column {id_column!r}, by which its shapes could be joined to the units.",
            f"Rename its column of unit ids to {id_column!r}. Columns: {list_some(columns, 40)}.",
        )
        return None
    row_ids = check_ids(text_ids(frame[column]), column, path, findings)
    rows = UnitMatcher(row_ids).positions(ids)
    missing = rows < 0
    if missing.any():
        findings.settle(
            "no_shape",
            f"{str(path)!r} has no shape for {missing.sum():,} of {count(len(ids), 'unit')}",
            f"Ids are matched with its column {column!r}, where they look like {row_ids[0]!r}; give a "
            "file of the same units.",
            [unit for unit, absent in zip(ids, missing, strict=True) if absent],
        )
        return None
    return frame.geometry.iloc[rows].reset_index(drop=True)


def join_edges(
    table: UnitTable, files: Files, findings: Findings
) -> tuple[NDArray[np.int32], NDArray[np.float64] | None] | None:
    """Return the dual graph as the files have it; None when it cannot be known."""
    if files.edges is not None:
        if table.id_column:
            with findings.catching():
                return read_edges(files.edges, UnitMatcher(table.ids), findings, table.dropped)
        return None
    if table.graph is not None:
        pairs = [(table.of_key.get(u, u), table.of_key.get(v, v)) for u, v in table.graph.pairs]
        return join_units(pairs, UnitMatcher(table.ids), files.units, findings, table.dropped)
    if table.geometry is None or is_table(files.units):
        return None
    return rook_edges(table.geometry)
