"""What a release from the page is, what it counts as, and that it is written down before it happens."""

from __future__ import annotations

import asyncio
import csv
import json
import re
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from random import Random
from typing import TYPE_CHECKING

import numpy as np
import panel as pn
import panel_material_ui as pmui
import pytest

from bottomup.dashboard import ledger_words, releases
from bottomup.dashboard.options import page_arguments, parse_page_options
from bottomup.dashboard.prepared import Prepared
from bottomup.dashboard.releases import (
    draw_by_lot,
    hold,
    read_books,
    release_of,
    release_of_charts,
    showing_of,
    was_released,
)
from bottomup.dashboard.saving import file_bytes, file_name, provenance, submitted_digest
from bottomup.dashboard.session import Session
from bottomup.dashboard.slots import FairSlots
from bottomup.dashboard.views import export, hearing
from bottomup.dashboard.views.export import ExportView
from bottomup.data.changes import deduplicate
from bottomup.data.testimonies import Clusters
from bottomup.sampler.accounting import (
    ALREADY_RELEASED,
    BY_LOT,
    CHARTS,
    COUNTED,
    CURRENT_PLAN,
    FROM_CHART,
    ONLY_NOTED,
    PLAN,
    SHOWING,
    WHOLE_SAMPLE,
    Release,
)
from bottomup.sampler.ledger import Ledger
from bottomup.sampler.naming import plan_digest

if TYPE_CHECKING:
    from bottomup.data.testimonies import Testimonies

WaitUntil = Callable[..., None]


@pytest.fixture(autouse=True)
def _extension() -> None:
    pn.extension()


@pytest.fixture
def session(prepared: Prepared, tmp_path: Path, wait_until: WaitUntil) -> Iterator[Session]:
    """A session that has met some plans and stands still, with a ledger of its own."""
    session = Session(prepared, slots=FairSlots(1), ledger=Ledger(tmp_path / "ledger.csv"))
    session.settings.tolerance = 0.5
    run_to(session, 40, wait_until)
    yield session
    session.close()
    session.worker.stop(timeout=5)


def run_to(session: Session, rounds: int, wait_until: WaitUntil) -> None:
    """Let the walks of the present settings take so many rounds, and stand still."""

    def is_there() -> bool:
        progress = session.worker.progress
        standing = progress.standing if progress.design == session.settings.design else None
        return standing is not None and standing.rounds >= rounds

    session.attend(True)
    session.settings.running = True
    wait_until(is_there)
    session.settings.running = False
    wait_until(lambda: session.worker.progress.phase == "paused")


def pick_from_chart(session: Session) -> int:
    """Choose a plan from a bar; give the number of plans behind the chart."""
    sample = session.sample()
    assert sample is not None
    # A score that some plan has: between two of them there may be none.
    value = float(np.percentile(sample.scores("testimony"), 50, method="lower"))
    assert session.choose_from_bar("testimony", value - 0.01, value + 0.01)
    return sample.n_plans


def released(session: Session) -> Release:
    release = release_of(session, session.shown_plan(), "two columns as CSV")
    assert release is not None
    return release


def test_the_walks_plan_is_one_draw_of_its_own_rung(session: Session) -> None:
    session.settings.epsilon = 2.5
    shown, release = session.shown_plan(), released(session)
    assert shown.origin is not None
    assert (release.what, release.chosen, release.draws) == (PLAN, CURRENT_PLAN, 1)
    assert release.epsilon == shown.origin.epsilon
    assert release.epsilon <= 2.5
    assert release.plan == plan_digest(shown.assignment)
    assert release.run == provenance(session, shown)["name"]
    assert (release.score, release.delta, release.looks_at_data, release.clusters) == (
        "testimony",
        "1/T",
        False,
        "",
    )


