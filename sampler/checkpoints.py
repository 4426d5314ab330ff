"""Where a run stands, kept in its folder until it is over, so that it can be broken off at any moment.

``checkpoint.json`` names the run, how many rows of its plans are covered and the file with the state of its
chains, ``checkpoint-00012.npz``. It is written last and replaced as a whole, so whatever moment a run is
killed at, it names a state and rows that are there. What has been written after them is left out of account
and comes again when the run goes on.

A checkpoint leaves no trace in the plans: the state is stored as it is, the rounding of the factor included
(see :meth:`bottomup.sampler.chain.Chain.memory`), and nothing is drawn or made anew for it. So the clock may
say when to save one, and a run that was broken off equals one that was not.
"""

from __future__ import annotations

import hashlib
import json
import time
import zipfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from types import TracebackType
from typing import Any, NamedTuple

import numpy as np
from filelock import FileLock, Timeout

from bottomup.data.errors import DataError
from bottomup.sampler.durable import write_whole
from bottomup.sampler.memory import Memory

__all__ = ["MANIFEST", "Checkpoint", "Checkpoints", "Timer", "read_manifest"]

EVERY_SECONDS = 30.0
"""A run that is killed loses about so much."""
MOST_OF_TIME = 0.02

MANIFEST = "checkpoint.json"
SCHEMA = 1
_STATES = "checkpoint-*.npz"
_LOCK = "checkpoint.lock"


class Timer:
    """Says when the next checkpoint is due.

    The first is due ``EVERY_SECONDS`` from now; where they take long they come less often, so that they take
    no more than ``MOST_OF_TIME`` of it.
    """

    def __init__(self) -> None:
        self._spacing = EVERY_SECONDS
        self._saved = time.perf_counter()

    @property
    def is_due(self) -> bool:
        """Whether it is."""
        return time.perf_counter() - self._saved >= self._spacing

    @contextmanager
    def saving(self) -> Iterator[None]:
        """Save one meanwhile."""
        began = time.perf_counter()
        yield
        self._saved = time.perf_counter()
        self._spacing = max(EVERY_SECONDS, (self._saved - began) / MOST_OF_TIME)


class Checkpoint(NamedTuple):
    """Where a run stood.

    Attributes
    ----------
    about : dict
        What the run is, ready for JSON; the same in all of its checkpoints.
    n_rows : int
        Rows of plans that belong to it.
    memory : dict of str to array
        Empty before the first step.
    number : int
        How many were saved before.
    """

    about: dict[str, Any]
    n_rows: int
    memory: Memory
    number: int


class Checkpoints:
    """The checkpoints of a folder; open while a run writes there, so that no other one does.

    Parameters
    ----------
    folder : path
        Is there.

    Raises
    ------
    DataError
        When another run is writing to the folder.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = Path(folder)
        self._lock = FileLock(self._folder / _LOCK, timeout=0)
        self._number = 0
        try:
            self._lock.acquire()
        except Timeout as error:
            raise DataError(
                "run_goes_on",
                f"Another run is writing to {folder}.",
                remedy="Wait for its end, or end it.",
            ) from error

    def __enter__(self) -> Checkpoints:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._lock.release()
        if not (self._folder / MANIFEST).exists():
            (self._folder / _LOCK).unlink(missing_ok=True)

    def load(self) -> Checkpoint:
        """The last one.

        Raises
        ------
        DataError
            When there is none, it is of a later version, or its files are damaged.
        """
        manifest = read_manifest(self._folder)
        path = self._folder / manifest["state"]
        try:
            contents = path.read_bytes()
            if hashlib.sha256(contents).hexdigest() != manifest["sha256"]:
                raise ValueError("its contents have changed")
            with np.load(path) as file:
                memory = dict(file)
        except (OSError, ValueError, zipfile.BadZipFile) as error:
            raise DataError(
                "damaged_checkpoint",
                f"{path} cannot be read: {error}.",
                remedy="The plans so far can be exported; start again in another folder.",
            ) from error
        self._number = manifest["number"] + 1
        return Checkpoint(manifest["about"], manifest["n_rows"], memory, manifest["number"])

    def save(self, about: Mapping[str, Any], n_rows: int, memory: Memory) -> None:
        """Replace the last one; rows of plans must be on the disk before.

        Raises
        ------
        OSError
            When it cannot be written; the last one then stands.
        """
        path = self._folder / _STATES.replace("*", f"{self._number:05d}")
        write_whole(path, lambda file: np.savez(file, **memory))  # type: ignore[arg-type]
        manifest = {
            "schema": SCHEMA,
            "number": self._number,
            "n_rows": n_rows,
            "state": path.name,
            "sha256": hashlib.sha256(path.read_bytes()).hexdigest(),
            "about": dict(about),
        }
        text = json.dumps(manifest, indent=2) + "\n"
        write_whole(self._folder / MANIFEST, lambda file: file.write(text.encode()))
        self._number += 1
        self._remove_states(but=path)

    def clear(self) -> None:
        """Remove them: the run is over."""
        (self._folder / MANIFEST).unlink(missing_ok=True)
        self._remove_states()

    def _remove_states(self, but: Path | None = None) -> None:
        for path in self._folder.glob(_STATES):
            if path != but:
                path.unlink()


def read_manifest(folder: Path) -> dict[str, Any]:
    """What the last checkpoint of a folder says, but for the state.

    Raises
    ------
    DataError
        When there is none, or it is of a later version.
    """
    path = Path(folder) / MANIFEST
    if not path.is_file():
        raise DataError(
            "no_checkpoint",
            f"{folder} holds no run to go on with: {MANIFEST} not found.",
            remedy="Name the folder of a run that was broken off, or leave --resume out.",
        )
    try:
        manifest = json.loads(path.read_text(encoding="utf-8"))
        version = int(manifest["schema"])
    except (ValueError, KeyError, TypeError) as error:
        raise DataError(
            "damaged_checkpoint",
            f"{path} is damaged.",
            remedy="The plans so far can be exported; start again in another folder.",
        ) from error
    if version > SCHEMA:
        raise DataError(
            "later_version",
            f"{path} was written by a later version of bottomup.",
            remedy="Go on with that version.",
        )
    return dict(manifest)
