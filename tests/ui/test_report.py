"""The report as a visitor saves it, opened where there is no network."""

from __future__ import annotations

from pathlib import Path

import pytest
from PIL import Image

pytestmark = pytest.mark.ui


def test_a_saved_report_opens_without_a_network_and_a_chart_is_a_picture(
    visit, browser, gridland, tmp_path: Path
):
    page = visit.page
    visit.open(gridland)
    page.get_by_text("The walk's plan in round").first.wait_for()
    page.get_by_role("button", name="Report", exact=True).click()
    page.get_by_label("Title").fill("Tuesday <b>evening</b>")
    page.get_by_text("Plans behind the charts").filter(visible=True).first.wait_for()
    with page.expect_download() as saved:
        page.get_by_role("button", name="Save the report").click()
    report = tmp_path / "report.html"
    saved.value.save_as(report)
    page.get_by_text("Written in the ledger").filter(visible=True).first.wait_for()
    with page.expect_download() as saved:
        page.get_by_role("button", name="Save the chart").click()
    assert saved.value.suggested_filename.endswith(".png")
    picture = tmp_path / "chart.png"
    saved.value.save_as(picture)
    with Image.open(picture) as image:
        assert min(image.size) > 500
    visit.assert_clean()

    asked = []
    context = browser.new_context()
    context.route("**/*", lambda route: (asked.append(route.request.url), route.continue_()))
    context.set_offline(True)
    paper = context.new_page()
    paper.on("console", lambda message: asked.append(message.text))
    paper.goto(report.as_uri())
    assert paper.get_by_role("heading", level=1).inner_text() == "Tuesday <b>evening</b>"
    assert paper.get_by_role("heading", name="Can this be relied on?").is_visible()
    # Every picture is drawn from what the file holds.
    loaded = "images => images.map(i => i.complete && i.naturalWidth > 0)"
    assert set(paper.locator("img").evaluate_all(loaded)) == {True}
    paper.get_by_text("The numbers of this chart").first.click()
    assert paper.get_by_role("columnheader", name="people").first.is_visible()
    assert [each for each in asked if not each.startswith("data:")] == [report.as_uri()]
    context.close()
