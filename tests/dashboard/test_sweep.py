"""The command ``bottomup sweep``: the runs of a study, broken off and gone on with, and what it refuses."""

import json
import signal
import subprocess
import sys
from contextlib import contextmanager
from pathlib import Path

import pandas as pd
import pytest

from bottomup.dashboard import sweep, sweep_cells
from bottomup.dashboard.cli import main
from bottomup.dashboard.study_file import find_study, read_study
from bottomup.dashboard.study_folder import StudyFolder
from bottomup.data.errors import DataError
from bottomup.sampler.diagnostics import diagnose

DYING = Path(__file__).parents[1] / "dying.py"
CELLS = ["testimony-seed1", "testimony-seed2", "cluster-seed1", "cluster-seed2"]
STUDY = """
[inputs]
units = "nodes.csv"
edges = "edges.csv"
testimonies = "testimonies.csv"
plan = "even"
clusters = "uneven"

[law]
tolerance = 0.3

[sweep]
scores = ["testimony", "cluster"]
epsilons = [0, 2]
seeds = [1, 2]
steps = 8000
thin = 80
burn_in = 80
"""

SCORES_AND_EPSILONS = '[sweep]\nscores = ["testimony", "cluster"]\nepsilons = [0, 2]'


@pytest.fixture
def study(grid_tables, tmp_path):
    """The file of a study, beside its inputs."""
    path = tmp_path / "study.toml"
    path.write_text(STUDY)
    return path


def plans_of(folder):
    """A run's name and its plans byte for byte."""
    parts = sorted((folder / "plans.parquet").iterdir())
    name = json.loads((folder / "run.json").read_text())["name"]
    return name, [part.read_bytes() for part in parts]


@pytest.fixture(scope="module")
def unbroken():
    """Run a study by two processes once; where its inputs lie does not matter."""
    found = {}

    def run(study):
        if not found:
            out = study.parent / "unbroken"
            assert main(["sweep", str(study), "--out", str(out), "--processes", "2"]) == 0
            found.update({name: plans_of(out / name) for name in CELLS})
            found["summary"] = (out / "summary.csv").read_text()
        return found

    return run


def check_summary(out):
    """Figures of the later half of the plans of both seeds, and the worst of their diagnostics."""
    table = pd.read_csv(out / "summary.csv")
    assert table[["score", "epsilon"]].values.tolist() == [
        [score, epsilon] for score in ("testimony", "cluster") for epsilon in (0, 2)
    ]
    enacted = json.loads((out / "study.json").read_text())["enacted"]
    for row in table.to_dict("records"):
        folders = [out / f"{row['score']}-seed{seed}" for seed in (1, 2)]
        found = pd.concat([pd.read_parquet(folder / "plans.parquet") for folder in folders])
        found = found[(found["epsilon"] == row["epsilon"]) & (found["step"] > found["step"].max() / 2)]
        assert (row["plans"], row["seeds"]) == (len(found), 2)
        for column in ("score_testimony", "score_cluster"):
            assert row[f"mean_{column}"] == pytest.approx(found[column].mean(), rel=1e-5)
            assert row[f"sd_{column}"] == pytest.approx(found[column].std(), rel=1e-5)
            share = (found[column] > enacted[column]).mean()
            assert row[f"share_above_enacted_{column}"] == pytest.approx(share, rel=1e-5)
        chains = [
            chain[chain["epsilon"] == row["epsilon"]]
            for folder in folders
            for _, chain in pd.read_parquet(folder / "plans.parquet").groupby("chain")
        ]
        assert row["chains"] == len(chains) == 4
        quantities = diagnose(
            {
                name: [chain[name] for chain in chains]
                for name in ("score_testimony", "score_cluster", "cut_edges")
            }
        )
        assert row["largest_rhat"] == pytest.approx(max(each.rhat for each in quantities), rel=1e-5)
        sizes = [size for each in quantities for size in (each.ess_bulk, each.ess_tail)]
        assert row["least_ess"] == pytest.approx(min(sizes), rel=1e-5)


