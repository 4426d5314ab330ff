"""One chain of the walk, run in batches that can be watched and stopped between any two."""

from __future__ import annotations

from typing import Literal, NamedTuple, get_args

import numpy as np
from numpy.typing import ArrayLike, NDArray

from bottomup.sampler.kernels import walk
from bottomup.sampler.kernels.mixture import run_mixture
from bottomup.sampler.kernels.tallies import CLUSTER_WEIGHT, PRESERVED
from bottomup.sampler.memory import Memory, overwrite, pack_generator, unpack_generator
from bottomup.sampler.pattern import make_cholesky
from bottomup.sampler.problem import Problem
from bottomup.sampler.start import build_state, check_assignment, make_workshop
from bottomup.sampler.target import Target
from bottomup.sampler.types import FloatArray, IntArray, Law, LongArray, Mixture

__all__ = [
    "WALK_ALONE",
    "Chain",
    "Outcomes",
    "Records",
    "Step",
    "assignment_dtype",
    "default_mixture",
    "warm_up",
]

Step = Literal["mixed", "paper"]
NOTHING = Mixture(flips=0, community_flips=0, merge_splits=0, walks=0)
WALK_ALONE = NOTHING._replace(walks=1)
"""The Marked Edge Walk and nothing else."""
_LASTING = {
    "cholesky": ("value", "pivot", "ground", "drift", "note"),
    "workshop": ("cut_edges", "cut_slot", "log_trees", "is_counted"),
}
"""Buffers that outlast a step. Every other one is written anew before it is read, or is zero."""


