"""Pictures of unit numbers: which unit lies under each pixel of a view of the map.

The browser gets such a picture once per view and colours it by itself, so that a new plan costs no more than
one small integer per unit.
"""

from dataclasses import dataclass
from typing import NamedTuple

import geopandas
import numpy as np
import shapely
from numpy.typing import NDArray
from PIL import Image, ImageDraw

__all__ = ["Rings", "View", "flatten_rings", "rasterise"]

# More pixels than any screen: a larger picture is a mistake of the browser, and would cost memory.
_LARGEST_PIXELS = 4096


class View(NamedTuple):
    """A rectangle of the map, in the coordinates of the rings."""

    left: float
    bottom: float
    right: float
    top: float


@dataclass(frozen=True, eq=False)
class Rings:
    """Outlines of all units as flat arrays, in the order in which they are to be painted.

    Letters: ``R`` rings, ``V`` vertices. A larger exterior comes before a smaller one and a hole directly
    after its exterior, so that a unit inside another's hole is painted over it.

    Attributes
    ----------
    coordinates : float64 array, shape (V, 2)
    start : int64 array, shape (R + 1,)
        Where each ring begins in ``coordinates``.
    unit : int64 array, shape (R,)
    is_hole : bool array, shape (R,)
    bounds : float64 array, shape (R, 4)
        Left, bottom, right, top of each ring.
    """

    coordinates: NDArray[np.float64]
    start: NDArray[np.int64]
    unit: NDArray[np.int64]
    is_hole: NDArray[np.bool_]
    bounds: NDArray[np.float64]

    @property
    def total_bounds(self) -> View:
        """The rectangle around all rings."""
        low, high = self.bounds[:, :2].min(axis=0), self.bounds[:, 2:].max(axis=0)
        return View(float(low[0]), float(low[1]), float(high[0]), float(high[1]))


def flatten_rings(geometry: geopandas.GeoSeries) -> Rings:
    """Outlines of polygons and multipolygons as flat arrays; see `Rings`."""
    parts, unit_of_part = shapely.get_parts(geometry.to_numpy(), return_index=True)
    rings, part_of_ring = shapely.get_rings(parts, return_index=True)
    is_hole = np.concatenate(([False], part_of_ring[1:] == part_of_ring[:-1]))
    exterior_area = np.abs(shapely.area(shapely.polygons(shapely.get_exterior_ring(parts))))
    order = np.lexsort((is_hole, part_of_ring, -exterior_area[part_of_ring]))
    rings, part_of_ring, is_hole = rings[order], part_of_ring[order], is_hole[order]
    counts = shapely.get_num_coordinates(rings)
    return Rings(
        coordinates=shapely.get_coordinates(rings),
        start=np.concatenate(([0], np.cumsum(counts))).astype(np.int64),
        unit=unit_of_part[part_of_ring].astype(np.int64),
        is_hole=is_hole,
        bounds=shapely.bounds(rings),
    )


def rasterise(rings: Rings, view: View, width: int, height: int) -> NDArray[np.unsignedinteger]:
    """Which unit lies under each pixel.

    Parameters
    ----------
    rings : Rings
    view : View
        The rectangle that the picture covers.
    width, height : int
        Size of the picture, in pixels.

    Returns
    -------
    uint16 array, shape (height, width)
        0 outside all units, otherwise 1 + the position of the unit; the first row is the southernmost.
        uint32 when there are too many units for uint16.
    """
    if not (1 <= width <= _LARGEST_PIXELS and 1 <= height <= _LARGEST_PIXELS):
        raise ValueError(f"width and height must be 1 to {_LARGEST_PIXELS} pixels; got {width} × {height}.")
    if not (view.right > view.left and view.top > view.bottom):
        raise ValueError(f"view must have a positive width and height; got {view}.")
    scale = np.array([width / (view.right - view.left), height / (view.top - view.bottom)])
    # Pillow puts the centre of a pixel at whole numbers.
    pixels = (rings.coordinates - (view.left, view.bottom)) * scale - 0.5
    visible = (
        (rings.bounds[:, 0] < view.right)
        & (rings.bounds[:, 2] > view.left)
        & (rings.bounds[:, 1] < view.top)
        & (rings.bounds[:, 3] > view.bottom)
    )
    image = Image.new("I", (width, height), 0)
    draw = ImageDraw.Draw(image)
    for ring in np.flatnonzero(visible):
        outline = pixels[rings.start[ring] : rings.start[ring + 1]]
        value = 0 if rings.is_hole[ring] else int(rings.unit[ring]) + 1
        draw.polygon(outline.ravel().tolist(), fill=value)
    n_values = int(rings.unit.max()) + 2 if rings.unit.size else 1
    return np.asarray(image).astype(np.uint16 if n_values <= 2**16 else np.uint32)
