"""The Marked Edge Walk: its two moves, the paper's combined step, and the acceptance of each.

A state is a spanning tree of the dual graph with k - 1 marked edges; taking the marked edges out leaves the
districts. A plan with districts of tau_1 ... tau_k spanning trees, whose multigraph has tau_0, is made by
N = tau_0 tau_1 ... tau_k states, so a chain on states with the law pi/N draws plans with the law pi.

Every proposal that breaks the population bounds or draws a marked edge a second time is a rejection: the
state is repeated and the step counts. Drawing again instead would change the law.

**Cycle basis step.** An edge e+ outside the tree is drawn uniformly, then an unmarked edge e- of its cycle,
e+ itself included. The way back draws e- and then e+ on the same cycle with the same marked edges, so the
proposal is symmetric and the ratio is that of pi/N; it is 1 when the cycle lies inside one district.

**Marked edge step.** A marked edge m, one of its ends u and a tree edge at u are drawn uniformly. The tree
stays, so u's degree does too and the way back has the same chance: the proposal is symmetric.

**The paper's step** does both, the second on the tree that the first has made. Forward, the chance is
1/|C - M| for e- and 1/deg_T'(u) for the new mark; back it is 1/|C - M'| and 1/deg_T(u). Hence the factor
|C - M| / |C - M'| * deg_T'(u) / deg_T(u). A new mark equal to e+ could not be undone (e+ would have to leave
the tree while marked), so it is a rejection.
"""

import numpy as np

from bottomup.sampler.jit import kernel
from bottomup.sampler.kernels.determinant import accept_change, propose_change, reject_change
from bottomup.sampler.kernels.draws import draw_below
from bottomup.sampler.kernels.forest import (
    MARKED,
    OUTSIDE,
    cut,
    find_cycle,
    link,
    reroot,
    root_of,
    swap_kinds,
    tree_degree,
)
from bottomup.sampler.kernels.outcomes import (
    ACCEPTED,
    REJECTED_MARKED,
    REJECTED_POPULATION,
    REJECTED_RATIO,
    TREE_ONLY,
    UNCHANGED,
    WALK,
)
from bottomup.sampler.kernels.tallies import (
    CLUSTER_WEIGHT,
    CUT_EDGES,
    PRESERVED,
    log_density,
    relabel_part,
    restore_units,
)

__all__ = ["begin", "is_accepted", "run_mixed", "run_paper", "walk_step", "write_record"]


@kernel
def _within(law, population):
    return law.lower <= population <= law.upper


@kernel
def _cycle_is_balanced(law, state, i, n_route):
    """Whether taking the path's edge ``i`` out of the cycle leaves all districts within the bounds."""
    forest, scratch = state.forest, state.scratch
    if n_route == 1:
        return True
    population = state.tallies.population
    child, segment = scratch.path_child[i], scratch.path_segment[i]
    here = scratch.route[0, segment]
    first = population[scratch.route[0, 0]]
    last = population[scratch.route[0, n_route - 1]]
    near = forest.subtree_population[child]
    if scratch.path_near[i] == 0:
        near = population[here] - near
    far = population[here] - near
    if segment == 0:
        return _within(law, far) and _within(law, last + near)
    if segment == n_route - 1:
        return _within(law, near) and _within(law, first + far)
    return _within(law, near) and _within(law, far) and _within(law, first + last)


