"""Kolmogorov-Smirnov distances, and limits that are exceeded as often as they say."""

import math

import numpy as np
import pytest
from scipy.signal import lfilter
from scipy.special import kolmogi
from scipy.stats import binom, ks_2samp, norm

from bottomup.sampler.agreement import (
    Sample,
    known_law,
    ks_distance,
    ks_to_reference,
    pairwise_curve,
    pairwise_ks,
    pairwise_limits,
    reference_curve,
    sample_of_chains,
)

SPREAD = 2.3
"""Standard deviation of the whole numbers that stand for cut edges."""
N_RUNS = 200
OFTEN = 0.05
"""A false-alarm rate that a test can measure."""
VALUES = np.arange(-20, 21)
LAW = known_law(VALUES, np.diff(norm.cdf(np.arange(-20.5, 21) / SPREAD)))


@pytest.fixture
def rng():
    return np.random.default_rng(11)


def draw_chains(rng, n_chains, n_draws, rho=0.0, shift=0.0):
    """Chains of rounded Gaussians in equilibrium, with autocorrelation ``rho`` before the rounding."""
    noise = rng.normal(size=(n_chains, n_draws)) * math.sqrt(1 - rho**2)
    noise[:, 0] /= math.sqrt(1 - rho**2)
    return np.rint(SPREAD * lfilter([1], [1, -rho], noise, axis=1) + shift)


def test_the_distance_is_that_of_scipy_and_weights_are_repeats(rng):
    one, other = rng.integers(0, 12, 300), rng.integers(2, 15, 170)
    times = rng.integers(0, 4, 300)
    equal, unequal, there = (
        known_law(one, np.ones(300)),
        known_law(one, times),
        known_law(other, np.full(170, 0.3)),
    )
    assert ks_distance(equal, there) == pytest.approx(ks_2samp(one, other).statistic, abs=1e-12)
    repeated = ks_2samp(np.repeat(one, times), other).statistic
    assert repeated != pytest.approx(ks_distance(equal, there), abs=1e-3)
    assert ks_distance(unequal, there) == pytest.approx(repeated, abs=1e-12)
    assert ks_distance(there, unequal) == pytest.approx(repeated, abs=1e-12)
    assert ks_distance(known_law([1, 1], [1, 1]), known_law([2], [1])) == 1


def test_every_two_chains_are_compared(rng):
    chains = [rng.normal(size=200), rng.normal(1, 1, size=300), rng.normal(size=100)]
    distances = pairwise_ks(chains)
    for i in range(3):
        for j in range(3):
            assert distances[i, j] == pytest.approx(ks_2samp(chains[i], chains[j]).statistic, abs=1e-12)


def test_curves_end_with_all_draws(rng):
    chains = draw_chains(rng, 4, 5000)
    n_draws, distance = pairwise_curve(chains)
    assert n_draws[0] == 1
    assert n_draws[-1] == 5000
    assert (np.diff(n_draws) > 0).all()
    assert distance[-1] == pytest.approx(pairwise_ks(chains)[np.triu_indices(4, 1)].mean())
    n_draws, to_law = reference_curve(chains, LAW)
    assert to_law[-1] == pytest.approx(reference_distances(chains).mean())
    # Distances of independent draws fall as one over the root of their number.
    middle = np.flatnonzero(n_draws >= 50)[0]
    for curve in (distance, to_law):
        ratio = curve[middle] / curve[-1] / math.sqrt(5000 / n_draws[middle])
        assert 0.5 < ratio < 2


def test_limits_are_exceeded_as_often_as_they_say(rng):
    n_alone = n_pairs = 0
    for _ in range(N_RUNS):
        chains = draw_chains(rng, 2, 3000, rho=0.9)
        n_alone += not ks_to_reference(chains[:1], LAW, OFTEN).agrees
        n_pairs += pairwise_ks(chains)[0, 1] > pairwise_limits(chains, OFTEN)[0, 1]
    # Either bound is passed once in 10,000 tests of a right limit.
    for n_alarms in (n_alone, n_pairs):
        assert binom.ppf(1e-4, N_RUNS, OFTEN) <= n_alarms <= binom.isf(1e-4, N_RUNS, OFTEN)


