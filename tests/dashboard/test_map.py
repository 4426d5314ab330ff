"""What the map marks, says and lays over, worked out by the server."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import panel as pn
import pytest
import shapely

from bottomup.dashboard.boundaries import Borders, line_path
from bottomup.dashboard.colourings import population_colouring
from bottomup.dashboard.facts import WholePlans
from bottomup.dashboard.map_figure import build_map_figure
from bottomup.dashboard.map_overlays import MapOverlays
from bottomup.dashboard.pointing import describe, marking_of
from bottomup.dashboard.pool import MetPlan, Origin
from bottomup.dashboard.prepared import prepare
from bottomup.dashboard.selection import Cluster, District, Testimony, Unit
from bottomup.dashboard.session import Session
from bottomup.dashboard.slots import FairSlots
from bottomup.dashboard.state import Draw, TakenPlan
from bottomup.dashboard.typical import typical_plan
from bottomup.dashboard.views.colour_by import legend
from bottomup.dashboard.views.map import MapView

SQUARES = shapely.box(*np.array([(x, y, x + 1, y + 1) for y in range(2) for x in range(3)]).T)
# Rows of three: 0 1 2 below 3 4 5.
EDGES = np.array([(0, 1), (0, 3), (1, 2), (1, 4), (2, 5), (3, 4), (4, 5)], dtype=np.int32)


def length(path):
    return np.nansum(np.hypot(*np.diff(path, axis=0).T))


def test_lines_become_one_path_with_gaps():
    path = line_path(shapely.from_wkt(["LINESTRING (0 0, 1 0, 1 1)", "LINESTRING (5 5, 6 5)"]))
    assert np.isnan(path[[3, 6]]).all()
    assert length(path) == 3
    assert line_path([]).shape == (0, 2)


def test_a_boundary_is_drawn_in_the_class_of_how_often_it_is_cut():
    frequency = np.array([0.05, 0.1, 0.3, 0.5, 0.8, 0.95, 1.0])
    paths = Borders(SQUARES, EDGES).heat(frequency)
    assert [length(path) for path in paths] == [1, 1, 1, 1, 2]
    # Of the rarest that is drawn: between 0 and 3.
    np.testing.assert_allclose(np.sort(paths[0][:2], axis=0), [(0, 1), (1, 1)])


def test_units_that_overlap_by_a_little_still_have_a_boundary():
    overlapping = np.array([shapely.box(0, 0, 1.001, 1), shapely.box(1, 0, 2, 1)])
    assert length(Borders(overlapping, EDGES[:1]).heat(np.ones(1))[-1]) >= 1


def test_outlines_go_around_what_any_testimony_of_a_cluster_covers(prepared):
    scene = prepared.scene
    side = np.sqrt(np.median(scene.area))
    # Cluster A covers 2-3, 17-23, 0-1, of which 0 to 3 are one row; B covers 7-13 and 28-29.
    assert length(scene.borders.clusters(prepared.testimonies)) / side == pytest.approx(
        10 + 6 + 6 + 6, rel=0.01
    )
    assert scene.borders.clusters(replace(prepared.testimonies, clusters=None)).shape == (0, 2)


def test_the_typical_plan_is_the_one_that_differs_least_from_all_others():
    plans = np.array(
        [[0, 0, 0, 1, 1, 1], [1, 0, 0, 1, 1, 0], [1, 1, 0, 1, 1, 0], [0, 0, 1, 0, 0, 1]], np.uint8
    )
    u, v = EDGES.T
    cut = plans[:, u] != plans[:, v]
    differences = (cut[:, None] != cut[None]).sum(axis=(1, 2))
    found = typical_plan(WholePlans(0.0, 1, plans), EDGES)
    assert differences[found] == differences.min() < differences.max()
    # The last two are the same plan under other names.
    assert found == 2


def test_what_is_pointed_at_is_marked_and_described(prepared):
    plan = prepared.plan("quadrants")

    def words(pointed):
        return describe(pointed, prepared, plan.assignment, plan.labels)

    testimony = marking_of(Testimony(0), prepared)
    assert (testimony.units.tolist(), testimony.district, testimony.steps_back) == ([2, 3], -1, True)
    assert words(Testimony(0)) == "<b>Testimony t0</b><p>2 units, 20 people, in districts 1 and 2</p>"
    assert "in district 1<" in words(Testimony(2))
    assert marking_of(Cluster(1), prepared).units.tolist() == [7, 13, 28, 29]
    assert words(Cluster(1)) == "<b>B: 2 testimonies</b><p>4 units, 40 people, in districts 1 and 4</p>"
    district = marking_of(District(3), prepared)
    assert (len(district.units), district.district, district.steps_back) == (0, 3, True)
    assert words(District(3)) == "<b>District 4</b><p>9 units, 90 people</p>"
    unit = marking_of(Unit(7), prepared)
    assert (unit.units.tolist(), unit.steps_back) == ([7], False)
    assert words(Unit(7)).startswith("<b>007</b>, district <b>1</b><p>10 people · Black ")
    assert words(Unit(7)).endswith("<p>1 testimony covers it: t3</p>")
    assert "no testimony covers it" in words(Unit(35))
    assert words(None) == ""
    nothing = marking_of(None, prepared)
    assert (len(nothing.units), nothing.district, nothing.steps_back) == (0, -1, False)


def test_words_of_users_are_cut_short_and_no_markup(prepared):
    ids = ("<i>x</i>", *prepared.testimonies.ids[1:])
    texts = {"<i>x</i>": "Our <i>valley</i> " + 9 * "along the river "}
    changed = replace(prepared, testimonies=replace(prepared.testimonies, ids=ids, texts=texts))
    plan = prepared.plan("quadrants")
    for pointed in (Testimony(0), Unit(2)):
        words = describe(pointed, changed, plan.assignment, plan.labels)
        assert "&lt;i&gt;x" in words
        assert "(Our &lt;i&gt;valley" in words
        assert words.count("river") == 1
        assert "<i>" not in words


def test_colours_and_another_plan_cost_one_byte_per_unit(prepared):
    scene, stripes = prepared.scene, prepared.plan("stripes")
    drawn = build_map_figure(scene, prepared.layers, 4)
    colouring = population_colouring(prepared.inputs.geography.population, scene.area)
    drawn.show_colouring(colouring)
    assert drawn.tint.data["class"][0].nbytes == 36
    assert len(drawn.tint.data["colors"][0]) == len(colouring.colors) + 1
    drawn.show_beside(scene, stripes.assignment, stripes.labels, ("left", "right"))
    assert drawn.beside.data["label"][0].nbytes == 36
    assert drawn.numbers_beside.data["name"] == ["1", "2", "3", "4"]
    drawn.show_alone()
    drawn.show_colouring(None)
    assert drawn.beside.data["label"] == drawn.tint.data["class"] == []


def test_only_what_is_small_gets_a_ring(prepared):
    drawn = build_map_figure(prepared.scene, prepared.layers, 4)
    drawn.mark(prepared.scene, marking_of(Unit(7), prepared))
    np.testing.assert_allclose([drawn.pin.data["x"], drawn.pin.data["y"]], prepared.scene.center[[7]].T)
    assert np.flatnonzero(drawn.marked.data["units"][0]).tolist() == [7]
    drawn.mark(prepared.scene, marking_of(Cluster(0), prepared))
    assert len(drawn.pin.data["x"]) == 0
    drawn.mark(prepared.scene, marking_of(None, prepared))
    assert len(drawn.marked.data["units"][0]) == 0


def test_streets_are_no_part_of_the_figure_before_they_are_shown(prepared):
    drawn = build_map_figure(prepared.scene, prepared.layers, 4)
    overlays = MapOverlays(drawn.figure, drawn.picture)
    before = len(drawn.figure.renderers)
    overlays.ask_for_tiles()
    overlays.show_tiles(False)
    assert len(drawn.figure.renderers) == before
    overlays.show_tiles(True)
    assert type(drawn.figure.renderers[0]).__name__ == "TileRenderer"
    assert drawn.picture.glyph.global_alpha < 1
    overlays.show_tiles(False)
    assert not drawn.figure.renderers[0].visible
    assert drawn.picture.glyph.global_alpha == 1


def test_a_legend_has_a_colour_more_than_numbers(prepared):
    found = population_colouring(np.arange(36) ** 3, prepared.scene.area)
    words = legend(found, "enacted plan (x & y)")
    assert words.count("<span style=") == len(found.colors)
    assert "x &amp; y" in words
    assert all(f">{mark}<" in words for mark in found.marks)


def test_a_tap_points_at_a_unit_and_the_same_again_at_nothing(session):
    view = MapView(session)
    tapped = view._map.tapped
    view._map.labels.data = {"district": np.zeros(36, dtype=np.uint8)}
    tapped.data = {"unit": [7], "n": [1]}
    assert session.selection.pointed == Unit(7)
    assert np.flatnonzero(view._map.marked.data["units"][0]).tolist() == [7]
    assert "007" in view._pointed.object
    tapped.data = {"unit": [7], "n": [2]}
    assert session.selection.pointed is None
    assert not view._pointed.visible
    session.selection.pointed = District(1)
    assert view._map.marked.data["chosen"] == [1]
    tapped.data = {"unit": [-1], "n": [3]}
    assert session.selection.pointed is None
    view._map.rested.data = {"unit": [2], "is_beside": [False], "n": [1]}
    assert (view._map.card.data["unit"], view._map.card.data["of"]) == ([2], [0])
    assert "t0" in view._map.card.data["html"][0]


def test_colours_follow_the_choice_and_the_walk(session, wait_until):
    view = MapView(session)
    tint, choice = view._map.tint, view._colour.choice
    assert tint.data["class"] == []
    choice.value = "density"
    assert len(tint.data["class"][0]) == 36
    choice.value = "together"
    assert set(tint.data["class"][0]) == {255}
    session.attend(True)
    session.selection.pointed = Unit(0)

    def is_known():
        view.refresh()
        return tint.data["class"][0][0] == 5

    # The unit is always together with itself.
    wait_until(is_known)
    choice.value = "kept"
    wait_until(lambda: view.refresh() or set(tint.data["class"][0]) > {255})
    assert (tint.data["class"][0][35], tint.data["class"][0][0] == 255) == (255, False)
    assert "Early days: kept whole more" in view._key.object
    choice.value = "districts"
    assert tint.data["class"] == []


def test_another_plan_stands_beside_the_shown_one(session, wait_until):
    view = MapView(session)
    view._beside.choice.value = "enacted"
    # Before the walk has met a plan of its own, the map shows the enacted one.
    assert view._map.beside.data["titles"] == [["Enacted plan", "Enacted plan quadrants"]]
    np.testing.assert_array_equal(
        view._map.beside.data["label"][0], session.prepared.plan("quadrants").assignment
    )
    session.settings.enacted = "stripes"
    np.testing.assert_array_equal(
        view._map.beside.data["label"][0], session.prepared.plan("stripes").assignment
    )
    view._beside.choice.value = "typical"
    assert view._map.beside.data["label"] == []
    session.attend(True)
    wait_until(lambda: view.refresh() or view._map.beside.data["label"])
    assert view._map.beside.data["titles"] == [["Walk's current plan", "Typical baseline plan"]]
    assert set(view._map.beside.data["label"][0]) == {0, 1, 2, 3}


def test_heat_and_clusters_are_drawn_once_they_are_known(session, wait_until):
    view = MapView(session)
    layers, overlays = view._layers, view._layers._overlays
    session.attend(True)
    layers._clusters.value = True
    wait_until(lambda: view.refresh() or overlays._clusters)
    layers._heat.value = True
    assert "waiting" in view._key.object
    wait_until(lambda: view.refresh() or overlays._heat)
    assert sum(len(line.data_source.data["x"]) for line in overlays._heat) > 0
    assert "Boundaries cut in at least" in view._key.object
    layers._heat.value = layers._clusters.value = False
    assert all(len(line.data_source.data["x"]) == 0 for line in (*overlays._heat, *overlays._clusters))
    assert "Boundaries" not in view._key.object


def test_a_unit_is_found_by_its_id_and_few_are_offered(session):
    view = MapView(session)
    view._layers.find.value = "012"
    assert session.selection.pointed == Unit(12)
    assert view._layers.find.value == "012"
    session.selection.clear()
    view._layers.find.value = "012"
    assert session.selection.pointed == Unit(12)
    assert len(view._layers.find._filter_options("0")) == 20
    assert view._layers.find._filter_options("35") == ["035"]


def test_colours_that_cannot_be_drawn_are_left_alone(inputs_of):
    session = Session(prepare(inputs_of(outlines=False)), slots=FairSlots(1))
    view = MapView(session)
    view.restore({"colour": "density"})
    session.selection.pointed = Unit(3)
    view.refresh()
    view.refresh_words()
    assert "no map" in " ".join(str(pane.object) for pane in view.__panel__().select(pn.pane.HTML))
    session.close()


def test_every_plan_chosen_before_a_browser_shows_the_map_is_on_it(session: Session) -> None:
    view = MapView(session)
    stripes = np.repeat(np.arange(4, dtype=np.int32), 9)
    origin = Origin(session.settings.design, "plan quadrants", 9, 1.0, (0.0, 1.0), ())
    for plan in (stripes, stripes[::-1].copy()):
        session.shown.choose(TakenPlan(MetPlan(plan, origin), Draw("by lot", 1, 1.0), "A plan"))
        view.refresh()
        assert view._map is not None
        assert list(view._map.labels.data["district"]) == plan.tolist()
