import math
import subprocess
import sys
import warnings
from dataclasses import replace

import numpy as np
import pytest
from scipy.signal import lfilter

from bottomup.sampler.chain import Chain
from bottomup.sampler.diagnostics import (
    Convergence,
    are_unlike,
    diagnose,
    quantities_of,
    share_of_units_moved,
    time_left,
    verdict,
)
from bottomup.sampler.problem import Problem
from bottomup.sampler.statistics import ranked_shares
from bottomup.sampler.target import Target
from bottomup.sampler.verification import make_grid_problem

HALVES = np.repeat([0, 1], 8)
STRIPES = np.tile([0, 0, 1, 1], 4)
FIGURES = Convergence("cut_edges", 2, 1000, 1.01, 400.0, 300.0, False)


@pytest.fixture
def rng() -> np.random.Generator:
    return np.random.default_rng(1)


def one(chains, **options) -> Convergence:
    (convergence,) = diagnose({"cut_edges": chains}, **options)
    return convergence


def test_independent_draws_agree(rng):
    found = one(rng.normal(size=(4, 2000)), seconds=10.0)
    assert (found.quantity, found.n_chains, found.n_draws) == ("cut_edges", 4, 1000)
    assert found.rhat == pytest.approx(1, abs=0.01)
    assert found.ess_bulk == pytest.approx(4000, rel=0.1)
    assert found.ess_tail == pytest.approx(4000, rel=0.15)
    assert found.ess_bulk_per_second == found.ess_bulk / 10
    assert found.ess_tail_per_second == found.ess_tail / 10
    assert one(rng.normal(size=(4, 200))).ess_bulk_per_second is None
    assert verdict([found, found], [HALVES, STRIPES] * 2, 2) == "one start"  # Two pairs are alike.


def test_the_verdict_needs_every_quantity(rng):
    starts = [HALVES, STRIPES]
    same, shifted = rng.normal(size=(2, 2000)), rng.normal([[0.0], [3.0]], size=(2, 2000))
    agreeing, disagreeing = diagnose({"same": same, "shifted": shifted})
    assert disagreeing.rhat > 1.5
    assert verdict([agreeing], starts, 2) == "agree"
    assert verdict([agreeing, disagreeing], starts, 2) == "disagree"
    assert verdict([agreeing], starts, 2, ess_at_least=3000) == "too early"


def test_chains_that_differ_in_spread_alone_do_not_agree(rng):
    found = one(rng.normal(0, [[1.0], [5.0]], size=(2, 2000)))
    assert found.rhat > 1.2


def test_a_trend_inside_the_chains_does_not_pass(rng):
    assert one(rng.normal(np.linspace(0, 12, 2000), size=(2, 2000))).rhat > 1.5


def test_slow_chains_have_the_effective_size_of_theory(rng):
    rho = 0.9
    draws = lfilter([1], [1, -rho], rng.normal(size=(4, 40_000)), axis=1)
    assert one(draws).ess_bulk == pytest.approx(80_000 * (1 - rho) / (1 + rho), rel=0.1)


def test_constants():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        everywhere, apart, later, two_valued = diagnose(
            {
                "everywhere": np.full((3, 200), 0.1),
                "apart": np.repeat([[0.1], [0.3], [0.1]], 200, axis=1),
                # One of them jumps just where its second half begins.
                "later": [np.full(200, 0.1), np.repeat([0.1, 0.3], [150, 50]), np.full(200, 0.1)],
                "two_valued": np.tile([0.0, 1.0], (3, 100)),
            }
        )
    assert everywhere.is_constant
    assert not apart.is_constant
    assert math.isnan(everywhere.rhat)
    assert apart.rhat == math.inf
    assert later.rhat == math.inf
    assert math.isnan(apart.ess_bulk)
    assert math.isnan(later.ess_bulk)
    assert math.isnan(apart.ess_tail)
    assert two_valued.rhat == pytest.approx(1, abs=0.05)
    starts = [HALVES, STRIPES, np.arange(16) % 2]
    figures = replace(FIGURES, n_chains=3)
    assert verdict([figures, everywhere], starts, 2) == "agree"
    assert verdict([figures, apart], starts, 2) == "disagree"
    # A constant alone is no evidence.
    assert verdict([everywhere], starts, 2) == "too early"


