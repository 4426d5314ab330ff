"""Uniform spanning trees of districts by Wilson's algorithm, and what can be cut from them."""

from bottomup.sampler.jit import kernel
from bottomup.sampler.kernels.draws import draw_below

__all__ = ["draw_tree", "find_balanced_cuts", "sum_below"]


@kernel
def draw_tree(rng, graph, label_of, label, parent, parent_edge, in_tree):
    """Draw a uniform spanning tree of the units that carry ``label``; they must be connected.

    Wilson's algorithm: loop-erased random walks, each from a unit outside the tree until it meets the tree
    (D. B. Wilson, Generating random spanning trees more quickly than the cover time, STOC 1996). The root is
    the first unit with the label.

    Parameters
    ----------
    rng : numpy.random.Generator
    graph : Graph
    label_of : int32 array, shape (n,)
    label : int
    parent, parent_edge : int32 arrays, shape (n,)
        Written for the units that carry the label; -1 at the root.
    in_tree : uint8 array, shape (n,)
        Must be 0 for the units that carry the label; set to 1.

    Returns
    -------
    int
        The root, or -1 when no unit carries the label.
    """
    root = -1
    for first in range(label_of.shape[0]):
        if label_of[first] != label:
            continue
        if root < 0:
            root = first
            parent[root] = -1
            parent_edge[root] = -1
            in_tree[root] = 1
        unit = first
        while in_tree[unit] == 0:
            start = graph.indptr[unit]
            i = start + draw_below(rng, graph.indptr[unit + 1] - start)
            if label_of[graph.neighbor[i]] != label:
                continue
            # Overwritten whenever the walk comes by again: that erases the loop.
            parent[unit] = graph.neighbor[i]
            parent_edge[unit] = graph.edge[i]
            unit = graph.neighbor[i]
        unit = first
        while in_tree[unit] == 0:
            in_tree[unit] = 1
            unit = parent[unit]
    return root


@kernel
def sum_below(population, label_of, label, parent, below):
    """Write to ``below`` the people at and under each unit of one tree."""
    for unit in range(label_of.shape[0]):
        if label_of[unit] == label:
            below[unit] = 0
    for unit in range(label_of.shape[0]):
        if label_of[unit] == label:
            above = unit
            while above >= 0:
                below[above] += population[unit]
                above = parent[above]


@kernel
def find_balanced_cuts(label_of, label, parent, below, whole, lower, upper, n_rest, cuts, part_is_below):
    """Edges that cut a tree into one district and a rest that ``n_rest`` districts can share.

    Writes the lower end of each to ``cuts``, and to ``part_is_below`` whether the district is the part below
    it; one edge may be listed twice, once for each side. Returns their number.
    """
    n_cuts = 0
    for unit in range(label_of.shape[0]):
        if label_of[unit] != label or parent[unit] < 0:
            continue
        for side in range(2):
            part = below[unit] if side == 1 else whole - below[unit]
            rest = whole - part
            if lower <= part <= upper and n_rest * lower <= rest <= n_rest * upper:
                cuts[n_cuts] = unit
                part_is_below[n_cuts] = side
                n_cuts += 1
    return n_cuts
