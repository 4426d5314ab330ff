"""Letting go of what a visitor's session holds when it ends."""

import panel as pn

from bottomup.dashboard.session import Session

__all__ = ["release_with_session"]


def release_with_session(session: Session) -> None:
    """End the session's worker when the visitor's session is destroyed.

    It lives in an imported module because a served script's own names are gone by then.
    """
    if pn.state.curdoc is None:
        return

    def release(_context: object) -> None:
        session.close()

    pn.state.on_session_destroyed(release)