def test_limits_that_take_the_draws_for_independent_are_exceeded_often(rng):
    chains = draw_chains(rng, 100, 1500, rho=0.9)
    limit = kolmogi(OFTEN) / math.sqrt(1500)
    assert np.mean(reference_distances(chains) > limit) > 0.5


def reference_distances(chains):
    return np.array([ks_distance(known_law(chain, np.ones(len(chain))), LAW) for chain in chains])


def test_another_law_is_told(rng):
    right = draw_chains(rng, 4, 4000, rho=0.9)
    assert ks_to_reference(right, LAW).agrees
    assert not ks_to_reference(draw_chains(rng, 4, 4000, rho=0.9, shift=0.2 * SPREAD), LAW).agrees
    assert not ks_to_reference(1.2 * draw_chains(rng, 4, 4000, rho=0.9), LAW).agrees
    far = draw_chains(rng, 2, 4000, rho=0.9, shift=[[0.0], [SPREAD]])
    assert pairwise_ks(far)[0, 1] > pairwise_limits(far)[0, 1]


def test_weighted_draws_stand_for_another_law_with_an_error_of_their_own(rng):
    """Each run compares a weighted sample of a shifted law with the law, as often as a limit says too far."""
    shift, n_draws, n_alarms = 0.7 * SPREAD, 1000, 0
    ratio = LAW.weights / np.diff(norm.cdf((np.arange(-20.5, 21) - shift) / SPREAD))
    for _ in range(N_RUNS):
        values = draw_chains(rng, 1, n_draws, shift=shift)[0]
        weights = ratio[np.searchsorted(VALUES, values)]
        size = weights.sum() ** 2 / (weights**2).sum()
        n_batches = int(size / 10)
        batch = np.arange(n_draws) * n_batches // n_draws
        sample = Sample(values, weights / weights.sum(), batch, n_batches, size)
        found = ks_to_reference(draw_chains(rng, 1, 2000), sample, OFTEN)
        n_alarms += not found.agrees
    assert binom.ppf(1e-4, N_RUNS, OFTEN) <= n_alarms <= binom.isf(1e-4, N_RUNS, OFTEN)
    unweighted = sample._replace(weights=np.full(n_draws, 1 / n_draws))
    assert not ks_to_reference(draw_chains(rng, 1, 2000), unweighted).agrees


def test_effective_sizes(rng):
    assert 6000 < sample_of_chains(draw_chains(rng, 4, 2000)).effective_size <= 8000
    # The sign of a Gaussian with autocorrelation r has the autocorrelation 2/pi arcsin r.
    slow = sample_of_chains(draw_chains(rng, 4, 20_000, rho=0.9)).effective_size
    lags = 0.9 ** np.arange(1, 200)
    assert slow == pytest.approx(80_000 / (1 + 2 * (2 / math.pi * np.arcsin(lags)).sum()), rel=0.2)
    # Chains that do not mix with each other tell far less together than each of them says of itself.
    apart = draw_chains(rng, 2, 2000, shift=[[0.0], [3 * SPREAD]])
    assert sample_of_chains(apart).effective_size < 10


@pytest.mark.parametrize("chain", [np.ones(500), np.arange(3.0), np.arange(80.0)])
def test_too_few_effective_draws_have_no_limit(chain):
    found = ks_to_reference([chain], LAW)
    assert found.limit == math.inf
    assert pairwise_limits([chain, chain])[0, 1] == math.inf


def test_many_values_are_no_trouble(rng):
    chains = rng.normal(size=(3, 30_000))
    distances, limits = pairwise_ks(chains), pairwise_limits(chains)
    pairs = np.triu_indices(3, 1)
    # Independent draws of a continuous law have Kolmogorov's limit, which batches estimate.
    assert limits[pairs] == pytest.approx(kolmogi(1e-3) * math.sqrt(2 / 30_000), rel=0.15)
    assert (distances[pairs] < limits[pairs]).all()
