"""Other testimonies in place of those submitted: what a coordinated group would change."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from bottomup.data.adjacency import build_csr
from bottomup.data.clusters import zone_of
from bottomup.data.errors import DataError, count, list_some
from bottomup.data.geography import Geography
from bottomup.data.testimonies import DUPLICATE, EMPTY, USED, Clusters, Testimonies, pack_units

__all__ = [
    "Change",
    "deduplicate",
    "draw_adversary",
    "find_cluster",
    "flood",
    "replace_by_drawn",
    "replace_cluster",
]

ADVERSARY = "adversary"
"""Name of the cluster that adversarial testimonies make, and the beginning of their ids."""


@dataclass(frozen=True, eq=False)
class Change:
    """Testimonies before and after a group has changed some of them.

    Attributes
    ----------
    before, after : Testimonies
    removed : int64 array
        Places in ``before`` of the testimonies that are gone.
    added : int64 array
        Places in ``after`` of the testimonies that have come.
    words : str
        What has been done.
    """

    before: Testimonies
    after: Testimonies
    removed: NDArray[np.int64]
    added: NDArray[np.int64]
    words: str

    @property
    def n_replaced(self) -> int:
        """Testimonies that have been replaced by another."""
        return min(len(self.removed), len(self.added))

    @property
    def cost(self) -> float:
        """How many times epsilon the log-odds of a plan can move.

        A testimony that is replaced by another counts 1; one added or removed, without another in its place,
        counts a half. See :mod:`bottomup.sampler.sensitivity`.
        """
        return (len(self.removed) + len(self.added)) / 2


def find_cluster(testimonies: Testimonies, name: str | None = None, n_members: int = 9) -> int:
    """Position of a cluster: the one named, or the one whose number of testimonies is nearest to a number.

    Raises
    ------
    DataError
        When there are no clusters, the name is unknown, or the cluster has no testimony.
    """
    clusters = testimonies.clusters
    if clusters is None:
        raise DataError(
            "no_clusters",
            "The testimonies have no clusters, so none can be taken out.",
            remedy="Name their cluster column, take clusters from the units' geography, or flood instead.",
        )
    members = np.bincount(clusters.of_testimony[clusters.of_testimony >= 0], minlength=len(clusters.names))
    if not members.any():
        raise DataError(
            "empty_cluster",
            "No testimony lies in any cluster, so there is none to take out.",
            remedy="Take clusters that testimonies lie in, or flood instead.",
        )
    if name is None:
        distance = np.where(members > 0, np.abs(members - n_members), np.iinfo(np.int64).max)
        return int(distance.argmin())
    if name not in clusters.names:
        raise DataError(
            "unknown_cluster",
            f"There is no cluster {name!r}.",
            remedy=f"Name one of {list_some(list(clusters.names))}.",
        )
    place = clusters.names.index(name)
    if not members[place]:
        raise DataError(
            "empty_cluster", f"Cluster {name!r} has no testimony to take out.", remedy="Name another."
        )
    return place


def replace_cluster(
    testimonies: Testimonies,
    geography: Geography,
    cluster: int,
    adversary: Sequence[NDArray[np.integer]],
) -> Change:
    """Take out a cluster's testimonies and put others in their places.

    The number of testimonies stays when there are as many; spare ones follow at the end, and places that are
    left over are dropped. The new ones make a cluster of their own, or where clusters are public geography go
    to their zones.

    Parameters
    ----------
    testimonies : Testimonies
    geography : Geography
    cluster : int
        See :func:`find_cluster`.
    adversary : sequence of int arrays
        Positions of the units of each new testimony.
    """
    clusters = testimonies.clusters
    if clusters is None:
        raise ValueError("the testimonies have no clusters")
    removed = clusters.members(cluster)
    places = {int(place): number for place, number in zip(removed, range(len(adversary)), strict=False)}
    kept = np.flatnonzero(clusters.of_testimony != cluster)
    spare = range(len(places), len(adversary))
    order = sorted([(int(t), -1) for t in kept] + list(places.items()))
    order += [(-1, number) for number in spare]
    after = _rebuild(testimonies, geography, order, adversary)
    added = np.array([place for place, (_, number) in enumerate(order) if number >= 0], dtype=np.int64)
    words = (
        f"{count(len(removed), 'testimony', 'testimonies')} of cluster {clusters.names[cluster]} "
        f"replaced by {len(adversary):,} others"
    )
    return Change(testimonies, after, removed, added, words)


def replace_by_drawn(
    testimonies: Testimonies,
    geography: Geography,
    cluster: int,
    n_districts: int,
    seed: int,
    across: NDArray[np.integer] | None = None,
) -> Change:
    """Put a drawn group in a cluster's place; none of its testimonies holds more than half a district.

    Parameters
    ----------
    testimonies : Testimonies
    geography : Geography
    cluster : int
        See :func:`find_cluster`.
    n_districts, seed, across
        See :func:`draw_adversary`.
    """
    if testimonies.clusters is None:
        raise ValueError("the testimonies have no clusters")
    removed = testimonies.clusters.members(cluster)
    room = geography.total_population / n_districts / 2
    adversary = draw_adversary(testimonies, geography, removed, room, seed, across)
    return replace_cluster(testimonies, geography, cluster, adversary)


def flood(testimonies: Testimonies, geography: Geography, testimony: str, n_copies: int) -> Change:
    """Submit one testimony again until there are ``n_copies`` of it.

    Raises
    ------
    DataError
        When there is no such testimony.
    ValueError
        When ``n_copies`` is less than 1.
    """
    if n_copies < 1:
        raise ValueError(f"the number of copies must be at least 1; got {n_copies}")
    if testimony not in testimonies.ids:
        raise DataError(
            "unknown_testimony",
            f"There is no testimony {testimony!r}.",
            remedy=f"Ids look like {list_some(list(testimonies.ids[:3]))}.",
        )
    original = testimonies.ids.index(testimony)
    n = testimonies.n_testimonies
    copies = [testimonies.units_of(original)] * (n_copies - 1)
    order = [(t, -1) for t in range(n)] + [(-1, number) for number in range(len(copies))]
    clusters = testimonies.clusters
    own = -1 if clusters is None else int(clusters.of_testimony[original])
    after = _rebuild(testimonies, geography, order, copies, cluster=own, stem=f"{testimony} copy")
    return Change(
        testimonies,
        after,
        np.empty(0, dtype=np.int64),
        np.arange(n, n + len(copies)),
        f"testimony {testimony} submitted {n_copies:,} times",
    )


def deduplicate(testimonies: Testimonies) -> Testimonies:
    """Let testimonies that cover the same units, in the same cluster, count once.

    The copies stay on the list, without units. The sensitivities hold as before: replacing one testimony
    takes one shape at most out of its cluster and puts one at most into another.
    """
    clusters = testimonies.clusters
    first: dict[tuple[bytes, int], str] = {}
    # Copies that were left out before have no units any more, and stay what they are.
    duplicate_of = dict(testimonies.duplicate_of)
    kept, status = [], list(testimonies.status)
    for number, name in enumerate(testimonies.ids):
        units = testimonies.units_of(number)
        own = -1 if clusters is None else int(clusters.of_testimony[number])
        if len(units) and first.setdefault((units.tobytes(), own), name) != name:
            duplicate_of[name] = first[units.tobytes(), own]
            status[number] = DUPLICATE
            units = units[:0]
        kept.append(units)
    indptr, units = pack_units(kept)
    return replace(
        testimonies,
        indptr=indptr,
        units=units,
        status=tuple(status),
        duplicate_of=duplicate_of,
    )


def draw_adversary(
    testimonies: Testimonies,
    geography: Geography,
    removed: NDArray[np.int64],
    most_people: float,
    seed: int,
    across: NDArray[np.integer] | None = None,
) -> list[NDArray[np.int32]]:
    """Draw a group's testimonies: as many as are removed and as large, around one place away from them.

    Each grows from the same unit, neighbour by neighbour in random order, to the number of units of one of
    the removed testimonies or until it would hold ``most_people``. The place is drawn among the half of the
    units that lies farthest from the removed ones by steps on the dual graph, and of these among those on the
    borders of a plan when one is given: the group then wants together what the plan keeps apart.

    Parameters
    ----------
    testimonies : Testimonies
    geography : Geography
    removed : int array
        Places of the testimonies that they stand for.
    most_people : float
        No drawn testimony holds more, unless a single unit does: a district must have room for it.
    seed : int
    across : int array, shape (n_units,), optional
        A plan.

    Returns
    -------
    list of int32 arrays
        Positions of units, ascending.
    """
    rng = np.random.default_rng(seed)
    indptr, neighbor, _ = build_csr(geography.n_units, geography.edges)
    near = [testimonies.units_of(int(t)) for t in removed]
    distance = _steps_from(indptr, neighbor, np.unique(np.concatenate([np.empty(0, np.int32), *near])))
    is_far = distance >= np.median(distance)
    if across is not None:
        one, other = geography.edges.T
        is_on_border = np.zeros(geography.n_units, dtype=bool)
        is_on_border[geography.edges[across[one] != across[other]]] = True
        is_far = is_far & is_on_border if (is_far & is_on_border).any() else is_far
    centre = int(rng.choice(np.flatnonzero(is_far)))
    sizes = [max(1, len(units)) for units in near]
    return [_grow(rng, indptr, neighbor, geography.population, centre, size, most_people) for size in sizes]


def _grow(
    rng: np.random.Generator,
    indptr: NDArray[np.int64],
    neighbor: NDArray[np.int32],
    population: NDArray[np.int64],
    centre: int,
    size: int,
    most_people: float,
) -> NDArray[np.int32]:
    grown, people = [centre], int(population[centre])
    seen, frontier = {centre}, []
    at = centre
    while len(grown) < size:
        for other in neighbor[indptr[at] : indptr[at + 1]].tolist():
            if other not in seen:
                seen.add(other)
                frontier.append(other)
        if not frontier:
            break
        # Early neighbours first, give or take: the shape stays round but is never twice the same.
        at = frontier.pop(int(rng.integers(min(len(frontier), 3))))
        if people + population[at] > most_people:
            break
        grown.append(at)
        people += int(population[at])
    return np.array(sorted(grown), dtype=np.int32)


def _steps_from(
    indptr: NDArray[np.int64], neighbor: NDArray[np.int32], sources: NDArray[np.int32]
) -> NDArray[np.int64]:
    """Steps on the dual graph from the nearest of the sources, 0 everywhere without sources."""
    n = len(indptr) - 1
    distance = np.full(n, -1 if len(sources) else 0, dtype=np.int64)
    distance[sources] = 0
    ring, steps = sources, 0
    while len(ring):
        steps += 1
        around = np.unique(np.concatenate([neighbor[indptr[u] : indptr[u + 1]] for u in ring]))
        ring = around[distance[around] < 0]
        distance[ring] = steps
    return distance


def _rebuild(
    testimonies: Testimonies,
    geography: Geography,
    order: Sequence[tuple[int, int]],
    extra: Sequence[NDArray[np.integer]],
    cluster: int | None = None,
    stem: str = ADVERSARY,
) -> Testimonies:
    """Testimonies in a new order: where the second number is not negative, it is of a new one."""
    clusters = testimonies.clusters
    taken = set(testimonies.ids)
    names = iter(name for number in range(1, 10**9) if (name := f"{stem} {number}") not in taken)
    ids, units, status, of_testimony = [], [], [], []
    zones = list(clusters.names) if clusters is not None else []
    for old, number in order:
        if number < 0:
            ids.append(testimonies.ids[old])
            units.append(testimonies.units_of(old))
            status.append(testimonies.status[old])
            of_testimony.append(-1 if clusters is None else int(clusters.of_testimony[old]))
            continue
        own = np.unique(np.asarray(extra[number], dtype=np.int32))
        ids.append(next(names))
        units.append(own)
        status.append(USED if len(own) else EMPTY)
        if clusters is None:
            of_testimony.append(-1)
        elif clusters.zone_of_unit is not None:
            of_testimony.append(zone_of(own, clusters.zone_of_unit, len(zones), geography.population))
        else:
            of_testimony.append(len(zones) if cluster is None else cluster)
    if clusters is not None and any(place == len(zones) for place in of_testimony):
        taken = set(zones)
        zones.append(next(n for i in range(len(taken) + 1) if (n := ADVERSARY + "'" * i) not in taken))
    indptr, packed = pack_units(units)
    known = set(ids)
    return replace(
        testimonies,
        ids=tuple(ids),
        indptr=indptr,
        units=packed,
        clusters=None
        if clusters is None
        else Clusters(
            tuple(zones), np.array(of_testimony, dtype=np.int32), clusters.source, clusters.zone_of_unit
        ),
        status=tuple(status),
        unknown_units={name: own for name, own in testimonies.unknown_units.items() if name in known},
        duplicate_of={name: own for name, own in testimonies.duplicate_of.items() if name in known},
    )
