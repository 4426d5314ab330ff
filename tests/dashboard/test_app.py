from __future__ import annotations

import argparse
import json
import threading
import time
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import panel as pn
import pytest
from bokeh.models import Model

from bottomup.dashboard.answers import QUESTIONS
from bottomup.dashboard.app import create_app
from bottomup.dashboard.options import Inputs, add_input_options, load_inputs
from bottomup.dashboard.prepared import Prepared, prepare
from bottomup.dashboard.saving import file_bytes, file_name
from bottomup.dashboard.session import Session
from bottomup.dashboard.views.communities import mean_by_cluster
from bottomup.dashboard.views.controls import ControlsView
from bottomup.dashboard.views.page import PageView, failure
from bottomup.dashboard.views.release import has_browser
from bottomup.dashboard.views.settings import SettingsView
from bottomup.data.errors import DataError

WaitUntil = Callable[..., None]


@pytest.fixture(autouse=True)
def _extension() -> None:
    pn.extension()


@pytest.fixture
def page_of() -> Iterator[Callable[[Prepared], PageView]]:
    """Return a maker of pages whose workers end with the test."""
    pages: list[PageView] = []

    def make(prepared: Prepared) -> PageView:
        page = create_app(prepared)
        pages.append(page)
        return page

    yield make
    for page in pages:
        page.session.close()


def rounds(session: Session) -> int:
    standing = session.worker.progress.standing
    return 0 if standing is None else standing.rounds


def widget(view: pn.viewable.Viewer, label: str) -> pn.widgets.Widget:
    found = [w for w in view.__panel__().select(pn.widgets.WidgetBase) if getattr(w, "label", None) == label]
    assert found, label
    return found[0]


def test_two_pages_share_nothing(prepared: Prepared, page_of: Callable[[Prepared], PageView]) -> None:
    first, second = page_of(prepared), page_of(prepared)
    first.open_view("Settings")
    widget(first, "Seed").value = 7
    first.session.settings.param.update(epsilon=4.0, score="cluster")
    assert second.session.settings.seed == 1
    assert (second.session.settings.epsilon, second.session.settings.score) == (1.0, "testimony")
    assert first.session.worker is not second.session.worker
    models: list[set[Model]] = []
    for page in (first, second):
        models.append(set(page.__panel__().get_root().references()))
    assert not models[0] & models[1]


def test_controls_and_settings_follow_each_other(session: Session) -> None:
    controls = ControlsView(session)
    slider = widget(controls, "ε, weight of a testimony")
    slider.value = 5.0
    assert session.settings.epsilon == 5.0
    session.settings.epsilon = 0.0
    assert slider.value == 0.0
    widget(controls, "Score").value = "cluster"
    assert session.settings.score == "cluster"
    widget(SettingsView(session), "Population tolerance (%)").value = 12.5
    assert session.settings.tolerance == 0.125
    session.settings.running = False
    assert widget(controls, "Pause").disabled
    assert not widget(controls, "Start").disabled
    widget(controls, "Start").clicks += 1
    assert session.settings.running


def test_without_clusters_the_score_cannot_be_chosen(inputs_of: Callable[..., Inputs]) -> None:
    session = Session(prepare(inputs_of(clusters=False)))
    controls = ControlsView(session)
    assert widget(controls, "Score").disabled
    words = " ".join(pane.object for pane in controls.__panel__().select(pn.pane.HTML))
    assert "no clusters" in words
    session.close()


def test_a_page_without_outlines_votes_or_clusters_says_so(
    inputs_of: Callable[..., Inputs], page_of: Callable[[Prepared], PageView]
) -> None:
    page = page_of(prepare(inputs_of(outlines=False, electorate=False, clusters=False)))
    for name in (*QUESTIONS, "Save a plan"):
        page.open_view(name)
    words = " ".join(str(pane.object) for pane in page.__panel__().select(pn.pane.HTML))
    assert "no map" in words
    assert "no columns of voting-age people" in words
    assert "no columns of Democratic" in words
    assert "no districts or units to save" in words


