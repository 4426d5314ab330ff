"""Arrays that the kernels work on: constants of a problem, and the state that a walk changes.

Letters in the shapes: ``n`` units, ``m`` edges of the dual graph, ``k`` districts, ``T`` testimonies,
``C`` clusters. Every array is C-contiguous.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

__all__ = [
    "Cholesky",
    "Forest",
    "Graph",
    "Law",
    "Mixture",
    "Pattern",
    "Scratch",
    "State",
    "Tallies",
    "Testimony",
    "Weights",
    "Workshop",
]

IntArray = NDArray[np.int32]
LongArray = NDArray[np.int64]
FloatArray = NDArray[np.float64]


class Weights(NamedTuple):
    """How much each edge of the dual graph counts in random trees. Never changed."""

    edge: FloatArray
    """float64 array, shape (m,)."""
    chance: FloatArray
    """float64 array, shape (2m,): with an even draw among a unit's neighbours, the chance to stay with it."""
    alias: LongArray
    """int64 array, shape (2m,): the place in ``Graph.neighbor`` to take otherwise."""


class Graph(NamedTuple):
    """The dual graph in compressed rows, and the units' populations. Never changed."""

    indptr: LongArray
    """int64 array, shape (n + 1,)."""
    neighbor: IntArray
    """int32 array, shape (2m,): neighbours of each unit."""
    edge: IntArray
    """int32 array, shape (2m,): the edge that leads to each neighbour."""
    tail: IntArray
    """int32 array, shape (m,): the smaller end of each edge."""
    head: IntArray
    """int32 array, shape (m,): the larger end of each edge."""
    population: LongArray
    """int64 array, shape (n,): people."""
    equal: Weights
    """Every edge counts as much as any other."""


class Testimony(NamedTuple):
    """Which testimonies and clusters cover each unit, in compressed rows by unit. Never changed."""

    indptr: LongArray
    """int64 array, shape (n + 1,)."""
    covering: IntArray
    """int32 array: testimonies that cover each unit."""
    size: LongArray
    """int64 array, shape (T,): units of each testimony."""
    member_indptr: LongArray
    """int64 array, shape (T + 1,)."""
    member: IntArray
    """int32 array: units of each testimony."""
    people: LongArray
    """int64 array, shape (T,): people in each testimony."""
    cluster_indptr: LongArray
    """int64 array, shape (n + 1,)."""
    cluster: IntArray
    """int32 array: clusters that cover each unit."""
    weight: LongArray
    """int64 array, beside ``cluster``: how many testimonies of the cluster cover the unit."""
    cluster_weight: LongArray
    """int64 array, shape (C,): total weight of each cluster."""


class Pattern(NamedTuple):
    """A fill-reducing elimination order and where the Cholesky factor can have entries. Never changed."""

    unit_at: IntArray
    """int32 array, shape (n,): the unit eliminated at each position."""
    position_of: IntArray
    """int32 array, shape (n,): the inverse of ``unit_at``."""
    column_start: LongArray
    """int64 array, shape (n + 1,): where each column of the strict lower triangle begins."""
    row: IntArray
    """int32 array: row positions of the strict lower triangle, ascending inside each column."""
    row_start: LongArray
    """int64 array, shape (n + 1,): where each row's list of columns begins."""
    row_column: IntArray
    """int32 array: columns that hold an entry of the row, ascending."""
    row_entry: LongArray
    """int64 array, beside ``row_column``: index of that entry in ``row``."""
    above: IntArray
    """int32 array, shape (n,): parent of each position in the elimination tree, -1 at a root."""


class Cholesky(NamedTuple):
    """The factor of the districts' Laplacians, and the buffers that work on it; one for each chain.

    ``w`` is the largest number of terms or places that an update may have.
    """

    value: FloatArray
    """float64 array, beside ``Pattern.row``: the unit lower triangle."""
    pivot: FloatArray
    """float64 array, shape (n,), by position."""
    ground: IntArray
    """int32 array, shape (k,): the grounded unit of each district."""
    drift: FloatArray
    """float64 array, shape (1,): the most that rounding had added up to when the factor was made anew."""
    note: LongArray
    """int64 array, shape (8,): see the constants of ``kernels.determinant``."""
    work: FloatArray
    """float64 array, shape (n,): zero between calls."""
    bundle: FloatArray
    """float64 array, shape (n, w): zero between calls."""
    way: IntArray
    """int32 array, shape (n,): positions on the ways to the root."""
    segment: IntArray
    """int32 array, shape (n,)."""
    stamp: LongArray
    """int64 array, shape (3, n): when a position was last on a way, a unit given a place, a unit moved."""
    place: IntArray
    """int32 array, shape (n,): places of units."""
    units: IntArray
    """int32 array, shape (w,): units by place."""
    ends: IntArray
    """int32 array, shape (2, w): places of the ends of each term, the second -1 for a ground."""
    coefficient: FloatArray
    """float64 array, shape (4, w): sign of each term, and what an update works with."""
    inverse: FloatArray
    """float64 array, shape (w, w + 8): entries of the inverse between places."""
    small: FloatArray
    """float64 array, shape (w, w)."""


class Law(NamedTuple):
    """The target law as the kernels need it. The last two are 1 except in controls that must fail."""

    lower: int
    """Least population of a district."""
    upper: int
    """Largest population of a district."""
    compactness: float
    """Weight of the squared distance of the number of cut edges from ``cut_edges``."""
    cut_edges: float
    """Number of cut edges at which the Gaussian is centred."""
    per_testimony: float
    """Log-odds that one more preserved testimony is worth."""
    per_cluster_weight: float
    """Log-odds that one more unit of cluster weight in its best district is worth."""
    tree_count: float
    """Power of the number of states of a plan in the ratio."""
    proposal: float
    """Power of the ratio of the chances of proposing the way back and the way there (the paper's step)."""


