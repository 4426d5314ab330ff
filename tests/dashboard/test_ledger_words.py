"""Sentences about releases: what they add up to, and what the next one adds."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bottomup.dashboard.ledger_words import (
    added_sentence,
    adding_sentence,
    epsilon_figure,
    others_sentence,
    rows_table,
    showing_sentence,
    sum_words,
)
from bottomup.dashboard.releases import Books
from bottomup.sampler.accounting import (
    ALREADY_RELEASED,
    BY_LOT,
    CHARTS,
    COUNTED,
    CURRENT_PLAN,
    FROM_CHART,
    ONLY_NOTED,
    PLAN,
    Entry,
    Release,
    add_up,
)

TIME = "2025-03-01T14:05:09Z"


def example(epsilon: float = 1.0, **changes: object) -> Release:
    made = Release(PLAN, "table file", BY_LOT, epsilon, 1, "p", "r", "testimony", "1/T", False, "", "t")
    return replace(made, **changes)


def books_of(*rows: Release) -> Books:
    entries = tuple(Entry(TIME, row, COUNTED) for row in rows)
    return Books(entries, 0, add_up(entries, "t"))


def test_the_sum_in_words() -> None:
    three = books_of(example(1.0), example(1.0, plan="q"), example(0.5, plan="s"))
    assert sum_words(three.total) == (
        '<p class="said"><b>Released so far: 3 plans, ε\u00a02.5 in all. With or without any one testimony, '
        "the odds of all plans released change at most ×12.</b></p>"
    )
    many = books_of(*(example(0.5, plan=str(i)) for i in range(12)))
    assert "×403. Their chances grow at most ×138 and one in a million." in sum_words(many.total)
    hundred = books_of(*(example(0.5, plan=str(i)) for i in range(40)))
    assert "chances of all plans released grow at most ×14" in sum_words(hundred.total)
    assert "no useful limit" in sum_words(books_of(example(1.0, draws=300)).total)
    assert "ignored for all of it and changes no odds" in sum_words(books_of(example(0.0)).total)
    picked = sum_words(books_of(example(0.1, chosen=FROM_CHART), example(0.1, plan="q")).total)
    assert "ε\u00a00.2 in all. No limit holds for all of it: 1 plan was picked for what it keeps." in picked
    assert "×" not in picked
    assert "conditions" in sum_words(books_of(example(looks_at_data=True)).total)
    assert "conditions" not in sum_words(three.total)


@pytest.mark.parametrize(
    ("release", "told"),
    [
        (None, "the enacted plan is no release"),
        (
            example(0.5, plan="new"),
            "it counts as 1 draw, which adds ε\u00a00.5. That makes ε\u00a02.5 in all",
        ),
        (
            example(0.5, plan="new", chosen=CURRENT_PLAN),
            "if the moment was not chosen for what the map showed",
        ),
        (example(0.5, plan="new", draws=3), "after 2 plans drawn and not released: it counts as 3 draws"),
        (example(1.0), "Already released"),
        (example(0.0, plan="new"), "It was drawn with testimony ignored."),
        (
            example(1.0, plan="new", chosen=FROM_CHART, draws=312),
            "looking at 312 plans: it counts as 312 draws, which adds ε\u00a0312: no useful limit.",
        ),
        (
            example(0.0, plan="new", chosen=FROM_CHART, draws=312),
            "no limit holds. <b>Better: draw a plan by lot",
        ),
        (example(13.0, plan="new"), "That makes ε\u00a015 in all: no useful limit."),
    ],
)
def test_what_saving_would_add_in_words(release: Release | None, told: str) -> None:
    assert told in adding_sentence(release, books_of(example(1.0), example(1.0, plan="q")))


def test_what_showing_would_add_in_words() -> None:
    books = books_of(example(1.0))
    assert "no release" in showing_sentence(None, books)
    assert "Already released" in showing_sentence(example(1.0), books)
    assert "as 2 draws, which adds ε\u00a01." in showing_sentence(example(0.5, draws=2, plan="new"), books)
    charts = showing_sentence(example(1.0, what=CHARTS, plan="", draws=300), books)
    assert "stand for 300 plans: they count as 300 draws, which adds ε\u00a0300: no useful limit." in charts
    assert "which no sum covers" in charts
    assert "cannot be written down" in showing_sentence(example(), replace(books, error="gone"))


def test_lines_in_words() -> None:
    counted = Entry(TIME, example(0.5, draws=3), COUNTED)
    assert added_sentence(counted) == "Written in the ledger: it adds ε\u00a01.5."
    assert "adds nothing" in added_sentence(replace(counted, status=ALREADY_RELEASED))
    assert "not counted" in added_sentence(replace(counted, status=ONLY_NOTED))
    rows = [replace(counted, release=example(0.5, how=f"<file {i}>", draws=3)) for i in range(9)]
    shown = rows_table(rows)
    assert shown.count("<tr>") == 1 + 6
    assert "&lt;file 8&gt;" in shown
    assert "file 2&gt;" not in shown
    assert shown.index("file 8") < shown.index("file 7")
    assert "<td>2025-03-01 14:05</td>" in shown
    assert "3\u00a0×\u00a00.5</td><td>1.5</td>" in shown
    assert others_sentence(0) == ""
    assert others_sentence(2).startswith("2 lines of this ledger are about other testimonies")


@given(st.floats(0, 1e6))
def test_figures_are_short_and_near(epsilon: float) -> None:
    figure = epsilon_figure(epsilon)
    assert float(figure.replace(",", "")) == pytest.approx(epsilon, rel=5e-3)
    assert "e" not in figure or epsilon < 1e-3
