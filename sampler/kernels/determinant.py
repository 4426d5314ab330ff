"""Log tree counts: how many states of the walk stand for one plan.

A plan with districts of tau_1 ... tau_k spanning trees, whose multigraph has tau_0, is made by
N = tau_0 tau_1 ... tau_k states. This module says how log N changes when the units noted in
``scratch.moved`` have changed district, and keeps its factor in step with what the walk decides:
:func:`propose_change`, then :func:`accept_change` or :func:`reject_change`.

A part that goes from one district to another and touches few neighbours is answered from the factor as it
stands and, once accepted, worked into it; anything else is answered by factoring the districts anew. Rounding
adds up over the updates, so the factor is made anew after every ``N_UPDATES`` of them, and what had added up
is noted.
"""

import numpy as np

from bottomup.sampler.jit import kernel
from bottomup.sampler.kernels.cholesky import (
    LANES,
    SIGN,
    climb,
    factor_district,
    log_det_ratio,
    solve_between,
    update_factor,
)

__all__ = [
    "N_UPDATES",
    "accept_change",
    "count_multigraph_trees",
    "factor_all",
    "propose_change",
    "reject_change",
]

N_UPDATES = 2000
DISTRICTS, MULTIGRAPH = 0, 1
"""Places in ``log_trees``."""
N_TERMS, N_CUT, N_PART, N_OLD, N_PLACES, GROUND, CLOCK, SINCE = 0, 1, 2, 3, 4, 5, 6, 7
"""Places in ``note``: numbers of terms and places, the new ground, the clock, updates since factoring."""
ON_WAY, PLACED, MOVED = 0, 1, 2
"""Rows of ``stamp``."""


@kernel
def count_multigraph_trees(between, dense):
    """Log number of spanning trees of the district multigraph, ``between`` counting its parallel edges.

    ``dense`` is overwritten.
    """
    k = between.shape[0]
    for a in range(k):
        dense[a, a] = 0.0
        for b in range(k):
            if a != b:
                dense[a, b] = -between[a, b]
                dense[a, a] += between[a, b]
    log_count = 0.0
    for a in range(k - 1):
        log_count += np.log(dense[a, a])
        for b in range(a + 1, k - 1):
            ratio = dense[b, a] / dense[a, a]
            for c in range(a + 1, k - 1):
                dense[b, c] -= ratio * dense[a, c]
    return log_count


@kernel
def _sum_log_pivots(position_of, pivot, district, is_counted):
    log_count = 0.0
    for unit in range(district.shape[0]):
        if is_counted[district[unit]]:
            log_count += np.log(pivot[position_of[unit]])
    return log_count


@kernel
def _factor_changed(graph, pattern, cholesky, district, changed):
    """Factor the marked districts anew; return the sum of their log tree counts."""
    for d in range(changed.shape[0]):
        if changed[d]:
            cholesky.ground[d] = factor_district(
                graph, graph.equal.edge, pattern, cholesky.value, cholesky.pivot, cholesky.work, district, d
            )
    return _sum_log_pivots(pattern.position_of, cholesky.pivot, district, changed)


@kernel
def factor_all(graph, pattern, cholesky, state):
    """Factor every district and count the trees of the current plan."""
    changed, log_trees = state.scratch.changed, state.tallies.log_trees
    for d in range(changed.shape[0]):
        changed[d] = 1
    log_trees[DISTRICTS] = _factor_changed(graph, pattern, cholesky, state.forest.district, changed)
    log_trees[MULTIGRAPH] = count_multigraph_trees(state.tallies.between, state.scratch.dense)
    cholesky.note[SINCE] = 0


@kernel
def _give_place(units, place, stamp, now, unit, n_places):
    """Number of places after a unit has got one; its place is ``place[unit]``."""
    if stamp[PLACED, unit] != now:
        stamp[PLACED, unit] = now
        place[unit] = n_places
        units[n_places] = unit
        n_places += 1
    return n_places


