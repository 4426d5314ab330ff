"""The map: which plan is shown, the plan itself, and its own numbers."""

import html
from collections.abc import Mapping

import panel as pn
import panel_material_ui as pmui
from bokeh.models import ColumnDataSource

from bottomup.dashboard.colourings import Colouring
from bottomup.dashboard.map_figure import MapFigure, build_map_figure
from bottomup.dashboard.map_overlays import MapOverlays
from bottomup.dashboard.pointing import describe, marking_of
from bottomup.dashboard.raster import View
from bottomup.dashboard.selection import Unit
from bottomup.dashboard.session import Session, ShownPlan
from bottomup.dashboard.state import SHOWN
from bottomup.dashboard.views.beside import Beside
from bottomup.dashboard.views.colour_by import LEGEND_CSS, ColourBy, legend
from bottomup.dashboard.views.following import follow
from bottomup.dashboard.views.guard import guarded
from bottomup.dashboard.views.map_layers import LayersPanel
from bottomup.dashboard.views.style import TEXT_STYLE, THEME, key, room_for, say, segments
from bottomup.dashboard.wording import plan_figures

__all__ = ["MapView"]

_LARGEST_PICTURE = 4096
# A browser silent for this many ticks has lost a message or lies in the background: send again.
_PATIENCE_TICKS = 14
# Colours and lines that follow the walks are worth fewer updates than the plan.
_SLOW_EVERY = 14
_WAITING_EVERY = 3


