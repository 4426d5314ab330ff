"""What can be laid over the map, in a small panel; and a field that finds a unit by its id."""

from __future__ import annotations

import html
from collections.abc import Callable

import numpy as np
import panel as pn
import panel_material_ui as pmui
from numpy.typing import NDArray

from bottomup.dashboard.background import Background
from bottomup.dashboard.boundaries import HEAT_BREAKS
from bottomup.dashboard.facts import WholePlans
from bottomup.dashboard.map_overlays import HEAT_STROKES, MapOverlays
from bottomup.dashboard.scene import Scene
from bottomup.dashboard.selection import Unit
from bottomup.dashboard.session import Session
from bottomup.dashboard.views.guard import guarded
from bottomup.dashboard.views.style import TEXT_STYLE, THEME, say

__all__ = ["LayersPanel"]

_MOST_FOUND = 20
_HEAT_KEY = "Boundaries cut in at least … of plans:"
_CHECK = {"theme_config": THEME, "size": "small", "margin": 0}


class UnitField(pmui.AutocompleteInput):
    """A field for ids, which are looked up by the server as one types: there may be thousands."""

    def _filter_options(
        self, query: str, case_sensitive: bool | None = None, search_strategy: str | None = None
    ) -> list[str]:
        found: list[str] = super()._filter_options(query, case_sensitive, search_strategy)
        return found[:_MOST_FOUND]


