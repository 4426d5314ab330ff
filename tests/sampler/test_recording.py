"""Chains and ladders recorded to a folder: what is written, what stays the same, what stays small."""

import json
from dataclasses import replace

import numpy as np
import pyarrow.parquet as pq
import pytest

from bottomup.data import Geography
from bottomup.sampler import recording
from bottomup.sampler.chain import Outcomes
from bottomup.sampler.ladder import Ladder
from bottomup.sampler.recording import burn_in_rounds, ladder_rounds, record
from bottomup.sampler.report import assess, stuck_sentences
from bottomup.sampler.runs import RunFolder
from bottomup.sampler.sources import Chains, Ladders
from bottomup.sampler.start import make_unlike_starts
from bottomup.sampler.target import Target
from bottomup.sampler.types import Mixture
from bottomup.sampler.verification import make_grid_problem

K, LOWER, UPPER = 4, 7, 11
SMALL = Mixture(20, 5, 2, 5)


@pytest.fixture(scope="module")
def grid():
    problem = make_grid_problem(6, 6)
    starts = make_unlike_starts(problem, K, LOWER, UPPER, [], 2, seed=1)
    return problem, starts


def aim(**changes):
    return Target(
        **{
            "n_districts": K,
            "lower": LOWER,
            "upper": UPPER,
            "compactness": 0.05,
            "cut_edges": 20.0,
            **changes,
        }
    )


def make_geography(problem):
    import pandas as pd

    return Geography(
        name="grid",
        ids=tuple(f"{i:02d}" for i in range(problem.n_units)),
        population=problem.graph.population,
        edges=problem.edges,
        shared_perimeter=None,
        columns=pd.DataFrame(index=range(problem.n_units)),
        geometry=None,
    )


def run(grid, path, source, n_total, **options):
    problem, starts = grid
    with RunFolder(path, make_geography(problem), K, {"name": "test"}) as folder:
        found = record(source, folder, n_total, {}, starts[0], **options)
    folder.finish({"complete": found.is_complete})
    return found, pq.read_table(path / "plans.parquet").to_pandas()


def contents(path):
    """Every file of a run's plans, byte for byte."""
    return {part.name: part.read_bytes() for part in (path / "plans.parquet").iterdir()}


def chains(grid, thin=50, n_threads=1, **changes):
    problem, starts = grid
    return Chains(problem, aim(**changes), starts, 3, thin, mixture=SMALL, n_threads=n_threads)


def test_the_file_is_the_same_whatever_the_threads_and_the_batches(grid, tmp_path, monkeypatch):
    _, plans = run(grid, tmp_path / "a", chains(grid, thin=10), 8_000)
    assert len(plans) == 1600
    assert plans["step"].tolist() == np.repeat(np.arange(10, 8_001, 10), 2).tolist()
    assert plans["chain"].tolist() == [0, 1] * 800
    # The chains have seeds of their own.
    assert (plans["cut_edges"][::2].to_numpy() != plans["cut_edges"][1::2].to_numpy()).any()
    monkeypatch.setattr(recording, "BATCH_SECONDS", 2e-3)
    run(grid, tmp_path / "b", chains(grid, thin=10, n_threads=3), 8_000)
    assert contents(tmp_path / "a") == contents(tmp_path / "b")


def test_a_batch_takes_no_more_memory_than_it_may(grid, tmp_path, monkeypatch):
    """The plans of two chains of 36 units: 10 records of each take 720 bytes."""
    monkeypatch.setattr(recording, "BATCH_BYTES", 720)
    monkeypatch.setattr(recording, "BATCH_SECONDS", 100.0)
    sizes = []
    run(grid, tmp_path / "a", chains(grid), 5_000, progress=sizes.append)
    assert sum(sizes) == 5_000
    assert max(sizes) == 500


