r"""Plans of two districts drawn one independently of the other, as a reference for what chains sample.

A uniform spanning tree of the whole dual graph (Wilson's algorithm) loses one of its edges, and falls into
the two districts of a plan {A, B}. Of all pairs of a tree and an edge of it,

.. math:: N(A, B) = \tau(A)\,\tau(B)\,|\mathrm{cut}(A, B)|

give that plan: a tree of each side, and a cut edge that joins them. :math:`\tau` counts spanning trees. So a
plan comes up in proportion to N, and the weight :math:`e^{-\beta(\mathrm{cut} - c_0)^2} / N` turns the draws
into a sample of the base measure, with no Markov chain and nothing to converge (importance sampling). N is
also the number of states by which the walk stands for a plan, but is counted here apart from the walk, by
scipy, and from nothing but the plan. Of the kernels only the drawing of a tree is used.

*All edges of a tree count.* Each edge whose both sides are within the bounds gives a plan, which is right on
average whatever the others are; but plans of one tree are alike, so errors are counted by trees, of which
each is one independent draw (:attr:`Reference.by_tree`).

*Few determinants.* The tree law is far wider than the target, and most plans would count for next to nothing.
So a plan is kept by a chance that depends on its cut edges, and its weight is divided by that chance, which
is right on average too. The chance is in proportion to :math:`e^{-\beta(c - c_0)^2 + \theta c}`, where
:math:`e^{-\theta c}` is about how N falls as the cut edges rise, by a regression over trees that are not used
again; N is computed for what is kept alone. What is left of the weights is what N varies by among plans with
equally many cut edges.

*How far it can be trusted.* Weights that vary tell less than their number; Kish's effective size says how
much less. It is no warning when the few plans that would matter most have not come up at all. The tail of the
weights warns: above a Pareto shape of 0.7 (Vehtari, Simpson, Gelman, Yao and Gabry, Pareto smoothed
importance sampling, Journal of Machine Learning Research 25, 2024) the reference is not to be used.

*The target is not its Gaussian.* Each plan has the weight :math:`e^{-\beta(c - c_0)^2}`, so c cut edges have
:math:`n(c) e^{-\beta(c - c_0)^2}`, where n(c) is the number of plans with c cut edges. That number grows with
c, in New Hampshire by a factor of 1.8 for each cut edge, so the law of the cut edges has its middle above
:math:`c_0`, and a distance from the bare Gaussian does not vanish however long the chains.
The draws tell n(c), by Kirchhoff's number of trees of the whole graph (:meth:`Reference.count_plans`).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from scipy.linalg import cholesky_banded
from scipy.sparse.csgraph import connected_components, reverse_cuthill_mckee

from bottomup.sampler.agreement import Sample, count_batches, thresholds
from bottomup.sampler.diagnostics import ESS_AT_LEAST
from bottomup.sampler.kernels.trees import draw_tree, sum_below
from bottomup.sampler.problem import Problem
from bottomup.sampler.reweighting import effective_size, weigh
from bottomup.sampler.target import Target
from bottomup.sampler.types import FloatArray, IntArray, LongArray

__all__ = ["PARETO_BELOW", "PlanCounts", "Reference", "TreeCounter", "TreeLawError", "draw_reference"]

PARETO_BELOW = 0.7
"""Shape of the weights' tail above which a reference is not to be used."""
TREES = 2**32 - 2
"""The branch of a seed's sequence for these trees; no chain and no start draws from it."""
TREES_TOGETHER = 256


class TreeLawError(ValueError):
    """The tree law cannot stand for the target, or no tree gave a plan."""


class PlanCounts(NamedTuple):
    """How many plans there are with so many cut edges, by estimate."""

    cut_edges: LongArray
    """int64 array, shape (V,): ascending."""
    log_count: FloatArray
    """float64 array, shape (V,): natural logarithm of the number of plans."""
    error: FloatArray
    """float64 array, shape (V,): standard error of ``log_count``; near 1 where one tree alone tells."""


