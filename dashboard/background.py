"""Work that takes seconds, in a thread of its own; the page looks for its outcome."""

import logging
import threading
from collections.abc import Callable
from dataclasses import dataclass
from typing import Generic, TypeVar

__all__ = ["Background", "Outcome"]

logger = logging.getLogger(__name__)

Result = TypeVar("Result")


@dataclass(frozen=True)
class Outcome(Generic[Result]):
    """How a piece of work stands.

    Attributes
    ----------
    is_running : bool
    result : object or None
        None while it runs, when it was stopped, and when it failed.
    error : str
        What went wrong, in words; empty while nothing has.
    """

    is_running: bool = False
    result: Result | None = None
    error: str = ""


class Background(Generic[Result]):
    """Runs one piece of work at a time; a new one stops the one before."""

    def __init__(self) -> None:
        self._outcome: Outcome[Result] = Outcome()
        self._stop = threading.Event()
        self._lock = threading.Lock()

    @property
    def outcome(self) -> Outcome[Result]:
        """How the latest piece of work stands; never changes once made."""
        return self._outcome

    def start(self, work: Callable[[Callable[[], bool]], Result | None]) -> None:
        """Begin ``work``, which is given a function that says when to stop."""
        self.stop()
        stop = self._stop = threading.Event()
        self._outcome = Outcome(is_running=True)

        def run() -> None:
            try:
                outcome = Outcome(result=work(stop.is_set))
            except Exception as error:
                logger.exception("Work in the background failed.")
                outcome = Outcome(error=str(error) or type(error).__name__)
            with self._lock:
                if self._stop is stop:
                    self._outcome = outcome

        threading.Thread(target=run, daemon=True, name="bottomup-background").start()

    def stop(self) -> None:
        """Let the work in hand end soon; what it finds is not kept."""
        with self._lock:
            self._stop.set()
            self._stop = threading.Event()
            if self._outcome.is_running:
                self._outcome = Outcome()
