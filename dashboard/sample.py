"""The command ``bottomup sample``: chains or ladders without a page, their plans in a folder."""

import argparse
import itertools
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from tqdm import tqdm

from bottomup.dashboard.options import (
    add_input_options,
    check_score_options,
    load_inputs,
    weighting_of,
)
from bottomup.dashboard.starting import (
    Starts,
    add_law_options,
    check_plan_options,
    find_starts,
    hopeless_sentence,
    stopping,
)
from bottomup.dashboard.walk_options import add_walk_options, choose_mixture, moves_of, prepare_walk

if TYPE_CHECKING:
    import numpy as np

    from bottomup.sampler.problem import Problem
    from bottomup.sampler.recording import Source
    from bottomup.sampler.target import Target
    from bottomup.sampler.types import Mixture

__all__ = ["add_sample"]


def add_sample(commands: argparse._SubParsersAction) -> None:
    """Add the command to the command line."""
    parser = commands.add_parser(
        "sample",
        help="sample plans from unlike starts without a page and write them to a folder",
        description="Runs chains from unlike starts, the enacted plan first, writes their plans to a folder "
        "and says whether the chains agree.",
    )
    add_input_options(parser)
    add_walk_options(parser)
    add_law_options(parser)
    group = parser.add_argument_group("chains")
    group.add_argument(
        "--chains",
        type=int,
        metavar="N",
        help="chains, or ladders with --exchange, each from a start of its own (default: 2, or as many as "
        "plans are given)",
    )
    group.add_argument(
        "--start",
        action="append",
        default=[],
        metavar="COLUMN|FILE",
        help="a further plan to start from, beside --plan; may be given again. The other chains start from "
        "plans that are made from random trees",
    )
    group.add_argument(
        "--steps",
        type=int,
        default=2_000_000,
        help="steps of each chain, or of each rung of a ladder after its burn-in (default: 2000000)",
    )
    group.add_argument(
        "--thin", type=int, default=2_000, help="steps from one recorded plan to the next (default: 2000)"
    )
    group.add_argument("--threads", type=int, default=1, help="threads; the plans are the same (default: 1)")
    group = parser.add_argument_group("replica exchange")
    group.add_argument(
        "--exchange",
        action="store_true",
        help="in place of each chain run a ladder of replicas that exchange plans, from 0 to --epsilon",
    )
    group.add_argument(
        "--rungs",
        type=float,
        nargs="+",
        metavar="EPSILON",
        help="the ladder's epsilons, from 0 up (default: placed in burn-in up to --epsilon, so that "
        "neighbours exchange equally often)",
    )
    group.add_argument(
        "--burn-in",
        type=int,
        metavar="ROUNDS",
        help="rounds of each ladder that are not recorded (default: a quarter of those that follow, at "
        "least 80)",
    )
    parser.add_argument("--out", type=Path, required=True, help="folder for the run; made when missing")
    parser.set_defaults(run=_sample)


