"""What is done to one chart is seen in the other: plans picked out, districts pointed at."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import panel as pn
import pytest
from bokeh.events import SelectionGeometry, Tap
from bokeh.plotting import figure

from bottomup.dashboard.selection import District, Span, Unit
from bottomup.dashboard.session import Session
from bottomup.dashboard.views.compare import CompareView
from bottomup.dashboard.views.histograms import HistogramsView
from bottomup.dashboard.views.spread import SpreadView
from bottomup.sampler.statistics import district_shares


@pytest.fixture
def sampled(session: Session, wait_until: Callable[..., None]) -> Session:
    """A session with some plans, whose walks stand still."""
    session.attend(True)
    wait_until(lambda: (sample := session.sample()) is not None and sample.n_plans > 20)
    session.settings.running = False
    wait_until(lambda: session.worker.progress.phase == "paused")
    return session


def figure_of(view: pn.viewable.Viewer, name: str) -> figure:
    found = [pane.object for pane in view.__panel__().select(pn.pane.Bokeh) if pane.object.name == name]
    assert len(found) == 1
    return found[0]


def words(view: pn.viewable.Viewer) -> str:
    return " ".join(pane.object for pane in view.__panel__().select(pn.pane.HTML) if pane.object)


def quads(plot: figure) -> dict[str, np.ndarray]:
    return {name: np.asarray(values) for name, values in plot.renderers[0].data_source.data.items()}


def test_a_drag_picks_plans_out_of_all_charts_and_a_button_takes_all_again(sampled: Session) -> None:
    histograms, spread = HistogramsView(sampled), SpreadView(sampled)
    histograms.refresh()
    spread.refresh()
    sample = sampled.sample()
    assert sample is not None
    plot = figure_of(histograms, "histogram-testimony")
    bars = quads(plot)
    lowest = int(np.flatnonzero(bars["share"])[0])
    low, high = bars["left"][lowest], bars["right"][lowest]
    middle = float(low + high) / 2
    plot._trigger_event(SelectionGeometry(plot, {"x0": middle, "x1": middle}, final=True))
    assert sampled.selection.span == Span("testimony", pytest.approx(low), pytest.approx(high))
    n_picked = round(float(bars["share"][lowest]) * sample.n_plans)
    sentence = f"{n_picked:,} of {sample.n_plans:,} plans"
    assert sentence in words(histograms)
    assert sentence in words(spread)
    for kind in ("testimony", "cluster"):
        part = quads(figure_of(histograms, f"histogram-{kind}"))["part"]
        assert round(float(part.sum()) * sample.n_plans) == n_picked
    button = next(
        each for each in spread.__panel__().select() if getattr(each, "label", "") == "Show all plans"
    )
    assert button.visible
    button.clicks += 1
    assert sampled.selection.span is None
    assert sentence not in words(histograms)


def test_the_same_bar_again_shows_its_next_plan_and_keeps_the_span(sampled: Session) -> None:
    histograms = HistogramsView(sampled)
    histograms.refresh()
    plot = figure_of(histograms, "histogram-testimony")
    bars = quads(plot)
    tallest = int(np.argmax(bars["share"]))
    middle = float(bars["left"][tallest] + bars["right"][tallest]) / 2
    plot._trigger_event(Tap(plot, x=middle, y=0.0))
    span, first = sampled.selection.span, sampled.shown.chosen
    assert span is not None
    assert (first.number, first.low, first.high) == (1, span.low, span.high)
    plot._trigger_event(Tap(plot, x=middle, y=0.0))
    assert sampled.shown.chosen.number == 2 or first.of == 1
    assert sampled.selection.span == span
    assert len(set(quads(plot)["color"])) == 2


def test_a_tapped_box_points_at_the_district_of_that_rank_and_again_at_none(sampled: Session) -> None:
    sampled.shown.kind = "enacted"
    spread = SpreadView(sampled)
    spread.refresh()
    assignment = sampled.shown_plan().assignment
    share = next(each for each in sampled.prepared.shares.values() if each.kind == "group")
    shares = district_shares(assignment[None, :], 4, share.numerator, share.denominator)[0]
    highest = int(np.argmax(shares))
    plot = figure_of(spread, "spread-group")
    plot._trigger_event(Tap(plot, x=4.2, y=0.5))
    assert sampled.selection.pointed == District(highest)
    marked = f"District <b>{highest + 1}</b> of the plan on the map is marked"
    assert marked in words(spread)
    assert f"share {shares[highest]:.1%}, number 4 of 4" in words(spread)
    plot._trigger_event(Tap(plot, x=4.2, y=0.5))
    assert sampled.selection.pointed is None
    assert marked not in words(spread)
    unit = int(np.flatnonzero(assignment == highest)[0])
    sampled.selection.pointed = Unit(unit)
    assert marked in words(spread)
    assert f"unit {sampled.prepared.inputs.geography.ids[unit]} lies" in words(spread)


def test_a_tap_on_the_curve_takes_that_epsilon(sampled: Session, wait_until: Callable[..., None]) -> None:
    compare = CompareView(sampled)

    def is_drawn() -> bool:
        compare.refresh()
        return "On average" in words(compare)

    wait_until(is_drawn)
    plot = figure_of(compare, "tradeoff")
    plot._trigger_event(Tap(plot, x=0.2, y=0.5))
    assert sampled.settings.epsilon == 0.0
    assert "testimony is ignored" in words(compare)
