"""Whether chains agree, how much they have told, and how long they may take to.

Chains that begin at the same plan agree long before they have seen the plans of the target law, so agreement
is claimed between unlike starts alone (:func:`verdict`). Every figure is that of Vehtari, Gelman, Simpson,
Carpenter and Bürkner, "Rank-normalization, folding, and localization: an improved R-hat", Bayesian Analysis
16 (2021), as ArviZ computes it; this module decides what to ask, and what an answer may be taken for.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from bottomup.sampler.chain import Records
from bottomup.sampler.statistics import ranked_shares
from bottomup.sampler.types import FloatArray

__all__ = [
    "ESS_AT_LEAST",
    "RHAT_BELOW",
    "Convergence",
    "Verdict",
    "are_unlike",
    "diagnose",
    "quantities_of",
    "share_of_units_moved",
    "time_left",
    "verdict",
    "verdict_of_figures",
]

RHAT_BELOW = 1.05
"""Chains agree on a quantity below this R-hat. The paper advises 1.01 for figures to be published."""
ESS_AT_LEAST = 100.0
"""Effective draws of all chains together, to trust R-hat itself; the paper asks for 400."""
WARM_UP_SHARE = 0.5
"""Share of a chain's draws, from its first on, that still remember the start."""
UNLIKE_SHARE = 0.05
"""Two starts are unlike when at least this share of the units has other district mates."""
MIN_DRAWS = 4
"""Two for each half of a chain: with fewer there is no variance to compare."""
MIN_DRAWS_TO_JUDGE = 100
"""So many independent draws in each chain keep R-hat below ``RHAT_BELOW`` nearly always; fewer may not."""
TAILS = (0.05, 0.95)
"""Quantiles of the tail effective sample size, those of the paper."""

Verdict = Literal["one start", "too early", "disagree", "agree"]


@dataclass(frozen=True)
class Convergence:
    """What chains say about one quantity. Undefined figures are nan, and nan never passes for agreement."""

    quantity: str
    n_chains: int
    n_draws: int
    """Draws of each chain that were looked at, after the warm-up."""
    rhat: float
    """Rank-normalised split R-hat, the larger of the bulk's and the folded one.

    Infinite when no half of any chain moves and they stand at different values. nan for one chain, for fewer
    than four draws, for draws that are not finite, and for a constant.
    """
    ess_bulk: float
    """Effective sample size of all chains together for the bulk.

    nan when no half of any chain moves, for fewer than four draws, and for draws that are not finite.
    """
    ess_tail: float
    """The same for the 5 % and the 95 % quantile, the smaller of the two."""
    is_constant: bool
    """Whether all draws of all chains are one number, which speaks neither for nor against agreement."""
    seconds: float | None = None
    """Computing time of the whole run, the warm-up included."""

    @property
    def ess_bulk_per_second(self) -> float | None:
        """``ess_bulk`` over the seconds of the whole run; None when those were not given."""
        return self.ess_bulk / self.seconds if self.seconds else None

    @property
    def ess_tail_per_second(self) -> float | None:
        """``ess_tail`` over the seconds of the whole run; None when those were not given."""
        return self.ess_tail / self.seconds if self.seconds else None

    def agrees(self, rhat_below: float = RHAT_BELOW, ess_at_least: float = ESS_AT_LEAST) -> bool:
        """Whether the quantity varies, and is within both limits."""
        is_enough = self.ess_bulk >= ess_at_least and self.ess_tail >= ess_at_least
        return self.rhat < rhat_below and is_enough


def diagnose(
    quantities: Mapping[str, Sequence[ArrayLike]],
    seconds: float | None = None,
    warm_up_share: float = WARM_UP_SHARE,
) -> list[Convergence]:
    """R-hat and effective sample sizes of each quantity.

    The chains are cut to the length of the shortest less its warm-up, in favour of the latest draws; an odd
    number of draws loses its oldest, so that both halves of a chain are whole.

    Parameters
    ----------
    quantities : mapping of str to sequence of array_like of numbers, each of shape (R,)
        For each quantity the draws of each chain, oldest first.
    seconds : float, optional
        Computing time of the whole run.
    warm_up_share : float
        Share of the draws, from the first on, to leave out.

    Returns
    -------
    list of Convergence
        In the order of ``quantities``.

    Raises
    ------
    ValueError
        When a quantity has no chains or the warm-up is not a share.
    """
    if not 0 <= warm_up_share < 1:
        raise ValueError(f"warm_up_share must be at least 0 and below 1; got {warm_up_share}")
    found = []
    for name, chains in quantities.items():
        if not len(chains):
            raise ValueError(f"quantity {name!r} has no chains; give the draws of at least one")
        columns = [np.asarray(chain, dtype=np.float64) for chain in chains]
        shortest = min(len(column) for column in columns)
        n_draws = int(shortest * (1 - warm_up_share)) // 2 * 2
        draws = np.stack([column[len(column) - n_draws :] for column in columns])
        found.append(_converge(name, draws, seconds))
    return found


