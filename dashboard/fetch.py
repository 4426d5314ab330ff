"""The command ``bottomup fetch``: public files of a state, and what they become."""

import argparse
import os
import shlex
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from bottomup.data.errors import DataError
from bottomup.data.sources import LOCK_FILE, Source, State, find_state, sources_of

if TYPE_CHECKING:
    from bottomup.data.census import Figures
    from bottomup.data.fetch import Downloads
    from bottomup.data.resuming import Progress

__all__ = ["add_fetch"]

MIRROR = "BOTTOMUP_MIRROR"
EXAMPLE = "missouri"


def add_fetch(commands: argparse._SubParsersAction) -> None:
    """Add the command to the command line."""
    parser = commands.add_parser(
        "fetch",
        help="bring the public files of a state, and make units, plans and testimonies of them",
        description="Brings Census units with their people and the districts of Congress, for Missouri also "
        "the districts of 2025 and the public's testimonies. Run again, it goes on where it was cut, and "
        "fetches nothing twice. Status 0: all there; 1: something could not be had or used; "
        "2: the options cannot be used.",
    )
    parser.add_argument("state", nargs="?", metavar="STATE", help="name, postal code or FIPS code of a state")
    parser.add_argument("--out", type=Path, metavar="DIR", help="folder to fill (default: the state's name)")
    parser.add_argument("--list", action="store_true", help="show the sources; nothing is fetched")
    parser.add_argument(
        "--mirror",
        metavar="URL",
        help=f"fetch from another server that has the same paths (default: the environment's {MIRROR})",
    )
    parser.set_defaults(run=_fetch)


def _fetch(options: argparse.Namespace) -> int:
    if options.list:
        _show_sources(find_state(options.state or EXAMPLE))
        return 0
    if options.state is None:
        raise ValueError(f"name a state, such as {EXAMPLE}, MO or 29; --list shows the sources")
    # Imported here: nothing of the network is needed before.
    from bottomup.data.fetch import Downloads

    state = find_state(options.state)
    folder = options.out or Path(state.name.lower().replace(" ", "-"))
    folder.mkdir(parents=True, exist_ok=True)
    downloads = Downloads(folder, _bar, options.mirror or os.environ.get(MIRROR))
    sources = sources_of(state)
    there = {source.name for source in sources if _bring(source, downloads)}
    made = _make(sources, there, downloads, folder)
    if made:
        _show_next(sources, made)
    missing = [
        source.name
        for source in sources
        if source.name not in there or (source.kind != "figures" and source.name not in made)
    ]
    if missing:
        print(f"\nNot there: {', '.join(missing)}; the reasons are above.", file=sys.stderr)
    return 1 if missing else 0


def _bring(source: Source, downloads: "Downloads") -> bool:
    """Fetch the files of a source and say whose they are; return whether all are there."""
    print(f"\n{source.name}: {source.title}")
    print(f"  Citation: {source.citation}\n  Licence: {source.licence}")
    if source.note:
        print(f"  {source.note}")
    sys.stdout.flush()
    try:
        for file in source.files:
            how = "fetched" if downloads.fetch(file) else "already there"
            print(f"  {file.name}: {how}, {downloads.path(file).stat().st_size:,} bytes")
    except DataError as error:
        _complain(error)
        return False
    return True


def _make(
    sources: tuple[Source, ...], there: set[str], downloads: "Downloads", folder: Path
) -> dict[str, Path]:
    """Make what the sources become; return the files by the names of their sources."""
    from bottomup.data import census

    made: dict[str, Path] = {}
    figures: Figures | None = None
    print()
    # Units wait for their figures.
    for source in sorted(sources, key=lambda source: source.kind != "figures"):
        if source.name not in there:
            continue
        path, out = downloads.path(source.files[0]), folder / source.becomes
        try:
            if source.kind == "figures":
                figures = census.read_figures(path)
                continue
            if source.kind == "units":
                if figures is None:
                    print(f"{out}: not made, for the figures of its units are not there", file=sys.stderr)
                    continue
                what = census.make_units(path, figures, source.summary_level, out)
            elif source.kind == "plan":
                what = census.make_plan(path, source.column, out)
            else:
                what = census.make_testimonies(path, source.column, out)
        except DataError as error:
            _complain(error)
            continue
        made[source.name] = out
        print(f"{out}: {what}")
    return made


def _show_next(sources: tuple[Source, ...], made: dict[str, Path]) -> None:
    """Say which commands to go on with."""
    of_kind: dict[str, list[Path]] = {"units": [], "plan": [], "testimonies": []}
    for source in sources:
        if source.name in made:
            of_kind[source.kind].append(made[source.name])
    if not of_kind["units"]:
        return
    # The latest plan stands last.
    units, plans, testimonies = of_kind["units"], of_kind["plan"][::-1], of_kind["testimonies"]
    rest = [f"--plan {shlex.quote(str(plans[0]))}"] if plans else []
    rest += [f"--testimonies {shlex.quote(str(path))}" for path in testimonies]
    first = shlex.quote(str(units[0]))
    print("\nNext:")
    print(f"  {' '.join(['bottomup check', first, *rest])}")
    print(f"  {' '.join(['bottomup serve --units', first, *rest])}")
    others = [str(path) for path in (*units[1:], *plans[1:])]
    if others:
        print(f"In their places may stand {', '.join(others)}.")
    if not testimonies:
        print("Testimonies are yours to bring: --testimonies FILE.")


def _show_sources(state: State) -> None:
    print(f"Sources for {state.name} (FIPS {state.fips}, {state.postal})")
    for source in sources_of(state):
        print(f"\n{source.name}: {source.title}")
        print(f"  Becomes: {source.becomes}")
        print(f"  Citation: {source.citation}\n  Licence: {source.licence}")
        if source.note:
            print(f"  {source.note}")
        for file in source.files:
            size = "size unknown" if file.n_bytes is None else f"{file.n_bytes:,} bytes"
            checksum = file.checksum or f"recorded in {LOCK_FILE} when it first comes"
            print(f"  {file.address}\n    {file.name}, {size}, checksum {checksum}")


def _complain(error: DataError) -> None:
    sys.stdout.flush()
    print(f"bottomup fetch: {error}", file=sys.stderr)


def _bar(name: str, n_all: int | None, n_there: int) -> "Progress":
    from tqdm import tqdm

    # Where nobody watches, in a log, no bar.
    return tqdm(
        desc=f"  {name}", total=n_all, initial=n_there, unit="B", unit_scale=True, leave=False, disable=None
    )
