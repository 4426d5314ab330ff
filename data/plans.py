"""District plans from a column of the units or from a file."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np

from bottomup.data.bounds import check_feasible, population_bounds
from bottomup.data.districts import Plan, natural_order, plan_from_labels
from bottomup.data.errors import DataError, count, list_some
from bottomup.data.geography import Geography
from bottomup.data.matching import MatchReport
from bottomup.data.plan_checks import PlanCheck, check_plan, check_start
from bottomup.data.plan_repair import join_loose
from bottomup.data.plan_shapes import read_plan_shapes
from bottomup.data.plan_tables import read_plan_table
from bottomup.data.tables import is_table, text_ids

__all__ = [
    "MatchReport",
    "Plan",
    "PlanCheck",
    "check_feasible",
    "check_plan",
    "check_start",
    "load_plan",
    "natural_order",
    "plan_from_column",
    "plan_from_labels",
    "population_bounds",
    "read_plan",
]


def plan_from_column(geography: Geography, column: str, *, fill_missing: bool = False) -> Plan:
    """Read a plan from a column of the units.

    Parameters
    ----------
    geography : Geography
        The map.
    column : str
        Name of the column. Whole numbers lose their decimals: 1.0 is district ``1``.
    fill_missing : bool
        See :func:`read_plan`.

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
    if missing and not (fill_missing and len(missing) < geography.n_units):
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
    if not missing:
        return plan_from_labels(column, labels)
    match = MatchReport(f"column {column}", geography.n_units, missing=tuple(missing))
    return _filled_plan(column, labels, match, geography)


def read_plan(
    path: str | Path,
    geography: Geography,
    name: str | None = None,
    *,
    district_column: str | None = None,
    fill_missing: bool = False,
) -> Plan:
    """Read a plan from a file.

    Parameters
    ----------
    path : path
        A table with unit id and district, of units or of smaller units such as Census blocks whose ids begin
        with those of the map; or a GIS file, of units with their districts or of districts as polygons.
    geography : Geography
        The map. Its ids are matched as text; only where that fails are stripped leading zeros and added
        decimals forgiven.
    name : str, optional
        What to call the plan; the file name otherwise.
    district_column : str, optional
        The column that holds the districts; common names are recognised.
    fill_missing : bool
        Give units without a district that of the neighbours with which they share most of their border.

    Returns
    -------
    Plan
        Its ``match`` says how the file fits the map.

    Raises
    ------
    DataError
        If it is not clear which columns are meant, or unless every unit has one district; the message counts
        the ids that match, that are missing, unknown and repeated.
    """
    read = read_plan_table if is_table(path) else read_plan_shapes
    labels, match = read(path, geography, district_column)
    match.require_complete(geography.ids[0], accept_missing=fill_missing)
    name = name if name is not None else Path(path).name.split(".")[0]
    return _filled_plan(name, labels, match, geography)


def _filled_plan(name: str, labels: Sequence[str], match: MatchReport, geography: Geography) -> Plan:
    """Build a plan of which some units may lack a district."""
    if not match.missing:
        return plan_from_labels(name, labels, match)
    known = plan_from_labels(name, [label for label in labels if label])
    assignment = np.full(len(labels), -1, dtype=np.int32)
    assignment[[label != "" for label in labels]] = known.assignment
    note = "Units without a district took that of the neighbours with which they share most of their border."
    return Plan(
        name,
        join_loose(geography, assignment, known.n_districts),
        known.labels,
        replace(match, notes=(*match.notes, note)),
    )


def load_plan(
    spec: str, geography: Geography, *, district_column: str | None = None, fill_missing: bool = False
) -> Plan:
    """Return the plan that a user names: a column of the units, or a file; options as of :func:`read_plan`.

    Raises
    ------
    DataError
        If it is neither, or not a plan.
    """
    if spec in geography.columns:
        return plan_from_column(geography, spec, fill_missing=fill_missing)
    if Path(spec).is_file():
        return read_plan(spec, geography, district_column=district_column, fill_missing=fill_missing)
    raise DataError(
        "no_plan",
        f"{spec!r} is neither a file nor a column of the units that could hold a plan.",
        remedy=_other_columns(geography),
    )


def _other_columns(geography: Geography) -> str:
    names: Sequence[str] = [str(name) for name in geography.columns]
    return f"Besides ids and population they have {list_some(names, 40) or 'no columns'}."
