"""Files over HTTP from a server on this machine that cuts connections, and serves what it should not."""

import hashlib
import random
import re
from pathlib import Path

import pytest

from bottomup.data import resuming
from bottomup.data.errors import DataError
from bottomup.data.fetch import Downloads, at_mirror
from bottomup.data.sources import SourceFile, find_state, sources_of
from publishing import blob_id, publishing, zipped

PATH = "/geo/units.zip"
PIECE = resuming.CHUNK
CONTENT = zipped({"units.txt": random.Random(1).randbytes(5 * PIECE)})
OTHER = zipped({"units.txt": random.Random(2).randbytes(5 * PIECE)})


class Bar:
    """What a progress bar was told."""

    def __init__(self):
        self.made = []
        self.n_bytes = 0

    def __call__(self, name, n_all, n_there):
        self.made.append((name, n_all, n_there))
        return self

    def update(self, n):
        self.n_bytes += n

    def close(self):
        pass


@pytest.fixture(autouse=True)
def no_waiting(monkeypatch):
    monkeypatch.setattr(resuming, "PAUSE", 0.001)
    monkeypatch.setattr(resuming, "TIMEOUT", (1.0, 0.15))


@pytest.fixture
def server():
    with publishing() as publisher:
        publisher.files[PATH] = CONTENT
        yield publisher


def source_file(checksum=""):
    return SourceFile(f"https://example.org{PATH}", "units.zip", checksum)


def downloads(server, folder, bar=None):
    return Downloads(folder, bar or Bar(), server.mirror)


def refused(downloads, file):
    with pytest.raises(DataError) as caught:
        downloads.fetch(file)
    return caught.value


def files_in(folder):
    return sorted(str(path.relative_to(folder)) for path in folder.rglob("*") if path.is_file())


def test_a_file_is_fetched_once_and_recorded(server, tmp_path):
    bar = Bar()
    assert downloads(server, tmp_path, bar).fetch(source_file())
    assert (tmp_path / "sources" / "units.zip").read_bytes() == CONTENT
    assert bar.made == [("units.zip", len(CONTENT), 0)]
    assert bar.n_bytes == len(CONTENT)
    line = f"{hashlib.sha256(CONTENT).hexdigest()}  sources/units.zip"
    assert (tmp_path / "sources.lock").read_text().splitlines()[1:] == [line]
    assert not downloads(server, tmp_path).fetch(source_file())
    assert server.asked == [(PATH, "")]
    assert files_in(tmp_path) == ["sources.lock", "sources/units.zip"]


def test_a_cut_connection_goes_on_where_it_was(server, tmp_path):
    # Of the piece that was cut, nothing is kept.
    server.cut_after = [PIECE + 100, 2 * PIECE]
    bar = Bar()
    assert downloads(server, tmp_path, bar).fetch(source_file())
    assert server.asked == [(PATH, ""), (PATH, f"bytes={PIECE}-"), (PATH, f"bytes={3 * PIECE}-")]
    assert (tmp_path / "sources" / "units.zip").read_bytes() == CONTENT
    assert [there for _, _, there in bar.made] == [0, PIECE, 3 * PIECE]
    assert bar.n_bytes == len(CONTENT)


def test_what_is_cut_too_often_is_kept_as_a_part_and_gone_on_with_by_the_next_run(server, tmp_path):
    server.cut_after = [2 * PIECE, 10, PIECE, 10]
    error = refused(downloads(server, tmp_path), source_file())
    assert error.code == "cut_connection"
    assert "units.zip" in str(error)
    assert f"{3 * PIECE:,} of {len(CONTENT):,} bytes" in str(error)
    assert files_in(tmp_path) == ["sources/units.zip.part", "sources/units.zip.part.version"]
    server.asked.clear()
    assert downloads(server, tmp_path).fetch(source_file())
    assert server.asked == [(PATH, f"bytes={3 * PIECE}-")]
    assert (tmp_path / "sources" / "units.zip").read_bytes() == CONTENT
    assert files_in(tmp_path) == ["sources.lock", "sources/units.zip"]


