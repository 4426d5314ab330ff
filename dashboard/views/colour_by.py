"""The choice of what the map's colours mean, and the legend of them."""

from __future__ import annotations

import html
from collections.abc import Callable
from dataclasses import replace
from functools import lru_cache

from bottomup.dashboard.colourings import (
    NOTHING,
    Colouring,
    coverage_colouring,
    kept_colouring,
    population_colouring,
    share_colouring,
    together_colouring,
    waiting,
)
from bottomup.dashboard.palette import INK
from bottomup.dashboard.pool import Sample
from bottomup.dashboard.prepared import Prepared
from bottomup.dashboard.selection import Unit
from bottomup.dashboard.session import Session
from bottomup.dashboard.views.style import key, map_choice
from bottomup.data.testimonies import Testimonies

__all__ = ["LEGEND_CSS", "ColourBy", "legend"]

LEGEND_CSS = """
.legend { font-size: 0.9375rem; line-height: 1.3; color: var(--ink); }
.legend .head { display: flex; flex-wrap: wrap; gap: 0 1.25rem; height: 1.3em; overflow: hidden; }
.legend .head > span { white-space: nowrap; max-width: 100%; overflow: hidden; text-overflow: ellipsis; }
.legend .scale { display: flex; gap: 0.8rem; height: 1.3em; }
.legend .ramp { flex: 1 1 12rem; display: flex; max-width: 36rem; }
.legend .ramp span { flex: 1 1 0; min-width: 0; padding-left: 0.25em; white-space: nowrap; }
.legend .ramp span + span { border-left: 2px solid var(--ground); }
.legend .nothing { flex: none; white-space: nowrap; }
.legend .nothing i { display: inline-block; width: 1.2rem; height: 0.85rem; margin-right: 0.4rem;
  vertical-align: -1px; }
"""
"""Stylesheet of a legend."""

# Of 255: below it white words are easier to read than dark ones.
_DARK = 130
# Below this many plans a comparison is early, as the charts have it.
_FEW = 200
_WAITING = "Waiting for the first plans"


class ColourBy:
    """The choice, and the colouring that it stands for at present.

    Parameters
    ----------
    session : Session
    changed : callable
        Called when something else has been chosen.
    """

    def __init__(self, session: Session, changed: Callable[[], None]) -> None:
        self._session = session
        self._latest: tuple[object, Colouring] | None = None
        prepared = session.prepared
        self._shares = {share.column: name for name, share in prepared.shares.items()}
        options = {"Districts": "districts", "Population density": "density"}
        for value, name in self._shares.items():
            share = prepared.shares[name]
            options[f"{share.of} share" if share.kind == "group" else _of_election(name, share.of)] = value
        options |= {
            "Testimonies": "testimonies",
            "Communities kept": "kept",
            "Together with a unit": "together",
        }
        self.choice = map_choice("Colour by", options, "districts", "3 1 9rem")
        self.choice.param.watch(lambda *_: changed(), "value")

    @property
    def is_waiting(self) -> bool:
        """Whether what has been chosen is not known yet."""
        return self.follows_walk and (self._latest is None or self._latest[0] is None)

    @property
    def follows_walk(self) -> bool:
        """Whether the colouring changes as more plans are met."""
        return self.choice.value in ("kept", "together")

    def colouring(self) -> Colouring | None:
        """The colouring chosen; the same object as before when nothing has changed. None for districts."""
        chosen, prepared = self.choice.value, self._session.prepared
        if chosen == "districts":
            return None
        if chosen in ("kept", "together"):
            of, make = self._of_walk()
            if self._latest is None or self._latest[0] != of:
                self._latest = (of, make())
            return self._latest[1]
        return _of_inputs(prepared, self._shares.get(chosen, chosen))

    def _of_walk(self) -> tuple[object, Callable[[], Colouring]]:
        """What the colouring depends on, and what makes it."""
        session = self._session
        geography, testimonies = session.prepared.inputs.geography, session.prepared.testimonies
        n_units = geography.n_units
        if self.choice.value == "kept":
            sample, baseline = session.sample(), session.baseline()
            if sample is None or baseline is None:
                return None, lambda: waiting(_WAITING, n_units)
            return (
                (sample.epsilon, sample.rungs, sample.last_round, baseline.last_round),
                lambda: _kept(sample, baseline, testimonies, n_units),
            )
        pointed, whole = session.selection.pointed, session.whole_plans()
        if not isinstance(pointed, Unit):
            return "nowhere", lambda: waiting("Tap a unit of the map, or find one by its id", n_units)
        if whole is None:
            return None, lambda: waiting(_WAITING, n_units)
        unit = pointed.place
        return (whole, unit), lambda: together_colouring(whole.together_with(unit), geography.ids[unit])


def _kept(sample: Sample, baseline: Sample, testimonies: Testimonies, n_units: int) -> Colouring:
    """What testimony changes, with a word of warning while there are few plans."""
    n = testimonies.n_testimonies
    found = kept_colouring(sample.kept(n), baseline.kept(n), testimonies, n_units)
    is_early = min(sample.n_effective, baseline.n_effective) < _FEW
    return (
        replace(found, title=f"Early days: {found.title[0].lower()}{found.title[1:]}") if is_early else found
    )


def _of_election(name: str, election: str) -> str:
    return f"Democratic share, {election}" if election in name else "Democratic share"


@lru_cache(maxsize=32)
def _of_inputs(prepared: Prepared, what: str) -> Colouring:
    """A colouring that no walk changes, made once for all visitors."""
    geography = prepared.inputs.geography
    if what == "density":
        assert geography.geometry is not None
        return population_colouring(geography.population, geography.geometry.area.to_numpy())
    if what == "testimonies":
        return coverage_colouring(prepared.testimonies, geography.n_units)
    return share_colouring(prepared.shares[what])


def legend(colouring: Colouring, enacted: str) -> str:
    """Two lines: what is shown, and the colours with the number at which each begins, as HTML."""
    mark = key(("enacted", html.escape(enacted)))
    head = f'<div class="head"><span>{html.escape(colouring.title)}</span>{mark}</div>'
    cells = ""
    for color, words in zip(colouring.colors, ("", *colouring.marks), strict=False):
        of_words = "#ffffff" if _is_dark(color) else INK
        cells += f'<span style="background: {color}; color: {of_words}">{html.escape(words)}</span>'
    ramp = f'<div class="ramp">{cells}</div>' if cells else ""
    nothing = ""
    if colouring.nothing:
        swatch = f'<i style="background: {NOTHING}"></i>'
        nothing = f'<span class="nothing">{swatch}{html.escape(colouring.nothing)}</span>'
    return f'<div class="legend">{head}<div class="scale">{ramp}{nothing}</div></div>'


def _is_dark(color: str) -> bool:
    red, green, blue = (int(color[i : i + 2], 16) for i in (1, 3, 5))
    return 0.299 * red + 0.587 * green + 0.114 * blue < _DARK
