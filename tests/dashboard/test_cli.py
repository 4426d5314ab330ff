"""The command line, from its options to the files that it leaves."""

import json
import subprocess
import sys
import urllib.request

import networkx as nx
import numpy as np
import pandas as pd
import pytest

from bottomup.dashboard.cli import main
from bottomup.data.demo import load_demo


def check_plans(folder, ids, population, edges):
    """Every recorded plan is connected and balanced and cuts as many edges as it says."""
    run = json.loads((folder / "run.json").read_text())
    plans = pd.read_parquet(folder / "plans.parquet")
    units = pd.read_csv(folder / "units.csv", dtype=str)
    assert units["id"].tolist() == list(ids)
    graph = nx.Graph()
    graph.add_nodes_from(range(len(ids)))
    graph.add_edges_from(edges)
    target = run["target"]
    for row in plans.itertuples():
        assert row.assignment.dtype == np.uint8
        for d in range(target["n_districts"]):
            members = np.flatnonzero(row.assignment == d)
            assert nx.is_connected(graph.subgraph(members.tolist()))
            people = population[members].sum()
            assert people == row.population[d]
            assert target["lower"] <= people <= target["upper"]
        assert row.cut_edges == (row.assignment[edges[:, 0]] != row.assignment[edges[:, 1]]).sum()
    return run, plans


def test_sample_leaves_a_named_run_of_valid_plans(tmp_path, capsys):
    demo = load_demo()
    options = ["sample", "--demo", "--epsilon", "2", "--steps", "4000", "--thin", "200", "--seed", "5"]
    assert main([*options, "--out", str(tmp_path / "a")]) == 0
    geography = demo.geography
    run, plans = check_plans(tmp_path / "a", geography.ids, geography.population, geography.edges)
    assert plans["step"].tolist() == list(range(200, 4001, 200))
    assert (plans["chain"] == 0).all()
    assert run["outcome"]["complete"]
    outcomes = run["outcome"]["outcomes"]
    assert list(outcomes) == ["walk"]
    assert run["outcome"]["steps"] == sum(outcomes["walk"].values()) == 4000
    black, vap = geography.role("black_vap"), geography.role("vap")
    last = plans.iloc[-1]
    share = np.bincount(last["assignment"], black) / np.bincount(last["assignment"], vap)
    np.testing.assert_allclose(last["black_vap_share"], share)
    assert f"Run {run['name']}" in capsys.readouterr().out

    # The same name gives the same plans; another seed another name.
    assert main([*options, "--out", str(tmp_path / "b")]) == 0
    again, same = check_plans(tmp_path / "b", geography.ids, geography.population, geography.edges)
    assert again["name"] == run["name"]
    pd.testing.assert_frame_equal(same, plans)
    assert main([*options[:-1], "6", "--out", str(tmp_path / "c")]) == 0
    assert json.loads((tmp_path / "c" / "run.json").read_text())["name"] != run["name"]


def test_sample_mixes_moves_on_request(tmp_path):
    demo = load_demo()
    options = ["sample", "--demo", "--moves", "mixture", "--epsilon", "1", "--score", "cluster"]
    assert main([*options, "--steps", "20000", "--thin", "1000", "--out", str(tmp_path / "run")]) == 0
    geography = demo.geography
    run, _ = check_plans(tmp_path / "run", geography.ids, geography.population, geography.edges)
    assert set(run["outcome"]["outcomes"]) == {"walk", "merge_split", "flip"}
    assert all(outcomes["accepted"] for outcomes in run["outcome"]["outcomes"].values())
    assert min(run["mixture"].values()) > 0


def test_sample_makes_its_own_start(tmp_path):
    nodes, edges = tmp_path / "nodes.csv", tmp_path / "edges.csv"
    cells = [(i, j) for i in range(8) for j in range(8)]
    name = {cell: f"0{cell[0]}{cell[1]}" for cell in cells}
    nodes.write_text("GEOID20,pop20\n" + "".join(f"{name[c]},{100 + 7 * c[0]}\n" for c in cells))
    pairs = [(a, b) for a in cells for b in cells if a < b and abs(a[0] - b[0]) + abs(a[1] - b[1]) == 1]
    edges.write_text("u,v\n" + "".join(f"{name[a]},{name[b]}\n" for a, b in pairs))
    options = ["sample", "--units", str(nodes), "--edges", str(edges), "--tolerance", "0.1"]
    options += ["--steps", "2000", "--thin", "100"]
    assert main([*options, "--districts", "4", "--out", str(tmp_path / "run")]) == 0
    place = {cell: i for i, cell in enumerate(cells)}
    population = np.array([100 + 7 * i for i, _ in cells])
    run, plans = check_plans(
        tmp_path / "run", name.values(), population, np.array([(place[a], place[b]) for a, b in pairs])
    )
    assert run["target"]["n_districts"] == 4
    assert run["start_plan"] == "made from random trees"
    assert plans["score_testimony"].isna().all()
    assert plans["black_vap_share"].isna().all()