def test_a_plan_from_a_chart_counts_as_all_plans_behind_it(session: Session) -> None:
    session.settings.epsilon = 2.2
    sample = session.sample()
    assert sample is not None
    n_plans = pick_from_chart(session)
    release = released(session)
    assert n_plans > 10
    assert (release.chosen, release.draws) == (FROM_CHART, n_plans)
    # Also those met above the chosen epsilon have been looked at.
    assert release.epsilon == max(sample.rungs)
    assert release.epsilon >= 2.2


def test_an_enacted_plan_is_no_release(session: Session) -> None:
    session.shown.kind = "enacted"
    assert release_of(session, session.shown_plan(), "two columns as CSV") is None


def test_plans_drawn_by_lot_and_passed_over_count_until_one_is_released(session: Session) -> None:
    session.settings.epsilon = 3.0
    draw_by_lot(session)
    first = released(session)
    assert (first.chosen, first.draws) == (BY_LOT, 1)
    high = first.epsilon
    session.settings.epsilon = 0.5
    draw_by_lot(session)
    second = released(session)
    assert session.shown_plan().kind == "chosen"
    assert second.draws == 2
    # The one passed over was drawn at the higher epsilon.
    assert second.epsilon == high
    assert re.match(r"A plan drawn by lot at ε = [\d.]+, met in round \d+$", session.shown_plan().title)
    was_released(session, released(session))
    draw_by_lot(session)
    assert (released(session).draws, released(session).epsilon) == (1, session.shown_plan().origin.epsilon)


def test_what_was_not_drawn_by_lot_leaves_the_lots_as_they_are(session: Session) -> None:
    draw_by_lot(session)
    pick_from_chart(session)
    was_released(session, released(session))
    draw_by_lot(session)
    assert released(session).draws == 2


def test_there_is_nothing_to_draw_from_before_the_first_plan(prepared: Prepared, tmp_path: Path) -> None:
    session = Session(prepared, ledger=Ledger(tmp_path / "ledger.csv"))
    assert not draw_by_lot(session)
    assert release_of_charts(session) is None
    assert release_of(session, session.shown_plan(), "two columns as CSV") is None
    assert session.lots == []
    session.close()


class Choosing(Random):
    """Chooses the entry of a given number, and keeps what it could choose from."""

    def __init__(self, number: int) -> None:
        super().__init__(0)
        self.number = number
        self.among: list[object] = []

    def choice(self, entries: list[object]) -> object:  # type: ignore[override]
        self.among = list(entries)
        return entries[self.number]


