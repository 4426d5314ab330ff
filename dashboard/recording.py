"""The plans recorded at one rung of one ladder, in a buffer of fixed size."""

from __future__ import annotations

import threading
import zlib
from collections.abc import Collection, Mapping
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from bottomup.sampler.chain import Records

__all__ = ["COMPRESSION", "Held", "Plans", "Recording"]

COMPRESSION = 1
"""Level of zlib. Neighbouring units mostly share a district, so that even the quickest leaves a sixth."""


class Plans(NamedTuple):
    """Statistics of R recorded plans, oldest first."""

    step: NDArray[np.int64]
    """int64 array, shape (R,): steps of the rung before the plan was met."""
    cut_edges: NDArray[np.int32]
    """int32 array, shape (R,)."""
    testimony: NDArray[np.float64]
    """float64 array, shape (R,): share of testimonies kept whole."""
    cluster: NDArray[np.float64]
    """float64 array, shape (R,): NaN without clusters."""
    preserved: NDArray[np.uint8]
    """uint8 array, shape (R, ceil(T / 8)): a bit for each testimony, 1 where it is whole."""
    shares: Mapping[str, NDArray[np.floating]]
    """float32 arrays by name, shape (R, k): shares by ranked district."""

    def scores(self, kind: str) -> NDArray[np.float64]:
        """Scores of the plans: ``"testimony"`` or ``"cluster"``."""
        return self.testimony if kind == "testimony" else self.cluster

    def take(self, rows: slice | NDArray[np.integer]) -> Plans:
        """The plans at ``rows``."""
        shares = {name: values[rows] for name, values in self.shares.items()}
        return Plans._make([*(column[rows] for column in self[:-1]), shares])

    @classmethod
    def concatenate(cls, parts: list[Plans]) -> Plans:
        """Join the plans of several recordings."""
        columns = zip(*(part[:-1] for part in parts), strict=True)
        names = parts[0].shares
        shares = {name: np.concatenate([part.shares[name] for part in parts]) for name in names}
        return cls._make([*(np.concatenate(column) for column in columns), shares])


class Held(NamedTuple):
    """All that a recording holds at a moment."""

    plans: Plans
    assignments: tuple[bytes, ...]
    """The district of each unit in each plan, compressed."""
    dtype: np.dtype
    """Of a district, uint8 or uint16."""


class Recording:
    """A buffer of recorded plans that one thread fills and others read.

    When the buffer is full, every second plan is dropped and only every second new one is kept, so that the
    plans stay equally spaced and memory stays bounded however long a walk lasts.

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
        self._assignments: list[bytes] = []
        self._dtype: np.dtype = np.dtype(np.uint8)
        self._share_names = tuple(shares)

    def __len__(self) -> int:
        return self._n

    def append(self, records: Records, shares: Mapping[str, NDArray[np.float64]]) -> None:
        """Add records in the order of their steps, with the ranked shares of each."""
        rows: dict[str, NDArray] = {
            "step": records.step,
            "cut_edges": records.cut_edges,
            "testimony": records.score_testimony,
            "cluster": records.score_cluster,
            "preserved": np.packbits(records.preserved, axis=1),
            **{name: shares[name].astype(np.float32) for name in self._share_names},
        }
        with self._lock:
            if not self._columns:
                self._dtype = records.assignment.dtype
                self._columns = {
                    name: np.empty((self.capacity, *values.shape[1:]), dtype=values.dtype)
                    for name, values in rows.items()
                }
            for row, step in enumerate(records.step):
                if self._n == self.capacity and step % self.spacing == 0:
                    self._drop_every_second()
                if step % self.spacing:
                    continue
                for name, values in rows.items():
                    self._columns[name][self._n] = values[row]
                self._assignments.append(zlib.compress(records.assignment[row].tobytes(), COMPRESSION))
                self._n += 1

    def _drop_every_second(self) -> None:
        self.spacing *= 2
        kept = np.flatnonzero(self._columns["step"][: self._n] % self.spacing == 0)
        for column in self._columns.values():
            column[: len(kept)] = column[kept]
        self._assignments = [self._assignments[row] for row in kept]
        self._n = len(kept)

    @property
    def n_bytes(self) -> int:
        """Memory of the plans and their statistics, at the capacity of the buffer for the latter."""
        with self._lock:
            columns = sum(column.nbytes for column in self._columns.values())
            return columns + sum(map(len, self._assignments))

    def read(self) -> Plans | None:
        """A copy of the statistics of all plans held; None before the first."""
        held = self.read_all()
        return None if held is None else held.plans

    def read_all(self) -> Held | None:
        """A copy of the plans held with their statistics; None before the first."""
        with self._lock:
            if not self._n:
                return None
            copies = {name: column[: self._n].copy() for name, column in self._columns.items()}
            assignments = tuple(self._assignments)
        shares = {name: copies.pop(name) for name in self._share_names}
        return Held(Plans(**copies, shares=shares), assignments, self._dtype)

    @classmethod
    def holding(cls, held: Held, *, spacing: int) -> Recording:
        """A recording that is full with what another one held."""
        n = len(held.assignments)
        recording = cls(spacing=spacing, capacity=max(2, n + n % 2), shares=held.plans.shares)
        values = {**held.plans._asdict(), **held.plans.shares}
        del values["shares"]
        for name, column in values.items():
            recording._columns[name] = np.empty((recording.capacity, *column.shape[1:]), dtype=column.dtype)
            recording._columns[name][:n] = column
        recording._assignments, recording._dtype, recording._n = list(held.assignments), held.dtype, n
        return recording

    def read_assignments(
        self, steps: NDArray[np.int64]
    ) -> tuple[NDArray[np.int64], NDArray[np.unsignedinteger]]:
        """The plans recorded at some steps.

        Parameters
        ----------
        steps : int64 array
            Ascending.

        Returns
        -------
        rows : int64 array, shape (R,)
            Which of ``steps`` are still held.
        plans : uint8 or uint16 array, shape (R, n)
        """
        with self._lock:
            held = self._columns["step"][: self._n] if self._n else np.empty(0, dtype=np.int64)
            _, rows, places = np.intersect1d(steps, held, assume_unique=True, return_indices=True)
            packed = [self._assignments[place] for place in places]
        if not packed:
            return rows, np.empty((0, 0), dtype=self._dtype)
        plans = [np.frombuffer(zlib.decompress(each), dtype=self._dtype) for each in packed]
        return rows, np.array(plans, dtype=self._dtype).reshape(len(plans), -1)

    def plan_at(self, step: int) -> NDArray[np.unsignedinteger] | None:
        """The plan recorded at ``step``, or None when it has been dropped since."""
        with self._lock:
            if not self._n:
                return None
            row = int(np.searchsorted(self._columns["step"][: self._n], step))
            if row == self._n or self._columns["step"][row] != step:
                return None
            packed = self._assignments[row]
        return np.frombuffer(zlib.decompress(packed), dtype=self._dtype)
