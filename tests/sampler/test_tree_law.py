"""Plans of independent trees against every plan of a grid, and chains of New Hampshire against them."""

import math
from dataclasses import replace

import numpy as np
import pytest
from scipy.special import kolmogi

from bottomup.data import read_geography
from bottomup.sampler.agreement import known_law, ks_distance, ks_to_reference
from bottomup.sampler.chain import Chain
from bottomup.sampler.enumeration import encode_plans, enumerate_plans, exact_law
from bottomup.sampler.problem import Problem
from bottomup.sampler.start import make_unlike_starts
from bottomup.sampler.statistics import score_plans
from bottomup.sampler.target import Target
from bottomup.sampler.tree_law import PARETO_BELOW, TreeCounter, TreeLawError, draw_reference
from oracles import grid_edges, log_tree_count

TARGET = Target(2, 6, 10, compactness=0.15, cut_edges=7.0)
N_TREES = 40_000
MANY_ERRORS = 4.5
"""Standard errors that one of some hundred right figures strays once in a thousand runs."""


@pytest.fixture(scope="module")
def problem():
    people = np.ones(16, dtype=int)
    people[[0, 5]] = 0, 2
    return Problem.from_arrays(people, grid_edges(4, 4))


@pytest.fixture(scope="module")
def plans(problem):
    return enumerate_plans(problem, 2, 6, 10)


@pytest.fixture(scope="module")
def reference(problem):
    return draw_reference(problem, TARGET, N_TREES, seed=2)


def stray(reference, weights, figures, exact):
    """Standard errors between weighted means and exact ones, counted by trees; figures of shape (P, F)."""
    share = weights / weights.sum()
    mean = share @ figures
    error = np.zeros((reference.n_trees, figures.shape[1]))
    np.add.at(error, reference.tree, share[:, None] * (figures - mean))
    return (mean - exact) / np.sqrt((error**2).sum(axis=0))


