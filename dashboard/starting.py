"""What commands that run the walk share: the law's options, unlike starts, and an end by interrupt."""

import argparse
import signal
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from types import FrameType
from typing import TYPE_CHECKING, Any, NamedTuple

from bottomup.dashboard.options import Inputs

if TYPE_CHECKING:
    import numpy as np

    from bottomup.data.testimonies import Testimonies
    from bottomup.sampler.problem import Problem

__all__ = [
    "TREES",
    "Starts",
    "add_law_options",
    "check_plan_options",
    "find_starts",
    "hopeless_sentence",
    "stopping",
]

TREES = "made from random trees"


def add_law_options(parser: argparse.ArgumentParser) -> None:
    """Add what decides the law besides testimony to ``parser``."""
    parser.add_argument(
        "--tolerance",
        type=float,
        default=0.05,
        help="largest population deviation of a district (default: 0.05, that is 5 %%)",
    )
    parser.add_argument(
        "--districts", type=int, help="make starts with so many districts, in place of --plan"
    )
    parser.add_argument(
        "--compactness", type=float, default=0.005, help="weight of the cut edges (default: 0.005)"
    )
    parser.add_argument(
        "--cut-edges", type=float, help="cut edges at the centre (default: those of the first start)"
    )


def check_plan_options(options: argparse.Namespace) -> None:
    """Refuse a plan together with a number of districts.

    Raises
    ------
    ValueError
        Naming both options.
    """
    if options.districts is not None and options.plan is not None:
        raise ValueError(
            f"--districts {options.districts} and --plan {options.plan} were both given; give the plan to "
            "start from, or the number of districts of starts that are made"
        )


class Starts(NamedTuple):
    """The plan that each chain starts from, the districts that all have, and what was repaired in plans."""

    n_districts: int
    lower: int
    upper: int
    plans: "list[np.ndarray]"
    names: list[str]
    labels: tuple[str, ...]
    repairs: list[dict[str, Any]]


def find_starts(
    options: argparse.Namespace,
    inputs: Inputs,
    problem: "Problem",
    further: Sequence[str] = (),
    n_starts: int | None = None,
    remedy: str = "give further plans with --start, or fewer --chains",
    say: Callable[[str], object] = print,
) -> Starts:
    """The plans given, and the rest made from random trees.

    When the number of starts is left open it is 2, or as many as plans are given; and when no plan can be
    made, the given ones must do.

    Parameters
    ----------
    options : argparse.Namespace
        With those of :func:`add_law_options`, and the seed.
    inputs : Inputs
    problem : Problem
    further : sequence of str
        Plans to start from besides the enacted one: columns or files.
    n_starts : int, optional
    remedy : str
        What to do when no plan could be made.
    say : callable
        Called with a line about each plan that does not fit as it is.
    """
    from bottomup.dashboard.repairing import plan_sentences, start_of
    from bottomup.data.plans import check_feasible, load_plan, population_bounds
    from bottomup.sampler.start import StartError, make_unlike_starts

    geography = inputs.geography
    given = [] if options.districts is not None or inputs.enacted is None else [inputs.enacted]
    fill = inputs.repair_plan
    given += [inputs.plans.get(name) or load_plan(name, geography, fill_missing=fill) for name in further]
    k = given[0].n_districts if options.districts is None else options.districts
    lower, upper = population_bounds(geography.total_population, k, options.tolerance)
    check_feasible(geography, k, lower, upper)
    valid = []
    for plan in given:
        for sentence in plan_sentences(plan):
            say(sentence)
        valid.append(start_of(inputs, plan, lower, upper, k))
        for sentence in valid[-1].sentences:
            say(sentence)
    n_plans = max(2, len(given)) if n_starts is None else n_starts
    assignments = [start.plan.assignment for start in valid]
    try:
        plans = make_unlike_starts(problem, k, lower, upper, assignments, n_plans, options.seed)
    except StartError as error:
        if n_starts is not None or not given:
            raise StartError(f"{error}; {remedy}") from error
        say(f"One chain alone: {error}; {remedy}.")
        plans = make_unlike_starts(problem, k, lower, upper, assignments, len(given), options.seed)
    names = [start.name for start in valid] + [TREES] * (len(plans) - len(given))
    labels = given[0].labels if given else tuple(str(number) for number in range(1, k + 1))
    repairs = [start.repair for start in valid if start.repair is not None]
    return Starts(k, lower, upper, plans, names, labels, repairs)


def hopeless_sentence(testimonies: "Testimonies", population: "np.ndarray", upper: int) -> str:
    """Name the testimonies that no plan can keep whole; empty when there are none."""
    from bottomup.data.errors import list_some

    hopeless = testimonies.never_whole(population, upper)
    if not hopeless:
        return ""
    return (
        f"No plan can keep these testimonies whole, for they have no unit on the map or more than "
        f"{upper:,} people; they are counted all the same: {list_some(hopeless)}"
    )


@contextmanager
def stopping() -> Iterator[Callable[[], bool]]:
    """Let the first interrupt from the keyboard end the run after the batch in hand, the next one at once."""
    stopped = threading.Event()
    before = signal.getsignal(signal.SIGINT)

    def stop(number: int, frame: FrameType | None) -> None:
        stopped.set()
        signal.signal(signal.SIGINT, before)

    # Where interrupts are ignored, as in the background, they stay so.
    if before is not signal.SIG_IGN:
        signal.signal(signal.SIGINT, stop)
    try:
        yield stopped.is_set
    finally:
        signal.signal(signal.SIGINT, before)
