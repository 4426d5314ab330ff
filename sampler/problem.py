"""What a walk is about, as arrays only: dual graph, populations, testimonies and clusters."""

from __future__ import annotations

import itertools
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import TYPE_CHECKING, Literal, get_args

import numpy as np
from numpy.typing import ArrayLike
from scipy import sparse

from bottomup.data.adjacency import build_csr
from bottomup.sampler.pattern import build_pattern
from bottomup.sampler.sensitivity import (
    Sensitivity,
    Weighting,
    capped_sensitivity,
    coverage_sensitivity_from_data,
    mass_sensitivity,
    testimony_sensitivity,
    unit_weights,
)
from bottomup.sampler.types import FloatArray, Graph, IntArray, LongArray, Pattern, Testimony, Weights

if TYPE_CHECKING:
    from bottomup.data import Geography, Testimonies

__all__ = ["Problem", "Score"]

Score = Literal["testimony", "cluster"]


@dataclass(frozen=True, eq=False)
class Problem:
    """Dual graph, populations, testimonies and clusters of one map.

    Build it with :meth:`build` from checked data, or with :meth:`from_arrays`.

    Attributes
    ----------
    graph : Graph
    testimony : Testimony
    edges : int32 array, shape (m, 2)
    weighting : Weighting
        How testimonies weigh in their clusters.
    """

    graph: Graph
    testimony: Testimony
    edges: IntArray
    weighting: Weighting

    @classmethod
    def build(
        cls,
        geography: Geography,
        testimonies: Testimonies | None = None,
        weighting: Weighting = Weighting(),  # noqa: B008 (never changed)
    ) -> Problem:
        """Take the arrays out of a geography and its testimonies."""
        if testimonies is None:
            return cls.from_arrays(geography.population, geography.edges)
        clusters = testimonies.clusters
        return cls.from_arrays(
            geography.population,
            geography.edges,
            testimonies.indptr,
            testimonies.units,
            None if clusters is None else clusters.of_testimony,
            0 if clusters is None else len(clusters.names),
            weighting,
        )

    @classmethod
    def from_arrays(
        cls,
        population: ArrayLike,
        edges: ArrayLike,
        indptr: ArrayLike = (0,),
        units: ArrayLike = (),
        cluster_of: ArrayLike | None = None,
        n_clusters: int = 0,
        weighting: Weighting = Weighting(),  # noqa: B008
    ) -> Problem:
        """Build from arrays.

        Parameters
        ----------
        population : array_like of int, shape (n,)
            People in each unit.
        edges : array_like of int, shape (m, 2)
            Pairs of adjacent units, each once.
        indptr, units : array_like of int, shapes (T + 1,) and (nnz,)
            Units of testimony ``t`` are ``units[indptr[t]:indptr[t + 1]]``, each once.
        cluster_of : array_like of int, shape (T,), optional
            Cluster of each testimony, -1 for none.
        n_clusters : int
        weighting : Weighting

        Raises
        ------
        ValueError
            When the dual graph has no cycle: the walk has no edge to exchange. When the weighting makes no
            sense.
        """
        # Copies: for an array that may not be written, numba would compile every kernel a second time.
        weighting.check()
        people = np.array(population, dtype=np.int64)
        pairs = np.sort(np.asarray(edges, dtype=np.int32).reshape(-1, 2), axis=1)
        n = len(people)
        if len(pairs) < n:
            raise ValueError(
                f"the dual graph has no cycle (units: {n}, edges: {len(pairs)}), and the Marked Edge Walk "
                "exchanges edges on cycles. Join more neighbouring units."
            )
        start, members = np.asarray(indptr, dtype=np.int64), np.asarray(units, dtype=np.int64)
        size = np.diff(start)
        of_row = np.repeat(np.arange(len(size)), size)
        by_unit = _rows(members, of_row, np.ones(len(members), dtype=np.int64), (n, len(size)))
        cluster = np.full(len(size), -1) if cluster_of is None else np.asarray(cluster_of, dtype=np.int64)
        has_cluster = cluster[of_row] >= 0
        weights = _rows(
            members[has_cluster],
            cluster[of_row][has_cluster],
            unit_weights(size, weighting)[has_cluster],
            (n, n_clusters),
        )
        return cls(
            graph=_build_graph(people, pairs),
            testimony=Testimony(
                indptr=by_unit.indptr.astype(np.int64),
                covering=by_unit.indices.astype(np.int32),
                size=size.astype(np.int64),
                member_indptr=start.copy(),
                member=members.astype(np.int32),
                people=np.bincount(of_row, people[members], len(size)).astype(np.int64),
                cluster_indptr=weights.indptr.astype(np.int64),
                cluster=weights.indices.astype(np.int32),
                weight=weights.data.astype(np.int64),
                cluster_weight=np.bincount(weights.indices, weights.data, n_clusters).astype(np.int64),
            ),
            edges=pairs,
            weighting=weighting,
        )

    @property
    def n_units(self) -> int:
        """Number of units."""
        return len(self.graph.population)

    @property
    def n_testimonies(self) -> int:
        """Number of testimonies, those without a unit on the map included."""
        return len(self.testimony.size)

    @property
    def n_clusters(self) -> int:
        """Number of clusters; 0 when the testimonies have none."""
        return len(self.testimony.cluster_weight)

    @cached_property
    def pattern(self) -> Pattern:
        """Elimination order of the dual graph and pattern of its Cholesky factor."""
        return build_pattern(self.n_units, self.edges)

    @lru_cache(maxsize=64)  # noqa: B019 (a problem is frozen, hashed by identity, and lives as long as its run)
    def community_weights(self, bias: float) -> Weights:
        """Weights that keep the edges of random trees inside communities, so that cuts tend to pass between.

        Edge e weighs exp(bias * sum of 1/sqrt|t| over the testimonies t that cover both of its ends).
        """
        if bias == 0.0:
            return self.graph.equal
        testimony = self.testimony
        matrix = sparse.csr_array(
            (np.ones(len(testimony.covering)), testimony.covering, testimony.indptr),
            shape=(self.n_units, self.n_testimonies),
        )
        scaled = matrix @ sparse.diags_array(1 / np.sqrt(np.maximum(testimony.size, 1)))
        shared = matrix[self.edges[:, 0]].multiply(scaled[self.edges[:, 1]])
        strength = np.asarray(shared.sum(axis=1)).ravel()
        return _weigh(self.graph.indptr, self.graph.edge, np.exp(bias * strength))

    @cached_property
    def cluster_total(self) -> int:
        """What the weight in best districts is divided by to give the cluster score; 0 without clusters.

        The weight of all clusters; by unit mass the number of testimonies, see :func:`mass_sensitivity`.
        """
        weight = int(self.testimony.cluster_weight.sum())
        if weight and self.weighting.kind == "mass":
            return mass_sensitivity(self.n_testimonies).total
        return weight

    def sensitivity(self, score: Score) -> Sensitivity:
        """How far replacing one testimony can move a score.

        Raises
        ------
        ValueError
            When the testimonies do not have what the score needs.
        """
        if score not in get_args(Score):
            raise ValueError(f"score must be one of {', '.join(get_args(Score))}; got {score!r}")
        if self.n_testimonies == 0:
            raise ValueError(
                "there are no testimonies, so no score has a sensitivity; load testimonies, or leave epsilon "
                "at 0"
            )
        if score == "testimony":
            return testimony_sensitivity(self.n_testimonies)
        if not self.cluster_total:
            raise ValueError(
                "score 'cluster' needs testimonies with clusters, and these have none; "
                "name a cluster column or use score 'testimony'"
            )
        if self.weighting.kind == "mass":
            return mass_sensitivity(self.n_testimonies)
        if self.weighting.cap is not None:
            return capped_sensitivity(self.n_testimonies, self.weighting.cap, self.cluster_total)
        return coverage_sensitivity_from_data(self.testimony.size, self.cluster_total)


