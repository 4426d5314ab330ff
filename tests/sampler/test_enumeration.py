from collections import Counter

import numpy as np
import pytest

import oracles
from bottomup.sampler.enumeration import EnumerationError, encode_plans, enumerate_plans, exact_law
from bottomup.sampler.problem import Problem
from bottomup.sampler.target import Target


def grid(rows, cols, population=None):
    return Problem.from_arrays(
        np.ones(rows * cols, dtype=int) if population is None else population, oracles.grid_edges(rows, cols)
    )


def test_four_by_four_in_fours_has_the_known_plans_by_cut_edges():
    problem = grid(4, 4)
    plans = enumerate_plans(problem, 4, 4, 4)
    cut = [(plan[problem.edges[:, 0]] != plan[problem.edges[:, 1]]).sum() for plan in plans]
    assert Counter(cut) == {8: 1, 10: 14, 11: 24, 12: 78}


@pytest.mark.parametrize(
    ("rows", "cols", "k", "lower", "upper"), [(3, 3, 3, 2, 4), (3, 3, 2, 1, 8), (2, 4, 4, 1, 5)]
)
def test_the_list_is_complete_and_without_repeats(rows, cols, k, lower, upper):
    problem = grid(rows, cols)
    plans = [oracles.plan_from_labels(plan) for plan in enumerate_plans(problem, k, lower, upper)]
    expected = oracles.all_plans([1] * rows * cols, oracles.grid_edges(rows, cols), k, lower, upper)
    assert len(plans) == len(set(plans))
    assert set(plans) == expected


def test_populations_count_not_units():
    population = [5, 1, 1, 1, 1, 1]
    plans = {oracles.plan_from_labels(plan) for plan in enumerate_plans(grid(2, 3, population), 2, 4, 6)}
    assert plans == oracles.all_plans(population, oracles.grid_edges(2, 3), 2, 4, 6)


def test_a_code_is_the_same_however_districts_are_numbered():
    plans = np.array([[0, 0, 1, 2], [2, 2, 0, 1], [0, 1, 1, 2]], dtype=np.uint8)
    first, same, other = encode_plans(plans, 3)
    assert first == same != other


def test_the_exact_law_follows_the_definition():
    """Ratios of probabilities, by hand, on two plans of a 2 x 2 square and two testimonies."""
    edges = oracles.grid_edges(2, 2)
    problem = Problem.from_arrays([1] * 4, edges, [0, 2, 4], [0, 1, 0, 2], [0, 0], 1)
    plans = np.array([[0, 0, 1, 1], [0, 1, 1, 1]], dtype=np.uint8)
    target = Target(2, 1, 3, compactness=0.3, cut_edges=1.0, score="testimony", epsilon=4.0)
    law = exact_law(problem, target, plans)
    # Both cut two edges; the first keeps one of two testimonies whole, worth epsilon / 2, the second none.
    assert np.log(law[0] / law[1]) == pytest.approx(2.0)
    assert law.sum() == pytest.approx(1.0)
    target = Target(2, 1, 3, score="cluster", epsilon=4.0)
    # Weights 2, 1, 1, 0: the best district holds 3 of 4 in the first plan, 2 in the second; Delta = 2/4.
    law = exact_law(problem, target, plans)
    assert np.log(law[0] / law[1]) == pytest.approx(4.0 / (2 * 0.5) * (3 / 4 - 2 / 4))


@pytest.mark.parametrize(
    ("rows", "cols", "k", "lower", "upper", "message"),
    [
        (9, 9, 9, 9, 9, "up to 64 units can be enumerated; this one has 81"),
        (2, 3, 2, 4, 4, "no plan has 2 connected districts of 4 to 4 people"),
        (4, 4, 4, 1, 13, "more than 50 plans"),
    ],
)
def test_what_cannot_be_listed_is_refused(rows, cols, k, lower, upper, message):
    with pytest.raises(EnumerationError, match=message):
        enumerate_plans(grid(rows, cols), k, lower, upper, max_plans=50)
