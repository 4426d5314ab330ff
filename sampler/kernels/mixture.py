"""A cycle of moves with the same law: flips, fresh trees, merge-splits, steps of the Marked Edge Walk.

Each kind leaves the law as it is, and so does any fixed order of them, whatever their numbers.
"""

import numpy as np

from bottomup.sampler.jit import kernel
from bottomup.sampler.kernels.determinant import factor_all, reject_change
from bottomup.sampler.kernels.flips import flip, list_cut_edges
from bottomup.sampler.kernels.merge_split import propose_merge_split, undo_merge_split
from bottomup.sampler.kernels.outcomes import (
    ACCEPTED,
    FLIP,
    MERGE_SPLIT,
    REJECTED_POPULATION,
    REJECTED_RATIO,
    TREE_ONLY,
)
from bottomup.sampler.kernels.redraw import redraw
from bottomup.sampler.kernels.tallies import log_density, restore_units
from bottomup.sampler.kernels.walk import begin, is_accepted, walk_step, write_record

__all__ = ["run_mixture"]


@kernel
def _merge_split_step(rng, graph, testimony, pattern, cholesky, law, state, workshop):
    begin(state)
    log_before = log_density(law, state.tallies)
    n_new, n_old, place, mark = propose_merge_split(rng, graph, testimony, law, state, workshop)
    if n_new == 0:
        return REJECTED_POPULATION
    log_proposal = law.proposal * np.log(n_new / n_old)
    if is_accepted(rng, graph, pattern, cholesky, law, state, log_before, log_proposal):
        return ACCEPTED if state.scratch.n_moved[0] > 0 else TREE_ONLY
    undo_merge_split(state.forest, workshop, place, mark)
    restore_units(graph, testimony, state)
    reject_change(graph, pattern, cholesky, state)
    return REJECTED_RATIO


@kernel
def run_mixture(
    rng,
    graph,
    testimony,
    pattern,
    cholesky,
    law,
    state,
    workshop,
    mixture,
    n_before,
    n_steps,
    thin,
    records,
):
    """Take steps in cycles and write records; see :func:`bottomup.sampler.kernels.walk.run_mixed`.

    The place in the cycle follows from the number of steps taken, so batches may end anywhere. Inside a
    series of flips trees, marks and factor are those from before it; the plan and its sums are up to date.
    """
    length = mixture.flips + mixture.merge_splits + mixture.walks
    row = 0
    for step in range(n_before + 1, n_before + n_steps + 1):
        place = (step - 1) % length
        if place < mixture.flips:
            if place == 0:
                list_cut_edges(graph, state.forest.district, workshop)
            accepted, is_forbidden = flip(rng, graph, testimony, law, state, workshop)
            outcome = ACCEPTED if accepted else REJECTED_POPULATION if is_forbidden else REJECTED_RATIO
            state.counter[FLIP, outcome] += 1
            if place == mixture.flips - 1:
                redraw(rng, graph, state.forest, workshop)
                factor_all(graph, pattern, cholesky, state)
        elif place < mixture.flips + mixture.merge_splits:
            outcome = _merge_split_step(rng, graph, testimony, pattern, cholesky, law, state, workshop)
            state.counter[MERGE_SPLIT, outcome] += 1
        else:
            walk_step(rng, graph, testimony, pattern, cholesky, law, state)
        if step % thin == 0:
            write_record(state, step, row, records)
            row += 1
