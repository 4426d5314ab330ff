"""The thread that samples for one visitor.

It owns two chains: one at ε = 0, the baseline, until that has enough plans, and one at the chosen ε and
score. It never touches the page. What it has to say it leaves in recordings, which lock, and in a
`Progress`, which never changes once it is made; the page reads both whenever it likes.
"""

import logging
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from bottomup.dashboard.recording import Recording
from bottomup.dashboard.slots import SAMPLING, FairSlots
from bottomup.sampler.chain import Records
from bottomup.sampler.target import Score

__all__ = ["Aim", "Chains", "Design", "Progress", "SamplingChain", "Worker"]

logger = logging.getLogger(__name__)

# A turn is long enough to be worth the switch and short enough that nobody waits for it.
_TURN_SECONDS = 0.05
_FIRST_TURN_STEPS = 20
_MOST_GROWTH = 2.0
_RATE_SECONDS = 2.0


class Aim(NamedTuple):
    """What the walk favours; a change keeps the walk's plan and starts a new recording."""

    epsilon: float
    score: Score


class Design(NamedTuple):
    """What is fixed before any testimony is read; a change starts both walks anew."""

    enacted: str
    tolerance: float
    compactness: float
    seed: int
    moves: str = "mixture"
    """``"mixture"`` of moves, or ``"walk"`` for the Marked Edge Walk alone."""


class SamplingChain(Protocol):
    """What the worker asks of a chain."""

    @property
    def steps(self) -> int:
        """Steps taken since the start."""

    @property
    def assignment(self) -> NDArray[np.int32]:
        """District of each unit in the current plan; a copy."""

    def advance(self, n_steps: int, thin: int) -> Records:
        """Walk on, recording the plan at every step count divisible by ``thin``."""


class Chains(Protocol):
    """The two chains of one design, and what is recorded of each."""

    @property
    def baseline(self) -> SamplingChain:
        """The chain at ε = 0."""

    @property
    def ensemble(self) -> SamplingChain:
        """The chain at the chosen ε and score."""

    @property
    def n_baseline_steps(self) -> int:
        """Steps after which the baseline has enough plans."""

    def aim(self, aim: Aim) -> None:
        """Let the ensemble's chain favour something else, from where it stands."""

    def new_recording(self) -> Recording:
        """Make an empty recording."""

    def ranked_shares(self, records: Records) -> dict[str, NDArray[np.float64]]:
        """Shares by ranked district of recorded plans, shape (R, k) each, by name."""


@dataclass(frozen=True)
class Progress:
    """How far the worker is, as of the end of its latest turn.

    Attributes
    ----------
    phase : {"waiting", "preparing", "running", "paused", "failed", "stopped"}
    assignment : int32 array, shape (n,), or None
        The ensemble chain's current plan.
    steps : int
        Steps of the ensemble's chain since it was started or reset.
    history : tuple of (int, Aim)
        From which step on the ensemble's chain has favoured what.
    recording, baseline : Recording or None
    baseline_done : float
        Share of the baseline that has been sampled, 0 to 1.
    steps_per_second : float
        Of both chains together, over the last seconds.
    design : Design or None
        That the chains were built for.
    error : str
        What went wrong, in words for the page; empty while nothing has.
    """

    phase: str = "waiting"
    assignment: NDArray[np.int32] | None = None
    steps: int = 0
    history: tuple[tuple[int, Aim], ...] = ()
    recording: Recording | None = None
    baseline: Recording | None = None
    baseline_done: float = 0.0
    steps_per_second: float = 0.0
    design: Design | None = None
    error: str = ""


