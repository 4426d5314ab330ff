"""The command ``bottomup``: fetch and check files, verify the walk, sample, serve the page, measure speed."""

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path

from bottomup.dashboard.attack import add_attack
from bottomup.dashboard.bench import add_bench
from bottomup.dashboard.check import add_check
from bottomup.dashboard.export import add_export
from bottomup.dashboard.fetch import add_fetch
from bottomup.dashboard.options import add_page_options, page_arguments
from bottomup.dashboard.sample import add_sample
from bottomup.dashboard.study_report import add_report
from bottomup.dashboard.sweep import add_sweep
from bottomup.dashboard.verify import add_verify
from bottomup.dashboard.walk_options import choose_mixture, prepare_walk
from bottomup.data.errors import DataError

__all__ = ["main"]

# Where the map is not known yet, its number of units only weighs the moves, all of which are compiled.
_USUAL_UNITS = 5000


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line; return the exit status.

    Status 0 means done (for ``verify``: passed; for ``check``: fit to run; for ``fetch``: all there), 1 that
    a verification failed, findings must be settled, a file could not be had, a run of a sweep failed or an
    interrupt ended the run, 2 that the options or the files cannot be used; the reason is then on standard
    error.
    """
    parser = argparse.ArgumentParser(
        prog="bottomup",
        description="Ensembles of district plans that keep communities of interest together.",
    )
    commands = parser.add_subparsers(dest="command", required=True, metavar="COMMAND")
    add_fetch(commands)
    add_check(commands)
    add_verify(commands)
    add_sample(commands)
    add_sweep(commands)
    add_report(commands)
    add_attack(commands)
    add_export(commands)
    _add_serve(commands)
    add_bench(commands)
    options = parser.parse_args(arguments)
    try:
        return int(options.run(options))
    except (DataError, ValueError, OSError) as error:
        print(f"bottomup {options.command}: {error}", file=sys.stderr)
        return 2
    except KeyboardInterrupt:
        print(f"bottomup {options.command}: interrupted", file=sys.stderr)
        return 1


def _add_serve(commands: argparse._SubParsersAction) -> None:
    parser = commands.add_parser("serve", help="open the page in the browser")
    add_page_options(parser)
    parser.add_argument("--port", type=int, default=5006)
    parser.add_argument("--no-show", action="store_true", help="serve without opening a browser")
    parser.set_defaults(run=_serve)


def _serve(options: argparse.Namespace) -> int:
    from panel.command import main as run_panel

    from bottomup.dashboard.app import read_once
    from bottomup.dashboard.frozen import StoredStudy
    from bottomup.dashboard.local_paths import LOOPBACK, allow_paths
    from bottomup.dashboard.repairing import plan_sentences

    # Files are read, and the walk is compiled, before a browser opens. The page is served by this process:
    # what was read here is not read again.
    n_units = _USUAL_UNITS
    if options.study is not None:
        print(f"Reading the plans of the study in {options.study} ...", flush=True)
    try:
        served = read_once(options)
    except (DataError, OSError) as error:
        if getattr(error, "code", None) == "options":
            raise
        print(f"bottomup serve: {error}\n{_hint(options)}", file=sys.stderr, flush=True)
    else:
        inputs = served.prepared.inputs
        n_units = inputs.geography.n_units
        if served.saved is not None:
            rounds = served.saved.standing.rounds
            print(f"{served.saved.name}: {rounds:,} rounds on record, nothing is sampled.", flush=True)
            if isinstance(served.saved, StoredStudy):
                print("".join(f"{note}\n" for note in served.saved.notes), end="", flush=True)
        if inputs.enacted is not None:
            print("".join(f"{sentence}\n" for sentence in plan_sentences(inputs.enacted)), end="", flush=True)
    prepare_walk("mixed", choose_mixture("mixture", n_units))
    command = ["panel", "serve", str(Path(__file__).with_name("app.py")), "--port", str(options.port)]
    # Nobody else can reach the server, so that visitors may name files of this machine.
    command += ["--address", LOOPBACK]
    allow_paths()
    # A closed page is forgotten within seconds all the same. This is for one that is still on its way to a
    # slow browser.
    command += ["--unused-session-lifetime", "60000"]
    if not options.no_show:
        command.append("--show")
    # Panel reads the command line of the process, whatever it is called with.
    sys.argv = [*command, "--args", *page_arguments(options)]
    run_panel()
    return 0


def _hint(options: argparse.Namespace) -> str:
    page = "The page that opens shows the same, and takes other files."
    if options.units is None:
        return page
    check = "`bottomup check`, with the same files, lists all there is to say about them and takes repairs."
    return f"{check}\nThe page that opens shows the same, takes repairs too, and other files."
