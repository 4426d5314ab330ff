"""A run without a page: a chain recorded to a folder, batch by batch, so that memory stays flat."""

from __future__ import annotations

import csv
import json
import time
from collections.abc import Callable
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from bottomup.sampler.chain import Chain, Records, assignment_dtype
from bottomup.sampler.statistics import district_shares, district_totals

if TYPE_CHECKING:
    from bottomup.data import Geography

__all__ = ["RunFolder", "check_folder", "record_chain"]

PLANS, UNITS, RUN = "plans.parquet", "units.csv", "run.json"
BATCH_SECONDS = 0.25


class RunFolder:
    """Writer of ``plans.parquet``, ``units.csv`` and ``run.json``.

    ``plans.parquet`` has a row for each record: ``chain``, ``step``, ``cut_edges``, ``score_testimony``,
    ``score_cluster`` (null when there is none), ``population``, ``black_vap_share`` and ``democratic_share``
    (lists by district, the last two null when the map lacks the columns), and ``assignment``, a list of
    district numbers in the order of ``units.csv``.

    Parameters
    ----------
    folder : path
        Made when missing.
    geography : Geography
    n_districts : int
    description : dict
        Goes to ``run.json``; its ``name`` also into the metadata of ``plans.parquet``.

    Raises
    ------
    FileExistsError
        See :func:`check_folder`.
    """

    def __init__(
        self, folder: Path, geography: Geography, n_districts: int, description: dict[str, Any]
    ) -> None:
        self._folder = Path(folder)
        check_folder(self._folder)
        self._folder.mkdir(parents=True, exist_ok=True)
        self._geography = geography
        self._n_districts = n_districts
        self._description = description
        self._n_records = 0
        with (self._folder / UNITS).open("w", newline="", encoding="utf-8") as file:
            writer = csv.writer(file, lineterminator="\n")
            writer.writerow(["position", "id"])
            writer.writerows(enumerate(geography.ids))
        numbers = pa.from_numpy_dtype(np.dtype(assignment_dtype(n_districts)))
        self._schema = pa.schema(
            [
                ("chain", pa.int32()),
                ("step", pa.int64()),
                ("cut_edges", pa.int32()),
                ("score_testimony", pa.float64()),
                ("score_cluster", pa.float64()),
                ("population", pa.list_(pa.int64())),
                ("black_vap_share", pa.list_(pa.float64())),
                ("democratic_share", pa.list_(pa.float64())),
                ("assignment", pa.list_(numbers)),
            ],
            metadata={"run": description["name"]},
        )
        self._writer = pq.ParquetWriter(self._folder / PLANS, self._schema, compression="zstd")
        self._save_description({"complete": False})

    def __enter__(self) -> RunFolder:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._writer.close()

    def write(self, records: Records, chain: int = 0) -> None:
        """Append records of one chain."""
        n_records = len(records.step)
        if not n_records:
            return
        k, role = self._n_districts, self._geography.role
        people = district_totals(records.assignment, k, self._geography.population)
        dem, rep = role("dem"), role("rep")
        votes = None if dem is None or rep is None else dem + rep
        columns = [
            pa.array(np.full(n_records, chain, dtype=np.int32)),
            pa.array(records.step),
            pa.array(records.cut_edges),
            pa.array(records.score_testimony, from_pandas=True),
            pa.array(records.score_cluster, from_pandas=True),
            _lists(people.astype(np.int64)),
            self._shares(records, role("black_vap"), role("vap")),
            self._shares(records, dem, votes),
            _lists(records.assignment),
        ]
        self._writer.write_table(pa.Table.from_arrays(columns, schema=self._schema))
        self._n_records += n_records

    def _shares(self, records: Records, part: np.ndarray | None, whole: np.ndarray | None) -> pa.Array:
        if part is None or whole is None:
            return pa.nulls(len(records.step), pa.list_(pa.float64()))
        return _lists(district_shares(records.assignment, self._n_districts, part, whole))

    def finish(self, outcome: dict[str, Any]) -> None:
        """Write ``run.json`` with how the run ended."""
        self._save_description({"n_records": self._n_records, **outcome})

    def _save_description(self, outcome: dict[str, Any]) -> None:
        text = json.dumps({**self._description, "outcome": outcome}, indent=2)
        (self._folder / RUN).write_text(text + "\n", encoding="utf-8")


def check_folder(folder: Path) -> None:
    """Refuse a folder for a run that holds one already.

    Raises
    ------
    FileExistsError
        When the folder holds a run, or is a file: nothing is overwritten.
    """
    if folder.exists() and not folder.is_dir():
        raise FileExistsError(f"{folder} is a file; name a folder with --out")
    taken = [name for name in (PLANS, UNITS, RUN) if (folder / name).exists()]
    if taken:
        raise FileExistsError(
            f"{folder} already holds a run ({', '.join(taken)}); name another folder with --out"
        )


def _lists(table: np.ndarray) -> pa.Array:
    """Rows of a table as lists."""
    n_rows, n_columns = table.shape
    offsets = np.arange(n_rows + 1, dtype=np.int32) * n_columns
    return pa.ListArray.from_arrays(offsets, pa.array(np.ascontiguousarray(table).ravel()))


def record_chain(
    chain: Chain,
    folder: RunFolder,
    n_steps: int,
    thin: int,
    progress: Callable[[int], None] | None = None,
) -> None:
    """Advance a chain to ``n_steps`` steps and write every record as soon as its batch is done.

    An interrupt from the keyboard ends the run after the batch in hand; what was recorded stays, and
    ``run.json`` says that the run is not complete.

    Parameters
    ----------
    chain : Chain
    folder : RunFolder
    n_steps, thin : int
    progress : callable, optional
        Called with the number of steps of each finished batch.
    """
    began = time.perf_counter()
    batch = max(thin, 200)
    complete = False
    try:
        while chain.steps < n_steps:
            started = time.perf_counter()
            size = min(batch, n_steps - chain.steps)
            folder.write(chain.advance(size, thin))
            if progress is not None:
                progress(size)
            # The size of a batch leaves no trace in the plans, so it may follow the clock.
            seconds = max(time.perf_counter() - started, 1e-3)
            batch = int(np.clip(batch * BATCH_SECONDS / seconds, batch / 2 + 1, batch * 2))
        complete = True
    except KeyboardInterrupt:
        pass
    seconds = time.perf_counter() - began
    folder.finish(
        {
            "complete": complete,
            "steps": chain.steps,
            "thin": thin,
            "seconds": round(seconds, 3),
            "steps_per_second": round(chain.steps / seconds, 1),
            "outcomes": {move: outcomes._asdict() for move, outcomes in chain.outcomes_by_move.items()},
        }
    )
