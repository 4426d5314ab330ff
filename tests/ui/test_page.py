"""The main job in a real browser: open, move ε, look at a bar, save a plan."""

from __future__ import annotations

import io
import json
import re
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import geopandas as gpd
import numpy as np
import pandas as pd
import pytest
from PIL import Image
from serving import wait_for

from bottomup.dashboard.ladders import PLACINGS

pytestmark = pytest.mark.ui


BARS = """kind => {
  const models = [...Bokeh.documents[0]._all_models.values()]
  const plot = models.find(m => m.name == `histogram-${kind}`)
  const bars = plot.renderers.find(r => r.glyph.type == "Quad").data_source.data
  return {left: [...bars.left], right: [...bars.right], share: [...bars.share]}
}"""

LABELS = """() => {
  const models = [...Bokeh.documents[0]._all_models.values()]
  return [...models.find(m => m.type == "ColumnDataSource" && m.data.district != null).data.district]
}"""

# Where a point of a histogram is on the screen.
PLACE = """([kind, x, y]) => {
  const models = [...Bokeh.documents[0]._all_models.values()]
  const view = Bokeh.index.find_one(models.find(m => m.name == `histogram-${kind}`))
  const box = view.el.getBoundingClientRect()
  return [box.x + view.frame.x_scale.compute(x), box.y + view.frame.y_scale.compute(y)]
}"""


# Upper and lower end of a histogram's frame on the screen, and where its red line is said to be.
FRAME = """kind => {
  const models = [...Bokeh.documents[0]._all_models.values()]
  const plot = models.find(m => m.name == `histogram-${kind}`)
  const view = Bokeh.index.find_one(plot)
  if (view == null) return {enacted: null}
  const top = view.el.getBoundingClientRect().y + view.frame.bbox.top
  const line = plot.center.find(m => m.type == "Span" && m.line_color == "#c1121f")
  return {top, bottom: top + view.frame.bbox.height, enacted: line.location}
}"""
# Of each chart: size of the words at its lower axis, and by how many pixels that axis leaves the chart.
LOWER_AXES = """() => {
  const models = [...Bokeh.documents[0]._all_models.values()]
  return models.filter(m => m.name?.startsWith("histogram")).map(m => {
    const view = Bokeh.index.find_one(m)
    const axis = view.views.find_one(m.below[0])
    const outside = axis.layout.bbox.bottom - view.el.getBoundingClientRect().height
    return [parseFloat(axis.model.axis_label_text_font_size), outside]
  })
}"""
RED = (0xC1, 0x12, 0x1F)


def mean_score(page: Any, kind: str = "testimony") -> float:
    bars = page.evaluate(BARS, kind)
    share = np.array(bars["share"])
    if share.sum() == 0:
        return float("nan")
    return float(np.average((np.array(bars["left"]) + np.array(bars["right"])) / 2, weights=share))


def has_red_line(page: Any, kind: str) -> bool:
    """Whether the histogram has a red line from top to bottom where the enacted plan's score lies."""
    frame = page.evaluate(FRAME, kind)
    if frame["enacted"] is None:
        return False
    image = np.asarray(Image.open(io.BytesIO(page.screenshot())).convert("RGB")).astype(int)
    x, _ = page.evaluate(PLACE, [kind, frame["enacted"], 0])
    column = image[round(frame["top"]) + 2 : round(frame["bottom"]) - 2, round(x)]
    return bool((np.abs(column - RED).max(axis=1) < 40).mean() > 0.9)


def compare(page: Any) -> None:
    """Open the histograms."""
    page.get_by_role("tab", name="How does it compare").click()


def number_in(page: Any, pattern: str) -> int:
    """The number that a pattern finds in what is on the page; -1 without any."""
    words = " ".join(page.get_by_text(re.compile(pattern)).all_inner_texts())
    found = re.search(pattern, words)
    return -1 if found is None else int(found[1].replace(",", ""))


def rounds(page: Any) -> int:
    """Rounds of the ladders, as the strip on the left says."""
    return number_in(page, r"^(?:Warming up: r|R)ound ([\d,]+)")


def charted(page: Any) -> int:
    """The latest round of the plans in the histograms, as the words below them say."""
    return number_in(page, r"Drawn from .* up to round ([\d,]+)")


def on_map(page: Any) -> int:
    """The round of the plan on the map, as its title says."""
    return number_in(page, r"^The walk's plan in round ([\d,]+)")


def latest(n_rounds: int) -> int:
    """The latest round whose plans are to be charted: recordings give way when new ones have half as many."""
    placed = [0, 0, *(placing for placing in PLACINGS if placing <= n_rounds)]
    before, now = placed[-2:]
    return n_rounds if 2 * (n_rounds - now) >= now - before else now


