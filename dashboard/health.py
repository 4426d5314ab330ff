"""How well the walks of a page work: the figures behind what is said of their reliability."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from bottomup.dashboard.recording import Plans
from bottomup.sampler.chain import Outcomes
from bottomup.sampler.diagnostics import ESS_AT_LEAST, RHAT_BELOW, Convergence
from bottomup.sampler.problem import Problem
from bottomup.sampler.statistics import evaluate_plan, ranked_shares
from bottomup.sampler.types import Mixture

__all__ = [
    "MOST_POINTS",
    "Figure",
    "Finding",
    "RungFigures",
    "Trace",
    "Workings",
    "quantities_of",
    "ranked_figures",
    "trace_of",
    "values_of_plan",
]

MOST_POINTS = 500
"""Points of a drawn trace at most."""

Finding = Literal["disagree", "too few", "unknown", "agree", "constant"]
_WORST_FIRST: tuple[Finding, ...] = ("disagree", "too few", "unknown", "agree", "constant")


class RungFigures(NamedTuple):
    """What the ladders say of every quantity at one rung."""

    epsilon: float
    convergences: tuple[Convergence, ...]


class Figure(NamedTuple):
    """One quantity at one rung, and what its figures amount to."""

    epsilon: float
    convergence: Convergence
    finding: Finding


def _find(convergence: Convergence) -> Finding:
    if convergence.is_constant:
        return "constant"
    if convergence.rhat >= RHAT_BELOW:
        return "disagree"
    sizes = convergence.ess_bulk, convergence.ess_tail
    if any(size < ESS_AT_LEAST for size in sizes):
        return "too few"
    return "agree" if convergence.agrees() else "unknown"


def ranked_figures(rungs: Sequence[RungFigures]) -> list[Figure]:
    """All quantities at all rungs, those that stand in the way of agreement first.

    Disagreement comes first, by R-hat; then too few effective plans, by their number; then what cannot be
    told, what agrees, and what never varies.
    """
    figures = [
        Figure(rung.epsilon, convergence, _find(convergence))
        for rung in rungs
        for convergence in rung.convergences
    ]

    def badness(figure: Figure) -> tuple[float, float, float]:
        own = figure.convergence
        rhat = -math.inf if math.isnan(own.rhat) else own.rhat
        size = min(_or_most(own.ess_bulk), _or_most(own.ess_tail))
        place = _WORST_FIRST.index(figure.finding)
        return (place, size, -rhat) if figure.finding == "too few" else (place, -rhat, size)

    return sorted(figures, key=badness)


def _or_most(size: float) -> float:
    return math.inf if math.isnan(size) else size


@dataclass(frozen=True, eq=False)
class Workings:
    """Counts of the ladders since their rungs were placed. Letters: ``L`` ladders, ``E`` rungs.

    Attributes
    ----------
    epsilons : tuple of float, length E
    starts : tuple of str, length L
        What each ladder began at.
    start_values : tuple of mapping of str to float, length L
        Every quantity of the plan that each ladder began at.
    mixture : Mixture
    counter : int64 array, shape (L, E, 4, 6)
        Steps by ladder, rung, move and outcome; of stored runs, see ``counted``.
    exchange_rates : tuple of float, length E - 1
        Mean chances of an exchange between neighbours; NaN before the first try.
    round_trips : tuple of int, length L
        Ways of replicas from the lowest rung to the highest and back.
    drift : float
        The most that rounding has added up to in the log tree count between two factorisations; NaN where
        that is not known.
    counted : tuple of str
        What each row of ``counter`` adds up, where that is several ladders together: the runs that they are
        from. Empty where each ladder has a row.
    stuck : mapping of (int, int) to str
        By ladder and rung, what a run without a page said of a walk that stood still.
    """

    epsilons: tuple[float, ...]
    starts: tuple[str, ...]
    start_values: tuple[Mapping[str, float], ...]
    mixture: Mixture
    counter: NDArray[np.int64]
    exchange_rates: tuple[float, ...]
    round_trips: tuple[int, ...]
    drift: float
    counted: tuple[str, ...] = ()
    stuck: Mapping[tuple[int, int], str] = field(default_factory=dict)

    def outcomes(self, ladder: int, rung: int) -> dict[str, Outcomes]:
        """How the steps of one walk, or row, ended, for each kind of move that it makes."""
        return {
            name: Outcomes(*(int(count) for count in row))
            for name, row, has_steps in zip(
                self.mixture._fields, self.counter[ladder, rung], self.mixture, strict=True
            )
            if has_steps
        }


def quantities_of(ladders: Sequence[Plans], shares: Sequence[str]) -> dict[str, list[NDArray[np.generic]]]:
    """By name the draws of each ladder, shape (R,): scores, cut edges, and shares by rank.

    What has no value in any plan is left out, such as the cluster score of a map without clusters.

    Parameters
    ----------
    ladders : sequence of Plans
        Recorded at one rung of each.
    shares : sequence of str
        Of recorded shares; "Democratic" gives "Democratic 1" for the lowest district of each plan, and so on.
    """
    quantities: dict[str, list[NDArray[np.generic]]] = {
        "score_testimony": [plans.testimony for plans in ladders],
        "score_cluster": [plans.cluster for plans in ladders],
        "cut_edges": [plans.cut_edges for plans in ladders],
    }
    for name in shares:
        for rank in range(ladders[0].shares[name].shape[1]):
            quantities[f"{name} {rank + 1}"] = [plans.shares[name][:, rank] for plans in ladders]
    return {
        name: draws
        for name, draws in quantities.items()
        if not all(np.isnan(np.asarray(each, dtype=np.float64)).all() for each in draws)
    }


def values_of_plan(
    problem: Problem,
    assignment: NDArray[np.int32],
    n_districts: int,
    shares: Mapping[str, tuple[NDArray[np.float64], NDArray[np.float64]]],
) -> dict[str, float]:
    """Every quantity of one plan, by name.

    Parameters
    ----------
    problem : Problem
    assignment : int32 array, shape (n,)
    n_districts : int
    shares : mapping of str to (numerator, denominator), float64 arrays, shape (n,)
    """
    statistics = evaluate_plan(problem, assignment, n_districts)
    values = {
        "score_testimony": float(statistics.score_testimony),
        "score_cluster": float(statistics.score_cluster),
        "cut_edges": float(statistics.cut_edges),
    }
    for name, (numerator, denominator) in shares.items():
        ranked = ranked_shares(assignment[None, :], n_districts, numerator, denominator)[0]
        values |= {f"{name} {rank + 1}": float(value) for rank, value in enumerate(ranked)}
    return values


class Trace(NamedTuple):
    """A quantity over the rounds of one walk.

    Attributes
    ----------
    step : int64 array, shape (P,)
        At most `MOST_POINTS`, evenly spaced.
    value : float64 array, shape (P,)
    counts_from : int
        First step of the later half, which alone is used.
    mean, low, high : float
        Of all values of the later half; the middle 90 % lies between the latter two.
    """

    step: NDArray[np.int64]
    value: NDArray[np.float64]
    counts_from: int
    mean: float
    low: float
    high: float


def trace_of(step: NDArray[np.int64], draws: NDArray[np.generic]) -> Trace:
    """The trace of a quantity, thinned to be drawn.

    Parameters
    ----------
    step : int64 array, shape (R,)
        Ascending.
    draws : array of numbers, shape (R,)
        At least one.
    """
    values = draws.astype(np.float64)
    middle = len(values) // 2
    later = values[middle:]
    low, high = np.quantile(later, (0.05, 0.95))
    # From the latest back, so that the end of the line is where the walk is.
    spacing = math.ceil(len(values) / MOST_POINTS)
    rows = np.arange(len(values) - 1, -1, -spacing)[::-1]
    return Trace(
        step=step[rows],
        value=values[rows],
        counts_from=int(step[middle]),
        mean=float(later.mean()),
        low=float(low),
        high=float(high),
    )
