"""The command ``bottomup sweep``: every run of a study, several at a time, which can be broken off."""

import argparse
import json
import os
from collections.abc import Mapping, Sequence
from contextlib import chdir
from pathlib import Path
from typing import TYPE_CHECKING, Any

from bottomup.dashboard.going_on import check_same_run, describe_files, named_files
from bottomup.dashboard.options import load_inputs, weighting_of
from bottomup.dashboard.starting import stopping
from bottomup.dashboard.study import Cell, Study, find_study, read_study
from bottomup.dashboard.walk_options import choose_mixture, moves_of, prepare_walk
from bottomup.data.errors import DataError, count

if TYPE_CHECKING:
    from bottomup.dashboard.sweep_cells import Ending

__all__ = ["add_sweep"]

RECORD, _LOCK = "study.json", "study.lock"
SCHEMA = 1


def add_sweep(commands: argparse._SubParsersAction) -> None:
    """Add the command to the command line."""
    parser = commands.add_parser(
        "sweep",
        help="sample plans for several scores, epsilons and seeds, and compare them in a table",
        description="Runs `bottomup sample` for every score and seed of a study, over all of its epsilons. "
        "Enter the same command again to go on with what was broken off.",
    )
    parser.add_argument(
        "study", metavar="STUDY", help="file in TOML, see the README, or demo for the demonstration's"
    )
    parser.add_argument("--out", type=Path, required=True, help="folder for the runs; made when missing")
    parser.add_argument(
        "--processes", type=int, metavar="N", help="runs at a time (default: one for each core)"
    )
    parser.set_defaults(run=_sweep)


def _sweep(options: argparse.Namespace) -> int:
    if options.processes is not None and options.processes < 1:
        raise ValueError(f"--processes must be at least 1; got {options.processes}")
    study = read_study(find_study(options.study))
    out = options.out.resolve()
    record = _describe(study)
    if out.exists() and not out.is_dir():
        raise ValueError(f"{options.out} is a file; name a folder with --out")
    again = f"bottomup sweep {options.study} --out {options.out}"
    # Imported by the command that needs them: pyarrow and numba take a second.
    from filelock import FileLock, Timeout

    from bottomup.dashboard.sweep_summary import write_summary

    cells = study.cells()
    out.mkdir(parents=True, exist_ok=True)
    try:
        with FileLock(out / _LOCK, timeout=0):
            _check_folder(out, record, cells)
            _save(out, record, cells)
            ending = _run(options, study, cells, out)
            _save(out, record, cells)
            finished = [cell for cell in cells if cell.name in ending.finished]
            if finished:
                write_summary(out, finished, record["enacted"])
    except Timeout as error:
        raise DataError(
            "sweep_goes_on", f"Another sweep is writing to {out}.", remedy="Wait for its end, or end it."
        ) from error
    _tell(ending, cells, options.out, again)
    return 0 if len(finished) == len(cells) else 1


def _describe(study: Study) -> dict[str, Any]:
    """What ``study.json`` says of a study; reads its inputs, so that they are refused once and for all."""
    from bottomup.sampler.naming import package_versions
    from bottomup.sampler.problem import Problem
    from bottomup.sampler.statistics import evaluate_plan

    options = study.parsed(study.cells()[0])
    with chdir(study.path.parent):
        inputs = load_inputs(options, needs_plan=options.districts is None)
        plans = inputs.plans if options.units is None else ()
        named = named_files(options, frozenset(map(str, [*inputs.geography.columns, *plans])))
        files = describe_files(named)
    enacted = None
    if inputs.enacted is not None and inputs.testimonies is not None:
        problem = Problem.build(inputs.geography, inputs.testimonies, weighting_of(options))
        plan = inputs.enacted
        found = evaluate_plan(problem, plan.assignment, plan.n_districts)
        enacted = {"score_testimony": found.score_testimony}
        if len(found.cluster_best_share):
            enacted["score_cluster"] = found.score_cluster
    return {
        "schema": SCHEMA,
        "study": study.tables(),
        "files": files,
        "enacted": enacted,
        "versions": package_versions(),
    }