def test_choosing_from_a_bar_walks_through_its_plans(session: Session, wait_until: WaitUntil) -> None:
    session.attend(True)
    wait_until(lambda: rounds(session) > 160)
    session.settings.running = False
    wait_until(lambda: session.worker.progress.phase == "paused")
    sample = session.sample()
    assert sample is not None
    values = sample.scores("testimony")
    # A score that some plan has: between two of them there may be none.
    value = float(np.percentile(values, 50, method="lower"))
    low, high = value - 0.01, value + 0.01
    inside = (values >= low) & (values < high)
    n = len({*zip(sample.ladder[inside], sample.rung[inside], sample.plans.step[inside], strict=True)})
    assert n > 1
    places = []
    for place in range(1, n + 2):
        assert session.choose_from_bar("testimony", low, high)
        shown = session.shown_plan()
        assert shown.kind == "chosen"
        if place <= n:
            assert f"Plan {place} of {n} " in shown.title
        numbers = session.prepared.describe(shown.assignment, 4, "coverage")
        assert low <= numbers.score_testimony < high
        assert shown.origin is not None
        assert shown.origin.epsilon in sample.rungs
        places.append((shown.origin.start, shown.origin.epsilon, shown.origin.round))
    assert len(set(places)) == n
    assert places[-1] == places[0]
    assert not session.choose_from_bar("testimony", 2.0, 3.0)


def test_saved_files_name_and_describe_the_plan(session: Session, wait_until: WaitUntil) -> None:
    enacted = session.shown_plan()
    assert file_name(session, enacted, "table", "csv") == "Squareville_quadrants_table.csv"
    session.settings.epsilon = 2.5
    session.attend(True)
    wait_until(lambda: rounds(session) > 30)
    session.settings.running = False
    wait_until(lambda: session.worker.progress.phase == "paused")
    shown = session.shown_plan()
    origin = shown.origin
    assert origin is not None
    assert origin.epsilon <= 2.5
    saved = json.loads(file_bytes(session, shown, "districts", "geojson"))
    made = saved["provenance"]
    name = f"Squareville_current-plan_eps-{origin.epsilon:.3g}_testimony_round-{origin.round}_districts"
    assert file_name(session, shown, "districts", "geojson") == f"{name}_{made['name']}.geojson"
    assert (made["epsilon"], made["score"], made["seed"]) == (origin.epsilon, "testimony", 1)
    assert (made["round"], made["start"]) == (origin.round, "plan quadrants")
    assert made["rungs"] == list(origin.rungs)
    assert made["rungs_placed_after_rounds"] == [8, 24]
    assert made["geography_sha256"] == session.prepared.inputs.geography.digest
    population = {f["properties"]["district"]: f["properties"]["population"] for f in saved["features"]}
    expected = np.bincount(shown.assignment, session.prepared.inputs.geography.population)
    assert [population[str(d + 1)] for d in range(4)] == expected.tolist()
    assert {"black_vap_share", "democratic_share"} <= set(saved["features"][0]["properties"])
    rows = file_bytes(session, shown, "table", "csv").decode().splitlines()[1:]
    assert [int(row.split(",")[1]) - 1 for row in rows] == shown.assignment.tolist()


def test_enacted_numbers_are_those_of_the_definition(prepared: Prepared) -> None:
    numbers = prepared.numbers_of("quadrants", "coverage")
    assert numbers.preserved.tolist() == [False, False, True, True, True, True]
    assert numbers.score_testimony == pytest.approx(4 / 6)
    assert numbers.cut_edges == 12
    assert numbers.max_deviation == 0
    assert (np.diff(numbers.shares["Democratic"]) >= 0).all()


def test_means_by_cluster_leave_out_testimonies_without_one() -> None:
    means = mean_by_cluster(np.array([1.0, 0.0, 0.5, 9.0]), np.array([0, 0, 1, -1], dtype=np.int32), 3)
    np.testing.assert_array_equal(means[:2], [0.5, 0.5])
    assert np.isnan(means[2])


def test_an_error_of_the_worker_is_shown_on_the_page(
    prepared: Prepared, page_of: Callable[[Prepared], PageView], wait_until: WaitUntil
) -> None:
    page = page_of(prepared)
    page.session.settings.tolerance = 0.001
    page.session.attend(True)
    page.show_failure(RuntimeError("<the cat> sat on the keyboard"))
    words = " ".join(pane.object or "" for pane in page.__panel__().select(pn.pane.HTML) if pane.visible)
    assert "&lt;the cat&gt; sat on the keyboard" in words
    assert "&lt;" in failure("<")


