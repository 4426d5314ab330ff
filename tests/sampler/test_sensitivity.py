"""Brute force against the sensitivities: small graphs, all plans, all testimonies, all replacements of one.

Scores do not depend on edges, so what replacing a testimony does to a plan is worked out once for each
partition of the units, and looked up for the partitions that are plans of a graph.

Largest changes over all replacements need no list of pairs: among testimonies of a units and of b units, the
largest change of a score is the larger of max_a - min_b and max_b - min_a.
"""

from __future__ import annotations

import itertools
from functools import cache
from typing import NamedTuple

import networkx as nx
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import oracles
from bottomup.sampler import sensitivity as sensitivities
from bottomup.sampler.enumeration import exact_law
from bottomup.sampler.problem import Problem
from bottomup.sampler.sensitivity import (
    MASS,
    Weighting,
    capped_sensitivity,
    coverage_sensitivity,
    coverage_sensitivity_from_data,
    mass_sensitivity,
    unit_weights,
)
from bottomup.sampler.statistics import score_plans
from bottomup.sampler.target import Target

LARGEST = 5
GRAPHS = [
    graph
    for graph in nx.graph_atlas_g()
    if 2 <= graph.number_of_nodes() <= LARGEST and nx.is_connected(graph)
]
ON_GRAPHS = [(graph, k) for graph in GRAPHS for k in (2, 3) if k <= graph.number_of_nodes()]
CASES = sorted({(graph.number_of_nodes(), k) for graph, k in ON_GRAPHS})
CAPS = range(1, LARGEST + 1)
WHOLE = 60
"""A weight of one in whole numbers, so that a testimony of 1 to 5 units spreads it evenly without a rest."""
ROUNDING = 1e-12
COVERAGE = Weighting("coverage")


@cache
def partitions(n, k):
    """All partitions of n units into k parts, as labels."""
    complete = list(itertools.combinations(range(n), 2))
    plans = sorted(sorted(map(sorted, plan)) for plan in oracles.all_plans([1] * n, complete, k, 1, n))
    return np.array(
        [[next(d for d, part in enumerate(plan) if u in part) for u in range(n)] for plan in plans]
    )


def plans_of(graph, k):
    """Which partitions are plans of a graph: each part connected."""
    n = graph.number_of_nodes()
    plans = oracles.all_plans([1] * n, list(graph.edges), k, 1, n)
    return np.array([oracles.plan_from_labels(labels) in plans for labels in partitions(n, k)])


@cache
def overlaps(n, k):
    """Units that each testimony has in each district of each partition; a testimony is a number in binary."""
    member = np.arange(2**n)[:, None] >> np.arange(n) & 1
    return np.einsum("mu,pud->mpd", member, partitions(n, k)[:, :, None] == np.arange(k))


def sizes_of(n):
    return np.array([int(m).bit_count() for m in range(2**n)])


