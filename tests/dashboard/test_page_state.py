from __future__ import annotations

from dataclasses import replace
from urllib.parse import parse_qsl

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bottomup.dashboard.page_state import (
    PageState,
    first_values,
    put_into_effect,
    query_of,
    read_fields,
    state_of,
    write_fields,
)
from bottomup.dashboard.prepared import Prepared
from bottomup.dashboard.selection import Cluster, District, Span, Unit
from bottomup.dashboard.selection import Testimony as OneTestimony
from bottomup.dashboard.session import Session
from bottomup.dashboard.state import EPSILONS

VIEWS = ("communities", "settings", "map")

pointed = st.one_of(
    st.none(),
    st.builds(OneTestimony, st.integers(0, 5)),
    st.builds(Cluster, st.integers(0, 1)),
    st.builds(Unit, st.integers(0, 35)),
    st.builds(District, st.integers(0, 3)),
)
ends = st.tuples(st.floats(-2, 2), st.floats(-2, 2)).filter(lambda pair: pair[0] < pair[1])
spans = st.one_of(
    st.none(),
    st.builds(lambda score, pair: Span(score, *pair), st.sampled_from(["testimony", "cluster"]), ends),
)
# Anything but lone halves of characters, which no address can have.
words = st.text(st.characters(codec="utf-8"), min_size=1, max_size=40)
choices = st.dictionaries(st.from_regex(r"[a-z][a-z_]{0,9}", fullmatch=True), words, min_size=1, max_size=3)
states = st.builds(
    PageState,
    epsilon=st.sampled_from(EPSILONS),
    score=st.sampled_from(["testimony", "cluster"]),
    weighting=st.sampled_from(["coverage", "mass"]),
    enacted=st.sampled_from(["quadrants", "stripes"]),
    tolerance=st.floats(0.001, 0.5),
    compactness=st.floats(0, 1),
    seed=st.integers(0, 2**31 - 1),
    moves=st.sampled_from(["mixture", "walk"]),
    view=st.sampled_from(VIEWS),
    plan=st.one_of(st.sampled_from(["current", "enacted"]), st.from_regex(r"[0-9a-f]{16}", fullmatch=True)),
    pointed=pointed,
    span=spans,
    views=st.dictionaries(st.sampled_from(VIEWS), choices, max_size=2),
)


def as_fields(query: str) -> dict[str, str]:
    """As a server takes an address apart."""
    return dict(parse_qsl(query, keep_blank_values=True, strict_parsing=bool(query)))


def read_all(prepared: Prepared, fields: dict[str, str], default: PageState) -> tuple[PageState, list[str]]:
    """Read a state that is written wholly: views say nothing of choices that are as at first."""
    return read_fields(fields, replace(default, views={}), prepared, VIEWS, "")


@given(state=states, default=states, other=states)
def test_any_state_survives_as_fields_and_as_an_address(
    prepared: Prepared, state: PageState, default: PageState, other: PageState
) -> None:
    assert read_all(prepared, write_fields(state, prepared), default) == (state, [])
    query = query_of(state, [default, other], prepared)
    for first in (default, other):
        assert read_fields(as_fields(query), first, prepared, VIEWS, "") == (state, [])
    assert query_of(state, [state], prepared) == ""


@settings(max_examples=200)
@given(
    fields=st.dictionaries(
        st.one_of(st.sampled_from([*PageState.__dataclass_fields__, "map.colour"]), words),
        st.text(max_size=300),
    ),
    default=states,
)
def test_whatever_is_asked_for_the_state_is_one_that_can_be(
    prepared: Prepared, fields: dict[str, str], default: PageState
) -> None:
    state, unmet = read_fields(fields, default, prepared, VIEWS, "The address")
    assert read_all(prepared, write_fields(state, prepared), default) == (state, [])
    assert all(sentence.startswith("The address asked for ") for sentence in unmet)


@pytest.mark.parametrize(
    ("name", "text", "sentence"),
    [
        ("epsilon", "99", "ε = 99, which is not on the slider: left at 1"),
        ("epsilon", "nan", "ε = nan, which is not a number: left at 1"),
        ("score", "people", "the score people, which is no score: left at testimony"),
        ("enacted", "none", "the enacted plan none, which is none of the plans here: left at quadrants"),
        ("tolerance", "0.9", "a tolerance of 0.9, which is not from 0.001 to 0.5: left at 0.05"),
        ("seed", "-1", "the seed -1, which is not a whole number: left at 1"),
        ("seed", "99999999999", "the seed 99999999999, which is not from 0 to 2.14748e+09: left at 1"),
        ("moves", "jumps", "the moves jumps, which cannot be chosen: left at mixture"),
        ("view", "kitchen", "the view kitchen, which is no view: left at communities"),
        ("plan", "best", "the plan best, which is no plan: left at current"),
        ("pointed", "testimony:t99", "a look at testimony:t99, which is not there: left at nothing"),
        ("pointed", "river:x", "a look at river:x, which is nothing that can be pointed at: left at nothing"),
        ("span", "testimony:0.5:0.4", "testimony:0.5:0.4, which is no span of scores: left at nothing"),
        ("seat.colour", "x", "seat.colour, which no view here knows"),
    ],
    ids=lambda value: value[:24],
)
def test_what_cannot_be_is_named(prepared: Prepared, name: str, text: str, sentence: str) -> None:
    default = first_values(prepared, "communities")
    state, unmet = read_fields({name: text, "seedling": "7"}, default, prepared, VIEWS, "The address")
    assert state == default
    assert len(unmet) == 1
    assert unmet[0].startswith("The address asked for ")
    assert unmet[0].endswith(f"{sentence}.")


def test_the_address_of_a_page_as_it_opens_is_empty(prepared: Prepared) -> None:
    default = first_values(prepared, "communities")
    assert query_of(default, [default], prepared) == ""
    changed = replace(default, epsilon=2.5, pointed=OneTestimony(3), views={"map": {"colour": "kept"}})
    assert query_of(changed, [default], prepared) == "epsilon=2.5&pointed=testimony:t3&map.colour=kept"


def test_a_state_is_put_into_effect_and_read_off_again(session: Session) -> None:
    default = first_values(session.prepared, "communities")
    wanted = replace(
        default,
        epsilon=4.0,
        score="cluster",
        enacted="stripes",
        tolerance=0.3,
        seed=5,
        plan="enacted",
        pointed=Cluster(1),
        span=Span("cluster", 0.5, 0.75),
    )
    assert put_into_effect(wanted, session, "The address") == []
    assert state_of(session, "communities", {}) == wanted
    (unmet,) = put_into_effect(replace(wanted, plan="0123456789abcdef"), session, "The address")
    assert "cannot be met again" in unmet
    assert session.shown.kind == "current"
