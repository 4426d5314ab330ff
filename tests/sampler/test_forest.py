"""What must hold of the forest and its sums after any steps on any map."""

import networkx as nx
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import oracles
from bottomup.sampler.chain import Chain
from bottomup.sampler.kernels.forest import MARKED, OUTSIDE, TREE
from bottomup.sampler.kernels.redraw import redraw
from bottomup.sampler.problem import Problem
from bottomup.sampler.start import StartError, make_start, make_workshop
from bottomup.sampler.statistics import evaluate_plan
from bottomup.sampler.target import Target
from bottomup.sampler.types import Mixture


@st.composite
def maps(draw):
    """A connected map with a cycle, testimonies, clusters and loose bounds."""
    n = draw(st.integers(4, 14))
    seed = draw(st.integers(0, 10_000))
    graph = nx.random_labeled_tree(n, seed=seed)
    extra = draw(st.lists(st.tuples(st.integers(0, n - 1), st.integers(0, n - 1)), min_size=1, max_size=15))
    graph.add_edges_from((u, v) for u, v in extra if u != v)
    if graph.number_of_edges() < n:
        graph.add_edges_from(nx.complete_graph(n).edges)
    population = draw(st.lists(st.integers(0, 9), min_size=n, max_size=n))
    units = st.integers(0, n - 1)
    testimonies = draw(st.lists(st.sets(units, max_size=5), max_size=6))
    cluster_of = [draw(st.integers(-1, 2)) for _ in testimonies]
    problem = Problem.from_arrays(
        population,
        sorted(tuple(sorted(edge)) for edge in graph.edges),
        np.cumsum([0] + [len(t) for t in testimonies]),
        [u for t in testimonies for u in sorted(t)],
        cluster_of,
        3,
    )
    return problem, draw(st.integers(2, 4)), seed


def check(chain):
    problem, state = chain.problem, chain._state
    forest, tallies = state.forest, state.tallies
    n, k, edges = problem.n_units, chain.target.n_districts, problem.edges
    people = problem.graph.population

    tree = edges[forest.kind != OUTSIDE]
    assert len(tree) == n - 1
    assert nx.is_connected(nx.Graph(tree.tolist()))
    np.testing.assert_array_equal(np.sort(forest.marked), np.flatnonzero(forest.kind == MARKED))
    np.testing.assert_array_equal(np.sort(forest.outside), np.flatnonzero(forest.kind == OUTSIDE))
    np.testing.assert_array_equal(forest.slot[forest.marked], np.arange(k - 1))
    np.testing.assert_array_equal(forest.slot[forest.outside], np.arange(len(edges) - n + 1))

    parts = oracles.parts_of(n, edges[forest.kind == TREE].tolist())
    assert oracles.plan_from_labels(forest.district) == frozenset(parts)
    assert len(parts) == k

    rooted = nx.DiGraph()
    rooted.add_nodes_from(range(n))
    for unit in range(n):
        if forest.parent[unit] >= 0:
            edge = edges[forest.parent_edge[unit]]
            assert set(edge.tolist()) == {unit, int(forest.parent[unit])}
            assert forest.kind[forest.parent_edge[unit]] == TREE
            rooted.add_edge(int(forest.parent[unit]), unit)
    assert rooted.number_of_edges() == n - k
    for unit in range(n):
        below = nx.descendants(rooted, unit) | {unit}
        assert forest.subtree_population[unit] == people[list(below)].sum()

    check_plan(chain)

    districts = [np.flatnonzero(forest.district == d).tolist() for d in range(k)]
    expected = [
        sum(oracles.log_tree_count(members, edges.tolist()) for members in districts),
        oracles.log_tree_count(range(k), [tuple(forest.district[edge]) for edge in edges]),
    ]
    np.testing.assert_allclose(tallies.log_trees, expected, atol=1e-9)

    # The factor is that of the districts' Laplacians, each with its ground.
    matrix = np.zeros((n, n))
    for u, v in edges:
        if forest.district[u] == forest.district[v]:
            matrix[[u, v], [u, v]] += 1
            matrix[[u, v], [v, u]] -= 1
    ground = chain._cholesky.ground
    assert forest.district[ground].tolist() == list(range(k))
    matrix[ground, ground] += 1
    order = problem.pattern.unit_at
    lower = oracles.unpack_factor(problem.pattern, chain._cholesky)
    factored = lower @ np.diag(chain._cholesky.pivot) @ lower.T
    np.testing.assert_allclose(factored, matrix[np.ix_(order, order)], atol=1e-9)
    apart = forest.district[order][:, None] != forest.district[order][None, :]
    assert (lower[apart] == 0).all()


