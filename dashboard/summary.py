"""What ``bottomup sample`` says at the end of a run, and leaves of it in ``run.json``."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from bottomup.sampler.chain import Outcomes
from bottomup.sampler.problem import Problem
from bottomup.sampler.recording import Recording
from bottomup.sampler.report import (
    RungReport,
    assess,
    conclusion,
    describe_rung,
    quantity_title,
    stuck_sentences,
)
from bottomup.sampler.sources import Ladders, Source
from bottomup.sampler.statistics import PlanStatistics, evaluate_plan

__all__ = ["Summary", "figures", "summarize"]

_TITLE_WIDTH = 32


@dataclass(frozen=True)
class Summary:
    """The end of a run."""

    source: Source
    recording: Recording
    problem: Problem
    reference: str
    """The plan since which units may have new district mates."""
    reports: tuple[RungReport, ...]
    """For each epsilon."""
    conclusion: str
    stuck: tuple[str, ...]

    @property
    def n_steps(self) -> int:
        """Steps of each chain, or of each replica after its burn-in."""
        return self.source.n_done * self._size

    @property
    def _size(self) -> int:
        """Steps in what progress is counted in: rounds for ladders."""
        return self.source.ladder.steps_per_round if isinstance(self.source, Ladders) else 1

    def _outcomes(self) -> list[dict[str, Outcomes]]:
        """How steps ended: of each chain, or of each rung over all ladders."""
        source = self.source
        if isinstance(source, Ladders):
            return [source.ladder.outcomes_at(rung) for rung in range(len(source.epsilons))]
        return source.outcomes()

    def outcome(self) -> dict[str, Any]:
        """What goes to ``run.json``."""
        source, seconds = self.source, self.recording.seconds
        found: dict[str, Any] = {
            "complete": self.recording.is_complete,
            "steps": self.n_steps,
            "thin": source.per_record * self._size,
            "seconds": round(seconds, 3),
            "steps_per_second": round(source.n_steps / max(seconds, 1e-9), 1),
            "outcomes": [
                {move: outcomes._asdict() for move, outcomes in by_move.items()}
                for by_move in self._outcomes()
            ],
        }
        if isinstance(source, Ladders):
            rates = source.ladder.exchange_rates
            found |= {
                "rungs": list(source.epsilons),
                "exchange_rates": [float(f"{rate:.4g}") if math.isfinite(rate) else None for rate in rates],
                "round_trips": source.ladder.round_trips.tolist(),
            }
        found["diagnostics"] = {
            "reference": self.reference,
            "conclusion": self.conclusion,
            "stuck": list(self.stuck),
            "by_epsilon": [describe_rung(report) for report in self.reports],
        }
        return found

    def show(self) -> None:
        """Print it."""
        source, k = self.source, self.source.target.n_districts
        kind = "ladder" if isinstance(source, Ladders) else "chain"
        for number in range(source.n_starts):
            if isinstance(source, Ladders):
                plan = source.ladder.chain_at(number, len(source.epsilons) - 1).assignment
            else:
                plan = source.present(number)[2]
            print(f"  {kind} {number} ends at: {figures(evaluate_plan(self.problem, plan, k))}")
        self._show_moves()
        if isinstance(source, Ladders):
            self._show_exchanges(source)
        self._show_diagnostics(kind)
        print(f"\n{self.conclusion}")
        for sentence in self.stuck:
            print(sentence)

    def _show_moves(self) -> None:
        """How the steps of each kind ended, over all chains; of ladders, at the top rung."""
        outcomes = self._outcomes()
        title = "moves"
        if isinstance(self.source, Ladders):
            title, outcomes = "moves, top rung", outcomes[-1:]
        names = next(iter(outcomes[0].values()))._fields
        heads = [f"{_words(name):>11}" for name in names]
        print(f"\n{title:<18}{'steps':>14}  {'  '.join(heads)}")
        for move in outcomes[0]:
            total = np.sum([by_move[move] for by_move in outcomes], axis=0)
            shares = total / max(total.sum(), 1)
            cells = [f"{share:>{len(head)}.2%}" for head, share in zip(heads, shares, strict=True)]
            print(f"{_words(move):<18}{total.sum():>14,}  {'  '.join(cells)}")

    def _show_exchanges(self, source: Ladders) -> None:
        rates = ", ".join(f"{rate:.0%}" for rate in source.ladder.exchange_rates)
        trips = ", ".join(f"{trips:,}" for trips in source.ladder.round_trips)
        print(f"\nExchanges of neighbouring rungs that are accepted: {rates}")
        print(f"Ways of replicas from the lowest rung to the highest and back, by ladder: {trips}")

    def _show_diagnostics(self, kind: str) -> None:
        top = self.reports[-1]
        where = f" at the top rung, epsilon {top.epsilon:g}" if kind == "ladder" else ""
        print(f"\n{_count(self.source.n_starts, kind)}{where}, the later half of the draws:")
        k = self.source.target.n_districts
        titles = [quantity_title(found.quantity, k) for found in top.convergences]
        width = max(_TITLE_WIDTH, 2 + max(map(len, titles)))
        print(f"{'quantity':<{width}}{'R-hat':>8}{'bulk ESS':>11}{'tail ESS':>11}{'ESS/s':>9}")
        for title, found in zip(titles, top.convergences, strict=True):
            rate = found.ess_bulk_per_second
            print(
                f"{title:<{width}}{_number(found.rhat, '.2f'):>8}{_number(found.ess_bulk, ',.0f'):>11}"
                f"{_number(found.ess_tail, ',.0f'):>11}{_number(rate, '.3g'):>9}"
            )


def summarize(
    source: Source,
    recording: Recording,
    problem: Problem,
    starts: Sequence[np.ndarray],
    reference: str,
) -> Summary:
    """Ask everything that is to be said of a run.

    Parameters
    ----------
    source : Source
    recording : Recording
        Of this source.
    problem : Problem
    starts : sequence of int32 arrays, each of shape (n,)
    reference : str
        What to call the first of them.
    """
    k = source.target.n_districts
    reports = tuple(assess(recording, source.epsilons, starts, k))
    is_ladder = isinstance(source, Ladders)
    return Summary(
        source=source,
        recording=recording,
        problem=problem,
        reference=reference,
        reports=reports,
        conclusion=conclusion(reports, source.n_starts, k, is_ladder),
        stuck=tuple(stuck_sentences(source, recording, problem)),
    )


def figures(statistics: PlanStatistics) -> str:
    """The cut edges and scores of a plan."""
    parts = [f"{statistics.cut_edges:,} cut edges"]
    if len(statistics.preserved):
        parts.append(f"testimony score {statistics.score_testimony:.3f}")
    if len(statistics.cluster_best_share):
        parts.append(f"cluster score {statistics.score_cluster:.3f}")
    return ", ".join(parts)


def _words(name: str) -> str:
    return name.replace("_", " ")


def _count(number: int, kind: str) -> str:
    return f"{number} {kind}" + ("" if number == 1 else "s")


def _number(value: float | None, form: str) -> str:
    if value is None or math.isnan(value):
        return "-"
    return "inf" if math.isinf(value) else format(value, form)
