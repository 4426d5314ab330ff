"""What is pointed at, on the map and in words."""

from __future__ import annotations

import html
from textwrap import shorten
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from bottomup.dashboard.colourings import covering
from bottomup.dashboard.prepared import Prepared
from bottomup.dashboard.selection import Cluster, District, Pointed, Testimony, Unit
from bottomup.data.errors import count
from bottomup.data.testimonies import Testimonies

__all__ = ["Marking", "describe", "facts_of_unit", "marking_of"]

_N_NAMED = 3
_MOST_LETTERS = 48


class Marking(NamedTuple):
    """How the map marks what is pointed at.

    Attributes
    ----------
    units : int array, shape (any,)
        Those with an outline around them.
    district : int
        District of the shown plan with an outline around it, whatever units it has; -1 for none.
    steps_back : bool
        Whether everything else becomes paler.
    """

    units: NDArray[np.integer]
    district: int
    steps_back: bool


def marking_of(pointed: Pointed | None, prepared: Prepared) -> Marking:
    """How the map marks what is pointed at; nothing is marked when that is None."""
    none = np.empty(0, dtype=np.int64)
    if isinstance(pointed, Unit):
        return Marking(np.array([pointed.place]), -1, False)
    if isinstance(pointed, District):
        return Marking(none, pointed.place, True)
    units = _covered(pointed, prepared)
    return Marking(none if units is None else units, -1, units is not None and len(units) > 0)


def _covered(pointed: Pointed | None, prepared: Prepared) -> NDArray[np.integer] | None:
    testimonies = prepared.testimonies
    if isinstance(pointed, Testimony):
        return testimonies.units_of(pointed.place)
    if isinstance(pointed, Cluster) and testimonies.clusters is not None:
        members = testimonies.clusters.members(pointed.place)
        return np.unique(np.concatenate([testimonies.units_of(int(member)) for member in members]))
    return None


def describe(
    pointed: Pointed | None, prepared: Prepared, assignment: NDArray[np.integer], names: tuple[str, ...]
) -> str:
    """Say what is pointed at and where it lies in a plan, as HTML; empty for None.

    Parameters
    ----------
    pointed : Pointed or None
    prepared : Prepared
    assignment : integer array, shape (n,)
        Of the plan.
    names : tuple of str
        Of its districts.
    """
    testimonies, population = prepared.testimonies, prepared.inputs.geography.population
    if pointed is None:
        return ""
    if isinstance(pointed, Unit):
        unit = html.escape(prepared.inputs.geography.ids[pointed.place])
        district = html.escape(names[assignment[pointed.place]])
        return f"<b>{unit}</b>, district <b>{district}</b>{facts_of_unit(prepared, pointed.place)}"
    if isinstance(pointed, District):
        inside = assignment == pointed.place
        if pointed.place >= len(names):
            return ""
        people = f"{count(int(inside.sum()), 'unit')}, {_people(int(population[inside].sum()))}"
        return f"<b>District {html.escape(names[pointed.place])}</b><p>{people}</p>"
    units = _covered(pointed, prepared)
    if units is None:
        return ""
    if isinstance(pointed, Testimony):
        title = f"Testimony {_name(testimonies, pointed.place)}"
    else:
        assert testimonies.clusters is not None
        members = len(testimonies.clusters.members(pointed.place))
        title = f"{testimonies.clusters.names[pointed.place]}: {count(members, 'testimony', 'testimonies')}"
    if not len(units):
        return f"<b>{html.escape(title)}</b><p>No unit of the map</p>"
    districts = [names[district] for district in np.unique(assignment[units])]
    where = f"in district {districts[0]}" if len(districts) == 1 else f"in districts {_and(districts)}"
    size = f"{count(len(units), 'unit')}, {_people(int(population[units].sum()))}"
    return f"<b>{html.escape(title)}</b><p>{size}, {html.escape(where)}</p>"


def facts_of_unit(prepared: Prepared, unit: int) -> str:
    """People, shares and testimonies of a unit, as HTML, to stand below its name."""
    geography, testimonies = prepared.inputs.geography, prepared.testimonies
    lines = [_people(int(geography.population[unit]))]
    for name, share in prepared.shares.items():
        if share.denominator[unit] > 0:
            value = share.numerator[unit] / share.denominator[unit]
            lines.append(f"{html.escape(name)} {value:.0%}")
    places = covering(testimonies, unit)
    words = f"{count(len(places), 'testimony', 'testimonies')} cover it"
    if len(places) == 1:
        words = "1 testimony covers it"
    elif not len(places):
        words = "no testimony covers it"
    if len(places):
        named = ", ".join(html.escape(_name(testimonies, int(place))) for place in places[:_N_NAMED])
        words += f": {named}" + (" …" if len(places) > _N_NAMED else "")
    return f"<p>{' · '.join(lines)}</p><p>{words}</p>"


def _name(testimonies: Testimonies, place: int) -> str:
    """Id of a testimony, and the beginning of what it says of its community."""
    name = testimonies.ids[place]
    words = shorten(testimonies.texts.get(name, ""), _MOST_LETTERS, placeholder=" …")
    return f"{name} ({words})" if words else name


def _people(number: int) -> str:
    return count(number, "person", "people")


def _and(names: list[str]) -> str:
    return f"{', '.join(names[:-1])} and {names[-1]}"
