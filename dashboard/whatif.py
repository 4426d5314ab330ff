"""What if a group had testified otherwise? Answered from the plans that the page has."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from bottomup.dashboard.pool import RecordedLadders
from bottomup.sampler.counterfactual import Counterfactual
from bottomup.sampler.promise import bounded_chance
from bottomup.sampler.reweighting import combine, effective_size, neighbouring_rungs, weigh

__all__ = ["LEAST_EFFECTIVE", "GroupShares", "RungPlans", "WhatIf", "answer_what_if", "collect_plans"]

LEAST_EFFECTIVE = 50
"""Fewer effective plans than this say too little, and the answer is left out."""
_PLANS_OF_RUNG = 200


@dataclass(frozen=True, eq=False)
class RungPlans:
    """What one rung's plans have to say, those of all ladders together."""

    epsilon: float
    scores: NDArray[np.float64]
    exponent: NDArray[np.float64]
    """Logarithm of the ratio of the two laws, at an epsilon of 1."""
    removed: NDArray[np.float64]
    """float64 array, shape (R, number removed): 1 where kept whole."""
    added: NDArray[np.float64]


@dataclass(frozen=True)
class GroupShares:
    """How often a group's communities are kept whole, as a mean over them.

    Attributes
    ----------
    without, under : float
        Under the law for the testimonies as submitted, and for those changed.
    baseline : float
        When testimony is ignored.
    least, most : float or None
        The limits on ``under`` that the promise sets, given ``without``; None where it sets none.
    """

    without: float
    under: float
    baseline: float
    least: float | None
    most: float | None

    @property
    def has_limit(self) -> bool:
        """Whether the promise says anything."""
        return self.least is not None and self.most is not None


@dataclass(frozen=True)
class WhatIf:
    """The answer at one epsilon.

    Attributes
    ----------
    epsilon : float
    n_effective : float
        Plans of equal weight that would tell as much about the changed law.
    removed, added : GroupShares or None
        None for a group without members.
    """

    epsilon: float
    n_effective: float
    removed: GroupShares | None
    added: GroupShares | None


def collect_plans(
    recorded: RecordedLadders, counterfactual: Counterfactual, is_stopped: Callable[[], bool]
) -> list[RungPlans] | None:
    """Go through the later half of every rung's recordings, up to some hundred plans each.

    Returns
    -------
    list of RungPlans or None
        None when stopped, or while a rung has no plans.
    """
    found = []
    for rung, epsilon in enumerate(recorded.epsilons):
        scores, exponents, removed, added = [], [], [], []
        for row in recorded.recordings:
            if is_stopped():
                return None
            held = row[rung].read()
            if held is None:
                return None
            later = np.arange(len(held.step) // 2, len(held.step))
            chosen = later[:: max(1, len(later) * len(recorded.recordings) // _PLANS_OF_RUNG)]
            still, plans = row[rung].read_assignments(held.step[chosen])
            if not len(still):
                continue
            own = held.scores(recorded.design.score)[chosen[still]]
            left, came = counterfactual.kept(plans)
            scores.append(own)
            exponents.append(counterfactual.exponent_change(plans, own, 1.0))
            removed.append(left.astype(np.float64))
            added.append(came.astype(np.float64))
        if not scores:
            return None
        joined = (np.concatenate(parts) for parts in (scores, exponents, removed, added))
        found.append(RungPlans(epsilon, *joined))
    return found


def answer_what_if(
    plans: Sequence[RungPlans], epsilons: Sequence[float], delta: float, cost: float | None
) -> list[WhatIf]:
    """How often both groups' communities are kept, by epsilon, before and after a change.

    Plans of the nearest rungs are weighted to epsilon, and from there to the changed testimonies.

    Parameters
    ----------
    plans : sequence of RungPlans
        By rung, ascending.
    epsilons : sequence of float
        Within the rungs.
    delta : float
        Sensitivity of the score.
    cost : float or None
        See :attr:`bottomup.data.changes.Change.cost`; None where no limit holds, see
        :attr:`bottomup.sampler.counterfactual.Counterfactual.has_limit`.

    Returns
    -------
    list of WhatIf
        Answers of fewer effective plans than ``LEAST_EFFECTIVE`` are left out.
    """
    rungs = [rung.epsilon for rung in plans]
    baseline = _means(plans[0], np.full(len(plans[0].scores), 1 / len(plans[0].scores)))
    answers = []
    for epsilon in epsilons:
        nearest = [plans[place] for place in neighbouring_rungs(rungs, epsilon)]
        exponents = [(epsilon - rung.epsilon) / (2 * delta) * rung.scores for rung in nearest]
        without = combine([weigh(exponent) for exponent in exponents])
        under = combine(
            [
                weigh(exponent + epsilon * rung.exponent)
                for exponent, rung in zip(exponents, nearest, strict=True)
            ]
        )
        n_effective = effective_size(np.concatenate(under))
        if n_effective < LEAST_EFFECTIVE:
            continue
        before, after = _pool(nearest, without), _pool(nearest, under)
        log_odds = None if cost is None else cost * epsilon
        groups = [
            _shares(before[number], after[number], baseline[number], log_odds, 0.5 / n_effective)
            for number in (0, 1)
        ]
        answers.append(WhatIf(epsilon, n_effective, *groups))
    return answers


def _pool(
    rungs: Sequence[RungPlans], weights: Sequence[NDArray[np.float64]]
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    parts = [_means(rung, own) for rung, own in zip(rungs, weights, strict=True)]
    removed, added = zip(*parts, strict=True)
    return np.sum(removed, axis=0), np.sum(added, axis=0)


def _means(rung: RungPlans, weights: NDArray[np.float64]) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    return weights @ rung.removed, weights @ rung.added


def _shares(
    before: NDArray[np.float64],
    after: NDArray[np.float64],
    baseline: NDArray[np.float64],
    log_odds: float | None,
    unseen: float,
) -> GroupShares | None:
    if not len(before):
        return None
    least = most = None
    if log_odds is not None:
        # What no plan at hand shows may still happen, and what all show may fail to: limits of 0 and of 1
        # would claim to know that it does not.
        at_least, at_most = np.minimum(before, 1 - unseen), np.maximum(before, unseen)
        least = float(np.mean([bounded_chance(chance, -log_odds) for chance in at_least]))
        most = float(np.mean([bounded_chance(chance, log_odds) for chance in at_most]))
    return GroupShares(
        without=float(before.mean()),
        under=float(after.mean()),
        baseline=float(baseline.mean()),
        least=least,
        most=most,
    )
