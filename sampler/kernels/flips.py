"""Single-unit flips on the plan itself.

A cut edge is drawn uniformly and one of its ends, which asks to go over to the district of the other end.
With C cut edges and e(u, d) neighbours of unit u in district d, a unit goes from d to d' with the chance
e(u, d') / 2C, and comes back with the chance e(u, d) / 2C'. On plans with the law pi the acceptance ratio is

    pi'/pi * e(u, d)/e(u, d') * C/C',

and zero when a bound is broken or what the unit leaves behind falls apart. Flips know nothing of trees: their
law is that of the plan, and trees and marks must be drawn anew (``kernels.redraw``) before a move that uses
them. Plan first and then a state given the plan: together they leave pi/N on states as it is.
"""

import numpy as np

from bottomup.sampler.jit import kernel
from bottomup.sampler.kernels.draws import draw_below
from bottomup.sampler.kernels.tallies import CUT_EDGES, log_density, relabel_unit

__all__ = ["flip", "list_cut_edges"]


@kernel
def list_cut_edges(graph, district, workshop):
    """File the cut edges of the current plan, before a series of flips."""
    n_cut = 0
    for edge in range(graph.tail.shape[0]):
        workshop.cut_slot[edge] = -1
        if district[graph.tail[edge]] != district[graph.head[edge]]:
            workshop.cut_edges[n_cut] = edge
            workshop.cut_slot[edge] = n_cut
            n_cut += 1


@kernel
def _is_connected_without(graph, forest, scratch, unit):
    """Whether the district of a unit stays connected when the unit leaves; its neighbours there must meet."""
    district, stamp = forest.district, scratch.stamp
    here = district[unit]
    scratch.clock[0] += 2
    reached, sought = scratch.clock[0], scratch.clock[0] - 1
    n_sought, n_stack = 0, 0
    for i in range(graph.indptr[unit], graph.indptr[unit + 1]):
        there = graph.neighbor[i]
        if district[there] == here:
            if n_stack == 0:
                scratch.stack[0] = there
                n_stack = 1
                stamp[there] = reached
            else:
                stamp[there] = sought
                n_sought += 1
    stamp[unit] = reached
    # Breadth first: what has to meet meets nearby, or seldom at all.
    head = 0
    while head < n_stack and n_sought > 0:
        place = scratch.stack[head]
        head += 1
        for i in range(graph.indptr[place], graph.indptr[place + 1]):
            there = graph.neighbor[i]
            if district[there] == here and stamp[there] != reached:
                if stamp[there] == sought:
                    n_sought -= 1
                stamp[there] = reached
                scratch.stack[n_stack] = there
                n_stack += 1
    return n_sought == 0


@kernel
def _refile(graph, district, workshop, unit, n_cut):
    """Bring the file of cut edges up to date at a unit; returns their number."""
    cut_edges, slot = workshop.cut_edges, workshop.cut_slot
    for i in range(graph.indptr[unit], graph.indptr[unit + 1]):
        edge = graph.edge[i]
        is_cut = district[graph.neighbor[i]] != district[unit]
        if is_cut and slot[edge] < 0:
            cut_edges[n_cut] = edge
            slot[edge] = n_cut
            n_cut += 1
        elif not is_cut and slot[edge] >= 0:
            n_cut -= 1
            last = cut_edges[n_cut]
            cut_edges[slot[edge]] = last
            slot[last] = slot[edge]
            slot[edge] = -1
    return n_cut


@kernel
def flip(rng, graph, testimony, law, state, workshop):
    """One step; returns (accepted, whether the bounds or the connection forbade it)."""
    forest, tallies = state.forest, state.tallies
    district, total = forest.district, tallies.total
    n_cut = total[CUT_EDGES]
    draw = draw_below(rng, 2 * n_cut)
    edge = workshop.cut_edges[draw // 2]
    if draw % 2 == 0:
        unit, new = graph.tail[edge], district[graph.head[edge]]
    else:
        unit, new = graph.head[edge], district[graph.tail[edge]]
    old = district[unit]
    people = graph.population[unit]
    if tallies.population[old] - people < law.lower or tallies.population[new] + people > law.upper:
        return False, True
    n_here, n_there = 0, 0
    for i in range(graph.indptr[unit], graph.indptr[unit + 1]):
        there = district[graph.neighbor[i]]
        n_here += there == old
        n_there += there == new
    if n_here == 0:
        return False, True
    log_before = log_density(law, tallies)
    relabel_unit(graph, testimony, forest, tallies, unit, new)
    log_ratio = log_density(law, tallies) - log_before
    log_ratio += np.log(n_here * n_cut / (n_there * total[CUT_EDGES]))
    is_lawful = True
    if log_ratio >= 0.0 or rng.random() < np.exp(log_ratio):
        # Last, for it costs most: the search runs in the old district, so the unit goes back for it.
        district[unit] = old
        is_lawful = _is_connected_without(graph, forest, state.scratch, unit)
        district[unit] = new
        if is_lawful:
            _refile(graph, district, workshop, unit, n_cut)
            return True, False
    relabel_unit(graph, testimony, forest, tallies, unit, old)
    return False, not is_lawful
