"""One visitor's session, without the page: settings, the shown plan, and the worker that follows both."""

from dataclasses import dataclass

import numpy as np
import param
from numpy.typing import NDArray

from bottomup.dashboard.prepared import PlanNumbers, Prepared
from bottomup.dashboard.slots import SAMPLING, FairSlots
from bottomup.dashboard.state import BarPlan, Settings, Shown
from bottomup.dashboard.worker import Aim, Worker

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
    step : int or None
        At which the walk met it; None for an enacted plan.
    aim : Aim
        What the walk favoured then.
    history : tuple of (int, Aim)
        From which step on the walk had favoured what, up to then.
    """

    kind: str
    assignment: NDArray[np.int32]
    names: tuple[str, ...]
    title: str
    step: int | None
    aim: Aim
    history: tuple[tuple[int, Aim], ...]


class Session:
    """Settings, shown plan and worker of one visitor.

    Parameters
    ----------
    prepared : Prepared
        Shared with all visitors.
    slots : FairSlots
        Whose turns the worker takes.
    """

    def __init__(self, prepared: Prepared, *, slots: FairSlots = SAMPLING) -> None:
        self.prepared = prepared
        self.settings = Settings(list(prepared.inputs.plans), prepared.enacted)
        self._attended = False
        self.shown = Shown()
        self.worker = Worker(prepared.build_chains, self.settings.design, self.settings.aim, slots=slots)
        self.settings.param.watch(self._run_or_pause, "running")
        self.settings.param.watch(self._retarget, ["epsilon", "score"])
        self.settings.param.watch(self._rebuild, ["enacted", "tolerance", "compactness", "seed", "moves"])

    @property
    def enacted_numbers(self) -> PlanNumbers:
        """Figures of the plan that stands as the enacted one."""
        return self.prepared.numbers[self.settings.enacted]

    @property
    def n_districts(self) -> int:
        """Number of districts."""
        return self.prepared.plan(self.settings.enacted).n_districts

    def attend(self, present: bool) -> None:
        """Let the walks run while somebody is there and the settings say so."""
        if present != self._attended:
            self._attended = present
            self._run_or_pause()

    def reset(self) -> None:
        """Start both walks anew from the enacted plan."""
        self.shown.forget()
        self.worker.rebuild(self.settings.design)

    def close(self) -> None:
        """End the worker's thread."""
        self.worker.stop()

    def _run_or_pause(self, *_: param.parameterized.Event) -> None:
        if self._attended and self.settings.running:
            self.worker.run()
        else:
            self.worker.pause()

    def _retarget(self, *_: param.parameterized.Event) -> None:
        self.worker.retarget(self.settings.aim)

    def _rebuild(self, *_: param.parameterized.Event) -> None:
        self.reset()

    def choose_from_bar(self, score: str, low: float, high: float) -> bool:
        """Show a plan whose score lies in ``[low, high)``; the next one of them when asked again.

        Returns
        -------
        bool
            False when no plan in use has such a score.
        """
        progress = self.worker.progress
        recording = progress.recording
        if recording is None:
            return False
        scores = recording.scores()
        values = scores.testimony if score == "testimony" else scores.cluster
        steps = scores.step[(values >= low) & (values < high)]
        if not len(steps):
            return False
        before = self.shown.chosen
        place = 0
        if before is not None and (before.score, before.low, before.high) == (score, low, high):
            # The first plan met after the one shown, and the first of all after the last.
            place = int(np.searchsorted(steps, before.step, side="right")) % len(steps)
        plan = recording.plan_at(int(steps[place]))
        if plan is None:
            return False
        self.shown.choose(
            BarPlan(
                assignment=plan.assignment,
                step=plan.step,
                aim=progress.history[-1][1],
                history=progress.history,
                score=score,
                low=low,
                high=high,
                place=place + 1,
                of=len(steps),
            )
        )
        return True

    def shown_plan(self) -> ShownPlan:
        """The plan that the map shows now."""
        enacted = self.prepared.plan(self.settings.enacted)
        progress, chosen = self.worker.progress, self.shown.chosen
        if self.shown.kind == "chosen" and chosen is not None:
            title = (
                f"Plan {chosen.place} of {chosen.of} in the bar {chosen.low:.1%} to {chosen.high:.1%}, "
                f"met at step {chosen.step:,}"
            )
            return ShownPlan(
                "chosen", chosen.assignment, enacted.labels, title, chosen.step, chosen.aim, chosen.history
            )
        if self.shown.kind == "current" and progress.assignment is not None:
            title = f"The walk's plan at step {progress.steps:,}"
            history = progress.history
            return ShownPlan(
                "current", progress.assignment, enacted.labels, title, progress.steps, history[-1][1], history
            )
        title = f"Enacted plan {enacted.name}"
        if self.shown.kind == "current":
            title += ", where the walk starts"
        return ShownPlan("enacted", enacted.assignment, enacted.labels, title, None, self.settings.aim, ())
