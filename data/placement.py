"""Where submitted communities lie on the map: by their units' ids, a crosswalk, their shapes, or prefixes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import geopandas as gpd
import numpy as np
import shapely
from numpy.typing import NDArray

from bottomup.data.crosswalk import Crosswalk, crosswalk_by_prefix, kind_of_ids
from bottomup.data.errors import DataError, count, list_some
from bottomup.data.geography import Geography
from bottomup.data.identifiers import UnitMatcher
from bottomup.data.polygons import polygonal
from bottomup.data.snapping import check_can_snap, cover
from bottomup.data.testimony_formats.common import Community, Reading

USED, PARTLY_OUTSIDE, EMPTY, INVALID = "used", "partly outside", "empty", "invalid"
_N_EXAMPLES = 3
_STATE = 2


class Place(NamedTuple):
    """Where one community lies."""

    units: NDArray[np.int32]
    status: str
    unknown: tuple[str, ...] = ()


@dataclass(frozen=True, eq=False)
class Placed:
    """Where the communities of a file lie.

    Attributes
    ----------
    places : list of Place
        In the order of the file.
    remarks : tuple of str
        How units of other maps have been carried over.
    foreign : tuple of str
        Units that are not the map's and could not be carried over, of communities that have no other.
    """

    places: list[Place]
    remarks: tuple[str, ...]
    foreign: tuple[str, ...]


def place_communities(
    reading: Reading,
    geography: Geography,
    matcher: UnitMatcher,
    threshold: float,
    crosswalk: Crosswalk | None,
) -> Placed:
    """Find the units of each community of a file.

    A community whose unit ids are all on the map covers these. Of the others, those with ids in the crosswalk
    go through it, then those with a shape are laid over the map, then Census ids are matched by what they
    begin with; what is left covers those of its ids that are on the map.

    Parameters
    ----------
    reading : Reading
    geography : Geography
    matcher : UnitMatcher
        Of the map's ids.
    threshold : float
        Share of a unit's area, or of its crosswalk's weights, that must lie in the community.
    crosswalk : Crosswalk or None

    Raises
    ------
    DataError
        If communities are shapes, and the map has none to lay them over.
    """
    communities = reading.communities
    places: list[Place | None] = [_by_ids(one, matcher) for one in communities]
    remarks = []
    if crosswalk is not None:
        through = _through(communities, places, crosswalk, matcher, threshold)
        if through:
            remarks.append(f"{_communities(through)} went through the crosswalk")
    waiting = [number for number, place in enumerate(places) if place is None]
    by_area = [number for number in waiting if communities[number].rows]
    n_with_units = sum(bool(communities[number].units) for number in by_area)
    if (
        by_area
        and reading.shapes is not None
        and (geography.geometry is not None or n_with_units < len(by_area))
    ):
        check_can_snap(reading.path, geography, threshold)
        _by_area(communities, places, by_area, reading.shapes(), geography, threshold)
        if n_with_units:
            remarks.append(f"{_communities(n_with_units)} of units of another map went by their areas")
    for number, community in enumerate(communities):
        if places[number] is None and any(unit in matcher for unit in community.units):
            places[number] = _directly(community, matcher)
    foreign = _names_left(communities, places)
    by_prefix = crosswalk_by_prefix(foreign, geography.ids) if foreign else None
    if by_prefix is not None:
        begun = _through(communities, places, by_prefix, matcher, threshold)
        remarks.append(
            f"{_communities(begun)} of other Census units went by what their ids begin with; a unit of the "
            "map belongs when any part of it does"
        )
        foreign = _names_left(communities, places)
    settled = [
        _directly(community, matcher) if place is None else place
        for community, place in zip(communities, places, strict=True)
    ]
    return Placed(settled, tuple(remarks), foreign)


def _names_left(communities: Sequence[Community], places: Sequence[Place | None]) -> tuple[str, ...]:
    return tuple(
        dict.fromkeys(
            unit
            for community, place in zip(communities, places, strict=True)
            if place is None
            for unit in community.units
        )
    )


def describe_foreign(names: Sequence[str], geography: Geography) -> str:
    """Say which ids are not the map's, what they look like, and what the map's look like."""
    theirs, ours = (f"{kind}, " if (kind := kind_of_ids(ids)) else "" for ids in (names, geography.ids))
    if theirs and not {name[:_STATE] for name in names} & {unit[:_STATE] for unit in geography.ids}:
        theirs += "of other states, "
    return (
        f"{count(len(names), 'unit id')} not on the map, such as {list_some(list(names), _N_EXAMPLES)} "
        f"({theirs}{_lengths(names)}), while ids on the map look like "
        f"{list_some(list(geography.ids), _N_EXAMPLES)} ({ours}{_lengths(geography.ids)})"
    )


def no_unit_on_map(
    path: object, geography: Geography, summary: str, foreign: Sequence[str], threshold: float | None
) -> DataError:
    """Return the error for testimonies of which none has a unit on the map.

    Parameters
    ----------
    path : object
        Their file.
    geography : Geography
    summary : str
        What has become of them.
    foreign : sequence of str
        Units that are not the map's.
    threshold : float or None
        The share of a unit that must be covered; None when nothing is drawn.
    """
    if foreign:
        return DataError(
            "no_unit_on_map",
            f"{str(path)!r} is not about this map's units: {describe_foreign(foreign, geography)}.",
            remedy="Give a crosswalk, a table of unit_of_testimony and unit_of_map (--crosswalk FILE), or "
            "the same communities with their shapes (GeoJSON or a shapefile).",
        )
    return DataError(
        "no_unit_on_map",
        f"{str(path)!r} is not about this map: {summary}.",
        remedy=f"Unit ids on the map look like {geography.ids[0]!r}."
        if threshold is None
        else f"No polygon covers {threshold:.0%} of the area of any unit; they must lie on the map.",
    )


def _lengths(names: Sequence[str]) -> str:
    lengths = sorted({len(name) for name in names})
    return f"{' or '.join(str(length) for length in lengths[:_N_EXAMPLES])} characters"


def _by_ids(community: Community, matcher: UnitMatcher) -> Place | None:
    """Return where a community lies when all its ids are on the map, or it has nothing to go by."""
    if not community.units:
        return None if community.rows else Place(np.empty(0, dtype=np.int32), EMPTY)
    positions = matcher.positions(community.units)
    if (positions < 0).any():
        return None
    return Place(np.unique(positions).astype(np.int32), USED)


def _directly(community: Community, matcher: UnitMatcher) -> Place:
    positions = matcher.positions(community.units)
    unknown = tuple(unit for unit, at in zip(community.units, positions, strict=True) if at < 0)
    return _place(np.unique(positions[positions >= 0]).astype(np.int32), unknown)


def _place(units: NDArray[np.int32], unknown: tuple[str, ...]) -> Place:
    return Place(units, EMPTY if not len(units) else PARTLY_OUTSIDE if unknown else USED, unknown)


def _through(
    communities: Sequence[Community],
    places: list[Place | None],
    crosswalk: Crosswalk,
    matcher: UnitMatcher,
    threshold: float,
) -> int:
    """Place what a crosswalk knows, and return how many communities that is."""
    n_placed = 0
    for number, (community, place) in enumerate(zip(communities, places, strict=True)):
        if place is None and any(unit in crosswalk for unit in community.units):
            places[number] = _place(*crosswalk.units_of(community.units, matcher, threshold))
            n_placed += 1
    return n_placed


def _by_area(
    communities: Sequence[Community],
    places: list[Place | None],
    numbers: Sequence[int],
    shapes: gpd.GeoSeries,
    geography: Geography,
    threshold: float,
) -> None:
    drawn = shapes.to_numpy()
    whole = np.empty(len(numbers), dtype=object)
    for position, number in enumerate(numbers):
        rows = list(communities[number].rows)
        # One row stays as it is; pieces are repaired before they are joined.
        whole[position] = drawn[rows[0]] if len(rows) == 1 else shapely.union_all(polygonal(drawn[rows]))
    covered = cover(gpd.GeoSeries(whole, crs=shapes.crs), geography, threshold)
    for number, units, is_outside, has_area in zip(numbers, *covered, strict=True):
        status = PARTLY_OUTSIDE if is_outside else USED
        places[number] = Place(units, status if len(units) else EMPTY if has_area else INVALID)


def _communities(n: int) -> str:
    return count(n, "community", "communities")
