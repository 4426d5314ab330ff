"""The promise in numbers: closed forms, brute force on laws of few plans, and OpenDP's accounting."""

from __future__ import annotations

import itertools
import math
import warnings
from functools import cache

import numpy as np
import opendp.prelude as opendp
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from bottomup.sampler.promise import Promise, bounded_chance, compose, odds_factor

EPSILONS = st.floats(0, 5)
CHANCES = st.floats(1e-12, 1 - 1e-12)
ROUNDING = 1e-9


# Odds and chances.


def test_a_factor_of_the_odds():
    assert odds_factor(0) == 1
    assert odds_factor(0.5) == pytest.approx(1.6487, abs=1e-4)
    assert odds_factor(-2000) == 0
    assert odds_factor(708.9) < odds_factor(710) == odds_factor(math.inf) == math.inf


@settings(deadline=None)
@given(chance=CHANCES, log_odds=st.floats(-30, 30))
def test_a_bounded_chance_has_the_odds_it_should_and_leads_back(chance, log_odds):
    moved = bounded_chance(chance, log_odds)
    factor = math.exp(log_odds)
    odds = chance / (1 - chance)
    assert moved == pytest.approx(factor * odds / (1 + factor * odds), rel=1e-6)
    # Close to 1, a float knows the chance but not the odds.
    if moved < 1 - 1e-6:
        assert bounded_chance(moved, -log_odds) == pytest.approx(chance, rel=1e-6)


def test_one_in_five_at_half_an_epsilon():
    """As it is told in a hearing: 20 in 100 become 13 to 29."""
    least, most = Promise(0.5).chances(0.2)
    assert (round(least, 2), round(most, 2)) == (0.13, 0.29)
    # The other way: what has the least chance without the group has 20 in 100 at most with it.
    assert Promise(0.5).chances(least)[1] == pytest.approx(0.2)


@pytest.mark.parametrize("log_odds", [0.0, 1.0, -1.0, 709.5, -709.5, 5e3, -5e3, 1e300, math.inf, -math.inf])
@pytest.mark.parametrize("chance", [0.0, 5e-324, 1e-12, 0.5, 1 - 2**-53, 1.0])
def test_chances_at_their_extremes(chance, log_odds):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        moved = bounded_chance(chance, log_odds)
    assert isinstance(moved, float)
    assert 0 <= moved <= 1
    if chance in (0, 1):
        assert moved == chance
    elif log_odds > 2000:
        assert moved == 1
    elif log_odds < -2000:
        assert moved == 0


@settings(deadline=None)
@given(chance=CHANCES, epsilon=EPSILONS, more=EPSILONS, releases=st.integers(1, 9), group=st.integers(1, 9))
def test_more_of_anything_promises_less(chance, epsilon, more, releases, group):
    promise = Promise(epsilon, releases=releases, group_size=group)
    least, most = promise.chances(chance)
    assert least <= chance * (1 + ROUNDING)
    assert most >= chance * (1 - ROUNDING)
    for weaker in (
        Promise(epsilon + more, releases=releases, group_size=group),
        Promise(epsilon, releases=releases + 1, group_size=group),
        promise.for_group(group + 1),
    ):
        assert weaker.log_odds >= promise.log_odds
        assert weaker.chances(chance)[0] <= least * (1 + ROUNDING)
        assert weaker.chances(chance)[1] >= most * (1 - ROUNDING)


# Closed forms.


def test_sums():
    promise = Promise(0.25, releases=6, group_size=3)
    assert promise.of_group == (0.75, 0)
    assert promise.basic() == (4.5, 0)
    assert (promise.log_odds, promise.if_left_out) == (4.5, 2.25)
    assert promise.for_group(1) == Promise(0.25, releases=6)
    assert Promise(0.25, 1e-3, releases=6).basic() == pytest.approx((1.5, 6e-3))


@pytest.mark.parametrize(
    "promise",
    [Promise(0.0, releases=3), Promise(2.0, releases=0), Promise(2.0, group_size=0), Promise(2.0, 0.1, 3, 0)],
)
def test_nothing_released_nothing_said_or_nobody_costs_nothing(promise):
    assert promise.basic() == promise.advanced(1e-6) == compose([promise], 1e-6) == (0, 0)
    assert promise.chances(0.3) == pytest.approx((0.3, 0.3))


