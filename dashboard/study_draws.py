"""The numbers of a study's plans, law by law: what its summary and its report are made of."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from bottomup.dashboard.study_folder import StoredCell, StudyFolder
from bottomup.sampler.runs import PLANS
from bottomup.sampler.shares import Share
from bottomup.sampler.types import FloatArray, LongArray

__all__ = [
    "QUANTITY_OF",
    "QUANTITY_TITLES",
    "SCORE_COLUMNS",
    "Group",
    "LawDraws",
    "group_cells",
    "read_draws",
]

QUANTITY_OF = {"testimony": "score_testimony", "cluster": "score_cluster"}
"""The quantity of each score."""
SCORE_COLUMNS = tuple(QUANTITY_OF.values())
QUANTITY_TITLES = {
    "score_testimony": "testimony score",
    "score_cluster": "cluster score",
    "cut_edges": "cut edges",
}


class Group(NamedTuple):
    """Finished cells that differ in their seeds alone."""

    score: str | None
    cut_edges: float | None
    is_attacked: bool
    cells: tuple[StoredCell, ...]


def group_cells(folder: StudyFolder) -> list[Group]:
    """The finished cells of a study, those of one law together, in the order of the study."""
    found: dict[tuple[str | None, float | None, bool], list[StoredCell]] = {}
    for cell in folder.finished:
        found.setdefault((cell.score, cell.cut_edges, cell.is_attacked), []).append(cell)
    return [Group(*law, tuple(cells)) for law, cells in found.items()]


@dataclass(frozen=True)
class LawDraws:
    """Draws from one law: one epsilon of a group.

    Attributes
    ----------
    epsilon : float
    chains : tuple of str
        Name of the cell and number of the chain, or ladder, in it.
    steps : list of int64 arrays, shape (R,)
        For each chain.
    quantities : dict of str to list of float64 arrays, shape (R,)
        For each chain the draws from the first on: both scores where there are any, cut edges, and each share
        by ranked district, such as "Black 1" of the district with the lowest.
    shares : dict of str to list of float64 arrays, shape (R, k)
        Ascending in each plan.
    """

    epsilon: float
    chains: tuple[str, ...]
    steps: list[LongArray]
    quantities: dict[str, list[FloatArray]]
    shares: dict[str, list[FloatArray]]

    @property
    def n_later(self) -> list[int]:
        """How many draws of each chain are from the later half of its steps."""
        return [int((step > step[-1] / 2).sum()) for step in self.steps]

    def later_chains(self, quantity: str) -> list[FloatArray]:
        """Draws of a quantity from the later half of the steps, for each chain."""
        return [own[-n:] for own, n in zip(self.quantities[quantity], self.n_later, strict=True)]

    def later(self, quantity: str) -> FloatArray:
        """The same of all chains together."""
        return np.concatenate(self.later_chains(quantity))

    def later_shares(self, name: str) -> FloatArray:
        """Ranked shares of the later half, of all chains, shape (R, k)."""
        return np.concatenate([own[-n:] for own, n in zip(self.shares[name], self.n_later, strict=True)])


def read_draws(cells: Sequence[StoredCell], shares: Mapping[str, Share]) -> list[LawDraws]:
    """The draws of cells that differ in their seeds alone, by epsilon.

    Parameters
    ----------
    cells : sequence of StoredCell
    shares : mapping of str to Share
        Those to read, by name.
    """
    by_epsilon: dict[float, list[tuple[str, pa.Table]]] = {}
    columns = ["chain", "epsilon", "step", "cut_edges", *SCORE_COLUMNS]
    columns += [share.column for share in shares.values()]
    for cell in cells:
        table = pq.read_table(cell.folder / PLANS, columns=columns).combine_chunks()
        epsilon, chain = table["epsilon"].to_numpy(), table["chain"].to_numpy()
        for value in np.unique(epsilon):
            for number in np.unique(chain):
                rows = np.flatnonzero((epsilon == value) & (chain == number))
                own = by_epsilon.setdefault(float(value), [])
                own.append((f"{cell.name}, {number}", table.take(rows)))
    return [_law_draws(epsilon, parts, shares) for epsilon, parts in sorted(by_epsilon.items())]


def _law_draws(
    epsilon: float, parts: Sequence[tuple[str, pa.Table]], shares: Mapping[str, Share]
) -> LawDraws:
    tables = [table for _, table in parts]
    quantities = {}
    for name in (*SCORE_COLUMNS, "cut_edges"):
        draws = [table[name].to_numpy().astype(np.float64) for table in tables]
        if not all(np.isnan(own).all() for own in draws):
            quantities[name] = draws
    ranked = {name: [_ranked(table[share.column]) for table in tables] for name, share in shares.items()}
    for name, draws in ranked.items():
        for rank in range(draws[0].shape[1]):
            quantities[f"{name} {rank + 1}"] = [own[:, rank] for own in draws]
    return LawDraws(
        epsilon=epsilon,
        chains=tuple(name for name, _ in parts),
        steps=[table["step"].to_numpy() for table in tables],
        quantities=quantities,
        shares=ranked,
    )


def _ranked(column: pa.ChunkedArray) -> FloatArray:
    values = column.combine_chunks().flatten().to_numpy(zero_copy_only=False)
    return np.sort(values.reshape(len(column), -1), axis=1)
