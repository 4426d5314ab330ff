"""The hearing: its script, written beside the page, and what stands above a scene while it is shown."""

import html
import io
import logging
from collections.abc import Callable
from functools import partial

import panel as pn
import panel_material_ui as pmui

from bottomup.dashboard.script import MOST_SCENES, Scene, Script, read_scenes, write_scenes
from bottomup.dashboard.views.style import TEXT_STYLE, THEME, say
from bottomup.data.errors import DataError

__all__ = ["SceneBar", "ScriptView"]

logger = logging.getLogger(__name__)

_INTRO = (
    "<p>A script is a row of saved views. In the hearing they are shown in large type, without settings: "
    "<b>→</b> goes on, <b>←</b> back, <b>N</b> shows your notes, <b>Esc</b> leaves. Set the page as the room "
    "is to see it, then keep it as a scene.</p>"
    '<p class="quiet">What the room sees of plans and charts is released: write it in the ledger under '
    '"Save a plan", at "Shown in public".</p>'
)


class ScriptView(pn.viewable.Viewer):
    """Scenes that can be kept, named, put in order, and shown.

    Parameters
    ----------
    script : Script
    capture : callable
        Returns what is set on the page now, as `bottomup.dashboard.script.Scene` keeps it.
    """

    def __init__(self, script: Script, capture: Callable[[], dict[str, str]]) -> None:
        super().__init__()
        self._script = script
        self._capture = capture
        self._message = pn.pane.HTML(**TEXT_STYLE, sizing_mode="stretch_width", visible=False)
        # As tall as its scenes: what lies below must not slip under them.
        self._rows = pn.Column(
            sizing_mode="stretch_width", margin=0, styles={"flex": "none", "max-height": "none"}
        )
        self._drawn: list[Scene] = []
        begin = self._button("Begin the hearing", "co_present", self._script.begin, variant="contained")
        keep = self._button("Keep this view as a scene", "add", self._keep)
        self._save = pmui.FileDownload(
            callback=lambda: io.StringIO(write_scenes(self._script.scenes)),
            filename="hearing-script.json",
            label="Save the script",
            variant="outlined",
            **_LOOK,
        )
        self._open = pmui.FileInput(
            accept=".json", label="Open a script", variant="outlined", multiple=False, **_LOOK
        )
        self._open.param.watch(self._read, "value")
        script.param.watch(lambda *_: self.refresh(), "scenes")
        self._layout = pn.Column(
            pn.pane.HTML(_INTRO, **TEXT_STYLE, sizing_mode="stretch_width"),
            pn.Row(begin, keep, margin=(0, 0, 4, 0), styles=_BUTTONS),
            self._message,
            self._rows,
            pn.Row(self._save, self._open, margin=(10, 0, 8, 0), styles=_BUTTONS),
            sizing_mode="stretch_both",
            margin=0,
            styles={"overflow-y": "auto", "overflow-x": "hidden"},
        )

    def __panel__(self) -> pn.viewable.Viewable:
        return self._layout

    def refresh(self) -> None:
        """Show the scenes as they are."""
        scenes = self._script.scenes
        if len(scenes) != len(self._drawn) or any(
            a.title != b.title or a.fields != b.fields for a, b in zip(scenes, self._drawn, strict=True)
        ):
            self._rows.objects = [self._row(place, scene) for place, scene in enumerate(scenes)]
        self._drawn = list(scenes)

    def _row(self, place: int, scene: Scene) -> pn.viewable.Viewable:
        number = f"Scene {place + 1}"
        title = pmui.TextInput(label=f"{number}: title", value=scene.title, **_FIELD)
        notes = pmui.TextAreaInput(
            label=f"{number}: notes for the presenter", value=scene.notes, rows=2, **_FIELD
        )
        title.param.watch(lambda event: self._rewrite(place, title=event.new), "value")
        notes.param.watch(lambda event: self._rewrite(place, notes=event.new), "value")
        acts: tuple[tuple[str, str, Callable[[], object]], ...] = (
            ("Show", "visibility", partial(setattr, self._script, "place", place)),
            ("Up", "arrow_upward", partial(self._script.move, place, -1)),
            ("Down", "arrow_downward", partial(self._script.move, place, 1)),
            ("Remove", "delete", partial(self._script.remove, place)),
        )
        buttons = [
            self._button(name, icon, act, variant="text", description=f"{name}: scene {place + 1}")
            for name, icon, act in acts
        ]
        return pn.Column(
            title,
            notes,
            pn.Row(*buttons, margin=0, styles={"flex-wrap": "wrap"}),
            sizing_mode="stretch_width",
            margin=(0, 0, 10, 0),
            styles={"border-left": "4px solid var(--line)", "padding-left": "6px", "flex": "none"},
        )

    def _button(
        self,
        label: str,
        icon: str,
        act: Callable[[], object],
        variant: str = "outlined",
        description: str = "",
    ) -> pmui.Button:
        more = {"description": description} if description else {}
        button = pmui.Button(label=label, icon=icon, variant=variant, **_LOOK, **more)
        button.on_click(lambda _event: act())
        return button

    def _rewrite(self, place: int, **changes: str) -> None:
        # Known before the script says so: the field that is being written in is not to be drawn anew.
        if "title" in changes and place < len(self._drawn):
            self._drawn[place] = self._drawn[place]._replace(title=changes["title"])
        self._script.rewrite(place, **changes)

    def _keep(self) -> None:
        n_scenes = len(self._script.scenes)
        if self._script.add(Scene(f"View {n_scenes + 1}", "", self._capture())):
            self._tell("")
        else:
            self._tell(f'<p class="error">A script has {MOST_SCENES} scenes at most. Remove one first.</p>')

    def _read(self, event: object) -> None:
        content = self._open.value
        if not content:
            return
        try:
            self._script.scenes = read_scenes(content)
            self._tell("")
        except DataError as error:
            logger.warning("A script could not be read.", exc_info=error)
            self._tell(f'<p class="error" role="alert">{html.escape(str(error))}</p>')

    def _tell(self, words: str) -> None:
        self._message.param.update(object=words, visible=bool(words))


