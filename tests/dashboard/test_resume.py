"""Runs of ``bottomup sample`` that are broken off, by whatever, and gone on with."""

import errno
import json
import math
import os
import signal
import subprocess
import sys
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from bottomup.dashboard.cli import main
from bottomup.sampler import checkpoints, durable, recording, store
from bottomup.sampler.chain import Chain
from bottomup.sampler.ensembles import Ensemble

DYING = Path(__file__).parents[1] / "dying.py"
CHAINS = ["--epsilon", "1", "--steps", "2400", "--thin", "40", "--chains", "3"]
LADDERS = ["--exchange", "--epsilon", "2", "--burn-in", "80", "--steps", "2000", "--thin", "20"]
OF_CLOCK = ("seconds", "conclusion", "_per_second", "seconds_left")


class Full:
    """Stands for ``os`` where files are written; the disk is full after so many files and folders."""

    def __init__(self, n_written):
        self.left = n_written

    def __getattr__(self, name):
        return getattr(os, name)

    def fsync(self, handle):
        self.left -= 1
        if self.left < 0:
            raise OSError(errno.ENOSPC, "No space left on device")


@pytest.fixture(autouse=True)
def hurry(monkeypatch):
    """Checkpoints and parts as often as there can be: a batch for every record."""
    monkeypatch.setattr(checkpoints, "EVERY_SECONDS", 0.0)
    monkeypatch.setattr(checkpoints, "MOST_OF_TIME", math.inf)
    monkeypatch.setattr(recording, "BATCH_SECONDS", 100.0)
    monkeypatch.setattr(recording, "BATCH_BYTES", 1)
    monkeypatch.setattr(durable, "os", Full(10**9))
    monkeypatch.setattr(store, "GROUP_ROWS", 50)
    monkeypatch.setattr(store, "PART_BYTES", 1)
    # Whether or not a shell runs the tests in the background, where interrupts are ignored.
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


def without_clock(found):
    """What does not depend on how fast the machine was."""
    if isinstance(found, dict):
        return {name: without_clock(inner) for name, inner in found.items() if not name.endswith(OF_CLOCK)}
    return [without_clock(inner) for inner in found] if isinstance(found, list) else found


def left_by(folder):
    """All that a run leaves, by file: its plans byte for byte, its figures without those of the clock."""
    files = {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}
    files["run.json"] = without_clock(json.loads(files["run.json"]))
    return files


@pytest.fixture
def options(grid_tables):
    return ["sample", *grid_tables, "--plan", "even", "--tolerance", "0.3", "--seed", "3"]


@pytest.fixture(scope="module")
def unbroken(tmp_path_factory):
    """What a command leaves that nothing breaks off; where its inputs lie does not matter."""
    found = {}

    def run(command):
        kind = "ladders" if "--exchange" in command else "chains"
        if kind not in found:
            folder = tmp_path_factory.mktemp(kind) / "run"
            assert main([*command, "--out", str(folder)]) == 0
            found[kind] = left_by(folder)
        return found[kind]

    return run


def interrupt(monkeypatch, n_calls):
    """Let the keyboard interrupt at a batch of a chain."""
    advance, left = Chain.advance, [n_calls]

    def interrupted(self, n_steps, thin):
        left[0] -= 1
        if left[0] == 0:
            signal.raise_signal(signal.SIGINT)
        return advance(self, n_steps, thin)

    monkeypatch.setattr(Chain, "advance", interrupted)


@pytest.mark.parametrize(("kind", "threads"), [(CHAINS, "1"), (LADDERS, "2")], ids=["chains", "ladders"])
def test_a_run_that_is_killed_again_and_again_equals_one_that_is_not(
    options, unbroken, tmp_path, kind, threads
):
    folder = tmp_path / "run"
    rng = np.random.default_rng(int(threads))
    arguments, n_deaths = [*options, *kind, "--threads", threads], 0
    while True:
        n_events = 0 if n_deaths == 2 else int(rng.integers(100, 400))
        child = [sys.executable, str(DYING), str(n_events), *arguments, "--out", str(folder)]
        done = subprocess.run(child, capture_output=True, text=True, timeout=300)
        if done.returncode == 0:
            break
        assert done.returncode == -signal.SIGKILL, done.stderr
        n_deaths += 1
        # What is there is a table that can be read at any moment.
        pd.read_parquet(folder / "plans.parquet")
        arguments = ["sample", "--resume"]
    assert n_deaths == 2
    assert "Going on from" in done.stdout
    assert left_by(folder) == unbroken([*options, *kind])


# Of ladders the first interrupt falls into the burn-in.
@pytest.mark.parametrize(("kind", "n_calls"), [(CHAINS, 90), (LADDERS, 40), (LADDERS, 800)])
def test_an_interrupted_run_goes_on_from_any_folder(
    options, unbroken, tmp_path, monkeypatch, capsys, kind, n_calls
):
    command = [*options, *kind]
    monkeypatch.chdir(tmp_path)
    relative = [word.removeprefix(f"{tmp_path}/") for word in command]
    with monkeypatch.context() as patch:
        interrupt(patch, n_calls)
        assert main([*relative, "--out", "run"]) == 1
    error = capsys.readouterr().err
    assert ("Interrupted in the burn-in" in error) == (n_calls == 40)
    assert "To go on: bottomup sample --resume --out run" in error
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    monkeypatch.chdir(elsewhere)
    # The same options may be given again, and another number of threads.
    again = ["sample", "--resume", "--seed", "3", "--units", str(tmp_path / "nodes.csv"), "--threads", "2"]
    assert main([*again, "--out", str(tmp_path / "run")]) == 0
    before = left_by(tmp_path / "run")
    assert before == unbroken(command)
    capsys.readouterr()
    assert main([*again, "--out", str(tmp_path / "run")]) == 0
    assert "is finished; there is nothing to go on with" in capsys.readouterr().out
    assert left_by(tmp_path / "run") == before


