"""Files that a visitor sends: where they go, what is refused, and when they are gone."""

import zipfile

import pytest
from awkward import grid

from bottomup.dashboard.contents import check_contents
from bottomup.dashboard.uploads import Uploads, unpack_folder
from bottomup.dashboard.views.upload import UploadField
from bottomup.data.errors import DataError


@pytest.fixture
def uploads():
    made = Uploads(most_bytes=100)
    yield made
    made.close()


def receive(uploads, slot, **files):
    received = uploads.begin(slot, [(name, len(content)) for name, content in files.items()])
    for content in files.values():
        for start in range(0, len(content), 4):
            received.write(content[start : start + 4])
    assert received.is_complete
    uploads.keep(slot, received)
    return received


def test_a_file_arrives_in_pieces_and_goes_with_the_session(uploads):
    path = receive(uploads, "units", **{"map.csv": b"id,people\n1,2\n", "empty.csv": b""}).paths[0]
    assert path.read_bytes() == b"id,people\n1,2\n"
    root = uploads.root
    assert root in path.parents
    uploads.close()
    assert not root.exists()
    with pytest.raises(DataError, match="nothing to take"):
        uploads.begin("units", [("map.csv", 1)])


def test_a_later_file_takes_the_place_of_the_one_before(uploads):
    first = receive(uploads, "units", a=b"{1").paths[0]
    other = receive(uploads, "plan", a=b"{2").paths[0]
    second = receive(uploads, "units", a=b"{3").paths[0]
    assert not first.exists()
    assert (other.read_bytes(), second.read_bytes()) == (b"{2", b"{3")
    uploads.forget("units")
    assert not second.exists()


@pytest.mark.parametrize(
    ("name", "kept"),
    [
        ("../../etc/passwd", "passwd"),
        ("C:\\maps\\units.gpkg", "units.gpkg"),
        (".hidden", "hidden"),
        ("..", "file"),
        ("a\0b\n.csv", "ab.csv"),
        ("Wahlkreise Köln.geojson", "Wahlkreise Köln.geojson"),
        ("x" * 300 + ".geojson", "x" * 100 + ".geojson"),
    ],
)
def test_names_stay_in_the_folder(uploads, name, kept):
    (path,) = receive(uploads, "units", **{name: b"{}"}).paths
    assert path.name == kept
    assert uploads.root in path.resolve().parents


def test_too_much_is_refused_before_it_is_sent_and_more_than_announced_when_it_comes(uploads):
    with pytest.raises(DataError, match=r"more than the .* MB that the page takes at once"):
        uploads.begin("units", [("a.csv", 60), ("b.csv", 41)])
    with pytest.raises(DataError, match="the same name"):
        uploads.begin("units", [("one/a.csv", 1), ("two/a.csv", 1)])
    received = uploads.begin("units", [("a.csv", 3), ("b.csv", 2)])
    received.write(b"123")
    with pytest.raises(DataError, match="more than it had announced"):
        received.write(b"456")
    received.abandon()
    assert list(uploads.root.iterdir()) == []


def test_several_files_are_one_shapefile_or_a_folder(uploads):
    parts = receive(uploads, "units", **{"m.dbf": b"1", "m.shp": b"\0\0\x27\x0a", "m.shx": b"3"})
    assert parts.result().name == "m.shp"
    files = receive(uploads, "testimonies", **{"a.csv": b"1", "b.json": b"{}"})
    assert files.result(takes_folder=True) == files.folder
    with pytest.raises(DataError, match=r"One file is needed here.*a\.csv, b\.json"):
        files.result()


def zipped(path, *names):
    with zipfile.ZipFile(path, "w") as archive:
        for name in names:
            archive.writestr(name, name)
    return path


def test_a_zipped_folder_is_unpacked_and_a_zipped_map_is_left_to_the_reader(tmp_path):
    names = ("areas/a.geojson", "areas/b.csv", "__MACOSX/areas/._a.geojson", "../../outside.csv")
    folder = unpack_folder(zipped(tmp_path / "t.zip", *names))
    inside = sorted(str(path.relative_to(folder)) for path in folder.rglob("*") if path.is_file())
    assert [name.replace("\\", "/") for name in inside] == ["areas/a.geojson", "areas/b.csv"]
    assert list(tmp_path.parent.rglob("outside.csv")) == []
    a_map = zipped(tmp_path / "m.zip", "m/m.shp", "m/m.dbf", "m/m.shx", "m/m.prj")
    assert unpack_folder(a_map) == a_map
    table = tmp_path / "t.csv"
    assert unpack_folder(table) == table