def test_each_cell_is_the_run_that_sample_makes(study, unbroken, monkeypatch, capsys):
    out = study.parent / "unbroken"
    found = unbroken(study)
    said = capsys.readouterr().out
    for name in CELLS:
        assert f"{name}: starts\n" in said
        assert f"{name}: ends after" in said
        run = json.loads((out / name / "run.json").read_text())
        assert run["outcome"]["diagnostics"]["conclusion"] in said
    assert "4 of 4 cells finished; their runs are in" in said
    check_summary(out)
    record = json.loads((out / "study.json").read_text())
    assert {name: run["run"] for name, run in record["runs"].items()} == {
        name: found[name][0] for name in CELLS
    }
    assert {Path(path).name for path in record["files"]} == {"nodes.csv", "edges.csv", "testimonies.csv"}

    monkeypatch.chdir(study.parent)
    options = ["--units", "nodes.csv", "--edges", "edges.csv", "--testimonies", "testimonies.csv"]
    options += ["--plan", "even", "--clusters", "uneven", "--tolerance", "0.3", "--exchange"]
    options += ["--rungs", "0", "2", "--steps", "8000", "--thin", "80", "--burn-in", "80"]
    options += ["--score", "cluster", "--seed", "2", "--threads", "2"]
    assert main(["sample", *options, "--out", "alone"]) == 0
    assert plans_of(Path("alone")) == found["cluster-seed2"]

    # What is finished stays as it is; a run that cannot be gone on with fails alone, with its reason.
    for name in ("testimony-seed1", "testimony-seed2"):
        path = out / name / "run.json"
        run = json.loads(path.read_text())
        path.write_text(json.dumps({**run, "outcome": {"complete": False}}))
    (out / "testimony-seed2" / "checkpoint.json").write_text("{")
    capsys.readouterr()
    assert main(["sweep", "study.toml", "--out", "unbroken"]) == 1
    said = capsys.readouterr().out
    assert "cluster-seed1: finished before" in said
    assert "testimony-seed1: failed: " in said
    assert "holds a part of a run and no checkpoint to go on from" in said
    assert f"testimony-seed2: failed: {out / 'testimony-seed2' / 'checkpoint.json'} is damaged." in said
    assert "2 of 4 cells finished" in said
    assert "Failed: testimony-seed1, testimony-seed2. To have a cell made anew, remove its folder" in said
    assert "To go on: bottomup sweep study.toml --out unbroken" in said
    assert pd.read_csv(out / "summary.csv")["score"].unique().tolist() == ["cluster"]


def test_a_study_that_is_broken_off_and_grows_ends_as_one_that_is_not(study, unbroken, monkeypatch, capsys):
    found = unbroken(study)
    out = study.parent / "out"
    # Begun with a single seed; another is added later.
    study.write_text(STUDY.replace("[1, 2]", "[1]"))
    command = ["sweep", str(study), "--out", str(out), "--processes", "1"]

    @contextmanager
    def stopping():
        yield (out / "testimony-seed1" / "checkpoint.json").exists

    with monkeypatch.context() as patch:
        patch.setattr(sweep, "stopping", stopping)
        patch.setattr(sweep_cells, "PATIENCE", 0.01)
        assert main(command) == 1
    said = capsys.readouterr().out
    assert "testimony-seed1: stopped" in said
    assert "cluster-seed1: starts" not in said
    assert "0 of 2 cells finished" in said
    assert f"To go on: bottomup sweep {study} --out {out}" in said

    # The other one is killed in the middle.
    (cell,) = [cell for cell in read_study(study).cells(out) if cell.name == "cluster-seed1"]
    child = [sys.executable, str(DYING), "300", *cell.options, "--out", str(out / cell.name)]
    killed = subprocess.run(child, cwd=study.parent, capture_output=True, text=True, timeout=300)
    assert killed.returncode == -signal.SIGKILL, killed.stderr

    study.write_text(STUDY)
    assert main(command) == 0
    said = capsys.readouterr().out
    assert "testimony-seed1: goes on from" in said
    assert "cluster-seed1: goes on from" in said
    assert "cluster-seed2: starts" in said
    assert {name: plans_of(out / name) for name in CELLS} == {name: found[name] for name in CELLS}
    assert (out / "summary.csv").read_text() == found["summary"]

    def refusal():
        assert main(command) == 2
        return capsys.readouterr().err

    study.write_text(STUDY.replace("steps = 8000", "steps = 9000").replace("[1, 2]", "[1, 3]"))
    error = refusal()
    assert "The study has changed since" in error
    assert (
        ": sweep.seeds, sweep.steps. Only scores, seeds, further cut edges and an attack may be added."
        in error
    )
    study.write_text(STUDY)
    testimonies = study.parent / "testimonies.csv"
    testimonies.write_text(testimonies.read_text() + "c,70\n")
    error = refusal()
    assert "Files have changed since the study" in error
    assert error.count("testimonies.csv") == 1
    assert "nodes.csv" not in error


