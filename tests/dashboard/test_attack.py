"""The command ``bottomup attack``, from its options to the files that it leaves and its words."""

import csv
import itertools
import json
import math
import signal

import numpy as np
import pytest

from bottomup.dashboard import attack_figure
from bottomup.dashboard.attack_report import Outcome, ScoreOutcome
from bottomup.dashboard.attack_words import list_in_words, sentences
from bottomup.dashboard.cli import main
from bottomup.sampler.attack import Attack, Communities
from bottomup.sampler.attack_findings import Estimate, Finding, Limit, Point
from bottomup.sampler.sensitivity import Sensitivity
from bottomup.sampler.types import Mixture

SHORT = ["--epsilons", "0", "1", "--burn-in", "8", "--rounds", "12"]


def name_of(i, j):
    return f"{i}{j}"


@pytest.fixture
def town(tmp_path):
    """Options for 36 units of 10 people in four districts, and a writer of testimonies for them."""
    nodes, edges = tmp_path / "nodes.csv", tmp_path / "edges.csv"
    cells = [(i, j) for i in range(6) for j in range(6)]
    nodes.write_text(
        "GEOID20,pop20,cd,half\n" + "".join(f"{i}{j},10,{i // 3 * 2 + j // 3},{j // 3}\n" for i, j in cells)
    )
    pairs = [(a, b) for a in cells for b in cells if a < b and abs(a[0] - b[0]) + abs(a[1] - b[1]) == 1]
    edges.write_text("u,v\n" + "".join(f"{a[0]}{a[1]},{b[0]}{b[1]}\n" for a, b in pairs))

    def options(testimonies, *, clusters=True):
        """From rows of testimony, units and cluster."""
        path = tmp_path / "testimonies.csv"
        lines = ["testimony,GEOID20" + (",cluster" if clusters else "")]
        for name, units, cluster in testimonies:
            lines += [f"{name},{unit}" + (f",{cluster}" if clusters else "") for unit in units.split()]
        path.write_text("\n".join(lines) + "\n")
        return [
            *("attack", "--units", str(nodes), "--edges", str(edges), "--plan", "cd", "--tolerance", "0.4"),
            *("--testimonies", str(path)),
        ]

    return options


HONEST = [
    *(("a", "00 01", "X"), ("b", "00 10", "X"), ("c", "01 02 11", "X")),
    *(("d", "33 34", "Y"), ("e", "43 44", "Y"), ("f", "50 51", "")),
]


@pytest.fixture
def without_figure(monkeypatch):
    """Leave the figure out where nothing is asked of it: it takes most of a short run's time."""
    monkeypatch.setattr(attack_figure, "save_figure", lambda *arguments: None)


def run_attack(folder, *options, status=0):
    """Run the command into a folder; return its record and its table."""
    assert main([*options, "--out", str(folder)]) == status
    record = json.loads((folder / "attack.json").read_text())
    with (folder / "attack.csv").open(newline="") as file:
        return record, list(csv.DictReader(file))


