"""The cells of a sweep at work: a process for each, so many at a time, and what becomes of them."""

import json
import os
import re
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, Any

from bottomup.dashboard.going_on import is_finished
from bottomup.dashboard.study import Cell
from bottomup.data.errors import DataError, count
from bottomup.sampler.checkpoints import MANIFEST, read_manifest
from bottomup.sampler.runs import RUN

__all__ = ["Ending", "run_cells"]

LOGS = "logs"
PATIENCE = 0.1
"""Seconds from one look at the processes to the next."""
EVERY_SECONDS = 60.0
"""Between lines that say how far the cells are."""
_PERCENT = re.compile(rb"(\d+)%\|")


@dataclass
class Ending:
    """Which cells are finished, and which failed for what reason; the others are left to go on with."""

    finished: list[str] = field(default_factory=list)
    failed: dict[str, str] = field(default_factory=dict)


@dataclass
class _Process:
    cell: Cell
    process: subprocess.Popen[bytes]
    log: Path
    began: float


def run_cells(
    cells: Sequence[Cell],
    out: Path,
    base: Path,
    at_a_time: Callable[[], int],
    is_stopped: Callable[[], bool],
    scheduler: str | None = None,
) -> Ending:
    """Run every cell that is not finished, and say of each when it starts, goes on and ends.

    Parameters
    ----------
    cells : sequence of Cell
    out : path
        Whole; each cell has a folder there, and a file in ``logs`` with all that it said.
    base : path
        The folder that the files of the cells' options are relative to.
    at_a_time : callable
        How many processes there may be, each of a single thread. Asked as long as cells are waiting.
    is_stopped : callable
        Once it says so, no cell is started, and those at work are stopped so that they can go on.
    scheduler : str, optional
        Address of the Dask cluster that does the steps of the cells.

    Raises
    ------
    DataError
        That ``at_a_time`` raises, once the cells at work have been stopped.
    """
    ending, n_cells = Ending(), len(cells)
    options = ["--threads", "1", *([] if scheduler is None else ["--scheduler", scheduler])]
    at_work: list[_Process] = []
    waiting: list[Cell] = []
    for cell in cells:
        if is_finished(out / cell.name):
            ending.finished.append(cell.name)
            print(f"{cell.name}: finished before", flush=True)
        else:
            waiting.append(cell)
    (out / LOGS).mkdir(exist_ok=True)
    is_stopping, said, trouble = False, time.monotonic(), None
    try:
        while at_work or (waiting and not is_stopping):
            n_free = 0
            if waiting and not is_stopping:
                try:
                    n_free = at_a_time() - len(at_work)
                except DataError as error:
                    trouble = error
            if (trouble is not None or is_stopped()) and not is_stopping:
                is_stopping = True
                print("Stopping; what the cells have so far is being written ...", flush=True)
                for each in at_work:
                    _let_go(each.process)
            for cell in [] if is_stopping else waiting[: max(0, n_free)]:
                waiting.remove(cell)
                _begin(cell, out, base, options, at_work, ending)
            for each in [each for each in at_work if each.process.poll() is not None]:
                at_work.remove(each)
                _end(each, out, ending, is_stopping, n_cells)
            if time.monotonic() - said >= EVERY_SECONDS and at_work:
                said = time.monotonic()
                print(f"{', '.join(map(_how_far, at_work))}; {_done(ending, n_cells)}", flush=True)
            time.sleep(PATIENCE)
    finally:
        # After a second interrupt: nothing is waited for, and the checkpoints stand.
        for each in at_work:
            _let_go(each.process)
    if trouble is not None:
        raise trouble
    return ending


def _begin(
    cell: Cell, out: Path, base: Path, options: list[str], at_work: list[_Process], ending: Ending
) -> None:
    folder = out / cell.name
    if (folder / MANIFEST).exists():
        arguments = ["sample", "--resume"]
        words = _goes_on(folder)
    elif (folder / RUN).exists():
        reason = f"{folder} holds a part of a run and no checkpoint to go on from"
        ending.failed[cell.name] = reason
        print(f"{cell.name}: failed: {reason}", flush=True)
        return
    else:
        arguments, words = list(cell.options), "starts"
    print(f"{cell.name}: {words}", flush=True)
    log = out / LOGS / f"{cell.name}.txt"
    command = [sys.executable, "-P", "-m", "bottomup.dashboard.cell", *arguments]
    more: dict[str, Any] = {"process_group": 0} if os.name == "posix" else {}
    with log.open("wb") as file:
        process = subprocess.Popen(
            [*command, *options, "--out", str(folder)],
            cwd=base,
            stdin=subprocess.PIPE,
            stdout=file,
            stderr=subprocess.STDOUT,
            # The bar of a long run would fill the log.
            env={**os.environ, "TQDM_MININTERVAL": "5", "PYTHONUNBUFFERED": "1"},
            **more,
        )
    at_work.append(_Process(cell, process, log, time.monotonic()))


def _goes_on(folder: Path) -> str:
    try:
        return f"goes on from {count(read_manifest(folder)['n_rows'], 'plan')}"
    except ValueError:
        # The run says what is wrong with it.
        return "goes on"


def _end(each: _Process, out: Path, ending: Ending, is_stopping: bool, n_cells: int) -> None:
    name, status = each.cell.name, each.process.returncode
    _let_go(each.process)
    if status == 0 and is_finished(out / name):
        ending.finished.append(name)
        seconds = time.monotonic() - each.began
        print(f"{name}: ends after {seconds:,.0f} s; {_done(ending, n_cells)}")
        run = json.loads((out / name / RUN).read_text(encoding="utf-8"))
        print(f"  {run['outcome']['diagnostics']['conclusion']}", flush=True)
    elif is_stopping and status != 2:
        print(f"{name}: stopped", flush=True)
    else:
        ending.failed[name] = reason = _reason(each.log, status)
        print(f"{name}: failed: {reason}", flush=True)


def _let_go(process: subprocess.Popen[bytes]) -> None:
    stdin: IO[bytes] | None = process.stdin
    if stdin is not None and not stdin.closed:
        stdin.close()


def _done(ending: Ending, n_cells: int) -> str:
    return f"{len(ending.finished)} of {count(n_cells, 'cell')} finished"


def _how_far(each: _Process) -> str:
    found = _PERCENT.findall(each.log.read_bytes()[-4096:])
    return f"{each.cell.name} {int(found[-1])} %" if found else f"{each.cell.name} begun"


def _reason(log: Path, status: int) -> str:
    """What a process said last, or what it was ended by."""
    if status < 0:
        return f"its process was killed (signal {-status})"
    text = log.read_text(encoding="utf-8", errors="replace").replace("\r", "\n")
    _, found, reason = text.rpartition("bottomup sample: ")
    return reason.strip() if found else f"its process ended with status {status}; see {log}"
