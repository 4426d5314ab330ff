"""The whole page of one session, and the clock that keeps it up to date."""

import html
import logging
from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from typing import Protocol

import panel as pn
import panel_material_ui as pmui

from bottomup.dashboard.answers import QUESTIONS, answers
from bottomup.dashboard.design import Design
from bottomup.dashboard.page_state import (
    PageState,
    Remembered,
    put_into_effect,
    query_of,
    read_fields,
    state_of,
    write_fields,
)
from bottomup.dashboard.script import Scene, first_scenes
from bottomup.dashboard.session import Session
from bottomup.dashboard.views.about import AboutView
from bottomup.dashboard.views.address import Address
from bottomup.dashboard.views.communities import CommunitiesView
from bottomup.dashboard.views.compare import CompareView
from bottomup.dashboard.views.controls import ControlsView
from bottomup.dashboard.views.diagnostics import DiagnosticsView
from bottomup.dashboard.views.export import ExportView
from bottomup.dashboard.views.findings import counted
from bottomup.dashboard.views.following import held
from bottomup.dashboard.views.guide import guide_link
from bottomup.dashboard.views.histograms import HistogramsView
from bottomup.dashboard.views.influence import InfluenceView
from bottomup.dashboard.views.keys import Keys
from bottomup.dashboard.views.look import LookSwitch
from bottomup.dashboard.views.map import MapView
from bottomup.dashboard.views.questions import Questions
from bottomup.dashboard.views.release import has_browser
from bottomup.dashboard.views.report import ReportView
from bottomup.dashboard.views.script import SceneBar, ScriptView
from bottomup.dashboard.views.settings import SettingsView
from bottomup.dashboard.views.share import ShareView
from bottomup.dashboard.views.spread import SpreadView
from bottomup.dashboard.views.style import TEXT_STYLE, THEME
from bottomup.dashboard.wording import NO_STORED_PLANS

__all__ = ["TICK_MILLISECONDS", "PageView", "failure"]

logger = logging.getLogger(__name__)

TICK_MILLISECONDS = 150
_WORDS_EVERY = 3
_CHARTS_EVERY = 7
_TABLE_EVERY = 33
# After a view has been opened for the first time nothing else is sent for so long.
_SETTLING_TICKS = 7
# For so long new parts of the page are waited for.
_PATIENCE_TICKS = 100


class View(Protocol):
    """The view of a question, or one at their side."""

    def refresh(self) -> None:
        """Bring it up to date; quick when there is nothing new."""


_OF_QUESTIONS: tuple[Callable[[Session], View], ...] = (
    CommunitiesView,
    HistogramsView,
    SpreadView,
    InfluenceView,
)
_DATA = "Data"
# The part of the page that views open in.
_OPENED = "opened view"
# Views at the side of the four questions: name, icon and what makes them.
_ASIDE: dict[str, tuple[str, Callable[[Session], View]]] = {
    "Compare ε": ("show_chart", CompareView),
    "Diagnostics": ("troubleshoot", DiagnosticsView),
    "Save a plan": ("download", ExportView),
    "Report": ("description", ReportView),
    "Settings": ("tune", SettingsView),
    _DATA: ("folder_open", AboutView),
}


# What these say rests on plans alone.
_OF_PLANS = (*QUESTIONS[:3], "Compare ε", "Diagnostics")
_HEARING = "Hearing"
_SHARE = "Share"
# What the map's own choices are called among those of the views.
_MAP = "map"
# What the questions' views are called in the address, whatever the words of the questions.
_SHORT = dict(zip(QUESTIONS, ("communities", "comparison", "people", "influence"), strict=True))


