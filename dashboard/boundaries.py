"""Lines between units: how often each is a border, and the outlines of clusters."""

from __future__ import annotations

import threading
from dataclasses import dataclass, field

import numpy as np
import shapely
from numpy.typing import NDArray

from bottomup.data.testimonies import Testimonies

__all__ = ["HEAT_BREAKS", "Borders", "line_path"]

HEAT_BREAKS = (0.1, 0.25, 0.5, 0.75, 0.9)
"""Shares of plans from which on a boundary is drawn, and drawn more strongly."""
# Lines are drawn as finely as a screen this many pixels wide shows the whole map.
_FINEST_PIXELS = 4000


def line_path(lines: NDArray[np.object_] | list[shapely.Geometry]) -> NDArray[np.float64]:
    """Lines as one path, shape (points, 2), with a row of NaN after each."""
    coordinates, line = shapely.get_coordinates(lines, return_index=True)
    ends = np.flatnonzero(np.diff(line, append=-1)) + 1
    return np.insert(coordinates, ends, np.nan, axis=0)


@dataclass(frozen=True, eq=False)
class Borders:
    """The lines along which units touch; worked out when they are first asked for, once for all visitors.

    Attributes
    ----------
    shapes : array of shapely geometries, shape (n,)
        Of the units, in Web Mercator.
    edges : int32 array, shape (m, 2)
    """

    shapes: NDArray[np.object_]
    edges: NDArray[np.int32]
    _found: dict[str, object] = field(default_factory=dict)
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def _lines(self) -> tuple[NDArray[np.object_], NDArray[np.int64]]:
        """Pieces of lines, and the edge of each."""
        with self._lock:
            if "lines" not in self._found:
                self._found["lines"] = self._shared_lines()
            return self._found["lines"]  # type: ignore[return-value]

    def _shared_lines(self) -> tuple[NDArray[np.object_], NDArray[np.int64]]:
        touching = shapely.intersection(self.shapes[self.edges[:, 0]], self.shapes[self.edges[:, 1]])
        pieces, edge = shapely.get_parts(touching, return_index=True)
        # Outlines that overlap by a little meet in slivers instead of lines; points are corners.
        dimension = shapely.get_dimensions(pieces)
        pieces = np.where(dimension == 2, shapely.boundary(pieces), pieces)
        lines = shapely.simplify(pieces[dimension > 0], self._finest())
        return lines, edge[dimension > 0]

    def _finest(self) -> float:
        left, bottom, right, top = shapely.total_bounds(self.shapes)
        return float(max(right - left, top - bottom)) / _FINEST_PIXELS

    def heat(self, frequency: NDArray[np.floating]) -> list[NDArray[np.float64]]:
        """Paths of the boundaries that are cut often, by class from the rarest, see `HEAT_BREAKS`.

        Parameters
        ----------
        frequency : float array, shape (m,)
            How often each edge is cut, as a share of the plans.
        """
        lines, edge = self._lines()
        of_line = np.searchsorted(HEAT_BREAKS, frequency, side="right")[edge]
        return [line_path(lines[of_line == number + 1]) for number in range(len(HEAT_BREAKS))]

    def clusters(self, testimonies: Testimonies) -> NDArray[np.float64]:
        """One path around the units of each cluster: those that any of its testimonies covers."""
        clusters = testimonies.clusters
        if clusters is None:
            return np.empty((0, 2))
        outlines = []
        for cluster in range(len(clusters.names)):
            members = clusters.members(cluster)
            units = [testimonies.units_of(int(member)) for member in members]
            covered = np.unique(np.concatenate(units)) if units else np.empty(0, dtype=np.int32)
            if len(covered):
                outlines.append(self._outline(covered))
        return line_path(shapely.get_parts(outlines)) if outlines else np.empty((0, 2))

    def _outline(self, units: NDArray[np.integer]) -> shapely.Geometry:
        union = shapely.union_all(self.shapes[units])
        return shapely.simplify(shapely.boundary(union), self._finest())
