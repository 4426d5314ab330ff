"""Checks of a map that every later step relies on; each failure is one error that lists the units."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from bottomup.data.adjacency import components
from bottomup.data.errors import DataError, count, list_some

N_PIECES_LISTED = 5
MOST_PEOPLE = 10_000_000_000


def check_ids(ids: Sequence[str], column: str, path: str | Path) -> tuple[str, ...]:
    """Return ids of which none is blank and none occurs twice; column and file are named in the message."""
    blank = [str(row) for row, unit in enumerate(ids, start=1) if not unit]
    if blank:
        raise DataError(
            "blank_id",
            f"column {column!r} of {str(path)!r} holds no id in {count(len(blank), 'row')} (counted from 1 "
            f"below the header): {list_some(blank)}.",
            remedy="Give every unit an id, or remove the rows.",
        )
    repeated = [unit for unit, times in Counter(ids).items() if times > 1]
    if repeated:
        raise DataError(
            "repeated_id",
            f"column {column!r} of {str(path)!r} holds {count(len(repeated), 'id')} more than once",
            remedy="Every row must be one unit: merge the rows, or name another column with id_column.",
            units=repeated,
        )
    return tuple(ids)


def read_population(values: pd.Series, ids: Sequence[str], column: str) -> NDArray[np.int64]:
    """Return the population as whole numbers of people."""
    blank = (values.isna() | (values.astype(str).str.strip() == "")).to_numpy()
    numbers = pd.to_numeric(values.where(~blank), errors="coerce").to_numpy(dtype=np.float64)
    problems = (
        ("no_population", "no population", blank),
        ("population_not_numeric", "a population that is not a number", np.isnan(numbers) & ~blank),
        ("population_infinite", "an infinite population", np.isinf(numbers)),
        ("population_negative", "a negative population", numbers < 0),
        ("population_too_large", "more people than there are on Earth", numbers > MOST_PEOPLE),
        (
            "population_fraction",
            "a population that is not a whole number",
            np.isfinite(numbers) & (np.floor(numbers) != numbers),
        ),
    )
    for code, what, wrong in problems:
        if wrong.any():
            example = "" if code == "no_population" else f" (the first: {str(values[wrong].iloc[0])!r})"
            raise DataError(
                code,
                f"column {column!r} holds {what} in {wrong.sum():,} of {count(len(ids), 'unit')}{example}",
                remedy="Correct these rows, or name another column with population_column.",
                units=[unit for unit, is_wrong in zip(ids, wrong, strict=True) if is_wrong],
            )
    if not numbers.any():
        raise DataError(
            "no_people",
            f"column {column!r} is 0 in every unit.",
            remedy="Name the column that holds the population with population_column.",
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
            f"{count(n_units, 'unit')} with {count(int(people[piece]), 'person', 'people')} "
            f"({', '.join(members)}{', …' if n_units > len(members) else ''})"
        )
    n_more = len(sizes) - len(described)
    raise DataError(
        "not_connected",
        f"the dual graph is in {len(sizes):,} pieces: {'; '.join(described)}"
        f"{f'; and {n_more:,} more' if n_more else ''}. Outside the largest piece are",
        remedy="Add edges that join the pieces (bridges, ferries), or remove these units.",
        units=[unit for piece in order[1:] for unit in names[pieces == piece]],
    )
