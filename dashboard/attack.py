"""The command ``bottomup attack``: what a group reaches that replaces testimonies or sends one often."""

import argparse
import itertools
import math
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING

from bottomup.dashboard.attack_runs import BURN_IN, STEPS, plan_length, plan_runs, run_with_bar
from bottomup.dashboard.options import (
    Inputs,
    add_input_options,
    add_weighting_options,
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
from bottomup.dashboard.study_attack import change_of
from bottomup.dashboard.walk_options import choose_mixture, prepare_walk, seed_option
from bottomup.data.errors import DataError, count, list_some

if TYPE_CHECKING:
    from bottomup.dashboard.attack_report import Outcome
    from bottomup.data.testimonies import Testimonies
    from bottomup.sampler.attack import Attack
    from bottomup.sampler.problem import Score

__all__ = ["add_attack"]


def add_attack(commands: argparse._SubParsersAction) -> None:
    """Add the command to the command line."""
    parser = commands.add_parser(
        "attack",
        help="show what a coordinated group reaches, with its testimonies and without",
        description="Takes out one cluster's testimonies and puts as many others elsewhere, or submits one "
        "testimony many times; samples plans for both data sets, and says how often the communities "
        "concerned are kept whole, beside the baseline and the formal limit.",
    )
    add_input_options(parser)
    group = parser.add_argument_group("attack")
    group.add_argument(
        "--cluster",
        metavar="NAME",
        help="the cluster to take out (default: the one whose number of testimonies is nearest to nine)",
    )
    group.add_argument(
        "--adversary",
        metavar="FILE",
        help="testimonies to put in, in a form that --testimonies takes (default: drawn, as many and as "
        "large as those taken out, around one place away from them, on a border of the plan if there is one)",
    )
    group.add_argument(
        "--adversary-seed",
        type=seed_option,
        default=1,
        help="whole number that decides the draw (default: 1)",
    )
    group.add_argument(
        "--flood", metavar="TESTIMONY", help="in place of all that, submit this testimony again and again"
    )
    group.add_argument(
        "--copies", type=int, metavar="N", help="how often it is submitted in all (default: 400)"
    )
    group.add_argument(
        "--scores",
        nargs="+",
        choices=["testimony", "cluster"],
        help="what to keep together, each on its own (default: both; without clusters, testimony)",
    )
    group.add_argument(
        "--epsilons",
        type=float,
        nargs="+",
        default=[0.0, 0.1, 0.5, 1.0, 2.0, 5.0],
        metavar="EPSILON",
        help="how much testimony counts: 0 and at least one more, ascending (default: 0 0.1 0.5 1 2 5)",
    )
    add_weighting_options(parser)
    add_law_options(parser)
    group = parser.add_argument_group("runs", "For each score and data set, ladders from unlike starts.")
    group.add_argument(
        "--start",
        action="append",
        default=[],
        metavar="COLUMN|FILE",
        help="a further plan to start from, beside --plan; may be given again. Of two starts the second is "
        "made from random trees",
    )
    length = group.add_mutually_exclusive_group()
    length.add_argument(
        "--steps", type=int, help=f"steps of each rung after the burn-in (default: {STEPS}), in whole rounds"
    )
    length.add_argument("--rounds", type=int, help="rounds of each run after the burn-in")
    length.add_argument(
        "--minutes",
        type=float,
        help="go on for so long, burn-in included; all runs have as many rounds, and --rounds with their "
        "number gives the same figures again",
    )
    group.add_argument(
        "--burn-in",
        type=int,
        metavar="ROUNDS",
        help="rounds of each run that are not recorded, in which the rungs are placed (default: "
        f"{BURN_IN}; with neither --rounds nor --minutes a quarter of those that follow, at least 80)",
    )
    group.add_argument("--threads", type=int, default=1, help="threads; the plans are the same (default: 1)")
    parser.add_argument(
        "--seed", type=seed_option, default=1, help="whole number that decides the plans (default: 1)"
    )
    parser.add_argument("--out", type=Path, required=True, help="folder for the outcome; made when missing")
    parser.set_defaults(run=_attack)


def _attack(options: argparse.Namespace) -> int:
    from bottomup.dashboard.attack_files import FILES, AttackFolder, describe_attack
    from bottomup.dashboard.attack_report import Outcome, read_score
    from bottomup.sampler.diagnostics import are_unlike
    from bottomup.sampler.problem import Problem
    from bottomup.sampler.runs import check_folder

    _check_options(options)
    inputs = load_inputs(options, needs_plan=options.districts is None)
    geography, testimonies = inputs.geography, inputs.testimonies
    if testimonies is None:
        raise ValueError("the attack changes testimonies, and there are none: name them with --testimonies")
    print("\n".join([testimonies.summary(), *testimonies.remarks]))
    weighting = weighting_of(options)
    scores = _scores(options, testimonies)
    starts = find_starts(
        options,
        inputs,
        Problem.build(geography, testimonies, weighting),
        options.start,
        remedy="give further plans with --start",
    )
    attack = _make_attack(options, inputs, testimonies, starts)
    print(f"{attack.change.words[0].upper()}{attack.change.words[1:]}")
    _name_hopeless(attack, inputs, starts)
    check_folder(options.out, FILES)
    mixture = choose_mixture("mixture", geography.n_units)
    length = plan_length(options, mixture, geography.n_units)
    runs = plan_runs(options, inputs, starts, attack, scores, mixture, length)
    description = describe_attack(attack, runs, options)
    description["start_repairs"] = starts.repairs
    print(f"Attack {description['name']}: {len(runs)} runs of {count(len(starts.plans), 'ladder')} each")
    prepare_walk("mixed", mixture)
    began = time.perf_counter()
    trials = []
    with stopping() as is_stopped:
        for run in runs:
            print(f"Burn-in of {length.n_burn_in:,} rounds: {run.title} ...", flush=True)
            trials.append(run.burn_in(options.threads, is_stopped))
        folder = AttackFolder(options.out, geography, attack, description)
        seconds = None if options.minutes is None else 60 * options.minutes - (time.perf_counter() - began)
        is_complete = run_with_bar(trials, length, seconds, is_stopped)
    outcome = Outcome(
        attack,
        tuple(
            read_score(before, after, options.epsilons)
            for before, after in zip(trials[::2], trials[1::2], strict=True)
        ),
        are_comparable=len(starts.plans) > 1 and are_unlike(starts.plans, starts.n_districts),
        hopeless=attack.hopeless(inputs.geography.population, starts.upper),
        is_flood=options.flood is not None,
    )
    _show(outcome)
    folder.finish(outcome, trials, is_complete)
    if not is_complete:
        print(f"Interrupted; what there is is in {options.out}", file=sys.stderr)
        return 1
    print(f"Table, figure and all figures are in {options.out}")
    return 0


def _check_options(options: argparse.Namespace) -> None:
    from bottomup.sampler.attack import MIN_ROUNDS

    check_plan_options(options)
    grid = options.epsilons
    ascends = all(below < above for below, above in itertools.pairwise(grid))
    if len(grid) < 2 or grid[0] != 0 or not ascends or not math.isfinite(grid[-1]):
        raise ValueError(
            "--epsilons must ascend from 0 and hold at least one more; got "
            f"{' '.join(f'{epsilon:g}' for epsilon in grid)}"
        )
    if options.flood is None:
        if options.copies is not None:
            raise ValueError("--copies needs --flood, or leave it out")
    else:
        unused = [name for name in ("cluster", "adversary") if getattr(options, name) is not None]
        if unused:
            raise ValueError(f"--flood puts nothing in a cluster's place; leave --{unused[0]} out")
        if options.copies is not None and options.copies < 2:
            raise ValueError(f"--copies must be at least 2, the first included; got {options.copies}")
    for name, least in (("steps", 1), ("rounds", MIN_ROUNDS), ("burn_in", 0), ("threads", 1)):
        given = getattr(options, name)
        if given is not None and given < least:
            raise ValueError(f"--{name.replace('_', '-')} must be at least {least}; got {given}")
    if options.minutes is not None and not (options.minutes > 0 and math.isfinite(options.minutes)):
        raise ValueError(f"--minutes must be more than 0; got {options.minutes:g}")


def _scores(options: argparse.Namespace, testimonies: "Testimonies") -> "list[Score]":
    if options.scores is not None:
        return list(dict.fromkeys(options.scores))
    if testimonies.clusters is None:
        print("The testimonies have no clusters, so there is no cluster score to try.")
        return ["testimony"]
    return ["testimony", "cluster"]


def _make_attack(
    options: argparse.Namespace, inputs: Inputs, testimonies: "Testimonies", starts: Starts
) -> "Attack":
    import numpy as np

    from bottomup.data.changes import find_cluster, flood, replace_cluster
    from bottomup.data.testimonies import read_testimonies
    from bottomup.sampler.attack import Attack

    geography, once = inputs.geography, options.deduplicate
    if options.flood is not None:
        n_copies = 400 if options.copies is None else options.copies
        change = flood(testimonies, geography, options.flood, n_copies)
        if not testimonies.sizes[testimonies.ids.index(options.flood)]:
            original = testimonies.duplicate_of.get(options.flood)
            why = "has no unit on the map" if original is None else f"is left out as a copy of {original!r}"
            raise DataError(
                "empty_flood",
                f"Testimony {options.flood!r} {why}, so copies of it change nothing.",
                remedy="Name another with --flood.",
            )
        return Attack.prepare(change, flooded=options.flood, copies_count_once=once)
    if options.adversary is None:
        change = change_of(inputs, starts.n_districts, options.cluster, options.adversary_seed)
    else:
        given = read_testimonies(options.adversary, geography, crosswalk=options.crosswalk)
        shapes = [given.units_of(int(place)) for place in np.flatnonzero(given.sizes)]
        nowhere = [name for name, size in zip(given.ids, given.sizes, strict=True) if not size]
        if nowhere:
            print(f"Left out of {options.adversary}, with no unit on the map: {list_some(nowhere)}")
        cluster = find_cluster(testimonies, options.cluster)
        change = replace_cluster(testimonies, geography, cluster, shapes)
    return Attack.prepare(change, copies_count_once=once)


def _name_hopeless(attack: "Attack", inputs: Inputs, starts: Starts) -> None:
    """Say what no plan can keep whole, before the attack and after."""
    population = inputs.geography.population
    before = hopeless_sentence(attack.change.before, population, starts.upper)
    if before:
        print(before)
    theirs = sorted(attack.adversary.hopeless(population, starts.upper))
    if theirs:
        print(f"Nor can any keep these of the attack's whole: {list_some(theirs)}")


def _show(outcome: "Outcome") -> None:
    from bottomup.dashboard.attack_report import table
    from bottomup.dashboard.attack_words import sentences

    for found in outcome.scores:
        if found.findings:
            kinds = ("kept", "best") if found.score == "cluster" else ("kept",)
            for kind in kinds:
                print("", *table(outcome, found, kind), sep="\n")
        print("", *sentences(outcome, found), sep="\n")
