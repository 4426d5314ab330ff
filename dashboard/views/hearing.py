"""Shown in public: what the room sees of the page is released too, and counts as the analyst says."""

from collections.abc import Awaitable, Callable
from typing import Protocol

import panel as pn
import panel_material_ui as pmui

from bottomup.dashboard.ledger_words import added_sentence, showing_sentence
from bottomup.dashboard.releases import IN_PUBLIC, Books, hold, release_of, release_of_charts, showing_of
from bottomup.dashboard.session import Session, ShownPlan
from bottomup.dashboard.views.deeds import Act
from bottomup.dashboard.views.style import TEXT_STYLE, THEME, say, segments
from bottomup.sampler.accounting import Entry, Release

__all__ = ["HearingView"]

_CHOICES = {"The plan counts": "plan", "The charts count": "charts", "Only note it": "note"}


class Writer(Protocol):
    """Writes a release in the ledger."""

    def __call__(self, release: Release, *, counts: bool = True) -> Awaitable[Entry]:
        """Return once the line is on the disk."""


class HearingView(pn.viewable.Viewer):
    """A choice of what counts of a public showing, and a button that writes it down.

    Parameters
    ----------
    session : Session
    when_clicked : callable
        Makes a callback of a button from what it is to do, which says what came of it.
    write : Writer
    """

    def __init__(
        self,
        session: Session,
        when_clicked: Callable[[Act], Callable[[object], None]],
        write: Writer,
    ) -> None:
        super().__init__()
        self._session = session
        self._books: Books | None = None
        self._write = write
        self._counts = segments("What counts of a public showing", _CHOICES, "plan")
        self._adding = pn.pane.HTML(**TEXT_STYLE, sizing_mode="stretch_width")
        button = pmui.Button(
            label="Write it in the ledger",
            color="primary",
            variant="outlined",
            icon="edit_note",
            size="small",
            theme_config=THEME,
            margin=(2, 0, 0, 0),
            styles={"width": "15rem"},
        )
        button.on_click(when_clicked(self._note))
        self._counts.param.watch(lambda *_: self._describe(), "value")
        self._layout = pn.Column(
            pn.pane.HTML(
                "<h2>Shown in public</h2><p>Looking at plans and charts on your own screen is no release. "
                "Showing them in a public hearing is, and counts as you say.</p>",
                **TEXT_STYLE,
                sizing_mode="stretch_width",
            ),
            self._counts,
            self._adding,
            button,
            sizing_mode="stretch_width",
            margin=(14, 0, 0, 0),
        )

    def __panel__(self) -> pn.viewable.Viewable:
        return self._layout

    def _note(self) -> str | Awaitable[str]:
        session, counts = self._session, self._counts.value
        shown = session.shown_plan()
        if counts == "note":
            return self._put_down(showing_of(session, shown), counts=False)
        if counts == "charts":
            release = release_of_charts(session)
            if release is None:
                return "There are no charts yet: nothing was written."
            return self._put_down(release)
        release = release_of(session, shown, IN_PUBLIC)
        if release is None:
            return "The enacted plan is no release: nothing was written."
        hold(session, shown)
        return self._put_down(release)

    async def _put_down(self, release: Release, *, counts: bool = True) -> str:
        return added_sentence(await self._write(release, counts=counts))

    def refresh(self, books: Books, shown: ShownPlan) -> None:
        """Say what writing the present choice would add."""
        self._books = books
        self._describe(shown)

    def _describe(self, shown: ShownPlan | None = None) -> None:
        say(self._adding, f"<p>{self._words(shown or self._session.shown_plan())}</p>")

    def _words(self, shown: ShownPlan) -> str:
        session, books = self._session, self._books
        if books is None:
            return ""
        if self._counts.value == "note":
            return (
                "A line says that the page was shown. It adds nothing, and readers of the ledger can ask why."
            )
        if self._counts.value == "charts":
            release = release_of_charts(session)
            return "There are no charts yet." if release is None else showing_sentence(release, books)
        release = release_of(session, shown, IN_PUBLIC)
        words = showing_sentence(release, books)
        if shown.kind == "current" and session.settings.running and release is not None:
            words += " While the walk goes on, each further plan that the room sees counts as well."
        return words
