"""The command ``bottomup sweep``: every run of a study, several at a time, which can be broken off."""

import argparse
import os
import shlex
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from bottomup.dashboard.cluster import Cluster, connected
from bottomup.dashboard.options import Inputs, add_input_options, option_words
from bottomup.dashboard.starting import stopping
from bottomup.dashboard.study import ATTACKED, Cell, Study
from bottomup.dashboard.study_file import find_study, read_study, shipped_studies
from bottomup.dashboard.study_folder import StudyFolder, check_study_folder, describe_study, save_record
from bottomup.dashboard.walk_options import choose_mixture, moves_of, prepare_walk
from bottomup.data.errors import DataError, count

if TYPE_CHECKING:
    from bottomup.dashboard.sweep_cells import Ending

__all__ = ["add_sweep"]

_LOCK = "study.lock"


def add_sweep(commands: argparse._SubParsersAction) -> None:
    """Add the command to the command line."""
    parser = commands.add_parser(
        "sweep",
        help="sample plans for several scores, epsilons and seeds, and compare them in a table",
        description="Runs `bottomup sample` for every score and seed of a study, over all of its epsilons. "
        "Enter the same command again to go on with what was broken off. Inputs that are named here stand in "
        "place of those of the study.",
    )
    parser.add_argument(
        "study",
        metavar="STUDY",
        help=f"file in TOML, see the README, or one that comes along: {', '.join(shipped_studies())}",
    )
    parser.add_argument("--out", type=Path, required=True, help="folder for the runs; made when missing")
    parser.add_argument(
        "--processes", type=int, metavar="N", help="runs at a time (default: one for each core)"
    )
    parser.add_argument(
        "--scheduler",
        metavar="ADDRESS",
        help="run on the workers of a Dask cluster, such as tcp://10.0.0.1:8786, in place of this computer; "
        "the plans are the same",
    )
    add_input_options(parser)
    parser.add_argument(
        "--start",
        action="append",
        metavar="COLUMN|FILE",
        help="a further plan to start from, in place of those of the study; may be given again",
    )
    parser.set_defaults(run=_sweep)


def _sweep(options: argparse.Namespace) -> int:
    if options.processes is not None and options.processes < 1:
        raise ValueError(f"--processes must be at least 1; got {options.processes}")
    if options.processes is not None and options.scheduler is not None:
        raise ValueError("--processes is for runs on this computer; leave it out, or leave --scheduler out")
    given = _given_inputs(options)
    study = read_study(find_study(options.study), given or None, options.start)
    out = options.out.resolve()
    if out.exists() and not out.is_dir():
        raise ValueError(f"{options.out} is a file; name a folder with --out")
    record, inputs = describe_study(study, out)
    again = shlex.join(["bottomup", "sweep", options.study, "--out", str(options.out), *_words(options)])
    # Imported by the command that needs them: pyarrow and numba take a second.
    from filelock import FileLock, Timeout

    from bottomup.dashboard.sweep_summary import write_summary
    from bottomup.sampler.shares import available_shares, judged_shares

    cells = study.cells(out)
    out.mkdir(parents=True, exist_ok=True)
    try:
        with FileLock(out / _LOCK, timeout=0), connected(options.scheduler) as cluster:
            check_study_folder(out, record, cells)
            if study.attack is not None:
                _write_attacked(out, study, inputs)
            save_record(out, record, cells)
            ending = _run(options, study, cells, out, cluster)
            save_record(out, record, cells)
            folder = StudyFolder.open(out)
            if folder.finished:
                shares = available_shares(inputs.geography)
                write_summary(folder, {name: shares[name] for name in judged_shares(shares)})
    except Timeout as error:
        raise DataError(
            "sweep_goes_on", f"Another sweep is writing to {out}.", remedy="Wait for its end, or end it."
        ) from error
    _tell(ending, cells, options.out, again)
    return 0 if len(ending.finished) == len(cells) else 1


def _inputs_parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(add_help=False)
    add_input_options(parser)
    return parser


def _given_inputs(options: argparse.Namespace) -> dict[str, Any]:
    """The inputs that stand on the command line."""
    defaults = vars(_inputs_parser().parse_args([]))
    return {
        name: getattr(options, name) for name, value in defaults.items() if getattr(options, name) != value
    }


def _words(options: argparse.Namespace) -> list[str]:
    """The options of the command line that enter the same inputs, and the same cluster, again."""
    words = option_words(_inputs_parser(), options)
    words += [f"--start={each}" for each in options.start or []]
    return words if options.scheduler is None else [*words, "--scheduler", options.scheduler]


def _write_attacked(out: Path, study: Study, inputs: Inputs) -> None:
    """Write the testimonies of the attacked cells, unless they are there."""
    from bottomup.dashboard.study_attack import change_of, write_submitted

    assert study.attack is not None  # asked before
    options = study.parsed(study.cells(out)[0])
    n_districts = options.districts if inputs.enacted is None else inputs.enacted.n_districts
    change = change_of(inputs, n_districts, study.attack["cluster"], study.attack["adversary_seed"])
    print(f"Attack: {change.words}", flush=True)
    if not (out / ATTACKED).exists():
        write_submitted(out / ATTACKED, inputs.geography, change.after)


def _run(
    options: argparse.Namespace, study: Study, cells: Sequence[Cell], out: Path, cluster: Cluster | None
) -> "Ending":
    from bottomup.dashboard.sweep_cells import run_cells

    shared = study.parsed(cells[0])
    n_starts = shared.chains or max(2, 1 + len(shared.start))

    def at_a_time() -> int:
        if cluster is None:
            return options.processes or os.cpu_count() or 1
        # As many as keep all workers busy while one of them writes; each has a task for every start.
        return 1 + -(-cluster.n_threads // n_starts)

    with stopping() as is_stopped:
        # Compiled once, and not by every process at the same time; the number of units only weighs the moves.
        prepare_walk(shared.step, choose_mixture(moves_of(shared), 1000))
        print(f"{count(len(cells), 'cell')}, {min(at_a_time(), len(cells))} at a time", flush=True)
        return run_cells(cells, out, study.base, at_a_time, is_stopped, options.scheduler)


def _tell(ending: "Ending", cells: Sequence[Cell], out: Path, again: str) -> None:
    n_left = len(cells) - len(ending.finished) - len(ending.failed)
    print(f"{len(ending.finished)} of {count(len(cells), 'cell')} finished; their runs are in {out}")
    if ending.failed:
        failed = ", ".join(ending.failed)
        print(f"Failed: {failed}. To have a cell made anew, remove its folder")
    if n_left or ending.failed:
        print(f"To go on: {again}")
