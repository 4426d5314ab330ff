"""Comparison of the walk with the exact law on a grid small enough to list every plan."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import ArrayLike, NDArray

from bottomup.sampler.chain import WALK_ALONE, Chain, Step
from bottomup.sampler.enumeration import encode_plans, enumerate_plans, exact_law
from bottomup.sampler.ladder import Ladder
from bottomup.sampler.problem import Problem
from bottomup.sampler.sensitivity import Weighting
from bottomup.sampler.start import make_start
from bottomup.sampler.statistics import score_plans
from bottomup.sampler.target import Target
from bottomup.sampler.types import FloatArray, Mixture

__all__ = ["Verification", "compare_batches", "make_grid_problem", "verify", "verify_ladder"]

N_BATCHES = 200
N_REDRAWS = 4000
STEPS_PER_ROUND = 20
"""Of a ladder's replicas; the last plan of each round is counted."""
FALSE_ALARMS = 1e-3
"""Chance that a run of a correct sampler is failed."""


@dataclass(frozen=True)
class Verification:
    """What :func:`verify` found."""

    n_plans: int
    n_missed: int
    """Plans that the walk never reached."""
    missed_probability: float
    """Their probability under the exact law."""
    means: dict[str, tuple[float, float, float]]
    """Exact mean, sampled mean and standard error of each statistic."""
    effective_size: float
    """Independent plans that would err as much."""
    distance: float
    """Total-variation distance of the sampled frequencies from the exact law."""
    expected: float
    """The mean distance of independent samples of the effective size."""
    limit: float
    """The distance that a correct sampler exceeds with chance ``FALSE_ALARMS``."""

    @property
    def passed(self) -> bool:
        """Whether the distance is within the limit."""
        return self.distance <= self.limit


def make_grid_problem(
    rows: int,
    cols: int,
    n_testimonies: int = 12,
    n_clusters: int = 3,
    weighting: Weighting = Weighting(),  # noqa: B008 (never changed)
) -> Problem:
    """A grid of units of one person each, with the same drawn testimonies every time.

    The testimonies are connected sets of 2 to 4 units; testimony ``i`` belongs to cluster ``i % n_clusters``.
    """
    cells = np.arange(rows * cols).reshape(rows, cols)
    edges = np.concatenate(
        [
            np.column_stack([cells[:, :-1].ravel(), cells[:, 1:].ravel()]),
            np.column_stack([cells[:-1].ravel(), cells[1:].ravel()]),
        ]
    )
    rng = np.random.default_rng(20_20)
    neighbors: list[list[int]] = [[] for _ in range(rows * cols)]
    for u, v in edges:
        neighbors[u].append(int(v))
        neighbors[v].append(int(u))
    members: list[list[int]] = []
    for _ in range(n_testimonies):
        units = [int(rng.integers(rows * cols))]
        size = min(int(rng.integers(2, 5)), rows * cols)
        while len(units) < size:
            border = sorted({v for u in units for v in neighbors[u]} - set(units))
            units.append(border[int(rng.integers(len(border)))])
        members.append(sorted(units))
    return Problem.from_arrays(
        np.ones(rows * cols, dtype=np.int64),
        edges,
        np.concatenate([[0], np.cumsum([len(units) for units in members])]),
        np.concatenate(members),
        np.arange(n_testimonies) % n_clusters,
        n_clusters,
        weighting,
    )


def verify(
    problem: Problem,
    target: Target,
    n_steps: int,
    seed: int = 1,
    step: Step = "mixed",
    control: bool = False,
    mixture: Mixture = WALK_ALONE,
    progress: Callable[[int], None] | None = None,
) -> Verification:
    """Enumerate every plan, run the walk and compare.

    Every step is counted. The run is cut into batches; the deviations of the batches' frequencies from the
    run's, added up with random normal weights, are redraws of the run's own error with all its
    autocorrelation (a multiplier bootstrap of batch means). They give the distance to expect of a correct
    sampler and the limit that it exceeds once in a thousand runs.

    Parameters
    ----------
    problem : Problem
    target : Target
    n_steps : int
        At least ``N_BATCHES``.
    seed : int
    step : {"mixed", "paper"}
    control : bool
        Break the acceptance ratio on purpose, see :class:`Chain`; the comparison must fail.
    mixture : Mixture
        Steps of each kind in a cycle.
    progress : callable, optional
        Called with the number of steps of each finished batch.

    Raises
    ------
    EnumerationError
        When the plans cannot be listed.
    ValueError
        When ``n_steps`` is too small.
    """
    if n_steps < N_BATCHES:
        raise ValueError(f"n_steps must be at least {N_BATCHES}, one for each batch; got {n_steps}")
    k = target.n_districts
    # First of all: the plans of many grids cannot be listed.
    plans = enumerate_plans(problem, k, target.lower, target.upper)
    start = make_start(problem, k, target.lower, target.upper, seed)
    chain = Chain(problem, target, start, seed, step=step, control=control, mixture=mixture)
    size = n_steps // N_BATCHES

    def batches() -> Iterator[tuple[NDArray[np.unsignedinteger], None]]:
        for _ in range(N_BATCHES):
            yield chain.advance(size, 1).assignment, None
            if progress is not None:
                progress(size)

    return _compare_batches(problem, target, plans, batches(), seed)


