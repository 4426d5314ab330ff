"""What may be said of a run at its end: figures for a file, and sentences."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from bottomup.sampler.diagnostics import (
    RHAT_BELOW,
    Convergence,
    Verdict,
    diagnose,
    time_left,
    verdict,
)
from bottomup.sampler.problem import Problem
from bottomup.sampler.recording import Recording
from bottomup.sampler.sources import Source
from bottomup.sampler.stuck import why_stuck
from bottomup.sampler.traces import UNITS_MOVED

__all__ = ["RungReport", "assess", "conclusion", "describe_rung", "quantity_title", "stuck_sentences"]

TITLES = {
    "score_testimony": "testimony score",
    "score_cluster": "cluster score",
    "cut_edges": "cut edges",
    UNITS_MOVED: "units with new mates",
}


@dataclass(frozen=True)
class RungReport:
    """What the chains say at one epsilon."""

    epsilon: float
    verdict: Verdict
    convergences: tuple[Convergence, ...]
    seconds_left: float | None
    """By the clock, at the same speed, see :func:`time_left`."""

    @property
    def worst(self) -> Convergence | None:
        """The quantity with the largest R-hat; None when none has any."""
        known = [found for found in self.convergences if not math.isnan(found.rhat)]
        return max(known, key=lambda found: found.rhat, default=None)


def quantity_title(quantity: str, n_districts: int) -> str:
    """What to call a quantity: "Democratic 4" is the 4th lowest Democratic share of a plan's districts.

    What a share is of follows it: "4th lowest Democratic share, President 2020".
    """
    if quantity in TITLES:
        return TITLES[quantity]
    name, number = quantity.rsplit(" ", 1)
    name, comma, of = name.partition(",")
    rank, share = int(number), f"{name} share{comma}{of}"
    if rank in (1, n_districts):
        return f"{'lowest' if rank == 1 else 'highest'} {share}"
    tens, ones = divmod(rank, 10)
    ending = "th" if tens % 10 == 1 else {1: "st", 2: "nd", 3: "rd"}.get(ones, "th")
    return f"{rank}{ending} lowest {share}"


def assess(
    recording: Recording, epsilons: Sequence[float], starts: Sequence[ArrayLike], n_districts: int
) -> list[RungReport]:
    """Diagnostics at each epsilon of a run.

    Parameters
    ----------
    recording : Recording
    epsilons : sequence of float
        Of its traces.
    starts : sequence of array_like of int, each of shape (n,)
        One for each chain or ladder.
    n_districts : int
    """
    reports = []
    for epsilon, traces in zip(epsilons, recording.traces, strict=True):
        found = diagnose(traces.quantities(), recording.seconds)
        reports.append(
            RungReport(
                epsilon=epsilon,
                verdict=verdict(found, starts, n_districts),
                convergences=tuple(found),
                seconds_left=time_left(found, recording.seconds),
            )
        )
    return reports


def describe_rung(report: RungReport) -> dict[str, Any]:
    """The figures at one epsilon, ready for JSON: null where one is undefined or infinite."""
    return {
        "epsilon": report.epsilon,
        "verdict": report.verdict,
        "seconds_left": _number(report.seconds_left),
        "quantities": {
            found.quantity: {
                "rhat": _number(found.rhat),
                "ess_bulk": _number(found.ess_bulk),
                "ess_tail": _number(found.ess_tail),
                "ess_bulk_per_second": _number(found.ess_bulk_per_second),
                "ess_tail_per_second": _number(found.ess_tail_per_second),
                "draws_of_each_chain": found.n_draws,
                "is_constant": found.is_constant,
                "agrees": found.agrees(),
            }
            for found in report.convergences
        },
    }


def _number(value: float | None) -> float | None:
    return float(f"{value:.6g}") if value is not None and math.isfinite(value) else None


def conclusion(reports: Sequence[RungReport], n_starts: int, n_districts: int, is_ladder: bool) -> str:
    """What may be claimed, in plain sentences.

    Parameters
    ----------
    reports : sequence of RungReport
        One, or one for each rung.
    n_starts, n_districts : int
    is_ladder : bool
    """
    kind = "ladder" if is_ladder else "chain"
    if n_starts == 1:
        return (
            f"One {kind} from one start: agreement cannot be claimed, whatever the figures. It takes two or "
            f"more {kind}s from unlike starts."
        )
    who = f"The {n_starts} {kind}s"
    if any(report.verdict == "one start" for report in reports):
        return (
            f"{who} began at plans that are alike, so agreement cannot be claimed, whatever the figures. "
            "Give unlike plans to start from."
        )
    who += " from unlike starts"
    apart = [report for report in reports if report.verdict == "disagree"]
    early = [report for report in reports if report.verdict == "too early"]
    if not apart and not early:
        everywhere = " at every epsilon of the ladder" if is_ladder else ""
        return f"{who} agree{everywhere}: R-hat is below {RHAT_BELOW:g} for all that was measured."
    sentences = []
    if apart:
        worst = max(apart, key=_largest)
        found = worst.worst
        assert found is not None  # an R-hat at or above the limit is a number
        of = _epsilons(apart, reports) if is_ladder else ""
        where = f" at epsilon {worst.epsilon:g}" if is_ladder else ""
        quantity = quantity_title(found.quantity, n_districts)
        value = f"{found.rhat:.2f}" if math.isfinite(found.rhat) else "infinite"
        sentences.append(f"{who} do not agree yet{of}: R-hat {value} for the {quantity}{where}")
    if early:
        of = _epsilons(early, reports) if is_ladder else ""
        whom = "" if apart else f" whether {who[0].lower()}{who[1:]} agree"
        sentences.append(f"It is too early to tell{whom}{of}: there are too few draws")
    times = [report.seconds_left for report in (*apart, *early)]
    known = [seconds for seconds in times if seconds is not None]
    if len(known) == len(times):
        sentences[-1] += f"; about {_duration(max(known))} more at this speed"
    return ". ".join(sentences) + "."


def _largest(report: RungReport) -> float:
    return report.worst.rhat if report.worst is not None else -math.inf


def _epsilons(some: Sequence[RungReport], reports: Sequence[RungReport]) -> str:
    if len(some) == len(reports):
        return " at any epsilon of the ladder"
    return " at epsilon " + ", ".join(f"{report.epsilon:.3g}" for report in some)


def _duration(seconds: float) -> str:
    """A time with as few figures as an estimate deserves."""
    for unit, length in (("days", 86400.0), ("h", 3600.0), ("min", 60.0)):
        if seconds >= 1.5 * length:
            return f"{seconds / length:,.0f} {unit}"
    return f"{math.ceil(seconds)} s"


def stuck_sentences(source: Source, recording: Recording, problem: Problem) -> list[str]:
    """A sentence for each chain, or rung of ladders, that stood still in the later half of the run."""
    sentences = []
    for place, outcomes in enumerate(recording.window):
        stuck = why_stuck(outcomes)
        if stuck is not None:
            name, target, plan = source.present(place)
            ends = plan[problem.edges]
            n_cut_edges = int(np.count_nonzero(ends[:, 0] != ends[:, 1]))
            sentences.append(stuck.sentence(name, target, n_cut_edges))
    return sentences
