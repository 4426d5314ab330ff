"""Testimonies: which units each submitted community covers, and the cluster it belongs to."""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from bottomup.data.errors import DataError, count, list_some
from bottomup.data.geography import Geography
from bottomup.data.identifiers import ID_COLUMNS, UnitMatcher
from bottomup.data.plans import natural_order
from bottomup.data.snapping import snap_polygons
from bottomup.data.tables import (
    find_column,
    is_table,
    read_rows,
    refuse_repeated,
    refuse_rows,
    require_column,
    text_ids,
)

USED, PARTLY_OUTSIDE, EMPTY, DUPLICATE = "used", "partly outside", "empty", "duplicate"
TESTIMONY_COLUMNS = (
    *("testimony", "testimony_id", "submission", "submission_id", "area_id", "plan_id", "entry_id"),
    *("community", "community_id", "coi", "coi_id", "id"),
)
CLUSTER_COLUMNS = ("cluster", "cluster_id")


@dataclass(frozen=True, eq=False)
class Clusters:
    """Groups of testimonies.

    Attributes
    ----------
    names : tuple of str, length n_clusters
        In natural order.
    of_testimony : int32 array, shape (n_testimonies,)
        Cluster of each testimony, -1 for none.
    source : str
        Where the groups come from: ``column`` when the file of testimonies gave them.
    zone_of_unit : int32 array, shape (n_units,), or None
        When clusters are zones of public geography, the zone of each unit, -1 for none.
    """

    names: tuple[str, ...]
    of_testimony: NDArray[np.int32]
    source: str
    zone_of_unit: NDArray[np.int32] | None = None

    @property
    def is_public(self) -> bool:
        """Whether a testimony's cluster follows from itself and public geography, whatever the others say."""
        return self.zone_of_unit is not None


@dataclass(frozen=True, eq=False)
class Testimonies:
    """All testimonies of a file, also those that cover no unit: each of them counts.

    Attributes
    ----------
    ids : tuple of str, length n_testimonies
        In the order of the file.
    indptr : int64 array, shape (n_testimonies + 1,)
        Testimony ``t`` covers ``units[indptr[t]:indptr[t + 1]]``.
    units : int32 array, shape (n_covered,)
        Positions of units, ascending within a testimony.
    clusters : Clusters or None
        None when the file has no clusters.
    status : tuple of str, length n_testimonies
        ``used``; ``partly outside``: some of it is not on the map; ``empty``: none of it is; ``duplicate``:
        a copy that is left out, so it covers nothing.
    unknown_units : dict
        For testimonies that name units not on the map, the ids of those.
    duplicate_of : dict
        For copies that are left out, the id of the testimony that they repeat.
    note : str
        What is real and what is drawn; empty for a file that the user brought.
    """

    ids: tuple[str, ...]
    indptr: NDArray[np.int64]
    units: NDArray[np.int32]
    clusters: Clusters | None
    status: tuple[str, ...]
    unknown_units: dict[str, tuple[str, ...]] = field(default_factory=dict)
    duplicate_of: dict[str, str] = field(default_factory=dict)
    note: str = ""

    def units_of(self, testimony: int) -> NDArray[np.int32]:
        """Positions of the units of one testimony, ascending."""
        return self.units[self.indptr[testimony] : self.indptr[testimony + 1]]

    @property
    def n_testimonies(self) -> int:
        """Number of testimonies, empty ones included."""
        return len(self.ids)

    @property
    def sizes(self) -> NDArray[np.int64]:
        """Number of units that each testimony covers."""
        return np.diff(self.indptr)

    @cached_property
    def digest(self) -> str:
        """SHA-256 of ids, units and clusters, in hexadecimal; the same on every platform."""
        total = hashlib.sha256()
        names = () if self.clusters is None else self.clusters.names
        for group in (self.ids, names):
            total.update(len(group).to_bytes(8, "little"))
            for name in group:
                encoded = name.encode()
                total.update(len(encoded).to_bytes(8, "little") + encoded)
        of_testimony = np.empty(0, np.int32) if self.clusters is None else self.clusters.of_testimony
        for numbers in (self.indptr, self.units, of_testimony):
            total.update(numbers.astype("<i8").tobytes())
        return total.hexdigest()

    def never_whole(self, population: NDArray[np.int64], upper: int) -> tuple[str, ...]:
        """Return the ids of testimonies that no plan can keep whole; they are counted all the same.

        Those without a unit on the map, and those that hold more people than a district may.

        Parameters
        ----------
        population : int64 array, shape (n_units,)
            People in each unit.
        upper : int
            The largest population of a district.
        """
        people = np.concatenate([[0], np.cumsum(population[self.units])])[self.indptr]
        hopeless = (self.sizes == 0) | (np.diff(people) > upper)
        return tuple(name for name, own in zip(self.ids, hopeless, strict=True) if own)

    def summary(self) -> str:
        """Return how many testimonies are used, partly outside and empty, with names and unknown unit ids."""
        total = count(self.n_testimonies, "testimony", "testimonies")
        parts = [f"{total}: {self.status.count(USED):,} used"]
        for status, text in (
            (PARTLY_OUTSIDE, "partly outside the map"),
            (EMPTY, "with no unit on the map"),
            (DUPLICATE, "left out as copies"),
        ):
            named = [name for name, own in zip(self.ids, self.status, strict=True) if own == status]
            if status == DUPLICATE and not named:
                continue
            parts.append(f"{len(named):,} {text}" + (f" ({list_some(named)})" if named else ""))
        unknown = list(dict.fromkeys(unit for own in self.unknown_units.values() for unit in own))
        if unknown:
            parts.append(f"{count(len(unknown), 'unit id')} not on the map ({list_some(unknown)})")
        return ", ".join(parts)


