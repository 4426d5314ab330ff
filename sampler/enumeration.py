"""Every plan of a small map, and the exact law over them: the oracle that a sampler is checked against."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from bottomup.sampler.problem import Problem
from bottomup.sampler.statistics import score_plans
from bottomup.sampler.target import Target
from bottomup.sampler.types import FloatArray, LongArray

__all__ = ["EnumerationError", "encode_plans", "enumerate_plans", "exact_law"]


class EnumerationError(ValueError):
    """The map is too large to list its plans, or has none."""


def enumerate_plans(
    problem: Problem, n_districts: int, lower: int, upper: int, max_plans: int = 200_000
) -> NDArray[np.uint8]:
    """List every plan with connected districts of ``lower`` to ``upper`` people.

    The district of the first free unit is grown in all possible ways, then the next, so each plan comes once,
    its districts numbered in the order of their first units.

    Parameters
    ----------
    problem : Problem
        At most 64 units.
    n_districts, lower, upper : int
    max_plans : int

    Returns
    -------
    uint8 array, shape (number of plans, n)

    Raises
    ------
    EnumerationError
        When there is no plan, more than ``max_plans``, or more than 64 units.
    """
    n = problem.n_units
    if n > 64:
        raise EnumerationError(f"only maps of up to 64 units can be enumerated; this one has {n}")
    neighbors = [0] * n
    for u, v in problem.edges:
        neighbors[u] |= 1 << int(v)
        neighbors[v] |= 1 << int(u)
    population = [int(people) for people in problem.graph.population]
    plans: list[NDArray[np.uint8]] = []
    for districts in _partitions((1 << n) - 1, n_districts, neighbors, population, lower, upper):
        if len(plans) == max_plans:
            raise EnumerationError(
                f"there are more than {max_plans} plans; take a smaller map or tighter bounds"
            )
        plan = np.zeros(n, dtype=np.uint8)
        for d, members in enumerate(districts):
            plan[[u for u in range(n) if members >> u & 1]] = d
        plans.append(plan)
    if not plans:
        raise EnumerationError(
            f"no plan has {n_districts} connected districts of {lower} to {upper} people; widen the bounds"
        )
    return np.array(plans)


def _partitions(
    free: int, n_districts: int, neighbors: list[int], population: list[int], lower: int, upper: int
) -> Iterator[list[int]]:
    people = sum(population[u] for u in _members(free))
    if not n_districts * lower <= people <= n_districts * upper:
        return
    if n_districts == 0:
        if not free:
            yield []
        return
    if not free:
        return
    for district in _connected_sets(free & -free, free, neighbors, population, lower, upper):
        for others in _partitions(free & ~district, n_districts - 1, neighbors, population, lower, upper):
            yield [district, *others]


def _connected_sets(
    seed: int, free: int, neighbors: list[int], population: list[int], lower: int, upper: int
) -> Iterator[int]:
    """Connected subsets of ``free`` that hold ``seed``, each once: a unit passed over stays barred."""
    stack = [(seed, free & ~seed)]
    while stack:
        members, allowed = stack.pop()
        people = sum(population[u] for u in _members(members))
        if people > upper:
            continue
        border = 0
        for u in _members(members):
            border |= neighbors[u]
        border &= allowed
        if not border:
            if people >= lower:
                yield members
            continue
        unit = border & -border
        stack.append((members, allowed & ~unit))
        stack.append((members | unit, allowed & ~unit))


def _members(units: int) -> Iterator[int]:
    while units:
        lowest = units & -units
        yield lowest.bit_length() - 1
        units ^= lowest


def encode_plans(assignment: NDArray[np.unsignedinteger], n_districts: int) -> LongArray:
    """One number for each plan, the same however its districts are numbered.

    Parameters
    ----------
    assignment : unsigned array, shape (R, n)
        With ``n_districts ** n`` below 2**63.
    n_districts : int

    Returns
    -------
    int64 array, shape (R,)
    """
    n_records, n = assignment.shape
    if n * np.log2(n_districts) >= 63:
        raise EnumerationError(f"{n} units in {n_districts} districts are too many to number their plans")
    new_label = np.full((n_records, n_districts), -1, dtype=np.int64)
    n_seen = np.zeros(n_records, dtype=np.int64)
    code = np.zeros(n_records, dtype=np.int64)
    rows = np.arange(n_records)
    for u in range(n):
        label = assignment[:, u]
        is_new = new_label[rows, label] < 0
        new_label[rows[is_new], label[is_new]] = n_seen[is_new]
        n_seen[is_new] += 1
        code = code * n_districts + new_label[rows, label]
    return code


def exact_law(problem: Problem, target: Target, plans: NDArray[np.uint8]) -> FloatArray:
    """Probability of every listed plan under the target, by its definition.

    Returns
    -------
    float64 array, shape (number of plans,)
    """
    scores = score_plans(problem, plans, target.n_districts)
    log_law = -target.compactness * (scores.cut_edges - target.cut_edges) ** 2
    if target.epsilon > 0:
        value = scores.score_testimony if target.score == "testimony" else scores.score_cluster
        log_law = log_law + target.epsilon / (2 * problem.sensitivity(target.score).delta) * value
    law = np.exp(log_law - log_law.max())
    return law / law.sum()
