"""A field that takes files from the visitor's machine, of any size."""

import logging
from collections.abc import Callable
from pathlib import Path
from typing import Any

import param
from panel.custom import JSComponent

from bottomup.dashboard.uploads import Receiving, Uploads
from bottomup.data.errors import DataError, count

__all__ = ["UploadField"]

logger = logging.getLogger(__name__)

_LOOK = """
:host { font-family: var(--font); font-size: 1rem; color: var(--ink);
        line-height: 1.35; }
.upload { padding: 2px 0 8px 0; }
label { font-weight: 700; display: block; }
#hint { color: var(--quiet); font-size: 0.9375rem; }
input { font: inherit; font-size: 0.9375rem; max-width: 100%; margin-top: 3px; padding: 5px;
        color: transparent; box-sizing: border-box; width: 100%; border: 1px dashed var(--line);
        border-radius: 6px; }
input::file-selector-button { font: inherit; padding: 4px 12px; margin-right: 10px; cursor: pointer;
        border: 1px solid var(--accent); border-radius: 6px; background: var(--ground);
        color: var(--accent); }
input:focus-visible, button:focus-visible { outline: 3px solid var(--accent); outline-offset: 1px; }
.line { display: flex; align-items: center; gap: 10px; margin-top: 3px; }
.line[hidden] { display: none; }
.words { flex: 1 1 auto; overflow-wrap: anywhere; min-width: 0; }
.wrong { color: var(--bad); }
progress { flex: 0 1 9rem; accent-color: var(--accent); height: 0.875rem; }
button { flex: none; font: inherit; font-size: 0.9375rem; color: var(--accent); background: none; border: 0;
         padding: 2px 6px; cursor: pointer; text-decoration: underline; border-radius: 4px; }
"""


class UploadField(JSComponent):
    """Label, button and progress of an upload.

    Parameters
    ----------
    uploads : Uploads
        Where the files go.
    slot : str
        What they are for; letters.
    when_changed : callable
        Called without arguments when there is another file, or none any more.
    takes_folder : bool
        Whether several files may come, as those of one folder.
    """

    label = param.String(doc="What is wanted.")
    hint = param.String(doc="In which formats.")
    accept = param.String(doc="Suffixes for the browser's dialog.")
    multiple = param.Boolean(default=True, doc="Whether several files may be chosen at once.")
    words = param.String(doc="How it stands.")
    is_wrong = param.Boolean(doc="Whether the words are about something that is wrong.")
    is_ready = param.Boolean(doc="Whether the browser can be answered; files chosen before wait.")
    is_held = param.Boolean(doc="Whether there is a file.")

    _esm = Path(__file__).parents[1] / "upload.js"

    def __init__(
        self,
        uploads: Uploads,
        slot: str,
        when_changed: Callable[[], None],
        *,
        takes_folder: bool = False,
        **params: Any,
    ) -> None:
        super().__init__(sizing_mode="stretch_width", margin=0, stylesheets=[_LOOK], **params)
        self._uploads = uploads
        self._slot = slot
        self._when_changed = when_changed
        self._takes_folder = takes_folder
        self._receiving: Receiving | None = None
        self._number = 0
        self.path = ""

    def _handle_msg(self, data: dict[str, Any]) -> None:
        """Answer the browser; what goes wrong is said beside the field."""
        try:
            self._answer(data)
        except (DataError, OSError) as error:
            logger.warning("An upload was refused.", exc_info=True)
            self._refuse(str(error))
        except Exception:
            logger.exception("An upload failed.")
            self._refuse("The upload failed. Choose the file again.")

    def _answer(self, data: dict[str, Any]) -> None:
        kind, number = str(data["kind"]), int(data["upload"])
        if kind == "begin":
            self._abandon()
            self._number = number
            self._receiving = self._uploads.begin(
                self._slot, [(str(n), int(size)) for n, size in data["files"]]
            )
            self.param.update(words="Sending …", is_wrong=False)
        elif kind == "remove":
            self._abandon()
            self._number = number
            self._uploads.forget(self._slot)
            self._hold("", "")
            return
        elif number != self._number or self._receiving is None:
            return
        elif kind == "piece":
            self._receiving.write(bytes(data["data"]))
        else:
            raise DataError(
                "upload", "The browser could not read the file to its end.", remedy="Choose it again."
            )
        if self._receiving.is_complete:
            self._finish(self._receiving)
        else:
            self._say("next")

    def _finish(self, received: Receiving) -> None:
        path = received.result(takes_folder=self._takes_folder)
        self._uploads.keep(self._slot, received)
        self._receiving = None
        self._say("done")
        names = received.paths[0].name if len(received.paths) == 1 else count(len(received.paths), "file")
        self._hold(str(path), f"{names}, {_size(received.n_bytes)}")

    def _hold(self, path: str, words: str) -> None:
        self.path = path
        self.param.update(words=words, is_wrong=False, is_held=bool(path))
        self._when_changed()

    def _refuse(self, words: str) -> None:
        self._abandon()
        self._say("refused")
        self.param.update(words=words, is_wrong=True)

    def _abandon(self) -> None:
        if self._receiving is not None:
            self._receiving.abandon()
            self._receiving = None

    def _say(self, kind: str) -> None:
        self._send_msg({"kind": kind, "upload": self._number})


def _size(n_bytes: int) -> str:
    return f"{n_bytes / 1e6:,.1f} MB" if n_bytes >= 100_000 else f"{max(1, round(n_bytes / 1000)):,} kB"