@kernel
def _exchange_on_cycle(graph, testimony, state, entering, i, n_route):
    """Put ``entering`` into the tree and take the path's edge ``i`` out; return that edge.

    When the edge lies in the first (last) district of the route, the part that holds the entering edge's
    tail (head) goes over to the last (first) district. When it lies between them, the first and last
    districts become one and the district in between is divided.
    """
    forest, scratch = state.forest, state.scratch
    child, segment = scratch.path_child[i], scratch.path_segment[i]
    child_is_near = scratch.path_near[i] == 1
    leaving = forest.parent_edge[child]
    onto, root = graph.tail[entering], graph.head[entering]
    if (segment == 0 and n_route > 1) or (n_route == 1 and child_is_near):
        onto, root = root, onto
    first, last = scratch.route[0, 0], scratch.route[0, n_route - 1]
    exit_unit = scratch.route[2, segment]
    cut(forest, child)
    if 0 < segment < n_route - 1:
        far_root = root_of(forest, exit_unit) if child_is_near else child
        relabel_part(graph, testimony, state, far_root, last)
    reroot(forest, root)
    relabel_part(graph, testimony, state, root, first if segment > 0 else last)
    link(forest, root, onto, entering)
    swap_kinds(forest, entering, leaving)
    return leaving


@kernel
def _draw_mark(rng, graph, forest):
    """A marked edge, one of its ends and a tree edge at that end, each uniform."""
    mark = forest.marked[draw_below(rng, forest.marked.shape[0])]
    pivot = graph.tail[mark] if draw_below(rng, 2) == 0 else graph.head[mark]
    place = draw_below(rng, tree_degree(graph, forest, pivot))
    new = -1
    for i in range(graph.indptr[pivot], graph.indptr[pivot + 1]):
        if forest.kind[graph.edge[i]] != OUTSIDE:
            if place == 0:
                new = graph.edge[i]
                break
            place -= 1
    return mark, pivot, new


@kernel
def _other_end(graph, edge, unit):
    return graph.head[edge] if graph.tail[edge] == unit else graph.tail[edge]


@kernel
def _mark_is_balanced(graph, law, state, mark, pivot, new):
    forest, population = state.forest, state.tallies.population
    beyond = _other_end(graph, new, pivot)
    here, there = forest.district[pivot], forest.district[_other_end(graph, mark, pivot)]
    if forest.parent[beyond] == pivot:
        stays = forest.subtree_population[beyond]
    else:
        stays = population[here] - forest.subtree_population[pivot]
    return _within(law, stays) and _within(law, population[there] + population[here] - stays)


@kernel
def _move_mark(graph, testimony, state, mark, pivot, new):
    """Mark ``new`` instead of ``mark``: the pivot's side of ``new`` joins the district beyond ``mark``."""
    forest = state.forest
    beyond, onto = _other_end(graph, new, pivot), _other_end(graph, mark, pivot)
    cut(forest, beyond if forest.parent[beyond] == pivot else pivot)
    reroot(forest, pivot)
    relabel_part(graph, testimony, state, pivot, forest.district[onto])
    link(forest, pivot, onto, mark)
    swap_kinds(forest, mark, new)


@kernel
def _undo_exchange(graph, forest, entered, left):
    """Put the edge ``left`` back into the trees and give ``entered`` its old kind; labels are not touched."""
    tail, head = graph.tail[entered], graph.head[entered]
    cut(forest, tail if forest.parent_edge[tail] == entered else head)
    root = graph.tail[left]
    reroot(forest, root)
    link(forest, root, graph.head[left], left)
    swap_kinds(forest, left, entered)


@kernel
def begin(state):
    """Forget what the last step noted for its undo."""
    scratch, log_trees = state.scratch, state.tallies.log_trees
    scratch.n_moved[0] = 0
    scratch.n_parts[0] = 0
    scratch.is_listed[0] = True
    # A loop: assigning to a slice costs seconds of compilation.
    for d in range(scratch.changed.shape[0]):
        scratch.changed[d] = 0
    scratch.log_trees[0] = log_trees[0]
    scratch.log_trees[1] = log_trees[1]


@kernel
def _propose_on_cycle(rng, graph, testimony, law, state):
    """Half of a cycle basis step: the exchange made in place, as (outcome, edge put in, edge taken out)."""
    forest = state.forest
    entering = forest.outside[draw_below(rng, forest.outside.shape[0])]
    n_path, n_route = find_cycle(graph, forest, state.scratch, entering)
    i = draw_below(rng, n_path + 1)
    if i == n_path:
        return UNCHANGED, entering, entering
    if not _cycle_is_balanced(law, state, i, n_route):
        return REJECTED_POPULATION, entering, entering
    leaving = _exchange_on_cycle(graph, testimony, state, entering, i, n_route)
    return TREE_ONLY if n_route == 1 else ACCEPTED, entering, leaving


