"""Draws of the attack experiment from plans that other runs have left in their folders."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pyarrow as pa

from bottomup.data.errors import DataError, list_some
from bottomup.sampler.attack import Draws, Measure
from bottomup.sampler.statistics import score_plans
from bottomup.sampler.store import PLANS, iterate_rows
from bottomup.sampler.types import FloatArray, LongArray

__all__ = ["StoredDraws", "measure_stored"]

_AT_ONCE = 8
"""Plans whose scores are computed anew, to tell whether they are those of the testimonies."""


@dataclass(frozen=True, eq=False)
class StoredDraws:
    """What was measured of stored plans; see :class:`bottomup.sampler.attack.Measured`."""

    measure: Measure
    epsilons: FloatArray
    draws: list[list[Draws]]


def measure_stored(folders: Sequence[Path], measure: Measure) -> StoredDraws:
    """Measure the plans of runs with the same law and rungs, such as those of several seeds.

    The figures are those that a trial gives that meets the same plans. A few hundred plans are in memory at a
    time, and of very many as many are kept evenly as a trial keeps.

    Parameters
    ----------
    folders : sequence of Path
        Each of a run, which may be unfinished; its chains or ladders become ladders.
    measure : Measure

    Raises
    ------
    DataError
        When a run has no plans or no such score, runs have other rungs, or the scores are not those that the
        testimonies give to the plans.
    """
    column = f"score_{measure.score}"
    rungs: FloatArray | None = None
    all_draws: list[list[Draws]] = []
    for folder in folders:
        chains, epsilons = _layout(folder)
        if rungs is not None and not np.array_equal(rungs, epsilons):
            raise DataError(
                "unlike_rungs",
                f"The runs in {folders[0]} and {folder} have not the same epsilons: {_list(rungs)}, and "
                f"{_list(epsilons)}.",
                remedy="Only runs that differ in nothing but their seeds can be taken together.",
            )
        rungs = epsilons
        draws = [measure.begin(len(rungs)) for _ in chains]
        is_checked = False
        for batch in iterate_rows(folder, ["chain", "epsilon", "cut_edges", column, "assignment"]):
            if not is_checked:
                _check_scores(folder, batch.slice(0, _AT_ONCE), column, measure)
                is_checked = True
            _add(batch, column, measure, draws, chains, rungs)
        all_draws += draws
    assert rungs is not None, "no folder was given"
    return StoredDraws(measure, rungs, all_draws)


def _layout(folder: Path) -> tuple[LongArray, FloatArray]:
    """The numbers of the chains, and the epsilons, ascending."""
    chains: set[int] = set()
    epsilons: set[float] = set()
    for batch in iterate_rows(folder, ["chain", "epsilon"], batch_size=10_000):
        chains.update(np.unique(batch["chain"].to_numpy()).tolist())
        epsilons.update(np.unique(batch["epsilon"].to_numpy()).tolist())
    if not chains:
        raise DataError(
            "no_plans", f"{folder / PLANS} holds no plans.", remedy="Let the run record some before."
        )
    return np.array(sorted(chains)), np.array(sorted(epsilons))


def _add(
    batch: pa.RecordBatch,
    column: str,
    measure: Measure,
    all_draws: Sequence[Sequence[Draws]],
    chains: LongArray,
    rungs: FloatArray,
) -> None:
    ladder = np.searchsorted(chains, batch["chain"].to_numpy())
    rung = np.searchsorted(rungs, batch["epsilon"].to_numpy())
    chosen = []
    for number, draws_of_ladder in enumerate(all_draws):
        for at, draws in enumerate(draws_of_ladder):
            rows = np.flatnonzero((ladder == number) & (rung == at))
            chosen.append((draws, rows[draws.choose(len(rows))]))
    # Together: what is made for a measurement is the same for all plans.
    rows = np.concatenate([own for _, own in chosen])
    figures, kept = measure.take(
        _plans(batch)[rows], _scores(batch, column)[rows], batch["cut_edges"].to_numpy()[rows]
    )
    end = 0
    for draws, own in chosen:
        begin, end = end, end + len(own)
        draws.append(figures[begin:end], kept[begin:end])


def _plans(batch: pa.RecordBatch) -> np.ndarray:
    found: np.ndarray = batch["assignment"].flatten().to_numpy().reshape(len(batch), -1)
    return found


def _scores(batch: pa.RecordBatch, column: str) -> FloatArray:
    return np.asarray(batch[column].to_numpy(zero_copy_only=False), dtype=np.float64)


def _check_scores(folder: Path, batch: pa.RecordBatch, column: str, measure: Measure) -> None:
    """Refuse a run for other testimonies, or on another map, before all of it is measured."""
    stored, plans = _scores(batch, column), _plans(batch)
    if plans.shape[1] == measure.problem.n_units:
        own = getattr(score_plans(measure.problem, plans, measure.n_districts), column)
        if np.allclose(stored, own, rtol=0, atol=1e-9):
            return
    raise DataError(
        "other_testimonies",
        f"The {measure.score} scores in {folder / PLANS} are not those that these testimonies give to its "
        "plans.",
        remedy="Name the map, testimonies and weighting that the run was made with.",
    )


def _list(rungs: FloatArray) -> str:
    return list_some([f"{epsilon:g}" for epsilon in rungs])
