"""What stands in the log of a server."""

import logging

from tornado.iostream import StreamClosedError
from tornado.websocket import WebSocketClosedError

__all__ = ["set_up_log"]


class _NoDepartures(logging.Filter):
    """Leaves out what asyncio says of messages whose receiver closed the tab: nothing went wrong."""

    def filter(self, record: logging.LogRecord) -> bool:
        error = record.exc_info[1] if record.exc_info else None
        return not isinstance(error, WebSocketClosedError | StreamClosedError)


_NO_DEPARTURES = _NoDepartures()


def set_up_log() -> None:
    """Let the log tell who comes and goes, and not of messages that came too late for a closed tab."""
    logging.getLogger("bottomup").setLevel(logging.INFO)
    # The same filter is added once, however often this is called.
    logging.getLogger("asyncio").addFilter(_NO_DEPARTURES)
