"""Runs on a Dask cluster: the plans of runs on one computer, whoever is killed, and what is refused."""

import itertools
import json
import logging
import os
import signal
import subprocess
import sys
import time
from contextlib import contextmanager
from functools import partial

import pytest
from distributed import LocalCluster

from bottomup.dashboard import cluster as clusters
from bottomup.dashboard import sample
from bottomup.dashboard.cli import main
from bottomup.dashboard.cluster import connected
from bottomup.dashboard.study_file import read_study
from bottomup.data.errors import DataError
from bottomup.sampler.segments import SegmentedSource
from bottomup.sampler.sources import Chains
from bottomup.sampler.start import make_unlike_starts
from bottomup.sampler.target import Target
from bottomup.sampler.verification import make_grid_problem

# Of a cluster whose scheduler and workers are threads of this process.
HERE = {"protocol": "tcp://", "processes": False, "dashboard_address": ":0", "silence_logs": logging.CRITICAL}
LADDERS, CHAINS = "testimony-seed1", "cluster-seed1"
LONG = f"{LADDERS}: rounds 884 to 1,769 of ladder "
# Ladders by one score, and chains by the other; segments grow by four until one takes a second or so.
STUDY = """
[inputs]
units = "nodes.csv"
edges = "edges.csv"
testimonies = "testimonies.csv"
plan = "even"
clusters = "uneven"

[law]
tolerance = 0.3

[sweep]
scores = ["testimony", "cluster"]
epsilons = { testimony = [0, 2], cluster = [1] }
seeds = [1]
steps = 60000
thin = 1000
"""


@pytest.fixture
def study(grid_tables, tmp_path):
    path = tmp_path / "study.toml"
    path.write_text(STUDY)
    return path


@pytest.fixture(scope="module")
def workers():
    """A cluster of two processes on this computer."""
    with LocalCluster(
        n_workers=2,
        threads_per_worker=1,
        processes=True,
        dashboard_address=":0",
        silence_logs=logging.CRITICAL,
    ) as cluster:
        yield cluster


@pytest.fixture(scope="module")
def unbroken():
    """What two processes leave of the study, byte for byte; where its inputs lie does not matter."""
    found = {}

    def run(study):
        if not found:
            out = study.parent / "processes"
            assert main(["sweep", str(study), "--out", str(out), "--processes", "2"]) == 0
            found.update({cell: left_by(out / cell) for cell in (LADDERS, CHAINS)})
        return found

    return run


def left_by(folder):
    """The name and the plans of a cell, byte for byte."""
    parts = sorted((folder / "plans.parquet").iterdir())
    return json.loads((folder / "run.json").read_text())["name"], [part.read_bytes() for part in parts]


def at_work(workers):
    """Which task each worker is at."""
    return {
        address: next(iter(state.processing)).key
        for address, state in list(workers.scheduler.workers.items())
        if state.processing
    }


def stays_at(workers, what, seconds=0.3):
    """A worker that has been at the same task for a while, and the task."""
    seen = {}

    def look():
        for address, key in at_work(workers).items():
            since = seen.setdefault((address, key), time.monotonic())
            if what in key and time.monotonic() - since > seconds:
                return address, key
        return None

    return look


def until(condition, seconds=90.0):
    end = time.monotonic() + seconds
    while not (found := condition()):
        assert time.monotonic() < end
        time.sleep(0.01)
    return found


@pytest.mark.skipif(os.name != "posix", reason="kills processes as only these systems do")
def test_a_worker_that_is_killed_costs_a_segment_and_leaves_no_trace(study, workers, unbroken):
    expected = unbroken(study)
    out = study.parent / "out"
    command = [sys.executable, "-P", "-m", "bottomup.dashboard.cell", "sweep", str(study), "--out", str(out)]
    command += ["--scheduler", workers.scheduler_address]
    log = study.parent / "said.txt"
    # Its input stays open: the end of it is an interrupt.
    with (
        log.open("wb") as said,
        subprocess.Popen(command, stdin=subprocess.PIPE, stdout=said, stderr=said) as sweep,
    ):
        try:
            address, task = until(stays_at(workers, LONG))
            (nanny,) = [each for each in workers.workers.values() if each.worker_address == address]
            os.kill(nanny.process.pid, signal.SIGKILL)
            status = sweep.wait(120)
        finally:
            sweep.kill()
    said = log.read_text()
    assert status == 0, said
    for cell in (LADDERS, CHAINS):
        assert f"{cell}: starts" in said
        assert f"{cell}: ends after" in said
    assert "2 of 2 cells finished" in said
    assert {cell: left_by(out / cell) for cell in (LADDERS, CHAINS)} == expected
    # The task was begun twice.
    begun = [log.key for log in workers.scheduler.transition_log if log.finish == "processing"]
    assert begun.count(task) == 2
    # Nothing stays on the workers.
    until(lambda: not workers.scheduler.tasks, 5)


