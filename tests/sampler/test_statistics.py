import numpy as np
import pytest

from bottomup.sampler.problem import Problem
from bottomup.sampler.statistics import district_totals, evaluate_plan, ranked_shares, score_plans

# 0 1 2
# 3 4 5
EDGES = [(0, 1), (1, 2), (3, 4), (4, 5), (0, 3), (1, 4), (2, 5)]
TESTIMONIES = [[0, 1], [1, 2], [3], []]


@pytest.fixture
def problem() -> Problem:
    indptr = np.cumsum([0] + [len(t) for t in TESTIMONIES])
    return Problem.from_arrays([1] * 6, EDGES, indptr, np.concatenate(TESTIMONIES), [0, 0, 1, 1], 2)


def test_a_plan_by_hand(problem):
    statistics = evaluate_plan(problem, [0, 0, 1, 0, 1, 1], 2)
    assert statistics.cut_edges == 3  # 1-2, 3-4, 1-4
    np.testing.assert_array_equal(statistics.preserved, [True, False, True, False])
    np.testing.assert_array_equal(statistics.n_districts_touched, [1, 2, 1, 0])
    assert statistics.score_testimony == pytest.approx(2 / 4)
    # Cluster 0 has weights 1, 2, 1 on units 0, 1, 2: district 0 holds 3 of 4. Cluster 1 lies in district 0.
    np.testing.assert_allclose(statistics.cluster_best_share, [3 / 4, 1])
    assert statistics.score_cluster == pytest.approx(4 / 5)


def test_many_plans_as_one_by_one(problem):
    plans = np.array([[0, 0, 1, 0, 1, 1], [0, 0, 0, 1, 1, 1]], dtype=np.uint8)
    scores = score_plans(problem, plans, 2)
    np.testing.assert_array_equal(scores.cut_edges, [3, 3])
    np.testing.assert_allclose(scores.score_testimony, [0.5, 0.75])
    np.testing.assert_allclose(scores.score_cluster, [0.8, 1.0])


def test_totals_and_ranked_shares():
    plans = np.array([[0, 0, 1, 1], [1, 0, 0, 2]], dtype=np.uint8)
    values = [1, 2, 4, 8]
    np.testing.assert_array_equal(district_totals(plans, 3, values), [[3, 12, 0], [6, 1, 8]])
    shares = ranked_shares(plans, 3, values, [2, 4, 8, 0])
    # Districts without a denominator come last, as nan.
    np.testing.assert_allclose(shares[0], [3 / 6, 12 / 8, np.nan])
    np.testing.assert_allclose(shares[1], [1 / 2, 6 / 12, np.nan])
    assert district_totals(plans[:0], 3, values).shape == (0, 3)
