import numpy as np
import pytest

from bottomup.sampler.reweighting import combine, effective_size, neighbouring_rungs, resample, reweight


def test_the_rungs_around_an_epsilon():
    rungs = [0.0, 0.5, 1.0, 4.0]
    assert neighbouring_rungs(rungs, 0.0) == (0,)
    assert neighbouring_rungs(rungs, 4.0) == (3,)
    assert neighbouring_rungs(rungs, 0.5) == (1,)
    assert neighbouring_rungs(rungs, 0.7) == (1, 2)
    assert neighbouring_rungs(rungs, 3.9) == (2, 3)
    for outside in (-0.1, 4.1):
        with pytest.raises(ValueError, match="epsilon must lie between 0 and 4"):
            neighbouring_rungs(rungs, outside)


def test_weights_are_the_ratio_of_the_laws():
    scores = np.array([0.2, 0.5, 0.9])
    there, here = np.exp(2.0 / 0.2 * scores), np.exp(1.2 / 0.2 * scores)
    expected = there / here / (there / here).sum()
    np.testing.assert_allclose(reweight(scores, 1.2, 2.0, delta=0.1), expected)
    np.testing.assert_allclose(reweight(scores, 1.2, 1.2, delta=0.1), 1 / 3)
    # Exponents far beyond what exp can hold.
    np.testing.assert_allclose(reweight([0.0, 1.0], 0.0, 10.0, delta=1e-4), [0.0, 1.0], atol=1e-300)
    assert len(reweight([], 0.0, 1.0, delta=0.1)) == 0


def test_effective_size():
    assert effective_size(np.full(40, 0.025)) == pytest.approx(40)
    assert effective_size([1.0, 0.0, 0.0]) == 1
    assert effective_size([3.0, 1.0]) == pytest.approx(16 / 10)
    assert effective_size([]) == 0


def test_samples_count_by_their_effective_sizes():
    even, uneven, empty = np.full(30, 1 / 30), np.array([0.7, 0.2, 0.1]), np.array([])
    parts = combine([even, uneven, empty])
    whole = np.concatenate(parts)
    assert whole.sum() == pytest.approx(1)
    assert effective_size(whole) == pytest.approx(effective_size(even) + effective_size(uneven))
    np.testing.assert_allclose(parts[1] / parts[1].sum(), uneven)


def test_a_resample_gives_each_plan_its_share():
    rng = np.random.default_rng(0)
    weights = rng.random(50) ** 3
    places = resample(weights, 1000)
    counts = np.bincount(places, minlength=50)
    expected = 1000 * weights / weights.sum()
    assert (np.abs(counts - expected) < 1).all()
    assert (np.diff(places) >= 0).all()
    np.testing.assert_array_equal(resample(weights, 1000), places)
    # Whole weights and as many draws: the sample itself.
    np.testing.assert_array_equal(resample(np.ones(7), 7), np.arange(7))
    np.testing.assert_array_equal(resample([0.0, 1.0, 0.0], 3), [1, 1, 1])
