"""The nearest start to a plan: what changes hands, and that it is a start."""

import dataclasses

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bottomup.data import DataError, Plan, load_plan
from bottomup.data.plan_repair import join_loose, nearest_start
from bottomup.data.plans import check_plan, check_start, plan_from_labels, population_bounds


def plan_of(assignment, labels="ABCD"):
    assignment = np.array(assignment, dtype=np.int32)
    return Plan("mine", assignment, tuple(labels)[: assignment.max() + 1])


def quadrants(side):
    unit = np.arange(side * side)
    return 2 * (unit // side >= side // 2) + (unit % side >= side // 2)


@pytest.fixture(scope="module")
def squares(make_grid):
    """Sixty-four units of 100 to 149 people."""
    return make_grid(8, 8, [100 + unit * 37 % 50 for unit in range(64)])


def test_a_detached_unit_is_named_and_goes_to_the_neighbours(squares):
    assignment = quadrants(8)
    assignment[3] = 3
    plan, bounds = plan_of(assignment), population_bounds(squares.total_population, 4, 0.1)
    (finding,) = check_plan(squares, plan, *bounds).findings
    assert (finding.code, finding.districts, finding.units) == ("district_not_connected", ("D",), ("003",))
    assert "district D is in 2 pieces, with 111 people apart from the largest" in finding.message
    repair = nearest_start(squares, plan, *bounds)
    assert repair.moved.tolist() == [3]
    assert repair.plan.assignment[3] == 0
    assert repair.sentence() == (
        "The nearest start to plan 'mine' that was found differs in 1 unit with 111 people."
    )
    assert repair.description(squares) == {
        "plan": "mine",
        "n_units": 1,
        "n_people": 111,
        "moved": {"003": ["D", "A"]},
    }
    check_start(squares, repair.plan, *bounds)


def test_districts_out_of_balance_are_named_with_their_figures_and_balanced(squares):
    unit = np.arange(64)
    assignment = np.where(unit < 56, 0, 1 + (unit - 56) // 3)
    plan, bounds = plan_of(assignment), population_bounds(squares.total_population, 4, 0.05)
    (finding,) = check_plan(squares, plan, *bounds).findings
    assert (finding.code, finding.districts) == ("district_out_of_bounds", ("A", "B", "C", "D"))
    assert "district A has 6,980 (+249.35%), district B has 377 (-81.13%)" in finding.message
    repair = nearest_start(squares, plan, *bounds)
    check_start(squares, repair.plan, *bounds)
    people = np.bincount(assignment, squares.population)
    n_least = np.maximum(bounds[0] - people, 0).sum()
    assert n_least <= repair.n_people < 1.3 * n_least


def test_all_findings_come_at_once_and_the_first_is_raised_with_the_others(make_grid):
    grid = make_grid(3, 3)
    plan = Plan("mine", np.array([0, 1, 0, 1, 1, 1, 1, 1, 1], dtype=np.int32), ("A", "B", "C"))
    check = check_plan(grid, plan, 27, 33)
    codes = ["empty_district", "district_not_connected", "district_out_of_bounds"]
    assert [finding.code for finding in check.findings] == codes
    assert not check.is_start
    with pytest.raises(DataError, match="no units in district C") as caught:
        check_start(grid, plan, 27, 33)
    assert "Besides, plan 'mine' is not connected: district A is in 2 pieces" in str(caught.value)
    assert "district B has 70 (+133.33%)" in str(caught.value)
    with pytest.raises(DataError, match="no units in district C"):
        nearest_start(grid, plan, 27, 33)


def test_a_start_is_left_alone(squares):
    repair = nearest_start(
        squares, plan_of(quadrants(8)), *population_bounds(squares.total_population, 4, 0.1)
    )
    assert len(repair.moved) == repair.n_people == 0


def test_what_cannot_be_repaired_says_so_soon(make_grid):
    grid = make_grid(2, 2, [10, 10, 10, 14])
    with pytest.raises(DataError, match=r"could not be brought within: A \(20\), B \(24\)") as caught:
        nearest_start(grid, plan_of([0, 0, 1, 1]), 21, 23)
    assert caught.value.code == "no_repair"
    with pytest.raises(DataError, match="cannot hold the 44 people"):
        nearest_start(grid, plan_of([0, 0, 1, 1]), 23, 24)


@settings(deadline=None, max_examples=60)
@given(
    assignment=st.lists(st.integers(0, 3), min_size=30, max_size=30),
    people=st.lists(st.integers(0, 20), min_size=30, max_size=30),
    seed=st.integers(0, 3),
)
def test_whatever_the_plan_a_start_comes_out_or_a_clear_error(make_grid, assignment, people, seed):
    grid = make_grid(5, 6, [10 + n for n in people])
    plan = plan_from_labels("mine", [str(district) for district in assignment])
    bounds = population_bounds(grid.total_population, plan.n_districts, 0.25)
    if plan.n_districts == 1:
        with pytest.raises(DataError, match="from 2 to the number of units"):
            nearest_start(grid, plan, *bounds, seed=seed)
        return
    repair = nearest_start(grid, plan, *bounds, seed=seed)
    check_start(grid, repair.plan, *bounds)
    changed = np.flatnonzero(repair.plan.assignment != plan.assignment)
    assert repair.moved.tolist() == changed.tolist()
    assert repair.n_people == grid.population[changed].sum()
    again = nearest_start(grid, plan, *bounds, seed=seed)
    assert np.array_equal(again.plan.assignment, repair.plan.assignment)


def test_pieces_go_where_most_of_their_border_is_and_stay_whole(make_grid):
    grid = make_grid(3, 4)
    lengths = np.ones(grid.n_edges)
    east = {(1, 2), (5, 6)}
    lengths[[tuple(edge) in east for edge in grid.edges.tolist()]] = 5
    grid = dataclasses.replace(grid, shared_perimeter=lengths)
    assignment = np.array([0, -1, 1, 1, 0, -1, 1, 1, 0, 0, 0, 0], dtype=np.int32)
    together = np.array([0, 1, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0], dtype=np.int32)
    assert join_loose(grid, assignment, 2, together)[[1, 5]].tolist() == [1, 1]
    lengths[:] = 0
    grid = dataclasses.replace(grid, shared_perimeter=lengths)
    assert join_loose(grid, assignment, 2, together)[[1, 5]].tolist() == [0, 0]


def test_units_without_a_way_to_any_district_are_named(make_grid):
    grid = make_grid(1, 4)
    grid = dataclasses.replace(grid, edges=grid.edges[:2], shared_perimeter=None)
    with pytest.raises(DataError, match="without a way to any: 003") as caught:
        join_loose(grid, np.array([0, -1, 1, -1], dtype=np.int32), 2)
    assert (caught.value.code, caught.value.units) == ("no_repair", ("003",))


@pytest.mark.real
def test_the_plan_of_2022_needs_one_voting_district_to_move(missouri):
    plan = load_plan("cd2022", missouri)
    bounds = population_bounds(missouri.total_population, 8, 0.01)
    repair = nearest_start(missouri, plan, *bounds)
    assert repair.description(missouri)["moved"] == {"29219000024": ["2", "3"]}
    assert repair.n_people == 497
    check_start(missouri, repair.plan, *bounds)
    tight = population_bounds(missouri.total_population, 8, 0.0005)
    closer = nearest_start(missouri, plan, *tight)
    check_start(missouri, closer.plan, *tight)
    assert len(closer.moved) < 25
