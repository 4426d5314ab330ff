"""The ledger in a real browser: what is saved is written down first, and the page says what it adds up to."""

from __future__ import annotations

import csv
import re
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import geopandas as gpd
import pytest

from bottomup.dashboard.ledger_words import epsilon_figure
from bottomup.sampler.ensembles import Ensemble
from bottomup.sampler.naming import plan_digest

pytestmark = pytest.mark.ui

TABLE, DISTRICTS, ALL, LOT = "Two columns", "Districts", "All plans", "Draw a plan by lot"

CONTENTS = {
    DISTRICTS: "An outline for each district",
    TABLE: "A CSV of unit id and district",
    ALL: "Every plan on record behind the charts",
}


def rows_of(ledger: Path) -> list[dict[str, str]]:
    with ledger.open(newline="", encoding="utf-8") as file:
        return list(csv.DictReader(file))


def choose(page: Any, label: str) -> None:
    """Choose with the keyboard alone."""
    button = page.get_by_role("button", name=label, exact=True)
    if button.get_attribute("aria-pressed") != "true":
        button.focus()
        page.keyboard.press("Enter")
    page.locator(f"button[aria-pressed=true]:text-is('{label}')").wait_for()


def save(page: Any, kind: str, folder: Path, form: str = "") -> Path:
    """Save with the keyboard alone."""
    for label in filter(None, (kind, form)):
        choose(page, label)
    page.get_by_text(CONTENTS[kind]).wait_for()
    page.get_by_role("button", name="Save", exact=True).focus()
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
    page.get_by_role("button", name="Save a plan").click()
    page.get_by_text("Nothing has been released so far.").wait_for()
    # The walk's plan, while the walk goes on. Before anything happens the page says what it would add.
    page.get_by_text(re.compile("it counts as 1 draw, which adds ε.*if the moment was not chosen")).wait_for()
    assert not ledger.exists()
    districts = save(page, DISTRICTS, tmp_path)
    (row,) = rows_of(ledger)
    assert (row["how"], row["chosen"], row["draws"], row["status"]) == (
        "districts as GeoJSON",
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
    # A binary file comes whole.
    package = gpd.read_file(save(page, DISTRICTS, tmp_path, "GeoPackage"), layer="districts")
    assert len(package) == 8
    assert [row["how"] for row in rows_of(ledger)[2:]] == ["districts as GeoPackage"]
    # Another one, drawn by lot.
    page.get_by_role("button", name=LOT).click()
    page.get_by_role("heading", name=re.compile("^A plan drawn by lot at ε")).wait_for()
    page.get_by_text(re.compile("drawn by lot, it counts as 1 draw, which adds")).wait_for()
    save(page, TABLE, tmp_path)
    third = rows_of(ledger)[-1]
    assert (third["chosen"], third["status"]) == ("by lot", "counted")
    assert float(third["adds"]) == float(third["epsilon"]) > 0
    wait_for_sum(page, 2, ledger)
    # All plans behind the charts are another matter, and the page says so first.
    choose(page, ALL)
    page.get_by_text(re.compile("a release of the whole sample: .* plans on record count as")).wait_for()
    assert len(rows_of(ledger)) == 4
    packed = save(page, ALL, tmp_path)
    last = rows_of(ledger)[-1]
    assert (last["what"], last["chosen"], last["status"]) == ("charts", "whole sample", "counted")
    with zipfile.ZipFile(packed) as archive:
        archive.extractall(tmp_path)
    ensemble = Ensemble(tmp_path / packed.stem)
    assert ensemble.description["name"] == last["run"]
    assert 0 < len(ensemble) <= int(last["draws"])
    total = sum(float(row["adds"]) for row in rows_of(ledger))
    in_all = f"2 plans and 1 whole sample behind charts, ε\u00a0{epsilon_figure(total)} in all."
    page.get_by_text(in_all).wait_for()
    # A visitor who comes later finds the same sum.
    page.reload()
    page.get_by_text("steps a second").wait_for()
    page.get_by_role("button", name="Save a plan").click()
    page.get_by_text(in_all).wait_for()
    visit.assert_clean()


def test_a_damaged_ledger_stops_what_would_not_be_written(
    visit: Any, serve: Callable[..., str], tmp_path: Path
) -> None:
    ledger = tmp_path / "ledger.csv"
    ledger.write_text("id,district\n001,1\n")
    visit.open(serve("--ledger", str(ledger)))
    page = visit.page
    page.get_by_text("steps a second").wait_for()
    page.get_by_role("button", name="Save a plan").click()
    page.get_by_text(re.compile("line 1: the columns must be .* got id, district")).first.wait_for()
    # Before the walk has met a plan of its own the enacted plan is saved, which needs no ledger.
    page.get_by_role("heading", name=re.compile("^The walk's plan in round")).wait_for()
    downloads: list[object] = []
    page.on("download", lambda download: downloads.append(download))
    choose(page, TABLE)
    # The choice moves what is below it, and a click on its way would miss the button.
    page.get_by_text(CONTENTS[TABLE]).wait_for()
    page.get_by_role("button", name="Save", exact=True).focus()
    page.keyboard.press("Enter")
    page.get_by_text("Nothing was released.").wait_for()
    # The enacted plan is no release: it needs no ledger.
    page.get_by_role("button", name="Enacted plan").click()
    page.get_by_role("heading", name="Enacted plan cd2025").wait_for()
    assert downloads == []
    assert "cd2025" in save(page, TABLE, tmp_path).name
    assert ledger.read_text() == "id,district\n001,1\n"
    visit.assert_clean()
