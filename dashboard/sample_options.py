"""The options of ``bottomup sample``."""

import argparse
from pathlib import Path

from bottomup.dashboard.exchange_plan import check_exchange_options
from bottomup.dashboard.options import add_input_options
from bottomup.dashboard.starting import add_law_options, check_plan_options
from bottomup.dashboard.walk_options import add_walk_options

__all__ = ["add_sample_options", "check_sample_options"]


def add_sample_options(parser: argparse.ArgumentParser) -> None:
    """Add them to ``parser``."""
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
    group.add_argument(
        "--scheduler",
        metavar="ADDRESS",
        help="let the workers of a Dask cluster do the steps, such as tcp://10.0.0.1:8786; the plans are the "
        "same. What is read and written stays on this computer",
    )
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
    parser.add_argument(
        "--resume",
        action="store_true",
        help="go on with the run in --out, which was broken off, with the options that it was begun with; "
        "only --threads and --scheduler may be others",
    )


def check_sample_options(options: argparse.Namespace) -> None:
    """Refuse those that contradict each other.

    Raises
    ------
    ValueError
        Naming them.
    """
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
    check_exchange_options(options)
