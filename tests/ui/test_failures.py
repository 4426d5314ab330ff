"""Whatever goes wrong is said on the page, and told in full in the server's log."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from serving import serving

from bottomup.sampler.chain import default_mixture, warm_up

pytestmark = pytest.mark.ui


@dataclass
class Server:
    address: str
    log: Path

    def told(self, part: str) -> bool:
        """Whether the log tells of a failure with all that led to it."""
        before, found, _ = self.log.read_text().partition(f"RuntimeError: made to fail: {part}\n")
        return bool(found) and "Traceback (most recent call last):" in before


@pytest.fixture(scope="module")
def failing(browser: Any, files: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    warm_up("mixed", default_mixture(100))
    log = tmp_path_factory.mktemp("failing") / "log.txt"
    options = (
        *("--units", str(files / "nodes.csv"), "--edges", str(files / "edges.csv"), "--id", "GEOID20"),
        *("--shapes", str(files / "units.geojson"), "--population", "pop20", "--plan", "plan"),
        *("--testimonies", str(files / "testimonies.csv"), "--name", "Gridland"),
    )
    with serving(log, *options, script="tests/ui/failing/failing.py") as address:
        yield Server(address, log)


def is_said_and_logged(page: Any, server: Server, part: str) -> None:
    page.get_by_text(f"made to fail: {part}").filter(visible=True).first.wait_for()
    assert server.told(part)


def test_views_say_what_failed_in_them(visit: Any, failing: Server) -> None:
    visit.open(f"{failing.address}?fail=views")
    page = visit.page

    def click(role: str, name: str) -> None:
        page.get_by_role(role, name=name, exact=role == "button").click()

    page.get_by_text("steps a second").wait_for()
    click("button", "Reset")
    is_said_and_logged(page, failing, "button")
    page.locator(".bk-Figure .bk-events").first.click()
    is_said_and_logged(page, failing, "tap on the map")
    click("tab", "How much can anyone sway it?")
    click("button", "An attack")
    is_said_and_logged(page, failing, "what if")
    click("button", "Compare ε")
    is_said_and_logged(page, failing, "compare")
    click("button", "Save a plan")
    click("button", "Save")
    is_said_and_logged(page, failing, "saving")
    click("button", "Layers, find")
    page.get_by_label("Outlines of clusters").check()
    is_said_and_logged(page, failing, "overlay")
    page.get_by_label("How often boundaries are cut").check()
    is_said_and_logged(page, failing, "closer look")
    visit.assert_clean()


@pytest.mark.parametrize("part", ["worker", "judging", "tick", "opening"])
def test_the_page_says_what_failed_below_it(visit: Any, failing: Server, part: str) -> None:
    visit.page.goto(f"{failing.address}?fail={part}")
    is_said_and_logged(visit.page, failing, part)
    visit.assert_clean()


def test_the_data_screen_says_that_the_check_failed(visit: Any, failing: Server, files: Path) -> None:
    page = visit.page
    page.goto(f"{failing.address}?data")
    page.get_by_label("Units", exact=True).set_input_files(files / "units.geojson")
    page.get_by_role("button", name="Check", exact=True).click()
    is_said_and_logged(page, failing, "check of files")
    visit.assert_clean()
