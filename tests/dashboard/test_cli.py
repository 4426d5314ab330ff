"""The command line, from its options to the files that it leaves."""

import json
import subprocess
import sys
import urllib.request

import numpy as np
import pandas as pd
import pytest

from bottomup.dashboard.cli import main


def test_a_seed_is_a_whole_number_and_not_negative(capsys):
    for seed in ("-1", "1.5", "x"):
        with pytest.raises(SystemExit) as stopped:
            main(["verify", "--seed", seed])
        assert stopped.value.code == 2
        assert f"--seed: must be a whole number, not negative; got '{seed}'" in capsys.readouterr().err


SMALL_GRID = ["--rows", "3", "--cols", "3", "--districts", "3", "--min-size", "2", "--max-size", "4"]


@pytest.mark.parametrize("moves", ["walk", "mixture"])
def test_verify_passes_and_its_control_fails(capsys, moves):
    options = ["verify", *SMALL_GRID, "--moves", moves, "--epsilon", "2", "--score", "cluster"]
    options += ["--steps", "200000"]
    assert main(options) == 0
    report = capsys.readouterr().out
    for line in (
        "Plans: ",
        "cut edges",
        "testimony score",
        "cluster score",
        "Total-variation distance",
        "PASS",
    ):
        assert line in report
    assert main([*options, "--control"]) == 1
    assert "FAIL" in capsys.readouterr().out


def test_verify_runs_a_ladder_and_judges_every_rung(capsys):
    options = ["verify", *SMALL_GRID, "--exchange", "--epsilon", "3", "--steps", "40000"]
    assert main(options) == 0
    report = capsys.readouterr().out
    for epsilon in ("0", "1.5", "3"):
        assert f"The rung at epsilon {epsilon}\n" in report
    assert report.count("PASS") == 3
    assert main([*options, "--control"]) == 1
    assert "FAIL" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--rows", "1"], "--rows and --cols must be at least 2; got 1 and 4"),
        (["--rows", "9", "--cols", "9"], "up to 64 units"),
        (["--step", "paper", "--exchange"], "--step paper does not go with --exchange"),
        (["--exchange", "--steps", "100"], "n_steps must be at least 4000"),
    ],
)
def test_verify_refuses_what_it_cannot_use(arguments, message, capsys):
    assert main(["verify", *arguments]) == 2
    assert message in capsys.readouterr().err


START = "import sys; from bottomup.dashboard.cli import main; sys.exit(main())"


@pytest.fixture
def serve(unused_port, wait_until, tmp_path):
    """Return what serves a page, and gives its markup and what the terminal says."""
    servers = []

    def start(*options):
        command = [sys.executable, "-c", START, "serve", "--no-show", "--port", str(unused_port), *options]
        with (tmp_path / "log.txt").open("w") as log:
            servers.append(subprocess.Popen(command, stdout=log, stderr=log))
        page = f"http://localhost:{unused_port}/app"
        wait_until(lambda: servers[0].poll() is not None or _answers(page), seconds=240)
        with urllib.request.urlopen(page) as answer:
            return answer.read().decode(), (tmp_path / "log.txt").read_text()

    yield start
    for server in servers:
        server.terminate()
        server.wait(20)


def test_serve_brings_up_the_page(serve):
    page, _ = serve()
    assert "<title>Redistricting from the bottom up" in page


def test_serve_says_what_it_cannot_read_and_shows_where_other_files_go(serve):
    page, said = serve("--units", "absent.gpkg", "--plan", "cd")
    assert "bottomup serve: there is no file 'absent.gpkg'" in said
    assert "`bottomup check`, with the same files, lists all" in said
    assert "<title>Your own data" in page


def _answers(page):
    try:
        with urllib.request.urlopen(page):
            return True
    except OSError:
        return False


def test_serve_refuses_options_that_contradict_each_other(capsys):
    assert main(["serve", "--no-show", "--demo", "--units", "absent.gpkg", "--plan", "cd"]) == 2
    assert "--demo and --units were both given" in capsys.readouterr().err


ROW_KEYS = {
    "map": str,
    "n_units": int,
    "mixture": str,
    "tolerance": float,
    "score": str,
    "epsilon": float,
    "starts": list,
    "proposals_per_second": float,
    "accepted_per_second": float,
    "score_ess_per_second": float,
    "score_r_hat": float,
    "score_ess_is_reliable": bool,
    "cut_edges_ess_per_second": float,
    "cut_edges_r_hat": float,
    "cut_edges_ess_is_reliable": bool,
    "resident_megabytes": float,
    "megabytes_per_chain": float,
    "cpu_seconds": float,
    "note": str,
}
ALWAYS = ("map", "n_units", "mixture", "tolerance", "score", "epsilon", "starts", "note")


