"""A served page and the browser that visits it, for the tests of the page and for its picture."""

from __future__ import annotations

import shutil
import socket
import subprocess
import sys
import time
import urllib.request
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
BROWSERS = ("chromium", "chromium-browser", "google-chrome")
# Without these a browser calls home by itself; that would not be the page's doing.
QUIET = [
    "--no-sandbox",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-default-apps",
    "--disable-sync",
    "--no-first-run",
    "--no-pings",
]
# The picture of the map has been coloured at the size of the plot.
PAINTED = """() => {
  const models = window.Bokeh?.documents?.[0]?._all_models
  if (!models) return false
  return [...models.values()].some(m => m.type == "ColumnDataSource" && m.data.image?.[0]?.length > 1000)
}"""
_SERVER_SECONDS = 240
# A machine with other things to do is slow, and that is not what is tested.
PATIENCE_SECONDS = 240


def find_browser() -> str | None:
    """Path of a Chromium on this machine, or None."""
    return next((path for name in BROWSERS if (path := shutil.which(name))), None)


def wait_for(page: Any, condition: Callable[[], object], told: str) -> None:
    """Wait for a condition, and say what was waited for in vain."""
    end = time.monotonic() + PATIENCE_SECONDS
    while not condition():
        if time.monotonic() > end:
            raise AssertionError(told)
        # The browser goes on meanwhile, which a plain sleep would not let it.
        page.wait_for_timeout(100)


@contextmanager
def serving(log: Path, *options: str, script: str = "dashboard/app.py", probe: str = "") -> Iterator[str]:
    """Serve the page with these options, or another script, and give its address once it answers.

    It is asked for ``probe``, the end of an address, which opens a page that no browser comes for.
    """
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    command = [sys.executable, "-m", "panel", "serve", script, "--port", str(port), "--args"]
    # Releases are not to be written into the project's folder. Of two ledgers the last one named is used.
    command += ["--ledger", str(log.with_name("ledger.csv")), *options]
    with log.open("wb") as stream:
        process = subprocess.Popen(command, cwd=ROOT, stdout=stream, stderr=subprocess.STDOUT)
    try:
        address = f"http://localhost:{port}/{Path(script).stem}"
        _wait_for_answer(address + probe, process, log)
        yield address
    finally:
        process.terminate()
        try:
            process.wait(timeout=10)
        except subprocess.TimeoutExpired:
            process.kill()


def _wait_for_answer(address: str, process: subprocess.Popen[bytes], log: Path) -> None:
    end = time.monotonic() + _SERVER_SECONDS
    while True:
        try:
            urllib.request.urlopen(address, timeout=_SERVER_SECONDS).close()
            return
        except OSError:
            if time.monotonic() > end or process.poll() is not None:
                raise RuntimeError(f"The page was not served:\n{log.read_text()}") from None
            time.sleep(0.2)