def test_runs_of_others_are_left_alone(study, capsys):
    folder = study.parent / "out" / "cluster-seed2"
    folder.mkdir(parents=True)
    (folder / "run.json").write_text("{}")
    assert main(["sweep", str(study), "--out", str(folder.parent)]) == 2
    assert f"{folder} already holds a run" in capsys.readouterr().err
    assert not (folder.parent / "study.json").exists()


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        (
            "[law]",
            "[laws]",
            "the study has unknown keys: laws. Allowed are title, inputs, law, sweep, attack.",
        ),
        ("plan =", "plans =", "[inputs] has unknown keys: plans. Allowed are demo, units, "),
        ("tolerance = 0.3", "tolerance = true", "law.tolerance must be a number; got true."),
        ("tolerance = 0.3", "tolerance = nan", "law.tolerance must be a number; got nan."),
        ("tolerance = 0.3", "weighting = 'x'", "law.weighting must be one of coverage, mass; got 'x'."),
        ('plan = "even"', "plan = 3", "inputs.plan must be a text; got 3."),
        ('plan = "even"', 'group = "a"', "inputs.group must be a list of texts; got 'a'."),
        ('plan = "even"', "deduplicate = 1", "inputs.deduplicate must be true or false; got 1."),
        ("steps = 8000", "steps = 1e4", "sweep.steps must be a whole number; got 10000.0."),
        ('"cluster"]', '"both"]', "sweep.scores must be a list from testimony, cluster, each once; got "),
        ("[1, 2]", "[1, 1]", "sweep.seeds must be a list of whole numbers from 0 up, each once; got [1, 1]."),
        ("[1, 2]", "[]", "sweep.seeds must be a list of whole numbers from 0 up, each once; got []."),
        ("[0, 2]", "[0, -1]", "sweep.epsilons must be a list of numbers from 0 up, each once; got [0, -1]."),
        ("[0, 2]", "[1, 2]", "--rungs must ascend from 0; got 1 2."),
        ("[0, 2]", "[2]", "--burn-in needs --exchange"),
        ("thin = 80", "thin = 9000", "--thin between 1 and --steps; got 8000 and 9000."),
        ('units = "nodes.csv"', "", "[inputs] names no map."),
        ("[law]", "[law", "is not TOML: "),
        ("[inputs]", "title = 3\n[inputs]", "title must be a text; got 3."),
        ("[0, 2]", "{testimony = [0, 2]}", "sweep.epsilons must be a list, or a table with lists for "),
        ("[0, 2]", "{testimony = [0], cluster = []}", "sweep.epsilons.cluster must be a list of numbers"),
        ("seeds =", "cut_edges = [-1]\nseeds =", "sweep.cut_edges must be a list of numbers from 0 up"),
        ("tolerance = 0.3", "cut_edges = 3\n[attack]\ncluster = 3", "attack.cluster must be a text; got 3."),
        (
            SCORES_AND_EPSILONS,
            "[attack]\n[sweep]\nepsilons = [0]",
            "[attack] is told beside the baseline, and sweep.epsilons has one ",
        ),
        ('testimonies = "testimonies.csv"', "", "sweep.scores is given, and [inputs] names no testimonies."),
    ],
)
def test_a_study_that_cannot_be_is_refused_by_name(tmp_path, old, new, message):
    path = tmp_path / "study.toml"
    assert old in STUDY
    path.write_text(STUDY.replace(old, new))
    with pytest.raises(DataError) as refused:
        read_study(path)
    assert str(refused.value).startswith(str(path))
    assert message in str(refused.value)


def test_without_lists_a_study_is_the_run_of_the_command(tmp_path):
    path = tmp_path / "study.toml"
    path.write_text("[inputs]\ndemo = true\n[sweep]\nepsilons = [0.5]\n")
    (cell,) = read_study(path).cells(tmp_path)
    assert cell.name == "testimony-seed1"
    assert cell.options == ("sample", "--demo", "--score=testimony", "--seed=1", "--epsilon=0.5")