def _sample(options: argparse.Namespace) -> int:
    from bottomup.dashboard.influence import promise_in_full
    from bottomup.dashboard.summary import figures, summarize
    from bottomup.sampler.naming import describe_run
    from bottomup.sampler.problem import Problem
    from bottomup.sampler.recording import record
    from bottomup.sampler.runs import RunFolder, check_folder
    from bottomup.sampler.shares import available_shares, judged_shares
    from bottomup.sampler.statistics import evaluate_plan
    from bottomup.sampler.target import Target

    moves = moves_of(options)
    _check_options(options)
    check_score_options(options)
    inputs = load_inputs(options, needs_plan=options.districts is None)
    geography, testimonies = inputs.geography, inputs.testimonies
    if testimonies is not None:
        print("\n".join([testimonies.summary(), *testimonies.remarks]))
    problem = Problem.build(geography, testimonies, weighting_of(options))
    starts = find_starts(options, inputs, problem, options.start, options.chains)
    if testimonies is not None:
        hopeless = hopeless_sentence(testimonies, geography.population, starts.upper)
        print(hopeless, end="\n" if hopeless else "")
    at_start = [evaluate_plan(problem, plan, starts.n_districts) for plan in starts.plans]
    target = Target(
        n_districts=starts.n_districts,
        lower=starts.lower,
        upper=starts.upper,
        compactness=options.compactness,
        cut_edges=at_start[0].cut_edges if options.cut_edges is None else options.cut_edges,
        score=options.score,
        epsilon=options.epsilon,
    )
    mixture = choose_mixture(moves, problem.n_units)
    plan = _plan_exchange(options, mixture, problem.n_units) if options.exchange else None
    description = describe_run(
        geography,
        testimonies,
        problem,
        target,
        starts.plans,
        options.seed,
        options.step,
        mixture,
        None if plan is None else plan.description,
    )
    description["start_plans"] = starts.names
    description["start_repairs"] = starts.repairs
    description["districts"] = list(starts.labels)
    description["id_column"] = geography.id_column
    print(
        f"Run {description['name']}: {starts.n_districts} districts of {starts.lower:,} to {starts.upper:,} "
        f"people"
    )
    if options.epsilon > 0 and testimonies is not None:
        print(promise_in_full(options.epsilon, options.score, problem, testimonies))
    kind = "chain" if plan is None else "ladder"
    for number, (name, statistics) in enumerate(zip(starts.names, at_start, strict=True)):
        print(f"  {kind} {number}: {name}, {figures(statistics)}")
    shares = available_shares(geography)
    to_agree = {name: (shares[name].numerator, shares[name].denominator) for name in judged_shares(shares)}
    if len(to_agree) < len(shares):
        print(f"Of {len(shares)} shares, which are all recorded, {' and '.join(to_agree)} are to agree")
    # A folder that cannot be used is refused before the walk is compiled, and made only after.
    check_folder(options.out)
    prepare_walk(options.step, mixture)
    with stopping() as is_stopped:
        source = (
            _make_chains(options, problem, target, starts, mixture)
            if plan is None
            else _make_ladders(options, problem, target, starts, mixture, plan, is_stopped)
        )
        n_total = options.steps if plan is None else plan.n_rounds
        unit = "step" if plan is None else "round"
        with (
            RunFolder(options.out, geography, starts.n_districts, description) as folder,
            tqdm(total=n_total, unit=unit, unit_scale=plan is None) as bar,
        ):
            recording = record(source, folder, n_total, to_agree, starts.plans[0], bar.update, is_stopped)
    summary = summarize(source, recording, problem, starts.plans, starts.names[0])
    folder.finish(summary.outcome())
    summary.show()
    if not recording.is_complete:
        print(
            f"Interrupted after {summary.n_steps:,} steps; the plans so far are in {options.out}",
            file=sys.stderr,
        )
        return 1
    print(f"Plans are in {options.out}")
    return 0


def _check_options(options: argparse.Namespace) -> None:
    if options.steps < 1 or not 1 <= options.thin <= options.steps:
        raise ValueError(
            "--steps must be at least 1 and --thin between 1 and --steps; "
            f"got {options.steps} and {options.thin}"
        )
    if options.threads < 1:
        raise ValueError(f"--threads must be at least 1; got {options.threads}")
    check_plan_options(options)
    n_given = len(options.start) + (options.districts is None)
    if options.chains is not None and options.chains < max(1, n_given):
        raise ValueError(
            f"--chains must be at least 1, and no less than the number of plans to start from, {n_given}; "
            f"got {options.chains}"
        )
    if not options.exchange:
        unused = [name for name in ("rungs", "burn_in") if getattr(options, name) is not None]
        if unused:
            raise ValueError(f"--{unused[0].replace('_', '-')} needs --exchange, or leave it out")
        return
    if options.burn_in is not None and options.burn_in < 0:
        raise ValueError(f"--burn-in must not be negative; got {options.burn_in}")
    rungs = options.rungs
    if rungs is None:
        if options.epsilon <= 0:
            raise ValueError("--exchange needs the largest --epsilon, above 0, or --rungs")
        return
    if rungs[0] != 0 or any(below >= above for below, above in itertools.pairwise(rungs)):
        raise ValueError(f"--rungs must ascend from 0; got {' '.join(f'{rung:g}' for rung in rungs)}")
    if options.epsilon not in (0, rungs[-1]):
        raise ValueError(
            f"--epsilon {options.epsilon:g} is not the last of --rungs, {rungs[-1]:g}; leave --epsilon out"
        )
    options.epsilon = rungs[-1]


