"""What chains, ladders and diagnostics remember is all that decides how they go on."""

import numpy as np
import pytest

from bottomup.sampler.burning import BurnIn
from bottomup.sampler.chain import WALK_ALONE, Chain
from bottomup.sampler.kernels.determinant import N_UPDATES
from bottomup.sampler.ladder import Ladder, burn_in
from bottomup.sampler.memory import overwrite, pack_generator, unpack_generator
from bottomup.sampler.start import make_unlike_starts
from bottomup.sampler.target import Target
from bottomup.sampler.traces import Traces
from bottomup.sampler.types import Mixture
from bottomup.sampler.verification import make_grid_problem

K = 4
MIXED = Mixture(20, 5, 2, 5)


@pytest.fixture(scope="module")
def grid():
    problem = make_grid_problem(6, 6)
    return problem, make_unlike_starts(problem, K, 7, 11, [], 2, seed=1)


def aim(**changes):
    return Target(K, 7, 11, compactness=0.05, cut_edges=20.0, **changes)


def copied(memory):
    """As it comes back from a file."""
    return {name: array.copy() for name, array in memory.items()}


def same(one, other):
    return all(np.array_equal(a, b, equal_nan=a.dtype.kind == "f") for a, b in zip(one, other, strict=True))


@pytest.mark.parametrize("score", ["testimony", "cluster"])
@pytest.mark.parametrize(
    ("step", "mixture", "n_before"),
    [
        ("mixed", WALK_ALONE, 3_001),
        ("paper", WALK_ALONE, 2_000),
        # Among the moves on the plan, where the factor is that of no plan; and among the steps of the walk.
        ("mixed", MIXED, 32 * 60 + 11),
        ("mixed", MIXED, 32 * 60 + 29),
    ],
)
def test_a_chain_goes_on_as_if_it_had_not_been_broken_off(grid, step, mixture, n_before, score):
    """To the last bit of its factor, which is not the factor of a plan made anew."""
    problem, starts = grid
    made = {"step": step, "mixture": mixture, "community_bias": 0.4}
    whole = Chain(problem, aim(epsilon=3.0, score=score), starts[0], 5, **made)
    whole.advance(n_before, 7)
    memory = copied(whole.memory())
    rest = whole.advance(N_UPDATES * 4, 7)
    again = Chain(problem, aim(epsilon=3.0, score=score), starts[1], 6, **made)
    again.recall(memory)
    assert same(again.advance(N_UPDATES * 4, 7), rest)
    assert all(
        np.array_equal(found, whole.memory()[name], equal_nan=found.dtype.kind == "f")
        for name, found in again.memory().items()
        # Which entry of the bookkeeping searches have reached depends on the buffers, and decides nothing.
        if name != "cholesky/note"
    )
    assert again.drift == whole.drift


def small_ladder(grid, seed=3, n_threads=1):
    problem, starts = grid
    return Ladder(problem, aim(), starts, [0.0, 1.0, 5.0], seed, mixture=MIXED, n_threads=n_threads)


def test_ladders_go_on_with_their_exchanges_and_counts(grid):
    whole = small_ladder(grid)
    whole.advance(41)
    memory = copied(whole.memory())
    rest = whole.advance(80, 2)
    again = small_ladder(grid, n_threads=2)
    again.recall(memory)
    assert all(
        same(*pair)
        for rows in zip(again.advance(80, 2), rest, strict=True)
        for pair in zip(*rows, strict=True)
    )
    assert np.array_equal(again.counter, whole.counter)
    assert np.array_equal(again.exchange_rates, whole.exchange_rates)
    assert np.array_equal(again.round_trips, whole.round_trips)
    assert (again.rounds, again.steps) == (121, whole.steps)
    assert whole.round_trips.sum() > 0


def test_nothing_is_remembered_of_half_a_round(grid):
    ladder = small_ladder(grid)
    answers = iter([False, False, True])
    ladder.advance(1, 1, lambda: next(answers))
    with pytest.raises(ValueError, match="a round is unfinished; advance before remembering"):
        ladder.memory()


@pytest.mark.parametrize("n_before", [3, 10, 33])
def test_a_burn_in_goes_on_and_places_its_rungs_where_it_would_have(grid, n_before):
    """Ten rounds end at a placing, which must be done once."""
    whole = small_ladder(grid)
    burn_in(whole, 80)
    broken = BurnIn(small_ladder(grid), 80, True)
    while broken.n_done < n_before:
        broken.advance(4 if n_before > 20 else 1)
    memory = copied(broken.memory())
    again = BurnIn(small_ladder(grid), 80, True)
    again.recall(memory)
    while not again.is_over:
        again.advance(7)
    assert np.array_equal(again.ladder.epsilons, whole.epsilons)
    assert again.ladder.rounds == whole.rounds == 40
    assert all(
        same(*pair)
        for rows in zip(again.ladder.advance(9), whole.advance(9), strict=True)
        for pair in zip(*rows, strict=True)
    )


def test_rungs_that_are_given_stay_through_the_burn_in(grid):
    burning = BurnIn(small_ladder(grid), 30, False)
    assert [burning.advance(20), burning.advance(20), burning.advance(20)] == [20, 10, 0]
    assert burning.is_over
    assert burning.ladder.epsilons.tolist() == [0, 1, 5]
    assert burning.ladder.rounds == 30


def test_traces_go_on_with_the_same_thinning(grid):
    problem, starts = grid
    records = Chain(problem, aim(), starts[0], 2).advance(1_000, 10)
    whole, broken, again = (Traces(1, K, {}, starts[0], max_draws=30) for _ in range(3))
    whole.add(0, records)
    broken.add(0, records.take(slice(0, 41)))
    again.recall(copied(broken.memory()))
    again.add(0, records.take(slice(41, None)))
    for name, (draws,) in whole.quantities().items():
        assert np.array_equal(draws, again.quantities()[name][0])


def test_a_generator_goes_on_with_half_a_draw_left_over():
    rng, other = np.random.default_rng(1), np.random.default_rng(2)
    rng.integers(0, 2**31, dtype=np.uint32)
    unpack_generator(other, pack_generator(rng))
    assert np.array_equal(
        rng.integers(0, 2**31, 99, dtype=np.uint32), other.integers(0, 2**31, 99, dtype=np.uint32)
    )


def test_the_memory_of_another_map_is_refused():
    with pytest.raises(ValueError, match=r"forest must have shape \(3,\); got \(4,\)"):
        overwrite({"forest": np.zeros(3)}, {"forest": np.zeros(4)})