@kernel
def _propose_mark(rng, graph, testimony, law, state):
    """Half of a marked edge step: the mark moved in place, as (outcome, old mark, new mark)."""
    forest = state.forest
    mark, pivot, new = _draw_mark(rng, graph, forest)
    if new == mark:
        return UNCHANGED, mark, new
    if forest.kind[new] == MARKED:
        return REJECTED_MARKED, mark, new
    if not _mark_is_balanced(graph, law, state, mark, pivot, new):
        return REJECTED_POPULATION, mark, new
    _move_mark(graph, testimony, state, mark, pivot, new)
    return ACCEPTED, mark, new


@kernel
def _propose_both(rng, graph, testimony, law, state):
    """The paper's proposal made in place.

    Returns
    -------
    outcome : int
    log_proposal : float
        Log of the chance of the way back over that of the way there.
    entering, leaving, mark, new : int
        Edges exchanged, and the marks before and after; equal where nothing is to be undone.
    """
    forest, scratch, population = state.forest, state.scratch, state.tallies.population
    entering = forest.outside[draw_below(rng, forest.outside.shape[0])]
    n_path, n_route = find_cycle(graph, forest, scratch, entering)
    cycle = scratch.edge_stamp[entering]
    i = draw_below(rng, n_path + 1)
    leaving = entering
    if i < n_path:
        leaving = _exchange_on_cycle(graph, testimony, state, entering, i, n_route)
    mark, pivot, new = _draw_mark(rng, graph, forest)
    if new == entering or (new != mark and forest.kind[new] == MARKED):
        return REJECTED_MARKED, 0.0, entering, leaving, mark, mark
    # The pivot is drawn after the exchange, and its degree on the old tree is needed too: only the two edges
    # exchanged can have changed it.
    new_degree = tree_degree(graph, forest, pivot)
    old_degree = new_degree
    if leaving != entering:
        old_degree -= graph.tail[entering] == pivot or graph.head[entering] == pivot
        old_degree += graph.tail[leaving] == pivot or graph.head[leaving] == pivot
    unmarked = n_path + 1
    new_unmarked = unmarked
    if new != mark:
        new_unmarked += scratch.edge_stamp[mark] == cycle
        new_unmarked -= scratch.edge_stamp[new] == cycle
        _move_mark(graph, testimony, state, mark, pivot, new)
    log_proposal = np.log(unmarked * new_degree / (new_unmarked * old_degree))
    outcome = ACCEPTED
    if scratch.n_moved[0] == 0:
        outcome = UNCHANGED if leaving == entering and new == mark else TREE_ONLY
    for d in range(population.shape[0]):
        if not _within(law, population[d]):
            outcome = REJECTED_POPULATION
    return outcome, log_proposal, entering, leaving, mark, new


@kernel
def is_accepted(rng, graph, pattern, cholesky, law, state, log_before, log_proposal):
    """Metropolis test of the proposal that has been made in place; keeps the tree counts in step."""
    log_ratio = log_density(law, state.tallies) - log_before + log_proposal
    has_moved = state.scratch.n_moved[0] > 0
    if has_moved:
        log_ratio -= law.tree_count * propose_change(graph, pattern, cholesky, state)
    if log_ratio >= 0.0 or rng.random() < np.exp(log_ratio):
        if has_moved:
            accept_change(graph, pattern, cholesky, state)
        return True
    log_trees = state.tallies.log_trees
    log_trees[0] = state.scratch.log_trees[0]
    log_trees[1] = state.scratch.log_trees[1]
    return False


