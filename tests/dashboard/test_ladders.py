from __future__ import annotations

import time
from collections.abc import Callable

import numpy as np
import pytest

from bottomup.dashboard.design import Design
from bottomup.dashboard.ladders import PLACINGS, TREE_MADE, PageLadders
from bottomup.dashboard.options import Inputs
from bottomup.dashboard.prepared import Prepared
from bottomup.dashboard.state import EPSILONS
from bottomup.sampler.chain import Outcomes, default_mixture
from bottomup.sampler.ladder import Ladder, first_rungs
from bottomup.sampler.problem import Problem
from bottomup.sampler.start import StartError, make_unlike_starts
from bottomup.sampler.target import Target

DESIGN = Design("quadrants", 0.5, 0.0, 1)


def run(ladders: PageLadders, rounds: int) -> PageLadders:
    """Go on until so many rounds are over, in turns of uneven length."""
    stops = 0

    def is_stopped() -> bool:
        nonlocal stops
        stops += 1
        return stops % 23 == 0 or ladders.rounds >= rounds

    while ladders.rounds < rounds:
        ladders.run(is_stopped)
    return ladders


def test_plans_show_from_the_first_round_on_and_are_never_mixed(prepared: Prepared) -> None:
    ladders = prepared.build_ladders(DESIGN)
    assert ladders.standing().recorded.sample(1.0) is None
    n_before = 0
    for round_ in (1, *PLACINGS, PLACINGS[-1] + 40):
        standing = run(ladders, round_).standing()
        recorded = standing.recorded
        assert standing.rounds == round_
        for epsilon in EPSILONS:
            sample = recorded.sample(epsilon)
            assert sample is not None
            assert set(sample.rungs) <= set(recorded.epsilons)
        assert {len(recording) for row in recorded.recordings for recording in row} == {recorded.n_recorded}
        # Never much less than before: newer recordings take over when they have half as many.
        assert 2 * recorded.n_recorded >= n_before
        n_before = recorded.n_recorded
    assert recorded.placings == PLACINGS
    assert recorded.n_recorded == 40
    assert ladders.steps > 0


def test_two_unlike_starts_and_rungs_for_the_whole_slider(prepared: Prepared) -> None:
    recorded = prepared.build_ladders(DESIGN).standing().recorded
    assert recorded.starts == ("plan quadrants", TREE_MADE)
    assert (recorded.epsilons[0], recorded.epsilons[-1]) == (EPSILONS[0], EPSILONS[-1])
    assert len(recorded.recordings) == 2


def test_the_seed_decides_every_plan_however_the_run_is_cut_up(prepared: Prepared) -> None:
    def current(seed: int) -> list[np.ndarray]:
        standing = run(prepared.build_ladders(DESIGN._replace(seed=seed)), 40).standing()
        return [plan.assignment for plan in standing.current]

    first = current(1)
    for plan, again in zip(first, current(1), strict=True):
        np.testing.assert_array_equal(plan, again)
    assert any((one != other).any() for one, other in zip(first, current(2), strict=False))


def test_more_threads_meet_the_same_plans(prepared: Prepared) -> None:
    alone = run(prepared.build_ladders(DESIGN), 30).standing().current
    ladders = prepared.build_ladders(DESIGN)
    while ladders.rounds < 30:
        ladders.run(lambda: ladders.rounds >= 30, n_threads=3)
    for one, other in zip(alone, ladders.standing().current, strict=True):
        np.testing.assert_array_equal(one.assignment, other.assignment)


def test_a_script_meets_the_same_plan_in_the_round_that_is_told(prepared: Prepared) -> None:
    met = run(prepared.build_ladders(DESIGN), 60).standing().current[3]
    problem, plan = prepared.problem, prepared.plan("quadrants").assignment
    target = Target(n_districts=4, lower=45, upper=135, compactness=0.0, cut_edges=12.0)
    starts = make_unlike_starts(problem, 4, 45, 135, [plan], 2, met.origin.design.seed)
    ladder = Ladder(problem, target, starts, first_rungs(10.0), met.origin.design.seed)
    done = 0
    for placing in met.origin.placings:
        ladder.advance(placing - done)
        ladder.adapt()
        done = placing
    assert tuple(ladder.epsilons) == met.origin.rungs
    found = ladder.advance(met.origin.round - done)[0][met.origin.rungs.index(met.origin.epsilon)]
    again = found.assignment[-1]
    # The same districts; their numbers on the page are those of the enacted plan.
    assert len(set(zip(again.tolist(), met.assignment.tolist(), strict=True))) == 4