class LayersPanel:
    """Switches of the overlays and the field that finds a unit.

    Parameters
    ----------
    session : Session
    scene : Scene
    overlays : MapOverlays
    changed : callable
        Called when the key below the map is to be written anew.
    """

    def __init__(
        self, session: Session, scene: Scene, overlays: MapOverlays, changed: Callable[[], None]
    ) -> None:
        self._session = session
        self._scene = scene
        self._overlays = overlays
        self._changed = changed
        self._failed = ""
        self._heat_work: Background[list[NDArray[np.float64]]] = Background()
        self._heat_of: WholePlans | None = None
        self._heat_shown: object = None
        self._cluster_work: Background[NDArray[np.float64]] = Background()
        self._clusters_shown = False
        self._heat = pmui.Checkbox(label="How often boundaries are cut", **_CHECK)
        self._clusters = pmui.Checkbox(label="Outlines of clusters", **_CHECK)
        self._streets = pmui.Checkbox(label="Streets and places (needs the internet)", **_CHECK)
        self.switches = {"heat": self._heat}
        """Those that the address keeps; streets come from the internet, which is asked for each time."""
        if session.prepared.testimonies.clusters is not None:
            self.switches["clusters"] = self._clusters
        self._words = pn.pane.HTML(**TEXT_STYLE, sizing_mode="stretch_width")
        self.find = UnitField(
            label="Find a unit",
            options=list(session.prepared.inputs.geography.ids),
            lazy_search=True,
            min_characters=1,
            search_strategy="includes",
            case_sensitive=False,
            size="small",
            margin=(8, 0, 0, 0),
            theme_config=THEME,
            sizing_mode="stretch_width",
        )
        self._heat.param.watch(lambda *_: self._switch_heat(), "value")
        self._clusters.param.watch(lambda *_: self._switch_clusters(), "value")
        self._streets.param.watch(lambda *_: self._switch_streets(), "value")
        self.find.param.watch(self._point_at, "value")
        session.selection.param.watch(self._forget_found, "pointed")
        overlays.probed.on_change("data", guarded(self._answer_probe))
        boxes = [self._heat, self._streets]
        if session.prepared.testimonies.clusters is not None:
            boxes.insert(1, self._clusters)
        self.panel = pn.Column(
            *boxes,
            self._words,
            self.find,
            visible=False,
            margin=0,
            styles={
                "position": "absolute",
                "right": "2.2rem",
                "top": "0",
                "z-index": "8",
                "background": "var(--ground)",
                "border": "1px solid var(--line)",
                "border-radius": "6px",
                "width": "17rem",
                "padding": "0.4rem 0.8rem 0.7rem",
                "box-shadow": "0 3px 12px rgb(0 0 0 / 25%)",
            },
        )

    def _point_at(self, event: object) -> None:
        place = self._session.prepared.inputs.geography.index_of.get(str(event.new))  # type: ignore[attr-defined]
        if place is not None:
            self._session.selection.pointed = Unit(place)

    def _forget_found(self, event: object) -> None:
        """Empty the field once something else is pointed at, so that the same unit can be found again."""
        found = self._session.prepared.inputs.geography.index_of.get(str(self.find.value))
        if found is not None and event.new != Unit(found):  # type: ignore[attr-defined]
            self.find.value = None

    def _switch_heat(self) -> None:
        self._heat_of = self._heat_shown = None
        if not self._heat.value:
            self._heat_work.stop()
            self._overlays.show_heat([])
        self.refresh()
        self._changed()

    def _switch_clusters(self) -> None:
        self._clusters_shown = False
        if not self._clusters.value:
            self._cluster_work.stop()
            self._overlays.show_clusters(np.empty((0, 2)))
            return
        borders, testimonies = self._scene.borders, self._session.prepared.testimonies
        self._cluster_work.start(lambda _is_stopped: borders.clusters(testimonies))

    def _switch_streets(self) -> None:
        say(self._words, "")
        if self._streets.value:
            say(self._words, '<p class="quiet" role="status">Trying OpenStreetMap …</p>')
            self._overlays.ask_for_tiles()
        else:
            self._overlays.show_tiles(False)

    def _answer_probe(self, _attribute: str, _old: object, new: dict[str, list[object]]) -> None:
        if not self._streets.value:
            return
        if new["came"][0]:
            say(self._words, "")
            self._overlays.show_tiles(True)
        else:
            self._streets.value = False
            say(
                self._words,
                '<p class="quiet" role="status">OpenStreetMap cannot be reached from here; the map stays as '
                "it is.</p>",
            )

    def refresh(self) -> None:
        """Draw what has been worked out meanwhile, or let the key say why that failed."""
        works = ((self._heat, self._heat_work), (self._clusters, self._cluster_work))
        failed = next((work.outcome.error for box, work in works if box.value and work.outcome.error), "")
        if failed != self._failed:
            self._failed = failed
            self._changed()
        clusters = self._cluster_work.outcome.result
        if self._clusters.value and clusters is not None and not self._clusters_shown:
            self._clusters_shown = True
            self._overlays.show_clusters(clusters)
        if not self._heat.value:
            return
        paths = self._heat_work.outcome.result
        if paths is not None and paths is not self._heat_shown:
            self._heat_shown = paths
            self._overlays.show_heat(paths)
            self._changed()
        whole = self._session.whole_plans()
        if whole is not None and whole is not self._heat_of:
            self._heat_of = whole
            borders = self._scene.borders
            self._heat_work.start(lambda _is_stopped: borders.heat(whole.cut_frequency(borders.edges)))

    @property
    def is_waiting(self) -> bool:
        """Whether something that has been switched on is not drawn yet."""
        if self._failed:
            return False
        waits_for_clusters = self._clusters.value and not self._clusters_shown
        return waits_for_clusters or (self._heat.value and self._heat_shown is None)

    def key(self) -> str:
        """What the lines of the overlays mean, as HTML; empty without any."""
        if self._failed:
            return (
                f'<div class="error" role="alert">Lines could not be drawn: {html.escape(self._failed)}</div>'
            )
        if not self._heat.value:
            return ""
        if self._heat_shown is None:
            return '<div class="key">How often boundaries are cut: waiting for plans …</div>'
        look = "background: var(--ink); opacity"
        items = "".join(
            f'<span><i style="{look}: {opacity}; height: {width}px"></i>{share:.0%}</span>'
            for share, (width, opacity) in zip(HEAT_BREAKS, HEAT_STROKES, strict=True)
        )
        return f'<div class="key"><span>{_HEAT_KEY}</span>{items}</div>'
