"""Units, their people and their dual graph, in arrays."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path

import geopandas as gpd
import numpy as np
import pandas as pd
from numpy.typing import NDArray

from bottomup.data.checks import check_connected, note_unpeopled, read_population
from bottomup.data.coverage import inspect_coverage, inspect_pieces
from bottomup.data.edge_repairs import repair_edges
from bottomup.data.electorate import Electorate, Votes, find_electorate
from bottomup.data.errors import N_LISTED, DataError
from bottomup.data.findings import Finding, Findings
from bottomup.data.polygons import local_crs
from bottomup.data.reading import Files, UnitTable, join_edges, open_units
from bottomup.data.repairs import Repair, repairs_digest
from bottomup.data.tables import as_numbers, is_table, require_column

POPULATION_COLUMNS = (
    *("pop20", "totpop20", "totpop", "tot_pop", "total_pop", "p0010001", "pop100", "population", "pop"),
    *("pop2020", "totpop_2020", "datasets.t_20_cens.total", "pop10", "totpop10"),
)
_FOUND = " (found by its name)"


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
    electorate : Electorate
        Which columns hold people of voting age, groups of them, and votes.
    note : str
        What is real and what is drawn; empty for a file that the user brought.
    repaired : tuple of str
        Units whose polygons crossed themselves and were made valid.
    id_column : str
        Name of the id column in the file.
    repairs : tuple of Repair
        What the user chose to do to the map, as it was done.
    dropped : tuple of str
        Units of the file that the user left out.
    findings : tuple of Finding
        What is unusual about the map, or good to know.
    """

    name: str
    ids: tuple[str, ...]
    population: NDArray[np.int64]
    edges: NDArray[np.int32]
    shared_perimeter: NDArray[np.float64] | None = None
    columns: pd.DataFrame = field(default_factory=pd.DataFrame)
    geometry: gpd.GeoSeries | None = None
    electorate: Electorate = field(default_factory=Electorate)
    note: str = ""
    repaired: tuple[str, ...] = ()
    id_column: str = "id"
    repairs: tuple[Repair, ...] = ()
    dropped: tuple[str, ...] = ()
    findings: tuple[Finding, ...] = ()

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

    @property
    def repair_record(self) -> dict[str, object]:
        """What the user chose to do to the map, ready for JSON; empty when that is nothing."""
        if not self.repairs:
            return {}
        rows = [" ".join(filter(None, repair[:3])) for repair in self.repairs]
        return {"repairs": {"sha256": repairs_digest(self.repairs), "rows": rows}}

    def numbers(self, column: str) -> NDArray[np.float64]:
        """Return a column of numbers, such as those that the electorate names, shape (n_units,)."""
        return self.columns[column].to_numpy(dtype=np.float64)

    @cached_property
    def digest(self) -> str:
        """SHA-256 of ids, population and edges, in hexadecimal; the same on every platform.

        Units count in the order of their ids, so that it does not matter in which order a file lists them.
        """
        total = hashlib.sha256()
        order = np.array(sorted(range(self.n_units), key=self.ids.__getitem__), dtype=np.int64)
        for position in order:
            encoded = self.ids[position].encode()
            total.update(len(encoded).to_bytes(8, "little") + encoded)
        rank = np.empty(self.n_units, dtype=np.int64)
        rank[order] = np.arange(self.n_units)
        edges = np.sort(rank[self.edges], axis=1).reshape(-1, 2)
        edges = edges[np.lexsort((edges[:, 1], edges[:, 0]))]
        total.update(self.population[order].astype("<i8").tobytes())
        total.update(edges.astype("<i8").tobytes())
        return total.hexdigest()


def read_geography(
    units: str | Path,
    *,
    edges: str | Path | None = None,
    shapes: str | Path | None = None,
    id_column: str | None = None,
    population_column: str | None = None,
    voting_age_column: str | None = None,
    groups: Mapping[str, str] | None = None,
    elections: Mapping[str, Votes] | None = None,
    name: str | None = None,
    repairs: Sequence[Repair] = (),
) -> Geography:
    """Read the units of a map and check all that the later steps rely on.

    Units come in the order of their ids, whatever the order of the file.

    Parameters
    ----------
    units : path
        A GIS file in any format of GeoPandas, a dual graph in JSON (GerryChain, NetworkX), or a text table
        with a row per unit.
    edges : path, optional
        A table whose first two columns (or ``u, v``; ``source, target``) are neighbours, or a dual graph in
        JSON. Needed with a table of units; with a GIS file the neighbours are otherwise those that share a
        boundary of positive length.
    shapes : path, optional
        A GIS file with the polygons of the units of a table or a graph, joined by id.
    id_column, population_column, voting_age_column : str, optional
        Columns of `units`; common names are recognised.
    groups : mapping of str to str, optional
        Columns of people of voting age by group, beside those that are recognised.
    elections : mapping of str to (Democratic column, Republican column), optional
        Columns of votes by election, beside those that are recognised.
    name : str, optional
        What to call the map; the file name otherwise.
    repairs : sequence of Repair
        What to do to the map, see `bottomup.data.repairs`.

    Returns
    -------
    Geography

    Raises
    ------
    DataError
        For the first finding that must be settled, with the ids of all units concerned.
    """
    findings = Findings()
    files = Files(
        units,
        edges,
        shapes,
        id_column,
        population_column,
        tuple(repairs),
        voting_age_column,
        groups or {},
        elections or {},
    )
    geography = inspect_geography(files, findings, name=name)
    findings.raise_first()
    assert geography is not None
    return geography


