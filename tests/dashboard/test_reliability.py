from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest

from bottomup.dashboard.design import Design
from bottomup.dashboard.pool import RecordedLadders
from bottomup.dashboard.recording import Recording
from bottomup.dashboard.reliability import LEAST_PLANS, Reliability, judge
from bottomup.sampler.chain import Records

EPSILONS = (0.0, 1.0, 2.0)
STARTS = (np.array([0, 0, 1, 1]), np.array([0, 1, 0, 1]))


def ladders(shift: dict[tuple[int, int], float], n: int = 600) -> RecordedLadders:
    """Two ladders of independent draws, the testimony score moved at some rungs of some ladders."""
    rng = np.random.default_rng(2)
    rows = []
    for ladder in range(2):
        row = []
        for rung in range(len(EPSILONS)):
            recording = Recording(spacing=1, capacity=1000, shares=["Democratic"])
            records = Records(
                step=np.arange(1, n + 1),
                assignment=np.tile(STARTS[0].astype(np.uint8), (n, 1)),
                cut_edges=rng.integers(0, 50, n).astype(np.int32),
                score_testimony=rng.normal(shift.get((ladder, rung), 0.0), 1.0, n),
                score_cluster=np.full(n, np.nan),
                preserved=np.zeros((n, 1), dtype=np.uint8),
                cluster_best_share=np.empty((n, 0), dtype=np.float32),
            )
            recording.append(records, {"Democratic": rng.normal(size=(n, 2))})
            row.append(recording)
        rows.append(tuple(row))
    return RecordedLadders(
        design=Design("enacted", 0.05, 0.005, 1),
        delta=1.0,
        starts=("a", "b"),
        epsilons=EPSILONS,
        placings=(),
        steps_per_round=1,
        recordings=tuple(rows),
        enacted=STARTS[0].astype(np.int32),
        population=np.ones(4, dtype=np.int64),
    )


def judged(recorded: RecordedLadders, epsilon: float, starts: tuple = STARTS) -> Reliability:
    return judge(recorded, epsilon, starts, 2, seconds_per_plan=0.5, shares=["Democratic"])


def test_ladders_that_agree_can_be_relied_on() -> None:
    found = judged(ladders({}), 1.0)
    assert found.verdict == "agree"
    assert found.rhat < 1.05
    assert found.ess > 300
    assert found.seconds_left == 0


@pytest.mark.parametrize(
    ("epsilon", "verdict"), [(0.0, "agree"), (0.5, "agree"), (1.5, "disagree"), (2.0, "disagree")]
)
def test_only_the_rungs_that_are_shown_are_judged(epsilon: float, verdict: str) -> None:
    found = judged(ladders({(1, 2): 3.0}), epsilon)
    assert found.verdict == verdict
    if verdict == "disagree":
        assert found.quantity == "score_testimony"
        assert not found.in_baseline
        assert found.rhat > 1.5
        assert found.seconds_left is not None
        assert found.seconds_left > 300


def test_the_baseline_is_shown_too_and_so_it_is_judged() -> None:
    found = judged(ladders({(0, 0): 3.0}), 2.0)
    assert (found.verdict, found.in_baseline) == ("disagree", True)
    assert not judged(ladders({(0, 0): 3.0}), 0.5).in_baseline


def test_few_plans_are_too_early_to_judge_and_the_time_left_is_told() -> None:
    found = judged(ladders({}, n=LEAST_PLANS - 40), 1.0)
    assert found.verdict == "too early"
    assert math.isnan(found.rhat)
    assert found.seconds_left == 20


def test_one_start_or_two_alike_prove_nothing() -> None:
    both = ladders({})
    alone = judged(replace(both, starts=("a",), recordings=both.recordings[:1]), 1.0, STARTS[:1])
    assert alone.verdict == "one start"
    # How much one walk has told can be said all the same.
    assert math.isnan(alone.rhat)
    assert alone.ess > 100
    assert judged(ladders({}), 1.0, (STARTS[0], STARTS[0])).verdict == "one start"
