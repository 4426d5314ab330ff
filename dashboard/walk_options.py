"""The options of commands that run the walk, and what they stand for."""

import argparse
from typing import TYPE_CHECKING

from bottomup.dashboard.options import add_score_options

if TYPE_CHECKING:
    from bottomup.sampler.chain import Step
    from bottomup.sampler.types import Mixture

__all__ = ["add_walk_options", "choose_mixture", "moves_of", "prepare_walk", "seed_option"]


def add_walk_options(parser: argparse.ArgumentParser) -> None:
    """Add the score, the moves and the seed to ``parser``."""
    add_score_options(parser)
    parser.add_argument(
        "--moves",
        choices=["mixture", "walk"],
        help="a mixture of the Marked Edge Walk with companion moves of the same law (default), or the walk "
        "alone",
    )
    parser.add_argument(
        "--step",
        choices=["mixed", "paper"],
        default="mixed",
        help="of the walk: one of its two moves with even chances (default), or the paper's step that "
        "combines both, which is for the walk alone",
    )
    parser.add_argument(
        "--seed", type=seed_option, default=1, help="whole number that decides the plans (default: 1)"
    )


def seed_option(text: str) -> int:
    """A seed from the command line."""
    if not text.isdecimal():
        raise argparse.ArgumentTypeError(f"must be a whole number, not negative; got {text!r}")
    return int(text)


def moves_of(options: argparse.Namespace) -> str:
    """``"mixture"`` or ``"walk"``: what was asked for, or what goes with the step.

    Raises
    ------
    ValueError
        When options contradict each other.
    """
    if options.step == "paper":
        if options.moves == "mixture":
            raise ValueError("--step paper is for the walk alone; give --moves walk with it, or leave it out")
        if options.exchange:
            raise ValueError("--step paper does not go with --exchange; leave one of them out")
        return "walk"
    return options.moves or "mixture"


def choose_mixture(moves: str, n_units: int) -> "Mixture":
    """The mixture that an answer of :func:`moves_of` stands for on a map."""
    from bottomup.sampler.chain import WALK_ALONE, default_mixture

    return default_mixture(n_units) if moves == "mixture" else WALK_ALONE


def prepare_walk(step: "Step", mixture: "Mixture") -> None:
    """Compile the kernels, or load them, and say so."""
    # Imported by the command that needs it: numba takes a second.
    from bottomup.sampler.chain import warm_up

    print("Preparing the walk (the first time it is compiled, which takes up to a minute) ...", flush=True)
    warm_up(step, mixture)
