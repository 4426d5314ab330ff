"""A served page in a real headless Chromium that is not let out of the machine."""

from __future__ import annotations

import shutil
import socket
import subprocess
import sys
import time
import urllib.request
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from urllib.parse import urlsplit

import pytest

sync_api = pytest.importorskip("playwright.sync_api")

ROOT = Path(__file__).resolve().parents[2]
BROWSERS = ("chromium", "chromium-browser", "google-chrome")
# Without these a browser calls home by itself; that would not be the page's doing.
QUIET = (
    "--no-sandbox",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-default-apps",
    "--disable-sync",
    "--no-first-run",
    "--no-pings",
)
LOOPBACK = {"localhost", "127.0.0.1", "::1"}


@dataclass
class Visit:
    """A page in the browser, and what must stay empty."""

    page: sync_api.Page
    console_errors: list[str] = field(default_factory=list)
    refused: list[str] = field(default_factory=list)

    def open(self, address: str) -> None:
        self.page.goto(address)
        self.page.wait_for_function(PAINTED, timeout=60_000)

    def assert_clean(self) -> None:
        assert self.refused == []
        assert self.console_errors == []


# The picture of the map has been coloured at the size of the plot.
PAINTED = """() => {
  const models = window.Bokeh?.documents?.[0]?._all_models
  if (!models) return false
  return [...models.values()].some(m => m.type == "ColumnDataSource" && m.data.image?.[0]?.length > 1000)
}"""


@pytest.fixture(scope="session")
def browser() -> Iterator[sync_api.Browser]:
    found = next((path for name in BROWSERS if (path := shutil.which(name))), None)
    if found is None:
        pytest.skip(f"none of {', '.join(BROWSERS)} is installed")
    with sync_api.sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=found, args=list(QUIET))
        yield browser
        browser.close()


@pytest.fixture
def visit(browser: sync_api.Browser) -> Iterator[Visit]:
    context = browser.new_context(viewport={"width": 1280, "height": 720}, accept_downloads=True)
    # A machine with other things to do is slow, and that is not what is tested.
    context.set_default_timeout(90_000)
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
def serve(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Callable[..., str]]:
    """Return a function that serves the page with the options given and returns its address."""
    running: list[subprocess.Popen[bytes]] = []

    def start(*options: str) -> str:
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            port = free.getsockname()[1]
        log = (tmp_path_factory.mktemp("server") / "log.txt").open("wb")
        command = [sys.executable, "-m", "panel", "serve", "dashboard/app.py", "--port", str(port)]
        if options:
            command += ["--args", *options]
        running.append(subprocess.Popen(command, cwd=ROOT, stdout=log, stderr=subprocess.STDOUT))
        address = f"http://localhost:{port}/app"
        end = time.monotonic() + 150
        while True:
            try:
                urllib.request.urlopen(address, timeout=60).close()
                return address
            except OSError:
                if time.monotonic() > end or running[-1].poll() is not None:
                    raise AssertionError(Path(log.name).read_text()) from None
                time.sleep(0.2)

    yield start
    for process in running:
        process.terminate()
    for process in running:
        try:
            process.wait(timeout=10)
        except subprocess.TimeoutExpired:
            process.kill()


@pytest.fixture(scope="session")
def demo(serve: Callable[..., str]) -> str:
    """Address of the page with the demonstration."""
    return serve()
