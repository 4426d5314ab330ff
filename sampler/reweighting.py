r"""Plans sampled at one epsilon as a sample at another.

Two laws of the exponential mechanism differ by the last factor alone, so a plan of the law at epsilon counts
as much at epsilon' as

.. math:: \frac{\pi_{\varepsilon'}(\xi)}{\pi_\varepsilon(\xi)}
          \propto \exp\frac{(\varepsilon' - \varepsilon)\, s(\xi)}{2\Delta}

says (importance weights, normalised by their sum). Between two rungs of a ladder whose neighbours exchange
plans often the weights are even, and any epsilon is answered without sampling anew.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike

from bottomup.sampler.types import FloatArray, LongArray

__all__ = ["combine", "effective_size", "neighbouring_rungs", "resample", "reweight", "weigh"]


def neighbouring_rungs(epsilons: ArrayLike, epsilon: float) -> tuple[int, ...]:
    """The rung at an epsilon, or the two around it.

    Parameters
    ----------
    epsilons : array_like of float, shape (E,)
        Ascending.
    epsilon : float

    Raises
    ------
    ValueError
        When epsilon lies outside the rungs: plans there are too unlike to stand for it.
    """
    rungs = np.asarray(epsilons, dtype=np.float64)
    if not rungs[0] <= epsilon <= rungs[-1]:
        raise ValueError(f"epsilon must lie between {rungs[0]:g} and {rungs[-1]:g}; got {epsilon:g}")
    above = int(np.searchsorted(rungs, epsilon))
    return (above,) if rungs[above] == epsilon else (above - 1, above)


def reweight(scores: ArrayLike, from_epsilon: float, to_epsilon: float, delta: float) -> FloatArray:
    """Weights, of sum 1, that make plans sampled at one epsilon stand for another.

    Parameters
    ----------
    scores : array_like of float, shape (R,)
        Of the plans, as the exponent has them.
    from_epsilon, to_epsilon : float
    delta : float
        Sensitivity of the score.

    Returns
    -------
    float64 array, shape (R,)
    """
    return weigh((to_epsilon - from_epsilon) / (2 * delta) * np.asarray(scores, dtype=np.float64))


def weigh(exponent: FloatArray) -> FloatArray:
    """Weights in proportion to exp(exponent), of sum 1."""
    if not len(exponent):
        return exponent
    weights = np.exp(exponent - exponent.max())
    return weights / weights.sum()


def effective_size(weights: ArrayLike) -> float:
    """Number of equally weighted plans that would tell as much, (sum w)^2 / sum w^2 (Kish); 0 for none."""
    values = np.asarray(weights, dtype=np.float64)
    squares = float((values**2).sum())
    return float(values.sum()) ** 2 / squares if squares else 0.0


def combine(weights: Sequence[FloatArray]) -> list[FloatArray]:
    """Weights of several samples of the same law, of sum 1 all together.

    Each sample counts by its effective size, which makes the effective size of the whole the sum of theirs,
    the most that any shares can reach.
    """
    sizes = np.array([effective_size(each) for each in weights])
    total = sizes.sum()
    return [
        each * (size / total / each.sum()) if size else each
        for each, size in zip(weights, sizes, strict=True)
    ]


def resample(weights: ArrayLike, n: int, offset: float = 0.5) -> LongArray:
    """Places of ``n`` plans of equal weight: each comes up its expected number of times, rounded up or down.

    Systematic resampling with a fixed offset, so the same weights give the same plans.

    Parameters
    ----------
    weights : array_like of float, shape (R,)
        Not negative, not all 0.
    n : int
    offset : float
        At least 0 and below 1.

    Returns
    -------
    int64 array, shape (n,)
        Ascending.
    """
    upto = np.cumsum(np.asarray(weights, dtype=np.float64))
    points = (np.arange(n) + offset) / n * upto[-1]
    return np.minimum(np.searchsorted(upto, points, side="right"), len(upto) - 1).astype(np.int64)
