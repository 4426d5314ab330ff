from __future__ import annotations

import numpy as np
import pytest

from bottomup.dashboard.recording import Plans, Recording
from bottomup.sampler.chain import Records


def records(steps: list[int]) -> Records:
    """Records whose every column tells the step."""
    step = np.array(steps, dtype=np.int64)
    n = len(steps)
    return Records(
        step=step,
        assignment=np.repeat(step[:, None] % 250, 3, axis=1).astype(np.uint8),
        cut_edges=step.astype(np.int32),
        score_testimony=step / 1000,
        score_cluster=np.full(n, np.nan),
        preserved=np.tile(np.array([[0, 1]], dtype=np.uint8), (n, 1)),
        cluster_best_share=np.empty((n, 0), dtype=np.float32),
    )


def filled(steps: list[int], capacity: int = 8, spacing: int = 5) -> Recording:
    recording = Recording(spacing=spacing, capacity=capacity, shares=["dem"])
    # In uneven portions, as a worker's turns bring them.
    for start in range(0, len(steps), 3):
        part = steps[start : start + 3]
        recording.append(records(part), {"dem": np.array(part, dtype=float)[:, None]})
    return recording


def plans_of(recording: Recording) -> Plans:
    plans = recording.read()
    assert plans is not None
    return plans


def test_an_empty_recording_answers_with_nothing() -> None:
    recording = Recording(spacing=5, capacity=8, shares=["dem"])
    assert len(recording) == 0
    assert recording.read() is None
    assert recording.plan_at(5) is None


def test_everything_that_was_recorded_is_read() -> None:
    plans = plans_of(filled([5, 10, 15, 20, 25, 30]))
    np.testing.assert_array_equal(plans.step, [5, 10, 15, 20, 25, 30])
    np.testing.assert_array_equal(plans.cut_edges, plans.step)
    np.testing.assert_array_equal(plans.testimony, plans.step / 1000)
    np.testing.assert_array_equal(plans.shares["dem"][:, 0], plans.step)
    np.testing.assert_array_equal(np.unpackbits(plans.preserved, axis=1, count=2), [[0, 1]] * 6)


def test_plans_that_are_not_held_are_left_out_even_when_none_is() -> None:
    recording = filled([5, 10, 15])
    rows, plans = recording.read_assignments(np.array([6, 10]))
    assert rows.tolist() == [1]
    assert len(plans) == 1
    rows, plans = recording.read_assignments(np.array([6, 11]))
    assert len(rows) == len(plans) == 0


def test_a_full_buffer_drops_every_second_plan_and_stays_evenly_spaced() -> None:
    recording = filled(list(range(5, 5 * 41, 5)))
    assert recording.spacing == 40
    steps = plans_of(recording).step
    np.testing.assert_array_equal(steps, [40, 80, 120, 160, 200])
    assert len(recording) == 5


def test_all_columns_stay_in_step_when_plans_are_dropped() -> None:
    recording = filled(list(range(5, 5 * 21, 5)))
    plans = plans_of(recording)
    np.testing.assert_array_equal(plans.shares["dem"][:, 0], plans.step)
    np.testing.assert_array_equal(plans.cut_edges, plans.step)
    for step in plans.step:
        plan = recording.plan_at(int(step))
        assert plan is not None
        assert plan.tolist() == [step % 250] * 3
    assert recording.plan_at(5) is None


def test_plans_are_taken_and_joined_with_all_their_columns() -> None:
    plans = plans_of(filled([5, 10, 15, 20]))
    joined = Plans.concatenate([plans.take(slice(2, None)), plans.take(np.array([0]))])
    np.testing.assert_array_equal(joined.step, [15, 20, 5])
    np.testing.assert_array_equal(joined.shares["dem"][:, 0], [15, 20, 5])
    assert joined.preserved.shape == (3, 1)


@pytest.mark.parametrize(
    ("spacing", "capacity", "named"), [(0, 8, "spacing"), (5, 7, "capacity"), (5, 0, "capacity")]
)
def test_impossible_sizes_are_refused(spacing: int, capacity: int, named: str) -> None:
    with pytest.raises(ValueError, match=named):
        Recording(spacing=spacing, capacity=capacity, shares=[])


def test_memory_is_that_of_the_columns_and_the_plans() -> None:
    assert filled([]).n_bytes == 0
    few, many = filled([5], capacity=8), filled([5 * step for step in range(1, 9)], capacity=8)
    # Columns take their room at once; each plan adds what it is compressed to.
    assert 0 < few.n_bytes < many.n_bytes < 8 * few.n_bytes
