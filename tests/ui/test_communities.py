"""The table of communities: what it points at, what it is pointed at by, and what it lets out."""

from __future__ import annotations

import csv
import re
from pathlib import Path
from typing import Any

import pytest

pytestmark = pytest.mark.ui


@pytest.fixture
def listed(visit: Any, gridland: str) -> Any:
    """A page with the table of testimonies in sight, its walks paused after they were compared."""
    visit.open(gridland)
    page = visit.page
    page.get_by_role("tab", name="Which communities").click()
    page.get_by_text(re.compile("In the ensemble .* clearly more often")).wait_for()
    page.get_by_role("button", name="Pause").click()
    page.get_by_text("steps a second").wait_for(state="detached")
    page.get_by_role("button", name="Testimonies", exact=True).click()
    page.get_by_role("grid", name="Testimonies").wait_for()
    return page


def names(page: Any) -> list[str]:
    return page.locator("[role=grid][aria-label=Testimonies] tbody tr:not([hidden]) .id").all_inner_texts()


def changes(page: Any) -> list[float]:
    cells = page.locator("[role=grid][aria-label=Testimonies] tbody td.change").all_inner_texts()
    return [float(cell.replace("−", "-").replace("±", "")) for cell in cells]


def test_rows_are_sorted_searched_and_pointed_at(visit: Any, listed: Any) -> None:
    page = listed
    table = page.get_by_role("grid", name="Testimonies")
    assert len(names(page)) == 20
    assert changes(page) == sorted(changes(page))
    table.get_by_role("button", name="Change").click()
    table.locator("th[aria-sort=descending]").filter(has_text="Change").wait_for()
    assert changes(page) == sorted(changes(page), reverse=True)
    header = table.get_by_role("button", name=re.compile("Testi"))
    header.focus()
    page.keyboard.press("Enter")
    table.locator("th[aria-sort=ascending]").filter(has_text="Testi").wait_for()
    assert names(page) == [f"t{n}" for n in range(20)]

    # Pointed at with the mouse, the map outlines it and the text says what becomes of it.
    table.get_by_role("row", name=re.compile(r"^t3\b")).click()
    page.get_by_text("Testimony t3").wait_for()
    page.get_by_text(re.compile(r"^t3 – whole in")).wait_for()
    assert table.locator("tr[aria-selected=true] .id").all_inner_texts() == ["t3"]
    # With the keys, two rows further down; the table may be left and entered with Tab.
    for key in ("ArrowDown", "ArrowDown", "Enter"):
        page.keyboard.press(key)
    page.get_by_text("Testimony t5").wait_for()
    page.get_by_text(re.compile(r"^t5 – whole in")).wait_for()
    page.keyboard.press("Enter")
    page.get_by_text("Testimony t5").wait_for(state="detached")
    assert table.locator("tr[aria-selected=true]").count() == 0

    page.get_by_label("Search").fill("c1")
    page.get_by_text("7 of 20 testimonies in the list.").wait_for()
    assert names(page) == [f"t{n}" for n in range(1, 20, 3)]
    page.get_by_role("button", name="Show all", exact=True).click()
    page.get_by_text("testimonies in the list.").wait_for(state="detached")
    assert len(names(page)) == 20

    # A cluster pointed at leaves its own testimonies in the list.
    page.get_by_role("button", name="Clusters", exact=True).click()
    page.get_by_role("grid", name="Clusters").get_by_role("row", name=re.compile("^C0")).click()
    page.get_by_role("button", name="Testimonies", exact=True).click()
    page.get_by_text("7 testimonies are in cluster C0.").wait_for()
    assert names(page) == [f"t{n}" for n in range(0, 20, 3)]
    visit.assert_clean()


def test_the_table_is_saved_after_it_has_been_written_down(visit: Any, listed: Any, tmp_path: Path) -> None:
    page = listed
    page.get_by_role("button", name="Save table").click()
    page.get_by_text("is a release of the whole sample").wait_for()
    with page.expect_download() as download:
        page.get_by_role("button", name="Write it in the ledger and save").click()
    assert re.fullmatch(r"Gridland_.*_communities\.csv", download.value.suggested_filename)
    download.value.save_as(tmp_path / "saved.csv")
    page.get_by_text("Written in the ledger").wait_for()
    with (tmp_path / "saved.csv").open(encoding="utf-8-sig", newline="") as file:
        rows = list(csv.DictReader(file))
    assert [row["kind"] for row in rows] == ["cluster"] * 3 + ["testimony"] * 20
    # What is saved is what is on the screen.
    shown = dict(zip(names(page), changes(page), strict=True))
    for row in rows[3:]:
        assert float(row["change_points"]) == pytest.approx(shown[row["id"]], abs=0.06)
    visit.assert_clean()
