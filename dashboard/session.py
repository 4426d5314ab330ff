"""One visitor's session, without the page: settings, the shown plan, and the worker that follows both."""

from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import param
from numpy.typing import NDArray

from bottomup.dashboard.background import Background
from bottomup.dashboard.design import Design
from bottomup.dashboard.facts import CloserLook, WholePlans
from bottomup.dashboard.frozen import Frozen, SavedSession
from bottomup.dashboard.influence import caption
from bottomup.dashboard.options import LEDGER_FILE
from bottomup.dashboard.pool import Origin, Sample
from bottomup.dashboard.prepared import PlanNumbers, Prepared
from bottomup.dashboard.script import Script
from bottomup.dashboard.selection import Selection, Subset, pick_out
from bottomup.dashboard.slots import SAMPLING, FairSlots
from bottomup.dashboard.state import EPSILONS, BarPlan, Draw, Settings, Shown
from bottomup.dashboard.whatif import WhatIf
from bottomup.dashboard.worker import Sampling, Worker
from bottomup.sampler.accounting import CURRENT_PLAN, FROM_CHART
from bottomup.sampler.ledger import Ledger
from bottomup.sampler.naming import package_versions
from bottomup.sampler.problem import Problem
from bottomup.sampler.reweighting import neighbouring_rungs

__all__ = ["Session", "ShownPlan"]


@dataclass(frozen=True, eq=False)
class ShownPlan:
    """A plan as it stands on the map.

    Attributes
    ----------
    kind : str
        A key of `bottomup.dashboard.state.SHOWN`.
    assignment : int32 array, shape (n,)
    names : tuple of str
        Of the districts.
    title : str
        What plan it is, in words.
    origin : Origin or None
        Where a walk met it; None for an enacted plan.
    draw : Draw or None
        What it would count as if it were released; None for an enacted plan.
    """

    kind: str
    assignment: NDArray[np.int32]
    names: tuple[str, ...]
    title: str
    origin: Origin | None
    draw: Draw | None


