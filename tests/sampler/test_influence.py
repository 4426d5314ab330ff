"""The exact law on small grids: how far testimonies move the odds, against what is promised.

All laws here leave one testimony, or a few, open, so any two of them are neighbours of each other.
"""

from __future__ import annotations

from functools import cache

import numpy as np
import pytest

import oracles
from bottomup.data.changes import deduplicate
from bottomup.data.testimonies import USED, build_testimonies
from bottomup.sampler.enumeration import enumerate_plans, exact_law
from bottomup.sampler.problem import Problem
from bottomup.sampler.sensitivity import Weighting
from bottomup.sampler.statistics import score_plans
from bottomup.sampler.target import Target

EPSILON = 1.0
ROUNDING = 1e-9
N_CLUSTERS = 3
SCORES = {
    "testimony": ("testimony", Weighting("coverage")),
    "coverage": ("cluster", Weighting("coverage")),
    "capped coverage": ("cluster", Weighting("coverage", cap=2)),
    "mass": ("cluster", Weighting("mass")),
}
GRIDS = {"2x3 in 2": (2, 3, 2, 2, 4), "3x3 in 3": (3, 3, 3, 2, 5)}


class Grid:
    """A grid of single people, all of its plans, and testimonies as pairs of units and a cluster."""

    def __init__(self, rows: int, columns: int, n_districts: int, lower: int, upper: int) -> None:
        self.n, self.n_districts = rows * columns, n_districts
        self.edges = oracles.grid_edges(rows, columns)
        self.bounds = lower, upper
        self.problem = cache(self._problem)
        self.plans = enumerate_plans(self.problem((), Weighting()), n_districts, lower, upper)

    def _problem(self, testimonies, weighting):
        units = [np.empty(0, dtype=int), *(np.array(sorted(own), dtype=int) for own, _ in testimonies)]
        clusters = [cluster for _, cluster in testimonies]
        indptr = np.cumsum([len(own) for own in units])
        return Problem.from_arrays(
            [1] * self.n, self.edges, indptr, np.concatenate(units), clusters, N_CLUSTERS, weighting
        )

    def log_law(self, testimonies, score, compactness=0.0, epsilon=EPSILON):
        score, weighting = SCORES[score]
        problem = self.problem(tuple(testimonies), weighting)
        # Nobody has said anything on the map: the law without testimony.
        silent = not testimonies or (score == "cluster" and not problem.cluster_total)
        target = Target(self.n_districts, *self.bounds, compactness, 4.0, score, 0.0 if silent else epsilon)
        return np.log(exact_law(problem, target, self.plans))

    def draw(self, n_testimonies, seed=0):
        """Testimonies of 0 to n units, in clusters and in none."""
        rng = np.random.default_rng(seed)
        return [
            (
                frozenset(np.flatnonzero(rng.random(self.n) < rng.random()).tolist()),
                int(rng.integers(-1, N_CLUSTERS)),
            )
            for _ in range(n_testimonies)
        ]

    def replacements(self, score, largest=None):
        """What a testimony can be replaced by: nothing, single units, pairs, all units, and random ones."""
        last = self.n - 1
        shapes = [set(), {0}, {last}, {0, last}, {0, 1, last}, set(range(self.n)), *map(set, self.edges)]
        shapes += [own for own, _ in self.draw(10, seed=1)]
        clusters = (0,) if score == "testimony" else range(-1, N_CLUSTERS)
        return [
            (frozenset(own), cluster)
            for own in shapes
            for cluster in clusters
            if largest is None or len(own) <= largest
        ]

    def neighbourhoods(self, score):
        """Sets of testimonies of which the first is open, and what can be in its place."""
        west, east = frozenset({0, 1}), frozenset({self.n - 2, self.n - 1})
        alone = [] if score != "coverage" else [(west, 0)]
        for stay in (alone, [(west, 0)], [(west, 0), (west, 1), (east, 1)], self.draw(4)):
            # The figure that looks at the data is the same for all as long as the largest size is.
            largest = max(len(own) for own, _ in stay) if score == "coverage" else None
            yield stay, self.replacements(score, largest)

    def neighbouring_laws(self, score, compactness=0.0):
        """Log-laws, shape (R, P), of each of several neighbourhoods."""
        for stay, replacements in self.neighbourhoods(score):
            yield np.array([self.log_law([other, *stay], score, compactness) for other in replacements])