@pytest.mark.parametrize("is_begun_here", [True, False])
def test_a_run_goes_on_with_the_cluster_or_without_it(
    study, workers, unbroken, monkeypatch, capsys, is_begun_here
):
    """Interrupted in the burn-in here, or in the middle of a segment there."""
    expected = unbroken(study)
    out = study.parent / "out" / LADDERS
    (cell,) = [cell for cell in read_study(study).cells(out.parent) if cell.name == LADDERS]
    there = ["--scheduler", workers.scheduler_address]
    looks = itertools.count()

    @contextmanager
    def stopping():
        yield lambda: next(looks) > 100 if is_begun_here else stays_at(workers, LONG, 0)() is not None

    monkeypatch.chdir(study.parent)
    with monkeypatch.context() as patch:
        patch.setattr(sample, "stopping", stopping)
        assert main([*cell.options, "--out", str(out), *([] if is_begun_here else there)]) == 1
    assert "To go on: bottomup sample --resume" in capsys.readouterr().err
    # What was stopped is not done to its end for nobody.
    until(lambda: not workers.scheduler.tasks, 10)
    n_saved = json.loads((out / "checkpoint.json").read_text())["n_rows"]
    assert (n_saved == 0) == is_begun_here
    assert main(["sample", "--resume", "--out", str(out), *(there if is_begun_here else [])]) == 0
    assert f"Going on from {n_saved} plan" in capsys.readouterr().out
    assert left_by(out) == expected[LADDERS]


def make_chains(n=4):
    problem = make_grid_problem(6, 6)
    starts = make_unlike_starts(problem, 4, 7, 11, [], n, seed=1)
    make = partial(Chains, problem, Target(4, 7, 11), seed=3, thin=10)
    return make(starts=starts), partial(make, starts=starts[:1])


@pytest.fixture
def old_worker(tmp_path):
    """Start a worker that says that it has another version of numba."""
    folder = tmp_path / "old" / "numba-0.1.dist-info"
    folder.mkdir(parents=True)
    (folder / "METADATA").write_text("Metadata-Version: 2.1\nName: numba\nVersion: 0.1\n")
    begun = []

    def start(address):
        options = ["--nthreads", "1", "--no-nanny", "--no-dashboard"]
        begun.append(
            subprocess.Popen(
                [sys.executable, "-m", "distributed.cli.dask_worker", address, *options],
                env={**os.environ, "PYTHONPATH": str(folder.parent)},
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
            )
        )

    yield start
    for process in begun:
        process.kill()
        process.wait()


def test_a_worker_with_other_versions_is_named_and_not_used(old_worker, monkeypatch, capsys):
    with LocalCluster(n_workers=1, threads_per_worker=1, **HERE) as cluster:
        # One that comes after the start has its tasks done by others.
        with connected(cluster.scheduler_address) as those:
            assert those.n_threads == 1
            old_worker(cluster.scheduler_address)
            until(lambda: len(cluster.scheduler.workers) == 2, 30)
            source, recipe = make_chains()
            segmented = SegmentedSource(source, recipe, those.performer("late", lambda: False))
            parts = segmented.advance(1_000)
            again, _ = make_chains()
            expected = again.advance(1_000)
            assert [part.chain for part in parts] == [0, 1, 2, 3]
            for part, other in zip(parts, expected, strict=True):
                assert (part.records.assignment == other.records.assignment).all()
        said = capsys.readouterr().out
        assert said.count(" is not used, for it has numba 0.1 instead of ") == 1
        cluster.scale(0)
        until(lambda: len(cluster.scheduler.workers) == 1, 30)
        monkeypatch.setattr(clusters, "NO_WORKER_SECONDS", 1.0)
        with pytest.raises(DataError) as refused, connected(cluster.scheduler_address):
            pass
    message = str(refused.value)
    assert f"The Dask cluster at {cluster.scheduler_address} has no worker that can be used" in message
    assert "none but those with other versions for 1 seconds. Start some with `dask worker" in message


def test_a_scheduler_that_goes_away_is_an_error_in_words():
    cluster = LocalCluster(n_workers=1, threads_per_worker=1, **HERE)
    try:
        with connected(cluster.scheduler_address) as those:
            source, recipe = make_chains(2)
            segmented = SegmentedSource(source, recipe, those.performer("run", lambda: False))
            segmented.advance(1_000)
            cluster.close()
            with pytest.raises(DataError, match="does not answer any more"):
                segmented.advance(1_000)
            assert segmented.n_done == 1_000
    finally:
        cluster.close()


def test_tasks_are_dropped_when_the_run_is_stopped(workers):
    with connected(workers.scheduler_address) as those:
        source, recipe = make_chains(2)
        is_stopped = lambda: bool(at_work(workers))  # noqa: E731
        segmented = SegmentedSource(source, recipe, those.performer("run", is_stopped))
        assert segmented.advance(10**7) == []
        assert segmented.n_done == 0
        until(lambda: not workers.scheduler.tasks, 30)


def test_what_cannot_be_is_refused_before_a_run_begins(study, monkeypatch, capsys):
    monkeypatch.setattr(clusters, "CONNECT_SECONDS", 0.5)
    out = study.parent / "out"
    command = ["sweep", str(study), "--out", str(out), "--scheduler", "tcp://127.0.0.1:9"]
    assert main(command) == 2
    assert "No Dask scheduler answers at tcp://127.0.0.1:9. Start one with " in capsys.readouterr().err
    assert not list(out.glob("*seed*"))
    assert main([*command, "--processes", "2"]) == 2
    assert "--processes is for runs on this computer" in capsys.readouterr().err
    monkeypatch.setitem(sys.modules, "distributed", None)
    assert main(command) == 2
    assert 'which is not installed. pip install "bottomup[dask]"' in capsys.readouterr().err
