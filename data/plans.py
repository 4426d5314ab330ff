"""District plans: from a column or a file, and fit to start a walk from."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from bottomup.data.adjacency import components
from bottomup.data.bounds import check_feasible, pass_tolerance, population_bounds
from bottomup.data.errors import DataError, count, list_some
from bottomup.data.geography import Geography
from bottomup.data.identifiers import UnitMatcher, without_decimals
from bottomup.data.tables import read_rows, text_ids

__all__ = [
    "Plan",
    "check_feasible",
    "check_start",
    "load_plan",
    "natural_order",
    "plan_from_column",
    "plan_from_labels",
    "population_bounds",
    "read_plan",
]

_DIGITS = re.compile(r"(\d+)")


@dataclass(frozen=True, eq=False)
class Plan:
    """A district for every unit; nothing is promised about connection or balance.

    Attributes
    ----------
    name : str
        What to call it.
    assignment : int32 array, shape (n_units,)
        District of each unit, counted from 0.
    labels : tuple of str, length n_districts
        The districts as the user wrote them, in natural order (2 before 10).
    """

    name: str
    assignment: NDArray[np.int32]
    labels: tuple[str, ...]

    @property
    def n_districts(self) -> int:
        """Number of districts."""
        return len(self.labels)


def natural_order(labels: Iterable[str]) -> list[str]:
    """Return labels in the order in which people list them: 2 before 10."""

    def key(label: str) -> list[tuple[int, int, str]]:
        parts = _DIGITS.split(label)
        return [(0, int(part), part) if part.isdecimal() else (1, 0, part) for part in parts if part]

    return sorted(labels, key=key)


def plan_from_labels(name: str, labels_by_unit: Sequence[str]) -> Plan:
    """Build a plan from the label of each unit."""
    labels = tuple(natural_order(set(labels_by_unit)))
    number = {label: district for district, label in enumerate(labels)}
    return Plan(name, np.array([number[label] for label in labels_by_unit], dtype=np.int32), labels)


def plan_from_column(geography: Geography, column: str) -> Plan:
    """Read a plan from a column of the units.

    Parameters
    ----------
    geography : Geography
        The map.
    column : str
        Name of the column. Whole numbers lose their decimals: 1.0 is district ``1``.

    Raises
    ------
    DataError
        If there is no such column, units have no district in it, or it holds fractions.
    """
    if column not in geography.columns:
        raise DataError(
            "no_plan",
            f"the units have no column {column!r} that could hold a plan.",
            remedy=_other_columns(geography),
        )
    values = geography.columns[column]
    labels = text_ids(values)
    missing = [unit for unit, label in zip(geography.ids, labels, strict=True) if not label]
    if missing:
        raise DataError(
            "plan_missing_units",
            f"column {column!r} holds no district for {len(missing):,} of {count(geography.n_units, 'unit')}",
            remedy="Every unit needs a district.",
            units=missing,
        )
    fractions = [
        unit
        for unit, value in zip(geography.ids, values, strict=True)
        if isinstance(value, float | np.floating) and not float(value).is_integer()
    ]
    if fractions:
        raise DataError(
            "plan_fraction",
            f"column {column!r} holds fractions, which are no districts, in {count(len(fractions), 'unit')}",
            remedy="Name the column that holds the plan.",
            units=fractions,
        )
    return plan_from_labels(column, labels)


def read_plan(path: str | Path, geography: Geography, name: str | None = None) -> Plan:
    """Read a plan from a table of two columns: unit id and district.

    Parameters
    ----------
    path : path
        Separated by commas, tabs, pipes or semicolons, with or without a header. Blank lines do not count.
    geography : Geography
        The map. Its ids are matched as text; only where that fails are stripped leading zeros and added
        decimals forgiven.
    name : str, optional
        What to call the plan; the file name otherwise.

    Returns
    -------
    Plan

    Raises
    ------
    DataError
        Unless every unit has one district and every id is a unit; the message counts the ids that match,
        that are missing, unknown and repeated.
    """
    matcher = UnitMatcher(geography.ids)
    rows = list(read_rows(path))
    n_header = 1 if rows and matcher.may_be_header(rows[0][0]) else 0
    body = rows[n_header:]
    wide = [number for number, row in enumerate(body, start=n_header + 1) if len(row) < 2 or any(row[2:])]
    if wide or not body:
        raise DataError(
            "plan_columns",
            f"{str(path)!r} must be a table of two columns, unit id and district"
            + (
                f"; row {wide[0]:,} has {count(len(rows[wide[0] - 1]), 'column')}."
                if wide
                else ", and hold rows."
            ),
            remedy="Remove the other columns, or name a column of the units as the plan.",
        )
    labels = [""] * geography.n_units
    unknown, repeated = [], []
    for unit, label, *_ in body:
        position = matcher.position(unit)
        if position < 0:
            unknown.append(unit)
        elif labels[position] and label and labels[position] != without_decimals(label):
            repeated.append(geography.ids[position])
        else:
            labels[position] = without_decimals(label) or labels[position]
    missing = [unit for unit, label in zip(geography.ids, labels, strict=True) if not label]
    if missing or unknown or repeated:
        concerned = [
            ("plan_missing_units", "Without a district", missing, "Give every unit a district."),
            ("plan_unknown_units", "Not on the map", unknown, "Correct these ids, or remove their rows."),
            ("plan_repeated_units", "In more than one district", repeated, "Leave one row for each."),
        ]
        code, introduction, units, remedy = next(item for item in concerned if item[2])
        if missing and unknown:
            remedy = f"Not on the map: {list_some(unknown, 3)}; ids there look like {matcher.example!r}."
        raise DataError(
            code,
            f"{str(path)!r} is not a plan of this map: {geography.n_units - len(missing):,} of "
            f"{count(geography.n_units, 'unit')} with a district, {len(missing):,} without, "
            f"{len(repeated):,} with more than one, and {count(len(unknown), 'id')} not on the map. "
            f"{introduction}",
            remedy=remedy,
            units=units,
        )
    return plan_from_labels(name if name is not None else Path(path).name.split(".")[0], labels)


def load_plan(spec: str, geography: Geography) -> Plan:
    """Return the plan that a user names: a column of the units, or a file.

    Raises
    ------
    DataError
        If it is neither, or not a plan.
    """
    if spec in geography.columns:
        return plan_from_column(geography, spec)
    if Path(spec).is_file():
        return read_plan(spec, geography)
    raise DataError(
        "no_plan",
        f"{spec!r} is neither a file nor a column of the units that could hold a plan.",
        remedy=_other_columns(geography),
    )


def check_start(
    geography: Geography, plan: Plan, lower: int, upper: int, n_districts: int | None = None
) -> None:
    """Make sure that a walk can start from a plan: k districts, none empty, each connected and balanced.

    Parameters
    ----------
    geography : Geography
        The map.
    plan : Plan
        The plan.
    lower, upper : int
        Smallest and largest population of a district.
    n_districts : int, optional
        How many districts the walk is to have; the plan's number otherwise.

    Raises
    ------
    DataError
        For the first of these that fails, naming the units of detached pieces, or the districts out of bounds
        with their deviations.
    """
    wanted = plan.n_districts if n_districts is None else n_districts
    sizes = np.bincount(plan.assignment, minlength=plan.n_districts)
    if plan.n_districts != wanted or len(sizes) != plan.n_districts:
        raise DataError(
            "wrong_n_districts",
            f"plan {plan.name!r} has {count(plan.n_districts, 'district')} ({list_some(plan.labels)}), not "
            f"{wanted}.",
            remedy="Choose another plan, or the plan's number of districts.",
        )
    empty = [label for label, size in zip(plan.labels, sizes, strict=True) if size == 0]
    if empty:
        raise DataError(
            "empty_district",
            f"plan {plan.name!r} has no units in district {list_some(empty)}.",
            remedy="Start from another plan.",
        )
    check_feasible(geography, wanted, lower, upper)
    _check_whole(geography, plan)
    _check_balanced(geography, plan, lower, upper)


def _check_whole(geography: Geography, plan: Plan) -> None:
    within = plan.assignment[geography.edges[:, 0]] == plan.assignment[geography.edges[:, 1]]
    pieces = components(geography.n_units, geography.edges[within])
    piece_sizes = np.bincount(pieces)
    detached: list[str] = []
    described = []
    for district, label in enumerate(plan.labels):
        of_district = np.unique(pieces[plan.assignment == district])
        if len(of_district) > 1:
            largest = of_district[np.argmax(piece_sizes[of_district])]
            outside = np.flatnonzero((plan.assignment == district) & (pieces != largest))
            detached.extend(geography.ids[position] for position in outside)
            people = int(geography.population[outside].sum())
            described.append(
                f"district {label} is in {len(of_district)} pieces, with "
                f"{count(people, 'person', 'people')} apart from the largest"
            )
    if detached:
        raise DataError(
            "district_not_connected",
            f"plan {plan.name!r} is not connected: {list_some(described)}. Detached units",
            remedy="Start from another plan, move them to a neighbouring district, or add edges to them.",
            units=detached,
        )


def _check_balanced(geography: Geography, plan: Plan, lower: int, upper: int) -> None:
    people = np.zeros(plan.n_districts, dtype=np.int64)
    np.add.at(people, plan.assignment, geography.population)
    ideal = geography.total_population / plan.n_districts
    outside = np.flatnonzero((people < lower) | (people > upper))
    if len(outside):
        deviations = [
            f"district {plan.labels[district]} has {people[district]:,} ({people[district] / ideal - 1:+.2%})"
            for district in outside
        ]
        worst = float(np.abs(people / ideal - 1).max())
        raise DataError(
            "district_out_of_bounds",
            f"plan {plan.name!r} is out of balance: districts may have {lower:,} to {upper:,} people, but "
            f"{list_some(deviations)}.",
            remedy=f"{pass_tolerance(worst)}start from another plan.",
        )


def _other_columns(geography: Geography) -> str:
    names = [str(name) for name in geography.columns]
    return f"Besides ids and population they have {list_some(names, 40) or 'no columns'}."
