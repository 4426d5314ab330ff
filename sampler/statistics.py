"""Statistics of plans by their definitions: scores, totals by district, shares by ranked district.

Nothing here is kept up to date step by step; the walk's running sums are tested against it.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import sparse

from bottomup.sampler.problem import Problem
from bottomup.sampler.types import FloatArray, IntArray

__all__ = [
    "PlanScores",
    "PlanStatistics",
    "district_shares",
    "district_totals",
    "evaluate_plan",
    "find_preserved",
    "ranked_shares",
    "score_plans",
]

PLANS_TOGETHER = 256


class PlanStatistics(NamedTuple):
    """One plan's statistics."""

    cut_edges: int
    score_testimony: float
    """Share of testimonies preserved; nan without testimonies."""
    score_cluster: float
    """Share of cluster weight in best districts; nan without clusters."""
    preserved: NDArray[np.bool_]
    """bool array, shape (T,): whether each testimony lies inside one district."""
    n_districts_touched: IntArray
    """int32 array, shape (T,): districts that each testimony is spread over."""
    cluster_best_share: FloatArray
    """float64 array, shape (C,): share of the cluster's weight in its best district."""


class PlanScores(NamedTuple):
    """Statistics of R plans."""

    cut_edges: NDArray[np.int64]
    """int64 array, shape (R,)."""
    score_testimony: FloatArray
    """float64 array, shape (R,); nan without testimonies."""
    score_cluster: FloatArray
    """float64 array, shape (R,); nan without clusters."""


def evaluate_plan(problem: Problem, assignment: ArrayLike, n_districts: int) -> PlanStatistics:
    """Statistics of any assignment of units to districts, valid or not.

    A testimony without a unit on the map lies inside no district, so it is not preserved.

    Parameters
    ----------
    problem : Problem
    assignment : array_like of int, shape (n,)
    n_districts : int
    """
    plan = np.asarray(assignment, dtype=np.int64)
    testimony = problem.testimony
    membership = np.zeros((problem.n_units, n_districts))
    membership[np.arange(problem.n_units), plan] = 1
    covering = sparse.csr_array(
        (np.ones(len(testimony.covering)), testimony.covering, testimony.indptr),
        shape=(problem.n_units, problem.n_testimonies),
    )
    weights = sparse.csr_array(
        (testimony.weight.astype(float), testimony.cluster, testimony.cluster_indptr),
        shape=(problem.n_units, problem.n_clusters),
    )
    touched = ((covering.T @ membership) > 0).sum(axis=1).astype(np.int32)
    best = (weights.T @ membership).max(axis=1)
    preserved = touched == 1
    total = problem.cluster_total
    return PlanStatistics(
        cut_edges=int((plan[problem.edges[:, 0]] != plan[problem.edges[:, 1]]).sum()),
        score_testimony=float(preserved.mean()) if problem.n_testimonies else float("nan"),
        score_cluster=float(best.sum() / total) if total else float("nan"),
        preserved=preserved,
        n_districts_touched=touched,
        cluster_best_share=best / np.maximum(testimony.cluster_weight, 1),
    )


def score_plans(problem: Problem, plans: NDArray[np.integer], n_districts: int) -> PlanScores:
    """Both scores and the cut edges of many plans, shape (R, n)."""
    testimony = problem.testimony
    n_testimonies, total = problem.n_testimonies, problem.cluster_total
    weights = sparse.csr_array(
        (testimony.weight, testimony.cluster, testimony.cluster_indptr),
        shape=(problem.n_units, problem.n_clusters),
    )
    cut_edges = np.empty(len(plans), dtype=np.int64)
    by_testimony, by_cluster = np.full(len(plans), np.nan), np.full(len(plans), np.nan)
    # A few plans at a time: what is compared unit by unit stays small.
    for begin in range(0, len(plans), PLANS_TOGETHER):
        rows = slice(begin, begin + PLANS_TOGETHER)
        some = np.asarray(plans[rows])
        cut_edges[rows] = (some[:, problem.edges[:, 0]] != some[:, problem.edges[:, 1]]).sum(axis=1)
        if n_testimonies:
            whole = find_preserved(some, testimony.member_indptr, testimony.member)
            by_testimony[rows] = whole.mean(axis=1)
        if total:
            best = np.zeros((len(some), problem.n_clusters), dtype=np.int64)
            for district in range(n_districts):
                best = np.maximum(best, (some == district).astype(np.int64) @ weights)
            by_cluster[rows] = best.sum(axis=1) / total
    return PlanScores(cut_edges, by_testimony, by_cluster)


def find_preserved(plans: NDArray[np.integer], indptr: ArrayLike, units: ArrayLike) -> NDArray[np.bool_]:
    """Which testimonies each of many plans keeps whole; none without units.

    Parameters
    ----------
    plans : integer array, shape (R, n)
    indptr, units : array_like of int, shapes (T + 1,) and (nnz,)
        Units of testimony ``t`` are ``units[indptr[t]:indptr[t + 1]]``.

    Returns
    -------
    bool array, shape (R, T)
    """
    start, members = np.asarray(indptr, dtype=np.int64), np.asarray(units, dtype=np.int64)
    whole = np.zeros((len(plans), len(start) - 1), dtype=bool)
    filled = np.flatnonzero(np.diff(start) > 0)
    if len(filled):
        # A bit for each plan and unit: what is reduced is short, and in the order of memory.
        district = np.ascontiguousarray(np.asarray(plans).T)[members]
        first = district[np.repeat(start[filled], np.diff(start)[filled])]
        is_away = np.packbits(district != first, axis=1)
        split = np.bitwise_or.reduceat(is_away, start[filled], axis=0)
        whole[:, filled] = np.unpackbits(split, axis=1, count=len(plans)).T == 0
    return whole


def district_totals(assignments: NDArray[np.integer], n_districts: int, values: ArrayLike) -> FloatArray:
    """Sums of a column over the districts of many plans.

    Parameters
    ----------
    assignments : integer array, shape (R, n)
    n_districts : int
    values : array_like of numbers, shape (n,)

    Returns
    -------
    float64 array, shape (R, k)
    """
    column = np.asarray(values, dtype=np.float64)
    totals = [np.bincount(plan, column, n_districts) for plan in assignments]
    return np.array(totals, dtype=np.float64).reshape(len(assignments), n_districts)


def district_shares(
    assignments: NDArray[np.integer], n_districts: int, numerator: ArrayLike, denominator: ArrayLike
) -> FloatArray:
    """Shares by district of many plans.

    Parameters
    ----------
    assignments : integer array, shape (R, n)
    n_districts : int
    numerator, denominator : array_like of numbers, shape (n,)

    Returns
    -------
    float64 array, shape (R, k)
        nan where a district's denominator is 0.
    """
    above = district_totals(assignments, n_districts, numerator)
    below = district_totals(assignments, n_districts, denominator)
    return np.divide(above, below, out=np.full_like(above, np.nan), where=below > 0)


def ranked_shares(
    assignments: NDArray[np.integer], n_districts: int, numerator: ArrayLike, denominator: ArrayLike
) -> FloatArray:
    """Shares by district, ascending in each plan, so that the first column is every plan's lowest district.

    Parameters
    ----------
    assignments : integer array, shape (R, n)
    n_districts : int
    numerator, denominator : array_like of numbers, shape (n,)

    Returns
    -------
    float64 array, shape (R, k)
        nan where a district's denominator is 0.
    """
    shares = district_shares(assignments, n_districts, numerator, denominator)
    shares.sort(axis=1)
    return shares
