"""Plans that are no start: refused as one with what to do, or repaired with a record when asked for."""

import dataclasses
import json

import numpy as np
import pytest

from bottomup.dashboard import attack_figure
from bottomup.dashboard.cli import main
from bottomup.dashboard.design import Design
from bottomup.dashboard.ladders import PageLadders
from bottomup.dashboard.options import page_arguments, parse_page_options
from bottomup.dashboard.prepared import prepare
from bottomup.dashboard.repairing import start_of
from bottomup.data import DataError, Plan
from bottomup.sampler.naming import plan_digest

SAMPLE = ["--tolerance", "0.2", "--steps", "200", "--thin", "100"]


@pytest.fixture
def write_plan(tmp_path):
    """Return a writer of a plan of the grid of 64 units, rows of two by district, with some units changed."""

    def write(changed, name="plan"):
        labels = {f"{i}{j}": "ABCD"[i // 2] for i in range(8) for j in range(8)} | changed
        path = tmp_path / f"{name}.csv"
        path.write_text("GEOID20,district\n" + "".join(f"{unit},{label}\n" for unit, label in labels.items()))
        return ["--plan", str(path)]

    return write


def run_of(folder):
    return json.loads((folder / "run.json").read_text())


def test_a_detached_unit_is_refused_as_a_start_and_repaired_on_request(
    grid_tables, write_plan, tmp_path, capsys
):
    options = ["sample", *grid_tables, *write_plan({"03": "D"}), *SAMPLE, "--out", str(tmp_path / "run")]
    assert main(options) == 2
    refused = capsys.readouterr().err
    assert "district D is in 2 pieces, with 10 people apart from the largest" in refused
    assert "Detached units: 03." in refused
    assert "With --repair-plan the nearest plan that can be a start is taken." in refused
    assert not (tmp_path / "run").exists()

    assert main([*options, "--repair-plan"]) == 0
    said = capsys.readouterr().out
    assert "Plan 'plan': 64 of 64 units matched" in said
    assert "Not a start as it is: plan 'plan' is not connected" in said
    assert "differs in 1 unit with 10 people" in said
    run = run_of(tmp_path / "run")
    assert run["start_plans"] == ["plan, repaired", "made from random trees"]
    assert run["districts"] == ["A", "B", "C", "D"]
    (repair,) = run["start_repairs"]
    assert repair == {
        "plan": "plan",
        "n_units": 1,
        "n_people": 10,
        "moved": {"03": ["D", "A"]},
        "without_district_in_file": [],
        "digest": run["starts"][0],
    }
    whole = np.repeat(np.arange(4, dtype=np.int32), 16)
    assert repair["digest"] == plan_digest(whole)


def test_units_without_a_district_take_that_of_their_neighbours_on_request(
    grid_tables, write_plan, tmp_path, capsys
):
    options = ["sample", *grid_tables, *write_plan({"00": "", "77": ""}), *SAMPLE]
    options += ["--out", str(tmp_path / "run")]
    assert main(options) == 2
    assert "62 of 64 units matched, 2 missing" in capsys.readouterr().err
    assert main([*options, "--repair-plan"]) == 0
    said = capsys.readouterr().out
    assert "Without a district: 00, 77." in said
    assert "took that of the neighbours" in said
    run = run_of(tmp_path / "run")
    assert run["start_repairs"][0]["without_district_in_file"] == ["00", "77"]
    assert run["start_repairs"][0]["moved"] == {}
    assert run["starts"][0] == plan_digest(np.repeat(np.arange(4, dtype=np.int32), 16))


def test_a_plan_with_another_number_of_districts_is_refused_with_or_without_repair(
    grid_tables, write_plan, tmp_path, capsys
):
    two = write_plan({f"{i}{j}": "A" for i in range(4) for j in range(8)}, "three")[1]
    options = ["sample", *grid_tables, *write_plan({}), "--start", two, *SAMPLE, "--repair-plan"]
    assert main([*options, "--out", str(tmp_path / "run")]) == 2
    assert "plan 'three' has 3 districts (A, C, D), not 4" in capsys.readouterr().err


def test_a_valid_plan_needs_no_record(grid_tables, write_plan, tmp_path):
    options = [
        "sample",
        *grid_tables,
        *write_plan({}),
        *SAMPLE,
        "--repair-plan",
        "--out",
        str(tmp_path / "r"),
    ]
    assert main(options) == 0
    assert run_of(tmp_path / "r")["start_repairs"] == []


def test_a_page_passes_the_options_of_a_plan_on(tmp_path):
    given = ["--units", "u.csv", "--plan", "p.csv", "--plan-column", "cd", "--repair-plan"]
    options = parse_page_options(given)
    assert parse_page_options(page_arguments(options)) == options
    with pytest.raises(SystemExit):
        parse_page_options(["--repair-planning"])


def test_a_column_of_districts_needs_a_plan(grid_tables, tmp_path, capsys):
    options = [
        "sample",
        *grid_tables,
        "--districts",
        "4",
        "--plan-column",
        "cd",
        "--out",
        str(tmp_path / "r"),
    ]
    assert main(options) == 2
    assert "--plan-column given without --plan." in capsys.readouterr().err


@pytest.fixture
def detached(inputs_of):
    """Inputs of a page whose enacted plan has a unit apart."""
    inputs = inputs_of()
    assignment = inputs.enacted.assignment.copy()
    assignment[0] = 3
    plan = Plan("torn", assignment, inputs.enacted.labels)
    return dataclasses.replace(inputs, enacted=plan, plans={"torn": plan})


def test_a_page_scores_a_plan_that_is_no_start_and_walks_from_the_nearest_one(detached):
    design = Design("torn", tolerance=0.3, compactness=0.005, seed=1)
    prepared = prepare(detached)
    numbers = prepared.numbers_of("torn", "coverage")
    assert numbers.preserved.tolist() == [False, False, False, True, True, True]
    with pytest.raises(DataError, match="With --repair-plan the nearest plan"):
        prepared.build_ladders(design)

    repaired = prepare(dataclasses.replace(detached, repair_plan=True))
    assert repaired.numbers_of("torn", "coverage").preserved.tolist() == numbers.preserved.tolist()
    ladders = PageLadders(repaired.inputs, repaired.problem, design)
    assert next(iter(ladders.standing().recorded.starts)) == "plan torn, repaired"
    start = start_of(repaired.inputs, repaired.inputs.enacted, 60, 120)
    assert start.repair["moved"] == {"000": ["4", "1"]}


def test_an_attack_walks_from_the_nearest_start_and_records_it(
    grid_tables, write_plan, tmp_path, monkeypatch
):
    monkeypatch.setattr(attack_figure, "save_figure", lambda *arguments: None)
    options = ["attack", *grid_tables, *write_plan({"03": "D"}), "--tolerance", "0.3", "--repair-plan"]
    options += ["--flood", "a", "--copies", "3", "--epsilons", "0", "1", "--burn-in", "8", "--rounds", "8"]
    assert main([*options, "--out", str(tmp_path / "attack")]) == 0
    record = json.loads((tmp_path / "attack" / "attack.json").read_text())
    assert [repair["moved"] for repair in record["start_repairs"]] == [{"03": ["D", "A"]}]
