import hashlib
import os
import subprocess
import sys

import numpy as np
import pytest

import oracles
from bottomup.sampler.chain import WALK_ALONE, Chain, Records, assignment_dtype
from bottomup.sampler.problem import Problem
from bottomup.sampler.start import StartError
from bottomup.sampler.statistics import evaluate_plan
from bottomup.sampler.target import Target
from bottomup.sampler.types import Mixture
from bottomup.sampler.verification import make_grid_problem

START = np.repeat(np.arange(4), 9)
TARGET = Target(4, 7, 11, compactness=0.05, cut_edges=20.0, score="testimony", epsilon=2.0)


@pytest.fixture(scope="module")
def problem() -> Problem:
    return make_grid_problem(6, 6)


def digest(records: Records) -> str:
    sha = hashlib.sha256()
    for column in records:
        sha.update(np.ascontiguousarray(column).tobytes())
    return sha.hexdigest()


@pytest.mark.parametrize(
    ("step", "mixture"),
    [("mixed", WALK_ALONE), ("paper", WALK_ALONE), ("mixed", Mixture(20, 5, 2, 15))],
)
def test_the_same_seed_gives_the_same_plans_whatever_the_batches(problem, step, mixture):
    whole = Chain(problem, TARGET, START, 7, step, mixture=mixture).advance(3000, 7)
    chain = Chain(problem, TARGET, START, 7, step, mixture=mixture)
    parts = [chain.advance(n_steps, 7) for n_steps in (1, 6, 7, 100, 1, 1, 884, 2000)]
    assert digest(Records.concatenate(parts)) == digest(whole)
    assert list(whole.step) == list(range(7, 3001, 7))
    other = Chain(problem, TARGET, START, 8, step, mixture=mixture).advance(3000, 7)
    assert digest(other) != digest(whole)


def test_records_agree_with_the_definitions(problem):
    records = Chain(problem, TARGET, START, 3).advance(20_000, 500)
    assert records.assignment.dtype == np.uint8
    assert len({oracles.plan_from_labels(plan) for plan in records.assignment}) > 20
    for i, plan in enumerate(records.assignment):
        statistics = evaluate_plan(problem, plan, 4)
        assert records.cut_edges[i] == statistics.cut_edges
        assert records.score_testimony[i] == pytest.approx(statistics.score_testimony)
        assert records.score_cluster[i] == pytest.approx(statistics.score_cluster)
        np.testing.assert_array_equal(records.preserved[i], statistics.preserved)
        np.testing.assert_allclose(records.cluster_best_share[i], statistics.cluster_best_share, rtol=1e-6)


def test_testimony_without_clusters_and_no_testimony_at_all():
    edges = oracles.grid_edges(4, 4)
    start = np.repeat(np.arange(4), 4)
    bare = Chain(Problem.from_arrays([1] * 16, edges), Target(4, 3, 5), start, 1).advance(100, 10)
    assert np.isnan(bare.score_testimony).all()
    assert np.isnan(bare.score_cluster).all()
    assert bare.preserved.shape == (10, 0)
    # The second testimony has no unit on the map: counted, never preserved.
    problem = Problem.from_arrays([1] * 16, edges, [0, 1, 1], [5])
    records = Chain(problem, Target(4, 3, 5, epsilon=1.0), start, 1).advance(100, 10)
    assert (records.score_testimony == 0.5).all()
    assert np.isnan(records.score_cluster).all()


def test_retarget_goes_on_from_the_same_plan_under_another_law(problem):
    chain = Chain(problem, TARGET, START, 1)
    chain.advance(1000, 1000)
    before = chain.assignment
    chain.retarget(Target(4, 7, 11, epsilon=60.0))
    np.testing.assert_array_equal(chain.assignment, before)
    high = chain.advance(40_000, 100).score_testimony[200:].mean()
    chain.retarget(Target(4, 7, 11))
    low = chain.advance(40_000, 100).score_testimony[200:].mean()
    assert high > low + 0.2
    with pytest.raises(ValueError, match="retarget keeps the number of districts and the bounds"):
        chain.retarget(Target(4, 6, 11))


@pytest.mark.parametrize(
    ("mixture", "expected"), [(WALK_ALONE, "932ad30f22703284"), (Mixture(20, 5, 2, 10), "aed2b6aab9a723c5")]
)
def test_the_digest_of_a_seeded_run_is_kept(problem, mixture, expected):
    """Seeded output changes only on purpose; write a changelog line with a new digest."""
    records = Chain(problem, TARGET, START, 11, mixture=mixture).advance(5000, 50)
    assert hashlib.sha256(records.assignment.tobytes()).hexdigest()[:16] == expected