def pause(page: Any, at_least: int = 40) -> None:
    """Pause the walks, and wait for words, charts and map to say where they stand."""
    compare(page)
    wait_for(page, lambda: rounds(page) >= at_least, f"{at_least} rounds were not reached")
    page.get_by_role("button", name="Pause").click()
    page.get_by_text("steps a second").wait_for(state="detached")
    wait_for(page, lambda: charted(page) == latest(rounds(page)), "the charts never caught up with the walks")
    wait_for(page, lambda: on_map(page) == rounds(page), "the map's title never caught up with the walks")


def test_the_demonstration_opens_offline_and_runs(visit: Any, demo: str) -> None:
    visit.open(demo)
    page = visit.page
    for words in ("Real: the county outlines", "odds of any plan change at most ×2.7"):
        page.get_by_text(words).first.wait_for()
    compare(page)
    wait_for(page, lambda: charted(page) > 4, "no plans were recorded")
    for role, name, words in (
        ("tab", "Which communities", "of 808 testimonies whole"),
        ("tab", "Who ends up where?", "the districts are put in order first"),
        ("button", "Save a plan", "on your own screen is no release"),
        ("button", "Settings", "starts all walks anew"),
        ("button", "Data", "Drawn: the block groups"),
        ("tab", "How does it compare", "Drawn from"),
    ):
        page.get_by_role(role, name=name).click()
        page.get_by_text(words).and_(page.locator(":visible")).first.wait_for()
    visit.assert_clean()


def test_the_red_line_is_there_although_the_page_took_long_to_load(visit: Any, demo: str) -> None:
    """On a busy machine the browser says late that it is ready, and it has asked for the map long before."""
    page = visit.page
    held: list[tuple[Any, list[str | bytes]]] = []

    def route(to_page: Any) -> None:
        to_server = to_page.connect_to_server()
        parts: list[str | bytes] = []

        def hold_back(part: str | bytes) -> None:
            """A message is a header, metadata, content, and two parts for each buffer."""
            parts.append(part)
            if len(parts) < 3 + 2 * json.loads(parts[0]).get("num_buffers", 0):
                return
            if "document_ready" in str(parts[2]):
                held.append((to_server, parts.copy()))
            else:
                for own in parts:
                    to_server.send(own)
            parts.clear()

        to_page.on_message(hold_back)

    page.route_web_socket(re.compile(r"/ws(\?|$)"), route)
    visit.open(demo)
    compare(page)
    wait_for(page, lambda: bool(held), "the browser never said that the page is ready")
    # So much time that the page would have been filled, had it not waited.
    page.wait_for_timeout(4000)
    for to_server, parts in held:
        for part in parts:
            to_server.send(part)
    for kind in ("testimony", "cluster"):
        wait_for(page, lambda kind=kind: has_red_line(page, kind), f"no red line in the {kind} histogram")
    visit.assert_clean()


def test_words_grow_with_the_window_and_axes_stay_inside(visit: Any, demo: str) -> None:
    visit.open(demo)
    page = visit.page
    compare(page)
    wait_for(page, lambda: charted(page) > 4, "no plans were recorded")
    for width, height, factor in ((1280, 720, 1.0), (1920, 1080, 1.26)):
        page.set_viewport_size({"width": width, "height": height})
        wait_for(
            page,
            lambda factor=factor: all(
                size == pytest.approx(15 * factor, abs=0.01) and outside < 2
                for size, outside in page.evaluate(LOWER_AXES)
            ),
            f"at {width} × {height} words do not measure {factor} times as much, or do not fit",
        )
        heading = page.get_by_role("heading", name="How much may testimony count?")
        assert heading.evaluate("h => parseFloat(getComputedStyle(h).fontSize)") == pytest.approx(17 * factor)
    visit.assert_clean()


def test_epsilon_is_answered_from_the_plans_that_are_there(visit: Any, demo: str) -> None:
    visit.open(demo)
    page = visit.page
    pause(page)
    at_first, chosen = rounds(page), mean_score(page)
    slider = page.get_by_role("slider")
    slider.focus()
    page.keyboard.press("Home")
    page.get_by_text("testimony is ignored", exact=False).first.wait_for()
    wait_for(page, lambda: mean_score(page) < chosen - 0.03, f"the histogram stayed near {chosen:.3f}")
    ignored = mean_score(page)
    page.keyboard.press("End")
    page.get_by_text("×22,026").first.wait_for()
    wait_for(page, lambda: mean_score(page) > chosen + 0.03, f"the histogram stayed near {ignored:.3f}")
    # The walks have stood still all the while, and go on from there.
    assert rounds(page) == at_first
    page.get_by_role("button", name="Start").click()
    wait_for(page, lambda: rounds(page) > at_first, "the walks did not go on")
    met = rounds(page)
    slider.focus()
    page.keyboard.press("Home")
    wait_for(page, lambda: mean_score(page) < chosen - 0.03, "the histogram did not follow while sampling")
    assert rounds(page) >= met
    visit.assert_clean()