@kernel
def _list_terms(graph, cholesky, district, moved, n_moved, old, new):
    """Write down the change of the matrix as terms; return False when there are more than fit.

    The order is one in which the matrix stays positive definite after every term: the part that moves gets a
    ground of its own, its edges to the old district are cut, those to the new one are joined, and its ground
    is taken away. When the part holds the old district's ground, that one serves, and a neighbour that stays
    is grounded first. The places are those of the part, then of its old neighbours, then of its new ones.
    """
    units, place, stamp, note = cholesky.units, cholesky.place, cholesky.stamp, cholesky.note
    ends, coefficient = cholesky.ends, cholesky.coefficient
    note[CLOCK] += 1
    now = note[CLOCK]
    # The moved units carry the new label already; a stamp tells them from those that had it before.
    for i in range(n_moved):
        stamp[MOVED, moved[i]] = now
    n_edges = 0
    for i in range(n_moved):
        for e in range(graph.indptr[moved[i]], graph.indptr[moved[i] + 1]):
            there = graph.neighbor[e]
            if stamp[MOVED, there] != now and (district[there] == old or district[there] == new):
                n_edges += 1
    # Each edge takes a term and at most a place beside those of the part, the grounds two terms and a place.
    if n_edges + min(n_edges, n_moved) + 2 > units.shape[0]:
        return False
    n_places = 0
    for i in range(n_moved):
        for e in range(graph.indptr[moved[i]], graph.indptr[moved[i] + 1]):
            there = graph.neighbor[e]
            if stamp[MOVED, there] != now and (district[there] == old or district[there] == new):
                n_places = _give_place(units, place, stamp, now, moved[i], n_places)
                break
    ground = cholesky.ground[old]
    if stamp[MOVED, ground] == now:
        n_places = _give_place(units, place, stamp, now, ground, n_places)
    note[N_PART] = n_places
    n_terms = 1
    for side in range(2):
        here = old if side == 0 else new
        for i in range(n_moved):
            for e in range(graph.indptr[moved[i]], graph.indptr[moved[i] + 1]):
                there = graph.neighbor[e]
                if stamp[MOVED, there] != now and district[there] == here:
                    n_places = _give_place(units, place, stamp, now, there, n_places)
                    ends[0, n_terms] = place[moved[i]]
                    ends[1, n_terms] = place[there]
                    coefficient[SIGN, n_terms] = -1.0 if side == 0 else 1.0
                    n_terms += 1
        if side == 0:
            note[N_CUT] = n_terms
            note[N_OLD] = n_places
    note[N_PLACES] = n_places
    if stamp[MOVED, ground] == now:
        ends[0, 0] = ends[1, 1]
        ends[0, n_terms] = place[ground]
        note[GROUND] = units[ends[1, 1]]
    else:
        ends[0, 0] = ends[0, 1]
        ends[0, n_terms] = ends[0, 1]
        note[GROUND] = ground
    ends[1, 0] = -1
    ends[1, n_terms] = -1
    coefficient[SIGN, 0] = 1.0
    coefficient[SIGN, n_terms] = -1.0
    note[N_TERMS] = n_terms + 1
    return True


@kernel
def _climb_from(pattern, cholesky, first, last, begin):
    note = cholesky.note
    if begin == cholesky.way.shape[0]:
        note[CLOCK] += 1
    return climb(
        pattern.above,
        pattern.position_of,
        cholesky.units,
        first,
        last,
        cholesky.stamp[ON_WAY],
        note[CLOCK],
        cholesky.segment,
        cholesky.way,
        begin,
    )


@kernel
def _ratio_from_factor(pattern, cholesky):
    """Change of the districts' log tree count by the listed terms, from the factor as it stands."""
    note, inverse, n = cholesky.note, cholesky.inverse, cholesky.way.shape[0]
    for p in range(note[N_PLACES]):
        for q in range(note[N_PLACES] + LANES):
            inverse[p, q] = 0.0
    for side in range(2):
        first = 0 if side == 0 else note[N_OLD]
        last = note[N_OLD] if side == 0 else note[N_PLACES]
        begin = _climb_from(pattern, cholesky, first, last, n)
        solve_between(
            pattern,
            cholesky.value,
            cholesky.pivot,
            cholesky.way,
            begin,
            cholesky.units,
            first,
            last,
            cholesky.bundle,
            inverse,
        )
    return log_det_ratio(cholesky.ends, cholesky.coefficient, note[N_TERMS], inverse, cholesky.small)


