"""Charts for paper: they can be drawn from anything, and are files that other programs read."""

from __future__ import annotations

import io
import xml.etree.ElementTree as ET
from collections.abc import Callable

import numpy as np
import pytest
from matplotlib.figure import Figure
from PIL import Image

from bottomup.dashboard.binning import choose_bins
from bottomup.dashboard.palette import district_colors
from bottomup.dashboard.prepared import Prepared
from bottomup.dashboard.prints.influence_print import draw_influence
from bottomup.dashboard.prints.map_print import draw_map
from bottomup.dashboard.prints.score_prints import draw_histogram, draw_tradeoff
from bottomup.dashboard.prints.share_prints import MOST_CLUSTERS, draw_boxes, draw_clusters
from bottomup.dashboard.prints.sheet import DOTS_PER_INCH, house_style, picture
from bottomup.dashboard.state import EPSILONS
from bottomup.dashboard.tradeoff import AtEpsilon

TITLE, SOURCE = "Shares $x_1$ & <b>more</b>", "Squareville · run 0123 · 4,000 plans"
NOTHING, UNKNOWN = np.empty(0), np.full(5, np.nan)
SOME = np.linspace(0.2, 0.6, 50)


def histogram(values: np.ndarray, baseline: np.ndarray, enacted: float, early: str = "") -> Figure:
    return draw_histogram(
        TITLE, SOURCE, "share", choose_bins([values, baseline, [enacted]]), values, baseline, enacted, early
    )


def tradeoff(scores: np.ndarray | None) -> Figure:
    found = [] if scores is None else [AtEpsilon(e, 100 + 50 * e, {"testimony": scores}) for e in (0.0, 1.0)]
    return draw_tradeoff(TITLE, SOURCE, "kept", "testimony", found, 1.0, 0.4)


CHARTS: dict[str, Callable[[], Figure]] = {
    "histogram": lambda: histogram(SOME, SOME / 2, 0.3),
    "histogram-early": lambda: histogram(SOME, SOME / 2, 0.3, "few plans: early"),
    "histogram-empty": lambda: histogram(NOTHING, NOTHING, np.nan),
    "histogram-nan": lambda: histogram(UNKNOWN, UNKNOWN, np.nan),
    "boxes": lambda: draw_boxes(TITLE, SOURCE, "order", np.tile(SOME[:4], (9, 1)), SOME[:4]),
    "boxes-empty": lambda: draw_boxes(TITLE, SOURCE, "order", np.empty((0, 3)), np.full(3, np.nan)),
    "boxes-nan": lambda: draw_boxes(TITLE, SOURCE, "order", np.full((4, 3), np.nan), SOME[:3], "early"),
    "clusters": lambda: draw_clusters(TITLE, SOURCE, ["a$b", "C" * 90], [0.2, 1], [0.1, np.nan], [0, 1]),
    "clusters-empty": lambda: draw_clusters(TITLE, SOURCE, [], [], [], []),
    "clusters-nan": lambda: draw_clusters(TITLE, SOURCE, ["a"], [np.nan], [np.nan], [np.nan]),
    "tradeoff": lambda: tradeoff(SOME),
    "tradeoff-empty": lambda: tradeoff(None),
    "tradeoff-nan": lambda: tradeoff(UNKNOWN),
    "influence": lambda: draw_influence(TITLE, SOURCE, EPSILONS, (1, 3, 9), 1.0),
    "influence-off": lambda: draw_influence(TITLE, SOURCE, EPSILONS, (1,), 0.0),
    "influence-empty": lambda: draw_influence(TITLE, SOURCE, (), (), 1.0),
}


def words_of(svg: bytes) -> str:
    return " ".join(" ".join(element.itertext()) for element in ET.fromstring(svg).iter())


@pytest.mark.parametrize("name", CHARTS)
def test_a_chart_is_drawn_from_anything_and_can_be_read(name: str) -> None:
    with house_style(text_as_text=True):
        figure = CHARTS[name]()
        png, svg = picture(figure, "png", TITLE), picture(figure, "svg", TITLE)
    with Image.open(io.BytesIO(png)) as image:
        image.load()
        assert image.size[0] == pytest.approx(7.2 * DOTS_PER_INCH, abs=2)
    # Names are no formulas, and words stay words.
    assert TITLE in words_of(svg)
    assert "Squareville · run 0123" in words_of(svg)


def test_the_same_chart_is_the_same_file() -> None:
    with house_style():
        assert picture(CHARTS["boxes"](), "svg", TITLE) == picture(CHARTS["boxes"](), "svg", TITLE)
        assert picture(CHARTS["boxes"](), "png", TITLE) == picture(CHARTS["boxes"](), "png", TITLE)


def test_of_very_many_clusters_those_that_change_most_are_drawn() -> None:
    n = MOST_CLUSTERS + 40
    kept = np.full(n, 0.5)
    kept[-1] = 1.0
    with house_style(text_as_text=True):
        figure = draw_clusters(TITLE, SOURCE, [f"name{i}" for i in range(n)], kept, np.full(n, 0.5), kept)
        words = words_of(picture(figure, "svg", TITLE))
    assert f"the {MOST_CLUSTERS} of {n} that change most" in " ".join(words.split())
    assert f"name{n - 1}" in words
    assert f"name{n - 2}" not in words


@pytest.mark.parametrize("enacted", ["quadrants", ""])
def test_a_map_has_the_colours_and_the_numbers_of_the_page(prepared: Prepared, enacted: str) -> None:
    plan = prepared.plan("stripes")
    assert prepared.scene is not None
    with house_style(text_as_text=True):
        figure = draw_map(
            prepared.scene, plan.assignment, ("1", "2", "3", "4"), TITLE, SOURCE, enacted=enacted
        )
        png, svg = picture(figure, "png", TITLE), picture(figure, "svg", TITLE)
    with Image.open(io.BytesIO(png)) as image:
        seen = {color for _, color in image.convert("RGB").getcolors(2**24)}
    for color in district_colors(4):
        assert tuple(int(color[i : i + 2], 16) for i in (1, 3, 5)) in seen
    words = words_of(svg)
    assert {"1", "2", "3", "4"} <= set(words.split())
    assert ("enacted plan quadrants" in words) == bool(enacted)


def test_a_map_of_no_units_says_so(prepared: Prepared) -> None:
    assert prepared.scene is not None
    with house_style(text_as_text=True):
        figure = draw_map(prepared.scene, np.empty(0, dtype=np.int32), (), TITLE, SOURCE)
        assert "No plan" in words_of(picture(figure, "svg", TITLE))
