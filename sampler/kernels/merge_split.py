"""Merge-split: two neighbouring districts become one and are divided anew along a random tree.

A marked edge is drawn uniformly; together with the trees of its two districts it is a spanning tree of their
union. A new spanning tree of the union is drawn uniformly (Wilson), and the new mark uniformly among its
*balanced* edges, those that divide the union within the bounds. With tau(U) spanning trees of the union and
b(t) balanced edges of a tree t, the chance of the proposal is 1/(k - 1) * 1/tau(U) * 1/b(t'), and that of the
way back 1/(k - 1) * 1/tau(U) * 1/b(t): the old mark is one of the balanced edges of the old tree. On states
with the law pi/N the acceptance ratio is therefore

    pi'/pi * N/N' * b(t')/b(t).

A tree without a balanced edge is a rejection.
"""

from bottomup.sampler.jit import kernel
from bottomup.sampler.kernels.draws import draw_below
from bottomup.sampler.kernels.forest import cut, link, reroot
from bottomup.sampler.kernels.redraw import list_edges
from bottomup.sampler.kernels.tallies import relabel_unit
from bottomup.sampler.kernels.trees import draw_tree, sum_below

__all__ = ["propose_merge_split", "undo_merge_split"]


@kernel
def _list_balanced(law, forest, members, n_members, whole, balanced):
    """Lower ends of the edges of the union's tree that divide it within the bounds; returns their number."""
    n_balanced = 0
    for i in range(n_members):
        unit = members[i]
        below = forest.subtree_population[unit]
        if (
            forest.parent[unit] >= 0
            and law.lower <= below <= law.upper
            and law.lower <= whole - below <= law.upper
        ):
            balanced[n_balanced] = unit
            n_balanced += 1
    return n_balanced


@kernel
def propose_merge_split(rng, graph, testimony, law, state, workshop):
    """Make the proposal in place.

    Returns
    -------
    n_new, n_old : int
        Balanced edges of the new tree and of the old one; no proposal was made when the first is 0.
    place : int
        Place of the mark among the marked edges.
    mark : int
        The mark before.
    """
    forest, scratch, tallies = state.forest, state.scratch, state.tallies
    parent, parent_edge, below = forest.parent, forest.parent_edge, forest.subtree_population
    district, members, region = forest.district, workshop.members, workshop.region
    place = draw_below(rng, forest.marked.shape[0])
    mark = forest.marked[place]
    near, far = graph.tail[mark], graph.head[mark]
    one, other = district[near], district[far]
    n_members = 0
    for unit in range(district.shape[0]):
        region[unit] = 0
        if district[unit] == one or district[unit] == other:
            members[n_members] = unit
            n_members += 1
            region[unit] = 1
            workshop.in_tree[unit] = 0
            workshop.kept_parent[unit] = parent[unit]
            workshop.kept_edge[unit] = parent_edge[unit]
            workshop.kept_below[unit] = below[unit]
    workshop.n_members[0] = n_members
    whole = tallies.population[one] + tallies.population[other]
    reroot(forest, far)
    link(forest, far, near, mark)
    n_old = _list_balanced(law, forest, members, n_members, whole, workshop.balanced)
    draw_tree(rng, graph, region, 1, parent, parent_edge, workshop.in_tree)
    sum_below(graph.population, region, 1, parent, below)
    n_new = _list_balanced(law, forest, members, n_members, whole, workshop.balanced)
    if n_new == 0:
        _put_back_trees(forest, workshop)
        return n_new, n_old, place, mark
    top = workshop.balanced[draw_below(rng, n_new)]
    forest.marked[place] = parent_edge[top]
    cut(forest, top)
    # The part below the new mark gets the label that most of it has: fewer units to relabel, the same plan.
    n_staying = 0
    for i in range(n_members):
        unit = members[i]
        root = unit
        while parent[root] >= 0:
            root = parent[root]
        region[unit] = 2 if root == top else 1
        if (district[unit] == one) == (root == top):
            n_staying += 1
    label_below = one if 2 * n_staying >= n_members else other
    label_above = other if label_below == one else one
    for i in range(n_members):
        unit = members[i]
        new = label_below if region[unit] == 2 else label_above
        if district[unit] != new:
            scratch.moved[scratch.n_moved[0]] = unit
            scratch.moved_from[scratch.n_moved[0]] = district[unit]
            scratch.n_moved[0] += 1
            relabel_unit(graph, testimony, forest, tallies, unit, new)
    if scratch.n_moved[0] > 0:
        scratch.changed[one] = 1
        scratch.changed[other] = 1
        # Both districts may have given and taken: not one part that moves.
        scratch.n_parts[0] = 2
    list_edges(forest)
    return n_new, n_old, place, mark


@kernel
def _put_back_trees(forest, workshop):
    for i in range(workshop.n_members[0]):
        unit = workshop.members[i]
        forest.parent[unit] = workshop.kept_parent[unit]
        forest.parent_edge[unit] = workshop.kept_edge[unit]
        forest.subtree_population[unit] = workshop.kept_below[unit]


@kernel
def undo_merge_split(forest, workshop, place, mark):
    """Put back trees and mark; labels are not touched."""
    _put_back_trees(forest, workshop)
    forest.marked[place] = mark
    list_edges(forest)