def test_what_cannot_be_judged_is_nan_and_never_agrees(rng):
    draws = rng.normal(size=(2, 400))
    assert math.isnan(one(draws[:1]).rhat)
    assert one(draws[:1]).ess_bulk > 100
    few = one(draws[:, :7])
    assert few.n_draws == 2
    assert math.isnan(few.rhat)
    assert math.isnan(few.ess_bulk)
    assert not few.is_constant
    assert one(np.zeros((2, 0))).n_draws == 0
    draws[1, -1] = np.nan
    unknown = one(draws)
    assert math.isnan(unknown.rhat)
    assert not unknown.agrees()
    assert verdict([FIGURES, unknown], [HALVES, STRIPES], 2) == "too early"
    assert verdict([replace(FIGURES, n_draws=90)], [HALVES, STRIPES], 2) == "too early"
    assert verdict([replace(FIGURES, n_draws=90, rhat=1.3)], [HALVES, STRIPES], 2) == "too early"
    assert verdict([replace(FIGURES, ess_tail=math.nan)], [HALVES, STRIPES], 2) == "too early"


def test_the_latest_draws_of_unequal_chains_are_kept(rng):
    latest = rng.normal(size=(2, 50))
    far = np.full(49, 1e6)
    long = np.concatenate([np.full(500, 1e6), latest[0]])
    short = np.concatenate([far, latest[1]])
    # 99 draws, of which 49 are kept, and 48 of these make whole halves.
    found = one([long, short])
    assert found.n_draws == 48
    assert found == one(latest[:, 2:], warm_up_share=0)
    assert one([long, short], warm_up_share=0.2).rhat > found.rhat


def test_wrong_arguments_are_named(rng):
    with pytest.raises(ValueError, match="warm_up_share must be at least 0 and below 1; got 1"):
        one(rng.normal(size=(2, 100)), warm_up_share=1)
    with pytest.raises(ValueError, match="'cut_edges' has no chains"):
        one([])
    with pytest.raises(ValueError, match="one plan for each of the 2 chains of 'cut_edges'; got 3"):
        verdict([FIGURES], [HALVES, STRIPES, HALVES], 2)
    with pytest.raises(ValueError, match="rhat_below must be above 1; got 1"):
        time_left([FIGURES], 10.0, rhat_below=1)


def test_one_start_whatever_the_figures():
    assert verdict([FIGURES], [HALVES, STRIPES], 2) == "agree"
    assert verdict([replace(FIGURES, n_chains=1)], [HALVES], 2) == "one start"
    assert verdict([FIGURES], [HALVES, HALVES], 2) == "one start"
    # The same districts under other numbers are the same start.
    assert verdict([FIGURES], [HALVES, 1 - HALVES], 2) == "one start"
    # So do a few units on a border leave them.
    plan = np.repeat([0, 1], 50)
    other = plan.copy()
    other[48:50] = 1
    assert not are_unlike([plan, other], 2)
    other[44:50] = 1
    assert are_unlike([plan, other], 2)


def test_share_of_units_moved_by_hand():
    reference = [0, 0, 0, 0, 1, 1, 1, 1, 2, 2, 2, 2]
    plans = np.array(
        [
            reference,
            [2, 2, 2, 2, 0, 0, 0, 0, 1, 1, 1, 1],  # other numbers
            [0, 0, 0, 1, 1, 1, 1, 1, 2, 2, 2, 2],  # one unit over to a district of four
            [0, 0, 0, 0, 1, 1, 2, 2, 2, 2, 1, 1],  # two districts of halves: one old mate, two new ones
            [0, 1, 2, 2, 0, 1, 2, 2, 0, 1, 2, 2],  # a third of every district from each
            [0, 1, 1, 1, 1, 1, 1, 1, 2, 2, 2, 2],  # the three that are outnumbered, not the one alone
        ],
        dtype=np.uint8,
    )
    moved = share_of_units_moved(plans, reference, 3)
    np.testing.assert_allclose(moved, [0, 0, 1 / 12, 8 / 12, 1, 3 / 12])
    # The unit that went over holds more people than its new mates: now they are the ones who moved.
    people = np.ones(12)
    people[3] = 10
    moved = share_of_units_moved(plans[2:3], reference, 3, weights=people)
    np.testing.assert_allclose(moved, [4 / 21])
    assert share_of_units_moved(plans[:0], reference, 3).shape == (0,)


