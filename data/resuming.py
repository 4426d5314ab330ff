"""One file over HTTP: in several tries, and from where the last one ended.

A file on its way is called ``*.part``, and ``*.part.version`` says which version of the file its bytes are
from.
"""

from __future__ import annotations

import hashlib
import os
import re
import time
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Protocol
from urllib.parse import urlsplit

import pooch
import requests

from bottomup.data.errors import DataError
from bottomup.data.sources import LOCK_FILE

__all__ = ["Bar", "Progress", "Resuming", "git_blob", "wrong_checksum"]

N_TRIES = 4
PAUSE = 1.0
"""Seconds before the second try; every further pause is twice as long."""
TIMEOUT = (15.0, 60.0)
"""Seconds to wait for a connection, and for the next bytes."""
CHUNK = 1 << 13
"""Bytes taken at once; of the last such piece before a cut nothing is kept."""
_PASSING = frozenset({408, 425, 429, 500, 502, 503, 504})
_RANGE = re.compile(r"bytes (\d+)-\d+/(\d+|\*)")


class Progress(Protocol):
    """A bar that grows, as tqdm's does."""

    def update(self, n: int) -> object:
        """Add ``n`` bytes."""

    def close(self) -> object:
        """End the bar."""


Bar = Callable[[str, "int | None", int], Progress]
"""Makes a bar of a file's name, its size in bytes or None, and how many of them are there already."""


class _CutError(Exception):
    """A try that failed and may do better a second time; its text says how."""


class Resuming:
    """Fetches one file for Pooch: in several tries, and from where the last one ended.

    Parameters
    ----------
    path : path
        Where the file will be in the end; what there is of it until then lies beside it.
    blob : str
        Its blob id in a Git repository; blank when not known.
    is_known : bool
        Whether a checksum will tell that the parts are of one version.
    bar : callable
        Makes a progress bar.

    Attributes
    ----------
    was_used, was_answered : bool
        Whether Pooch asked for the file, and whether the server answered.
    sha256 : str
        Of the file that came.
    """

    def __init__(self, path: Path, blob: str, is_known: bool, bar: Bar) -> None:
        self.path = path
        self.part = path.with_name(f"{path.name}.part")
        self.version = path.with_name(f"{path.name}.part.version")
        self.blob = blob
        self.is_known = is_known
        self.bar = bar
        self.was_used = False
        self.was_answered = False
        self.sha256 = ""

    def __call__(self, url: str, output_file: str | Path, pooch_of: object) -> None:
        """Fetch ``url`` and leave it at ``output_file``."""
        self.was_used = True
        self._try_often(url)
        self._check(url)
        self.sha256 = pooch.file_hash(str(self.part))
        os.replace(self.part, output_file)
        self.version.unlink(missing_ok=True)

    def _try_often(self, url: str) -> None:
        for n_tried in range(1, N_TRIES + 1):
            try:
                return self._try(url)
            except (_CutError, requests.RequestException) as error:
                if n_tried == N_TRIES:
                    raise self._given_up(url, error) from error
            time.sleep(PAUSE * 2 ** (n_tried - 1))

    def _try(self, url: str) -> None:
        n_there = self._n_there()
        # A compressed answer would have other bytes to count.
        headers = {"Accept-Encoding": "identity"}
        if n_there:
            headers["Range"] = f"bytes={n_there}-"
            if self.version.exists():
                headers["If-Range"] = self.version.read_text(encoding="utf-8")
        with requests.get(url, headers=headers, stream=True, timeout=TIMEOUT) as response:
            self.was_answered = True
            if response.status_code == 416:
                self._begin_anew()
                raise _CutError("the server has no more bytes of this file")
            if response.status_code in _PASSING:
                raise _CutError(f"the server answered {response.status_code} {response.reason}")
            if not response.ok:
                raise _refused(url, response)
            if response.status_code == 206:
                begins = _RANGE.match(response.headers.get("Content-Range", ""))
                if begins is None or int(begins.group(1)) != n_there:
                    self._begin_anew()
                    raise _CutError("the server went on from another place than asked")
                n_all = None if begins.group(2) == "*" else int(begins.group(2))
            else:
                self._begin_anew()
                n_there = 0
                length = response.headers.get("Content-Length", "")
                n_all = int(length) if length.isdecimal() else None
                self._note_version(response)
            self._write(response, n_there, n_all)

    def _write(self, response: requests.Response, n_there: int, n_all: int | None) -> None:
        bar = self.bar(self.path.name, n_all, n_there)
        try:
            with self.part.open("ab") as stream:
                for chunk in response.iter_content(CHUNK):
                    stream.write(chunk)
                    bar.update(len(chunk))
        except requests.RequestException as error:
            of = "" if n_all is None else f" of {n_all:,}"
            raise _CutError(f"the connection ended after {self.part.stat().st_size:,}{of} bytes") from error
        finally:
            bar.close()
        n_came = self.part.stat().st_size
        if n_all is not None and n_came > n_all:
            self._begin_anew()
        if n_all is not None and n_came != n_all:
            raise _CutError(f"{n_came:,} bytes came of {n_all:,}")

    def _n_there(self) -> int:
        """How many bytes can be gone on from."""
        if not self.part.exists():
            return 0
        # Without a version or a checksum, nothing would tell a mixture of an old and a new file.
        if not (self.is_known or self.version.exists()):
            self._begin_anew()
            return 0
        return self.part.stat().st_size

    def _note_version(self, response: requests.Response) -> None:
        tag = response.headers.get("ETag", "")
        # A weak tag is the same for versions that differ in their bytes.
        version = tag if tag and not tag.startswith("W/") else response.headers.get("Last-Modified", "")
        if version:
            self.version.write_text(version, encoding="utf-8")

    def _begin_anew(self) -> None:
        self.part.unlink(missing_ok=True)
        self.version.unlink(missing_ok=True)

    def _check(self, url: str) -> None:
        if self.blob and (got := git_blob(self.part)) != self.blob:
            self._begin_anew()
            raise wrong_checksum(self.path.name, url, f"Git blob {self.blob}", got, is_pinned=True)
        if self.path.suffix == ".zip" and not self.is_known and (reason := _zip_fault(self.part)):
            self._begin_anew()
            raise DataError(
                "not_a_zip",
                f"{self.path.name} from {url} is no ZIP file as it should be: {reason}.",
                remedy="Nothing of it is kept. Servers answer so when they are busy or a login page stands "
                "between: open the address in a browser, and run the same command again later.",
            )

    def _given_up(self, url: str, error: Exception) -> DataError:
        host = urlsplit(url).netloc
        if isinstance(error, requests.ConnectionError) and not self.was_answered:
            return DataError(
                "no_network",
                f"{host} cannot be reached, {N_TRIES} times in a row ({_innermost(error)}).",
                remedy="Connect this machine to the internet, or name another server with --mirror; then run "
                "the same command again.",
            )
        what = str(error) if isinstance(error, _CutError) else _innermost(error)
        return DataError(
            "cut_connection",
            f"{self.path.name} from {url} could not be fetched in {N_TRIES} tries: {what}.",
            remedy="What has come so far is kept: run the same command again to go on, or name another "
            "server with --mirror.",
        )


