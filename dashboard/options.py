"""The options that commands and the page share, and how the inputs that they name are read."""

import argparse
import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import NamedTuple

import geopandas
import pandas as pd

from bottomup.data.changes import deduplicate
from bottomup.data.clusters import cluster_as
from bottomup.data.electorate import Votes
from bottomup.data.errors import DataError
from bottomup.data.geography import Files, Geography, read_geography
from bottomup.data.plans import Plan, load_plan
from bottomup.data.repairs import read_repairs
from bottomup.data.testimonies import Testimonies, read_testimonies
from bottomup.sampler.sensitivity import Weighting

__all__ = [
    "LEDGER_FILE",
    "Inputs",
    "Known",
    "add_input_options",
    "add_map_options",
    "add_page_options",
    "add_score_options",
    "check_score_options",
    "files_of",
    "load_inputs",
    "load_map",
    "name_options",
    "option_words",
    "page_arguments",
    "parse_page_options",
    "read_enacted",
    "read_submitted",
    "weighting_of",
]

LEDGER_FILE = "bottomup-ledger.csv"
"""Where releases are written when no other file is named."""
DEMO_PLAN = "cd2025"
# What errors call arguments of functions is an option here, or cannot be given.
_OPTIONS = {
    "id_column": "--id",
    "population_column": "--population",
    "voting_age_column": "--voting-age",
    "district_column": "--plan-column",
}
_NO_OPTION = re.compile(r", or name it with (testimony|unit|cluster)_column")


@dataclass(frozen=True, eq=False)
class Inputs:
    """What a run starts from, read and checked.

    Attributes
    ----------
    geography : Geography
    enacted : Plan or None
        The plan in force: the start of every chain and the red line of every chart.
    plans : dict of str to Plan
        Every plan that may stand as the enacted one, by name; holds ``enacted``.
    testimonies : Testimonies or None
    counties : geopandas.GeoDataFrame or None
        Outlines for the map, EPSG:4326.
    towns : pandas.DataFrame or None
        ``name``, ``lon``, ``lat`` and ``population``, for labels on the map.
    note : str
        What is real and what is drawn; empty for the user's own files.
    repair_plan : bool
        Whether walks may start from the nearest valid plan where one that is named cannot be a start.
    """

    geography: Geography
    enacted: Plan | None
    plans: dict[str, Plan]
    testimonies: Testimonies | None = None
    counties: geopandas.GeoDataFrame | None = None
    towns: pd.DataFrame | None = field(default=None)
    note: str = ""
    repair_plan: bool = False


class Known(NamedTuple):
    """What has been read of the inputs that options name; None for what has not, or could not be.

    A plan and testimonies are known only together with the map that they are about.
    """

    geography: Geography | None = None
    enacted: Plan | None = None
    testimonies: Testimonies | None = None


def add_input_options(parser: argparse.ArgumentParser) -> None:
    """Add the options that name the inputs to ``parser``."""
    group = parser.add_argument_group("inputs", "Without --units the demonstration state is used.")
    add_map_options(group)
    group.add_argument(
        "--plan",
        metavar="COLUMN|FILE",
        help="the enacted plan: a column, a table of unit or Census block and district, or a GIS file of "
        "districts",
    )
    group.add_argument(
        "--plan-column", metavar="COLUMN", help="column of districts in the file of the plan (guessed)"
    )
    group.add_argument(
        "--repair-plan",
        action="store_true",
        help="where a plan cannot be a start, start from the nearest one that can; units without a district "
        "take that of their neighbours",
    )
    group.add_argument(
        "--testimonies",
        metavar="FILE|FOLDER",
        help="CSV (testimony, unit[, cluster]; or wide, of 1 and 0), GIS polygons, plans of Districtr, files "
        "of Representable and portals, block tables, or a folder of any of these",
    )
    group.add_argument(
        "--crosswalk",
        metavar="FILE",
        help="CSV (unit_of_testimony, unit_of_map[, weight]) for testimonies in units of another map",
    )
    group.add_argument(
        "--clusters",
        metavar="COLUMN|FILE|hausdorff:N[:LINKAGE]",
        help="clusters from public geography: a column of the units, such as their county, or a GIS file of "
        "polygons; each testimony goes to the zone that holds most of its people. Or hausdorff:N, N clusters "
        "of near testimonies, with average linkage or that of hausdorff:N:single and hausdorff:N:complete",
    )
    group.add_argument(
        "--deduplicate", action="store_true", help="let testimonies of the same units count once"
    )


