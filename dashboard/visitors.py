"""How many pages a server shows at once."""

import logging
import os
import threading

__all__ = ["BYTES_PER_VISITOR", "VISITORS", "Visitors", "suggest_limit"]

logger = logging.getLogger(__name__)

BYTES_PER_VISITOR = 150_000_000
"""Memory of one page: 40 MB of recorded plans, the walks' state, what charts copy from both, and the page.

Of five pages of the demonstration each had taken 125 MB after three minutes, and hardly grew any more.
"""
_MOST = 12
# The inputs, the libraries and everything else on the machine need the rest.
_SHARE_OF_MEMORY = 0.5


def suggest_limit(n_bytes: int | None = None) -> int:
    """How many pages fit into half of a memory of so many bytes (default: the machine's), 12 at most."""
    if n_bytes is None:
        try:
            n_bytes = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
        except (AttributeError, ValueError, OSError):
            return _MOST
    return max(1, min(_MOST, int(_SHARE_OF_MEMORY * n_bytes / BYTES_PER_VISITOR)))


class Visitors:
    """Counts the pages that are open.

    Parameters
    ----------
    most : int
        How many may be open at once.
    """

    def __init__(self, most: int) -> None:
        if most < 1:
            raise ValueError(f"most must be at least 1; got {most}.")
        self.most = most
        self._n = 0
        self._lock = threading.Lock()

    @property
    def n_open(self) -> int:
        """Number of pages open now."""
        return self._n

    def enter(self) -> bool:
        """Count one page more; False when there is no room."""
        with self._lock:
            if self._n >= self.most:
                logger.warning("A visitor was turned away: %d pages are open, the most that may be.", self._n)
                return False
            self._n += 1
            logger.info("A page was opened; %d of %d are open.", self._n, self.most)
            return True

    def leave(self) -> None:
        """Count one page less."""
        with self._lock:
            self._n -= 1
            logger.info("A page was closed; %d of %d are open.", self._n, self.most)


VISITORS = Visitors(suggest_limit())
"""The pages of this server."""