def _rows(rows: LongArray, columns: LongArray, data: LongArray, shape: tuple[int, int]) -> sparse.csr_array:
    matrix = sparse.coo_array((data, (rows, columns)), shape=shape).tocsr()
    matrix.sum_duplicates()
    return matrix


def _build_graph(population: LongArray, edges: IntArray) -> Graph:
    indptr, neighbor, edge = build_csr(len(population), edges)
    return Graph(
        indptr=indptr,
        neighbor=neighbor,
        edge=edge,
        tail=np.ascontiguousarray(edges[:, 0]),
        head=np.ascontiguousarray(edges[:, 1]),
        population=population,
        equal=_weigh(indptr, edge, np.ones(len(edges))),
    )


def _weigh(indptr: LongArray, edge: IntArray, weight: FloatArray) -> Weights:
    """Alias tables, unit by unit (M. D. Vose, A linear algorithm for generating random numbers, 1991)."""
    chance, alias = np.ones(len(edge)), np.arange(len(edge))
    for begin, end in itertools.pairwise(indptr.tolist()):
        share = weight[edge[begin:end]]
        if (share == share[:1]).all():
            continue
        left = share / share.mean()
        small = [i for i in range(end - begin) if left[i] < 1]
        large = [i for i in range(end - begin) if left[i] >= 1]
        while small and large:
            less, more = small.pop(), large[-1]
            chance[begin + less], alias[begin + less] = left[less], begin + more
            left[more] -= 1 - left[less]
            if left[more] < 1:
                small.append(large.pop())
    return Weights(edge=weight, chance=chance, alias=alias)
