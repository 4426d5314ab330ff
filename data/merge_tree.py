"""How testimonies merge into fewer and fewer clusters, the nearest first, and where the tree of it is cut."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, NamedTuple, get_args

import numpy as np
from numpy.typing import NDArray
from scipy.cluster import hierarchy

__all__ = ["LINKAGES", "Branches", "Linkage", "MergeTree"]

Linkage = Literal["average", "complete", "single"]
LINKAGES: tuple[Linkage, ...] = get_args(Linkage)


class Branches(NamedTuple):
    """A merge tree as a drawing: leaves side by side at the bottom, a bracket for each merge.

    Attributes
    ----------
    order : int64 array, shape (n_members,)
        Members from left to right; the one at ``order[i]`` stands at ``i``. No bracket crosses another.
    x, y : float64 array, shape (n_members - 1, 4)
        Corners of each merge's bracket: up from the one, over, and down to the other; y is the distance.
    """

    order: NDArray[np.int64]
    x: NDArray[np.float64]
    y: NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class MergeTree:
    """How testimonies merge, the nearest first, until all are one cluster.

    Attributes
    ----------
    members : int64 array, shape (n_members,)
        Places of the testimonies that have units, in the order of the file.
    merges : float64 array, shape (n_members - 1, 4)
        SciPy's linkage matrix: which two merge, at which distance, and how many they are then.
    linkage : {"average", "complete", "single"}
        What the distance between two clusters is.
    """

    members: NDArray[np.int64]
    merges: NDArray[np.float64]
    linkage: Linkage

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

    def cut_height(self, n_clusters: int) -> float:
        """Return the distance at which a line cuts the tree into a number of clusters.

        Half way between the last merge that is made and the first that is not; their own distance where it is
        the same. For one cluster it is above the whole tree.
        """
        n_made = len(self.members) - n_clusters
        last = self.heights[n_made - 1] if n_made else 0.0
        following = self.heights[n_made] if n_made < len(self.heights) else 1.1 * last
        return float(last + following) / 2

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

    def branches(self) -> Branches:
        """Lay the tree out to be drawn."""
        n = len(self.members)
        order = np.asarray(hierarchy.leaves_list(self.merges), dtype=np.int64)
        at = np.empty(2 * n - 1)
        at[order] = np.arange(n)
        height = np.concatenate([np.zeros(n), self.heights])
        pairs = self.merges[:, :2].astype(np.int64)
        for number, (one, other) in enumerate(pairs.tolist(), start=n):
            at[number] = (at[one] + at[other]) / 2
        one, other = pairs.T
        top = self.heights
        return Branches(
            order,
            np.column_stack([at[one], at[one], at[other], at[other]]),
            np.column_stack([height[one], top, top, height[other]]),
        )
