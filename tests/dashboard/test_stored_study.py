"""The runs of a study on the page: what is read of them, how they answer, and what is refused."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from studies import make_study

from bottomup.dashboard import stored_runs
from bottomup.dashboard.frozen import StoredStudy
from bottomup.dashboard.health_words import moves_sentence, moves_table, run_table
from bottomup.dashboard.options import load_inputs, parse_page_options
from bottomup.dashboard.page_state import first_values, put_into_effect, state_of
from bottomup.dashboard.prepared import Prepared, prepare
from bottomup.dashboard.releases import draw_by_lot, release_of, release_of_charts
from bottomup.dashboard.saved_sessions import Moment, read_session, take_snapshot
from bottomup.dashboard.saving import provenance
from bottomup.dashboard.session import Session
from bottomup.dashboard.session_options import with_inputs_of_study
from bottomup.dashboard.slots import FairSlots
from bottomup.dashboard.state import EPSILONS
from bottomup.dashboard.stored_study import open_study
from bottomup.dashboard.views.controls import ControlsView
from bottomup.dashboard.wording import number_of_plans, progress_line
from bottomup.data.errors import DataError
from bottomup.sampler.ledger import Ledger
from bottomup.sampler.naming import plan_digest
from bottomup.sampler.statistics import evaluate_plan, ranked_shares

WaitUntil = Callable[..., None]
SIDE = 8
STUDY = """
title = "Grid & Co"

[inputs]
units = "nodes.csv"
edges = "edges.csv"
testimonies = "testimonies.csv"
plan = "even"
group = ["Black=black"]
voting_age = "vap"

[law]
tolerance = 0.3

[sweep]
scores = ["testimony", "cluster"]
seeds = [1, 2]
steps = 30000
thin = 100
burn_in = 80

[sweep.epsilons]
testimony = [0, 0.5, 2]
cluster = [0, 3]
"""


@pytest.fixture(scope="module")
def base(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with 64 units of 10 people, and six testimonies in two clusters."""
    folder = tmp_path_factory.mktemp("base")
    cells = [(y, x) for y in range(SIDE) for x in range(SIDE)]
    rng = np.random.default_rng(5)
    rows = [f"{y}{x},10,{y // 2},9,{rng.integers(0, 9)}\n" for y, x in cells]
    (folder / "nodes.csv").write_text("GEOID20,pop20,even,vap,black\n" + "".join(rows))
    pairs = [(a, b) for a in cells for b in cells if a < b and abs(a[0] - b[0]) + abs(a[1] - b[1]) == 1]
    (folder / "edges.csv").write_text("u,v\n" + "".join(f"{a}{b},{c}{d}\n" for (a, b), (c, d) in pairs))
    of = {f"t{n}": [f"{n}{n}", f"{n + 1}{n}", f"{n + 1}{n + 1}"] for n in range(6)}
    told = [f"{name},{unit},C{int(name[1]) % 2}\n" for name, units in of.items() for unit in units]
    (folder / "testimonies.csv").write_text("testimony,GEOID20,cluster\n" + "".join(told))
    return folder


@pytest.fixture(scope="module")
def made(base: Path) -> Path:
    return make_study(STUDY, base, base / "made")


@pytest.fixture(scope="module")
def prepared(made: Path) -> Prepared:
    options = with_inputs_of_study(parse_page_options(["--study", str(made)]), open_study(made))
    return prepare(load_inputs(options))


@pytest.fixture(scope="module")
def study(made: Path, prepared: Prepared) -> StoredStudy:
    return open_study(made).fit(prepared)


@pytest.fixture
def session(prepared: Prepared, study: StoredStudy, tmp_path: Path) -> Iterator[Session]:
    session = Session(prepared, slots=FairSlots(1), ledger=Ledger(tmp_path / "ledger.csv"), saved=study)
    session.attend(True)
    yield session
    session.close()
    session.worker.stop(timeout=5)


def run_of(made: Path, cell: str) -> dict[str, Any]:
    found: dict[str, Any] = json.loads((made / cell / "run.json").read_text())
    return found


def change(path: Path, make: Callable[[dict[str, Any]], object]) -> None:
    """Write a file of JSON anew with something else in it."""
    about = json.loads(path.read_text())
    make(about)
    path.write_text(json.dumps(about))


