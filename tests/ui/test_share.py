"""The address brings everything back that is set, and a saved session opens with the same numbers."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlsplit

import pytest

pytestmark = pytest.mark.ui


def asked(page: Any) -> dict[str, str]:
    """What the address says is set."""
    found = parse_qs(urlsplit(page.url).query, keep_blank_values=True)
    return {name: values[0] for name, values in found.items()}


def numbers(page: Any) -> list[str]:
    """What is said of both histograms and of the plans behind them."""
    return page.get_by_text(re.compile("^(On average|Drawn from)")).all_inner_texts()


def slider(page: Any) -> Any:
    return page.get_by_role("slider", name=re.compile("weight of a testimony"))


def wait_for_address(page: Any, **wanted: str) -> None:
    names = {name.replace("__", "."): value for name, value in wanted.items()}
    page.wait_for_function(
        """wanted => {
          const now = new URLSearchParams(location.search)
          return Object.entries(wanted).every(([name, value]) => now.get(name) == value)
        }""",
        arg=names,
    )


def choose(page: Any, label: str, option: str) -> None:
    page.get_by_role("combobox", name=label).click()
    page.get_by_role("listbox").get_by_text(option, exact=True).click()
    page.get_by_role("listbox").wait_for(state="detached")


def test_a_reload_brings_back_what_is_set(visit: Any, gridland: str) -> None:
    visit.open(gridland)
    page = visit.page
    page.get_by_text(re.compile(r"^The walk's plan in round")).wait_for()
    assert asked(page) == {}
    slider(page).focus()
    page.keyboard.press("End")
    page.get_by_role("button", name="Shares of clusters").click()
    page.get_by_role("button", name="Clusters", exact=True).click()
    page.get_by_role("grid", name="Clusters").get_by_role("row", name=re.compile("^C1")).click()
    page.get_by_role("tab", name="How does it compare").click()
    page.get_by_role("button", name="Enacted plan", exact=True).click()
    choose(page, "Colour by", "Testimonies")
    wanted = {
        "epsilon": "10",
        "score": "cluster",
        "pointed": "cluster:C1",
        "view": "comparison",
        "plan": "enacted",
        "map.colour": "testimonies",
    }
    wait_for_address(page, **{name.replace(".", "__"): value for name, value in wanted.items()})
    assert asked(page) == wanted

    page.reload()
    page.get_by_text("C1: 7 testimonies").first.wait_for()
    page.get_by_role("button", name="Shares of clusters", pressed=True).wait_for()
    page.get_by_text("×22,026").first.wait_for()
    page.get_by_text("Enacted plan plan", exact=True).wait_for()
    page.get_by_text("A cluster counts by the share").wait_for()
    page.get_by_role("tab", name="How does it compare", selected=True).wait_for()
    page.get_by_text("Drawn from").wait_for()
    assert page.get_by_role("combobox", name="Colour by").inner_text() == "Testimonies"
    assert asked(page) == wanted

    # What cannot be is said, and gone from the address; parameters that are not the page's own stay.
    page.goto(f"{gridland}?epsilon=99&pointed=testimony:t4&seat=7")
    page.get_by_text("The address asked for ε = 99, which is not on the slider: left at 1.").wait_for()
    page.get_by_text("Testimony t4").first.wait_for()
    wait_for_address(page, pointed="testimony:t4")
    assert asked(page) == {"pointed": "testimony:t4", "seat": "7"}

    # The address is there to be copied.
    page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    page.get_by_role("button", name="Share", exact=True).click()
    wait_for_address(page, view="Share")
    page.get_by_role("button", name="Copy the address").click()
    page.get_by_text("Copied.").wait_for()
    assert page.evaluate("navigator.clipboard.readText()") == page.url
    visit.assert_clean()


def test_a_saved_session_opens_with_the_same_numbers_and_takes_no_step(
    visit: Any, gridland: str, serve: Callable[..., str], tmp_path: Path
) -> None:
    page = visit.page
    visit.open(f"{gridland}?epsilon=2&view=comparison")
    # Past the burn-in, after which charts are drawn from all that is recorded.
    page.get_by_text(re.compile(r"Drawn from .* up to round ([2-9]\d\d|\d,\d)")).wait_for()
    page.get_by_role("button", name="Pause").click()
    page.get_by_text("steps a second").wait_for(state="detached")
    reached = re.search(
        r"ound ([\d,]+)", page.get_by_text(re.compile(r"^(Warming up: r|R)ound")).inner_text()
    )
    assert reached is not None
    page.get_by_text(re.compile(rf"^The walk's plan in round {reached[1]},")).wait_for()
    page.get_by_text(re.compile(rf"Drawn from .* up to round {reached[1]}[.;]")).wait_for()
    before = numbers(page)
    assert len(before) == 3
    page.get_by_role("button", name="Share", exact=True).click()
    page.get_by_text(re.compile("Saving them is a release of the whole sample")).wait_for()
    with page.expect_download() as waiting:
        page.get_by_role("button", name="Save this session").click()
    page.get_by_text(re.compile(r"Saved Gridland_session_.*Written in the ledger: it adds ε")).wait_for()
    saved = tmp_path / waiting.value.suggested_filename
    waiting.value.save_as(saved)
    assert saved.name.endswith(".bottomup")
    page.get_by_text("Already released: saving them again adds nothing.").wait_for()

    # Its inputs are found again without being named.
    address = serve("--session-file", str(saved))
    visit.open(address)
    line = f"A saved session: {reached[1]} rounds, nothing is being sampled"
    page.get_by_text(line).wait_for()
    page.get_by_text(re.compile(rf"^The walk's plan in round {reached[1]},")).wait_for()
    page.get_by_role("button", name="Save this session").wait_for()
    page.get_by_role("tab", name="How does it compare").click()
    page.get_by_text(re.compile(rf"Drawn from .* up to round {reached[1]}[.;]")).wait_for()
    assert numbers(page) == before
    page.get_by_text(line).wait_for()
    wait_for_address(page, view="comparison")
    assert asked(page) == {"epsilon": "2", "view": "comparison"}

    page.get_by_role("button", name="Sample anew").click()
    page.get_by_text(line).wait_for(state="detached")
    page.get_by_text("steps a second").wait_for()
    page.get_by_role("button", name="Start", exact=True).wait_for()
    visit.assert_clean()


def test_a_damaged_session_is_refused_on_the_page(
    visit: Any, serve: Callable[..., str], tmp_path: Path
) -> None:
    damaged = tmp_path / "hearing.bottomup"
    damaged.write_bytes(b"PK\x03\x04")
    visit.page.goto(serve("--session-file", str(damaged)))
    visit.page.get_by_text("earing.bottomup is no saved session that can be read").wait_for()
    visit.assert_clean()
