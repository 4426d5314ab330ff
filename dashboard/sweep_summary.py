"""What the finished cells of a sweep come to: a row for each law, over all seeds."""

import csv
import io
import math
from collections.abc import Mapping, Sequence
from typing import Any

from bottomup.dashboard.study_draws import SCORE_COLUMNS, LawDraws, group_cells, read_draws
from bottomup.dashboard.study_folder import StudyFolder
from bottomup.sampler.diagnostics import diagnose
from bottomup.sampler.durable import write_whole
from bottomup.sampler.shares import Share

__all__ = ["SUMMARY", "write_summary"]

SUMMARY = "summary.csv"
_COLUMNS = (
    *("score", "cut_edges", "attacked", "epsilon", "seeds", "chains", "plans"),
    *(f"{kind}_{column}" for column in SCORE_COLUMNS for kind in ("mean", "sd", "share_above_enacted")),
    *("largest_rhat", "least_ess"),
)


def write_summary(folder: StudyFolder, shares: Mapping[str, Share]) -> None:
    """Write ``summary.csv``.

    Figures are of the later half of each chain's steps. R-hat and effective sample sizes are those of all
    chains of all seeds together, the largest and the smallest of any quantity; they are empty where one of
    those cannot be told: with a single chain, too few plans, or chains that stand still.

    Parameters
    ----------
    folder : StudyFolder
    shares : mapping of str to Share
        Those that chains are to agree on.
    """
    table = io.StringIO(newline="")
    writer = csv.DictWriter(table, _COLUMNS, lineterminator="\n")
    writer.writeheader()
    enacted = folder.record["enacted"] or {}
    for group in group_cells(folder):
        of_group = {
            "score": group.score,
            "cut_edges": group.cut_edges,
            "attacked": int(group.is_attacked),
            "seeds": len(group.cells),
        }
        for draws in read_draws(group.cells, shares):
            row = {**of_group, **_row(draws, enacted)}
            writer.writerow({name: _cell(value) for name, value in row.items()})
    text = table.getvalue()
    write_whole(folder.path / SUMMARY, lambda file: file.write(text.encode()))


def _row(draws: LawDraws, enacted: Mapping[str, float]) -> dict[str, Any]:
    row: dict[str, Any] = {
        "epsilon": draws.epsilon,
        "chains": len(draws.chains),
        "plans": sum(draws.n_later),
    }
    for column in SCORE_COLUMNS:
        if column in draws.quantities:
            values = draws.later(column)
            row |= {f"mean_{column}": float(values.mean()), f"sd_{column}": float(values.std(ddof=1))}
            if column in enacted:
                row[f"share_above_enacted_{column}"] = float((values > enacted[column]).mean())
    found = [each for each in diagnose(draws.quantities) if not each.is_constant]
    row["largest_rhat"] = _extreme(max, [each.rhat for each in found])
    row["least_ess"] = _extreme(min, [size for each in found for size in (each.ess_bulk, each.ess_tail)])
    return row


def _extreme(choose: Any, values: Sequence[float]) -> float | None:
    # One that is not known may be anything.
    return None if not values or any(map(math.isnan, values)) else choose(values)


def _cell(value: Any) -> Any:
    return f"{value:.6g}" if isinstance(value, float) else value
