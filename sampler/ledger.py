"""The ledger: every plan that leaves the analyst's desk, in a file that only grows.

A release is written down before it happens. The file is a table (CSV, UTF-8) with a header and a line for
each release; lines are added and never changed. Programs that write at the same time wait for each other.
"""

from __future__ import annotations

import csv
import io
import math
import os
from collections.abc import Iterable
from dataclasses import fields
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from filelock import FileLock, Timeout

from bottomup.sampler.accounting import (
    ALREADY_RELEASED,
    COUNTED,
    ONLY_NOTED,
    TIME_FORMAT,
    Entry,
    Release,
    check_word,
    is_released,
)

__all__ = ["Ledger", "LedgerError"]

_WAIT_SECONDS = 10.0
# Spreadsheets may round what they save.
_ROUNDING = 1e-6


class LedgerError(ValueError):
    """A ledger that cannot be read or written; nothing in it has been changed.

    Attributes
    ----------
    line : int or None
        Number of the line at fault, the header being 1.
    """

    def __init__(self, message: str, line: int | None = None) -> None:
        super().__init__(message)
        self.line = line


class Ledger:
    """A ledger in a file, which is made with the first release.

    Parameters
    ----------
    path : path-like
    """

    def __init__(self, path: str | os.PathLike[str]) -> None:
        self.path = Path(path)
        self._read: tuple[tuple[int, int, int] | None, tuple[Entry, ...]] = (None, ())

    def read(self) -> tuple[Entry, ...]:
        """All lines, oldest first; nothing while there is no file. Cheap while the file stays as it is.

        Raises
        ------
        LedgerError
            Naming the line that cannot be understood.
        """
        try:
            stamp = self._stamp()
            if stamp is None:
                return ()
            seen, entries = self._read
            if stamp != seen:
                entries = _parse(self.path, self.path.read_bytes())
                self._read = (stamp, entries)
            return entries
        except OSError as error:
            raise LedgerError(
                f"The ledger {self.path} cannot be read: {_reason(error)}. Let it be read by this program, "
                "or keep the ledger in another file."
            ) from error

    def write(self, release: Release, *, counts: bool = True) -> Entry:
        """Add a line, and return once it is on the disk.

        Parameters
        ----------
        release : Release
        counts : bool
            False to note it only.

        Returns
        -------
        Entry
            As written. A draw that has been released before adds nothing.

        Raises
        ------
        LedgerError
            When the file cannot be read or written; it is then as before.
        """
        if not self.path.parent.is_dir():
            raise LedgerError(
                f"The ledger {self.path} cannot be written: there is no folder {self.path.parent}. "
                "Make the folder, or keep the ledger in another file."
            )
        try:
            with FileLock(f"{self.path}.lock", timeout=_WAIT_SECONDS):
                entries = self.read()
                status = COUNTED if counts else ONLY_NOTED
                if counts and is_released(entries, release):
                    status = ALREADY_RELEASED
                entry = Entry(datetime.now(UTC).strftime(TIME_FORMAT), release, status)
                self._append(entry)
                return entry
        except Timeout as error:
            raise LedgerError(
                f"The ledger {self.path} cannot be written: another program has held {error.lock_file} for "
                f"{_WAIT_SECONDS:g} seconds. End that program, and try again."
            ) from error
        except OSError as error:
            raise LedgerError(
                f"The ledger {self.path} cannot be written: {_reason(error)}. Make room for it and let it be "
                "written by this program, or keep the ledger in another file."
            ) from error

    def _append(self, entry: Entry) -> None:
        stamp = self._stamp()
        size = 0 if stamp is None else stamp[1]
        # An empty file is one that a failed attempt or the user has made: nothing is lost by a header.
        line = _line(_values(entry)) if size else _line(_COLUMNS) + _line(_values(entry))
        with open(self.path, "ab", buffering=0) as file:
            try:
                left = line
                while left:
                    left = left[file.write(left) :]
                os.fsync(file.fileno())
            except OSError:
                # Half a line would make all further ones unreadable.
                os.ftruncate(file.fileno(), size)
                raise
        if stamp is None:
            _sync_folder(self.path.parent)

    def _stamp(self) -> tuple[int, int, int] | None:
        try:
            status = self.path.stat()
        except FileNotFoundError:
            return None
        return status.st_mtime_ns, status.st_size, status.st_ino


_COLUMNS = (
    *("time", "what", "how", "chosen", "epsilon", "draws", "adds", "status", "plan", "run"),
    *("score", "delta", "looks_at_data", "clusters", "testimonies"),
)


_NUMBERS: dict[str, type[float] | type[int]] = {"epsilon": float, "draws": int}


def _values(entry: Entry) -> list[str]:
    release = entry.release
    row: dict[str, Any] = {field.name: getattr(release, field.name) for field in fields(release)}
    row |= {
        "time": entry.time,
        "status": entry.status,
        # The shortest figures that give the same number again.
        "epsilon": repr(float(release.epsilon)),
        "adds": repr(float(entry.adds)),
        "looks_at_data": "yes" if release.looks_at_data else "no",
    }
    return [str(row[column]) for column in _COLUMNS]


def _line(values: Iterable[str]) -> bytes:
    text = io.StringIO()
    csv.writer(text, lineterminator="\n").writerow(values)
    return text.getvalue().encode()


def _parse(path: Path, content: bytes) -> tuple[Entry, ...]:
    *lines, rest = content.split(b"\n")
    entries = []
    # After the last line break there is nothing, unless a line was cut off.
    for number, line in enumerate([*lines, rest] if rest else lines, start=1):
        try:
            if number > len(lines):
                raise ValueError("the line has no end: it was cut off")
            values = next(csv.reader([line.decode("utf-8-sig").rstrip("\r")], strict=True), [])
            if number > 1:
                entries.append(_entry(values))
            elif tuple(values) != _COLUMNS:
                raise ValueError(f"the columns must be {', '.join(_COLUMNS)}; got {', '.join(values)}")
        except (ValueError, OverflowError, csv.Error) as error:
            raise LedgerError(
                f"The ledger {path} cannot be used, line {number}: {error}. Nothing in it has been changed. "
                "Keep a copy and put the line right, or keep the ledger in another file.",
                number,
            ) from error
    return tuple(entries)


def _entry(values: list[str]) -> Entry:
    if len(values) != len(_COLUMNS):
        raise ValueError(f"there must be {len(_COLUMNS)} values; got {len(values)}")
    row: dict[str, Any] = dict(zip(_COLUMNS, values, strict=True))
    time, status, looks, adds = (row.pop(name) for name in ("time", "status", "looks_at_data", "adds"))
    check_word("looks_at_data", looks, ("yes", "no"))
    numbers = {name: _number(name, row.pop(name), kind) for name, kind in _NUMBERS.items()}
    entry = Entry(time, Release(**row, **numbers, looks_at_data=looks == "yes"), status)
    if not math.isclose(entry.adds, _number("adds", adds, float), rel_tol=_ROUNDING, abs_tol=_ROUNDING):
        raise ValueError(f"adds must be {entry.adds:g}, draws times epsilon where it counts; got {adds}")
    return entry


def _number(name: str, text: str, kind: type[float] | type[int]) -> Any:
    try:
        return kind(text)
    except ValueError:
        raise ValueError(f"{name} must be a {'whole ' if kind is int else ''}number; got {text!r}") from None


def _reason(error: OSError) -> str:
    return (error.strerror or str(error) or type(error).__name__).lower()


def _sync_folder(folder: Path) -> None:
    """Let the name of a new file be on the disk too, where folders can be opened for it."""
    if os.name != "posix":
        return
    handle = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
