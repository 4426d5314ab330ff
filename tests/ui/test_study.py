"""A study opens with its plans: both scores and every ε answer from them, and no walk runs."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from studies import make_study

pytestmark = pytest.mark.ui
STUDY = """
title = "Gridland"

[inputs]
units = "nodes.csv"
edges = "edges.csv"
shapes = "units.geojson"
testimonies = "testimonies.csv"
plan = "plan"

[sweep]
scores = ["testimony", "cluster"]
seeds = [1, 2]
steps = 40000
thin = 100
burn_in = 80

[sweep.epsilons]
testimony = [0, 0.5, 2]
cluster = [0, 3]
"""
LINE = "The study Gridland; runs"


@pytest.fixture(scope="module")
def address(serve: Callable[..., str], files: Path) -> str:
    """Address of the page with a study of those files."""
    return serve("--study", str(make_study(STUDY, files, files / "gridland-study")))


def test_both_scores_and_every_epsilon_answer_from_stored_plans(visit: Any, address: str) -> None:
    page = visit.page
    visit.open(f"{address}?epsilon=10&view=comparison")
    line = page.get_by_text(re.compile(f"^{LINE} .* rounds, nothing is being sampled"))
    line.wait_for()
    page.get_by_text("The address asked for ε = 10; the stored plans go up to 2: left there.").wait_for()
    first = line.inner_text()
    runs = re.search(r"runs (\w+), (\w+): ([\d,]+) rounds", first)
    assert runs is not None
    drawn = page.get_by_text(re.compile("^Drawn from .* the later half of four walks up to round"))
    drawn.wait_for()
    assert f"up to round {runs[3]}" in drawn.inner_text()
    page.get_by_text(re.compile(rf"^The walk's plan in round {runs[3]}, at ε = 2")).wait_for()

    page.get_by_role("slider", name=re.compile("weight of a testimony")).focus()
    page.keyboard.press("Home")
    page.get_by_text(re.compile(r"^The walk's plan in round .*, at ε = 0$")).wait_for()
    page.get_by_text("Off: testimony is ignored").wait_for()
    page.get_by_role("button", name="Shares of clusters").click()
    other = page.get_by_text(re.compile(f"^{LINE} (?!{runs[1]})"))
    other.wait_for()
    page.get_by_role("slider", name=re.compile("weight of a testimony")).focus()
    page.keyboard.press("End")
    page.get_by_text(re.compile(r"^The walk's plan in round .*, at ε = 3$")).wait_for()
    page.get_by_role("button", name="Compare ε").click()
    page.get_by_text("Tap the curve to take another").wait_for()
    page.get_by_role("button", name="Diagnostics").click()
    page.get_by_text("Four walks at every ε are compared. Starts: plan plan, seed 1; plan from").wait_for()
    page.get_by_role("button", name="Sample anew").wait_for()
    assert page.get_by_text("steps a second").count() == 0
    other.wait_for()
    visit.assert_clean()


def test_other_settings_show_no_charts_of_the_stored_plans(visit: Any, address: str) -> None:
    page = visit.page
    nothing = page.get_by_text("There are no stored plans of these settings.")
    visit.open(f"{address}?tolerance=0.2&view=comparison")
    nothing.nth(1).wait_for()
    assert page.locator(".bk-Figure").filter(visible=True).count() == 1
    page.goto(f"{address}?view=comparison")
    page.get_by_text(re.compile("^Drawn from")).wait_for()
    assert nothing.filter(visible=True).count() == 0
    visit.assert_clean()