def read_testimonies(
    path: str | Path,
    geography: Geography,
    *,
    testimony_column: str | None = None,
    unit_column: str | None = None,
    cluster_column: str | None = None,
    threshold: float = 0.5,
) -> Testimonies:
    """Read testimonies from a table of their units, or from polygons.

    Names, addresses and words of the people who testified are never kept: only the columns named here are.

    Parameters
    ----------
    path : path
        A table with a row per testimony and unit, or a GIS file with a polygon per testimony.
    geography : Geography
        The map.
    testimony_column, unit_column, cluster_column : str, optional
        Columns of the file; common names are recognised. Clusters may be missing, and so may the ids of
        polygons, which then are the row numbers from 1.
    threshold : float
        A unit belongs to a polygon when at least this share of its area lies inside.

    Returns
    -------
    Testimonies

    Raises
    ------
    DataError
        If a column cannot be found, a row names no testimony or has more cells than the header, a testimony
        is in two clusters, or not one testimony has a unit on the map.
    """
    if is_table(path):
        testimonies = _from_table(path, geography, testimony_column, unit_column, cluster_column)
    else:
        testimonies = _from_polygons(path, geography, testimony_column, cluster_column, threshold)
    if not len(testimonies.units):
        raise DataError(
            "no_unit_on_map",
            f"{str(path)!r} is not about this map: {testimonies.summary()}.",
            remedy=f"Unit ids on the map look like {geography.ids[0]!r}."
            if is_table(path)
            else f"No polygon covers {threshold:.0%} of the area of any unit; they must lie on the map.",
        )
    return testimonies


def build_testimonies(
    units_by_testimony: Mapping[str, Iterable[int]],
    status: Sequence[str],
    clusters: Mapping[str, str] | None = None,
    unknown_units: Mapping[str, tuple[str, ...]] | None = None,
    source: str = "column",
    note: str = "",
) -> Testimonies:
    """Pack testimonies into arrays.

    Parameters
    ----------
    units_by_testimony : mapping
        Id to positions of its units, in any order.
    status : sequence of str
        Status of each, in the same order.
    clusters : mapping, optional
        Id to the name of its cluster, blank or absent for none.
    unknown_units : mapping, optional
        Id to the unit ids that are not on the map.
    source, note : str
        As in `Clusters` and `Testimonies`.
    """
    ids = tuple(units_by_testimony)
    sorted_units = [np.unique(np.fromiter(units, dtype=np.int32)) for units in units_by_testimony.values()]
    indptr = np.zeros(len(ids) + 1, dtype=np.int64)
    np.cumsum([len(units) for units in sorted_units], out=indptr[1:])
    found = None
    if clusters is not None and any(clusters.values()):
        names = tuple(natural_order({name for name in clusters.values() if name}))
        number = {name: cluster for cluster, name in enumerate(names)}
        of_testimony = np.array([number.get(clusters.get(unit, ""), -1) for unit in ids], dtype=np.int32)
        found = Clusters(names, of_testimony, source)
    return Testimonies(
        ids=ids,
        indptr=indptr,
        units=np.concatenate(sorted_units) if sorted_units else np.empty(0, dtype=np.int32),
        clusters=found,
        status=tuple(status),
        unknown_units=dict(unknown_units or {}),
        note=note,
    )


