"""The whole page of one session, and the clock that keeps it up to date."""

import html
import logging

import panel as pn
import panel_material_ui as pmui
from panel.io.document import hold

from bottomup.dashboard.session import Session
from bottomup.dashboard.views.communities import CommunitiesView
from bottomup.dashboard.views.controls import ControlsView
from bottomup.dashboard.views.export import ExportView
from bottomup.dashboard.views.findings import notes
from bottomup.dashboard.views.histograms import HistogramsView
from bottomup.dashboard.views.influence import InfluenceView
from bottomup.dashboard.views.map import MapView
from bottomup.dashboard.views.release import has_browser
from bottomup.dashboard.views.spread import SpreadView
from bottomup.dashboard.views.style import TEXT_STYLE, THEME

__all__ = ["TICK_MILLISECONDS", "PageView", "failure"]

logger = logging.getLogger(__name__)

TICK_MILLISECONDS = 150
_WORDS_EVERY = 3
_CHARTS_EVERY = 7
_TABLE_EVERY = 33
# After a tab has been opened for the first time nothing else is sent for so long.
_SETTLING_TICKS = 7


TabView = HistogramsView | CommunitiesView | SpreadView | InfluenceView | ExportView
_TABS: dict[str, type[TabView]] = {
    "How does it compare?": HistogramsView,
    "Which communities?": CommunitiesView,
    "Who ends up where?": SpreadView,
    "Who can sway it?": InfluenceView,
    "Save a plan": ExportView,
}


class PageView(pn.viewable.Viewer):
    """Controls, map and tabs of a session.

    Parameters
    ----------
    session : Session
    """

    def __init__(self, session: Session) -> None:
        super().__init__()
        self.session = session
        self._ticks = 0
        self._error = ""
        self._controls = ControlsView(session)
        self._map = MapView(session)
        self._views: dict[int, TabView] = {}
        self._frames = [pn.Column(sizing_mode="stretch_both", margin=0) for _ in _TABS]
        self._tabs = pmui.Tabs(
            *zip(_TABS, self._frames, strict=True),
            sizing_mode="stretch_both",
            margin=0,
            theme_config=THEME,
            sx=_TABS_STYLE,
        )
        self._tabs.param.watch(lambda *_: self._open_tab(), "active")
        self._settled = 0
        self._open_tab()
        session.settings.param.watch(lambda *_: self._refresh_words(), ["running"])
        session.settings.param.watch(lambda *_: self._answer(), ["epsilon"])
        session.settings.param.watch(lambda *_: self._forget_error(), list(session.settings.param))
        self._message = pn.pane.HTML(**TEXT_STYLE, sizing_mode="stretch_width", visible=False)
        self._layout = pn.Column(
            _header(session),
            self._message,
            pn.Row(
                self._controls,
                pn.Row(
                    self._map,
                    sizing_mode="stretch_both",
                    margin=0,
                    styles={"flex": "1 1 50%", "min-width": "0"},
                ),
                pn.Row(
                    self._tabs,
                    sizing_mode="stretch_both",
                    margin=(0, 16, 8, 8),
                    styles={"flex": "1 1 50%", "min-width": "0"},
                ),
                sizing_mode="stretch_both",
                margin=0,
                styles={"min-height": "0"},
            ),
            sizing_mode="stretch_both",
            margin=0,
            styles={"height": "100vh", "width": "100vw", "overflow": "hidden", "background": "white"},
        )

    def __panel__(self) -> pn.viewable.Viewable:
        return self._layout

    def _active_view(self) -> TabView:
        return self._views[self._tabs.active]

    def _open_tab(self) -> None:
        """Make the view of a tab when it is first opened, so that the page opens sooner."""
        active = self._tabs.active
        if active in self._views:
            self._views[active].refresh()
            return
        view = tuple(_TABS.values())[active](self.session)
        # Filled before it is sent. On a busy machine changes overtake the view, and the browser, which does
        # not know yet what they are of, throws them away with all that came in the same message.
        view.refresh()
        self._views[active] = view
        self._frames[active].append(view)
        self._settled = self._ticks + _SETTLING_TICKS if self._ticks else 0

    async def tick(self) -> None:
        """Bring what is in sight up to date. Under server threads only an asynchronous callback is sent."""
        try:
            # One message to the browser instead of one per changed part.
            with hold(pn.state.curdoc):
                self._bring_up_to_date()
        except Exception as error:
            self.show_failure(error)

    @property
    def _can_be_drawn(self) -> bool:
        # Until the browser says that the page has loaded, Panel throws away what is held, although the models
        # may have been sent long before: a line made visible then would stay unseen for good.
        return bool(self._map.seen and pn.state.loaded)

    def _answer(self) -> None:
        """Show another ε at once, from the plans that are there."""
        if self._can_be_drawn and self._ticks >= self._settled:
            with hold(pn.state.curdoc):
                self._active_view().refresh()
                self._map.refresh()
                self._refresh_words()

    def _bring_up_to_date(self) -> None:
        if not self._can_be_drawn:
            return
        present = has_browser(pn.state.curdoc)
        self.session.attend(present)
        if not present:
            return
        self._ticks += 1
        if self._ticks < self._settled:
            return
        self._show_error(self.session.worker.progress.error)
        self._map.refresh()
        if self._ticks % _WORDS_EVERY == 0:
            self._refresh_words()
        view = self._active_view()
        slow = isinstance(view, CommunitiesView) and view.shows_table
        if self._ticks % (_TABLE_EVERY if slow else _CHARTS_EVERY) == 0:
            view.refresh()

    def _refresh_words(self) -> None:
        self._controls.refresh()
        self._map.refresh_words()

    def show_failure(self, error: Exception) -> None:
        """Show an error of the page itself, and log it once."""
        words = str(error) or type(error).__name__
        if words != self._error:
            logger.error("The page met an error.", exc_info=error)
        self._error = words
        self._show_error("")

    def _forget_error(self) -> None:
        """A changed setting answers the message of the page itself; the worker's has its own life."""
        self._error = ""

    def _show_error(self, of_worker: str) -> None:
        words = of_worker or self._error
        shown = failure(words) if words else ""
        if self._message.object != shown:
            self._message.param.update(object=shown, visible=bool(words))


