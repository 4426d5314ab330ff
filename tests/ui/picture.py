"""Take the picture of the README: the page with the demonstration at ε = 2, after a minute.

Run it as ``python tests/ui/picture.py``.
"""

import io
import sys
import tempfile
from pathlib import Path

from PIL import Image
from playwright.sync_api import sync_playwright

from bottomup.dashboard.state import EPSILONS, promise

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from serving import PAINTED, QUIET, ROOT, find_browser, serving

PICTURE = ROOT / ".github" / "page.png"
RUN_MILLISECONDS = 60_000
PATIENCE_MILLISECONDS = 240_000
# Few enough for a small file, and enough for smooth letters over the districts' colours.
N_COLORS = 128


def take(address: str) -> Image.Image:
    """Open the page, set ε, let the walk run, and give what is on the screen."""
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=find_browser(), args=QUIET)
        page = browser.new_page(viewport={"width": 1920, "height": 1080})
        page.set_default_timeout(PATIENCE_MILLISECONDS)
        page.goto(address)
        page.wait_for_function(PAINTED)
        # Compiled, and on its way.
        page.get_by_text("steps a second").wait_for()
        slider = page.get_by_role("slider")
        slider.focus()
        page.keyboard.press("Home")
        for _ in range(EPSILONS.index(2.0)):
            page.keyboard.press("ArrowRight")
        page.get_by_text(promise(2.0)).wait_for()
        page.wait_for_timeout(RUN_MILLISECONDS)
        # The ring around the slider's thumb would look like a state of it.
        slider.blur()
        page.wait_for_timeout(1000)
        picture = Image.open(io.BytesIO(page.screenshot()))
        browser.close()
    return picture.convert("RGB")


def main() -> None:
    """Write the picture with a palette."""
    with tempfile.TemporaryDirectory() as folder, serving(Path(folder) / "log.txt") as address:
        picture = take(address)
    picture.quantize(N_COLORS, dither=Image.Dither.NONE).save(PICTURE, optimize=True)
    print(f"{PICTURE}: {PICTURE.stat().st_size / 1000:.0f} kB")


if __name__ == "__main__":
    main()
