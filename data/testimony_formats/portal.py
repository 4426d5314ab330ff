"""Submissions of an MGGG portal: a row each, the map as a Districtr plan in one cell."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from bottomup.data.errors import DataError, count
from bottomup.data.tables import find_column, require_column
from bottomup.data.testimony_formats.common import (
    TESTIMONY_COLUMNS,
    Columns,
    Community,
    Reading,
    distinct,
    is_blank,
    parse_object,
)
from bottomup.data.testimony_formats.descriptions import describe, describing_columns
from bottomup.data.testimony_formats.districtr import communities_of_plan, is_plan
from bottomup.data.testimony_formats.people import is_personal

PLAN_COLUMNS = ("districtr_data", "districtr_plan", "plan", "assignment")
_ID_COLUMNS = ("id", "plan_id", "submission_id", *TESTIMONY_COLUMNS)


def plan_column(columns: Sequence[str], records: Sequence[Mapping[str, object]]) -> str | None:
    """Return the column whose cells hold Districtr plans."""
    for name in PLAN_COLUMNS:
        column = find_column(columns, (name,))
        if column is not None and any(str(one.get(column) or "").lstrip()[:1] == "{" for one in records):
            return column
    return None


def has_links_only(columns: Sequence[str]) -> bool:
    """Tell whether a table lists submissions by their addresses on the web, without their maps."""
    return find_column(columns, ("link",)) is not None and find_column(columns, ("type",)) is not None


def refuse_links(path: Path) -> None:
    """Raise the DataError that says where the maps of a portal's list are."""
    raise DataError(
        "no_maps",
        f"{str(path)!r} lists submissions by their links: the maps are not in it.",
        remedy="Save the plans that the links lead to as JSON, and give the folder they are in.",
    )


def read_portal(
    path: Path, columns: Sequence[str], records: Sequence[Mapping[str, object]], given: Columns
) -> Reading:
    """Read the communities of all submissions; each is called by its submission and its number in it.

    Where a submission with several communities has been given a row for each, every row holds its whole plan:
    it is read once. Plans of several districts, and submissions without a map, are no communities.
    """
    data = plan_column(columns, records)
    assert data is not None
    id_column = require_column(
        columns, given.testimony, _ID_COLUMNS, "testimony ids", "testimony_column", path
    )
    kind_column = find_column(columns, ("type",))
    described = describing_columns(columns, id_column, is_layer=False)
    personal = [column for column in columns if is_personal(column)]
    found: list[Community] = []
    seen: set[tuple[str, str]] = set()
    n_blank = n_plans = n_unreadable = 0
    for number, record in enumerate(records, start=1):
        cell = record.get(data)
        if is_blank(cell):
            n_blank += 1
            continue
        content = _as_plan(parse_object(cell))
        if content is None:
            n_unreadable += 1
            continue
        name = str(record.get(id_column) or number).strip()
        base = name.rpartition("-")[0] if name.rpartition("-")[2].isdecimal() else ""
        key = (base or name, str(cell))
        if key in seen:
            continue
        seen.add(key)
        communities, _ = communities_of_plan(content, base or name)
        if (
            kind_column is not None
            and str(record.get(kind_column)).strip().lower() == "plan"
            and len(communities) > 1
        ):
            n_plans += 1
            continue
        text = describe(record, described, personal)
        found += [replace(one, text=text) for one in communities]
        n_blank += not communities
    remarks = [
        f"{count(n, 'row')} {words} left aside"
        for n, words in (
            (n_blank, "without a map"),
            (n_plans, "with plans of several districts"),
            (n_unreadable, "whose map cannot be read"),
        )
        if n
    ]
    # A submission may be listed twice with different maps: both count.
    ids = distinct([community.id for community in found])
    communities = tuple(replace(one, id=own) for own, one in zip(ids, found, strict=True))
    return Reading(
        path,
        "a portal's submissions",
        communities,
        id_column=id_column,
        remarks=tuple(remarks),
        columns=tuple(columns),
    )


def _as_plan(content: object) -> dict | None:
    """Return a cell as a plan: the whole of it, or its assignment alone."""
    if not isinstance(content, dict):
        return None
    if is_plan(content):
        return content
    inner = content.get("plan", content)
    if isinstance(inner, dict) and inner and all(not isinstance(value, dict) for value in inner.values()):
        return {"assignment": inner}
    return None
