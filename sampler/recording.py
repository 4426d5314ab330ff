"""Runs without a page: chains or ladders run to their end, with every record left in a folder."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from bottomup.sampler.chain import Outcomes
from bottomup.sampler.checkpoints import Timer
from bottomup.sampler.memory import Memory, nest, within
from bottomup.sampler.runs import RunFolder
from bottomup.sampler.sources import Pace, Source
from bottomup.sampler.traces import MAX_DRAWS, Traces
from bottomup.sampler.types import LongArray

__all__ = [
    "MIN_BURN_IN",
    "Batches",
    "Recording",
    "burn_in_rounds",
    "draws_of_rung",
    "ladder_rounds",
    "record",
]

BATCH_SECONDS = 0.15
"""A run ends so long after it is stopped, about."""
BATCH_BYTES = 4e6
"""The plans of a batch take no more than this, or it has one record of each chain."""
MIN_DRAWS_OF_RUNG = 2_000
"""Draws that are kept of each rung of a ladder, however many rungs there are."""
MIN_BURN_IN = 80
"""Rounds in which the rungs can be placed: the first placement follows ten of them."""


class Batches(NamedTuple):
    """How much a source is asked for at a time."""

    seconds: float
    """Of work, about."""
    n_bytes: float
    """The plans take no more than this, or there is one record of each chain."""


@dataclass(frozen=True)
class Recording:
    """What :func:`record` leaves besides the plans in the folder."""

    is_complete: bool
    seconds: float
    """By the clock, the writing of records included, but not what the source has waited for its turn."""
    traces: tuple[Traces, ...]
    """For each epsilon."""
    window: list[dict[str, Outcomes]]
    """How the later half of the steps ended: of each chain, or of each rung of each ladder."""


def record(
    source: Source,
    folder: RunFolder,
    n_total: int,
    shares: Mapping[str, tuple[ArrayLike, ArrayLike]],
    reference: ArrayLike,
    progress: Callable[[int], object] = lambda size: None,
    is_stopped: Callable[[], bool] = lambda: False,
    keep: Callable[[Memory], object] | None = None,
    memory: Memory | None = None,
    batches: Batches | None = None,
) -> Recording:
    """Run a source to its end and hand over every record as soon as its batch is done: memory stays flat.

    Parameters
    ----------
    source : Source
    folder : RunFolder
    n_total : int
        Steps of each chain, or rounds.
    shares : mapping of str to (numerator, denominator), array_like of numbers, shape (n,)
    reference : array_like of int, shape (n,)
        Both for the diagnostics, see :class:`Traces`.
    progress : callable
        Called with the number of steps, or rounds, of each finished batch.
    is_stopped : callable
        Asked before each batch.
    keep : callable, optional
        Called now and then, see :class:`Timer`, and at the end with all that decides how the run goes on,
        once the records so far are on the disk. The arrays change after it returns.
    memory : dict of str to array, optional
        What it was called with, to go on from there; the folder must then hold the records of that moment.
    batches : Batches, optional
        By default small ones, so that a run ends soon after it is stopped.
    """
    batch_seconds, batch_bytes = batches or (BATCH_SECONDS, BATCH_BYTES)
    if memory is not None:
        source.recall(within("source", memory))
    course = _Course.begin(source, shares, reference)
    if memory is not None:
        course.recall(memory)
    n_rungs, n_starts = len(source.epsilons), source.n_starts
    most = source.per_record * max(1, int(batch_bytes // (np.size(reference) * n_rungs * n_starts)))
    half, pace = n_total // 2, Pace(batch_seconds)
    timer = Timer()
    while source.n_done < n_total and not is_stopped():
        started, before, waited = time.perf_counter(), source.n_done, source.waited
        # A batch ends at the half, so that the window is the later half whatever the clock.
        end = half if before < half else n_total
        parts = source.advance(min(pace.size, most, end - before))
        folder.write(parts)
        for place, part in enumerate(parts):
            course.traces[place % n_rungs].add(part.chain, part.records)
        if course.at_half is None and source.n_done >= half:
            course.at_half = _table(source.outcomes())
        progress(source.n_done - before)
        idle = source.waited - waited
        course.began += idle
        pace.note(source.n_done - before, time.perf_counter() - started - idle)
        if keep is not None and timer.is_due:
            with timer.saving():
                _save(source, folder, course, keep)
    _save(source, folder, course, keep)
    return Recording(
        is_complete=source.n_done >= n_total,
        seconds=course.seconds,
        traces=course.traces,
        window=course.window(source.outcomes()),
    )


def _save(
    source: Source, folder: RunFolder, course: _Course, keep: Callable[[Memory], object] | None
) -> None:
    folder.save()
    if keep is not None:
        n_done = np.array(source.n_done)
        keep({"n_done": n_done} | nest("source", source.memory()) | course.memory())


@dataclass
class _Course:
    """What a recording adds up as it goes on."""

    traces: tuple[Traces, ...]
    at_start: LongArray
    at_half: LongArray | None
    seconds_before: float
    began: float

    @classmethod
    def begin(
        cls, source: Source, shares: Mapping[str, tuple[ArrayLike, ArrayLike]], reference: ArrayLike
    ) -> _Course:
        max_draws = draws_of_rung(len(source.epsilons))
        k = source.target.n_districts
        traces = tuple(Traces(source.n_starts, k, shares, reference, max_draws) for _ in source.epsilons)
        return cls(traces, _table(source.outcomes()), None, 0.0, time.perf_counter())

    @property
    def seconds(self) -> float:
        """Of all sittings, the time between them left out."""
        return self.seconds_before + time.perf_counter() - self.began

    def window(self, outcomes: list[dict[str, Outcomes]]) -> list[dict[str, Outcomes]]:
        """What has come since the half, or the start as long as that is ahead."""
        then = self.at_start if self.at_half is None else self.at_half
        since = _table(outcomes) - then
        return [
            {move: Outcomes(*(int(n) for n in row)) for move, row in zip(by_move, rows, strict=True)}
            for by_move, rows in zip(outcomes, since, strict=True)
        ]

    def memory(self) -> Memory:
        memory: Memory = {"seconds": np.array(self.seconds), "at_start": self.at_start}
        if self.at_half is not None:
            memory["at_half"] = self.at_half
        for place, traces in enumerate(self.traces):
            memory |= nest(f"traces/{place}", traces.memory())
        return memory

    def recall(self, memory: Memory) -> None:
        self.seconds_before = float(memory["seconds"])
        self.at_start, self.at_half = memory["at_start"], memory.get("at_half")
        for place, traces in enumerate(self.traces):
            traces.recall(within(f"traces/{place}", memory))


def _table(outcomes: list[dict[str, Outcomes]]) -> LongArray:
    """int64 array, shape (places, kinds, 6): how steps ended."""
    return np.array([list(by_move.values()) for by_move in outcomes], dtype=np.int64)


def draws_of_rung(n_rungs: int) -> int:
    """Draws that are kept of each rung of each ladder at most."""
    return max(MAX_DRAWS // n_rungs, MIN_DRAWS_OF_RUNG)


def ladder_rounds(n_steps: int, thin: int, steps_per_round: int) -> tuple[int, int]:
    """Whole rounds, and whole rounds from one record to the next, nearest to numbers of steps.

    Parameters
    ----------
    n_steps, thin, steps_per_round : int

    Returns
    -------
    n_rounds, record_every : int
        The first is a multiple of the second.
    """
    record_every = max(1, round(thin / steps_per_round))
    return record_every * max(1, round(n_steps / (record_every * steps_per_round))), record_every


def burn_in_rounds(n_rounds: int, record_every: int, is_placing: bool) -> int:
    """The least number of rounds of burn-in, ``n_rounds`` or more, after which a record is due.

    Records count rounds since the rungs were placed for the last time, after half of the burn-in when it
    places them.
    """
    while (n_rounds - n_rounds // 2 if is_placing and n_rounds > 1 else n_rounds) % record_every:
        n_rounds += 1
    return n_rounds