def test_parts_of_two_versions_are_not_put_together(server, tmp_path):
    server.cut_after = [PIECE] * resuming.N_TRIES
    server.has_range = False
    refused(downloads(server, tmp_path), source_file())
    server.has_range = True
    server.files[PATH], server.version = OTHER, '"two"'
    assert downloads(server, tmp_path).fetch(source_file())
    assert server.asked[-1] == (PATH, f"bytes={PIECE}-")
    assert (tmp_path / "sources" / "units.zip").read_bytes() == OTHER


@pytest.mark.parametrize("version", ["", 'W/"weak"'])
def test_without_a_version_or_a_checksum_a_cut_file_begins_anew(server, tmp_path, version):
    server.version = version
    server.cut_after = [PIECE]
    assert downloads(server, tmp_path).fetch(source_file())
    assert server.asked == [(PATH, ""), (PATH, "")]
    assert (tmp_path / "sources" / "units.zip").read_bytes() == CONTENT


def test_with_a_checksum_no_version_is_needed_to_go_on(server, tmp_path):
    server.version = ""
    server.cut_after = [PIECE]
    assert downloads(server, tmp_path).fetch(source_file(f"git:{blob_id(CONTENT)}"))
    assert server.asked == [(PATH, ""), (PATH, f"bytes={PIECE}-")]


def test_a_server_without_ranges_begins_anew(server, tmp_path):
    server.has_range = False
    server.cut_after = [PIECE]
    assert downloads(server, tmp_path).fetch(source_file())
    assert server.asked == [(PATH, ""), (PATH, f"bytes={PIECE}-")]
    assert (tmp_path / "sources" / "units.zip").read_bytes() == CONTENT


def test_a_part_that_is_longer_than_the_file_is_thrown_away(server, tmp_path):
    folder = tmp_path / "sources"
    folder.mkdir()
    (folder / "units.zip.part").write_bytes(CONTENT + b"more")
    (folder / "units.zip.part.version").write_text(server.version)
    assert downloads(server, tmp_path).fetch(source_file())
    assert (folder / "units.zip").read_bytes() == CONTENT


@pytest.mark.parametrize("kind", ["sha256", "git"])
def test_a_pinned_checksum_is_checked_and_nothing_wrong_is_kept(server, tmp_path, kind):
    of = {"sha256": lambda content: hashlib.sha256(content).hexdigest(), "git": blob_id}[kind]
    server.files[PATH] = OTHER
    error = refused(downloads(server, tmp_path), source_file(f"{kind}:{of(CONTENT)}"))
    assert error.code == "wrong_checksum"
    for part in ("units.zip", server.mirror + PATH, of(CONTENT), of(OTHER), "newer"):
        assert part in str(error)
    assert files_in(tmp_path) == []
    server.files[PATH] = CONTENT
    assert downloads(server, tmp_path).fetch(source_file(f"{kind}:{of(CONTENT)}"))
    assert not downloads(server, tmp_path).fetch(source_file(f"{kind}:{of(CONTENT)}"))


@pytest.mark.parametrize("checksum", ["", f"git:{blob_id(CONTENT)}"], ids=["none", "pinned"])
def test_a_file_that_was_damaged_here_is_fetched_anew(server, tmp_path, checksum):
    downloads(server, tmp_path).fetch(source_file(checksum))
    path = tmp_path / "sources" / "units.zip"
    path.write_bytes(CONTENT[:-7])
    assert downloads(server, tmp_path).fetch(source_file(checksum))
    assert path.read_bytes() == CONTENT


def test_a_file_that_changed_since_it_was_recorded_is_refused_until_the_record_is_deleted(server, tmp_path):
    downloads(server, tmp_path).fetch(source_file())
    (tmp_path / "sources" / "units.zip").unlink()
    server.files[PATH] = OTHER
    error = refused(downloads(server, tmp_path), source_file())
    assert error.code == "wrong_checksum"
    assert hashlib.sha256(CONTENT).hexdigest() in str(error)
    assert hashlib.sha256(OTHER).hexdigest() in str(error)
    assert "delete the line of units.zip in sources.lock" in str(error)
    assert files_in(tmp_path) == ["sources.lock"]
    (tmp_path / "sources.lock").write_text("")
    assert downloads(server, tmp_path).fetch(source_file())
    assert hashlib.sha256(OTHER).hexdigest() in (tmp_path / "sources.lock").read_text()


