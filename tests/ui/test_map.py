"""The map in a real browser: colours, a unit pointed at, another plan beside, and what is laid over."""

from __future__ import annotations

import re
from typing import Any

import pytest
from serving import wait_for

pytestmark = pytest.mark.ui


# The most common colour, as #rrggbb, of the pixels of some units, and where the first unit is on the screen.
LOOK = """units => {
  const models = [...Bokeh.documents[0]._all_models.values()]
  const frame = models.find(m => m.type == "ColumnDataSource" && m.data.show_units != null).data
  const painted = models.find(m => m.type == "ColumnDataSource" && m.data.image != null).data
  const [height, width] = frame.pixels[0].shape
  const plot = models.find(m => m.type == "Figure" && m.renderers.some(r => r.data_source?.data === painted))
  const view = Bokeh.index.find_one(plot)
  const box = view.el.getBoundingClientRect()
  const look = unit => {
    const counts = new Map(), places = []
    frame.pixels[0].forEach((number, i) => {
      if (number == unit + 1) {
        const color = painted.image[0][i]
        counts.set(color, (counts.get(color) ?? 0) + 1)
        places.push(i)
      }
    })
    const [color] = [...counts].sort((a, b) => b[1] - a[1])[0] ?? [0]
    const middle = places[Math.floor(places.length / 2)]
    const mean = places.reduce((sum, i) => sum + i % width, 0) / places.length
    const x = frame.x[0] + frame.dw[0] * (mean + 0.5) / width
    const y = frame.y[0] + frame.dh[0] * (Math.floor(middle / width) + 0.5) / height
    const bytes = [color & 255, color >>> 8 & 255, color >>> 16 & 255]
    return {
      color: "#" + bytes.map(byte => byte.toString(16).padStart(2, "0")).join(""),
      opaque: (color >>> 24) == 255,
      place: [box.x + view.frame.x_scale.compute(x), box.y + view.frame.y_scale.compute(y)],
    }
  }
  return units.map(look)
}"""


def colors(page: Any, *units: int) -> list[str]:
    return [found["color"] for found in page.evaluate(LOOK, units)]


def choose(page: Any, label: str, option: str) -> None:
    page.get_by_role("combobox", name=label).click()
    page.get_by_role("listbox").get_by_text(option, exact=True).click()
    page.get_by_role("listbox").wait_for(state="detached")


def test_the_map_can_be_coloured_compared_and_pointed_at(visit: Any, gridland: str) -> None:
    visit.open(gridland)
    page = visit.page
    page.get_by_role("button", name="Enacted plan", exact=True).click()
    page.get_by_text("Enacted plan plan", exact=True).wait_for()
    # Of the four quadrants, away from where another line could be.
    corners = (13, 22, 121, 130)
    wait_for(page, lambda: len(set(colors(page, *corners))) == 4, "the districts do not differ")
    districts = colors(page, *corners)

    choose(page, "Colour by", "Testimonies")
    page.get_by_text("Testimonies that cover each unit").wait_for()
    # Units 0 to 2 are covered, unit 3 is not.
    wait_for(page, lambda: colors(page, 3) == ["#d3d8dc"], "a unit without testimony is not grey")
    assert colors(page, 0) != ["#d3d8dc"]
    choose(page, "Colour by", "Districts")
    wait_for(page, lambda: colors(page, *corners) == districts, "the districts did not come back")

    x, y = page.evaluate(LOOK, [40])[0]["place"]
    card = page.get_by_text("104 people")

    def hovers() -> bool:
        # A list that is still closing takes the first movement.
        page.mouse.move(x + 1, y)
        page.mouse.move(x, y)
        page.wait_for_timeout(500)
        return bool(card.is_visible())

    wait_for(page, hovers, "nothing was said of the unit under the pointer")
    page.mouse.click(x, y)
    pinned = page.locator(".pointed")
    pinned.get_by_text("290040").wait_for()
    page.keyboard.press("Escape")
    pinned.wait_for(state="hidden")
    page.get_by_role("button", name="Layers, find").click()
    page.get_by_label("Find a unit").fill("29010")
    page.get_by_text("290107", exact=True).click()
    pinned.get_by_text("290107").wait_for()
    page.get_by_role("button", name="Layers, find").click()

    choose(page, "Compare with", "Enacted plan")
    divider = page.get_by_role("slider", name="Divider between the two plans")
    divider.focus()
    assert divider.get_attribute("aria-valuenow") == "50"
    page.keyboard.press("ArrowLeft")
    wait_for(page, lambda: divider.get_attribute("aria-valuenow") == "48", "the divider did not move")
    choose(page, "Compare with", "Nothing")
    divider.wait_for(state="detached")
    visit.assert_clean()


def test_streets_are_asked_for_only_when_switched_on_and_nothing_breaks_without(
    visit: Any, gridland: str
) -> None:
    visit.open(gridland)
    page = visit.page
    page.get_by_role("button", name="Layers, find").click()
    visit.assert_clean()
    page.get_by_label("Streets and places").check()
    page.get_by_text("OpenStreetMap cannot be reached from here").wait_for()
    assert page.get_by_label("Streets and places").is_checked() is False
    assert [address for address in visit.refused if "openstreetmap.org" not in address] == []
    assert len(visit.refused) == 1
    # The browser itself notes that the one request failed; there is no other error.
    assert all(re.search("ERR_|Failed to load resource", words) for words in visit.console_errors)
    page.get_by_role("button", name="Enacted plan", exact=True).click()
    page.get_by_text("Enacted plan plan", exact=True).wait_for()
