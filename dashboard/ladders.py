"""The ladders that a page runs: two from unlike starts, with a rung for every part of the slider."""

from collections.abc import Callable
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from bottomup.dashboard.design import Design
from bottomup.dashboard.health import Workings, values_of_plan
from bottomup.dashboard.options import Inputs
from bottomup.dashboard.pool import MetPlan, RecordedLadders
from bottomup.dashboard.recording import Recording
from bottomup.dashboard.reliability import LEAST_PLANS, Reliability, judge
from bottomup.dashboard.repairing import Start, start_of
from bottomup.dashboard.state import EPSILONS
from bottomup.dashboard.worker import Standing
from bottomup.data.plans import population_bounds
from bottomup.sampler.chain import WALK_ALONE, Outcomes, Records, default_mixture
from bottomup.sampler.ladder import Ladder, first_rungs
from bottomup.sampler.problem import Problem
from bottomup.sampler.reweighting import neighbouring_rungs
from bottomup.sampler.shares import available_shares, judged_shares
from bottomup.sampler.start import StartError, check_assignment, make_unlike_starts
from bottomup.sampler.statistics import evaluate_plan, ranked_shares
from bottomup.sampler.stuck import MIN_STEPS, Reason, why_stuck
from bottomup.sampler.target import Target

__all__ = ["PLACINGS", "TREE_MADE", "PageLadders"]

PLACINGS = (8, 24, 56, 120)
"""Rounds after which the rungs are placed anew; the burn-in ends with the last."""
TREE_MADE = "plan from random trees"
"""What a ladder began at that did not begin at an enacted plan."""
# Of the walk alone, a round takes as many steps as a quarter of the units.
_ROUNDS_PER_SWEEP = 4
# Memory for the recordings of one visitor, and the plans that each recording holds within it. Half of the
# least must still be enough to compare ladders, for a full recording drops every second plan.
_RECORDING_BYTES = 40e6
_LEAST_CAPACITY, _MOST_CAPACITY = 400, 1000


