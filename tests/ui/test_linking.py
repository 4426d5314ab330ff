"""Plans picked out of one chart are picked out of every view, with mouse and keyboard."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

pytestmark = pytest.mark.ui

BARS = """() => {
  const models = [...Bokeh.documents[0]._all_models.values()]
  const plot = models.find(m => m.name == "histogram-testimony")
  const bars = plot.renderers.find(r => r.glyph.type == "Quad").data_source.data
  return {left: [...bars.left], right: [...bars.right], share: [...bars.share]}
}"""
# Where a point of the histogram is on the screen.
PLACE = """([x, y]) => {
  const models = [...Bokeh.documents[0]._all_models.values()]
  const view = Bokeh.index.find_one(models.find(m => m.name == "histogram-testimony"))
  const box = view.el.getBoundingClientRect()
  return [box.x + view.frame.x_scale.compute(x), box.y + view.frame.y_scale.compute(y)]
}"""
SENTENCE = re.compile(
    r"^([\d,]+) of ([\d,]+) plans: those that have ([\d.]+)% to ([\d.]+)% of testimonies whole"
)
OTHER_VIEWS = ("Who ends up where?", "Which communities does this plan keep together?")


def test_bars_dragged_over_are_what_every_view_speaks_of(visit: Any, demo: str, tmp_path: Path) -> None:
    visit.open(demo)
    page = visit.page

    def open_view(question: str) -> None:
        page.get_by_role("tab", name=question).click()

    def sentence() -> re.Match[str]:
        found = page.get_by_text(SENTENCE).filter(visible=True).first
        found.wait_for()
        return SENTENCE.match(found.inner_text())

    open_view("How does it compare with what is possible?")
    page.get_by_text(re.compile("Drawn from .* plans")).wait_for()
    page.get_by_role("button", name="Pause").click()
    page.get_by_text("steps a second").wait_for(state="detached")
    # The charts catch up with the walks, which stand still now.
    bars = None
    while (now := page.evaluate(BARS)) != bars:
        bars = now
        page.wait_for_timeout(2500)
    filled = np.flatnonzero(bars["share"])
    low, high = bars["left"][filled[0]], bars["right"][filled[len(filled) // 2]]
    width = bars["right"][0] - bars["left"][0]
    page.mouse.move(*page.evaluate(PLACE, [low + width / 2, 0.01]))
    page.mouse.down()
    page.mouse.move(*page.evaluate(PLACE, [(low + high) / 2, 0.01]))
    page.mouse.move(*page.evaluate(PLACE, [high - width / 2, 0.01]))
    page.mouse.up()
    picked, of, *ends = sentence().groups()
    assert [float(end) / 100 for end in ends] == pytest.approx([low, high], abs=0.0006)
    assert 0 < int(picked.replace(",", "")) <= int(of.replace(",", ""))
    for question in OTHER_VIEWS:
        open_view(question)
        assert sentence().groups() == (picked, of, *ends), question
    open_view("How does it compare with what is possible?")
    page.get_by_role("button", name="Pick plans by their score, and as a table").click()
    page.get_by_role("slider", name=re.compile("of testimonies whole")).first.focus()
    page.keyboard.press("ArrowRight")
    page.get_by_text(re.compile(f"plans: those that have (?!{ends[0]}%)")).filter(
        visible=True
    ).first.wait_for()
    assert [float(end) / 100 for end in sentence().groups()[2:]] == pytest.approx(
        [low + width, high], abs=0.0006
    )
    with page.expect_download() as waiting:
        page.get_by_role("button", name="Save table").filter(visible=True).first.click()
        page.get_by_role("button", name="Write it in the ledger and save").filter(visible=True).click()
    assert waiting.value.suggested_filename.endswith("_plans_by_testimony_score.csv")
    path = tmp_path / "table.csv"
    waiting.value.save_as(path)
    table = pd.read_csv(path)
    assert table["plans"].sum() == int(of.replace(",", ""))
    inside = (table["from, %"] > 100 * low + 0.02) & (table["to below, %"] < 100 * high + 0.02)
    assert table["picked out"].tolist() == table["plans"].where(inside, 0).tolist()
    page.get_by_role("button", name="Show all plans").filter(visible=True).click()
    page.get_by_text("Tap a bar for a plan from it").wait_for()
    assert page.get_by_text(SENTENCE).filter(visible=True).count() == 0
    visit.assert_clean()
