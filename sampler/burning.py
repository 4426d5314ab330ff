"""The burn-in of ladders, in pieces that can be watched, remembered and gone on with."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Protocol

import numpy as np

from bottomup.sampler.checkpoints import Timer
from bottomup.sampler.ladder import Ladder, placing_rounds
from bottomup.sampler.memory import Memory, nest, within
from bottomup.sampler.sources import Pace

__all__ = ["BurnIn", "Burning", "finish_burn_in"]


class BurnIn:
    """Rounds that are not recorded; the ladder is the same at their end however they were cut up.

    Parameters
    ----------
    ladder : Ladder
        That has run no round.
    n_rounds : int
    is_placing : bool
        Whether the rungs are placed anew, see :func:`bottomup.sampler.ladder.burn_in`.
    """

    waited = 0.0

    def __init__(self, ladder: Ladder, n_rounds: int, is_placing: bool) -> None:
        self.ladder = ladder
        self.n_rounds = n_rounds
        self.n_done = 0
        self._placings = placing_rounds(n_rounds) if is_placing else ()

    @property
    def is_over(self) -> bool:
        """Whether all rounds have been run."""
        return self.n_done >= self.n_rounds

    def advance(self, most: int) -> int:
        """Run so many rounds, or fewer that end at a placing or at the end; returns how many."""
        stage = next((stage for stage in self._placings if stage > self.n_done), self.n_rounds)
        size = min(most, stage - self.n_done)
        self.ladder.advance(size, self.n_rounds + 1)
        self.n_done += size
        if self.n_done in self._placings and size:
            self.ladder.adapt()
        return size

    def memory(self) -> Memory:
        """All that decides how it goes on."""
        return {"n_done": np.array(self.n_done), **nest("ladder", self.ladder.memory())}

    def recall(self, memory: Memory) -> None:
        """Go on from where another stood."""
        self.n_done = int(memory["n_done"])
        self.ladder.recall(within("ladder", memory))


class Burning(Protocol):
    """A burn-in that :func:`finish_burn_in` can run; see :class:`BurnIn` for what each does."""

    waited: float
    """See :class:`bottomup.sampler.sources.Source`."""

    @property
    def is_over(self) -> bool:
        """Whether all rounds have been run."""

    def advance(self, most: int) -> int:
        """Run so many rounds, or fewer; returns how many."""

    def memory(self) -> Memory:
        """All that decides how it goes on."""


def finish_burn_in(
    burn_in: Burning,
    keep: Callable[[Memory], object],
    is_stopped: Callable[[], bool] = lambda: False,
    batch_seconds: float = 0.0,
) -> None:
    """Run a burn-in to its end, unless it is stopped.

    Parameters
    ----------
    burn_in : BurnIn or another that does the same
    keep : callable
        Called now and then, see :class:`Timer`, and when it is stopped, with all that decides how it goes on.
    is_stopped : callable
        Asked after each batch.
    batch_seconds : float
        What a batch of rounds should take; by default each is one of its own.
    """
    timer, pace = Timer(), Pace(batch_seconds)
    while not burn_in.is_over:
        began, waited = time.perf_counter(), burn_in.waited
        size = burn_in.advance(pace.size)
        pace.note(size, time.perf_counter() - began - (burn_in.waited - waited))
        is_last = is_stopped()
        if is_last or timer.is_due:
            with timer.saving():
                keep(burn_in.memory())
        if is_last:
            return
