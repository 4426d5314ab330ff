from __future__ import annotations

import threading
import time
from collections.abc import Callable

import numpy as np
import pytest

from bottomup.dashboard.prepared import Prepared
from bottomup.dashboard.session import Session
from bottomup.dashboard.slots import FairSlots
from bottomup.dashboard.worker import Aim, Design, Worker

DESIGN = Design("quadrants", 0.5, 0.0, 1)
WaitUntil = Callable[..., None]


def test_nothing_is_built_before_the_first_start(session: Session) -> None:
    session.worker.retarget(Aim(2.0, "testimony"))
    session.worker.rebuild(session.settings.design)
    time.sleep(0.05)
    assert session.worker.progress.phase == "waiting"


def test_a_running_worker_records_plans_of_both_chains(session: Session, wait_until: WaitUntil) -> None:
    session.attend(True)
    worker = session.worker
    wait_until(lambda: worker.progress.baseline_done > 0 and len(worker.progress.recording or ()) > 200)
    progress = worker.progress
    assert progress.phase == "running"
    assert progress.steps > 0
    assert progress.steps_per_second > 0
    assert progress.assignment is not None
    assert not progress.assignment.flags.writeable
    assert set(progress.assignment) == {0, 1, 2, 3}


def test_the_baseline_ends_when_it_has_enough(session: Session, wait_until: WaitUntil) -> None:
    session.attend(True)
    worker = session.worker
    wait_until(lambda: worker.progress.baseline_done == 1)
    baseline = worker.progress.baseline
    assert baseline is not None
    n, steps = len(baseline), worker.progress.steps
    wait_until(lambda: worker.progress.steps > steps + 1000)
    assert len(baseline) == n


def test_pause_holds_everything_and_start_goes_on(session: Session, wait_until: WaitUntil) -> None:
    session.attend(True)
    worker = session.worker
    wait_until(lambda: worker.progress.steps > 100)
    session.settings.running = False
    wait_until(lambda: worker.progress.phase == "paused")
    steps = worker.progress.steps
    time.sleep(0.1)
    assert worker.progress.steps == steps
    session.settings.running = True
    wait_until(lambda: worker.progress.steps > steps)


def test_nothing_is_computed_while_nobody_is_there(session: Session, wait_until: WaitUntil) -> None:
    session.attend(True)
    wait_until(lambda: session.worker.progress.phase == "running")
    session.attend(False)
    wait_until(lambda: session.worker.progress.phase == "paused")
    session.settings.epsilon = 3.0
    assert session.settings.running
    session.attend(True)
    wait_until(lambda: session.worker.progress.phase == "running")


def test_another_epsilon_keeps_the_plan_and_starts_a_new_recording(
    session: Session, wait_until: WaitUntil
) -> None:
    session.attend(True)
    worker = session.worker
    wait_until(lambda: worker.progress.steps > 1000)
    session.settings.running = False
    wait_until(lambda: worker.progress.phase == "paused")
    before = worker.progress
    session.settings.param.update(epsilon=8.0, score="cluster")
    wait_until(lambda: worker.progress.recording is not before.recording)
    after = worker.progress
    assert after.steps == before.steps
    assert after.baseline is before.baseline
    assert after.recording is not None
    assert len(after.recording) == 0
    np.testing.assert_array_equal(after.assignment, before.assignment)
    assert after.history == ((0, Aim(1.0, "testimony")), (before.steps, Aim(8.0, "cluster")))


def test_a_reset_begins_at_the_enacted_plan(session: Session, wait_until: WaitUntil) -> None:
    session.attend(True)
    worker = session.worker
    wait_until(lambda: worker.progress.steps > 1000)
    session.settings.running = False
    wait_until(lambda: worker.progress.phase == "paused")
    old = worker.progress.baseline
    session.reset()
    wait_until(lambda: worker.progress.baseline is not old and worker.progress.phase == "paused")
    assert worker.progress.steps == 0
    np.testing.assert_array_equal(worker.progress.assignment, session.prepared.plan("quadrants").assignment)


