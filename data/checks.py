"""Checks of a map that every later step relies on; each finding lists the units concerned."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

import geopandas as gpd
import numpy as np
import pandas as pd
import shapely
from numpy.typing import NDArray

from bottomup.data.adjacency import components
from bottomup.data.errors import count
from bottomup.data.findings import Findings
from bottomup.data.repairs import try_repair

MOST_PEOPLE = 10_000_000_000
# Pieces of the dual graph that get a finding each.
N_PIECES = 20
_THOUSANDS = re.compile(r"\d{1,3}([,  '’])\d{3}(\1\d{3})*")


def check_ids(
    ids: Sequence[str],
    column: str,
    path: str | Path,
    findings: Findings,
    among: NDArray[np.bool_] | None = None,
) -> tuple[str, ...]:
    """Return ids of which blank ones are called by their rows.

    Parameters
    ----------
    ids : sequence of str
    column, path : str
        Where they stand, for the findings.
    findings : Findings
        Takes blank and repeated ones.
    among : bool array, shape (n_rows,), optional
        The rows that are units; the others do not matter.
    """
    named = name_rows(ids)
    rows = list(range(len(ids))) if among is None else np.flatnonzero(among).tolist()
    blank = [named[row] for row in rows if not ids[row]]
    if blank:
        findings.settle(
            "blank_id",
            f"column {column!r} of {str(path)!r} holds no id in {count(len(blank), 'row')} (counted from 1 "
            "below the header)",
            f"Give every unit an id, or leave the rows out: {try_repair('drop', blank)}.",
            blank,
        )
    repeated = [unit for unit, times in Counter(named[row] for row in rows).items() if times > 1]
    if repeated:
        findings.settle(
            "repeated_id",
            f"column {column!r} of {str(path)!r} holds {count(len(repeated), 'id')} more than once",
            "Every row must be one unit: merge the rows, or name another column with id_column.",
            repeated,
        )
    return named


def name_rows(ids: Sequence[str]) -> tuple[str, ...]:
    """Return ids with the numbers of their rows in place of blank ones."""
    return tuple(unit or f"row {row}" for row, unit in enumerate(ids, start=1))


def read_population(
    values: pd.Series, ids: Sequence[str], column: str, findings: Findings
) -> tuple[NDArray[np.int64], NDArray[np.bool_]]:
    """Return the population as whole numbers of people, and where it is known; it is 0 where it is not."""
    blank = (values.isna() | (values.astype(str).str.strip() == "")).to_numpy()
    values = _without_thousands(values, ids, column, findings)
    numbers = pd.to_numeric(values.where(~blank), errors="coerce").to_numpy(dtype=np.float64)
    with np.errstate(invalid="ignore"):
        problems = (
            ("no_population", "no population", blank),
            ("population_not_numeric", "a population that is not a number", np.isnan(numbers) & ~blank),
            ("population_infinite", "an infinite population", np.isinf(numbers)),
            ("population_negative", "a negative population", np.isfinite(numbers) & (numbers < 0)),
            (
                "population_too_large",
                "more people than there are on Earth",
                np.isfinite(numbers) & (numbers > MOST_PEOPLE),
            ),
            (
                "population_fraction",
                "a population that is not a whole number",
                np.isfinite(numbers) & (np.floor(numbers) != numbers),
            ),
        )
    usable = np.ones(len(values), dtype=bool)
    for code, what, wrong in problems:
        if wrong.any():
            usable &= ~wrong
            units = [unit for unit, is_wrong in zip(ids, wrong, strict=True) if is_wrong]
            example = "" if code == "no_population" else f" (the first: {str(values[wrong].iloc[0])!r})"
            findings.settle(
                code,
                f"column {column!r} holds {what} in {wrong.sum():,} of {count(len(ids), 'unit')}{example}",
                "Correct these rows, name another column with population_column, or leave these units out: "
                f"{try_repair('drop', units)}.",
                units,
            )
    people = np.where(usable, numbers, 0).astype(np.int64)
    if not people.any() and usable.any():
        findings.settle(
            "no_people",
            f"column {column!r} is 0 in every unit.",
            "Name the column that holds the population with population_column.",
        )
    return people, usable


def _without_thousands(values: pd.Series, ids: Sequence[str], column: str, findings: Findings) -> pd.Series:
    """Read 1,370 as 1370: people come in whole numbers, so that three digits behind a comma are thousands.

    Only when the whole column agrees about the sign between thousands.
    """
    if pd.api.types.is_numeric_dtype(values):
        return values
    text = values.astype(str).str.strip()
    found = text.map(_THOUSANDS.fullmatch)
    signs = {match.group(1) for match in found if match}
    if len(signs) != 1:
        return values
    sign = signs.pop()
    grouped = found.map(bool).to_numpy()
    units = [unit for unit, is_grouped in zip(ids, grouped, strict=True) if is_grouped]
    findings.add(
        "note",
        "population_text",
        f"column {column!r} holds text such as {text[grouped].iloc[0]!r} in {grouped.sum():,} of "
        f"{count(len(ids), 'unit')}; {sign!r} was taken for a sign between thousands",
        units=units,
    )
    return values.where(~grouped, text.str.replace(sign, ""))


def check_connected(
    ids: Sequence[str],
    population: NDArray[np.int64],
    edges: NDArray[np.int32],
    geometry: gpd.GeoSeries | None,
    findings: Findings,
    among: NDArray[np.bool_] | None = None,
) -> None:
    """Add a finding for every piece of the dual graph but the largest.

    Parameters
    ----------
    ids : sequence of str
    population : int64 array, shape (n_units,)
    edges : int32 array, shape (n_edges, 2)
    geometry : GeoSeries, length n_units, or None
        In metres; for the way to the nearest unit outside.
    findings : Findings
    among : bool array, shape (n_units,), optional
        The units whose neighbours can be known; the others are not counted as pieces.
    """
    pieces = components(len(ids), edges, among)
    inside = pieces >= 0
    if not inside.any():
        return
    sizes = np.bincount(pieces[inside])
    people = np.bincount(pieces[inside], weights=population[inside]).astype(np.int64)
    order = np.lexsort((np.arange(len(sizes)), -sizes))
    names = np.asarray(ids, dtype=object)
    for piece in order[1 : N_PIECES + 1]:
        members = np.flatnonzero(pieces == piece)
        findings.settle(
            "not_connected",
            f"the dual graph is in {len(sizes):,} pieces. The largest is "
            f"{_described(sizes, people, order[0])}; another is {_described(sizes, people, piece)}"
            f"{_way(geometry, members, inside & (pieces != piece), ids)}",
            _remedy(names[members], geometry is not None),
            names[members].tolist(),
        )
    rest = order[N_PIECES + 1 :]
    if len(rest):
        members = np.flatnonzero(np.isin(pieces, rest))
        findings.settle(
            "not_connected",
            f"{count(len(rest), 'more piece')} of the dual graph, with {count(len(members), 'unit')} and "
            f"{count(int(population[members].sum()), 'person', 'people')}",
            "So many pieces mean that outlines do not meet, or that edges are missing.",
            names[members].tolist(),
        )


def _described(sizes: NDArray[np.int64], people: NDArray[np.int64], piece: int) -> str:
    return f"{count(int(sizes[piece]), 'unit')} with {count(int(people[piece]), 'person', 'people')}"


def _remedy(members: NDArray[np.object_], has_shapes: bool) -> str:
    joined = (
        f"Join it to the nearest unit: {try_repair('join', members[:1].tolist())}"
        if has_shapes
        else "Make one of them a neighbour of another unit (bridge, ferry): `--repair add-edge ID ID`"
    )
    return f"{joined}; or leave it out: {try_repair('drop', members.tolist())}."


def _way(
    geometry: gpd.GeoSeries | None,
    members: NDArray[np.int64],
    outside: NDArray[np.bool_],
    ids: Sequence[str],
) -> str:
    if geometry is None:
        return ""
    _, nearest, metres = nearest_outside(geometry, members, np.flatnonzero(outside))
    return f", nearest to {ids[nearest]}, {metres / 1000:,.1f} km away"


def nearest_outside(
    geometry: gpd.GeoSeries, members: NDArray[np.int64], others: NDArray[np.int64]
) -> tuple[int, int, float]:
    """Return the closest pair of a member and another unit, by position, and their distance.

    Among equals the pair with the smallest positions, so that the order of a file does not matter when units
    are sorted.
    """
    shapes = geometry.to_numpy()
    tree = shapely.STRtree(shapes[others])
    pairs, metres = tree.query_nearest(shapes[members], return_distance=True, all_matches=True)
    best = np.lexsort((others[pairs[1]], members[pairs[0]], metres))[0]
    return int(members[pairs[0][best]]), int(others[pairs[1][best]]), float(metres[best])


def note_unpeopled(ids: Sequence[str], is_empty: NDArray[np.bool_], findings: Findings) -> None:
    """Note the units in which nobody lives."""
    empty = [unit for unit, nobody in zip(ids, is_empty, strict=True) if nobody]
    if empty and len(empty) < len(ids):
        findings.add(
            "note",
            "zero_population",
            f"nobody lives in {len(empty):,} of {count(len(ids), 'unit')}; they can lie in any district",
            f"If they are water, they can be left out: {try_repair('drop', empty)}.",
            empty,
        )
