"""The command ``bottomup sample``: chains or ladders without a page, their plans in a folder."""

import argparse
import copy
import functools
import sys
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from tqdm import tqdm

from bottomup.dashboard.cluster import Cluster, connected
from bottomup.dashboard.exchange_plan import ExchangePlan, plan_exchange
from bottomup.dashboard.going_on import (
    check_files,
    check_same_run,
    describe_files,
    is_finished,
    named_files,
    saved_options,
)
from bottomup.dashboard.options import check_score_options, load_inputs, weighting_of
from bottomup.dashboard.sample_options import add_sample_options, check_sample_options
from bottomup.dashboard.sitting import Sitting, resume_command
from bottomup.dashboard.starting import Starts, find_starts, hopeless_sentence, stopping
from bottomup.dashboard.walk_options import choose_mixture, moves_of, prepare_walk
from bottomup.data.errors import count

if TYPE_CHECKING:
    import numpy as np

    from bottomup.dashboard.summary import Summary
    from bottomup.data.geography import Geography
    from bottomup.sampler.ladder import Ladder
    from bottomup.sampler.memory import Memory
    from bottomup.sampler.problem import Problem
    from bottomup.sampler.segments import Perform, SegmentedSource
    from bottomup.sampler.sources import Chains, Ladders
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
    add_sample_options(parser)
    # What is given must be told from what is not: the run that goes on has options of its own.
    defaults = {action.dest: action.default for action in parser._actions if action.dest != "help"}
    for action in parser._actions:
        action.default = argparse.SUPPRESS
    parser.set_defaults(run=functools.partial(_sample, defaults=defaults))


def _sample(given: argparse.Namespace, defaults: dict[str, Any]) -> int:
    is_resumed = getattr(given, "resume", False)
    if is_resumed and is_finished(given.out):
        print(f"The run in {given.out} is finished; there is nothing to go on with.")
        return 0
    with connected(getattr(given, "scheduler", None)) as cluster, Sitting(given.out) as sitting:
        run = _go_on if is_resumed else _begin
        summary = run(given, copy.deepcopy(defaults), sitting, cluster)
    command = resume_command(given.out)
    if summary is None:
        print(f"Interrupted in the burn-in. To go on: {command}", file=sys.stderr)
        return 1
    summary.show()
    if not summary.recording.is_complete:
        print(
            f"Interrupted after {summary.n_steps:,} steps; the plans so far are in {given.out}. "
            f"To go on: {command}",
            file=sys.stderr,
        )
        return 1
    print(f"Plans are in {given.out}")
    return 0


def _begin(
    given: argparse.Namespace, defaults: dict[str, Any], sitting: Sitting, cluster: Cluster | None
) -> "Summary | None":
    from bottomup.sampler.runs import check_folder

    options = argparse.Namespace(**{**defaults, **vars(given)})
    asked = copy.copy(options)
    setting = _prepare(options)
    # A folder that cannot be used is refused before the walk is compiled, and made only after.
    check_folder(options.out)
    prepare_walk(options.step, setting.mixture)
    named = named_files(asked, setting.names)
    about = {"description": setting.description, "options": named, "files": describe_files(named)}
    sitting.begin(about)
    return _run(options, setting, sitting, {}, cluster)


def _go_on(
    given: argparse.Namespace, defaults: dict[str, Any], sitting: Sitting, cluster: Cluster | None
) -> "Summary | None":
    found = sitting.find()
    saved = found.about["options"]
    options = saved_options(given, saved, defaults)
    check_files(saved, found.about["files"])
    setting = _prepare(options)
    check_same_run(setting.description, found.about["description"])
    prepare_walk(options.step, setting.mixture)
    print(f"Going on from {count(found.n_rows, 'plan')} ...", flush=True)
    return _run(options, setting, sitting, found.memory, cluster)


class _Setting(NamedTuple):
    """What a run is about, read and checked."""

    geography: "Geography"
    problem: "Problem"
    target: "Target"
    starts: Starts
    mixture: "Mixture"
    plan: ExchangePlan | None
    description: dict[str, Any]
    to_agree: "dict[str, tuple[np.ndarray, np.ndarray]]"
    names: frozenset[str]
    """Of columns, and of plans that come with the demonstration."""


def _prepare(options: argparse.Namespace) -> _Setting:
    """Read the inputs, find the starts and say what the run will be."""
    from bottomup.dashboard.influence import promise_in_full
    from bottomup.dashboard.summary import figures
    from bottomup.sampler.naming import describe_run
    from bottomup.sampler.problem import Problem
    from bottomup.sampler.shares import available_shares, judged_shares
    from bottomup.sampler.statistics import evaluate_plan
    from bottomup.sampler.target import Target

    moves = moves_of(options)
    check_sample_options(options)
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
    plan = plan_exchange(options, mixture, problem.n_units) if options.exchange else None
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
    plans = inputs.plans if options.units is None else ()
    names = frozenset(map(str, [*geography.columns, *plans]))
    return _Setting(geography, problem, target, starts, mixture, plan, description, to_agree, names)


class _Made(NamedTuple):
    """Chains or ladders of a run, and what runs them."""

    source: "Chains | Ladders"
    segmented: "SegmentedSource | None"
    """Runs it on a cluster; without one it runs here."""


