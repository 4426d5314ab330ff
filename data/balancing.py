"""Population balance restored: units on borders change their district until all are within bounds."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import linprog

from bottomup.data.adjacency import components
from bottomup.data.errors import DataError
from bottomup.data.geography import Geography

__all__ = ["balance"]

_N_ATTEMPTS = 10
# An attempt without progress over so many moves is given up.
_PATIENCE = 60
# A move that does not help is not taken back for so many moves.
_TABU = 12


def balance(
    geography: Geography,
    home: NDArray[np.int32],
    assignment: NDArray[np.int32],
    n_districts: int,
    lower: int,
    upper: int,
    seed: int,
    max_moves: int,
) -> NDArray[np.int32] | None:
    """Move border units between connected districts until all are within bounds.

    At each move it is worked out how many people, at the fewest, still have to cross which borders; a unit
    goes where that takes it, before others one that goes home or makes districts rounder. A unit that holds a
    district together takes with it what it would cut off.

    Parameters
    ----------
    geography : Geography
        The map.
    home, assignment : int32 array, shape (n_units,)
        Where units belong, and the plan to begin with, whose districts are connected.
    n_districts, lower, upper : int
    seed : int
        Decides what is tried after the first attempt.
    max_moves : int
        Of all attempts together.

    Returns
    -------
    int32 array, shape (n_units,), or None
        None when none was found.
    """
    n_left, total = max_moves, geography.total_population
    most = min(total // n_districts - lower, upper - -(-total // n_districts))
    for attempt in range(_N_ATTEMPTS):
        # The first attempt moves the fewest people. It may get stuck where districts are at their bounds;
        # later ones aim inside of these.
        margin = most * (attempt % 4) // 4
        search = _Search(geography, home, assignment.copy(), n_districts, lower, upper, margin)
        found, n_moves = search.run(np.random.default_rng((seed, attempt)), attempt > 0, n_left)
        if found is not None:
            return found
        n_left -= n_moves
        if n_left <= 0:
            break
    return None


class _Flow(NamedTuple):
    """People who have to cross borders: from district, to district, how many, and how many more may."""

    source: NDArray[np.int64]
    target: NDArray[np.int64]
    people: NDArray[np.float64]
    room: NDArray[np.float64]

    @property
    def total(self) -> float:
        return float(self.people.sum())


def _fewest_people(
    people: NDArray[np.int64], pairs: NDArray[np.int64], lower: int, upper: int, margin: int
) -> _Flow:
    """Find the fewest people whose crossing of borders brings every district within bounds.

    Parameters
    ----------
    people : int64 array, shape (n_districts,)
    pairs : int64 array, shape (n_pairs, 2)
        Districts that touch, each pair in both directions.
    lower, upper : int
    margin : int
        How far inside the bounds all are to come.
    """
    n_pairs = len(pairs)
    gain = np.zeros((len(people), n_pairs))
    gain[pairs[:, 1], np.arange(n_pairs)] += 1
    gain[pairs[:, 0], np.arange(n_pairs)] -= 1
    solution = linprog(
        np.ones(n_pairs),
        A_ub=np.concatenate([gain, -gain]),
        b_ub=np.concatenate([upper - margin - people, people - lower - margin]),
        method="highs",
    )
    if solution.x is None:
        raise DataError(
            "no_repair",
            "the districts cannot be balanced: there are no borders over which people could change district.",
            remedy="Join the pieces of the map, or start from another plan.",
        )
    after = people + gain @ solution.x
    flows = solution.x > 0.5
    source, target = pairs[flows, 0], pairs[flows, 1]
    room = np.minimum(after[source] - lower, upper - after[target])
    return _Flow(source, target, solution.x[flows], np.maximum(room, 0))


class _Search:
    """Moves border units between connected districts until all are within bounds."""

    def __init__(
        self,
        geography: Geography,
        home: NDArray[np.int32],
        assignment: NDArray[np.int32],
        n_districts: int,
        lower: int,
        upper: int,
        margin: int,
    ) -> None:
        self._edges, self._population = geography.edges, geography.population
        self._ends = np.concatenate([geography.edges, geography.edges[:, ::-1]])
        self._degree = np.bincount(self._ends[:, 0], minlength=geography.n_units)
        self._home, self._assignment, self._k = home, assignment, n_districts
        self._lower, self._upper, self._margin = lower, upper, margin

    def run(
        self, rng: np.random.Generator, is_varied: bool, max_moves: int
    ) -> tuple[NDArray[np.int32] | None, int]:
        """Return a valid plan, or None when the search is stuck, and the number of moves."""
        free_at = np.zeros(len(self._assignment), dtype=np.int64)
        best, best_at = np.inf, 0
        for n_moves in range(max_moves):
            people = np.bincount(self._assignment, self._population, self._k).astype(np.int64)
            if (people >= self._lower).all() and (people <= self._upper).all():
                return self._assignment, n_moves
            between = self._assignment[self._ends]
            cut = between[:, 0] != between[:, 1]
            touch = np.zeros((self._k, self._k), dtype=bool)
            touch[between[cut, 0], between[cut, 1]] = True
            flow = _fewest_people(people, np.argwhere(touch), self._lower, self._upper, self._margin)
            if flow.total < best:
                best, best_at = flow.total, n_moves
            if n_moves - best_at > _PATIENCE:
                return None, n_moves
            units, target, helps = self._choose(flow, self._ends[cut], free_at <= n_moves, rng, is_varied)
            if not len(units):
                return None, n_moves
            self._assignment[units] = target
            if not helps:
                free_at[units] = n_moves + _TABU
        return None, max_moves

    def _choose(
        self,
        flow: _Flow,
        cut: NDArray[np.int32],
        is_free: NDArray[np.bool_],
        rng: np.random.Generator,
        is_varied: bool,
    ) -> tuple[NDArray[np.int64], int, bool]:
        """Return the units to move, where to, and whether fewer people have to cross borders then."""
        wanted = np.zeros((self._k, self._k))
        room = np.zeros((self._k, self._k))
        wanted[flow.source, flow.target], room[flow.source, flow.target] = flow.people, flow.room
        code, n_beside = np.unique(
            cut[:, 0].astype(np.int64) * self._k + self._assignment[cut[:, 1]], return_counts=True
        )
        unit, target = code // self._k, code % self._k
        chosen = (wanted[self._assignment[unit], target] > 0) & is_free[unit]
        unit, target, n_beside = unit[chosen], target[chosen], n_beside[chosen]
        people, source = self._population[unit], self._assignment[unit]
        limits = wanted[source, target], room[source, target]
        helps = _gain(people, *limits)
        inside = self._assignment[self._ends[:, 0]] == self._assignment[self._ends[:, 1]]
        n_inside = np.bincount(self._ends[inside, 0], minlength=len(self._assignment))[unit]
        score = (
            helps / max(1.0, float(np.abs(helps).max(initial=0)))
            + (n_beside - n_inside) / self._degree[unit]
            + 2.0 * (self._home[unit] == target)
            - np.maximum(people - limits[0], 0) / np.maximum(people, 1)
        )
        if is_varied:
            score = score + rng.random(len(score))
        order = np.lexsort((code[chosen], -score, helps <= 0))
        fallback: tuple[NDArray[np.int64], int, bool] = np.empty(0, dtype=np.int64), 0, False
        for place in order:
            units = self._with_dependants(int(unit[place]))
            if not len(units):
                continue
            total = np.array(self._population[units].sum())
            if _gain(total, limits[0][place], limits[1][place]) > 0:
                return units, int(target[place]), True
            if not len(fallback[0]):
                fallback = units, int(target[place]), False
            if helps[place] <= 0:
                break
        return fallback

    def _with_dependants(self, unit: int) -> NDArray[np.int64]:
        """Return a unit and what its leaving would cut off from its district; nothing if none stays."""
        district = self._assignment[unit]
        others = self._assignment == district
        others[unit] = False
        if not others.any():
            return np.empty(0, dtype=np.int64)
        pieces = components(len(others), self._edges, others)
        people = np.bincount(pieces[others], self._population[others])
        stays = int(np.lexsort((-np.bincount(pieces[others]), -people))[0])
        return np.concatenate([[unit], np.flatnonzero(others & (pieces != stays))]).astype(np.int64)


def _gain(
    people: NDArray[np.int64], wanted: NDArray[np.float64], room: NDArray[np.float64]
) -> NDArray[np.float64]:
    """By how many people, at least, fewer have to cross borders after such a move."""
    return np.minimum(people, wanted) - np.maximum(people - wanted - room, 0)