def check_plan(chain):
    """What holds of the plan and its sums whatever the moves."""
    problem, state = chain.problem, chain._state
    forest, tallies = state.forest, state.tallies
    k, edges, people = chain.target.n_districts, problem.edges, problem.graph.population
    pieces = oracles.parts_of(
        problem.n_units, [e for e in edges.tolist() if forest.district[e[0]] == forest.district[e[1]]]
    )
    assert len(pieces) == k
    statistics = evaluate_plan(problem, forest.district, k)
    np.testing.assert_array_equal(tallies.population, np.bincount(forest.district, people, k))
    assert ((tallies.population >= chain.target.lower) & (tallies.population <= chain.target.upper)).all()
    assert tallies.total[0] == statistics.cut_edges
    assert tallies.total[1] == statistics.preserved.sum()
    np.testing.assert_array_equal(tallies.spread, statistics.n_districts_touched)
    weight = problem.testimony.cluster_weight
    np.testing.assert_array_equal(tallies.best, np.round(statistics.cluster_best_share * weight))
    assert tallies.total[2] == tallies.best.sum()

    between = np.zeros((k, k), dtype=int)
    for u, v in edges:
        a, b = forest.district[u], forest.district[v]
        if a != b:
            between[a, b] += 1
            between[b, a] += 1
    np.testing.assert_array_equal(tallies.between, between)


@settings(max_examples=80, deadline=None)
@given(maps(), st.sampled_from(["mixed", "paper"]), st.floats(0, 3))
def test_forest_sums_and_factor_stay_true(drawn, step, epsilon):
    problem, k, seed = drawn
    total = int(problem.graph.population.sum())
    try:
        start = make_start(problem, k, 0, total, seed, max_attempts=5)
    except StartError:
        return
    score = "cluster" if problem.testimony.cluster_weight.sum() else "testimony"
    if not problem.n_testimonies:
        epsilon = 0.0
    target = Target(k, 0, total, compactness=0.1, cut_edges=3.0, score=score, epsilon=epsilon)
    chain = Chain(problem, target, start, seed, step=step)
    check(chain)
    for n_steps in (1, 1, 1, 2, 5, 40):
        chain.advance(n_steps, 1000)
        check(chain)


@settings(max_examples=60, deadline=None)
@given(
    maps(), st.tuples(*[st.integers(0, 3)] * 4), st.sampled_from(["testimony", "cluster"]), st.floats(0, 3)
)
def test_they_stay_true_under_companion_moves(drawn, numbers, score, epsilon):
    problem, k, seed = drawn
    total = int(problem.graph.population.sum())
    mixture = Mixture(*numbers)
    if not sum(mixture):
        return
    try:
        start = make_start(problem, k, 0, total, seed, max_attempts=5)
    except StartError:
        return
    if score == "cluster" and not problem.testimony.cluster_weight.sum():
        score = "testimony"
    epsilon = epsilon if problem.n_testimonies else 0.0
    target = Target(k, 0, total, compactness=0.1, cut_edges=3.0, score=score, epsilon=epsilon)
    chain = Chain(problem, target, start, seed, mixture=mixture, community_bias=0.5)
    for n_cycles in (1, 1, 2, 10):
        chain.advance(n_cycles * sum(mixture), 1000)
        # Without steps of the walk nobody needs its trees, and they stay those of the start.
        (check if mixture.walks else check_plan)(chain)


def test_a_redraw_gives_every_state_of_the_plan_the_same_chance():
    problem = Problem.from_arrays([1] * 6, oracles.grid_edges(2, 3))
    # Left four units (4 trees), right two (1 tree), 2 cut edges between them: 8 states.
    chain = Chain(problem, Target(2, 2, 4), [0, 0, 1, 0, 0, 1], seed=0)
    workshop = make_workshop(problem, 2)
    rng = np.random.default_rng(1)
    counts = {}
    for _ in range(8000):
        redraw(rng, problem.graph, chain._state.forest, workshop)
        state = tuple(chain._state.forest.kind.tolist())
        counts[state] = counts.get(state, 0) + 1
    assert len(counts) == 8
    statistic = sum((count - 1000) ** 2 / 1000 for count in counts.values())
    assert statistic < 29.9  # chi-square with 7 degrees of freedom exceeds it once in 10,000


