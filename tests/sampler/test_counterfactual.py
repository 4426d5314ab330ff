"""Other testimonies in place of those submitted, on a grid whose plans can all be listed."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pytest

import oracles
from bottomup.data.changes import Change, flood, replace_cluster
from bottomup.data.geography import Geography
from bottomup.data.testimonies import build_testimonies
from bottomup.sampler.counterfactual import Counterfactual
from bottomup.sampler.enumeration import enumerate_plans, exact_law
from bottomup.sampler.problem import Problem
from bottomup.sampler.sensitivity import Weighting
from bottomup.sampler.statistics import find_preserved, score_plans
from bottomup.sampler.target import Target

if TYPE_CHECKING:
    # Not at run time: pytest would take the class for one of tests.
    from bottomup.data.testimonies import Testimonies

EPSILON = 3.0


@pytest.fixture
def geography() -> Geography:
    edges = np.array(sorted(tuple(sorted(edge)) for edge in oracles.grid_edges(3, 3)), dtype=np.int32)
    return Geography("grid", tuple("abcdefghi"), np.ones(9, dtype=np.int64), edges)


@pytest.fixture
def testimonies() -> Testimonies:
    units = {"p": [0, 1], "q": [0, 1, 3], "r": [4, 5, 8], "s": [5, 8], "t": [], "u": [2]}
    clusters = {"p": "X", "q": "X", "r": "Y", "s": "Y", "t": "Y", "u": ""}
    return build_testimonies(units, ["used"] * 6, clusters)


def changes(testimonies: Testimonies, geography: Geography) -> dict[str, Change]:
    adversary = [np.array([6, 7]), np.array([3, 6, 7]), np.array([7, 8])]
    return {
        "as many": replace_cluster(testimonies, geography, 0, adversary[:2]),
        "more": replace_cluster(testimonies, geography, 0, adversary),
        "larger": replace_cluster(testimonies, geography, 1, [np.arange(5), *adversary[:2]]),
        "fewer": replace_cluster(testimonies, geography, 1, adversary[:1]),
        "flood": flood(testimonies, geography, "r", 5),
    }


@pytest.mark.parametrize("kind", ["as many", "more", "larger", "fewer", "flood"])
@pytest.mark.parametrize(
    ("score", "weighting"),
    [
        ("testimony", Weighting()),
        ("cluster", Weighting()),
        ("cluster", Weighting("coverage", 2)),
        ("cluster", Weighting("mass")),
    ],
)
def test_weights_lead_from_one_law_to_the_other(geography, testimonies, kind, score, weighting):
    change = changes(testimonies, geography)[kind]
    before = Problem.build(geography, change.before, weighting)
    plans = enumerate_plans(before, 3, 2, 4)
    after = Problem.build(geography, change.after, weighting)
    target = Target(3, 2, 4, 0.02, 6.0, score, EPSILON)
    scores = score_plans(before, plans, 3)
    values = scores.score_testimony if score == "testimony" else scores.score_cluster
    moved = Counterfactual(geography, change, score, weighting).exponent_change(plans, values, EPSILON)
    predicted = exact_law(before, target, plans) * np.exp(moved)
    expected = exact_law(after, target, plans)
    np.testing.assert_allclose(predicted / predicted.sum(), expected, rtol=1e-9)
    # The laws do differ, so that weights of 1 would not have done.
    assert np.abs(expected - exact_law(before, target, plans)).max() > 1e-3


def test_what_is_kept_of_those_who_left_and_those_who_came(geography, testimonies):
    change = changes(testimonies, geography)["fewer"]
    plans = np.array([[0, 0, 0, 1, 1, 1, 2, 2, 2], [0, 1, 1, 0, 1, 1, 0, 2, 2]], dtype=np.uint8)
    removed, added = Counterfactual(geography, change, "testimony", Weighting()).kept(plans)
    # r, s and t; t has no unit, so nothing keeps it.
    np.testing.assert_array_equal(removed, [[False, False, False], [False, False, False]])
    np.testing.assert_array_equal(added, [[True], [False]])
    units = [[4, 5, 8], [5, 8], [], [6, 7]]
    whole = find_preserved(plans, np.cumsum([0, *map(len, units)]), np.concatenate(units).astype(int))
    np.testing.assert_array_equal(np.column_stack([removed, added]), whole)


def test_what_the_score_needs_must_be_there(geography):
    alone = build_testimonies({"p": [0, 1]}, ["used"])
    with pytest.raises(ValueError, match="needs testimonies with clusters"):
        Counterfactual(geography, flood(alone, geography, "p", 3), "cluster", Weighting())
