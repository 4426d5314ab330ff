"""Runs without a page: chains or ladders that go on in batches and leave every record in a folder."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import ArrayLike

from bottomup.sampler.chain import WALK_ALONE, Chain, Outcomes, Step
from bottomup.sampler.ladder import Ladder
from bottomup.sampler.problem import Problem
from bottomup.sampler.runs import Part, RunFolder
from bottomup.sampler.start import seed_of
from bottomup.sampler.target import Target
from bottomup.sampler.traces import MAX_DRAWS, Traces
from bottomup.sampler.types import IntArray, Mixture

__all__ = [
    "MIN_BURN_IN",
    "Chains",
    "Ladders",
    "Recording",
    "Source",
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


class Source(Protocol):
    """Chains or ladders that :func:`record` can run."""

    target: Target
    n_starts: int
    epsilons: tuple[float, ...]
    """One for each column of parts; of chains, all the same, there is one."""
    per_record: int
    """Units of progress between two records."""

    @property
    def n_done(self) -> int:
        """Steps, or rounds, so far."""

    @property
    def n_steps(self) -> int:
        """Steps of all chains together."""

    def advance(self, size: int, is_stopped: Callable[[], bool]) -> list[Part]:
        """Go on by so many steps, or rounds; parts in the order of chain and epsilon."""

    def outcomes(self) -> list[dict[str, Outcomes]]:
        """How steps ended: of each chain, or of each rung of each ladder."""

    def present(self, place: int) -> tuple[str, Target, IntArray]:
        """What to call the chain, or rung, that has a place in the outcomes, its target, and its plan now."""


class Chains:
    """Separate chains at one epsilon, one from each start, with seeds of their own.

    The same seed gives the same plans whatever the number of threads.

    Parameters
    ----------
    problem : Problem
    target : Target
    starts : sequence of array_like of int, each of shape (n,)
    seed : int
    thin : int
        Steps from one record to the next.
    step : {"mixed", "paper"}
    mixture : Mixture
    n_threads : int
    """

    def __init__(
        self,
        problem: Problem,
        target: Target,
        starts: Sequence[ArrayLike],
        seed: int,
        thin: int,
        step: Step = "mixed",
        mixture: Mixture = WALK_ALONE,
        n_threads: int = 1,
    ) -> None:
        children = np.random.SeedSequence(seed).spawn(len(starts))
        self.chains = [
            Chain(problem, target, start, seed_of(child), step, mixture=mixture)
            for start, child in zip(starts, children, strict=True)
        ]
        self.target = target
        self.n_starts = len(starts)
        self.epsilons: tuple[float, ...] = (target.epsilon,)
        self.per_record = thin
        self._pool = ThreadPoolExecutor(n_threads) if n_threads > 1 else None

    @property
    def n_done(self) -> int:
        """Steps of each chain so far."""
        return self.chains[0].steps

    @property
    def n_steps(self) -> int:
        """Steps of all chains together."""
        return sum(chain.steps for chain in self.chains)

    def advance(self, size: int, is_stopped: Callable[[], bool]) -> list[Part]:
        """Take steps with every chain; a batch that has begun is finished."""

        def take(number: int) -> Part:
            records = self.chains[number].advance(size, self.per_record)
            return Part(number, self.target.epsilon, records)

        run = map if self._pool is None else self._pool.map
        return list(run(take, range(self.n_starts)))

    def outcomes(self) -> list[dict[str, Outcomes]]:
        """How the steps of each chain ended, by kind."""
        return [chain.outcomes_by_move for chain in self.chains]

    def present(self, place: int) -> tuple[str, Target, IntArray]:
        """A chain's name, target and plan."""
        return f"Chain {place}", self.target, self.chains[place].assignment