def test_a_file_that_is_not_there_is_asked_for_once(server, tmp_path):
    del server.files[PATH]
    error = refused(downloads(server, tmp_path), source_file())
    assert error.code == "not_found"
    assert "404" in str(error)
    assert server.mirror + PATH in str(error)
    assert len(server.asked) == 1
    assert files_in(tmp_path) == []


def test_a_busy_server_is_asked_again(server, tmp_path):
    server.statuses = [503, 429]
    assert downloads(server, tmp_path).fetch(source_file())
    assert len(server.asked) == 3


def test_a_server_that_stays_busy_is_given_up(server, tmp_path):
    server.statuses = [503] * 10
    error = refused(downloads(server, tmp_path), source_file())
    assert "503" in str(error)
    assert len(server.asked) == resuming.N_TRIES


def test_a_server_that_does_not_answer_is_given_up(server, tmp_path):
    server.is_slow = True
    error = refused(downloads(server, tmp_path), source_file())
    assert error.code == "cut_connection"
    assert "timed out" in str(error)
    assert len(server.asked) == resuming.N_TRIES


def test_without_a_network_each_server_is_tried_for_one_file_only(tmp_path):
    with publishing() as publisher:
        gone = publisher.mirror
    unreachable = Downloads(tmp_path, Bar(), gone)
    error = refused(unreachable, source_file())
    assert error.code == "no_network"
    assert gone.removeprefix("http://") in str(error)
    assert "internet" in error.remedy
    assert "units.zip was not tried" in str(refused(unreachable, source_file()))
    assert files_in(tmp_path) == []


def test_a_page_in_place_of_a_zip_is_not_recorded(server, tmp_path):
    server.files[PATH] = b"<!DOCTYPE html><title>Request Rejected</title>"
    error = refused(downloads(server, tmp_path), source_file())
    assert error.code == "not_a_zip"
    assert "<!DOCTYPE html>" in str(error)
    assert files_in(tmp_path) == []


def test_a_zip_with_damaged_bytes_is_not_recorded(server, tmp_path):
    damaged = bytearray(CONTENT)
    damaged[PIECE] ^= 255
    server.files[PATH] = bytes(damaged)
    assert refused(downloads(server, tmp_path), source_file()).code == "not_a_zip"
    assert files_in(tmp_path) == []


def test_a_mirror_keeps_the_path():
    assert at_mirror("https://a.gov/x/y.zip", "http://b.org/all/") == "http://b.org/all/x/y.zip"
    assert at_mirror("https://a.gov/x/y.zip", None) == "https://a.gov/x/y.zip"
    with pytest.raises(ValueError, match=r"b\.org"):
        Downloads(Path("nowhere"), Bar(), "b.org")


@pytest.mark.parametrize("text", ["missouri", "MO", "mo", "29", "Missouri"])
def test_states_are_known_by_name_and_code(text):
    assert find_state(text).fips == "29"


@pytest.mark.parametrize(("text", "name"), [("6", "California"), ("west-virginia", "West Virginia")])
def test_states_are_known_without_zeros_and_blanks(text, name):
    assert find_state(text).name == name


def test_an_unknown_state_is_refused():
    with pytest.raises(DataError, match="no state 'Atlantis'"):
        find_state("Atlantis")


def test_every_source_is_complete():
    for text in ("MO", "DC", "NY"):
        names = []
        for source in sources_of(find_state(text)):
            assert source.kind in ("units", "figures", "plan", "testimonies")
            assert source.licence
            assert source.citation
            for file in source.files:
                assert re.fullmatch(r"https://[a-z0-9.]+/[\w./-]+", file.address), file.address
                assert re.fullmatch(r"|sha256:[0-9a-f]{64}|git:[0-9a-f]{40}", file.checksum)
                names.append(file.name)
        assert len(names) == len(set(names))
    addresses = [file.address for source in sources_of(find_state("NY")) for file in source.files]
    assert any(address.endswith("/New_York/ny2020.pl.zip") for address in addresses)
    assert any(address.endswith("/BG/tl_2020_36_bg.zip") for address in addresses)