class PageView(pn.viewable.Viewer):
    """Questions, controls, map and the view of one question, or one at their side.

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
        self._views: dict[str, View] = {}
        makers = dict(zip(QUESTIONS, _OF_QUESTIONS, strict=True))
        makers |= {name: make for name, (_, make) in _ASIDE.items()}
        self.script = session.script
        if not self.script.scenes:
            self.script.scenes = first_scenes(QUESTIONS)
        makers[_SHARE] = lambda session: ShareView(
            session, lambda: write_fields(self.state(), session.prepared)
        )
        makers[_HEARING] = lambda _session: ScriptView(self.script, self._scene_fields)
        self._makers = makers
        self._frames = {
            name: pn.Column(sizing_mode="stretch_both", margin=0, visible=False) for name in makers
        }
        self._questions = Questions(
            questions=list(QUESTIONS),
            answers=answers(session),
            opens=_OPENED,
            sizing_mode="stretch_width",
            margin=(0, 16, 10, 16),
        )
        self._heading = pn.pane.HTML(**TEXT_STYLE, sizing_mode="stretch_width", visible=False)
        self._open = self._question = QUESTIONS[0]
        self._settled = 0
        self._waited = 0
        self._is_served = False
        self._wanted = ""
        # Choices of views that have not been opened yet.
        self._for_later: dict[str, dict[str, str]] = {}
        self.open_view(self._open)
        self._questions.param.watch(lambda event: self._open_question(event.new), "active")
        session.settings.param.watch(lambda *_: self._refresh_words(), ["running"])
        session.settings.param.watch(lambda *_: self._answer(), ["epsilon"])
        session.settings.param.watch(lambda *_: self._show_frame(), ["running", *Design._fields])
        session.settings.param.watch(lambda *_: self._forget_error(), list(session.settings.param))
        self._message = pn.pane.HTML(**TEXT_STYLE, sizing_mode="stretch_width", visible=False)
        self._heads = self._header()
        self._keys = Keys(
            {
                "Escape": self._escape,
                "ArrowRight": lambda: self.script.step(1),
                "ArrowLeft": lambda: self.script.step(-1),
                "PageDown": lambda: self.script.step(1),
                "PageUp": lambda: self.script.step(-1),
                "n": lambda: scene_bar.toggle_notes(),
            }
        )
        scene_bar = SceneBar(self.script)
        self.script.param.watch(lambda *_: self._follow_script(), "place")
        self._firsts = [self.state()]
        self._address = Address(list(write_fields(self._firsts[0], session.prepared)))
        self._layout = pn.Column(
            self._heads,
            scene_bar,
            self._message,
            self._questions,
            pn.Row(
                self._controls,
                pn.Row(
                    self._map, sizing_mode="stretch_both", margin=0, css_classes=["half"], stylesheets=[_CSS]
                ),
                pn.Column(
                    self._heading,
                    *self._frames.values(),
                    name=_OPENED,
                    sizing_mode="stretch_both",
                    margin=(0, 16, 8, 8),
                    css_classes=["half"],
                    stylesheets=[_CSS],
                ),
                sizing_mode="stretch_both",
                margin=0,
                css_classes=["body"],
                stylesheets=[_CSS],
            ),
            self._keys,
            self._address,
            sizing_mode="stretch_both",
            margin=0,
            css_classes=["page"],
            stylesheets=[_CSS],
        )

    def __panel__(self) -> pn.viewable.Viewable:
        return self._layout

    def _header(self) -> pn.Row:
        """Title, what the data are, and the way to the views at the side."""
        session = self.session
        inputs = session.prepared.inputs
        about = (
            f"{html.escape(inputs.geography.name)}: {inputs.geography.n_units:,} units, "
            f"{session.n_districts} districts, {session.prepared.testimonies.n_testimonies:,} testimonies"
        )
        if inputs.note:
            about += f". {html.escape(inputs.note)}"
        # As much of it as fits on the line; the rest is under "Data".
        style = "margin: 0; white-space: nowrap; overflow: hidden; text-overflow: ellipsis"
        title = f'<h1>Redistricting from the bottom up</h1><p class="quiet" style="{style}">{about}</p>'
        buttons = []
        about_files = counted(session.prepared.findings)
        icons = {name: icon for name, (icon, _) in _ASIDE.items()} | {_SHARE: "share", _HEARING: "co_present"}
        for name, icon in icons.items():
            label = f"{name}{about_files}" if name == _DATA else name
            button = pmui.Button(
                label=label, icon=icon, variant="text", size="small", margin=(0, 0, 0, 4), theme_config=THEME
            )
            button.on_click(lambda _event, name=name: self.open_view(name))
            buttons.append(button)
        return pn.Row(
            pn.pane.HTML(title, **TEXT_STYLE, sizing_mode="stretch_width", styles={"min-width": "0"}),
            *buttons,
            pn.Row(guide_link(), LookSwitch(), margin=0, styles={"flex": "none", "width": "auto"}),
            margin=(8, 16, 8, 16),
            sizing_mode="stretch_width",
            css_classes=["header"],
            stylesheets=[_CSS],
        )

    def state(self) -> PageState:
        """Everything that is set on the page."""
        views = {**self._views, _MAP: self._map}
        own = {name: view.state() for name, view in views.items() if isinstance(view, Remembered)}
        return state_of(self.session, self._open, {**self._for_later, **own})

    def begin(self, asked: Mapping[str, str]) -> None:
        """Open as the saved session says that is open, if one is, and then as the address does.

        Parameters
        ----------
        asked : mapping of str to str
            Parameters of the address.
        """
        unmet, saved = [], self.session.saved
        if saved is not None:
            unmet += self.restore(saved.state, "The saved session") if saved.state else []
            self._firsts.append(self.state())
        if asked:
            unmet += self.restore(_in_full(asked), "The address")
        if unmet:
            self.tell(unmet)
        self._follow_address()

    def _follow_address(self) -> None:
        """Let the address say what is set."""
        firsts = [_in_short(first) for first in self._firsts]
        query = query_of(_in_short(self.state()), firsts, self.session.prepared)
        if query != self._address.query:
            self._address.query = query

    def restore(self, fields: Mapping[str, str], source: str) -> list[str]:
        """Set the page as fields say; return, in sentences, what cannot be.

        Parameters
        ----------
        fields : mapping of str to str
            As `bottomup.dashboard.page_state.write_fields` has them; what is missing stays as it is.
        source : str
            Who asks, as a sentence begins: ``"The address"``.
        """
        names = (*self._makers, _MAP)
        state, unmet = read_fields(fields, self.state(), self.session.prepared, names, source)
        unmet += put_into_effect(state, self.session, source)
        self._for_later = {name: own for name, own in state.views.items() if name not in self._views}
        if state.view in self._makers:
            self.open_view(state.view)
        else:
            unmet.append(f"{source} asked for the view {state.view}, which is no view.")
        for name, view in {**self._views, _MAP: self._map}.items():
            if isinstance(view, Remembered):
                left = view.restore(state.views.get(name, {}))
                unmet += [f"{source} asked for {what} of a kind that is not there." for what in left]
        return unmet

    def _scene_fields(self) -> dict[str, str]:
        """What a scene keeps: the script itself is no scene, so the question opened before stands for it."""
        fields = write_fields(self.state(), self.session.prepared)
        if fields["view"] == _HEARING:
            fields["view"] = self._question
        return fields

    def _follow_script(self) -> None:
        """Show the scene in sight in large type and without settings, or the page as it is otherwise."""
        scene: Scene | None = self.script.scene
        for part in (self._heads, self._questions, self._controls.__panel__()):
            part.visible = scene is None
        self._keys.mode = "" if scene is None else "hearing"
        if scene is None:
            return
        unmet = self.restore(scene.fields, f'The scene "{scene.title}"')
        if unmet:
            self.tell(unmet)

    def _escape(self) -> None:
        if self.script.scene is None:
            self.session.selection.clear()
        else:
            self.script.leave()

    def tell(self, sentences: Iterable[str]) -> None:
        """Show sentences above the page until the next setting is changed."""
        self._error = " ".join(sentences)
        self._show_error("")

    def _open_question(self, place: int) -> None:
        if place >= 0 and QUESTIONS[place] != self._open:
            self.open_view(QUESTIONS[place])

    def open_view(self, name: str) -> None:
        """Open a view, made when it is first opened, so that the page opens sooner."""
        if self._is_served and not pn.state.loaded:
            # What is made between the page's being sent and the browser's word that it is there gets lost.
            self._wanted = name
            return
        self._frames[self._open].visible = False
        self._open = name
        is_question = name in QUESTIONS
        if is_question:
            self._question = name
        self._questions.active = QUESTIONS.index(name) if is_question else -1
        if name in self._views:
            with held():
                self._views[name].refresh()
        else:
            view = self._makers[name](self.session)
            if isinstance(view, Remembered):
                view.restore(self._for_later.pop(name, {}))
            # Filled before it is sent. On a busy machine changes overtake the view, and the browser, which
            # does not know yet what they are of, throws them away with all that came in the same message.
            view.refresh()
            self._views[name] = view
            self._frames[name].append(view)
            self._settled = self._ticks + _SETTLING_TICKS if self._ticks else 0
        self._show_frame()
        if self._ticks:
            self._questions.opened += 1

    def _show_frame(self) -> None:
        """Show the open view, or where it could tell of other settings only, that there are no plans."""
        name = self._open
        is_without = self.session.has_no_plans and name in _OF_PLANS
        words = "" if name in QUESTIONS else f'<h2 style="margin-bottom: 6px">{name}</h2>'
        if is_without:
            words += f"<p>{NO_STORED_PLANS}</p>"
        self._heading.param.update(object=words, visible=bool(words))
        self._frames[name].visible = not is_without

    def _active_view(self) -> View:
        return self._views[self._open]

    async def tick(self) -> None:
        """Bring what is in sight up to date. Under server threads only an asynchronous callback is sent."""
        try:
            # One message to the browser instead of one per changed part.
            with held():
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
            with held():
                self._active_view().refresh()
                self._map.refresh()
                self._refresh_words()
                self._refresh_answers()

    def _bring_up_to_date(self) -> None:
        self._is_served = True
        if not self._can_be_drawn:
            return
        if self._wanted:
            self.open_view(self._wanted)
            self._wanted = ""
        present = has_browser(pn.state.curdoc)
        self.session.attend(present)
        if not present:
            return
        self._ticks += 1
        if self._ticks < self._settled or self._has_unsent_models():
            return
        self._show_error(self.session.trouble)
        self._map.refresh()
        if self._ticks % _WORDS_EVERY == 0:
            self._refresh_words()
        if self._ticks % _CHARTS_EVERY == 0:
            self._refresh_answers()
        view = self._active_view()
        slow = isinstance(view, CommunitiesView) and view.shows_table
        if self._ticks % (_TABLE_EVERY if slow else _CHARTS_EVERY) == 0:
            view.refresh()

    def _has_unsent_models(self) -> bool:
        """Whether parts of the page have been made that no message has carried to the browser yet.

        Such a message may wait for its turn while the clock's own are written at once. The browser throws
        away a message about parts that it does not know.
        """
        document = pn.state.curdoc
        if document is None or len(document.models.synced_references) == len(document.models):
            self._waited = 0
            return False
        self._waited += 1
        return self._waited < _PATIENCE_TICKS

    def _refresh_words(self) -> None:
        self._follow_address()
        self._controls.refresh()
        self._map.refresh_words()

    def _refresh_answers(self) -> None:
        found = answers(self.session)
        if found != self._questions.answers:
            self._questions.answers = found

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
        said = "".join(failure(words) for words in (of_worker, self._error) if words)
        shown = f'<div role="alert">{said}</div>' if said else ""
        if self._message.object != shown:
            self._message.param.update(object=shown, visible=bool(shown))


def _in_short(state: PageState) -> PageState:
    """The same with views called as in the address."""
    views = {_SHORT.get(name, name): own for name, own in state.views.items()}
    return replace(state, view=_SHORT.get(state.view, state.view), views=views)


def _in_full(asked: Mapping[str, str]) -> dict[str, str]:
    """Parameters of an address with views called as on the page."""
    long = {short: name for name, short in _SHORT.items()}
    fields = {}
    for name, text in asked.items():
        view, dot, choice = name.partition(".")
        fields[f"{long.get(view, view)}{dot}{choice}" if dot else name] = text
    if "view" in fields:
        fields["view"] = long.get(fields["view"], fields["view"])
    return fields


def failure(words: str) -> str:
    """Markup of a readable error, as a sentence."""
    sentence = html.escape(f"{words[:1].upper()}{words[1:]}")
    return f'<div class="error"><b>Something needs your attention.</b> {sentence}</div>'


_CSS = """
:host(.page) { height: 100vh; width: 100vw; overflow: hidden; background: var(--ground); }
:host(.header) { align-items: center; flex-wrap: wrap; }
:host(.body) { min-height: 0; padding-left: var(--edge, 0); }
:host(.half) { flex: 1 1 50% !important; min-width: 0; }
@media (max-width: 1000px) {
  :host(.page) { height: auto; overflow: visible auto; }
  :host(.header) > .bk-panel-models-markup-HTML { flex: 1 0 100% !important; }
  :host(.body) { flex: none !important; flex-direction: column !important; height: auto !important;
    max-height: none !important; }
  :host(.half) { flex: none !important; width: auto !important; height: 36rem !important;
    max-height: none !important; margin: 0 16px 12px !important; }
}
"""