class Ladders:
    """Ladders with the same rungs after their burn-in; "chain" is the number of the ladder.

    Parameters
    ----------
    ladder : Ladder
        Its rounds so far are its burn-in.
    record_every : int
        Rounds from one record to the next.

    Raises
    ------
    ValueError
        When the rounds since the rungs were placed are no multiple of ``record_every``, so that the first
        record would come early, see :func:`burn_in_rounds`.
    """

    def __init__(self, ladder: Ladder, record_every: int) -> None:
        if ladder.rounds % record_every:
            raise ValueError(
                f"the burn-in has {ladder.rounds} rounds since the rungs were placed, which is no multiple "
                f"of record_every, {record_every}; see burn_in_rounds"
            )
        self.ladder = ladder
        self.target = ladder.target
        self.n_starts = ladder.n_ladders
        self.epsilons = tuple(float(epsilon) for epsilon in ladder.epsilons)
        self.per_record = record_every
        self._before = ladder.rounds
        self._steps_before = ladder.steps

    @property
    def n_done(self) -> int:
        """Rounds since the burn-in."""
        return self.ladder.rounds - self._before

    @property
    def n_steps(self) -> int:
        """Steps of all replicas together since the burn-in."""
        return self.ladder.steps - self._steps_before

    def advance(self, size: int, is_stopped: Callable[[], bool]) -> list[Part]:
        """Run rounds; steps are counted from the end of the burn-in."""
        before = self._before * self.ladder.steps_per_round
        return [
            Part(number, epsilon, records._replace(step=records.step - before))
            for number, row in enumerate(self.ladder.advance(size, self.per_record, is_stopped))
            for epsilon, records in zip(self.epsilons, row, strict=True)
        ]

    def outcomes(self) -> list[dict[str, Outcomes]]:
        """How the steps at each rung of each ladder ended, by kind, since the rungs were placed.

        A ladder that moves must not hide another that stands still.
        """
        return [
            self.ladder.outcomes_at(rung, number)
            for number in range(self.n_starts)
            for rung in range(len(self.epsilons))
        ]

    def present(self, place: int) -> tuple[str, Target, IntArray]:
        """Name, target and plan of a rung of a ladder."""
        number, rung = divmod(place, len(self.epsilons))
        name = f"Ladder {number} at epsilon {self.epsilons[rung]:.3g}"
        return name, self.ladder.targets[rung], self.ladder.chain_at(number, rung).assignment


@dataclass(frozen=True)
class Recording:
    """What :func:`record` leaves besides the plans in the folder."""

    is_complete: bool
    seconds: float
    """By the clock, the writing of records included."""
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
) -> Recording:
    """Run a source to its end and write every record as soon as its batch is done: memory stays flat.

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
        Asked before each batch, and by ladders also in between.
    """
    n_rungs, n_starts = len(source.epsilons), source.n_starts
    max_draws = draws_of_rung(n_rungs)
    k = source.target.n_districts
    traces = tuple(Traces(n_starts, k, shares, reference, max_draws) for _ in source.epsilons)
    most = source.per_record * max(1, int(BATCH_BYTES // (np.size(reference) * n_rungs * n_starts)))
    began = time.perf_counter()
    at_half, at_start = None, source.outcomes()
    half, batch = n_total // 2, 1
    while source.n_done < n_total and not is_stopped():
        started, before = time.perf_counter(), source.n_done
        # A batch ends at the half, so that the window is the later half whatever the clock.
        end = half if before < half else n_total
        parts = source.advance(min(batch, most, end - before), is_stopped)
        folder.write(parts)
        for place, part in enumerate(parts):
            traces[place % n_rungs].add(part.chain, part.records)
        if at_half is None and source.n_done >= half:
            at_half = source.outcomes()
        progress(source.n_done - before)
        # The size of a batch leaves no trace in the plans, so it may follow the clock.
        seconds = max(time.perf_counter() - started, 1e-3)
        batch = max(1, int(np.clip(batch * BATCH_SECONDS / seconds, batch / 2, batch * 4)))
    return Recording(
        is_complete=source.n_done >= n_total,
        seconds=time.perf_counter() - began,
        traces=traces,
        window=[
            {move: outcomes.since(then[move]) for move, outcomes in now.items()}
            for now, then in zip(source.outcomes(), at_half or at_start, strict=True)
        ],
    )


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
