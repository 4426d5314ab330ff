from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np
import panel as pn
import panel_material_ui as pmui
import pytest

from bottomup.dashboard.health import MOST_POINTS
from bottomup.dashboard.prepared import Prepared
from bottomup.dashboard.session import Session
from bottomup.dashboard.slots import FairSlots
from bottomup.dashboard.views import diagnostics
from bottomup.dashboard.views.diagnostics import DiagnosticsView
from bottomup.sampler.reweighting import neighbouring_rungs

WaitUntil = Callable[..., None]


@pytest.fixture(autouse=True)
def _at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let a view look anew whenever it is asked."""
    monkeypatch.setattr(diagnostics, "_EVERY_SECONDS", 0.0)
    monkeypatch.setattr(diagnostics, "_SETTLING_SECONDS", 0.0)


@pytest.fixture(scope="module")
def walked(prepared: Prepared, wait_until: WaitUntil):
    """A session whose walks have been judged, and stand."""
    session = Session(prepared, slots=FairSlots(1))
    session.settings.tolerance = 0.5
    session.attend(True)
    wait_until(lambda: (found := session.worker.progress.reliability) is not None and found.rungs)
    session.attend(False)
    wait_until(lambda: session.worker.progress.phase == "paused")
    yield session
    session.close()


def words(view: DiagnosticsView) -> str:
    return " ".join(pane.object for pane in view.__panel__().select(pn.pane.HTML))


def choose(view: DiagnosticsView, part: str) -> None:
    view.__panel__().select(pmui.RadioButtonGroup)[0].value = part


def selects(view: DiagnosticsView) -> dict[str, pmui.Select]:
    return {select.label: select for select in view.__panel__().select(pmui.Select)}


def test_an_unstarted_page_says_so_in_every_part(session: Session) -> None:
    view = DiagnosticsView(session)
    view.refresh()
    assert "Nothing to judge yet: press Start" in words(view)
    for part, told in (("Traces", "No plans yet"), ("The walks", "Nothing has been counted yet")):
        choose(view, part)
        assert told in words(view)


def test_walks_that_settle_have_no_figures_yet(prepared: Prepared, session: Session) -> None:
    ladders = prepared.build_ladders(session.settings.design)
    while ladders.rounds < 20:
        ladders.run(lambda: ladders.rounds >= 20)
    session.worker._post(phase="running", standing=ladders.standing(), reliability=ladders.judge(1.0, 100.0))
    view = DiagnosticsView(session)
    view.refresh()
    assert "Too early to say" in words(view)
    assert "is not judged (round 20 now)" in words(view)
    choose(view, "Traces")
    assert "The first walk began at" in words(view)


def test_the_worst_figures_come_first_and_all_can_be_seen(walked: Session) -> None:
    view = DiagnosticsView(walked)
    view.refresh()
    assert "Two walks at every ε are compared. Starts: plan quadrants and plan from random trees." in words(
        view
    )
    assert "Drawn from" in words(view)
    n_all = sum(len(rung.convergences) for rung in walked.worker.progress.reliability.rungs)
    (table,) = [pane.object for pane in view.__panel__().select(pn.pane.HTML) if "<table" in pane.object]
    assert table.count('scope="row"') == diagnostics._FEW_ROWS < n_all
    (switch,) = view.__panel__().select(pmui.Switch)
    switch.value = True
    assert words(view).count('scope="row"') == n_all
    assert f"All {n_all} quantities" in words(view)


def test_traces_show_the_chosen_quantity_of_both_walks_at_the_chosen_rung(walked: Session) -> None:
    view = DiagnosticsView(walked)
    choose(view, "Traces")
    recorded = walked.worker.progress.standing.recorded
    # The baseline has a place of its own.
    rung = next(rung for rung in neighbouring_rungs(recorded.epsilons, 1.0) if rung)
    plot = view._parts["Traces"]._plot
    quantity, where = selects(view)["Quantity"], selects(view)["Walks at"]
    assert "Highest Democratic share" in quantity.options
    for name, attribute in (("score_testimony", "testimony"), ("cut_edges", "cut_edges")):
        quantity.value = name
        assert [len(line.data["value"]) > 0 for line in plot.lines] == [True, True, False, False]
        for line, row in zip(plot.lines, recorded.recordings, strict=False):
            values = getattr(row[rung].read(), attribute)
            spacing = -(-len(values) // MOST_POINTS)
            np.testing.assert_array_equal(line.data["value"], values[::-spacing][::-1])
    starts = [source.data["value"][0] for source in plot.starts[:2]]
    assert starts == [values["cut_edges"] for values in walked.worker.progress.standing.workings.start_values]
    assert (
        recorded.placings[-1] == plot.left_out.left < plot.left_out.right < max(plot.lines[0].data["round"])
    )
    where.value = "baseline"
    baseline = recorded.recordings[1][0].read()
    assert plot.lines[1].data["value"][-1] == baseline.cut_edges[-1]


def test_the_rungs_on_offer_follow_epsilon(walked: Session, monkeypatch: pytest.MonkeyPatch) -> None:
    # The judgement stays that of the ε before, as the other tests want it.
    monkeypatch.setattr(walked.worker, "look_at", lambda epsilon: None)
    view = DiagnosticsView(walked)
    choose(view, "The walks")
    assert list(selects(view)["Walks at"].options)[-1] == "ε = 0, testimony ignored"
    epsilons = walked.worker.progress.standing.recorded.epsilons
    around = [f"ε = {epsilons[rung]:.3g}" for rung in neighbouring_rungs(epsilons, 1.0) if rung]
    assert list(selects(view)["Walks at"].options)[:-1] == around
    assert selects(view)["Walks at"].value != "baseline"
    walked.settings.epsilon = 0.0
    try:
        view.refresh()
        assert selects(view)["Walks at"].options == {"ε = 0, testimony ignored": "baseline"}
        assert "How steps ended at ε = 0," in words(view)
        assert "Looking at this ε" in words(view)
    finally:
        walked.settings.epsilon = 1.0
    view.refresh()
    assert list(selects(view)["Walks at"].options)[:-1] == around
    for told in ("Exchanged", "Round trips", "Steps a second", "Rounding", "MB", "changed its plan in"):
        assert told in words(view)


def test_a_walk_that_stands_still_says_why_and_what_to_do(walked: Session, session: Session) -> None:
    progress = walked.worker.progress
    stuck = replace(
        progress.reliability,
        epsilon=1.0,
        stuck="The walk (start: <b>) is stuck.",
        stuck_by=("population bounds",),
    )
    session.worker._post(phase="paused", standing=progress.standing, reliability=stuck)
    view = DiagnosticsView(session)
    view.refresh()
    assert "Stuck: a walk stands still" in words(view)
    assert "The walk (start: &lt;b&gt;) is stuck." in words(view)
    assert "Widen the population tolerance, now 50 %." in words(view)


def test_nothing_is_sent_when_nothing_has_changed(walked: Session) -> None:
    view = DiagnosticsView(walked)
    changes: list[object] = []
    for part in ("Figures", "Traces", "The walks"):
        choose(view, part)
        view.refresh()
        for pane in view.__panel__().select(pn.pane.HTML):
            pane.param.watch(changes.append, "object")
        view.refresh()
    assert changes == []