class Session:
    """Settings, shown plan and worker of one visitor.

    Parameters
    ----------
    prepared : Prepared
        Shared with all visitors.
    slots : FairSlots
        Whose turns the worker takes.
    ledger : Ledger, optional
        Where releases are written; a file of the current folder when not given.
    saved : SavedSession, optional
        That is opened: nothing is sampled until the visitor lets walks run.
    arguments : sequence of str, optional
        Options of a command line that name the inputs.

    Attributes
    ----------
    saved : SavedSession or None
        That is open; None once walks run.
    lots : list of float
        Epsilons of the plans drawn by lot since one of them was released: who passes plans over chooses.
    """

    def __init__(
        self,
        prepared: Prepared,
        *,
        slots: FairSlots = SAMPLING,
        ledger: Ledger | None = None,
        saved: SavedSession | None = None,
        arguments: Sequence[str] | None = None,
    ) -> None:
        self.prepared = prepared
        self.ledger = Ledger(LEDGER_FILE) if ledger is None else ledger
        self.saved = saved
        self.arguments = None if arguments is None else tuple(arguments)
        self.lots: list[float] = [] if saved is None else list(saved.lots)
        self.settings = Settings(list(prepared.inputs.plans), prepared.enacted)
        self._attended = False
        self.shown = Shown()
        self.selection = Selection()
        self.script = Script(scenes=[] if saved is None else list(saved.scenes))
        settings = self.settings
        if saved is not None:
            settings.param.update(**saved.design._asdict(), running=False)
            settings.epsilon = self.reachable(settings.epsilon, settings.design)
        self.worker = Worker(
            self._build,
            settings.design,
            settings.epsilon,
            slots=slots,
            begin_with=None if saved is None else self._build(settings.design),
        )
        self.background: Background[list[WhatIf]] = Background()
        self._described: tuple[object, object, PlanNumbers] | None = None
        self._closer = {"sample": CloserLook(), "baseline": CloserLook()}
        settings.param.watch(self._follow_running, "running")
        settings.param.watch(lambda *_: self._reach(), list(Design._fields))
        settings.param.watch(lambda event: self.worker.look_at(event.new), "epsilon")
        settings.param.watch(lambda *_: self.reset(), list(Design._fields))

    @property
    def problem(self) -> Problem:
        """What the walks are about, with clusters weighted as the settings say."""
        return self.prepared.problem_of(self.settings.weighting)

    @property
    def enacted_numbers(self) -> PlanNumbers:
        """Figures of the plan that stands as the enacted one."""
        return self.prepared.numbers_of(self.settings.enacted, self.settings.weighting)

    @property
    def n_districts(self) -> int:
        """Number of districts."""
        return self.prepared.plan(self.settings.enacted).n_districts

    def caption(self) -> str:
        """On what the promise for the score in use rests."""
        return caption(self.settings.score, self.problem, self.prepared.testimonies)

    def attend(self, present: bool) -> None:
        """Let the walks run while somebody is there and the settings say so."""
        if present != self._attended:
            self._attended = present
            self._run_or_pause()

    def reset(self) -> None:
        """Start all walks anew."""
        self.selection.span = None
        self.shown.forget()
        self.worker.rebuild(self.settings.design)

    @property
    def trouble(self) -> str:
        """What went wrong in the threads that serve the whole page, in words; empty while nothing has."""
        closer = next((look.error for look in self._closer.values() if look.error), "")
        of_looks = f"A closer look at the plans failed: {closer}" if closer else ""
        return self.worker.progress.error or of_looks

    def close(self) -> None:
        """End the worker's thread."""
        self.worker.stop()
        self.background.stop()
        for look in self._closer.values():
            look.stop()

    def _build(self, design: Design) -> Sampling:
        """What samples for a design, or is shown in place of that."""
        standing = None if self.saved is None else self.saved.standing_of(design)
        if standing is not None:
            return Frozen(self.prepared, standing)
        return self.prepared.build_ladders(design)

    def epsilons_of(self, design: Design) -> tuple[float, ...]:
        """Positions of the slider that plans of a design can stand for: of stored ones, up to their rungs."""
        standing = None if self.saved is None else self.saved.standing_of(design)
        return EPSILONS if standing is None else tuple(standing.recorded.within(EPSILONS))

    @property
    def epsilons(self) -> tuple[float, ...]:
        """Positions of the slider as things are."""
        return self.epsilons_of(self.settings.design)

    @property
    def has_no_plans(self) -> bool:
        """Whether what is open holds no plans of the settings, so that only walks could make some."""
        return self.saved is not None and self.saved.standing_of(self.settings.design) is None

    def reachable(self, epsilon: float, design: Design) -> float:
        """An epsilon, or the last position of the slider for a design where that comes before it."""
        return min(epsilon, self.epsilons_of(design)[-1])

    def _reach(self) -> None:
        """Let ε stay where it is, unless the stored plans of another design do not reach as far."""
        settings = self.settings
        settings.epsilon = self.reachable(settings.epsilon, settings.design)

    @property
    def versions(self) -> dict[str, str]:
        """Versions of the packages that made the plans on record."""
        return package_versions() if self.saved is None else self.saved.versions

    def _follow_running(self, *_: param.parameterized.Event) -> None:
        if self.settings.running and self.saved is not None:
            self.saved = None
            self.reset()
        self._run_or_pause()

    def choose_again(self, digest: str) -> bool:
        """Show the chosen plan of the saved session that is open; False when it is not that plan."""
        saved = self.saved
        if saved is None or saved.chosen is None or saved.chosen_digest != digest:
            return False
        self.shown.choose(saved.chosen)
        return True

    def _run_or_pause(self, *_: param.parameterized.Event) -> None:
        if self._attended and self.settings.running:
            self.worker.run()
        else:
            self.worker.pause()

    def sample(self) -> Sample | None:
        """Plans that stand for the chosen ε, or None before the first."""
        return self._sample_at(self.settings.epsilon)

    def baseline(self) -> Sample | None:
        """Plans that ignore testimony, or None before the first."""
        return self._sample_at(0.0)

    def _sample_at(self, epsilon: float) -> Sample | None:
        standing = self.worker.progress.standing
        return None if standing is None else standing.recorded.sample(epsilon)

    def numbers_of(self, shown: ShownPlan) -> PlanNumbers:
        """Figures of a plan as it stands on the map."""
        if shown.kind == "enacted":
            return self.enacted_numbers
        weighting, known = self.settings.weighting, self._described
        if known is None or known[0] is not shown.assignment or known[1] != weighting:
            numbers = self.prepared.describe(shown.assignment, self.n_districts, weighting)
            known = self._described = (shown.assignment, weighting, numbers)
        return known[2]

    def whole_plans(self) -> WholePlans | None:
        """Some hundred plans that stand for the chosen ε, or None until they are at hand: ask again."""
        return self._look_closer("sample", self.sample())

    def baseline_whole_plans(self) -> WholePlans | None:
        """Some hundred plans that ignore testimony, or None until they are at hand: ask again."""
        return self._look_closer("baseline", self.baseline())

    def _look_closer(self, name: str, sample: Sample | None) -> WholePlans | None:
        standing = self.worker.progress.standing
        if standing is None or sample is None:
            return None
        return self._closer[name].at(standing.recorded, sample)

    def subset_of(self, sample: Sample) -> Subset | None:
        """Plans of a sample that the selection picks out; None when it picks out none in particular."""
        testimonies = self.prepared.testimonies
        return pick_out(
            sample, self.selection, testimonies.ids, testimonies.clusters, self.enacted_numbers.preserved
        )

    def choose_from_bar(self, score: str, low: float, high: float) -> bool:
        """Show a plan whose score lies in ``[low, high)``; the next one of them when asked again.

        Returns
        -------
        bool
            False when no plan in use has such a score.
        """
        standing, sample = self.worker.progress.standing, self.sample()
        if standing is None or sample is None:
            return False
        values = sample.scores(score)
        rows = np.flatnonzero((values >= low) & (values < high))
        places = sorted(
            {(int(sample.plans.step[i]), int(sample.ladder[i]), int(sample.rung[i])) for i in rows}
        )
        if not places:
            return False
        before, number = self.shown.chosen, 0
        if isinstance(before, BarPlan) and (before.score, before.low, before.high) == (score, low, high):
            # The first plan met after the one shown, and the first of all after the last.
            number = bisect_right(places, before.place) % len(places)
        step, ladder, rung = places[number]
        plan = standing.recorded.plan_at(ladder, rung, step)
        if plan is None:
            return False
        seen = Draw(FROM_CHART, sample.n_plans, max(sample.rungs))
        self.shown.choose(BarPlan(plan, seen, places[number], score, low, high, number + 1, len(places)))
        return True

    def shown_plan(self) -> ShownPlan:
        """The plan that the map shows now."""
        enacted = self.prepared.plan(self.settings.enacted)
        standing, chosen = self.worker.progress.standing, self.shown.chosen
        if self.shown.kind == "chosen" and chosen is not None:
            plan = chosen.plan
            return ShownPlan(
                "chosen", plan.assignment, enacted.labels, chosen.title, plan.origin, chosen.draw
            )
        is_met = standing is not None and standing.recorded.within([self.settings.epsilon])
        if self.shown.kind == "current" and standing is not None and standing.current and is_met:
            epsilons = [plan.origin.epsilon for plan in standing.current]
            # Never from above the chosen ε: the promise that the page states would not hold for it.
            plan = standing.current[neighbouring_rungs(epsilons, self.settings.epsilon)[0]]
            title = f"The walk's plan in round {plan.origin.round:,}, at ε = {plan.origin.epsilon:.3g}"
            draw = Draw(CURRENT_PLAN, 1, plan.origin.epsilon)
            return ShownPlan("current", plan.assignment, enacted.labels, title, plan.origin, draw)
        title = f"Enacted plan {enacted.name}"
        if self.shown.kind == "current":
            title += ", where the walk starts"
        return ShownPlan("enacted", enacted.assignment, enacted.labels, title, None, None)