@kernel
def write_record(state, step, row, records):
    """Write the current plan and its statistics to a row of the records."""
    steps, assignment, cut_edges, preserved_total, cluster_total, preserved, best = records
    tallies = state.tallies
    steps[row] = step
    for u in range(assignment.shape[1]):
        assignment[row, u] = state.forest.district[u]
    cut_edges[row] = tallies.total[CUT_EDGES]
    preserved_total[row] = tallies.total[PRESERVED]
    cluster_total[row] = tallies.total[CLUSTER_WEIGHT]
    for t in range(preserved.shape[1]):
        preserved[row, t] = tallies.spread[t] == 1
    for c in range(best.shape[1]):
        best[row, c] = tallies.best[c]


@kernel
def walk_step(rng, graph, testimony, pattern, cholesky, law, state):
    """One of the two moves with even chances; counts how it ended."""
    begin(state)
    log_before = log_density(law, state.tallies)
    if draw_below(rng, 2) == 0:
        outcome, entering, leaving = _propose_on_cycle(rng, graph, testimony, law, state)
    else:
        outcome, entering, leaving = _propose_mark(rng, graph, testimony, law, state)
    # What stays inside the districts, and what has been rejected, needs no test.
    if outcome == ACCEPTED and not is_accepted(rng, graph, pattern, cholesky, law, state, log_before, 0.0):
        outcome = REJECTED_RATIO
        _undo_exchange(graph, state.forest, entering, leaving)
        restore_units(graph, testimony, state)
        reject_change(graph, pattern, cholesky, state)
    state.counter[WALK, outcome] += 1


@kernel
def run_mixed(rng, graph, testimony, pattern, cholesky, law, state, n_before, n_steps, thin, records):
    """Take steps of the walk, each one of the two moves with even chances, and write records.

    Parameters
    ----------
    rng : numpy.random.Generator
        Advanced by the draws of the steps alone, so the batches that a run is cut into leave no trace.
    graph, testimony, pattern, law
        Constants.
    cholesky, state : Cholesky, State
        Changed in place.
    n_before, n_steps : int
        Steps taken before, and to take now.
    thin : int
        A record is written at every step whose number is divisible by it.
    records : tuple of arrays
        ``step`` int64 (R,), ``assignment`` unsigned (R, n), ``cut_edges`` int32 (R,), preserved testimonies
        and cluster weight in best districts int64 (R,), ``preserved`` uint8 (R, T), ``best`` int64 (R, C);
        written from row 0.
    """
    row = 0
    for step in range(n_before + 1, n_before + n_steps + 1):
        walk_step(rng, graph, testimony, pattern, cholesky, law, state)
        if step % thin == 0:
            write_record(state, step, row, records)
            row += 1


@kernel
def run_paper(rng, graph, testimony, pattern, cholesky, law, state, n_before, n_steps, thin, records):
    """The same with the paper's combined step; see :func:`run_mixed`."""
    row = 0
    for step in range(n_before + 1, n_before + n_steps + 1):
        begin(state)
        log_before = log_density(law, state.tallies)
        outcome, log_proposal, entering, leaving, mark, new = _propose_both(rng, graph, testimony, law, state)
        # The proposal is not symmetric, so it is tested even where the plan stays.
        is_lawful = outcome < REJECTED_POPULATION
        if is_lawful and not is_accepted(
            rng, graph, pattern, cholesky, law, state, log_before, law.proposal * log_proposal
        ):
            outcome = REJECTED_RATIO
        if outcome >= REJECTED_POPULATION:
            if new != mark:
                _undo_exchange(graph, state.forest, mark, new)
            if leaving != entering:
                _undo_exchange(graph, state.forest, entering, leaving)
            restore_units(graph, testimony, state)
        if outcome == REJECTED_RATIO:
            reject_change(graph, pattern, cholesky, state)
        state.counter[WALK, outcome] += 1
        if step % thin == 0:
            write_record(state, step, row, records)
            row += 1