def test_an_attack_leaves_a_record_a_table_a_figure_and_its_testimonies(town, tmp_path, capsys):
    options = [*town(HONEST), *SHORT]
    record, rows = run_attack(tmp_path / "a", *options)
    change = record["change"]
    # Of clusters of three and two the first is nearer to nine.
    assert change["words"] == "3 testimonies of cluster X replaced by 3 others"
    assert change["removed"] == ["a", "b", "c"]
    assert change["added"] == ["adversary 1", "adversary 2", "adversary 3"]
    assert (change["n_replaced"], change["cost"], change["adversary"]) == (3, 3, "drawn with seed 1")
    assert change["digests"]["honest"] != change["digests"]["attacked"]
    assert [(run["score"], run["data_set"]) for run in record["runs"]] == [
        *(("testimony", "honest"), ("testimony", "attacked")),
        *(("cluster", "honest"), ("cluster", "attacked")),
    ]
    assert len({run["seed"] for run in record["runs"]}) == len({run["name"] for run in record["runs"]}) == 4
    outcome = record["outcome"]
    assert outcome["complete"]
    assert [run["rounds"] for run in outcome["runs"]] == [12] * 4
    assert all(run["rungs"][0] == 0 and run["rungs"][-1] == 1 for run in outcome["runs"])
    assert [found["formal_limit_holds"] for found in outcome["scores"]] == [True, True]
    assert outcome["scores"][0]["sensitivity"]["honest"]["formula"] == "1/T"

    keys = [(row["score"], float(row["epsilon"]), row["data_set"], row["group"]) for row in rows]
    assert keys == [
        (score, epsilon, data_set, group)
        for score in ("testimony", "cluster")
        for epsilon in (0, 1)
        for data_set in ("honest", "attacked")
        for group in ("honest", "adversary", "others")
    ]
    for row in rows:
        assert 0 <= float(row["kept"]) <= 1
        assert int(row["n_communities"]) == 3
        has_limit = row["data_set"] == "attacked" and row["group"] != "others"
        assert bool(row["limit"]) == has_limit
    finding = outcome["scores"][0]["findings"][1]
    assert finding["attacked"]["estimates"]["kept_adversary"]["mean"] == float(rows[10]["kept"])
    assert np.mean(finding["attacked"]["kept_each"]["adversary"]) == pytest.approx(
        float(rows[10]["kept"]), 1e-4
    )

    report = capsys.readouterr().out
    assert f"Attack {record['name']}: 4 runs of 2 ladders each" in report
    for score in outcome["scores"]:
        for sentence in score["sentences"]:
            assert sentence in report
    for title in (
        "Testimony score, kept whole",
        "Cluster score, kept whole",
        "Cluster score, % of a group's",
    ):
        assert title in report
    assert (tmp_path / "a" / "attack.png").read_bytes()[:4] == b"\x89PNG"
    assert "<svg" in (tmp_path / "a" / "attack.svg").read_text()

    # The adversary's testimonies are read back, and a run of the same name gives the same figures.
    back = ["--adversary", str(tmp_path / "a" / "adversary.csv"), "--threads", "2"]
    again, same = run_attack(tmp_path / "b", *options, *back)
    assert again["change"]["adversary"] == "file adversary.csv"
    assert [run["name"] for run in again["runs"]] == [run["name"] for run in record["runs"]]
    assert same == rows
    for name in ("adversary.csv", "attack.svg"):
        assert (tmp_path / "a" / name).read_bytes() == (tmp_path / "b" / name).read_bytes()


@pytest.mark.usefixtures("without_figure")
def test_one_score_by_the_clock_gives_the_figures_that_its_rounds_give(town, tmp_path):
    options = [*town(HONEST), "--scores", "cluster", "--weighting", "mass", "--epsilons", "0", "2"]
    options += ["--burn-in", "8", "--cluster", "Y", "--adversary-seed", "7"]
    record, rows = run_attack(tmp_path / "a", *options, "--minutes", "0.0001")
    assert record["change"]["removed"] == ["d", "e"]
    assert record["outcome"]["scores"][0]["formal_limit_holds"]
    (n_rounds,) = {run["rounds"] for run in record["outcome"]["runs"]}
    assert n_rounds >= 8
    again, same = run_attack(tmp_path / "b", *options, "--rounds", str(n_rounds))
    assert again["name"] == record["name"]
    assert same == rows


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        (["--minutes", "5"], (None, 120)),
        # So that the rounds of a run by the clock are the same rounds again.
        (["--rounds", "900"], (900, 120)),
        (["--rounds", "900", "--burn-in", "0"], (900, 0)),
        (["--steps", "9000"], (900, 225)),
        (["--steps", "1"], (8, 80)),
        ([], (200_000, 50_000)),
    ],
)
def test_how_long_a_run_is(monkeypatch, arguments, expected):
    from bottomup.dashboard import attack

    found = []
    monkeypatch.setattr(attack, "_attack", lambda options: found.append(options) or 0)
    assert main(["attack", "--out", "x", *arguments]) == 0
    mixture = Mixture(flips=60, community_flips=10, merge_splits=5, walks=5)
    assert attack.plan_length(found[0], mixture, 36) == (*expected, 10)


