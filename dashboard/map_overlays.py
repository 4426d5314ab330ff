"""What can be laid over the map: heat of boundaries, outlines of clusters, and a map of streets below it."""

from importlib.resources import files

import numpy as np
from bokeh.models import ColumnDataSource, CustomJS, GlyphRenderer, TileRenderer, WMTSTileSource
from bokeh.plotting import figure
from numpy.typing import NDArray

from bottomup.dashboard.boundaries import HEAT_BREAKS
from bottomup.dashboard.palette import INK

__all__ = ["HEAT_STROKES", "MapOverlays"]

HEAT_STROKES = ((1.0, 0.4), (1.8, 0.55), (3.0, 0.7), (4.4, 0.85), (6.2, 1.0))
"""Widths, in pixels, and opacities of the lines of boundaries, by class of how often they are cut."""
_TILES = "https://tile.openstreetmap.org/{Z}/{X}/{Y}.png"
_CREDIT = "© OpenStreetMap contributors"
_OVER_TILES_ALPHA = 0.6


class MapOverlays:
    """Renderers of a figure that are made when they are first asked for.

    Parameters
    ----------
    plot : bokeh.plotting.figure
    picture : GlyphRenderer
        The coloured map, which lets a map of streets shine through.

    Attributes
    ----------
    probed : ColumnDataSource
        Set by the browser, once it has tried to load a part of the map of streets: whether it came.
    """

    def __init__(self, plot: figure, picture: GlyphRenderer) -> None:
        self._plot = plot
        self._picture = picture
        self._heat: list[GlyphRenderer] = []
        self._clusters: list[GlyphRenderer] = []
        self._tiles: TileRenderer | None = None
        self._wanted = ColumnDataSource({"n": [0]})
        self.probed = ColumnDataSource({"came": [], "n": []})
        code = (files("bottomup.dashboard") / "probe_tiles.js").read_text(encoding="utf-8")
        self._wanted.js_on_change(
            "data",
            CustomJS(args={"wanted": self._wanted, "probed": self.probed, "address": _TILES}, code=code),
        )
        plot.tags = [*plot.tags, self._wanted]

    def _line(self, color: str, width: float, alpha: float = 1.0, dash: str = "solid") -> GlyphRenderer:
        source = ColumnDataSource({"x": [], "y": []})
        return self._plot.line(
            *("x", "y"),
            source=source,
            level="underlay",
            line_color=color,
            line_width=width,
            line_alpha=alpha,
            line_dash=dash,
            line_join="round",
            line_cap="round",
        )

    def show_heat(self, paths: list[NDArray[np.float64]]) -> None:
        """Draw boundaries by how often they are cut; an empty list takes them away."""
        if paths and not self._heat:
            self._heat = [self._line(INK, *stroke) for stroke in HEAT_STROKES]
        for renderer, path in zip(self._heat, paths or [np.empty((0, 2))] * len(HEAT_BREAKS), strict=False):
            _fill(renderer, path)

    def show_clusters(self, path: NDArray[np.float64]) -> None:
        """Draw outlines of clusters; an empty path takes them away."""
        if len(path) and not self._clusters:
            self._clusters = [self._line("white", 4.5, 0.8), self._line(INK, 2.0, dash="6 4")]
        for renderer in self._clusters:
            _fill(renderer, path)

    def ask_for_tiles(self) -> None:
        """Let the browser try whether the map of streets can be reached; `probed` then says so."""
        self._wanted.data = {"n": [int(self._wanted.data["n"][0]) + 1]}

    def show_tiles(self, visible: bool) -> None:
        """Lay the map of streets under the districts, or take it away. Nothing is loaded while it is away."""
        if visible and self._tiles is None:
            source = WMTSTileSource(url=_TILES, attribution=_CREDIT, max_zoom=19)
            self._tiles = TileRenderer(tile_source=source, level="image")
            # Below the picture, which is of the same level.
            self._plot.renderers = [self._tiles, *self._plot.renderers]
        if self._tiles is not None:
            self._tiles.visible = visible
        self._picture.glyph.global_alpha = _OVER_TILES_ALPHA if visible else 1.0


def _fill(renderer: GlyphRenderer, path: NDArray[np.float64]) -> None:
    # Half the bytes, and still to the metre.
    x, y = path.astype(np.float32).T
    renderer.data_source.data = {"x": x, "y": y}
