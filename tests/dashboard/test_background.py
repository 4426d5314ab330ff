from __future__ import annotations

import threading

from bottomup.dashboard.background import Background, Outcome


def test_what_was_found_is_there_afterwards(wait_until):
    background: Background[int] = Background()
    assert background.outcome == Outcome()
    go_on = threading.Event()
    background.start(lambda is_stopped: 3 if go_on.wait(60) else None)
    assert background.outcome.is_running
    go_on.set()
    wait_until(lambda: not background.outcome.is_running)
    assert background.outcome == Outcome(result=3)


def test_an_error_is_kept_in_words(wait_until, caplog):
    background: Background[int] = Background()

    def fail(is_stopped):
        raise ValueError("no plans at hand")

    background.start(fail)
    wait_until(lambda: not background.outcome.is_running)
    assert background.outcome == Outcome(error="no plans at hand")
    assert "failed" in caplog.text


def test_new_work_stops_the_old_whose_result_is_not_kept(wait_until):
    background: Background[str] = Background()
    begun, ended = threading.Event(), threading.Event()

    def old(is_stopped):
        begun.set()
        wait_until(is_stopped)
        ended.set()
        return "old"

    background.start(old)
    begun.wait(60)
    background.start(lambda is_stopped: "new")
    wait_until(ended.is_set)
    wait_until(lambda: not background.outcome.is_running)
    assert background.outcome.result == "new"


def test_stopped_work_leaves_nothing(wait_until):
    background: Background[str] = Background()
    ended = threading.Event()

    def work(is_stopped):
        wait_until(is_stopped)
        ended.set()
        return "late"

    background.start(work)
    background.stop()
    assert not background.outcome.is_running
    wait_until(ended.is_set)
    assert background.outcome == Outcome()
