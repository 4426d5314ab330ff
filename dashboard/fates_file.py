"""The fates of all clusters and testimonies as a table for other programs."""

from __future__ import annotations

import csv
import io
import math
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from bottomup.dashboard.fates import Fates
from bottomup.data.testimonies import Testimonies

__all__ = ["COLUMNS", "fates_csv", "spreadsheet_text"]

COLUMNS = (
    *("kind", "id", "cluster", "testimonies", "kept_percent", "baseline_percent", "change_points"),
    *("standard_error_points", "compared_with_baseline", "districts", "best_district_percent"),
    *("kept_by_enacted_plan", "text"),
)


def fates_csv(
    testimonies: Testimonies,
    by_cluster: Fates | None,
    by_testimony: Fates,
    spread_of_clusters: tuple[NDArray[np.float64], NDArray[np.float64]],
    spread: tuple[NDArray[np.float64], NDArray[np.float64]],
    enacted: NDArray[np.bool_],
    *,
    is_judged: bool,
) -> str:
    """Write a line for each cluster and each testimony.

    Parameters
    ----------
    testimonies : Testimonies
    by_cluster : Fates or None
        None without clusters.
    by_testimony : Fates
    spread_of_clusters, spread : pair of float64 arrays
        Districts over which each is spread, and the share of its units in the best one; NaN where unknown.
    enacted : bool array, shape (T,)
        Which testimonies the enacted plan keeps whole.
    is_judged : bool
        Whether the plans tell enough to compare them with the baseline.
    """
    out = io.StringIO()
    table = csv.writer(out, lineterminator="\n")
    table.writerow(COLUMNS)
    clusters = testimonies.clusters
    if clusters is not None and by_cluster is not None:
        for place, name in enumerate(clusters.names):
            members = clusters.members(place)
            numbers = _numbers(by_cluster, spread_of_clusters, place, is_judged=is_judged)
            table.writerow(
                [
                    "cluster",
                    spreadsheet_text(name),
                    spreadsheet_text(name),
                    len(members),
                    *numbers,
                    int(enacted[members].sum()),
                    "",
                ]
            )
    for place, name in enumerate(testimonies.ids):
        cluster = -1 if clusters is None else int(clusters.of_testimony[place])
        table.writerow(
            [
                *("testimony", spreadsheet_text(name)),
                *("" if clusters is None or cluster < 0 else spreadsheet_text(clusters.names[cluster]), 1),
                *_numbers(by_testimony, spread, place, is_judged=is_judged),
                *(int(enacted[place]), spreadsheet_text(testimonies.texts.get(name, ""))),
            ]
        )
    return out.getvalue()


def _numbers(
    fates: Fates, spread: tuple[NDArray[np.float64], NDArray[np.float64]], place: int, *, is_judged: bool
) -> Sequence[str]:
    compared = ""
    if is_judged:
        compared = "no clear change"
        if fates.is_sacrificed[place]:
            compared = "sacrificed"
        elif fates.is_gaining[place]:
            compared = "kept more"
    n_districts, best = spread
    return (
        *(_figure(100 * values[place]) for values in (fates.kept, fates.baseline, fates.change, fates.error)),
        *(compared, _figure(n_districts[place]), _figure(100 * best[place])),
    )


def _figure(value: float) -> str:
    return "" if math.isnan(value) else f"{value:.2f}"


def spreadsheet_text(words: str) -> str:
    """Words that a spreadsheet does not take for a formula."""
    return f"'{words}" if words[:1] in ("=", "+", "-", "@", "\t", "\r") else words