def add_map_options(group: argparse._ArgumentGroup) -> None:
    """Add the options that name the map to ``group``."""
    group.add_argument("--demo", action="store_true", help="use the demonstration state")
    group.add_argument(
        "--units", metavar="FILE", help="GIS file, dual graph in JSON, or CSV of units (then with --edges)"
    )
    group.add_argument(
        "--edges", metavar="FILE", help="CSV of pairs of units that share a boundary, or a dual graph in JSON"
    )
    group.add_argument(
        "--shapes", metavar="FILE", help="GIS file with the outlines of the units of a CSV or a graph"
    )
    group.add_argument("--id", metavar="COLUMN", help="column of unit ids (guessed when not given)")
    group.add_argument("--population", metavar="COLUMN", help="column of people (guessed when not given)")
    group.add_argument(
        "--voting-age", metavar="COLUMN", help="column of people of voting age (guessed when not given)"
    )
    group.add_argument(
        "--group",
        action="append",
        default=[],
        metavar="NAME=COLUMN",
        help="column of the people of voting age of a group; may be given again (common ones are found)",
    )
    group.add_argument(
        "--election",
        action="append",
        default=[],
        metavar="NAME=DEM_COLUMN,REP_COLUMN",
        help="columns of the votes of an election; may be given again (common ones are found)",
    )
    group.add_argument(
        "--repairs", metavar="FILE", help="log of repairs to the map, which `bottomup check` writes"
    )
    group.add_argument("--name", metavar="TEXT", help="name of the map, used in titles and file names")


def add_page_options(parser: argparse.ArgumentParser) -> None:
    """Add the options of a page to ``parser``: its inputs, and where it writes releases down."""
    add_input_options(parser)
    parser.add_argument(
        "--ledger",
        metavar="FILE",
        default=LEDGER_FILE,
        help="CSV in which every released plan is written down before it is saved (default: %(default)s in "
        "the current folder)",
    )
    # Panel takes --session for its own, even behind --args.
    parser.add_argument(
        "--session",
        "--session-file",
        dest="session_file",
        metavar="FILE",
        help="open a saved session without sampling; its own inputs are read where no others are named",
    )
    parser.add_argument(
        "--study",
        metavar="FOLDER",
        help="open the runs of a study that `bottomup sweep` has made, without sampling; its own inputs are "
        "read where no others are named",
    )
    parser.add_argument(
        "--visitors",
        metavar="N",
        type=_at_least_one,
        help="to how many people at once the page is shown (default: as many as fit into half of the "
        "memory, 12 at most)",
    )


def _at_least_one(text: str) -> int:
    if not text.isdecimal() or int(text) < 1:
        raise argparse.ArgumentTypeError(f"must be a whole number, 1 or more; got {text!r}")
    return int(text)


def add_score_options(parser: argparse.ArgumentParser) -> None:
    """Add the options that say what testimony counts for to ``parser``."""
    parser.add_argument(
        "--score",
        choices=["testimony", "cluster"],
        default="testimony",
        help="what to keep together: testimonies as wholes (default), or clusters by their shares",
    )
    parser.add_argument(
        "--epsilon",
        type=float,
        default=0.0,
        help="how much testimony may count, per released plan; 0 leaves it out (default)",
    )
    add_weighting_options(parser)


def add_weighting_options(parser: argparse.ArgumentParser) -> None:
    """Add the options that say how testimonies weigh in their clusters to ``parser``."""
    parser.add_argument(
        "--weighting",
        choices=["coverage", "mass"],
        default="coverage",
        help="a testimony's weight in its cluster: 1 on each of its units (coverage, default), or 1 in all "
        "(mass), whose sensitivity does not look at the data",
    )
    parser.add_argument(
        "--cap",
        type=int,
        metavar="UNITS",
        help="with coverage, the most that a testimony may weigh; a public number, so the sensitivity is too",
    )


