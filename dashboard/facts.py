"""A closer look at an ensemble: what can be told from whole plans only, not from their recorded figures."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from bottomup.dashboard.background import Background
from bottomup.dashboard.pool import RecordedLadders, Sample

__all__ = ["CloserLook", "WholePlans", "collect_whole_plans"]

_MOST_PLANS = 400
# The look is taken anew when so many rounds more, as a share, have been recorded.
_GROWN = 0.25


@dataclass(frozen=True, eq=False)
class WholePlans:
    """Some plans of a sample, of equal weight. Letters: ``R`` plans, ``n`` units.

    Attributes
    ----------
    epsilon : float
    last_round : int
        Of the sample.
    plans : uint8 or uint16 array, shape (R, n)
        District of each unit. The districts of two plans have nothing to do with each other.
    """

    epsilon: float
    last_round: int
    plans: NDArray[np.unsignedinteger]

    @property
    def n_plans(self) -> int:
        """Number of plans."""
        return len(self.plans)

    @lru_cache(maxsize=1)  # noqa: B019 (of one map; it lives as long as these plans)
    def _cut(self, edges: bytes) -> NDArray[np.float64]:
        u, v = np.frombuffer(edges, dtype=np.int32).reshape(-1, 2).T
        counts = np.zeros(len(u), dtype=np.int64)
        for plan in self.plans:
            counts += plan[u] != plan[v]
        return counts / max(1, self.n_plans)

    def cut_frequency(self, edges: NDArray[np.int32]) -> NDArray[np.float64]:
        """How often each edge is cut, shape (m,), as a share of the plans."""
        return self._cut(np.ascontiguousarray(edges, dtype=np.int32).tobytes())

    def together_with(self, unit: int) -> NDArray[np.float64]:
        """How often each unit shares a district with one of them, shape (n,), as a share of the plans."""
        return np.mean(self.plans == self.plans[:, [unit]], axis=0)

    def spread(
        self, indptr: NDArray[np.int64], units: NDArray[np.integer]
    ) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Over how many districts sets of units are spread, and the share of units in the best one.

        Parameters
        ----------
        indptr, units : int arrays
            As `bottomup.data.testimonies.Testimonies` has them.

        Returns
        -------
        n_districts, best_share : float64 arrays, shape (T,)
            Means over the plans; NaN for a set without units.
        """
        sizes = np.diff(indptr)
        set_of = np.repeat(np.arange(len(sizes)), sizes)
        k = int(self.plans.max()) + 1 if self.plans.size else 1
        n_districts, best = np.zeros(len(sizes)), np.zeros(len(sizes))
        for plan in self.plans:
            counts = np.bincount(set_of * k + plan[units], minlength=len(sizes) * k).reshape(-1, k)
            n_districts += (counts > 0).sum(axis=1)
            best += counts.max(axis=1)
        plans = max(1, self.n_plans)
        with np.errstate(invalid="ignore", divide="ignore"):
            return np.where(sizes > 0, n_districts / plans, np.nan), best / plans / sizes


def collect_whole_plans(
    recorded: RecordedLadders, sample: Sample, is_stopped: Callable[[], bool], most: int = _MOST_PLANS
) -> WholePlans | None:
    """Read up to ``most`` plans of a sample, evenly spaced; None when stopped or when none is left.

    A plan that comes more than once in the sample comes more than once here. Those that were dropped since
    the sample was made are left out, which happens to every second one alike.
    """
    rows = np.unique(np.linspace(0, sample.n_plans - 1, min(most, sample.n_plans)).astype(np.int64))
    parts = []
    for ladder in np.unique(sample.ladder[rows]):
        for rung in np.unique(sample.rung[rows]):
            if is_stopped():
                return None
            steps = np.sort(
                sample.plans.step[rows[(sample.ladder[rows] == ladder) & (sample.rung[rows] == rung)]]
            )
            distinct, repeats = np.unique(steps, return_counts=True)
            held, plans = recorded.recordings[ladder][rung].read_assignments(distinct)
            if len(held):
                parts.append(np.repeat(plans, repeats[held], axis=0))
    if not parts:
        return None
    return WholePlans(sample.epsilon, sample.last_round, np.concatenate(parts))


class CloserLook:
    """Keeps whole plans of a growing sample at hand, read in a thread of their own."""

    def __init__(self) -> None:
        self._work: Background[WholePlans] = Background()
        self._of: RecordedLadders | None = None
        self._epsilon = 0.0
        self._round = 0
        self._latest: WholePlans | None = None

    def at(self, recorded: RecordedLadders, sample: Sample) -> WholePlans | None:
        """The latest look at plans for the sample's epsilon, or None while there is none.

        A look that is out of date is renewed in the background: ask again later.
        """
        outcome = self._work.outcome
        if outcome.result is not None:
            self._latest = outcome.result
        is_other = self._of is not recorded or self._epsilon != sample.epsilon
        has_grown = sample.last_round > (1 + _GROWN) * self._round
        if is_other or (has_grown and not outcome.is_running):
            self._of, self._epsilon, self._round = recorded, sample.epsilon, sample.last_round
            if is_other:
                self._latest = None
            self._work.start(lambda is_stopped: collect_whole_plans(recorded, sample, is_stopped))
        return self._latest

    @property
    def error(self) -> str:
        """Why the latest look failed; empty while it has not."""
        return self._work.outcome.error

    def stop(self) -> None:
        """End the work in hand."""
        self._work.stop()
