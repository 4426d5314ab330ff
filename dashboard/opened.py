"""Maps that visitors opened from files of their own: kept while somebody looks at them."""

import secrets
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass

from bottomup.dashboard.prepared import Prepared
from bottomup.data.errors import DataError
from bottomup.sampler.problem import Problem

__all__ = ["OPENED", "OpenedMaps"]

_MOST_MAPS = 4
_IDLE_SECONDS = 300.0


@dataclass
class _Entry:
    prepared: Prepared
    n_sessions: int
    idle_since: float


class OpenedMaps:
    """Prepared inputs under names that cannot be guessed.

    Parameters
    ----------
    most : int
        How many are kept at once.
    idle_seconds : float
        How long one is kept that nobody looks at.
    clock : callable
        Seconds that go on.
    """

    def __init__(
        self,
        most: int = _MOST_MAPS,
        idle_seconds: float = _IDLE_SECONDS,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._most = most
        self._idle_seconds = idle_seconds
        self._clock = clock
        self._lock = threading.Lock()
        self._entries: dict[str, _Entry] = {}

    def __len__(self) -> int:
        return len(self._entries)

    def add(self, prepared: Prepared) -> str:
        """Keep inputs, and return the token that stands for them in an address.

        Raises
        ------
        DataError
            When too many maps are open and all of them are being looked at.
        """
        with self._lock:
            self._make_room()
            token = secrets.token_urlsafe(24)
            self._entries[token] = _Entry(prepared, 0, self._clock())
        self._look_later()
        return token

    def enter(self, token: str) -> Prepared | None:
        """Return the inputs of a token for one more session; None when they are kept no longer."""
        with self._lock:
            self._drop_idle()
            entry = self._entries.get(token)
            if entry is None:
                return None
            entry.n_sessions += 1
            return entry.prepared

    def leave(self, token: str) -> None:
        """End a session that had entered."""
        with self._lock:
            entry = self._entries.get(token)
            if entry is not None:
                entry.n_sessions -= 1
                entry.idle_since = self._clock()
        self._look_later()

    def drop_idle(self) -> None:
        """Let go of maps that nobody has looked at for some minutes."""
        with self._lock:
            self._drop_idle()

    def _drop_idle(self) -> None:
        oldest = self._clock() - self._idle_seconds
        for token, entry in list(self._entries.items()):
            if not entry.n_sessions and entry.idle_since <= oldest:
                self._drop(token)

    def _make_room(self) -> None:
        self._drop_idle()
        if len(self._entries) < self._most:
            return
        idle = [(entry.idle_since, token) for token, entry in self._entries.items() if not entry.n_sessions]
        if not idle:
            raise DataError(
                "too_many_maps",
                f"There are {len(self._entries)} maps open, as many as the server keeps.",
                remedy="Close a page of another map, and open this one a minute later.",
            )
        self._drop(min(idle)[1])

    def _drop(self, token: str) -> None:
        del self._entries[token]
        # They hold on to what they were worked out from, and work anew what is asked for again.
        Prepared.problem_of.cache_clear()
        Prepared.numbers_of.cache_clear()
        Problem.community_weights.cache_clear()

    def _look_later(self) -> None:
        timer = threading.Timer(self._idle_seconds + 1, self.drop_idle)
        timer.daemon = True
        timer.start()


OPENED = OpenedMaps()
"""The maps of this server."""
