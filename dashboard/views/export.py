"""Save a plan: the shown plan as files for other programs."""

import asyncio
import html
import io
from collections.abc import Callable, Coroutine

import panel as pn

from bottomup.dashboard.saving import file_name, file_text
from bottomup.dashboard.session import Session
from bottomup.dashboard.views.style import TEXT_STYLE

__all__ = ["ExportView"]

_FILES = {
    "districts": (
        "Districts as GeoJSON",
        "One outline per district with its people, deviation and shares. For web maps and GIS programs.",
    ),
    "units": (
        "Units as GeoJSON",
        "Every unit with the district that it lies in. For GIS programs and for further analysis.",
    ),
    "table": (
        "Two columns as CSV",
        "Unit id and district. What most redistricting programs read as a plan.",
    ),
}
_BUTTON = """
.bk-btn { font: 1rem Roboto, 'Liberation Sans', Arial, sans-serif !important; padding: 0.5rem 1rem !important;
  border-radius: 6px !important; background: #1f5c99 !important; border: 0 !important; }
.bk-btn a { color: #ffffff !important; }
.bk-btn:hover, .bk-btn:focus-visible { background: #17497b !important; outline: 2px solid #1d2733; }
"""


class ExportView(pn.viewable.Viewer):
    """Downloads of the shown plan.

    Parameters
    ----------
    session : Session
    """

    def __init__(self, session: Session) -> None:
        super().__init__()
        self._session = session
        self._what = pn.pane.HTML(**TEXT_STYLE, sizing_mode="stretch_width")
        has_outlines = session.prepared.scene is not None
        rows: list[pn.viewable.Viewable] = [self._what]
        self.buttons: dict[str, pn.widgets.FileDownload] = {}
        for kind, (title, words) in _FILES.items():
            if kind != "table" and not has_outlines:
                continue
            button = self.buttons[kind] = pn.widgets.FileDownload(
                filename=file_name(session, session.shown_plan(), kind),
                label=f"Save {title[0].lower()}{title[1:]}",
                auto=True,
                embed=False,
                stylesheets=[_BUTTON],
                styles={"width": "18.2rem"},
                margin=(4, 0, 0, 0),
            )
            button.callback = self._contents(kind, button)
            rows.append(
                pn.Column(
                    pn.pane.HTML(
                        f"<h2>{title}</h2><p>{words}</p>", **TEXT_STYLE, sizing_mode="stretch_width"
                    ),
                    button,
                    sizing_mode="stretch_width",
                    margin=(14, 0, 0, 0),
                )
            )
        if not has_outlines:
            rows.append(
                pn.pane.HTML(
                    "<p>The units came without outlines, so there is no GeoJSON to save.</p>", **TEXT_STYLE
                )
            )
        self._layout = pn.Column(*rows, sizing_mode="stretch_both", margin=0, styles={"overflow-y": "auto"})
        session.shown.param.watch(lambda *_: self.refresh(), ["kind", "chosen"])
        self.refresh()

    def __panel__(self) -> pn.viewable.Viewable:
        return self._layout

    def _contents(
        self, kind: str, button: pn.widgets.FileDownload
    ) -> Callable[[], Coroutine[object, object, io.StringIO]]:
        async def contents() -> io.StringIO:
            # The walk goes on: the plan of this moment is the one that is named and saved.
            shown = self._session.shown_plan()
            text = await asyncio.to_thread(file_text, self._session, shown, kind)
            button.filename = file_name(self._session, shown, kind)
            return io.StringIO(text)

        return contents

    def refresh(self) -> None:
        """Say which plan would be saved."""
        shown = self._session.shown_plan()
        walking = shown.kind == "current" and self._session.settings.running
        moving = (
            " The walk goes on; the plan of the moment of your click is saved. Pause to hold it."
            if walking
            else ""
        )
        made = (
            ""
            if shown.origin is None
            else f" Drawn at ε\u00a0=\u00a0{shown.origin.epsilon:.3g}, {shown.origin.design.score} score."
        )
        self._what.object = (
            f"<p>The plan on the map is saved: <b>{html.escape(shown.title)}</b>.{made}</p>"
            f'<p class="quiet">{moving} Each GeoJSON file also says what made it: settings, seed and the '
            "fingerprints of map and testimonies.</p>"
        )