def test_bench_measures_each_mixture_and_tolerance(grid_tables, capsys):
    options = ["bench", *grid_tables, "--plan", "even", "--seconds", "0.2", "--epsilon", "1"]
    assert main([*options, "--tolerance", "0.2", "0.3", "--json"]) == 0
    rows = json.loads(capsys.readouterr().out)
    assert [(row["mixture"], row["tolerance"]) for row in rows] == [
        ("walk", 0.2),
        ("mixture", 0.2),
        ("walk", 0.3),
        ("mixture", 0.3),
    ]
    for row in rows:
        assert {key: type(value) for key, value in row.items() if value is not None} == {
            key: kind for key, kind in ROW_KEYS.items() if row[key] is not None
        }
        assert list(row) == list(ROW_KEYS)
        assert row["starts"] == ["even", "random trees"]
        assert row["proposals_per_second"] > row["accepted_per_second"] > 0
        assert row["cut_edges_ess_per_second"] > 0
        assert row["cpu_seconds"] >= 0.2
        assert (row["epsilon"], row["n_units"], row["note"]) == (1.0, 64, "")


def test_bench_prints_a_table_and_begins_elsewhere_when_the_enacted_plan_is_out_of_bounds(
    grid_tables, capsys
):
    options = ["bench", *grid_tables, "--plan", "uneven", "--seconds", "0.1", "--tolerance", "0.2"]
    assert main(options) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[0].startswith("nodes: 64 units, 4 districts, testimony score, epsilon 0")
    head = next(i for i, line in enumerate(lines) if line.startswith("mixture "))
    assert lines[head].split()[:4] == ["mixture", "tolerance", "proposals", "accepted"]
    walk, note, mixture, after = lines[head + 1 : head + 5]
    assert walk.split()[:2] == ["walk", "20.00%"]
    assert mixture.split()[:2] == ["mixture", "20.00%"]
    assert len(walk.split()) == len(mixture.split()) == 11
    assert "not from the enacted plan" in note
    assert "+50" in note
    assert not after


def test_bench_says_why_a_tolerance_cannot_be_measured(grid_tables, capsys):
    """64 units of 10 people in three districts: 213.3 people each, which 1 % does not reach and 30 % does."""
    nodes = pd.read_csv(grid_tables[1], dtype=str)
    nodes["three"] = np.repeat([0, 1, 2], [24, 24, 16])
    nodes.to_csv(grid_tables[1], index=False)
    options = ["bench", *grid_tables, "--plan", "three", "--seconds", "0.1", "--tolerance"]
    assert main([*options, "0.001", "0.3", "--json"]) == 0
    rows = json.loads(capsys.readouterr().out)
    assert [row["proposals_per_second"] is None for row in rows] == [True, True, False, False]
    for row in rows[:2]:
        assert list(row) == list(ROW_KEYS)
        assert "tolerance 0.001 is too tight" in row["note"]
        assert all(row[key] is None for key in ROW_KEYS if key not in ALWAYS)
    assert main([*options, "0.01"]) == 0
    assert "no measurement: no plan with 3 districts of 212 to 215" in capsys.readouterr().out


def test_an_interrupt_keeps_the_rows_so_far(grid_tables, monkeypatch, capsys):
    from bottomup.sampler import benchmark

    measure, calls = benchmark.measure, []

    def interrupted(*arguments):
        calls.append(arguments)
        if len(calls) == 2:
            raise KeyboardInterrupt
        return measure(*arguments)

    monkeypatch.setattr(benchmark, "measure", interrupted)
    options = ["bench", *grid_tables, "--plan", "even", "--seconds", "0.1", "--tolerance", "0.2", "--json"]
    assert main(options) == 1
    output = capsys.readouterr()
    assert [row["mixture"] for row in json.loads(output.out)] == ["walk"]
    assert "Interrupted; rows measured before: 1" in output.err


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--seconds", "0"], "--seconds must be a positive number; got 0"),
        (["--units", "absent.gpkg", "--plan", "x"], "absent.gpkg"),
        (["--units", "x.csv", "--plan", "x", "--epsilon", "1"], "--epsilon 1 needs --testimonies"),
    ],
)
def test_bench_refuses_what_it_cannot_use(arguments, message, capsys):
    assert main(["bench", *arguments]) == 2
    assert message in capsys.readouterr().err