@pytest.mark.usefixtures("without_figure")
def test_a_flood_counts_unless_copies_count_once(town, tmp_path, capsys):
    options = [*town(HONEST, clusters=False), "--flood", "d", *SHORT]
    loud, rows = run_attack(tmp_path / "loud", *options)
    assert loud["change"]["words"] == "testimony d submitted 400 times"
    assert (loud["change"]["cost"], loud["change"]["n_replaced"]) == (199.5, 0)
    assert {row["group"] for row in rows} == {"adversary", "others"}
    kept = {
        (row["epsilon"], row["data_set"]): float(row["kept"]) for row in rows if row["group"] == "adversary"
    }
    # 399 more copies are worth e^199.5: no other plan is drawn.
    assert kept["1.0", "attacked"] == 1 > kept["0.0", "attacked"]
    assert len((tmp_path / "loud" / "adversary.csv").read_text().splitlines()) == 1 + 399 * 2
    report = capsys.readouterr().out
    assert "The testimonies have no clusters, so there is no cluster score to try." in report
    assert "the community that is submitted again and again is kept whole in" in report
    quiet, _ = run_attack(tmp_path / "quiet", *options, "--deduplicate", "--copies", "50")
    assert quiet["change"]["words"] == "testimony d submitted 50 times; copies count once"
    assert quiet["change"]["cost"] == 0
    finding = quiet["outcome"]["scores"][0]["findings"][1]
    for name, estimate in finding["honest"]["estimates"].items():
        assert finding["predicted"]["estimates"][name] == pytest.approx(estimate)
    assert "Formal limit: the attack changes nothing that counts" in capsys.readouterr().out


@pytest.mark.usefixtures("without_figure")
def test_one_testimony_is_enough(town, tmp_path):
    larger = tmp_path / "larger.csv"
    larger.write_text("testimony,unit,cluster\nz,44,\nz,45,\nz,55,\n")
    options = [*town([("only", "00 01", "X")]), *SHORT, "--adversary", str(larger)]
    record, rows = run_attack(tmp_path / "run", *options)
    assert record["change"]["words"] == "1 testimony of cluster X replaced by 1 others"
    assert {row["group"] for row in rows} == {"honest", "adversary"}
    assert record["outcome"]["scores"][0]["sensitivity"]["honest"]["delta"] == 1
    # The sensitivity of the cluster score is that of the largest testimony, which is another one now.
    assert [found["formal_limit_holds"] for found in record["outcome"]["scores"]] == [True, False]
    assert [bool(row["limit"]) for row in rows if row["data_set"] == "attacked"] == [True] * 4 + [False] * 4
    assert "the replaced community is kept whole" in record["outcome"]["scores"][0]["sentences"][1]


def test_no_testimonies_are_refused(town, tmp_path, capsys):
    options = town([])
    assert main([*options, *SHORT, "--out", str(tmp_path / "run")]) == 2
    assert "holds no testimonies" in capsys.readouterr().err
    assert main([*options[:-2], *SHORT, "--out", str(tmp_path / "run")]) == 2
    assert "there are none: name them with --testimonies" in capsys.readouterr().err
    assert not (tmp_path / "run").exists()