@pytest.mark.real
def test_missouri_runs_from_its_published_files(real_files, tmp_path):
    folder = real_files / "missouri_vtd2020"
    options = ["sample", "--units", str(folder / "nodes.csv"), "--edges", str(folder / "edges.csv")]
    options += ["--id", "GEOID20", "--population", "pop20", "--plan", "cd2025_hb1", "--testimonies"]
    options += [str(real_files / "missouri_coi" / "surrogate_testimonies.csv"), "--epsilon", "2"]
    assert main([*options, "--steps", "10000", "--out", str(tmp_path / "run")]) == 0
    nodes = pd.read_csv(folder / "nodes.csv", dtype={"GEOID20": str})
    place = {unit: i for i, unit in enumerate(nodes["GEOID20"])}
    pairs = pd.read_csv(folder / "edges.csv", dtype=str)
    edges = np.column_stack([pairs["u"].map(place), pairs["v"].map(place)])
    run, plans = check_plans(tmp_path / "run", nodes["GEOID20"], nodes["pop20"].to_numpy(), edges)
    assert run["target"]["cut_edges"] == 645
    assert len(plans) == 50
    assert plans["score_testimony"].between(0.5, 0.9).all()


@pytest.mark.real
def test_new_hampshire_runs_from_its_shapefile(real_files, tmp_path):
    graph = json.loads((real_files / "new_hampshire" / "NH_dual_graph_stripped.json").read_text())
    options = ["sample", "--units", str(real_files / "new_hampshire" / "NH.shp"), "--plan", "CD"]
    options += ["--tolerance", "0.1", "--steps", "20000", "--out", str(tmp_path / "run")]
    assert main(options) == 0
    nodes = sorted(graph["nodes"], key=lambda node: node["id"])
    check_plans(
        tmp_path / "run",
        [node["Precinct"] for node in nodes],
        np.array([node["TOTPOP"] for node in nodes]),
        np.array([(link["source"], link["target"]) for link in graph["links"]]),
    )


def test_nothing_is_overwritten_and_every_refusal_has_a_reason(tmp_path, capsys):
    options = ["sample", "--demo", "--steps", "400", "--out", str(tmp_path / "run")]
    assert main(options) == 0
    before = (tmp_path / "run" / "plans.parquet").read_bytes()
    capsys.readouterr()
    for arguments, message in [
        (options, "already holds a run"),
        ([*options, "--thin", "0"], "--thin between 1 and --steps; got 400 and 0"),
        ([*options, "--tolerance", "0.0001"], "cd2025"),
        ([*options, "--epsilon", "-1"], "epsilon must be finite and not negative; got -1.0"),
        (["sample", "--units", "absent.gpkg", "--plan", "x", "--out", "y"], "absent.gpkg"),
        (["verify", "--rows", "1"], "--rows and --cols must be at least 2; got 1 and 4"),
        (["verify", "--rows", "9", "--cols", "9"], "up to 64 units"),
    ]:
        assert main(arguments) == 2
        output = capsys.readouterr()
        assert message in output.err
        assert "Traceback" not in output.err
    assert (tmp_path / "run" / "plans.parquet").read_bytes() == before


@pytest.fixture
def tables(tmp_path):
    """Options for a map of two rows of three units, and a plan of two districts."""
    nodes, edges = tmp_path / "nodes.csv", tmp_path / "edges.csv"
    nodes.write_text("GEOID20,pop20,cd,one\n" + "".join(f"0{i},10,{i // 3},1\n" for i in range(6)))
    edges.write_text("u,v\n00,01\n01,02\n03,04\n04,05\n00,03\n01,04\n02,05\n")
    return ["sample", "--units", str(nodes), "--edges", str(edges), "--out", str(tmp_path / "run")]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--plan", "cd", "--districts", "2"], "--districts 2 and --plan cd were both given"),
        (["--plan", "cd", "--epsilon", "1"], "--epsilon 1 needs --testimonies"),
        (["--plan", "cd", "--id", "nope"], "or name it with --id."),
        (["--plan", "cd", "--population", "nope"], "or name it with --population."),
        (
            ["--plan", "cd", "--testimonies", "t.csv"],
            "Rename the right one to 'testimony'. The columns are: who.",
        ),
        (["--plan", "one"], "the number of districts must be from 2 to the number of units, 6; got 1"),
        (
            ["--districts", "7", "--tolerance", "0.5"],
            "the number of districts must be from 2 to the number of units, 6; got 7",
        ),
        ([], "--districts that you give"),
    ],
)
def test_refusals_speak_of_options(tables, tmp_path, monkeypatch, capsys, arguments, message):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "t.csv").write_text("who\nAnn\n")
    assert main([*tables, *arguments]) == 2
    error = capsys.readouterr().err
    assert message in error
    assert "_column" not in error
    assert not (tmp_path / "run").exists()