def copied(made: Path, to: Path) -> Path:
    shutil.copytree(made, to / "copy")
    return to / "copy"


def test_all_plans_of_all_seeds_are_read_as_the_page_would_have_recorded_them(
    made: Path, prepared: Prepared, study: StoredStudy
) -> None:
    assert [standing.recorded.design.score for standing in study.standings] == ["testimony", "cluster"]
    share = prepared.shares["Black"]
    for standing in study.standings:
        recorded = standing.recorded
        score = recorded.design.score
        assert recorded.epsilons == {"testimony": (0.0, 0.5, 2.0), "cluster": (0.0, 3.0)}[score]
        assert recorded.starts == tuple(
            f"{start}, seed {seed}" for seed in (1, 2) for start in ("plan even", "plan from random trees")
        )
        tables = [pd.read_parquet(made / f"{score}-seed{seed}" / "plans.parquet") for seed in (1, 2)]
        for place, row in enumerate(recorded.recordings):
            for epsilon, recording in zip(recorded.epsilons, row, strict=True):
                table = tables[place // 2]
                own = table[(table["chain"] == place % 2) & (table["epsilon"] == epsilon)]
                held = recording.read()
                assert held is not None
                assert len(own) > 200
                np.testing.assert_array_equal(held.step, own["step"])
                assert set(np.diff(held.step)) == {recording.spacing}
                np.testing.assert_array_equal(held.cut_edges, own["cut_edges"])
                np.testing.assert_array_equal(held.testimony, own["score_testimony"])
                np.testing.assert_array_equal(held.cluster, own["score_cluster"])
                for number in range(0, len(own), 61):
                    plan = own["assignment"].iloc[number]
                    found = evaluate_plan(prepared.problem, plan, 4)
                    assert held.cut_edges[number] == found.cut_edges
                    assert held.cluster[number] == pytest.approx(found.score_cluster)
                    whole = np.unpackbits(held.preserved[number], count=6).astype(bool)
                    np.testing.assert_array_equal(whole, found.preserved)
                    ranked = ranked_shares(plan[None], 4, share.numerator, share.denominator)[0]
                    np.testing.assert_allclose(held.shares["Black"][number], ranked, rtol=1e-6)
                    np.testing.assert_array_equal(recording.plan_at(int(held.step[number])), plan)


def test_rounds_are_those_of_the_run_with_its_burn_in(made: Path, study: StoredStudy) -> None:
    exchange, outcome = (run_of(made, "testimony-seed1")[name] for name in ("exchange", "outcome"))
    standing = study.standing
    size = exchange["steps_per_round"]
    assert standing.burn_in == exchange["burn_in_rounds"]
    assert standing.rounds == standing.burn_in + outcome["steps"] // size
    assert standing.recorded.round_of(outcome["thin"]) == standing.burn_in + outcome["thin"] // size
    assert [plan.origin.round for plan in standing.current] == 3 * [standing.rounds]


def test_longer_runs_are_thinned_evenly_and_the_page_says_so(
    made: Path, prepared: Prepared, study: StoredStudy, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(stored_runs, "MOST_AT_RUNG", 240)
    thinned = open_study(made).fit(prepared).standing.recorded
    every = study.standing.recorded
    assert every.one_in == 1
    assert thinned.one_in == -(-every.n_recorded // 60)
    for row, all_row in zip(thinned.recordings, every.recordings, strict=True):
        for recording, whole in zip(row, all_row, strict=True):
            held, all_held = recording.read_all(), whole.read_all()
            assert held is not None
            assert all_held is not None
            assert recording.spacing == whole.spacing * thinned.one_in
            assert not (held.plans.step % recording.spacing).any()
            kept = all_held.plans.step % recording.spacing == 0
            np.testing.assert_array_equal(held.plans.step, all_held.plans.step[kept])
            np.testing.assert_array_equal(held.plans.preserved, all_held.plans.preserved[kept])
            assert held.assignments == tuple(np.array(all_held.assignments, dtype=object)[kept])
            assert 40 < len(held.assignments) <= 60
    sample = thinned.sample(1.0)
    assert sample is not None
    words = f"up to round {sample.last_round:,}, one in {thinned.one_in} of those in the study"
    assert words in number_of_plans(sample)
    whole_sample = every.sample(1.0)
    assert whole_sample is not None
    assert "one in" not in number_of_plans(whole_sample)


def test_a_page_holds_no_more_plans_than_it_says() -> None:
    for n_plans in (1, 7, 999, 1000, 1001, 50_000):
        for n_walks in (1, 2, 4, 5, 40):
            held = n_plans // stored_runs.thinning(n_plans, n_walks)
            assert 1 <= held <= min(stored_runs.MOST_OF_WALK, stored_runs.MOST_AT_RUNG // n_walks)


def test_each_score_has_its_own_plans_and_its_own_epsilons_and_no_walk_runs(
    session: Session, study: StoredStudy, wait_until: WaitUntil
) -> None:
    worker, settings = session.worker, session.settings
    assert not settings.running
    view = ControlsView(session)
    words = progress_line(worker.progress)
    assert words.startswith("The study Grid & Co; runs ")
    assert words.endswith("nothing is being sampled")
    assert "Grid &amp; Co" in view._progress.object
    assert list(view._epsilon.options.values()) == [each for each in EPSILONS if each <= 2]
    settings.epsilon = 2.0
    settings.score = "cluster"
    wait_until(lambda: worker.progress.standing is study.standings[1])
    assert list(view._epsilon.options.values()) == [each for each in EPSILONS if each <= 3]
    settings.epsilon = 3.0
    sample = session.sample()
    assert sample is not None
    assert sample.rungs == (3.0,)
    # The other score's plans do not reach as far.
    settings.score = "testimony"
    assert (settings.epsilon, view._epsilon.value) == (2.0, 2.0)
    wait_until(lambda: worker.progress.standing is study.standing)
    wait_until(lambda: getattr(worker.progress.reliability, "epsilon", None) == 2.0)
    assert worker.progress.phase == "paused"
    assert worker._sampling is not None
    assert worker._sampling.steps == 0


def test_what_is_not_in_the_study_has_no_plans_until_walks_run(
    session: Session, study: StoredStudy, wait_until: WaitUntil
) -> None:
    worker, settings = session.worker, session.settings
    view = ControlsView(session)
    settings.tolerance = 0.2
    wait_until(lambda: worker.progress.standing is not None and not worker.progress.standing.is_saved)
    assert session.sample() is None
    view.refresh()
    assert "no stored plans of these settings" in view._progress.object
    assert view._reliability.object == ""
    assert tuple(view._epsilon.options.values()) == EPSILONS
    settings.tolerance = 0.3
    wait_until(lambda: worker.progress.standing is study.standing)
    settings.running = True
    assert session.saved is None
    wait_until(lambda: worker.progress.phase == "running" and session.sample() is not None)


def test_an_address_is_followed_as_far_as_there_are_plans(session: Session, prepared: Prepared) -> None:
    asked = replace(state_of(session, "share", {}), epsilon=10.0)
    (unmet,) = put_into_effect(asked, session, "The address")
    assert unmet == "The address asked for ε = 10; the stored plans go up to 2: left there."
    assert session.settings.epsilon == 2.0
    assert put_into_effect(replace(asked, tolerance=0.2), session, "The address") == []
    assert session.settings.epsilon == 10.0
    assert first_values(prepared, "share").tolerance == 0.05


def test_walks_of_two_runs_that_share_a_start_are_judged(session: Session, wait_until: WaitUntil) -> None:
    found = None

    def is_judged() -> bool:
        nonlocal found
        found = session.worker.progress.reliability
        return found is not None

    wait_until(is_judged)
    assert found is not None
    assert found.verdict in ("agree", "disagree", "too early")
    assert {each.n_chains for rung in found.rungs for each in rung.convergences} == {4}


def test_a_plan_is_named_by_the_run_and_the_seed_that_met_it(
    made: Path, session: Session, study: StoredStudy
) -> None:
    names = {seed: run_of(made, f"testimony-seed{seed}")["name"] for seed in (1, 2)}
    recorded = study.standing.recorded
    for walk, seed in enumerate((1, 1, 2, 2)):
        met = recorded.plan_at(walk, 1, recorded.recordings[0][0].spacing)
        assert met is not None
        assert (met.origin.run, met.origin.design.seed) == (names[seed], seed)
    assert draw_by_lot(session)
    shown = session.shown_plan()
    origin = shown.origin
    assert origin is not None
    record = provenance(session, shown)
    assert (record["run"], record["seed"]) == (origin.run, origin.design.seed)
    assert record["versions"] == run_of(made, "testimony-seed1")["versions"]
    stored = pd.read_parquet(made / f"testimony-seed{record['seed']}" / "plans.parquet")
    at = stored[stored["epsilon"] == origin.epsilon]
    assert plan_digest(shown.assignment) in {plan_digest(plan) for plan in at["assignment"]}
    release = release_of(session, shown, "a file")
    assert release is not None
    assert release.run == record["name"]
    assert (release.draws, release.epsilon) == (1, origin.epsilon)


def test_charts_of_other_runs_are_another_release(session: Session, study: StoredStudy) -> None:
    release = release_of_charts(session)
    assert release is not None
    assert release == release_of_charts(session)
    standing = study.standing
    recorded = replace(
        standing.recorded, runs=tuple(run._replace(name="other") for run in standing.recorded.runs)
    )
    session.worker._progress = replace(session.worker.progress, standing=replace(standing, recorded=recorded))
    other = release_of_charts(session)
    assert other is not None
    assert other.run != release.run
    assert other.draws == release.draws


def test_counts_are_those_of_the_runs_and_what_they_lack_is_left_out(
    made: Path, session: Session, study: StoredStudy
) -> None:
    workings, runs = study.standing.workings, [run_of(made, f"testimony-seed{seed}") for seed in (1, 2)]
    assert workings.counted == ("seed 1", "seed 2")
    for row, run in enumerate(runs):
        for rung, by_move in enumerate(run["outcome"]["outcomes"]):
            found = {move: own._asdict() for move, own in workings.outcomes(row, rung).items()}
            assert {move: own for move, own in found.items() if move in by_move} == by_move
    assert workings.round_trips == tuple(n for run in runs for n in run["outcome"]["round_trips"])
    rates = np.mean([run["outcome"]["exchange_rates"] for run in runs], axis=0)
    np.testing.assert_allclose(workings.exchange_rates, rates)
    assert moves_sentence(workings, 1).startswith("<p>The walks of seed 1 together changed their plans in ")
    assert "seed\u00a02,\u00a0all" in moves_table(workings, 1)
    table = run_table(session.worker.progress, 1)
    assert "before the first plan" in table
    assert f"{runs[0]['name']} (seed 1), {runs[1]['name']} (seed 2)" in table
    assert "Rounding</th>" not in table


def test_what_a_run_said_of_walks_that_stood_still_is_said(
    made: Path, prepared: Prepared, tmp_path: Path, wait_until: WaitUntil
) -> None:
    copy = copied(made, tmp_path)
    said = ["Ladder 1 at epsilon 2 is stuck: 0 of its last 9 steps changed the plan."]
    change(
        copy / "testimony-seed2" / "run.json",
        lambda run: run["outcome"]["diagnostics"].update(stuck=said),
    )
    session = Session(prepared, slots=FairSlots(1), saved=open_study(copy).fit(prepared))
    for epsilon, is_told in ((0.5, False), (1.0, True), (2.0, True)):
        session.settings.epsilon = epsilon
        wait_until(lambda e=epsilon: getattr(session.worker.progress.reliability, "epsilon", None) == e)
        found = session.worker.progress.reliability
        assert found is not None
        assert bool(found.stuck) == is_told
    session.close()
    assert found.stuck == (
        "The walk at ε = 2 (start: plan from random trees, seed 2) is stuck: 0 of its last 9 steps changed "
        "the plan."
    )


def test_a_session_saved_from_a_study_keeps_runs_and_seeds(
    session: Session, study: StoredStudy, prepared: Prepared, tmp_path: Path
) -> None:
    assert draw_by_lot(session)
    moment = Moment.of(session, {"epsilon": "1"})
    assert moment is not None
    snapshot = take_snapshot(moment)
    assert snapshot is not None
    path = tmp_path / "study.bottomup"
    path.write_bytes(snapshot.to_bytes(prepared))
    saved = read_session(path).fit(prepared)
    before, after = study.standing.recorded, saved.standing.recorded
    assert (after.runs, after.n_unrecorded, after.one_in) == (before.runs, before.n_unrecorded, 1)
    assert saved.standing.workings.counted == ("seed 1", "seed 2")
    step = before.recordings[0][0].spacing
    for walk in range(4):
        then, now = before.plan_at(walk, 2, step), after.plan_at(walk, 2, step)
        assert then is not None
        assert now is not None
        assert now.origin == then.origin
    assert [plan.origin for plan in saved.standing.current] == [p.origin for p in study.standing.current]
    assert saved.chosen is not None
    assert saved.chosen.plan.origin == session.shown.chosen.plan.origin


def test_what_is_not_shown_is_said(made: Path, prepared: Prepared, tmp_path: Path) -> None:
    copy = copied(made, tmp_path)
    enacted = prepared.numbers_of("even", "coverage").cut_edges
    shutil.copytree(copy / "cluster-seed1", copy / "cluster-cuts9-seed1")
    change(copy / "cluster-cuts9-seed1" / "run.json", lambda run: run["target"].update(cut_edges=enacted + 1))
    change(copy / "testimony-seed2" / "run.json", lambda run: run["outcome"].update(complete=False))

    def more(about: dict[str, Any]) -> None:
        about["runs"]["cluster-seed2"]["is_attacked"] = True
        about["runs"]["cluster-cuts9-seed1"] = {**about["runs"]["cluster-seed1"], "cut_edges": enacted + 1}

    change(copy / "study.json", more)
    found = open_study(copy).fit(prepared)
    assert [len(standing.recorded.starts) for standing in found.standings] == [2, 2]
    assert found.notes == (
        "Not finished yet: testimony-seed2.",
        "Not shown, for their testimonies are those after the attack: cluster-seed2.",
        "Not shown, for the law is centred on another number of cut edges: cluster-cuts9-seed1.",
    )
    assert found.standing.source.startswith("The study Grid & Co, 1 of its 5 runs unfinished; run ")


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda about: about["options"].update(districts=4), "has no enacted plan"),
        (lambda about: about["options"].update(cap=3), "caps what a testimony may weigh"),
        (lambda about: [cell.update(score=None) for cell in about["runs"].values()], "has no testimonies"),
        (
            lambda about: [cell.update(is_attacked=True) for cell in about["runs"].values()],
            "after the attack: testimony-seed1",
        ),
        (
            lambda about: about["study"]["sweep"].update(epsilons={"testimony": [2.0], "cluster": [1.0]}),
            "needs ladders of several ε from 0 on",
        ),
    ],
    ids=["no-plan", "cap", "no-testimonies", "attacked", "single-epsilon"],
)
def test_studies_that_the_page_cannot_show_are_refused_in_words(
    made: Path, tmp_path: Path, make: Callable[[dict[str, Any]], object], words: str
) -> None:
    copy = copied(made, tmp_path)
    change(copy / "study.json", make)
    with pytest.raises(DataError, match=words) as error:
        open_study(copy)
    assert "bottomup report" in error.value.remedy


def test_a_study_without_a_finished_run_and_a_folder_without_a_study_are_refused(
    made: Path, tmp_path: Path
) -> None:
    copy = copied(made, tmp_path)
    for run in copy.glob("*/run.json"):
        change(run, lambda about: about["outcome"].update(complete=False))
    with pytest.raises(DataError, match=r"has no finished run yet\. Enter its `bottomup sweep` again"):
        open_study(copy)
    with pytest.raises(DataError, match="holds no study"):
        open_study(tmp_path)


@pytest.mark.parametrize("what", ["gone", "cut", "foreign"])
def test_plans_that_are_missing_or_damaged_are_named(
    made: Path, prepared: Prepared, tmp_path: Path, what: str
) -> None:
    copy = copied(made, tmp_path)
    part = copy / "cluster-seed1" / "plans.parquet" / "part-00000.parquet"
    if what == "gone":
        part.unlink()
    elif what == "cut":
        part.write_bytes(part.read_bytes()[:-50])
    else:
        shutil.copy(copy / "testimony-seed1" / "plans.parquet" / part.name, part)
    with pytest.raises(DataError, match=r"cluster-seed1 cannot be read: .*Remove the folder of this run"):
        open_study(copy).fit(prepared)


def test_inputs_are_those_of_the_study_unless_others_are_named(
    made: Path, base: Path, tmp_path: Path, prepared: Prepared
) -> None:
    copy = copied(made, tmp_path)
    moved = copied(base, tmp_path / "moved")
    change(
        copy / "study.json",
        lambda about: about["options"].update(
            {name: str(moved / f"{name}.csv") for name in ("edges", "testimonies")}
            | {"units": str(moved / "nodes.csv")}
        ),
    )
    files = {str(moved / path.name): path for path in base.glob("*.csv")}
    digests = json.loads((made / "study.json").read_text())["files"]
    change(
        copy / "study.json",
        lambda about: about.update(files={new: digests[str(old)] for new, old in files.items()}),
    )
    plain = parse_page_options(["--study", str(copy), "--ledger", "own.csv"])
    plain.port = 5006
    found = with_inputs_of_study(plain, open_study(copy))
    assert found.port == 5006
    assert (found.units, found.group, found.ledger) == (str(moved / "nodes.csv"), ["Black=black"], "own.csv")

    (moved / "testimonies.csv").write_text("testimony,GEOID20,cluster\nt0,00,C0\n")
    with pytest.raises(DataError, match=r"Changed since then: .*testimonies\.csv\. Put back"):
        with_inputs_of_study(plain, open_study(copy))
    (moved / "testimonies.csv").unlink()
    with pytest.raises(DataError, match=r"Not there any more: .*Name the inputs on the command line"):
        with_inputs_of_study(plain, open_study(copy))

    named = [f"--units={base}/nodes.csv", f"--edges={base}/edges.csv", "--plan=even", "--voting-age=vap"]
    named += [f"--testimonies={base}/testimonies.csv", "--group=Black=black"]
    given = parse_page_options(["--study", str(copy), *named])
    assert with_inputs_of_study(given, open_study(copy)) is given
    assert len(open_study(copy).fit(prepare(load_inputs(given))).standings) == 2


def test_other_inputs_are_refused_by_name(made: Path, prepared: Prepared) -> None:
    study, inputs = open_study(made), prepared.inputs
    fewer = replace(inputs.geography, population=inputs.geography.population + 1)
    with pytest.raises(DataError, match=r"What differs: the map \(of the run: nodes, 64 units"):
        study.fit(prepare(replace(inputs, geography=fewer)))
    assert inputs.testimonies is not None
    with pytest.raises(DataError, match="What differs: the testimonies"):
        study.fit(prepare(replace(inputs, testimonies=replace(inputs.testimonies, clusters=None))))
    columns = np.tile(np.repeat(np.arange(4, dtype=np.int32), 2), 8)
    assert inputs.enacted is not None
    other = replace(inputs.enacted, assignment=columns)
    with pytest.raises(DataError, match="the plans that its walks began at, the enacted one first"):
        study.fit(prepare(replace(inputs, enacted=other, plans={"even": other})))


def test_chains_at_epsilon_0_alone_can_be_shown(
    base: Path, prepared: Prepared, wait_until: WaitUntil
) -> None:
    text = STUDY[: STUDY.index("[sweep.epsilons]")].replace("burn_in = 80", "epsilons = [0]")
    text = text.replace("seeds = [1, 2]", "seeds = [1]").replace('"testimony", "cluster"', '"testimony"')
    found = open_study(make_study(text, base, base / "baseline")).fit(prepared)
    session = Session(prepared, slots=FairSlots(1), saved=found)
    seen = []

    def is_judged() -> bool:
        # Kept: another judgement may be on its way by the time of the next look.
        seen.append(session.worker.progress.reliability)
        return seen[-1] is not None

    wait_until(is_judged)
    session.close()
    standing = found.standing
    assert (session.settings.epsilon, session.epsilons, standing.burn_in) == (0.0, (0.0,), 0)
    assert standing.recorded.sample(0.0).n_plans == 2 * 150
    assert standing.rounds == 30_000
    assert standing.workings.counted == ()
    assert standing.workings.counter.shape[:2] == (2, 1)
    assert seen[-1].verdict in ("agree", "disagree", "too early")
