"""The command ``bottomup sample``, from its options to the files that it leaves."""

import json
import signal

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


def contents(folder):
    """Every file of a run's plans, byte for byte."""
    return {part.name: part.read_bytes() for part in (folder / "plans.parquet").iterdir()}


def run_sample(folder, *options):
    """Run the command into a folder; return its ``run.json`` and its plans."""
    assert main(["sample", *options, "--out", str(folder)]) == 0
    return json.loads((folder / "run.json").read_text()), pd.read_parquet(folder / "plans.parquet")


def test_sample_leaves_a_named_run_of_valid_plans_from_unlike_starts(tmp_path, capsys):
    demo = load_demo()
    options = ["--demo", "--moves", "walk", "--epsilon", "2", "--steps", "4000", "--thin", "200"]
    run_sample(tmp_path / "a", *options, "--seed", "5")
    geography = demo.geography
    run, plans = check_plans(tmp_path / "a", geography.ids, geography.population, geography.edges)
    assert plans["step"].tolist() == [step for step in range(200, 4001, 200) for _ in range(2)]
    assert plans["chain"].tolist() == [0, 1] * 20
    assert (plans["epsilon"] == 2).all()
    assert run["start_plans"] == ["cd2025", "made from random trees"]
    assert len(set(run["starts"])) == run["chains"] == 2
    assert run["exchange"] is None
    outcome = run["outcome"]
    assert outcome["complete"]
    assert [list(outcomes) for outcomes in outcome["outcomes"]] == [["walks"]] * 2
    assert all(sum(outcomes["walks"].values()) == 4000 for outcomes in outcome["outcomes"])
    black, vap = geography.numbers("bvap20"), geography.numbers("vap20")
    last = plans.iloc[-1]
    share = np.bincount(last["assignment"], black) / np.bincount(last["assignment"], vap)
    np.testing.assert_allclose(last["black_vap_share"], share)
    report = capsys.readouterr().out
    assert f"Run {run['name']}" in report
    assert outcome["diagnostics"]["conclusion"] in report
    # The chains have begun as far apart as the plans that they began at, and 20 draws are not many.
    assert "It is too early to tell whether the 2 chains from unlike starts agree" in report

    # The same name gives the same plans, whatever the threads and the clock; another seed another name.
    again, same = run_sample(tmp_path / "b", *options, "--seed", "5", "--threads", "2")
    assert again["name"] == run["name"]
    pd.testing.assert_frame_equal(same, plans)
    assert contents(tmp_path / "a") == contents(tmp_path / "b")
    other, _ = run_sample(tmp_path / "c", *options, "--seed", "6")
    assert other["name"] != run["name"]


def test_the_diagnostics_have_a_row_for_each_quantity(tmp_path, capsys):
    run, _ = run_sample(tmp_path / "run", "--demo", "--steps", "40000", "--thin", "1000", "--start", "cd2022")
    assert run["start_plans"] == ["cd2025", "cd2022"]
    assert set(run["outcome"]["outcomes"][0]) == set(run["mixture"])
    assert min(run["mixture"].values()) > 0
    diagnostics = run["outcome"]["diagnostics"]
    assert diagnostics["reference"] == "cd2025"
    (rung,) = diagnostics["by_epsilon"]
    shares = [f"{name} {rank}" for name in ("Black", "Democratic") for rank in range(1, 9)]
    assert list(rung["quantities"]) == [
        *("score_testimony", "score_cluster", "cut_edges"),
        *shares,
        "units_moved",
    ]
    for figures in rung["quantities"].values():
        assert figures["draws_of_each_chain"] == 20
        assert figures["rhat"] > 0.9
        assert figures["ess_bulk"] > 0
        assert figures["ess_bulk_per_second"] == pytest.approx(
            figures["ess_bulk"] / run["outcome"]["seconds"], rel=0.01
        )
    report = capsys.readouterr().out
    for title in ("testimony score", "lowest Black share", "2nd lowest Democratic share", "units with new"):
        assert f"\n{title}" in report


