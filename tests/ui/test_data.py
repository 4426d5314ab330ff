"""Files of one's own, brought to the data screen and opened."""

from __future__ import annotations

import re
import urllib.request
from pathlib import Path
from typing import Any

import geopandas as gpd
import pandas as pd
from serving import PAINTED

# More than a message to the server may hold.
LARGE = 21_000_000


def _make_awkward(files: Path, folder: Path) -> Path:
    """The units with their people and plan, one of them on an island, and words that make the file large."""
    units = gpd.read_file(files / "units.geojson").merge(
        pd.read_csv(files / "nodes.csv", dtype={"GEOID20": str})
    )
    island = units.iloc[[0]].assign(GEOID20="299999", geometry=units.iloc[[0]].translate(xoff=2))
    units["words"] = "x" * (LARGE // len(units))
    pd.concat([units, island], ignore_index=True).to_file(folder / "awkward.geojson")
    return folder / "awkward.geojson"


def press(button: Any) -> None:
    """Press a button by the keyboard, once it can be."""
    button.click(trial=True)
    button.press("Enter")


def test_from_files_over_a_report_and_a_repair_to_a_page_of_ones_own(
    demo: str, visit: Any, files: Path, tmp_path: Path
) -> None:
    page = visit.page
    units = _make_awkward(files, tmp_path)
    assert units.stat().st_size > 20_000_000
    page.goto(f"{demo}?data")
    page.get_by_label("Units", exact=True).set_input_files(units)
    page.get_by_text(re.compile(r"awkward\.geojson, 2\d\.\d MB")).wait_for()
    page.get_by_label("Testimonies", exact=True).set_input_files(files / "testimonies.csv")
    page.get_by_text("testimonies.csv, ").wait_for()
    check = page.get_by_role("button", name="Check", exact=True)
    page.get_by_text("Reading the columns").wait_for(state="hidden")
    for label, column in (("Unit ids", "GEOID20"), ("People", "pop20")):
        page.get_by_role("combobox", name=label).filter(has_text=column).wait_for()
    page.get_by_label("Name of the map").fill("Island & Co")
    press(check)
    page.get_by_text("The dual graph is in 2 pieces.").wait_for()
    assert page.get_by_role("button", name="Open the page").count() == 0
    page.get_by_label("Leave out 299999").check()
    press(page.get_by_role("button", name="Repair and check again"))
    page.get_by_text("Fit to run.").wait_for()
    with page.expect_download() as download:
        page.get_by_role("link", name="Save the log of 1 repair").click()
    assert Path(download.value.path()).read_text().splitlines()[1].startswith("drop,299999")
    page.get_by_role("button", name="Open the page").click()
    page.wait_for_url("**/app?map=*")
    page.wait_for_function(PAINTED)
    page.get_by_text("Island & Co: 144 units, 4 districts, 20 testimonies").wait_for()
    # What others see stays as it was.
    with urllib.request.urlopen(demo) as answer:
        assert "Island" not in answer.read().decode()
    page.goto(f"{demo}?map=stale")
    page.get_by_role("link", name="Open it again from its files").click()
    page.get_by_label("Units", exact=True).wait_for()
    visit.assert_clean()
