r"""Replica exchange over epsilon: one run that serves every epsilon from 0 to the largest.

A *ladder* has a chain, here called replica, for each *rung*, a value of epsilon. The lowest is 0, where
testimony is left out and plans change fast. In a round every replica takes the same number of steps; then
neighbouring rungs i and j may exchange their replicas' plans x and y, with the chance

.. math:: \min\left(1, \frac{\pi_i(y)\,\pi_j(x)}{\pi_i(x)\,\pi_j(y)}\right)
          = \min\left(1, \exp\frac{(\varepsilon_i - \varepsilon_j)(s(y) - s(x))}{2\Delta}\right).

This is a Metropolis step for the product of the rungs' laws, so each rung samples its own law exactly. Pairs
that begin at even and at odd rungs take turns, which carries plans up and down faster than a choice by lot
(S. Syed, A. Bouchard-Cote, G. Deligiannidis and A. Doucet, Non-reversible parallel tempering, Journal of the
Royal Statistical Society B 84, 2022). Rungs are placed, in burn-in only, so that all pairs reject equally
often; from the same paper comes the rule: rejections add up along the ladder, nearly.

Several ladders with the same rungs run side by side, each from a start of its own. Only they can be compared
with each other: the replicas of one ladder exchange plans, so their agreement says nothing.
"""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

import numpy as np
from numpy.typing import ArrayLike
from scipy.interpolate import PchipInterpolator

from bottomup.sampler.chain import Chain, Outcomes, Records, default_mixture
from bottomup.sampler.memory import Memory, nest, overwrite, pack_generator, unpack_generator, within
from bottomup.sampler.problem import Problem
from bottomup.sampler.start import check_assignment, seed_of
from bottomup.sampler.target import Target
from bottomup.sampler.types import FloatArray, IntArray, LongArray, Mixture

__all__ = ["Ladder", "burn_in", "choose_steps_per_round", "first_rungs", "place_rungs", "placing_rounds"]

REJECTION = 0.5
"""Share of the exchanges of neighbours that may be rejected."""