def test_one_chain_claims_no_agreement(tmp_path, capsys):
    run, plans = run_sample(tmp_path / "run", "--demo", "--chains", "1", "--steps", "2000", "--thin", "500")
    assert run["start_plans"] == ["cd2025"]
    assert plans["chain"].tolist() == [0] * 4
    assert run["outcome"]["diagnostics"]["by_epsilon"][0]["verdict"] == "one start"
    assert "One chain from one start: agreement cannot be claimed" in capsys.readouterr().out


def test_a_ladder_records_every_rung(tmp_path, capsys):
    options = ["--demo", "--exchange", "--rungs", "0", "0.5", "1", "--burn-in", "3", "--steps", "10000"]
    run, plans = run_sample(tmp_path / "a", *options, "--thin", "3000")
    demo = load_demo().geography
    check_plans(tmp_path / "a", demo.ids, demo.population, demo.edges)
    size = run["exchange"]["steps_per_round"]
    assert run["exchange"] == {
        "rungs": [0, 0.5, 1],
        "rungs_are": "given",
        "burn_in_rounds": 3,
        "steps_per_round": size,
    }
    outcome = run["outcome"]
    # Whole rounds: one for each record.
    assert outcome["thin"] == size
    assert outcome["steps"] == round(10000 / size) * size
    assert outcome["rungs"] == [0, 0.5, 1]
    assert len(outcome["exchange_rates"]) == 2
    assert len(outcome["round_trips"]) == 2
    assert len(outcome["outcomes"]) == 3
    assert [rung["epsilon"] for rung in outcome["diagnostics"]["by_epsilon"]] == [0, 0.5, 1]
    rows = [(chain, epsilon) for chain in (0, 1) for epsilon in (0, 0.5, 1)]
    n_rounds = outcome["steps"] // size
    assert list(zip(plans["chain"], plans["epsilon"], strict=True)) == rows * n_rounds
    assert plans["step"].tolist() == [n * size for n in range(1, n_rounds + 1) for _ in rows]
    report = capsys.readouterr().out
    assert f"Rounded to whole rounds of {size:,} steps" in report
    assert "2 ladders at the top rung, epsilon 1" in report

    again, same = run_sample(tmp_path / "b", *options, "--thin", "3000", "--threads", "2")
    assert again["name"] == run["name"]
    pd.testing.assert_frame_equal(same, plans)


def test_a_ladder_places_its_rungs_in_burn_in(grid_tables, tmp_path):
    options = [*grid_tables, "--plan", "even", "--tolerance", "0.3", "--exchange", "--epsilon", "1"]
    options += ["--steps", "1000", "--thin", "100", "--burn-in", "81"]
    run, plans = run_sample(tmp_path / "a", *options)
    rungs = run["outcome"]["rungs"]
    assert (rungs[0], rungs[-1]) == (0, 1)
    assert run["exchange"]["rungs_are"] == "placed in burn-in"
    assert len(run["exchange"]["first_rungs"]) == 8
    assert len(rungs) < 8
    assert sorted(set(plans["epsilon"])) == rungs
    # Records begin with the first whole stretch after the burn-in.
    assert plans["step"].min() == run["outcome"]["thin"]
    assert len(plans) == run["outcome"]["steps"] // run["outcome"]["thin"] * len(rungs) * 2
    longer, _ = run_sample(tmp_path / "b", *options[:-1], "200")
    assert longer["name"] != run["name"]


