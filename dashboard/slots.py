"""A fair share of the processor for every visitor of one server process."""

import os
import threading
import time
from collections import deque
from collections.abc import Iterator
from contextlib import contextmanager

__all__ = ["SAMPLING", "FairSlots"]

# Without a pause between two turns the thread that leaves a slot often takes it again before the others wake.
_YIELD_SECONDS = 0.0005


class FairSlots:
    """Turns for threads that compute: at most ``n_slots`` at a time, first come, first served.

    Parameters
    ----------
    n_slots : int
        How many threads may compute at once.
    """

    def __init__(self, n_slots: int) -> None:
        if n_slots < 1:
            raise ValueError(f"n_slots must be at least 1; got {n_slots}.")
        self.n_slots = n_slots
        self._free = n_slots
        self._waiting: deque[threading.Event] = deque()
        self._lock = threading.Lock()

    @contextmanager
    def turn(self, most: int = 1) -> Iterator[int]:
        """Wait for a slot, hold it for the body of the ``with`` statement, then let others take it.

        Parameters
        ----------
        most : int
            How many slots are of use; more than one are taken while nobody waits for them.

        Yields
        ------
        int
            How many are held.
        """
        with self._lock:
            ticket = None
            if self._free and not self._waiting:
                held = self._take(most)
            else:
                ticket = threading.Event()
                self._waiting.append(ticket)
        if ticket is not None:
            ticket.wait()
            with self._lock:
                held = 1 if self._waiting else 1 + self._take(most - 1)
        try:
            yield held
        finally:
            with self._lock:
                self._free += held
                while self._free and self._waiting:
                    self._free -= 1
                    self._waiting.popleft().set()
            time.sleep(_YIELD_SECONDS)

    def _take(self, most: int) -> int:
        taken = min(most, self._free)
        self._free -= taken
        return taken


# Shared by all sessions of the process on purpose. One core is left to the server, so that pages stay quick.
SAMPLING = FairSlots(max(1, (os.cpu_count() or 2) - 1))
