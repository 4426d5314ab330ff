"""The ledger in a real browser: what is saved is written down first, and the page says what it adds up to."""

from __future__ import annotations

import csv
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from bottomup.sampler.naming import plan_digest

pytestmark = pytest.mark.ui

TABLE, DISTRICTS, LOT = "Save two columns as CSV", "Save districts as GeoJSON", "Draw a plan by lot"


def rows_of(ledger: Path) -> list[dict[str, str]]:
    with ledger.open(newline="", encoding="utf-8") as file:
        return list(csv.DictReader(file))


def save(page: Any, label: str, folder: Path) -> Path:
    """Save with the keyboard alone."""
    page.get_by_role("button", name=label).focus()
    with page.expect_download() as waiting:
        page.keyboard.press("Enter")
    path = folder / waiting.value.suggested_filename
    waiting.value.save_as(path)
    return path


def wait_for_sum(page: Any, n_plans: int, ledger: Path) -> None:
    """Wait for the page to say what the file adds up to."""
    total = sum(float(row["adds"]) for row in rows_of(ledger))
    plans = "1 plan" if n_plans == 1 else f"{n_plans} plans"
    page.get_by_text(f"Released so far: {plans}, ε\u00a0{total:.3g} in all.").first.wait_for()


def test_two_plans_are_written_down_and_added_up(
    visit: Any, serve: Callable[..., str], tmp_path: Path
) -> None:
    ledger = tmp_path / "ledger.csv"
    visit.open(serve("--ledger", str(ledger)))
    page = visit.page
    page.get_by_text("steps a second").wait_for()
    page.get_by_role("tab", name="Save a plan").click()
    page.get_by_text("Nothing has been released so far.").wait_for()
    # The walk's plan, while the walk goes on. Before anything happens the page says what it would add.
    page.get_by_text(re.compile("it counts as 1 draw, which adds ε.*if the moment was not chosen")).wait_for()
    assert not ledger.exists()
    districts = save(page, DISTRICTS, tmp_path)
    (row,) = rows_of(ledger)
    assert (row["how"], row["chosen"], row["draws"], row["status"]) == (
        "districts file",
        "current plan",
        "1",
        "counted",
    )
    assert f'"name":"{row["run"]}"' in districts.read_text().replace(": ", ":")
    wait_for_sum(page, 1, ledger)
    # The same plan is held on the map, and in another form adds nothing.
    page.get_by_text("Already released: saving it again").wait_for()
    table = save(page, TABLE, tmp_path)
    first, again = rows_of(ledger)
    assert (again["plan"], again["run"], again["adds"]) == (first["plan"], first["run"], "0.0")
    assert again["status"] == "already released"
    with table.open(newline="") as file:
        assert plan_digest([int(line["district"]) - 1 for line in csv.DictReader(file)]) == first["plan"]
    # Another one, drawn by lot.
    page.get_by_role("button", name=LOT).click()
    page.get_by_role("heading", name=re.compile("^A plan drawn by lot at ε")).wait_for()
    page.get_by_text(re.compile("drawn by lot, it counts as 1 draw, which adds")).wait_for()
    save(page, TABLE, tmp_path)
    third = rows_of(ledger)[-1]
    assert (third["chosen"], third["status"]) == ("by lot", "counted")
    assert float(third["adds"]) == float(third["epsilon"]) > 0
    wait_for_sum(page, 2, ledger)
    # A visitor who comes later finds the same sum.
    page.reload()
    page.get_by_text("steps a second").wait_for()
    page.get_by_role("tab", name="Save a plan").click()
    wait_for_sum(page, 2, ledger)
    visit.assert_clean()


def test_a_damaged_ledger_stops_what_would_not_be_written(
    visit: Any, serve: Callable[..., str], tmp_path: Path
) -> None:
    ledger = tmp_path / "ledger.csv"
    ledger.write_text("id,district\n001,1\n")
    visit.open(serve("--ledger", str(ledger)))
    page = visit.page
    page.get_by_text("steps a second").wait_for()
    page.get_by_role("tab", name="Save a plan").click()
    page.get_by_text(re.compile("line 1: the columns must be .* got id, district")).first.wait_for()
    # Before the walk has met a plan of its own the enacted plan is saved, which needs no ledger.
    page.get_by_role("heading", name=re.compile("^The walk's plan in round")).wait_for()
    downloads: list[object] = []
    page.on("download", lambda download: downloads.append(download))
    page.get_by_role("button", name=TABLE).click()
    page.get_by_text("Nothing was released.").wait_for()
    # The enacted plan is no release: it needs no ledger.
    page.get_by_role("button", name="Enacted plan").click()
    page.get_by_role("heading", name="Enacted plan cd2025").wait_for()
    assert downloads == []
    assert "cd2025" in save(page, TABLE, tmp_path).name
    assert ledger.read_text() == "id,district\n001,1\n"
    visit.assert_clean()
