"""The command `bottomup fetch` against a server on this machine."""

import shlex
from urllib.parse import urlsplit

import geopandas as gpd
import pytest
import shapely

from bottomup.dashboard import fetch
from bottomup.dashboard.cli import main
from bottomup.data import resuming
from bottomup.data.sources import SourceFile, sources_of
from publishing import PEOPLE, VOTING_DISTRICTS, blob_id, publishing, shapefile, summary_file, zipped

COI = "MO_20210924_phase_C_coi"


def box(left, bottom, right, top):
    return shapely.box(-92 + left / 100, 38 + bottom / 100, -92 + right / 100, 38 + top / 100)


def published(folder):
    """Return the files of a small Missouri: two counties, each of two block groups, side by side."""
    cells = [box(0, 0, 1, 1), box(0, 1, 1, 2), box(1, 0, 2, 1), box(1, 1, 2, 2)]
    halves = [box(0, 0, 1, 2), box(1, 0, 2, 2)]

    def zip_of(name, shapes, **columns):
        frame = gpd.GeoDataFrame(columns, geometry=shapes, crs="EPSG:4269")
        return zipped(shapefile(folder / name, name, frame))

    testimonies = gpd.GeoDataFrame({"plan_id": [" c1-1", " c2-1"]}, geometry=halves, crs="EPSG:4269")
    parts = shapefile(folder / COI, COI, testimonies.to_crs("EPSG:32615"))
    ids, districts = list(PEOPLE), list(VOTING_DISTRICTS)
    return {
        "tl_2020_29_bg.zip": zip_of("bg", cells, GEOID=ids, NAMELSAD="Block Group", ALAND=1),
        "tl_2020_29_vtd20.zip": zip_of("vtd", halves, GEOID20=districts, NAMELSAD20="VTD", ALAND20=1),
        "mo2020.pl.zip": summary_file(),
        "tl_2022_29_cd118.zip": zip_of("cd118", halves, CD118FP=["01", "02"]),
        "HB1_Cong_Dist_2025.zip": zip_of("hb1", [box(0, 0, 2, 1), box(0, 1, 2, 2)], District=[1.0, 2.0]),
        **parts,
    }


@pytest.fixture(scope="module")
def contents(tmp_path_factory):
    return published(tmp_path_factory.mktemp("published"))


@pytest.fixture
def server(contents, tmp_path, monkeypatch):
    monkeypatch.setattr(resuming, "PAUSE", 0.001)

    def with_small_files(state):
        """Return the real sources, with checksums of the small files where they have some."""
        return tuple(
            fetch.Source(
                **{
                    **vars(source),
                    "files": tuple(
                        SourceFile(
                            file.address,
                            file.name,
                            f"git:{blob_id(contents[file.name])}" if file.checksum else "",
                        )
                        for file in source.files
                    ),
                }
            )
            for source in sources_of(state)
        )

    monkeypatch.setattr(fetch, "sources_of", with_small_files)
    monkeypatch.chdir(tmp_path)
    with publishing() as publisher:
        for source in sources_of(fetch.find_state("MO")):
            for file in source.files:
                publisher.files[urlsplit(file.address).path] = contents[file.name]
        yield publisher


def path_of(server, name):
    return next(path for path in server.files if path.endswith(name))


