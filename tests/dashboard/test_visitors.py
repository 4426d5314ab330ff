from __future__ import annotations

import logging
import threading

import panel as pn
import pytest
from tornado.websocket import WebSocketClosedError

from bottomup.dashboard import cli
from bottomup.dashboard.options import page_arguments, parse_page_options
from bottomup.dashboard.server_log import set_up_log
from bottomup.dashboard.views.crowded import crowded
from bottomup.dashboard.views.guard import guarded
from bottomup.dashboard.visitors import BYTES_PER_VISITOR, Visitors, suggest_limit


def test_no_more_are_let_in_than_may_be_there_and_the_next_when_one_has_left():
    visitors = Visitors(2)
    assert [visitors.enter() for _ in range(3)] == [True, True, False]
    visitors.leave()
    assert visitors.n_open == 1
    assert visitors.enter()


def test_of_many_who_come_at_once_exactly_as_many_are_let_in():
    visitors, let_in = Visitors(7), []
    together = threading.Barrier(20)

    def come() -> None:
        together.wait()
        let_in.append(visitors.enter())

    threads = [threading.Thread(target=come) for _ in range(20)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sum(let_in) == visitors.n_open == 7


def test_the_limit_follows_the_memory():
    assert suggest_limit(2 * 5 * BYTES_PER_VISITOR) == 5
    assert suggest_limit(10**6) == 1
    assert suggest_limit(10**13) == 12
    assert 1 <= suggest_limit() <= 12


def test_the_option_is_handed_on_to_the_page():
    options = parse_page_options(["--visitors", "3"])
    assert options.visitors == 3
    assert parse_page_options(page_arguments(options)).visitors == 3
    assert parse_page_options([]).visitors is None


@pytest.mark.parametrize("text", ["0", "-1", "many", "2.5"])
def test_a_limit_that_is_none_is_refused(text, capsys):
    with pytest.raises(SystemExit):
        cli.main(["serve", f"--visitors={text}"])
    assert "must be a whole number, 1 or more" in capsys.readouterr().err


def test_who_is_turned_away_reads_how_many_may_come_and_what_to_do():
    words = crowded(3)[0].object
    assert "to 3 people at once" in words
    assert "bottomup serve" in words
    assert "--visitors" in words


def test_an_error_in_a_callback_of_a_figure_goes_where_those_of_widgets_go():
    def fail(event):
        raise ValueError(f"no plan at {event}")

    with pytest.raises(ValueError, match="no plan at 3"):
        guarded(fail)(3)
    shown = []
    with pn.config.set(exception_handler=shown.append):
        guarded(fail)(3)
    assert [str(error) for error in shown] == ["no plan at 3"]


def test_the_log_tells_who_comes_and_goes_but_not_of_messages_to_a_closed_tab(caplog):
    set_up_log()
    asyncio_log = logging.getLogger("asyncio")
    for error in (WebSocketClosedError(), ValueError("no plan")):
        asyncio_log.error("Task exception was never retrieved", exc_info=error)
    assert [record.exc_info[0] for record in caplog.records] == [ValueError]
    visitors = Visitors(2)
    visitors.enter()
    visitors.leave()
    assert "A page was opened; 1 of 2 are open." in caplog.text
    assert "A page was closed; 0 of 2 are open." in caplog.text
