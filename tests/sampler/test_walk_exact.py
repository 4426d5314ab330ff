"""The walk step by step, against transition matrices worked out by hand on maps of a few units."""

import numpy as np
import pytest
from scipy.sparse.csgraph import connected_components
from scipy.stats import chi2

import oracles
from bottomup.sampler.chain import Chain
from bottomup.sampler.problem import Problem
from bottomup.sampler.target import Target
from bottomup.sampler.types import Mixture

# name: rows, cols, districts, lower, upper. With sizes 1 to 4 a district may vanish into a neighbour's while
# another is divided: all cases of the cycle basis step occur.
MAPS = {"pairs": (2, 3, 2, 1, 5), "triples": (2, 3, 3, 1, 4)}
N_STEPS = 40_000


def set_up(name, step, epsilon=1.5):
    rows, cols, k, lower, upper = MAPS[name]
    n = rows * cols
    edges = oracles.grid_edges(rows, cols)
    population = [1] * n
    testimonies = [[0, 1], [1, 2], [n - 2, n - 1], [0, cols]]
    indptr = np.cumsum([0] + [len(t) for t in testimonies])
    problem = Problem.from_arrays(population, edges, indptr, np.concatenate(testimonies))
    target = Target(k, lower, upper, compactness=0.05, cut_edges=3.0, score="testimony", epsilon=epsilon)

    def log_weight(plan):
        whole = sum(any(set(t) <= part for part in plan) for t in testimonies)
        return -0.05 * (oracles.n_cut(plan, edges) - 3.0) ** 2 + epsilon / 2 * whole

    states = oracles.all_states(population, edges, k, lower, upper)
    law = oracles.law_of_states(n, states, log_weight)
    start = np.zeros(n, dtype=int)
    for d, part in enumerate(oracles.plan_of(n, states[0])):
        start[list(part)] = d
    chain = Chain(problem, target, start, seed=5, step=step)
    return n, edges, states, law, chain


def walk_states(chain, edges, states, n_steps):
    place = {state: i for i, state in enumerate(states)}
    visited = np.empty(n_steps + 1, dtype=np.int64)
    for i in range(n_steps + 1):
        kind = chain._state.forest.kind
        tree = frozenset(edge for edge, kept in zip(edges, kind, strict=True) if kept)
        marks = frozenset(edge for edge, kept in zip(edges, kind, strict=True) if kept == 2)
        visited[i] = place[tree, marks]
        chain.advance(1, 2)
    return visited


def p_value(visited, matrix):
    """Chance that a walk with this matrix strays from it as far as the one observed (chi-square)."""
    n = len(matrix)
    counts = np.zeros((n, n))
    np.add.at(counts, (visited[:-1], visited[1:]), 1)
    assert counts[matrix == 0].sum() == 0, "the walk made a step that cannot be"
    statistic, freedom = 0.0, 0
    for row, chances in zip(counts, matrix, strict=True):
        expected = row.sum() * chances
        often = expected >= 5
        observed = np.append(row[often], row[~often].sum())
        expected = np.append(expected[often], expected[~often].sum())
        kept = expected > 0
        statistic += ((observed - expected)[kept] ** 2 / expected[kept]).sum()
        freedom += kept.sum() - 1
    return chi2.sf(statistic, freedom)


@pytest.mark.parametrize("step", ["mixed", "paper"])
@pytest.mark.parametrize("name", MAPS)
def test_every_transition_has_the_chance_that_the_definition_gives_it(name, step):
    n, edges, states, law, chain = set_up(name, step)
    matrix = oracles.transition_matrix(n, edges, states, law, step)
    assert p_value(walk_states(chain, edges, states, N_STEPS), matrix) > 1e-4


@pytest.mark.parametrize("step", ["mixed", "paper"])
@pytest.mark.parametrize("name", MAPS)
def test_the_law_is_the_only_one_that_the_definition_leaves_unchanged(name, step):
    n, edges, states, law, _ = set_up(name, step)
    matrix = oracles.transition_matrix(n, edges, states, law, step)
    np.testing.assert_allclose(law @ matrix, law, atol=1e-14)
    n_pieces, _ = connected_components(matrix > 0, directed=True, connection="strong")
    assert n_pieces == 1