def weighting_of(options: argparse.Namespace) -> Weighting:
    """How testimonies weigh in their clusters, as the options of `add_weighting_options` say.

    Raises
    ------
    ValueError
        When they contradict each other.
    """
    weighting = Weighting(options.weighting, options.cap)
    weighting.check()
    return weighting


def check_score_options(options: argparse.Namespace) -> None:
    """Refuse testimony that is to count and is not given.

    Raises
    ------
    ValueError
        Naming the options.
    """
    if options.epsilon > 0 and options.units is not None and options.testimonies is None:
        raise ValueError(f"--epsilon {options.epsilon:g} needs --testimonies, or leave it out")


def parse_page_options(arguments: Sequence[str] | None = None) -> argparse.Namespace:
    """Read the options of a page from ``arguments`` (default: the command line)."""
    parser = argparse.ArgumentParser(prog="panel serve dashboard/app.py --args", description=__doc__)
    add_page_options(parser)
    return parser.parse_args(arguments)


def page_arguments(options: argparse.Namespace) -> list[str]:
    """Return the command line that gives the same options of a page again."""
    parser = argparse.ArgumentParser()
    add_page_options(parser)
    return option_words(parser, options)


def option_words(parser: argparse.ArgumentParser, options: argparse.Namespace) -> list[str]:
    """Return the command line that gives the options that a parser knows again."""
    arguments = []
    for name in vars(parser.parse_args([])):
        value = getattr(options, name)
        if value is True:
            arguments.append(_option(name))
        elif isinstance(value, list):
            # In one word, so that what begins with a dash is no option.
            arguments += [f"{_option(name)}={each}" for each in value]
        elif value:
            arguments += [_option(name), str(value)]
    return arguments


def _option(name: str) -> str:
    return f"--{name.replace('_', '-')}"


def load_inputs(
    options: argparse.Namespace, *, needs_plan: bool = True, known: Known | None = None
) -> Inputs:
    """Read and check the inputs that ``options`` name.

    Parameters
    ----------
    options : argparse.Namespace
        With the attributes of `add_input_options`.
    needs_plan : bool
        Whether own files must come with an enacted plan; without one, ``enacted`` is None.
    known : Known, optional
        What has been read already and is not read again.

    Raises
    ------
    DataError
        When a file fails a check, or options contradict each other.
    """
    with _naming_options():
        if options.units is None:
            return _load_demo(options)
        inputs = _load_files(options, needs_plan, known or Known())
        if inputs.testimonies is None:
            _refuse_unused(options, ("crosswalk", "clusters", "deduplicate"), "--testimonies")
        return inputs


def files_of(options: argparse.Namespace) -> Files:
    """What the options say about the map; repairs chosen on the command line come after those of the log."""
    logged = () if options.repairs is None else read_repairs(options.repairs)
    chosen = getattr(options, "chosen_repairs", ())
    return Files(
        units=options.units,
        edges=options.edges,
        shapes=options.shapes,
        id_column=options.id,
        population_column=options.population,
        repairs=(*logged, *chosen),
        voting_age_column=options.voting_age,
        groups={name: columns[0] for name, columns in _named_columns("--group", options.group, 1)},
        elections={
            name: Votes(columns[0], columns[1])
            for name, columns in _named_columns("--election", options.election, 2)
        },
    )


def _named_columns(option: str, given: Sequence[str], n_columns: int) -> Iterator[tuple[str, list[str]]]:
    """Take names and their columns apart."""
    for text in given:
        name, _, rest = text.partition("=")
        columns = [column.strip() for column in rest.split(",", n_columns - 1)]
        if not name.strip() or not all(columns) or len(columns) < n_columns:
            form = "NAME=COLUMN" if n_columns == 1 else "NAME=DEM_COLUMN,REP_COLUMN"
            raise DataError(
                "options",
                f"{option} {text!r} does not say which {'column' if n_columns == 1 else 'columns'} to take.",
                remedy=f"Write {option} {form!r}.",
            )
        yield name.strip(), columns


def read_submitted(options: argparse.Namespace, geography: Geography) -> Testimonies | None:
    """Read the testimonies that the options name, clustered and counted as they say; None for none."""
    if options.testimonies is None:
        return None
    testimonies = read_testimonies(options.testimonies, geography, crosswalk=options.crosswalk)
    return _arrange(testimonies, options, geography)


