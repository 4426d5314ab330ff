import numpy as np

import oracles
from bottomup.sampler.problem import Problem


def test_alias_tables_give_each_neighbour_its_share():
    edges = oracles.grid_edges(4, 5)
    testimonies = [[0, 1, 5, 6], [6, 7], [6, 7, 8], [13], list(range(20))]
    indptr = np.cumsum([0] + [len(t) for t in testimonies])
    problem = Problem.from_arrays([1] * 20, edges, indptr, np.concatenate(testimonies))
    for bias in (0.0, 0.7, 6.0):
        weights, graph = problem.community_weights(bias), problem.graph
        for (u, v), weight in zip(edges, weights.edge, strict=True):
            shared = [t for t in testimonies if u in t and v in t]
            assert np.isclose(weight, np.exp(bias * sum(1 / np.sqrt(len(t)) for t in shared)))
        for unit in range(20):
            places = np.arange(graph.indptr[unit], graph.indptr[unit + 1])
            found = np.zeros(len(graph.neighbor))
            for i in places:
                assert 0 <= weights.chance[i] <= 1
                assert weights.alias[i] in places
                found[i] += weights.chance[i] / len(places)
                found[weights.alias[i]] += (1 - weights.chance[i]) / len(places)
            expected = weights.edge[graph.edge[places]]
            np.testing.assert_allclose(found[places], expected / expected.sum(), atol=1e-12)
    assert problem.community_weights(0.0) is problem.graph.equal
    assert problem.community_weights(0.7) is problem.community_weights(0.7)
