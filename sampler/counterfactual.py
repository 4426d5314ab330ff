r"""What plans drawn for some testimonies say about the law for others in their place.

Two laws of the exponential mechanism at the same epsilon, for testimonies t and t', differ by the last factor
alone, so a plan of the first counts as much for the second as

.. math:: \frac{\pi(\xi \mid t')}{\pi(\xi \mid t)} \propto
          \exp \frac{\varepsilon}{2} \left(\frac{\text{tally}'(\xi)}{\text{most}'}
                                         - \frac{\text{tally}(\xi)}{\text{most}}\right)

says (importance weights, normalised by their sum), see :mod:`bottomup.sampler.sensitivity`. Few changed
testimonies change the tallies little, so the question "what if a group had spoken otherwise?" is answered
from the plans that are there, as long as the effective number of them is not too small.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from bottomup.data.testimonies import pack_units
from bottomup.sampler.problem import Problem, Score
from bottomup.sampler.sensitivity import Weighting, unit_weights
from bottomup.sampler.statistics import find_preserved
from bottomup.sampler.types import FloatArray, LongArray

if TYPE_CHECKING:
    from bottomup.data import Geography, Testimonies
    from bottomup.data.changes import Change

__all__ = ["Counterfactual"]


class Counterfactual:
    """A change of testimonies, and what it does to the law for one score.

    Parameters
    ----------
    geography : Geography
    change : Change
        Clusters must keep their numbers; new ones come after the old ones.
    score : {"testimony", "cluster"}
    weighting : Weighting

    Raises
    ------
    ValueError
        When the testimonies before or after do not have what the score needs.
    """

    def __init__(self, geography: Geography, change: Change, score: Score, weighting: Weighting) -> None:
        self.change = change
        self.score = score
        self.weighting = weighting
        before = Problem.build(geography, change.before, weighting).sensitivity(score)
        self._total, self._most = before.total, before.most
        self._most_after = Problem.build(geography, change.after, weighting).sensitivity(score).most

    @property
    def has_limit(self) -> bool:
        """Whether the two laws are as alike as the promise says.

        They are not where the sensitivity is read off the data and the change moves it: then every testimony
        counts for more, or less, than before.
        """
        return self._most == self._most_after

    def kept(self, plans: NDArray[np.integer]) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
        """Which of the removed, and of the added, testimonies each plan keeps whole.

        Parameters
        ----------
        plans : integer array, shape (R, n)

        Returns
        -------
        bool arrays, shapes (R, number removed) and (R, number added)
        """
        change = self.change
        return (
            _kept(plans, change.before, change.removed),
            _kept(plans, change.after, change.added),
        )

    def tally_change(self, plans: NDArray[np.integer]) -> LongArray:
        """How much more each plan's tally is after the change, int64 array, shape (R,)."""
        change = self.change
        if self.score == "testimony":
            removed, added = self.kept(plans)
            return added.sum(axis=1, dtype=np.int64) - removed.sum(axis=1, dtype=np.int64)
        before, after = change.before.clusters, change.after.clusters
        assert before is not None
        assert after is not None
        affected = np.union1d(before.of_testimony[change.removed], after.of_testimony[change.added])
        affected = affected[affected >= 0]
        return self._best_weight(plans, change.after, affected) - self._best_weight(
            plans, change.before, affected
        )

    def exponent_change(self, plans: NDArray[np.integer], scores: FloatArray, epsilon: float) -> FloatArray:
        """Logarithm of the ratio of the two laws at each plan, up to a constant.

        Parameters
        ----------
        plans : integer array, shape (R, n)
        scores : float64 array, shape (R,)
            Of the plans, before the change.
        epsilon : float
        """
        tally = np.rint(scores * self._total)
        after = (tally + self.tally_change(plans)) / self._most_after
        return epsilon / 2 * (after - tally / self._most)

    def _best_weight(
        self, plans: NDArray[np.integer], testimonies: Testimonies, affected: NDArray[np.integer]
    ) -> LongArray:
        """Weight that some clusters have in their best districts, together."""
        clusters = testimonies.clusters
        assert clusters is not None
        of_row = np.repeat(np.arange(testimonies.n_testimonies), testimonies.sizes)
        cluster = clusters.of_testimony[of_row]
        is_counted = np.isin(cluster, affected)
        units, column = np.unique(testimonies.units[is_counted], return_inverse=True)
        weight = unit_weights(testimonies.sizes, self.weighting)[is_counted]
        weights = sparse.coo_array(
            (weight, (column, np.searchsorted(affected, cluster[is_counted]))),
            shape=(len(units), len(affected)),
        ).tocsr()
        some = plans[:, units]
        best = np.zeros((len(plans), len(affected)), dtype=np.int64)
        for district in range(int(plans.max(initial=0)) + 1):
            best = np.maximum(best, (some == district).astype(np.int64) @ weights)
        return best.sum(axis=1)


def _kept(
    plans: NDArray[np.integer], testimonies: Testimonies, chosen: NDArray[np.int64]
) -> NDArray[np.bool_]:
    units = [testimonies.units_of(int(number)) for number in chosen]
    return find_preserved(plans, *pack_units(units))
