"""Replica exchange in ``bottomup sample``: its options, and the rounds and rungs that they come to."""

import argparse
import itertools
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    import numpy as np

    from bottomup.sampler.types import Mixture

__all__ = ["ExchangePlan", "check_exchange_options", "plan_exchange"]


def check_exchange_options(options: argparse.Namespace) -> None:
    """Refuse options of ladders that contradict each other, and let the largest epsilon be the last rung.

    Raises
    ------
    ValueError
        Naming the options.
    """
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


def plan_exchange(options: argparse.Namespace, mixture: "Mixture", n_units: int) -> ExchangePlan:
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
