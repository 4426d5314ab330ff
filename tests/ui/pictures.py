"""Take the pictures of the README and of the guide, and with ``--all FOLDER`` one of every view at each size.

Run it as ``python tests/ui/pictures.py``.
"""

import argparse
import io
import re
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

from PIL import Image
from playwright.sync_api import Browser, Page, sync_playwright

from bottomup.dashboard.answers import QUESTIONS
from bottomup.dashboard.state import EPSILONS, promise

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from serving import PAINTED, QUIET, ROOT, find_browser, serving

README = ROOT / ".github" / "page.png"
GUIDE = ROOT / "dashboard" / "guide"
SIZES = ((1920, 1080), (1280, 720), (820, 1180))
ASIDE = ("Compare ε", "Diagnostics", "Save a plan", "Report", "Settings", "Data", "Share", "Hearing")
RUN_MILLISECONDS = 60_000
# For a view that has just been opened.
LOOK_MILLISECONDS = 4_000
PATIENCE_MILLISECONDS = 240_000
# Few enough for a small file, and enough for smooth letters over the districts' colours.
N_COLORS = 128


def open_page(browser: Browser, address: str, size: tuple[int, int]) -> Page:
    """Open the page at ε = 2, and wait for the walks to be on their way."""
    page = browser.new_page(viewport={"width": size[0], "height": size[1]})
    page.set_default_timeout(PATIENCE_MILLISECONDS)
    page.goto(address)
    page.wait_for_function(PAINTED)
    # Compiled, and on its way.
    page.get_by_text("steps a second").wait_for()
    slider = page.get_by_role("slider", name="weight of a testimony")
    slider.focus()
    page.keyboard.press("Home")
    for _ in range(EPSILONS.index(2.0)):
        page.keyboard.press("ArrowRight")
    page.get_by_text(promise(2.0)).first.wait_for()
    # The ring around the slider's thumb would look like a state of it.
    slider.blur()
    page.wait_for_timeout(RUN_MILLISECONDS)
    return page


def save(page: Page, path: Path) -> None:
    """Write what is on the screen, with a palette."""
    picture = Image.open(io.BytesIO(page.screenshot())).convert("RGB")
    picture.quantize(N_COLORS, dither=Image.Dither.NONE).save(path, optimize=True)
    print(f"{path}: {path.stat().st_size / 1000:.0f} kB", flush=True)


def take_guide(browser: Browser, address: str) -> None:
    """Take the pictures of the guide."""
    page = open_page(browser, address, (1280, 720))
    save(page, GUIDE / "page.png")
    page.get_by_role("tab", name=QUESTIONS[1]).click()
    page.wait_for_timeout(LOOK_MILLISECONDS)
    chart = page.locator(".bk-Figure").filter(visible=True).last.bounding_box()
    assert chart is not None
    across, height = chart["width"], chart["y"] + chart["height"] / 3
    page.mouse.move(chart["x"] + 0.5 * across, height)
    page.mouse.down()
    page.mouse.move(chart["x"] + 0.9 * across, height, steps=8)
    page.mouse.up()
    page.wait_for_timeout(LOOK_MILLISECONDS)
    save(page, GUIDE / "compare.png")
    page.keyboard.press("Escape")
    page.get_by_role("button", name="Hearing").click()
    page.wait_for_timeout(LOOK_MILLISECONDS)
    save(page, GUIDE / "script.png")
    page.get_by_role("button", name="Begin the hearing").click()
    page.wait_for_timeout(LOOK_MILLISECONDS)
    save(page, GUIDE / "scene.png")
    page.close()


def take_all(browser: Browser, address: str, folder: Path) -> None:
    """Take a picture of every view at every size, and of the four questions in the dark look."""
    folder.mkdir(parents=True, exist_ok=True)
    for size in SIZES:
        page = open_page(browser, address, size)
        name = f"{size[0]}x{size[1]}"
        for words in _views(page):
            save(page, folder / f"{name} {words}.png")
        page.get_by_role("button", name="Dark").click()
        page.get_by_role("tab", name=QUESTIONS[0]).click()
        page.wait_for_timeout(LOOK_MILLISECONDS)
        save(page, folder / f"{name} dark.png")
        page.get_by_role("button", name="Dark").click()
        page.close()


def _views(page: Page) -> Iterator[str]:
    for role, names in (("tab", QUESTIONS), ("button", ASIDE)):
        for name in names:
            page.get_by_role(role, name=name).first.click()
            page.wait_for_timeout(LOOK_MILLISECONDS)
            yield re.sub(r"\W+", " ", name).strip()


def main() -> None:
    """Take the pictures that the command line asks for."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--all", type=Path, metavar="FOLDER", help="every view at every size, into a folder")
    folder = parser.parse_args().all
    with (
        tempfile.TemporaryDirectory() as log,
        serving(Path(log) / "log.txt") as address,
        sync_playwright() as playwright,
    ):
        browser = playwright.chromium.launch(executable_path=find_browser(), args=QUIET)
        if folder is not None:
            take_all(browser, address, folder)
        else:
            page = open_page(browser, address, SIZES[0])
            save(page, README)
            page.close()
            take_guide(browser, address)
        browser.close()


if __name__ == "__main__":
    main()
