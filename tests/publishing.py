"""A server on this machine that serves small files of the shape of the real ones, and misbehaves as told."""

from __future__ import annotations

import hashlib
import io
import re
import threading
import zipfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import geopandas as gpd

N_PLACE_FIELDS, N_FIELDS_1, N_FIELDS_2 = 97, 149, 152
PEOPLE = {
    "290010001001": (10, 8, 2),
    "290010001002": (20, 15, 5),
    "290030002001": (30, 20, 0),
    "290030002002": (40, 33, 30),
}
VOTING_DISTRICTS = {
    "29001000001": ("290010001001", "290010001002"),
    "29003000A01": ("290030002001", "290030002002"),
}


class Publisher:
    """What is served, how it misbehaves, and what has been asked.

    Attributes
    ----------
    files : dict of str to bytes
        By path.
    mirror : str
        The server's address.
    asked : list of (str, str)
        Path and Range of each request.
    cut_after : list of int
        Each answer takes one and ends after so many bytes.
    statuses : list of int
        Each answer takes one in place of 200.
    has_range : bool
    version : str
        The ETag; blank for none.
    is_slow : bool
        Nothing is answered.
    """

    def __init__(self) -> None:
        self.files: dict[str, bytes] = {}
        self.mirror = ""
        self.asked: list[tuple[str, str]] = []
        self.cut_after: list[int] = []
        self.statuses: list[int] = []
        self.has_range = True
        self.version = '"one"'
        self.release = threading.Event()
        self.is_slow = False


@contextmanager
def publishing() -> Iterator[Publisher]:
    """Run a server on localhost."""
    publisher = Publisher()

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            asked = self.headers.get("Range", "")
            publisher.asked.append((self.path, asked))
            if publisher.is_slow:
                publisher.release.wait(5)
                return
            body = publisher.files.get(self.path)
            status = publisher.statuses.pop(0) if publisher.statuses else 200 if body is not None else 404
            if body is None or status != 200:
                self.send_response(status)
                self.send_header("Content-Length", "0")
                self.end_headers()
                return
            begin = 0
            same = self.headers.get("If-Range", publisher.version) == publisher.version
            if asked and publisher.has_range and same:
                begin = int(re.fullmatch(r"bytes=(\d+)-", asked).group(1))
                if begin >= len(body):
                    self.send_response(416)
                    self.send_header("Content-Length", "0")
                    self.end_headers()
                    return
                self.send_response(206)
                self.send_header("Content-Range", f"bytes {begin}-{len(body) - 1}/{len(body)}")
            else:
                self.send_response(200)
            if publisher.version:
                self.send_header("ETag", publisher.version)
            self.send_header("Content-Length", str(len(body) - begin))
            self.end_headers()
            end = begin + publisher.cut_after.pop(0) if publisher.cut_after else len(body)
            self.wfile.write(body[begin:end])

        def log_message(self, *_: object) -> None:
            """Say nothing."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True)
    thread.start()
    publisher.mirror = f"http://127.0.0.1:{server.server_address[1]}"
    try:
        yield publisher
    finally:
        publisher.release.set()
        server.shutdown()
        server.server_close()
        thread.join()


def zipped(files: dict[str, bytes]) -> bytes:
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in files.items():
            archive.writestr(name, content)
    return stream.getvalue()


def shapefile(folder: Path, name: str, frame: gpd.GeoDataFrame) -> dict[str, bytes]:
    """Return the parts of a shapefile by their names."""
    folder.mkdir(parents=True, exist_ok=True)
    frame.to_file(folder / f"{name}.shp")
    return {part.name: part.read_bytes() for part in sorted(folder.glob(f"{name}.*"))}


def summary_file(
    people: dict[str, tuple[int, int, int]] = PEOPLE,
    change: Callable[[dict[str, str]], None] | None = None,
) -> bytes:
    """Return the ZIP of a P.L. 94-171 summary file of Missouri with a few places."""
    total = tuple(map(sum, zip(*people.values(), strict=True)))
    districts = {
        name: tuple(map(sum, zip(*(people[unit] for unit in units), strict=True)))
        for name, units in VOTING_DISTRICTS.items()
    }
    rows = [("040", "00", "29", total), ("040", "01", "29", (1, 1, 1)), ("050", "00", "29001", (30, 23, 7))]
    rows += [("150", "00", name, figures) for name, figures in people.items()]
    rows += [("700", "00", name, figures) for name, figures in districts.items()]
    places, first, second = [], [], []
    for record, (level, component, geocode, figures) in enumerate(rows, start=1):
        place = [""] * N_PLACE_FIELDS
        place[:10] = [
            *("PLST", "MO", level, "00", component, "000", "00", f"{record:07}"),
            *(f"{level}00{component}US{geocode}", geocode),
        ]
        # A name as the Bureau writes it: Latin-1, and a quotation mark that opens nothing.
        place[87] = 'Doña "Ana'
        places.append("|".join(place))
        head = ["PLST", "MO", "000", "{}", f"{record:07}"]
        one, two = [*head, *["0"] * (N_FIELDS_1 - 5)], [*head, *["0"] * (N_FIELDS_2 - 5)]
        one[5], two[5], two[8] = (str(figure) for figure in figures)
        first.append("|".join(one).format("01"))
        second.append("|".join(two).format("02"))
    tables = {
        "mogeo2020.pl": "\n".join(places) + "\n",
        "mo000012020.pl": "\n".join(first) + "\n",
        "mo000022020.pl": "\n".join(second) + "\n",
        "mo000032020.pl": "",
    }
    if change is not None:
        change(tables)
    return zipped({name: text.encode("latin-1") for name, text in tables.items()})


def blob_id(content: bytes) -> str:
    return hashlib.sha1(f"blob {len(content)}\0".encode() + content).hexdigest()
