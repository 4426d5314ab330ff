"""Testimonies: which units each submitted community covers, and the cluster it belongs to."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from bottomup.data.crosswalk import read_crosswalk
from bottomup.data.errors import DataError, count, list_some
from bottomup.data.geography import Geography
from bottomup.data.identifiers import UnitMatcher
from bottomup.data.merge_tree import MergeTree
from bottomup.data.placement import (
    EMPTY,
    INVALID,
    PARTLY_OUTSIDE,
    USED,
    Place,
    describe_foreign,
    no_unit_on_map,
    place_communities,
)
from bottomup.data.plans import natural_order
from bottomup.data.snapping import check_threshold
from bottomup.data.testimony_formats.common import Columns, Community
from bottomup.data.testimony_formats.folder import read_files

__all__ = [
    "DUPLICATE",
    "EMPTY",
    "INVALID",
    "PARTLY_OUTSIDE",
    "USED",
    "Clusters",
    "Testimonies",
    "build_testimonies",
    "read_testimonies",
]

DUPLICATE = "duplicate"


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
    tree : MergeTree or None
        When clusters are of near testimonies, the tree that was cut; its members are places of testimonies.
    """

    names: tuple[str, ...]
    of_testimony: NDArray[np.int32]
    source: str
    zone_of_unit: NDArray[np.int32] | None = None
    tree: MergeTree | None = None

    def members(self, cluster: int) -> NDArray[np.int64]:
        """Places of the testimonies of a cluster, ascending."""
        return np.flatnonzero(self.of_testimony == cluster)

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
        ``used``; ``partly outside``: some of it is not on the map; ``empty``: none of it is; ``invalid``: it
        has no polygon, or one that cannot be repaired; ``duplicate``: a copy that is left out, so it covers
        nothing.
    unknown_units : dict
        For testimonies that name units not on the map, the ids of those.
    duplicate_of : dict
        For copies that are left out, the id of the testimony that they repeat.
    note : str
        What is real and what is drawn; empty for a file that the user brought.
    remarks : tuple of str
        What has been left aside on reading or carried over from other units, and how clusters were made.
    texts : dict
        For testimonies whose file has them, name and description of the community. Nothing is computed from
        them.
    """

    ids: tuple[str, ...]
    indptr: NDArray[np.int64]
    units: NDArray[np.int32]
    clusters: Clusters | None
    status: tuple[str, ...]
    unknown_units: dict[str, tuple[str, ...]] = field(default_factory=dict)
    duplicate_of: dict[str, str] = field(default_factory=dict)
    note: str = ""
    remarks: tuple[str, ...] = ()
    texts: dict[str, str] = field(default_factory=dict)

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
        hopeless = (self.sizes == 0) | (people_in(self.indptr, self.units, population) > upper)
        return tuple(name for name, own in zip(self.ids, hopeless, strict=True) if own)

    @cached_property
    def same_units(self) -> dict[str, str]:
        """For testimonies that cover the units of an earlier one, the id of the first that does."""
        first: dict[bytes, str] = {}
        same = {}
        for number, name in enumerate(self.ids):
            units = self.units_of(number)
            if len(units) and first.setdefault(units.tobytes(), name) != name:
                same[name] = first[units.tobytes()]
        return same

    def statuses(self, population: NDArray[np.int64], upper: int) -> tuple[str, ...]:
        """Return what is to be known of each testimony, in words; all of it when there are several things.

        Parameters
        ----------
        population : int64 array, shape (n_units,)
            People in each unit.
        upper : int
            The largest population of a district.
        """
        plain = {EMPTY: "empty on this map", PARTLY_OUTSIDE: "partly outside", INVALID: "invalid shape"}
        all_people = people_in(self.indptr, self.units, population)
        found = []
        for name, status, people in zip(self.ids, self.status, all_people, strict=True):
            words = [plain[status]] if status in plain else []
            if people > upper:
                words.append("larger than a district")
            if name in self.duplicate_of:
                words.append(f"duplicate of {self.duplicate_of[name]}, left out")
            elif name in self.same_units:
                words.append(f"duplicate of {self.same_units[name]}")
            found.append("; ".join(words) or "used")
        return tuple(found)

    def summary(self) -> str:
        """Return how many testimonies are used, partly outside and empty, with names and unknown unit ids."""
        total = count(self.n_testimonies, "testimony", "testimonies")
        parts = [f"{total}: {self.status.count(USED):,} used"]
        named: dict[str, list[str]] = {PARTLY_OUTSIDE: [], EMPTY: [], INVALID: [], DUPLICATE: []}
        for name, own in zip(self.ids, self.status, strict=True):
            if own in named:
                named[own].append(name)
        for names, text, is_always_said in (
            (named[PARTLY_OUTSIDE], "partly outside the map", True),
            (named[EMPTY], "with no unit on the map", True),
            (named[INVALID], "without a usable polygon", False),
            (list(self.same_units), "with the units of an earlier one, counted all the same", False),
            (named[DUPLICATE], "left out as copies", False),
        ):
            if names or is_always_said:
                parts.append(f"{len(names):,} {text}" + (f" ({list_some(names)})" if names else ""))
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
    crosswalk: str | Path | None = None,
) -> Testimonies:
    """Read testimonies in any format that `bottomup.data.testimony_formats` knows, or a folder of them.

    Names, addresses and words of the people who testified are never kept: ids, units, clusters, and names and
    descriptions of communities are. Where ids are names of people, numbers stand for them: see
    `bottomup.data.testimony_formats.people` and ``descriptions``.

    Parameters
    ----------
    path : path
        Tables of units, polygons, plans of Districtr, what Representable and portals give out; told apart by
        their content. In a folder, every such file.
    geography : Geography
        The map.
    testimony_column, unit_column, cluster_column : str, optional
        Columns of the file; common names are recognised. Clusters may be missing, and so may the ids of
        polygons, which then are the row numbers from 1.
    threshold : float
        A unit belongs to a polygon when at least this share of its area lies inside, and to units of another
        map when they make up this share of it.
    crosswalk : path, optional
        Says which units of the map those of the testimonies are; see `read_crosswalk`.

    Returns
    -------
    Testimonies

    Raises
    ------
    DataError
        If a column cannot be found, a row names no testimony or has more cells than the header, a testimony
        is in two clusters, there is no testimony, or not one has a unit on the map.
    """
    check_threshold(threshold)
    columns = Columns(testimony_column, unit_column, cluster_column)
    matcher = UnitMatcher(geography.ids)
    readings, left_aside = read_files(path, columns, geography.id_column, matcher)
    walk = None if crosswalk is None else read_crosswalk(crosswalk, geography.ids)
    communities: list[Community] = []
    places: list[Place] = []
    remarks = list(left_aside)
    foreign: dict[str, None] = {}
    for reading in readings:
        placed = place_communities(reading, geography, matcher, threshold, walk)
        communities += reading.communities
        places += placed.places
        foreign.update(dict.fromkeys(placed.foreign))
        remarks += [f"{reading.path.name}: {remark}" for remark in (*reading.remarks, *placed.remarks)]
    if not communities:
        raise DataError(
            "no_testimonies",
            f"{str(path)!r} holds no testimonies{': ' + '; '.join(remarks) if remarks else ''}.",
            remedy="Give a file with a community in it, or leave them out.",
        )
    ids = [community.id for community in communities]
    testimonies = build_testimonies(
        dict(zip(ids, (place.units for place in places), strict=True)),
        [place.status for place in places],
        {community.id: community.cluster for community in communities},
        {name: place.unknown for name, place in zip(ids, places, strict=True) if place.unknown},
        remarks=remarks,
        texts={community.id: community.text for community in communities if community.text},
    )
    if not len(testimonies.units):
        is_drawn = any(reading.shapes is not None for reading in readings)
        raise no_unit_on_map(
            path, geography, testimonies.summary(), tuple(foreign), threshold if is_drawn else None
        )
    if foreign:
        remark = f"{describe_foreign(list(foreign), geography)}; with a crosswalk they can be carried over"
        testimonies = replace(testimonies, remarks=(*testimonies.remarks, remark))
    return testimonies


def people_in(
    indptr: NDArray[np.int64], units: NDArray[np.integer], population: NDArray[np.int64]
) -> NDArray[np.int64]:
    """People in each of several sets of units, laid end to end."""
    return np.diff(np.concatenate([[0], np.cumsum(population[units])])[indptr])


def pack_units(units: Sequence[NDArray[np.integer]]) -> tuple[NDArray[np.int64], NDArray[np.int32]]:
    """Lay sets of units end to end: ``indptr`` and ``units`` as `Testimonies` has them."""
    indptr = np.zeros(len(units) + 1, dtype=np.int64)
    np.cumsum([len(own) for own in units], out=indptr[1:])
    return indptr, np.concatenate([np.empty(0, dtype=np.int32), *units]).astype(np.int32)


def build_testimonies(
    units_by_testimony: Mapping[str, Iterable[int]],
    status: Sequence[str],
    clusters: Mapping[str, str] | None = None,
    unknown_units: Mapping[str, tuple[str, ...]] | None = None,
    source: str = "column",
    note: str = "",
    remarks: Sequence[str] = (),
    texts: Mapping[str, str] | None = None,
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
    source, note, remarks, texts
        As in `Clusters` and `Testimonies`.
    """
    ids = tuple(units_by_testimony)
    sorted_units = [np.unique(np.fromiter(own, dtype=np.int32)) for own in units_by_testimony.values()]
    indptr, units = pack_units(sorted_units)
    found = None
    if clusters is not None and any(clusters.values()):
        names = tuple(natural_order({name for name in clusters.values() if name}))
        number = {name: cluster for cluster, name in enumerate(names)}
        of_testimony = np.array([number.get(clusters.get(unit, ""), -1) for unit in ids], dtype=np.int32)
        found = Clusters(names, of_testimony, source)
    return Testimonies(
        ids=ids,
        indptr=indptr,
        units=units,
        clusters=found,
        status=tuple(status),
        unknown_units=dict(unknown_units or {}),
        note=note,
        remarks=tuple(remarks),
        texts=dict(texts or {}),
    )
