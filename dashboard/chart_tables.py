"""The numbers of charts as tables: what stands beside a chart, and what is saved with it."""

from collections.abc import Mapping, Sequence

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from bottomup.dashboard.binning import Bins
from bottomup.dashboard.box_figure import LEVELS, quantiles_by_rank
from bottomup.dashboard.influence import times
from bottomup.dashboard.tradeoff import AtEpsilon

__all__ = ["scores_table", "shares_table", "tradeoff_table"]


def scores_table(
    bins: Bins,
    scores: NDArray[np.float64],
    baseline: NDArray[np.float64],
    picked: NDArray[np.float64] | None = None,
) -> pd.DataFrame:
    """How many plans lie in each bar of a histogram; bars that hold none are left out.

    Parameters
    ----------
    bins : Bins
    scores, baseline : float64 arrays
    picked : float64 array, optional
        Scores of the plans picked out.
    """
    columns = {
        "from, %": (100 * bins.edges[:-1]).round(2),
        "to below, %": (100 * bins.edges[1:]).round(2),
        "plans": bins.counts(scores),
        "baseline plans": bins.counts(baseline),
    }
    if picked is not None:
        columns["picked out"] = bins.counts(picked)
    frame = pd.DataFrame(columns)
    # Empty bars at both ends, and between, say nothing that the others do not.
    return frame[(frame["plans"] > 0) | (frame["baseline plans"] > 0)]


def shares_table(enacted: NDArray[np.floating], parts: Mapping[str, NDArray[np.floating]]) -> pd.DataFrame:
    """Quantiles of a share by ranked district.

    Parameters
    ----------
    enacted : float array, shape (k,)
    parts : mapping of str to float array, shape (R, k)
        Shares in plans, by what precedes the name of each column; those without plans are left out.
    """
    columns = {"order": np.arange(1, len(enacted) + 1), "enacted": _percent(enacted)}
    for whose, part in parts.items():
        if len(part):
            columns |= {
                f"{whose}{level:.0%} of plans below": _percent(values)
                for level, values in zip(LEVELS, quantiles_by_rank(part), strict=True)
            }
    return pd.DataFrame(columns)


def tradeoff_table(found: Sequence[AtEpsilon], kinds: Sequence[str]) -> pd.DataFrame:
    """Mean and middle 90 % of scores by ε.

    Parameters
    ----------
    found : sequence of AtEpsilon
    kinds : sequence of {"testimony", "cluster"}
    """
    columns: dict[str, list[object]] = {
        "ε": [each.epsilon for each in found],
        "odds at most": [times(each.epsilon) for each in found],
        "plans, in effect": [round(each.n_effective) for each in found],
    }
    for kind in kinds:
        bands = [each.band(kind) for each in found]
        columns[f"{kind} score, mean %"] = [round(100 * each.mean(kind), 2) for each in found]
        columns[f"{kind} score, 5th percentile %"] = [round(100 * low, 2) for low, _ in bands]
        columns[f"{kind} score, 95th percentile %"] = [round(100 * high, 2) for _, high in bands]
    return pd.DataFrame(columns)


def _percent(shares: NDArray[np.floating]) -> NDArray[np.float64]:
    """Shares as percent with two decimals."""
    return np.round(100 * np.asarray(shares, dtype=np.float64), 2)
