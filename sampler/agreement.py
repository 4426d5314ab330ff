r"""Kolmogorov-Smirnov distances of chains from each other and from a law, and how large they may be.

The distance of two samples of a quantity is the largest difference of their distribution functions, as in
McWhorter and DeFord, "The Marked Edge Walk" (arXiv 2510.17714), who follow it over the length of ten runs.
A distance says little without what chance alone would make it.

For n and m independent draws it exceeds :math:`K_\alpha \sqrt{1/n + 1/m}` with chance :math:`\alpha`, by
Kolmogorov's law, when the quantity is continuous. But draws of a chain depend on each other, a quantity such
as cut edges has few values, and draws may have weights. Effective sizes in place of n and m do not mend that:
each indicator 1[c <= x] has its own autocorrelation, and with the smallest effective size of all the limit
was up to half too wide. So it is made of the errors of the distribution functions themselves. A sample is cut
into batches that are nearly independent of each other. How far the batches stray from the whole, added up
with random normal weights, is a redraw of the error of the whole at all thresholds together (a multiplier
bootstrap of batch means, as in :mod:`bottomup.sampler.verification`), and the largest difference of two such
errors is a redraw of the distance of two samples of the same law. Few batches tell the size of the error
badly, B of them as well as B - 1 squares of normal numbers would. So each redraw is divided by the root of a
mean of so many, which gives it the wider tail of Student's t.

A batch has to be longer than the memory of its chain: it holds ``DRAWS_PER_BATCH`` effective draws, as ArviZ
counts them at the worst threshold. That number is an estimate, and a chain that has not yet left a part of
the plans cannot know it. Then the distance exceeds its limit, as it should.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from bottomup.sampler.diagnostics import MIN_DRAWS, TAILS
from bottomup.sampler.types import FloatArray, LongArray

__all__ = [
    "FALSE_ALARMS",
    "Distance",
    "Sample",
    "count_batches",
    "known_law",
    "ks_distance",
    "ks_to_reference",
    "pairwise_curve",
    "pairwise_ks",
    "pairwise_limits",
    "reference_curve",
    "sample_of_chains",
    "thresholds",
]

FALSE_ALARMS = 1e-3
"""Chance that one comparison of two samples of the same law exceeds its limit."""
DRAWS_PER_BATCH = 10
"""Effective draws in a batch."""
MIN_BATCHES, MAX_BATCHES = 10, 200
N_REDRAWS = 10_000
N_THRESHOLDS = 5
"""Indicators whose effective sizes are asked for: quantiles from 5 % to 95 %, equal ones once."""
MAX_GRID = 200
"""Thresholds at which errors are redrawn, at most."""
POINTS_PER_DECADE = 12
"""Of the curves over the number of draws."""


class Sample(NamedTuple):
    """R draws of a quantity and what they count for; or a law, as values and their probabilities."""

    values: FloatArray
    """float64 array, shape (R,)."""
    weights: FloatArray
    """float64 array, shape (R,), of sum 1."""
    batch: LongArray | None
    """int64 array, shape (R,): number of the batch of each draw, from 0; None for a law, without error."""
    n_batches: int
    effective_size: float
    """Independent draws that would tell as much, at the worst threshold; infinite for a law."""


class Distance(NamedTuple):
    """Kolmogorov-Smirnov distance of one sample from another."""

    value: float
    limit: float
    """Samples of one law exceed it with chance ``FALSE_ALARMS``; infinite for too few draws to tell."""
    effective_size: float
    reference_size: float
    """Effective size of what is compared with; infinite for a law."""

    @property
    def agrees(self) -> bool:
        """Whether chance may have made the distance."""
        return self.value <= self.limit


def known_law(values: ArrayLike, weights: ArrayLike) -> Sample:
    """A law that is known exactly.

    Parameters
    ----------
    values, weights : array_like of float, shape (V,)
        Weights of any positive sum.
    """
    share = np.asarray(weights, dtype=np.float64)
    return Sample(np.asarray(values, dtype=np.float64), share / share.sum(), None, 0, math.inf)


def sample_of_chains(chains: Sequence[ArrayLike]) -> Sample:
    """The draws of all chains thrown together.

    Parameters
    ----------
    chains : sequence of array_like of numbers, each of shape (R,)
        All of the same length. Chains that differ from each other have few effective draws together.
    """
    draws = np.stack([np.asarray(chain, dtype=np.float64) for chain in chains])
    n_chains, n_draws = draws.shape
    size = _effective_size(draws)
    each = count_batches(size) // n_chains
    batch = np.arange(n_draws) * each // n_draws + np.arange(n_chains)[:, None] * each
    return Sample(
        values=draws.ravel(),
        weights=np.full(draws.size, 1 / draws.size),
        batch=batch.ravel(),
        n_batches=each * n_chains,
        effective_size=size,
    )


def count_batches(effective_size: float) -> int:
    """Into how many batches to cut draws that tell as much as so many independent ones."""
    return min(MAX_BATCHES, int(effective_size / DRAWS_PER_BATCH))


def ks_distance(one: Sample, other: Sample) -> float:
    """Largest difference of the distribution functions of two samples."""
    grid = np.union1d(one.values, other.values)
    return float(np.abs(_distribution(one, grid) - _distribution(other, grid)).max())


def ks_to_reference(
    chains: Sequence[ArrayLike], reference: Sample, false_alarms: float = FALSE_ALARMS, seed: int = 1
) -> Distance:
    """Distance of all chains together from a reference that was drawn without them.

    Parameters
    ----------
    chains : sequence of array_like of numbers, each of shape (R,)
        One, or several of the same length.
    reference : Sample
    false_alarms : float
    seed : int
        Of the redraws.
    """
    together = sample_of_chains(chains)
    grid = _grid([together, reference])
    rng = np.random.default_rng(seed)
    errors = [_redraw_errors(rng, sample, grid) for sample in (together, reference)]
    return Distance(
        value=ks_distance(together, reference),
        limit=_limit(errors[0], errors[1], false_alarms),
        effective_size=together.effective_size,
        reference_size=reference.effective_size,
    )


def pairwise_ks(chains: Sequence[ArrayLike]) -> FloatArray:
    """Distances of every two chains.

    Parameters
    ----------
    chains : sequence of array_like of numbers, each of shape (R,)
        The draws of one quantity; chains may have unlike lengths.

    Returns
    -------
    float64 array, shape (number of chains, number of chains)
        Symmetric, with zeros on its diagonal.
    """
    grid = np.unique(np.concatenate([np.asarray(chain) for chain in chains]))
    functions = [_distribution(known_law(chain, np.ones(len(np.asarray(chain)))), grid) for chain in chains]
    return _for_pairs(lambda i, j: float(np.abs(functions[i] - functions[j]).max()), len(chains))


def pairwise_limits(
    chains: Sequence[ArrayLike], false_alarms: float = FALSE_ALARMS, seed: int = 1
) -> FloatArray:
    """What each of :func:`pairwise_ks` exceeds with chance ``false_alarms``, were the laws the same.

    Parameters
    ----------
    chains : sequence of array_like of numbers, each of shape (R,)
    false_alarms : float
        For each pair; divide by the number of pairs to ask for all of them together.
    seed : int
        Of the redraws.

    Returns
    -------
    float64 array, shape (number of chains, number of chains)
        With zeros on its diagonal.
    """
    samples = [sample_of_chains([chain]) for chain in chains]
    grid, rng = _grid(samples), np.random.default_rng(seed)
    errors = [_redraw_errors(rng, sample, grid) for sample in samples]
    return _for_pairs(lambda i, j: _limit(errors[i], errors[j], false_alarms), len(chains))


def pairwise_curve(chains: Sequence[ArrayLike]) -> tuple[LongArray, FloatArray]:
    """Mean distance of two chains over the first draws of each, for ever more draws.

    Parameters
    ----------
    chains : sequence of array_like of numbers, each of shape (R,)
        At least two.

    Returns
    -------
    n_draws : int64 array, shape (P,)
        Evenly spread on a logarithmic scale, the last that of the shortest chain.
    distance : float64 array, shape (P,)
    """
    lengths = _lengths(chains)
    pairs = np.triu_indices(len(chains), 1)
    mean = [pairwise_ks([np.asarray(chain)[:n] for chain in chains])[pairs].mean() for n in lengths]
    return lengths, np.array(mean)


def reference_curve(chains: Sequence[ArrayLike], reference: Sample) -> tuple[LongArray, FloatArray]:
    """Mean distance of a chain from a reference over the first draws, see :func:`pairwise_curve`."""
    lengths = _lengths(chains)
    mean = [
        np.mean([ks_distance(known_law(np.asarray(chain)[:n], np.ones(n)), reference) for chain in chains])
        for n in lengths
    ]
    return lengths, np.array(mean)


def thresholds(values: ArrayLike, weights: ArrayLike) -> FloatArray:
    """Values x whose indicators 1[c <= x] tell of the bulk of a sample, ascending; none for a constant.

    Parameters
    ----------
    values : array_like of numbers, shape (R,)
    weights : array_like of float, shape (R,)
    """
    return _quantiles(known_law(values, weights), np.linspace(TAILS[0], TAILS[1], N_THRESHOLDS))


def _effective_size(draws: FloatArray) -> float:
    """That of the worst indicator, as ArviZ has it; 1 for constants and too few draws."""
    # Imported here for the reason given in diagnostics.
    from arviz_stats.base import array_stats

    at = thresholds(draws.ravel(), np.ones(draws.size))
    if draws.shape[1] < MIN_DRAWS or not len(at):
        return 1.0
    sizes = [
        array_stats.ess((draws <= x).astype(np.float64), chain_axis=-2, draw_axis=-1, method="mean")
        for x in at
    ]
    return float(np.clip(np.min(np.nan_to_num(sizes, nan=1.0)), 1.0, draws.size))


def _redraw_errors(rng: np.random.Generator, sample: Sample, grid: FloatArray) -> FloatArray | None:
    """Errors of the distribution function on a grid, shape (N_REDRAWS, G); None when nothing can be told."""
    if sample.batch is None:
        return np.zeros((1, len(grid)))
    n_batches = sample.n_batches
    if n_batches < MIN_BATCHES:
        return None
    step = np.searchsorted(grid, sample.values)
    table = np.bincount(sample.batch * (len(grid) + 1) + step, sample.weights, n_batches * (len(grid) + 1))
    upto = table.reshape(n_batches, len(grid) + 1)
    weight = upto.sum(axis=1)
    upto = upto[:, :-1].cumsum(axis=1)
    strays = upto - np.outer(weight, upto.sum(axis=0))
    # The triangle has the same products of columns, hence makes errors of the same law, out of fewer numbers.
    triangle = np.linalg.qr(strays, mode="r")
    errors = rng.standard_normal((N_REDRAWS, len(triangle))) @ triangle
    scale = n_batches / rng.chisquare(n_batches - 1, N_REDRAWS)
    return errors * np.sqrt(scale)[:, None]


def _limit(one: FloatArray | None, other: FloatArray | None, false_alarms: float) -> float:
    if one is None or other is None:
        return math.inf
    return float(np.quantile(np.abs(one - other).max(axis=1), 1 - false_alarms))


def _grid(samples: Sequence[Sample]) -> FloatArray:
    """All values, or as many quantiles of them as errors are redrawn at."""
    values = np.unique(np.concatenate([sample.values for sample in samples]))
    if len(values) <= MAX_GRID:
        return values
    shares = (np.arange(MAX_GRID // len(samples)) + 0.5) * len(samples) / MAX_GRID
    return np.unique(np.concatenate([_quantiles(sample, shares) for sample in samples]))


def _quantiles(sample: Sample, shares: FloatArray) -> FloatArray:
    """Values at which the distribution function reaches some shares, each once and never the largest."""
    grid = np.unique(sample.values)
    at = np.searchsorted(_distribution(sample, grid), shares)
    return grid[np.unique(at[at < len(grid) - 1])]


def _distribution(sample: Sample, grid: FloatArray) -> FloatArray:
    """The distribution function at ascending values."""
    order = np.argsort(sample.values, kind="stable")
    upto = np.concatenate([[0.0], np.cumsum(sample.weights[order])])
    return upto[np.searchsorted(sample.values[order], grid, side="right")] / upto[-1]


def _for_pairs(figure: Callable[[int, int], float], n: int) -> FloatArray:
    table = np.zeros((n, n))
    for i, j in itertools.combinations(range(n), 2):
        table[i, j] = table[j, i] = figure(i, j)
    return table


def _lengths(chains: Sequence[ArrayLike]) -> LongArray:
    shortest = min(len(np.asarray(chain)) for chain in chains)
    n_points = 1 + math.ceil(POINTS_PER_DECADE * math.log10(shortest))
    return np.unique(np.rint(np.geomspace(1, shortest, n_points)).astype(np.int64))