def _header(session: Session) -> pn.Row:
    """Title and map, and beside them what is real and what is drawn."""
    inputs = session.prepared.inputs
    n_testimonies = session.prepared.testimonies.n_testimonies
    title = (
        f"<h1>Redistricting from the bottom up</h1>"
        f'<p class="quiet" style="margin: 0">{html.escape(inputs.geography.name)}: '
        f"{inputs.geography.n_units:,} units, {session.n_districts} districts, "
        f"{n_testimonies:,} testimonies</p>"
    )
    header = pn.Row(
        pn.pane.HTML(title, **TEXT_STYLE, styles={"flex": "none", "width": "27.9rem"}),
        margin=(8, 16, 6, 16),
        sizing_mode="stretch_width",
    )
    if inputs.note:
        note = f'<p class="quiet" style="margin: 4px 0 0 0; font-size: 0.9rem">{html.escape(inputs.note)}</p>'
        header.append(pn.pane.HTML(note, **TEXT_STYLE, sizing_mode="stretch_width"))
    about_files = notes(session.prepared.findings)
    if about_files is not None:
        header.append(about_files)
    return header


def failure(words: str) -> str:
    """Markup of a readable error, as a sentence."""
    sentence = html.escape(f"{words[:1].upper()}{words[1:]}")
    return f'<div class="error"><b>Something needs your attention.</b> {sentence}</div>'


_TABS_STYLE = {
    "& .MuiTab-root": {
        "textTransform": "none",
        "fontSize": "1rem",
        "lineHeight": 1.15,
        "minHeight": "2.75rem",
        "minWidth": 0,
        "maxWidth": "none",
        "flex": "1 1 auto",
        "whiteSpace": "normal",
        "padding": "0.25rem 0.5rem",
    },
    "& .MuiTabs-root": {"minHeight": "2.75rem"},
    "& .MuiTabs-list": {"width": "100%"},
    "& .MuiTabScrollButton-root": {"display": "none"},
}