def test_delta_of_a_group():
    epsilon, delta = Promise(0.5, 1e-4, group_size=3).of_group
    assert epsilon == 1.5
    assert delta == pytest.approx(1e-4 * (1 + math.exp(0.5) + math.exp(1.0)))
    assert Promise(0.0, 1e-4, group_size=3).of_group == pytest.approx((0, 3e-4))
    assert Promise(1e-12, 1e-4, group_size=3).of_group[1] == pytest.approx(3e-4)
    # No larger than a chance can be; and one alone is one alone, however large its epsilon.
    assert Promise(1.0, 0.1, group_size=9).of_group[1] == 1
    assert Promise(800.0, 0.1, group_size=2).of_group == (1600, 1)
    assert Promise(800.0, 0.1).of_group == (800, 0.1)


def test_delta_from_an_assumed_error():
    assert Promise.assuming(1.0, 0.0) == Promise(1.0)
    assert Promise.assuming(0.0, 0.01).delta == pytest.approx(0.02)
    assert Promise.assuming(1.0, 0.01, releases=4) == Promise(1.0, (1 + math.e) * 0.01, 4)
    assert Promise.assuming(1.0, 1.0).delta == Promise.assuming(1e4, 1e-9).delta == 1


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"epsilon": -0.1}, "epsilon must be finite and not negative; got -0.1"),
        ({"epsilon": math.nan}, "epsilon must be finite and not negative; got nan"),
        ({"epsilon": math.inf}, "epsilon must be finite and not negative; got inf"),
        ({"delta": 1.1}, "delta must lie between 0 and 1; got 1.1"),
        ({"delta": math.nan}, "delta must lie between 0 and 1; got nan"),
        ({"releases": -1}, "releases must not be negative; got -1"),
        ({"group_size": -1}, "group_size must not be negative; got -1"),
    ],
)
def test_what_cannot_be_is_refused_by_name(given, message):
    with pytest.raises(ValueError, match=message):
        Promise(**{"epsilon": 1.0, **given})


@pytest.mark.parametrize("error", [-0.1, 1.1, math.nan])
def test_an_error_that_is_no_chance_is_refused(error):
    with pytest.raises(ValueError, match="total_variation must lie between 0 and 1"):
        Promise.assuming(1.0, error)


@pytest.mark.parametrize("slack", [0.0, 1.0, -1.0, math.nan])
def test_a_slack_that_is_no_chance_is_refused(slack):
    with pytest.raises(ValueError, match="slack must lie between 0 and 1"):
        Promise(1.0).advanced(slack)
    with pytest.raises(ValueError, match="slack must lie between 0 and 1"):
        compose([Promise(1.0)], slack)


# Several releases.


@pytest.mark.parametrize(("m", "epsilon"), [(40, 0.1), (200, 0.05), (9, 1.0)])
def test_advanced_composition_by_its_formulas(m, epsilon):
    slack = 1e-5
    rho = m * epsilon**2 / 8
    by_concentration = rho + 2 * math.sqrt(rho * math.log(1 / slack))
    by_boosting = epsilon * math.sqrt(2 * m * math.log(1 / slack)) + m * epsilon * math.expm1(epsilon)
    assert Promise(epsilon, releases=m).advanced(slack) == pytest.approx(
        (min(by_concentration, m * epsilon), slack)
    )
    # A draw that is not of exactly the law is not known to be concentrated.
    delta = 1e-9
    found = Promise(epsilon, delta, releases=m).advanced(slack)
    if by_boosting < m * epsilon:
        assert found == pytest.approx((by_boosting, m * delta + slack))
    else:
        assert found == pytest.approx((m * epsilon, m * delta))


@settings(deadline=None)
@given(
    epsilon=EPSILONS,
    releases=st.integers(0, 200),
    group=st.integers(0, 5),
    slack=st.floats(1e-12, 0.5),
    delta=st.sampled_from([0.0, 1e-9]),
)
def test_advanced_composition_never_says_more_than_the_sum(epsilon, releases, group, slack, delta):
    promise = Promise(epsilon, delta, releases, group)
    total, failing = promise.advanced(slack)
    sums = promise.basic()
    assert total <= sums[0]
    assert failing == sums[1] if total == sums[0] else failing >= sums[1]


@pytest.mark.parametrize("epsilon", [1e200, 1.7e308])
def test_senseless_epsilons_promise_nothing_and_break_nothing(epsilon):
    promise = Promise(epsilon, releases=2)
    assert promise.advanced(1e-6) == promise.basic() == compose([promise], 1e-6) == (2 * epsilon, 0)
    assert promise.chances(0.5) == (0, 1)


