from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import geopandas as gpd
import numpy as np
import pandas as pd
import pytest
import shapely

from bottomup.dashboard.layers import ENACTED_LAYER, draw_layers
from bottomup.dashboard.map_figure import build_map_figure
from bottomup.dashboard.options import Inputs
from bottomup.dashboard.prepared import Prepared
from bottomup.dashboard.raster import View
from bottomup.dashboard.scene import build_scene, label_points


def test_the_line_of_a_plan_runs_only_between_its_districts(prepared: Prepared) -> None:
    assert prepared.scene is not None
    path = prepared.scene.boundary_of["quadrants"]
    bounds = prepared.scene.rings.total_bounds
    points = path[np.isfinite(path[:, 0])]
    middle = ((bounds.left + bounds.right) / 2, (bounds.bottom + bounds.top) / 2)
    near = np.minimum(np.abs(points[:, 0] - middle[0]), np.abs(points[:, 1] - middle[1]))
    # Projected anew, the grid is not quite upright.
    assert near.max() < 0.02 * (bounds.right - bounds.left)
    # A step to or from a row of NaN is a gap.
    length = np.nansum(np.hypot(*np.diff(path, axis=0).T))
    across = (bounds.right - bounds.left) + (bounds.top - bounds.bottom)
    assert length == pytest.approx(across, rel=0.03)


def test_a_plan_of_one_district_has_no_line(inputs_of: Callable[..., Inputs]) -> None:
    inputs = inputs_of()
    one = type(inputs.enacted)("one", np.zeros(36, dtype=np.int32), ("1",))
    scene = build_scene(inputs.geography, {"one": one})
    assert scene.boundary_of["one"].shape == (0, 2)
    assert draw_layers(scene)


def test_district_numbers_stand_inside_their_districts(prepared: Prepared) -> None:
    assert prepared.scene is not None
    assignment = prepared.plan("quadrants").assignment
    points = label_points(prepared.scene, assignment, 5)
    shapes = prepared.inputs.geography.geometry.to_crs("EPSG:3857").to_numpy()
    for district in range(4):
        inside = shapely.contains(shapes, shapely.Point(points[district]))
        assert assignment[inside].tolist() == [district]
    assert np.isnan(points[4]).all()


@pytest.mark.parametrize("name", ["Eastville", "Westborough"])
def test_district_numbers_stand_clear_of_the_names_of_towns(
    inputs_of: Callable[..., Inputs], name: str
) -> None:
    """One name runs to the right of its dot, the other, near the right edge, to the left."""
    inputs = inputs_of()
    plan = inputs.enacted
    bare = build_scene(inputs.geography, inputs.plans)
    before = label_points(bare, plan.assignment, 4)
    bounds = bare.rings.total_bounds
    per_pixel = max((bounds.right - bounds.left) / 410, (bounds.top - bounds.bottom) / 500)
    district, side = (0, 1) if name == "Eastville" else (1, -1)
    # The middle of the name lies on the district's number.
    reach = side * per_pixel * 35
    town = gpd.GeoSeries([shapely.Point(*(before[district] - (reach, 0)))], crs="EPSG:3857").to_crs(4326)[0]
    towns = pd.DataFrame({"name": [name], "lon": [town.x], "lat": [town.y], "population": [9]})
    scene = build_scene(inputs.geography, inputs.plans, towns=towns)
    points = label_points(scene, plan.assignment, 4)
    others = np.arange(4) != district
    np.testing.assert_array_equal(points[others], before[others])
    shift = np.abs(points[district] - before[district]) / per_pixel
    assert shift[1] >= 20 or shift[0] >= 50
    unit = np.flatnonzero((scene.center == points[district]).all(axis=1))
    assert plan.assignment[unit].tolist() == [district]
    # No nearer unit of the district is clear.
    own = plan.assignment == district
    middle = np.average(scene.center[own], axis=0, weights=scene.area[own])
    far = np.hypot(*(scene.center - middle).T)
    assert far[own & scene.clear].min() == far[unit[0]]
    # A district without a clear unit keeps its place.
    stripe = np.where(own & scene.clear, 3 - district, plan.assignment)
    covered = label_points(scene, stripe, 4)[district]
    within = np.flatnonzero(stripe == district)
    assert not scene.clear[within].any()
    middle = np.average(scene.center[within], axis=0, weights=scene.area[within])
    nearest = within[np.hypot(*(scene.center[within] - middle).T).argmin()]
    np.testing.assert_array_equal(covered, scene.center[nearest])


