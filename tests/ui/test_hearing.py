"""The hearing in a real browser: a script is written, stepped through with the keys, and left."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from bottomup.dashboard.script import read_scenes

pytestmark = pytest.mark.ui


def font_size(page: Any) -> float:
    return float(page.evaluate("parseFloat(getComputedStyle(document.documentElement).fontSize)"))


def test_a_script_is_written_and_stepped_through_with_the_keys(visit: Any, gridland: str) -> None:
    visit.open(gridland)
    page = visit.page
    plain = font_size(page)
    slider = page.get_by_role("slider", name="weight of a testimony").first
    slider.focus()
    page.keyboard.press("Home")
    page.get_by_text("Off: testimony is ignored").wait_for()
    page.get_by_role("tab", name="Who ends up where?").click()
    page.get_by_role("button", name="Hearing").click()
    page.get_by_role("button", name="Keep this view as a scene").click()
    title = page.get_by_label("Scene 5: title")
    title.fill("When nobody is heard")
    title.press("Enter")
    notes = page.get_by_label("Scene 5: notes for the presenter")
    notes.fill("Wait for questions.")
    notes.blur()
    with page.expect_download() as waiting:
        page.get_by_text("Save the script").click()
    assert len(read_scenes(Path(waiting.value.path()).read_text(encoding="utf-8"))) == 5
    slider.focus()
    page.keyboard.press("End")
    page.get_by_text("×22,026").first.wait_for()
    page.get_by_role("button", name="Begin the hearing").click()
    page.get_by_role("heading", name="Which communities does this plan keep together? 1 of 5").wait_for()
    page.wait_for_function(f"parseFloat(getComputedStyle(document.documentElement).fontSize) > {plain}")
    assert not page.get_by_role("button", name="Settings").is_visible()
    for heading in ("How does it compare", "Who ends up where", "How much can anyone"):
        page.keyboard.press("ArrowRight")
        page.get_by_role("heading", name=heading).first.wait_for()
    page.keyboard.press("PageDown")
    page.get_by_role("heading", name="When nobody is heard 5 of 5").wait_for()
    page.keyboard.press("n")
    page.get_by_text("Wait for questions.").and_(page.locator(":visible")).wait_for()
    page.keyboard.press("ArrowLeft")
    page.get_by_role("heading", name="How much can anyone sway it? 4 of 5").wait_for()
    page.keyboard.press("ArrowRight")
    page.keyboard.press("Escape")
    # The page is as the last scene has set it.
    page.get_by_text("Off: testimony is ignored").wait_for()
    page.get_by_role("button", name="Settings").wait_for()
    assert font_size(page) == plain
    visit.assert_clean()
