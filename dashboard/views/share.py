"""Share: the address of the page as it is, and the whole session in a file."""

import asyncio
import html
import logging
from collections.abc import Callable
from typing import Any

import panel as pn
import panel_material_ui as pmui

from bottomup.dashboard.ledger_words import added_sentence, plans_sentence
from bottomup.dashboard.releases import read_books, release_of_session
from bottomup.dashboard.saved_sessions import ENDING, Moment, take_snapshot
from bottomup.dashboard.saving import session_stem
from bottomup.dashboard.session import Session
from bottomup.dashboard.views.address import CopyAddress
from bottomup.dashboard.views.deeds import hand_over, hidden_download, in_words
from bottomup.dashboard.views.style import TEXT_STYLE, THEME, say
from bottomup.data.errors import count
from bottomup.sampler.ledger import LedgerError

__all__ = ["ShareView"]

logger = logging.getLogger(__name__)

_LOOK = """
.done { background: var(--good-ground); border-left: 5px solid var(--good); padding: 6px 12px; }
code { font-size: 0.9375rem; background: var(--card); padding: 1px 5px; border-radius: 3px; }
"""
_WORDS: dict[str, Any] = {
    "stylesheets": [*TEXT_STYLE["stylesheets"], _LOOK],
    "sizing_mode": "stretch_width",
}
_ADDRESS = """
<h2>The address of this page</h2>
<p>It says what is set: ε, the score, the settings of the walk, the view that is open and what you point at.
It holds no plans and no testimonies.</p>
<p class="quiet">Here it opens the same page while this server runs; elsewhere, put all from the question mark
on behind the address of a page with the same files. Stored plans are shown again; walks begin anew, and a
chosen plan does not come along.</p>
"""
_SESSION = """
<h2 style="margin-top: 14px">The whole session, in a file</h2>
<p>It holds what the address says; every plan on record of every walk, with its scores and the testimonies
that it keeps whole; the chosen plan; digests, versions, and where your files lie, folders and all. The files
themselves are not in it: whoever opens it needs them too.</p>
"""
_OPENING = """
<p class="quiet" style="margin-top: 8px"><code>bottomup serve --session FILE</code> opens it, with the same
charts and plans, and samples nothing.</p>
"""
_NOTHING = "There are no plans on record yet. Let the walks go on for a moment."


class ShareView(pn.viewable.Viewer):
    """The address to copy, the session to save, and what each of them holds.

    Parameters
    ----------
    session : Session
    fields : callable
        Everything that is set on the page, see `bottomup.dashboard.page_state.write_fields`.
    """

    def __init__(self, session: Session, fields: Callable[[], dict[str, str]]) -> None:
        super().__init__()
        self._session = session
        self._fields = fields
        self._is_busy = False
        self._adding = pn.pane.HTML(**_WORDS, margin=0)
        self._message = pn.pane.HTML(**_WORDS, margin=(8, 0, 0, 0), visible=False)
        self._save = pmui.Button(
            label="Save this session",
            color="primary",
            icon="download",
            size="small",
            margin=(4, 0, 0, 0),
            theme_config=THEME,
        )
        self._save.on_click(lambda _event: self._begin())
        self._file = hidden_download(f"session{ENDING}")
        self._layout = pn.Column(
            pn.pane.HTML(_ADDRESS, **_WORDS, margin=0),
            CopyAddress(sizing_mode="stretch_width", margin=(2, 0, 0, 0)),
            pn.pane.HTML(_SESSION, **_WORDS, margin=0),
            self._adding,
            self._save,
            self._message,
            pn.pane.HTML(_OPENING, **_WORDS, margin=0),
            self._file,
            sizing_mode="stretch_both",
            margin=0,
            styles={"overflow-y": "auto", "overflow-x": "hidden"},
        )
        self.refresh()

    def __panel__(self) -> pn.viewable.Viewable:
        return self._layout

    def refresh(self) -> None:
        """Say what saving the session would add."""
        session = self._session
        moment = Moment.of(session, {})
        release = None if moment is None else release_of_session(session, moment)
        words = plans_sentence(release, read_books(session))
        if release is not None and session.settings.running:
            words += " The walks go on meanwhile; those of the moment of your click are saved."
        say(
            self._adding,
            f"<p>{words} What they keep are figures of the testimonies, which no sum covers.</p>",
        )

    def _begin(self) -> None:
        """Take the session as it is, and save it in a thread."""
        if self._is_busy:
            return
        moment = Moment.of(self._session, self._fields())
        if moment is None:
            self._say(f'<p role="status">{_NOTHING}</p>')
            return
        self._is_busy = True
        self._save.disabled = True
        self._say('<p role="status">Saving: reading the plans …</p>')

        async def go_on() -> None:
            try:
                self._say(await self._save_session(moment))
            except Exception as error:
                self._fail(error)
            self._is_busy = False
            self._save.disabled = False
            self.refresh()

        pn.state.execute(go_on)

    async def _save_session(self, moment: Moment) -> str:
        session = self._session
        snapshot = await asyncio.to_thread(take_snapshot, moment)
        if snapshot is None:
            return f'<p role="status">{_NOTHING}</p>'
        self._say(f'<p role="status">Saving: packing {snapshot.words()} …</p>')
        contents = await asyncio.to_thread(snapshot.to_bytes, session.prepared)
        release = release_of_session(session, snapshot)
        entry = await asyncio.to_thread(session.ledger.write, release)
        name = f"{session_stem(session, snapshot.extent().last_round, release.run)}{ENDING}"
        hand_over(self._file, name, contents)
        size = count(max(1, round(len(contents) / 1e6)), "megabyte")
        return (
            f'<p class="done" role="status"><b>Saved</b> {html.escape(name)}, {size}: {snapshot.words()}. '
            f"{added_sentence(entry)}</p>"
        )

    def _fail(self, error: Exception) -> None:
        if not isinstance(error, LedgerError):
            logger.error("The session could not be saved.", exc_info=error)
        words = html.escape(in_words(error))
        self._say(f'<p class="error" role="alert"><b>Nothing was saved.</b> {words}</p>')

    def _say(self, words: str) -> None:
        self._message.param.update(object=words, visible=True)