def test_a_seed_is_a_whole_number_and_not_negative(capsys):
    for seed in ("-1", "1.5", "x"):
        with pytest.raises(SystemExit) as stopped:
            main(["verify", "--seed", seed])
        assert stopped.value.code == 2
        assert f"--seed: must be a whole number, not negative; got '{seed}'" in capsys.readouterr().err


def test_an_interrupt_before_the_walk_has_nothing_to_keep(tables, monkeypatch, capsys):
    def interrupted(step, mixture):
        raise KeyboardInterrupt

    monkeypatch.setattr("bottomup.sampler.chain.warm_up", interrupted)
    assert main([*tables, "--plan", "cd"]) == 1
    assert "bottomup sample: interrupted" in capsys.readouterr().err


def test_an_interrupt_keeps_what_was_recorded(tmp_path, monkeypatch):
    from bottomup.sampler.chain import Chain

    advance = Chain.advance

    def interrupted(self, n_steps, thin):
        if self.steps >= 600:
            raise KeyboardInterrupt
        return advance(self, min(n_steps, 600), thin)

    monkeypatch.setattr(Chain, "advance", interrupted)
    assert main(["sample", "--demo", "--steps", "5000", "--out", str(tmp_path / "run")]) == 1
    run = json.loads((tmp_path / "run" / "run.json").read_text())
    plans = pd.read_parquet(tmp_path / "run" / "plans.parquet")
    assert not run["outcome"]["complete"]
    assert run["outcome"]["n_records"] == len(plans) == run["outcome"]["steps"] // 200 > 0


def test_verify_passes_and_its_control_fails(capsys):
    options = [
        "verify",
        "--rows",
        "3",
        "--cols",
        "3",
        "--districts",
        "3",
        "--min-size",
        "2",
        "--max-size",
        "4",
    ]
    options += ["--epsilon", "2", "--score", "cluster", "--steps", "200000"]
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


START = "import sys; from bottomup.dashboard.cli import main; sys.exit(main())"


def test_serve_brings_up_the_page(unused_port, wait_until, tmp_path):
    with (tmp_path / "log.txt").open("w") as log:
        server = subprocess.Popen(
            [sys.executable, "-c", START, "serve", "--no-show", "--port", str(unused_port)],
            stdout=log,
            stderr=log,
        )
    try:
        page = f"http://localhost:{unused_port}/app"
        wait_until(lambda: server.poll() is not None or _answers(page), seconds=240)
        with urllib.request.urlopen(page) as answer:
            assert "Redistricting from the bottom up" in answer.read().decode()
    finally:
        server.terminate()
        server.wait(20)


def _answers(page):
    try:
        with urllib.request.urlopen(page):
            return True
    except OSError:
        return False


def test_serve_refuses_what_it_cannot_read_before_a_browser_opens(capsys):
    assert main(["serve", "--no-show", "--units", "absent.gpkg", "--plan", "cd"]) == 2
    assert "absent.gpkg" in capsys.readouterr().err


@pytest.fixture
def grid_tables(tmp_path):
    """Options for 64 units of 10 people, with plans of four districts: rows, and rows that are unequal."""
    nodes, edges = tmp_path / "nodes.csv", tmp_path / "edges.csv"
    cells = [(i, j) for i in range(8) for j in range(8)]
    unequal = [0, 0, 0, 1, 1, 2, 2, 3]
    lines = [f"{i}{j},10,{i // 2},{unequal[i]}\n" for i, j in cells]
    nodes.write_text("GEOID20,pop20,even,uneven\n" + "".join(lines))
    pairs = [(a, b) for a in cells for b in cells if a < b and abs(a[0] - b[0]) + abs(a[1] - b[1]) == 1]
    edges.write_text("u,v\n" + "".join(f"{a[0]}{a[1]},{b[0]}{b[1]}\n" for a, b in pairs))
    testimonies = tmp_path / "testimonies.csv"
    testimonies.write_text("testimony,GEOID20\na,00\na,01\nb,33\nb,43\nb,53\n")
    return ["--units", str(nodes), "--edges", str(edges), "--testimonies", str(testimonies)]


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