def test_nothing_is_drawn_before_the_page_has_loaded(
    prepared: Prepared,
    page_of: Callable[[Prepared], PageView],
    wait_until: WaitUntil,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    page = page_of(prepared)
    page.session.settings.tolerance = 0.5
    page.session.attend(True)
    wait_until(lambda: rounds(page.session) > 10)
    drawn, browser = [], SimpleNamespace(has_loaded=False)
    monkeypatch.setattr(page._active_view(), "refresh", lambda: drawn.append(browser.has_loaded))
    page._map.seen = True
    monkeypatch.setattr(type(pn.state), "loaded", property(lambda _: browser.has_loaded))
    for browser.has_loaded in (False, True):
        for _ in range(40):
            page._bring_up_to_date()
    assert drawn
    assert all(drawn)


def options(*arguments: str) -> argparse.Namespace:
    parser = argparse.ArgumentParser()
    add_input_options(parser)
    return parser.parse_args(arguments)


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (["--demo", "--units", "x.csv"], "--demo and --units"),
        (["--units", "x.csv"], "without --plan"),
        (["--edges", "e.csv", "--id", "i"], "--edges, --id given without --units"),
    ],
)
def test_contradicting_options_are_refused(arguments: list[str], told: str) -> None:
    with pytest.raises(DataError, match=told):
        load_inputs(options(*arguments))


def test_a_page_without_testimonies_is_refused(inputs_of: Callable[..., Inputs]) -> None:
    inputs = inputs_of()
    with pytest.raises(DataError, match="needs testimonies"):
        prepare(Inputs(inputs.geography, inputs.enacted, inputs.plans))
    with pytest.raises(DataError, match="needs an enacted plan"):
        prepare(Inputs(inputs.geography, None, {}, inputs.testimonies))


def test_files_of_ones_own_are_read(tmp_path: Path, inputs_of: Callable[..., Inputs]) -> None:
    inputs = inputs_of()
    frame = inputs.geography.geometry.to_frame("geometry").assign(
        GEOID20=inputs.geography.ids, pop20=10, plan=[f"D{d}" for d in inputs.enacted.assignment]
    )
    frame.to_file(tmp_path / "units.geojson")
    (tmp_path / "t.csv").write_text("testimony,GEOID20,cluster\na,000,X\na,001,X\n")
    loaded = load_inputs(
        options(
            "--units",
            str(tmp_path / "units.geojson"),
            "--plan",
            "plan",
            "--testimonies",
            str(tmp_path / "t.csv"),
        )
    )
    assert loaded.enacted.labels == ("D0", "D1", "D2", "D3")
    np.testing.assert_array_equal(loaded.enacted.assignment, inputs.enacted.assignment)
    assert list(loaded.plans) == ["plan"]
    assert loaded.testimonies is not None
    assert loaded.testimonies.n_testimonies == 1


def test_the_demonstration_brings_two_enacted_plans() -> None:
    loaded = load_inputs(options())
    assert loaded.enacted.name == "cd2025"
    assert set(loaded.plans) == {"cd2022", "cd2025"}
    assert "Real:" in loaded.note
    assert "Drawn:" in loaded.note
    assert load_inputs(options("--plan", "cd2022")).enacted.name == "cd2022"


@pytest.mark.parametrize(("connections", "present"), [(0, False), (1, True), (2, True)])
def test_a_browser_is_there_while_it_is_connected(connections: int, present: bool) -> None:
    others = SimpleNamespace(id="other", connection_count=1 - min(connections, 1))
    own = SimpleNamespace(id="own", connection_count=connections)
    context = SimpleNamespace(id="own", server_context=SimpleNamespace(sessions=[others, own]))
    assert has_browser(SimpleNamespace(session_context=context)) is present
    assert has_browser(None)


def _answers(address: str) -> bool:
    try:
        with urllib.request.urlopen(address, timeout=30) as answer:
            return answer.status == 200
    except urllib.error.URLError:
        return False


def test_the_worker_ends_with_the_session(
    prepared: Prepared, wait_until: WaitUntil, unused_port: int
) -> None:
    pages: list[PageView] = []

    def app() -> pn.viewable.Viewable:
        page = create_app(prepared)
        pages.append(page)
        page.session.attend(True)
        return page.__panel__()

    server = pn.serve(
        app,
        port=unused_port,
        threaded=True,
        show=False,
        verbose=False,
        check_unused_sessions_milliseconds=200,
        unused_session_lifetime_milliseconds=200,
    )
    try:
        threads_before = threading.active_count()
        wait_until(lambda: _answers(f"http://localhost:{unused_port}/"), 30)
        wait_until(lambda: pages and not pages[0].session.worker.is_alive, 20)
        assert threading.active_count() <= threads_before + 1
    finally:
        server.stop()
        time.sleep(0.1)
