"""Whether what is shown at an epsilon can be relied on: what two ladders from unlike starts say of it."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from numpy.typing import ArrayLike

from bottomup.dashboard.health import RungFigures, quantities_of
from bottomup.dashboard.pool import RecordedLadders
from bottomup.dashboard.recording import Plans
from bottomup.sampler.diagnostics import (
    MIN_DRAWS_TO_JUDGE,
    WARM_UP_SHARE,
    Convergence,
    Verdict,
    are_unlike,
    diagnose,
    time_left,
    verdict,
    verdict_of_figures,
)
from bottomup.sampler.reweighting import neighbouring_rungs
from bottomup.sampler.stuck import Reason

__all__ = ["LEAST_PLANS", "Reliability", "judge"]

LEAST_PLANS = math.ceil(MIN_DRAWS_TO_JUDGE / (1 - WARM_UP_SHARE))
"""Plans that each recording needs before ladders are compared."""


@dataclass(frozen=True)
class Reliability:
    """What may be said of the plans shown at one epsilon and of the baseline.

    Attributes
    ----------
    epsilon : float
    verdict : {"one start", "too early", "disagree", "agree"}
    quantity : str
        What the ladders agree on least, such as ``"score_testimony"`` or ``"Democratic 3"``.
    in_baseline : bool
        Whether that is so in the baseline, and epsilon is not 0.
    rhat, ess : float
        The largest R-hat and the smallest effective sample size; NaN before ladders are compared.
    seconds_left : float or None
        Until everything agrees, were the ladders to go on as they do; None when that cannot be said.
    stuck : str
        A sentence about the first walk that stands still; empty while none does.
    stuck_by : tuple of str
        Of every walk that stands still, the test that stops its proposals: see `bottomup.sampler.stuck`.
    rungs : tuple of RungFigures
        The figures of every quantity: at the rungs around epsilon, then in the baseline. Empty before ladders
        are compared.
    """

    epsilon: float
    verdict: Verdict
    quantity: str = ""
    in_baseline: bool = False
    rhat: float = math.nan
    ess: float = math.nan
    seconds_left: float | None = None
    stuck: str = ""
    stuck_by: tuple[Reason, ...] = ()
    rungs: tuple[RungFigures, ...] = ()


def judge(
    recorded: RecordedLadders,
    epsilon: float,
    starts: Sequence[ArrayLike],
    n_districts: int,
    seconds_per_plan: float | None,
    shares: Sequence[str],
) -> Reliability:
    """Compare the ladders at the rungs that are shown for an epsilon, and in the baseline.

    Parameters
    ----------
    recorded : RecordedLadders
    epsilon : float
    starts : sequence of array_like of int, each of shape (n,)
        The plan that each ladder began at.
    n_districts : int
    seconds_per_plan : float or None
        By the clock, between two plans that a recording keeps at present.
    shares : sequence of str
        Names of the recorded shares that are to agree, beside scores and cut edges.
    """
    rungs = neighbouring_rungs(recorded.epsilons, epsilon)
    n_plans = recorded.n_recorded
    seconds = None if seconds_per_plan is None else seconds_per_plan * n_plans
    if n_plans < LEAST_PLANS:
        if len(starts) < 2:
            return Reliability(epsilon, "one start")
        left = None if seconds_per_plan is None else seconds_per_plan * (LEAST_PLANS - n_plans)
        return Reliability(epsilon, "too early", seconds_left=left)
    figures = {
        rung: diagnose(quantities_of(_read(recorded, rung), shares), seconds)
        for rung in dict.fromkeys((*rungs, 0))
    }
    found = [(rung, convergence) for rung, own in figures.items() for convergence in own]
    convergences = [convergence for _, convergence in found]
    worst_rung, worst = max(found, key=lambda pair: _rhat(pair[1]))
    sizes = [min(each.ess_bulk, each.ess_tail) for each in convergences if not each.is_constant]
    return Reliability(
        epsilon=epsilon,
        verdict=_verdict(recorded, convergences, starts, n_districts),
        quantity=worst.quantity,
        in_baseline=worst_rung not in rungs,
        rhat=worst.rhat,
        ess=min(sizes, default=math.nan),
        seconds_left=None if seconds is None else time_left(convergences, seconds),
        rungs=tuple(RungFigures(recorded.epsilons[rung], tuple(own)) for rung, own in figures.items()),
    )


def _verdict(
    recorded: RecordedLadders,
    convergences: Sequence[Convergence],
    starts: Sequence[ArrayLike],
    n_districts: int,
) -> Verdict:
    """What may be claimed. Ladders of one run must have unlike starts; those of several may share them."""
    if not recorded.runs:
        return verdict(convergences, starts, n_districts)
    for run in dict.fromkeys(recorded.runs):
        own = [start for start, of in zip(starts, recorded.runs, strict=True) if of == run]
        if len(own) < 2 or not are_unlike(own, n_districts):
            return "one start"
    return verdict_of_figures(convergences)


def _read(recorded: RecordedLadders, rung: int) -> list[Plans]:
    read = [row[rung].read() for row in recorded.recordings]
    return [plans for plans in read if plans is not None]


def _rhat(convergence: Convergence) -> float:
    return -math.inf if math.isnan(convergence.rhat) else convergence.rhat