def default_mixture(n_units: int) -> Mixture:
    """A cycle that serves maps of any size: flips for the borders, merge-splits for the rest, and the walk.

    On Missouri's 4,604 precincts at a tolerance of 5 % and epsilon 0, a merge-split for every 100 to 2,000
    flips makes as many effective samples a second, within what can be told; here it is one for every 670.
    The walk, and the trees and the factor made anew for it, take about a fifth of the time.
    """
    return Mixture(
        flips=max(8, 7 * n_units // 2),
        community_flips=max(1, 7 * n_units // 20),
        merge_splits=24,
        walks=max(8, n_units // 20),
    )


class Records(NamedTuple):
    """Thinned plans of a chain with their statistics, oldest first; R of them.

    A plan that a rejection repeats is recorded again: leaving repeats out would change the law.
    """

    step: LongArray
    """int64 array, shape (R,): number of steps taken before the record."""
    assignment: NDArray[np.unsignedinteger]
    """uint8 or uint16 array, shape (R, n): district of each unit."""
    cut_edges: IntArray
    """int32 array, shape (R,)."""
    score_testimony: FloatArray
    """float64 array, shape (R,): share of testimonies preserved; nan without testimonies."""
    score_cluster: FloatArray
    """float64 array, shape (R,): share of cluster weight in best districts; nan without clusters."""
    preserved: NDArray[np.uint8]
    """uint8 array, shape (R, T): 1 where the testimony lies inside one district."""
    cluster_best_share: NDArray[np.float32]
    """float32 array, shape (R, C): share of the cluster's weight in its best district."""

    @classmethod
    def concatenate(cls, parts: list[Records]) -> Records:
        """Join records of consecutive batches."""
        return cls._make(np.concatenate(columns) for columns in zip(*parts, strict=True))

    def take(self, rows: slice | NDArray[np.integer] | NDArray[np.bool_]) -> Records:
        """The records at ``rows``."""
        return Records._make(column[rows] for column in self)


class Outcomes(NamedTuple):
    """How many steps of a chain ended in each way."""

    accepted: int
    """The plan changed."""
    tree_only: int
    """The tree or its marks changed, the plan did not."""
    unchanged: int
    """The state itself was proposed."""
    rejected_population: int
    rejected_marked: int
    rejected_ratio: int

    def since(self, before: Outcomes | None) -> Outcomes:
        """What came after an earlier count; everything when there is none."""
        return self if before is None else Outcomes(*(int(n) for n in np.subtract(self, before)))


def assignment_dtype(n_districts: int) -> type[np.unsignedinteger]:
    """The smallest integer type that numbers the districts."""
    return np.uint8 if n_districts <= 256 else np.uint16


class Chain:
    """A Marked Edge Walk with its own generator.

    The same seed gives the same plans whatever the batches that the run is cut into. One chain is used by one
    thread at a time; its kernels do not hold the GIL.

    Parameters
    ----------
    problem : Problem
    target : Target
    start : array_like of int, shape (n,)
        Any valid plan, districts numbered from 0.
    seed : int
    step : {"mixed", "paper"}
        One of the two moves with even chances, or the paper's step that combines both.
    control : bool
        Leave the number of states of a plan out of the acceptance ratio. The law is then wrong on purpose,
        plans coming up in proportion to their number of states: a check of the sampler must notice.
    mixture : Mixture
        Steps of each kind in a cycle; by default those of the Marked Edge Walk alone.
    community_bias : float
        How much merge-splits favour cuts that pass between communities, see
        :meth:`Problem.community_weights`. It changes what is proposed, not the law.

    Raises
    ------
    StartError
        When the start is not connected and balanced.
    ValueError
        When the target needs testimonies or clusters that the problem lacks.
    """

    def __init__(
        self,
        problem: Problem,
        target: Target,
        start: ArrayLike,
        seed: int,
        step: Step = "mixed",
        control: bool = False,
        mixture: Mixture = WALK_ALONE,
        community_bias: float = 0.0,
    ) -> None:
        if step not in get_args(Step):
            raise ValueError(f"step must be one of {', '.join(get_args(Step))}; got {step!r}")
        if min(mixture) < 0 or sum(mixture) < 1 or (step == "paper" and mixture != WALK_ALONE):
            raise ValueError(
                "mixture must have at least one step and no number below 0, and nothing but walks with step "
                f"'paper'; got {mixture}"
            )
        if seed < 0:
            raise ValueError(f"seed must not be negative; got {seed}")
        self.problem = problem
        self.target = target
        self.step_kind: Step = step
        plan = check_assignment(problem, start, target.n_districts, target.lower, target.upper)
        self._control = control
        self._law = self._make_law(target)
        self._rng = np.random.Generator(np.random.PCG64(seed))
        self.mixture = mixture
        self._weights = problem.community_weights(community_bias)
        self._workshop = make_workshop(problem, target.n_districts)
        self._cholesky = make_cholesky(problem.pattern, target.n_districts)
        self._state = build_state(self._rng, problem, self._cholesky, plan, target.n_districts)

    @property
    def steps(self) -> int:
        """Steps taken so far, rejections included."""
        return int(self._state.counter.sum())

    @property
    def drift(self) -> float:
        """The most that rounding has added up to in the log tree count between two factorisations."""
        return float(self._cholesky.drift[0])

    @property
    def counter(self) -> LongArray:
        """int64 array, shape (4, 6): a copy of the counts of steps by move and outcome."""
        return self._state.counter.copy()

    def exponent(self, target: Target) -> float:
        """The last factor's exponent of a target, epsilon * score / (2 Delta), at the current plan."""
        law, total = target.law(self.problem), self._state.tallies.total
        return float(law.per_testimony * total[PRESERVED] + law.per_cluster_weight * total[CLUSTER_WEIGHT])

    @property
    def outcomes(self) -> Outcomes:
        """How the steps ended, over all moves."""
        return Outcomes(*(int(count) for count in self._state.counter.sum(axis=0)))

    @property
    def outcomes_by_move(self) -> dict[str, Outcomes]:
        """How the steps of each kind ended, for the kinds that the cycle has."""
        return {
            name: Outcomes(*(int(count) for count in row))
            for name, row, has_steps in zip(
                self.mixture._fields, self._state.counter, self.mixture, strict=True
            )
            if has_steps
        }

    @property
    def assignment(self) -> IntArray:
        """int32 array, shape (n,): a copy of the current plan."""
        return self._state.forest.district.copy()

    def retarget(self, target: Target, community_bias: float | None = None) -> None:
        """Go on from the current state under another law with the same districts and bounds.

        Parameters
        ----------
        target : Target
        community_bias : float, optional
            As it is, when not given.

        Raises
        ------
        ValueError
            When the districts or bounds differ: the current plan need not be valid there.
        """
        same = (target.n_districts, target.lower, target.upper)
        if same != (self.target.n_districts, self.target.lower, self.target.upper):
            raise ValueError(
                "retarget keeps the number of districts and the bounds; start a new chain to change them"
            )
        self._law = self._make_law(target)
        self.target = target
        if community_bias is not None:
            self._weights = self.problem.community_weights(community_bias)
            # Tree counts kept from before were made with other weights.
            self._workshop.is_counted[:] = 0

    def memory(self) -> Memory:
        """All that decides how the chain goes on under its law; not copies, but for the generator's.

        The factor is kept as it is, with its rounding, and not made anew. So a chain goes on as if it had
        never been broken off, whenever that was, and it draws the same numbers as one of which no memory was
        ever taken.
        """
        return {"generator": pack_generator(self._rng), **self._lasting()}

    def recall(self, memory: Memory) -> None:
        """Go on from where a chain with the same problem, target, bias and mixture stood."""
        overwrite(self._lasting(), memory)
        unpack_generator(self._rng, memory["generator"])

    def _lasting(self) -> Memory:
        state = self._state
        arrays: Memory = {"counter": state.counter}
        for part, fields in (("forest", state.forest), ("tallies", state.tallies)):
            arrays |= {f"{part}/{name}": array for name, array in fields._asdict().items()}
        for part, buffers in (("cholesky", self._cholesky), ("workshop", self._workshop)):
            arrays |= {f"{part}/{name}": getattr(buffers, name) for name in _LASTING[part]}
        return arrays

    def _make_law(self, target: Target) -> Law:
        law = target.law(self.problem)
        return law._replace(tree_count=0.0) if self._control else law

    def advance(self, n_steps: int, thin: int) -> Records:
        """Take steps and return a record for every step whose number is divisible by ``thin``.

        Parameters
        ----------
        n_steps : int
        thin : int
            At least 1.
        """
        if thin < 1 or n_steps < 0:
            raise ValueError(f"thin must be at least 1 and n_steps not negative; got {thin} and {n_steps}")
        problem, before = self.problem, self.steps
        n_records = (before + n_steps) // thin - before // thin
        n_testimonies, n_clusters = problem.n_testimonies, problem.n_clusters
        buffers = (
            np.empty(n_records, dtype=np.int64),
            np.empty((n_records, problem.n_units), dtype=assignment_dtype(self.target.n_districts)),
            np.empty(n_records, dtype=np.int32),
            np.empty(n_records, dtype=np.int64),
            np.empty(n_records, dtype=np.int64),
            np.empty((n_records, n_testimonies), dtype=np.uint8),
            np.empty((n_records, n_clusters), dtype=np.int64),
        )
        constants = problem.graph, problem.testimony, problem.pattern
        start = self._rng, *constants, self._cholesky, self._law
        end = before, n_steps, thin, buffers
        if self.mixture._replace(walks=0) != NOTHING:
            run_mixture(*start, self._weights, self._state, self._workshop, self.mixture, *end)
        elif self.step_kind == "paper":
            walk.run_paper(*start, self._state, *end)
        else:
            walk.run_mixed(*start, self._state, *end)
        step, assignment, cut_edges, preserved_total, cluster_total, preserved, best = buffers
        weight = problem.testimony.cluster_weight
        nothing = np.full(n_records, np.nan)
        return Records(
            step=step,
            assignment=assignment,
            cut_edges=cut_edges,
            score_testimony=preserved_total / n_testimonies if n_testimonies else nothing,
            score_cluster=cluster_total / problem.cluster_total if problem.cluster_total else nothing,
            preserved=preserved,
            cluster_best_share=(best / np.maximum(weight, 1)).astype(np.float32),
        )


def warm_up(step: Step = "mixed", mixture: Mixture = WALK_ALONE) -> None:
    """Compile the kernels of a kind of chain, or load them from the cache, on a tiny problem."""
    edges = [(0, 1), (2, 3), (0, 2), (1, 3)]
    problem = Problem.from_arrays([1, 1, 1, 1], edges, [0, 2], [0, 1], [0], 1)
    target = Target(n_districts=2, lower=1, upper=3, epsilon=1.0)
    Chain(problem, target, [0, 0, 1, 1], seed=0, step=step, mixture=mixture).advance(10, 5)
