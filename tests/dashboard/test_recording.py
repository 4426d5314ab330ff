from __future__ import annotations

import numpy as np
import pytest

from bottomup.dashboard.recording import Recording
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


def test_an_empty_recording_answers_with_nothing() -> None:
    recording = Recording(spacing=5, capacity=8, shares=["dem"])
    assert len(recording) == 0
    assert recording.scores().n_used == 0
    assert np.isnan(recording.kept(2).share).all()
    assert recording.ranked_shares("dem").shape == (0, 0)
    assert recording.plan_at(5) is None


def test_only_the_later_half_is_used() -> None:
    scores = filled([5, 10, 15, 20, 25, 30]).scores()
    assert scores.n_recorded == 6
    np.testing.assert_array_equal(scores.step, [20, 25, 30])
    np.testing.assert_allclose(scores.testimony, [0.020, 0.025, 0.030])


def test_a_full_buffer_drops_every_second_plan_and_stays_evenly_spaced() -> None:
    recording = filled(list(range(5, 5 * 41, 5)))
    assert recording.spacing == 40
    assert len(recording) <= 8
    steps = recording.scores().step
    assert set(np.diff(steps)) == {40}
    assert steps[-1] == 200
    assert len(recording) == 200 // 40


def test_all_columns_stay_in_step_when_plans_are_dropped() -> None:
    recording = filled(list(range(5, 5 * 21, 5)))
    steps = recording.scores().step
    np.testing.assert_array_equal(recording.ranked_shares("dem")[:, 0], steps)
    for step in steps:
        plan = recording.plan_at(int(step))
        assert plan is not None
        assert (plan.assignment == step % 250).all()
    assert recording.plan_at(5) is None


def test_how_often_each_testimony_is_kept() -> None:
    kept = filled([5, 10, 15, 20]).kept(2)
    assert kept.n_used == 2
    np.testing.assert_array_equal(kept.share, [0, 1])


@pytest.mark.parametrize(
    ("spacing", "capacity", "named"), [(0, 8, "spacing"), (5, 7, "capacity"), (5, 0, "capacity")]
)
def test_impossible_sizes_are_refused(spacing: int, capacity: int, named: str) -> None:
    with pytest.raises(ValueError, match=named):
        Recording(spacing=spacing, capacity=capacity, shares=[])
