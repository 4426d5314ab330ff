from __future__ import annotations

import io
import json
import zipfile
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from bottomup.dashboard.ensemble_files import gather_plans
from bottomup.dashboard.frozen import SavedSession
from bottomup.dashboard.ladders import PLACINGS
from bottomup.dashboard.options import Inputs
from bottomup.dashboard.page_state import first_values, put_into_effect, read_fields, state_of, write_fields
from bottomup.dashboard.prepared import Prepared, prepare
from bottomup.dashboard.recording import Recording
from bottomup.dashboard.releases import draw_by_lot, read_books, release_of_charts, release_of_session
from bottomup.dashboard.saved_sessions import Moment, Snapshot, read_session, take_snapshot
from bottomup.dashboard.saving import provenance
from bottomup.dashboard.script import Scene
from bottomup.dashboard.session import Session
from bottomup.dashboard.slots import FairSlots
from bottomup.dashboard.state import EPSILONS
from bottomup.data.errors import DataError
from bottomup.sampler.ledger import Ledger

WaitUntil = Callable[..., None]
VIEWS = ("communities", "share")


def snapshot_of(session: Session) -> Snapshot:
    moment = Moment.of(session, write_fields(state_of(session, "share", {}), session.prepared))
    assert moment is not None
    snapshot = take_snapshot(moment)
    assert snapshot is not None
    return snapshot


@pytest.fixture(scope="module")
def ran(
    prepared: Prepared, wait_until: WaitUntil, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Session]:
    """A session that has got past its burn-in and is paused, with a plan drawn by lot on the map."""
    ledger = Ledger(tmp_path_factory.mktemp("ledger") / "ledger.csv")
    session = Session(prepared, slots=FairSlots(1), ledger=ledger, arguments=["--name", "Squareville"])
    session.settings.param.update(tolerance=0.5, score="cluster", epsilon=2.0)
    session.attend(True)

    def has_run() -> bool:
        standing = session.worker.progress.standing
        return standing is not None and standing.rounds > PLACINGS[-1] + 300

    wait_until(has_run)
    session.attend(False)
    wait_until(lambda: session.worker.progress.phase == "paused")
    assert draw_by_lot(session)
    yield session
    session.close()