def inspect_geography(
    files: Files,
    findings: Findings,
    *,
    name: str | None = None,
    thorough: bool = False,
) -> Geography | None:
    """Read the units of a map, and collect all that is wrong with them.

    Parameters
    ----------
    files : Files
    findings : Findings
        Takes what is found.
    name : str, optional
        What to call the map.
    thorough : bool
        Whether to look for what does not stop a run as well: gaps, overlaps, units in pieces.

    Returns
    -------
    Geography or None
        What can be made of the files, for further checks; fit for a run only when no finding stops one. None
        when no units can be told apart, or nothing is known about neighbours.
    """
    table = open_units(files, findings)
    if table is None:
        return None
    ids = table.ids
    population_column = ""
    population, known = np.zeros(len(ids), dtype=np.int64), np.zeros(len(ids), dtype=bool)
    with findings.catching():
        population_column = _find_population(table, files)
        population, known = read_population(
            table.columns[population_column], ids, population_column, findings
        )
    columns = table.columns.drop(columns=[table.id_column, population_column], errors="ignore")
    if is_table(files.units):
        columns = columns.apply(as_numbers)
    electorate = Electorate()
    with findings.catching():
        electorate = find_electorate(
            columns,
            ids,
            voting_age=files.voting_age_column,
            groups=files.groups,
            elections=files.elections,
        )
    _note_columns(files, table.id_column, population_column, electorate, findings)
    note_unpeopled(ids, known & (population == 0), findings)

    geometry = table.geometry
    # What has no place on Earth, for lack of a true CRS, can be compared in the plane only.
    has_crs = geometry is not None and geometry.crs is not None and not geometry.isna().all()
    if geometry is not None and has_crs:
        geometry = geometry.to_crs(local_crs(geometry))
    joined = join_edges(table, files, findings)
    if joined is None:
        return None
    edges, shared_perimeter, repairs = repair_edges(ids, *joined, geometry, files.repairs, findings)
    if repairs:
        words = "; ".join(" ".join(filter(None, repair[:3])) for repair in repairs[:N_LISTED])
        more = f" and {len(repairs) - N_LISTED:,} more" if len(repairs) > N_LISTED else ""
        findings.add("note", "repairs", f"repairs as chosen: {words}{more}")
    has_place = None
    if table.geometry is not None and table.graph is None and files.edges is None:
        has_place = ~table.geometry.isna().to_numpy()
    check_connected(ids, population, edges, geometry, findings, has_place)
    if thorough and has_place is not None and table.geometry is not None:
        inspect_coverage(table.geometry, ids, findings)
        inspect_pieces(table.geometry, ids, edges, findings)
    if len(set(ids)) < len(ids):
        return None
    return Geography(
        name=name if name is not None else Path(files.units).name.split(".")[0],
        ids=ids,
        population=population,
        edges=edges,
        shared_perimeter=shared_perimeter,
        columns=columns,
        geometry=geometry if has_crs else None,
        electorate=electorate,
        repaired=table.repaired,
        id_column=table.id_column,
        repairs=repairs,
        dropped=table.dropped,
        findings=tuple(findings),
    )


def _find_population(table: UnitTable, files: Files) -> str:
    try:
        column = require_column(
            list(table.columns.columns),
            files.population_column,
            POPULATION_COLUMNS,
            "population",
            "population_column",
            files.units,
        )
    except DataError as error:
        if table.graph is not None:
            error.remedy += " A graph without people can be the edges of a table of units that has them."
        raise
    if column == table.id_column:
        raise DataError(
            "same_column",
            f"column {table.id_column!r} cannot hold both the unit ids and the population.",
            remedy="Name two columns with id_column and population_column.",
        )
    return column


def _note_columns(
    files: Files, id_column: str, population_column: str, electorate: Electorate, findings: Findings
) -> None:
    """Say which columns were taken for what."""
    taken = []
    for what, column, is_given in (
        ("ids", id_column, files.id_column is not None),
        ("people", population_column, files.population_column is not None),
        ("people of voting age", electorate.voting_age, files.voting_age_column is not None),
        *(
            (f"{group} people of voting age", column, group in files.groups)
            for group, column in electorate.groups.items()
        ),
    ):
        if column:
            taken.append(f"{what} from {column!r}{'' if is_given else _FOUND}")
    for election, votes in electorate.elections.items():
        both = f"{votes.democratic!r} (Democratic) and {votes.republican!r} (Republican)"
        found = "" if election in files.elections else _FOUND
        taken.append(f"votes for {election} from {both}{found}")
    if taken:
        findings.add("note", "columns", f"columns taken: {'; '.join(taken)}")
