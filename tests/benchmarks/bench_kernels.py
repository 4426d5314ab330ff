"""Kernels by themselves. Loops are compiled: calling a kernel from Python costs more than some of them do."""

import time

import numpy as np
import pytest

from bottomup.sampler.jit import kernel
from bottomup.sampler.kernels.determinant import accept_change, factor_all, propose_change, reject_change
from bottomup.sampler.kernels.redraw import redraw
from bottomup.sampler.kernels.tallies import relabel_unit, restore_units
from bottomup.sampler.kernels.walk import begin
from bottomup.sampler.pattern import make_cholesky
from bottomup.sampler.start import StartError, build_state, check_assignment, make_workshop

pytestmark = pytest.mark.benchmark(timer=time.process_time, min_rounds=3, max_time=0.5)

N_TIMES = 200


@kernel
def move_unit(graph, testimony, state, unit, new):
    """Give a unit another district and note it, as a step does."""
    begin(state)
    scratch, old = state.scratch, state.forest.district[unit]
    relabel_unit(graph, testimony, state.forest, state.tallies, unit, new)
    scratch.moved[0] = unit
    scratch.moved_from[0] = old
    scratch.n_moved[0] = 1
    scratch.n_parts[0] = 1
    scratch.changed[old] = 1
    scratch.changed[new] = 1


@kernel
def accept_there_and_back(graph, testimony, pattern, cholesky, state, unit, here, there):
    for i in range(N_TIMES):
        move_unit(graph, testimony, state, unit, there if i % 2 == 0 else here)
        propose_change(graph, pattern, cholesky, state)
        accept_change(graph, pattern, cholesky, state)


@kernel
def reject(graph, testimony, pattern, cholesky, state, unit, there):
    for _ in range(N_TIMES):
        move_unit(graph, testimony, state, unit, there)
        propose_change(graph, pattern, cholesky, state)
        restore_units(graph, testimony, state)
        reject_change(graph, pattern, cholesky, state)


@pytest.fixture
def state_of(case):
    """A state that stands for the start, and its factor."""
    cholesky = make_cholesky(case.problem.pattern, case.target.n_districts)
    state = build_state(np.random.default_rng(1), case.problem, cholesky, case.start, case.target.n_districts)
    return cholesky, state


@pytest.fixture
def border_unit(case):
    """A unit that may go over to a neighbouring district, both staying connected, and that district."""
    problem, k = case.problem, case.target.n_districts
    for unit, other in problem.edges[np.random.default_rng(2).permutation(len(problem.edges))]:
        plan = case.start.copy()
        if plan[unit] != plan[other]:
            plan[unit] = plan[other]
            try:
                check_assignment(problem, plan, k, 0, case.geography.total_population)
            except StartError:
                continue
            return int(unit), int(plan[other])
    raise AssertionError("no unit can change district")


def test_redraw(case, state_of, time_steps):
    """A tree for each district, and the marks."""
    rng, (_, state) = np.random.default_rng(1), state_of
    workshop = make_workshop(case.problem, case.target.n_districts)
    before = state.forest.parent.copy()
    redraw(rng, case.problem.graph, state.forest, workshop)
    time_steps("draw trees and marks", redraw, rng, case.problem.graph, state.forest, workshop)
    assert (state.forest.parent != before).any()


def test_factor_all(case, state_of, time_steps):
    cholesky, state = state_of
    before = state.tallies.log_trees.copy()
    time_steps("factor all districts", factor_all, case.problem.graph, case.problem.pattern, cholesky, state)
    np.testing.assert_array_equal(state.tallies.log_trees, before)


def test_propose_and_accept_change(case, state_of, border_unit, time_steps):
    (cholesky, state), (unit, there), problem = state_of, border_unit, case.problem
    before, here = state.tallies.log_trees.copy(), int(case.start[unit])
    arguments = problem.graph, problem.testimony, problem.pattern, cholesky, state, unit, here, there
    accept_there_and_back(*arguments)
    time_steps("propose, accept a unit", accept_there_and_back, *arguments, n_steps=N_TIMES)
    np.testing.assert_allclose(state.tallies.log_trees, before)


def test_propose_and_reject_change(case, state_of, border_unit, time_steps):
    (cholesky, state), (unit, there), problem = state_of, border_unit, case.problem
    arguments = problem.graph, problem.testimony, problem.pattern, cholesky, state, unit, there
    reject(*arguments)
    time_steps("propose, reject a unit", reject, *arguments, n_steps=N_TIMES)
    np.testing.assert_array_equal(state.forest.district, case.start)
