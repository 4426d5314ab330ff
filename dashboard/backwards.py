"""Working backwards: the smallest ε on record that keeps enough together."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from bottomup.dashboard.pool import RecordedLadders
from bottomup.sampler.reweighting import combine, effective_size, neighbouring_rungs, reweight

__all__ = ["Reached", "find_smallest_epsilon"]


class Reached(NamedTuple):
    """How much plans keep together, on average.

    Attributes
    ----------
    epsilon : float or None
        The smallest that reaches the level; None when none does.
    mean : float
        Of the score at that ε, or the largest mean at any when none reaches the level.
    at : float
        Where that mean is.
    n_effective : float
        Plans of equal weight that would tell as much, before their likeness to each other is counted.
    baseline : float
        The mean when testimony is ignored.
    """

    epsilon: float | None
    mean: float
    at: float
    n_effective: float
    baseline: float


def find_smallest_epsilon(
    recorded: RecordedLadders, level: float, epsilons: Sequence[float]
) -> Reached | None:
    """Find the smallest of some epsilons at which the mean score of the ladders is a level or more.

    The mean grows with epsilon: its derivative is the variance of the score over 2 Delta.

    Parameters
    ----------
    recorded : RecordedLadders
        Their score is the one that is meant.
    level : float
        From 0 to 1.
    epsilons : sequence of float
        Ascending from 0; those beyond the rungs are left out.

    Returns
    -------
    Reached or None
        None while a rung has no plans.
    """
    scores = []
    for rung in range(len(recorded.epsilons)):
        parts = []
        for row in recorded.recordings:
            plans = row[rung].read()
            if plans is None:
                return None
            values = plans.scores(recorded.design.score)
            parts.append(values[len(values) // 2 :])
        scores.append(np.concatenate(parts))
    means, sizes = [], []
    epsilons = recorded.within(epsilons)
    for epsilon in epsilons:
        nearest = neighbouring_rungs(recorded.epsilons, epsilon)
        weights = combine(
            [reweight(scores[rung], recorded.epsilons[rung], epsilon, recorded.delta) for rung in nearest]
        )
        mean = sum(own @ scores[rung] for own, rung in zip(weights, nearest, strict=True))
        means.append(float(mean))
        sizes.append(effective_size(np.concatenate(weights)))
        if mean >= level:
            return Reached(epsilon, means[-1], epsilon, sizes[-1], means[0])
    best = int(np.argmax(means))
    return Reached(None, means[best], epsilons[best], sizes[best], means[0])