def test_district_numbers_do_not_cover_each_other(prepared: Prepared) -> None:
    """Two rings around a district have its centre."""
    assert prepared.scene is not None
    y, x = np.divmod(np.arange(36), 6)
    ring = (np.maximum(np.abs(x - 2.5), np.abs(y - 2.5)) > 2).astype(np.int32)
    within = (np.maximum(np.abs(x - 2.5), np.abs(y - 2.5)) < 1).astype(np.int32)
    assignment = np.where(within, 2, ring)
    bounds = prepared.scene.rings.total_bounds
    large = replace(prepared.scene, disc=2.2 * (bounds.right - bounds.left) / 6)
    points = label_points(large, assignment, 3)
    between = np.hypot(*(points[:, None] - points[None]).T)
    assert between[np.triu_indices(3, 1)].min() >= large.disc


def test_counties_and_the_largest_towns_are_drawn_with_the_enacted_line(
    inputs_of: Callable[..., Inputs],
) -> None:
    inputs = inputs_of()
    county = gpd.GeoDataFrame(
        {"name": ["All"]}, geometry=[inputs.geography.geometry.union_all()], crs="EPSG:32615"
    ).to_crs("EPSG:4326")
    west, south, east, north = county.total_bounds
    towns = pd.DataFrame(
        {
            "name": ["Near", "Large", "Far"],
            "lon": [west + 0.0011, west + 0.001, east],
            "lat": [south, south, north],
            "population": [5, 50, 2],
        }
    )
    scene = build_scene(inputs.geography, inputs.plans, county, towns)
    assert scene.towns["name"].tolist() == ["Large", "Far"]
    layers = {layer.name: layer for layer in draw_layers(scene)}
    assert list(layers) == ["Counties", ENACTED_LAYER, "Points", "Halo", "Labels"]
    assert list(layers["Labels"].data["align"]) == ["left", "right"]
    np.testing.assert_allclose(layers[ENACTED_LAYER].data["xs"][0][0], scene.boundary_of["quadrants"][0, 0])


def test_no_outlines_no_scene(inputs_of: Callable[..., Inputs]) -> None:
    with pytest.raises(ValueError, match="geometry"):
        build_scene(inputs_of(outlines=False).geography, {})


def test_a_new_plan_sends_one_byte_per_unit(prepared: Prepared) -> None:
    assert prepared.scene is not None
    drawn = build_map_figure(prepared.scene, prepared.layers, 4)
    bounds = prepared.scene.rings.total_bounds
    drawn.show_frame(prepared.scene, View(*bounds), 60, 60)
    assert drawn.frame.data["pixels"][0].shape == (60, 60)
    assert drawn.frame.data["show_units"] == [False]
    drawn.show_plan(prepared.scene, prepared.plan("stripes").assignment, ("1", "2", "3", "4"))
    labels = drawn.labels.data["district"]
    assert labels.nbytes == 36
    np.testing.assert_array_equal(labels, prepared.plan("stripes").assignment)
    assert drawn.numbers.data["name"] == ["1", "2", "3", "4"]
    drawn.show_frame(prepared.scene, View(*bounds), 600, 600)
    assert drawn.frame.data["show_units"] == [True]


def test_figures_of_two_visitors_share_no_model(prepared: Prepared) -> None:
    assert prepared.scene is not None
    first, second = (build_map_figure(prepared.scene, prepared.layers, 4).figure for _ in range(2))
    assert not {model.id for model in first.references()} & {model.id for model in second.references()}