@pytest.mark.parametrize(
    ("step", "broken"), [("mixed", "tree_count"), ("paper", "tree_count"), ("paper", "proposal")]
)
def test_a_factor_left_out_of_the_ratio_is_noticed(step, broken):
    n, edges, states, law, chain = set_up("pairs", step)
    chain._law = chain._law._replace(**{broken: 0.0})
    matrix = oracles.transition_matrix(n, edges, states, law, step)
    assert p_value(walk_states(chain, edges, states, N_STEPS), matrix) < 1e-6


MOVES = {"flip": Mixture(1, 0, 0, 0), "community": Mixture(0, 1, 0, 0), "merge-split": Mixture(0, 0, 1, 0)}
TESTIMONIES = [[0], [0, 1], [1, 2], [4, 5], [0, 3], [2, 5], [2]]


def set_up_plans(move, bias=0.0, epsilon=1.5):
    """A chain of one move on plans of 2 x 3 units, and the matrix that its definition gives it."""
    population, edges = [1, 2, 1, 1, 1, 2], oracles.grid_edges(2, 3)
    k, bounds = 3, (1, 5)
    indptr = np.cumsum([0] + [len(t) for t in TESTIMONIES])
    problem = Problem.from_arrays(population, edges, indptr, np.concatenate(TESTIMONIES))
    target = Target(k, *bounds, compactness=0.05, cut_edges=3.0, score="testimony", epsilon=epsilon)
    plans = sorted(
        oracles.all_plans(population, edges, k, *bounds), key=lambda plan: sorted(map(sorted, plan))
    )
    law = np.array(
        [
            np.exp(
                -0.05 * (oracles.n_cut(plan, edges) - 3.0) ** 2
                + epsilon / 2 * sum(any(set(t) <= part for part in plan) for t in TESTIMONIES)
            )
            for plan in plans
        ]
    )
    law /= law.sum()
    weight = {
        edge: np.exp(bias * sum(1 / np.sqrt(len(t)) for t in TESTIMONIES if set(edge) <= set(t)))
        for edge in edges
    }
    matrix = oracles.plan_transition_matrix(plans, law, move, edges, population, bounds, TESTIMONIES, weight)
    start = np.zeros(6, dtype=int)
    for d, part in enumerate(plans[0]):
        start[list(part)] = d
    chain = Chain(problem, target, start, seed=5, mixture=MOVES[move], community_bias=bias)
    return plans, law, matrix, chain


def walk_plans(chain, plans, n_steps):
    place = {plan: i for i, plan in enumerate(plans)}
    first = place[oracles.plan_from_labels(chain.assignment)]
    records = chain.advance(n_steps, 1)
    return np.array([first, *(place[oracles.plan_from_labels(plan)] for plan in records.assignment)])


@pytest.mark.parametrize(
    ("move", "bias"), [("flip", 0.0), ("community", 0.0), ("merge-split", 0.0), ("merge-split", 0.8)]
)
def test_every_transition_of_a_companion_move_has_the_chance_that_its_definition_gives_it(move, bias):
    plans, law, matrix, chain = set_up_plans(move, bias)
    np.testing.assert_allclose(law[:, None] * matrix, (law[:, None] * matrix).T, atol=1e-15)
    assert (matrix.diagonal() < 1).sum() > 10
    visited = walk_plans(chain, plans, N_STEPS)
    assert len(np.unique(visited)) > 1
    assert p_value(visited, matrix) > 1e-4


@pytest.mark.parametrize(
    ("move", "broken"),
    [
        ("flip", "proposal"),
        ("community", "proposal"),
        ("merge-split", "proposal"),
        ("merge-split", "tree_count"),
    ],
)
def test_a_factor_left_out_of_a_companion_move_is_noticed(move, broken):
    plans, _, matrix, chain = set_up_plans(move)
    chain._law = chain._law._replace(**{broken: 0.0})
    assert p_value(walk_plans(chain, plans, N_STEPS), matrix) < 1e-6


def test_weights_that_the_proof_does_not_know_are_noticed():
    plans, _, matrix, chain = set_up_plans("merge-split", bias=0.8)
    chain._weights = chain._weights._replace(edge=np.ones(7))
    assert p_value(walk_plans(chain, plans, N_STEPS), matrix) < 1e-6
