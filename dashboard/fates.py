"""How often communities are kept whole, how sure that is, and which are sacrificed for others."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from bottomup.dashboard.pool import Sample
from bottomup.data.testimonies import Clusters, Testimonies, pack_units

__all__ = [
    "Fates",
    "Frequencies",
    "Rival",
    "compare",
    "find_rivals",
    "frequencies",
    "units_of_clusters",
    "whole_in_plans",
]

LEAST_CHANGE = 0.05
"""Smaller changes are not worth a word, however sure they are."""
_STANDARD_ERRORS = 2.0
# Plans added in the mind, half of which keep everything whole: ten plans out of ten are not certainty.
_IMAGINED = 4.0
# A choice between two communities is told from this many plans on each side, and by this much.
_LEAST_PLANS, _LEAST_CONTRAST = 20, 0.1


@dataclass(frozen=True, eq=False)
class Frequencies:
    """How much of N communities is kept whole in some plans.

    Attributes
    ----------
    mean : float64 array, shape (N,)
        Of a testimony, the share of plans that keep it whole; of a cluster, the mean share of its testimonies
        that are. NaN for a cluster without any.
    error : float64 array, shape (N,)
        Standard errors.
    """

    mean: NDArray[np.float64]
    error: NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Fates:
    """N communities in plans beside the baseline.

    Attributes
    ----------
    kept, baseline, change : float64 arrays, shape (N,)
        Shares, and the first less the second.
    error : float64 array, shape (N,)
        Standard errors of the change.
    is_sacrificed, is_gaining : bool arrays, shape (N,)
        Whether it is kept whole clearly less, or clearly more, than in the baseline: by more than 5 points
        and by more than two standard errors. Of a thousand communities for which nothing has changed, chance
        alone lets some 23 differ by two standard errors in one direction; the 5 points leave of these only
        those in samples that tell as much as fewer than some 800 plans.
    """

    kept: NDArray[np.float64]
    baseline: NDArray[np.float64]
    change: NDArray[np.float64]
    error: NDArray[np.float64]
    is_sacrificed: NDArray[np.bool_]
    is_gaining: NDArray[np.bool_]


def whole_in_plans(sample: Sample, n_testimonies: int) -> NDArray[np.uint8]:
    """Which plans keep which testimonies whole, shape (R, T), as 0 and 1."""
    return np.unpackbits(sample.plans.preserved, axis=1, count=n_testimonies)


def frequencies(
    whole: NDArray[np.uint8], n_effective: float, clusters: Clusters | None = None
) -> Frequencies:
    """How much is kept whole in plans, by testimony, or by cluster when there are clusters.

    The standard error is that of so many independent plans and four more, two of which keep everything and
    two nothing.

    Parameters
    ----------
    whole : uint8 array, shape (R, T)
        As `whole_in_plans` gives it.
    n_effective : float
    clusters : Clusters, optional
    """
    if not len(whole):
        n_rows = whole.shape[1] if clusters is None else len(clusters.names)
        return Frequencies(np.full(n_rows, np.nan), np.full(n_rows, np.nan))
    if clusters is None:
        mean = whole.mean(axis=0, dtype=np.float64)
        square = mean
    else:
        n_clusters = len(clusters.names)
        inside = clusters.of_testimony >= 0
        counts = np.bincount(clusters.of_testimony[inside], minlength=n_clusters)
        shares = np.zeros((whole.shape[1], n_clusters), dtype=np.float32)
        with np.errstate(divide="ignore", invalid="ignore"):
            shares[inside, clusters.of_testimony[inside]] = 1.0
            by_plan = (whole.astype(np.float32) @ shares) / counts
        mean, square = by_plan.mean(axis=0, dtype=np.float64), (by_plan**2).mean(axis=0, dtype=np.float64)
    n = n_effective + _IMAGINED
    middle = (n_effective * mean + _IMAGINED / 2) / n
    second = (n_effective * square + _IMAGINED / 2) / n
    return Frequencies(mean, np.sqrt(np.maximum(second - middle**2, 0.0) / n))


def compare(kept: Frequencies, baseline: Frequencies, *, is_judged: bool = True) -> Fates:
    """Put frequencies beside those of the baseline; nothing is clear when it is too early to judge."""
    change = kept.mean - baseline.mean
    error = np.hypot(kept.error, baseline.error)
    with np.errstate(invalid="ignore"):
        is_clear = (np.abs(change) > np.maximum(LEAST_CHANGE, _STANDARD_ERRORS * error)) & is_judged
        return Fates(
            kept.mean, baseline.mean, change, error, is_clear & (change < 0), is_clear & (change > 0)
        )


def units_of_clusters(testimonies: Testimonies) -> tuple[NDArray[np.int64], NDArray[np.int32]]:
    """Units that any testimony of a cluster covers, cluster after cluster, as `Testimonies` has its own."""
    clusters = testimonies.clusters
    if clusters is None:
        return pack_units([])
    empty = np.empty(0, dtype=np.int32)
    return pack_units(
        [
            np.unique(np.concatenate([empty, *(testimonies.units_of(int(t)) for t in clusters.members(c))]))
            for c in range(len(clusters.names))
        ]
    )


@dataclass(frozen=True)
class Rival:
    """A testimony that plans keep whole more often when they split another one.

    Attributes
    ----------
    place : int
    when_split, when_whole : float
        Share of the plans that keep it whole, of those that split the other one and of those that do not.
    """

    place: int
    when_split: float
    when_whole: float


def find_rivals(
    whole: NDArray[np.uint8], place: int, is_gaining: NDArray[np.bool_], most: int = 2
) -> tuple[Rival, ...]:
    """Testimonies that gain, and that plans keep rather than the one at ``place``, clearest first.

    None are told where fewer than 20 plans keep it whole, or split it, nor where the difference is below ten
    points.
    """
    kept = whole[:, place].astype(bool)
    if min(kept.sum(), (~kept).sum()) < _LEAST_PLANS:
        return ()
    when_whole, when_split = (whole[rows].mean(axis=0, dtype=np.float64) for rows in (kept, ~kept))
    contrast = np.where(is_gaining, when_split - when_whole, -1.0)
    clearest = np.argsort(-contrast, kind="stable")[:most]
    return tuple(
        Rival(int(other), float(when_split[other]), float(when_whole[other]))
        for other in clearest
        if contrast[other] >= _LEAST_CONTRAST
    )