class Ladder:
    """Ladders with the same rungs, one from each start.

    The same seed gives the same plans whatever the number of threads and however the run is cut up.

    Parameters
    ----------
    problem : Problem
    target : Target
        Its epsilon is replaced by each rung's.
    starts : sequence of array_like of int, shape (n,)
        A valid plan for each ladder; agreement of ladders means something when these are unlike.
    epsilons : array_like of float, shape (E,)
        The rungs, ascending, the first 0.
    seed : int
    mixture : Mixture, optional
        By default :func:`default_mixture`.
    steps_per_round : int, optional
        Steps of each replica in a round; by default :func:`choose_steps_per_round`.
    n_threads : int
    control : bool
        Break the acceptance ratio of every replica on purpose, see :class:`Chain`.

    Raises
    ------
    StartError
        When a start is not connected and balanced.
    ValueError
        When the rungs do not ascend from 0, or the target needs testimonies that the problem lacks.
    """

    def __init__(
        self,
        problem: Problem,
        target: Target,
        starts: Sequence[ArrayLike],
        epsilons: ArrayLike,
        seed: int,
        *,
        mixture: Mixture | None = None,
        steps_per_round: int | None = None,
        n_threads: int = 1,
        control: bool = False,
    ) -> None:
        self.problem = problem
        self.target = target
        self.mixture = default_mixture(problem.n_units) if mixture is None else mixture
        if steps_per_round is None:
            steps_per_round = choose_steps_per_round(self.mixture, problem.n_units)
        self.steps_per_round = steps_per_round
        self.n_threads = n_threads
        self._control = control
        if not starts:
            raise ValueError("a ladder needs at least one start; got none")
        self._seeds = np.random.SeedSequence(seed)
        self._exchange_rngs = [np.random.default_rng(child) for child in self._seeds.spawn(len(starts))]
        self._todo: deque[tuple[int, int]] = deque()
        self._parts: list[list[Records | None]] = []
        self._set_rungs(_check_rungs(epsilons))
        for rung_target in self.targets:
            rung_target.law(problem)
        bounds = target.n_districts, target.lower, target.upper
        plans = [check_assignment(problem, start, *bounds) for start in starts]
        self._seat([[plan] * self.n_rungs for plan in plans])

    @property
    def n_ladders(self) -> int:
        """Number of ladders, one for each start."""
        return len(self._exchange_rngs)

    @property
    def n_rungs(self) -> int:
        """Number of rungs."""
        return len(self.epsilons)

    @property
    def exchange_rates(self) -> FloatArray:
        """float64 array, shape (E - 1,): mean chance of an exchange between neighbouring rungs, all ladders.

        Since the rungs were placed; nan before the first try.
        """
        with np.errstate(invalid="ignore"):
            return self._chance_sum / self._n_tries

    @property
    def round_trips(self) -> LongArray:
        """int64 array, one for each ladder: ways of replicas from the lowest rung to the highest and back."""
        return self._trips.sum(axis=1)

    @property
    def steps(self) -> int:
        """Steps of all replicas together, since the rungs were placed."""
        return sum(chain.steps for chains in self._chains for chain in chains if chain is not None)

    def chain_at(self, ladder: int, rung: int) -> Chain:
        """The chain that holds a rung at present."""
        chain = self._chains[ladder][rung]
        if chain is None:
            plan, seed = self._seats[ladder][rung]
            chain = Chain(
                self.problem,
                self.targets[rung],
                plan,
                seed,
                control=self._control,
                mixture=self.mixture,
                community_bias=_community_bias(self.epsilons[rung]),
            )
            self._chains[ladder][rung] = chain
        return chain

    @property
    def drift(self) -> float:
        """The largest :attr:`Chain.drift` of any replica."""
        return max(
            (chain.drift for chains in self._chains for chain in chains if chain is not None), default=0.0
        )

    @property
    def counter(self) -> LongArray:
        """int64 array, shape (L, E, 4, 6): steps by ladder, rung, move and outcome.

        Since the rungs were placed.
        """
        return self._outcomes.copy()

    def outcomes_at(self, rung: int, ladder: int | None = None) -> dict[str, Outcomes]:
        """How the steps at a rung ended since the rungs were placed, by kind, of one ladder or over all."""
        counts = self._outcomes[:, rung].sum(axis=0) if ladder is None else self._outcomes[ladder, rung]
        return {
            name: Outcomes(*(int(count) for count in counts[i]))
            for i, (name, n_steps) in enumerate(zip(self.mixture._fields, self.mixture, strict=True))
            if n_steps
        }

    def advance(
        self,
        n_rounds: int,
        record_every: int = 1,
        is_stopped: Callable[[], bool] = lambda: False,
    ) -> list[list[Records]]:
        """Run rounds; return records for each ladder and rung, of every round divisible by ``record_every``.

        Parameters
        ----------
        n_rounds : int
        record_every : int
        is_stopped : callable
            Asked before each replica's turn; once true, the rest is left for the next call and what has been
            recorded is returned.
        """
        if n_rounds < 0 or record_every < 1:
            raise ValueError(
                "n_rounds must not be negative and record_every at least 1; "
                f"got {n_rounds} and {record_every}"
            )
        found: list[list[list[Records]]] = [[[] for _ in self.epsilons] for _ in self._chains]
        for _ in range(n_rounds):
            if not self._run_round(record_every, is_stopped):
                break
            for ladder, row in enumerate(self._parts):
                for rung, records in enumerate(row):
                    if records is not None and len(records.step):
                        found[ladder][rung].append(records)
            self._exchange()
            self.rounds += 1
        nothing = self.chain_at(0, 0).advance(0, 1)
        return [[Records.concatenate(parts or [nothing]) for parts in row] for row in found]

    def adapt(self, rejection: float = REJECTION) -> None:
        """Place the rungs anew by the rates measured since they were placed; for burn-in only.

        Each new rung begins with the plan of the nearest old one, and all counts begin again.
        """
        self._check_finished("adapting")
        old = self.epsilons
        self._set_rungs(place_rungs(old, 1 - self.exchange_rates, rejection))
        nearest = np.abs(self.epsilons[:, None] - old).argmin(axis=1)
        self._seat(
            [[self.chain_at(ladder, rung).assignment for rung in nearest] for ladder in range(self.n_ladders)]
        )

    def memory(self) -> Memory:
        """All that decides how the ladders go on; mostly not copies, see :meth:`Chain.memory`.

        Raises
        ------
        ValueError
            When a round is unfinished.
        """
        self._check_finished("remembering")
        memory = {
            "epsilons": self.epsilons,
            "rounds": np.array(self.rounds),
            "n_spawned": np.array(self._seeds.n_children_spawned),
            **self._counts(),
        }
        for number, rng in enumerate(self._exchange_rngs):
            memory[f"exchange/{number}"] = pack_generator(rng)
        for place in np.ndindex(self.n_ladders, self.n_rungs):
            memory |= nest(_seat_name(*place), self.chain_at(*place).memory())
        return memory

    def recall(self, memory: Memory) -> None:
        """Go on from where ladders with the same problem, target, starts, seed and mixture stood."""
        self._set_rungs(memory["epsilons"])
        # Chains are made with any valid plan; all that they hold is then overwritten.
        self._take_seats([[row[0]] * self.n_rungs for row in self._seats])
        overwrite(self._counts(), memory)
        self.rounds = int(memory["rounds"])
        n_spawned = int(memory["n_spawned"])
        self._seeds = np.random.SeedSequence(self._seeds.entropy, n_children_spawned=n_spawned)
        for number, rng in enumerate(self._exchange_rngs):
            unpack_generator(rng, memory[f"exchange/{number}"])
        for place in np.ndindex(self.n_ladders, self.n_rungs):
            self.chain_at(*place).recall(within(_seat_name(*place), memory))

    def _counts(self) -> Memory:
        return {
            "chance_sum": self._chance_sum,
            "n_tries": self._n_tries,
            "outcomes": self._outcomes,
            "replica": self._replica,
            "heading": self._heading,
            "trips": self._trips,
        }

    def _check_finished(self, doing: str) -> None:
        if self._todo:
            raise ValueError(f"a round is unfinished; advance before {doing}")

    def _set_rungs(self, epsilons: FloatArray) -> None:
        self.epsilons = epsilons
        self.targets = [replace(self.target, epsilon=float(epsilon)) for epsilon in epsilons]

    def _seat(self, plans: Sequence[Sequence[IntArray]]) -> None:
        """Give each ladder's rungs their plans, with new seeds, and begin all counts."""
        self._take_seats([[(plan, seed_of(self._seeds.spawn(1)[0])) for plan in row] for row in plans])

    def _take_seats(self, seats: list[list[tuple[IntArray, int]]]) -> None:
        """Plans and seeds for chains, which are made at their first turn.

        To make one takes time, which can then be stopped and shared by threads.
        """
        self._seats = seats
        self._chains: list[list[Chain | None]] = [[None] * self.n_rungs for _ in seats]
        self._begin_count()

    def _begin_count(self) -> None:
        n_ladders, n_rungs = self.n_ladders, self.n_rungs
        self.rounds = 0
        self._chance_sum = np.zeros(n_rungs - 1)
        self._n_tries = np.zeros(n_rungs - 1, dtype=np.int64)
        shape = n_ladders, n_rungs, len(Mixture._fields), len(Outcomes._fields)
        self._outcomes = np.zeros(shape, dtype=np.int64)
        # Which replica holds each rung, and whether it was last at the bottom (1) or at the top (-1).
        self._replica = np.tile(np.arange(n_rungs), (n_ladders, 1))
        self._heading = np.zeros((n_ladders, n_rungs), dtype=np.int8)
        self._trips = np.zeros((n_ladders, n_rungs), dtype=np.int64)
        self._note_ends()

    def _run_round(self, record_every: int, is_stopped: Callable[[], bool]) -> bool:
        """Every replica's steps of one round; False when it was stopped before all were done."""
        if not self._todo:
            self._todo.extend(np.ndindex(self.n_ladders, self.n_rungs))
            self._parts = [[None] * self.n_rungs for _ in range(self.n_ladders)]
        n_steps = self.steps_per_round
        lock = threading.Lock()

        def work() -> None:
            while not is_stopped():
                try:
                    ladder, rung = self._todo.popleft()
                except IndexError:
                    return
                chain = self.chain_at(ladder, rung)
                before = chain.counter
                self._parts[ladder][rung] = chain.advance(n_steps, n_steps * record_every)
                with lock:
                    self._outcomes[ladder, rung] += chain.counter - before

        if self.n_threads == 1:
            work()
        else:
            with ThreadPoolExecutor(self.n_threads) as pool:
                for future in [pool.submit(work) for _ in range(self.n_threads)]:
                    future.result()
        return not self._todo

    def _exchange(self) -> None:
        for ladder, rng in enumerate(self._exchange_rngs):
            for low in range(self.rounds % 2, self.n_rungs - 1, 2):
                below, above = self.chain_at(ladder, low), self.chain_at(ladder, low + 1)
                gain = above.exponent(self.targets[low]) - above.exponent(self.targets[low + 1])
                gain += below.exponent(self.targets[low + 1]) - below.exponent(self.targets[low])
                chance = min(1.0, float(np.exp(min(gain, 0.0))))
                self._chance_sum[low] += chance
                self._n_tries[low] += 1
                if rng.random() < chance:
                    below.retarget(self.targets[low + 1], _community_bias(self.epsilons[low + 1]))
                    above.retarget(self.targets[low], _community_bias(self.epsilons[low]))
                    self._chains[ladder][low : low + 2] = above, below
                    pair = self._replica[ladder, low : low + 2]
                    pair[:] = pair[::-1].copy()
        self._note_ends()

    def _note_ends(self) -> None:
        rows = np.arange(self.n_ladders)
        bottom, top = self._replica[:, 0], self._replica[:, -1]
        self._trips[rows, bottom] += self._heading[rows, bottom] == -1
        self._heading[rows, bottom] = 1
        self._heading[rows, top] = np.where(self._heading[rows, top] == 1, -1, self._heading[rows, top])


