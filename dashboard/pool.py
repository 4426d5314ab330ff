"""What a ladder's recordings say at any epsilon: plans of the nearest rungs, weighted to it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from random import Random
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import linear_sum_assignment

from bottomup.dashboard.design import Design
from bottomup.dashboard.recording import Plans, Recording
from bottomup.sampler.reweighting import combine, effective_size, neighbouring_rungs, resample, reweight

__all__ = ["MetPlan", "Origin", "RecordedLadders", "Sample", "StoredRun", "number_districts"]


def number_districts(
    assignment: NDArray[np.integer], reference: NDArray[np.integer], population: NDArray[np.int64]
) -> NDArray[np.int32]:
    """The same districts in another order: as many people as can be keep their number in the reference.

    Parameters
    ----------
    assignment, reference : integer arrays, shape (n,)
        With the same number of districts.
    population : int64 array, shape (n,)
    """
    n_districts = int(reference.max()) + 1
    cells = assignment.astype(np.int64) * n_districts + reference
    shared = np.bincount(cells, population, n_districts**2).reshape(n_districts, n_districts)
    _, number = linear_sum_assignment(shared, maximize=True)
    return number.astype(np.int32)[assignment]


class StoredRun(NamedTuple):
    """A run without a page that a ladder is from."""

    name: str
    """The same name stands for the same plans."""
    seed: int


@dataclass(frozen=True)
class Origin:
    """Where a plan was met: enough to meet it again.

    Attributes
    ----------
    design : Design
    start : str
        What its ladder began at.
    round : int
        Of the ladder, the burn-in included.
    epsilon : float
        Of its rung: the law that it was drawn from.
    rungs : tuple of float
        Every rung's epsilon.
    placings : tuple of int
        Rounds after which the rungs had been placed anew.
    run : str
        Name of the run without a page that met it; empty for walks of a page.
    """

    design: Design
    start: str
    round: int
    epsilon: float
    rungs: tuple[float, ...]
    placings: tuple[int, ...]
    run: str = ""


@dataclass(frozen=True, eq=False)
class MetPlan:
    """A plan that a walk has met: its district by unit, which may not be written, and where it was met."""

    assignment: NDArray[np.int32]
    origin: Origin


@dataclass(frozen=True, eq=False)
class Sample:
    """Plans of equal weight that stand for one epsilon. Letter: ``R`` plans.

    Attributes
    ----------
    epsilon : float
    rungs : tuple of float
        Where the plans were met: epsilon itself, or the nearest rungs below and above.
    n_ladders : int
    last_round : int
        The latest round of any plan.
    n_effective : float
        How many plans of equal weight would tell as much; R when nothing had to be weighted.
    plans : Plans
        In the order of rungs, ladders and steps. A plan of large weight comes more than once.
    ladder, rung : int64 arrays, shape (R,)
        Where each plan was met.
    one_in : int
        Of the plans that runs without a page have stored, one in so many is at hand.
    """

    epsilon: float
    rungs: tuple[float, ...]
    n_ladders: int
    last_round: int
    n_effective: float
    plans: Plans
    ladder: NDArray[np.int64]
    rung: NDArray[np.int64]
    one_in: int = 1

    @property
    def n_plans(self) -> int:
        """Number of plans."""
        return len(self.plans.step)

    def scores(self, kind: str) -> NDArray[np.float64]:
        """Scores of the plans: ``"testimony"`` or ``"cluster"``."""
        return self.plans.scores(kind)

    def kept(self, n_testimonies: int) -> NDArray[np.float64]:
        """How often each testimony is kept whole, shape (T,), as a share of the plans."""
        whole = np.unpackbits(self.plans.preserved, axis=1, count=n_testimonies)
        return whole.mean(axis=0, dtype=np.float64)


@dataclass(frozen=True, eq=False)
class RecordedLadders:
    """Ladders with the same rungs, and a recording for each rung of each.

    Attributes
    ----------
    design : Design
    delta : float
        Sensitivity of the design's score.
    starts : tuple of str
        What each ladder began at.
    epsilons : tuple of float
        The rungs.
    placings : tuple of int
        Rounds after which rungs have been placed anew; the recordings begin after the last of them.
    steps_per_round : int
    recordings : tuple of tuple of Recording
        By ladder and rung.
    enacted : int32 array, shape (n,)
        The enacted plan, after which districts are numbered.
    population : int64 array, shape (n,)
    runs : tuple of StoredRun
        For each ladder the run that it is from; empty for the ladders of a page.
    n_unrecorded : int
        Rounds after the last placing, or from the start on, that come before the recordings.
    one_in : int
        Of the plans that the runs have stored, one in so many is held.
    """

    design: Design
    delta: float
    starts: tuple[str, ...]
    epsilons: tuple[float, ...]
    placings: tuple[int, ...]
    steps_per_round: int
    recordings: tuple[tuple[Recording, ...], ...]
    enacted: NDArray[np.int32]
    population: NDArray[np.int64]
    runs: tuple[StoredRun, ...] = ()
    n_unrecorded: int = 0
    one_in: int = 1

    @property
    def n_recorded(self) -> int:
        """Plans held at each rung of each ladder."""
        return min(len(recording) for row in self.recordings for recording in row)

    def round_of(self, step: int) -> int:
        """The round, counted from the very first, in which a rung has taken so many steps."""
        before = (self.placings[-1] if self.placings else 0) + self.n_unrecorded
        return before + step // self.steps_per_round

    def within(self, epsilons: Sequence[float]) -> list[float]:
        """Those of some epsilons that plans of the rungs can stand for."""
        return [epsilon for epsilon in epsilons if self.epsilons[0] <= epsilon <= self.epsilons[-1]]

    def sample(self, epsilon: float) -> Sample | None:
        """Plans that stand for an epsilon, or None while a rung has none, and for what lies beyond the rungs.

        The later half of each recording is used: the first half is taken as warming up. The weights of each
        rung make its plans, of all ladders, stand for epsilon; rungs count by their effective sizes.
        """
        if not self.within([epsilon]):
            return None
        rungs = neighbouring_rungs(self.epsilons, epsilon)
        parts: list[Plans] = []
        ladders, places, weights = [], [], []
        for rung in rungs:
            scores = []
            for ladder, row in enumerate(self.recordings):
                plans = row[rung].read()
                if plans is None:
                    return None
                later = plans.take(slice(len(plans.step) // 2, None))
                parts.append(later)
                ladders.append(np.full(len(later.step), ladder))
                places.append(np.full(len(later.step), rung))
                scores.append(later.scores(self.design.score))
            weights.append(reweight(np.concatenate(scores), self.epsilons[rung], epsilon, self.delta))
        joined = np.concatenate(combine(weights))
        rows = resample(joined, len(joined))
        pooled = Plans.concatenate(parts)
        return Sample(
            epsilon=epsilon,
            rungs=tuple(self.epsilons[rung] for rung in rungs),
            n_ladders=len(self.recordings),
            last_round=self.round_of(int(pooled.step.max())),
            n_effective=effective_size(joined),
            plans=pooled.take(rows),
            ladder=np.concatenate(ladders)[rows],
            rung=np.concatenate(places)[rows],
            one_in=self.one_in,
        )

    def draw(self, epsilon: float, random: Random) -> MetPlan | None:
        """One recorded plan, each as likely as any other, or None while the rung has none.

        It is drawn from the later half of the recordings, of all ladders, at the rung at an epsilon or just
        below: what is promised for epsilon holds for it.
        """
        if not self.within([epsilon]):
            return None
        rung = neighbouring_rungs(self.epsilons, epsilon)[0]
        places: list[tuple[int, int]] = []
        for ladder, row in enumerate(self.recordings):
            plans = row[rung].read()
            if plans is None:
                return None
            later = plans.step[len(plans.step) // 2 :]
            places += [(ladder, int(step)) for step in later]
        ladder, step = random.choice(places)
        plan = self.plan_at(ladder, rung, step)
        # A recording that has filled up meanwhile has dropped every second plan.
        return self.draw(epsilon, random) if plan is None else plan

    def plan_at(self, ladder: int, rung: int, step: int) -> MetPlan | None:
        """A recorded plan, or None when it has been dropped since."""
        assignment = self.recordings[ladder][rung].plan_at(step)
        return None if assignment is None else self.met(assignment, ladder, rung, step)

    def met(self, assignment: NDArray[np.integer], ladder: int, rung: int, step: int) -> MetPlan:
        """A plan together with where it was met, its districts numbered after the enacted ones.

        A walk's own numbers mean nothing, and those of two walks less: districts that share most people with
        an enacted one take its number, and with it its colour on the map.
        """
        named = number_districts(assignment, self.enacted, self.population)
        named.flags.writeable = False
        design, run = self.design, ""
        if self.runs:
            run, seed = self.runs[ladder]
            design = design._replace(seed=seed)
        origin = Origin(
            design=design,
            start=self.starts[ladder],
            round=self.round_of(step),
            epsilon=self.epsilons[rung],
            rungs=self.epsilons,
            placings=self.placings,
            run=run,
        )
        return MetPlan(named, origin)