@pytest.mark.usefixtures("without_figure")
def test_testimonies_larger_than_a_district_are_run_and_said(town, tmp_path, capsys):
    rows = [" ".join(name_of(i, j) for i in range(first, first + 3) for j in range(6)) for first in (0, 3)]
    large = [("a", rows[0], "X"), ("b", rows[1], "X")]
    options = [*town(large), *SHORT, "--scores", "testimony"]
    # What is drawn in their place has room in half a district.
    record, table = run_attack(tmp_path / "drawn", *options)
    report = capsys.readouterr().out
    assert "No plan can keep these testimonies whole" in report
    assert "126 people; they are counted all the same: a, b" in report
    assert "the replaced communities are never kept whole: no plan can." in report
    assert {float(row["kept"]) for row in table if row["group"] == "honest"} == {0.0}
    assert max(float(row["kept"]) for row in table if row["group"] == "adversary") > 0
    # As large ones: there is nothing that the score could tell apart.
    theirs = tmp_path / "theirs.csv"
    theirs.write_text("testimony,unit\n" + "".join(f"z,{unit}\n" for unit in rows[1].split()))
    record, _ = run_attack(tmp_path / "file", *options, "--adversary", str(theirs))
    assert record["change"]["words"] == "2 testimonies of cluster X replaced by 1 others"
    report = capsys.readouterr().out
    assert "Nor can any keep these of the attack's whole: adversary 1" in report
    assert "the attack's community is never kept whole: no plan can." in report
    assert "no plan can keep any of these communities whole" in report


def test_the_adversary_s_testimonies_go_through_the_crosswalk(town, tmp_path, without_figure):
    theirs, walk = tmp_path / "theirs.csv", tmp_path / "walk.csv"
    theirs.write_text("testimony,unit\nz,north\nz,middle\n")
    walk.write_text("unit_of_testimony,unit_of_map\nnorth,20\nnorth,21\nmiddle,22\n")
    options = [*town(HONEST), *SHORT, "--scores", "testimony", "--crosswalk", str(walk)]
    record, _ = run_attack(tmp_path / "out", *options, "--cluster", "X", "--adversary", str(theirs))
    assert record["change"]["words"] == "3 testimonies of cluster X replaced by 1 others"
    with (tmp_path / "out" / "adversary.csv").open(newline="") as file:
        assert [row["unit"] for row in csv.DictReader(file)] == ["20", "21", "22"]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--cluster", "Q"], "There is no cluster 'Q'. Name one of X, Y."),
        (["--flood", "q"], "There is no testimony 'q'. Ids look like a, b, c."),
        (["--flood", "a", "--copies", "1"], "--copies must be at least 2, the first included; got 1"),
        (["--copies", "9"], "--copies needs --flood"),
        (
            ["--flood", "a", "--cluster", "X"],
            "--flood puts nothing in a cluster's place; leave --cluster out",
        ),
        (["--epsilons", "0"], "--epsilons must ascend from 0 and hold at least one more; got 0"),
        (
            ["--epsilons", "0", "2", "1"],
            "--epsilons must ascend from 0 and hold at least one more; got 0 2 1",
        ),
        (["--epsilons", "0.5", "1"], "--epsilons must ascend from 0 and hold at least one more; got 0.5 1"),
        (["--epsilons", "0", "inf"], "--epsilons must ascend from 0 and hold at least one more; got 0 inf"),
        (["--rounds", "7"], "--rounds must be at least 8; got 7"),
        (["--minutes", "0"], "--minutes must be more than 0; got 0"),
        (["--threads", "0"], "--threads must be at least 1; got 0"),
        (["--burn-in", "-1"], "--burn-in must be at least 0; got -1"),
        (["--districts", "4"], "--districts 4 and --plan cd were both given"),
        (["--weighting", "mass", "--cap", "3"], "a cap is for coverage"),
        (["--adversary", "elsewhere.csv"], "'elsewhere.csv' is not about this map"),
    ],
)
def test_every_refusal_has_a_reason(town, tmp_path, monkeypatch, capsys, arguments, message):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "elsewhere.csv").write_text("testimony,unit\nz,99\n")
    assert main([*town(HONEST), *arguments, "--out", "run"]) == 2
    error = capsys.readouterr().err
    assert message in error
    assert "Traceback" not in error
    assert not (tmp_path / "run").exists()