def test_a_run_that_is_stopped_keeps_whole_batches(grid, tmp_path):
    source, done = chains(grid), []
    found, plans = run(
        grid, tmp_path / "a", source, 10**9, progress=done.append, is_stopped=lambda: len(done) > 5
    )
    assert not found.is_complete
    assert len(done) == 6
    assert len(plans) == 2 * (source.n_done // 50)
    assert json.loads((tmp_path / "a" / "run.json").read_text())["outcome"] == {
        "n_records": len(plans),
        "complete": False,
    }


def make_ladders(grid, n_threads=1, record_every=2, rounds=4):
    problem, starts = grid
    ladder = Ladder(problem, aim(), starts, [0.0, 1.0, 3.0], 3, mixture=SMALL, n_threads=n_threads)
    ladder.advance(rounds, rounds + 1)
    return Ladders(ladder, record_every)


def test_ladders_record_every_rung_from_the_end_of_the_burn_in(grid, tmp_path):
    source = make_ladders(grid)
    found, plans = run(grid, tmp_path / "a", source, 300)
    size = source.ladder.steps_per_round
    assert plans["step"].tolist() == np.repeat(np.arange(2, 301, 2) * size, 6).tolist()
    assert plans["chain"].tolist() == [0, 0, 0, 1, 1, 1] * 150
    assert plans["epsilon"].tolist() == [0.0, 1.0, 3.0] * 300
    assert len(found.traces) == 3
    for epsilon, traces in zip((0.0, 1.0, 3.0), found.traces, strict=True):
        for chain, draws in enumerate(traces.quantities()["score_testimony"]):
            rows = plans[(plans["chain"] == chain) & (plans["epsilon"] == epsilon)]
            np.testing.assert_array_equal(draws, rows["score_testimony"])
    assert plans.groupby("epsilon")["score_testimony"].mean().is_monotonic_increasing
    run(grid, tmp_path / "b", make_ladders(grid, n_threads=2), 300)
    assert contents(tmp_path / "a") == contents(tmp_path / "b")


def test_a_burn_in_that_ends_between_records_is_refused(grid):
    with pytest.raises(ValueError, match="3 rounds since the rungs were placed, which is no multiple"):
        make_ladders(grid, rounds=3)


@pytest.mark.parametrize("is_placing", [True, False])
@pytest.mark.parametrize("record_every", [1, 2, 3, 7])
@pytest.mark.parametrize("n_rounds", [0, 1, 5, 16, 33])
def test_a_burn_in_is_made_to_end_at_a_record(grid, n_rounds, record_every, is_placing):
    from bottomup.sampler.ladder import burn_in

    problem, starts = grid
    longer = burn_in_rounds(n_rounds, record_every, is_placing)
    assert n_rounds <= longer < n_rounds + 2 * record_every
    ladder = Ladder(problem, aim(), starts[:1], [0.0, 1.0], 3, mixture=SMALL, steps_per_round=1)
    if is_placing:
        burn_in(ladder, longer)
    else:
        ladder.advance(longer, longer + 1)
    assert ladder.rounds % record_every == 0


@pytest.mark.parametrize(
    ("n_steps", "thin", "rounds"),
    [(1000, 100, (100, 10)), (1000, 4, (100, 1)), (1000, 26, (99, 3)), (5, 5, (1, 1)), (95, 37, (8, 4))],
)
def test_steps_become_whole_rounds(n_steps, thin, rounds):
    assert ladder_rounds(n_steps, thin, 10) == rounds


def test_chains_from_unlike_starts_come_to_agree(grid, tmp_path):
    found, _ = run(grid, tmp_path / "a", chains(grid), 60_000)
    (report,) = assess(found, [0.0], grid[1], K)
    assert report.verdict == "agree"
    assert {convergence.quantity for convergence in report.convergences} == {
        "score_testimony",
        "score_cluster",
        "cut_edges",
        "units_moved",
    }
    # With the same start for both, the same figures are no news.
    (same,) = assess(found, [0.0], [grid[1][0]] * 2, K)
    assert same.verdict == "one start"


def test_a_chain_that_stands_still_is_named(grid, tmp_path):
    """No other plan cuts as few edges as four squares."""
    problem = grid[0]
    row, column = np.divmod(np.arange(36), 6)
    squares = 2 * (row >= 3) + (column >= 3)
    source = chains((problem, [squares, squares]), compactness=1e6, cut_edges=0.0)
    found, _ = run(grid, tmp_path / "a", source, 60_000)
    sentences = stuck_sentences(source, found, problem)
    assert [sentence[:19] for sentence in sentences] == ["Chain 0 is stuck: 0", "Chain 1 is stuck: 0"]
    assert "12 cut edges, far from the 0 that compactness is centred on" in sentences[0]
    # Of the later half of the steps.
    assert sum(map(sum, found.window[0].values())) == 30_000
    source = chains(grid)
    moving, _ = run(grid, tmp_path / "b", source, 60_000)
    assert stuck_sentences(source, moving, problem) == []


def test_a_ladder_that_stands_still_is_named_though_another_moves(grid, tmp_path):
    problem, starts = grid
    ladder = Ladder(problem, aim(), starts, [0.0, 1.0], 3, mixture=SMALL)
    source = Ladders(ladder, 1)
    found, _ = run(grid, tmp_path / "a", source, 20)
    assert len(found.window) == 4
    assert all(sum(map(sum, own.values())) == 10 * ladder.steps_per_round for own in found.window)
    still = {"flips": Outcomes(0, 0, 0, 20_000, 0, 0)}
    stuck = replace(found, window=[*found.window[:3], still])
    (sentence,) = stuck_sentences(source, stuck, problem)
    assert sentence.startswith("Ladder 1 at epsilon 1 is stuck: 0 of its last 20,000 steps")
    np.testing.assert_array_equal(source.present(3)[2], ladder.chain_at(1, 1).assignment)
