"""The command ``bottomup check``: what is wrong with files, which units it concerns, and what to do."""

import argparse
import json
import shutil
import textwrap
from collections.abc import Sequence
from pathlib import Path

from bottomup.dashboard.inspection import Inspection, inspect_inputs
from bottomup.dashboard.options import add_input_options
from bottomup.data.errors import DataError, count, list_some
from bottomup.data.findings import SEVERITIES, Finding
from bottomup.data.repairs import ACTIONS, choose_repairs, repairs_text

__all__ = ["add_check"]

_N_UNITS = 6
_LEAST_WIDTH, _MOST_WIDTH = 80, 140


def add_check(commands: argparse._SubParsersAction) -> None:
    """Add the command to the command line."""
    parser = commands.add_parser(
        "check",
        help="look at files before a run: what is wrong, which units it concerns, what to do",
        description="Looks at all inputs in one go and lists what must be settled before a run, what is "
        "worth a look, and what was read. Status 0: fit to run; 1: findings must be settled; 2: not "
        "readable.",
    )
    parser.add_argument("file", nargs="?", metavar="FILE", help="the units, as --units")
    add_input_options(parser)
    parser.add_argument(
        "--tolerance",
        type=float,
        default=0.05,
        help="largest population deviation of a district (default: 0.05, that is 5 %%)",
    )
    parser.add_argument("--districts", type=int, help="number of districts, when there is no --plan")
    parser.add_argument("--json", action="store_true", help="print a list of findings for programs")
    actions = "; ".join(f"{action}: {what}" for action, what in ACTIONS.items())
    parser.add_argument(
        "--repair",
        action="append",
        nargs="+",
        default=[],
        metavar=("ACTION", "ID"),
        help=f"a repair and the units it is about; may be given again, after those of --repairs. {actions}",
    )
    parser.add_argument(
        "--save-repairs",
        type=Path,
        metavar="FILE",
        help="write all repairs to a log, for --repairs of this and the other commands",
    )
    parser.set_defaults(run=_check)


def _check(options: argparse.Namespace) -> int:
    if options.file is not None:
        if options.units is not None:
            raise ValueError(f"the units were given twice: {options.file} and --units {options.units}")
        options.units = options.file
    if options.units is None:
        raise ValueError("name the file of units to look at")
    options.chosen_repairs = choose_repairs(options.repair)
    inspection = inspect_inputs(options, options.tolerance, options.districts)
    if options.save_repairs is not None:
        _save_repairs(options.save_repairs, inspection)
    if options.json:
        print(json.dumps([_plain(finding) for finding in inspection.findings], indent=2, ensure_ascii=False))
    else:
        _show(inspection)
        if options.save_repairs is not None:
            print(f"The repairs are in {options.save_repairs}; give it to other commands with --repairs.")
    return inspection.status


def _save_repairs(path: Path, inspection: Inspection) -> None:
    geography = inspection.geography
    if geography is None or not geography.repairs:
        raise DataError(
            "no_repairs",
            "there are no repairs to save"
            + ("" if geography is not None else ", for the map cannot be made out"),
            remedy="Choose some with --repair.",
        )
    path.write_text(repairs_text(geography.repairs), encoding="utf-8")


def _plain(finding: Finding) -> dict[str, object]:
    return {
        "code": finding.code,
        "severity": finding.severity,
        "units": list(finding.units),
        "message": finding.message,
        "remedy": finding.remedy,
    }


def _show(inspection: Inspection) -> None:
    geography = inspection.geography
    if geography is not None:
        print(
            f"{geography.name}: {count(geography.n_units, 'unit')}, "
            f"{count(geography.n_edges, 'pair')} of neighbours, "
            f"{count(geography.total_population, 'person', 'people')}"
        )
    width = min(max(shutil.get_terminal_size((110, 24)).columns, _LEAST_WIDTH), _MOST_WIDTH)
    what, units = int(width * 0.44), int(width * 0.2)
    widths = (what, units, width - what - units - 4)
    for severity, heading in SEVERITIES.items():
        rows = [finding for finding in inspection.findings if finding.severity == severity]
        if rows:
            print(f"\n{heading.upper()}")
            _print_row(("What", "Which", "What to do"), widths)
            for finding in rows:
                print("-" * width)
                _print_row((_sentence(finding.message), _which(finding.units), finding.remedy), widths)
    print(f"\n{inspection.verdict()}")


def _which(units: Sequence[str]) -> str:
    return f"{len(units):,}: {list_some(units, _N_UNITS)}" if units else ""


def _sentence(message: str) -> str:
    return f"{message[:1].upper()}{message[1:].rstrip('.')}."


def _print_row(cells: Sequence[str], widths: Sequence[int]) -> None:
    wrapped = [textwrap.wrap(cell, width) or [""] for cell, width in zip(cells, widths, strict=True)]
    for row in range(max(map(len, wrapped))):
        line = [
            (column[row] if row < len(column) else "").ljust(width)
            for column, width in zip(wrapped, widths, strict=True)
        ]
        print("  ".join(line).rstrip())
