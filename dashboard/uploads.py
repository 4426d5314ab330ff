"""Files that a visitor sends: kept in a temporary folder that goes with the visitor's session."""

import shutil
import tempfile
import zipfile
from collections.abc import Iterable, Sequence
from pathlib import Path, PurePosixPath
from typing import BinaryIO

from bottomup.dashboard.contents import MAPS, PARTS, check_contents, is_hidden
from bottomup.data.errors import DataError, count, list_some

__all__ = ["MOST_BYTES", "Receiving", "Uploads", "unpack_folder"]

MOST_BYTES = 500_000_000
"""Largest upload, and a quarter of what a zip archive may hold."""
_MOST_UNPACKED = 4 * MOST_BYTES
_MOST_FILES = 10_000
_LONGEST_NAME = 120


class Receiving:
    """One upload on its way: some files, one after another, in pieces.

    Parameters
    ----------
    folder : Path
        New and empty.
    files : sequence of (str, int)
        Names as the browser gives them, and bytes of each.

    Attributes
    ----------
    n_bytes, n_received : int
        Of all files together.
    """

    def __init__(self, folder: Path, files: Sequence[tuple[str, int]]) -> None:
        self.folder = folder
        self.n_bytes = sum(size for _, size in files)
        self.n_received = 0
        self._waiting = [(folder / _plain_name(name), size) for name, size in files]
        self.paths = [path for path, _ in self._waiting]
        self._open: BinaryIO | None = None
        self._left = 0
        self._next_file()

    @property
    def is_complete(self) -> bool:
        """Whether everything is there."""
        return self._open is None

    def write(self, piece: bytes) -> None:
        """Take the next piece; it belongs to one file.

        Raises
        ------
        DataError
            When there is more than was announced.
        OSError
            When it cannot be written.
        """
        if self._open is None or len(piece) > self._left:
            raise DataError(
                "upload", "The browser sent more than it had announced.", remedy="Choose the file again."
            )
        self._open.write(piece)
        self.n_received += len(piece)
        self._left -= len(piece)
        if not self._left:
            self._next_file()

    def abandon(self) -> None:
        """Throw away what has come."""
        if self._open is not None:
            self._open.close()
            self._open = None
        shutil.rmtree(self.folder, ignore_errors=True)

    def result(self, *, takes_folder: bool = False) -> Path:
        """What to read: the file, the .shp among the parts of a shapefile, or where it may be, the folder.

        Raises
        ------
        DataError
            When there are several files of which one is meant.
        """
        if len(self.paths) == 1:
            return self.paths[0]
        shapefiles = [path for path in self.paths if path.suffix.lower() == ".shp"]
        if len(shapefiles) == 1 and all(path.suffix.lower() in (".shp", *PARTS) for path in self.paths):
            return shapefiles[0]
        if takes_folder:
            return self.folder
        raise DataError(
            "upload",
            f"One file is needed here, or the parts of one shapefile; got {count(len(self.paths), 'file')}: "
            f"{list_some([path.name for path in self.paths])}.",
            remedy="Choose one.",
        )

    def _next_file(self) -> None:
        if self._open is not None:
            self._open.close()
            self._open = None
        while self._waiting:
            path, self._left = self._waiting.pop(0)
            self._open = path.open("wb")
            if self._left:
                return
            self._open.close()
            self._open = None


class Uploads:
    """The temporary folder of one visitor.

    Parameters
    ----------
    most_bytes : int
        Largest upload.
    """

    def __init__(self, most_bytes: int = MOST_BYTES) -> None:
        self._most_bytes = most_bytes
        self._temporary: tempfile.TemporaryDirectory[str] | None = None
        self._kept: dict[str, Path] = {}
        self._number = 0
        self._is_closed = False

    @property
    def root(self) -> Path | None:
        """The folder; None before the first upload and after the last."""
        return None if self._temporary is None else Path(self._temporary.name)

    def begin(self, slot: str, files: Iterable[tuple[str, int]]) -> Receiving:
        """Prepare for an upload that takes the place of the one before in the same slot.

        Parameters
        ----------
        slot : str
            What the files are for.
        files : iterable of (str, int)
            Names and bytes.

        Raises
        ------
        DataError
            When they are too large, none, or called alike.
        """
        announced = list(files)
        names = [_plain_name(name) for name, _ in announced]
        if self._is_closed or not announced or len(announced) > _MOST_FILES:
            raise DataError("upload", "There is nothing to take.", remedy="Choose a file.")
        if len(set(names)) < len(names):
            raise DataError(
                "upload",
                "Two of these files have the same name.",
                remedy="Send them as a zip archive of a folder.",
            )
        n_bytes = sum(size for _, size in announced)
        if n_bytes > self._most_bytes or min(size for _, size in announced) < 0:
            raise DataError(
                "upload_too_large",
                f"{list_some(names, 3)}: {n_bytes / 1e6:,.0f} MB is more than the "
                f"{self._most_bytes / 1e6:,.0f} MB that the page takes at once.",
                remedy="Simplify the outlines, leave out what is not needed, or save it as GeoPackage or "
                "GeoParquet, which are smaller. `bottomup serve` opens files of any size by their paths.",
            )
        if self._temporary is None:
            self._temporary = tempfile.TemporaryDirectory(prefix="bottomup-", ignore_cleanup_errors=True)
        self._number += 1
        folder = Path(self._temporary.name) / f"{slot}-{self._number}"
        folder.mkdir()
        return Receiving(folder, announced)

    def keep(self, slot: str, received: Receiving) -> None:
        """Let a complete upload take the place of the one before it.

        Raises
        ------
        DataError
            When it is in a format that is not taken.
        """
        check_contents(received.paths)
        self.forget(slot)
        self._kept[slot] = received.folder

    def forget(self, slot: str) -> None:
        """Throw away what a slot holds."""
        before = self._kept.pop(slot, None)
        if before is not None:
            shutil.rmtree(before, ignore_errors=True)

    def close(self) -> None:
        """Throw away everything; nothing is taken afterwards."""
        self._is_closed = True
        if self._temporary is not None:
            self._temporary.cleanup()
            self._temporary = None


def unpack_folder(path: str | Path) -> Path:
    """Unpack the folder that a zip archive holds, and return it; other files, and zipped maps, as they are.

    Raises
    ------
    DataError
        When the archive is broken, or holds too much.
    """
    found = Path(path)
    if found.suffix.lower() != ".zip" or not found.is_file():
        return found
    try:
        with zipfile.ZipFile(found) as archive:
            inside = [
                entry for entry in archive.infolist() if not entry.is_dir() and not is_hidden(entry.filename)
            ]
            n_bytes = sum(entry.file_size for entry in inside)
            if n_bytes > _MOST_UNPACKED or len(inside) > _MOST_FILES:
                raise DataError(
                    "upload_too_large",
                    f"{found.name} holds {count(len(inside), 'file')} of {n_bytes / 1e6:,.0f} MB in all, "
                    "more than the page unpacks.",
                    remedy="Send what is needed of it.",
                )
            suffixes = [PurePosixPath(entry.filename).suffix.lower() for entry in inside]
            is_map = sum(suffix in MAPS for suffix in suffixes) == 1
            if is_map and all(suffix in (*MAPS, *PARTS) for suffix in suffixes):
                return found
            folder = found.with_name(f"{found.name} unpacked")
            for entry in inside:
                archive.extract(entry, folder)
    except (zipfile.BadZipFile, RuntimeError, NotImplementedError) as error:
        raise DataError(
            "unreadable",
            f"{found.name} is no zip archive that can be read: {error}.",
            remedy="Zip the folder again, without a password.",
        ) from error
    folder.mkdir(exist_ok=True)
    return folder


def _plain_name(name: str) -> str:
    """Return a name without folders, dots in front and control characters, and not too long."""
    last = PurePosixPath(name.replace("\\", "/")).name
    plain = "".join(sign for sign in last if sign.isprintable()).lstrip(". ")
    stem, dot, suffix = plain.rpartition(".")
    if len(plain) > _LONGEST_NAME:
        plain = f"{stem[: _LONGEST_NAME - 20]}{dot}{suffix[:15]}"
    return plain or "file"
