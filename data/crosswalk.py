"""From the units of other maps to ours: by a crosswalk file, or by what Census ids begin with."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from bottomup.data.errors import DataError, count, list_some
from bottomup.data.identifiers import UnitMatcher
from bottomup.data.tables import find_column, read_rows

_WEIGHT_COLUMNS = ("weight", "share", "share_of_map_unit")
_OURS, _THEIRS = ("unit_of_map", "map_unit"), ("unit_of_testimony", "testimony_unit")
_CENSUS_KINDS = {5: "counties", 11: "tracts", 12: "block groups", 15: "blocks"}
_COUNTY = 5
_MOST = 0.9
# Sums of shares that should make a half miss it by rounding.
_ROUNDING = 1e-6


@dataclass(frozen=True, eq=False)
class Crosswalk:
    """Which units of the map each unit of another map lies in.

    Attributes
    ----------
    parts : dict
        Id of the other map's unit to pairs of a position on our map and the share of that unit it makes.
    has_shares : bool
        Whether the file gave shares. Without them a unit belongs when any part of it does.
    """

    parts: dict[str, tuple[tuple[int, float], ...]]
    has_shares: bool

    def __contains__(self, name: str) -> bool:
        return bool(self.parts.get(name) or self._padded(name))

    def units_of(
        self, names: Sequence[str], matcher: UnitMatcher, threshold: float
    ) -> tuple[NDArray[np.int32], tuple[str, ...]]:
        """Return the units that a community covers, and its ids that are neither here nor on the map.

        Parameters
        ----------
        names : sequence of str
            Ids of either map.
        matcher : UnitMatcher
            Finds ids on our map; a unit that is named itself is covered.
        threshold : float
            A unit belongs when at least this share of it does.
        """
        covered: dict[int, float] = {}
        unknown = []
        for name in names:
            position = matcher.position(name)
            parts = self.parts.get(name) or ([(position, 1.0)] if position >= 0 else self._padded(name))
            if not parts:
                unknown.append(name)
            for unit, share in parts:
                covered[unit] = covered.get(unit, 0.0) + share
        least = threshold - _ROUNDING if self.has_shares else 0.0
        chosen = sorted(unit for unit, share in covered.items() if share >= least)
        return np.array(chosen, dtype=np.int32), tuple(unknown)

    def _padded(self, name: str) -> Sequence[tuple[int, float]]:
        """Return the parts of an id that a spreadsheet has taken a leading zero from."""
        return self.parts.get(f"0{name}", ())


def read_crosswalk(path: str | Path, ids: Sequence[str]) -> Crosswalk:
    """Read a table of units of testimonies, units of the map and, where there is one, a column of shares.

    Parameters
    ----------
    path : path
        Columns ``unit_of_testimony``, ``unit_of_map`` and ``weight``, the share of the map's unit; without
        these names the first two columns, or three, in this order.
    ids : sequence of str
        Ids of the map's units.

    Raises
    ------
    DataError
        If it has no second column, a share is no number from 0 to 1, or no row names a unit of the map.
    """
    rows = list(read_rows(path))
    width = min((len(row) for row in rows), default=0)
    if width < 2:
        raise DataError(
            "crosswalk",
            f"{str(path)!r} has no row with two columns.",
            remedy="A crosswalk has the columns unit_of_testimony and unit_of_map, and may have weight.",
        )
    matcher = UnitMatcher(ids)
    header = rows[0]
    theirs, ours = find_column(header, _THEIRS), find_column(header, _OURS)
    share = find_column(header, _WEIGHT_COLUMNS)
    their_at, our_at = 0, 1
    if theirs is not None and ours is not None:
        their_at, our_at = header.index(theirs), header.index(ours)
    has_header = header[our_at] not in matcher
    share_at = header.index(share) if share is not None else 2 if width > 2 and theirs is None else None
    body = rows[1:] if has_header else rows
    n_known = sum(row[our_at] in matcher for row in body if len(row) > our_at)
    if not n_known:
        examples = list_some([row[our_at] for row in body[:3] if len(row) > our_at])
        raise DataError(
            "crosswalk",
            f"{str(path)!r} names no unit of the map in its column {header[our_at]!r}: {examples}.",
            remedy=f"The map's units look like {matcher.example!r}; the other column is that of testimonies.",
        )
    parts: dict[str, list[tuple[int, float]]] = {}
    wrong: list[str] = []
    for number, row in enumerate(body, start=2 if has_header else 1):
        cells = [*row, *[""] * (3 + max(their_at, our_at, share_at or 0) - len(row))]
        value = 1.0 if share_at is None else _share(cells[share_at])
        if value is None:
            wrong.append(str(number))
            continue
        position = matcher.position(cells[our_at])
        own = parts.setdefault(cells[their_at], [])
        if position >= 0 and value > 0:
            own.append((position, value))
    if wrong:
        raise DataError(
            "crosswalk",
            f"{str(path)!r} has shares that are no numbers from 0 to 1 in {count(len(wrong), 'row')}: "
            f"{list_some(wrong)}.",
            remedy="The weight is the share of the map's unit that lies in the testimony's unit.",
        )
    return Crosswalk({name: tuple(own) for name, own in parts.items()}, share_at is not None)


def _share(text: str) -> float | None:
    try:
        value = float(text)
    except ValueError:
        return None
    return value if 0 <= value <= 1 + _ROUNDING else None


def crosswalk_by_prefix(names: Sequence[str], ids: Sequence[str]) -> Crosswalk | None:
    """Match Census units of one level with those of another: the ids of parts begin with that of the whole.

    Blocks on a map of block groups, tracts or counties; counties, tracts and block groups on a map of
    anything whose ids begin with theirs. Nothing says how large the parts are, so a unit belongs when any
    part does.

    Parameters
    ----------
    names : sequence of str
        Ids that the testimonies name.
    ids : sequence of str
        Ids of the map's units.

    Returns
    -------
    Crosswalk or None
        None when the ids are not of that kind, or none fits.
    """
    widths = {len(unit) for unit in ids}
    are_census = len(widths) == 1 and widths <= _CENSUS_KINDS.keys() and all(unit.isdecimal() for unit in ids)
    map_width = widths.pop() if are_census else 0
    position = {unit: place for place, unit in enumerate(ids)}
    inside: dict[str, list[int]] = {}
    for place, unit in enumerate(ids):
        for width in _CENSUS_KINDS:
            # Codes of precincts follow that of their county, and may look like a tract's.
            if len(unit) > width and (width == _COUNTY or map_width > width):
                inside.setdefault(unit[:width], []).append(place)
    parts: dict[str, tuple[tuple[int, float], ...]] = {}
    for name in names:
        for full in (name, f"0{name}"):
            if len(full) not in _CENSUS_KINDS or not full.isdecimal():
                continue
            places = inside.get(full, [])
            if map_width and len(full) > map_width and full[:map_width] in position:
                places = [position[full[:map_width]]]
            if places:
                parts[name] = tuple((place, 1.0) for place in places)
                break
    # Precincts of a state may all have numbers as long as a tract's, of which a few fit by chance.
    counties = {unit[:_COUNTY] for unit in ids}
    n_here = sum(name[:_COUNTY] in counties or f"0{name}"[:_COUNTY] in counties for name in names)
    return Crosswalk(parts, has_shares=False) if parts and len(parts) >= _MOST * n_here else None


def kind_of_ids(names: Sequence[str]) -> str:
    """Return what ids look like, such as Census blocks or block groups; empty when some look otherwise."""
    kinds = {_CENSUS_KINDS.get(len(name), "") if name.isdecimal() else "" for name in names}
    return f"Census {' and '.join(sorted(kinds))}" if kinds and "" not in kinds else ""