def test_another_enacted_plan_is_the_new_start(session: Session, wait_until: WaitUntil) -> None:
    session.attend(True)
    wait_until(lambda: session.worker.progress.steps > 100)
    session.settings.running = False
    session.settings.enacted = "stripes"
    wait_until(
        lambda: (
            session.worker.progress.phase == "paused"
            and session.worker.progress.design == session.settings.design
        )
    )
    np.testing.assert_array_equal(
        session.worker.progress.assignment, session.prepared.plan("stripes").assignment
    )


def test_the_seed_decides_both_walks_and_they_differ(prepared: Prepared) -> None:
    aim = Aim(0.0, "testimony")
    plans = {}
    for name, seed in (("first", 1), ("again", 1), ("other", 2)):
        chains = prepared.build_chains(DESIGN._replace(seed=seed), aim)
        for chain in ("baseline", "ensemble"):
            plans[name, chain] = getattr(chains, chain).advance(2000, 100).assignment
    for chain in ("baseline", "ensemble"):
        np.testing.assert_array_equal(plans["first", chain], plans["again", chain])
        assert (plans["first", chain] != plans["other", chain]).any()
    assert (plans["first", "baseline"] != plans["first", "ensemble"]).any()


def test_an_impossible_start_is_told_in_words_and_can_be_mended(
    session: Session, wait_until: WaitUntil
) -> None:
    session.settings.tolerance = 0.5
    session.attend(True)
    worker = session.worker
    wait_until(lambda: worker.progress.steps > 0)
    broken = Design("no such plan", 0.5, 0.0, 1)
    worker.rebuild(broken)
    wait_until(lambda: worker.progress.phase == "failed")
    assert "no such plan" in worker.progress.error
    worker.rebuild(session.settings.design)
    wait_until(lambda: worker.progress.phase == "running")
    assert worker.progress.error == ""


def test_an_error_while_sampling_is_logged_and_shown(
    prepared: Prepared, wait_until: WaitUntil, caplog: pytest.LogCaptureFixture
) -> None:
    def build(design: Design, aim: Aim) -> object:
        chains = prepared.build_chains(design, aim)

        def advance(n_steps: int, thin: int) -> None:
            raise RuntimeError("the walk fell into the river")

        chains.ensemble.advance = advance
        return chains

    worker = Worker(build, DESIGN, Aim(1.0, "testimony"), slots=FairSlots(1))
    worker.run()
    wait_until(lambda: worker.progress.phase == "failed")
    assert worker.progress.error == "the walk fell into the river"
    assert "Traceback" in caplog.text
    worker.stop(timeout=5)


def test_stop_ends_the_thread_within_a_second(session: Session, wait_until: WaitUntil) -> None:
    session.attend(True)
    wait_until(lambda: session.worker.progress.steps > 0)
    began = time.monotonic()
    session.worker.stop(timeout=5)
    assert not session.worker.is_alive
    assert time.monotonic() - began < 1
    assert session.worker.progress.phase == "stopped"


def test_turns_are_taken_first_come_first_served() -> None:
    slots, order = FairSlots(1), []

    def visitor(name: int) -> None:
        for _ in range(5):
            with slots.turn():
                order.append(name)
                time.sleep(0.002)

    threads = [threading.Thread(target=visitor, args=(name,)) for name in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    # In any stretch in which all three still wait, nobody comes twice before another has come once.
    for start in range(3, 9):
        assert len(set(order[start : start + 3])) == 3, order


def test_no_more_turns_at_once_than_slots() -> None:
    slots, inside, most = FairSlots(2), [], []

    def visitor() -> None:
        with slots.turn():
            inside.append(1)
            most.append(len(inside))
            time.sleep(0.005)
            inside.pop()

    threads = [threading.Thread(target=visitor) for _ in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert max(most) == 2
    with pytest.raises(ValueError, match="n_slots"):
        FairSlots(0)