def weigh(n, k, kind):
    """Weight of each testimony in each district, and in all, in units of 1/60."""
    sizes = sizes_of(n)
    whole = {"mass": WHOLE * (sizes > 0), "coverage": WHOLE * sizes}.get(kind)
    if whole is None:
        whole = WHOLE * np.minimum(sizes, kind)
    return overlaps(n, k) * (whole // np.maximum(sizes, 1))[:, None, None], whole


class Surroundings(NamedTuple):
    """All ways in which the testimonies beside the one that is replaced can be, up to their order.

    Clusters are numbered by their first members: other numbers would give the same scores.
    """

    units: np.ndarray
    """shape (O, T - 1), in binary."""
    cluster: np.ndarray
    """shape (O, T - 1)."""
    n_clusters: int
    """With one beside those in use, for the one that is replaced."""


@cache
def surroundings(n, n_testimonies):
    subsets = range(2**n)
    if n_testimonies == 1:
        return Surroundings(np.zeros((1, 0), int), np.zeros((1, 0), int), 1)
    if n_testimonies == 2:
        return Surroundings(np.array([[m] for m in subsets]), np.zeros((2**n, 1), int), 2)
    pairs = np.array(list(itertools.combinations_with_replacement(subsets, 2)))
    together, apart = np.zeros_like(pairs), np.tile([0, 1], (len(pairs), 1))
    return Surroundings(np.concatenate([pairs, pairs]), np.concatenate([together, apart]), 3)


def cluster_tallies(n, k, n_testimonies, kind):
    """Sum over clusters of the weight in the best district, int array (O, C, M, P): C, M of the last one."""
    weight, _ = weigh(n, k, kind)
    around = surroundings(n, n_testimonies)
    shape = len(around.units), around.n_clusters, *weight.shape[1:]
    others = np.zeros(shape, dtype=np.int32)
    for member in range(n_testimonies - 1):
        others[np.arange(len(others)), around.cluster[:, member]] += weight[around.units[:, member]]
    best = others.max(axis=-1)
    tallies = [
        best.sum(axis=1)[:, None] - best[:, c][:, None] + (others[:, c][:, None] + weight).max(axis=-1)
        for c in range(around.n_clusters)
    ]
    return np.stack(tallies, axis=1)


def whole_tallies(n, k, n_testimonies):
    """Testimonies inside one district, int array (O, 1, M, P)."""
    inside = overlaps(n, k)
    whole = (inside.max(axis=-1) == inside.sum(axis=-1)) & (inside.sum(axis=-1) > 0)
    others = whole[surroundings(n, n_testimonies).units].sum(axis=1)
    return (others[:, None] + whole)[:, None]


def weight_around(n, k, n_testimonies, kind):
    """Weight of the testimonies that stay, shape (O,)."""
    return weigh(n, k, kind)[1][surroundings(n, n_testimonies).units].sum(axis=1)


def largest_changes(values, sizes):
    """Most that each plan's value moves when one of a units gives way to one of b: (A, B, O, P), over all.

    Parameters
    ----------
    values : array, shape (O, C, M, P)
    sizes : int array, shape (M,)
    """
    by_size = [values[:, :, sizes == a] for a in range(sizes.max() + 1)]
    high = np.stack([own.max(axis=(1, 2)) for own in by_size])
    low = np.stack([own.min(axis=(1, 2)) for own in by_size])
    return np.maximum(high[:, None] - low[None], high[None] - low[:, None])


@cache
def coverage_changes(n, k, n_testimonies):
    """Largest changes of the coverage score, nan where there is no weight, and the weight that stays (O,)."""
    sizes = sizes_of(n)
    around = weight_around(n, k, n_testimonies, "coverage")
    total = around[:, None] + WHOLE * sizes
    tallies = cluster_tallies(n, k, n_testimonies, "coverage")
    scores = np.full(tallies.shape, np.nan)
    np.divide(tallies, total[:, None, :, None], out=scores, where=total[:, None, :, None] > 0)
    return largest_changes(scores, sizes), around // WHOLE


# What production says of the same testimonies, to check the tables above.


def build(n, units, clusters, weighting=COVERAGE):
    """A problem on a complete graph; with two units, a third that no testimony covers makes a cycle."""
    padded = max(n, 3)
    members = [[u for u in range(n) if int(m) >> u & 1] for m in units]
    return Problem.from_arrays(
        np.ones(padded, dtype=int),
        list(itertools.combinations(range(padded), 2)),
        np.cumsum([0] + [len(own) for own in members]),
        np.concatenate([np.empty(0, dtype=int), *members]),
        clusters,
        max(clusters) + 1,
        weighting,
    )


def weighting_of(kind):
    return Weighting(kind) if isinstance(kind, str) else Weighting("coverage", cap=kind)


def assert_as_in_production(n, n_testimonies, kind, rows):
    """Compare scores and sensitivities of chosen (surroundings, cluster, testimony), for both k."""
    around, sizes = surroundings(n, n_testimonies), sizes_of(n)
    districts = [k for k in (2, 3) if k <= n]
    plans = np.concatenate([partitions(n, k) for k in districts]).astype(np.uint8)
    by_testimony, by_cluster, delta, largest = [], [], [], []
    for o, c, m in rows:
        units = [*around.units[o], m]
        problem = build(n, units, [*around.cluster[o], c], weighting_of(kind))
        found = score_plans(problem, np.pad(plans, ((0, 0), (0, problem.n_units - n))), districts[-1])
        by_testimony.append(found.score_testimony)
        by_cluster.append(found.score_cluster)
        assert problem.sensitivity("testimony").delta == 1 / n_testimonies
        delta.append(problem.sensitivity("cluster").delta if problem.cluster_total else np.nan)
        largest.append(max(sizes[units]))
    o, c, m = np.transpose(rows)
    total = weight_around(n, 2, n_testimonies, kind)[o] + weigh(n, 2, kind)[1][m]
    # The score is not defined where no testimony has a unit.
    below = np.where(total == 0, np.nan, WHOLE * n_testimonies if kind == "mass" else total)
    whole = np.concatenate([whole_tallies(n, k, n_testimonies)[o, 0, m] for k in districts], axis=1)
    np.testing.assert_allclose(by_testimony, whole / n_testimonies, atol=ROUNDING)
    tallies = np.concatenate([cluster_tallies(n, k, n_testimonies, kind)[o, c, m] for k in districts], axis=1)
    np.testing.assert_allclose(by_cluster, tallies / below[:, None], atol=1e-8)
    most = {"mass": 1, "coverage": np.array(largest)}.get(kind, kind)
    np.testing.assert_allclose(delta, WHOLE * most / below, rtol=ROUNDING)


@pytest.mark.parametrize("kind", ["coverage", "mass", 2])
@pytest.mark.parametrize("n", range(2, LARGEST + 1))
def test_one_and_two_testimonies_score_as_in_production(n, kind):
    """All of them, in one cluster and in two, up to the order of the two."""
    assert_as_in_production(n, 1, kind, [(0, 0, m) for m in range(2**n)])
    # Both orders on small maps, so that the roles of the two are tried as well.
    rows = [(o, c, m) for o in range(2**n) for c in (0, 1) for m in range(o if n > 3 else 0, 2**n)]
    assert_as_in_production(n, 2, kind, rows)


@pytest.mark.parametrize("kind", ["coverage", "mass", 1, 3])
@pytest.mark.parametrize("n", [4, 5])
def test_three_testimonies_score_as_in_production(n, kind):
    rng = np.random.default_rng(n)
    n_around = len(surroundings(n, 3).units)
    rows = [(rng.integers(n_around), rng.integers(3), rng.integers(2**n)) for _ in range(60)]
    assert_as_in_production(n, 3, kind, rows)


def test_the_partitions_are_all_there():
    """Stirling numbers of the second kind."""
    assert {case: len(partitions(*case)) for case in CASES} == {
        (2, 2): 1,
        (3, 2): 3,
        (3, 3): 1,
        (4, 2): 7,
        (4, 3): 6,
        (5, 2): 15,
        (5, 3): 25,
    }
    assert len(GRAPHS) == 1 + 2 + 6 + 21
    # A path of five is cut at one or two of its four edges.
    path = next(graph for graph in GRAPHS if nx.is_isomorphic(graph, nx.path_graph(5)))
    assert [plans_of(path, k).sum() for k in (2, 3)] == [4, 6]


# The bounds on every graph.


@cache
def tally_changes(n, k, n_testimonies, kind):
    """Most that each partition's tally moves, shape (P,): over all testimonies and replacements of one."""
    if kind == "testimony":
        values = whole_tallies(n, k, n_testimonies)
    else:
        values = cluster_tallies(n, k, n_testimonies, kind)
    # Any size in place of any.
    return largest_changes(values, np.zeros(2**n, dtype=int))[0, 0].max(axis=0)


@cache
def coverage_excess(n, k, n_testimonies):
    """By how much the coverage score breaks its three bounds at most, for each partition: (3, P); 0 is equal.

    max(a, b)/max(W, W'); max|t|/W for replacements no larger than the largest; the bound with public sizes.
    """
    changes, around = coverage_changes(n, k, n_testimonies)
    size = np.arange(n + 1)
    a, b = size[:, None, None], size[None, :, None]
    larger = around + np.maximum(a, b)
    # Nan, and left out below, where a score is not defined: no testimony has a unit.
    proved = changes - (np.maximum(a, b) / np.maximum(larger, 1))[..., None]
    of_others = sizes_of(n)[surroundings(n, n_testimonies).units]
    largest = np.maximum(of_others.max(axis=1, initial=0), a)
    recorded = changes - (largest / np.maximum(around + a, 1))[..., None]
    recorded = np.where((b <= largest)[..., None], recorded, np.nan)
    public = np.full(changes.shape[-1], -np.inf)
    for least, cap in itertools.combinations_with_replacement(range(1, n + 1), 2):
        public = np.maximum(public, public_excess(n, k, n_testimonies, least, cap))
    worst = [np.nanmax(excess, axis=(0, 1, 2)) for excess in (proved, recorded)]
    return np.array([*worst, public])


def public_excess(n, k, n_testimonies, least, cap):
    """By how much the score breaks the public bound, for each partition, for testimonies of least to cap."""
    changes, _ = coverage_changes(n, k, n_testimonies)
    of_others = sizes_of(n)[surroundings(n, n_testimonies).units]
    allowed = ((of_others >= least) & (of_others <= cap)).all(axis=1)
    inside = changes[least : cap + 1, least : cap + 1, allowed]
    return inside.max(axis=(0, 1, 2)) - coverage_sensitivity(n_testimonies, cap, least)


@pytest.mark.parametrize("n_testimonies", [1, 2, 3])
@pytest.mark.parametrize(
    ("graph", "k"), ON_GRAPHS, ids=[f"{graph.name or i}-{k}" for i, (graph, k) in enumerate(ON_GRAPHS)]
)
def test_no_replacement_moves_a_plan_of_any_graph_further(graph, k, n_testimonies):
    n = graph.number_of_nodes()
    plans = plans_of(graph, k)
    assert plans.any()
    assert (
        tally_changes(n, k, n_testimonies, "testimony")[plans].max()
        <= sensitivities.testimony_sensitivity(n_testimonies).most
    )
    # Exactly, in whole numbers: 60 here are MASS there.
    mass = mass_sensitivity(n_testimonies).most * WHOLE // MASS
    assert tally_changes(n, k, n_testimonies, "mass")[plans].max() <= mass
    for cap in CAPS[:n]:
        capped = capped_sensitivity(n_testimonies, cap, MASS).most * WHOLE // MASS
        assert tally_changes(n, k, n_testimonies, cap)[plans].max() <= capped
    assert coverage_excess(n, k, n_testimonies)[:, plans].max() <= ROUNDING


def reached(n, k, n_testimonies, kind, most):
    return tally_changes(n, k, n_testimonies, kind).max() == most


@pytest.mark.parametrize(("n", "k"), CASES)
def test_the_bounds_are_reached(n, k):
    for n_testimonies in (1, 2, 3):
        assert reached(n, k, n_testimonies, "testimony", 1)
        # A testimony without a unit on the map has no mass: with it, one alone reaches the bound too.
        assert reached(n, k, n_testimonies, "mass", WHOLE)
        for cap in CAPS[: n - k + 1]:
            assert reached(n, k, n_testimonies, cap, WHOLE * cap)
    for n_testimonies in (2, 3):
        proved, recorded, public = coverage_excess(n, k, n_testimonies).max(axis=1)
        assert abs(proved) <= ROUNDING
        assert abs(recorded) <= ROUNDING
        assert abs(public) <= ROUNDING


@pytest.mark.parametrize("k", [2, 3])
def test_one_testimony_alone_cannot_reach_the_bounds_of_coverage(k):
    """Its best district holds a share of 1/k at least, so the score moves by 1 - 1/k; the bounds are 1."""
    changes, _ = coverage_changes(LARGEST, k, 1)
    assert np.nanmax(changes) == pytest.approx(1 - 1 / k)
    assert coverage_sensitivity(1, 4, 2) == coverage_sensitivity_from_data([4], 4).delta == 1


@pytest.mark.parametrize("k", [2, 3])
@pytest.mark.parametrize("n_testimonies", [1, 2, 3])
def test_where_the_public_bound_is_reached(k, n_testimonies):
    """The others as small as may be and in one district, the new one of B units and all in other districts.

    None of these must then hold more than the others do together, or the cluster's best district changes:
    B <= (k - 1)(T - 1) b. And there must be room: b + B <= n.
    """
    for least, cap in itertools.combinations_with_replacement(range(1, LARGEST + 1), 2):
        excess = public_excess(LARGEST, k, n_testimonies, least, cap).max()
        is_reached = abs(excess) <= ROUNDING
        assert is_reached == (cap <= (k - 1) * (n_testimonies - 1) * least and least + cap <= LARGEST)


def test_a_testimony_larger_than_all_others_breaks_what_looks_at_the_data():
    """The figure max|t|/W changes with it, and so does what every other testimony counts."""
    n, k, n_testimonies, epsilon = 5, 2, 40, 0.5
    plans = partitions(n, k).astype(np.uint8)
    # Forty times units 0 and 1, of which one gives way to all the units there are; or the way back.
    small = [0b00011] * n_testimonies
    large = [*small[1:], 0b11111]

    def law(units, weighting):
        problem = build(n, units, [0] * n_testimonies, weighting)
        return exact_law(problem, Target(k, 0, n, score="cluster", epsilon=epsilon), plans)

    def moved(weighting):
        odds = [law(units, weighting) / (1 - law(units, weighting)) for units in (small, large)]
        return np.abs(np.log(odds[1] / odds[0])).max()

    assert moved(COVERAGE) > 2 * epsilon
    assert 0 < moved(Weighting("coverage", cap=2)) <= epsilon
    # The score itself keeps the bound that is proved for it, b/W'.
    scores = [
        score_plans(build(n, units, [0] * n_testimonies), plans, k).score_cluster for units in (small, large)
    ]
    assert 0 < np.abs(scores[1] - scores[0]).max() <= 5 / (2 * 39 + 5)


def test_what_bounds_the_tally_counts_for_more_than_what_bounds_the_quotient():
    """As soon as T testimonies weigh more than (T - 1) b + B; then the same epsilon says more."""
    n_testimonies, cap, least = 808, 30, 2
    for total in (1, 100):
        weight = (n_testimonies - 1) * least + cap + total
        of_tally = capped_sensitivity(n_testimonies, cap, MASS * weight).delta
        assert of_tally < coverage_sensitivity(n_testimonies, cap, least)
    least_weight = n_testimonies * least
    of_tally = capped_sensitivity(n_testimonies, cap, MASS * least_weight).delta
    assert of_tally > coverage_sensitivity(n_testimonies, cap, least)


# What the figures say of themselves.


def test_each_sensitivity_says_what_it_rests_on():
    plain = [
        sensitivities.testimony_sensitivity(40),
        mass_sensitivity(40),
        capped_sensitivity(40, 6, 77 * MASS),
    ]
    assert [one.delta for one in plain] == pytest.approx([1 / 40, 1 / 40, 6 / 77])
    assert [one.public for one in plain] == [{"T": 40}, {"T": 40}, {"T": 40, "B": 6}]
    assert [one.formula for one in plain] == ["1/T", "1/T", "B/W"]
    assert not any(one.looks_at_data for one in plain)
    from_data = coverage_sensitivity_from_data([3, 0, 9, 4], 16)
    assert (from_data.most, from_data.total, from_data.delta) == (9, 16, 9 / 16)
    assert from_data.looks_at_data
    assert not from_data.public
    assert np.isnan(coverage_sensitivity_from_data([], 0).delta)


def test_the_public_bound_of_the_missouri_testimonies():
    """A bound that looks at no data says little there: 0.64, where the data have 0.026."""
    assert coverage_sensitivity(808, 1404, 1) == pytest.approx(1404 / 2211)
    assert coverage_sensitivity(808, 1404, 1404) == pytest.approx(1 / 808)


@pytest.mark.parametrize(("n_testimonies", "cap", "least"), [(0, 3, 1), (5, 3, 0), (5, 2, 3)])
def test_impossible_sizes_are_refused(n_testimonies, cap, least):
    with pytest.raises(ValueError, match=rf"least and cap .* got {n_testimonies}, {least} and {cap}"):
        coverage_sensitivity(n_testimonies, cap, least)


@pytest.mark.parametrize(
    ("weighting", "message"),
    [
        (Weighting("people"), "must be one of coverage, mass; got 'people'"),
        (Weighting("mass", cap=3), "a cap is for coverage"),
        (Weighting("coverage", cap=0), "the cap must be at least 1 unit; got 0"),
    ],
)
def test_weightings_that_make_no_sense_are_refused(weighting, message):
    with pytest.raises(ValueError, match=message):
        build(3, [1], [0], weighting)


@pytest.mark.parametrize(
    "weighting", [Weighting("coverage", cap=3), Weighting("coverage", cap=1), Weighting("mass")]
)
@settings(deadline=None)
@given(sizes=st.lists(st.integers(0, 2000), max_size=6))
def test_weights_are_whole_even_and_add_up(weighting, sizes):
    """However large, a testimony weighs what it must to the last whole number; no unit has 2 more."""
    sizes = np.array(sizes, dtype=np.int64)
    weights = np.split(unit_weights(sizes, weighting), np.cumsum(sizes)[:-1] if len(sizes) else [])
    for size, own in zip(sizes, weights, strict=bool(len(sizes))):
        expected = min(size, 1) if weighting.kind == "mass" else min(size, weighting.cap)
        assert own.sum() == MASS * expected
        assert own.max(initial=0) - own.min(initial=own.max(initial=0)) <= 1


def test_coverage_without_a_cap_counts_each_unit_once():
    np.testing.assert_array_equal(unit_weights(np.array([2, 0, 3]), Weighting()), np.ones(5))


@pytest.mark.parametrize(
    ("score", "clusters", "message"),
    [
        ("people", [0], "score must be one of testimony, cluster; got 'people'"),
        ("testimony", [], "there are no testimonies"),
        ("cluster", [-1], "needs testimonies with clusters"),
    ],
)
def test_a_score_without_what_it_needs_has_no_sensitivity(score, clusters, message):
    problem = Problem.from_arrays(
        [1] * 3, [(0, 1), (0, 2), (1, 2)], range(len(clusters) + 1), [0] * len(clusters), clusters, 1
    )
    with pytest.raises(ValueError, match=message):
        problem.sensitivity(score)
