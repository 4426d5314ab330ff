"""Random spanning trees of districts by Wilson's algorithm, and what can be cut from them."""

import numpy as np

from bottomup.sampler.jit import kernel

__all__ = ["draw_tree", "find_balanced_cuts", "sum_below"]


@kernel
def draw_tree(rng, graph, weights, label_of, label, root, parent, parent_edge, in_tree, order):
    """Draw a random spanning tree of the units that carry ``label``; they must be connected.

    A tree has a chance in proportion to the product of its edges' weights: Wilson's algorithm, loop-erased
    random walks that choose among neighbours by weight, each from a unit outside the tree until it meets the
    tree (D. B. Wilson, Generating random spanning trees more quickly than the cover time, STOC 1996). The
    choice takes one draw and one look-up (A. J. Walker, An efficient method for generating discrete random
    variables with general distributions, ACM Transactions on Mathematical Software 3, 1977).

    Parameters
    ----------
    rng : numpy.random.Generator
    graph : Graph
    weights : Weights
    label_of : int32 array, shape (n,)
    label : int
    root : int
        A unit that carries the label.
    parent, parent_edge : int32 arrays, shape (n,)
        Written for the units that carry the label; -1 at the root.
    in_tree : uint8 array, shape (n,)
        Must be 0 for the units that carry the label; set to 1.
    order : int32 array, shape (n,)
        The tree's units are written to its beginning, every parent before its children.

    Returns
    -------
    int
        Number of units in the tree.
    """
    parent[root] = -1
    parent_edge[root] = -1
    in_tree[root] = 1
    order[0] = root
    n_units = 1
    for first in range(label_of.shape[0]):
        if label_of[first] != label:
            continue
        unit = first
        while in_tree[unit] == 0:
            begin = graph.indptr[unit]
            draw = rng.random() * (graph.indptr[unit + 1] - begin)
            i = begin + np.int64(draw)
            if draw - np.int64(draw) >= weights.chance[i]:
                i = weights.alias[i]
            there = graph.neighbor[i]
            if label_of[there] != label:
                continue
            # The way out, overwritten whenever the walk comes by again: that erases the loop.
            parent[unit] = i
            unit = there
        n_new = 0
        unit = first
        while in_tree[unit] == 0:
            in_tree[unit] = 1
            n_new += 1
            i = parent[unit]
            parent[unit] = graph.neighbor[i]
            parent_edge[unit] = graph.edge[i]
            unit = graph.neighbor[i]
        unit = first
        for i in range(n_units + n_new - 1, n_units - 1, -1):
            order[i] = unit
            unit = parent[unit]
        n_units += n_new
    return n_units


@kernel
def sum_below(population, parent, order, n_units, below):
    """Write to ``below`` the people at and under each unit of the tree whose units ``order`` begins with."""
    for i in range(n_units):
        below[order[i]] = population[order[i]]
    for i in range(n_units - 1, 0, -1):
        below[parent[order[i]]] += below[order[i]]


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