def test_the_walk_alone_is_available(prepared: Prepared) -> None:
    ladders = run(prepared.build_ladders(DESIGN._replace(moves="walk")), 3)
    assert ladders._ladder.mixture.walks == sum(ladders._ladder.mixture) == 1
    assert ladders.standing().recorded.steps_per_round == 9
    assert prepared.build_ladders(DESIGN)._ladder.mixture == default_mixture(36)


def test_a_stop_is_heeded_between_two_replicas(prepared: Prepared) -> None:
    ladders = run(prepared.build_ladders(DESIGN), 1)
    steps, asked = ladders.steps, 0

    def is_stopped() -> bool:
        nonlocal asked
        asked += 1
        return asked > 5

    ladders.run(is_stopped)
    assert ladders.rounds == 1
    assert ladders.steps == steps + 4 * ladders.standing().recorded.steps_per_round


def test_without_trees_another_plan_is_the_second_start_and_without_any_there_is_one(
    prepared: Prepared, inputs_of: Callable[..., Inputs], monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: object) -> None:
        raise StartError("no plan was found")

    monkeypatch.setattr("bottomup.dashboard.ladders.make_unlike_starts", fail)
    ladders = prepared.build_ladders(DESIGN)
    assert ladders.standing().recorded.starts == ("plan quadrants", "plan stripes")
    inputs = inputs_of()
    del inputs.plans["stripes"]
    problem = Problem.build(inputs.geography, inputs.testimonies)
    alone = run(PageLadders(inputs, problem, DESIGN), 300)
    assert alone.standing().recorded.starts == ("plan quadrants",)
    assert alone.judge(1.0, 1000.0).verdict == "one start"


def test_judging_waits_for_plans_and_then_compares(prepared: Prepared) -> None:
    ladders = prepared.build_ladders(DESIGN)
    assert ladders.judge(1.0, 0.0).verdict == "too early"
    found = run(ladders, PLACINGS[-1] + 220).judge(1.0, 1e5)
    assert found.epsilon == 1.0
    assert np.isfinite(found.rhat)
    assert found.verdict in ("agree", "disagree", "too early")


def test_a_walk_that_stands_still_is_named(prepared: Prepared) -> None:
    """Districts of nine units of ten people can never change one unit at a time when all must be even."""
    ladders = prepared.build_ladders(DESIGN._replace(moves="walk", tolerance=0.01))
    end = time.monotonic() + 60
    while not (found := ladders.judge(0.0, 0.0)).stuck:
        assert time.monotonic() < end
        run(ladders, ladders.rounds + 50)
    assert "The walk at ε = 0 (start: plan quadrants) is stuck" in found.stuck
    assert set(found.stuck_by) == {"population bounds"}
    assert "raise the population tolerance" in found.stuck


def test_a_ladder_that_moves_does_not_hide_one_that_stands_still(
    prepared: Prepared, monkeypatch: pytest.MonkeyPatch
) -> None:
    ladders = run(prepared.build_ladders(DESIGN._replace(moves="walk")), 3)
    still, moving = Outcomes(0, 0, 0, 20_000, 0, 0), Outcomes(9_000, 1_000, 0, 10_000, 0, 0)

    def outcomes_at(rung: int, ladder: int) -> dict[str, Outcomes]:
        return {"walks": still if ladder == 1 else moving}

    monkeypatch.setattr(ladders._ladder, "outcomes_at", outcomes_at)
    found = ladders.judge(1.0, 0.0)
    assert f"(start: {TREE_MADE}) is stuck" in found.stuck
    # At both rungs around it and in the baseline, each in the second ladder alone.
    assert found.stuck_by == ("population bounds",) * 3


def test_counts_and_start_values_come_with_the_standing(prepared: Prepared) -> None:
    ladders = run(prepared.build_ladders(DESIGN), 20)
    workings = ladders.standing().workings
    n_rungs = len(workings.epsilons)
    assert workings.counter.shape == (2, n_rungs, 4, 6)
    assert len(workings.exchange_rates) == n_rungs - 1
    numbers = prepared.numbers_of("quadrants", "coverage")
    first = workings.start_values[0]
    assert first["cut_edges"] == numbers.cut_edges
    assert first["score_cluster"] == pytest.approx(numbers.score_cluster)
    assert [first[f"Democratic {rank}"] for rank in range(1, 5)] == pytest.approx(
        numbers.shares["Democratic"]
    )
    assert workings.start_values[1] != first
