"""The table of communities as a file: a release of the whole sample, which is written down before."""

import asyncio
import html
import io
import logging

import panel as pn
import panel_material_ui as pmui

from bottomup.dashboard.fates_file import fates_csv
from bottomup.dashboard.fates_now import FatesReader
from bottomup.dashboard.ledger_words import added_sentence, plans_sentence
from bottomup.dashboard.releases import read_books, release_of_charts
from bottomup.dashboard.saving import ensemble_stem
from bottomup.dashboard.session import Session
from bottomup.dashboard.views.style import TEXT_STYLE, THEME
from bottomup.sampler.ledger import LedgerError

__all__ = ["FatesSaving"]

logger = logging.getLogger(__name__)

_HOW = "table of communities as CSV"
_CSS = """
:host { border-left: 5px solid var(--accent); background: var(--card); padding: 6px 12px;
  box-sizing: border-box; }
"""


class FatesSaving(pn.viewable.Viewer):
    """A button that asks before it saves, and says what came of it.

    Parameters
    ----------
    session : Session
    reader : FatesReader
    """

    def __init__(self, session: Session, reader: FatesReader) -> None:
        super().__init__()
        self._session, self._reader = session, reader
        self._is_busy = False
        self.button = _button("Save table …", "outlined", "download")
        self.button.on_click(lambda *_: self._ask())
        self._words = pn.pane.HTML(**TEXT_STYLE, sizing_mode="stretch_width")
        self._save = _button("Write it in the ledger and save", "contained", "download")
        self._save.on_click(lambda *_: self._start())
        self._close = _button("Close", "text", "close")
        self._close.on_click(lambda *_: self.put_away())
        # The button that can be reached with the keyboard is another one: this one only hands the file over.
        self._file = pmui.FileDownload(
            file=io.BytesIO(), filename="communities.csv", label="", auto=True, visible=False
        )
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
        release = release_of_charts(self._session, _HOW)
        words = plans_sentence(release, read_books(self._session))
        self._say(
            "All rows, of all plans of this ε, whatever is filtered or picked out, without the plan on the "
            f"map. {words}"
        )
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
                logger.error("The table of communities could not be released.", exc_info=error)
        self._is_busy = False
        self._say(words, role)

    async def _release(self) -> str:
        session = self._session
        now = self._reader.read(all_plans=True)
        release = None if now is None else release_of_charts(session, _HOW, now.sample)
        if now is None or release is None:
            return "There are no plans on record yet: nothing was saved."
        spread, spread_of_clusters = self._reader.spread()
        text = await asyncio.to_thread(
            fates_csv,
            session.prepared.testimonies,
            now.by_cluster,
            now.by_testimony,
            spread_of_clusters,
            spread,
            session.enacted_numbers.preserved,
            is_judged=now.is_judged,
        )
        entry = await asyncio.to_thread(session.ledger.write, release)
        name = f"{ensemble_stem(session, now.sample.epsilon, release.score, release.run)}_communities.csv"
        self._file.param.update(file=io.BytesIO(text.encode("utf-8-sig")), filename=name)
        # The browser takes notice of other data only: the same table may be saved twice.
        self._file.data = None
        self._file.transfer(download=True)
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
