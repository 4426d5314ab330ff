"""The command ``bottomup report``: figures, tables and words of a study, from the plans that it has left."""

import json
from html.parser import HTMLParser

import numpy as np
import pandas as pd
import pytest
from PIL import Image

from bottomup.dashboard import study_agreement
from bottomup.dashboard.cli import main
from bottomup.dashboard.study_folder import StudyFolder
from bottomup.dashboard.study_material import gather_study
from bottomup.dashboard.study_words import convergence_words
from bottomup.data.plans import load_plan
from bottomup.sampler.statistics import ranked_shares

STUDY = """
title = "A <study>"

[inputs]
units = "nodes.csv"
edges = "edges.csv"
testimonies = "testimonies.csv"
plan = "even"

[law]
tolerance = 0.6

[sweep]
scores = ["testimony", "cluster"]
start = ["uneven"]
steps = 8000
thin = 40
burn_in = 80

[sweep.epsilons]
testimony = [0, 1, 2]
cluster = [0, 2]

[attack]
cluster = "west"
"""
COMMUNITIES = {
    "west": {"a": ["00", "01", "10"], "b": ["20", "21"], "c": ["30", "40"]},
    "east": {"d": ["07", "17"], "e": ["26", "36", "46"], "f": ["55", "56", "65"]},
}
ENDS = ("", "-attacked")


def write_inputs(folder):
    """A map of 8 by 8 units with people of voting age and votes, two plans, and testimonies in clusters."""
    rng = np.random.default_rng(5)
    units = pd.DataFrame(
        {"GEOID20": [f"{i}{j}" for i in range(8) for j in range(8)], "pop20": 10, "VAP20": 8}
    )
    units["BVAP20"] = rng.integers(0, 8, 64)
    units["PRES20D"], units["PRES20R"] = rng.integers(1, 6, (2, 64))
    row = units["GEOID20"].str[0].astype(int)
    units["even"], units["uneven"] = row // 2, row.map([0, 0, 0, 1, 1, 2, 2, 3].__getitem__)
    units.to_csv(folder / "nodes.csv", index=False)
    cells = [(i, j) for i in range(8) for j in range(8)]
    pairs = [(a, b) for a in cells for b in cells if a < b and abs(a[0] - b[0]) + abs(a[1] - b[1]) == 1]
    lines = [f"{a[0]}{a[1]},{b[0]}{b[1]}\n" for a, b in pairs]
    (folder / "edges.csv").write_text("u,v\n" + "".join(lines))
    rows = [
        f"{name},{unit},{cluster}\n"
        for cluster, own in COMMUNITIES.items()
        for name, covered in own.items()
        for unit in covered
    ]
    (folder / "testimonies.csv").write_text("testimony,unit,cluster\n" + "".join(rows))
    (folder / "study.toml").write_text(STUDY)


@pytest.fixture(scope="module")
def reported(tmp_path_factory):
    """A finished study and its report."""
    folder = tmp_path_factory.mktemp("study")
    write_inputs(folder)
    out = folder / "out"
    assert main(["sweep", str(folder / "study.toml"), "--out", str(out)]) == 0
    assert main(["report", str(out)]) == 0
    return out


def later_half(out, cell):
    """The plans of a cell that figures are of."""
    plans = pd.read_parquet(out / cell / "plans.parquet")
    return plans[plans["step"] > plans["step"].max() / 2]


def read_table(out, key):
    return pd.read_csv(out / "report" / "tables" / f"{key}.csv")


def test_every_figure_comes_as_png_and_svg_with_its_numbers(reported):
    report = reported / "report"
    tables = {path.stem for path in (report / "tables").glob("*.csv")}
    laws = ("testimony", "cluster")
    columns = ("black_vap_share", "democratic_share")
    keys = tables - {f"testimonies-{law}" for law in laws}
    assert len(keys) == len(tables) - len(laws)
    assert keys == {
        *(f"scores-{law}-by-{kind}" for law in laws for kind in laws),
        *(f"{kind}-{law}{end}" for kind in ("convergence", "distance") for law in laws for end in ENDS),
        *(f"clusters-{law}" for law in laws),
        *(f"{kind}-{column}-{law}" for kind in ("ranked", "highest") for column in columns for law in laws),
        *(f"attack-{law}" for law in laws),
    }
    for form in ("png", "svg"):
        assert {path.stem for path in (report / "figures").glob(f"*.{form}")} == keys
    for key in keys:
        with Image.open(report / "figures" / f"{key}.png") as picture:
            assert picture.width > 1000
        assert not read_table(reported, key).empty