INTERPRETED = """
import hashlib, numpy as np
from bottomup.sampler.chain import WALK_ALONE, Chain
from bottomup.sampler.target import Target
from bottomup.sampler.types import Mixture
from bottomup.sampler.verification import make_grid_problem
target = Target(4, 7, 11, compactness=0.05, cut_edges=20.0, score="cluster", epsilon=3.0)
for step, mixture in (("mixed", WALK_ALONE), ("paper", WALK_ALONE), ("mixed", Mixture(20, 5, 2, 10))):
    chain = Chain(make_grid_problem(6, 6), target, np.repeat(np.arange(4), 9), 5, step, mixture=mixture)
    print(hashlib.sha256(chain.advance(1500, 10).assignment.tobytes()).hexdigest(), *chain.outcomes)
"""


def test_compiled_and_interpreted_kernels_give_the_same_plans():
    runs = [
        subprocess.run(
            [sys.executable, "-c", INTERPRETED],
            env={**os.environ, "NUMBA_DISABLE_JIT": flag},
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        for flag in ("0", "1")
    ]
    assert runs[0] == runs[1]
    assert len(runs[0].splitlines()) == 3


@pytest.mark.parametrize(
    ("start", "message"),
    [
        (
            np.repeat(np.arange(4), [5, 13, 9, 9]),
            r"hold 7 to 11 people; out of bounds: 0 \(5 people\), 1",
        ),
        (np.tile(np.arange(4), 9), r"must be connected and not empty; at fault: 0 \(9 pieces\)"),
        (np.repeat(np.arange(1, 5), 9), "numbered 0 to 3; got 1 to 4"),
        (np.zeros(35, dtype=int), r"one district for each of 36 units; got shape \(35,\)"),
    ],
)
def test_a_start_that_is_no_valid_plan_is_refused(problem, start, message):
    with pytest.raises(StartError, match=message):
        Chain(problem, TARGET, start, 1)


@pytest.mark.parametrize("mixture", [Mixture(0, 0, 0, 0), Mixture(-1, 0, 0, 3)])
def test_a_mixture_without_steps_is_refused(problem, mixture):
    with pytest.raises(ValueError, match="mixture must have at least one step and no number below 0"):
        Chain(problem, TARGET, START, 1, mixture=mixture)


def test_the_papers_step_is_not_mixed_with_others(problem):
    with pytest.raises(ValueError, match="nothing but walks with step 'paper'"):
        Chain(problem, TARGET, START, 1, "paper", mixture=Mixture(1, 0, 1, 1))


def test_what_a_target_lacks_is_named():
    edges = oracles.grid_edges(2, 2)
    bare = Problem.from_arrays([1] * 4, edges)
    with pytest.raises(ValueError, match="there are no testimonies"):
        Chain(bare, Target(2, 1, 3, epsilon=1.0), [0, 0, 1, 1], 1)
    unclustered = Problem.from_arrays([1] * 4, edges, [0, 1], [0])
    with pytest.raises(ValueError, match="score 'cluster' needs testimonies with clusters"):
        Chain(unclustered, Target(2, 1, 3, score="cluster", epsilon=1.0), [0, 0, 1, 1], 1)
    with pytest.raises(ValueError, match="no cycle \\(units: 4, edges: 3\\)"):
        Problem.from_arrays([1] * 4, [(0, 1), (1, 2), (2, 3)])
    for wrong, message in [
        ({"n_districts": 1}, "n_districts must be at least 2; got 1"),
        ({"epsilon": -1.0}, "epsilon must be finite and not negative; got -1.0"),
        ({"epsilon": float("nan")}, "epsilon must be finite"),
        ({"compactness": -0.1}, "compactness must be finite and not negative"),
        ({"lower": 5, "upper": 4}, "lower <= upper; got 5, 4"),
        ({"score": "partisan"}, "score must be one of testimony, cluster; got 'partisan'"),
    ]:
        with pytest.raises(ValueError, match=message):
            Target(**{"n_districts": 2, "lower": 1, "upper": 3, **wrong})


def test_plans_take_the_smallest_integers_that_number_them():
    assert assignment_dtype(2) is assignment_dtype(256) is np.uint8
    assert assignment_dtype(257) is np.uint16


def test_read_only_input_does_not_compile_the_kernels_again():
    arrays = [
        np.ones(6, dtype=np.int64),
        np.array(oracles.grid_edges(2, 3), dtype=np.int32),
        np.array([0, 2, 3]),
        np.array([0, 1, 5], dtype=np.int32),
        np.array([0, -1], dtype=np.int32),
    ]
    for array in arrays:
        array.flags.writeable = False
    problem = Problem.from_arrays(*arrays, n_clusters=1)
    *graph, equal = problem.graph
    for constants in (graph, equal, problem.testimony, problem.pattern):
        assert all(array.flags.writeable and array.flags.c_contiguous for array in constants)


def test_sensitivities():
    edges = oracles.grid_edges(2, 3)
    problem = Problem.from_arrays([1] * 6, edges, [0, 2, 5, 6], [0, 1, 0, 1, 2, 5], [0, 0, 1], 2)
    assert problem.sensitivity("testimony").delta == pytest.approx(1 / 3)
    assert problem.sensitivity("cluster").delta == pytest.approx(3 / 6)