@pytest.fixture(scope="module", params=GRIDS)
def grid(request):
    return Grid(*GRIDS[request.param])


def largest_ratio(logs):
    """Most that the log-probability of any plan differs between any two laws, or its log-odds."""
    return np.ptp(logs, axis=0).max()


def log_odds(logs):
    return logs - np.log(-np.expm1(logs))


def largest_shift(first, others):
    """Most that the log-odds of any set of plans differ between one law and each of others.

    They move furthest for the sets of those plans whose probability has risen most.
    """
    order = np.argsort(first - others, axis=1)
    before, after = (
        np.cumsum(np.exp(np.take_along_axis(np.broadcast_to(law, others.shape), order, axis=1)), axis=1)
        for law in (first, others)
    )
    before, after = before[:, :-1], after[:, :-1]
    return np.abs(np.log(before / (1 - before)) - np.log(after / (1 - after))).max()


@pytest.mark.parametrize("compactness", [0.0, 0.4])
@pytest.mark.parametrize("score", SCORES)
def test_replacing_one_testimony(grid, score, compactness):
    for logs in grid.neighbouring_laws(score, compactness):
        assert largest_ratio(logs) <= EPSILON + ROUNDING
        assert largest_ratio(log_odds(logs)) <= EPSILON + ROUNDING
        for law in logs[::5]:
            assert largest_shift(law, logs) <= EPSILON + ROUNDING


@pytest.mark.parametrize("score", SCORES)
def test_half_of_the_sensitivity_does_not_do(grid, score, monkeypatch):
    """The same with a Delta that is too small: the bound is broken, so these laws can tell."""
    state = Problem.sensitivity

    def halve(problem, score):
        sensitivity = state(problem, score)
        return sensitivity._replace(most=sensitivity.most / 2)

    monkeypatch.setattr(Problem, "sensitivity", halve)
    laws = list(grid.neighbouring_laws(score))
    assert max(largest_ratio(logs) for logs in laws) > 1.1 * EPSILON
    assert max(largest_ratio(log_odds(logs)) for logs in laws) > 1.1 * EPSILON
    assert max(largest_shift(law, logs) for logs in laws for law in logs[::5]) > 1.1 * EPSILON


@pytest.mark.parametrize("compactness", [0.0, 0.4])
@pytest.mark.parametrize("score", SCORES)
def test_adding_or_removing_one_costs_half(grid, score, compactness):
    """Also the first that anybody says, and the last that is taken back: without any, the base measure."""
    shifts = []
    for stay, replacements in grid.neighbourhoods(score):
        without = grid.log_law(stay, score, compactness)
        laws = np.array([grid.log_law([*stay, other], score, compactness) for other in replacements])
        assert np.abs(laws - without).max() <= EPSILON / 2 + ROUNDING
        assert np.abs(log_odds(laws) - log_odds(without)).max() <= EPSILON / 2 + ROUNDING
        shifts.append(largest_shift(without, laws))
    assert EPSILON / 4 < max(shifts) <= EPSILON / 2 + ROUNDING


