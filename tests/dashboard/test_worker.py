from __future__ import annotations

import threading
import time
from collections.abc import Callable

import numpy as np
import pytest

from bottomup.dashboard.design import Design
from bottomup.dashboard.prepared import Prepared
from bottomup.dashboard.session import Session
from bottomup.dashboard.slots import FairSlots
from bottomup.dashboard.worker import Worker

DESIGN = Design("quadrants", 0.5, 0.0, 1)
WaitUntil = Callable[..., None]


def rounds(session: Session) -> int:
    standing = session.worker.progress.standing
    return 0 if standing is None else standing.rounds


def test_nothing_is_built_before_the_first_start(session: Session) -> None:
    session.worker.look_at(2.0)
    session.worker.rebuild(session.settings.design)
    time.sleep(0.05)
    assert session.worker.progress.phase == "waiting"


def test_a_running_worker_has_plans_at_every_rung(session: Session, wait_until: WaitUntil) -> None:
    session.attend(True)
    worker = session.worker
    wait_until(lambda: rounds(session) > 200)
    progress = worker.progress
    assert progress.phase == "running"
    assert progress.steps_per_second > 0
    assert progress.standing is not None
    current = progress.standing.current
    assert tuple(plan.origin.epsilon for plan in current) == progress.standing.recorded.epsilons
    for plan in current:
        assert not plan.assignment.flags.writeable
        assert set(plan.assignment) == {0, 1, 2, 3}


def test_pause_holds_everything_and_start_goes_on(session: Session, wait_until: WaitUntil) -> None:
    session.attend(True)
    worker = session.worker
    wait_until(lambda: rounds(session) > 10)
    session.settings.running = False
    wait_until(lambda: worker.progress.phase == "paused")
    before = rounds(session)
    time.sleep(0.1)
    assert rounds(session) == before
    session.settings.running = True
    wait_until(lambda: rounds(session) > before)


def test_nothing_is_computed_while_nobody_is_there(session: Session, wait_until: WaitUntil) -> None:
    session.attend(True)
    wait_until(lambda: session.worker.progress.phase == "running")
    session.attend(False)
    wait_until(lambda: session.worker.progress.phase == "paused")
    session.settings.epsilon = 3.0
    assert session.settings.running
    session.attend(True)
    wait_until(lambda: session.worker.progress.phase == "running")


def test_another_epsilon_is_answered_at_once_and_sampling_takes_no_notice(
    session: Session, wait_until: WaitUntil
) -> None:
    session.attend(True)
    worker = session.worker
    wait_until(lambda: rounds(session) > 160)
    before = worker.progress.standing
    assert before is not None
    session.settings.epsilon = 8.0
    began = time.perf_counter()
    sample = session.sample()
    assert time.perf_counter() - began < 0.5
    assert sample is not None
    assert sample.epsilon == 8.0
    assert sample.rungs[0] <= 8.0 <= sample.rungs[-1]
    baseline = session.baseline()
    assert baseline is not None
    assert sample.scores("testimony").mean() > baseline.scores("testimony").mean()
    wait_until(lambda: rounds(session) > before.rounds + 20)
    after = worker.progress.standing
    assert after is not None
    assert after.recorded.recordings is before.recorded.recordings


def test_what_is_judged_follows_epsilon_even_in_a_pause(session: Session, wait_until: WaitUntil) -> None:
    session.attend(True)
    worker = session.worker
    wait_until(lambda: worker.progress.reliability is not None)
    session.settings.running = False
    wait_until(lambda: worker.progress.phase == "paused")
    before = rounds(session)
    session.settings.epsilon = 5.0
    wait_until(lambda: worker.progress.reliability.epsilon == 5.0, 5)
    assert rounds(session) == before
    assert worker.progress.phase == "paused"


