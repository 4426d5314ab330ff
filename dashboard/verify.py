"""The command ``bottomup verify``: the walk, or a ladder, against the exact law on a small grid."""

import argparse
from typing import TYPE_CHECKING

from tqdm import tqdm

from bottomup.dashboard.options import weighting_of
from bottomup.dashboard.walk_options import add_walk_options, choose_mixture, moves_of, prepare_walk

if TYPE_CHECKING:
    from bottomup.sampler.problem import Problem
    from bottomup.sampler.target import Target
    from bottomup.sampler.types import Mixture
    from bottomup.sampler.verification import Verification

__all__ = ["add_verify"]

LADDER_TOP = 2.0


def add_verify(commands: argparse._SubParsersAction) -> None:
    """Add the command to the command line."""
    parser = commands.add_parser(
        "verify", help="compare the walk with the exact law on a grid whose plans can all be listed"
    )
    parser.add_argument("--rows", type=int, default=4, help="rows of the grid (default: 4)")
    parser.add_argument("--cols", type=int, default=4, help="columns of the grid (default: 4)")
    parser.add_argument("--districts", type=int, default=4, help="number of districts (default: 4)")
    parser.add_argument("--min-size", type=int, default=3, help="least units of a district (default: 3)")
    parser.add_argument("--max-size", type=int, default=5, help="most units of a district (default: 5)")
    parser.add_argument(
        "--steps", type=int, default=2_000_000, help="steps, of each rung with --exchange (default: 2000000)"
    )
    parser.add_argument(
        "--compactness", type=float, default=0.02, help="weight of the cut edges (default: 0.02)"
    )
    parser.add_argument("--cut-edges", type=float, help="cut edges at the centre (default: one edge in two)")
    parser.add_argument(
        "--exchange",
        action="store_true",
        help="run a ladder of three rungs, 0, half of --epsilon and --epsilon (2 when not given), and "
        "compare each with its own law",
    )
    parser.add_argument(
        "--control",
        action="store_true",
        help="break the acceptance ratio on purpose: shows that a wrong sampler fails",
    )
    add_walk_options(parser)
    parser.set_defaults(run=_verify)


def _verify(options: argparse.Namespace) -> int:
    # Imported by the command that needs it: numba takes a second.
    from bottomup.sampler.target import Target
    from bottomup.sampler.verification import make_grid_problem

    if options.rows < 2 or options.cols < 2:
        raise ValueError(f"--rows and --cols must be at least 2; got {options.rows} and {options.cols}")
    moves = moves_of(options)
    if options.exchange and options.epsilon == 0:
        options.epsilon = LADDER_TOP
    problem = make_grid_problem(options.rows, options.cols, weighting=weighting_of(options))
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
    top = options.epsilon
    epsilons = [0.0, top / 2, top] if options.exchange else [top]
    print(
        f"Grid {options.rows} x {options.cols}, {options.districts} districts of {options.min_size} to "
        f"{options.max_size} units, {options.score} score, epsilon "
        f"{', '.join(f'{epsilon:g}' for epsilon in epsilons)}{' with exchange' if options.exchange else ''}, "
        f"{moves}, {options.step} step, {options.steps:,} steps, seed {options.seed}"
    )
    if options.control:
        print("Control: the acceptance ratio is broken on purpose.")
    mixture = choose_mixture(moves, problem.n_units)
    prepare_walk(options.step, mixture)
    results = _run(options, problem, target, epsilons, mixture)
    print(f"Plans: {results[0].n_plans:,} in all")
    for epsilon, result in zip(epsilons, results, strict=True):
        if options.exchange:
            print(f"\nThe rung at epsilon {epsilon:g}")
        _print_result(result)
    return 0 if all(result.passed for result in results) else 1


def _run(
    options: argparse.Namespace,
    problem: "Problem",
    target: "Target",
    epsilons: list[float],
    mixture: "Mixture",
) -> "list[Verification]":
    from bottomup.sampler.verification import verify, verify_ladder

    with tqdm(total=options.steps, unit="step", unit_scale=True, leave=False) as bar:
        if options.exchange:
            return verify_ladder(
                problem, target, epsilons, options.steps, options.seed, options.control, mixture, bar.update
            )
        return [
            verify(
                problem,
                target,
                options.steps,
                options.seed,
                options.step,
                options.control,
                mixture,
                bar.update,
            )
        ]


def _print_result(result: "Verification") -> None:
    if result.n_missed:
        print(
            f"       {result.n_missed:,} never visited, of probability {result.missed_probability:.2g} in all"
        )
    print(f"\n{'mean of':<18}{'exact':>10}{'sampled':>10}{'std. error':>12}")
    for name, (exact, sampled, error) in result.means.items():
        print(f"{name:<18}{exact:>10.4f}{sampled:>10.4f}{error:>12.4f}")
    print(f"\nTotal-variation distance from the exact law   {result.distance:.4f}")
    print(
        f"  expected of as many plans with their autocorrelation, that is of\n"
        f"  {result.effective_size:>10,.0f} independent plans               {result.expected:.4f}"
    )
    print(f"  exceeded by a correct walk once in 1,000 runs {result.limit:.4f}")
    print("PASS" if result.passed else "FAIL")
