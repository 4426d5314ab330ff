"""The folder of a run without a page: its plans, its units and what it says of itself."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Sequence
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import pyarrow as pa

from bottomup.sampler.chain import Records, assignment_dtype
from bottomup.sampler.durable import write_whole
from bottomup.sampler.shares import available_shares
from bottomup.sampler.statistics import district_shares, district_totals
from bottomup.sampler.store import PLANS, SCHEMA, PlanStore

if TYPE_CHECKING:
    from bottomup.data import Geography

__all__ = ["PLANS", "RUN", "UNITS", "Part", "RunFolder", "check_folder"]

UNITS, RUN = "units.csv", "run.json"


class Part(NamedTuple):
    """What one chain, or one rung of one ladder, recorded in a batch."""

    chain: int
    epsilon: float
    records: Records


class RunFolder:
    """Writer of ``plans.parquet``, ``units.csv`` and ``run.json``.

    ``plans.parquet`` is a folder of Parquet files, see :mod:`bottomup.sampler.store`, with a row for each
    record: ``chain``, ``epsilon``, ``step``, ``cut_edges``, ``score_testimony``, ``score_cluster`` (null when
    there is none), ``population`` and every share that the map's columns allow, such as ``black_vap_share``
    (lists by district), and ``assignment``, a list of district numbers in the order of ``units.csv``. Rows
    are in the order of step, chain and epsilon. Its metadata has the name of the run and the version of the
    table. The files are the same however the run was cut into batches.

    Parameters
    ----------
    folder : path
        Made when missing.
    geography : Geography
    n_districts : int
    description : dict
        Goes to ``run.json``; its ``name`` also into the metadata of ``plans.parquet``.
    n_rows : int, optional
        To go on with a run that is there: the rows of it that stay, and what is not there yet is made.

    Raises
    ------
    FileExistsError
        See :func:`check_folder`; not when going on.
    ValueError
        When there are fewer rows than are to stay.
    OSError
        Here and when writing: the folder cannot be written to.
    """

    def __init__(
        self,
        folder: Path,
        geography: Geography,
        n_districts: int,
        description: dict[str, Any],
        n_rows: int | None = None,
    ) -> None:
        self._folder = Path(folder)
        self._geography = geography
        self._shares = list(available_shares(geography).values())
        self._n_districts = n_districts
        self._description = description
        if n_rows is None:
            check_folder(self._folder)
            self._folder.mkdir(parents=True, exist_ok=True)
        if not (self._folder / UNITS).exists():
            self._save_units()
        if not (self._folder / RUN).exists():
            self._save_description({"complete": False})
        numbers = pa.from_numpy_dtype(np.dtype(assignment_dtype(n_districts)))
        self._schema = pa.schema(
            [
                ("chain", pa.int32()),
                ("epsilon", pa.float64()),
                ("step", pa.int64()),
                ("cut_edges", pa.int32()),
                ("score_testimony", pa.float64()),
                ("score_cluster", pa.float64()),
                ("population", pa.list_(pa.int64())),
                *((share.column, pa.list_(pa.float64())) for share in self._shares),
                ("assignment", pa.list_(numbers)),
            ],
            metadata={"run": description["name"], "bottomup_schema": str(SCHEMA)},
        )
        row_bytes = geography.n_units * numbers.bit_width // 8 + 8 * n_districts * (1 + len(self._shares))
        self._store = PlanStore(self._folder, self._schema, row_bytes, n_rows or 0)

    @property
    def n_rows(self) -> int:
        """Records so far."""
        return self._store.n_rows

    def __enter__(self) -> RunFolder:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        # After an error what had been saved stands as it was, and chains may be in the middle of a batch.
        if kind is None:
            self.save()

    def write(self, parts: Sequence[Part]) -> None:
        """Append the records of a batch: all chains and rungs, over the same steps.

        Parameters
        ----------
        parts : sequence of Part
            In the order of chain and epsilon.
        """
        n_records = [len(part.records.step) for part in parts]
        if not sum(n_records):
            return
        step = np.concatenate([part.records.step for part in parts])
        order = np.argsort(step, kind="stable")

        def column(name: str) -> np.ndarray:
            return np.concatenate([getattr(part.records, name) for part in parts])[order]

        def by_part(values: list[Any], dtype: type) -> pa.Array:
            return pa.array(np.repeat(np.array(values, dtype=dtype), n_records)[order])

        k, plans = self._n_districts, column("assignment")
        people = district_totals(plans, k, self._geography.population)
        columns = [
            by_part([part.chain for part in parts], np.int32),
            by_part([part.epsilon for part in parts], np.float64),
            pa.array(step[order]),
            pa.array(column("cut_edges")),
            pa.array(column("score_testimony"), from_pandas=True),
            pa.array(column("score_cluster"), from_pandas=True),
            _lists(people.astype(np.int64)),
            *(
                _lists(district_shares(plans, k, share.numerator, share.denominator))
                for share in self._shares
            ),
            _lists(plans),
        ]
        self._store.append(pa.Table.from_arrays(columns, schema=self._schema))

    def save(self) -> None:
        """Have every record so far on the disk."""
        self._store.save()

    def finish(self, outcome: dict[str, Any]) -> None:
        """Write ``run.json`` with how the run ended."""
        self._save_description({"n_records": self.n_rows, **outcome})

    def _save_units(self) -> None:
        table = io.StringIO(newline="")
        writer = csv.writer(table, lineterminator="\n")
        writer.writerow(["position", "id"])
        writer.writerows(enumerate(self._geography.ids))
        self._save_text(UNITS, table.getvalue())

    def _save_description(self, outcome: dict[str, Any]) -> None:
        self._save_text(RUN, json.dumps({**self._description, "outcome": outcome}, indent=2) + "\n")

    def _save_text(self, name: str, text: str) -> None:
        write_whole(self._folder / name, lambda file: file.write(text.encode()))


def check_folder(folder: Path, names: Sequence[str] = (PLANS, UNITS, RUN)) -> None:
    """Refuse a folder for a run that holds one already.

    Parameters
    ----------
    folder : path
    names : sequence of str
        The files that a run leaves there.

    Raises
    ------
    FileExistsError
        When the folder holds a run, or is a file: nothing is overwritten.
    """
    if folder.exists() and not folder.is_dir():
        raise FileExistsError(f"{folder} is a file; name a folder with --out")
    taken = [name for name in names if (folder / name).exists()]
    if taken:
        raise FileExistsError(
            f"{folder} already holds a run ({', '.join(taken)}); name another folder with --out"
        )


def _lists(table: np.ndarray) -> pa.Array:
    """Rows of a table as lists."""
    n_rows, n_columns = table.shape
    offsets = np.arange(n_rows + 1, dtype=np.int32) * n_columns
    return pa.ListArray.from_arrays(offsets, pa.array(np.ascontiguousarray(table).ravel()))
