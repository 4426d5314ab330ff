"""A visitor's own files: which columns they have, what is to be done with them, and the look at all of it."""

import argparse
import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from bottomup.dashboard.inspection import Inspection, inspect_inputs
from bottomup.dashboard.offers import Offer, offers_of, word_for_page
from bottomup.dashboard.options import load_inputs, parse_page_options
from bottomup.dashboard.prepared import Prepared, prepare
from bottomup.dashboard.uploads import unpack_folder
from bottomup.data.geography import POPULATION_COLUMNS
from bottomup.data.graph_files import read_graph
from bottomup.data.identifiers import ID_COLUMNS
from bottomup.data.plan_columns import find_district_column
from bottomup.data.polygons import peek_columns
from bottomup.data.repairs import Repair
from bottomup.data.tables import find_column, flatten_records, is_table, read_table

__all__ = [
    "Checked",
    "Columns",
    "Stopped",
    "check_files",
    "needs_edges",
    "page_options",
    "prepare_own",
    "read_columns",
    "word_outcome",
]

# Reading takes memory and a whole core: visitors wait for one another.
_TURN = threading.Lock()
_LOOK_SECONDS = 0.2


class Stopped(Exception):
    """Nobody waits for the outcome any more."""


@dataclass(frozen=True)
class Columns:
    """The columns of a file of units, and what their names say.

    Attributes
    ----------
    names : tuple of str
    id, population, plan : str
        Empty when no name gives them away.
    """

    names: tuple[str, ...] = ()
    id: str = ""
    population: str = ""
    plan: str = ""


@dataclass(frozen=True, eq=False)
class Checked:
    """What a look at the files brought.

    Attributes
    ----------
    options : argparse.Namespace
        That it was about.
    inspection : Inspection
        Its findings name the fields of the page.
    offers : tuple of Offer
        Repairs that the findings offer.
    """

    options: argparse.Namespace
    inspection: Inspection
    offers: tuple[Offer, ...] = ()

    @property
    def is_fit(self) -> bool:
        """Whether the page can be opened; what there is to settle about a plan, the page says as well."""
        known = self.inspection.known
        return self.inspection.map_is_fit and known.enacted is not None and known.testimonies is not None

    @property
    def repairs(self) -> tuple[Repair, ...]:
        """The log: repairs as they were made, or as they were chosen where no map can be made out."""
        geography = self.inspection.geography
        chosen: tuple[Repair, ...] = getattr(self.options, "chosen_repairs", ())
        return chosen if geography is None else geography.repairs


def needs_edges(path: str | Path) -> bool:
    """Whether units in such a file may come without outlines or neighbours."""
    return is_table(path) or Path(path).suffix.lower() == ".json"


def read_columns(path: str | Path) -> Columns:
    """Read the columns of a file of units.

    Raises
    ------
    DataError
        When it cannot be read.
    """
    graph = read_graph(path)
    if graph is not None:
        table = graph.attributes
    else:
        table = read_table(path) if is_table(path) else peek_columns(path)
    names = [str(name) for name in flatten_records(table).columns if str(name)]
    return Columns(
        tuple(names),
        graph.id_column() if graph is not None else find_column(names, ID_COLUMNS) or "",
        find_column(names, POPULATION_COLUMNS) or "",
        # Units have names of their own, which in a file of districts would be those of districts.
        find_district_column([name for name in names if not _is_name(name)], None, path) or "",
    )


def _is_name(column: str) -> bool:
    return column.lower().startswith(("name", "label"))


def page_options(
    *, ledger: str, chosen: Sequence[Repair] = (), repair_plan: bool = False, **named: str
) -> argparse.Namespace:
    """Return the options of a page on a visitor's files.

    Parameters
    ----------
    ledger : str
        Where releases are written.
    chosen : sequence of Repair
        On the page, beside those of a log.
    repair_plan : bool
        Whether walks may start from the nearest plan that can be a start.
    **named : str
        Options of `bottomup.dashboard.options.add_input_options`; empty ones are not given.
    """
    options = parse_page_options([])
    options.ledger = ledger
    options.chosen_repairs = tuple(chosen)
    options.repair_plan = repair_plan
    for name, value in named.items():
        setattr(options, name, value or None)
    return options


def check_files(
    options: argparse.Namespace, tell: Callable[[str], None], is_stopped: Callable[[], bool]
) -> Checked:
    """Look at all files; for a thread of its own.

    Raises
    ------
    Stopped
        When nobody waits any more.
    DataError
        When an archive cannot be unpacked.
    """

    def say(words: str) -> None:
        if is_stopped():
            raise Stopped
        tell(words)

    while not _TURN.acquire(timeout=_LOOK_SECONDS):
        say("Waiting for another visitor's files to be read …")
    try:
        options = argparse.Namespace(**vars(options))
        if options.testimonies is not None:
            say("Unpacking the testimonies …")
            options.testimonies = str(unpack_folder(options.testimonies))
        inspection = inspect_inputs(options, tell=say)
    finally:
        _TURN.release()
    return word_outcome(options, inspection)


def word_outcome(options: argparse.Namespace, inspection: Inspection) -> Checked:
    """Say in the words of the page what an inspection found, and what repairs it offers."""
    findings = tuple(word_for_page(finding) for finding in inspection.findings)
    return Checked(options, replace(inspection, findings=findings), offers_of(inspection.findings))


def prepare_own(checked: Checked) -> Prepared:
    """Work out the page's inputs from files that were looked at; for a thread of its own.

    Raises
    ------
    DataError
        When they cannot be used.
    """
    with _TURN:
        inputs = load_inputs(checked.options, known=checked.inspection.known)
        return prepare(inputs, checked.inspection.findings)