def test_sample_makes_its_own_start(tmp_path):
    nodes, edges = tmp_path / "nodes.csv", tmp_path / "edges.csv"
    cells = [(i, j) for i in range(8) for j in range(8)]
    name = {cell: f"0{cell[0]}{cell[1]}" for cell in cells}
    nodes.write_text("GEOID20,pop20\n" + "".join(f"{name[c]},{100 + 7 * c[0]}\n" for c in cells))
    pairs = [(a, b) for a in cells for b in cells if a < b and abs(a[0] - b[0]) + abs(a[1] - b[1]) == 1]
    edges.write_text("u,v\n" + "".join(f"{name[a]},{name[b]}\n" for a, b in pairs))
    options = ["sample", "--units", str(nodes), "--edges", str(edges), "--tolerance", "0.1"]
    options += ["--steps", "2000", "--thin", "100", "--chains", "3"]
    assert main([*options, "--districts", "4", "--out", str(tmp_path / "run")]) == 0
    place = {cell: i for i, cell in enumerate(cells)}
    population = np.array([100 + 7 * i for i, _ in cells])
    run, plans = check_plans(
        tmp_path / "run", name.values(), population, np.array([(place[a], place[b]) for a, b in pairs])
    )
    assert run["target"]["n_districts"] == 4
    assert run["start_plans"] == ["made from random trees"] * 3
    assert len(set(run["starts"])) == 3
    assert plans["score_testimony"].isna().all()
    assert not [name for name in plans.columns if name.endswith("_share")]


@pytest.mark.real
def test_missouri_runs_from_its_published_files(real_files, tmp_path):
    folder = real_files / "missouri_vtd2020"
    options = ["sample", "--units", str(folder / "nodes.csv"), "--edges", str(folder / "edges.csv")]
    options += ["--id", "GEOID20", "--population", "pop20", "--plan", "cd2025_hb1", "--testimonies"]
    options += [str(real_files / "missouri_coi" / "surrogate_testimonies.csv"), "--epsilon", "2"]
    assert main([*options, "--steps", "10000", "--thin", "200", "--out", str(tmp_path / "run")]) == 0
    # Units come in the order of their ids.
    nodes = pd.read_csv(folder / "nodes.csv", dtype={"GEOID20": str}).sort_values("GEOID20")
    place = {unit: i for i, unit in enumerate(nodes["GEOID20"])}
    pairs = pd.read_csv(folder / "edges.csv", dtype=str)
    edges = np.column_stack([pairs["u"].map(place), pairs["v"].map(place)])
    run, plans = check_plans(tmp_path / "run", nodes["GEOID20"], nodes["pop20"].to_numpy(), edges)
    assert run["target"]["cut_edges"] == 645
    assert len(plans) == 100
    assert plans["score_testimony"].between(0.4, 0.9).all()


@pytest.mark.real
def test_new_hampshire_runs_from_its_shapefile(real_files, tmp_path):
    graph = json.loads((real_files / "new_hampshire" / "NH_dual_graph_stripped.json").read_text())
    options = ["sample", "--units", str(real_files / "new_hampshire" / "NH.shp"), "--plan", "CD"]
    options += ["--tolerance", "0.1", "--steps", "20000", "--out", str(tmp_path / "run")]
    assert main(options) == 0
    nodes = sorted(graph["nodes"], key=lambda node: node["Precinct"])
    place = {node["id"]: i for i, node in enumerate(nodes)}
    check_plans(
        tmp_path / "run",
        [node["Precinct"] for node in nodes],
        np.array([node["TOTPOP"] for node in nodes]),
        np.array([(place[link["source"]], place[link["target"]]) for link in graph["links"]]),
    )