class ExchangePlan(NamedTuple):
    """A ladder's rounds and rungs, settled before it runs."""

    rungs: "np.ndarray"
    are_placed: bool
    steps_per_round: int
    n_rounds: int
    record_every: int
    n_burn_in: int
    description: dict[str, Any]


def _plan_exchange(options: argparse.Namespace, mixture: "Mixture", n_units: int) -> ExchangePlan:
    """Whole rounds for the steps asked for, and say so where they are not the same."""
    import numpy as np

    from bottomup.sampler.ladder import choose_steps_per_round, first_rungs
    from bottomup.sampler.naming import describe_exchange
    from bottomup.sampler.recording import (
        MIN_BURN_IN,
        burn_in_rounds,
        ladder_rounds,
    )

    size = choose_steps_per_round(mixture, n_units)
    n_rounds, record_every = ladder_rounds(options.steps, options.thin, size)
    are_placed = options.rungs is None
    asked = max(MIN_BURN_IN, n_rounds // 4) if options.burn_in is None else options.burn_in
    n_burn_in = burn_in_rounds(asked, record_every, are_placed)
    rungs = first_rungs(options.epsilon) if are_placed else np.array(options.rungs)
    if (n_rounds * size, record_every * size) != (options.steps, options.thin):
        print(
            f"Rounded to whole rounds of {size:,} steps: {n_rounds * size:,} steps ({n_rounds:,} rounds), a "
            f"record every {record_every * size:,} ({record_every:,})"
        )
    if options.burn_in not in (None, n_burn_in):
        print(f"Burn-in of {n_burn_in:,} rounds in place of {asked:,}, so that it ends at a record")
    description = describe_exchange(rungs, are_placed, n_burn_in, size)
    return ExchangePlan(rungs, are_placed, size, n_rounds, record_every, n_burn_in, description)


def _make_chains(
    options: argparse.Namespace, problem: "Problem", target: "Target", starts: Starts, mixture: "Mixture"
) -> "Source":
    from bottomup.sampler.recording import Chains

    return Chains(
        problem, target, starts.plans, options.seed, options.thin, options.step, mixture, options.threads
    )


def _make_ladders(
    options: argparse.Namespace,
    problem: "Problem",
    target: "Target",
    starts: Starts,
    mixture: "Mixture",
    plan: ExchangePlan,
    is_stopped: Callable[[], bool],
) -> "Source":
    from bottomup.sampler.ladder import Ladder, burn_in
    from bottomup.sampler.recording import Ladders

    ladder = Ladder(
        problem,
        target,
        starts.plans,
        plan.rungs,
        options.seed,
        mixture=mixture,
        steps_per_round=plan.steps_per_round,
        n_threads=options.threads,
    )
    print(f"Burn-in: {plan.n_burn_in:,} rounds that are not recorded ...", flush=True)
    if plan.are_placed:
        burn_in(ladder, plan.n_burn_in, is_stopped)
    else:
        ladder.advance(plan.n_burn_in, plan.n_burn_in + 1, is_stopped)
    if is_stopped():
        # Nothing has been recorded, so there is nothing to keep.
        raise KeyboardInterrupt
    print(f"Rungs: {_list(ladder.epsilons)}")
    return Ladders(ladder, plan.record_every)


def _list(epsilons: "Sequence[float] | np.ndarray") -> str:
    return ", ".join(f"{epsilon:.3g}" for epsilon in epsilons)
