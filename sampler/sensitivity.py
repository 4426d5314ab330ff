r"""How far one testimony can move a score: the sensitivities, what they rest on, and their proofs.

A score is a *tally* over a *total*, and the exponential mechanism counts the tally alone:

.. math:: \frac{\varepsilon}{2 \Delta} s = \frac{\varepsilon}{2\,\text{most}}\,\text{tally},
          \qquad s = \frac{\text{tally}}{\text{total}}, \quad \Delta = \frac{\text{most}}{\text{total}},

where "most" is how far the tally of any plan can move when one testimony is replaced by any other. The total
cancels, so it need not be public; what must be, for the promise to hold without conditions, is "most".

**Replace one.** Let t and t' differ in one testimony. If the tally of every plan moves by "most" or less,
the exponent of every plan moves by epsilon/2 or less. The odds of a plan (its probability over that of all
others together), and of any set of plans, are a quotient of sums of exponentials, of which each moves by a
factor of exp(epsilon/2) or less: the odds move by a factor of exp(epsilon) or less.

**Add or remove one.** To add a testimony moves no tally down, and none up by more than "most". A common
factor cancels in the quotient, so the odds move by a factor of exp(epsilon/2) or less.

**Groups.** Testimonies can be replaced one after another: g of them move the odds by exp(g epsilon) or less.

**Clusters.** The proofs for clusters take it that each other testimony stays in its cluster when one is
replaced. That is so when a testimony's cluster is found from itself and from public geography alone. It is
not when clusters are fitted to all testimonies together; then the promise is *conditional* on them.
"""

from __future__ import annotations

from typing import Literal, NamedTuple, get_args

import numpy as np
from numpy.typing import ArrayLike

from bottomup.sampler.types import LongArray

__all__ = [
    "MASS",
    "Sensitivity",
    "Weighting",
    "WeightingKind",
    "capped_sensitivity",
    "coverage_sensitivity",
    "coverage_sensitivity_from_data",
    "mass_sensitivity",
    "testimony_sensitivity",
    "unit_weights",
]

WeightingKind = Literal["coverage", "mass"]

MASS = 2**30
"""Mass of one in the whole numbers that the walk counts in; as fine as makes no difference."""


class Weighting(NamedTuple):
    """How much a testimony weighs in its cluster, and where.

    ``coverage``: 1 on each of its units, and with a cap no more than ``cap`` in all, spread evenly.
    ``mass``: 1 in all, spread evenly over its units.
    """

    kind: WeightingKind = "coverage"
    cap: int | None = None

    def check(self) -> None:
        """Refuse what makes no sense.

        Raises
        ------
        ValueError
            Naming the argument.
        """
        if self.kind not in get_args(WeightingKind):
            raise ValueError(
                f"the weighting of clusters must be one of {', '.join(get_args(WeightingKind))}; "
                f"got {self.kind!r}"
            )
        if self.cap is not None and self.kind == "mass":
            raise ValueError("a cap is for coverage: with mass every testimony weighs 1 already")
        if self.cap is not None and self.cap < 1:
            raise ValueError(f"the cap must be at least 1 unit; got {self.cap}")


class Sensitivity(NamedTuple):
    """How far replacing one testimony moves a score, and what that figure rests on."""

    most: int
    """In the tally's whole numbers."""
    total: int
    """What the tally is divided by to give the score."""
    formula: str
    public: dict[str, int]
    """The constants that must be public, and are fixed before testimony is read."""
    looks_at_data: bool
    """Whether the figure is read off the testimonies, so that the promise holds on a condition only."""

    @property
    def delta(self) -> float:
        """Delta, in points of the score; nan when nothing is tallied."""
        return self.most / self.total if self.total else float("nan")


def testimony_sensitivity(n_testimonies: int) -> Sensitivity:
    """Of the share of testimonies that lie inside one district: 1/T.

    The tally is a sum over testimonies of numbers that are 0 or 1, and replacing a testimony changes one of
    them. Reached: a plan keeps the one whole and splits the other. T is the number of testimonies submitted,
    those without a unit on the map included, and does not change when one is replaced.
    """
    return Sensitivity(1, n_testimonies, "1/T", {"T": n_testimonies}, looks_at_data=False)


def mass_sensitivity(n_testimonies: int) -> Sensitivity:
    """Of the cluster score by unit mass: 1/T.

    The tally is the sum over clusters C of max_d m_C(d), m_C(d) being the mass that the testimonies of C
    have in district d, 1 for each testimony in all. To take a testimony out of its cluster lowers each m_C(d)
    by a share of 1 or less, hence the cluster's largest by 0 to 1; to put another into its cluster raises
    that one's largest by 0 to 1. Together the tally moves by something between -1 and 1. Reached: the only
    testimony of a cluster, kept whole, is replaced by one in a lesser district of another cluster.

    The score is the tally over T and not over the mass in clusters: a testimony without a unit on the map, or
    without a cluster, has no mass, and counts as not kept. So the total stays when one is replaced.
    """
    return Sensitivity(MASS, MASS * n_testimonies, "1/T", {"T": n_testimonies}, looks_at_data=False)


