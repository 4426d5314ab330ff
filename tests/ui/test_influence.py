"""Who can sway it? in a real browser, with the keyboard where a hearing would use it."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

import pytest

pytestmark = pytest.mark.ui

# What a chart of the attack holds, by its title.
LINES = """title => {
  const models = [...Bokeh.documents[0]._all_models.values()]
  const plot = models.find(m => m.type == "Figure" && m.title?.text == title)
  const data = plot.renderers.find(r => r.glyph.type == "Line").data_source.data
  return Object.fromEntries(Object.entries(data).map(([name, values]) => [name, [...values]]))
}"""


@pytest.fixture
def page(visit: Any, gridland: str) -> Iterator[Any]:
    visit.open(gridland)
    visit.page.get_by_text(re.compile(r"^Round ")).wait_for()
    visit.page.get_by_role("tab", name="How much can anyone sway it?").click()
    yield visit.page
    visit.assert_clean()


def test_the_limit_follows_epsilon_and_the_group(page):
    page.get_by_text("Whatever any one testimony says, and with or without it").wait_for()
    # At epsilon 1 odds of 1 to 4 become 2.72 to 4 at most, 40 in 100.
    page.get_by_role("img", name="40 in 100 with them, at most").wait_for()
    page.get_by_role("slider", name="Testimonies that act together").focus()
    page.keyboard.press("ArrowRight")
    page.get_by_text(re.compile(r"Whatever any 2 of the \d+ testimonies say.*×7\.4")).wait_for()
    page.get_by_role("img", name="65 in 100 with them, at most").wait_for()
    page.get_by_role("slider", name=re.compile("weight of a testimony")).focus()
    page.keyboard.press("Home")
    page.get_by_text("Testimony is ignored: nothing that anybody says").wait_for()
    page.get_by_text("not secrecy: testimony is public").wait_for()


def test_a_goal_leads_back_to_an_epsilon(page):
    page.get_by_role("slider", name=re.compile("weight of a testimony")).focus()
    page.keyboard.press("End")
    page.get_by_role("button", name="Working backwards").click()
    page.get_by_role("slider", name=re.compile("Keep together")).focus()
    page.keyboard.press("Home")
    page.get_by_text("It costs nothing").wait_for()
    page.get_by_role("button", name="Use this ε").click()
    page.get_by_text("Off: testimony is ignored").wait_for()
    page.get_by_role("slider", name=re.compile("Keep together")).focus()
    page.keyboard.press("End")
    page.get_by_text(re.compile("No ε on record keeps 100 %|is the smallest on record")).wait_for()


def test_an_attack_is_answered_from_the_plans_on_record(page):
    page.get_by_role("button", name="An attack").click()
    page.get_by_text(re.compile("testimonies of cluster .* replaced by")).wait_for()
    page.get_by_text("What the group pushes", exact=True).wait_for()
    lines = page.evaluate(LINES, "What the group pushes is kept whole")
    assert lines["place"][0] == 0
    assert lines["under"][0] == pytest.approx(lines["without"][0])
    for least, under, most in zip(lines["least"], lines["under"], lines["most"], strict=True):
        # At epsilon 0 the three are the same number, found in different ways.
        assert 0 <= least <= under + 1e-9
        assert under <= most + 1e-9
        assert most <= 1