@dataclass(frozen=True)
class Reference:
    """Weighted plans from independent trees, P of them."""

    assignment: NDArray[np.uint8]
    """uint8 array, shape (P, n): district of each unit."""
    cut_edges: LongArray
    """int64 array, shape (P,)."""
    log_states: FloatArray
    """float64 array, shape (P,): log N, of the number of pairs of a tree and an edge that give the plan."""
    weights: FloatArray
    """float64 array, shape (P,), of sum 1."""
    tree: LongArray
    """int64 array, shape (P,): number of the tree that each plan was cut from, ascending."""
    n_trees: int
    """Trees drawn, those without a plan included."""
    log_chance: FloatArray
    """float64 array, shape (P,): log of the chance by which each plan was kept."""
    log_all_trees: float
    """Log of the number of spanning trees of the whole dual graph."""

    @property
    def by_tree(self) -> FloatArray:
        """float64 array: weight of the plans of each tree that has any, of sum 1."""
        place = np.unique(self.tree, return_inverse=True)[1]
        return np.asarray(np.bincount(place, self.weights), dtype=np.float64)

    @property
    def effective_size(self) -> float:
        """Trees of equal weight that would tell as much (Kish)."""
        return effective_size(self.by_tree)

    @property
    def pareto_k(self) -> float:
        """Shape of the tail of the trees' weights; to be trusted below ``PARETO_BELOW``."""
        # Imported here: it brings in scipy.stats and scipy.signal.
        from arviz_stats.base import array_stats

        # Of weights that are all equal the tail has no shape, but 0 divided by 0.
        with np.errstate(divide="ignore", invalid="ignore"):
            return float(array_stats.psislw(np.log(self.by_tree))[1])

    @property
    def is_trusted(self) -> bool:
        """Whether the weights allow a comparison: enough effective trees, and no tail above the limit.

        Weights that are all equal have no tail.
        """
        return self.effective_size >= ESS_AT_LEAST and not self.pareto_k >= PARETO_BELOW

    def sample(self, values: FloatArray | None = None) -> Sample:
        """The law of the cut edges, or of another quantity of the plans, for comparison with chains.

        Its effective size is that of the distribution function at the worst threshold: F(1 - F) over the
        variance of F, which is a ratio of sums over independent trees.

        Parameters
        ----------
        values : float64 array, shape (P,), optional
            Of each plan; its cut edges when not given.
        """
        draws = np.asarray(self.cut_edges if values is None else values, dtype=np.float64)
        tree = np.unique(self.tree, return_inverse=True)[1]
        sizes = [self.effective_size]
        for x in thresholds(draws, self.weights):
            is_below = draws <= x
            upto = float(self.weights[is_below].sum())
            error = np.bincount(tree, self.weights * (is_below - upto))
            sizes.append(upto * (1 - upto) / float((error**2).sum()))
        n_batches = count_batches(min(sizes))
        return Sample(draws, self.weights, self.tree * n_batches // self.n_trees, n_batches, min(sizes))

    def count_plans(self) -> PlanCounts:
        """Numbers of plans with so many cut edges, for those that the trees came upon."""
        values, place = np.unique(self.cut_edges, return_inverse=True)
        log_weight = -self.log_chance - self.log_states
        top = log_weight.max()
        tree = np.unique(self.tree, return_inverse=True)[1]
        table = sparse.coo_array(
            (np.exp(log_weight - top), (tree, place)), shape=(int(tree[-1]) + 1, len(values))
        ).tocsr()
        mean = table.sum(axis=0) / self.n_trees
        variance = (table.multiply(table).sum(axis=0) / self.n_trees - mean**2) / self.n_trees
        return PlanCounts(
            cut_edges=values,
            log_count=np.log(mean) + top + self.log_all_trees,
            error=np.sqrt(variance) / mean,
        )


def draw_reference(
    problem: Problem,
    target: Target,
    n_trees: int,
    seed: int = 1,
    is_stopped: Callable[[], bool] = lambda: False,
) -> Reference:
    """Draw trees, cut them, and weigh their plans by the target.

    Parameters
    ----------
    problem : Problem
    target : Target
        Of two districts, at epsilon 0.
    n_trees : int
        At least 1.
    seed : int
        The same seed gives the same plans.
    is_stopped : callable
        Asked every ``TREES_TOGETHER`` trees; once true, no more trees are drawn.

    Raises
    ------
    TreeLawError
        When the target has other than two districts or a positive epsilon, when the dual graph is not
        connected, and when no tree could be cut.
    """
    _check(problem, target)
    rng = np.random.Generator(np.random.PCG64(np.random.SeedSequence(seed, spawn_key=(TREES,))))
    counter = TreeCounter(problem)
    slope, top = _fit_slope(rng, problem, target, counter)
    assignments, numbers, chances, n_drawn = [], [], [], 0
    while n_drawn < n_trees and not (n_drawn and is_stopped()):
        n_new = min(TREES_TOGETHER, n_trees - n_drawn)
        plans, tree = _cut_trees(rng, problem, target, n_new)
        log_chance = np.minimum(_tilt(_count_cut_edges(problem, plans), target, slope) - top, 0.0)
        is_kept = rng.random(len(plans)) < np.exp(log_chance)
        assignments.append(plans[is_kept])
        numbers.append(tree[is_kept] + n_drawn)
        chances.append(log_chance[is_kept])
        n_drawn += n_new
    assignment, log_chance = np.concatenate(assignments), np.concatenate(chances)
    if not len(assignment):
        raise TreeLawError(
            f"none of {n_drawn} random trees could be cut into two districts of {target.lower} to "
            f"{target.upper} people; draw more trees, or compare chains with each other alone"
        )
    cut_edges = _count_cut_edges(problem, assignment)
    log_states = counter.log_states(assignment, cut_edges)
    return Reference(
        assignment=assignment,
        cut_edges=cut_edges,
        log_states=log_states,
        weights=weigh(_tilt(cut_edges, target, 0.0) - log_states - log_chance),
        tree=np.concatenate(numbers),
        n_trees=n_drawn,
        log_chance=log_chance,
        log_all_trees=counter.log_trees(np.zeros(problem.n_units, dtype=np.uint8)),
    )


class TreeCounter:
    """Counts spanning trees by Kirchhoff's theorem, with a banded Cholesky factor of scipy's.

    The units are ordered so that neighbours come close to each other (reverse Cuthill-McKee).
    """

    def __init__(self, problem: Problem) -> None:
        graph = _graph(problem)
        order = reverse_cuthill_mckee(graph.tocsr(), symmetric_mode=True)
        self._place = np.argsort(order)
        self._edges = problem.edges
        self._ends = np.sort(self._place[problem.edges], axis=1)
        self._width = int((self._ends[:, 1] - self._ends[:, 0]).max())

    def log_trees(self, plan: NDArray[np.integer]) -> float:
        """Log of the product of the numbers of spanning trees of all districts.

        Parameters
        ----------
        plan : integer array, shape (n,)
            Districts numbered from 0, each connected; those without units count as one tree.
        """
        is_inside = plan[self._edges[:, 0]] == plan[self._edges[:, 1]]
        first, second = self._ends[is_inside].T
        band = np.zeros((self._width + 1, len(plan)))
        band[0] = np.bincount(first, minlength=len(plan)) + np.bincount(second, minlength=len(plan))
        band[second - first, first] = -1
        # One more edge, from one unit of each district to a root outside, is in every tree of the whole.
        band[0, self._place[np.unique(plan, return_index=True)[1]]] += 1
        return 2 * float(np.log(cholesky_banded(band, lower=True, check_finite=False)[0]).sum())

    def log_states(self, plans: NDArray[np.integer], cut_edges: LongArray) -> FloatArray:
        """Log of the numbers of pairs of a tree and an edge that give plans of two districts.

        Parameters
        ----------
        plans : integer array, shape (P, n)
        cut_edges : int64 array, shape (P,)

        Returns
        -------
        float64 array, shape (P,)
        """
        return np.array([self.log_trees(plan) for plan in plans]) + np.log(cut_edges)


def _check(problem: Problem, target: Target) -> None:
    if target.n_districts != 2:
        raise TreeLawError(
            f"cutting one edge of a tree makes two districts; the target has {target.n_districts}. Compare "
            "its chains with each other alone"
        )
    if target.epsilon > 0:
        raise TreeLawError(
            f"the reference is that of the base measure, where epsilon is 0; got {target.epsilon:g}"
        )
    n_parts = connected_components(_graph(problem), directed=False)[0]
    if n_parts > 1:
        raise TreeLawError(f"the dual graph must be connected to have spanning trees; it has {n_parts} parts")


def _graph(problem: Problem) -> sparse.csr_array:
    edges = np.concatenate([problem.edges, problem.edges[:, ::-1]])
    return sparse.coo_array((np.ones(len(edges)), edges.T), shape=(problem.n_units,) * 2).tocsr()


def _fit_slope(
    rng: np.random.Generator, problem: Problem, target: Target, counter: TreeCounter
) -> tuple[float, float]:
    """By how much log N falls for each cut edge among some plans, and the most that :func:`_tilt` then is."""
    plans, _ = _cut_trees(rng, problem, target, TREES_TOGETHER)
    if not len(plans):
        return 0.0, 0.0
    cut_edges = _count_cut_edges(problem, plans)
    log_states = counter.log_states(plans, cut_edges)
    spread = cut_edges - cut_edges.mean()
    squares = float(spread @ spread)
    slope = -float(spread @ log_states) / squares if squares else 0.0
    return slope, float(_tilt(cut_edges, target, slope).max())


def _tilt(cut_edges: LongArray, target: Target, slope: float) -> FloatArray:
    away = cut_edges - target.cut_edges
    return slope * away - target.compactness * away**2


def _count_cut_edges(problem: Problem, plans: NDArray[np.integer]) -> LongArray:
    ends = problem.edges.T
    return (plans[:, ends[0]] != plans[:, ends[1]]).sum(axis=1)


def _cut_trees(
    rng: np.random.Generator, problem: Problem, target: Target, n_trees: int
) -> tuple[NDArray[np.uint8], LongArray]:
    """Draw trees, and cut each at every edge whose both sides are within the bounds.

    Returns
    -------
    plans : uint8 array, shape (P, n)
    tree : int64 array, shape (P,)
        Number of the tree of each, ascending.
    """
    n, graph = problem.n_units, problem.graph
    parent: IntArray = np.empty((n_trees, n), dtype=np.int32)
    order = np.empty((n_trees, n), dtype=np.int32)
    below = np.empty((n_trees, n), dtype=np.int64)
    whole_map, parent_edge = np.zeros(n, dtype=np.int32), np.empty(n, dtype=np.int32)
    in_tree = np.empty(n, dtype=np.uint8)
    for row in range(n_trees):
        in_tree[:] = 0
        draw_tree(rng, graph, graph.equal, whole_map, 0, 0, parent[row], parent_edge, in_tree, order[row])
        sum_below(graph.population, parent[row], order[row], n, below[row])
    above = int(graph.population.sum()) - below
    is_balanced = (np.minimum(below, above) >= target.lower) & (np.maximum(below, above) <= target.upper)
    tree, top = np.nonzero(is_balanced & (parent >= 0))
    plans = np.zeros((len(tree), n), dtype=np.uint8)
    rows = np.arange(len(tree))
    # Parents come before their children. The first is the root, which is below no edge.
    for i in range(1, n):
        unit = order[tree, i]
        plans[rows, unit] = (unit == top) | plans[rows, parent[tree, unit]]
    return plans, tree
