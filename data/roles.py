"""Which columns hold voting-age population and votes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import pandas as pd

from bottomup.data.errors import DataError, count, list_some
from bottomup.data.tables import find_column

ROLE_COLUMNS = {
    "vap": ("vap20_total", "vap20", "vap", "vap_20", "totvap", "p0030001", "datasets.v_20_vap.total"),
    "black_vap": (
        *("vap20_black", "bvap20", "bvap", "bvap_20", "black_vap", "p0030004", "datasets.v_20_vap.black"),
    ),
    "dem": (
        *("20_pres_dem", "pres20_dem", "pres20d", "g20predbid", "e_20_pres_dem", "datasets.e_20_pres.dem"),
        *("dem", "pres16d"),
    ),
    "rep": (
        *("20_pres_rep", "pres20_rep", "pres20r", "g20prertru", "e_20_pres_rep", "datasets.e_20_pres.rep"),
        *("rep", "pres16r"),
    ),
}


ROLE_NAMES = {
    "vap": "voting-age population",
    "black_vap": "Black voting-age population",
    "dem": "Democratic votes",
    "rep": "Republican votes",
}


def find_roles(columns: pd.DataFrame, given: Mapping[str, str], ids: Sequence[str]) -> dict[str, str]:
    """Return the column of each known quantity.

    Parameters
    ----------
    columns : DataFrame, length n_units
        What the file held.
    given : mapping
        Columns that the user named; they must exist and hold finite numbers, not negative.
    ids : sequence of str
        Ids of the units.

    Returns
    -------
    dict
        Role to column. A column recognised by its name counts only when it holds such numbers.
    """
    strange = sorted(set(given) - set(ROLE_COLUMNS))
    if strange:
        raise DataError(
            "unknown_role",
            f"there is no role {list_some(strange)}.",
            remedy=f"Roles are {', '.join(ROLE_COLUMNS)}.",
        )
    roles = {}
    for role, candidates in ROLE_COLUMNS.items():
        if role in given:
            column = given[role]
            if column not in columns:
                raise DataError(
                    "no_column",
                    f"roles names column {column!r} for {role}, which the units do not have.",
                    remedy=f"They have {list_some([str(name) for name in columns], 40)}.",
                )
            bad = ~_countable(columns[column])
            if bad.any():
                raise DataError(
                    "role_not_numeric",
                    f"column {column!r}, named for {role}, holds no number or a negative one "
                    f"in {bad.sum():,} of {count(len(bad), 'unit')}",
                    remedy="Correct these rows, or name another column in roles.",
                    units=[unit for unit, wrong in zip(ids, bad, strict=True) if wrong],
                )
            roles[role] = column
        else:
            found = find_column(list(columns.columns), candidates)
            if found is not None and _countable(columns[found]).all():
                roles[role] = found
    return roles


def _countable(column: pd.Series) -> np.ndarray:
    if not pd.api.types.is_numeric_dtype(column):
        return np.zeros(len(column), dtype=bool)
    values = column.to_numpy(dtype=np.float64, na_value=np.nan)
    return np.isfinite(values) & (values >= 0)
