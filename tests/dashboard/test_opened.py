"""Maps that visitors opened: who gets at them, and when they are let go."""

import gc
import re
import weakref
from types import SimpleNamespace

import pytest

from bottomup.dashboard import app, local_paths
from bottomup.dashboard.opened import OpenedMaps
from bottomup.dashboard.options import parse_page_options
from bottomup.dashboard.prepared import prepare
from bottomup.dashboard.views.data_link import data_link
from bottomup.dashboard.views.page import PageView
from bottomup.data.errors import DataError


class Clock:
    now = 0.0

    def __call__(self):
        return self.now


@pytest.fixture
def clock():
    return Clock()


@pytest.fixture
def maps(clock):
    return OpenedMaps(most=2, idle_seconds=60, clock=clock)


def test_a_map_is_kept_while_somebody_looks_at_it_and_some_minutes_longer(maps, clock, prepared):
    token = maps.add(prepared)
    clock.now = 59
    assert maps.enter(token) is prepared
    clock.now = 5000
    maps.drop_idle()
    assert maps.enter(token) is prepared
    maps.leave(token)
    maps.leave(token)
    clock.now = 5059
    assert maps.enter(token) is prepared
    maps.leave(token)
    clock.now = 5119
    assert maps.enter(token) is None
    assert len(maps) == 0


def test_tokens_cannot_be_guessed(maps, prepared):
    first, second = maps.add(prepared), maps.add(prepared)
    assert first != second
    assert re.fullmatch(r"[\w-]{32}", first)
    assert maps.enter("") is None


def test_few_are_kept_those_in_sight_before_all(maps, clock, prepared):
    first = maps.add(prepared)
    maps.enter(first)
    clock.now = 1
    second = maps.add(prepared)
    third = maps.add(prepared)
    assert maps.enter(second) is None
    assert maps.enter(third) is prepared
    with pytest.raises(DataError, match="2 maps open, as many as the server keeps"):
        maps.add(prepared)


def test_what_is_let_go_is_freed(maps, clock, inputs_of):
    prepared = prepare(inputs_of())
    prepared.numbers_of("quadrants", "mass")
    prepared.problem.community_weights(0.5)
    held, problem = weakref.ref(prepared), weakref.ref(prepared.problem)
    token = maps.add(prepared)
    del prepared
    gc.collect()
    assert held() is not None
    clock.now = 61
    assert maps.enter(token) is None
    gc.collect()
    assert held() is None
    assert problem() is None


def test_a_token_opens_its_page_and_a_stale_one_leads_to_the_data_screen(
    maps, prepared, monkeypatch, tmp_path
):
    monkeypatch.setattr(app, "OPENED", maps)
    options = parse_page_options(["--ledger", str(tmp_path / "ledger.csv")])
    page = app.open_map(maps.add(prepared), options)
    assert isinstance(page, PageView)
    assert page.session.prepared is prepared
    page.session.close()
    gone = app.open_map("stale", options)
    assert 'href="?data"' in gone.object
    assert "no longer" in gone.object
    assert 'href="?data"' in data_link().object


def request(remote="127.0.0.1", **headers):
    return SimpleNamespace(remote_ip=remote, headers={"Host": "localhost:5006", **headers})


@pytest.mark.parametrize(
    ("asked", "may"),
    [
        (request(), True),
        (request("::1", Host="[::1]:5006"), True),
        (request("10.0.0.7"), False),
        (request(Host="maps.example.org"), False),
        (request(Host=""), False),
        (request(**{"X-Forwarded-For": "10.0.0.7"}), False),
        (request(Forwarded="for=10.0.0.7"), False),
        (SimpleNamespace(headers={"Host": "localhost"}), False),
        (None, False),
    ],
)
def test_paths_are_for_those_at_the_machine(asked, may, monkeypatch):
    # A server that was not started so takes no paths at all.
    assert not local_paths.may_name_paths(asked)
    monkeypatch.setattr(local_paths, "_allowed", True)
    assert local_paths.may_name_paths(asked) is may
