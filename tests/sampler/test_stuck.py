import numpy as np
import pytest

from bottomup.sampler.chain import Chain, Outcomes
from bottomup.sampler.stuck import MIN_STEPS, Stuck, why_stuck
from bottomup.sampler.target import Target
from bottomup.sampler.verification import make_grid_problem

TARGET = Target(8, 90, 110, compactness=0.005, cut_edges=600.0, epsilon=5.0)


def outcomes(accepted=0, tree_only=0, unchanged=0, population=0, marked=0, ratio=0) -> Outcomes:
    return Outcomes(
        accepted=accepted,
        tree_only=tree_only,
        unchanged=unchanged,
        rejected_population=population,
        rejected_marked=marked,
        rejected_ratio=ratio,
    )


@pytest.mark.parametrize(
    ("window", "reason"),
    [
        ({"walk": outcomes(tree_only=5000, population=50_000, marked=2000)}, "population bounds"),
        # The bounds refuse most, as they always do; of those within them the ratio lets none through.
        ({"walk": outcomes(tree_only=5000, population=50_000, marked=2000, ratio=900)}, "ratio"),
        # Three that got as far as the ratio are no evidence against it.
        ({"walk": outcomes(population=50_000, ratio=3)}, "population bounds"),
        ({"walk": outcomes(unchanged=90, marked=50_000, population=10, ratio=5)}, "marked edges"),
        ({"flip": outcomes(ratio=20_000), "merge_split": outcomes(population=9, ratio=3)}, "ratio"),
    ],
)
def test_the_test_that_stops_a_chain_is_named(window, reason):
    stuck = why_stuck(window)
    assert stuck is not None
    assert stuck.reason == reason
    assert stuck.moves == tuple(window)


def test_figures():
    stuck = why_stuck({"walk": outcomes(accepted=1, tree_only=999, population=18_000, ratio=1000)})
    assert stuck == Stuck(
        reason="ratio",
        moves=("walk",),
        n_steps=20_000,
        n_accepted=1,
        n_reached=1001,
        n_passed=1,
        share_rejected_population=0.9,
        share_rejected_marked=0.0,
        share_rejected_ratio=0.05,
    )


def test_a_chain_that_moves_is_not_stuck():
    assert why_stuck({"walk": outcomes(accepted=2, population=19_998)}) is None
    assert why_stuck({"walk": outcomes(accepted=1, population=19_999)}) is not None
    # One merge-split of a dozen moves a hundred units: the flips around it do not count against it.
    flips = outcomes(population=30_000)
    assert why_stuck({"flip": flips, "merge_split": outcomes(accepted=1, ratio=11)}) is None
    assert why_stuck({"flip": flips, "merge_split": outcomes(ratio=12)}) is not None


def test_a_short_window_tells_nothing():
    assert why_stuck({"walk": outcomes(population=MIN_STEPS - 1)}) is None
    assert why_stuck({"walk": outcomes(population=MIN_STEPS)}) is not None
    assert why_stuck({}) is None


def sentence(move: str, target: Target, cut_edges: int, **counts: int) -> str:
    stuck = why_stuck({move: outcomes(**counts)})
    assert stuck is not None
    return stuck.sentence("Chain 3", target, cut_edges)


def test_sentences_tell_what_to_do():
    assert sentence("walk", TARGET, 610, population=20_000) == (
        "Chain 3 is stuck: 0 of its last 20,000 steps changed the plan. 0 of 20,000 proposals met the "
        "population bounds: raise the population tolerance, or use the mixture of moves, "
        "which reaches further."
    )
    mixture = why_stuck({"walk": outcomes(population=9000), "flip": outcomes(population=9000)})
    assert mixture is not None
    assert "mixture" not in mixture.sentence("Chain 3", TARGET, 610)
    near = sentence("flip", TARGET, 610, ratio=20_000)
    assert "lower epsilon, now 5 or lower the weight of compactness, now 0.005" in near
    # The term's standard deviation is 10 cut edges.
    far = sentence("flip", TARGET, 631, ratio=20_000)
    assert "631 cut edges, far from the 600" in far
    assert "epsilon" not in far
    assert "epsilon" not in sentence("flip", Target(8, 90, 110, compactness=1.0), 0, ratio=20_000)
    assert "another plan" in sentence("flip", Target(8, 90, 110), 610, ratio=20_000)


@pytest.mark.parametrize(
    ("target", "reason"),
    [
        # Each move within the bounds would have to give as many people as it takes.
        (Target(4, 9, 9), "population bounds"),
        # No plan within these has as few cut edges as the four squares, and each one more costs e^-500.
        (Target(4, 8, 10, compactness=500.0, cut_edges=12.0), "ratio"),
        (Target(4, 8, 10), None),
    ],
)
def test_real_chains(target, reason):
    squares = np.kron([[0, 1], [2, 3]], np.ones((3, 3), dtype=int)).ravel()
    chain = Chain(make_grid_problem(6, 6), target, squares, seed=1)
    chain.advance(40_000, 40_000)
    stuck = why_stuck(chain.outcomes_by_move)
    assert (stuck and stuck.reason) == reason
