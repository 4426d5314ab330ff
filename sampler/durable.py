"""Files that are either there as a whole or not at all, whenever a program or its machine stops."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import BinaryIO

__all__ = ["write_whole"]


def write_whole(path: Path, write: Callable[[BinaryIO], object], workplace: Path | None = None) -> None:
    """Write a file under another name, have it on the disk, and then give it its own name.

    What had the name before is there until that moment. When it fails, it still is, and the room that the
    attempt took is given back.

    Parameters
    ----------
    path : path
    write : callable
        Called with the file, open for writing.
    workplace : path, optional
        Folder on the same disk for the file until it is done; by default that of ``path``.

    Raises
    ------
    OSError
        When it cannot be written.
    """
    new = (workplace or path.parent) / f".{path.name}.new"
    try:
        with new.open("wb") as file:
            write(file)
            file.flush()
            os.fsync(file.fileno())
        os.replace(new, path)
    except BaseException:
        new.unlink(missing_ok=True)
        raise
    _sync_folder(path.parent)


def _sync_folder(folder: Path) -> None:
    """Have the names of its files on the disk too, where folders can be opened for it."""
    if os.name != "posix":
        return
    handle = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