def test_the_numbers_are_those_of_the_plans(reported):
    plans = later_half(reported, "testimony-seed1")
    enacted = json.loads((reported / "study.json").read_text())["enacted"]
    table = read_table(reported, "scores-testimony-by-cluster").set_index("epsilon")
    assert table.index.tolist() == [0, 1, 2]
    for epsilon, own in plans.groupby("epsilon"):
        row, scores = table.loc[epsilon], own["score_cluster"]
        assert row["plans"] == len(own)
        assert row["mean"] == pytest.approx(scores.mean())
        assert row["quantile_0.95"] == pytest.approx(np.quantile(scores, 0.95))
        assert row["share_above_even"] == pytest.approx((scores > enacted["score_cluster"]).mean())

    # How often each cluster is kept whole, counted from the plans by hand.
    ids = pd.read_csv(reported / "testimony-seed1" / "units.csv", dtype=str)["id"].tolist()
    assignments = np.stack(plans[plans["epsilon"] == 2]["assignment"])
    table = read_table(reported, "clusters-testimony").set_index(["cluster", "epsilon"])
    for cluster, communities in COMMUNITIES.items():
        kept = [
            (np.ptp(assignments[:, [ids.index(unit) for unit in units]], axis=1) == 0).mean()
            for units in communities.values()
        ]
        assert table.loc[(cluster, 2), "kept"] == pytest.approx(np.mean(kept))
        assert table.loc[(cluster, 2), "change"] == pytest.approx(
            np.mean(kept) - table.loc[(cluster, 0), "kept"]
        )

        every = read_table(reported, "testimonies-testimony").set_index(["testimony", "epsilon"])
        for name, share in zip(communities, kept, strict=True):
            assert every.loc[(name, 2), "kept"] == pytest.approx(share)
            assert every.loc[(name, 2), "cluster"] == cluster

    geography = StudyFolder.open(reported).load_inputs().geography
    black, everybody = (geography.numbers(column) for column in ("BVAP20", "VAP20"))
    shares = ranked_shares(assignments, 4, black, everybody)
    table = read_table(reported, "ranked-black_vap_share-testimony")
    own = table[table["epsilon"] == 2].set_index("rank")
    assert own["mean"].tolist() == pytest.approx(shares.mean(axis=0).tolist())
    uneven = load_plan("uneven", geography)
    of_plan = table[table["plan"] == "uneven"]["mean"].tolist()
    assert of_plan == pytest.approx(ranked_shares(uneven.assignment[None], 4, black, everybody)[0].tolist())
    table = read_table(reported, "highest-black_vap_share-testimony").set_index("epsilon")
    assert table.loc[2, "highest district"] == pytest.approx(shares[:, -1].mean())


class _Words(HTMLParser):
    """Words of a page, and whether it asks for anything from outside."""

    def __init__(self):
        super().__init__()
        self.words, self.asked = [], []

    def handle_data(self, data):
        self.words.append(data)

    def handle_starttag(self, tag, attrs):
        self.asked += [
            value for name, value in attrs if name in ("src", "href") and not value.startswith("data:")
        ]


def test_the_page_is_one_file_that_says_what_was_found(reported):
    page = _Words()
    page.feed((reported / "report" / "report.html").read_text())
    words = " ".join(page.words)
    assert page.asked == []
    assert "A <study>" in words
    assert "64 units, 4 districts, 6 testimonies" in words
    for question in (
        *("Can this be relied on?", "What does every ε buy?", "Which communities are kept together?"),
        *("Who ends up where?", "How much can a group sway?", "Where does this come from?"),
    ):
        assert question in words
    assert "3 testimonies of cluster west replaced by 3 others" in words
    for cell in StudyFolder.open(reported).finished:
        assert cell.run in words
    for digest in json.loads((reported / "study.json").read_text())["files"].values():
        assert digest in words