def test_what_testimonies_lack_is_said(town, tmp_path, capsys):
    out = ["--out", str(tmp_path / "run")]
    assert main([*town(HONEST, clusters=False), *out]) == 2
    assert "The testimonies have no clusters, so none can be taken out." in capsys.readouterr().err
    assert main([*town(HONEST, clusters=False), "--flood", "a", "--scores", "cluster", *out]) == 2
    assert "score 'cluster' needs testimonies with clusters" in capsys.readouterr().err
    copies = [*HONEST, ("g", "00 01", "X"), ("h", "99", "Y")]
    assert main([*town(copies), "--deduplicate", "--flood", "g", *out]) == 2
    assert (
        "Testimony 'g' is left out as a copy of 'a', so copies of it change nothing."
        in capsys.readouterr().err
    )
    assert main([*town(copies), "--flood", "h", *out]) == 2
    assert "Testimony 'h' has no unit on the map" in capsys.readouterr().err


def test_nothing_is_overwritten(town, tmp_path, capsys):
    (tmp_path / "run").mkdir()
    (tmp_path / "run" / "attack.csv").write_text("mine")
    assert main([*town(HONEST), *SHORT, "--out", str(tmp_path / "run")]) == 2
    assert "already holds a run (attack.csv); name another folder with --out" in capsys.readouterr().err
    assert (tmp_path / "run" / "attack.csv").read_text() == "mine"


@pytest.fixture
def heeds_interrupts():
    """Whether or not a shell runs the tests in the background, where interrupts are ignored."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


@pytest.mark.usefixtures("heeds_interrupts")
@pytest.mark.parametrize("n_turns", [0, 12])
def test_an_interrupt_keeps_what_was_recorded(town, tmp_path, monkeypatch, capsys, n_turns):
    from bottomup.sampler import attack
    from bottomup.sampler.attack import Trial

    monkeypatch.setattr(attack, "TURN_SECONDS", 0.0)
    advance, calls = Trial.advance, 0

    def interrupted(self, n_rounds, is_stopped):
        nonlocal calls
        calls += 1
        if calls == 4 * n_turns + 2:
            signal.raise_signal(signal.SIGINT)
        return advance(self, n_rounds, is_stopped)

    monkeypatch.setattr(Trial, "advance", interrupted)
    options = [*town(HONEST), "--epsilons", "0", "1", "--burn-in", "2", "--rounds", "10000"]
    record, rows = run_attack(tmp_path / "run", *options, status=1)
    outcome = record["outcome"]
    assert not outcome["complete"]
    assert {run["rounds"] for run in outcome["runs"]} <= {n_turns, n_turns + 1}
    assert len(rows) == (24 if n_turns else 0)
    assert (tmp_path / "run" / "attack.png").exists() == bool(n_turns)
    captured = capsys.readouterr()
    assert "Interrupted" in captured.err
    assert ("too few plans were recorded" in captured.out) == (not n_turns)
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


@pytest.mark.usefixtures("heeds_interrupts")
def test_an_interrupt_of_the_burn_in_leaves_no_folder(town, tmp_path, monkeypatch, capsys):
    from bottomup.sampler import ladder

    monkeypatch.setattr(ladder, "burn_in", lambda *arguments: signal.raise_signal(signal.SIGINT))
    assert main([*town(HONEST), *SHORT, "--out", str(tmp_path / "run")]) == 1
    assert "bottomup attack: interrupted" in capsys.readouterr().err
    assert not (tmp_path / "run").exists()


def make_outcome(
    under,
    without,
    *,
    epsilons=(0.0, 1.0, 5.0),
    error=0.01,
    ess=400.0,
    rhat=1.01,
    most=1,
    limit=0.9,
    comparable=True,
):
    """An outcome in which the attack's two communities are kept so often at each ε."""

    def point(epsilon, theirs, ours):
        estimates = {
            "kept_adversary": Estimate(theirs, error, ess, rhat),
            "kept_honest": Estimate(ours, error, ess, rhat),
            "kept_others": Estimate(0.6, error, ess, rhat),
            "best_adversary": Estimate(0.5, error, ess, rhat),
            "best_honest": Estimate(0.7, error, ess, rhat),
        }
        return Point(epsilon, (epsilon,), 1000, estimates, {})

    findings = tuple(
        Finding(
            honest=point(epsilon, other, 0.5),
            attacked=point(epsilon, own, 0.5),
            predicted=point(epsilon, own, 0.5),
            limits={"kept_adversary": Limit(limit, limit), "kept_honest": Limit(0.1, 0.1)}
            if most == 1
            else {},
        )
        for epsilon, own, other in zip(epsilons, under, without, strict=True)
    )
    communities = Communities(("a", "b"), np.array([0, 1, 2]), np.array([0, 1]))

    class Changed:
        cost = 2.0
        n_replaced = 2

    attack = Attack(Changed(), Changed(), communities, communities, communities)
    before, after = (Sensitivity(own, 10, "1/T", {}, False) for own in (1, most))
    found = ScoreOutcome("cluster", findings, before, after)
    return Outcome(attack, (found,), comparable, frozenset())


