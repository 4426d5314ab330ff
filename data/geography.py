"""Units, their people and their dual graph, in arrays."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path

import geopandas as gpd
import numpy as np
import pandas as pd
from numpy.typing import NDArray

from bottomup.data.adjacency import rook_edges
from bottomup.data.checks import check_connected, check_ids, read_population
from bottomup.data.edges import read_edges
from bottomup.data.errors import DataError, count, list_some
from bottomup.data.identifiers import ID_COLUMNS, UnitMatcher
from bottomup.data.polygons import clean_polygons, local_crs, plain_columns, read_shapes
from bottomup.data.roles import find_roles
from bottomup.data.tables import (
    as_numbers,
    find_column,
    flatten_records,
    is_table,
    read_table,
    require_column,
    text_ids,
)

POPULATION_COLUMNS = (
    *("pop20", "totpop20", "totpop", "tot_pop", "total_pop", "p0010001", "pop100", "population", "pop"),
    *("pop2020", "totpop_2020", "datasets.t_20_cens.total", "pop10", "totpop10"),
)


@dataclass(frozen=True, eq=False)
class Geography:
    """The map that districts are made of.

    Attributes
    ----------
    name : str
        What to call it.
    ids : tuple of str, length n_units
        Unit ids as text; the order of everything else.
    population : int64 array, shape (n_units,)
        People.
    edges : int32 array, shape (n_edges, 2)
        Dual graph: positions of two neighbours, the smaller first; rows unique, in lexicographic order.
    shared_perimeter : float64 array, shape (n_edges,), or None
        Length of the common boundary in metres.
    columns : DataFrame, length n_units
        Everything else that the file held.
    geometry : GeoSeries, length n_units, or None
        Polygons in an equal-area projection in metres.
    roles : dict
        Column of each quantity: ``vap``, ``black_vap``, ``dem``, ``rep``; absent when the file has none.
    note : str
        What is real and what is drawn; empty for a file that the user brought.
    repaired : tuple of str
        Units whose polygons crossed themselves and were made valid.
    id_column : str
        Name of the id column in the file.
    """

    name: str
    ids: tuple[str, ...]
    population: NDArray[np.int64]
    edges: NDArray[np.int32]
    shared_perimeter: NDArray[np.float64] | None = None
    columns: pd.DataFrame = field(default_factory=pd.DataFrame)
    geometry: gpd.GeoSeries | None = None
    roles: dict[str, str] = field(default_factory=dict)
    note: str = ""
    repaired: tuple[str, ...] = ()
    id_column: str = "id"

    @property
    def n_units(self) -> int:
        """Number of units."""
        return len(self.ids)

    @property
    def n_edges(self) -> int:
        """Number of pairs of neighbours."""
        return len(self.edges)

    @cached_property
    def total_population(self) -> int:
        """All the people."""
        return int(self.population.sum())

    @cached_property
    def index_of(self) -> dict[str, int]:
        """Position of each id."""
        return {unit: position for position, unit in enumerate(self.ids)}

    def role(self, name: str) -> NDArray[np.float64] | None:
        """Return the numbers of a known quantity, or None when the file has none.

        Parameters
        ----------
        name : {"vap", "black_vap", "dem", "rep"}
            Voting-age population, its Black part, Democratic votes, Republican votes.
        """
        column = self.roles.get(name)
        return None if column is None else self.columns[column].to_numpy(dtype=np.float64)

    @cached_property
    def digest(self) -> str:
        """SHA-256 of ids, population and edges, in hexadecimal; the same on every platform."""
        total = hashlib.sha256()
        for unit in self.ids:
            encoded = unit.encode()
            total.update(len(encoded).to_bytes(8, "little") + encoded)
        total.update(self.population.astype("<i8").tobytes())
        total.update(self.edges.astype("<i8").tobytes())
        return total.hexdigest()


def read_geography(
    units: str | Path,
    *,
    edges: str | Path | None = None,
    shapes: str | Path | None = None,
    id_column: str | None = None,
    population_column: str | None = None,
    roles: dict[str, str] | None = None,
    name: str | None = None,
) -> Geography:
    """Read the units of a map and check all that the later steps rely on.

    Parameters
    ----------
    units : path
        A GIS file in any format of GeoPandas, or a text table with a row per unit.
    edges : path, optional
        A table whose first two columns (or ``u, v``; ``source, target``) are neighbours. Needed with a table
        of units; with a GIS file the neighbours are otherwise those that share a boundary of positive length.
    shapes : path, optional
        A GIS file with the polygons of a table of units, joined by id.
    id_column, population_column : str, optional
        Columns of `units`; common names are recognised.
    roles : dict, optional
        Column for any of ``vap``, ``black_vap``, ``dem``, ``rep``; common names are recognised.
    name : str, optional
        What to call the map; the file name otherwise.

    Returns
    -------
    Geography

    Raises
    ------
    DataError
        For the first check that fails, with the ids of all units that fail it.
    """
    if is_table(units):
        if edges is None:
            raise DataError(
                "no_edges",
                f"{str(units)!r} is a table: nothing in it says which units are neighbours.",
                remedy="Give edges, a table with two columns of unit ids, or units as a GIS file.",
            )
        table = read_table(units)
        geometry = None
    else:
        if shapes is not None:
            raise DataError(
                "two_shapes",
                f"{str(units)!r} has shapes of its own, and shapes={str(shapes)!r} was given as well.",
                remedy="Leave shapes out.",
            )
        frame = read_shapes(units)
        table = flatten_records(plain_columns(frame))
        geometry = frame.geometry

    id_column = require_column(list(table.columns), id_column, ID_COLUMNS, "unit ids", "id_column", units)
    ids = check_ids(text_ids(table[id_column]), id_column, units)
    population_column = require_column(
        list(table.columns), population_column, POPULATION_COLUMNS, "population", "population_column", units
    )
    if population_column == id_column:
        raise DataError(
            "same_column",
            f"column {id_column!r} cannot hold both the unit ids and the population.",
            remedy="Name two columns with id_column and population_column.",
        )
    population = read_population(table[population_column], ids, population_column)
    others = table.drop(columns=[id_column, population_column])
    columns = others.apply(as_numbers) if is_table(units) else others
    matcher = UnitMatcher(ids)

    if shapes is not None:
        geometry = _shapes_of(shapes, ids, id_column)
    repaired: tuple[str, ...] = ()
    if geometry is not None:
        geometry, repaired = clean_polygons(geometry, ids)
    if edges is not None:
        ends, shared_perimeter = read_edges(edges, matcher)
    else:
        assert geometry is not None
        ends, shared_perimeter = rook_edges(geometry)
    check_connected(ids, population, ends)

    return Geography(
        name=name if name is not None else Path(units).name.split(".")[0],
        ids=ids,
        population=population,
        edges=ends,
        shared_perimeter=shared_perimeter,
        columns=columns,
        geometry=None if geometry is None else geometry.to_crs(local_crs(geometry)),
        roles=find_roles(columns, roles or {}, ids),
        repaired=repaired,
        id_column=id_column,
    )


def _shapes_of(path: str | Path, ids: tuple[str, ...], id_column: str) -> gpd.GeoSeries:
    """Return the polygons of a GIS file in the order of the units."""
    frame = read_shapes(path)
    columns = list(plain_columns(frame).columns)
    column = id_column if id_column in columns else find_column(columns, ID_COLUMNS)
    if column is None:
        raise DataError(
            "no_column",
            f"{str(path)!r} has no column {id_column!r}, by which its shapes could be joined to the units.",
            remedy=f"Rename its column of unit ids to {id_column!r}. Columns: {list_some(columns, 40)}.",
        )
    row_ids = check_ids(text_ids(frame[column]), column, path)
    rows = UnitMatcher(row_ids).positions(ids)
    missing = rows < 0
    if missing.any():
        raise DataError(
            "no_shape",
            f"{str(path)!r} has no shape for {missing.sum():,} of {count(len(ids), 'unit')}",
            remedy=f"Ids are matched with its column {column!r}, where they look like {row_ids[0]!r}; give a "
            "file of the same units.",
            units=[unit for unit, absent in zip(ids, missing, strict=True) if absent],
        )
    return frame.geometry.iloc[rows].reset_index(drop=True)