def test_a_study_of_the_demonstration_comes_along(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    shipped = find_study("demo")
    assert [cell.name for cell in read_study(shipped).cells(tmp_path)] == CELLS
    assert main(["sweep", "gone.toml", "--out", "out"]) == 2
    error = capsys.readouterr().err
    assert "gone.toml is not a file." in error
    assert "come along: demo, missouri, new-hampshire. They are" in error
    assert str(shipped.parent) in error
    names = [cell.name for cell in read_study(find_study("missouri")).cells(tmp_path)]
    kinds = [f"{score}{attacked}" for score in ("testimony", "cluster") for attacked in ("", "-attacked")]
    assert names == [f"{kind}-seed1" for kind in kinds]
    inputs = {"units": "NH.shp", "plan": "CD"}
    names = [cell.name for cell in read_study(find_study("new-hampshire"), inputs).cells(tmp_path)]
    assert names == [f"baseline-cuts{centre}-seed1" for centre in (50, 60, 72)]
    # A file of the user's that is called the same goes first.
    Path("demo").write_text("[inputs]\ndemo = true\n")
    assert len(read_study(find_study("demo")).cells(tmp_path)) == 1


def test_a_study_without_testimonies_goes_through_cut_edges(grid_tables, tmp_path, monkeypatch, capsys):
    path = tmp_path / "study.toml"
    path.write_text("[law]\ntolerance = 0.6\n[sweep]\ncut_edges = [8, 12.5]\nsteps = 400\nthin = 40\n")
    command = ["sweep", "study.toml", "--out", "out"]
    monkeypatch.chdir(tmp_path)
    assert main(command) == 2
    assert "[inputs] names no map. Name the file of units there or with --units" in capsys.readouterr().err

    # Inputs on the command line are relative to where it is entered.
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    monkeypatch.chdir(elsewhere)
    command = ["sweep", "../study.toml", "--out", "out"]
    command += ["--units", "../nodes.csv", "--edges", "../edges.csv", "--plan", "even", "--start", "uneven"]
    assert main(command) == 0
    folder = StudyFolder.open("out")
    cells = {cell.name: cell for cell in folder.cells}
    assert list(cells) == ["baseline-cuts8-seed1", "baseline-cuts12.5-seed1"]
    for name, cut_edges in zip(cells, (8, 12.5), strict=True):
        run = json.loads((folder.path / name / "run.json").read_text())
        assert run["target"]["cut_edges"] == cut_edges == cells[name].cut_edges
        assert run["start_plans"] == ["even", "uneven"]
        assert (cells[name].run, cells[name].score, cells[name].is_finished) == (run["name"], None, True)
    table = pd.read_csv("out/summary.csv")
    assert table["cut_edges"].tolist() == [8, 12.5]
    assert table["score"].isna().all()
    assert folder.load_inputs().enacted.name == "even"
    capsys.readouterr()
    (tmp_path / "nodes.csv").write_text((tmp_path / "nodes.csv").read_text() + "\n")
    with pytest.raises(DataError, match=r"Files have changed .*nodes\.csv"):
        folder.load_inputs()


def test_an_attack_is_a_cell_more_for_each(study, monkeypatch, capsys):
    text = STUDY.replace('"testimony", "cluster"', '"testimony"').replace("[1, 2]", "[1]")
    study.write_text(text)
    out = study.parent / "out"
    command = ["sweep", str(study), "--out", str(out)]
    assert main(command) == 0
    study.write_text(text + "\n[attack]\nadversary_seed = 3\n")
    capsys.readouterr()
    assert main(command) == 0
    said = capsys.readouterr().out
    assert "testimony-seed1: finished before" in said
    assert "testimony-attacked-seed1: ends after" in said
    assert "Attack: " in said
    honest, attacked = StudyFolder.open(out).cells
    assert (honest.is_attacked, attacked.is_attacked) == (False, True)
    runs = [json.loads((cell.folder / "run.json").read_text()) for cell in (honest, attacked)]
    assert runs[0]["testimonies"]["digest"] != runs[1]["testimonies"]["digest"]
    assert runs[0]["testimonies"]["n_testimonies"] == runs[1]["testimonies"]["n_testimonies"]
    assert runs[0]["target"] == runs[1]["target"]
    assert pd.read_csv(out / "summary.csv")["attacked"].tolist() == [0, 0, 1, 1]
    study.write_text(text + "\n[attack]\nadversary_seed = 4\n")
    assert main(command) == 2
    assert "attack.adversary_seed" in capsys.readouterr().err