def test_trees_are_counted_as_by_a_dense_determinant(problem, plans):
    counter = TreeCounter(problem)
    edges = problem.edges.tolist()
    for plan in plans[:: len(plans) // 20]:
        parts = [np.flatnonzero(plan == district) for district in range(2)]
        assert counter.log_trees(plan) == pytest.approx(sum(log_tree_count(part, edges) for part in parts))
    # 4 x 4 grid, OEIS A007341.
    assert counter.log_trees(np.zeros(16, dtype=int)) == pytest.approx(math.log(100352))


def test_weighted_plans_have_the_exact_law(problem, plans, reference):
    law = exact_law(problem, TARGET, plans)
    codes = encode_plans(plans, 2)
    order = np.argsort(codes)
    place = order[np.searchsorted(codes[order], encode_plans(reference.assignment, 2))]
    assert np.array_equal(encode_plans(plans[place], 2), encode_plans(reference.assignment, 2))
    # Twenty groups of plans, each of about a twentieth of the law.
    group = np.empty(len(plans), dtype=int)
    shuffled = np.random.default_rng(5).permutation(len(plans))
    group[shuffled] = (20 * (np.cumsum(law[shuffled]) - 1e-9)).astype(int)
    is_in = group[place][:, None] == np.arange(20)
    away = stray(reference, reference.weights, is_in, np.bincount(group, law))
    assert np.abs(away).max() < MANY_ERRORS
    assert reference.pareto_k < PARETO_BELOW


def test_the_law_of_the_cut_edges(problem, plans, reference):
    law = exact_law(problem, TARGET, plans)
    cut_edges = score_plans(problem, plans, 2).cut_edges
    exact = known_law(cut_edges, law)
    values = np.unique(cut_edges)
    masses = np.bincount(np.searchsorted(values, cut_edges), law)
    is_at = reference.cut_edges[:, None] == values
    assert np.abs(stray(reference, reference.weights, is_at, masses))[masses > 0.005].max() < MANY_ERRORS
    sample = reference.sample()
    limit = kolmogi(1e-3) / math.sqrt(sample.effective_size)
    assert ks_distance(sample, exact) < limit
    assert 1000 < sample.effective_size <= reference.effective_size <= len(reference.by_tree) <= N_TREES
    # The control: weights that leave out the number of cut edges, and the bare Gaussian, are found out.
    wrong = reference.weights * reference.cut_edges
    assert np.abs(stray(reference, wrong, is_at, masses)).max() > MANY_ERRORS
    gaussian = known_law(values, np.exp(-TARGET.compactness * (values - TARGET.cut_edges) ** 2))
    assert ks_distance(sample, gaussian) > 2 * limit


def test_the_law_of_another_quantity(problem, plans, reference):
    in_first = (plans == plans[:, :1]).sum(axis=1)
    exact = known_law(in_first, exact_law(problem, TARGET, plans))
    sample = reference.sample((reference.assignment == reference.assignment[:, :1]).sum(axis=1))
    assert ks_distance(sample, exact) < kolmogi(1e-3) / math.sqrt(sample.effective_size)


def test_plans_are_counted(plans, problem, reference):
    exact = np.bincount(score_plans(problem, plans, 2).cut_edges)
    found = reference.count_plans()
    away = (np.exp(found.log_count) / exact[found.cut_edges] - 1) / found.error
    assert np.abs(away).max() < MANY_ERRORS
    assert found.error.min() < 0.03


def test_a_target_without_compactness_takes_all_plans(problem, plans):
    target = replace(TARGET, compactness=0.0)
    reference = draw_reference(problem, target, N_TREES)
    cut_edges = score_plans(problem, plans, 2).cut_edges
    away = stray(reference, reference.weights, reference.cut_edges[:, None], cut_edges.mean())
    assert abs(away[0]) < MANY_ERRORS


def test_a_seed_decides_and_a_stop_leaves_what_was_drawn(problem):
    whole = draw_reference(problem, TARGET, 600, seed=4)
    again = draw_reference(problem, TARGET, 600, seed=4)
    assert np.array_equal(whole.weights, again.weights)
    assert not np.array_equal(draw_reference(problem, TARGET, 600, seed=5).tree, whole.tree)
    part = draw_reference(problem, TARGET, 10_000, seed=4, is_stopped=lambda: True)
    assert 0 < part.n_trees < 600
    assert np.array_equal(part.assignment, whole.assignment[: len(part.tree)])


def test_what_the_trees_cannot_stand_for(problem):
    for target, words in [
        (Target(3, 4, 8), "makes two districts; the target has 3"),
        (Target(2, 6, 10, epsilon=1.0), "epsilon is 0; got 1"),
        (Target(2, 0, 1), "none of 300 random trees .* of 0 to 1 people"),
    ]:
        with pytest.raises(TreeLawError, match=words):
            draw_reference(problem, target, 300)
    apart = Problem.from_arrays(np.ones(8), [(0, 1), (1, 2), (2, 3), (0, 3), (4, 5), (5, 6), (6, 7), (4, 7)])
    with pytest.raises(TreeLawError, match="it has 2 parts"):
        draw_reference(apart, Target(2, 3, 5), 300)


@pytest.mark.real
def test_chains_of_new_hampshire_have_the_law_of_the_trees(real_files):
    geography = read_geography(real_files / "new_hampshire" / "NH.shp")
    problem = Problem.build(geography)
    ideal = problem.graph.population.sum() / 2
    target = Target(2, math.ceil(0.9 * ideal), math.floor(1.1 * ideal), compactness=0.1, cut_edges=50.0)
    reference = draw_reference(problem, target, 8000)
    assert reference.pareto_k < PARETO_BELOW
    assert reference.is_trusted
    law = reference.sample()
    assert law.effective_size > 300
    # The number of plans grows with the cut edges, so that their middle lies above the target's.
    assert 52 < reference.weights @ reference.cut_edges < 54
    # Where trees hardly ever come the reference says so.
    far = draw_reference(problem, replace(target, cut_edges=110.0), 2000)
    assert not far.is_trusted
    assert ks_to_reference([far.cut_edges], far.sample()).limit == math.inf
    starts = make_unlike_starts(problem, 2, target.lower, target.upper, [], 2, seed=3)

    def sample(control):
        chains = [Chain(problem, target, start, seed, control=control) for seed, start in enumerate(starts)]
        records = [chain.advance(60_000, 50) for chain in chains]
        return [record.cut_edges[len(record.cut_edges) // 6 :] for record in records]

    right = ks_to_reference(sample(control=False), law)
    assert right.agrees
    assert right.limit < 0.3
    assert not ks_to_reference(sample(control=True), law).agrees
