"""Files from where they are published: fetched once, checked, and recorded.

Pooch decides what is there already, checks SHA-256 and puts a file in its place in one move. What it does not
do is to go on after a cut connection: `bottomup.data.resuming.Resuming` fetches for it.
"""

from __future__ import annotations

import os
import re
from pathlib import Path
from urllib.parse import urlsplit

import pooch

from bottomup.data.errors import DataError
from bottomup.data.resuming import Bar, Resuming, git_blob, wrong_checksum
from bottomup.data.sources import LOCK_FILE, SourceFile

__all__ = ["Downloads", "at_mirror"]

LOCK_HEADING = "# What was fetched: `sha256sum --check sources.lock` compares the files with it.\n"
_LOCKED = re.compile(r"([0-9a-f]{64})  (.+)")


def at_mirror(address: str, mirror: str | None) -> str:
    """Return the address of the same path on another server; without one, ``address``.

    Raises
    ------
    ValueError
        If ``mirror`` is no address.
    """
    if not mirror:
        return address
    parts = urlsplit(mirror)
    if parts.scheme not in ("http", "https") or not parts.netloc:
        raise ValueError(f"the mirror {mirror!r} is no address: it must begin with http:// or https://")
    return mirror.rstrip("/") + urlsplit(address).path


class Downloads:
    """A folder of fetched files, and the record of what they were when they first came.

    Parameters
    ----------
    folder : path
        Files go to its folder ``sources``, the record to ``sources.lock``.
    mirror : str, optional
        Another server that has the same paths.
    bar : callable
        Makes a progress bar.

    Raises
    ------
    ValueError
        If ``mirror`` is no address.
    """

    def __init__(self, folder: Path, bar: Bar, mirror: str | None = None) -> None:
        at_mirror("", mirror)
        self.folder = folder / "sources"
        self.lock = folder / LOCK_FILE
        self.mirror = mirror
        self.bar = bar
        self.unreachable: set[str] = set()

    def path(self, file: SourceFile) -> Path:
        """Where a file is, or will be."""
        return self.folder / file.name

    def fetch(self, file: SourceFile) -> bool:
        """Fetch a file unless it is there as it should be; return whether anything was downloaded.

        Raises
        ------
        DataError
            If it cannot be had, or is not what it should be; then nothing of it is kept.
        """
        path = self.path(file)
        locked = self._read_lock().get(f"sources/{file.name}", "")
        kind, _, pinned = file.checksum.partition(":")
        # What the project states comes before what this folder has seen.
        blob = pinned if kind == "git" else ""
        sha256 = pinned if kind == "sha256" else "" if blob else locked
        address = at_mirror(file.address, self.mirror)
        host = urlsplit(address).netloc
        if path.exists() and not _is_right(path, sha256, blob):
            path.unlink()
        if host in self.unreachable and not path.exists():
            raise DataError("no_network", f"{file.name} was not tried, for {host} cannot be reached.")
        downloader = Resuming(path, blob, bool(sha256 or blob), self.bar)
        pooch.get_logger().setLevel("ERROR")
        self.folder.mkdir(parents=True, exist_ok=True)
        try:
            pooch.retrieve(
                address,
                f"sha256:{sha256}" if sha256 else None,
                fname=file.name,
                path=self.folder,
                downloader=downloader,
            )
        except DataError as error:
            if error.code == "no_network":
                self.unreachable.add(host)
            raise
        except ValueError as error:
            # Pooch has thrown the file away.
            raise wrong_checksum(
                file.name, address, f"SHA-256 {sha256}", downloader.sha256, is_pinned=kind == "sha256"
            ) from error
        if downloader.was_used or not locked:
            self._record(file, path)
        return downloader.was_used

    def _read_lock(self) -> dict[str, str]:
        if not self.lock.exists():
            return {}
        found = map(_LOCKED.fullmatch, self.lock.read_text(encoding="utf-8").splitlines())
        return {line.group(2): line.group(1) for line in found if line}

    def _record(self, file: SourceFile, path: Path) -> None:
        hashes = self._read_lock()
        hashes[f"sources/{file.name}"] = pooch.file_hash(str(path))
        lines = [f"{sha256}  {name}\n" for name, sha256 in sorted(hashes.items())]
        new = self.lock.with_name(f"{LOCK_FILE}.new")
        new.write_text(LOCK_HEADING + "".join(lines), encoding="utf-8")
        os.replace(new, self.lock)


def _is_right(path: Path, sha256: str, blob: str) -> bool:
    if blob:
        return git_blob(path) == blob
    return not sha256 or pooch.file_hash(str(path)) == sha256
