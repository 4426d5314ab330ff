"""The map: which plan is shown, the plan itself, and its own numbers."""

import html

import panel as pn
from bokeh.models import ColumnDataSource

from bottomup.dashboard.map_figure import MapFigure, build_map_figure
from bottomup.dashboard.raster import View
from bottomup.dashboard.session import Session, ShownPlan
from bottomup.dashboard.state import SHOWN
from bottomup.dashboard.views.style import TEXT_STYLE, key, segments
from bottomup.dashboard.wording import plan_figures

__all__ = ["MapView"]

_LARGEST_PICTURE = 4096
# A browser silent for this many ticks has lost a message or lies in the background: send again.
_PATIENCE_TICKS = 14


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
        self._sent = 0
        self._ticks_waited = 0
        self.seen = False
        """Whether a browser has shown the map: until then nothing is worth computing."""
        self._kind = segments(
            "Plan on the map",
            {words: kind for kind, words in SHOWN.items()},
            session.shown.kind,
            margin=(0, 0, 4, 0),
        )
        self._title = pn.pane.HTML(**TEXT_STYLE, sizing_mode="stretch_width")
        self._figures = pn.pane.HTML(**TEXT_STYLE, sizing_mode="stretch_width")
        self._key = pn.pane.HTML(**TEXT_STYLE, sizing_mode="stretch_width")
        self._map: MapFigure | None = None
        self._layout = pn.Column(
            self._kind,
            self._title,
            self._body(),
            self._figures,
            self._key,
            sizing_mode="stretch_both",
            margin=(0, 8, 0, 0),
            styles={"gap": "2px"},
        )
        self._kind.param.watch(lambda event: self._show(event.new), "value")
        session.shown.param.watch(lambda *_: self._follow(), ["kind", "chosen"])
        session.settings.param.watch(lambda *_: self._follow_enacted(), "enacted")
        self._follow_enacted()

    def __panel__(self) -> pn.viewable.Viewable:
        return self._layout

    def _body(self) -> pn.viewable.Viewable:
        prepared = self._session.prepared
        if prepared.scene is None:
            self.seen = True
            return pn.pane.HTML(
                "<p>These units came without outlines, so there is no map. Give a GIS file with "
                "<b>--shapes</b> to see one; everything else works without.</p>",
                **TEXT_STYLE,
                sizing_mode="stretch_both",
            )
        self._map = build_map_figure(prepared.scene, prepared.layers, self._session.n_districts)
        self._map.view.on_change("data", self._send_frame)
        return pn.pane.Bokeh(self._map.figure, sizing_mode="stretch_both", margin=0, min_height=200)

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
        marks = [("enacted", f"districts of the enacted plan ({html.escape(enacted)})")]
        if prepared.scene is not None and len(prepared.scene.counties):
            marks.append(("county", "counties"))
        self._key.object = key(*marks)
        self._follow()

    def refresh(self) -> None:
        """Send the shown plan when it is another one and the browser has painted the one before."""
        shown = self._session.shown_plan()
        if self._map is None or self._session.prepared.scene is None:
            return
        is_pending = self._sent > _painted(self._map.acknowledged)
        if is_pending and self._ticks_waited < _PATIENCE_TICKS:
            self._ticks_waited += 1
            return
        if shown.assignment is self._drawn and not is_pending:
            return
        self._ticks_waited = 0
        self._sent = _painted(self._map.acknowledged) + 1
        self._drawn = shown.assignment
        self._map.show_plan(self._session.prepared.scene, shown.assignment, shown.names)

    def refresh_words(self) -> None:
        """Say which plan is shown, and give its numbers."""
        shown = self._session.shown_plan()
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


def _painted(acknowledged: ColumnDataSource) -> int:
    return int(acknowledged.data["n"][0])
