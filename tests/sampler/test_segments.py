"""Runs in segments that are done elsewhere: the same plans, and a state that any run goes on from."""

import pickle
from functools import partial

import numpy as np
import pandas as pd
import pytest

from bottomup.data import Geography
from bottomup.data.errors import DataError
from bottomup.sampler.burning import BurnIn, finish_burn_in
from bottomup.sampler.ladder import Ladder
from bottomup.sampler.naming import package_versions
from bottomup.sampler.parting import put_together, take_apart
from bottomup.sampler.recording import Batches, record
from bottomup.sampler.runs import RunFolder
from bottomup.sampler.segments import (
    SegmentedBurnIn,
    SegmentedSource,
    make_burn_in,
    make_ladders,
    run_segment,
)
from bottomup.sampler.sources import Chains, Ladders, Pace
from bottomup.sampler.start import make_unlike_starts
from bottomup.sampler.target import Target
from bottomup.sampler.types import Mixture
from bottomup.sampler.verification import make_grid_problem

K = 4
N_BURN_IN = 80
MIXED = Mixture(20, 5, 2, 5)


class Elsewhere:
    """Does segments from nothing but what is in their tasks, the last first; stopped after so many."""

    def __init__(self, n_segments=10**9):
        self.left = n_segments
        self.titles = []

    def is_stopped(self):
        return self.left <= 0

    def __call__(self, tasks):
        if self.is_stopped():
            return None
        self.left -= 1
        self.titles += [task.title for task in tasks]
        sent = [pickle.loads(pickle.dumps(tuple(task[1:]))) for task in tasks]
        return [run_segment(*arguments) for arguments in reversed(sent)][::-1]


@pytest.fixture(scope="module")
def grid():
    problem = make_grid_problem(6, 6)
    return problem, make_unlike_starts(problem, K, 7, 11, [], 2, seed=1)


def make_chains(grid):
    """Chains, and the recipe of one of them."""
    problem, starts = grid
    make = partial(Chains, problem, aim(epsilon=2.0), seed=3, thin=10, mixture=MIXED)
    return make(starts=starts), partial(make, starts=starts[1:])


def aim(**changes):
    return Target(K, 7, 11, compactness=0.05, cut_edges=20.0, **changes)


def make_burnt(grid, is_placing, perform=None):
    """Ladders after a burn-in here or elsewhere, and the recipe of one of them."""
    problem, starts = grid
    make = partial(Ladder, problem, aim(), epsilons=[0.0, 1.0, 5.0], seed=3, mixture=MIXED)
    ladder = make(starts=starts)
    burn_in = BurnIn(ladder, N_BURN_IN, is_placing)
    if perform is None:
        finish_burn_in(burn_in, lambda memory: None)
    else:
        again = partial(make, starts=starts if is_placing else starts[1:])
        recipe = partial(make_burn_in, again, N_BURN_IN, is_placing)
        segmented = SegmentedBurnIn(burn_in, recipe, not is_placing, perform)
        finish_burn_in(segmented, lambda memory: None, batch_seconds=100.0)
        segmented.settle()
    return Ladders(ladder, 2), partial(make_ladders, partial(make, starts=starts[:1]), 2)


def make(grid, kind, perform=None):
    return make_chains(grid) if kind == "chains" else make_burnt(grid, kind == "placed", perform)


def contents(path):
    return {part.name: part.read_bytes() for part in (path / "plans.parquet").iterdir()}


def run(grid, path, source, n_total, n_rows=None, **options):
    problem, starts = grid
    geography = Geography(
        name="grid",
        ids=tuple(f"{i:02d}" for i in range(problem.n_units)),
        population=problem.graph.population,
        edges=problem.edges,
        shared_perimeter=None,
        columns=pd.DataFrame(index=range(problem.n_units)),
        geometry=None,
    )
    with RunFolder(path, geography, K, {"name": "test"}, n_rows) as folder:
        found = record(source, folder, n_total, {}, starts[0], **options)
    folder.finish({"complete": found.is_complete})
    return found


def same(one, other):
    return one.keys() == other.keys() and all(
        np.allclose(one[name], other[name], rtol=1e-12, atol=0, equal_nan=True)
        if name.endswith("chance_sum")
        else np.array_equal(one[name], other[name], equal_nan=one[name].dtype.kind == "f")
        for name in one
    )