def words_of(outcome):
    return " ".join(sentences(outcome, outcome.scores[0]))


def test_words_compare_with_the_baseline():
    words = words_of(make_outcome([0.11, 0.12, 0.30], [0.11, 0.10, 0.05]))
    assert (
        "Cluster score: the attack's communities are kept whole in 11 of 100 plans where testimony counts "
        "for nothing (ε = 0). Under the attack: about as often at ε = 1 (12); more often at ε = 5 (30). "
        "Without it: about as often at ε = 1 (10); less often at ε = 5 (5)."
    ) in words
    assert "the replaced communities are kept whole in 50 of 100" in words
    assert "While submitted: about as often at ε = 1 and 5 (50 and 50)." in words
    assert (
        "odds times e^(2 ε) and two standard errors: under the attack, of 100 plans at ε = 1 and 5, the "
        "attack's communities at most 90 and 90"
    ) in words
    assert ("the replaced communities at least 10 and 10. It is nowhere exceeded.") in words
    assert "weighted to the attack, say the same within errors at ε = 0, 1 and 5." in words
    assert "Starts agree (R-hat up to 1.01), on at least 400 effective plans." in words


def test_many_epsilons_are_told_by_their_ends():
    epsilons = (0.0, 0.1, 0.2, 0.5, 1.0, 2.0, 3.0, 5.0, 10.0)
    under = [0.11, 0.11, 0.12, 0.3, 0.12, 0.1, 0.11, 0.3, 0.31]
    words = words_of(make_outcome(under, [0.11] * 9, epsilons=epsilons))
    assert (
        "Under the attack: about as often at ε = 0.1, 0.2, 1, 2 and 3 (11, 12, 12, 10 and 11); more often at "
        "ε = 0.5, 5 and 10 (30, 30 and 31). Without it: about as often at ε = 0.1 to 10 (11)."
    ) in words
    assert (
        "of 100 plans at ε = 0.1 to 10, the attack's communities at most 90 at the first and 90 at the last"
    ) in words
    assert "say the same within errors at ε = 0 to 10." in words
    under[4] = under[2] = 0.11
    under[3], under[-1] = 0.12, 0.11
    words = words_of(make_outcome(under, [0.11] * 9, epsilons=epsilons))
    assert "about as often at ε = 0.1 to 3 and 10 (10 to 12); more often at ε = 5 (30)" in words


@pytest.mark.parametrize("quantity", ["kept_adversary", "best_honest"])
def test_a_baseline_that_the_runs_do_not_share_is_said(quantity):
    outcome = make_outcome([0.2, 0.2, 0.2], [0.2, 0.2, 0.2])
    first = outcome.scores[0].findings[0]
    first.predicted.estimates[quantity] = Estimate(0.1, 0.01, 400.0, 1.01)
    words = words_of(outcome)
    assert "the same within errors at ε = 1 and 5 and something else at ε = 0, so the runs have not" in words