@pytest.mark.parametrize("size", [2, 3])
@pytest.mark.parametrize("score", SCORES)
def test_groups(grid, score, size):
    """A group replaced by another moves the odds by g epsilon at most, and comes near to it."""
    west, east = frozenset({0, 1}), frozenset({grid.n - 2, grid.n - 1})
    stay = [(west, 0), (east, 1)]
    groups = [grid.draw(size, seed) for seed in range(40)]
    # All of one mind, with and without others beside them.
    groups += [[(own, cluster)] * size for own, cluster in grid.replacements(score)[::3]]
    if score == "coverage":
        groups = [group for group in groups if max(len(own) for own, _ in group) <= 2]
    logs = np.array([grid.log_law([*group, *stay], score) for group in groups])
    shift = max(largest_shift(law, logs) for law in logs[::3])
    assert 0.4 * size * EPSILON < shift <= size * EPSILON + ROUNDING
    assert largest_ratio(log_odds(logs)) <= size * EPSILON + ROUNDING


@pytest.mark.parametrize("score", SCORES)
def test_copies_that_count_once_keep_the_bound(grid, score):
    """One shape at most leaves a cluster, and one at most joins; a copy in its place changes nothing."""
    west, east = frozenset({0, 1}), frozenset({grid.n - 2, grid.n - 1})
    stay = [(west, 0), (west, 0), (west, 1), (east, 1), (east, 1), (east, 1)]

    def once(testimonies):
        every = build_testimonies(
            {str(number): own for number, (own, _) in enumerate(testimonies)},
            [USED] * len(testimonies),
            {str(number): f"C{cluster}" for number, (_, cluster) in enumerate(testimonies) if cluster >= 0},
        )
        left = deduplicate(every)
        return [(frozenset(left.units_of(i).tolist()), c) for i, (_, c) in enumerate(testimonies)]

    largest = 2 if score == "coverage" else None
    replacements = [*stay, *grid.replacements(score, largest)]
    logs = np.array([grid.log_law(once([other, *stay]), score) for other in replacements])
    assert EPSILON / 4 < largest_shift(logs[0], logs) <= EPSILON + ROUNDING
    assert largest_ratio(log_odds(logs)) <= EPSILON + ROUNDING
    # The first ones are copies of what is there.
    assert largest_ratio(logs[: len(stay)]) <= ROUNDING


@pytest.mark.parametrize("replaced", ["largest", "other"])
def test_what_looks_at_the_data_breaks_when_the_largest_size_changes(grid, replaced):
    """A single testimony of everything makes the others count little: with it gone they count much."""
    west = frozenset({0, 1})
    stay = [(west, 0)] * 12
    everything = (frozenset(range(grid.n)), 1)
    if replaced == "largest":
        logs = [grid.log_law([other, *stay], "coverage") for other in (everything, (west, 0))]
    else:
        logs = [grid.log_law([other, everything, *stay], "coverage") for other in (everything, (west, 0))]
    shift = largest_shift(logs[0], np.array(logs[1:]))
    assert (shift > EPSILON) == (replaced == "largest")
    capped = np.array([grid.log_law([other, *stay], "capped coverage") for other in (everything, (west, 0))])
    assert largest_shift(capped[0], capped[1:]) <= EPSILON + ROUNDING


@pytest.mark.parametrize("score", SCORES)
def test_the_law_that_a_chain_targets_is_the_exact_law(grid, score):
    """A chain is given what one whole number of the tally is worth; the total cancels."""
    name, weighting = SCORES[score]
    for testimonies in (grid.draw(1), grid.draw(6)):
        problem = grid.problem(((frozenset({0, 1}), 0), *testimonies), weighting)
        law = Target(grid.n_districts, *grid.bounds, score=name, epsilon=EPSILON).law(problem)
        scores = score_plans(problem, grid.plans, grid.n_districts)
        exponent = (
            law.per_testimony * problem.n_testimonies * scores.score_testimony
            if name == "testimony"
            else law.per_cluster_weight * problem.cluster_total * scores.score_cluster
        )
        expected = grid.log_law([(frozenset({0, 1}), 0), *testimonies], score)
        np.testing.assert_allclose(exponent - exponent[0], expected - expected[0], atol=1e-9)