def test_sampling_stops_within_a_second_of_the_click(visit: Any, demo: str) -> None:
    visit.open(demo)
    page = visit.page
    running = page.get_by_text("steps a second")
    seconds = []
    for _ in range(3):
        running.wait_for()
        before = time.monotonic()
        page.get_by_role("button", name="Pause").click()
        running.wait_for(state="detached")
        seconds.append(time.monotonic() - before)
        page.get_by_role("button", name="Start").click()
    # Other work on the machine may hold a click up, hardly three of them.
    assert min(seconds) < 1, seconds
    visit.assert_clean()


def test_the_page_says_whether_it_can_be_relied_on(visit: Any, demo: str) -> None:
    visit.open(demo)
    page = visit.page
    pause(page, at_least=5)
    lines = page.locator(".reliability")
    lines.first.wait_for()
    assert lines.count() == 2
    page.get_by_text("whether this can be relied on").first.wait_for()
    wait_for(page, lambda: len(set(lines.all_inner_texts())) == 1, "strip and charts say different things")
    assert "Too early to say" in lines.first.inner_text()
    visit.assert_clean()


def test_a_tap_on_a_bar_shows_a_plan_from_it(visit: Any, demo: str) -> None:
    visit.open(demo)
    page = visit.page
    pause(page)
    bars = page.evaluate(BARS, "testimony")
    tallest = int(np.argmax(bars["share"]))
    low, high = bars["left"][tallest], bars["right"][tallest]
    place = page.evaluate(PLACE, ["testimony", (low + high) / 2, bars["share"][tallest] / 2])
    before = page.evaluate(LABELS)
    page.mouse.click(*place)
    page.get_by_text(re.compile(r"^Plan 1 of \d+ in the bar")).wait_for()
    wait_for(page, lambda: page.evaluate(LABELS) != before, "the map did not change")
    whole = page.locator(".figures").get_by_text(re.compile("of testimonies whole")).inner_text()
    assert low - 0.0005 <= float(whole.split("%")[0]) / 100 <= high + 0.0005
    page.mouse.click(*place)
    page.get_by_text(re.compile(r"^Plan 2 of \d+ in the bar")).wait_for()
    page.get_by_role("button", name="Enacted plan").click()
    page.get_by_text("Enacted plan cd2025", exact=True).wait_for()
    visit.assert_clean()


def save(page: Any, kind: str, contents: str, folder: Path) -> Path:
    page.get_by_role("button", name=kind, exact=True).click()
    page.get_by_text(contents).wait_for()
    with page.expect_download() as waiting:
        page.get_by_role("button", name="Save", exact=True).click()
    path = folder / waiting.value.suggested_filename
    waiting.value.save_as(path)
    return path


def test_saved_files_are_the_plan_on_the_map(visit: Any, demo: str, tmp_path: Path) -> None:
    visit.open(demo)
    page = visit.page
    pause(page, at_least=5)
    page.get_by_role("button", name="Save a plan").click()
    districts_path = save(page, "Districts", "An outline for each district", tmp_path)
    assert re.fullmatch(
        r"Missouri-demonstration_current-plan_eps-[\d.]+_testimony_round-\d+_districts_[0-9a-f]{12}\.geojson",
        districts_path.name,
    )
    districts = gpd.read_file(districts_path)
    units = gpd.read_file(save(page, "Units", "Every unit with its district", tmp_path))
    table = pd.read_csv(save(page, "Two columns", "A CSV of unit id", tmp_path), dtype=str)
    assert districts.crs == units.crs == "EPSG:4326"
    saved = [int(label) - 1 for label in units["district"]]
    wait_for(page, lambda: page.evaluate(LABELS) == saved, "the map shows another plan than was saved")
    assert table["district"].tolist() == units["district"].tolist()
    assert table["id"].tolist() == units["id"].tolist()
    assert districts["population"].sum() == units["population"].sum()
    outlines = districts.set_index("district").geometry
    for label, points in units.representative_point().groupby(units["district"]):
        assert points.within(outlines[label]).mean() > 0.999
    visit.assert_clean()


def test_the_page_works_from_files_of_ones_own(visit: Any, gridland: str) -> None:
    visit.open(gridland)
    page = visit.page
    page.get_by_text("Gridland: 144 units, 4 districts, 20 testimonies").wait_for()
    page.get_by_role("button", name="Settings").click()
    tolerance = page.get_by_label("Population tolerance (%)")
    tolerance.fill("30")
    tolerance.press("Enter")
    compare(page)
    wait_for(page, lambda: charted(page) > 50, "no plans were recorded")
    page.get_by_role("tab", name="Who ends up where?").click()
    page.get_by_text("no columns of Democratic and Republican votes").wait_for()
    visit.assert_clean()


def test_files_that_cannot_be_used_are_explained(visit: Any, serve: Callable[..., str], files: Path) -> None:
    address = serve("--units", str(files / "nodes.csv"), "--plan", "plan")
    visit.page.goto(address)
    visit.page.get_by_text("Something needs your attention.").wait_for()
    visit.page.get_by_text("nothing in it says which units are neighbours").wait_for()
    visit.page.get_by_text("Give edges, a table with two columns of unit ids").wait_for()
    visit.assert_clean()
