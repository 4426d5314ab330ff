"""The ensemble of a run without a page, read back from its folder and written for other programs."""

from __future__ import annotations

import csv
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from numpy.typing import NDArray

from bottomup.sampler.runs import RUN, UNITS
from bottomup.sampler.store import PLANS, SCHEMA, iterate_rows, parts_of

__all__ = ["Ensemble", "Sample"]

_COLUMNS = ["chain", "epsilon", "step", "assignment"]
_SHARE = "_share"


class Sample(NamedTuple):
    """One plan of an ensemble.

    Attributes
    ----------
    number : int
        Counted from 1, chain after chain.
    chain, step : int
    epsilon : float
    assignment : unsigned integer array, shape (n_units,)
        District numbers, counted from 0.
    shares : dict of str to float64 array, shape (n_districts,)
        Such as ``black_vap_share`` and ``democratic_share``, as far as the map has them.
    """

    number: int
    chain: int
    epsilon: float
    step: int
    assignment: NDArray[np.unsignedinteger]
    shares: dict[str, NDArray[np.float64]]


class Ensemble:
    """The plans of a run at one epsilon, numbered from 1: chain after chain, each in the order of its steps.

    Parameters
    ----------
    folder : path
        As ``bottomup sample`` leaves it, or as an earlier version did, with its plans in one file. Of a run
        that still goes on, what it has written so far.
    epsilon : float, optional
        Which rung of a ladder; the largest when not given. Chains have but one.

    Attributes
    ----------
    description : dict
        Of ``run.json``.
    ids : tuple of str
        Ids of the units, in the order of assignments.
    labels : tuple of str
        Name of each district.

    Raises
    ------
    FileNotFoundError
        When the folder holds no run.
    ValueError
        When plans cannot be read, are written by a later version, or there are none at this epsilon.
    """

    def __init__(self, folder: Path, epsilon: float | None = None) -> None:
        self._folder = Path(folder)
        lacking = [name for name in (PLANS, UNITS, RUN) if not (self._folder / name).exists()]
        if lacking:
            raise FileNotFoundError(
                f"{folder} holds no run of `bottomup sample`: {', '.join(lacking)} not found"
            )
        self.description: dict[str, Any] = json.loads((self._folder / RUN).read_text(encoding="utf-8"))
        with (self._folder / UNITS).open(newline="", encoding="utf-8") as file:
            self.ids = tuple(row["id"] for row in csv.DictReader(file))
        n_districts = int(self.description["target"]["n_districts"])
        numbers = [str(number) for number in range(1, n_districts + 1)]
        self.labels: tuple[str, ...] = tuple(self.description.get("districts", numbers))
        self._shares = self._check_table()
        batches = list(iterate_rows(self._folder, ["chain", "epsilon"], 65_536))
        self._chain = np.concatenate([np.empty(0, np.int32), *(batch["chain"] for batch in batches)])
        found = np.concatenate([np.empty(0), *(batch["epsilon"] for batch in batches)])
        self.epsilon = float(found.max(initial=0) if epsilon is None else epsilon)
        self._is_used = np.isclose(found, self.epsilon, rtol=5e-4, atol=0)
        if not self._is_used.any():
            present = ", ".join(f"{value:.4g}" for value in np.unique(found)) or "none"
            raise ValueError(f"{folder} has no plans at epsilon {self.epsilon:g}; it has {present}")

    def _check_table(self) -> list[str]:
        """The columns of shares, once every file of the plans has been found to be one that can be read."""
        shares: list[str] = []
        for path in parts_of(self._folder):
            try:
                schema = pq.read_schema(path)
            except pa.ArrowInvalid as error:
                raise ValueError(
                    f"{path} is not finished: the run still goes on, or was killed, or the file was damaged"
                ) from error
            version = int((schema.metadata or {}).get(b"bottomup_schema", b"1"))
            if version > SCHEMA:
                raise ValueError(
                    f"{path} was written by a later version of bottomup, as a table of version {version}; "
                    f"this one reads up to version {SCHEMA}. Update it with pip"
                )
            shares = [name for name in schema.names if name.endswith(_SHARE)]
        return shares

    def __len__(self) -> int:
        return int(self._is_used.sum())

    @property
    def chains(self) -> list[dict[str, int]]:
        """Which samples come from which chain: ``chain``, ``first``, ``last``."""
        chain, size = np.unique(self._chain[self._is_used], return_counts=True)
        last = np.cumsum(size)
        return [
            {"chain": int(number), "first": int(end - n + 1), "last": int(end)}
            for number, n, end in zip(chain, size, last, strict=True)
        ]

    def samples(self) -> Iterator[Sample]:
        """Yield every plan; all are read once for each chain, and never held in memory as a whole."""
        for each in self.chains:
            number = each["first"]
            for row, record in self._records(_COLUMNS):
                if self._is_used[row] and self._chain[row] == each["chain"]:
                    yield _sample(number, record)
                    number += 1

    def sample(self, number: int) -> Sample:
        """Return one plan, with its shares.

        Raises
        ------
        ValueError
            When there is no such number.
        """
        if not 1 <= number <= len(self):
            raise ValueError(f"plans are numbered from 1 to {len(self):,}; got {number}")
        # Stable, so that each chain stays in the order of its steps.
        used = np.flatnonzero(self._is_used)
        row = int(used[np.argsort(self._chain[used], kind="stable")][number - 1])
        for at, record in self._records([*_COLUMNS, *self._shares]):
            if at == row:
                return _sample(number, record)
        raise ValueError(f"plan {number} has gone from {self._folder / PLANS}")

    def _records(self, columns: list[str]) -> Iterator[tuple[int, dict[str, Any]]]:
        row = 0
        for batch in iterate_rows(self._folder, columns):
            plans = batch["assignment"].flatten().to_numpy().reshape(len(batch), -1)
            others = batch.drop_columns(["assignment"]).to_pylist()
            for record, plan in zip(others, plans, strict=True):
                if row == len(self._chain):
                    # The run has gone on since.
                    return
                yield row, {**record, "assignment": plan}
                row += 1

    def about(self) -> dict[str, Any]:
        """What belongs beside a file of assignments: the run, its districts, units and samples."""
        return {
            **{name: value for name, value in self.description.items() if name != "outcome"},
            "ensemble": {
                "epsilon": self.epsilon,
                "n_samples": len(self),
                "samples": self.chains,
                "districts": {str(number): label for number, label in enumerate(self.labels, start=1)},
                "units": list(self.ids),
            },
        }

    def write_jsonl(self, path: Path) -> None:
        """Write a line for each plan, ``{"assignment": […], "sample": n}``, districts numbered from 1."""
        with path.open("w", encoding="utf-8") as file:
            for sample in self.samples():
                numbers = ",".join(map(str, (sample.assignment.astype(np.int64) + 1).tolist()))
                file.write(f'{{"assignment":[{numbers}],"sample":{sample.number}}}\n')

    def write_table(self, path: Path) -> None:
        """Write a row for each unit and a column for each plan, with the labels of the districts."""
        plans = np.stack([sample.assignment for sample in self.samples()], axis=1)
        with path.open("w", newline="", encoding="utf-8") as file:
            writer = csv.writer(file, lineterminator="\n")
            writer.writerow([self.description.get("id_column", "id"), *range(1, len(self) + 1)])
            for unit, districts in zip(self.ids, plans, strict=True):
                writer.writerow([unit, *(self.labels[district] for district in districts)])


def _sample(number: int, record: dict[str, Any]) -> Sample:
    shares = {
        name: np.array(record[name], dtype=np.float64)
        for name in record
        if name.endswith(_SHARE) and record[name] is not None
    }
    return Sample(number, record["chain"], record["epsilon"], record["step"], record["assignment"], shares)
