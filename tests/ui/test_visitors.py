"""Several people at one server: each gets a share, one too many waits, and who leaves leaves nothing."""

from __future__ import annotations

import os
import re
import time
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest
from serving import PAINTED, PATIENCE_SECONDS, serving, wait_for

from bottomup.sampler.chain import default_mixture, warm_up

pytestmark = pytest.mark.ui

N_VISITORS = 5
# A hearing's worth is 180; so long is more than every run of the tests can wait.
STAY_SECONDS = float(os.environ.get("BOTTOMUP_STAY_SECONDS", "6"))


@pytest.fixture(scope="module")
def full_house(browser: Any, tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[str, Path]]:
    """Address and log of a server that lets in five."""
    warm_up("mixed", default_mixture(100))
    log = tmp_path_factory.mktemp("server") / "log.txt"
    # The data screen is for everybody: it takes nobody's place.
    with serving(log, "--visitors", str(N_VISITORS), probe="?data") as address:
        yield address, log


def n_ended(log: Path) -> int:
    return log.read_text().count("Sampling has ended for a visitor.")


def rounds(page: Any) -> int:
    words = page.get_by_text(re.compile(r"^(?:Warming up: r|R)ound [\d,]+")).first.inner_text()
    return int(re.search(r"ound ([\d,]+)", words)[1].replace(",", ""))


def memory(log: Path) -> float:
    """Megabytes that the server holds."""
    process = re.search(r"process id: (\d+)", log.read_text())[1]
    status = Path(f"/proc/{process}/status").read_text()
    return int(re.search(r"VmRSS:\s+(\d+) kB", status)[1]) / 1000


def stay(pages: list[Any], log: Path) -> None:
    """Let everybody look on for as long as is asked for; what the server holds must level off in a minute."""
    held = []
    for third in range(3):
        end = time.monotonic() + STAY_SECONDS / 3
        while time.monotonic() < end:
            pages[third].wait_for_timeout(500)
        held.append(memory(log))
    print(f"The server holds {', '.join(f'{own:,.0f} MB' for own in held)}.")
    assert STAY_SECONDS < 60 or held[2] <= held[1] * 1.15, held


def test_five_share_a_server_the_sixth_waits_and_nobody_leaves_anything(
    browser: Any, full_house: tuple[str, Path]
) -> None:
    address, log = full_house
    errors: list[str] = []
    with ExitStack() as contexts:

        def come() -> Any:
            context = browser.new_context(viewport={"width": 1280, "height": 720})
            contexts.callback(context.close)
            context.set_default_timeout(1000 * PATIENCE_SECONDS)
            page = context.new_page()
            page.on("console", lambda m: errors.append(m.text) if m.type == "error" else None)
            page.on("pageerror", lambda error: errors.append(str(error)))
            page.goto(address)
            return page

        pages = [come() for _ in range(N_VISITORS)]
        for page in pages:
            page.wait_for_function(PAINTED)
        turned_away = come()
        turned_away.get_by_text(f"to {N_VISITORS} people at once").wait_for()
        for page in pages:
            wait_for(page, lambda page=page: rounds(page) >= 2, "a visitor's walks do not go on")
        stay(pages, log)
        before = n_ended(log)
        pages[0].context.close()
        wait_for(pages[1], lambda: n_ended(log) > before, "the walks of a closed tab went on")
        # The tab that was left open gets in by itself.
        turned_away.wait_for_function(PAINTED)
    assert errors == []
    assert "Traceback" not in log.read_text()
