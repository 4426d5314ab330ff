"""The page for everyone: checked by axe in both looks, worked with keys alone, and on a tablet."""

from __future__ import annotations

import importlib
import json
import os
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

pytestmark = pytest.mark.ui

AXE = "axe_playwright_python"
# Where changes are checked, tests that did not run must not look like tests that passed.
axe = importlib.import_module(AXE) if os.environ.get("CI") else pytest.importorskip(AXE)

GRAVE = """async (rules) => {
  const standard = {type: "tag", values: ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa"]}
  const runOnly = rules.length ? {type: "rule", values: rules} : standard
  const found = await axe.run(document, {resultTypes: ["violations"], runOnly})
  return found.violations.filter(({impact}) => impact == "serious" || impact == "critical")
    .map(({id, help, nodes}) => {
      const where = nodes.slice(0, 5).map(({html, failureSummary}) => [html.slice(0, 160), failureSummary])
      return {id, help, n: nodes.length, where}
    })
}"""
QUESTIONS = {
    "Which communities": "of 808 testimonies whole",
    "How does it": "Drawn from",
    "Who ends up": "the districts are put in order first",
    "How much can": "On what does this rest?",
}
ASIDE = (*("Compare ε", "Diagnostics", "Save a plan", "Report", "Settings", "Data", "Share", "Hearing"),)


def open_views(page: Any) -> Iterator[str]:
    """Open one view after another; they are there when their names are given."""
    for question, words in QUESTIONS.items():
        page.get_by_role("tab", name=question).click()
        page.get_by_text(words).filter(visible=True).first.wait_for()
        yield question
    for name in ASIDE:
        page.get_by_role("button", name=name, exact=True).first.click()
        page.get_by_role("heading", name=name, exact=True, level=2).first.wait_for()
        # Its own parts come a moment later.
        page.wait_for_timeout(1000)
        yield name


TOO_WIDE = "() => document.documentElement.scrollWidth - window.innerWidth"
# Words and widgets that reach beyond the window to the side.
CUT_OFF = """() => {
  const out = []
  const look = (root) => {
    for (const e of root.querySelectorAll("h1, h2, p, td, th, button, input, canvas, .figures, .key")) {
      const box = e.getBoundingClientRect()
      if (box.width > 0 && box.height > 0 && (box.left < -1 || box.right > window.innerWidth + 1)) {
        out.push(`${e.tagName} ${e.textContent.slice(0, 60)}`)
      }
    }
    for (const e of root.querySelectorAll("*")) if (e.shadowRoot) look(e.shadowRoot)
  }
  look(document)
  return out.join("; ")
}"""
FOCUSED = """() => {
  let at = document.activeElement
  while (at?.shadowRoot?.activeElement) at = at.shadowRoot.activeElement
  const words = (id) => at.getRootNode().getElementById(id)?.textContent ?? ""
  const labelled = (at.getAttribute("aria-labelledby") ?? "").split(" ").map(words).join(" ").trim()
  const role = at.getAttribute("role") ?? (at.type == "range" ? "slider" : at.tagName.toLowerCase())
  const own = at.cloneNode(true)
  own.querySelectorAll("[aria-hidden=true]").forEach((icon) => icon.remove())
  const name = at.getAttribute("aria-label") || labelled || at.labels?.[0]?.textContent || own.textContent
  return `${role}: ${name.trim().slice(0, 80)}`
}"""
# Whether what has the focus, or what shows it in its place, has a ring.
IS_SEEN = """() => {
  let at = document.activeElement
  while (at?.shadowRoot?.activeElement) at = at.shadowRoot.activeElement
  const rings = (e) => {
    const style = getComputedStyle(e)
    return style.outlineStyle != "none" && parseFloat(style.outlineWidth) > 0
  }
  return rings(at) || [".Mui-focusVisible", ".Mui-focused"].some((mark) => at.closest(mark) != null)
}"""


def grave(page: Any, *rules: str) -> str:
    """What axe finds that keeps people out, as text; by default by all rules of WCAG 2.2, AA."""
    found = page.evaluate(GRAVE, list(rules))
    return json.dumps(found, indent=1, ensure_ascii=False) if found else ""


def let_axe_in(page: Any) -> None:
    page.evaluate((Path(axe.__file__).with_name("axe.min.js")).read_text(encoding="utf-8"))


