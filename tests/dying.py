"""Run the command line and kill it, as ``kill -9`` does, at a moment that is told as a number of events.

Events are what a run does to its files and the batches of its chains. Checkpoints follow every batch and
parts are small, so that there are many moments to choose from. The first argument is the number; 0 lets it
live.
"""

import math
import os
import signal
import sys

from bottomup.dashboard.cli import main
from bottomup.sampler import checkpoints, durable, recording, store
from bottomup.sampler.chain import Chain


class Dying:
    """Stands for ``os`` where files are written; the last event is not outlived."""

    def __init__(self, n_events):
        self.left = n_events

    def note(self):
        self.left -= 1
        if self.left == 0:
            os.kill(os.getpid(), signal.SIGKILL)

    def __getattr__(self, name):
        return getattr(os, name)

    def fsync(self, handle):
        self.note()
        os.fsync(handle)

    def replace(self, old, new):
        self.note()
        os.replace(old, new)
        self.note()


def hurry():
    """Checkpoints and parts as often as there can be: a batch for every record."""
    checkpoints.EVERY_SECONDS, checkpoints.MOST_OF_TIME = 0.0, math.inf
    recording.BATCH_SECONDS, recording.BATCH_BYTES = 100.0, 1
    store.GROUP_ROWS, store.PART_BYTES = 50, 1


def run(arguments):
    n_events, *command = arguments
    hurry()
    dying = durable.os = Dying(int(n_events))
    advance = Chain.advance

    def noted(self, n_steps, thin):
        dying.note()
        return advance(self, n_steps, thin)

    Chain.advance = noted
    return main(command)


if __name__ == "__main__":
    sys.exit(run(sys.argv[1:]))