def capped_sensitivity(n_testimonies: int, cap: int, total: int) -> Sensitivity:
    """Of the cluster score by coverage in which no testimony weighs more than a public cap B: B/W.

    The proof is that of :func:`mass_sensitivity` with B in place of 1. The total weight W is not public, but
    it cancels, see the module. So this holds without a look at the data. It counts for more than
    :func:`coverage_sensitivity`, which bounds the quotient in place of the tally, whenever W is more than
    (T - 1) b + B: nearly always, since that is what T testimonies weigh of which all but one are as small as
    may be.
    """
    return Sensitivity(MASS * cap, total, "B/W", {"T": n_testimonies, "B": cap}, looks_at_data=False)


def coverage_sensitivity_from_data(sizes: ArrayLike, total: int) -> Sensitivity:
    r"""Of the cluster score by coverage, from the data: max|t|/W.

    The tally N is the sum over clusters of max_d w_C(d), w_C(d) being the number of pairs of a testimony of C
    and a unit of it in d; the score is N/W, W the number of such pairs in all. Let a testimony of a units be
    replaced by one of b, where a <= b; else exchange their roles. As for the mass, N' lies in [N - a, N + b];
    and W' = W - a + b >= W. So

    .. math:: \frac{N'}{W'} - \frac{N}{W} &\le \frac{b}{W'} - N \Bigl(\frac1W - \frac1{W'}\Bigr)
                                        \le \frac{b}{W'}, \\
              \frac{N}{W} - \frac{N'}{W'} &\le N \Bigl(\frac1W - \frac1{W'}\Bigr) + \frac{a}{W'}
                                        \le \frac{W' - W + a}{W'} = \frac{b}{W'} ,

    the last because N <= W. In both roles: |s' - s| <= max(a, b)/max(W, W').

    The figure here puts the largest testimony on record for max(a, b) and W for the larger total. It is
    reached. **It looks at the data**: it holds for replacements no larger than the largest testimony, and
    the promise that is made with it holds as long as the largest size on record stays what it is. A larger
    testimony raises it, and to replace the only one of that size by a smaller one lowers it; either changes
    how much every other testimony counts, and moves the odds by more than epsilon. A public cap is free of
    that.
    """
    largest = int(np.max(sizes, initial=0))
    return Sensitivity(largest, total, "max|t|/W", {}, looks_at_data=True)


def coverage_sensitivity(n_testimonies: int, cap: int, least: int) -> float:
    """Of the cluster score by coverage, for testimonies of ``least`` to ``cap`` units: B/((T-1) b + B).

    From |s' - s| <= max(a, b)/max(W, W'), see :func:`coverage_sensitivity_from_data`: let m be max(a, b). The
    larger of W and W' is m and the sum of the T - 1 others, which is (T - 1) b or more, and m/((T - 1) b + m)
    grows with m, which is B or less. It looks at no data, and is weak unless B is small.

    Parameters
    ----------
    n_testimonies, cap, least : int
        All public: T, B and b. All testimonies belong to clusters.

    Returns
    -------
    float
        In points of the score.
    """
    if not 1 <= least <= cap or n_testimonies < 1:
        raise ValueError(
            "n_testimonies must be at least 1, and least and cap such that 1 <= least <= cap; "
            f"got {n_testimonies}, {least} and {cap}"
        )
    return cap / ((n_testimonies - 1) * least + cap)


def unit_weights(sizes: LongArray, weighting: Weighting) -> LongArray:
    """Weight that each testimony has on each of its units, in whole numbers.

    Parameters
    ----------
    sizes : int64 array, shape (T,)
        Number of units of each testimony.
    weighting : Weighting

    Returns
    -------
    int64 array, shape (nnz,)
        Testimony by testimony. Whole numbers, so that sums are exact: where a weight is to be spread evenly,
        units of one testimony differ by 1 part in ``MASS`` at most, and their sum is what it must be.
    """
    of_row = np.repeat(np.arange(len(sizes)), sizes)
    if weighting.kind == "mass":
        whole = np.full(len(sizes), MASS)
    elif weighting.cap is not None:
        whole = MASS * np.minimum(sizes, weighting.cap)
    else:
        return np.ones(len(of_row), dtype=np.int64)
    place = np.arange(len(of_row)) - np.repeat(np.cumsum(sizes) - sizes, sizes)
    share, rest = whole // np.maximum(sizes, 1), whole % np.maximum(sizes, 1)
    return (share[of_row] + (place < rest[of_row])).astype(np.int64)
