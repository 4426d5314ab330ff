"""The runs of an attack: for each score the testimonies as submitted, and as attacked."""

import argparse
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

from tqdm import tqdm

from bottomup.dashboard.options import Inputs, weighting_of
from bottomup.dashboard.starting import Starts

if TYPE_CHECKING:
    from bottomup.data.geography import Geography
    from bottomup.sampler.attack import Attack, Trial
    from bottomup.sampler.problem import Problem, Score
    from bottomup.sampler.target import Target
    from bottomup.sampler.types import Mixture

__all__ = ["BURN_IN", "STEPS", "Length", "Run", "plan_length", "plan_runs", "run_with_bar"]

STEPS = 2_000_000
"""Of each rung, when no other length is asked for."""
BURN_IN = 120
"""Rounds, when the clock decides how many follow, and when as many are to follow as it had decided."""
SCORES = ("testimony", "cluster")
DATA_SETS = ("honest", "attacked")


class Length(NamedTuple):
    """How long each run is."""

    n_rounds: int | None
    """None when the clock decides."""
    n_burn_in: int
    steps_per_round: int


def plan_length(options: argparse.Namespace, mixture: "Mixture", n_units: int) -> Length:
    """Whole rounds for what was asked for."""
    from bottomup.sampler.attack import MIN_ROUNDS
    from bottomup.sampler.ladder import choose_steps_per_round
    from bottomup.sampler.recording import MIN_BURN_IN

    size = choose_steps_per_round(mixture, n_units)
    n_rounds, n_burn_in = options.rounds, BURN_IN
    if n_rounds is None and options.minutes is None:
        n_rounds = max(MIN_ROUNDS, round((options.steps or STEPS) / size))
        n_burn_in = max(MIN_BURN_IN, n_rounds // 4)
    return Length(n_rounds, n_burn_in if options.burn_in is None else options.burn_in, size)


@dataclass(frozen=True, eq=False)
class Run:
    """One data set at one score, before it runs."""

    score: "Score"
    data_set: str
    """``"honest"``, the testimonies as submitted, or ``"attacked"``."""
    geography: "Geography"
    attack: "Attack"
    problem: "Problem"
    target: "Target"
    starts: Starts
    mixture: "Mixture"
    length: Length
    seed: int
    description: dict[str, Any]
    """See :func:`bottomup.sampler.naming.describe_run`."""

    @property
    def title(self) -> str:
        """What to call it."""
        whose = "testimonies as submitted" if self.data_set == "honest" else "testimonies as attacked"
        return f"{self.score} score, {whose}"

    def burn_in(self, n_threads: int, is_stopped: Callable[[], bool]) -> "Trial":
        """Make the ladders, place their rungs, and return what goes on from there.

        Raises
        ------
        KeyboardInterrupt
            When stopped: nothing has been recorded, so there is nothing to keep.
        """
        from bottomup.sampler.attack import Trial
        from bottomup.sampler.counterfactual import Counterfactual
        from bottomup.sampler.ladder import Ladder, burn_in, first_rungs

        ladder = Ladder(
            self.problem,
            self.target,
            self.starts.plans,
            first_rungs(self.target.epsilon),
            self.seed,
            mixture=self.mixture,
            steps_per_round=self.length.steps_per_round,
            n_threads=n_threads,
        )
        burn_in(ladder, self.length.n_burn_in, is_stopped)
        if is_stopped():
            raise KeyboardInterrupt
        prediction = None
        if self.data_set == "honest":
            change, weighting = self.attack.change, self.problem.weighting
            prediction = Counterfactual(self.geography, change, self.score, weighting)
        return Trial(ladder, self.attack, prediction)


def plan_runs(
    options: argparse.Namespace,
    inputs: Inputs,
    starts: Starts,
    attack: "Attack",
    scores: "Sequence[Score]",
    mixture: "Mixture",
    length: Length,
) -> list[Run]:
    """A run for each score and data set, the honest one first.

    The seed of a run depends on its score and data set, not on the others.
    """
    import numpy as np

    from bottomup.sampler.ladder import first_rungs
    from bottomup.sampler.naming import describe_exchange, describe_run
    from bottomup.sampler.problem import Problem
    from bottomup.sampler.start import seed_of
    from bottomup.sampler.statistics import evaluate_plan
    from bottomup.sampler.target import Target

    geography, weighting = inputs.geography, weighting_of(options)
    data_sets = dict(zip(DATA_SETS, (attack.change.before, attack.change.after), strict=True))
    problems = {name: Problem.build(geography, own, weighting) for name, own in data_sets.items()}
    center = options.cut_edges
    if center is None:
        center = evaluate_plan(problems["honest"], starts.plans[0], starts.n_districts).cut_edges
    rungs = first_rungs(options.epsilons[-1])
    exchange = describe_exchange(rungs, True, length.n_burn_in, length.steps_per_round)
    runs = []
    for score in scores:
        target = Target(
            n_districts=starts.n_districts,
            lower=starts.lower,
            upper=starts.upper,
            compactness=options.compactness,
            cut_edges=center,
            score=score,
            epsilon=options.epsilons[-1],
        )
        for number, name in enumerate(DATA_SETS):
            key = SCORES.index(score), number
            seed = seed_of(np.random.SeedSequence(options.seed, spawn_key=key))
            problem = problems[name]
            # A score that the testimonies have nothing for is refused here, before anything runs.
            problem.sensitivity(score)
            description = describe_run(
                geography, data_sets[name], problem, target, starts.plans, seed, "mixed", mixture, exchange
            )
            runs.append(
                Run(
                    *(score, name, geography, attack, problem, target, starts, mixture, length, seed),
                    description,
                )
            )
    return runs


def run_with_bar(
    trials: "Sequence[Trial]", length: Length, seconds: float | None, is_stopped: Callable[[], bool]
) -> bool:
    """Run all trials with a bar of their progress; return whether nobody stopped them."""
    from bottomup.sampler.attack import run_trials

    with tqdm(total=length.n_rounds, unit="round") as bar:
        return run_trials(trials, length.n_rounds, seconds, bar.update, is_stopped)