def test_missouri_becomes_files_that_the_next_command_takes(server, tmp_path, capsys):
    assert main(["fetch", "missouri", "--mirror", server.mirror]) == 0
    out, err = capsys.readouterr()
    assert err == ""
    made = sorted(path.name for path in (tmp_path / "missouri").glob("*.gpkg"))
    assert made == [
        "block_groups.gpkg",
        "plan_cd118.gpkg",
        "plan_hb1_2025.gpkg",
        "testimonies.gpkg",
        "voting_districts.gpkg",
    ]
    assert "missouri/block_groups.gpkg: 4 units, 100 people" in out
    for text in ("Licence: MIT", "MGGG Redistricting Lab", "public domain", "House Bill 1 (2025)"):
        assert text in out
    # The line that it says to run next is run as it is.
    line = next(line for line in out.splitlines() if line.startswith("  bottomup check"))
    arguments = shlex.split(line)[1:]
    assert arguments[1:4] == ["missouri/block_groups.gpkg", "--plan", "missouri/plan_hb1_2025.gpkg"]
    assert main([*arguments, "--tolerance", "0.9"]) == 0
    out = capsys.readouterr().out
    assert "4 units" in out
    assert "100 people" in out


def test_a_second_run_downloads_nothing(server, tmp_path, capsys):
    main(["fetch", "MO", "--mirror", server.mirror, "--out", "a folder"])
    n_asked = len(server.asked)
    assert n_asked == len(server.files)
    assert main(["fetch", "MO", "--mirror", server.mirror, "--out", "a folder"]) == 0
    assert len(server.asked) == n_asked
    out = capsys.readouterr().out
    assert "already there" in out
    assert "bottomup check 'a folder/block_groups.gpkg'" in out
    assert len((tmp_path / "a folder" / "sources.lock").read_text().splitlines()) == n_asked + 1


def test_what_cannot_be_had_is_said_and_the_rest_is_made(server, tmp_path, capsys):
    del server.files[path_of(server, "tl_2020_29_vtd20.zip")]
    server.files[path_of(server, ".dbf")] += b"x"
    assert main(["fetch", "29", "--mirror", server.mirror]) == 1
    out, err = capsys.readouterr()
    assert "404" in err
    assert f"{COI}.dbf" in err
    assert "Not there: voting-districts, testimonies" in err
    assert "missouri/block_groups.gpkg: 4 units" in out
    assert "--plan missouri/plan_hb1_2025.gpkg" in out
    assert "Testimonies are yours to bring" in out
    assert not (tmp_path / "missouri" / "sources" / f"{COI}.dbf").exists()


def test_units_wait_for_their_figures(server, tmp_path, capsys):
    server.statuses = [200, 200, 403]
    assert main(["fetch", "29", "--mirror", server.mirror]) == 1
    out, err = capsys.readouterr()
    assert "403" in err
    assert "block_groups.gpkg: not made" in err
    assert "Next" not in out
    assert main(["fetch", "29", "--mirror", server.mirror]) == 0
    assert (tmp_path / "missouri" / "block_groups.gpkg").exists()


def test_the_mirror_may_be_in_the_environment(server, tmp_path, monkeypatch):
    monkeypatch.setenv("BOTTOMUP_MIRROR", server.mirror)
    assert main(["fetch", "missouri"]) == 0
    assert (tmp_path / "missouri" / "testimonies.gpkg").exists()


def test_the_list_needs_no_network(capsys, monkeypatch):
    monkeypatch.setattr("socket.socket.connect", lambda *_: pytest.fail("connected"))
    assert main(["fetch", "--list"]) == 0
    out = capsys.readouterr().out
    assert "https://www2.census.gov/geo/tiger/TIGER2020/BG/tl_2020_29_bg.zip" in out
    assert "git:c1d7bf83b5c66cc17ffbd6cdfc171f2c60a9a5e8" in out
    assert main(["fetch", "vt", "--list"]) == 0
    out = capsys.readouterr().out
    assert "Vermont/vt2020.pl.zip" in out
    assert "mggg" not in out


@pytest.mark.parametrize(
    ("arguments", "reason"),
    [
        ([], "name a state"),
        (["Atlantis"], "no state 'Atlantis'"),
        (["MO", "--mirror", "example.org"], "'example.org' is no address"),
    ],
)
def test_options_that_cannot_be_used_end_with_2(arguments, reason, capsys, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert main(["fetch", *arguments]) == 2
    assert reason in capsys.readouterr().err
