"""Clusters of testimonies that lie near one another: Hausdorff distance on the dual graph, then merging."""

from __future__ import annotations

import sys
from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray
from scipy.cluster import hierarchy
from scipy.sparse import csr_array
from scipy.sparse.csgraph import dijkstra
from scipy.spatial.distance import squareform

from bottomup.data.adjacency import build_csr
from bottomup.data.errors import DataError, count
from bottomup.data.geography import Geography
from bottomup.data.testimonies import Clusters, Testimonies

__all__ = ["MergeTree", "cluster_by_distance", "dendrogram", "hausdorff_distances", "merge_testimonies"]

Linkage = Literal["average", "complete"]


@dataclass(frozen=True, eq=False)
class MergeTree:
    """How testimonies merge, the nearest first, until all are one cluster.

    Attributes
    ----------
    members : int64 array, shape (n_members,)
        Places of the testimonies that have units, in the order of the file.
    merges : float64 array, shape (n_members - 1, 4)
        SciPy's linkage matrix: which two merge, at which distance, and how many they are then.
    """

    members: NDArray[np.int64]
    merges: NDArray[np.float64]

    @property
    def heights(self) -> NDArray[np.float64]:
        """Distances at which clusters merge, ascending: after the first of them there is one cluster less."""
        return self.merges[:, 2]

    @property
    def n_apart(self) -> int:
        """The most clusters there can be: testimonies of the same units are never parted."""
        return 1 + int(np.count_nonzero(self.heights > 0))

    def describe_cut(self, n_clusters: int) -> str:
        """Say how far apart clusters are merged and left, in steps between neighbouring units."""
        n_made = len(self.members) - n_clusters
        made = f"merged up to {self.heights[n_made - 1]:.3g} steps apart" if n_made else "none merged"
        return made + (f", the next are {self.heights[n_made]:.3g}" if n_made < len(self.heights) else "")

    def cut(self, n_clusters: int) -> NDArray[np.int64]:
        """Return the cluster of each member, numbered from 0 in the order of their first members.

        Parameters
        ----------
        n_clusters : int
            From 1 to the number of members. Of merges at one distance the first are made, so the number is
            met also where distances are equal.
        """
        n = len(self.members)
        sets = hierarchy.DisjointSet(range(n))
        member_of = list(range(n))
        for one, other in self.merges[: n - n_clusters, :2].astype(int):
            sets.merge(member_of[one], member_of[other])
            member_of.append(member_of[one])
        number: dict[int, int] = {}
        return np.array([number.setdefault(sets[m], len(number)) for m in range(n)], dtype=np.int64)


def hausdorff_distances(testimonies: Testimonies, geography: Geography) -> NDArray[np.float64]:
    """Measure how far each testimony with units is from each other one.

    The distance from one to another is the number of steps on the dual graph from its most remote unit to the
    nearest unit of the other; the Hausdorff distance is the larger of the two. It is a metric: 0 for the same
    units only. Units that no path joins are as many steps apart as there are units.

    Returns
    -------
    float64 array, shape (n_members, n_members)
        Testimonies without units left out.
    """
    n = geography.n_units
    indptr, neighbor, _ = build_csr(n, geography.edges)
    graph = csr_array((np.ones(len(neighbor), dtype=np.float64), neighbor, indptr), shape=(n, n))
    members = np.flatnonzero(testimonies.sizes)
    starts = testimonies.indptr[members]
    farthest = np.zeros((len(members), len(members)))
    for place, member in enumerate(members):
        steps = dijkstra(graph, unweighted=True, indices=testimonies.units_of(int(member)), min_only=True)
        steps[np.isinf(steps)] = n
        farthest[:, place] = np.maximum.reduceat(steps[testimonies.units], starts)
    return np.maximum(farthest, farthest.T)


def merge_testimonies(
    testimonies: Testimonies, geography: Geography, linkage: Linkage = "average"
) -> MergeTree:
    """Merge the nearest testimonies and clusters step by step.

    Parameters
    ----------
    testimonies : Testimonies
    geography : Geography
    linkage : {"average", "complete"}
        Distance between clusters: the mean over pairs of their members, or the largest.

    Raises
    ------
    DataError
        When fewer than two testimonies have units.
    """
    members = np.flatnonzero(testimonies.sizes)
    if len(members) < 2:
        raise DataError(
            "too_few_testimonies",
            f"Clusters by distance need two testimonies with units on the map; there "
            f"{'is' if len(members) == 1 else 'are'} {len(members)}.",
            remedy="Take clusters from a column of the units or a layer, or none.",
        )
    distances = squareform(hausdorff_distances(testimonies, geography), checks=False)
    return MergeTree(members, hierarchy.linkage(distances, linkage))


def cluster_by_distance(
    testimonies: Testimonies, geography: Geography, n_clusters: int, linkage: Linkage = "average"
) -> Testimonies:
    """The same testimonies in a number of clusters of near ones.

    The clusters are fitted to the testimonies: replacing one may move others to another cluster, so whatever
    rests on them is conditional.

    Parameters
    ----------
    testimonies : Testimonies
        Those without units are in no cluster.
    geography : Geography
    n_clusters : int
    linkage : {"average", "complete"}
        As for `merge_testimonies`.

    Raises
    ------
    DataError
        When there cannot be that many clusters.
    """
    tree = merge_testimonies(testimonies, geography, linkage)
    if not 1 <= n_clusters <= tree.n_apart:
        raise DataError(
            "number_of_clusters",
            f"{count(n_clusters, 'cluster')} cannot be made of {len(tree.members):,} testimonies with units, "
            f"of which {tree.n_apart:,} differ.",
            remedy=f"Ask for a number from 1 to {tree.n_apart:,}.",
        )
    of_testimony = np.full(testimonies.n_testimonies, -1, dtype=np.int32)
    of_testimony[tree.members] = tree.cut(n_clusters)
    names = tuple(str(number) for number in range(1, n_clusters + 1))
    source = f"Hausdorff distance on the dual graph, {linkage} linkage, cut to {n_clusters:,}"
    clusters = Clusters(names, of_testimony, source)
    remarks = (
        *testimonies.remarks,
        f"{count(n_clusters, 'cluster')} by distance: {tree.describe_cut(n_clusters)}",
    )
    return replace(testimonies, clusters=clusters, remarks=remarks)


def dendrogram(tree: MergeTree, testimonies: Testimonies, n_clusters: int | None = None) -> dict[str, Any]:
    """Return what a dendrogram is drawn from, as SciPy's function of that name gives it.

    Parameters
    ----------
    tree : MergeTree
    testimonies : Testimonies
        Those that the tree was made of; leaves are called by their ids.
    n_clusters : int, optional
        Branches below a cut to this number have a colour for each cluster.
    """
    names = [testimonies.ids[member] for member in tree.members]
    n_members, colored_below = len(names), np.inf
    if n_clusters is not None and 1 < n_clusters <= n_members:
        made = tree.heights[n_members - n_clusters - 1] if n_clusters < n_members else 0.0
        colored_below = (made + tree.heights[n_members - n_clusters]) / 2
    limit = sys.getrecursionlimit()
    # SciPy goes down the tree by recursion, and copies of one testimony make it as deep as there are copies.
    sys.setrecursionlimit(max(limit, 2 * n_members + limit))
    try:
        return hierarchy.dendrogram(tree.merges, labels=names, color_threshold=colored_below, no_plot=True)
    finally:
        sys.setrecursionlimit(limit)
