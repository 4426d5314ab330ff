"""Plans to start from, and the state of a walk that stands for a plan."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike
from scipy import sparse
from scipy.sparse.csgraph import connected_components

from bottomup.sampler.kernels.determinant import factor_all
from bottomup.sampler.kernels.forest import MARKED, OUTSIDE, TREE
from bottomup.sampler.kernels.trees import draw_tree, find_balanced_cuts, sum_below
from bottomup.sampler.problem import Problem
from bottomup.sampler.types import Cholesky, Forest, IntArray, Scratch, State, Tallies, Workshop

__all__ = [
    "StartError",
    "build_state",
    "check_assignment",
    "make_start",
    "make_unlike_starts",
    "make_workshop",
    "seed_of",
]

STARTS = 2**32 - 1
"""The branch of a seed's sequence for starts; those for chains are numbered from 0."""


class StartError(ValueError):
    """No valid plan could be made, or the plan given is not one."""


def check_assignment(
    problem: Problem, assignment: ArrayLike, n_districts: int, lower: int, upper: int
) -> IntArray:
    """Return the plan as an int32 array when it is connected and balanced.

    Parameters
    ----------
    problem : Problem
    assignment : array_like of int, shape (n,)
        District of each unit, 0 to ``n_districts`` - 1.
    n_districts, lower, upper : int

    Raises
    ------
    StartError
        Naming the districts at fault.
    """
    plan = np.ascontiguousarray(assignment, dtype=np.int32)
    if plan.shape != (problem.n_units,):
        raise StartError(
            f"a plan needs one district for each of {problem.n_units} units; got shape {plan.shape}"
        )
    if plan.min() < 0 or plan.max() >= n_districts:
        raise StartError(
            f"districts must be numbered 0 to {n_districts - 1}; got {plan.min()} to {plan.max()}"
        )
    people = np.bincount(plan, problem.graph.population, n_districts)
    wrong = np.flatnonzero((people < lower) | (people > upper))
    if len(wrong):
        listed = ", ".join(f"{d} ({people[d]:.0f} people)" for d in wrong[:10])
        raise StartError(f"districts must hold {lower} to {upper} people; out of bounds: {listed}")
    same = plan[problem.edges[:, 0]] == plan[problem.edges[:, 1]]
    inside = problem.edges[same]
    matrix = sparse.coo_array(
        (np.ones(len(inside)), (inside[:, 0], inside[:, 1])), shape=(problem.n_units,) * 2
    )
    _, piece = connected_components(matrix, directed=False)
    pieces = np.array([len(np.unique(piece[plan == d])) for d in range(n_districts)])
    if np.any(pieces != 1):
        listed = ", ".join(f"{d} ({pieces[d]} pieces)" for d in np.flatnonzero(pieces != 1)[:10])
        raise StartError(f"districts must be connected and not empty; at fault: {listed}")
    return plan


def make_start(
    problem: Problem, n_districts: int, lower: int, upper: int, seed: int, max_attempts: int = 200
) -> IntArray:
    """Make a plan by cutting one district after another from random spanning trees.

    Each cut leaves a rest that the remaining districts can share; when no tree offers one, all begins anew.

    Parameters
    ----------
    problem : Problem
    n_districts, lower, upper : int
    seed : int
        The same seed makes the same plan.
    max_attempts : int
        How often to begin anew.

    Returns
    -------
    int32 array, shape (n,)

    Raises
    ------
    StartError
        When the bounds cannot hold, or no plan was found.
    """
    population = problem.graph.population
    total = int(population.sum())
    if not n_districts * lower <= total <= n_districts * upper:
        raise StartError(
            f"{n_districts} districts of {lower} to {upper} people cannot hold {total} people; change the "
            "tolerance or the number of districts"
        )
    largest = int(population.argmax())
    if population[largest] > upper:
        raise StartError(
            f"unit number {largest} holds {population[largest]} people, more than a district may ({upper}); "
            "raise the tolerance or divide the unit"
        )
    rng = np.random.default_rng(seed)
    for _ in range(max_attempts):
        plan = _cut_districts(rng, problem, n_districts, lower, upper)
        if plan is not None:
            return plan
    raise StartError(
        f"no plan with {n_districts} districts of {lower} to {upper} people was found in {max_attempts} "
        "attempts; raise the tolerance or give a plan to start from"
    )


