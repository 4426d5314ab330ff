"""The command ``bottomup bench``: what each mixture of moves does in a second on this machine and map."""

import argparse
import json
import math
import sys
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, NamedTuple

from bottomup.dashboard.options import (
    Inputs,
    add_input_options,
    add_score_options,
    check_score_options,
    load_inputs,
    weighting_of,
)
from bottomup.data.errors import DataError

if TYPE_CHECKING:
    import numpy as np

    from bottomup.sampler.benchmark import Measurement
    from bottomup.sampler.diagnostics import Convergence
    from bottomup.sampler.problem import Problem

__all__ = ["add_bench"]

TREES = "random trees"
FOOTNOTE = """\
ESS/s: bulk effective sample size of both chains, per CPU second. +MB: most memory that a chain took with its
records, over what was there before. Of every row's CPU seconds the first half is left out as warming up."""
UNRELIABLE = """\
* not to be trusted: the chains disagree (R-hat of {:g} or more), or have drawn too little to tell."""


def add_bench(commands: argparse._SubParsersAction) -> None:
    """Add the command to the command line."""
    parser = commands.add_parser(
        "bench",
        help="measure speed, effective samples and memory, for each mixture of moves and tolerance",
        description="Runs two chains from unlike starts, the enacted plan and one made from random trees, "
        "for each mixture of moves and tolerance.",
    )
    add_input_options(parser)
    add_score_options(parser)
    parser.add_argument(
        "--tolerance",
        type=float,
        nargs="+",
        default=[0.05, 0.01],
        help="largest population deviations of a district to measure at (default: 0.05 0.01)",
    )
    parser.add_argument(
        "--compactness", type=float, default=0.005, help="weight of the cut edges (default: 0.005)"
    )
    parser.add_argument("--seconds", type=float, default=20.0, help="CPU seconds for each row (default: 20)")
    parser.add_argument("--json", action="store_true", help="print a list of objects in place of the table")
    parser.set_defaults(run=_bench)


class Row(NamedTuple):
    """A mixture at a tolerance, measured or with the reason why not."""

    mixture: str
    tolerance: float
    starts: tuple[str, ...]
    measurement: "Measurement | None"
    note: str


class Starts(NamedTuple):
    """Two unlike plans within the bounds."""

    lower: int
    upper: int
    plans: "list[np.ndarray]"
    names: tuple[str, ...]
    note: str


def _bench(options: argparse.Namespace) -> int:
    from bottomup.sampler.benchmark import compared_mixtures
    from bottomup.sampler.chain import warm_up
    from bottomup.sampler.problem import Problem

    if not (options.seconds > 0 and math.isfinite(options.seconds)):
        raise ValueError(f"--seconds must be a positive number; got {options.seconds:g}")
    check_score_options(options)
    inputs = load_inputs(options)
    problem = Problem.build(inputs.geography, inputs.testimonies, weighting_of(options))
    print("Preparing the walk (compiled the first time) ...", file=sys.stderr, flush=True)
    for mixture in compared_mixtures(problem.n_units).values():
        warm_up("mixed", mixture)
    rows: list[Row] = []
    if not options.json:
        _print_head(options, inputs)
    is_complete = False
    try:
        for row in _measure_rows(options, inputs, problem):
            if not options.json:
                _print_row(row, is_noted=bool(rows) and rows[-1].note == row.note)
            rows.append(row)
        is_complete = True
    except KeyboardInterrupt:
        pass
    if options.json:
        print(json.dumps([_describe(row, options, inputs) for row in rows], indent=2))
    else:
        _print_foot(rows)
    if not is_complete:
        print(f"Interrupted; rows measured before: {len(rows)}", file=sys.stderr)
    return 0 if is_complete else 1


def _measure_rows(options: argparse.Namespace, inputs: Inputs, problem: "Problem") -> Iterator[Row]:
    from bottomup.sampler.benchmark import compared_mixtures, measure
    from bottomup.sampler.statistics import evaluate_plan
    from bottomup.sampler.target import Target

    enacted = inputs.enacted
    assert enacted is not None  # load_inputs insists on one
    centre = evaluate_plan(problem, enacted.assignment, enacted.n_districts).cut_edges
    for tolerance in options.tolerance:
        try:
            starts, reason = _find_starts(inputs, problem, tolerance), ""
        except (DataError, ValueError) as error:
            starts, reason = None, str(error)
        for name, mixture in compared_mixtures(problem.n_units).items():
            if starts is None:
                yield Row(name, tolerance, (), None, reason)
                continue
            target = Target(
                n_districts=enacted.n_districts,
                lower=starts.lower,
                upper=starts.upper,
                compactness=options.compactness,
                cut_edges=centre,
                score=options.score,
                epsilon=options.epsilon,
            )
            found = measure(problem, target, starts.plans, mixture, options.seconds)
            yield Row(name, tolerance, starts.names, found, starts.note)


