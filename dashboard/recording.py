"""The plans recorded since the last change of settings, in a buffer of fixed size."""

import threading
from collections.abc import Collection
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from bottomup.sampler.chain import Records

__all__ = ["Kept", "Recorded", "Recording", "Scores"]


@dataclass(frozen=True)
class Scores:
    """Scores of the plans in use: the later half of a recording. Letter: ``R`` plans in use.

    Attributes
    ----------
    n_recorded : int
        Plans recorded since the last change, those taken as warming up included.
    step : int64 array, shape (R,)
    testimony, cluster : float64 arrays, shape (R,)
        The cluster score is NaN without clusters.
    """

    n_recorded: int
    step: NDArray[np.int64]
    testimony: NDArray[np.float64]
    cluster: NDArray[np.float64]

    @property
    def n_used(self) -> int:
        """Number of plans in use."""
        return len(self.step)


@dataclass(frozen=True)
class Kept:
    """How often the plans in use keep each testimony whole.

    Attributes
    ----------
    n_used : int
    share : float64 array, shape (T,)
        Of the plans in use; NaN when there are none.
    """

    n_used: int
    share: NDArray[np.float64]


@dataclass(frozen=True)
class Recorded:
    """One recorded plan: the step at which it was met, and its district by unit."""

    step: int
    assignment: NDArray[np.int32]


class Recording:
    """A buffer of recorded plans that one thread fills and others read.

    When the buffer is full, every second plan is dropped and only every second new one is kept, so that the
    plans stay equally spaced and memory stays bounded however long a walk lasts. The first half of the
    plans is taken as warming up and left out of every answer.

    Parameters
    ----------
    spacing : int
        Steps between two recorded plans at first; the records given to `append` are this far apart.
    capacity : int
        Most plans held; even.
    shares : collection of str
        Names of the ranked shares that come with each plan.
    """

    def __init__(self, *, spacing: int, capacity: int, shares: Collection[str]) -> None:
        if capacity < 2 or capacity % 2:
            raise ValueError(f"capacity must be an even number of plans, 2 or more; got {capacity}.")
        if spacing < 1:
            raise ValueError(f"spacing must be at least 1 step; got {spacing}.")
        self.capacity = capacity
        self.spacing = spacing
        self._n = 0
        self._lock = threading.Lock()
        self._columns: dict[str, NDArray] = {}
        self._share_names = tuple(shares)

    def __len__(self) -> int:
        return self._n

    def append(self, records: Records, shares: dict[str, NDArray[np.float64]]) -> None:
        """Add records in the order of their steps, with the ranked shares of each."""
        rows = {
            "step": records.step,
            "assignment": records.assignment,
            "testimony": records.score_testimony,
            "cluster": records.score_cluster,
            "preserved": records.preserved,
            **{f"share {name}": shares[name] for name in self._share_names},
        }
        with self._lock:
            if not self._columns:
                self._columns = {
                    name: np.empty((self.capacity, *values.shape[1:]), dtype=values.dtype)
                    for name, values in rows.items()
                }
            for row in range(len(records.step)):
                if records.step[row] % self.spacing:
                    continue
                if self._n == self.capacity:
                    self._drop_every_second()
                    if records.step[row] % self.spacing:
                        continue
                for name, values in rows.items():
                    self._columns[name][self._n] = values[row]
                self._n += 1

    def _drop_every_second(self) -> None:
        self.spacing *= 2
        kept = np.flatnonzero(self._columns["step"][: self._n] % self.spacing == 0)
        for column in self._columns.values():
            column[: len(kept)] = column[kept]
        self._n = len(kept)

    def _used(self, name: str) -> NDArray:
        """View of a column over the plans in use; call with the lock held."""
        return self._columns[name][self._n // 2 : self._n]

    def scores(self) -> Scores:
        """Both scores of the plans in use."""
        with self._lock:
            if not self._n:
                empty = np.empty(0)
                return Scores(0, np.empty(0, dtype=np.int64), empty, empty)
            return Scores(
                self._n,
                self._used("step").copy(),
                self._used("testimony").copy(),
                self._used("cluster").copy(),
            )

    def kept(self, n_testimonies: int) -> Kept:
        """How often each testimony is kept whole."""
        with self._lock:
            if not self._n:
                return Kept(0, np.full(n_testimonies, np.nan))
            preserved = self._used("preserved")
            return Kept(len(preserved), preserved.sum(axis=0, dtype=np.int64) / len(preserved))

    def ranked_shares(self, name: str) -> NDArray[np.float64]:
        """Shares by ranked district of the plans in use, shape (R, k)."""
        with self._lock:
            if not self._n:
                return np.empty((0, 0))
            return self._used(f"share {name}").copy()

    def plan_at(self, step: int) -> Recorded | None:
        """The plan recorded at ``step``, or None when it has been dropped since."""
        with self._lock:
            if not self._n:
                return None
            row = int(np.searchsorted(self._columns["step"][: self._n], step))
            if row == self._n or self._columns["step"][row] != step:
                return None
            return Recorded(step, self._columns["assignment"][row].astype(np.int32))