def test_a_lot_is_drawn_from_the_later_half_of_both_ladders_at_the_rung_below(session: Session) -> None:
    recorded = session.worker.progress.standing.recorded
    epsilon = (recorded.epsilons[1] + recorded.epsilons[2]) / 2
    expected = []
    for ladder in range(2):
        steps = recorded.recordings[ladder][1].read().step
        expected += [(ladder, int(step)) for step in steps[len(steps) // 2 :]]
    for number in (0, len(expected) - 1):
        choosing = Choosing(number)
        plan = recorded.draw(epsilon, choosing)
        assert choosing.among == expected
        ladder, step = expected[number]
        assert (plan.origin.start, plan.origin.epsilon) == (recorded.starts[ladder], recorded.epsilons[1])
        assert plan.origin.round == recorded.round_of(step)
        np.testing.assert_array_equal(plan.assignment, recorded.plan_at(ladder, 1, step).assignment)


def test_every_plan_is_as_likely_to_be_drawn(session: Session) -> None:
    recorded, random = session.worker.progress.standing.recorded, Random(4)
    choosing = Choosing(0)
    recorded.draw(1.0, choosing)
    n, per_plan = len(choosing.among), 200
    found = Counter(
        (plan.origin.start, plan.origin.round)
        for plan in (recorded.draw(1.0, random) for _ in range(n * per_plan))
    )
    assert len(found) == n
    # Five standard deviations.
    assert all(abs(times - per_plan) < 5 * np.sqrt(per_plan) for times in found.values())


def test_a_held_plan_stays_the_same_release_while_the_walk_goes_on(
    session: Session, wait_until: WaitUntil
) -> None:
    before, shown = released(session), session.shown_plan()
    hold(session, shown)
    run_to(session, shown.origin.round + 20, wait_until)
    assert released(session) == before
    assert session.shown_plan().title == shown.title
    session.shown.kind = "current"
    assert released(session).plan != before.plan or released(session).run != before.run
    # What is held or enacted needs no holding.
    session.shown.kind = "enacted"
    hold(session, session.shown_plan())
    assert session.shown.kind == "enacted"


def test_the_same_draw_has_one_name_however_it_was_come_by(
    session: Session, monkeypatch: pytest.MonkeyPatch
) -> None:
    pick_from_chart(session)
    chosen = session.shown_plan()
    monkeypatch.setattr(
        type(session.worker.progress.standing.recorded), "draw", lambda *_: session.shown.chosen.plan
    )
    draw_by_lot(session)
    by_lot = session.shown_plan()
    made, again = provenance(session, chosen), provenance(session, by_lot)
    assert made["name"] == again["name"]
    assert (made["chosen"], again["chosen"]) == (FROM_CHART, BY_LOT)
    assert made["counts_as_draws"] > again["counts_as_draws"] == 1
    assert file_name(session, by_lot, "table", "csv").startswith("Squareville_by-lot_eps-")
    saved = json.loads(file_bytes(session, by_lot, "units", "geojson"))["provenance"]
    assert saved["plan"].startswith("A plan drawn by lot")
    assert saved["testimonies_as_submitted_sha256"] == released(session).testimonies


def test_showing_charts_counts_every_plan_behind_them(session: Session) -> None:
    release, sample = release_of_charts(session), session.sample()
    assert (release.what, release.chosen, release.plan) == (CHARTS, WHOLE_SAMPLE, "")
    assert (release.draws, release.epsilon) == (sample.n_plans, max(sample.rungs))
    assert release_of_charts(session) == release
    session.settings.epsilon = 4.0
    assert release_of_charts(session).run != release.run
    note = showing_of(session, session.shown_plan())
    assert (note.what, note.plan) == (SHOWING, plan_digest(session.shown_plan().assignment))


def test_the_score_says_what_its_limit_rests_on(session: Session, wait_until: WaitUntil) -> None:
    before = session.shown_plan()
    # Of the rungs only the ends are sure to stay where they are.
    session.settings.epsilon = 10.0
    session.settings.score = "cluster"
    # A plan is of the law that it was drawn from, whatever the settings say by now.
    assert release_of(session, before, "two columns as CSV").score == "testimony"
    run_to(session, 5, wait_until)
    release = released(session)
    assert (release.score, release.delta, release.looks_at_data) == ("cluster", "max|t|/W", True)
    assert release.clusters == "conditional"
    assert release.is_conditional
    session.settings.weighting = "mass"
    run_to(session, 5, wait_until)
    release = released(session)
    assert (release.delta, release.looks_at_data, release.clusters) == ("1/T", False, "conditional")


def with_clusters(testimonies: Testimonies, *of_testimony: int) -> Testimonies:
    return replace(
        testimonies, clusters=Clusters(("A", "B"), np.array(of_testimony, dtype=np.int32), "column")
    )


def test_testimonies_are_the_same_however_they_are_put_to_use(prepared: Prepared) -> None:
    testimonies = prepared.testimonies
    copied = replace(testimonies, units=np.tile(testimonies.units[:2], 6))
    whole = submitted_digest(copied)
    assert submitted_digest(with_clusters(copied, 1, 1, 1, 0, 0, 0)) == whole
    single = deduplicate(replace(copied, clusters=None))
    assert len(single.duplicate_of) == 5
    assert submitted_digest(single) == whole
    assert single.digest != replace(copied, clusters=None).digest
    assert submitted_digest(testimonies) != whole
    assert submitted_digest(replace(copied, ids=tuple(f"other {i}" for i in range(6)))) != whole


def save(view: ExportView, kind: str = "table", form: str = "geojson") -> str:
    """Choose what to save and save it, and give the message."""
    view._kind.value, view._form.value = kind, form
    return click(view, "Save")


def click(view: ExportView, label: str) -> str:
    """Click a button, and give the message."""
    button = next(b for b in view.__panel__().select(pmui.Button) if b.label == label)
    button.clicks += 1
    return view._message.object


def words(view: ExportView) -> str:
    return " ".join(pane.object or "" for pane in view.__panel__().select(pn.pane.HTML))


def table(path: Path) -> list[dict[str, str]]:
    with path.open(newline="", encoding="utf-8") as file:
        return list(csv.DictReader(file))


def test_saving_writes_first_and_in_another_form_adds_nothing(
    session: Session, monkeypatch: pytest.MonkeyPatch
) -> None:
    view, path, handed = ExportView(session), session.ledger.path, []
    rows_then = lambda name, text: handed.append((name, text, len(table(path))))  # noqa: E731
    monkeypatch.setattr(view, "_hand_over", rows_then)
    assert "Nothing has been released so far" in words(view)
    assert "it counts as 1 draw" in words(view)
    assert not path.exists()
    shown = session.shown_plan()
    assert "it adds ε" in save(view)
    assert "released already" in save(view, "units")
    assert "released already" in save(view, "districts", "gpkg")
    run = provenance(session, shown)["name"]
    assert [(name.split("_", 5)[-1], n_rows) for name, _, n_rows in handed] == [
        (f"table_{run}.csv", 1),
        (f"units_{run}.geojson", 2),
        (f"districts_{run}.gpkg", 3),
    ]
    assert handed[0][1] == file_bytes(session, shown, "table", "csv")
    rows = table(path)
    assert [(row["how"], row["status"]) for row in rows] == [
        ("two columns as CSV", COUNTED),
        ("units as GeoJSON", ALREADY_RELEASED),
        ("districts as GeoPackage", ALREADY_RELEASED),
    ]
    assert [float(row["adds"]) for row in rows] == [shown.origin.epsilon, 0.0, 0.0]
    assert {row["plan"] for row in rows} == {plan_digest(shown.assignment)}
    assert {row["run"] for row in rows} == {run}
    assert f"Released so far: 1 plan, ε\u00a0{shown.origin.epsilon:.3g} in all" in words(view)
    assert "Already released: saving it again" in words(view)
    assert str(path) in words(view)


def test_an_enacted_plan_is_saved_without_a_line(session: Session, monkeypatch: pytest.MonkeyPatch) -> None:
    session.shown.kind = "enacted"
    view, handed = ExportView(session), []
    monkeypatch.setattr(view, "_hand_over", lambda *file: handed.append(file))
    assert "no release" in save(view)
    contents = file_bytes(session, session.shown_plan(), "table", "csv")
    assert handed == [("Squareville_quadrants_table.csv", contents)]
    assert not session.ledger.path.exists()


@pytest.mark.parametrize("fault", ["folder", "damaged", "bug"])
def test_what_cannot_be_written_down_is_not_saved_and_the_page_says_why(
    session: Session, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, fault: str
) -> None:
    view, handed = ExportView(session), []
    monkeypatch.setattr(view, "_hand_over", lambda *file: handed.append(file))
    if fault == "folder":
        session.ledger = Ledger(tmp_path / "absent" / "ledger.csv")
        told = "there is no folder"
    elif fault == "damaged":
        save(view)
        handed.clear()
        session.ledger.path.write_text(session.ledger.path.read_text() + "2025-03-01T14")
        told = "line 3: the line has no end"
    else:
        monkeypatch.setattr(export, "file_bytes", lambda *_: 1 / 0)
        told = "division by zero"
    before = session.ledger.path.read_bytes() if fault == "damaged" else b""
    message = save(view)
    assert "Nothing was released." in message
    assert told in message
    assert ("--ledger" in message) == (fault != "bug")
    assert handed == []
    if fault == "damaged":
        assert session.ledger.path.read_bytes() == before
        assert "line 3" in words(view)
        assert "cannot be saved before the ledger can be read" in words(view)
    else:
        assert not session.ledger.path.exists()
    # Afterwards it works again.
    monkeypatch.undo()
    session.ledger = Ledger(tmp_path / "other.csv")
    monkeypatch.setattr(view, "_hand_over", lambda *file: handed.append(file))
    assert "Saved" in save(view)
    assert len(handed) == 1


def test_a_click_while_another_is_answered_is_not_heard(
    session: Session, monkeypatch: pytest.MonkeyPatch
) -> None:
    view, waiting = ExportView(session), []
    monkeypatch.setattr(view, "_hand_over", lambda *_: None)
    monkeypatch.setattr(pn.state, "execute", waiting.append)
    save(view)
    save(view)
    assert len(waiting) == 1
    asyncio.run(waiting[0]())
    assert len(table(session.ledger.path)) == 1
    save(view)
    assert len(waiting) == 2
    asyncio.run(waiting[1]())


def test_a_public_showing_counts_as_the_analyst_says(session: Session) -> None:
    view = ExportView(session)
    groups = view.__panel__().select(pmui.RadioButtonGroup)
    choice = next(group for group in groups if group.label == "What counts of a public showing")
    sample, shown = session.sample(), session.shown_plan()
    button = "Write it in the ledger"
    choice.value = "note"
    assert "adds nothing" in words(view)
    assert "not counted" in click(view, button)
    choice.value = "charts"
    assert f"The charts stand for {sample.n_plans} plans" in words(view)
    click(view, button)
    choice.value = "plan"
    assert "counts as if it were saved: as 1 draw" in words(view)
    click(view, button)
    session.shown.kind = "enacted"
    assert "nothing was written" in click(view, button)
    rows = table(session.ledger.path)
    assert [(row["what"], row["how"], row["status"]) for row in rows] == [
        (SHOWING, "shown in public", ONLY_NOTED),
        (CHARTS, "shown in public", COUNTED),
        (PLAN, "shown in public", COUNTED),
    ]
    assert [int(row["draws"]) for row in rows] == [1, sample.n_plans, 1]
    expected = sample.n_plans * max(sample.rungs) + shown.origin.epsilon
    assert sum(float(row["adds"]) for row in rows) == pytest.approx(expected)
    assert "Released so far: 1 plan and 1 whole sample behind charts" in words(view)


def test_the_buttons_lot_is_released_as_one_draw(session: Session, monkeypatch: pytest.MonkeyPatch) -> None:
    view = ExportView(session)
    monkeypatch.setattr(view, "_hand_over", lambda *_: None)
    assert "Drawn by lot" in click(view, "Draw a plan by lot")
    save(view)
    click(view, "Draw a plan by lot")
    save(view)
    rows = table(session.ledger.path)
    assert [row["chosen"] for row in rows] == [BY_LOT, BY_LOT]
    assert [row["draws"] for row in rows] == ["1", "1"]


def test_lines_about_other_testimonies_are_named_and_left_out(session: Session) -> None:
    release = released(session)
    session.ledger.write(release)
    session.ledger.write(replace(release, testimonies="f" * 64, epsilon=9.0))
    books = read_books(session)
    assert (len(books.entries), books.n_others) == (1, 1)
    assert books.total.epsilon == release.epsilon
    assert "1 line of this ledger is about other testimonies" in words(ExportView(session))


def test_the_words_never_call_influence_by_another_name() -> None:
    for module in (releases, export, hearing, ledger_words):
        assert "privat" not in Path(module.__file__).read_text(encoding="utf-8").lower()


def test_the_ledger_is_an_option_of_the_page() -> None:
    assert parse_page_options([]).ledger == "bottomup-ledger.csv"
    options = parse_page_options(["--demo", "--ledger", "kept/here.csv"])
    assert options.ledger == "kept/here.csv"
    assert parse_page_options(page_arguments(options)) == options
