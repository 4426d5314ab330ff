"""Merge-split: two neighbouring districts become one and are divided anew along a random tree.

Edges of the dual graph have weights w, and a tree or a set of edges weighs the product of its own. Given the
plan, a cut edge e is drawn in proportion to its weight out of their sum W, and with it the two districts A
and B; then a spanning tree of each, in proportion to its weight, out of tau(A) and tau(B). With e they are a
spanning tree t of the union U. A new tree t' of U is drawn in proportion to its weight, out of tau(U), and an
edge e' uniformly among its b(t') *balanced* edges, those that divide U within the bounds.

The chance of all this, from a plan with the law pi, is

    pi * w(e)/W * w(t - e)/(tau(A) tau(B)) * w(t')/tau(U) * 1/b(t'),

and that of drawing e', t', t and e in this order from the new plan the same with the roles exchanged. The
weights w(t) and w(t') cancel, and so does tau(U): the acceptance ratio is

    pi'/pi * tau(A) tau(B) W / (tau(A') tau(B') W') * b(t')/b(t).

A tree t' without a balanced edge is a rejection. The tree t is drawn only once it is needed. The trees of the
Marked Edge Walk play no part, so like the flips this is a move on plans, and it is exact for any weights.
"""

import numpy as np

from bottomup.sampler.jit import kernel
from bottomup.sampler.kernels.cholesky import factor_district
from bottomup.sampler.kernels.draws import draw_below
from bottomup.sampler.kernels.flips import list_cut_edges
from bottomup.sampler.kernels.outcomes import ACCEPTED, REJECTED_POPULATION, REJECTED_RATIO, UNCHANGED
from bottomup.sampler.kernels.tallies import CUT_EDGES, log_density, relabel_under
from bottomup.sampler.kernels.trees import draw_tree, sum_below

__all__ = ["merge_split"]

PER_CUT_EDGE = 0.67
"""What one more cut edge takes from the log number of spanning trees of the districts, roughly."""
OLD_ONE, OLD_OTHER = 3, 4
"""Labels in ``region`` of the districts that a move began with."""


@kernel
def _list_balanced(law, workshop, n_units, whole):
    """Lower ends of the edges of a tree that divide ``whole`` people within the bounds; their number."""
    n_balanced = 0
    for i in range(1, n_units):
        below = workshop.below[workshop.order[i]]
        if law.lower <= below <= law.upper and law.lower <= whole - below <= law.upper:
            workshop.balanced[n_balanced] = workshop.order[i]
            n_balanced += 1
    return n_balanced


@kernel
def _draw(rng, graph, weights, label_of, label, root, workshop):
    n_units = draw_tree(
        rng,
        graph,
        weights,
        label_of,
        label,
        root,
        workshop.parent,
        workshop.parent_edge,
        workshop.in_tree,
        workshop.order,
    )
    sum_below(graph.population, workshop.parent, workshop.order, n_units, workshop.below)
    return n_units


@kernel
def _count_trees(graph, weights, pattern, cholesky, district, label):
    """Log weighted number of spanning trees of a district; its block of the factor is overwritten."""
    factor_district(
        graph, weights.edge, pattern, cholesky.value, cholesky.pivot, cholesky.work, district, label
    )
    log_count = 0.0
    for unit in range(district.shape[0]):
        if district[unit] == label:
            log_count += np.log(cholesky.pivot[pattern.position_of[unit]])
    return log_count


@kernel
def _cut_weight(graph, weights, district):
    total = 0.0
    for edge in range(graph.tail.shape[0]):
        if district[graph.tail[edge]] != district[graph.head[edge]]:
            total += weights.edge[edge]
    return total


@kernel
def _put_back(graph, testimony, law, state):
    scratch = state.scratch
    for i in range(scratch.n_moved[0] - 1, -1, -1):
        unit, old = scratch.moved[i], scratch.moved_from[i]
        relabel_under(graph, testimony, law, state.forest, state.tallies, unit, old)
    scratch.n_moved[0] = 0