def _run(
    options: argparse.Namespace,
    setting: _Setting,
    sitting: Sitting,
    memory: "Memory",
    cluster: Cluster | None,
) -> "Summary | None":
    """Run to the end, or until it is interrupted; None when that is in the burn-in."""
    from bottomup.dashboard.summary import summarize
    from bottomup.sampler.memory import nest, within
    from bottomup.sampler.recording import record
    from bottomup.sampler.segments import SEGMENTS

    starts, plan = setting.starts, setting.plan
    sitting.open(setting.geography, starts.n_districts, setting.description)
    recorded = within("record", memory)
    with stopping() as is_stopped:
        perform = None if cluster is None else cluster.performer(options.out.name, is_stopped)
        made: _Made | None
        if plan is None:
            made = _make_chains(options, setting, perform)
        else:
            made = _make_ladders(options, setting, plan, memory, sitting.keep, is_stopped, perform)
        if made is None:
            return None
        n_total = options.steps if plan is None else plan.n_rounds
        n_done = int(recorded["n_done"]) if recorded else 0
        unit = "step" if plan is None else "round"
        with tqdm(total=n_total, initial=n_done, unit=unit, unit_scale=plan is None) as bar:
            recording = record(
                made.segmented or made.source,
                sitting.folder,
                n_total,
                setting.to_agree,
                starts.plans[0],
                bar.update,
                is_stopped,
                lambda memory: sitting.keep(nest("record", memory)),
                recorded or None,
                None if cluster is None else SEGMENTS,
            )
        if made.segmented is not None:
            made.segmented.settle()
    summary = summarize(made.source, recording, setting.problem, starts.plans, starts.names[0])
    sitting.end(summary.outcome(), recording.is_complete)
    return summary


def _make_chains(options: argparse.Namespace, setting: _Setting, perform: "Perform | None") -> _Made:
    from bottomup.sampler.segments import SegmentedSource
    from bottomup.sampler.sources import Chains

    starts = setting.starts.plans
    make = functools.partial(
        Chains,
        setting.problem,
        setting.target,
        seed=options.seed,
        thin=options.thin,
        step=options.step,
        mixture=setting.mixture,
    )
    chains = make(starts=starts, n_threads=options.threads)
    if perform is None:
        return _Made(chains, None)
    return _Made(chains, SegmentedSource(chains, functools.partial(make, starts=starts[:1]), perform))


def _make_ladders(
    options: argparse.Namespace,
    setting: _Setting,
    plan: ExchangePlan,
    memory: "Memory",
    keep: "Callable[[Memory], object]",
    is_stopped: Callable[[], bool],
    perform: "Perform | None",
) -> _Made | None:
    """Ladders after their burn-in, or as they are made when they have been recorded; None when stopped."""
    from bottomup.sampler.ladder import Ladder
    from bottomup.sampler.memory import within
    from bottomup.sampler.segments import SegmentedSource, make_ladders
    from bottomup.sampler.sources import Ladders

    starts = setting.starts.plans
    make = functools.partial(
        Ladder,
        setting.problem,
        setting.target,
        epsilons=plan.rungs,
        seed=options.seed,
        mixture=setting.mixture,
        steps_per_round=plan.steps_per_round,
    )
    ladder = make(starts=starts, n_threads=options.threads)
    if not within("record", memory):
        begun = within("burn_in", memory)
        make_again = functools.partial(make, starts=starts[:1] if not plan.are_placed else starts)
        if not _burn_in(ladder, plan, begun, keep, is_stopped, make_again, perform):
            return None
        print(f"Rungs: {_list(ladder.epsilons)}")
    ladders = Ladders(ladder, plan.record_every)
    if perform is None:
        return _Made(ladders, None)
    # Rungs that were placed come with the state.
    alone = functools.partial(make, starts=starts[:1])
    recipe = functools.partial(make_ladders, alone, plan.record_every)
    return _Made(ladders, SegmentedSource(ladders, recipe, perform))


def _burn_in(
    ladder: "Ladder",
    plan: ExchangePlan,
    begun: "Memory",
    keep: "Callable[[Memory], object]",
    is_stopped: Callable[[], bool],
    make_again: "Callable[[], Ladder]",
    perform: "Perform | None",
) -> bool:
    """Run the burn-in of ladders to its end, here or in segments; False when it was stopped before."""
    from bottomup.sampler.burning import BurnIn, finish_burn_in
    from bottomup.sampler.memory import nest
    from bottomup.sampler.segments import SEGMENTS, SegmentedBurnIn, make_burn_in

    burn_in = BurnIn(ladder, plan.n_burn_in, plan.are_placed)
    if begun:
        burn_in.recall(begun)
    left = plan.n_burn_in - burn_in.n_done
    print(f"Burn-in: {left:,} rounds that are not recorded ...", flush=True)

    def remember(memory: "Memory") -> None:
        keep(nest("burn_in", memory))

    if perform is None:
        finish_burn_in(burn_in, remember, is_stopped)
    else:
        recipe = functools.partial(make_burn_in, make_again, plan.n_burn_in, plan.are_placed)
        segmented = SegmentedBurnIn(burn_in, recipe, not plan.are_placed, perform)
        finish_burn_in(segmented, remember, is_stopped, SEGMENTS.seconds)
        segmented.settle()
    return burn_in.is_over


def _list(epsilons: "Sequence[float] | np.ndarray") -> str:
    return ", ".join(f"{epsilon:.3g}" for epsilon in epsilons)
