"""Plans from text tables, as redistricting programs, the Census Bureau and spreadsheets write them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from bottomup.data.districts import clean_label, natural_order
from bottomup.data.errors import DataError, count, list_some
from bottomup.data.geography import Geography
from bottomup.data.identifiers import UnitMatcher, without_decimals
from bottomup.data.matching import MatchReport
from bottomup.data.plan_columns import find_district_column, find_unit_column
from bottomup.data.tables import read_rows

__all__ = ["assign_by_id", "read_plan_table"]


def read_plan_table(
    path: str | Path, geography: Geography, district_column: str | None = None
) -> tuple[list[str], MatchReport]:
    """Read the district of each unit from a table.

    Parameters
    ----------
    path : path
        Separated by commas, tabs, pipes or semicolons, with or without a byte-order mark, and with a header
        unless it has just two columns. Blank lines do not count.
    geography : Geography
        The map.
    district_column : str, optional
        The column with the districts; common names are recognised.

    Returns
    -------
    labels : list of str
        Label of each unit, blank for those that have none.
    match : MatchReport

    Raises
    ------
    DataError
        If it is not clear which columns are meant, or no id is a unit.
    """
    matcher = UnitMatcher(geography.ids)
    rows = [_trimmed(row) for row in read_rows(path)]
    header, body = _split(rows, matcher)
    unit, district = _find_columns(path, header, body, matcher, district_column)
    pairs = [(row[unit], clean_label(row[district])) for row in body]
    return assign_by_id(str(path), pairs, geography, matcher)


def _trimmed(row: list[str]) -> list[str]:
    """Leave out empty cells at the end, as spreadsheets add them, but keep two: a district may be blank."""
    n_cells = len(row)
    while n_cells > 2 and not row[n_cells - 1]:
        n_cells -= 1
    return row[:n_cells]


def _split(rows: list[list[str]], matcher: UnitMatcher) -> tuple[list[str] | None, list[list[str]]]:
    """Tell a header from the first row."""
    if not rows or not matcher.may_be_header(rows[0][0]):
        return None, rows
    # A first row with a district of other rows is an unknown unit.
    others = {row[1] for row in rows[1:] if len(row) > 1}
    is_data = len(rows[0]) == 2 and rows[0][1] in others and rows[0][1] != ""
    return (None, rows) if is_data else (rows[0], rows[1:])


def _find_columns(
    path: str | Path,
    header: list[str] | None,
    body: list[list[str]],
    matcher: UnitMatcher,
    given: str | None,
) -> tuple[int, int]:
    names = header or []
    unit_name = find_unit_column(names)
    district_name = find_district_column([name for name in names if name != unit_name], given, path)
    if unit_name is not None and district_name is not None:
        # With both named by the header, other columns do no harm.
        unit, district, n_columns = names.index(unit_name), names.index(district_name), len(names)
    else:
        is_second = unit_name in names[1:2] or district_name in names[:1] or _are_swapped(body, matcher)
        unit, district, n_columns = (1, 0, 2) if is_second else (0, 1, 2)
    least = max(unit, district) + 1 if n_columns > 2 else 2
    wrong = [row for row in body if len(row) > n_columns or (len(row) < least and n_columns == 2)]
    if wrong or not body:
        found = ", and hold rows"
        if wrong:
            number = len(names[:1]) + body.index(wrong[0]) + 1
            found = f"; row {number:,} has {count(len(wrong[0]), 'column')}"
        raise DataError(
            "plan_columns",
            f"{str(path)!r} must be a table of two columns, unit id and district, or have a header that "
            f"names them{found}.",
            remedy="Remove the other columns, name the two GEOID20 and district, or name a column of the "
            "units as the plan.",
        )
    for row in body:
        row.extend([""] * (least - len(row)))
    return unit, district


def _are_swapped(body: list[list[str]], matcher: UnitMatcher) -> bool:
    """Tell whether only the second of two columns holds units."""
    return not any(row[0] in matcher for row in body) and any(row[1] in matcher for row in body if row[1:])


def assign_by_id(
    source: str, pairs: Sequence[tuple[str, str]], geography: Geography, matcher: UnitMatcher
) -> tuple[list[str], MatchReport]:
    """Give every unit the district that rows of id and label name.

    Where no id is a unit but ids begin with those of units, as Census blocks do with their block group, each
    unit goes to the district that holds most of its blocks.

    Parameters
    ----------
    source : str
        The file, for the report.
    pairs : sequence of (id, label)
        Labels may be blank.
    geography : Geography
        The map.
    matcher : UnitMatcher
        Of its ids.

    Returns
    -------
    labels : list of str
        Blank for units without a district.
    match : MatchReport
    """
    places = [matcher.position(unit) for unit, _ in pairs]
    if not any(place >= 0 for place in places):
        coarse = _prefixes([unit for unit, _ in pairs], geography)
        if any(place >= 0 for place in coarse):
            return _assign_by_most_blocks(source, pairs, coarse, geography)
    labels = [""] * geography.n_units
    n_rows = [0] * geography.n_units
    unknown, conflicting, n_forgiven = [], set(), 0
    for (unit, label), place in zip(pairs, places, strict=True):
        if place < 0:
            unknown.append(unit)
            continue
        n_rows[place] += 1
        n_forgiven += unit != geography.ids[place]
        if labels[place] and label and labels[place] != label:
            conflicting.add(place)
        labels[place] = labels[place] or label
    notes = []
    if n_forgiven:
        notes.append(
            f"{count(n_forgiven, 'id')} lacked leading zeros or had decimals added, as spreadsheets do; "
            f"they were matched to units such as {matcher.example!r}."
        )
    return labels, MatchReport(
        source=source,
        n_units=geography.n_units,
        missing=_named(geography, [place for place, label in enumerate(labels) if not label]),
        unknown=tuple(dict.fromkeys(unknown)),
        duplicate=_named(geography, [u for u, n in enumerate(n_rows) if n > 1 and u not in conflicting]),
        conflicting=_named(geography, sorted(conflicting)),
        notes=tuple(notes),
    )


def _named(geography: Geography, places: Sequence[int]) -> tuple[str, ...]:
    return tuple(geography.ids[place] for place in places)


def _prefixes(ids: Sequence[str], geography: Geography) -> list[int]:
    """Return the unit whose id begins each of other, longer ids, -1 where there is none.

    A spreadsheet may have taken the leading zero from all of them: of both readings the one that fits more.
    """
    lengths = {len(unit) for unit in geography.ids}
    if len(lengths) != 1:
        return [-1] * len(ids)
    n_characters = lengths.pop()
    readings = []
    for zero in ("", "0"):
        texts = [zero + without_decimals(unit) for unit in ids]
        readings.append(
            [
                geography.index_of.get(text[:n_characters], -1) if len(text) > n_characters else -1
                for text in texts
            ]
        )
    return max(readings, key=lambda places: sum(place >= 0 for place in places))


class _Blocks(NamedTuple):
    label: dict[str, str]
    place: dict[str, int]
    repeated: set[str]
    conflicting: set[str]


def _collect(pairs: Sequence[tuple[str, str]], places: Sequence[int]) -> _Blocks:
    blocks = _Blocks({}, {}, set(), set())
    for (block, label), place in zip(pairs, places, strict=True):
        if place < 0:
            continue
        if block in blocks.place:
            blocks.repeated.add(block)
            if label and blocks.label.get(block, label) != label:
                blocks.conflicting.add(block)
        blocks.place[block] = place
        if label:
            blocks.label.setdefault(block, label)
    return blocks


def _assign_by_most_blocks(
    source: str, pairs: Sequence[tuple[str, str]], places: Sequence[int], geography: Geography
) -> tuple[list[str], MatchReport]:
    blocks = _collect(pairs, places)
    votes: list[Counter[str]] = [Counter() for _ in geography.ids]
    for block, label in blocks.label.items():
        votes[blocks.place[block]][label] += 1
    rank = {label: place for place, label in enumerate(natural_order({*blocks.label.values()}))}
    # Of districts with equally many blocks the first in natural order counts.
    labels = [min(tally, key=lambda label: (-tally[label], rank[label]), default="") for tally in votes]
    split = _named(geography, [unit for unit, tally in enumerate(votes) if len(tally) > 1])
    unknown = [block for (block, _), place in zip(pairs, places, strict=True) if place < 0]
    notes = [
        f"{count(len(blocks.label), 'block')} with a district belong to units by the start of their ids."
    ]
    if split:
        n_lost = sum(tally.total() - max(tally.values()) for tally in votes if tally)
        notes.append(
            f"{count(len(split), 'unit')} with blocks in several districts went to the one with most of "
            f"their blocks, against {count(n_lost, 'block')}: {list_some(split)}."
        )
    return labels, MatchReport(
        source=source,
        n_units=geography.n_units,
        missing=_named(geography, [place for place, label in enumerate(labels) if not label]),
        unknown=tuple(dict.fromkeys(unknown)),
        duplicate=tuple(sorted(blocks.repeated - blocks.conflicting)),
        conflicting=tuple(sorted(blocks.conflicting)),
        notes=tuple(notes),
    )
