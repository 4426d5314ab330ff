"""The table of a run's plans: a folder of Parquet files that only ever grows by whole files.

A single Parquet file cannot be read before its end is written, so a run that is killed would leave nothing.
In a folder each part is a file of its own, complete from the moment it has its name, and pandas, pyarrow and
Polars read the folder by its name as one table, DuckDB as ``plans.parquet/*.parquet``. Every part has the
same number of rows but the last, which is replaced by a longer one as rows come in; so the parts, byte for
byte, do not depend on when they were written.

Plans are lists of the smallest unsigned integers, which the format packs to the bits that they need (3 for 8
districts) before zstd sees them. On the demonstration's 5,031 units, at 2,000 steps from a plan to the next,
a plan takes 445 bytes, against 10,092 as a line of JSON and 805 as such a line behind zstd. To store what has
changed since the chain's plan before would take 387, but no reader could then take the plans as they are.
Level 9 of zstd saves a twelfth over level 3, for less than 0.1 ms per plan.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO

import pyarrow as pa
import pyarrow.parquet as pq

from bottomup.sampler.durable import write_whole

__all__ = ["PLANS", "SCHEMA", "PlanStore", "iterate_rows", "parts_of"]

PLANS = "plans.parquet"
SCHEMA = 2
"""Version of the table, ``bottomup_schema`` in its metadata. Version 1 was one file without that entry."""
GROUP_ROWS = 500
"""Rows of a row group."""
PART_BYTES = 16_000_000
"""What the rows of a part take in memory, about."""
MOST_PART_ROWS = 50_000
LEVEL = 9


class PlanStore:
    """Writer of the folder ``plans.parquet`` in the folder of a run.

    Parameters
    ----------
    folder : path
        Of the run; is there.
    schema : pyarrow.Schema
    row_bytes : int
        What a row takes in memory, about; decides how many make a part.
    n_rows : int
        Rows that are there and stay; what has been written after them is forgotten, and may come again.

    Raises
    ------
    ValueError
        When there are fewer rows.
    """

    def __init__(self, folder: Path, schema: pa.Schema, row_bytes: int, n_rows: int = 0) -> None:
        self._folder, self._schema = folder, schema
        self._parts = folder / PLANS
        groups = min(PART_BYTES // max(row_bytes, 1), MOST_PART_ROWS) // GROUP_ROWS
        self._part_rows = GROUP_ROWS * max(1, groups)
        self.n_rows = n_rows
        """Rows so far, those in memory included."""
        self._n_full, n_left = divmod(n_rows, self._part_rows)
        self._waiting: list[pa.Table] = []
        self._n_waiting = n_left
        self._is_saved = n_rows > 0
        self._parts.mkdir(exist_ok=True)
        for place in range(self._n_full):
            self._count(place, self._part_rows)
        if n_left:
            self._is_saved = self._count(self._n_full, n_left) == n_left
            self._waiting = [pq.read_table(self._path(self._n_full), schema=schema).slice(0, n_left)]
        for path in parts_of(folder)[self._n_full + (n_left > 0) :]:
            path.unlink()

    def _path(self, place: int) -> Path:
        return self._parts / f"part-{place:05d}.parquet"

    def _count(self, place: int, n_rows: int) -> int:
        """Rows of a part, which must be so many or more."""
        path = self._path(place)
        found = pq.read_metadata(path).num_rows if path.exists() else 0
        if found < n_rows:
            raise ValueError(f"{path} must hold {n_rows:,} plans; it has {found:,}")
        return int(found)

    def append(self, table: pa.Table) -> None:
        """Add rows; they are written once they fill a part, or at :meth:`save`."""
        self._waiting.append(table)
        self._n_waiting += len(table)
        self.n_rows += len(table)
        self._is_saved = False
        while self._n_waiting >= self._part_rows:
            whole = pa.concat_tables(self._waiting)
            self._write(whole.slice(0, self._part_rows))
            self._n_full += 1
            self._waiting = [whole.slice(self._part_rows)]
            self._n_waiting -= self._part_rows

    def save(self) -> None:
        """Have every row so far on the disk. A table without rows is a part without rows."""
        if not self._is_saved and (self._n_waiting or not self._n_full):
            self._write(pa.concat_tables([self._schema.empty_table(), *self._waiting]))
        self._is_saved = True

    def _write(self, table: pa.Table) -> None:
        def write(file: BinaryIO) -> None:
            # In one piece, so that the pieces in which rows came in leave no trace in the file.
            pq.write_table(
                table.combine_chunks(),
                file,
                row_group_size=GROUP_ROWS,
                compression="zstd",
                compression_level=LEVEL,
            )

        # Readers take every file in the folder of the parts for one, so none is made there bit by bit.
        write_whole(self._path(self._n_full), write, workplace=self._folder)


def parts_of(folder: Path) -> list[Path]:
    """The files of a run's plans in their order: parts, or the one file of earlier versions."""
    path = folder / PLANS
    return sorted(path.glob("part-*.parquet")) if path.is_dir() else [path]


def iterate_rows(folder: Path, columns: list[str], batch_size: int = 256) -> Iterator[pa.RecordBatch]:
    """Yield the rows of a run's plans, some at a time, in the order in which they were recorded."""
    for path in parts_of(folder):
        with pq.ParquetFile(path) as file:
            yield from file.iter_batches(batch_size=batch_size, columns=columns)