class Forest(NamedTuple):
    """A spanning tree with k - 1 marked edges, as one rooted tree per district."""

    parent: IntArray
    """int32 array, shape (n,): parent inside the district's tree, -1 at its root."""
    parent_edge: IntArray
    """int32 array, shape (n,): the edge to the parent, -1 at a root."""
    subtree_population: LongArray
    """int64 array, shape (n,): people in the part of the district's tree below and at each unit."""
    district: IntArray
    """int32 array, shape (n,)."""
    kind: NDArray[np.uint8]
    """uint8 array, shape (m,): OUTSIDE the tree, in the TREE, or MARKED."""
    slot: IntArray
    """int32 array, shape (m,): place of an edge in ``outside`` or ``marked``; meaningless in the tree."""
    outside: IntArray
    """int32 array, shape (m - n + 1,): edges outside the tree, in no order."""
    marked: IntArray
    """int32 array, shape (k - 1,): marked edges, in no order."""


class Tallies(NamedTuple):
    """Sums over the current plan, kept up to date with every unit that changes district."""

    population: LongArray
    """int64 array, shape (k,): people in each district."""
    between: LongArray
    """int64 array, shape (k, k): cut edges between each two districts; symmetric, zero diagonal."""
    testimony: IntArray
    """int32 array, shape (T, k): units of each testimony in each district."""
    spread: IntArray
    """int32 array, shape (T,): districts that each testimony touches."""
    cluster: LongArray
    """int64 array, shape (C, k): weight of each cluster in each district."""
    best: LongArray
    """int64 array, shape (C,): the largest entry of each row of ``cluster``."""
    total: LongArray
    """int64 array, shape (3,): cut edges, preserved testimonies, sum of ``best``."""
    log_trees: FloatArray
    """float64 array, shape (2,): log tree counts of all districts together, and of their multigraph."""


class Scratch(NamedTuple):
    """Buffers that belong to one chain; overwritten at every step."""

    stamp: LongArray
    """int64 array, shape (n,): which search last reached a unit."""
    edge_stamp: LongArray
    """int64 array, shape (m,): which cycle last held an edge."""
    clock: LongArray
    """int64 array, shape (1,): number of the latest search."""
    path_child: IntArray
    """int32 array, shape (n,): lower ends of the unmarked tree edges of the latest cycle."""
    path_segment: IntArray
    """int32 array, shape (n,): which district along the cycle each of them lies in, 0 first."""
    path_near: NDArray[np.uint8]
    """uint8 array, shape (n,): 1 when the part below the edge holds the end where the cycle enters."""
    route: IntArray
    """int32 array, shape (3, k): districts along the cycle, and the units where it enters and leaves each."""
    stack: IntArray
    """int32 array, shape (n,)."""
    moved: IntArray
    """int32 array, shape (3n,): units relabelled since the last acceptance or undo."""
    moved_from: IntArray
    """int32 array, shape (3n,): the districts that they had."""
    n_moved: LongArray
    """int64 array, shape (1,)."""
    n_parts: LongArray
    """int64 array, shape (1,): connected parts that they came in."""
    is_listed: NDArray[np.bool_]
    """bool array, shape (1,): whether the change of the determinant was answered from the factor."""
    changed: NDArray[np.uint8]
    """uint8 array, shape (k,): 1 for districts whose units have changed in this step."""
    log_trees: FloatArray
    """float64 array, shape (2,): tree counts before this step."""
    dense: FloatArray
    """float64 array, shape (k, k)."""


class Mixture(NamedTuple):
    """How many steps of each kind a cycle has.

    The first three move the plan itself; each of their steps is one of the three kinds, drawn in proportion.
    Then trees and marks are drawn anew, and the walk takes its steps.
    """

    flips: int
    """Single-unit flips."""
    community_flips: int
    """Whole communities that change district."""
    merge_splits: int
    """Two districts made one and divided anew."""
    walks: int
    """Steps of the Marked Edge Walk."""


class Workshop(NamedTuple):
    """Buffers of the companion moves; they belong to one chain."""

    cut_edges: IntArray
    """int32 array, shape (2m,): cut edges, by district or in the file of the flips."""
    cut_slot: IntArray
    """int32 array, shape (m,): place of an edge in the file, -1 when it is not cut."""
    first: LongArray
    """int64 array, shape (k + 1,): where each district's cut edges begin."""
    fill: LongArray
    """int64 array, shape (k,)."""
    next_edge: IntArray
    """int32 array, shape (k,): the edge by which a walk last left each district."""
    in_multigraph: NDArray[np.uint8]
    """uint8 array, shape (k,)."""
    in_tree: NDArray[np.uint8]
    """uint8 array, shape (n,)."""
    order: IntArray
    """int32 array, shape (n,): units of a tree, every parent before its children."""
    region: IntArray
    """int32 array, shape (n,): 0 outside two merged districts; sides of their new border."""
    balanced: IntArray
    """int32 array, shape (n,): lower ends of balanced edges."""
    parent: IntArray
    """int32 array, shape (n,): of a tree that a merge-split looks at."""
    parent_edge: IntArray
    """int32 array, shape (n,)."""
    below: LongArray
    """int64 array, shape (n,): people at and under each unit of that tree."""
    log_trees: FloatArray
    """float64 array, shape (k,): log weighted tree count of each district."""
    is_counted: NDArray[np.uint8]
    """uint8 array, shape (k,): whether the district is still the one that was counted."""


class State(NamedTuple):
    """Everything that a walk changes."""

    forest: Forest
    tallies: Tallies
    scratch: Scratch
    counter: LongArray
    """int64 array, shape (4, 6): steps by move and outcome, see ``kernels.outcomes``."""
