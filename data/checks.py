"""Checks of a map that every later step relies on; each failure is one error that lists the units."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from bottomup.data.adjacency import components
from bottomup.data.errors import DataError, list_some

N_PIECES_LISTED = 5


def check_ids(ids: Sequence[str], column: str) -> tuple[str, ...]:
    """Return ids of which none is blank and none occurs twice."""
    blank = [str(row) for row, unit in enumerate(ids, start=1) if not unit]
    if blank:
        raise DataError(
            "blank_id",
            f"column {column!r} holds no id in {len(blank):,} rows (counted from 1 below the header): "
            f"{list_some(blank)}.",
            remedy="Give every unit an id, or remove the rows.",
        )
    repeated = [unit for unit, times in Counter(ids).items() if times > 1]
    if repeated:
        raise DataError(
            "repeated_id",
            f"{len(repeated):,} ids in column {column!r} occur more than once",
            remedy="Every row must be one unit: merge the rows, or name another column with id_column.",
            units=repeated,
        )
    return tuple(ids)


def read_population(values: pd.Series, ids: Sequence[str], column: str) -> NDArray[np.int64]:
    """Return the population as whole numbers of people."""
    names = np.asarray(ids, dtype=object)
    blank = (values.isna() | (values.astype(str).str.strip() == "")).to_numpy()
    numbers = pd.to_numeric(values.where(~blank), errors="coerce").to_numpy(dtype=np.float64)
    problems = (
        ("no_population", "no population", blank),
        ("population_not_numeric", "a population that is not a number", np.isnan(numbers) & ~blank),
        ("population_infinite", "an infinite population", np.isinf(numbers)),
        ("population_negative", "a negative population", numbers < 0),
        (
            "population_fraction",
            "a population that is not a whole number",
            np.isfinite(numbers) & (np.floor(numbers) != numbers),
        ),
    )
    for code, what, wrong in problems:
        if wrong.any():
            raise DataError(
                code,
                f"{wrong.sum():,} of {len(names):,} units have {what} in column {column!r}",
                remedy="Correct these rows, or name another column with population_column.",
                units=names[wrong],
            )
    return numbers.astype(np.int64)


def check_connected(ids: Sequence[str], population: NDArray[np.int64], edges: NDArray[np.int32]) -> None:
    """Make sure that the dual graph is in one piece."""
    pieces = components(len(ids), edges)
    sizes = np.bincount(pieces)
    if len(sizes) == 1:
        return
    people = np.bincount(pieces, weights=population)
    order = np.argsort(-sizes, kind="stable")
    names = np.asarray(ids, dtype=object)
    described = []
    for piece in order[:N_PIECES_LISTED]:
        members = names[pieces == piece][:4]
        n_units = int(sizes[piece])
        described.append(
            f"{n_units:,} unit{'s' if n_units > 1 else ''} with {int(people[piece]):,} people "
            f"({', '.join(members)}{', …' if n_units > len(members) else ''})"
        )
    n_more = len(sizes) - len(described)
    raise DataError(
        "not_connected",
        f"the dual graph is in {len(sizes):,} pieces: {'; '.join(described)}"
        f"{f'; and {n_more:,} more pieces' if n_more else ''}. Outside the largest piece are",
        remedy="Add edges that join the pieces (bridges, ferries), or remove these units.",
        units=[unit for piece in order[1:] for unit in names[pieces == piece]],
    )