def test_a_broken_archive_says_what_to_do(tmp_path):
    (tmp_path / "t.zip").write_bytes(b"PK no archive")
    with pytest.raises(DataError, match="Zip the folder again"):
        unpack_folder(tmp_path / "t.zip")


class Field(UploadField):
    """Keeps what it says to the browser."""

    def _send_msg(self, data):
        self.__dict__.setdefault("said", []).append(data["kind"])


@pytest.fixture
def field(uploads):
    changes = []
    made = Field(uploads, "units", lambda: changes.append(made.path), label="Units")
    made.__dict__["changes"] = changes
    return made


def test_a_piece_is_asked_for_when_the_one_before_is_written(field):
    field._handle_msg({"kind": "begin", "upload": 1, "files": [["map.csv", 6]]})
    field._handle_msg({"kind": "piece", "upload": 1, "data": b"abc"})
    assert (field.said, field.path) == (["next", "next"], "")
    # Of an upload that another one has replaced.
    field._handle_msg({"kind": "piece", "upload": 0, "data": b"xyz"})
    field._handle_msg({"kind": "piece", "upload": 1, "data": b"def"})
    assert field.said == ["next", "next", "done"]
    with open(field.path, "rb") as file:
        assert file.read() == b"abcdef"
    assert field.words == "map.csv, 1 kB"
    assert field.changes == [field.path]
    field._handle_msg({"kind": "remove", "upload": 2})
    assert (field.path, field.words, field.is_held) == ("", "", False)


@pytest.mark.parametrize(
    ("message", "words"),
    [
        ({"kind": "begin", "files": [["map.csv", 101]]}, "more than the"),
        ({"kind": "lost"}, "could not read the file to its end"),
        ({"kind": "piece", "data": b"more than six"}, "more than it had announced"),
        ({"kind": "piece", "data": None}, "The upload failed"),
    ],
)
def test_what_goes_wrong_is_said_beside_the_field_and_the_file_before_stays(field, message, words):
    field._handle_msg({"kind": "begin", "upload": 1, "files": [["map.csv", 1]]})
    field._handle_msg({"kind": "piece", "upload": 1, "data": b"1"})
    before = field.path
    field._handle_msg({"kind": "begin", "upload": 2, "files": [["other.csv", 6]]})
    field._handle_msg({"upload": 2, **message})
    assert words in field.words
    assert field.is_wrong
    assert field.said[-1] == "refused"
    assert field.path == before
    with open(before, "rb") as file:
        assert file.read() == b"1"


VRT = (
    '<OGRVRTDataSource><OGRVRTLayer name="secret"><SrcDataSource>{}</SrcDataSource>'
    '<GeometryField encoding="WKT" field="wkt"/></OGRVRTLayer></OGRVRTDataSource>'
)


@pytest.fixture
def secret(tmp_path):
    path = tmp_path / "secret.csv"
    path.write_text("id,wkt\n1,POINT(1 2)\n")
    return path


@pytest.mark.parametrize("name", ["units.geojson", "units.shp", "units.json", "units.kml", "units"])
def test_files_that_point_to_other_files_are_refused(name, secret, tmp_path):
    text = VRT.format(secret)
    (tmp_path / name).write_text(text)
    # A reader that goes by content would follow it.
    assert "SrcDataSource" in text
    with pytest.raises(DataError, match="no format that the page takes"):
        check_contents([tmp_path / name])
    for others in ((), ("readme.pdf",)):
        with zipfile.ZipFile(tmp_path / "z.zip", "w") as archive:
            archive.writestr(f"folder/{name}", text)
            for other in others:
                archive.writestr(other, "x")
        with pytest.raises(DataError, match="no format that the page takes"):
            check_contents([tmp_path / "z.zip"])
    (tmp_path / "a.geojson").write_text('{"type": "gdal_streamed_alg", "command_line": "gdal vector"}')
    with pytest.raises(DataError, match="no format that the page takes"):
        check_contents([tmp_path / "a.geojson"])


@pytest.mark.parametrize("suffix", ["geojson", "gpkg", "parquet", "shp", "shp.zip", "fgb"])
def test_the_usual_formats_are_taken(suffix, tmp_path):
    path = tmp_path / f"units.{suffix}"
    frame = grid()
    if suffix == "parquet":
        frame.to_parquet(path)
    else:
        frame.to_file(path)
    check_contents([path] if suffix != "shp" else sorted(tmp_path.iterdir()))
    for name, content in (("t.csv", "a,b\n1,2\n"), ("g.json", "\ufeff {}"), ("m.kml", "<?xml?><kml></kml>")):
        (tmp_path / name).write_text(content, encoding="utf-8")
        check_contents([tmp_path / name])