def _seat_name(ladder: int, rung: int) -> str:
    return f"chains/{ladder}/{rung}"


def _community_bias(epsilon: float) -> float:
    """How much the merge-splits of a rung favour cuts between communities.

    Measured on Missouri's precincts: from epsilon 6 on it nearly doubles the plans that change, at 3 and
    below it does nothing.
    """
    return 0.4 if epsilon > 4.0 else 0.0


def _check_rungs(epsilons: ArrayLike) -> FloatArray:
    rungs = np.array(epsilons, dtype=np.float64)
    if rungs.ndim != 1 or not len(rungs) or rungs[0] != 0 or not (np.diff(rungs) > 0).all():
        raise ValueError(f"epsilons must ascend from 0; got {rungs.tolist()}")
    return rungs


def first_rungs(largest: float) -> FloatArray:
    """Rungs to begin the burn-in with: 0 and seven more, closer together where scores change faster."""
    if not (np.isfinite(largest) and largest > 0):
        raise ValueError(f"the largest epsilon must be positive and finite; got {largest}")
    return largest * (np.arange(8) / 7.0) ** 1.5


def place_rungs(
    epsilons: FloatArray, rejection_rates: FloatArray, rejection: float = REJECTION
) -> FloatArray:
    """Rungs between the same ends whose neighbours reject exchanges equally often, ``rejection`` or less.

    Rejections nearly add up: the sum of the rates up to a rung is interpolated by a monotone curve, and the
    new rungs divide it evenly.

    Parameters
    ----------
    epsilons : float64 array, shape (E,)
    rejection_rates : float64 array, shape (E - 1,)
        Measured between neighbours; those not tried yet are nan, and count as 1.
    rejection : float

    Returns
    -------
    float64 array
    """
    rates = np.where(np.isfinite(rejection_rates), rejection_rates, 1.0)
    barrier = np.concatenate([[0.0], np.cumsum(np.maximum(rates, 1e-3))])
    n_gaps = max(1, int(np.ceil(barrier[-1] / rejection)))
    curve = PchipInterpolator(barrier, epsilons)
    rungs = np.asarray(curve(np.linspace(0.0, barrier[-1], n_gaps + 1)), dtype=np.float64)
    rungs[0], rungs[-1] = epsilons[0], epsilons[-1]
    return rungs


def choose_steps_per_round(mixture: Mixture, n_units: int) -> int:
    """Steps of a ladder's round: an eighth of the cycle, or of a short one a twentieth of the units."""
    return max(sum(mixture) // 8, n_units // 20, 8)


def burn_in(ladder: Ladder, n_rounds: int, is_stopped: Callable[[], bool] = lambda: False) -> None:
    """Run rounds that are not recorded and place the rungs anew after an eighth, a quarter and half of them.

    Stopped, it leaves the rungs as they are.
    """
    done = 0
    for stage in (*placing_rounds(n_rounds), n_rounds):
        ladder.advance(stage - done, stage + 1, is_stopped)
        if is_stopped():
            return
        done = stage
        if stage < n_rounds:
            ladder.adapt()


def placing_rounds(n_rounds: int) -> tuple[int, ...]:
    """After which rounds of a burn-in of so many the rungs are placed anew."""
    return tuple(stage for stage in (n_rounds // 8, n_rounds // 4, n_rounds // 2) if stage > 0)