@pytest.mark.parametrize("change", [{"score": "cluster"}, {"seed": 5}])
def test_another_design_starts_anew(
    session: Session, wait_until: WaitUntil, change: dict[str, object]
) -> None:
    session.attend(True)
    wait_until(lambda: rounds(session) > 160)
    session.settings.running = False
    wait_until(lambda: session.worker.progress.phase == "paused")
    session.settings.param.update(**change)
    wait_until(lambda: session.worker.progress.design == session.settings.design)
    wait_until(lambda: session.worker.progress.phase == "paused" and session.worker.progress.standing)
    assert rounds(session) == 0
    assert session.sample() is None
    assert session.worker.progress.standing.recorded.design == session.settings.design


def test_a_reset_begins_anew_with_the_enacted_plan_on_the_map(
    session: Session, wait_until: WaitUntil
) -> None:
    session.attend(True)
    wait_until(lambda: rounds(session) > 5)
    assert session.shown_plan().kind == "current"
    session.settings.running = False
    wait_until(lambda: session.worker.progress.phase == "paused")
    session.reset()
    wait_until(lambda: rounds(session) == 0 and session.worker.progress.phase == "paused")
    np.testing.assert_array_equal(
        session.shown_plan().assignment, session.prepared.plan("quadrants").assignment
    )


def test_the_map_shows_a_plan_from_the_rung_at_or_below_epsilon(
    session: Session, wait_until: WaitUntil
) -> None:
    session.attend(True)
    wait_until(lambda: rounds(session) > 0)
    session.settings.running = False
    wait_until(lambda: session.worker.progress.phase == "paused")
    standing = session.worker.progress.standing
    assert standing is not None
    for epsilon in (0.0, 1.0, 5.0, 10.0):
        session.settings.epsilon = epsilon
        origin = session.shown_plan().origin
        assert origin is not None
        assert origin.epsilon == max(rung for rung in origin.rungs if rung <= epsilon)
        assert origin.start == "plan quadrants"


def test_another_enacted_plan_is_the_new_start(session: Session, wait_until: WaitUntil) -> None:
    session.attend(True)
    wait_until(lambda: rounds(session) > 0)
    session.settings.enacted = "stripes"
    wait_until(lambda: session.worker.progress.design == session.settings.design and rounds(session) > 0)
    origin = session.shown_plan().origin
    assert origin is not None
    assert (origin.start, origin.design.enacted) == ("plan stripes", "stripes")


def test_an_impossible_start_is_told_in_words_and_can_be_mended(
    session: Session, wait_until: WaitUntil
) -> None:
    session.settings.tolerance = 0.5
    session.attend(True)
    worker = session.worker
    wait_until(lambda: rounds(session) > 0)
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
    def build(design: Design) -> object:
        ladders = prepared.build_ladders(design)

        def run(is_stopped: Callable[[], bool], n_threads: int) -> None:
            raise RuntimeError("the walk fell into the river")

        ladders.run = run
        return ladders

    worker = Worker(build, DESIGN, 1.0, slots=FairSlots(1))
    worker.run()
    wait_until(lambda: worker.progress.phase == "failed")
    assert worker.progress.error == "the walk fell into the river"
    assert "Traceback" in caplog.text
    worker.stop(timeout=5)


def test_stop_ends_the_thread_within_a_second(session: Session, wait_until: WaitUntil) -> None:
    session.attend(True)
    wait_until(lambda: rounds(session) > 0)
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


def test_a_visitor_alone_holds_every_slot_and_two_take_turns_with_them() -> None:
    slots, held, both = FairSlots(3), [], threading.Barrier(2)
    with slots.turn(8) as alone:
        assert alone == 3
    with slots.turn(2), slots.turn(2) as rest:
        assert rest == 1

    def visitor(name: str) -> None:
        for _ in range(6):
            both.wait()
            with slots.turn(3) as n:
                held.append((name, n))

    threads = [threading.Thread(target=visitor, args=(name,)) for name in "ab"]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    # Whoever comes second waits for the first, and then has all of them as well.
    assert sorted(held) == [("a", 3)] * 6 + [("b", 3)] * 6
    with slots.turn(3) as again:
        assert again == 3


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