@pytest.fixture(scope="module")
def path(ran: Session, tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("saved") / "Squareville.bottomup"
    path.write_bytes(snapshot_of(ran).to_bytes(ran.prepared))
    return path


@pytest.fixture
def opened(prepared: Prepared, path: Path, ran: Session) -> Iterator[Session]:
    saved = read_session(path).fit(prepared)
    session = Session(prepared, slots=FairSlots(1), ledger=ran.ledger, saved=saved)
    default = first_values(prepared, "communities")
    state, unmet = read_fields(saved.state, default, prepared, VIEWS, "The file")
    assert unmet == put_into_effect(state, session, "The file") == []
    yield session
    session.close()


def change(path: Path, to: Path, name: str, make: Callable[[bytes], bytes] | None) -> Path:
    """Write the file anew with one part changed, or left out."""
    with zipfile.ZipFile(path) as old, zipfile.ZipFile(to, "w") as new:
        for part in old.namelist():
            if part != name:
                new.writestr(part, old.read(part))
            elif make is not None:
                new.writestr(part, make(old.read(part)))
    return to


def test_an_opened_session_says_the_same_of_every_epsilon(ran: Session, opened: Session) -> None:
    before, after = ran.worker.progress.standing, opened.worker.progress.standing
    assert before is not None
    assert after is not None
    assert (after.rounds, after.burn_in, after.is_saved) == (before.rounds, before.burn_in, True)
    for epsilon in EPSILONS:
        old, new = before.recorded.sample(epsilon), after.recorded.sample(epsilon)
        assert old is not None
        assert new is not None
        assert (new.rungs, new.last_round, new.n_effective) == (old.rungs, old.last_round, old.n_effective)
        for now, then in zip(new.plans[:-1], old.plans[:-1], strict=True):
            np.testing.assert_array_equal(now, then)
        assert list(new.plans.shares) == list(old.plans.shares)
        for name, values in old.plans.shares.items():
            np.testing.assert_array_equal(new.plans.shares[name], values)
        for row in range(0, old.n_plans, 97):
            place = int(old.ladder[row]), int(old.rung[row]), int(old.plans.step[row])
            then, now = before.recorded.plan_at(*place), after.recorded.plan_at(*place)
            assert then is not None
            assert now is not None
            assert now.origin == then.origin
            np.testing.assert_array_equal(now.assignment, then.assignment)


def test_an_opened_session_is_set_and_judged_as_before_and_takes_no_step(
    ran: Session, opened: Session, wait_until: WaitUntil
) -> None:
    saved = opened.saved
    assert saved is not None
    assert state_of(opened, "share", {}) == state_of(ran, "share", {})
    assert opened.settings.design == ran.settings.design
    opened.attend(True)
    for epsilon in (0.0, 2.0, 10.0):
        for session in (ran, opened):
            session.worker.look_at(epsilon)
            wait_until(
                lambda s=session, e=epsilon: getattr(s.worker.progress.reliability, "epsilon", None) == e
            )
        then, now = ran.worker.progress.reliability, opened.worker.progress.reliability
        for name in ("verdict", "quantity", "in_baseline", "rhat", "ess"):
            assert getattr(now, name) == getattr(then, name)
        assert now.seconds_left is None
    assert opened.worker.progress.phase == "paused"
    assert opened.worker.progress.standing is saved.standing


def test_plans_of_an_opened_session_have_the_names_that_they_had(ran: Session, opened: Session) -> None:
    assert not opened.choose_again("0" * 16)
    assert opened.lots == ran.lots
    for kind in ("chosen", "current"):
        for session in (ran, opened):
            session.shown.kind = kind
        then, now = ran.shown_plan(), opened.shown_plan()
        np.testing.assert_array_equal(now.assignment, then.assignment)
        assert (now.title, now.draw) == (then.title, then.draw)
        assert provenance(opened, now) == provenance(ran, then)
    assert release_of_charts(opened) == release_of_charts(ran)
    plans = [gather_plans(s.worker.progress.standing.recorded, 2.0) for s in (ran, opened)]
    assert plans[0].words() == plans[1].words()


def test_the_script_of_a_hearing_comes_along(
    prepared: Prepared, ran: Session, opened: Session, tmp_path: Path
) -> None:
    assert opened.script.scenes == []
    scenes = [Scene("The north", "Wait.", {"view": "Who ends up where?"})]
    ran.script.scenes = scenes
    try:
        path = tmp_path / "with script.bottomup"
        path.write_bytes(snapshot_of(ran).to_bytes(prepared))
    finally:
        ran.script.scenes = []
    again = Session(prepared, saved=read_session(path).fit(prepared))
    again.close()
    assert again.script.scenes == scenes


def test_versions_are_those_that_made_the_plans(prepared: Prepared, path: Path, tmp_path: Path) -> None:
    def older(about: bytes) -> bytes:
        return json.dumps(json.loads(about) | {"versions": {"bottomup": "0.0.1"}}).encode()

    saved = read_session(change(path, tmp_path / "older.bottomup", "about.json", older)).fit(prepared)
    session = Session(prepared, slots=FairSlots(1), saved=saved)
    assert provenance(session, session.shown_plan())["versions"] == {"bottomup": "0.0.1"}
    session.settings.running = True
    assert session.versions != {"bottomup": "0.0.1"}
    session.close()


def test_another_design_finds_no_plans_and_the_saved_one_its_own_again(
    opened: Session, wait_until: WaitUntil
) -> None:
    assert opened.saved is not None
    opened.attend(True)
    opened.settings.score = "testimony"
    wait_until(lambda: opened.worker.progress.design == opened.settings.design)
    wait_until(lambda: opened.worker.progress.phase == "paused")
    assert opened.sample() is None
    opened.settings.score = "cluster"
    wait_until(lambda: opened.worker.progress.standing is opened.saved.standing)


def test_running_samples_anew(opened: Session, wait_until: WaitUntil) -> None:
    opened.attend(True)
    opened.settings.running = True
    assert opened.saved is None
    wait_until(lambda: opened.worker.progress.phase == "running" and opened.sample() is not None)
    assert opened.worker.progress.standing is not None
    assert not opened.worker.progress.standing.is_saved


def test_a_session_is_saved_while_its_rungs_are_being_placed(
    prepared: Prepared, ran: Session, tmp_path: Path
) -> None:
    """Right after, charts show the recordings from before; walks may be more, and elsewhere, than these."""
    ladders = prepared.build_ladders(ran.settings.design)
    for rounds in (PLACINGS[0] + 1, PLACINGS[1] + 1):
        while ladders.rounds < rounds:
            ladders.run(lambda n=rounds: ladders.rounds >= n)
        standing = ladders.standing()
        assert standing.recorded.epsilons != standing.workings.epsilons
        snapshot = take_snapshot(replace(snapshot_of(ran).moment, standing=standing))
        assert snapshot is not None
        path = tmp_path / "early.bottomup"
        path.write_bytes(snapshot.to_bytes(prepared))
        saved = read_session(path).fit(prepared).standing
        assert saved.workings.epsilons == standing.workings.epsilons
        assert [plan.origin for plan in saved.current] == [plan.origin for plan in standing.current]


def test_a_session_is_saved_while_its_recordings_fill_and_thin_out(ran: Session) -> None:
    """What some rungs have recorded already, or dropped already, and others not yet, is left out."""
    moment = snapshot_of(ran).moment
    recorded = moment.standing.recorded
    (first, *rest), *others = recorded.recordings
    held = first.read_all()
    assert held is not None
    steps = held.plans.step
    spacing = 2 * first.spacing
    rows = np.flatnonzero((steps % spacing == 0) & (steps < steps[-1]))
    thinned = Recording.holding(
        held._replace(plans=held.plans.take(rows), assignments=tuple(held.assignments[row] for row in rows)),
        spacing=spacing,
    )
    mixed = replace(recorded, recordings=((thinned, *rest), *others))
    snapshot = take_snapshot(replace(moment, standing=replace(moment.standing, recorded=mixed)))
    assert snapshot is not None
    assert snapshot.spacing == spacing
    for row in snapshot.held:
        for each in row:
            np.testing.assert_array_equal(each.plans.step, steps[rows])
            assert len(each.assignments) == len(rows)


def test_nothing_is_saved_before_there_are_plans_or_when_they_are_for_other_settings(
    session: Session, opened: Session
) -> None:
    assert Moment.of(session, {}) is None
    assert Moment.of(opened, {}) is not None
    opened.settings.score = "testimony"
    assert Moment.of(opened, {}) is None


def test_a_saved_session_counts_as_every_plan_in_it(ran: Session) -> None:
    snapshot = snapshot_of(ran)
    release = release_of_session(ran, snapshot)
    assert release == release_of_session(ran, snapshot.moment)
    recorded = ran.worker.progress.standing.recorded
    assert release.draws >= 2 * (len(recorded.epsilons) - 1) * recorded.n_recorded
    assert release.epsilon == 10.0
    ran.ledger.write(release)
    assert read_books(ran).has(release_of_session(ran, snapshot_of(ran)))


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda path, to: path.read_bytes()[:-200], "cut off, damaged or of another kind"),
        (lambda path, to: b"seed,7\n", "cut off, damaged or of another kind"),
        (lambda path, to: b"", "cut off, damaged or of another kind"),
        (lambda path, to: change(path, to, "state.json", None).read_bytes(), "a part is missing"),
        (lambda path, to: change(path, to, "recordings/ends.npy", None).read_bytes(), "a part is missing"),
        (lambda path, to: change(path, to, "about.json", lambda _: b"[]").read_bytes(), "not an object"),
        (lambda path, to: change(path, to, "about.json", lambda _: b"{}").read_bytes(), "does not say"),
        (lambda path, to: change(path, to, "about.json", lambda _: b"\xff").read_bytes(), "is no saved"),
        (
            lambda path, to: change(
                path, to, "about.json", lambda own: own.replace(b'"version": 1', b'"version": 2')
            ).read_bytes(),
            "form 2 of a saved session",
        ),
        (
            lambda path, to: change(path, to, "recordings/step.npy", lambda own: own[:40]).read_bytes(),
            "is no saved session",
        ),
        (lambda path, to: _flip(path.read_bytes()), "cut off, damaged or of another kind"),
    ],
    ids=[
        *("cut", "text", "empty", "no-state", "no-ends", "list", "foreign", "no-text", "newer"),
        *("short-array", "flipped-byte"),
    ],
)
def test_damaged_and_foreign_files_are_refused_in_words(
    path: Path, tmp_path: Path, make: Callable[[Path, Path], bytes], words: str
) -> None:
    broken = tmp_path / "broken.bottomup"
    broken.write_bytes(make(path, tmp_path / "changed.zip"))
    with pytest.raises(DataError, match=words) as error:
        read_session(broken)
    assert "broken.bottomup" in str(error.value)
    assert error.value.remedy


