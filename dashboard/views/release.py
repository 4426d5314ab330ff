"""Letting go of what a visitor holds: computing time without a browser, the thread with the session."""

from collections.abc import Callable

import panel as pn
from bokeh.document import Document

from bottomup.dashboard.session import Session

__all__ = ["has_browser", "release_when_destroyed", "release_with_session"]


def release_with_session(session: Session) -> None:
    """End the session's worker when the visitor's session is destroyed."""
    release_when_destroyed(session.close)


def release_when_destroyed(release: Callable[[], None]) -> None:
    """Call ``release`` when the visitor's session is destroyed; without a server, never.

    It lives in an imported module because a served script's own names are gone by then.
    """
    if pn.state.curdoc is None:
        return

    def call(_context: object) -> None:
        release()

    pn.state.on_session_destroyed(call)


def has_browser(document: Document | None) -> bool:
    """Whether a browser is connected to the document; True where that cannot be known, as without a server.

    A session outlives its browser by some seconds, in case that it comes back.
    """
    context = None if document is None else document.session_context
    if context is None:
        return True
    own = [session for session in context.server_context.sessions if session.id == context.id]
    return not own or own[0].connection_count > 0