def _arrange(testimonies: Testimonies, options: argparse.Namespace, geography: Geography) -> Testimonies:
    if options.clusters is not None:
        testimonies = cluster_as(options.clusters, testimonies, geography)
    return deduplicate(testimonies) if options.deduplicate else testimonies


def name_options(remedy: str) -> str:
    """Let advice name options where it names arguments of Python."""
    remedy = _NO_OPTION.sub("", remedy)
    for argument, option in _OPTIONS.items():
        remedy = remedy.replace(argument, option)
    return remedy


@contextmanager
def _naming_options() -> Iterator[None]:
    """Let errors name options where they name arguments of Python."""
    try:
        yield
    except DataError as error:
        remedy = name_options(error.remedy)
        raise DataError(error.code, error.message, remedy=remedy, units=error.units) from error


def _load_files(options: argparse.Namespace, needs_plan: bool, known: Known) -> Inputs:
    if options.demo:
        raise DataError(
            "options",
            "--demo and --units were both given.",
            remedy="Give --demo for the demonstration state, or --units for your own files.",
        )
    if options.plan is None and needs_plan:
        raise DataError(
            "options",
            "--units was given without --plan.",
            remedy="Name the enacted plan: a column of the units file, or a two-column CSV. Without one, "
            "`bottomup sample` makes a start with the number of --districts that you give.",
        )
    geography, enacted, testimonies = known
    if geography is None:
        geography = _read_units(options)
    if options.plan is None:
        _refuse_unused(options, ("plan_column",), "--plan")
    elif enacted is None:
        enacted = read_enacted(options, geography)
    if testimonies is None:
        testimonies = read_submitted(options, geography)
    plans = {} if enacted is None else {enacted.name: enacted}
    return Inputs(
        geography, enacted, plans, testimonies, note=geography.note, repair_plan=options.repair_plan
    )


def read_enacted(options: argparse.Namespace, geography: Geography) -> Plan:
    """Read the plan that the options name."""
    return load_plan(
        options.plan,
        geography,
        district_column=options.plan_column,
        fill_missing=options.repair_plan,
    )


def load_map(options: argparse.Namespace) -> Geography:
    """Read the map that the options of `add_map_options` name."""
    if options.units is None:
        from bottomup.data.demo import load_demo

        return load_demo().geography
    with _naming_options():
        return _read_units(options)


def _read_units(options: argparse.Namespace) -> Geography:
    files = files_of(options)
    return read_geography(
        files.units,
        edges=files.edges,
        shapes=files.shapes,
        id_column=files.id_column,
        population_column=files.population_column,
        voting_age_column=files.voting_age_column,
        groups=files.groups,
        elections=files.elections,
        name=options.name,
        repairs=files.repairs,
    )


def _them(names: Sequence[str]) -> str:
    return "it" if len(names) == 1 else "these"


def _refuse_unused(options: argparse.Namespace, names: Sequence[str], needed: str) -> None:
    unused = [_option(name) for name in names if getattr(options, name)]
    if unused:
        instead = " for the demonstration state" if needed == "--units" else ""
        raise DataError(
            "options",
            f"{', '.join(unused)} given without {needed}.",
            remedy=f"Name the file with {needed}, or leave {_them(unused)} out{instead}.",
        )


def _load_demo(options: argparse.Namespace) -> Inputs:
    of_units = ("edges", "shapes", "id", "population", "voting_age", "group", "election", "repairs", "name")
    _refuse_unused(options, of_units, "--units")
    # Imported here: reading one's own files needs nothing of the demonstration.
    from bottomup.data.demo import load_demo

    demo = load_demo()
    plans = dict(demo.plans)
    name = options.plan or DEMO_PLAN
    if name not in plans:
        enacted = read_enacted(options, demo.geography)
        plans[enacted.name] = enacted
        name = enacted.name
    testimonies = read_submitted(options, demo.geography)
    if testimonies is None:
        testimonies = _arrange(demo.testimonies, options, demo.geography)
    return Inputs(
        demo.geography,
        plans[name],
        plans,
        testimonies,
        demo.counties,
        demo.towns,
        demo.note,
        options.repair_plan,
    )