def test_releases_at_unlike_epsilons():
    parts = [Promise(0.5, releases=3), Promise(0.1, releases=50), Promise(0.0, releases=7)]
    assert compose(parts) == pytest.approx((6.5, 0))
    rho = (3 * 0.25 + 50 * 0.01) / 8
    expected = rho + 2 * math.sqrt(rho * math.log(1e6))
    assert compose(parts, 1e-6) == pytest.approx((expected, 1e-6))
    assert compose([Promise(0.1, releases=50)], 1e-6) == Promise(0.1, releases=50).advanced(1e-6)
    # Where the sum is less, and where a draw may be off the law.
    assert compose([Promise(0.5)], 1e-6) == (0.5, 0)
    assert compose([*parts, Promise(0.5, 1e-3)], 1e-6) == pytest.approx((7.0, 1e-3))
    assert compose([]) == compose([], 1e-6) == (0, 0)
    groups = [part.for_group(2) for part in parts]
    assert compose(groups, 1e-6) == pytest.approx((4 * rho + 4 * math.sqrt(rho * math.log(1e6)), 1e-6))


@settings(deadline=None)
@given(
    chance=st.floats(0.01, 0.99),
    epsilon=st.floats(0.05, 2),
    releases=st.integers(2, 60),
    slack=st.sampled_from([1e-2, 1e-4, 1e-6]),
)
def test_advanced_composition_against_all_outcomes(chance, epsilon, releases, slack):
    """Two plans of which one gains all it can: the exact delta of m draws, by counting it."""
    gained = bounded_chance(chance, epsilon)
    count = np.arange(releases + 1)
    log_before, log_after = (stats.binom.logpmf(count, releases, p) for p in (chance, gained))
    promise = Promise(epsilon, releases=releases)
    for total, failing in (promise.advanced(slack), promise.basic()):
        for p, q in ((log_after, log_before), (log_before, log_after)):
            broken = np.exp(p) - np.exp(total + q)
            assert broken[broken > 0].sum() <= failing + 1e-12


def test_odds_also_add_up_over_releases_that_look_at_one_another():
    """Two draws, the second from another law after each outcome of the first, and any event of both.

    Composition of the usual kind bounds probabilities by the sum of the epsilons, and odds by twice that.
    """
    rng = np.random.default_rng(0)
    largest = 0.0
    for trial in range(4000):
        epsilon = (0.3, 2.0)[trial % 2]
        first, second = (10 ** rng.uniform(-3, 0, shape) for shape in (3, (3, 2)))
        first, second = first / first.sum(), second / second.sum(axis=1, keepdims=True)
        gains = epsilon * rng.integers(2, size=3), epsilon * np.array([1.0, 0.0])
        after_first, after_second = first * np.exp(gains[0]), second * np.exp(gains[1])
        after_second /= after_second.sum(axis=1, keepdims=True)
        before = (first[:, None] * second).ravel()
        after = (after_first[:, None] / after_first.sum() * after_second).ravel()
        order = np.argsort(before / after)
        before, after = (np.cumsum(law[order])[:-1] for law in (before, after))
        moved = np.abs(np.log(after / (1 - after)) - np.log(before / (1 - before))).max()
        assert moved <= Promise(epsilon, releases=2).log_odds + ROUNDING
        largest = max(largest, moved / epsilon)
    assert largest > 1.9


# Errors of the law, and groups, by brute force over all events.

WEIGHTS = st.lists(st.floats(1e-3, 1), min_size=4, max_size=4)


def law(weights):
    return np.array(weights) / np.sum(weights)


def events(*laws):
    """Probabilities of every set of plans."""
    choose = np.array(list(itertools.product((0, 1), repeat=len(laws[0]))))
    return [choose @ one for one in laws]


def least_delta(p, q, epsilon):
    """Smallest delta with which p and q are close to each other."""
    return max(np.maximum(a - np.exp(epsilon) * b, 0).sum() for a, b in ((p, q), (q, p)))


@settings(deadline=None)
@given(
    base=WEIGHTS,
    exponents=st.lists(st.floats(-1, 1), min_size=4, max_size=4),
    errors=st.tuples(WEIGHTS, WEIGHTS),
    epsilon=st.floats(0, 3),
    mixing=st.floats(0, 0.5),
)
def test_an_assumed_error_on_laws_of_four_plans(base, exponents, errors, epsilon, mixing):
    exact = law(base), law(np.array(base) * np.exp(epsilon / 2 * np.array(exponents)))
    sampled = [(1 - mixing) * own + mixing * law(error) for own, error in zip(exact, errors, strict=True)]
    eta = max(0.5 * np.abs(own - other).sum() for own, other in zip(exact, sampled, strict=True))
    promise = Promise.assuming(epsilon, min(1.0, eta))
    before, after = events(*sampled)
    for p, q in ((before, after), (after, before)):
        assert (p <= np.exp(promise.epsilon) * q + promise.delta + ROUNDING).all()


