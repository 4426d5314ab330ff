from __future__ import annotations

import geopandas as gpd
import numpy as np
import pytest
import shapely

from bottomup.dashboard.raster import View, flatten_rings, rasterise

SQUARES = gpd.GeoSeries([shapely.box(x, y, x + 1, y + 1) for y in range(2) for x in range(3)])
WHOLE = View(0, 0, 3, 2)


def test_every_pixel_shows_the_unit_under_it_from_the_south_up() -> None:
    picture = rasterise(flatten_rings(SQUARES), WHOLE, 30, 20)
    assert picture.dtype == np.uint16
    assert picture.shape == (20, 30)
    centers = picture[[5, 15]][:, [5, 15, 25]]
    np.testing.assert_array_equal(centers, [[1, 2, 3], [4, 5, 6]])
    np.testing.assert_allclose(np.bincount(picture.ravel())[1:], 100, atol=22)  # one pixel at each side


def test_outside_all_units_is_zero() -> None:
    picture = rasterise(flatten_rings(SQUARES), View(-3, 0, 3, 2), 60, 20)
    assert (picture[:, :28] == 0).all()
    assert (picture[:, 32:] > 0).all()


def test_a_zoomed_view_shows_only_what_it_covers() -> None:
    picture = rasterise(flatten_rings(SQUARES), View(1.2, 0.2, 1.8, 0.8), 40, 40)
    assert set(np.unique(picture)) == {2}


def test_a_unit_in_the_hole_of_another_is_not_painted_over() -> None:
    ring = shapely.box(0, 0, 9, 9).difference(shapely.box(3, 3, 6, 6))
    inner = shapely.box(3, 3, 6, 6)
    for shapes, ring_number, inner_number in (([ring, inner], 1, 2), ([inner, ring], 2, 1)):
        picture = rasterise(flatten_rings(gpd.GeoSeries(shapes)), View(0, 0, 9, 9), 90, 90)
        assert picture[45, 45] == inner_number
        assert picture[10, 45] == picture[45, 80] == ring_number


def test_an_empty_hole_stays_empty_and_parts_keep_their_unit() -> None:
    ring = shapely.box(0, 0, 9, 9).difference(shapely.box(3, 3, 6, 6))
    both = gpd.GeoSeries([shapely.MultiPolygon([ring, shapely.box(12, 0, 15, 3)])])
    picture = rasterise(flatten_rings(both), View(0, 0, 15, 9), 150, 90)
    assert picture[45, 45] == 0
    assert picture[10, 135] == picture[10, 10] == 1


def test_more_units_than_sixteen_bits_hold() -> None:
    many = gpd.GeoSeries(shapely.box(np.arange(66_000), 0, np.arange(66_000) + 1, 1))
    picture = rasterise(flatten_rings(many), View(65_990, 0, 66_000, 1), 100, 10)
    assert picture.dtype == np.uint32
    assert picture[5, 95] == 66_000


@pytest.mark.parametrize("size", [(0, 10), (10, 5000)])
def test_impossible_sizes_are_refused(size: tuple[int, int]) -> None:
    with pytest.raises(ValueError, match="pixels; got"):
        rasterise(flatten_rings(SQUARES), WHOLE, *size)


def test_an_empty_view_is_refused() -> None:
    with pytest.raises(ValueError, match="positive width"):
        rasterise(flatten_rings(SQUARES), View(1, 0, 1, 2), 10, 10)
