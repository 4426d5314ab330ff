"""What the visitor has chosen, without any page: the models that the views show and change."""

import math
from dataclasses import dataclass
from typing import NamedTuple, get_args

import param

from bottomup.dashboard.design import Design
from bottomup.dashboard.pool import MetPlan
from bottomup.sampler.sensitivity import Sensitivity, WeightingKind

__all__ = [
    "EPSILONS",
    "SHOWN",
    "BarPlan",
    "Draw",
    "Settings",
    "Shown",
    "TakenPlan",
    "promise",
    "promise_caption",
]

_PER_DECADE = (1.0, 1.2, 1.5, 2.0, 2.5, 3.0, 4.0, 5.0, 6.0, 8.0)
EPSILONS: tuple[float, ...] = (0.0, *(round(step / 10, 2) for step in _PER_DECADE), *_PER_DECADE, 10.0)
"""Positions of the ε slider: off, then ten to the decade from 0.1 to 10, evenly spread on a log scale."""

SHOWN = {"current": "Walk's current plan", "enacted": "Enacted plan", "chosen": "Chosen plan"}
"""Kinds of plan that the map can show, and their names on the page."""


class Settings(param.Parameterized):
    """What the walks sample, and whether they run."""

    epsilon = param.Number(
        1.0, bounds=(0.0, 10.0), doc="Most that one testimony moves the log-odds of a plan."
    )
    score = param.Selector(default="testimony", objects=["testimony", "cluster"], doc="What counts as kept.")
    weighting = param.Selector(
        default="coverage",
        objects=list(get_args(WeightingKind)),
        doc="How testimonies weigh in their clusters.",
    )
    enacted = param.Selector(
        default=None, objects=[], check_on_set=True, doc="Name of the plan that stands as the enacted one."
    )
    tolerance = param.Number(
        0.05, bounds=(0.001, 0.5), doc="Largest deviation of a district's population, 1 = 100 %."
    )
    compactness = param.Number(
        0.005, bounds=(0.0, 1.0), doc="Weight of the squared distance from c₀ cut edges."
    )
    seed = param.Integer(1, bounds=(0, 2**31 - 1), doc="Where the random numbers of all walks begin.")
    moves = param.Selector(
        default="mixture",
        objects=["mixture", "walk"],
        doc="Whether companion moves with the same law help the Marked Edge Walk.",
    )
    running = param.Boolean(True, doc="Whether the walks are to go on.")

    def __init__(self, plans: list[str], enacted: str, **values: object) -> None:
        if enacted not in plans:
            raise ValueError(f"enacted must be one of {plans}; got {enacted!r}.")
        super().__init__(**values)
        self.param.enacted.objects = plans
        self.enacted = enacted

    @property
    def design(self) -> Design:
        """What decides every plan; all but ε."""
        return Design(
            self.enacted,
            self.tolerance,
            self.compactness,
            self.seed,
            self.moves,
            self.score,
            self.weighting,
        )


class Draw(NamedTuple):
    """How a plan came to be chosen, and what it would count as if it were released."""

    chosen: str
    """As `bottomup.sampler.accounting.Release` has it."""
    draws: int
    epsilon: float
    """Largest of any of the draws."""


@dataclass(frozen=True, eq=False)
class BarPlan:
    """A plan chosen from a bar of a histogram.

    Attributes
    ----------
    plan : MetPlan
    draw : Draw
        All plans behind the histogram count.
    place : tuple of (int, int, int)
        Step, ladder and rung of its recording, the order in which the plans of a bar come.
    score : {"testimony", "cluster"}
        Of the histogram.
    low, high : float
        Ends of the bar.
    number, of : int
        It is number ``number`` (from 1) of the ``of`` plans of the bar.
    """

    plan: MetPlan
    draw: Draw
    place: tuple[int, int, int]
    score: str
    low: float
    high: float
    number: int
    of: int

    @property
    def title(self) -> str:
        """What plan it is, in words."""
        return (
            f"Plan {self.number} of {self.of} in the bar {self.low:.1%} to {self.high:.1%}, "
            f"met in round {self.plan.origin.round:,}"
        )


@dataclass(frozen=True, eq=False)
class TakenPlan:
    """A plan taken without a look at the charts: drawn by lot, or the walk's own of some moment.

    Attributes
    ----------
    plan : MetPlan
    draw : Draw
    title : str
        What plan it is, in words.
    """

    plan: MetPlan
    draw: Draw
    title: str


class Shown(param.Parameterized):
    """Which plan the map shows."""

    kind = param.Selector(default="current", objects=list(SHOWN), doc="A key of SHOWN.")
    chosen = param.ClassSelector(class_=(BarPlan, TakenPlan), default=None, doc="The plan last chosen.")

    def choose(self, plan: BarPlan | TakenPlan) -> None:
        """Show a plan that has been chosen."""
        self.param.update(chosen=plan, kind="chosen")

    def forget(self) -> None:
        """Let the chosen plan go, as when the walks start anew."""
        kind = "current" if self.kind == "chosen" else self.kind
        self.param.update(kind=kind, chosen=None)


def odds_factor(epsilon: float) -> str:
    """e^ε in figures that can be read aloud: two decimals below 2, one below 10, none above."""
    factor = math.exp(epsilon)
    if factor < 2:
        return f"{factor:.2f}"
    return f"{factor:.1f}" if factor < 10 else f"{factor:,.0f}"


def promise(epsilon: float) -> str:
    """What bounded influence means at this ε, in one sentence."""
    if epsilon == 0:
        return "Off: testimony is ignored, and no testimony changes the odds of any plan."
    return f"With or without any one testimony, the odds of any plan change at most ×{odds_factor(epsilon)}."


def promise_caption(sensitivity: Sensitivity, clusters_are_public: bool | None) -> str:
    """On what the promise rests: stationarity, and for clusters a Δ or groups that look at the data.

    Parameters
    ----------
    sensitivity : Sensitivity
        Of the score in use.
    clusters_are_public : bool or None
        None when the score has nothing to do with clusters.
    """
    caption = "At stationarity: once the walk has forgotten its start."
    if sensitivity.looks_at_data:
        caption += (
            f" The sensitivity Δ = {sensitivity.delta:.4f} is computed from the data: it holds "
            "while the size of the largest testimony stays."
        )
    if clusters_are_public is False:
        caption += " Conditional on the clusters: they came with the testimonies, or were made of them."
    return caption