def test_the_case_in_which_two_districts_merge_and_one_is_divided_occurs():
    """On a ring of three districts with loose bounds a cycle runs through all of them."""
    ring = [(i, (i + 1) % 9) for i in range(9)]
    problem = Problem.from_arrays([1] * 9, ring)
    chain = Chain(problem, Target(3, 1, 7), np.repeat([0, 1, 2], 3), seed=2)
    plans = {oracles.plan_from_labels(chain.advance(1, 1).assignment[0]) for _ in range(3000)}
    assert plans == oracles.all_plans([1] * 9, ring, 3, 1, 7)


def test_every_outcome_is_counted():
    problem = Problem.from_arrays([1] * 16, oracles.grid_edges(4, 4))
    for step in ("mixed", "paper"):
        chain = Chain(problem, Target(4, 3, 5), np.repeat(np.arange(4), 4), seed=1, step=step)
        chain.advance(20_000, 20_000)
        assert sum(chain.outcomes) == chain.steps == 20_000
        assert min(chain.outcomes) > 0


@pytest.mark.parametrize("seed", range(3))
def test_a_start_is_made_within_the_bounds(seed):
    rng = np.random.default_rng(seed)
    population = rng.integers(50, 150, 400)
    problem = Problem.from_arrays(population, oracles.grid_edges(20, 20))
    mean = population.sum() / 8
    lower, upper = int(np.ceil(mean * 0.95)), int(mean * 1.05)
    start = make_start(problem, 8, lower, upper, seed)
    people = np.bincount(start, population)
    assert len(people) == 8
    assert ((people >= lower) & (people <= upper)).all()
    for d in range(8):
        members = np.flatnonzero(start == d).tolist()
        assert nx.is_connected(nx.Graph(problem.edges.tolist()).subgraph(members))
    np.testing.assert_array_equal(start, make_start(problem, 8, lower, upper, seed))


def test_a_start_that_cannot_be_is_refused_with_the_reason():
    edges = oracles.grid_edges(2, 2)
    with pytest.raises(StartError, match="cannot hold 4 people"):
        make_start(Problem.from_arrays([1] * 4, edges), 2, 3, 3, 0)
    with pytest.raises(StartError, match="unit number 1 holds 9 people, more than a district may"):
        make_start(Problem.from_arrays([1, 9, 1, 1], edges), 2, 1, 8, 0)
    star = [(0, 1), (0, 2), (0, 3), (0, 4), (1, 2)]
    with pytest.raises(StartError, match="no plan with 2 districts of 5 to 5 people was found"):
        make_start(Problem.from_arrays([2, 2, 2, 2, 2], star), 2, 5, 5, 0)


def test_trees_are_drawn_uniformly():
    from bottomup.sampler.kernels.trees import draw_tree

    edges = oracles.grid_edges(2, 3)
    problem = Problem.from_arrays([1] * 6, edges)
    rng = np.random.default_rng(4)
    label = np.zeros(6, dtype=np.int32)
    counts = {}
    for _ in range(15_000):
        parent, parent_edge = np.empty(6, dtype=np.int32), np.empty(6, dtype=np.int32)
        in_tree, order = np.zeros(6, dtype=np.uint8), np.empty(6, dtype=np.int32)
        weights = problem.graph.equal
        n_units = draw_tree(rng, problem.graph, weights, label, 0, 2, parent, parent_edge, in_tree, order)
        assert n_units == 6
        seen = [int(unit) for unit in order]
        assert all(parent[unit] < 0 or seen.index(parent[unit]) < seen.index(unit) for unit in seen)
        tree = frozenset(parent_edge[parent_edge >= 0].tolist())
        counts[tree] = counts.get(tree, 0) + 1
    assert len(counts) == 15  # by Kirchhoff's theorem
    statistic = sum((count - 1000) ** 2 / 1000 for count in counts.values())
    assert statistic < 42.6  # chi-square with 14 degrees of freedom exceeds it once in 10,000