def test_the_delta_of_an_assumed_error_is_reached():
    """Two laws as far apart as may be at one plan, each with its whole error there and against the other."""
    epsilon, eta = 1.0, 0.02
    chance = 0.1
    sampled = math.exp(epsilon) * chance + eta, chance - eta
    delta = Promise.assuming(epsilon, eta).delta
    assert sampled[0] - math.exp(epsilon) * sampled[1] == pytest.approx(delta)


@settings(deadline=None)
@given(laws=st.lists(WEIGHTS, min_size=3, max_size=5), epsilon=st.floats(0, 1.5))
def test_a_group_on_laws_of_four_plans(laws, epsilon):
    """Neighbour by neighbour at the smallest delta; from the first to the last as the group's says."""
    chain = [law(weights) for weights in laws]
    delta = max(least_delta(p, q, epsilon) for p, q in itertools.pairwise(chain))
    of_group = Promise(epsilon, min(1.0, delta), group_size=len(chain) - 1).of_group
    assert least_delta(chain[0], chain[-1], of_group[0]) <= of_group[1] + ROUNDING


@pytest.mark.parametrize("size", [1, 2, 5])
def test_the_delta_of_a_group_is_reached(size):
    epsilon, delta = 0.3, 0.01
    chance = chances = 0.05
    for _ in range(size):
        chances = math.exp(epsilon) * chances + delta
    of_group = Promise(epsilon, delta, group_size=size).of_group
    assert chances == pytest.approx(math.exp(of_group[0]) * chance + of_group[1])


# OpenDP. Its noisy maximum with exponential noise of the Gumbel kind is a draw of the exponential mechanism:
# at epsilon the scores, of sensitivity 1, count epsilon/2 each.


@cache
def draw(epsilon, concentrated=False, monotonic=False):
    opendp.enable_features("contrib")
    measure = opendp.zero_concentrated_divergence() if concentrated else opendp.max_divergence()
    domain = opendp.vector_domain(opendp.atom_domain(T=float, nan=False))
    metric = opendp.linf_distance(T=float, monotonic=monotonic)
    return opendp.m.make_noisy_max(domain, metric, measure, scale=2 / epsilon)


@pytest.mark.parametrize("epsilon", [0.1, 0.5, 2.0])
@pytest.mark.parametrize("group", [1, 4])
def test_one_release_as_opendp_has_it(epsilon, group):
    """A group of g moves the scores by g; to add or remove moves them all one way, and costs half."""
    promise = Promise(epsilon, group_size=group)
    assert draw(epsilon).map(float(group)) == pytest.approx(promise.of_group[0])
    assert draw(epsilon, monotonic=True).map(float(group)) == pytest.approx(promise.if_left_out)
    rho = draw(epsilon, concentrated=True).map(float(group))
    assert rho == pytest.approx(promise.of_group[0] ** 2 / 8)


def test_sums_as_opendp_has_them():
    epsilons = [0.5] * 3 + [0.1] * 4
    composed = opendp.c.make_composition([draw(epsilon) for epsilon in epsilons])
    assert composed.map(1.0) == pytest.approx(compose([Promise(epsilon) for epsilon in epsilons])[0])
    same = opendp.c.make_composition([draw(0.5)] * 3)
    assert same.map(2.0) == pytest.approx(Promise(0.5, releases=3, group_size=2).basic()[0])


@pytest.mark.parametrize("slack", [1e-9, 1e-6, 1e-3])
@pytest.mark.parametrize(("epsilon", "releases"), [(0.1, 100), (0.5, 40), (1.0, 10)])
def test_advanced_composition_beside_that_of_opendp(epsilon, releases, slack):
    """Of the same concentration OpenDP makes a little more: ours is never less than it, and close."""
    composed = opendp.c.make_composition([draw(epsilon, concentrated=True)] * releases)
    theirs = opendp.c.make_zCDP_to_approxDP(composed).map(1.0).epsilon(slack)
    ours, failing = Promise(epsilon, releases=releases).advanced(slack)
    if ours < releases * epsilon:
        assert failing == slack
        assert theirs <= ours <= 1.3 * theirs
    else:
        assert failing == 0