def verify_ladder(
    problem: Problem,
    target: Target,
    epsilons: ArrayLike,
    n_steps: int,
    seed: int = 1,
    control: bool = False,
    mixture: Mixture = WALK_ALONE,
    progress: Callable[[int], None] | None = None,
) -> list[Verification]:
    """Enumerate every plan, run a ladder and compare each rung with its own law, as :func:`verify` does.

    Parameters
    ----------
    problem : Problem
    target : Target
        Its epsilon is replaced by each rung's.
    epsilons : array_like of float, shape (E,)
        The rungs, ascending from 0.
    n_steps : int
        Of each replica, at least ``N_BATCHES * STEPS_PER_ROUND``.
    seed : int
    control : bool
        Break the acceptance ratio of every replica on purpose; the comparisons must fail.
    mixture : Mixture
    progress : callable, optional
        Called with the number of steps, of each replica, of every finished batch.

    Returns
    -------
    list of Verification
        For each rung.

    Raises
    ------
    EnumerationError
        When the plans cannot be listed.
    ValueError
        When ``n_steps`` is too small, or the rungs do not ascend from 0.
    """
    n_rounds = n_steps // (N_BATCHES * STEPS_PER_ROUND)
    if n_rounds < 1:
        raise ValueError(
            f"n_steps must be at least {N_BATCHES * STEPS_PER_ROUND}, a round of {STEPS_PER_ROUND} steps for "
            f"each of {N_BATCHES} batches; got {n_steps}"
        )
    plans = enumerate_plans(problem, target.n_districts, target.lower, target.upper)
    start = make_start(problem, target.n_districts, target.lower, target.upper, seed)
    ladder = Ladder(
        problem,
        target,
        [start],
        epsilons,
        seed,
        mixture=mixture,
        steps_per_round=STEPS_PER_ROUND,
        control=control,
    )
    rungs: list[list[tuple[NDArray[np.unsignedinteger], None]]] = [[] for _ in ladder.epsilons]
    for _ in range(N_BATCHES):
        for batches, records in zip(rungs, ladder.advance(n_rounds)[0], strict=True):
            batches.append((records.assignment, None))
        if progress is not None:
            progress(n_rounds * STEPS_PER_ROUND)
    return [
        _compare_batches(problem, replace(target, epsilon=float(epsilon)), plans, batches, seed)
        for epsilon, batches in zip(ladder.epsilons, rungs, strict=True)
    ]


def compare_batches(
    problem: Problem,
    target: Target,
    batches: Iterable[tuple[NDArray[np.unsignedinteger], ArrayLike | None]],
    seed: int = 1,
) -> Verification:
    """Enumerate every plan and compare sampled plans with the law of a target.

    Parameters
    ----------
    problem : Problem
    target : Target
    batches : iterable of (unsigned array of shape (R, n), array_like of float of shape (R,) or None)
        Consecutive stretches of a run: its plans, and their weights when they are to be reweighted.
    seed : int
        Of the redraws.

    Raises
    ------
    EnumerationError
        When the plans cannot be listed.
    """
    plans = enumerate_plans(problem, target.n_districts, target.lower, target.upper)
    return _compare_batches(problem, target, plans, batches, seed)


def _compare_batches(
    problem: Problem,
    target: Target,
    plans: NDArray[np.uint8],
    batches: Iterable[tuple[NDArray[np.unsignedinteger], ArrayLike | None]],
    seed: int,
) -> Verification:
    k = target.n_districts
    codes = encode_plans(plans, k)
    order = np.argsort(codes)
    sums = []
    for assignment, weights in batches:
        place = order[np.searchsorted(codes, encode_plans(assignment, k), sorter=order)]
        share = None if weights is None else np.asarray(weights, dtype=np.float64)
        sums.append(np.bincount(place, share, minlength=len(plans)))
    # A share of the whole run's weight, so that batches of little weight count little.
    frequencies = np.array(sums) * len(sums) / np.sum(sums)
    return _compare(problem, k, plans, exact_law(problem, target, plans), frequencies, seed)


def _compare(
    problem: Problem,
    n_districts: int,
    plans: NDArray[np.uint8],
    exact: FloatArray,
    frequencies: FloatArray,
    seed: int,
) -> Verification:
    n_batches = len(frequencies)
    sampled = frequencies.mean(axis=0)
    deviations = (frequencies - sampled) / np.sqrt(n_batches * (n_batches - 1))
    rng = np.random.default_rng(seed)
    redraws = rng.standard_normal((N_REDRAWS, n_batches)) @ deviations
    distances = np.abs(redraws).sum(axis=1) / 2
    scores = score_plans(problem, plans, n_districts)
    columns = {"cut edges": scores.cut_edges.astype(float)}
    if problem.n_testimonies:
        columns["testimony score"] = scores.score_testimony
    if problem.n_clusters:
        columns["cluster score"] = scores.score_cluster
    means = {
        name: (
            float(exact @ values),
            float(sampled @ values),
            float(np.std(frequencies @ values, ddof=1) / np.sqrt(n_batches)),
        )
        for name, values in columns.items()
    }
    variance = float((deviations**2).sum())
    return Verification(
        n_plans=len(plans),
        n_missed=int((sampled == 0).sum()),
        missed_probability=float(exact[sampled == 0].sum()),
        means=means,
        effective_size=float((exact * (1 - exact)).sum() / variance) if variance else 1.0,
        distance=float(np.abs(sampled - exact).sum() / 2),
        expected=float(distances.mean()),
        limit=float(np.quantile(distances, 1 - FALSE_ALARMS)),
    )
