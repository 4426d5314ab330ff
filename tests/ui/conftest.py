"""A served page in a real headless Chromium that is not let out of the machine."""

from __future__ import annotations

import importlib
import os
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path
from urllib.parse import urlsplit

import geopandas as gpd
import numpy as np
import pandas as pd
import pytest
import shapely
from serving import BROWSERS, PAINTED, QUIET, find_browser, serving

from bottomup.sampler.chain import default_mixture, warm_up

ON_CI = bool(os.environ.get("CI"))
PLAYWRIGHT = "playwright.sync_api"
# Where changes are checked, tests that did not run must not look like tests that passed.
sync_api = importlib.import_module(PLAYWRIGHT) if ON_CI else pytest.importorskip(PLAYWRIGHT)

LOOPBACK = {"localhost", "127.0.0.1", "::1"}
# A machine with other things to do is slow, and that is not what is tested.
PATIENCE_MILLISECONDS = 240_000


@dataclass
class Visit:
    """A page in the browser, and what must stay empty."""

    page: sync_api.Page
    console_errors: list[str] = field(default_factory=list)
    refused: list[str] = field(default_factory=list)

    def open(self, address: str) -> None:
        self.page.goto(address)
        self.page.wait_for_function(PAINTED)

    def assert_clean(self) -> None:
        assert self.refused == []
        assert self.console_errors == []


@pytest.fixture(scope="session")
def browser() -> Iterator[sync_api.Browser]:
    found = find_browser()
    if found is None:
        reason = f"none of {', '.join(BROWSERS)} is installed"
        if ON_CI:
            pytest.fail(reason)
        pytest.skip(reason)
    with sync_api.sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=found, args=QUIET)
        yield browser
        browser.close()


@pytest.fixture
def visit(browser: sync_api.Browser) -> Iterator[Visit]:
    context = browser.new_context(viewport={"width": 1280, "height": 720}, accept_downloads=True)
    context.set_default_timeout(PATIENCE_MILLISECONDS)
    visit = Visit(context.new_page())

    def watch(route: sync_api.Route) -> None:
        address = urlsplit(route.request.url)
        if address.scheme in ("data", "blob") or address.hostname in LOOPBACK:
            route.continue_()
        else:
            visit.refused.append(route.request.url)
            route.abort()

    context.route("**/*", watch)
    visit.page.on("console", lambda m: visit.console_errors.append(m.text) if m.type == "error" else None)
    visit.page.on("pageerror", lambda error: visit.console_errors.append(str(error)))
    yield visit
    context.close()


@pytest.fixture(scope="session")
def serve(
    browser: sync_api.Browser, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Callable[..., str]]:
    """Return a function that serves the page with the options given and returns its address."""
    # Compiled once, here: every server then takes the kernels from the cache.
    warm_up("mixed", default_mixture(100))
    with ExitStack() as running:

        def start(*options: str) -> str:
            return running.enter_context(serving(tmp_path_factory.mktemp("server") / "log.txt", *options))

        yield start


@pytest.fixture(scope="session")
def demo(serve: Callable[..., str]) -> str:
    """Address of the page with the demonstration."""
    return serve()


@pytest.fixture(scope="session")
def files(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Files as a state brings them: three tables, and outlines as GeoJSON."""
    folder = tmp_path_factory.mktemp("files")
    side = 12
    y, x = np.divmod(np.arange(side * side), side)
    ids = [f"29{i:04d}" for i in range(side * side)]
    squares = shapely.box(-92.5 + x / 50, 38 + y / 50, -92.5 + (x + 1) / 50, 38 + (y + 1) / 50)
    gpd.GeoDataFrame({"GEOID20": ids}, geometry=squares, crs="EPSG:4326").to_file(folder / "units.geojson")
    pd.DataFrame({"GEOID20": ids, "pop20": 100 + x, "plan": 1 + 2 * (y >= 6) + (x >= 6)}).to_csv(
        folder / "nodes.csv", index=False
    )
    pairs = [(i, i + 1) for i in range(side * side) if x[i] < side - 1]
    pairs += [(i, i + side) for i in range(side * (side - 1))]
    pd.DataFrame([(ids[u], ids[v]) for u, v in pairs], columns=["u", "v"]).to_csv(
        folder / "edges.csv", index=False
    )
    rows = [(f"t{t}", ids[t * 5 + j], f"C{t % 3}") for t in range(20) for j in range(3)]
    pd.DataFrame(rows, columns=["testimony", "GEOID20", "cluster"]).to_csv(
        folder / "testimonies.csv", index=False
    )
    return folder


@pytest.fixture(scope="session")
def gridland(serve: Callable[..., str], files: Path) -> str:
    """Address of the page with those files."""
    return serve(
        *("--units", str(files / "nodes.csv"), "--edges", str(files / "edges.csv")),
        *("--shapes", str(files / "units.geojson"), "--id", "GEOID20", "--population", "pop20"),
        *("--plan", "plan", "--testimonies", str(files / "testimonies.csv"), "--name", "Gridland"),
    )