@pytest.mark.parametrize(("kind", "n_total"), [("chains", 6_000), ("given", 200), ("placed", 200)])
def test_segments_leave_no_trace_and_can_be_gone_on_with_in_either_way(grid, tmp_path, kind, n_total):
    here, _ = make(grid, kind)
    whole = run(grid, tmp_path / "here", here, n_total)
    expected = contents(tmp_path / "here")
    small = Batches(100.0, 3_000)

    perform = Elsewhere()
    source, recipe = make(grid, kind, perform)
    segmented = SegmentedSource(source, recipe, perform)
    found = run(grid, tmp_path / "there", segmented, n_total, batches=small)
    assert contents(tmp_path / "there") == expected
    assert len([title for title in perform.titles if "burn-in" not in title]) > 6
    assert found.window == whole.window
    # The local one is brought to where the segments stand: its state is that of the run here.
    segmented.settle()
    assert same(source.memory(), here.memory())
    assert segmented.n_steps == here.n_steps

    # Stopped in the middle of a segment, which is then as if it had not been.
    kept = {}

    def keep(memory):
        kept.clear()
        kept.update({name: array.copy() for name, array in memory.items()})

    stopped, n_before = Elsewhere(5), []

    def is_stopped():
        # When the last segment is asked for, so that it is the one to find out.
        return stopped.is_stopped() and len(n_before) > 5

    source, recipe = make(grid, kind)
    broken = SegmentedSource(source, recipe, stopped)
    options = {"progress": n_before.append, "is_stopped": is_stopped}
    found = run(grid, tmp_path / "again", broken, n_total, batches=small, keep=keep, **options)
    assert n_before[5:] == [0]
    assert not found.is_complete
    assert 0 < broken.n_done < n_total

    # Here for a while, and then in segments to the end.
    source, recipe = make(grid, kind)
    n_more = []
    run(
        grid,
        tmp_path / "again",
        source,
        n_total,
        folder_rows(tmp_path / "again"),
        memory=dict(kept),
        keep=keep,
        progress=n_more.append,
        is_stopped=lambda: len(n_more) >= 3,
    )
    source, recipe = make(grid, kind)
    again = SegmentedSource(source, recipe, Elsewhere())
    rows = folder_rows(tmp_path / "again")
    found = run(grid, tmp_path / "again", again, n_total, rows, memory=dict(kept), batches=small)
    assert found.is_complete
    assert contents(tmp_path / "again") == expected


def folder_rows(path):
    return len(pd.read_parquet(path / "plans.parquet"))


def test_tasks_are_named_by_what_they_do_and_each_ladder_has_its_own_once_rungs_stand(grid):
    perform = Elsewhere()
    source, recipe = make_burnt(grid, True, perform)
    assert all(title.startswith("burn-in, rounds ") for title in perform.titles)
    assert not any("ladder" in title for title in perform.titles)
    SegmentedSource(source, recipe, perform).advance(1_200)
    assert perform.titles[-2:] == ["rounds 0 to 1,200 of ladder 0", "rounds 0 to 1,200 of ladder 1"]
    perform = Elsewhere()
    make_burnt(grid, False, perform)
    assert perform.titles[:2] == ["burn-in, rounds 0 to 1 of ladder 0", "burn-in, rounds 0 to 1 of ladder 1"]


@pytest.mark.parametrize("kind", ["chains", "given"])
def test_a_memory_taken_apart_is_put_together_as_it_was(grid, kind):
    source, _ = make(grid, kind)
    source.advance(20)
    memory = source.memory()
    parts = take_apart(memory, 2)
    assert parts[0].keys() == parts[1].keys()
    assert same(put_together(parts), memory)
    assert not same(*parts)


def test_other_versions_do_no_segment():
    versions = {**package_versions(), "numba": "0.1"}
    with pytest.raises(DataError, match="Its versions are others: numba "):
        run_segment(b"", b"", 0, 1, versions)


def test_a_pace_follows_the_clock_and_does_not_forget_it_at_a_short_batch():
    pace = Pace(30.0)
    for _ in range(8):
        pace.note(pace.size, pace.size * 0.01)
    assert pace.size == 3_000
    pace.note(10, 0.1)
    assert pace.size == 3_000
    # One that could do more, and is never let, asks for no more than four times as much.
    for _ in range(2_000):
        pace.note(3_000, 0.001)
    assert pace.size == 12_000
    alone = Pace(0.0)
    alone.note(1, 1e-6)
    assert alone.size == 1
