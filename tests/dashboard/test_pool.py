from __future__ import annotations

import numpy as np
import pytest

from bottomup.dashboard.design import Design
from bottomup.dashboard.pool import RecordedLadders, number_districts
from bottomup.dashboard.recording import Recording
from bottomup.sampler.chain import Records

DESIGN = Design("enacted", 0.05, 0.005, 1)
EPSILONS = (0.0, 1.0, 2.0)
N_TESTIMONIES = 10


def record(recording: Recording, n_whole: list[int]) -> None:
    """Record a plan in every second step, so many of ten testimonies whole in each."""
    n = len(n_whole)
    preserved = (np.arange(N_TESTIMONIES) < np.array(n_whole)[:, None]).astype(np.uint8)
    recording.append(
        Records(
            step=2 * np.arange(1, n + 1),
            assignment=np.tile(np.array([1, 1, 0, 0], dtype=np.uint8), (n, 1)),
            cut_edges=np.full(n, 2, dtype=np.int32),
            score_testimony=preserved.mean(axis=1),
            score_cluster=np.full(n, np.nan),
            preserved=preserved,
            cluster_best_share=np.empty((n, 0), dtype=np.float32),
        ),
        {"democratic": np.array(n_whole, dtype=float)[:, None]},
    )


def ladders(counts: list[list[list[int]]], placings: tuple[int, ...] = ()) -> RecordedLadders:
    """Ladders in which each rung has met plans with so many testimonies whole."""
    recordings = []
    for row in counts:
        recordings.append([])
        for n_whole in row:
            recording = Recording(spacing=2, capacity=1000, shares=["democratic"])
            if n_whole:
                record(recording, n_whole)
            recordings[-1].append(recording)
    return RecordedLadders(
        design=DESIGN,
        delta=1 / N_TESTIMONIES,
        starts=("plan enacted", "plan from random trees")[: len(counts)],
        epsilons=EPSILONS,
        placings=placings,
        steps_per_round=2,
        recordings=tuple(tuple(row) for row in recordings),
        enacted=np.array([0, 0, 1, 1], dtype=np.int32),
        population=np.array([5, 5, 5, 5]),
    )


def test_at_a_rung_the_later_halves_of_both_ladders_are_taken_as_they_are() -> None:
    recorded = ladders([[[1], [9, 9, 2, 3], [1]], [[1], [9, 9, 4, 5], [1]]], placings=(3, 7))
    sample = recorded.sample(1.0)
    assert sample is not None
    assert sample.rungs == (1.0,)
    assert sample.n_plans == 4
    assert sample.n_effective == pytest.approx(4)
    assert sorted(np.round(10 * sample.scores("testimony")).tolist()) == [2, 3, 4, 5]
    np.testing.assert_array_equal(sample.ladder, [0, 0, 1, 1])
    np.testing.assert_array_equal(sample.rung, [1, 1, 1, 1])
    np.testing.assert_allclose(sample.kept(N_TESTIMONIES)[[0, 1, 2, 3, 4, 5]], [1, 1, 0.75, 0.5, 0.25, 0])
    assert sample.last_round == 7 + 4


def test_a_rung_without_plans_has_no_sample() -> None:
    recorded = ladders([[[1], [], [1]], [[1], [1], [1]]])
    assert recorded.sample(1.0) is None
    assert recorded.sample(1.5) is None
    assert recorded.sample(0.0) is not None
    assert recorded.n_recorded == 0


def test_between_rungs_plans_are_weighted_to_the_law_in_between() -> None:
    """Scores of ten independent testimonies, each whole with odds e^(epsilon/2): their law is known."""
    rng = np.random.default_rng(5)

    def draws(epsilon: float) -> list[int]:
        return rng.binomial(N_TESTIMONIES, 1 / (1 + np.exp(-epsilon / 2)), 1000).tolist()

    recorded = ladders([[draws(epsilon) for epsilon in EPSILONS] for _ in range(2)])
    for epsilon in (0.3, 1.5, 1.9):
        sample = recorded.sample(epsilon)
        assert sample is not None
        assert sample.n_plans == 2000
        # About 1,800 draws with a standard deviation of 0.15.
        expected = 1 / (1 + np.exp(-epsilon / 2))
        assert sample.scores("testimony").mean() == pytest.approx(expected, abs=4 * 0.15 / np.sqrt(1800))
        assert 1500 < sample.n_effective < 2000
        assert set(sample.rung.tolist()) == {int(epsilon), int(epsilon) + 1}
        # Every column speaks of the same plans.
        whole = np.unpackbits(sample.plans.preserved, axis=1, count=N_TESTIMONIES).sum(axis=1)
        np.testing.assert_array_equal(whole, sample.plans.shares["democratic"][:, 0])
        np.testing.assert_allclose(whole / N_TESTIMONIES, sample.scores("testimony"))


def test_a_recorded_plan_says_where_it_was_met() -> None:
    recorded = ladders([[[1], [1], [1]], [[1], [1, 2, 3], [1]]], placings=(8, 24))
    met = recorded.plan_at(1, 1, 6)
    assert met is not None
    assert met.origin.design == DESIGN
    assert met.origin.start == "plan from random trees"
    assert met.origin.round == 24 + 3
    assert met.origin.epsilon == 1.0
    assert (met.origin.rungs, met.origin.placings) == (EPSILONS, (8, 24))
    # Recorded as 1, 1, 0, 0: the districts are the enacted ones under other numbers.
    np.testing.assert_array_equal(met.assignment, [0, 0, 1, 1])
    assert not met.assignment.flags.writeable
    assert recorded.plan_at(1, 1, 7) is None


def test_districts_keep_the_numbers_under_which_most_people_know_them() -> None:
    reference = np.array([0, 0, 1, 1, 2, 2], dtype=np.int32)
    population = np.array([1, 1, 1, 9, 1, 1])
    assignment = np.array([2, 2, 2, 0, 1, 0], dtype=np.uint8)
    # The 9 people in district 0 know it as 1, the first two units know 2 as 0.
    np.testing.assert_array_equal(number_districts(assignment, reference, population), [0, 0, 0, 1, 2, 1])
