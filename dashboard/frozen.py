"""A saved session, or the runs of a study, as they are shown: everything is there, and nothing is sampled."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace

from bottomup.dashboard.design import Design
from bottomup.dashboard.prepared import Prepared
from bottomup.dashboard.reliability import Reliability, judge
from bottomup.dashboard.script import Scene
from bottomup.dashboard.state import TakenPlan
from bottomup.dashboard.worker import Standing
from bottomup.data.plans import population_bounds
from bottomup.sampler.reweighting import neighbouring_rungs
from bottomup.sampler.shares import judged_shares
from bottomup.sampler.stuck import Reason, why_stuck
from bottomup.sampler.target import Target

__all__ = ["Frozen", "SavedSession", "StoredStudy"]


@dataclass(frozen=True, eq=False)
class SavedSession:
    """A session as its file has it, put together with the inputs; shared by all visitors.

    Attributes
    ----------
    name : str
        Of the file, or the title of the study.
    standings : tuple of Standing
        One for each design that plans are there of; the first is shown first.
    state : dict of str to str
        See `bottomup.dashboard.page_state.write_fields`.
    versions : dict of str to str
        Of the packages that made the plans.
    chosen : TakenPlan or None
        The plan last chosen.
    chosen_digest : str
        As the state names it; empty without one.
    lots : tuple of float
        Epsilons of the plans drawn by lot since one of them was released.
    scenes : tuple of Scene
        The script of a hearing.
    """

    name: str
    standings: tuple[Standing, ...]
    state: dict[str, str]
    versions: dict[str, str]
    chosen: TakenPlan | None
    chosen_digest: str
    lots: tuple[float, ...]
    scenes: tuple[Scene, ...]

    @property
    def standing(self) -> Standing:
        """What is shown first."""
        return self.standings[0]

    @property
    def design(self) -> Design:
        """What the plans were made for that are shown first."""
        return self.standing.recorded.design

    def standing_of(self, design: Design) -> Standing | None:
        """What there is of a design; None without plans of it."""
        return next((each for each in self.standings if each.recorded.design == design), None)


@dataclass(frozen=True, eq=False)
class StoredStudy(SavedSession):
    """The runs of a study, put together with the inputs; a session in which nothing has been chosen yet.

    Attributes
    ----------
    notes : tuple of str
        Which runs are not shown, in sentences.
    """

    state: dict[str, str] = field(default_factory=dict, kw_only=True)
    chosen: TakenPlan | None = field(default=None, kw_only=True)
    chosen_digest: str = field(default="", kw_only=True)
    lots: tuple[float, ...] = field(default=(), kw_only=True)
    scenes: tuple[Scene, ...] = field(default=(), kw_only=True)
    notes: tuple[str, ...] = field(default=(), kw_only=True)


class Frozen:
    """Stands in place of ladders: says how far they were, and takes no step.

    Parameters
    ----------
    prepared : Prepared
    standing : Standing
    """

    def __init__(self, prepared: Prepared, standing: Standing) -> None:
        self._prepared = prepared
        self._standing = standing

    @property
    def steps(self) -> int:
        """No steps are taken."""
        return 0

    def run(self, is_stopped: Callable[[], bool], n_threads: int) -> None:
        """Take no step."""

    def standing(self) -> Standing:
        """How far the ladders were when they were saved."""
        return self._standing

    def judge(self, epsilon: float, steps_per_second: float) -> Reliability:
        """Whether what is shown for an epsilon can be relied on, by the plans and counts on record."""
        standing, prepared = self._standing, self._prepared
        if not standing.recorded.within([epsilon]):
            # Asked for by a visitor who is about to see other plans.
            return Reliability(epsilon, "too early")
        if standing.rounds < standing.burn_in and len(standing.start_plans) > 1:
            found = Reliability(epsilon, "too early")
        else:
            found = judge(
                standing.recorded,
                epsilon,
                standing.start_plans,
                prepared.plan(standing.recorded.design.enacted).n_districts,
                None,
                judged_shares(prepared.shares),
            )
        stuck = self._look_for_stuck(epsilon)
        if not stuck:
            return found
        reasons = tuple(reason for _, reason in stuck if reason is not None)
        return replace(found, stuck=stuck[0][0], stuck_by=reasons)

    def _look_for_stuck(self, epsilon: float) -> list[tuple[str, Reason | None]]:
        """Walks around an epsilon and in the baseline that no move changed since the rungs were placed.

        Runs without a page have said so themselves, of the later half of their steps.
        """
        workings = self._standing.workings
        found: list[tuple[str, Reason | None]] = []
        rungs = dict.fromkeys((*neighbouring_rungs(workings.epsilons, epsilon), 0))
        if self._standing.recorded.runs:
            return [(words, None) for (_, rung), words in workings.stuck.items() if rung in rungs]
        for rung in rungs:
            for number, start in enumerate(workings.starts):
                stuck = why_stuck(workings.outcomes(number, rung))
                if stuck is None:
                    continue
                name = f"The walk at ε = {workings.epsilons[rung]:.3g} (start: {start})"
                cut_edges = self._last_cut_edges(number, rung)
                sentence = stuck.sentence(name, self._target(workings.epsilons[rung]), cut_edges)
                found.append((sentence, stuck.reason))
        return found

    def _last_cut_edges(self, ladder: int, rung: int) -> int:
        plans = self._standing.recorded.recordings[ladder][rung].read()
        return 0 if plans is None else int(plans.cut_edges[-1])

    def _target(self, epsilon: float) -> Target:
        prepared, design = self._prepared, self._standing.recorded.design
        plan = prepared.plan(design.enacted)
        lower, upper = population_bounds(
            prepared.inputs.geography.total_population, plan.n_districts, design.tolerance
        )
        return Target(
            n_districts=plan.n_districts,
            lower=lower,
            upper=upper,
            compactness=design.compactness,
            cut_edges=float(prepared.numbers_of(design.enacted, design.weighting).cut_edges),
            score=design.score,
            epsilon=epsilon,
        )
