from __future__ import annotations

import numpy as np
import pytest

from bottomup.dashboard.colourings import (
    NO_CLASS,
    coverage,
    coverage_colouring,
    covering,
    kept_colouring,
    population_colouring,
    share_colouring,
    together_colouring,
    waiting,
)
from bottomup.data.testimonies import Testimonies
from bottomup.sampler.shares import Share

# Testimony 0 covers units 0 and 1, testimony 1 nothing, testimony 2 units 1, 2 and 3.
TESTIMONIES = Testimonies(
    ids=("a", "b", "c"),
    indptr=np.array([0, 2, 2, 5]),
    units=np.array([0, 1, 1, 2, 3], dtype=np.int32),
    clusters=None,
    status=("used", "empty", "used"),
)


def numbers(colouring):
    return [float(mark.replace(",", "").replace("\u2212", "-")) for mark in colouring.marks]


def test_classes_of_density_begin_at_the_numbers_that_the_legend_gives():
    rng = np.random.default_rng(5)
    density = 10 ** rng.uniform(0, 4, 600)
    square_miles = rng.uniform(0.1, 50, 600)
    people = np.round(density * square_miles).astype(np.int64)
    found = population_colouring(people, square_miles * 1609.344**2)
    breaks = numbers(found)
    assert 5 <= len(found.colors) <= 7
    assert len(breaks) == len(found.colors) - 1
    exact = people / square_miles
    for number, (low, high) in enumerate(zip([0, *breaks], [*breaks, np.inf], strict=True)):
        inside = exact[found.classes == number]
        assert low <= inside.min()
        assert inside.max() < high
        assert len(inside) > 30
    assert found.nothing == ""


def test_a_unit_without_area_has_no_class_and_the_legend_says_why():
    found = population_colouring(np.array([5, 50]), np.array([0.0, 1e6]))
    assert found.classes[0] == NO_CLASS
    assert found.classes[1] != NO_CLASS
    assert found.nothing == "no area"


def test_votes_are_told_apart_at_one_half_and_units_without_votes_are_left_out():
    share = Share(
        np.array([49.0, 50, 0, 90]), np.array([100.0, 100, 0, 100]), "election", "Governor 2020", "x"
    )
    found = share_colouring(share)
    half = found.marks.index("50")
    assert found.classes.tolist() == [half, half + 1, NO_CLASS, len(found.colors) - 1]
    assert found.title == "Democratic share of two-party votes, Governor 2020, %"
    assert found.nothing == "no votes"


@pytest.mark.parametrize(
    ("low", "high"), [(0.0, 0.9), (0.0, 0.04), (0.2, 0.2)], ids=["wide", "narrow", "equal"]
)
def test_shares_of_a_group_get_classes_however_close_they_are(low, high):
    values = np.linspace(low, high, 200)
    found = share_colouring(Share(values * 1000, np.full(200, 1000.0), "group", "Black", "x"))
    breaks = np.array(numbers(found)) / 100
    assert len(found.colors) == len(breaks) + 1
    np.testing.assert_array_equal(found.classes, np.searchsorted(breaks - 1e-9, values, side="right"))
    assert (len(breaks) >= 3) == (high > low)


def test_testimonies_are_counted_by_unit():
    assert coverage(TESTIMONIES, 5).tolist() == [1, 2, 1, 1, 0]
    assert [covering(TESTIMONIES, unit).tolist() for unit in range(5)] == [[0], [0, 2], [2], [2], []]
    found = coverage_colouring(TESTIMONIES, 5)
    assert found.classes.tolist() == [0, 1, 0, 0, NO_CLASS]
    assert found.marks == ("2",)
    assert found.nothing == "none"


def test_units_without_any_testimony_anywhere_can_still_be_coloured():
    nothing = Testimonies(("a",), np.array([0, 0]), np.empty(0, dtype=np.int32), None, ("empty",))
    assert coverage_colouring(nothing, 3).classes.tolist() == [NO_CLASS] * 3


def test_a_unit_is_coloured_by_the_mean_change_of_the_testimonies_over_it():
    kept, baseline = np.array([0.9, 1.0, 0.3]), np.array([0.5, 0.0, 0.6])
    found = kept_colouring(kept, baseline, TESTIMONIES, 5)
    # Changes of +40, the mean of +40 and -30, -30, -30, none; classes begin at -20, -10, -2, +2, +10, +20.
    assert found.classes.tolist() == [6, 4, 0, 0, NO_CLASS]
    assert numbers(found) == [-20, -10, -2, 2, 10, 20]
    unchanged = kept_colouring(kept, kept, TESTIMONIES, 5)
    assert set(unchanged.classes) == {3, NO_CLASS}


def test_a_share_that_equals_a_break_is_in_the_class_that_begins_there():
    found = together_colouring(np.array([1.0, 0.5, 0.1 * 3 - 0.2, 0.0]), "0001")
    assert found.classes.tolist() == [5, 3, 1, 0]
    assert "0001" in found.title


def test_what_is_not_known_yet_has_no_class():
    assert waiting("Waiting", 3).classes.tolist() == [NO_CLASS] * 3
