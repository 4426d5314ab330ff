import networkx as nx
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import oracles
from bottomup.sampler.chain import Chain
from bottomup.sampler.kernels import determinant
from bottomup.sampler.kernels.cholesky import factor_district
from bottomup.sampler.kernels.determinant import count_multigraph_trees
from bottomup.sampler.pattern import build_pattern, make_cholesky
from bottomup.sampler.problem import Problem
from bottomup.sampler.start import make_start
from bottomup.sampler.target import Target


def log_trees(problem, district, k):
    """Log tree counts of all districts together, by the kernels, from a new factor."""
    cholesky = make_cholesky(problem.pattern, k)
    return sum(_pivots(problem, cholesky, np.asarray(district, dtype=np.int32), d) for d in range(k))


def _pivots(problem, cholesky, district, label):
    factor_district(
        problem.graph,
        problem.graph.equal.edge,
        problem.pattern,
        cholesky.value,
        cholesky.pivot,
        cholesky.work,
        district,
        label,
    )
    members = problem.pattern.position_of[district == label]
    return np.log(cholesky.pivot[members]).sum()


@settings(max_examples=40, deadline=None)
@given(st.integers(2, 40), st.integers(0, 10_000))
def test_log_tree_counts_agree_with_a_dense_determinant(n, seed):
    graph = nx.connected_watts_strogatz_graph(n + 3, 4, 0.5, seed=seed)
    edges = [tuple(sorted(edge)) for edge in graph.edges]
    problem = Problem.from_arrays([1] * (n + 3), edges)
    cholesky = make_cholesky(problem.pattern, 2)
    # Two connected parts, one after the other, on the factor that the first has left.
    for root in (0, n):
        part = list(nx.bfs_tree(graph, root))[: max(2, n // 2)]
        district = np.ones(n + 3, dtype=np.int32)
        district[part] = 0
        found = _pivots(problem, cholesky, district, 0)
        assert found == pytest.approx(oracles.log_tree_count(part, edges), abs=1e-9)


def test_known_counts():
    """A cycle has as many trees as edges, a complete graph n^(n-2) (Cayley), a 2 x 3 grid 15."""
    for edges, n, trees in [
        ([(i, (i + 1) % 7) for i in range(7)], 7, 7),
        (list(nx.complete_graph(6).edges), 6, 6**4),
        (oracles.grid_edges(2, 3), 6, 15),
    ]:
        problem = Problem.from_arrays([1] * n, edges)
        assert np.exp(log_trees(problem, [0] * n, 1)) == pytest.approx(trees)


def test_parallel_edges_of_the_district_multigraph_count():
    between = np.array([[0, 3, 0], [3, 0, 2], [0, 2, 0]])
    assert np.exp(count_multigraph_trees(between, np.zeros((3, 3)))) == pytest.approx(6)
    between = np.array([[0, 3, 1], [3, 0, 2], [1, 2, 0]])
    assert np.exp(count_multigraph_trees(between, np.zeros((3, 3)))) == pytest.approx(3 * 2 + 3 * 1 + 2 * 1)


def test_the_pattern_holds_every_entry_of_the_factor():
    edges = np.array(oracles.grid_edges(9, 11), dtype=np.int32)
    found = build_pattern(99, edges)
    laplacian = nx.laplacian_matrix(nx.Graph(edges.tolist()), nodelist=range(99)).toarray() + np.eye(99)
    lower = np.linalg.cholesky(laplacian[np.ix_(found.unit_at, found.unit_at)])
    pattern = np.eye(99, dtype=bool)
    for j in range(99):
        rows = found.row[found.column_start[j] : found.column_start[j + 1]]
        assert (np.diff(rows) > 0).all()
        pattern[rows, j] = True
    assert not np.abs(lower[~pattern]).max() > 1e-12
    assert len(found.row) < 99 * 98 / 2 / 3
    columns = np.repeat(np.arange(99), np.diff(found.column_start))
    for i in range(99):
        entries = found.row_entry[found.row_start[i] : found.row_start[i + 1]]
        assert (found.row[entries] == i).all()
        np.testing.assert_array_equal(
            columns[entries], found.row_column[found.row_start[i] : found.row_start[i + 1]]
        )


@pytest.mark.parametrize("step", ["mixed", "paper"])
def test_rounding_does_not_add_up(step, monkeypatch):
    """On 900 units, many updates between two factorisations; large parts go the other way, by factoring."""
    rng = np.random.default_rng(0)
    edges = oracles.grid_edges(30, 30)
    population = rng.integers(1, 9, 900)
    problem = Problem.from_arrays(population, edges)
    mean = population.sum() / 6
    lower, upper = int(0.8 * mean), int(1.2 * mean)
    start = make_start(problem, 6, lower, upper, 1)
    chain = Chain(problem, Target(6, lower, upper, compactness=0.01, cut_edges=150), start, 1, step)
    chain.advance(30_000, 30_000)
    counts = {False: 0, True: 0}
    for _ in range(1500):
        before = chain.outcomes.accepted
        chain.advance(1, 2)
        if chain.outcomes.accepted > before:
            counts[bool(chain._state.scratch.is_listed[0])] += 1
    assert counts[True] > 0
    assert counts[False] > 0 or step == "mixed"
    assert chain.outcomes.accepted > determinant.N_UPDATES or step == "paper"
    found = chain._state.tallies.log_trees[0]
    assert found == pytest.approx(log_trees(problem, chain.assignment, 6), abs=1e-9)
    assert chain._cholesky.drift[0] < 1e-9


@pytest.mark.real
def test_missouri_counts_agree_with_a_sparse_library(real_files):
    import pandas as pd
    from scipy import sparse
    from scipy.sparse.linalg import splu

    nodes = pd.read_csv(real_files / "missouri_vtd2020" / "nodes.csv", dtype={"GEOID20": str})
    pairs = pd.read_csv(real_files / "missouri_vtd2020" / "edges.csv", dtype=str)
    place = {unit: i for i, unit in enumerate(nodes["GEOID20"])}
    edges = np.array([(place[u], place[v]) for u, v in zip(pairs["u"], pairs["v"], strict=True)])
    problem = Problem.from_arrays(nodes["pop20"], edges)
    labels = np.unique(nodes["cd2025_hb1"], return_inverse=True)[1].astype(np.int32)
    cholesky = make_cholesky(problem.pattern, 8)
    for d in range(8):
        members = np.flatnonzero(labels == d)
        inside = edges[(labels[edges] == d).all(axis=1)]
        new = np.full(len(labels), -1)
        new[members] = np.arange(len(members))
        u, v = new[inside].T
        ones = np.ones(len(u))
        adjacency = sparse.coo_array((ones, (u, v)), shape=(len(members),) * 2)
        adjacency = (adjacency + adjacency.T).tocsr()
        laplacian = sparse.diags_array(np.asarray(adjacency.sum(axis=0)).ravel()) - adjacency
        pivots = splu(sparse.csc_array(laplacian.tocsr()[1:, 1:])).U.diagonal()
        found = _pivots(problem, cholesky, labels, d)
        assert found == pytest.approx(np.log(np.abs(pivots)).sum(), rel=1e-12)