def git_blob(path: Path) -> str:
    """Return the id that Git gives to a file's bytes."""
    total = hashlib.sha1(f"blob {path.stat().st_size}\0".encode(), usedforsecurity=False)
    with path.open("rb") as stream:
        while chunk := stream.read(CHUNK):
            total.update(chunk)
    return total.hexdigest()


def _refused(url: str, response: requests.Response) -> DataError:
    code = "not_found" if response.status_code in (404, 410) else "refused"
    return DataError(
        code,
        f"{url} cannot be had: the server answered {response.status_code} {response.reason}.",
        remedy="Publishers move files: look for it on their site, or name another server with --mirror.",
    )


def wrong_checksum(name: str, url: str, expected: str, got: str, is_pinned: bool) -> DataError:
    """Return the error about a file whose bytes are not those that the project, or the folder, knows."""
    if is_pinned:
        advice = "the published file is another one than this version of bottomup knows: take a newer one."
    else:
        advice = (
            "the published file has changed since it first came here: to take the new one, delete the line "
            f"of {name} in {LOCK_FILE}."
        )
    return DataError(
        "wrong_checksum",
        f"{name} from {url} is not the file it should be: expected {expected}, got {got}.",
        remedy=f"Nothing of it is kept. Run the same command again; if that ends alike, {advice}",
    )


def _zip_fault(path: Path) -> str:
    """Return what is wrong with a ZIP file, blank for nothing."""
    try:
        with zipfile.ZipFile(path) as archive:
            damaged = archive.testzip()
    except zipfile.BadZipFile:
        with path.open("rb") as stream:
            return f"it begins with {stream.read(30)!r}"
    return f"{damaged} in it is damaged" if damaged else ""


def _innermost(error: BaseException) -> str:
    """Return the reason below the layers of a library's exceptions."""
    while (inner := error.__cause__ or error.__context__) is not None:
        error = inner
    return str(error) or type(error).__name__
