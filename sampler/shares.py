"""Shares of people and of votes by district, as far as a map has columns of them."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import TYPE_CHECKING, Literal, NamedTuple

from bottomup.sampler.types import FloatArray

if TYPE_CHECKING:
    from bottomup.data import Geography

__all__ = ["Share", "available_shares", "judged_shares"]

_OTHER_THAN_WORDS = re.compile(r"[^0-9a-z]+")


class Share(NamedTuple):
    """A part of the people of each district.

    Attributes
    ----------
    numerator, denominator : float64 arrays, shape (n,)
        People of a group, and all of voting age; or Democratic votes, and those for both parties.
    kind : {"group", "election"}
    of : str
        Name of the group or the election.
    column : str
        What files call it.
    """

    numerator: FloatArray
    denominator: FloatArray
    kind: Literal["group", "election"]
    of: str
    column: str


def available_shares(geography: Geography) -> dict[str, Share]:
    """The shares by district that a map's columns allow, by name.

    First every group by its name, then every election: "Democratic" when there is one, and with several such
    as "Democratic, President 2020". Their order is that of the electorate.
    """
    electorate, numbers = geography.electorate, geography.numbers
    shares: dict[str, Share] = {}
    columns: set[str] = set()

    def add(name: str, share: Share) -> None:
        column, number = share.column, 1
        while column in columns:
            number += 1
            column = f"{share.column}_{number}"
        columns.add(column)
        shares[name] = share._replace(column=column)

    if electorate.voting_age is not None:
        everybody = numbers(electorate.voting_age)
        for group, column in electorate.groups.items():
            add(group, Share(numbers(column), everybody, "group", group, f"{_slug(group)}_vap_share"))
    is_alone = len(electorate.elections) == 1
    for election, votes in electorate.elections.items():
        democratic = numbers(votes.democratic)
        both = democratic + numbers(votes.republican)
        name = "Democratic" if is_alone else f"Democratic, {election}"
        stem = "democratic" if is_alone else f"democratic_{_slug(election)}"
        add(name, Share(democratic, both, "election", election, f"{stem}_share"))
    return shares


def judged_shares(shares: Mapping[str, Share]) -> list[str]:
    """Names of the shares that chains are to agree on: those of the first group and the first election.

    A map with many columns would otherwise be judged by ever more quantities, of which elections say much the
    same.
    """
    first: dict[str, str] = {}
    for name, share in shares.items():
        first.setdefault(share.kind, name)
    return list(first.values())


def _slug(words: str) -> str:
    return _OTHER_THAN_WORDS.sub("_", words.casefold()).strip("_") or "other"