def make_unlike_starts(
    problem: Problem,
    n_districts: int,
    lower: int,
    upper: int,
    given: Sequence[ArrayLike],
    n_starts: int,
    seed: int,
) -> list[IntArray]:
    """Starts for chains that are to be compared: the plans given, then plans made from random trees.

    On maps with few plans some may still be alike, see :func:`bottomup.sampler.diagnostics.are_unlike`.

    Parameters
    ----------
    problem : Problem
    n_districts, lower, upper : int
    given : sequence of array_like of int, each of shape (n,)
        Plans that are as unlike as can be; may be empty.
    n_starts : int
        At least 1, and at least as many as are given.
    seed : int
        The same seed makes the same plans, and the first of them are the same however many are made.

    Returns
    -------
    list of int32 arrays, each of shape (n,)

    Raises
    ------
    StartError
        When a plan given is not connected and balanced, or no plan could be made from trees.
    ValueError
        When ``n_starts`` is too small.
    """
    if n_starts < max(1, len(given)):
        raise ValueError(
            f"n_starts must be at least 1, and no less than the number of plans given, {len(given)}; "
            f"got {n_starts}"
        )
    starts = [check_assignment(problem, plan, n_districts, lower, upper) for plan in given]
    children = np.random.SeedSequence(seed, spawn_key=(STARTS,)).spawn(n_starts - len(starts))
    for child in children:
        try:
            starts.append(make_start(problem, n_districts, lower, upper, seed_of(child)))
        except StartError as error:
            raise StartError(
                f"start number {len(starts) + 1} of {n_starts} could not be made from random trees: {error}"
            ) from error
    return starts


def seed_of(sequence: np.random.SeedSequence) -> int:
    """A whole number in place of a seed sequence, as chains and starts take it."""
    return int(sequence.generate_state(1, np.uint64)[0])


def _cut_districts(
    rng: np.random.Generator,
    problem: Problem,
    n_districts: int,
    lower: int,
    upper: int,
    trees_per_cut: int = 100,
) -> IntArray | None:
    n, graph = problem.n_units, problem.graph
    population, weights = graph.population, graph.equal
    rest = n_districts - 1
    plan = np.full(n, rest, dtype=np.int32)
    parent, parent_edge = np.empty(n, dtype=np.int32), np.empty(n, dtype=np.int32)
    below, order = np.zeros(n, dtype=np.int64), np.empty(n, dtype=np.int32)
    cuts, part_is_below = np.empty(2 * n, dtype=np.int32), np.empty(2 * n, dtype=np.uint8)
    for district in range(n_districts - 1):
        for _ in range(trees_per_cut):
            in_tree, root = np.zeros(n, dtype=np.uint8), int(np.argmax(plan == rest))
            n_units = draw_tree(rng, graph, weights, plan, rest, root, parent, parent_edge, in_tree, order)
            sum_below(population, parent, order, n_units, below)
            whole = int(population[plan == rest].sum())
            n_cuts = find_balanced_cuts(
                plan, rest, parent, below, whole, lower, upper, rest - district, cuts, part_is_below
            )
            if n_cuts:
                break
        else:
            return None
        choice = int(rng.integers(n_cuts))
        is_below = _is_below(plan == rest, parent, int(cuts[choice]))
        part = is_below if part_is_below[choice] else (plan == rest) & ~is_below
        plan[part] = district
    return plan


def _is_below(members: np.ndarray, parent: IntArray, top: int) -> np.ndarray:
    """Mask of the units of a tree that hang at or below ``top``."""
    units = np.flatnonzero(members)
    above = units.copy()
    result = np.zeros(len(members), dtype=bool)
    while len(units):
        hit = above == top
        result[units[hit]] = True
        go_on = ~hit & (parent[above] >= 0)
        units, above = units[go_on], parent[above[go_on]]
    return result


def build_state(
    rng: np.random.Generator, problem: Problem, cholesky: Cholesky, plan: IntArray, n_districts: int
) -> State:
    """A state of the walk that stands for a plan: uniform trees of the districts, random marked edges.

    Parameters
    ----------
    rng : numpy.random.Generator
    problem : Problem
    cholesky : Cholesky
        Filled for the plan.
    plan : int32 array, shape (n,)
        Connected districts 0 to ``n_districts`` - 1.
    n_districts : int

    Returns
    -------
    State
    """
    forest = _build_forest(rng, problem, plan, n_districts)
    tallies = _build_tallies(problem, plan, n_districts)
    n, m, k = problem.n_units, len(problem.edges), n_districts
    scratch = Scratch(
        stamp=np.zeros(n, dtype=np.int64),
        edge_stamp=np.zeros(m, dtype=np.int64),
        clock=np.zeros(1, dtype=np.int64),
        path_child=np.zeros(n, dtype=np.int32),
        path_segment=np.zeros(n, dtype=np.int32),
        path_near=np.zeros(n, dtype=np.uint8),
        route=np.zeros((3, k), dtype=np.int32),
        stack=np.zeros(n, dtype=np.int32),
        moved=np.zeros(3 * n, dtype=np.int32),
        moved_from=np.zeros(3 * n, dtype=np.int32),
        n_moved=np.zeros(1, dtype=np.int64),
        n_parts=np.zeros(1, dtype=np.int64),
        is_listed=np.ones(1, dtype=np.bool_),
        changed=np.ones(k, dtype=np.uint8),
        log_trees=np.zeros(2),
        dense=np.zeros((k, k)),
    )
    state = State(forest=forest, tallies=tallies, scratch=scratch, counter=np.zeros((4, 6), dtype=np.int64))
    factor_all(problem.graph, problem.pattern, cholesky, state)
    return state


