import numpy as np
import pytest

from bottomup.sampler import start
from bottomup.sampler.diagnostics import are_unlike
from bottomup.sampler.start import StartError, make_start, make_unlike_starts
from bottomup.sampler.verification import make_grid_problem

BOUNDS = (4, 7, 11)


def test_the_plans_given_come_first_and_the_rest_are_unlike_them():
    problem = make_grid_problem(6, 6)
    given = np.repeat(np.arange(4), 9)
    starts = make_unlike_starts(problem, *BOUNDS, [given], 3, seed=1)
    assert len(starts) == 3
    np.testing.assert_array_equal(starts[0], given)
    assert are_unlike(starts, 4)
    again = make_unlike_starts(problem, *BOUNDS, [given], 2, seed=1)
    np.testing.assert_array_equal(again[1], starts[1])
    other = make_unlike_starts(problem, *BOUNDS, [given], 2, seed=2)
    assert (other[1] != starts[1]).any()


def test_without_plans_all_are_made():
    problem = make_grid_problem(6, 6)
    starts = make_unlike_starts(problem, *BOUNDS, [], 4, seed=1)
    assert are_unlike(starts, 4)
    for plan in starts:
        sizes = np.bincount(plan, minlength=4)
        assert sizes.min() >= 7
        assert sizes.max() <= 11


def test_what_cannot_be_a_start_is_refused(monkeypatch):
    problem = make_grid_problem(6, 6)
    given = make_start(problem, *BOUNDS, 1)
    with pytest.raises(ValueError, match="no less than the number of plans given, 2; got 1"):
        make_unlike_starts(problem, *BOUNDS, [given, given], 1, seed=1)
    with pytest.raises(StartError, match="districts must hold 9 to 9 people"):
        make_unlike_starts(problem, 4, 9, 9, [np.repeat(np.arange(4), [8, 10, 9, 9])], 1, seed=1)
    monkeypatch.setattr(start, "_cut_districts", lambda *arguments: None)
    with pytest.raises(StartError, match="start number 2 of 2 could not be made from random trees: no plan"):
        make_unlike_starts(problem, *BOUNDS, [given], 2, seed=1)
