"""Sums over the plan, kept up to date unit by unit: populations, cut edges, testimonies, clusters."""

from bottomup.sampler.jit import kernel
from bottomup.sampler.kernels.forest import TREE

__all__ = [
    "CLUSTER_WEIGHT",
    "CUT_EDGES",
    "PRESERVED",
    "gain_of",
    "log_density",
    "recount",
    "relabel_part",
    "relabel_under",
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
def _move_people(graph, forest, tallies, unit, new):
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


@kernel
def _move_testimonies(testimony, tallies, unit, old, new):
    total = tallies.total
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


@kernel
def _move_clusters(testimony, tallies, unit, old, new):
    for i in range(testimony.cluster_indptr[unit], testimony.cluster_indptr[unit + 1]):
        c, weight = testimony.cluster[i], testimony.weight[i]
        tallies.cluster[c, old] -= weight
        tallies.cluster[c, new] += weight
        best = tallies.cluster[c, 0]
        for d in range(1, tallies.cluster.shape[1]):
            best = max(best, tallies.cluster[c, d])
        tallies.total[CLUSTER_WEIGHT] += best - tallies.best[c]
        tallies.best[c] = best


@kernel
def relabel_unit(graph, testimony, forest, tallies, unit, new):
    """Give ``unit`` the district ``new`` and bring every sum up to date; the trees are left alone."""
    old = forest.district[unit]
    _move_people(graph, forest, tallies, unit, new)
    _move_testimonies(testimony, tallies, unit, old, new)
    _move_clusters(testimony, tallies, unit, old, new)


@kernel
def relabel_under(graph, testimony, law, forest, tallies, unit, new):
    """The same for the sums that the law looks at; the others wait for :func:`recount`."""
    old = forest.district[unit]
    _move_people(graph, forest, tallies, unit, new)
    if law.per_testimony != 0.0:
        _move_testimonies(testimony, tallies, unit, old, new)
    if law.per_cluster_weight != 0.0:
        _move_clusters(testimony, tallies, unit, old, new)


@kernel
def recount(testimony, law, state):
    """Bring the sums that the law does not look at up to date with the plan."""
    district, tallies = state.forest.district, state.tallies
    if law.per_testimony == 0.0:
        tallies.total[PRESERVED] = 0
        for t in range(tallies.spread.shape[0]):
            tallies.spread[t] = 0
            for d in range(tallies.testimony.shape[1]):
                tallies.testimony[t, d] = 0
            for i in range(testimony.member_indptr[t], testimony.member_indptr[t + 1]):
                d = district[testimony.member[i]]
                if tallies.testimony[t, d] == 0:
                    tallies.spread[t] += 1
                tallies.testimony[t, d] += 1
            tallies.total[PRESERVED] += tallies.spread[t] == 1
    if law.per_cluster_weight == 0.0:
        for c in range(tallies.best.shape[0]):
            for d in range(tallies.cluster.shape[1]):
                tallies.cluster[c, d] = 0
        for unit in range(district.shape[0]):
            for i in range(testimony.cluster_indptr[unit], testimony.cluster_indptr[unit + 1]):
                tallies.cluster[testimony.cluster[i], district[unit]] += testimony.weight[i]
        tallies.total[CLUSTER_WEIGHT] = 0
        for c in range(tallies.best.shape[0]):
            tallies.best[c] = 0
            for d in range(tallies.cluster.shape[1]):
                tallies.best[c] = max(tallies.best[c], tallies.cluster[c, d])
            tallies.total[CLUSTER_WEIGHT] += tallies.best[c]


@kernel
def gain_of(testimony, law, tallies, unit, old, new):
    """What one unit's change of district would add to the exponent of the score."""
    gain = 0.0
    if law.per_testimony != 0.0:
        n_gained = 0
        for i in range(testimony.indptr[unit], testimony.indptr[unit + 1]):
            t = testimony.covering[i]
            before = tallies.spread[t]
            after = before - (tallies.testimony[t, old] == 1) + (tallies.testimony[t, new] == 0)
            n_gained += (after == 1) - (before == 1)
        gain += law.per_testimony * n_gained
    if law.per_cluster_weight != 0.0:
        n_gained = 0
        for i in range(testimony.cluster_indptr[unit], testimony.cluster_indptr[unit + 1]):
            c, weight = testimony.cluster[i], testimony.weight[i]
            best = max(tallies.cluster[c, old] - weight, tallies.cluster[c, new] + weight)
            for d in range(tallies.cluster.shape[1]):
                if d != old and d != new:
                    best = max(best, tallies.cluster[c, d])
            n_gained += best - tallies.best[c]
        gain += law.per_cluster_weight * n_gained
    return gain


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