def _converge(quantity: str, draws: FloatArray, seconds: float | None) -> Convergence:
    n_chains, n_draws = draws.shape
    rhat = ess_bulk = ess_tail = math.nan
    is_constant = False
    if n_draws >= MIN_DRAWS and np.isfinite(draws).all():
        halves = draws.reshape(2 * n_chains, n_draws // 2)
        is_constant = bool((draws == draws[0, 0]).all())
        if (halves == halves[:, :1]).all():
            # Asked for a variance of exact zeros, rounding would answer, and perhaps with 1.
            if n_chains > 1 and not is_constant:
                rhat = math.inf
        else:
            rhat, ess_bulk, ess_tail = _ask_arviz(draws)
    return Convergence(quantity, n_chains, n_draws, rhat, ess_bulk, ess_tail, is_constant, seconds)


def _ask_arviz(draws: FloatArray) -> tuple[float, float, float]:
    # Imported here: it brings in scipy.stats and scipy.signal, about a second that most commands can save.
    from arviz_stats.base import array_stats

    # The folded draws of a quantity with two values may all be equal; R-hat is then that of the bulk.
    with np.errstate(divide="ignore", invalid="ignore"):
        rhat = array_stats.rhat(draws, chain_axis=-2, draw_axis=-1, method="rank")
        ess_bulk = array_stats.ess(draws, chain_axis=-2, draw_axis=-1, method="bulk")
        ess_tail = array_stats.ess(draws, chain_axis=-2, draw_axis=-1, method="tail", prob=TAILS)
    return float(rhat), float(ess_bulk), float(ess_tail)


def quantities_of(
    records: Sequence[Records], n_districts: int, shares: Mapping[str, tuple[ArrayLike, ArrayLike]]
) -> dict[str, list[FloatArray]]:
    """The draws of each chain for all that is to agree.

    Parameters
    ----------
    records : sequence of Records
        One for each chain.
    n_districts : int
    shares : mapping of str to (numerator, denominator), array_like of numbers, shape (n,)
        A share named "Democratic" gives "Democratic 1", of each plan's lowest district, and so on up.

    Returns
    -------
    dict of str to list of float64 arrays, each of shape (R,)
        Both scores and the cut edges, then the ranked shares. What is nan in every record is left out: scores
        without testimonies or clusters, ranks whose denominator is always 0.
    """
    quantities = {
        name: [np.asarray(getattr(chain, name), dtype=np.float64) for chain in records]
        for name in ("score_testimony", "score_cluster", "cut_edges")
    }
    for name, (numerator, denominator) in shares.items():
        ranked = [ranked_shares(chain.assignment, n_districts, numerator, denominator) for chain in records]
        for rank in range(n_districts):
            quantities[f"{name} {rank + 1}"] = [chain[:, rank] for chain in ranked]
    return {
        name: chains
        for name, chains in quantities.items()
        if not all(np.isnan(chain).all() for chain in chains)
    }


def share_of_units_moved(
    assignments: NDArray[np.integer], reference: ArrayLike, n_districts: int, weights: ArrayLike | None = None
) -> FloatArray:
    """Share of units that have changed district mates since a reference plan.

    A unit has changed when more than half of its present mates, the other units of its district, were not its
    mates in the reference plan. Districts are told by their units, never by their numbers. All follows from
    the table of how many units each present district a shares with each reference district b: those in both
    have changed when they are at most half of a. In a half they are outnumbered, none being its own mate.

    Parameters
    ----------
    assignments : integer array, shape (R, n)
    reference : array_like of int, shape (n,)
    n_districts : int
    weights : array_like of numbers, shape (n,), optional
        What a unit counts for, both in the table and in the share, such as its people; 1 by default.

    Returns
    -------
    float64 array, shape (R,)
    """
    before = np.asarray(reference, dtype=np.int64)
    weight = np.ones(len(before)) if weights is None else np.asarray(weights, dtype=np.float64)
    moved = np.empty(len(assignments))
    for row, plan in enumerate(assignments):
        cells = plan.astype(np.int64) * n_districts + before
        table = np.bincount(cells, weight, n_districts**2).reshape(n_districts, n_districts)
        has_changed = 2 * table <= table.sum(axis=1, keepdims=True)
        moved[row] = table[has_changed].sum() / weight.sum()
    return moved


def are_unlike(starts: Sequence[ArrayLike], n_districts: int) -> bool:
    """Whether every two of several plans differ in the mates of at least ``UNLIKE_SHARE`` of the units.

    Either plan of a pair is the reference once, and the smaller share counts.

    Parameters
    ----------
    starts : sequence of array_like of int, each of shape (n,)
    n_districts : int
    """
    plans = np.array([np.asarray(start, dtype=np.int64) for start in starts])
    moved = np.array([share_of_units_moved(plans, plan, n_districts) for plan in plans])
    np.fill_diagonal(moved, 1.0)
    return bool((moved >= UNLIKE_SHARE).all())


def verdict(
    convergences: Sequence[Convergence],
    starts: Sequence[ArrayLike],
    n_districts: int,
    rhat_below: float = RHAT_BELOW,
    ess_at_least: float = ESS_AT_LEAST,
) -> Verdict:
    """What may be claimed of the chains.

    "one start"
        One chain, or two that began at plans that are alike (:func:`are_unlike`): whatever the figures,
        agreement would be no news.
    "too early"
        Fewer draws than noise needs to die down, figures that are undefined, nothing that varies, or
        R-hats within their limit on too few effective draws.
    "disagree"
        Some quantity's R-hat is at or above the limit.
    "agree"
        Every quantity that varies is within both limits, and one at least does vary.

    Parameters
    ----------
    convergences : sequence of Convergence
        Of every quantity that is to agree.
    starts : sequence of array_like of int, each of shape (n,)
        The plan that each chain began at. Replicas of one ladder are one chain with one start.
    n_districts : int
    rhat_below, ess_at_least : float

    Raises
    ------
    ValueError
        When there is not one start for each chain.
    """
    for convergence in convergences:
        if convergence.n_chains != len(starts):
            raise ValueError(
                f"starts must hold one plan for each of the {convergence.n_chains} chains of "
                f"{convergence.quantity!r}; got {len(starts)}"
            )
    if len(starts) < 2 or not are_unlike(starts, n_districts):
        return "one start"
    return verdict_of_figures(convergences, rhat_below, ess_at_least)


def verdict_of_figures(
    convergences: Sequence[Convergence], rhat_below: float = RHAT_BELOW, ess_at_least: float = ESS_AT_LEAST
) -> Verdict:
    """What may be claimed of chains that are known to have begun at unlike plans, see :func:`verdict`.

    Parameters
    ----------
    convergences : sequence of Convergence
    rhat_below, ess_at_least : float
    """
    varying = [convergence for convergence in convergences if not convergence.is_constant]
    if not varying or min(convergence.n_draws for convergence in varying) < MIN_DRAWS_TO_JUDGE:
        return "too early"
    if any(convergence.rhat >= rhat_below for convergence in varying):
        return "disagree"
    is_enough = all(convergence.agrees(rhat_below, ess_at_least) for convergence in varying)
    return "agree" if is_enough else "too early"


def time_left(
    convergences: Sequence[Convergence],
    seconds_so_far: float,
    rhat_below: float = RHAT_BELOW,
    ess_at_least: float = ESS_AT_LEAST,
) -> float | None:
    """Seconds until every quantity is within both limits, were the chains to go on as they do.

    R-hat squared is 1 + (B/W - 1)/n for n draws a chain: W is the variance within the chains, and B, n times
    the variance between their means, settles at W times the autocorrelation time. So its excess over 1 falls
    as 1/n, and effective draws grow as n; the slowest quantity decides. The draws looked at are a fixed share
    of the run, so n grows as its seconds. While R-hat is above about 1.4 the chains have not yet met, neither
    B nor W has settled, and the estimate is an order of magnitude at best.

    Parameters
    ----------
    convergences : sequence of Convergence
    seconds_so_far : float
        Of the whole run, by the clock that the answer is wanted in.
    rhat_below, ess_at_least : float

    Returns
    -------
    float or None
        0 when all are within the limits; None when nothing can be said: an R-hat that is infinite or
        undefined, or nothing that varies.
    """
    if rhat_below <= 1:
        raise ValueError(f"rhat_below must be above 1; got {rhat_below}")
    varying = [convergence for convergence in convergences if not convergence.is_constant]
    if not varying or seconds_so_far <= 0:
        return None
    longer = 1.0
    for convergence in varying:
        # Unlike min, it hands a nan on whichever place it has.
        effective = float(np.minimum(convergence.ess_bulk, convergence.ess_tail))
        if not (math.isfinite(convergence.rhat) and effective > 0):
            return None
        longer = max(
            longer,
            (convergence.rhat**2 - 1) / (rhat_below**2 - 1),
            ess_at_least / effective,
            MIN_DRAWS_TO_JUDGE / convergence.n_draws,
        )
    return seconds_so_far * (longer - 1)
