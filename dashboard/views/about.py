"""About the data: what they are, and what is good to know about the files."""

import html

import panel as pn

from bottomup.dashboard.frozen import StoredStudy
from bottomup.dashboard.session import Session
from bottomup.dashboard.views.data_link import data_link
from bottomup.dashboard.views.dendrogram import DendrogramView
from bottomup.dashboard.views.findings import notes
from bottomup.dashboard.views.style import TEXT_STYLE

__all__ = ["AboutView"]


class AboutView(pn.viewable.Viewer):
    """What the data are, and what was found in the files.

    Parameters
    ----------
    session : Session
    """

    def __init__(self, session: Session) -> None:
        super().__init__()
        prepared = session.prepared
        inputs = prepared.inputs
        rows: list[pn.viewable.Viewable] = []
        if inputs.note:
            rows.append(_words(f"<p>{html.escape(inputs.note)}</p>"))
        if isinstance(session.saved, StoredStudy):
            rows.append(_words(_about_study(session.saved)))
        about_files = notes(prepared.findings)
        if about_files is not None:
            rows.append(about_files)
        clusters = prepared.testimonies.clusters
        if clusters is not None and clusters.tree is not None:
            ids = prepared.testimonies.ids
            named = [ids[member] for member in clusters.tree.members]
            rows.append(DendrogramView(clusters.tree, len(clusters.names), named))
        rows.append(data_link())
        self._layout = pn.Column(
            *rows,
            sizing_mode="stretch_both",
            margin=0,
            styles={"overflow-y": "auto", "overflow-x": "hidden", "gap": "10px"},
        )

    def __panel__(self) -> pn.viewable.Viewable:
        return self._layout

    def refresh(self) -> None:
        """Nothing here changes by itself."""


def _about_study(study: StoredStudy) -> str:
    """From which runs the plans are, and which are not shown."""
    lines = [f"{standing.source}: score {standing.recorded.design.score}." for standing in study.standings]
    return "".join(f"<p>{html.escape(line)}</p>" for line in (*lines, *study.notes))


def _words(markup: str) -> pn.pane.HTML:
    return pn.pane.HTML(markup, **TEXT_STYLE, sizing_mode="stretch_width")
