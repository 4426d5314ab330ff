"""Chains or ladders that go on in batches, in one form for those who record them."""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Protocol

import numpy as np
from numpy.typing import ArrayLike

from bottomup.sampler.chain import WALK_ALONE, Chain, Outcomes, Step
from bottomup.sampler.ladder import Ladder
from bottomup.sampler.memory import Memory, nest, within
from bottomup.sampler.problem import Problem
from bottomup.sampler.runs import Part
from bottomup.sampler.start import seed_of
from bottomup.sampler.target import Target
from bottomup.sampler.types import IntArray, Mixture

__all__ = ["Chains", "Ladders", "Pace", "Source"]


class Pace:
    """How many steps, or rounds, the next batch has, so that it takes as long as it should.

    The size of a batch leaves no trace in the plans, so it may follow the clock.

    Parameters
    ----------
    seconds : float
        How long a batch should take; 0 for batches of one.
    """

    def __init__(self, seconds: float) -> None:
        self._seconds = seconds
        self.size = 1

    def note(self, size: int, seconds: float) -> None:
        """Say how many a batch had, perhaps fewer than it might, and how long it took."""
        fit = size * self._seconds / max(seconds, 1e-3)
        self.size = max(1, int(np.clip(fit, self.size / 2, max(self.size, 4 * size))))


class Source(Protocol):
    """Chains or ladders that :func:`bottomup.sampler.recording.record` can run."""

    target: Target
    n_starts: int
    per_record: int
    """Units of progress between two records."""
    waited: float
    """Seconds in which others had their turn and nothing was done for it; 0 where it runs in this process."""

    @property
    def epsilons(self) -> tuple[float, ...]:
        """One for each column of parts; of chains, all the same, there is one."""

    @property
    def n_done(self) -> int:
        """Steps, or rounds, so far."""

    @property
    def n_steps(self) -> int:
        """Steps of all chains together."""

    def advance(self, size: int) -> list[Part]:
        """Go on by so many steps, or rounds; parts in the order of chain and epsilon.

        There are none, and it stands where it stood, when the run was stopped meanwhile.
        """

    def memory(self) -> Memory:
        """All that decides how it goes on."""

    def recall(self, memory: Memory) -> None:
        """Go on from where another, made with the same arguments, stood."""

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

    waited = 0.0

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

    def advance(self, size: int) -> list[Part]:
        """Take steps with every chain."""

        def take(number: int) -> Part:
            records = self.chains[number].advance(size, self.per_record)
            return Part(number, self.target.epsilon, records)

        run = map if self._pool is None else self._pool.map
        return list(run(take, range(self.n_starts)))

    def memory(self) -> Memory:
        """All that decides how the chains go on."""
        memory: Memory = {}
        for number, chain in enumerate(self.chains):
            memory |= nest(str(number), chain.memory())
        return memory

    def recall(self, memory: Memory) -> None:
        """Go on from where other chains stood."""
        for number, chain in enumerate(self.chains):
            chain.recall(within(str(number), memory))

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
        record would come early, see :func:`bottomup.sampler.recording.burn_in_rounds`.
    """

    waited = 0.0

    def __init__(self, ladder: Ladder, record_every: int) -> None:
        if ladder.rounds % record_every:
            raise ValueError(
                f"the burn-in has {ladder.rounds} rounds since the rungs were placed, which is no multiple "
                f"of record_every, {record_every}; see burn_in_rounds"
            )
        self.ladder = ladder
        self.target = ladder.target
        self.n_starts = ladder.n_ladders
        self.per_record = record_every
        self._before = ladder.rounds
        self._steps_before = ladder.steps

    @property
    def epsilons(self) -> tuple[float, ...]:
        """The rungs."""
        return tuple(float(epsilon) for epsilon in self.ladder.epsilons)

    @property
    def n_done(self) -> int:
        """Rounds since the burn-in."""
        return self.ladder.rounds - self._before

    @property
    def n_steps(self) -> int:
        """Steps of all replicas together since the burn-in."""
        return self.ladder.steps - self._steps_before

    def advance(self, size: int) -> list[Part]:
        """Run rounds; steps are counted from the end of the burn-in."""
        before = self._before * self.ladder.steps_per_round
        return [
            Part(number, epsilon, records._replace(step=records.step - before))
            for number, row in enumerate(self.ladder.advance(size, self.per_record))
            for epsilon, records in zip(self.epsilons, row, strict=True)
        ]

    def memory(self) -> Memory:
        """All that decides how the ladders go on."""
        before = {"before": np.array(self._before), "steps_before": np.array(self._steps_before)}
        return before | nest("ladder", self.ladder.memory())

    def recall(self, memory: Memory) -> None:
        """Go on from where other ladders stood, their burn-in included."""
        self._before, self._steps_before = int(memory["before"]), int(memory["steps_before"])
        self.ladder.recall(within("ladder", memory))

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