def _flip(contents: bytes) -> bytes:
    """Change a byte in the middle, which is among the plans."""
    middle = len(contents) // 2
    return contents[:middle] + bytes([contents[middle] ^ 255]) + contents[middle + 1 :]


def test_a_missing_file_is_named(tmp_path: Path) -> None:
    with pytest.raises(DataError, match=r"There is no file .*none\.bottomup"):
        read_session(tmp_path / "none.bottomup")


def _array(values: np.ndarray) -> bytes:
    buffer = io.BytesIO()
    np.save(buffer, values)
    return buffer.getvalue()


@pytest.mark.parametrize(
    ("name", "make", "words"),
    [
        ("recordings/cut_edges.npy", lambda own: _array(np.zeros(3, np.int32)), "another form"),
        ("recordings/starts.npy", lambda own: _array(np.full((2, 36), 4, np.int32)), "not there"),
        ("about.json", lambda own: own.replace(b'"tolerance": 0.5', b'"tolerance": 7'), "tolerance"),
        ("about.json", lambda own: own.replace(b'"uint8"', b'"uint16"'), "a plan in it does not fit"),
        ("about.json", lambda own: own.replace(b'"rounds"', b'"turns"'), "rounds"),
    ],
    ids=["shape", "district", "design", "type", "missing"],
)
def test_files_that_contradict_themselves_are_refused(
    prepared: Prepared, path: Path, tmp_path: Path, name: str, make: Callable[[bytes], bytes], words: str
) -> None:
    with pytest.raises(DataError, match=words):
        read_session(change(path, tmp_path / "odd.bottomup", name, make)).fit(prepared)


