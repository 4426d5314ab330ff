"""Measurements of short runs on a small grid."""

import math
import mmap
import time
import tracemalloc

import numpy as np
import pytest

import oracles
from bottomup.sampler import benchmark
from bottomup.sampler.benchmark import compared_mixtures, measure
from bottomup.sampler.chain import WALK_ALONE, Chain, default_mixture, warm_up
from bottomup.sampler.problem import Problem
from bottomup.sampler.start import StartError, make_start
from bottomup.sampler.target import Target
from bottomup.sampler.verification import make_grid_problem

ROWS = np.repeat(np.arange(4), 9)
COLUMNS = np.tile(np.repeat([0, 1, 2, 3], [2, 1, 1, 2]), 6)
TARGET = Target(4, 6, 12, compactness=0.02, cut_edges=24.0)


@pytest.fixture(scope="module", autouse=True)
def _compiled():
    for mixture in compared_mixtures(36).values():
        warm_up("mixed", mixture)
    make_start(make_grid_problem(6, 6), 4, 6, 12, 1)


def test_the_walk_alone_and_the_default_mixture_are_compared():
    assert compared_mixtures(500) == {"walk": WALK_ALONE, "mixture": default_mixture(500)}


@pytest.mark.parametrize("name", ["walk", "mixture"])
def test_figures_of_a_short_run(name):
    problem = make_grid_problem(6, 6)
    began = time.thread_time()
    found = measure(problem, TARGET, [ROWS, COLUMNS], compared_mixtures(36)[name], 0.4)
    assert 0.4 <= found.seconds < time.thread_time() - began
    assert found.n_steps > 1000
    assert found.n_steps / found.proposals_per_second < found.seconds
    assert 0 < found.accepted_per_second < found.proposals_per_second
    for part in (found.score, found.cut_edges):
        # A map so small is forgotten within milliseconds, and two chains then agree.
        assert part.n_chains == 2
        assert part.n_draws >= 1000
        assert part.rhat < 1.05
        assert part.ess_bulk_per_second == pytest.approx(part.ess_bulk / part.seconds)
        assert 0.4 * 0.4 < part.seconds < found.seconds
    assert 0 < found.growth < 20
    assert found.resident is None or found.resident > found.growth


def test_two_chains_that_stand_still_apart_are_not_taken_for_agreement():
    """Bounds that only the starts meet: nothing moves, and the R-hat is not that of agreement."""
    problem = make_grid_problem(6, 6)
    tight = Target(4, 9, 9, compactness=1000.0, cut_edges=18.0)
    other = ROWS.reshape(6, 6).T.ravel()
    found = measure(problem, tight, [ROWS, other], WALK_ALONE, 0.1)
    assert found.accepted_per_second == 0
    assert not found.cut_edges.agrees()
    assert math.isnan(found.cut_edges.ess_bulk)


def test_without_testimony_there_is_no_score():
    problem = Problem.from_arrays([1] * 36, oracles.grid_edges(6, 6))
    found = measure(problem, TARGET, [ROWS, COLUMNS], WALK_ALONE, 0.1)
    assert found.score is None
    assert found.cut_edges.n_draws > 0


def test_plans_are_let_go_of():
    """Ten times the records, no more memory than before."""
    problem = make_grid_problem(30, 30)
    start = make_start(problem, 4, 200, 250, 1)
    target = Target(4, 200, 250, compactness=0.02, cut_edges=60.0)
    growth = [measure(problem, target, [start, start], WALK_ALONE, seconds).growth for seconds in (0.2, 2.0)]
    assert growth[1] < growth[0] + 1


def test_what_cannot_be_measured_is_refused(monkeypatch):
    problem = make_grid_problem(6, 6)
    for seconds in (0, -1, math.nan, math.inf):
        with pytest.raises(ValueError, match="seconds must be a positive number; got"):
            measure(problem, TARGET, [ROWS, COLUMNS], WALK_ALONE, seconds)
    with pytest.raises(ValueError, match="starts must hold at least one plan"):
        measure(problem, TARGET, [], WALK_ALONE, 1)
    with pytest.raises(StartError, match="must be connected"):
        measure(problem, TARGET, [ROWS, np.tile(np.arange(4), 9)], WALK_ALONE, 1)


def test_an_interrupt_leaves_nothing_switched_on(monkeypatch):
    def interrupted(self, n_steps, thin):
        raise KeyboardInterrupt

    monkeypatch.setattr(Chain, "advance", interrupted)
    with pytest.raises(KeyboardInterrupt):
        measure(make_grid_problem(6, 6), TARGET, [ROWS, COLUMNS], WALK_ALONE, 1)
    assert not tracemalloc.is_tracing()


def test_resident_memory_is_that_of_the_process():
    before = benchmark.resident_memory()
    if before is None:
        pytest.skip("the system does not say")
    # Pages of its own: an array may lie in memory that earlier tests left to the process.
    with mmap.mmap(-1, 40_000_000) as pages:
        np.frombuffer(pages, dtype=np.uint8)[:] = 1
        assert benchmark.resident_memory() - before == pytest.approx(len(pages) / 1e6, abs=5)
