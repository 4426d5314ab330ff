"""A table of the charts as a file: a release of the whole sample, which is written down before."""

import asyncio
import html
import logging
from collections.abc import Callable
from typing import NamedTuple

import panel as pn
import panel_material_ui as pmui

from bottomup.dashboard.ledger_words import added_sentence, plans_sentence
from bottomup.dashboard.pool import Sample
from bottomup.dashboard.releases import read_books, release_of_charts
from bottomup.dashboard.saving import ensemble_stem
from bottomup.dashboard.session import Session
from bottomup.dashboard.views.deeds import hand_over, hidden_download
from bottomup.dashboard.views.style import TEXT_STYLE, THEME
from bottomup.sampler.ledger import LedgerError

__all__ = ["SavedTable", "TableSaving"]

logger = logging.getLogger(__name__)

_CSS = """
:host { border-left: 5px solid var(--accent); background: var(--card); padding: 6px 12px;
  box-sizing: border-box; }
"""


class SavedTable(NamedTuple):
    """A table that is to be saved."""

    sample: Sample
    """All plans that it tells of."""
    text: Callable[[], str]
    """Makes the file; called in a thread of its own."""


class TableSaving(pn.viewable.Viewer):
    """A button that asks before it saves, and says what came of it.

    Parameters
    ----------
    session : Session
    how : str
        What the table is, as the ledger names it.
    ending : str
        Of the file's name, such as ``"communities.csv"``.
    about : str
        What the file holds, in a sentence, as HTML.
    make : callable
        Makes the table of this moment, or gives None while there are no plans.
    """

    def __init__(
        self, session: Session, *, how: str, ending: str, about: str, make: Callable[[], SavedTable | None]
    ) -> None:
        super().__init__()
        self._session, self._how, self._ending, self._about = session, how, ending, about
        self._make = make
        self._is_busy = False
        self.button = _button("Save table …", "outlined", "download")
        self.button.on_click(lambda *_: self._ask())
        self._words = pn.pane.HTML(**TEXT_STYLE, sizing_mode="stretch_width")
        self._save = _button("Write it in the ledger and save", "contained", "download")
        self._save.on_click(lambda *_: self._start())
        self._close = _button("Close", "text", "close")
        self._close.on_click(lambda *_: self.put_away())
        # The button that can be reached with the keyboard is another one: this one only hands the file over.
        self._file = hidden_download(ending)
        self._layout = pn.Column(
            self._words,
            pn.Row(self._save, self._close, self._file, margin=0),
            sizing_mode="stretch_width",
            margin=(2, 0, 4, 0),
            visible=False,
            stylesheets=[_CSS],
        )

    def __panel__(self) -> pn.viewable.Viewable:
        return self._layout

    def _ask(self) -> None:
        release = release_of_charts(self._session, self._how)
        words = plans_sentence(release, read_books(self._session))
        self._say(f"{self._about} {words}")
        self._save.visible = release is not None

    def put_away(self) -> None:
        """Hide the question, as when another list is opened."""
        self._layout.visible = False

    def _say(self, words: str, role: str = "status") -> None:
        self._words.object = f'<p role="{role}" style="margin: 0">{words}</p>'
        self._layout.visible = True

    def _start(self) -> None:
        if not self._is_busy:
            self._is_busy = True
            pn.state.execute(self._write_and_hand_over)

    async def _write_and_hand_over(self) -> None:
        try:
            words, role = await self._release(), "status"
            self._save.visible = False
        except Exception as error:
            words, role = f"<b>Nothing was released.</b> {html.escape(str(error))}", "alert"
            if not isinstance(error, LedgerError):
                logger.error("The %s could not be released.", self._how, exc_info=error)
        self._is_busy = False
        self._say(words, role)

    async def _release(self) -> str:
        session, table = self._session, self._make()
        release = None if table is None else release_of_charts(session, self._how, table.sample)
        if table is None or release is None:
            return "There are no plans on record yet: nothing was saved."
        text = await asyncio.to_thread(table.text)
        entry = await asyncio.to_thread(session.ledger.write, release)
        name = f"{ensemble_stem(session, table.sample.epsilon, release.score, release.run)}_{self._ending}"
        hand_over(self._file, name, text.encode("utf-8-sig"))
        return f"<b>Saved</b> {html.escape(name)}. {added_sentence(entry)}"


def _button(label: str, variant: str, icon: str) -> pmui.Button:
    return pmui.Button(
        label=label,
        color="primary",
        variant=variant,
        icon=icon,
        size="small",
        margin=(2, 8, 2, 0),
        theme_config=THEME,
        styles={"flex": "none"},
    )
