"""What the page makes of awkward files: it opens and says so under a click, or the report is in its place."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import NamedTuple

import geopandas as gpd
import numpy as np
import pandas as pd
import panel as pn
import pytest
from awkward import CRS, box, grid, write

from bottomup.dashboard import app
from bottomup.dashboard.options import parse_page_options
from bottomup.dashboard.views.page import PageView
from bottomup.data.findings import Finding

Opened = tuple[pn.viewable.Viewable | PageView, tuple[Finding, ...]]
MARKUP = 'Ünïcode / <script>alert(1)</script>, "quoted"'


class Outcome(NamedTuple):
    """What must be on the page: a finding for the row that counts, the start of its units, and words."""

    code: str
    units: tuple[str, ...]
    words: tuple[str, ...]


def _plan(text: Callable[[gpd.GeoDataFrame], str | bytes]) -> Callable[[Path], list[str]]:
    def give(folder: Path) -> list[str]:
        content = text(grid())
        content = content.encode() if isinstance(content, str) else content
        (folder / "plan.csv").write_bytes(content)
        return ["--plan", str(folder / "plan.csv")]

    return give


def _blank(frame: gpd.GeoDataFrame) -> bytes:
    rows = [
        f"{unit},{'' if i == 3 else district}\r\n"
        for i, (unit, district) in enumerate(zip(frame["GEOID"], frame["district"], strict=True))
    ]
    return ("\ufeffBLOCKID,DISTRICT\r\n" + "".join(rows)).encode()


PLANS = {
    "plan without leading zeros": _plan(
        lambda frame: frame[["GEOID", "district"]].astype(int).to_csv(index=False)
    ),
    "plan with a blank": _plan(_blank),
    "plan with labels of text": _plan(
        lambda frame: (
            frame[["GEOID"]]
            .assign(district=frame["district"].map({1: "01", 2: "02A", 3: "North", 4: "04"}))
            .to_csv(index=False)
        )
    ),
}


def _areas() -> gpd.GeoDataFrame:
    shapes = {
        "aligned": box(0, 0, 2, 2),
        "again": box(0, 0, 2, 2),
        "tiny": box(0.1, 0.1, 0.3, 0.3),
        "two parts": box(0, 0).union(box(6, 6)),
        "everything": box(0, 0, 8, 8),
        MARKUP: box(4, 4, 2, 2),
    }
    return gpd.GeoDataFrame({"id": list(shapes), "text": ""}, geometry=list(shapes.values()), crs=CRS)


TESTIMONIES = {
    "all kinds of testimonies": _areas,
    "400 copies of a testimony": lambda: gpd.GeoDataFrame(
        {"id": np.arange(1, 401)}, geometry=[box(0, 0, 2, 2)] * 400, crs=CRS
    ),
    "no testimonies": lambda: None,
}
GRAPHS = ("links", "edges", "adjacency")

OPENS = {
    "plain": Outcome("columns", (), ("ids from &#x27;GEOID&#x27;", "people from &#x27;TOTPOP&#x27;")),
    "nobody in three units": Outcome(
        "zero_population", ("09000000", "09000001", "09000002"), ("Nobody lives in 3 of 64 units",)
    ),
    "one huge unit": Outcome(
        "unit_too_large", ("09000000",), ("1 of 64 units hold more", "divide these units")
    ),
    "heights": Outcome("crs", (), ("heights were left out",)),
    "plan without leading zeros": Outcome(
        "plan_match", (), ("64 of 64 units matched", "64 ids lacked leading zeros")
    ),
    "plan with labels of text": Outcome("plan_match", (), ("64 of 64 units matched", "0 missing")),
    "plan in pieces": Outcome(
        "district_not_connected", ("09000003",), ("district 4 is in 2 pieces", "--repair-plan")
    ),
    "unbalanced plan": Outcome(
        "district_out_of_bounds", (), ("is out of balance", "district 1 has", "No tolerance helps")
    ),
    **dict.fromkeys(GRAPHS, Outcome("columns", (), ("ids from &#x27;id&#x27;",))),
    "all kinds of testimonies": Outcome(
        "testimony_too_large", ("everything",), ("1 of 6 testimonies with more people than a district",)
    ),
    "400 copies of a testimony": Outcome(
        "testimonies", (), ("400 used", "399 with the units of an earlier one")
    ),
    "9,025 units": Outcome("crs", (), ("WGS 84",)),
    "text for people": Outcome("columns", (), ("people from &#x27;TOTPOP&#x27;",)),
    "overlap": Outcome("overlap", ("09000010", "09000011"), ("09000010, 09000011",)),
    "narrow gap": Outcome("gap", (), ("gap",)),
}
REPORTED = {
    "table alone": Outcome("no_edges", (), ("says which units are neighbours", "Give edges")),
    "island of one unit": Outcome(
        "not_connected", ("09990000",), ("in 2 pieces", "1 unit with 120 people", "--repair join 09990000")
    ),
    "island of two units": Outcome(
        "not_connected",
        ("09990000", "09990001"),
        ("2 units with 240 people", "--repair drop 09990000 09990001"),
    ),
    "detached unit": Outcome("not_connected", ("09000027",), ("in 2 pieces", "--repair join 09000027")),
    "no population in two units": Outcome(
        "no_population", ("09000005", "09000009"), ("no population in 2 of 64 units",)
    ),
    "negative population": Outcome("population_negative", ("09000004",), ("09000004",)),
    "bow tie": Outcome("invalid_geometry", ("09000010",), ("crosses itself", "--repair make-valid 09000010")),
    "no shape": Outcome("null_geometry", ("09000010",), ("for 1 of 64 units", "--repair drop 09000010")),
    "points mixed in": Outcome("not_polygon", ("row 5", "row 6", "row 7", "row 8"), ("Point instead of",)),
    "hidden CRS": Outcome("wrong_crs", (), ("longitudes and latitudes", "--repair set-crs EPSG:32615")),
    "plan with a blank": Outcome(
        "plan_missing_units", ("09000003",), ("63 of 64 units matched, 1 missing", "Give every unit a")
    ),
    "no testimonies": Outcome("no_testimonies", (), ("holds no testimonies", "Give a file")),
    "no map": Outcome("unreadable", (), ("could not be read as a map", "A file cannot be read.")),
}


@pytest.fixture
def opened(tmp_path: Path) -> Iterator[Callable[[str], Opened]]:
    """Return what gives the page of a visitor, and what was found out about the files."""
    pages = []

    def open_page(name: str) -> Opened:
        options = parse_page_options(_options(name, tmp_path))
        pages.append(app.open_page(options))
        # Looked at by the page, and kept.
        return pages[-1], app._inspect(options).findings

    pn.state.cache.clear()
    yield open_page
    pn.state.cache.clear()
    for page in pages:
        if isinstance(page, PageView):
            page.session.close()


def _options(name: str, folder: Path) -> list[str]:
    units = write("plain" if name in (*PLANS, *TESTIMONIES) else name, folder)
    plan = PLANS[name](folder) if name in PLANS else ["--plan", "district"]
    testimonies = folder / "testimonies.geojson"
    areas = TESTIMONIES.get(name, _areas)()
    if areas is None:
        testimonies.write_text('{"type": "FeatureCollection", "features": []}')
    else:
        areas.to_crs(4326).to_file(testimonies)
    if name in GRAPHS:
        # A graph has no outlines: its plan and its testimonies name the nodes.
        plan = _plan(lambda frame: frame[["district"]].rename_axis("id").to_csv())(folder)
        testimonies = folder / "testimonies.csv"
        pd.DataFrame({"testimony": "a", "id": [0, 1, 8]}).to_csv(testimonies, index=False)
    ledger = str(folder / "ledger.csv")
    return ["--units", str(units), *plan, "--testimonies", str(testimonies), "--ledger", ledger]


def _assert_said(outcome: Outcome, found: tuple[Finding, ...], markup: str) -> None:
    (finding,) = [finding for finding in found if finding.code == outcome.code]
    assert finding.units[: len(outcome.units)] == outcome.units
    for words in (*outcome.words, *outcome.units):
        assert words in markup
    assert "Traceback" not in markup
    assert "<script>" not in markup


@pytest.mark.parametrize("name", OPENS)
def test_the_page_opens_and_says_what_the_files_are_like(name, opened):
    before = time.process_time()
    page, found = opened(name)
    assert isinstance(page, PageView)
    page.open_view("Data")
    panel = page.__panel__()
    # What the browser gets can be made of it.
    panel.get_root()
    assert time.process_time() - before < 5
    (about,) = [pane for pane in panel.select(pn.pane.HTML) if "About these files" in str(pane.object)]
    _assert_said(OPENS[name], found, about.object)
    n_stopping = sum(finding.stops for finding in found)
    assert (f"({n_stopping} to settle" in about.object) == bool(n_stopping)


@pytest.mark.parametrize("name", REPORTED)
def test_the_report_stands_in_place_of_the_page(name, opened):
    before = time.process_time()
    shown, found = opened(name)
    assert isinstance(shown, pn.pane.HTML)
    shown.get_root()
    assert time.process_time() - before < 5
    assert "Something needs your attention." in shown.object
    _assert_said(REPORTED[name], found, shown.object)
