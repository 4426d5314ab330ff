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
from bottomup.sampler.kernels.tallies import CUT_EDGES, gain_of, relabel_under

__all__ = ["all_meet", "draw_end", "flip", "list_cut_edges", "refile"]


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
def all_meet(graph, district, label, scratch, workshop, n_sources):
    """Whether some units of a district are joined inside it: the first ``n_sources`` of ``scratch.stack``.

    A search spreads from each of them, all at the same pace, and searches that meet become one. So the end is
    near when they meet nearby, and also when one of them is shut in on a small piece.
    """
    stamp, stack = scratch.stamp, scratch.stack
    following, head, tail, joined = workshop.order, workshop.parent, workshop.parent_edge, workshop.balanced
    base = scratch.clock[0] + 1
    scratch.clock[0] += n_sources
    for s in range(n_sources):
        unit = stack[s]
        stamp[unit] = base + s
        following[unit] = -1
        head[s] = unit
        tail[s] = unit
        joined[s] = s
    n_searches = n_sources
    while n_searches > 1:
        for s in range(n_sources):
            if joined[s] != s:
                continue
            unit = head[s]
            if unit < 0:
                return False
            for i in range(graph.indptr[unit], graph.indptr[unit + 1]):
                there = graph.neighbor[i]
                if district[there] != label:
                    continue
                if stamp[there] < base:
                    stamp[there] = base + s
                    following[there] = -1
                    following[tail[s]] = there
                    tail[s] = there
                    continue
                other = stamp[there] - base
                while joined[other] != other:
                    other = joined[other]
                if other != s:
                    joined[other] = s
                    n_searches -= 1
                    if head[other] >= 0:
                        following[tail[s]] = head[other]
                        tail[s] = tail[other]
            head[s] = following[unit]
    return True


@kernel
def _is_connected_without(graph, forest, scratch, workshop, unit, new):
    """Whether the district of a unit stays connected when the unit leaves: its neighbours there must meet."""
    district = forest.district
    here = district[unit]
    n_sources = 0
    for i in range(graph.indptr[unit], graph.indptr[unit + 1]):
        if district[graph.neighbor[i]] == here:
            scratch.stack[n_sources] = graph.neighbor[i]
            n_sources += 1
    district[unit] = new
    is_connected = all_meet(graph, district, here, scratch, workshop, n_sources)
    district[unit] = here
    return is_connected


@kernel
def refile(graph, district, workshop, unit, n_cut):
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
def draw_end(rng, graph, district, workshop, n_cut):
    """One end of a cut edge, all with the same chance; returns the unit and the district of the other end."""
    draw = draw_below(rng, 2 * n_cut)
    edge = workshop.cut_edges[draw // 2]
    if draw % 2 == 0:
        return graph.tail[edge], district[graph.head[edge]]
    return graph.head[edge], district[graph.tail[edge]]


@kernel
def flip(rng, graph, testimony, law, state, workshop):
    """One step; returns (accepted, whether the bounds or the connection forbade it)."""
    forest, tallies = state.forest, state.tallies
    district, total = forest.district, tallies.total
    n_cut = total[CUT_EDGES]
    unit, new = draw_end(rng, graph, district, workshop, n_cut)
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
    n_cut_then = n_cut + n_here - n_there
    excess, excess_then = n_cut - law.cut_edges, n_cut_then - law.cut_edges
    log_ratio = law.compactness * (excess * excess - excess_then * excess_then)
    log_ratio += law.proposal * np.log(n_here * n_cut / (n_there * n_cut_then))
    log_ratio += gain_of(testimony, law, tallies, unit, old, new)
    if log_ratio < 0.0 and rng.random() >= np.exp(log_ratio):
        return False, False
    # Last, for it costs most.
    if not _is_connected_without(graph, forest, state.scratch, workshop, unit, new):
        return False, True
    relabel_under(graph, testimony, law, forest, tallies, unit, new)
    refile(graph, district, workshop, unit, n_cut)
    workshop.is_counted[old] = 0
    workshop.is_counted[new] = 0
    return True, False