def test_what_is_not_finished_is_left_out_by_name(reported, tmp_path, capsys):
    run = reported / "cluster-seed1" / "run.json"
    whole = run.read_text()
    run.write_text(json.dumps({**json.loads(whole), "outcome": {"complete": False}}))
    try:
        assert main(["report", str(reported), "--out", str(tmp_path / "part")]) == 0
    finally:
        run.write_text(whole)
    assert "Left out, for they are not finished: cluster-seed1" in capsys.readouterr().out
    tables = {path.stem for path in (tmp_path / "part" / "tables").iterdir()}
    assert "scores-testimony-by-cluster" in tables
    assert "attack-testimony" in tables
    assert not tables & {"convergence-cluster", "attack-cluster"}


def test_what_is_no_study_is_refused_in_words(reported, tmp_path, capsys):
    assert main(["report", str(tmp_path)]) == 2
    assert "holds no study: study.json not found. Name the folder that was given to `bottomup sweep`" in (
        capsys.readouterr().err
    )
    record = json.loads((reported / "study.json").read_text())
    (tmp_path / "study.json").write_text(json.dumps(record))
    assert main(["report", str(tmp_path)]) == 2
    assert "No cell of the study" in capsys.readouterr().err
    (tmp_path / "study.json").write_text(json.dumps({**record, "schema": 1}))
    assert main(["report", str(tmp_path)]) == 2
    assert "is earlier than this one" in capsys.readouterr().err
    nodes = reported.parent / "nodes.csv"
    before = nodes.read_text()
    nodes.write_text(before.replace(",10,", ",11,", 1))
    try:
        assert main(["report", str(reported)]) == 2
    finally:
        nodes.write_text(before)
    assert "nodes.csv" in capsys.readouterr().err


def test_agreement_of_chains_from_like_starts_is_called_no_news(reported):
    words = "Chains began at plans that are alike, so that their agreement is no news: cluster score."
    path = reported / "cluster-seed1" / "run.json"
    whole = path.read_text()
    run = json.loads(whole)
    assert words not in convergence_words(gather_study(reported))
    for rung in run["outcome"]["diagnostics"]["by_epsilon"]:
        rung["verdict"] = "one start"
    path.write_text(json.dumps(run))
    try:
        assert words in convergence_words(gather_study(reported))
    finally:
        path.write_text(whole)


def test_two_districts_are_held_against_the_law_itself(tmp_path, monkeypatch, capsys):
    write_inputs(tmp_path)
    units = pd.read_csv(tmp_path / "nodes.csv", dtype={"GEOID20": str})
    units["halves"] = units["even"] // 2
    units.to_csv(tmp_path / "nodes.csv", index=False)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(study_agreement, "TREES", 4000)
    study = (
        "[law]\ntolerance = 0.3\ncompactness = 0.05\n[sweep]\ncut_edges = [12]\nmoves = 'walk'\nchains = 3\n"
    )
    (tmp_path / "study.toml").write_text(f"{study}steps = 90000\nthin = 60\n")
    inputs = ["--units", "nodes.csv", "--edges", "edges.csv", "--plan", "halves"]
    assert main(["sweep", "study.toml", "--out", "out", *inputs]) == 0
    assert main(["report", "out"]) == 0
    key = "baseline-cuts12"
    table = read_table(tmp_path / "out", f"cut-edges-{key}")
    plans = later_half(tmp_path / "out", f"{key}-seed1")
    chain = plans[plans["chain"] == 1]["cut_edges"]
    own = table.set_index("cut_edges")[f"{key}-seed1, 1"]
    assert own[12] == pytest.approx((chain == 12).mean())
    # More plans have more cut edges, so the law lies above its bare Gaussian.
    mean = {name: table["cut_edges"] @ table[name] / table[name].sum() for name in ("law", "bare_gaussian")}
    assert mean["law"] > mean["bare_gaussian"]
    page = _Words()
    page.feed((tmp_path / "out" / "report" / "report.html").read_text())
    words = " ".join(" ".join(page.words).split())
    assert "from the law, within the" in words
    assert "none of 3 is beyond its limit" in words
    curve = read_table(tmp_path / "out", f"distance-{key}")
    assert curve["from_the_law"].iloc[-1] < 0.1 < curve["from_the_law"].iloc[0]