class Worker:
    """Samples in a thread of its own, one turn after another, until it is stopped.

    Parameters
    ----------
    build : callable
        Makes the chains of a design and an aim. Called in the worker's thread; what it raises is shown.
    design, aim
        Where to begin.
    slots : FairSlots
        Whose turns the worker takes.
    """

    def __init__(
        self,
        build: Callable[[Design, Aim], Chains],
        design: Design,
        aim: Aim,
        *,
        slots: FairSlots = SAMPLING,
    ) -> None:
        self._build = build
        self._slots = slots
        self._design = design
        self._aim = aim
        self._wanted = threading.Condition()
        self._running = False
        self._rebuild = True
        self._retarget = False
        self._stopping = False
        self._progress = Progress()
        self._chains: Chains | None = None
        self._turn_steps = {"baseline": _FIRST_TURN_STEPS, "ensemble": _FIRST_TURN_STEPS}
        self._rate_marks: list[tuple[float, int]] = []
        self._thread = threading.Thread(target=self._work, name="sampling", daemon=True)
        self._thread.start()

    @property
    def progress(self) -> Progress:
        """The latest state; never changes once read."""
        return self._progress

    def run(self) -> None:
        """Start, or go on after a pause; after a failure, try anew."""
        with self._wanted:
            self._running = True
            if self._progress.phase == "failed":
                self._rebuild = True
            self._wanted.notify()

    def pause(self) -> None:
        """Stop after the present turn, keeping everything."""
        with self._wanted:
            self._running = False
            self._wanted.notify()

    def retarget(self, aim: Aim) -> None:
        """Favour something else from the present plan on, in a new recording."""
        with self._wanted:
            if aim != self._aim:
                self._aim = aim
                self._retarget = True
                self._wanted.notify()

    def rebuild(self, design: Design) -> None:
        """Start both chains anew with another design; with the same one, this is a reset."""
        with self._wanted:
            self._design = design
            self._rebuild = True
            self._wanted.notify()

    def stop(self, timeout: float | None = None) -> None:
        """End the thread; with a ``timeout`` in seconds, wait for its end that long."""
        with self._wanted:
            self._stopping = True
            self._wanted.notify()
        if timeout is not None:
            self._thread.join(timeout)

    @property
    def is_alive(self) -> bool:
        """Whether the thread has not ended yet."""
        return self._thread.is_alive()

    def _post(self, **changes: object) -> None:
        self._progress = replace(self._progress, **changes)  # type: ignore[arg-type]

    def _work(self) -> None:
        while True:
            with self._wanted:
                while not self._is_due():
                    if self._progress.phase in ("preparing", "running"):
                        self._rate_marks.clear()
                        self._post(phase="paused", steps_per_second=0.0)
                    self._wanted.wait()
                if self._stopping:
                    break
                rebuild, retarget, running = self._rebuild, self._retarget, self._running
                design, aim = self._design, self._aim
                self._rebuild = self._retarget = False
            try:
                if rebuild:
                    self._start_anew(design, aim)
                elif retarget:
                    self._aim_anew(aim)
                if running:
                    self._take_turns()
            except Exception as error:
                logger.exception("Sampling stopped.")
                self._chains = None
                self._post(phase="failed", error=str(error) or type(error).__name__, steps_per_second=0.0)
        self._chains = None
        self._progress = Progress(phase="stopped")

    def _is_due(self) -> bool:
        """Whether there is something to do. Nothing is built before the first start: a page alone is free."""
        if self._stopping:
            return True
        if self._chains is None:
            return self._rebuild and self._running
        return self._rebuild or self._retarget or self._running

    def _start_anew(self, design: Design, aim: Aim) -> None:
        self._progress = Progress(phase="preparing", design=design)
        self._chains = None
        chains = self._build(design, aim)
        self._chains = chains
        self._rate_marks.clear()
        # Still preparing: the first turn may have to compile the kernels.
        self._progress = Progress(
            phase="preparing",
            assignment=_frozen(chains.ensemble.assignment),
            history=((0, aim),),
            recording=chains.new_recording(),
            baseline=chains.new_recording(),
            design=design,
        )

    def _aim_anew(self, aim: Aim) -> None:
        assert self._chains is not None
        self._chains.aim(aim)
        steps = self._chains.ensemble.steps
        history = tuple(entry for entry in self._progress.history if entry[0] < steps)
        self._post(recording=self._chains.new_recording(), history=(*history, (steps, aim)))

    def _take_turns(self) -> None:
        """One turn of the ensemble's chain and, while it needs more plans, one of the baseline's."""
        assert self._chains is not None
        progress, chains = self._progress, self._chains
        assert progress.recording is not None
        assert progress.baseline is not None
        taken = self._turn("ensemble", chains.ensemble, progress.recording)
        if chains.baseline.steps < chains.n_baseline_steps:
            taken += self._turn("baseline", chains.baseline, progress.baseline)
        self._post(
            phase="running",
            assignment=_frozen(chains.ensemble.assignment),
            steps=chains.ensemble.steps,
            baseline_done=min(1.0, chains.baseline.steps / chains.n_baseline_steps),
            steps_per_second=self._rate(taken),
        )

    def _turn(self, name: str, chain: SamplingChain, recording: Recording) -> int:
        assert self._chains is not None
        n_steps = self._turn_steps[name]
        with self._slots.turn():
            began = time.perf_counter()
            records = chain.advance(n_steps, recording.spacing)
            took = time.perf_counter() - began
        recording.append(records, self._chains.ranked_shares(records))
        growth = min(_MOST_GROWTH, _TURN_SECONDS / max(took, 1e-6))
        self._turn_steps[name] = max(1, round(n_steps * growth))
        return n_steps

    def _rate(self, taken: int) -> float:
        """Steps per second since the oldest mark that is not too old."""
        now = time.perf_counter()
        total = taken + (self._rate_marks[-1][1] if self._rate_marks else 0)
        self._rate_marks.append((now, total))
        while len(self._rate_marks) > 2 and now - self._rate_marks[0][0] > _RATE_SECONDS:
            self._rate_marks.pop(0)
        (first, before), (last, after) = self._rate_marks[0], self._rate_marks[-1]
        return (after - before) / (last - first) if last > first else 0.0


def _frozen(assignment: NDArray[np.int32]) -> NDArray[np.int32]:
    assignment.flags.writeable = False
    return assignment
