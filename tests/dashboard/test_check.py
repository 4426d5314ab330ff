"""``bottomup check``: status, table, JSON and the log of repairs."""

from __future__ import annotations

import json
import time

import pytest
from awkward import FRAMES, OTHERS, box, grid, write

from bottomup.dashboard.cli import main

STATUS = {
    **dict.fromkeys([*FRAMES, *OTHERS], 0),
    "island of one unit": 1,
    "island of two units": 1,
    "detached unit": 1,
    "no population in two units": 1,
    "negative population": 1,
    "bow tie": 1,
    "no shape": 1,
    "points mixed in": 1,
    "hidden CRS": 1,
    "table alone": 1,
    "no map": 2,
}


@pytest.mark.parametrize("name", [*FRAMES, *OTHERS])
def test_the_status_says_whether_files_are_fit(name, tmp_path, capsys):
    path = write(name, tmp_path)
    before = time.process_time()
    assert main(["check", str(path), "--json"]) == STATUS[name]
    assert time.process_time() - before < 5
    rows = json.loads(capsys.readouterr().out)
    assert all(list(row) == ["code", "severity", "units", "message", "remedy"] for row in rows)
    assert all(isinstance(row["units"], list) for row in rows)
    severities = {row["severity"] for row in rows}
    assert ("settle" in severities, "unreadable" in severities) == (STATUS[name] == 1, STATUS[name] == 2)


@pytest.mark.parametrize(
    ("name", "tolerance", "codes"),
    [
        ("plain", "0.1", []),
        ("plan in pieces", "0.1", ["district_not_connected"]),
        ("unbalanced plan", "0.1", ["district_out_of_bounds"]),
        ("one huge unit", "0.1", ["unit_too_large", "district_out_of_bounds"]),
        ("9,025 units", "0.1", []),
    ],
)
def test_plans_are_part_of_it(name, tolerance, codes, tmp_path, capsys):
    path = write(name, tmp_path)
    status = main(["check", str(path), "--plan", "district", "--tolerance", tolerance, "--json"])
    found = [row["code"] for row in json.loads(capsys.readouterr().out) if row["severity"] == "settle"]
    assert (status, found) == (int(bool(codes)), codes)


def test_the_table_says_what_which_units_and_what_to_do(tmp_path, capsys, monkeypatch):
    monkeypatch.setenv("COLUMNS", "120")
    assert main(["check", "--units", str(write("island of two units", tmp_path)), "--districts", "4"]) == 1
    lines = capsys.readouterr().out.splitlines()
    assert lines[0] == "units: 66 units, 113 pairs of neighbours, 8,232 people"
    assert "MUST BE SETTLED BEFORE A RUN" in lines
    assert "FOR THE RECORD" in lines
    assert "WORTH A LOOK" not in lines
    head = lines[lines.index("MUST BE SETTLED BEFORE A RUN") + 1]
    assert head.split("  ")[0] == "What"
    column = head.index("Which")
    assert any(line[column:].startswith("2: 09990000,") for line in lines)
    assert lines[-1] == "1 finding must be settled before a run."
    assert max(map(len, lines)) <= 120


def test_repairs_are_saved_and_replayed(tmp_path, capsys):
    path, log = str(write("island of two units", tmp_path)), str(tmp_path / "repairs.csv")
    chosen = ["--repair", "join", "09990001", "--repair", "cut-edge", "09000000", "09000001"]
    assert main(["check", path, *chosen, "--save-repairs", log]) == 0
    assert "give it to other commands with --repairs" in capsys.readouterr().out
    assert main(["check", path, "--repairs", log, "--repair", "drop", "09000063", "--json"]) == 0
    rows = {row["code"]: row["message"] for row in json.loads(capsys.readouterr().out)}
    assert rows["repairs"] == (
        "repairs as chosen: join 09990000 09000007; cut-edge 09000000 09000001; drop 09000063"
    )


def test_a_repaired_map_is_sampled_under_a_name_of_its_own(tmp_path, capsys):
    path, log = str(write("plain", tmp_path)), tmp_path / "repairs.csv"
    options = ["--units", path, "--plan", "district", "--tolerance", "0.3", "--steps", "40", "--thin", "20"]
    names = []
    for rows in ("", "add-edge,09000000,09000009,\n", "add-edge,09000000,09000009,a bridge\n"):
        log.write_text(f"action,subject,neighbour,why\n{rows}")
        folder = tmp_path / f"run{len(names)}"
        given = ["--repairs", str(log)] if rows else []
        assert main(["sample", *options, "--chains", "1", "--out", str(folder), *given]) == 0
        run = json.loads((folder / "run.json").read_text())
        assert run["geography"].get("repairs", {}).get("rows") == (
            ["add-edge 09000000 09000009"] if rows else None
        )
        names.append(run["name"])
    assert names[0] != names[1] == names[2]


def test_testimonies_are_part_of_it(tmp_path, capsys):
    path = str(write("plain", tmp_path))
    frame = grid().head(3)[["geometry"]].assign(id=["a", "b", "c"])
    frame.geometry = [box(0, 0, 2, 2), box(0.1, 0.1, 0.2, 0.2), box(0, 0, 8, 8)]
    frame.to_crs(4326).to_file(tmp_path / "testimonies.geojson")
    given = ["--plan", "district", "--testimonies", str(tmp_path / "testimonies.geojson")]
    assert main(["check", path, *given, "--json"]) == 0
    looks = {
        row["code"]: row["units"] for row in json.loads(capsys.readouterr().out) if row["severity"] == "look"
    }
    assert looks == {"testimony_empty": ["b"], "testimony_too_large": ["c"]}
    (tmp_path / "none.geojson").write_text('{"type": "FeatureCollection", "features": []}')
    assert main(["check", path, "--testimonies", str(tmp_path / "none.geojson")]) in (1, 2)
    assert main(["check", path, "--plan", "nowhere"]) == 1


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ([], "name the file of units"),
        (["a.gpkg", "--units", "b.gpkg"], "given twice: a.gpkg and --units b.gpkg"),
        (["a.gpkg", "--repair", "paint"], "no repair 'paint'"),
        (["a.gpkg", "--save-repairs", "log.csv"], "there are no repairs to save"),
    ],
)
def test_options_that_cannot_be_used_are_refused(arguments, message, capsys):
    assert main(["check", *arguments]) == 2
    assert message in capsys.readouterr().err


def test_a_file_that_is_not_there_is_unreadable(capsys):
    assert main(["check", "absent.gpkg"]) == 2
    assert "There is no file 'absent.gpkg'." in capsys.readouterr().out
    assert main(["check", "absent.gpkg", "--id", "x", "--json"]) == 2
    assert [row["code"] for row in json.loads(capsys.readouterr().out)] == ["no_file"]