class MapView(pn.viewable.Viewer):
    """Map of the shown plan.

    Parameters
    ----------
    session : Session
    """

    def __init__(self, session: Session) -> None:
        super().__init__()
        self._session = session
        self._drawn: object = None
        self._coloured: Colouring | None = None
        self._sent = 0
        self._ticks = 0
        self._ticks_waited = 0
        self.seen = False
        """Whether a browser has shown the map: until then nothing is worth computing."""
        self._kind = segments(
            "Plan on the map",
            {words: kind for kind, words in SHOWN.items()},
            session.shown.kind,
            margin=(6, 0, 2, 0),
        )
        self._title = pn.pane.HTML(**TEXT_STYLE, sizing_mode="stretch_width")
        self._figures = pn.pane.HTML(**TEXT_STYLE, sizing_mode="stretch_width")
        self._key = pn.pane.HTML(
            stylesheets=[*TEXT_STYLE["stylesheets"], LEGEND_CSS],
            margin=0,
            sizing_mode="stretch_width",
            # As much as a legend takes: with another colouring the map keeps its size, and its picture.
            # Colours of the map are the same in every look.
            styles=room_for(2) | {"--of-charts": "none"},
        )
        self._pointed = pn.pane.HTML(
            stylesheets=[*TEXT_STYLE["stylesheets"], _POINTED_CSS],
            margin=0,
            visible=False,
            css_classes=["pointed"],
        )
        self._map: MapFigure | None = None
        self._layers: LayersPanel | None = None
        self._beside: Beside | None = None
        self._colour = ColourBy(session, self._colour_anew)
        self._layout = pn.Column(sizing_mode="stretch_both", margin=(0, 8, 0, 0), styles={"gap": "2px"})
        self._layout.extend([*self._parts(), self._figures, self._key])
        self._kind.param.watch(lambda event: self._show(event.new), "value")
        follow(session.shown, ["kind", "chosen"], self._follow)
        follow(session.settings, ["enacted"], self._follow_enacted)
        follow(session.selection, ["pointed"], self._follow_pointed)
        self._follow_enacted()

    def __panel__(self) -> pn.viewable.Viewable:
        return self._layout

    def _parts(self) -> list[pn.viewable.Viewable]:
        """The choices, the title and the map itself; without outlines, why there is none."""
        prepared = self._session.prepared
        if prepared.scene is None:
            self.seen = True
            words = pn.pane.HTML(
                "<p>These units came without outlines, so there is no map. Give a GIS file with "
                "<b>--shapes</b> to see one; everything else works without.</p>",
                **TEXT_STYLE,
                sizing_mode="stretch_both",
            )
            return [self._kind, self._title, words]
        self._map = drawn = build_map_figure(prepared.scene, prepared.layers, self._session.n_districts)
        drawn.view.on_change("data", guarded(self._send_frame))
        drawn.tapped.on_change("data", guarded(self._answer_tap))
        drawn.rested.on_change("data", guarded(self._answer_rest))
        overlays = MapOverlays(drawn.figure, drawn.picture)
        self._layers = layers = LayersPanel(self._session, prepared.scene, overlays, self._write_key)
        self._beside = Beside(self._session, prepared.scene, drawn)
        button = pmui.Button(
            label="Layers, find",
            icon="layers",
            variant="outlined",
            size="small",
            margin=(6, 0, 2, 0),
            theme_config=THEME,
        )
        button.on_click(lambda *_: layers.panel.param.update(visible=not layers.panel.visible))
        choices = pn.Row(
            self._kind,
            pn.Row(
                self._colour.choice,
                self._beside.choice,
                button,
                margin=0,
                sizing_mode="stretch_width",
                styles={"flex": "1 1 24rem", "gap": "6px", "align-items": "center", "min-width": "0"},
            ),
            sizing_mode="stretch_width",
            margin=0,
            # Not in a hearing.
            styles={
                "flex-wrap": "wrap",
                "gap": "0 10px",
                "flex": "none",
                "display": "var(--analyst, flex)",
            },
        )
        body = pn.Column(
            pn.pane.Bokeh(drawn.figure, sizing_mode="stretch_both", margin=0, min_height=200),
            self._pointed,
            layers.panel,
            sizing_mode="stretch_both",
            margin=0,
            styles={"position": "relative"},
        )
        return [choices, self._title, body]

    def _send_frame(self, _attribute: str, _old: object, new: dict) -> None:
        """Draw the picture that the browser asks for."""
        assert self._map is not None
        assert self._session.prepared.scene is not None
        values = {name: float(column[0]) for name, column in new.items()}
        width, height = (min(_LARGEST_PICTURE, int(values[name])) for name in ("width", "height"))
        view = View(*(values[name] for name in View._fields))
        self._map.show_frame(self._session.prepared.scene, view, width, height)
        if not self.seen:
            self.seen = True
            self._drawn = None
            self.refresh()
            self._follow_pointed()

    def _answer_tap(self, _attribute: str, _old: object, new: dict[str, list[int]]) -> None:
        """Point at a unit; at nothing when it is the same again, or outside of all."""
        selection, place = self._session.selection, int(new["unit"][0])
        tapped = Unit(place) if place >= 0 else None
        selection.pointed = None if tapped == selection.pointed else tapped

    def _answer_rest(self, _attribute: str, _old: object, new: dict[str, list[int]]) -> None:
        """Tell about the unit under a resting pointer."""
        unit, shown = int(new["unit"][0]), self._session.shown_plan()
        if self._map is None or not 0 <= unit < len(shown.assignment):
            return
        other = self._beside.assignment if self._beside is not None else None
        plan = shown.assignment if other is None or not new["is_beside"][0] else other
        words = describe(Unit(unit), self._session.prepared, plan, shown.names)
        self._map.show_card(unit, int(plan[unit]), words)

    def _show(self, kind: str) -> None:
        shown = self._session.shown
        if kind == "chosen" and shown.chosen is None:
            self._title.object = (
                "<p><b>No plan chosen yet:</b> draw one by lot where plans are saved, or tap a bar.</p>"
            )
            self._kind.value = shown.kind
            return
        shown.kind = kind

    def _follow(self) -> None:
        self._kind.value = self._session.shown.kind
        self._drawn = None
        self.refresh()
        self.refresh_words()

    def _follow_enacted(self) -> None:
        prepared, enacted = self._session.prepared, self._session.settings.enacted
        if self._map is not None and prepared.scene is not None:
            self._map.show_enacted(prepared.scene.boundary_of[enacted])
        self._write_key()
        self._follow()

    def _follow_pointed(self) -> None:
        """Mark what is pointed at, and say what it is."""
        if self._map is None or self._session.prepared.scene is None:
            return
        pointed = self._session.selection.pointed
        self._map.mark(self._session.prepared.scene, marking_of(pointed, self._session.prepared))
        self._describe_pointed(self._session.shown_plan())
        self._colour_anew()

    def _describe_pointed(self, shown: ShownPlan) -> None:
        words = describe(
            self._session.selection.pointed, self._session.prepared, shown.assignment, shown.names
        )
        if self._pointed.object != words:
            self._pointed.param.update(object=words, visible=bool(words))

    def _colour_anew(self) -> None:
        """Colour the map as chosen, when that has changed."""
        if self._map is None:
            return
        colouring = self._colour.colouring()
        if colouring is not self._coloured:
            self._coloured = colouring
            self._map.show_colouring(colouring)
            self._write_key()

    def _write_key(self) -> None:
        """Say what colours and lines mean."""
        scene, enacted = self._session.prepared.scene, self._session.settings.enacted
        marks = [("enacted", f"districts of the enacted plan ({html.escape(enacted)})")]
        if scene is not None and len(scene.counties):
            marks.append(("county", "counties"))
        words = key(*marks) if self._coloured is None else legend(self._coloured, f"enacted plan ({enacted})")
        say(self._key, words + (self._layers.key() if self._layers is not None else ""))

    def _kept(self) -> dict[str, pmui.Select | pmui.Checkbox]:
        """Choices that the address is to keep."""
        kept: dict[str, pmui.Select | pmui.Checkbox] = {"colour": self._colour.choice}
        if self._beside is not None and self._layers is not None:
            kept |= {"beside": self._beside.choice, **self._layers.switches}
        return kept

    def state(self) -> dict[str, str]:
        """Return what is chosen of colours, comparison and layers; what is as at first is left out."""
        values = {name: _chosen(widget) for name, widget in self._kept().items()}
        return {name: value for name, value in values.items() if value}

    def restore(self, values: Mapping[str, str]) -> list[str]:
        """Choose as `state` has it; return the names of what cannot be chosen."""
        kept = self._kept()
        unmet = [name for name in values if name not in kept]
        for name, widget in kept.items():
            if not _choose(widget, values.get(name, "")):
                unmet.append(name)
        return unmet

    def refresh(self) -> None:
        """Send the shown plan when it is another one and the browser has painted the one before."""
        shown = self._session.shown_plan()
        if self._map is None or self._session.prepared.scene is None:
            return
        self._ticks += 1
        parts = [part for part in (self._colour, self._layers, self._beside) if part is not None]
        is_waiting = any(part.is_waiting for part in parts)
        if self._ticks % (_WAITING_EVERY if is_waiting else _SLOW_EVERY) == 0:
            self._refresh_slowly()
        # Before a browser shows the map nobody can say that it has been painted.
        is_pending = self.seen and self._sent > _painted(self._map.acknowledged)
        if is_pending and self._ticks_waited < _PATIENCE_TICKS:
            self._ticks_waited += 1
            return
        if shown.assignment is self._drawn and not is_pending:
            return
        self._ticks_waited = 0
        self._sent = _painted(self._map.acknowledged) + 1
        self._drawn = shown.assignment
        self._map.show_plan(self._session.prepared.scene, shown.assignment, shown.names)

    def _refresh_slowly(self) -> None:
        """Bring colours and lines up to date that tell of many plans."""
        if self._colour.follows_walk:
            self._colour_anew()
        if self._layers is not None:
            self._layers.refresh()
        if self._beside is not None:
            self._beside.refresh()

    def refresh_words(self) -> None:
        """Say which plan is shown, and give its numbers."""
        shown = self._session.shown_plan()
        self._describe_pointed(shown)
        self._title.object = f"<p><b>{html.escape(shown.title)}</b></p>"
        self._figures.object = self._figures_of(shown)

    def _figures_of(self, shown: ShownPlan) -> str:
        session = self._session
        if shown.kind == "enacted":
            numbers = session.enacted_numbers
        else:
            numbers = session.prepared.describe(
                shown.assignment, session.n_districts, session.settings.weighting
            )
        items = "".join(f"<div><b>{value}</b> {name}</div>" for name, value in plan_figures(numbers))
        return f'<div class="figures">{items}</div>'


def _chosen(widget: pmui.Select | pmui.Checkbox) -> str:
    """What is chosen, as text; empty for what is as at first."""
    if isinstance(widget, pmui.Checkbox):
        return "on" if widget.value else ""
    return "" if widget.value == next(iter(widget.options.values())) else str(widget.value)


def _choose(widget: pmui.Select | pmui.Checkbox, text: str) -> bool:
    """Choose what a text says; False, and all as at first, when it means nothing."""
    if isinstance(widget, pmui.Checkbox):
        widget.value = text == "on"
        return text in ("", "on")
    options = list(widget.options.values())
    widget.value = text if text in options else options[0]
    return not text or text in options


def _painted(acknowledged: ColumnDataSource) -> int:
    return int(acknowledged.data["n"][0])


_POINTED_CSS = """
:host(.pointed) { position: absolute; left: 0; top: 0; z-index: 4; max-width: 60%; background: var(--ground);
  border: 2px solid var(--ink); border-radius: 6px; padding: 0.3rem 0.7rem; pointer-events: none; }
p { margin: 0; }
"""
