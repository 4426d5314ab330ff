"""Clusters of testimonies that lie near one another: Hausdorff distance on the dual graph, then merging."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray
from scipy.cluster import hierarchy
from scipy.sparse import csr_array
from scipy.sparse.csgraph import dijkstra
from scipy.spatial.distance import squareform

from bottomup.data.adjacency import build_csr
from bottomup.data.errors import DataError, count
from bottomup.data.geography import Geography
from bottomup.data.merge_tree import Linkage, MergeTree
from bottomup.data.testimonies import Clusters, Testimonies

__all__ = ["cluster_by_distance", "hausdorff_distances", "merge_testimonies"]


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
    linkage : {"average", "complete", "single"}
        Distance between clusters: the mean over pairs of their members, the largest, or the smallest. Ward's
        is none of them: it adds up squared distances to a mean, and sets of units on a graph have no mean;
        made of Hausdorff distances its numbers would say nothing.

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
    return MergeTree(members, hierarchy.linkage(distances, linkage), linkage)


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
    linkage : {"average", "complete", "single"}
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
    clusters = Clusters(names, of_testimony, source, tree=tree)
    remarks = (
        *testimonies.remarks,
        f"{count(n_clusters, 'cluster')} by distance ({linkage} linkage): {tree.describe_cut(n_clusters)}",
    )
    return replace(testimonies, clusters=clusters, remarks=remarks)