def make_workshop(problem: Problem, n_districts: int) -> Workshop:
    """Make the buffers of the companion moves of one chain."""
    n, m, k = problem.n_units, len(problem.edges), n_districts
    return Workshop(
        cut_edges=np.zeros(2 * m, dtype=np.int32),
        cut_slot=np.zeros(m, dtype=np.int32),
        first=np.zeros(k + 1, dtype=np.int64),
        fill=np.zeros(k, dtype=np.int64),
        next_edge=np.zeros(k, dtype=np.int32),
        in_multigraph=np.zeros(k, dtype=np.uint8),
        in_tree=np.zeros(n, dtype=np.uint8),
        order=np.zeros(n, dtype=np.int32),
        region=np.zeros(n, dtype=np.int32),
        balanced=np.zeros(n, dtype=np.int32),
        parent=np.zeros(n, dtype=np.int32),
        parent_edge=np.zeros(n, dtype=np.int32),
        below=np.zeros(n, dtype=np.int64),
        log_trees=np.zeros(k),
        is_counted=np.zeros(k, dtype=np.uint8),
    )


def _build_forest(rng: np.random.Generator, problem: Problem, plan: IntArray, n_districts: int) -> Forest:
    n, m, graph = problem.n_units, len(problem.edges), problem.graph
    parent, parent_edge = np.empty(n, dtype=np.int32), np.empty(n, dtype=np.int32)
    below, in_tree = np.zeros(n, dtype=np.int64), np.zeros(n, dtype=np.uint8)
    order = np.empty(n, dtype=np.int32)
    for d in range(n_districts):
        root = int(np.argmax(plan == d))
        n_units = draw_tree(rng, graph, graph.equal, plan, d, root, parent, parent_edge, in_tree, order)
        sum_below(graph.population, parent, order, n_units, below)
    kind = np.full(m, OUTSIDE, dtype=np.uint8)
    kind[parent_edge[parent_edge >= 0]] = TREE
    marked = _draw_marks(rng, problem.edges, plan, n_districts)
    kind[marked] = MARKED
    outside = np.flatnonzero(kind == OUTSIDE).astype(np.int32)
    slot = np.full(m, -1, dtype=np.int32)
    slot[marked] = np.arange(len(marked))
    slot[outside] = np.arange(len(outside))
    return Forest(
        parent=parent,
        parent_edge=parent_edge,
        subtree_population=below,
        district=plan.copy(),
        kind=kind,
        slot=slot,
        outside=outside,
        marked=marked,
    )


def _draw_marks(rng: np.random.Generator, edges: IntArray, plan: IntArray, n_districts: int) -> IntArray:
    """Cut edges that join the districts into one tree, taken in random order (Kruskal)."""
    group = np.arange(n_districts)
    marked = []
    cut_edges = np.flatnonzero(plan[edges[:, 0]] != plan[edges[:, 1]])
    for edge in rng.permutation(cut_edges):
        one, other = group[plan[edges[edge, 0]]], group[plan[edges[edge, 1]]]
        if one != other:
            group[group == other] = one
            marked.append(edge)
    return np.array(marked, dtype=np.int32)


def _build_tallies(problem: Problem, plan: IntArray, n_districts: int) -> Tallies:
    testimony, k = problem.testimony, n_districts
    one, other = plan[problem.edges[:, 0]], plan[problem.edges[:, 1]]
    is_cut = one != other
    between = np.zeros((k, k), dtype=np.int64)
    np.add.at(between, (one[is_cut], other[is_cut]), 1)
    between += between.T.copy()
    in_district = np.zeros((problem.n_testimonies, k), dtype=np.int32)
    np.add.at(in_district, (testimony.covering, np.repeat(plan, np.diff(testimony.indptr))), 1)
    cluster = np.zeros((problem.n_clusters, k), dtype=np.int64)
    np.add.at(
        cluster,
        (testimony.cluster, np.repeat(plan, np.diff(testimony.cluster_indptr))),
        testimony.weight,
    )
    spread = (in_district > 0).sum(axis=1).astype(np.int32)
    best = cluster.max(axis=1)
    return Tallies(
        population=np.bincount(plan, problem.graph.population, k).astype(np.int64),
        between=between,
        testimony=in_district,
        spread=spread,
        cluster=cluster,
        best=best,
        total=np.array([is_cut.sum(), (spread == 1).sum(), best.sum()], dtype=np.int64),
        log_trees=np.zeros(2),
    )
