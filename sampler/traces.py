"""The numbers of a run that diagnostics ask for, kept in bounded memory while the plans go to a file."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from numpy.typing import ArrayLike, NDArray

from bottomup.sampler.chain import Records
from bottomup.sampler.diagnostics import quantities_of, share_of_units_moved
from bottomup.sampler.memory import Memory
from bottomup.sampler.types import FloatArray, IntArray, LongArray

__all__ = ["MAX_DRAWS", "UNITS_MOVED", "Thinning", "Traces"]

MAX_DRAWS = 20_000
"""Draws of each chain that are kept at most."""
UNITS_MOVED = "units_moved"
"""The quantity that says how many units have other district mates than in the reference plan."""


class Thinning:
    """Which of ever more draws are kept, so that there are no more than ``max_draws``.

    Of more than that every second is left out and from then on every second is kept, and so on: what is kept
    depends on the number of draws alone, not on the batches in which they came.
    """

    def __init__(self, max_draws: int) -> None:
        if max_draws < 1:
            raise ValueError(f"max_draws must be at least 1; got {max_draws}")
        self._max_draws = max_draws
        self._n_seen = 0
        self._spacing = 1

    def choose(self, n_new: int) -> NDArray[np.bool_]:
        """Which of so many new draws are kept for now."""
        number = np.arange(self._n_seen + 1, self._n_seen + n_new + 1)
        self._n_seen += n_new
        return number % self._spacing == 0

    def drop(self, n_kept: int) -> LongArray:
        """Rows that stay, ascending, when so many draws are at hand, the new ones included."""
        rows = np.arange(n_kept)
        while len(rows) > self._max_draws:
            rows = rows[1::2]
            self._spacing *= 2
        return rows

    def memory(self) -> LongArray:
        """int64 array, shape (2,): draws seen, and one in how many is kept."""
        return np.array([self._n_seen, self._spacing])

    def recall(self, memory: NDArray[np.integer]) -> None:
        """Go on from where another stood."""
        self._n_seen, self._spacing = (int(number) for number in memory)


class Traces:
    """The draws of every quantity that chains are to agree on, at one epsilon, see `Thinning`.

    Parameters
    ----------
    n_chains, n_districts : int
    shares : mapping of str to (numerator, denominator), array_like of numbers, shape (n,)
    reference : array_like of int, shape (n,)
        The plan since which units may have changed district mates, the same for all chains.
    max_draws : int
        Of each chain.
    """

    def __init__(
        self,
        n_chains: int,
        n_districts: int,
        shares: Mapping[str, tuple[ArrayLike, ArrayLike]],
        reference: ArrayLike,
        max_draws: int = MAX_DRAWS,
    ) -> None:
        self._n_districts = n_districts
        self._shares = shares
        self._reference: IntArray = np.array(reference, dtype=np.int32)
        ranked = [f"{name} {rank + 1}" for name in shares for rank in range(n_districts)]
        self._names = ["score_testimony", "score_cluster", "cut_edges", *ranked, UNITS_MOVED]
        self._draws: list[FloatArray] = [np.empty((0, len(self._names))) for _ in range(n_chains)]
        self._thinnings = [Thinning(max_draws) for _ in range(n_chains)]

    def add(self, chain: int, records: Records) -> None:
        """Take note of what a chain recorded."""
        thinning = self._thinnings[chain]
        kept = records.take(thinning.choose(len(records.step)))
        draws = np.concatenate([self._draws[chain], self._measure(kept)])
        self._draws[chain] = draws[thinning.drop(len(draws))]

    def memory(self) -> Memory:
        """The draws kept of each chain, and how they were thinned."""
        draws = {f"draws/{chain}": draws for chain, draws in enumerate(self._draws)}
        return draws | {f"thinning/{chain}": own.memory() for chain, own in enumerate(self._thinnings)}

    def recall(self, memory: Memory) -> None:
        """Go on from where traces of the same quantities stood."""
        for chain, thinning in enumerate(self._thinnings):
            self._draws[chain] = memory[f"draws/{chain}"]
            thinning.recall(memory[f"thinning/{chain}"])

    def _measure(self, records: Records) -> NDArray[np.float64]:
        found = quantities_of([records], self._n_districts, self._shares)
        moved = share_of_units_moved(records.assignment, self._reference, self._n_districts)
        found[UNITS_MOVED] = [moved]
        # Shares of districts that nobody voted in are not among the quantities of such a batch.
        nothing = np.full(len(records.step), np.nan)
        return np.column_stack([found.get(name, [nothing])[0] for name in self._names])

    def quantities(self) -> dict[str, list[FloatArray]]:
        """The draws kept of each chain by quantity, oldest first; those without any number are left out."""
        columns = {name: [draws[:, i] for draws in self._draws] for i, name in enumerate(self._names)}
        return {
            name: chains
            for name, chains in columns.items()
            if not all(np.isnan(chain).all() for chain in chains)
        }
