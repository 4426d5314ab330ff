"""What is told from whole plans: against counting by hand, and renewed in the background."""

from __future__ import annotations

import time
from types import SimpleNamespace

import numpy as np
import pytest

from bottomup.dashboard.facts import CloserLook, WholePlans, collect_whole_plans
from bottomup.dashboard.pool import RecordedLadders

PLANS = np.array([[0, 0, 1, 1], [0, 1, 1, 1], [1, 1, 0, 0]], dtype=np.uint8)


def test_figures_are_those_of_a_count_by_hand():
    whole = WholePlans(1.0, 9, PLANS)
    edges = np.array([[0, 1], [1, 2], [2, 3]], dtype=np.int32)
    assert whole.cut_frequency(edges) == pytest.approx([1 / 3, 2 / 3, 0])
    assert whole.cut_frequency(edges[:1]) == pytest.approx([1 / 3])
    assert whole.together_with(1) == pytest.approx([2 / 3, 1, 1 / 3, 1 / 3])
    indptr, units = np.array([0, 2, 2, 5]), np.array([0, 1, 1, 2, 3])
    n_districts, best = whole.spread(indptr, units)
    assert n_districts == pytest.approx([4 / 3, np.nan, 5 / 3], nan_ok=True)
    assert best == pytest.approx([(1 + 0.5 + 1) / 3, np.nan, (2 / 3 + 1 + 2 / 3) / 3], nan_ok=True)


class FakeRecording:
    def __init__(self, steps, plans):
        self.steps, self.plans = steps, plans

    def read_assignments(self, steps):
        _, rows, places = np.intersect1d(steps, self.steps, return_indices=True)
        return rows, self.plans[places]


def make_sample(epsilon, last_round, steps):
    n = len(steps)
    return SimpleNamespace(
        epsilon=epsilon,
        last_round=last_round,
        n_plans=n,
        plans=SimpleNamespace(step=np.array(steps)),
        ladder=np.zeros(n, dtype=int),
        rung=np.zeros(n, dtype=int),
    )


def make_recorded() -> RecordedLadders:
    return SimpleNamespace(recordings=((FakeRecording(np.array([10, 20, 30]), PLANS),),))  # type: ignore[return-value]


def test_a_plan_that_weighs_more_comes_more_often_and_a_dropped_one_not_at_all():
    found = collect_whole_plans(make_recorded(), make_sample(1.0, 5, [20, 40, 20, 30]), lambda: False)
    assert found.plans.tolist() == [PLANS[1].tolist(), PLANS[1].tolist(), PLANS[2].tolist()]
    assert collect_whole_plans(make_recorded(), make_sample(1.0, 5, [40]), lambda: False) is None
    assert collect_whole_plans(make_recorded(), make_sample(1.0, 5, [20]), lambda: True) is None


def wait(look, recorded, sample):
    end = time.monotonic() + 60
    while (found := look.at(recorded, sample)) is None:
        assert time.monotonic() < end, "no plans came"
        time.sleep(0.005)
    return found


def test_a_look_is_renewed_for_another_epsilon_and_when_much_more_is_recorded():
    look, recorded = CloserLook(), make_recorded()
    first = wait(look, recorded, make_sample(1.0, 100, [10, 20]))
    assert (first.epsilon, first.n_plans) == (1.0, 2)
    assert look.at(recorded, make_sample(1.0, 110, [10, 20, 30])) is first
    assert look.at(recorded, make_sample(2.0, 110, [10])) is None
    assert wait(look, recorded, make_sample(2.0, 110, [10])).n_plans == 1
    look.at(recorded, make_sample(2.0, 200, [10, 30]))
    end = time.monotonic() + 60
    while (found := look.at(recorded, make_sample(2.0, 200, [10, 30]))).n_plans == 1:
        assert time.monotonic() < end, "the look was not renewed"
        time.sleep(0.005)
    assert found.last_round == 200