def _find_starts(inputs: Inputs, problem: "Problem", tolerance: float) -> Starts:
    """The enacted plan and one from trees; two from trees when the enacted plan is out of bounds.

    Raises
    ------
    DataError, StartError
        When there is no such plan.
    """
    from bottomup.dashboard.repairing import start_of
    from bottomup.data.plans import check_feasible, population_bounds
    from bottomup.sampler.start import make_start

    geography, enacted = inputs.geography, inputs.enacted
    assert enacted is not None  # load_inputs insists on one
    k = enacted.n_districts
    lower, upper = population_bounds(geography.total_population, k, tolerance)
    check_feasible(geography, k, lower, upper)
    made = make_start(problem, k, lower, upper, seed=1)
    try:
        start = start_of(inputs, enacted, lower, upper)
    except DataError as error:
        plans = [make_start(problem, k, lower, upper, seed=2), made]
        return Starts(lower, upper, plans, (TREES, TREES), f"not from the enacted plan: {error}")
    return Starts(lower, upper, [start.plan.assignment, made], (start.name, TREES), "")


def _print_head(options: argparse.Namespace, inputs: Inputs) -> None:
    geography, enacted = inputs.geography, inputs.enacted
    assert enacted is not None  # load_inputs insists on one
    print(
        f"{geography.name}: {geography.n_units:,} units, {enacted.n_districts} districts, {options.score} "
        f"score, epsilon {options.epsilon:g}, {options.seconds:g} CPU seconds a row\n"
    )
    score = f"{options.score} score"
    print(f"{'':<20}{'a CPU second':>22}{score:>18}{'cut edges':>18}{'memory':>14}{'CPU':>7}")
    print(
        f"{'mixture':<10}{'tolerance':>10}{'proposals':>12}{'accepted':>10}{'ESS/s':>10}{'R-hat':>8}"
        f"{'ESS/s':>10}{'R-hat':>8}{'MB':>7}{'+MB':>7}{'s':>7}",
        flush=True,
    )


def _print_row(row: Row, is_noted: bool) -> None:
    """Print a row, and below it its note unless that stands below the last row (``is_noted``)."""
    head, found = f"{row.mixture:<10}{row.tolerance:>10.2%}", row.measurement
    if found is None:
        print(f"{head}  no measurement: {row.note}", flush=True)
        return
    resident = "-" if found.resident is None else f"{found.resident:.0f}"
    print(
        f"{head}{found.proposals_per_second:>12,.0f}{found.accepted_per_second:>10,.0f}"
        f"{_mixing_columns(found.score)}{_mixing_columns(found.cut_edges)}"
        f"{resident:>7}{found.growth:>7.1f}{found.seconds:>7.1f}",
        flush=True,
    )
    if row.note and not is_noted:
        print(f"{'':<20}  {row.note}", flush=True)


def _mixing_columns(found: "Convergence | None") -> str:
    if found is None:
        return f"{'-':>10}{'-':>8}"
    per_second = found.ess_bulk_per_second
    rate = "-" if per_second is None or math.isnan(per_second) else f"{per_second:.3g}"
    r_hat = "-" if math.isnan(found.rhat) else f"{found.rhat:.2f}" if found.rhat < 100 else ">100"
    return f"{rate + (' ' if found.agrees() else '*'):>10}{r_hat:>8}"


def _print_foot(rows: list[Row]) -> None:
    from bottomup.sampler.diagnostics import RHAT_BELOW

    print(f"\n{FOOTNOTE}")
    both = [found for row in rows if (found := row.measurement) is not None]
    if any(
        part is not None and not part.agrees() for found in both for part in (found.score, found.cut_edges)
    ):
        print(UNRELIABLE.format(RHAT_BELOW))


def _describe(row: Row, options: argparse.Namespace, inputs: Inputs) -> dict[str, Any]:
    """One row for JSON: every row has every key, and null where there is no number."""
    found = row.measurement
    return {
        "map": inputs.geography.name,
        "n_units": inputs.geography.n_units,
        "mixture": row.mixture,
        "tolerance": row.tolerance,
        "score": options.score,
        "epsilon": options.epsilon,
        "starts": list(row.starts),
        "proposals_per_second": found and _number(found.proposals_per_second),
        "accepted_per_second": found and _number(found.accepted_per_second),
        **_mixing_keys("score", found and found.score),
        **_mixing_keys("cut_edges", found and found.cut_edges),
        "resident_megabytes": found and _number(found.resident),
        "megabytes_per_chain": found and _number(found.growth),
        "cpu_seconds": found and _number(found.seconds),
        "note": row.note,
    }


def _mixing_keys(name: str, found: "Convergence | None") -> dict[str, Any]:
    return {
        f"{name}_ess_per_second": found and _number(found.ess_bulk_per_second),
        f"{name}_r_hat": found and _number(found.rhat),
        f"{name}_ess_is_reliable": found and found.agrees(),
    }


def _number(value: float | None) -> float | None:
    """A number as JSON has it: neither nan nor infinity."""
    return float(f"{value:.6g}") if value is not None and math.isfinite(value) else None