def _from_table(
    path: str | Path,
    geography: Geography,
    testimony_column: str | None,
    unit_column: str | None,
    cluster_column: str | None,
) -> Testimonies:
    rows = read_rows(path)
    header = next(rows, None)
    if header is None:
        raise DataError("empty_file", f"{str(path)!r} holds no rows.")
    testimony_at = header.index(
        require_column(header, testimony_column, TESTIMONY_COLUMNS, "testimony ids", "testimony_column", path)
    )
    others = [name for position, name in enumerate(header) if position != testimony_at]
    unit_names = (geography.id_column.lower(), *ID_COLUMNS)
    unit_at = header.index(require_column(others, unit_column, unit_names, "unit ids", "unit_column", path))
    cluster_name = _cluster_column(header, cluster_column, path)
    cluster_at = None if cluster_name is None else header.index(cluster_name)
    used = [column for column in (testimony_at, unit_at, cluster_at) if column is not None]
    refuse_repeated(path, header, [header[column] for column in used])

    matcher = UnitMatcher(geography.ids)
    width = 1 + max(used)
    units: dict[str, set[int]] = {}
    unknown: dict[str, dict[str, None]] = {}
    clusters: dict[str, str] = {}
    wide: list[int] = []
    nameless: list[str] = []
    torn: dict[str, str] = {}
    for number, row in enumerate(rows, start=2):
        if any(row[len(header) :]):
            wide.append(number)
        cells = row + [""] * (width - len(row))
        testimony = cells[testimony_at]
        if not testimony:
            nameless.append(str(number))
            continue
        own = units.setdefault(testimony, set())
        if cells[unit_at]:
            position = matcher.position(cells[unit_at])
            if position >= 0:
                own.add(position)
            else:
                unknown.setdefault(testimony, {})[cells[unit_at]] = None
        if cluster_at is not None and cells[cluster_at]:
            cluster = clusters.setdefault(testimony, cells[cluster_at])
            if cluster != cells[cluster_at]:
                torn[testimony] = f"{testimony} ({cluster} and {cells[cluster_at]})"
    refuse_rows(path, header, wide)
    if nameless:
        raise DataError(
            "nameless_testimony",
            f"{str(path)!r} names no testimony in {count(len(nameless), 'row')} (the header is row 1, blank "
            f"lines do not count): {list_some(nameless)}.",
            remedy="Give every row its testimony, or remove it.",
        )
    if torn:
        raise DataError(
            "two_clusters",
            f"{str(path)!r} puts {count(len(torn), 'testimony', 'testimonies')} into more than one cluster, "
            f"{list_some(list(torn.values()))}",
            remedy="A testimony belongs to one cluster at most.",
            units=list(torn),
        )
    if not units:
        raise DataError(
            "empty_file", f"{str(path)!r} holds no testimonies.", remedy="Give it a row for each unit."
        )
    status = [
        EMPTY if not own else PARTLY_OUTSIDE if testimony in unknown else USED
        for testimony, own in units.items()
    ]
    return build_testimonies(
        units, status, clusters, {testimony: tuple(names) for testimony, names in unknown.items()}
    )


def _from_polygons(
    path: str | Path,
    geography: Geography,
    testimony_column: str | None,
    cluster_column: str | None,
    threshold: float,
) -> Testimonies:
    snapped = snap_polygons(path, geography, threshold)
    columns = [str(name) for name in snapped.properties.columns]
    id_name = testimony_column if testimony_column is not None else find_column(columns, TESTIMONY_COLUMNS)
    if id_name is None:
        ids = [str(row) for row in range(1, len(snapped.properties) + 1)]
    else:
        require_column(columns, id_name, (), "testimony ids", "testimony_column", path)
        ids = text_ids(snapped.properties[id_name])
    wrong = sorted(name for name, times in Counter(ids).items() if not name or times > 1)
    if wrong:
        raise DataError(
            "repeated_testimony",
            f"{str(path)!r} must have one polygon for each testimony, but in column {id_name!r} ids are "
            "blank or occur twice",
            remedy=f"Rename the column of ids to {TESTIMONY_COLUMNS[0]!r}, or name it with testimony_column.",
            units=wrong,
        )
    cluster_name = _cluster_column(columns, cluster_column, path)
    clusters = None
    if cluster_name is not None and cluster_name != id_name:
        clusters = dict(zip(ids, text_ids(snapped.properties[cluster_name]), strict=True))
    status = [
        EMPTY if not len(units) else PARTLY_OUTSIDE if outside else USED
        for units, outside in zip(snapped.units, snapped.partly_outside, strict=True)
    ]
    return build_testimonies(dict(zip(ids, snapped.units, strict=True)), status, clusters)


def _cluster_column(columns: Sequence[str], given: str | None, path: str | Path) -> str | None:
    if given is None:
        return find_column(columns, CLUSTER_COLUMNS)
    return require_column(columns, given, (), "clusters", "cluster_column", path)