def test_share_of_units_moved_by_its_definition(rng):
    units = np.arange(60)
    reference = rng.integers(4, size=60)
    plans = rng.integers(4, size=(30, 60))
    # Half of the plans stay close to the reference.
    plans[:15] = np.where(rng.random((15, 60)) < 0.7, reference, plans[:15])
    expected = [
        np.mean([np.mean(reference[(plan == plan[u]) & (units != u)] != reference[u]) > 0.5 for u in units])
        for plan in plans
    ]
    moved = share_of_units_moved(plans, reference, 4)
    np.testing.assert_allclose(moved, expected)
    assert len(set(moved)) > 5


def test_time_left_follows_the_slowest_quantity():
    assert time_left([FIGURES], 60.0) == 0
    assert time_left([FIGURES], 60.0, ess_at_least=600) == pytest.approx(60)
    slow = replace(FIGURES, rhat=math.sqrt(1 + 3 * (1.05**2 - 1)))
    assert time_left([FIGURES, slow], 60.0) == pytest.approx(120)
    for field, values in (
        ("rhat", [1.06, 1.1, 1.5, 3.0]),
        ("ess_bulk", [90.0, 50.0, 10.0]),
        ("ess_tail", [90.0, 50.0, 10.0]),
        ("n_draws", [90, 40, 4]),
    ):
        left = [time_left([replace(FIGURES, **{field: value})], 60.0) for value in values]
        assert left[0] > 0
        assert left == sorted(set(left)), field


def test_time_left_is_unknown_when_nothing_can_be_said():
    constant = replace(FIGURES, rhat=math.nan, ess_bulk=math.nan, ess_tail=math.nan, is_constant=True)
    assert time_left([constant], 60.0) is None
    assert time_left([FIGURES, constant], 60.0) == 0
    for field in ("rhat", "ess_bulk", "ess_tail"):
        assert time_left([FIGURES, replace(FIGURES, **{field: math.nan})], 60.0) is None
    assert time_left([replace(FIGURES, rhat=math.inf)], 60.0) is None
    assert time_left([FIGURES], 0.0) is None
    assert time_left([], 60.0) is None


def test_the_forecast_comes_true(rng):
    draws = lfilter([1], [1, -0.98], rng.normal(size=(4, 100_000)), axis=1)
    found = one(draws[:, :2000], warm_up_share=0)
    left = time_left([found], 2000.0, rhat_below=1.0005, ess_at_least=500)
    longer = one(draws[:, : 2000 + int(2 * left)], warm_up_share=0)
    shorter = one(draws[:, : 2000 + int(left / 4)], warm_up_share=0)
    assert longer.agrees(1.001, 500)
    assert not shorter.agrees(1.0005, 500)


def test_quantities_of_chains():
    problem = make_grid_problem(4, 4)
    target = Target(2, 6, 10)
    records = [
        Chain(problem, target, start, seed=1).advance(n_steps, 10)
        for start, n_steps in ((HALVES, 3000), (STRIPES, 4000))
    ]
    voters, half = np.arange(16.0), np.full(16, 15.0)
    quantities = quantities_of(records, 2, {"Democratic": (voters, half), "none": (voters, 0 * half)})
    assert list(quantities) == [
        "score_testimony",
        "score_cluster",
        "cut_edges",
        "Democratic 1",
        "Democratic 2",
    ]
    assert [len(chain) for chain in quantities["cut_edges"]] == [300, 400]
    for i, chain in enumerate(records):
        np.testing.assert_array_equal(quantities["score_testimony"][i], chain.score_testimony)
        np.testing.assert_array_equal(quantities["cut_edges"][i], chain.cut_edges)
        shares = ranked_shares(chain.assignment, 2, voters, half)
        np.testing.assert_array_equal(quantities["Democratic 2"][i], shares[:, 1])
    assert len(diagnose(quantities)) == 5
    assert all(found.n_draws == 150 for found in diagnose(quantities))


def test_scores_without_testimonies_are_left_out():
    problem = make_grid_problem(4, 4)
    bare = Problem.from_arrays(np.ones(16, dtype=np.int64), problem.edges, [0], [], [], 0)
    records = Chain(bare, Target(2, 6, 10), HALVES, seed=1).advance(100, 10)
    assert list(quantities_of([records], 2, {})) == ["cut_edges"]


def test_the_statistics_library_is_imported_only_when_asked():
    code = "import sys, bottomup.sampler.diagnostics; sys.exit('arviz_stats' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