class PageLadders:
    """Ladders of one design, the first from the enacted plan on, the second from an unlike one.

    Where no second start is found there is one ladder, and nothing is said about agreement.

    Parameters
    ----------
    inputs : Inputs
    problem : Problem
        Of these inputs.
    design : Design

    Raises
    ------
    DataError
        When the enacted plan cannot be the start under the design's tolerance, and may not be repaired.
    """

    def __init__(self, inputs: Inputs, problem: Problem, design: Design) -> None:
        plan = inputs.plans[design.enacted]
        geography = inputs.geography
        lower, upper = population_bounds(geography.total_population, plan.n_districts, design.tolerance)
        start = start_of(inputs, plan, lower, upper)
        self._problem = problem
        self._design = design
        self._shares = available_shares(geography)
        self._n_districts = plan.n_districts
        self._enacted = plan.assignment
        target = Target(
            n_districts=plan.n_districts,
            lower=lower,
            upper=upper,
            compactness=design.compactness,
            cut_edges=float(evaluate_plan(problem, plan.assignment, plan.n_districts).cut_edges),
            score=design.score,
        )
        self._starts = _choose_starts(inputs, problem, target, design, start)
        columns = {name: (share.numerator, share.denominator) for name, share in self._shares.items()}
        self._start_values = tuple(
            values_of_plan(problem, start, plan.n_districts, columns) for start in self._starts.values()
        )
        is_mixed = design.moves == "mixture"
        self._ladder = Ladder(
            problem,
            target,
            list(self._starts.values()),
            first_rungs(EPSILONS[-1]),
            design.seed,
            mixture=default_mixture(problem.n_units) if is_mixed else WALK_ALONE,
            steps_per_round=None if is_mixed else max(1, problem.n_units // _ROUNDS_PER_SWEEP),
        )
        self._placings: tuple[int, ...] = ()
        self._steps_before = 0
        self._current: tuple[MetPlan, ...] = ()
        self._begin_recording()
        self._shown = self._recorded

    @property
    def steps(self) -> int:
        """Steps of all replicas together."""
        return self._steps_before + self._ladder.steps

    @property
    def rounds(self) -> int:
        """Rounds since the start, the burn-in included."""
        return (self._placings[-1] if self._placings else 0) + self._ladder.rounds

    def run(self, is_stopped: Callable[[], bool], n_threads: int = 1) -> None:
        """Go on, and record, until told to stop; between two rounds the rungs may be placed anew.

        The plans are the same whatever the number of threads.
        """
        self._ladder.n_threads = n_threads
        while not is_stopped():
            before = self._ladder.rounds
            found = self._ladder.advance(1, 1, is_stopped)
            if self._ladder.rounds == before:
                return
            self._record(found)
            if self.rounds in PLACINGS:
                self._place()

    def standing(self) -> Standing:
        """How far the ladders are; never changes once made."""
        return Standing(
            rounds=self.rounds,
            burn_in=PLACINGS[-1],
            current=self._current,
            recorded=self._shown,
            workings=self._workings(),
            start_plans=tuple(self._starts.values()),
        )

    def _workings(self) -> Workings:
        ladder = self._ladder
        return Workings(
            epsilons=tuple(ladder.epsilons.tolist()),
            starts=tuple(self._starts),
            start_values=self._start_values,
            mixture=ladder.mixture,
            counter=ladder.counter,
            exchange_rates=tuple(ladder.exchange_rates.tolist()),
            round_trips=tuple(ladder.round_trips.tolist()),
            drift=ladder.drift,
        )

    def judge(self, epsilon: float, steps_per_second: float) -> Reliability:
        """Whether what is shown for an epsilon can be relied on.

        Parameters
        ----------
        epsilon : float
        steps_per_second : float
            Of all replicas together, by the clock; 0 when unknown.
        """
        ladder, shown = self._ladder, self._shown
        seconds = None
        if steps_per_second > 0:
            # The spacing is that of one rung.
            spacing = shown.recordings[0][0].spacing
            seconds = spacing * ladder.n_ladders * ladder.n_rungs / steps_per_second
        starts = list(self._starts.values())
        to_go = PLACINGS[-1] - self.rounds
        if to_go > 0 and len(starts) > 1:
            # What is recorded now goes when the rungs are placed anew.
            left = None if seconds is None else seconds * (to_go + LEAST_PLANS)
            found = Reliability(epsilon, "too early", seconds_left=left)
        else:
            found = judge(shown, epsilon, starts, self._n_districts, seconds, judged_shares(self._shares))
        stuck = self._look_for_stuck(epsilon)
        if not stuck:
            return found
        words, _ = stuck[0]
        return replace(found, stuck=words, stuck_by=tuple(reason for _, reason in stuck))

    def _begin_recording(self) -> None:
        ladder, problem = self._ladder, self._problem
        n_recordings = ladder.n_ladders * ladder.n_rungs
        # A plan is compressed to a sixth or better.
        bytes_of_shares = 4 * self._n_districts * len(self._shares)
        bytes_per_plan = problem.n_units / 6 + problem.n_testimonies / 8 + bytes_of_shares + 100
        capacity = int(_RECORDING_BYTES / n_recordings / bytes_per_plan)
        capacity = min(max(capacity, _LEAST_CAPACITY), _MOST_CAPACITY) // 2 * 2
        self._recorded = RecordedLadders(
            design=self._design,
            delta=self._problem.sensitivity(self._design.score).delta,
            starts=tuple(self._starts),
            epsilons=tuple(ladder.epsilons.tolist()),
            placings=self._placings,
            steps_per_round=ladder.steps_per_round,
            recordings=tuple(
                tuple(
                    Recording(spacing=ladder.steps_per_round, capacity=capacity, shares=self._shares)
                    for _ in range(ladder.n_rungs)
                )
                for _ in range(ladder.n_ladders)
            ),
            enacted=self._enacted,
            population=problem.graph.population,
        )
        self._seen: dict[tuple[int, int], dict[str, Outcomes]] = {}
        self._stuck: dict[tuple[int, int], tuple[str, Reason] | None] = {}

    def _record(self, found: list[list[Records]]) -> None:
        recorded = self._recorded
        for row, recordings in zip(found, recorded.recordings, strict=True):
            for records, recording in zip(row, recordings, strict=True):
                kept = records.take(records.step % recording.spacing == 0)
                recording.append(kept, self._ranked_shares(kept))
        self._current = tuple(
            recorded.met(records.assignment[-1], 0, rung, int(records.step[-1]))
            for rung, records in enumerate(found[0])
        )
        # What is shown gives way to newer recordings as soon as these have nearly as much to say.
        if 2 * recorded.n_recorded >= self._shown.n_recorded:
            self._shown = recorded

    def _ranked_shares(self, records: Records) -> dict[str, NDArray[np.float64]]:
        return {
            name: ranked_shares(records.assignment, self._n_districts, share.numerator, share.denominator)
            for name, share in self._shares.items()
        }

    def _place(self) -> None:
        self._placings = (*self._placings, self.rounds)
        self._steps_before += self._ladder.steps
        self._ladder.adapt()
        self._begin_recording()

    def _look_for_stuck(self, epsilon: float) -> list[tuple[str, Reason]]:
        """Walks at the rungs around an epsilon, and in the baseline, where no move changes plans any more.

        A sentence for each, and the reason. Each ladder is looked at by itself: one that moves must not hide
        another that does not.
        """
        ladder = self._ladder
        rungs = dict.fromkeys((*neighbouring_rungs(ladder.epsilons, epsilon), 0))
        found = []
        for rung in rungs:
            for number in range(ladder.n_ladders):
                place = number, rung
                now, before = ladder.outcomes_at(rung, number), self._seen.get(place)
                since = {move: count.since(before[move] if before else None) for move, count in now.items()}
                if sum(sum(outcomes) for outcomes in since.values()) >= MIN_STEPS:
                    self._seen[place] = now
                    self._stuck[place] = self._name_stuck(number, rung, since)
                stuck = self._stuck.get(place)
                if stuck is not None:
                    found.append(stuck)
        return found

    def _name_stuck(self, number: int, rung: int, since: dict[str, Outcomes]) -> tuple[str, Reason] | None:
        stuck = why_stuck(since)
        if stuck is None:
            return None
        target = self._ladder.targets[rung]
        plan = self._ladder.chain_at(number, rung).assignment
        cut_edges = evaluate_plan(self._problem, plan, self._n_districts).cut_edges
        name = f"The walk at ε = {target.epsilon:.3g} (start: {tuple(self._starts)[number]})"
        return stuck.sentence(name, target, cut_edges), stuck.reason


def _choose_starts(
    inputs: Inputs, problem: Problem, target: Target, design: Design, start: Start
) -> dict[str, NDArray[np.int32]]:
    """The enacted plan, and one made from trees or else another one of the inputs; alone without either."""
    bounds = target.n_districts, target.lower, target.upper
    first = start.plan
    name = f"plan {start.name}"
    try:
        made = make_unlike_starts(problem, *bounds, [first.assignment], 2, design.seed)
        return {name: made[0], TREE_MADE: made[1]}
    except StartError:
        starts = {name: first.assignment}
    for other in inputs.plans.values():
        try:
            starts.setdefault(f"plan {other.name}", check_assignment(problem, other.assignment, *bounds))
        except StartError:
            continue
    return dict(list(starts.items())[:2])
