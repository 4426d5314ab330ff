r"""What the draws of an attack say at any epsilon, and what the promise allows.

**Estimates** are weighted means of the later half of the draws at the neighbouring rungs, see
:mod:`bottomup.sampler.reweighting`. The effective size of a rung's mean is its bulk effective sample size
times the share of the weights that is effective (Kish). Neighbouring rungs exchange plans, so their errors
are added as if they were one and the same: the standard deviation of a sum is no more than the sum of the
standard deviations, however they are correlated.

**The formal limit.** Testimonies that are replaced, c times epsilon in all (:attr:`Change.cost`), move the
odds of any set of plans by a factor of exp(c epsilon) or less. The plans that keep a community whole are such
a set, so its chance p without the attack leaves it one of f(p) or less with it, where f multiplies the odds;
and the mean over a group is the mean of f(p) or less. For a share B in [0, 1] of a plan, such as that of a
group's weight in its best district, E B is the integral of the chance of B > x over x; f is concave, so with
the attack E B is f(E B) or less (Jensen). Least values follow with the roles of the data sets exchanged.

**A prediction of the attacked law** from draws of the other is their mean under the weights of
:mod:`bottomup.sampler.counterfactual`. It has nothing in common with the attacked run, so each checks the
other.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from bottomup.sampler.attack import QUANTITIES, Measured
from bottomup.sampler.diagnostics import ESS_AT_LEAST, RHAT_BELOW, Convergence, diagnose
from bottomup.sampler.promise import bounded_chance
from bottomup.sampler.reweighting import combine, effective_size, neighbouring_rungs, weigh
from bottomup.sampler.types import FloatArray

__all__ = ["GROUPS", "PREDICTED_AT_LEAST", "Estimate", "Finding", "Limit", "Point", "Reader", "compare"]

GROUPS = ("honest", "adversary")
"""The groups whose communities are followed one by one."""
PREDICTED_AT_LEAST = 50.0
"""Effective draws that a prediction of the attacked law must rest on."""
WITHIN = 3.0
"""Standard errors that two figures of the same thing may differ by, or a limit be exceeded by."""
WIDE = 2.0
"""Standard errors between an estimated chance and the ends of its interval."""


class Estimate(NamedTuple):
    """A mean, and how sure it is. Undefined figures are nan."""

    mean: float
    error: float
    """Standard error; nan when the effective size is."""
    effective_size: float
    """nan when the quantity did not vary in the draws, or they are too few."""
    rhat: float
    """Between the starts, the largest of the rungs used."""

    @property
    def is_reliable(self) -> bool:
        """Whether the starts agree, on enough draws."""
        return self.rhat < RHAT_BELOW and self.effective_size >= ESS_AT_LEAST

    def agrees(self, other: Estimate) -> bool | None:
        """Whether two estimates are of the same figure as far as can be told; None when nothing can be."""
        error = math.hypot(self.error, other.error)
        return None if math.isnan(error) else abs(self.mean - other.mean) <= WITHIN * error


class Point(NamedTuple):
    """What the draws say at one epsilon."""

    epsilon: float
    rungs: tuple[float, ...]
    """The rungs that the draws were taken from."""
    n_draws: int
    estimates: dict[str, Estimate]
    """Of each quantity; without those of groups of none."""
    kept: dict[str, FloatArray]
    """How often each community is kept, by group."""


class Limit(NamedTuple):
    """What the promise allows the attacked data set, given how often things happen in the other."""

    value: float
    """At the estimated chances."""
    with_error: float
    """At the ends of their intervals of two standard errors."""


@dataclass(frozen=True)
class Finding:
    """Both data sets at one epsilon."""

    honest: Point
    attacked: Point
    predicted: Point
    """Of the attacked law, from the draws of the other data set."""
    limits: dict[str, Limit]
    """By quantity: the most for the adversary's, the least for the honest ones'. Empty when none holds."""

    @property
    def epsilon(self) -> float:
        """Where."""
        return self.honest.epsilon

    def prediction(self, quantity: str) -> Estimate | None:
        """The predicted figure, when it rests on enough draws."""
        found = self.predicted.estimates.get(quantity)
        return found if found is not None and found.effective_size >= PREDICTED_AT_LEAST else None

    def exceeds(self, quantity: str) -> bool:
        """Whether the attacked figure is beyond the formal limit by more than errors explain.

        Where the error is not known, it may explain anything.
        """
        limit, found = self.limits.get(quantity), self.attacked.estimates.get(quantity)
        if limit is None or found is None or math.isnan(found.error):
            return False
        if quantity.endswith("_adversary"):
            return found.mean - WITHIN * found.error > limit.with_error
        return found.mean + WITHIN * found.error < limit.with_error


class Reader:
    """The later half of the draws of ladders, with their diagnostics.

    Parameters
    ----------
    measured : Measured
        No draws are to be added meanwhile.
    """

    def __init__(self, measured: Measured) -> None:
        self._measured = measured
        self._known: dict[int, dict[str, Convergence]] = {}

    @property
    def has_draws(self) -> bool:
        """Whether the later half holds any."""
        return min(len(draws.figures) for row in self._measured.draws for draws in row) >= 4

    def point(self, epsilon: float, is_attacked: bool = False) -> Point:
        """Estimates at an epsilon.

        Parameters
        ----------
        epsilon : float
            Between the rungs' ends.
        is_attacked : bool
            Weigh the draws to the attacked law; for draws with a counterfactual.
        """
        epsilons, delta = self._measured.epsilons, self._measured.measure.sensitivity.delta
        rungs = neighbouring_rungs(epsilons, epsilon)
        found = [self._convergences(rung) for rung in rungs]
        figures, kept = zip(*(self._later_half(rung) for rung in rungs), strict=True)
        weights = []
        for rung, rows in zip(rungs, figures, strict=True):
            exponent = (epsilon - epsilons[rung]) / (2 * delta) * rows[:, _SCORE]
            if is_attacked:
                exponent = exponent + epsilon * rows[:, len(QUANTITIES)]
            weights.append(weigh(exponent))
        shares = [effective_size(each) / len(each) for each in weights]
        combined = combine(weights)
        weight, values = np.concatenate(combined), np.concatenate(figures)
        estimates = {}
        for column, name in enumerate(QUANTITIES):
            if np.isnan(values[:, column]).all():
                continue
            mean = float(weight @ values[:, column])
            spread = math.sqrt(float(weight @ (values[:, column] - mean) ** 2))
            doubt = sum(
                float(each.sum()) / math.sqrt(min(by_name[name].ess_bulk, len(each)) * share)
                for each, share, by_name in zip(combined, shares, found, strict=True)
            )
            rhats = [by_name[name].rhat for by_name in found]
            estimates[name] = Estimate(mean, spread * doubt, doubt**-2, float(np.max(rhats)))
        each_kept = weight @ np.concatenate(kept)
        n_honest = len(self._measured.measure.attack.honest.ids)
        return Point(
            epsilon=epsilon,
            rungs=tuple(float(epsilons[rung]) for rung in rungs),
            n_draws=len(weight),
            estimates=estimates,
            kept={"honest": each_kept[:n_honest], "adversary": each_kept[n_honest:]},
        )

    def _later_half(self, rung: int) -> tuple[FloatArray, Any]:
        """Figures and kept communities of all ladders at a rung, as many of each ladder."""
        draws = [row[rung] for row in self._measured.draws]
        n = self._convergences(rung)["score"].n_draws
        return (
            np.concatenate([each.figures[len(each.figures) - n :] for each in draws]),
            np.concatenate([each.kept[len(each.kept) - n :] for each in draws]),
        )

    def _convergences(self, rung: int) -> dict[str, Convergence]:
        if rung not in self._known:
            draws = [row[rung] for row in self._measured.draws]
            found = diagnose({name: [each.quantity(name) for each in draws] for name in QUANTITIES})
            self._known[rung] = {each.quantity: each for each in found}
        return self._known[rung]


_SCORE = QUANTITIES.index("score")


def compare(honest: Reader, attacked: Reader, epsilon: float, cost: float | None) -> Finding:
    """Both data sets at an epsilon, and what the promise allows.

    Parameters
    ----------
    honest, attacked : Reader
        Of the data sets before and after the change; the first has a counterfactual, so it predicts.
    epsilon : float
    cost : float or None
        How many times epsilon the odds can move, see :attr:`Change.cost`; None when no such promise holds.
    """
    without = honest.point(epsilon)
    limits = {} if cost is None else _limits(without, cost * epsilon)
    return Finding(without, attacked.point(epsilon), honest.point(epsilon, is_attacked=True), limits)


def _limits(without: Point, log_odds: float) -> dict[str, Limit]:
    found = {}
    for group, sign in zip(GROUPS, (-1, 1), strict=True):
        for kind in ("kept", "best"):
            estimate = without.estimates.get(f"{kind}_{group}")
            if estimate is None:
                continue
            chances = without.kept[group] if kind == "kept" else np.array([estimate.mean])
            ends = [_end(float(chance), estimate.effective_size, sign) for chance in chances]
            found[f"{kind}_{group}"] = Limit(
                _mean_bound(chances.tolist(), sign * log_odds), _mean_bound(ends, sign * log_odds)
            )
    return found


def _mean_bound(chances: Sequence[float], log_odds: float) -> float:
    return float(np.mean([bounded_chance(chance, log_odds) for chance in chances]))


def _end(chance: float, n: float, sign: int) -> float:
    """End of the interval of a chance that was seen in n draws (E. B. Wilson, 1927).

    For a share in [0, 1] in place of a chance it errs on the wide side: no share varies more.
    """
    if math.isnan(n):
        return 1.0 if sign > 0 else 0.0
    middle = chance + WIDE**2 / (2 * n)
    half = WIDE * math.sqrt(chance * (1 - chance) / n + WIDE**2 / (4 * n**2))
    return min(1.0, max(0.0, (middle + sign * half) / (1 + WIDE**2 / n)))
