"""Community flips: all units of a testimony change district together.

A cut edge is drawn uniformly, one of its ends u, and one of the c(u) testimonies that cover u. When all units
of that testimony lie in the district d of u, they ask to go over to the district d' of the other end. With C
cut edges, a testimony t goes from d to d' with the chance f/2C, where f is the sum of 1/c(u) over the edges
from its units u to d', and comes back with the chance b/2C', where b is the same sum over the edges to what
remains of d. On plans with the law pi the acceptance ratio is

    pi'/pi * b/f * C/C',

and zero when a bound is broken, when what remains of d falls apart, or when a unit of the testimony is cut
off from d'. The plan goes from one state in which the community is whole to another, without the states
between them in which it is divided and which a high epsilon makes rare.
"""

import numpy as np

from bottomup.sampler.jit import kernel
from bottomup.sampler.kernels.draws import draw_below
from bottomup.sampler.kernels.flips import all_meet, draw_end, refile
from bottomup.sampler.kernels.tallies import CUT_EDGES, log_density, relabel_under

__all__ = ["community_flip"]


@kernel
def _mark(testimony, scratch, which):
    """Stamp the testimony's units; returns the stamp."""
    scratch.clock[0] += 1
    for i in range(testimony.member_indptr[which], testimony.member_indptr[which + 1]):
        scratch.stamp[testimony.member[i]] = scratch.clock[0]
    return scratch.clock[0]


@kernel
def _sum_chances(graph, testimony, district, scratch, which, label, now):
    """Sum of 1/c(u) over the edges from the stamped units u to the others in a district."""
    total = 0.0
    for i in range(testimony.member_indptr[which], testimony.member_indptr[which + 1]):
        unit = testimony.member[i]
        n_edges = 0
        for e in range(graph.indptr[unit], graph.indptr[unit + 1]):
            there = graph.neighbor[e]
            n_edges += district[there] == label and scratch.stamp[there] != now
        if n_edges > 0:
            total += n_edges / (testimony.indptr[unit + 1] - testimony.indptr[unit])
    return total


@kernel
def _all_reach(graph, testimony, district, scratch, which, new, now):
    """Whether every unit of the testimony is joined to the new district by units of the testimony."""
    first, last = testimony.member_indptr[which], testimony.member_indptr[which + 1]
    stamp, stack = scratch.stamp, scratch.stack
    scratch.clock[0] += 1
    reached = scratch.clock[0]
    n_stack = 0
    for i in range(first, last):
        unit = testimony.member[i]
        for e in range(graph.indptr[unit], graph.indptr[unit + 1]):
            if district[graph.neighbor[e]] == new:
                stamp[unit] = reached
                stack[n_stack] = unit
                n_stack += 1
                break
    head = 0
    while head < n_stack:
        unit = stack[head]
        head += 1
        for e in range(graph.indptr[unit], graph.indptr[unit + 1]):
            there = graph.neighbor[e]
            if stamp[there] == now:
                stamp[there] = reached
                stack[n_stack] = there
                n_stack += 1
    return n_stack == last - first


@kernel
def _rest_holds(graph, testimony, district, scratch, workshop, which, old):
    """Whether what remains of the old district is there and connected; the moved units carry a new label.

    Every piece of it would touch the units that left, so those of its units that do must meet.
    """
    scratch.clock[0] += 1
    n_sources = 0
    for i in range(testimony.member_indptr[which], testimony.member_indptr[which + 1]):
        unit = testimony.member[i]
        for e in range(graph.indptr[unit], graph.indptr[unit + 1]):
            there = graph.neighbor[e]
            if district[there] == old and scratch.stamp[there] != scratch.clock[0]:
                scratch.stamp[there] = scratch.clock[0]
                scratch.stack[n_sources] = there
                n_sources += 1
    return n_sources > 0 and all_meet(graph, district, old, scratch, workshop, n_sources)


@kernel
def _relabel(graph, testimony, law, state, which, new):
    for i in range(testimony.member_indptr[which], testimony.member_indptr[which + 1]):
        relabel_under(graph, testimony, law, state.forest, state.tallies, testimony.member[i], new)


@kernel
def community_flip(rng, graph, testimony, law, state, workshop):
    """One step; returns (accepted, whether the bounds or the connection forbade it)."""
    tallies, scratch, district = state.tallies, state.scratch, state.forest.district
    n_cut = tallies.total[CUT_EDGES]
    unit, new = draw_end(rng, graph, district, workshop, n_cut)
    old = district[unit]
    n_covering = testimony.indptr[unit + 1] - testimony.indptr[unit]
    if n_covering == 0:
        return False, False
    which = testimony.covering[testimony.indptr[unit] + draw_below(rng, n_covering)]
    for i in range(testimony.member_indptr[which], testimony.member_indptr[which + 1]):
        if district[testimony.member[i]] != old:
            return False, False
    people = testimony.people[which]
    if tallies.population[old] - people < law.lower or tallies.population[new] + people > law.upper:
        return False, True
    now = _mark(testimony, scratch, which)
    there = _sum_chances(graph, testimony, district, scratch, which, new, now)
    back = _sum_chances(graph, testimony, district, scratch, which, old, now)
    if back == 0.0 or not _all_reach(graph, testimony, district, scratch, which, new, now):
        return False, True
    log_before = log_density(law, tallies)
    _relabel(graph, testimony, law, state, which, new)
    log_ratio = log_density(law, tallies) - log_before + np.log(n_cut / tallies.total[CUT_EDGES])
    log_ratio += law.proposal * np.log(back / there)
    is_lawful = True
    if log_ratio >= 0.0 or rng.random() < np.exp(log_ratio):
        is_lawful = _rest_holds(graph, testimony, district, scratch, workshop, which, old)
        if is_lawful:
            for i in range(testimony.member_indptr[which], testimony.member_indptr[which + 1]):
                n_cut = refile(graph, district, workshop, testimony.member[i], n_cut)
            workshop.is_counted[old] = 0
            workshop.is_counted[new] = 0
            return True, False
    _relabel(graph, testimony, law, state, which, old)
    return False, not is_lawful
