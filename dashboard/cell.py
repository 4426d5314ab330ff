"""``bottomup`` as the process of a cell, which is interrupted when whoever started it lets go or is gone.

That is told by the end of its standard input: it comes whatever the other process ends by, on every system.
Interrupts from the keyboard go to the process of the sweep alone, so that nothing is interrupted twice.
"""

import os
import signal
import sys
import threading

from bottomup.dashboard.cli import main

__all__: list[str] = []


def _heed_end() -> None:
    # Not by `sys.stdin`, whose lock must not be held when the interpreter ends.
    while os.read(0, 1024):
        pass
    signal.raise_signal(signal.SIGINT)


def _run() -> int:
    # Processes that are started in the background ignore interrupts.
    signal.signal(signal.SIGINT, signal.default_int_handler)
    threading.Thread(target=_heed_end, daemon=True).start()
    return main(sys.argv[1:])


if __name__ == "__main__":
    sys.exit(_run())
