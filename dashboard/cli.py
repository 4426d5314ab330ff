"""The command ``bottomup``: verify the walk, sample without a page, serve the page, or measure speed."""

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from tqdm import tqdm

from bottomup.dashboard.bench import add_bench
from bottomup.dashboard.options import (
    add_input_options,
    add_score_options,
    check_score_options,
    input_arguments,
    load_inputs,
)
from bottomup.data.errors import DataError

if TYPE_CHECKING:
    from bottomup.sampler.chain import Step
    from bottomup.sampler.statistics import PlanStatistics
    from bottomup.sampler.types import Mixture

__all__ = ["main"]


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line; return the exit status.

    Status 0 means done (for ``verify``: passed), 1 that a verification failed or an interrupt ended the run,
    2 that the options or the files cannot be used; the reason is then on standard error.
    """
    parser = argparse.ArgumentParser(
        prog="bottomup",
        description="Ensembles of district plans that keep communities of interest together.",
    )
    commands = parser.add_subparsers(dest="command", required=True, metavar="COMMAND")
    _add_verify(commands)
    _add_sample(commands)
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


def _mixture(options: argparse.Namespace, n_units: int) -> "Mixture":
    from bottomup.sampler.chain import WALK_ALONE, default_mixture

    return default_mixture(n_units) if options.moves == "mixture" else WALK_ALONE


def _prepare_walk(step: "Step", mixture: "Mixture") -> None:
    from bottomup.sampler.chain import warm_up

    print("Preparing the walk (the first time it is compiled, which takes up to a minute) ...", flush=True)
    warm_up(step, mixture)


def _add_target_options(parser: argparse.ArgumentParser) -> None:
    add_score_options(parser)
    parser.add_argument(
        "--step",
        choices=["mixed", "paper"],
        default="mixed",
        help="one of the two moves with even chances (default), or the paper's step that combines both",
    )
    parser.add_argument(
        "--moves",
        choices=["walk", "mixture"],
        default="walk",
        help="the Marked Edge Walk alone (default), or a mixture of it with companion moves of the same law",
    )
    parser.add_argument(
        "--seed", type=_seed, default=1, help="whole number that decides the walk (default: 1)"
    )


def _seed(text: str) -> int:
    if not text.isdecimal():
        raise argparse.ArgumentTypeError(f"must be a whole number, not negative; got {text!r}")
    return int(text)


def _add_verify(commands: argparse._SubParsersAction) -> None:
    parser = commands.add_parser(
        "verify", help="compare the walk with the exact law on a grid whose plans can all be listed"
    )
    parser.add_argument("--rows", type=int, default=4, help="rows of the grid (default: 4)")
    parser.add_argument("--cols", type=int, default=4, help="columns of the grid (default: 4)")
    parser.add_argument("--districts", type=int, default=4, help="number of districts (default: 4)")
    parser.add_argument("--min-size", type=int, default=3, help="least units of a district (default: 3)")
    parser.add_argument("--max-size", type=int, default=5, help="most units of a district (default: 5)")
    parser.add_argument("--steps", type=int, default=2_000_000, help="steps of the walk (default: 2000000)")
    parser.add_argument(
        "--compactness", type=float, default=0.02, help="weight of the cut edges (default: 0.02)"
    )
    parser.add_argument("--cut-edges", type=float, help="cut edges at the centre (default: one edge in two)")
    parser.add_argument(
        "--control",
        action="store_true",
        help="break the acceptance ratio on purpose: shows that a wrong sampler fails",
    )
    _add_target_options(parser)
    parser.set_defaults(run=_verify)


def _verify(options: argparse.Namespace) -> int:
    # Imported by the command that needs it: numba takes a second.
    from bottomup.sampler.target import Target
    from bottomup.sampler.verification import make_grid_problem, verify

    if options.rows < 2 or options.cols < 2:
        raise ValueError(f"--rows and --cols must be at least 2; got {options.rows} and {options.cols}")
    problem = make_grid_problem(options.rows, options.cols)
    centre = len(problem.edges) / 2 if options.cut_edges is None else options.cut_edges
    target = Target(
        n_districts=options.districts,
        lower=options.min_size,
        upper=options.max_size,
        compactness=options.compactness,
        cut_edges=centre,
        score=options.score,
        epsilon=options.epsilon,
    )
    print(
        f"Grid {options.rows} x {options.cols}, {options.districts} districts of {options.min_size} to "
        f"{options.max_size} units, {options.score} score, epsilon {options.epsilon:g}, {options.moves}, "
        f"{options.step} step, {options.steps:,} steps, seed {options.seed}"
    )
    if options.control:
        print("Control: the acceptance ratio is broken on purpose.")
    mixture = _mixture(options, problem.n_units)
    _prepare_walk(options.step, mixture)
    with tqdm(total=options.steps, unit="step", unit_scale=True, leave=False) as bar:
        result = verify(
            problem,
            target,
            options.steps,
            options.seed,
            options.step,
            options.control,
            mixture,
            progress=bar.update,
        )
    print(f"Plans: {result.n_plans:,} in all")
    if result.n_missed:
        print(
            f"       {result.n_missed:,} never visited, of probability {result.missed_probability:.2g} in all"
        )
    print(f"\n{'mean of':<18}{'exact':>10}{'sampled':>10}{'std. error':>12}")
    for name, (exact, sampled, error) in result.means.items():
        print(f"{name:<18}{exact:>10.4f}{sampled:>10.4f}{error:>12.4f}")
    print(f"\nTotal-variation distance from the exact law   {result.distance:.4f}")
    print(
        f"  expected of as many steps with their autocorrelation, that is of\n"
        f"  {result.effective_size:>10,.0f} independent plans               {result.expected:.4f}"
    )
    print(f"  exceeded by a correct walk once in 1,000 runs {result.limit:.4f}")
    print("PASS" if result.passed else "FAIL")
    return 0 if result.passed else 1


def _add_sample(commands: argparse._SubParsersAction) -> None:
    parser = commands.add_parser("sample", help="run the walk without a page and write its plans to a folder")
    add_input_options(parser)
    _add_target_options(parser)
    parser.add_argument(
        "--tolerance",
        type=float,
        default=0.05,
        help="largest population deviation of a district (default: 0.05, that is 5 %%)",
    )
    parser.add_argument(
        "--districts", type=int, help="make a start with so many districts, in place of --plan"
    )
    parser.add_argument(
        "--compactness", type=float, default=0.005, help="weight of the cut edges (default: 0.005)"
    )
    parser.add_argument(
        "--cut-edges", type=float, help="cut edges at the centre (default: those of the start)"
    )
    parser.add_argument("--steps", type=int, default=200_000, help="steps of the walk (default: 200000)")
    parser.add_argument(
        "--thin", type=int, default=200, help="steps from one recorded plan to the next (default: 200)"
    )
    parser.add_argument("--out", type=Path, required=True, help="folder for the run; made when missing")
    parser.set_defaults(run=_sample)


def _sample(options: argparse.Namespace) -> int:
    from bottomup.data.errors import list_some
    from bottomup.data.plans import check_feasible, check_start, population_bounds
    from bottomup.sampler.chain import Chain
    from bottomup.sampler.naming import describe_run
    from bottomup.sampler.problem import Problem
    from bottomup.sampler.runs import RunFolder, check_folder, record_chain
    from bottomup.sampler.start import make_start
    from bottomup.sampler.statistics import evaluate_plan
    from bottomup.sampler.target import Target

    if options.steps < 1 or not 1 <= options.thin <= options.steps:
        raise ValueError(
            "--steps must be at least 1 and --thin between 1 and --steps; "
            f"got {options.steps} and {options.thin}"
        )
    if options.districts is not None and options.plan is not None:
        raise ValueError(
            f"--districts {options.districts} and --plan {options.plan} were both given; give the plan to "
            "start from, or the number of districts of a start that is made"
        )
    check_score_options(options)
    inputs = load_inputs(options, needs_plan=options.districts is None)
    geography, testimonies = inputs.geography, inputs.testimonies
    if testimonies is not None:
        print(testimonies.summary())
    problem = Problem.build(geography, testimonies)
    if options.districts is None:
        plan = inputs.enacted
        assert plan is not None  # load_inputs insists on one
        n_districts = plan.n_districts
        lower, upper = population_bounds(geography.total_population, n_districts, options.tolerance)
        check_start(geography, plan, lower, upper)
        start, source = plan.assignment, plan.name
    else:
        n_districts = options.districts
        lower, upper = population_bounds(geography.total_population, n_districts, options.tolerance)
        check_feasible(geography, n_districts, lower, upper)
        start, source = make_start(problem, n_districts, lower, upper, options.seed), "made from random trees"
    if testimonies is not None:
        hopeless = testimonies.never_whole(geography.population, upper)
        if hopeless:
            print(
                f"No plan can keep these testimonies whole, for they have no unit on the map or more than "
                f"{upper:,} people; they are counted all the same: {list_some(hopeless)}"
            )
    at_start = evaluate_plan(problem, start, n_districts)
    target = Target(
        n_districts=n_districts,
        lower=lower,
        upper=upper,
        compactness=options.compactness,
        cut_edges=at_start.cut_edges if options.cut_edges is None else options.cut_edges,
        score=options.score,
        epsilon=options.epsilon,
    )
    mixture = _mixture(options, problem.n_units)
    description = describe_run(
        geography, testimonies, problem, target, start, options.seed, options.step, mixture
    )
    description["start_plan"] = source
    print(
        f"Run {description['name']}: {n_districts} districts of {lower:,} to {upper:,} people, start {source}"
    )
    print(f"  start: {_figures(at_start)}")
    # A folder that cannot be used is refused before the walk is compiled, and made only after.
    check_folder(options.out)
    _prepare_walk(options.step, mixture)
    with RunFolder(options.out, geography, n_districts, description) as folder:
        chain = Chain(problem, target, start, options.seed, options.step, mixture=mixture)
        with tqdm(total=options.steps, unit="step", unit_scale=True) as bar:
            record_chain(chain, folder, options.steps, options.thin, bar.update)
    print(f"  end:   {_figures(evaluate_plan(problem, chain.assignment, n_districts))}")
    for move, outcomes in chain.outcomes_by_move.items():
        print(f"  {move.replace('_', '-')}")
        for name, count in outcomes._asdict().items():
            print(f"    {name.replace('_', ' '):<20}{count / max(sum(outcomes), 1):>7.1%}")
    if chain.steps < options.steps:
        print(
            f"Interrupted after {chain.steps:,} steps; the plans so far are in {options.out}", file=sys.stderr
        )
        return 1
    print(f"Plans are in {options.out}")
    return 0


def _figures(statistics: "PlanStatistics") -> str:
    parts = [f"{statistics.cut_edges:,} cut edges"]
    if len(statistics.preserved):
        parts.append(f"testimony score {statistics.score_testimony:.3f}")
    if len(statistics.cluster_best_share):
        parts.append(f"cluster score {statistics.score_cluster:.3f}")
    return ", ".join(parts)


def _add_serve(commands: argparse._SubParsersAction) -> None:
    parser = commands.add_parser("serve", help="open the page in the browser")
    add_input_options(parser)
    parser.add_argument("--port", type=int, default=5006)
    parser.add_argument("--no-show", action="store_true", help="serve without opening a browser")
    parser.set_defaults(run=_serve)


def _serve(options: argparse.Namespace) -> int:
    from panel.command import main as run_panel

    from bottomup.sampler.chain import default_mixture

    # Files that cannot be used are refused here, and the walk is compiled, before a browser opens.
    inputs = load_inputs(options)
    _prepare_walk("mixed", default_mixture(inputs.geography.n_units))
    command = ["panel", "serve", str(Path(__file__).with_name("app.py")), "--port", str(options.port)]
    # A closed page is forgotten within seconds, with all that it holds.
    command += ["--unused-session-lifetime", "5000", "--check-unused-sessions", "2000"]
    if not options.no_show:
        command.append("--show")
    # Panel reads the command line of the process, whatever it is called with.
    sys.argv = [*command, "--args", *input_arguments(options)]
    run_panel()
    return 0
