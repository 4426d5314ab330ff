"""What buttons do that let something out: one thing at a time, its file handed over, and what came of it."""

import html
import io
import logging
from collections.abc import Awaitable, Callable

import panel as pn
import panel_material_ui as pmui

from bottomup.dashboard.views.following import held
from bottomup.sampler.ledger import LedgerError

__all__ = ["Act", "Deeds", "hand_over", "hidden_download", "in_words"]

logger = logging.getLogger(__name__)

Act = Callable[[], str | Awaitable[str]]
"""What a button does: it says what came of it, at once or later."""


class Deeds:
    """Does what buttons ask for, one thing at a time, and says in a pane what came of it.

    Parameters
    ----------
    message : pn.pane.HTML
        Where that is said.
    refresh : callable
        Brings up to date what depends on it.
    undone : str
        What has not happened when something went wrong, as a sentence.
    """

    def __init__(self, message: pn.pane.HTML, refresh: Callable[[], None], undone: str) -> None:
        self._message = message
        self._refresh = refresh
        self._undone = undone
        self.is_busy = False

    def when_clicked(self, act: Act) -> Callable[[object], None]:
        """A callback of a button. What changes the map is done at once, what takes time is left for later."""

        def clicked(_event: object) -> None:
            if self.is_busy:
                return
            self.is_busy = True
            try:
                # A button calls without the lock of the document, and a plan that is held changes the map.
                with held():
                    later = act()
            except Exception as error:
                self._fail(error)
                return
            if isinstance(later, str):
                self._finish(later)
                return

            async def go_on() -> None:
                try:
                    self._finish(await later)
                except Exception as error:
                    self._fail(error)

            pn.state.execute(go_on)

        return clicked

    def _finish(self, words: str) -> None:
        self.is_busy = False
        self.say(f'<p class="done" role="status">{words}</p>')
        self._refresh()

    def _fail(self, error: Exception) -> None:
        self.is_busy = False
        if not isinstance(error, LedgerError):
            logger.error(self._undone, exc_info=error)
        words = html.escape(in_words(error))
        self.say(f'<p class="error" role="alert"><b>{self._undone}</b> {words}</p>')
        self._refresh()

    def say(self, words: str) -> None:
        """Show markup in the pane, or put it away when there is none."""
        self._message.param.update(object=words, visible=bool(words))


def in_words(error: Exception) -> str:
    """What went wrong, and where another ledger can be named."""
    words = str(error) or type(error).__name__
    if isinstance(error, LedgerError):
        words += " Another file is named with --ledger when the page is started."
    return words


def hidden_download(filename: str) -> pmui.FileDownload:
    """What hands files over; the button that can be reached with the keyboard is another one."""
    return pmui.FileDownload(file=io.BytesIO(), filename=filename, label="", auto=True, visible=False)


def hand_over(download: pmui.FileDownload, name: str, contents: bytes) -> None:
    """Give a file to the browser."""
    download.param.update(file=io.BytesIO(contents), filename=name)
    # The browser takes notice of other data only: the same file may be saved twice.
    download.data = None
    download.transfer(download=True)