def _check_folder(out: Path, record: Mapping[str, Any], cells: Sequence[Cell]) -> None:
    """Refuse a folder with another study, or with runs that are none of this one."""
    from bottomup.sampler.runs import check_folder

    known: set[str] = set()
    if (out / RECORD).exists():
        before = _read(out)
        known = set(before["runs"])
        _check_study(out, record["study"], before["study"])
        files = {**before["files"], **record["files"]}
        changed = [path for path in files if before["files"].get(path) != record["files"].get(path)]
        if changed:
            raise DataError(
                "inputs_changed",
                f"Files have changed since the study in {out} was begun.",
                remedy="Put back what they were, or name another folder with --out.",
                units=changed,
            )
        check_same_run({"versions": record["versions"]}, {"versions": before["versions"]})
    for cell in cells:
        if cell.name not in known:
            check_folder(out / cell.name)


def _read(out: Path) -> dict[str, Any]:
    try:
        before = json.loads((out / RECORD).read_text(encoding="utf-8"))
        is_later = before["schema"] > SCHEMA
    except (ValueError, KeyError, TypeError) as error:
        raise DataError(
            "damaged_study", f"{out / RECORD} is damaged.", remedy="Name another folder with --out."
        ) from error
    if is_later:
        raise DataError(
            "later_version",
            f"{out / RECORD} was written by a later version of bottomup.",
            remedy="Go on with that version.",
        )
    return dict(before)


def _check_study(out: Path, now: Mapping[str, Any], before: Mapping[str, Any]) -> None:
    """Refuse changes but for more scores and seeds.

    Raises
    ------
    DataError
        Naming the keys that differ.
    """
    changed = []
    for table, values in now.items():
        for key in dict.fromkeys([*before[table], *values]):
            old, new = before[table].get(key), values.get(key)
            is_more = key in ("scores", "seeds") and set(old) <= set(new)
            if old != new and not is_more:
                changed.append(f"{table}.{key}")
    if changed:
        raise DataError(
            "study_changed",
            f"The study has changed since the one in {out} was begun.",
            remedy="Only scores and seeds may be added. Put back what it was, or name another folder with "
            "--out.",
            units=changed,
        )


def _save(out: Path, record: Mapping[str, Any], cells: Sequence[Cell]) -> None:
    from bottomup.sampler.durable import write_whole

    text = json.dumps({**record, "runs": {cell.name: _name(out / cell.name) for cell in cells}}, indent=2)
    write_whole(out / RECORD, lambda file: file.write(f"{text}\n".encode()))


def _name(folder: Path) -> str | None:
    """The name of a run; None before it is begun."""
    try:
        return str(json.loads((folder / "run.json").read_text(encoding="utf-8"))["name"])
    except (OSError, ValueError, KeyError, TypeError):
        return None


def _run(options: argparse.Namespace, study: Study, cells: Sequence[Cell], out: Path) -> "Ending":
    from bottomup.dashboard.sweep_cells import run_cells

    n_processes = options.processes or os.cpu_count() or 1
    shared = study.parsed(cells[0])
    with stopping() as is_stopped:
        # Compiled once, and not by every process at the same time; the number of units only weighs the moves.
        prepare_walk(shared.step, choose_mixture(moves_of(shared), 1000))
        at_a_time = min(n_processes, len(cells))
        print(f"{count(len(cells), 'cell')}, {at_a_time} at a time", flush=True)
        return run_cells(cells, out, study.path.parent, n_processes, is_stopped)


def _tell(ending: "Ending", cells: Sequence[Cell], out: Path, again: str) -> None:
    n_left = len(cells) - len(ending.finished) - len(ending.failed)
    print(f"{len(ending.finished)} of {count(len(cells), 'cell')} finished; their runs are in {out}")
    if ending.failed:
        failed = ", ".join(ending.failed)
        print(f"Failed: {failed}. To have a cell made anew, remove its folder")
    if n_left or ending.failed:
        print(f"To go on: {again}")
