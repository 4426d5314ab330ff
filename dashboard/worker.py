"""The thread that samples for one visitor.

It owns the visitor's ladders, which serve every ε of the slider at once: only another design makes it start
anew. It never touches the page. What it has to say it leaves in recordings, which lock, and in a `Progress`,
which never changes once it is made; the page reads both whenever it likes.
"""

import logging
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from bottomup.dashboard.design import Design
from bottomup.dashboard.health import Workings
from bottomup.dashboard.pool import MetPlan, RecordedLadders
from bottomup.dashboard.reliability import Reliability
from bottomup.dashboard.slots import SAMPLING, FairSlots

__all__ = ["Progress", "Sampling", "Standing", "Worker"]

logger = logging.getLogger(__name__)

# A turn is long enough to be worth the switch and short enough that nobody waits for it.
_TURN_SECONDS = 0.05
_RATE_SECONDS = 5.0
_JUDGE_SECONDS = 3.0
# With many districts a judgement takes seconds: it must not take the time of the walks that it judges.
_JUDGE_SHARE = 0.1


@dataclass(frozen=True)
class Standing:
    """How far the ladders of a design are.

    Attributes
    ----------
    rounds : int
        Rounds since the start.
    burn_in : int
        Rounds after which the rungs stay where they are.
    current : tuple of MetPlan
        The latest plan at each rung of the ladder that began at the enacted plan; empty before the first.
    recorded : RecordedLadders
        What charts are to be drawn from.
    workings : Workings
        Counts since the rungs were placed.
    start_plans : tuple of int32 array, each of shape (n,)
        The plan that each ladder began at.
    source : str
        What this was read from, as a line begins; empty while walks make it.
    """

    rounds: int
    burn_in: int
    current: tuple[MetPlan, ...]
    recorded: RecordedLadders
    workings: Workings
    start_plans: tuple[NDArray[np.int32], ...] = ()
    source: str = ""

    @property
    def n_walks(self) -> int:
        """Walks at each rung."""
        return len(self.recorded.starts)

    @property
    def is_saved(self) -> bool:
        """Whether this was read from files, so that nothing is sampled."""
        return bool(self.source)


class Sampling(Protocol):
    """What the worker asks of the ladders of one design."""

    @property
    def steps(self) -> int:
        """Steps of all replicas together."""

    def run(self, is_stopped: Callable[[], bool], n_threads: int) -> None:
        """Sample and record until told to stop."""

    def standing(self) -> Standing:
        """How far it is; never changes once made."""

    def judge(self, epsilon: float, steps_per_second: float) -> Reliability:
        """Whether what is shown for an epsilon can be relied on."""


@dataclass(frozen=True)
class Progress:
    """How far the worker is, as of the end of its latest turn.

    Attributes
    ----------
    phase : {"waiting", "preparing", "running", "paused", "failed", "stopped"}
    design : Design or None
        That the ladders were built for.
    standing : Standing or None
    reliability : Reliability or None
        Of the ε last looked at; None before the first judgement.
    steps_per_second : float
        Of all replicas together, over the last seconds.
    error : str
        What went wrong, in words for the page; empty while nothing has.
    """

    phase: str = "waiting"
    design: Design | None = None
    standing: Standing | None = None
    reliability: Reliability | None = None
    steps_per_second: float = 0.0
    error: str = ""


class Worker:
    """Samples in a thread of its own, one turn after another, until it is stopped.

    Parameters
    ----------
    build : callable
        Makes the ladders of a design. Called in the worker's thread; what it raises is shown.
    design : Design
        Where to begin.
    epsilon : float
        That the page shows, see `look_at`.
    slots : FairSlots
        Whose turns the worker takes.
    begin_with : Sampling, optional
        That is there already and shown at once. Without it, nothing is built before the first start.
    """

    def __init__(
        self,
        build: Callable[[Design], Sampling],
        design: Design,
        epsilon: float,
        *,
        slots: FairSlots = SAMPLING,
        begin_with: Sampling | None = None,
    ) -> None:
        self._build = build
        self._slots = slots
        self._design = design
        self._epsilon = epsilon
        self._wanted = threading.Condition()
        self._running = False
        self._rebuild = begin_with is None
        self._judge = begin_with is not None
        self._stopping = False
        self._progress = Progress()
        self._sampling = begin_with
        if begin_with is not None:
            self._progress = Progress("paused", design, begin_with.standing())
        self._rate_marks: list[tuple[float, int]] = []
        self._rate = 0.0
        self._judge_from = 0.0
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
        """Stop after the present replica's steps, keeping everything."""
        with self._wanted:
            self._running = False
            self._wanted.notify()

    def look_at(self, epsilon: float) -> None:
        """Judge from now on what is shown for this ε. Sampling takes no notice: it serves every ε."""
        with self._wanted:
            self._epsilon = epsilon
            self._judge = True
            self._wanted.notify()

    def rebuild(self, design: Design) -> None:
        """Start anew with another design; with the same one, this is a reset."""
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
                rebuild, running, design = self._rebuild, self._running, self._design
                self._rebuild = False
            try:
                if rebuild:
                    self._start_anew(design)
                if running:
                    self._take_turn()
                self._judge_when_due()
            except Exception as error:
                logger.exception("Sampling stopped.")
                self._sampling = None
                self._post(phase="failed", error=str(error) or type(error).__name__, steps_per_second=0.0)
        self._sampling = None
        self._progress = Progress(phase="stopped")
        logger.info("Sampling has ended for a visitor.")

    def _is_due(self) -> bool:
        """Whether there is something to do. Nothing is built before the first start: a page alone is free."""
        if self._stopping:
            return True
        if self._sampling is None:
            return self._rebuild and self._running
        return self._rebuild or self._judge or self._running

    def _start_anew(self, design: Design) -> None:
        self._progress = Progress(phase="preparing", design=design)
        self._sampling = None
        self._sampling = self._build(design)
        self._rate_marks.clear()
        self._judge = True
        # Still preparing: the first turn may have to compile the kernels.
        self._post(standing=self._sampling.standing())

    def _take_turn(self) -> None:
        assert self._sampling is not None
        with self._slots.turn(self._slots.n_slots) as n_threads:
            end = time.perf_counter() + _TURN_SECONDS
            self._sampling.run(lambda: time.perf_counter() >= end or self._is_interrupted(), n_threads)
        rate = self._measure_rate(self._sampling.steps)
        self._post(phase="running", standing=self._sampling.standing(), steps_per_second=rate)

    def _is_interrupted(self) -> bool:
        return self._stopping or self._rebuild or not self._running

    def _judge_when_due(self) -> None:
        """Judge every few seconds, and at once what has not been looked at before."""
        assert self._sampling is not None
        now = time.monotonic()
        if not self._judge and now < self._judge_from:
            return
        self._judge = False
        # It computes as the walks do, and takes its turn among those of all visitors.
        with self._slots.turn():
            self._post(reliability=self._sampling.judge(self._epsilon, self._rate))
        end = time.monotonic()
        self._judge_from = end + max(_JUDGE_SECONDS, (end - now) / _JUDGE_SHARE)

    def _measure_rate(self, steps: int) -> float:
        """Steps per second since the oldest mark that is not too old; kept through pauses."""
        now = time.perf_counter()
        self._rate_marks.append((now, steps))
        while len(self._rate_marks) > 2 and now - self._rate_marks[0][0] > _RATE_SECONDS:
            self._rate_marks.pop(0)
        (first, before), (last, after) = self._rate_marks[0], self._rate_marks[-1]
        if last > first:
            self._rate = (after - before) / (last - first)
        return self._rate