def test_axe_finds_nothing_grave_in_either_look_and_nothing_is_cut_off(visit: Any, demo: str) -> None:
    page = visit.page
    visit.open(demo)
    page.get_by_text("steps a second").wait_for()
    let_axe_in(page)
    assert page.evaluate("document.documentElement.lang") == "en"
    assert "Redistricting from the bottom up" in page.title()
    found = {}
    look = page.get_by_role("button", name="Dark", exact=True)
    for name in open_views(page):
        is_all_inside(page, name)
        found[name] = grave(page)
        look.click()
        # As long as colours take to change.
        page.wait_for_timeout(500)
        found[f"{name}, dark"] = grave(page, "color-contrast")
        look.click()
    look.click()
    page.goto(f"{demo}?data")
    page.get_by_label("Units", exact=True).wait_for()
    let_axe_in(page)
    # The browser remembers the look.
    found["data, dark"] = grave(page, "color-contrast")
    page.get_by_role("button", name="Dark", exact=True, pressed=True).click()
    page.wait_for_timeout(500)
    found["data"] = grave(page)
    told = [f"{name}: {words}" for name, words in found.items() if words]
    assert not told, "\n".join(told)
    visit.assert_clean()


class Keys:
    """A visitor without a mouse."""

    def __init__(self, page: Any) -> None:
        self.page = page
        self.unseen: list[str] = []

    def focused(self) -> str:
        """The role and name of what has the focus, as screen readers are told."""
        return str(self.page.evaluate(FOCUSED))

    def _is_seen(self, name: str) -> bool:
        """Whether the focus shows, once marks that fade in have had a second to do so.

        A table that newer numbers replace meanwhile takes the focus with it; then there is nothing to show.
        """
        for _ in range(20):
            if self.page.evaluate(IS_SEEN) or self.focused() != name:
                return True
            self.page.wait_for_timeout(50)
        return False

    def go_to(self, pattern: str) -> None:
        """Press Tab until the focus is on something of this role and name."""
        passed = []
        for _ in range(150):
            self.page.keyboard.press("Tab")
            name = self.focused()
            passed.append(name)
            # Past the last thing the focus is the browser's own, once round.
            if not name.startswith("body:") and not self._is_seen(name):
                self.unseen.append(name)
            if re.search(pattern, name):
                return
        raise AssertionError(f"no way to {pattern} with Tab; passed {passed}")


def test_the_main_job_is_done_with_keys_alone(visit: Any, demo: str, tmp_path: Path) -> None:
    visit.open(demo)
    page, keys = visit.page, Keys(visit.page)
    page.get_by_text("steps a second").wait_for()
    # Move ε.
    keys.go_to(r"^slider: ε")
    page.keyboard.press("Home")
    page.get_by_text("testimony is ignored", exact=False).first.wait_for()
    page.keyboard.press("End")
    page.get_by_text("×22,026").first.wait_for()
    # Open a question.
    keys.go_to("^tab: Which communities")
    page.keyboard.press("ArrowRight")
    assert keys.focused().startswith("tab: How does it compare")
    page.get_by_text(re.compile("Drawn from .* plans")).wait_for()
    # Choose bars.
    keys.go_to("^button: Pick plans by their score")
    page.keyboard.press("Enter")
    keys.go_to("^slider: .*estimon")
    page.keyboard.press("ArrowRight")
    page.get_by_text(re.compile(r"^[\d,]+ of [\d,]+ plans")).filter(visible=True).first.wait_for()
    page.keyboard.press("Escape")
    # Save.
    keys.go_to("^button: Save a plan")
    page.keyboard.press("Enter")
    keys.go_to("^button: Save$")
    with page.expect_download() as waiting:
        page.keyboard.press("Enter")
    waiting.value.save_as(tmp_path / "plan.geojson")
    assert len(json.loads((tmp_path / "plan.geojson").read_text())["features"]) == 8
    assert not keys.unseen, f"the focus could not be seen on {sorted(set(keys.unseen))}"
    visit.assert_clean()


def is_all_inside(page: Any, name: str) -> None:
    assert page.evaluate(TOO_WIDE) <= 0, f"the page is wider than the window while {name!r} is open"
    cut_off = page.evaluate(CUT_OFF)
    assert not cut_off, f"cut off while {name!r} is open: {cut_off}"


def test_nothing_is_cut_off_on_a_tablet(visit: Any, demo: str) -> None:
    page = visit.page
    page.set_viewport_size({"width": 820, "height": 1180})
    visit.open(demo)
    for name in open_views(page):
        is_all_inside(page, name)
    # The opened view lies below the map, and the page can be scrolled to it.
    assert page.evaluate("document.scrollingElement.scrollHeight > window.innerHeight")
    visit.assert_clean()