def test_nothing_is_overwritten_and_every_refusal_has_a_reason(tmp_path, capsys):
    options = ["sample", "--demo", "--steps", "400", "--thin", "200", "--out", str(tmp_path / "run")]
    assert main(options) == 0
    before = contents(tmp_path / "run")
    capsys.readouterr()
    for arguments, message in [
        (options, "already holds a run"),
        ([*options, "--thin", "0"], "--thin between 1 and --steps; got 400 and 0"),
        ([*options, "--tolerance", "0.0001"], "cd2025"),
        ([*options, "--epsilon", "-1"], "epsilon must be finite and not negative; got -1.0"),
        (["sample", "--units", "absent.gpkg", "--plan", "x", "--out", "y"], "absent.gpkg"),
    ]:
        assert main(arguments) == 2
        output = capsys.readouterr()
        assert message in output.err
        assert "Traceback" not in output.err
    assert contents(tmp_path / "run") == before


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
        (["--plan", "cd", "--chains", "0"], "no less than the number of plans to start from, 1; got 0"),
        (["--plan", "cd", "--start", "cd", "--chains", "1"], "the number of plans to start from, 2; got 1"),
        (["--plan", "cd", "--start", "one"], "'one' has 1 district"),
        (["--plan", "cd", "--threads", "0"], "--threads must be at least 1; got 0"),
        (["--plan", "cd", "--exchange"], "--exchange needs the largest --epsilon"),
        (["--plan", "cd", "--rungs", "0", "1"], "--rungs needs --exchange"),
        (["--plan", "cd", "--burn-in", "9"], "--burn-in needs --exchange"),
        (["--plan", "cd", "--exchange", "--rungs", "0.5", "1"], "--rungs must ascend from 0; got 0.5 1"),
        (
            ["--plan", "cd", "--exchange", "--rungs", "0", "1", "--epsilon", "2"],
            "--epsilon 2 is not the last of --rungs, 1",
        ),
        (["--plan", "cd", "--exchange", "--step", "paper"], "--step paper does not go with --exchange"),
        (["--plan", "cd", "--moves", "mixture", "--step", "paper"], "--step paper is for the walk alone"),
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


def test_an_interrupt_before_the_walk_has_nothing_to_keep(tables, monkeypatch, capsys):
    def interrupted(step, mixture):
        raise KeyboardInterrupt

    monkeypatch.setattr("bottomup.sampler.chain.warm_up", interrupted)
    assert main([*tables, "--plan", "cd"]) == 1
    assert "bottomup sample: interrupted" in capsys.readouterr().err


def test_a_tolerance_that_no_tree_meets_leaves_the_given_plan_alone(tables, tmp_path, capsys, monkeypatch):
    from bottomup.sampler import start

    def fail(*arguments):
        raise start.StartError("no plan was found")

    monkeypatch.setattr(start, "make_start", fail)
    options = [*tables, "--plan", "cd", "--steps", "100", "--thin", "10"]
    assert main([*options, "--chains", "2"]) == 2
    assert "start number 2 of 2 could not be made from random trees" in capsys.readouterr().err
    assert main(options) == 0
    report = capsys.readouterr().out
    assert "One chain alone: start number 2 of 2 could not be made from random trees" in report
    assert "One chain from one start: agreement cannot be claimed" in report


@pytest.fixture
def heeds_interrupts():
    """Whether or not a shell runs the tests in the background, where interrupts are ignored."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


@pytest.mark.usefixtures("heeds_interrupts")
@pytest.mark.parametrize("exchange", [[], ["--exchange", "--rungs", "0", "1", "--burn-in", "2"]])
def test_an_interrupt_keeps_what_was_recorded(tmp_path, monkeypatch, capsys, exchange):
    from bottomup.sampler.chain import Chain

    advance, calls = Chain.advance, 0

    def interrupted(self, n_steps, thin):
        nonlocal calls
        calls += 1
        if calls == 30:
            signal.raise_signal(signal.SIGINT)
        return advance(self, n_steps, thin)

    monkeypatch.setattr(Chain, "advance", interrupted)
    options = ["sample", "--demo", "--steps", "5000000", "--thin", "2000", *exchange]
    assert main([*options, "--out", str(tmp_path / "run")]) == 1
    run = json.loads((tmp_path / "run" / "run.json").read_text())
    plans = pd.read_parquet(tmp_path / "run" / "plans.parquet")
    outcome = run["outcome"]
    assert not outcome["complete"]
    n_rows = 4 if exchange else 2
    assert outcome["n_records"] == len(plans) == outcome["steps"] // outcome["thin"] * n_rows > 0
    assert f"Interrupted after {outcome['steps']:,} steps" in capsys.readouterr().err
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler
