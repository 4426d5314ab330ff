"""What is inside of files that strangers send: data, and no words that send a reader to other files.

Readers of GIS files look at content and not at names, and some formats only point to where the data are: to
any file of the machine, or to other machines.
"""

import zipfile
from collections.abc import Sequence
from pathlib import Path, PurePosixPath

from bottomup.data.errors import DataError
from bottomup.data.tables import TABLE_SUFFIXES

__all__ = ["MAPS", "PARTS", "check_contents", "is_hidden"]

MAPS = (".shp", ".gpkg", ".geojson")
"""Suffixes of maps that a reader finds in a zip archive."""
PARTS = (".dbf", ".shx", ".prj", ".cpg", ".sbn", ".sbx", ".qix", ".qmd", ".qpj", ".xml")
"""Suffixes of the files around a .shp."""
_N_PEEKED = 65_536
_MOST_FILES = 2_000
# GeoPackage, shapefile, FlatGeobuf, GeoParquet, zip.
_BEGINNINGS = (b"SQLite format 3\0", b"\0\0\x27\x0a", b"fgb\x03", b"PAR1", b"PK\x03\x04", b"PK\x05\x06")
_POINTS_ELSEWHERE = (b"gdal_streamed_alg", b"<OGR", b"<!ENTITY", b"opengis.net/gml")


def check_contents(paths: Sequence[Path]) -> None:
    """Make sure that files sent together hold data of their own.

    Raises
    ------
    DataError
        When one is in a format that the page does not take from visitors.
    """
    names = [path.name for path in paths]
    for path in paths:
        with path.open("rb") as file:
            _check(path.name, file.read(_N_PEEKED), names)
        if zipfile.is_zipfile(path):
            _check_archive(path)


def is_hidden(name: str) -> bool:
    """Tell whether a file of an archive is none of the user's."""
    return any(part.startswith((".", "__MACOSX")) for part in PurePosixPath(name).parts)


def _check_archive(path: Path) -> None:
    try:
        with zipfile.ZipFile(path) as archive:
            entries = [one for one in archive.infolist() if not one.is_dir()]
            if len(entries) > _MOST_FILES:
                raise DataError(
                    "upload_too_large",
                    f"{path.name} holds {len(entries):,} files.",
                    remedy="Send fewer at once.",
                )
            names = [entry.filename for entry in entries]
            for entry in entries:
                if not is_hidden(entry.filename):
                    with archive.open(entry) as file:
                        _check(entry.filename, file.read(_N_PEEKED), names)
    except (zipfile.BadZipFile, RuntimeError, NotImplementedError) as error:
        raise DataError(
            "unreadable",
            f"{path.name} is no zip archive that can be read: {error}.",
            remedy="Zip the files again, without a password.",
        ) from error


def _check(name: str, head: bytes, names: Sequence[str]) -> None:
    suffix = PurePosixPath(name).suffix.lower()
    # Tables are read here and not by content; parts of a shapefile, and papers beside a map, are not opened.
    if suffix in TABLE_SUFFIXES or (
        len(names) > 1 and suffix in (*PARTS, ".pdf", ".doc", ".docx", ".md", ".html")
    ):
        return
    start = head.removeprefix(b"\xef\xbb\xbf").lstrip()
    is_data = not head or head.startswith(_BEGINNINGS) or start[:1] in (b"{", b"[")
    is_kml = start.startswith(b"<") and b"<kml" in head
    if not (is_data or is_kml) or any(words in head for words in _POINTS_ELSEWHERE):
        raise DataError(
            "upload",
            f"{PurePosixPath(name).name} is in no format that the page takes.",
            remedy="Save it as GeoPackage, GeoJSON, shapefile, GeoParquet or CSV.",
        )
