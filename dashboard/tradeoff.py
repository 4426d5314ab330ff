"""What an ensemble would score at every ε of the slider: the curve on which the chosen ε is a point."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from bottomup.dashboard.background import Background
from bottomup.dashboard.early import FEW_PLANS
from bottomup.dashboard.pool import RecordedLadders
from bottomup.dashboard.state import promise

__all__ = ["AtEpsilon", "LadderLook", "measure_ladder", "tradeoff_sentence"]

_GROWN = 0.2
_BAND = (0.05, 0.95)
_WHAT = {
    "testimony": "of testimonies are kept whole",
    "cluster": "of cluster weight is in best districts",
}


@dataclass(frozen=True, eq=False)
class AtEpsilon:
    """Both scores of the plans that stand for one ε. Letter: ``R`` plans.

    Attributes
    ----------
    epsilon : float
    n_effective : float
        How many plans of equal weight would tell as much.
    scores : mapping of str to float64 array, shape (R,)
        ``"testimony"`` and ``"cluster"``.
    """

    epsilon: float
    n_effective: float
    scores: Mapping[str, NDArray[np.float64]]

    def mean(self, kind: str) -> float:
        """Mean score of the plans."""
        return float(np.mean(self.scores[kind]))

    def band(self, kind: str) -> tuple[float, float]:
        """Between which scores the middle 90 % of the plans lie."""
        low, high = np.quantile(self.scores[kind], _BAND)
        return float(low), float(high)


def measure_ladder(
    recorded: RecordedLadders, epsilons: Sequence[float], is_stopped: Callable[[], bool]
) -> list[AtEpsilon] | None:
    """Score the plans that stand for each ε.

    All of them were sampled for the score of the recordings' design; the other score is measured on the same
    plans.

    Parameters
    ----------
    recorded : RecordedLadders
    epsilons : sequence of float
        Those beyond the rungs are left out.
    is_stopped : callable

    Returns
    -------
    list of AtEpsilon or None
        None when stopped, or while a rung has no plans.
    """
    found = []
    for epsilon in recorded.within(epsilons):
        sample = None if is_stopped() else recorded.sample(epsilon)
        if sample is None:
            return None
        scores = {kind: sample.scores(kind) for kind in ("testimony", "cluster")}
        found.append(AtEpsilon(epsilon, sample.n_effective, scores))
    return found


class LadderLook:
    """Keeps the scores at every ε at hand while plans come in, measured in a thread of their own.

    Parameters
    ----------
    epsilons : sequence of float
    """

    def __init__(self, epsilons: Sequence[float]) -> None:
        self._epsilons = tuple(epsilons)
        self._work: Background[list[AtEpsilon]] = Background()
        self._of: RecordedLadders | None = None
        self._rounds = 0
        self._latest: list[AtEpsilon] | None = None

    def at(self, recorded: RecordedLadders, rounds: int) -> list[AtEpsilon] | None:
        """The latest look, or None while there is none; renewed in the background, so ask again later.

        Parameters
        ----------
        recorded : RecordedLadders
        rounds : int
            How far the ladders are.
        """
        outcome = self._work.outcome
        if outcome.result is not None:
            self._latest = outcome.result
        is_other = self._of is not recorded
        # While there is none, as long as a rung has no plans, every round may bring the first.
        # What failed is not tried at every look.
        waits = self._latest or outcome.error
        enough = (1 + _GROWN) * self._rounds if waits else self._rounds
        if is_other or (not outcome.is_running and rounds > enough):
            if self._of is not None and self._of.design != recorded.design:
                self._latest = None
            self._of, self._rounds = recorded, rounds
            self._work.start(lambda is_stopped: measure_ladder(recorded, self._epsilons, is_stopped))
        return self._latest

    @property
    def error(self) -> str:
        """Why the latest look failed; empty while it has not."""
        return self._work.outcome.error


def tradeoff_sentence(kind: str, found: Sequence[AtEpsilon], epsilon: float) -> str:
    """What the chosen ε buys, beside what it allows, as HTML."""
    here = next((each for each in found if each.epsilon == epsilon), None)
    if here is None:
        return promise(epsilon)
    low, high = here.band(kind)
    early = " These are few plans: expect change." if here.n_effective < FEW_PLANS else ""
    return (
        f"<b>{promise(epsilon)}</b> On average {here.mean(kind):.1%} {_WHAT[kind]}, in the middle 90 % of "
        f"plans {low:.1%} to {high:.1%}.{early}"
    )
