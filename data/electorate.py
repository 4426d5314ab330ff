"""Which columns hold people of voting age, groups of them, and votes."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple, TypeVar

import numpy as np
import pandas as pd

from bottomup.data.errors import DataError, count, list_some

__all__ = ["Electorate", "Votes", "find_electorate"]

T = TypeVar("T")


class Votes(NamedTuple):
    """Columns of the votes of an election."""

    democratic: str
    republican: str


@dataclass(frozen=True)
class Electorate:
    """Columns of finite numbers, none negative, about those who may vote and those who did.

    Attributes
    ----------
    voting_age : str or None
        Column of all people of voting age.
    groups : dict of str to str
        Column of the people of voting age of each group; empty without a column of all.
    elections : dict of str to Votes
        Columns of the votes for the two parties, by what the election is called. The first is the one to look
        at when only one can be.
    """

    voting_age: str | None = None
    groups: Mapping[str, str] = field(default_factory=dict)
    elections: Mapping[str, Votes] = field(default_factory=dict)

    def __post_init__(self) -> None:
        if self.groups and self.voting_age is None:
            raise ValueError("groups need voting_age, the column of which they are a part")


_ALL = ""
# In the order in which they are shown, with what columns call them; the words of the patterns below.
_GROUP_CODES = {
    _ALL: ("", "tot", "total"),
    "Black": ("b", "black"),
    "Hispanic": ("h", "hisp", "hispanic", "latino"),
    "Asian": ("asian",),
    "American Indian": ("amin", "native"),
    "Pacific Islander": ("nhpi", "pacific"),
    "White": ("w", "white"),
}
_GROUP_OF = {code: group for group, codes in _GROUP_CODES.items() for code in codes}
_CODES = "|".join(sorted(filter(None, _GROUP_OF), key=len, reverse=True))
# The Census Bureau's tables 3 and 4 of P.L. 94-171, as P0030001 or P3_001N. White people who are not
# Hispanic, as all others count them, come before all White people.
_CENSUS = {
    _ALL: ((3, 1), (4, 1)),
    "Black": ((3, 4),),
    "Hispanic": ((4, 2),),
    "Asian": ((3, 6),),
    "American Indian": ((3, 5),),
    "Pacific Islander": ((3, 7),),
    "White": ((4, 5), (3, 3)),
}
_CENSUS_NAMES = {
    name: (group, place)
    for group, cells in _CENSUS.items()
    for place, (table, cell) in enumerate(cells)
    for name in (f"p{table:03}{cell:04}", f"p{table}_{cell:03}n")
}
_VOTING_AGE_PATTERNS = tuple(
    re.compile(pattern)
    for pattern in (
        rf"vap_?(?P<year>(?:20)?\d\d)?_(?P<code>{_CODES})",
        rf"(?P<code>{_CODES})?_?vap_?(?P<year>(?:20)?\d\d)?",
        rf"(?:datasets\.)?v_(?P<year>\d\d)_vap[._](?P<code>{_CODES})",
    )
)
# Columns that do not say of which year they are come after those of 2020, and before older ones.
_UNDATED = 2019

_OFFICES = {
    "President": ("pres", "pre", "president"),
    "U.S. Senate": ("sen", "uss", "ussen", "senate"),
    "Governor": ("gov", "governor"),
    "Attorney General": ("ag", "atg", "attgen"),
    "Lieutenant Governor": ("ltg", "ltgov"),
    "Secretary of State": ("sos",),
    "Treasurer": ("tre", "treas", "trs"),
    "Auditor": ("aud",),
    "U.S. House": ("ush", "con", "cong", "congress"),
    "State Senate": ("ssen",),
    "State House": ("shouse",),
    "Composite": ("comp",),
}
_OFFICE_OF = {code: office for office, codes in _OFFICES.items() for code in codes}
_VOTES_PATTERNS = tuple(
    re.compile(pattern)
    for pattern in (
        # 20_pres_dem, T16PRESD, E_20_PRES.Dem, 16_20_comp_dem.
        r"(?:(?:datasets\.)?e_|t)?(?P<year>\d\d)(?:[-_](?P<to>\d\d))?_?(?P<office>[a-z]{2,}?)[._]?"
        r"(?P<party>d|r|dem|rep)",
        # PRES20D, pres20_dem, PRES2020_D.
        r"(?P<office>[a-z]{2,}?)_?(?P<year>(?:20)?\d\d)_?(?P<party>d|r|dem|rep)",
        # G20PREDBID: general, special election or runoff, year, office, party, candidate.
        r"(?P<kind>[gsr])(?P<year>\d\d)(?P<office>[a-z]{3})(?P<party>[dr])(?P<candidate>[a-z]{3})",
        r"(?P<party>dem|rep)",
    )
)
_KINDS = {"s": " (special)", "r": " (runoff)"}
_UNNAMED = "unnamed election"


def find_electorate(
    columns: pd.DataFrame,
    ids: Sequence[str],
    *,
    voting_age: str | None = None,
    groups: Mapping[str, str] | None = None,
    elections: Mapping[str, Votes] | None = None,
) -> Electorate:
    """Return the columns of groups and elections: those that the user names first, then those known by name.

    A column that is known by its name counts only when it holds finite numbers, none negative. Groups are
    taken from the year of the column of all people of voting age, or from columns that name none. Elections
    follow with the latest for president first, then from the latest on.

    Parameters
    ----------
    columns : DataFrame, length n_units
        What the file held.
    ids : sequence of str
        Ids of the units.
    voting_age : str, optional
        Column of all people of voting age.
    groups : mapping of str to str, optional
        Columns of groups, by any name.
    elections : mapping of str to (Democratic column, Republican column), optional

    Raises
    ------
    DataError
        When a column that the user names does not exist or holds anything else than such numbers, or a group
        is named and no column of all people of voting age is known.
    """
    groups, elections = groups or {}, {name: Votes(*both) for name, both in (elections or {}).items()}
    named = [] if voting_age is None else [("the people of voting age", voting_age)]
    named += [(f"group {name!r}", column) for name, column in groups.items()]
    named += [(f"election {name!r}", column) for name, both in elections.items() for column in both]
    for what, column in named:
        _check_named(columns, column, what, ids)
    found_age, found_groups = _known_groups(columns, voting_age)
    if groups and found_age is None:
        raise DataError(
            "no_voting_age",
            f"{count(len(groups), 'group')} named, but no column is known to hold all people of voting age, "
            "of whom they are a part.",
            remedy="Name it with voting_age_column.",
        )
    return Electorate(
        found_age, _named_first(groups, found_groups), _named_first(elections, _known_elections(columns))
    )


def _check_named(columns: pd.DataFrame, column: str, what: str, ids: Sequence[str]) -> None:
    if column not in columns:
        raise DataError(
            "no_column",
            f"the units have no column {column!r}, named for {what}.",
            remedy=f"They have {list_some([str(name) for name in columns], 40)}.",
        )
    bad = ~_countable(columns[column])
    if bad.any():
        raise DataError(
            "no_numbers",
            f"column {column!r}, named for {what}, holds no number or a negative one in {bad.sum():,} of "
            f"{count(len(bad), 'unit')}",
            remedy="Correct these rows, or name another column.",
            units=[unit for unit, wrong in zip(ids, bad, strict=True) if wrong],
        )


def _countable(column: pd.Series) -> np.ndarray:
    if not pd.api.types.is_numeric_dtype(column):
        return np.zeros(len(column), dtype=bool)
    values = column.to_numpy(dtype=np.float64, na_value=np.nan)
    return np.isfinite(values) & (values >= 0)


def _named_first(named: Mapping[str, T], known: Mapping[str, T]) -> dict[str, T]:
    """Join what the user named and what is known; a name in capitals is the same."""
    taken = {name.casefold() for name in named}
    return {**named, **{name: what for name, what in known.items() if name.casefold() not in taken}}


class _Known(NamedTuple):
    """What the name of a column says about the people of voting age in it."""

    group: str
    """Blank for all of them."""
    year: int
    place: int
    """Which of the names for the same it is, the best one first."""
    column: str


def _known_groups(columns: pd.DataFrame, voting_age: str | None) -> tuple[str | None, dict[str, str]]:
    """Column of all people of voting age, which the user may have named, and of each group of them."""
    known = [
        each
        for each in (_read_name(name) for name in map(str, columns.columns))
        if each is not None and _countable(columns[each.column]).all()
    ]
    everybody = [each for each in known if each.group == _ALL]
    if voting_age is not None:
        everybody = [_read_name(voting_age) or _Known(_ALL, _UNDATED, 0, voting_age)]
    if not everybody:
        return None, {}
    total = min(everybody, key=lambda each: (-each.year, each.place))
    groups = {}
    for group in filter(None, _GROUP_CODES):
        fitting = [
            each
            for each in known
            if each.group == group and (_UNDATED in (total.year, each.year) or each.year == total.year)
        ]
        if fitting:
            best = min(fitting, key=lambda each: (each.year != total.year, -each.year, each.place))
            groups[group] = best.column
    return total.column, groups


def _read_name(name: str) -> _Known | None:
    lower = name.lower()
    if lower in _CENSUS_NAMES:
        group, place = _CENSUS_NAMES[lower]
        return _Known(group, _UNDATED, len(_VOTING_AGE_PATTERNS) + place, name)
    for place, pattern in enumerate(_VOTING_AGE_PATTERNS):
        match = pattern.fullmatch(lower)
        if match is not None:
            year = _UNDATED if match["year"] is None else _full_year(match["year"])
            return _Known(_GROUP_OF[match["code"] or ""], year, place, name)
    return None


def _full_year(digits: str) -> int:
    number = int(digits)
    return number if number > 99 else number + (2000 if number < 50 else 1900)


class _Contest(NamedTuple):
    """What the name of a column says about the votes in it, beside the party."""

    pattern: int
    stem: str
    """The name without party and candidate: both parties of an election share it."""
    year: int
    office: int
    name: str


def _known_elections(columns: pd.DataFrame) -> dict[str, Votes]:
    """Columns of the elections that names give away, in the order in which they are shown."""
    contests: dict[_Contest, dict[str, list[str]]] = {}
    for name in map(str, columns.columns):
        read = _read_votes(name)
        if read is not None and _countable(columns[name]).all():
            contest, party = read
            contests.setdefault(contest, {"d": [], "r": []})[party].append(name)
    found: dict[str, tuple[_Contest, Votes]] = {}
    for contest in sorted(contests, key=lambda each: each.pattern):
        democratic, republican = contests[contest].values()
        # With several candidates of a party there is no telling who stood in the election.
        if len(democratic) == len(republican) == 1:
            found.setdefault(contest.name, (contest, Votes(democratic[0], republican[0])))
    ordered = sorted(found.values(), key=lambda each: (-each[0].year, each[0].office, each[0].name))
    # The latest for president first: a sort keeps the order of the rest.
    presidents = [each for each in ordered if each[0].office == 0]
    ordered.sort(key=lambda each: each not in presidents[:1])
    return {contest.name: votes for contest, votes in ordered}


def _read_votes(name: str) -> tuple[_Contest, str] | None:
    lower = name.lower()
    for number, pattern in enumerate(_VOTES_PATTERNS):
        match = pattern.fullmatch(lower)
        if match is None:
            continue
        parts = match.groupdict()
        stem = lower[: match.start("party")]
        if "candidate" not in parts:
            stem += lower[match.end("party") :]
        if "year" not in parts:
            return _Contest(number, stem, 0, len(_OFFICES), _UNNAMED), match["party"][0]
        code, year = parts["office"], _full_year(parts["year"])
        office = _OFFICE_OF.get(code, code.upper())
        years = str(year)
        if parts.get("to"):
            year = _full_year(parts["to"])
            years += f"\u2013{year}"
        kind = _KINDS.get(parts.get("kind") or "", "")
        place = [*_OFFICES, office].index(office)
        return _Contest(number, stem, year, place, f"{office} {years}{kind}"), match["party"][0]
    return None
