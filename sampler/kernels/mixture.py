"""A cycle of moves with the same law: some on the plan itself, then steps of the Marked Edge Walk.

Each kind leaves the law as it is, and so does any order of them that does not look at the state: a fixed one,
or one drawn by lot. The moves on the plan know nothing of trees and marks, so these are drawn anew before the
walk: plan first and then a state given the plan together leave the law on states as it is.
"""

from bottomup.sampler.jit import kernel
from bottomup.sampler.kernels.community_flips import community_flip
from bottomup.sampler.kernels.determinant import factor_all
from bottomup.sampler.kernels.draws import draw_below
from bottomup.sampler.kernels.flips import flip, list_cut_edges
from bottomup.sampler.kernels.merge_split import merge_split
from bottomup.sampler.kernels.outcomes import (
    ACCEPTED,
    COMMUNITY_FLIP,
    FLIP,
    MERGE_SPLIT,
    REJECTED_POPULATION,
    REJECTED_RATIO,
)
from bottomup.sampler.kernels.redraw import redraw
from bottomup.sampler.kernels.tallies import recount
from bottomup.sampler.kernels.walk import walk_step, write_record

__all__ = ["run_mixture"]


@kernel
def _outcome(accepted, is_forbidden):
    return ACCEPTED if accepted else REJECTED_POPULATION if is_forbidden else REJECTED_RATIO


@kernel
def _plan_step(rng, graph, testimony, pattern, cholesky, law, weights, state, workshop, mixture, n_steps):
    """A step of one of the kinds that move the plan, drawn in proportion to their numbers in the cycle."""
    draw = draw_below(rng, n_steps)
    if draw < mixture.flips:
        accepted, is_forbidden = flip(rng, graph, testimony, law, state, workshop)
        state.counter[FLIP, _outcome(accepted, is_forbidden)] += 1
    elif draw < mixture.flips + mixture.community_flips:
        accepted, is_forbidden = community_flip(rng, graph, testimony, law, state, workshop)
        state.counter[COMMUNITY_FLIP, _outcome(accepted, is_forbidden)] += 1
    else:
        outcome = merge_split(rng, graph, testimony, pattern, cholesky, law, weights, state, workshop)
        state.counter[MERGE_SPLIT, outcome] += 1


@kernel
def run_mixture(
    rng,
    graph,
    testimony,
    pattern,
    cholesky,
    law,
    weights,
    state,
    workshop,
    mixture,
    n_before,
    n_steps,
    thin,
    records,
):
    """Take steps in cycles and write records; see :func:`bottomup.sampler.kernels.walk.run_mixed`.

    The place in the cycle follows from the number of steps taken, so batches may end anywhere. Between the
    moves on the plan the trees, marks and factor are no longer those of the plan; its sums are up to date.
    ``weights`` are those of the merge-splits' trees.
    """
    n_plan_steps = mixture.flips + mixture.community_flips + mixture.merge_splits
    length = n_plan_steps + mixture.walks
    row = 0
    for step in range(n_before + 1, n_before + n_steps + 1):
        place = (step - 1) % length
        if place == 0:
            list_cut_edges(graph, state.forest.district, workshop)
            for d in range(workshop.is_counted.shape[0]):
                workshop.is_counted[d] = 0
        if place == n_plan_steps and n_plan_steps > 0:
            recount(testimony, law, state)
            redraw(rng, graph, state.forest, workshop)
            factor_all(graph, pattern, cholesky, state)
        if place < n_plan_steps:
            _plan_step(
                rng, graph, testimony, pattern, cholesky, law, weights, state, workshop, mixture, n_plan_steps
            )
        else:
            walk_step(rng, graph, testimony, pattern, cholesky, law, state)
        if step % thin == 0:
            recount(testimony, law, state)
            write_record(state, step, row, records)
            row += 1
    recount(testimony, law, state)
