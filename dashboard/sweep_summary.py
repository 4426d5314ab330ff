"""What the finished cells of a sweep come to: a row for each score and epsilon, over all seeds."""

import csv
import io
import json
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import pandas as pd

from bottomup.dashboard.study import Cell
from bottomup.sampler.durable import write_whole
from bottomup.sampler.runs import PLANS, RUN

__all__ = ["SCORE_COLUMNS", "SUMMARY", "write_summary"]

SUMMARY = "summary.csv"
SCORE_COLUMNS = ("score_testimony", "score_cluster")
_COLUMNS = (
    *("score", "epsilon", "seeds", "plans"),
    *(f"{kind}_{column}" for column in SCORE_COLUMNS for kind in ("mean", "sd", "share_above_enacted")),
    *("largest_rhat", "least_ess"),
)


def write_summary(out: Path, cells: Sequence[Cell], enacted: Mapping[str, float] | None) -> None:
    """Write ``summary.csv``.

    Figures are of the later half of each cell's steps, as R-hat and effective sample sizes are, which are the
    largest and the smallest of any quantity and seed. They are empty where one of those cannot be told: with
    a single chain, too few plans, or chains that stand still.

    Parameters
    ----------
    out : path
    cells : sequence of Cell
        Those that are finished; one row of the table may rest on several.
    enacted : mapping of str to float, optional
        The enacted plan's scores, by the names of ``SCORE_COLUMNS``.
    """
    table = io.StringIO(newline="")
    writer = csv.DictWriter(table, _COLUMNS, lineterminator="\n")
    writer.writeheader()
    for score in dict.fromkeys(cell.score for cell in cells):
        folders = [out / cell.name for cell in cells if cell.score == score]
        for row in _rows(folders, enacted or {}):
            writer.writerow({"score": score, **{name: _cell(value) for name, value in row.items()}})
    text = table.getvalue()
    write_whole(out / SUMMARY, lambda file: file.write(text.encode()))


def _rows(folders: Sequence[Path], enacted: Mapping[str, float]) -> Iterator[dict[str, Any]]:
    plans = pd.concat(map(_later_half, folders))
    rungs = [rung for folder in folders for rung in _diagnostics(folder)]
    for epsilon, found in plans.groupby("epsilon"):
        row: dict[str, Any] = {"epsilon": epsilon, "seeds": len(folders), "plans": len(found)}
        for column in SCORE_COLUMNS:
            values = found[column].dropna()
            row |= {f"mean_{column}": values.mean(), f"sd_{column}": values.std()}
            if len(values) and column in enacted:
                row[f"share_above_enacted_{column}"] = (values > enacted[column]).mean()
        quantities = [
            quantity
            for rung in rungs
            if rung["epsilon"] == epsilon
            for quantity in rung["quantities"].values()
            if not quantity["is_constant"]
        ]
        row["largest_rhat"] = _extreme(max, [quantity["rhat"] for quantity in quantities])
        sizes = [quantity[name] for quantity in quantities for name in ("ess_bulk", "ess_tail")]
        row["least_ess"] = _extreme(min, sizes)
        yield row


def _later_half(folder: Path) -> pd.DataFrame:
    plans = pd.read_parquet(folder / PLANS, columns=["epsilon", "step", *SCORE_COLUMNS])
    return plans[plans["step"] > plans["step"].max() / 2]


def _diagnostics(folder: Path) -> list[dict[str, Any]]:
    run = json.loads((folder / RUN).read_text(encoding="utf-8"))
    return list(run["outcome"]["diagnostics"]["by_epsilon"])


def _extreme(choose: Any, values: Sequence[float | None]) -> float | None:
    # One that is not known may be infinite.
    return None if not values or None in values else choose(values)


def _cell(value: Any) -> Any:
    if isinstance(value, float):
        return "" if value != value else f"{value:.6g}"
    return value