class SceneBar(pn.viewable.Viewer):
    """Title of the scene in sight, where in the script it stands, and the presenter's notes on demand.

    Parameters
    ----------
    script : Script
    """

    def __init__(self, script: Script) -> None:
        super().__init__()
        self._script = script
        self._title = pn.pane.HTML(**TEXT_STYLE, sizing_mode="stretch_width", styles={"min-width": "0"})
        self._notes = pn.pane.HTML(
            stylesheets=[*TEXT_STYLE["stylesheets"], _NOTES],
            margin=(6, 0, 0, 0),
            sizing_mode="stretch_width",
            visible=False,
        )
        buttons = []
        for label, icon, act in (
            ("Back", "arrow_back", partial(script.step, -1)),
            ("Next", "arrow_forward", partial(script.step, 1)),
            ("Notes", "notes", self.toggle_notes),
            ("Leave", "close", script.leave),
        ):
            button = pmui.Button(label=label, icon=icon, variant="text", **_LOOK)
            button.on_click(lambda _event, act=act: act())
            buttons.append(button)
        self._layout = pn.Column(
            pn.Row(self._title, *buttons, sizing_mode="stretch_width", margin=0, align="center"),
            self._notes,
            sizing_mode="stretch_width",
            margin=(8, 16, 8, 16),
            visible=False,
        )
        self._shows_notes = False
        script.param.watch(lambda *_: self._follow(), ["place", "scenes"])

    def __panel__(self) -> pn.viewable.Viewable:
        return self._layout

    def toggle_notes(self) -> None:
        """Show the notes, or put them away."""
        if self._script.scene is not None:
            self._shows_notes = not self._shows_notes
            self._follow()

    def _follow(self) -> None:
        scene = self._script.scene
        self._layout.visible = scene is not None
        if scene is None:
            self._shows_notes = False
            return
        place = f"{self._script.place + 1} of {len(self._script.scenes)}"
        say(self._title, f'<h1>{html.escape(scene.title)} <span class="quiet">{place}</span></h1>')
        notes = html.escape(scene.notes).replace("\n", "<br>") or "No notes for this scene."
        self._notes.param.update(object=f"<p>{notes}</p>", visible=self._shows_notes)


_NOTES = """
p { border-left: 5px solid var(--accent); padding: 2px 0 2px 12px; margin: 0; }
"""
_BUTTONS = {"flex-wrap": "wrap", "gap": "6px", "flex": "none"}
_LOOK = {"margin": 0, "theme_config": THEME, "size": "small", "color": "primary"}
_FIELD = {"sizing_mode": "stretch_width", "margin": (4, 4, 4, 0), "theme_config": THEME, "size": "small"}