@kernel
def propose_change(graph, pattern, cholesky, state):
    """Change of log N now that the units noted in ``scratch.moved`` carry their new labels.

    Must be followed by :func:`accept_change` or :func:`reject_change`.
    """
    tallies, scratch, district = state.tallies, state.scratch, state.forest.district
    log_trees = tallies.log_trees
    n_moved = scratch.n_moved[0]
    old, new = scratch.moved_from[0], district[scratch.moved[0]]
    scratch.is_listed[0] = scratch.n_parts[0] == 1 and _list_terms(
        graph, cholesky, district, scratch.moved, n_moved, old, new
    )
    if scratch.is_listed[0]:
        change = _ratio_from_factor(pattern, cholesky)
    else:
        # The changed districts hold the same units before and after, so the sum of their logs is taken twice.
        before = _sum_log_pivots(pattern.position_of, cholesky.pivot, district, scratch.changed)
        change = _factor_changed(graph, pattern, cholesky, district, scratch.changed) - before
    log_trees[DISTRICTS] += change
    multigraph = count_multigraph_trees(tallies.between, scratch.dense)
    change += multigraph - log_trees[MULTIGRAPH]
    log_trees[MULTIGRAPH] = multigraph
    return change


@kernel
def accept_change(graph, pattern, cholesky, state):
    """Bring the factor in step with the proposal."""
    scratch, note = state.scratch, cholesky.note
    if not scratch.is_listed[0]:
        return
    district, old = state.forest.district, scratch.moved_from[0]
    value, n = cholesky.value, cholesky.way.shape[0]
    begin = _climb_from(pattern, cholesky, 0, note[N_OLD], n)
    _update(pattern, cholesky, begin, 0, note[N_CUT])
    # The part is a block of its own now: what rounding left between it and its old district is taken out.
    for i in range(scratch.n_moved[0]):
        j = pattern.position_of[scratch.moved[i]]
        for e in range(pattern.column_start[j], pattern.column_start[j + 1]):
            if district[pattern.unit_at[pattern.row[e]]] == old:
                value[e] = 0.0
        for e in range(pattern.row_start[j], pattern.row_start[j + 1]):
            if district[pattern.unit_at[pattern.row_column[e]]] == old:
                value[pattern.row_entry[e]] = 0.0
    cholesky.ground[old] = note[GROUND]
    begin = _climb_from(pattern, cholesky, 0, note[N_PART], n)
    begin = _climb_from(pattern, cholesky, note[N_OLD], note[N_PLACES], begin)
    _update(pattern, cholesky, begin, note[N_CUT], note[N_TERMS])
    note[SINCE] += 1
    if note[SINCE] >= N_UPDATES:
        kept = state.tallies.log_trees[DISTRICTS]
        factor_all(graph, pattern, cholesky, state)
        drift = abs(state.tallies.log_trees[DISTRICTS] - kept)
        cholesky.drift[0] = max(cholesky.drift[0], drift)


@kernel
def _update(pattern, cholesky, begin, first, last):
    update_factor(
        pattern,
        cholesky.value,
        cholesky.pivot,
        cholesky.way,
        begin,
        cholesky.units,
        cholesky.ends,
        cholesky.coefficient,
        first,
        last,
        cholesky.bundle,
    )


@kernel
def reject_change(graph, pattern, cholesky, state):
    """Bring the factor back in step with the state before the proposal, whose labels are in place again."""
    if not state.scratch.is_listed[0]:
        _factor_changed(graph, pattern, cholesky, state.forest.district, state.scratch.changed)