@kernel
def merge_split(rng, graph, testimony, pattern, cholesky, law, weights, state, workshop):
    """One step; returns how it ended. The file of cut edges is kept up to date."""
    district, tallies, scratch = state.forest.district, state.tallies, state.scratch
    region, order = workshop.region, workshop.order
    cut_weight = _cut_weight(graph, weights, district)
    draw = rng.random() * cut_weight
    place = 0
    edge = workshop.cut_edges[0]
    draw -= weights.edge[edge]
    while draw >= 0.0 and place + 1 < tallies.total[CUT_EDGES]:
        place += 1
        edge = workshop.cut_edges[place]
        draw -= weights.edge[edge]
    near, far = graph.tail[edge], graph.head[edge]
    one, other = district[near], district[far]
    whole = tallies.population[one] + tallies.population[other]
    for unit in range(district.shape[0]):
        region[unit] = 0
        if district[unit] == one or district[unit] == other:
            region[unit] = 1
            workshop.in_tree[unit] = 0
    n_members = _draw(rng, graph, weights, region, 1, near, workshop)
    n_new = _list_balanced(law, workshop, n_members, whole)
    if n_new == 0:
        return REJECTED_POPULATION
    top = workshop.balanced[draw_below(rng, n_new)]
    # The part below the new cut gets the label that most of it has: fewer units to relabel, the same plan.
    n_staying = 0
    region[top] = 2
    for i in range(n_members):
        unit = order[i]
        if unit != top and i > 0:
            region[unit] = region[workshop.parent[unit]]
        if (district[unit] == one) == (region[unit] == 2):
            n_staying += 1
    label_below = one if 2 * n_staying >= n_members else other
    label_above = other if label_below == one else one
    n_cut = tallies.total[CUT_EDGES]
    log_density_before = log_density(law, tallies)
    scratch.n_moved[0] = 0
    for unit in range(district.shape[0]):
        if region[unit] == 0:
            continue
        new = label_below if region[unit] == 2 else label_above
        if district[unit] != new:
            scratch.moved[scratch.n_moved[0]] = unit
            scratch.moved_from[scratch.n_moved[0]] = district[unit]
            scratch.n_moved[0] += 1
            relabel_under(graph, testimony, law, state.forest, tallies, unit, new)
    if scratch.n_moved[0] == 0:
        return UNCHANGED
    log_guess_trees = PER_CUT_EDGE * (tallies.total[CUT_EDGES] - n_cut)
    log_guess = log_density(law, tallies) - log_density_before + log_guess_trees
    if log_guess < 0.0 and rng.random() >= np.exp(log_guess):
        _put_back(graph, testimony, law, state)
        return REJECTED_RATIO
    # The old trees hang from both ends of the cut edge, so their balanced edges are those of the whole.
    for i in range(n_members):
        region[order[i]] = OLD_ONE if district[order[i]] == one else OLD_OTHER
    for i in range(scratch.n_moved[0]):
        region[scratch.moved[i]] = OLD_ONE if scratch.moved_from[i] == one else OLD_OTHER
    n_old = 1
    for label in (OLD_ONE, OLD_OTHER):
        for unit in range(district.shape[0]):
            if region[unit] == label:
                workshop.in_tree[unit] = 0
        n_units = _draw(rng, graph, weights, region, label, near if label == OLD_ONE else far, workshop)
        n_old += _list_balanced(law, workshop, n_units, whole)
    if not workshop.is_counted[one]:
        workshop.log_trees[one] = _count_trees(graph, weights, pattern, cholesky, region, OLD_ONE)
    if not workshop.is_counted[other]:
        workshop.log_trees[other] = _count_trees(graph, weights, pattern, cholesky, region, OLD_OTHER)
    workshop.is_counted[one] = 1
    workshop.is_counted[other] = 1
    log_one = _count_trees(graph, weights, pattern, cholesky, district, one)
    log_other = _count_trees(graph, weights, pattern, cholesky, district, other)
    log_trees = workshop.log_trees[one] + workshop.log_trees[other] - log_one - log_other
    log_ratio = law.tree_count * log_trees - log_guess_trees
    log_ratio += np.log(cut_weight / _cut_weight(graph, weights, district))
    log_ratio += law.proposal * np.log(n_new / n_old)
    if log_ratio >= 0.0 or rng.random() < np.exp(log_ratio):
        scratch.n_moved[0] = 0
        workshop.log_trees[one] = log_one
        workshop.log_trees[other] = log_other
        list_cut_edges(graph, district, workshop)
        return ACCEPTED
    _put_back(graph, testimony, law, state)
    return REJECTED_RATIO