def test_other_inputs_are_refused_by_name(path: Path, inputs_of: Callable[..., Inputs]) -> None:
    def fit(inputs: Inputs) -> SavedSession:
        return read_session(path).fit(prepare(inputs))

    inputs = inputs_of()
    assert fit(inputs).standing.is_saved
    fewer = replace(inputs.geography, population=inputs.geography.population + 1)
    with pytest.raises(DataError, match=r"differs: the map \(saved: Squareville, 36 units"):
        fit(replace(inputs, geography=fewer))
    with pytest.raises(DataError, match=r"differs: the testimonies \(saved: 6; here: 6\)"):
        fit(inputs_of(clusters=False))
    with pytest.raises(DataError, match=r"differs: the shares \(Black"):
        fit(inputs_of(electorate=False))
    turned = replace(
        inputs.enacted, assignment=inputs.enacted.assignment.reshape(6, 6).T[::-1].ravel().copy()
    )
    other = replace(turned, assignment=np.roll(turned.assignment, 1))
    with pytest.raises(DataError, match=r"differs: the plan 'quadrants' \(another one here\)"):
        fit(replace(inputs, enacted=other, plans={"quadrants": other}))
    with pytest.raises(DataError, match=r"differs: the plan 'quadrants' \(not here\)"):
        fit(replace(inputs, enacted=inputs.plans["stripes"], plans={"stripes": inputs.plans["stripes"]}))