# The first checkpoint takes four, the units and run.json two each.
@pytest.mark.parametrize("n_written", [0, 2, 4, 6, 60, 62, 64])
def test_a_full_disk_spoils_nothing_that_was_written(
    options, unbroken, tmp_path, monkeypatch, capsys, n_written
):
    command = [*options, *CHAINS]
    folder = tmp_path / "run"
    with monkeypatch.context() as patch:
        patch.setattr(durable, "os", Full(n_written))
        assert main([*command, "--out", str(folder)]) == 2
    error = capsys.readouterr().err
    assert f"{folder} could not be written to: no space left on device." in error
    assert "Traceback" not in error
    assert not list(folder.rglob(".*.new"))
    if n_written < 4:
        assert "Nothing has been recorded yet. Make room" in error
        again = command
    else:
        (manifest,) = folder.glob("checkpoint.json")
        n_safe = json.loads(manifest.read_text())["n_rows"]
        assert f"What was recorded up to the last checkpoint is safe: {n_safe} plans." in error
        assert f"go on with `bottomup sample --resume --out {folder}`" in error
        assert (n_safe > 0) == (n_written >= 60)
        again = ["sample", "--resume"]
    assert main([*again, "--out", str(folder)]) == 0
    assert left_by(folder) == unbroken(command)


def test_a_folder_that_cannot_be_written_to_is_named(options, tmp_path, monkeypatch, capsys):
    def refuse(self, *arguments, **more):
        raise OSError(errno.EROFS, "Read-only file system", str(self))

    with monkeypatch.context() as patch:
        patch.setattr(Path, "mkdir", refuse)
        assert main([*options, *CHAINS, "--out", str(tmp_path / "run")]) == 2
    error = capsys.readouterr().err
    assert f"{tmp_path / 'run'} could not be written to: read-only file system." in error
    assert "name another one with --out" in error
    (tmp_path / "taken").write_text("")
    assert main([*options, *CHAINS, "--out", str(tmp_path / "taken")]) == 2
    assert "taken is a file; name a folder with --out" in capsys.readouterr().err
    assert main(["sample", "--resume", "--out", str(tmp_path / "taken")]) == 2
    assert "taken holds no run to go on with" in capsys.readouterr().err


@pytest.fixture
def broken_off(options, tmp_path, monkeypatch, capsys):
    """The folder of a run that was interrupted."""
    with monkeypatch.context() as patch:
        interrupt(patch, 60)
        assert main([*options, *CHAINS, "--out", str(tmp_path / "run")]) == 1
    capsys.readouterr()
    return tmp_path / "run"


def refusal(capsys, folder, *more):
    """What the command says when it does not go on; nothing in the folder changes."""
    before = left_by(folder)
    assert main(["sample", "--resume", "--out", str(folder), *more]) == 2
    error = capsys.readouterr().err
    assert "Traceback" not in error
    assert left_by(folder) == before
    return error


def test_a_run_goes_on_only_as_what_it_was(broken_off, tmp_path, monkeypatch, capsys):
    """Nothing that decides its plans may be another; what it is, is said."""
    error = refusal(capsys, broken_off, "--seed", "1")
    assert "--seed 1 contradicts the run in" in error
    assert "begun with --seed 3" in error
    error = refusal(capsys, broken_off, "--units", str(tmp_path / "edges.csv"))
    assert f"begun with --units {tmp_path / 'nodes.csv'}" in error
    error = refusal(capsys, broken_off, "--exchange")
    assert "--exchange True contradicts" not in error
    assert "--exchange contradicts" in error

    from bottomup.sampler import naming

    with monkeypatch.context() as patch:
        patch.setattr(naming, "package_versions", lambda: {"numba": "0.1"})
        assert "other versions" in refusal(capsys, broken_off)

    testimonies = tmp_path / "testimonies.csv"
    text = testimonies.read_text()
    testimonies.write_text(text + "c,70\n")
    error = refusal(capsys, broken_off)
    assert "Files have changed since the run was begun" in error
    assert str(testimonies) in error
    assert "nodes.csv" not in error
    testimonies.unlink()
    assert f"are not there any more: {testimonies}" in refusal(capsys, broken_off)
    testimonies.write_text(text)

    with checkpoints.Checkpoints(broken_off):
        error = refusal(capsys, broken_off)
    assert f"Another run is writing to {broken_off}" in error

    (state,) = broken_off.glob("checkpoint-*.npz")
    whole = state.read_bytes()
    state.write_bytes(whole[:-100])
    assert f"{state} cannot be read: its contents have changed" in refusal(capsys, broken_off)
    state.write_bytes(whole)
    assert main(["sample", "--resume", "--out", str(broken_off)]) == 0


def test_without_resume_a_run_that_was_broken_off_is_left_alone(broken_off, options, capsys):
    before = left_by(broken_off)
    assert main([*options, *CHAINS, "--out", str(broken_off)]) == 2
    assert "already holds a run" in capsys.readouterr().err
    assert left_by(broken_off) == before


def test_plans_so_far_can_be_exported(broken_off, tmp_path):
    run = json.loads((broken_off / "run.json").read_text())
    assert not run["outcome"]["complete"]
    assert len(Ensemble(broken_off)) == run["outcome"]["n_records"] > 0
    assert main(["export", str(broken_off), "--out", str(tmp_path / "plans.jsonl")]) == 0
    assert len((tmp_path / "plans.jsonl").read_text().splitlines()) == run["outcome"]["n_records"]
