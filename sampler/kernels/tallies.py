"""Sums over the plan, kept up to date unit by unit: populations, cut edges, testimonies, clusters."""

from bottomup.sampler.jit import kernel
from bottomup.sampler.kernels.forest import TREE

__all__ = [
    "CLUSTER_WEIGHT",
    "CUT_EDGES",
    "PRESERVED",
    "log_density",
    "relabel_part",
    "relabel_unit",
    "restore_units",
]

CUT_EDGES, PRESERVED, CLUSTER_WEIGHT = 0, 1, 2


@kernel
def log_density(law, tallies):
    """Log of the target law at the current plan, up to a constant; its states share it equally."""
    excess = tallies.total[CUT_EDGES] - law.cut_edges
    return (
        -law.compactness * excess * excess
        + law.per_testimony * tallies.total[PRESERVED]
        + law.per_cluster_weight * tallies.total[CLUSTER_WEIGHT]
    )


@kernel
def relabel_unit(graph, testimony, forest, tallies, unit, new):
    """Give ``unit`` the district ``new`` and bring every sum up to date; the trees are left alone."""
    district, between, total = forest.district, tallies.between, tallies.total
    old = district[unit]
    district[unit] = new
    people = graph.population[unit]
    tallies.population[old] -= people
    tallies.population[new] += people
    for i in range(graph.indptr[unit], graph.indptr[unit + 1]):
        there = district[graph.neighbor[i]]
        if there != old:
            between[old, there] -= 1
            between[there, old] -= 1
            total[CUT_EDGES] -= 1
        if there != new:
            between[new, there] += 1
            between[there, new] += 1
            total[CUT_EDGES] += 1
    for i in range(testimony.indptr[unit], testimony.indptr[unit + 1]):
        t = testimony.covering[i]
        before = tallies.spread[t]
        tallies.testimony[t, old] -= 1
        if tallies.testimony[t, old] == 0:
            tallies.spread[t] -= 1
        if tallies.testimony[t, new] == 0:
            tallies.spread[t] += 1
        tallies.testimony[t, new] += 1
        after = tallies.spread[t]
        if before == 1 and after != 1:
            total[PRESERVED] -= 1
        elif before != 1 and after == 1:
            total[PRESERVED] += 1
    for i in range(testimony.cluster_indptr[unit], testimony.cluster_indptr[unit + 1]):
        c, weight = testimony.cluster[i], testimony.weight[i]
        tallies.cluster[c, old] -= weight
        tallies.cluster[c, new] += weight
        best = tallies.cluster[c, 0]
        for d in range(1, tallies.cluster.shape[1]):
            best = max(best, tallies.cluster[c, d])
        total[CLUSTER_WEIGHT] += best - tallies.best[c]
        tallies.best[c] = best


@kernel
def relabel_part(graph, testimony, state, root, new):
    """Give the whole tree below ``root`` the district ``new``, and note the change for an undo."""
    forest, scratch = state.forest, state.scratch
    old = forest.district[root]
    if old == new:
        return
    scratch.changed[old] = 1
    scratch.changed[new] = 1
    scratch.n_parts[0] += 1
    scratch.stack[0] = root
    n_stack = 1
    while n_stack > 0:
        n_stack -= 1
        unit = scratch.stack[n_stack]
        scratch.moved[scratch.n_moved[0]] = unit
        scratch.moved_from[scratch.n_moved[0]] = old
        scratch.n_moved[0] += 1
        relabel_unit(graph, testimony, forest, state.tallies, unit, new)
        for i in range(graph.indptr[unit], graph.indptr[unit + 1]):
            below = graph.neighbor[i]
            if forest.kind[graph.edge[i]] == TREE and forest.parent[below] == unit:
                scratch.stack[n_stack] = below
                n_stack += 1


@kernel
def restore_units(graph, testimony, state):
    """Give every unit noted since the last acceptance the district that it had, latest first."""
    scratch = state.scratch
    for i in range(scratch.n_moved[0] - 1, -1, -1):
        relabel_unit(graph, testimony, state.forest, state.tallies, scratch.moved[i], scratch.moved_from[i])
    scratch.n_moved[0] = 0