def test_words_warn():
    few = words_of(make_outcome([0.1] * 3, [0.1] * 3, ess=40.0, rhat=1.3))
    assert (
        "Not to be relied on yet at ε = 0, 1 and 5: fewer than 100 effective plans (down to 40) and unlike "
        "starts that disagree (R-hat up to 1.30). Run longer."
    ) in few
    still = words_of(make_outcome([0.0] * 3, [0.0] * 3, error=math.nan, ess=math.nan, rhat=math.nan))
    assert "it cannot be told how that compares at ε = 1 and 5 (0 and 0)" in still
    assert "communities whose fate never varied" in still
    alike = words_of(make_outcome([0.1] * 3, [0.1] * 3, comparable=False))
    assert "Not to be relied on: the starts are not two unlike plans" in alike
    beyond = words_of(make_outcome([0.1, 0.3, 0.3], [0.1] * 3, limit=0.2))
    assert "It is exceeded at ε = 1 and 5 by more than errors explain" in beyond
    moved = words_of(make_outcome([0.1] * 3, [0.1] * 3, most=2))
    assert "No formal limit holds: the sensitivity is read off the data" in moved
    assert "every other counts for less than before" in moved


def test_the_baseline_comes_from_both_data_sets():
    outcome = make_outcome([0.2, 0.2, 0.2], [0.1, 0.1, 0.1], error=0.03)
    baseline = outcome.scores[0].baseline("kept_adversary")
    assert baseline.mean == pytest.approx(0.15)
    assert baseline.error == pytest.approx(0.03 / math.sqrt(2))
    assert baseline.effective_size == 800
    assert outcome.scores[0].baseline("kept_nobody") is None


def test_items_in_a_row():
    assert [list_in_words(list("abc"[:n])) for n in (1, 2, 3)] == ["a", "a and b", "a, b and c"]


def test_epsilons_do_not_run_into_each_other():
    epsilons = [0, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1, 1.25, 1.5, 2, 2.5, 3, 4, 5, 7, 10]
    outcome = make_outcome([0.1] * 20, [0.1] * 20, epsilons=epsilons)
    figure = attack_figure.draw_figure(outcome, "x")
    figure.canvas.draw()
    boxes = [label.get_window_extent() for label in figure.axes[0].get_xticklabels()]
    assert len(boxes) == 20
    assert min(right.x0 - left.x1 for left, right in itertools.pairwise(boxes)) > 2


def test_the_figure_shows_every_line_by_name_and_what_is_not_to_be_relied_on():
    outcome = make_outcome([0.11, 0.12, 0.30], [0.11, 0.10, 0.05], ess=40.0)
    figure = attack_figure.draw_figure(outcome, "2 testimonies of cluster X replaced by 2 others")
    (axes,) = figure.axes
    title = figure.get_suptitle().replace("\n", " ")
    assert title == "2 testimonies of cluster X replaced by 2 others: what is kept whole?"
    assert axes.get_title(loc="left") == "Cluster score"
    assert [label.get_text() for label in axes.get_xticklabels()] == ["0", "1", "5"]
    labels = {text.get_text(): text for text in axes.texts}
    assert set(labels) == {
        *("the attack's, submitted", "the attack's, left out"),
        *("the replaced, submitted", "the replaced, taken out", "formal limit, the attack's"),
    }
    # Labels do not cover each other, though two lines end at the same height.
    heights = sorted(text.get_position()[1] for text in labels.values())
    assert np.diff(heights).min() >= 5
    drawn = [line.get_ydata().tolist() for line in axes.lines]
    assert [11, 12, 30] in [np.round(line, 6).tolist() for line in drawn]
    assert "Faint points are not to be relied on yet" in figure.get_supxlabel().replace("\n", " ")
    sure = attack_figure.draw_figure(make_outcome([0.1] * 3, [0.1] * 3, most=2), "x")
    assert "Faint" not in sure.get_supxlabel()
    assert not any("limit" in text.get_text() for text in sure.axes[0].texts)
