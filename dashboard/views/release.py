"""Letting go of what a visitor holds: computing time without a browser, the thread with the session."""

import time
from collections.abc import Callable

import panel as pn
from bokeh.document import Document
from bokeh.server.session import ServerSession
from tornado.ioloop import IOLoop

from bottomup.dashboard.session import Session

__all__ = ["forget_when_left", "has_browser", "release_when_destroyed", "release_with_session"]


# In case that the browser comes back, as after a short loss of the network.
_LINGER_SECONDS = 3.0
_LOOK_MILLISECONDS = 500
_NEVER_MILLISECONDS = 10**12


class _Departure:
    """Destroys a session soon after its browser has left; the server's own look-out comes much later."""

    def __init__(self) -> None:
        self._has_been_there = False
        self._left_at: float | None = None

    async def look(self) -> None:
        """See whether the browser is there. A page that is still on its way to it is waited for."""
        session = _server_session(pn.state.curdoc)
        if session is None:
            return
        if session.connection_count:
            self._has_been_there, self._left_at = True, None
            return
        now = time.monotonic()
        if self._left_at is None:
            self._left_at = now
        if self._has_been_there and now - self._left_at >= _LINGER_SECONDS:
            session.request_expiration()
            application = pn.state.curdoc.session_context.server_context.application_context
            # Later, because this callback holds the lock of the document that is to go. The lifetime is for
            # sessions that have not asked to expire.
            IOLoop.current().add_callback(application._cleanup_sessions, _NEVER_MILLISECONDS)


def forget_when_left() -> None:
    """Let the session that is being served be destroyed a few seconds after its tab has been closed."""
    if pn.state.curdoc is not None and pn.state.curdoc.session_context is not None:
        pn.state.add_periodic_callback(_Departure().look, period=_LOOK_MILLISECONDS)


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
    session = _server_session(document)
    return session is None or session.connection_count > 0


def _server_session(document: Document | None) -> ServerSession | None:
    context = None if document is None else document.session_context
    if context is None:
        return None
    own = (session for session in context.server_context.sessions if session.id == context.id)
    return next(own, None)
