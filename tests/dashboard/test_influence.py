"""Words about influence, and the way back from a goal to an epsilon."""

from __future__ import annotations

import re

import numpy as np
import pytest

from bottomup.dashboard.backwards import find_smallest_epsilon
from bottomup.dashboard.design import Design
from bottomup.dashboard.influence import (
    draws_of_hundred,
    error_sentence,
    group_sizes,
    in_hundred,
    odds_sentence,
    times,
)
from bottomup.dashboard.pool import RecordedLadders
from bottomup.dashboard.recording import Recording
from bottomup.sampler.chain import Records
from bottomup.sampler.promise import Promise


def test_group_sizes_begin_with_one_and_end_with_all():
    assert group_sizes(1) == [1]
    assert group_sizes(808)[:5] == [1, 2, 3, 5, 9]
    assert group_sizes(808)[-1] == 808
    assert group_sizes(7) == [1, 2, 3, 5, 7]


def test_the_sentence_names_the_group_and_its_limit():
    assert "any one testimony" in odds_sentence(Promise(0.5), 808)
    assert "×1.65" in odds_sentence(Promise(0.5), 808)
    assert "any 9 of the 808 testimonies" in odds_sentence(Promise(0.5, group_size=9), 808)
    assert "×90" in odds_sentence(Promise(0.5, group_size=9), 808)
    assert "ignored" in odds_sentence(Promise(0.0, group_size=9), 808)


def test_a_limit_that_limits_nothing_is_called_so():
    words = odds_sentence(Promise(10.0, group_size=400), 808)
    assert "no useful limit" in words
    assert times(13.8) == "×984,609"
    assert times(13.9) == "more than a million times"


@pytest.mark.parametrize(
    ("chance", "words"),
    [(0.0, "0"), (1e-9, "under 1"), (0.286, "29"), (0.994, "99"), (0.9951, "over 99"), (1.0, "100")],
)
def test_draws_are_never_rounded_to_none_or_all(chance, words):
    assert in_hundred(chance) == words


def squares(html: str) -> list[tuple[int, int]]:
    """Filled and marked squares of each field."""
    return [
        (field.count('class="on"'), field.count('class="weak"'))
        for field in re.findall(r"<figure.*?</figure>", html)
    ]


def test_a_hundred_draws_at_least_without_and_at_most():
    # Odds of 1 to 4 times or over 1.65: 13.2 and 29.2 of 100.
    assert squares(draws_of_hundred(Promise(0.5), 0.2)) == [(13, 0), (20, 0), (29, 0)]
    # Beyond a factor of three the difference is marked, and only then.
    assert squares(draws_of_hundred(Promise(0.5, group_size=3), 0.2)) == [(5, 15), (20, 0), (20, 33)]
    assert squares(draws_of_hundred(Promise(0.0), 0.2)) == [(20, 0), (20, 0), (20, 0)]


def test_an_assumed_error_is_called_an_assumption():
    # (1 + e^0.5) 0.01 is 0.026.
    words = error_sentence(Promise(0.5), 0.01)
    assert "up to 3 of 100" in words
    assert "assumption" in words
    assert "without exception" in error_sentence(Promise(0.5), 0.0)
    assert "nothing is promised" in error_sentence(Promise(1.0, group_size=9), 0.01)


def ladder(
    epsilons: tuple[float, ...], scores: list[list[float]], score: str = "testimony"
) -> RecordedLadders:
    """One ladder whose rungs have recorded plans with these scores; the other score is always 0."""
    row = []
    for values in scores:
        recording = Recording(spacing=1, capacity=100, shares=[])
        n, nothing = len(values), np.zeros(len(values))
        recording.append(
            Records(
                step=np.arange(1, n + 1),
                assignment=np.zeros((n, 4), dtype=np.uint8),
                cut_edges=np.zeros(n, dtype=np.int32),
                score_testimony=np.array(values) if score == "testimony" else nothing,
                score_cluster=np.array(values) if score == "cluster" else nothing,
                preserved=np.zeros((n, 1), dtype=np.uint8),
                cluster_best_share=np.empty((n, 0), dtype=np.float32),
            ),
            {},
        )
        row.append(recording)
    return RecordedLadders(
        design=Design("enacted", 0.05, 0.005, 1, score=score),
        delta=0.1,
        starts=("plan enacted",),
        epsilons=epsilons,
        placings=(),
        steps_per_round=1,
        recordings=(tuple(row),),
        enacted=np.zeros(4, dtype=np.int32),
        population=np.ones(4, dtype=np.int64),
    )


@pytest.mark.parametrize("score", ["testimony", "cluster"])
def test_the_smallest_epsilon_that_keeps_enough(score):
    # Of each rung's plans the later half counts: means of .5, .6 and .7.
    recorded = ladder((0.0, 1.0, 2.0), [[0.9, 0.5], [0.9, 0.9, 0.5, 0.7], [0.1, 0.7]], score)
    reached = find_smallest_epsilon(recorded, 0.6, (0.0, 1.0, 2.0))
    assert reached is not None
    assert (reached.epsilon, reached.baseline) == (1.0, 0.5)
    assert reached.mean == pytest.approx(0.6)
    assert find_smallest_epsilon(recorded, 0.4, (0.0, 1.0, 2.0)).epsilon == 0.0
    # Between rungs plans are weighted: .5 and .7 at epsilon 1 as at 1.5, by e^(.5 s/.2).
    between = find_smallest_epsilon(
        ladder((0.0, 2.0), [[0.9, 0.5], [0.1, 0.1, 0.5, 0.7]], score), 0.9, (1.0,)
    )
    weights = np.exp(-np.array([0.5, 0.7]) / 0.2)
    high, size = weights @ [0.5, 0.7] / weights.sum(), weights.sum() ** 2 / (weights**2).sum()
    assert between.epsilon is None
    assert between.mean == pytest.approx((0.5 + size * high) / (1 + size))


def test_a_goal_beyond_all_plans_is_not_reached():
    reached = find_smallest_epsilon(ladder((0.0, 1.0), [[0.5, 0.5], [0.7, 0.7]]), 0.71, (0.0, 1.0))
    assert reached is not None
    assert (reached.epsilon, reached.at) == (None, 1.0)
    assert reached.mean == pytest.approx(0.7)


def test_without_plans_there_is_no_answer():
    assert find_smallest_epsilon(ladder((0.0, 1.0), [[0.5], []]), 0.5, (0.0, 1.0)) is None
