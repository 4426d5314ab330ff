"""The fates of a session's communities as they stand now, worked out anew only when plans have come."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from bottomup.dashboard.facts import WholePlans
from bottomup.dashboard.fates import (
    Fates,
    Rival,
    compare,
    find_rivals,
    frequencies,
    units_of_clusters,
    whole_in_plans,
)
from bottomup.dashboard.pool import Sample
from bottomup.dashboard.reliability import Reliability
from bottomup.dashboard.selection import Subset, pick_span
from bottomup.dashboard.session import Session
from bottomup.data.testimonies import Testimonies

__all__ = ["FatesNow", "FatesReader", "Spread", "effective_plans", "fates_of"]

Spread = tuple[NDArray[np.float64], NDArray[np.float64]]
"""Over how many districts each is spread, and the share of its units in the best one; NaN where unknown."""


@dataclass(frozen=True, eq=False)
class FatesNow:
    """What the plans at hand say.

    Attributes
    ----------
    sample : Sample
    subset : Subset or None
        The plans of a span of scores, which the fates are then those of.
    by_testimony : Fates
    by_cluster : Fates or None
        None without clusters.
    is_judged : bool
        Whether the ladders have been compared, so that it is known how much the plans tell.
    whole : uint8 array, shape (R, T)
        Which plans of the sample keep which testimonies whole.
    """

    sample: Sample
    subset: Subset | None
    by_testimony: Fates
    by_cluster: Fates | None
    is_judged: bool
    whole: NDArray[np.uint8]

    def rivals(self, testimony: int) -> tuple[Rival, ...]:
        """Testimonies that plans keep rather than this one, if it is sacrificed."""
        fates = self.by_testimony
        if self.subset is not None or not fates.is_sacrificed[testimony]:
            return ()
        return find_rivals(self.whole, testimony, fates.is_gaining)


def effective_plans(found: Reliability | None, epsilon: float) -> float:
    """Independent plans that would tell as much, by what the ladders disagree on most; NaN if unknown.

    It is small while two ladders disagree; of a ladder alone, or too early, nothing is known.
    """
    if found is None or found.epsilon != epsilon or found.verdict not in ("agree", "disagree"):
        return math.nan
    return float(found.ess)


def fates_of(
    testimonies: Testimonies, sample: Sample, ignoring: Sample, subset: Subset | None, ess: float
) -> FatesNow:
    """Work out the fates.

    Parameters
    ----------
    testimonies : Testimonies
    sample, ignoring : Sample
        Of the chosen ε and of the baseline.
    subset : Subset or None
        Plans of the sample that count; all when None.
    ess : float
        See `effective_plans`.
    """
    n, clusters = testimonies.n_testimonies, testimonies.clusters
    whole, whole_ignoring = whole_in_plans(sample, n), whole_in_plans(ignoring, n)
    is_judged = not math.isnan(ess)
    # Neighbouring plans of a walk are alike, which the weights of a sample say nothing of.
    n_kept, n_ignoring = (
        min(each.n_effective, ess) if is_judged else each.n_effective for each in (sample, ignoring)
    )
    rows = whole
    if subset is not None:
        rows, n_kept = whole[subset.rows], n_kept * subset.n_plans / sample.n_plans
    by_testimony, by_cluster = (
        compare(
            frequencies(rows, n_kept, groups),
            frequencies(whole_ignoring, n_ignoring, groups),
            is_judged=is_judged,
        )
        for groups in (None, clusters)
    )
    return FatesNow(sample, subset, by_testimony, None if clusters is None else by_cluster, is_judged, whole)


class FatesReader:
    """Reads the fates of a session's communities.

    Parameters
    ----------
    session : Session
    """

    def __init__(self, session: Session) -> None:
        self._session = session
        self._testimonies = session.prepared.testimonies
        self._packed = units_of_clusters(self._testimonies)
        self._key: object = None
        self._now: FatesNow | None = None
        self._spread_of: WholePlans | None = None
        n_clusters = len(self._packed[0]) - 1
        self._unknown = _unknown(self._testimonies.n_testimonies), _unknown(n_clusters)
        self._spread = self._unknown

    def read(self, *, all_plans: bool = False) -> FatesNow | None:
        """The fates in the plans of the chosen ε, or None before the first plans.

        Parameters
        ----------
        all_plans : bool
            Whether those that the selection leaves out count as well.
        """
        session = self._session
        sample, ignoring = session.sample(), session.baseline()
        if sample is None or ignoring is None:
            self._key = self._now = None
            return None
        span = None if all_plans else session.selection.span
        ess = effective_plans(session.worker.progress.reliability, session.settings.epsilon)
        standing = session.worker.progress.standing
        recorded = None if standing is None else standing.recorded
        key = (recorded, sample.epsilon, _grown(sample), _grown(ignoring), span, ess)
        if self._now is None or key != self._key:
            subset = None if span is None else pick_span(sample, span)
            self._key, self._now = key, fates_of(self._testimonies, sample, ignoring, subset, ess)
        return self._now

    def spread(self) -> tuple[Spread, Spread]:
        """Spread of testimonies and of clusters in some hundred plans of the chosen ε, unknown until then."""
        plans = self._session.whole_plans()
        if plans is None:
            return self._unknown
        if plans is not self._spread_of:
            own = plans.spread(self._testimonies.indptr, self._testimonies.units)
            self._spread_of, self._spread = plans, (own, plans.spread(*self._packed))
        return self._spread


def _unknown(n: int) -> Spread:
    return np.full(n, np.nan), np.full(n, np.nan)


def _grown(sample: Sample) -> tuple[int, int]:
    return sample.last_round, sample.n_plans
