"""The figure of the map: resting layers over a picture that the browser colours.

The picture of unit numbers (see `bottomup.dashboard.raster`) travels once per view. A new plan travels as one
small integer per unit; ``paint.js`` turns both into colours and district borders.
"""

from dataclasses import dataclass
from importlib.resources import files

import numpy as np
from bokeh.models import (
    ColumnDataSource,
    CustomJS,
    GlyphRenderer,
    PanTool,
    Range1d,
    ResetTool,
    WheelZoomTool,
)
from bokeh.plotting import figure
from numpy.typing import NDArray

from bottomup.dashboard.layers import ENACTED_LAYER, Layer, add_layers
from bottomup.dashboard.palette import INK, district_colors, packed_colors
from bottomup.dashboard.raster import View, rasterise
from bottomup.dashboard.scaling import scale_with_page
from bottomup.dashboard.scene import Scene, label_points

__all__ = ["MapFigure", "build_map_figure"]

_MARGIN = 0.02
# Outlines of units are drawn from here on, in pixels by which a unit measures on the side.
_UNITS_FROM_PIXELS = 22
_CODE = files("bottomup.dashboard")


@dataclass(frozen=True, eq=False)
class MapFigure:
    """The figure, and the sources by which it is changed.

    Attributes
    ----------
    figure : bokeh.plotting.figure
    view : ColumnDataSource
        Set by the browser: the part of the map in sight and its size in pixels.
    frame : ColumnDataSource
        The picture of unit numbers and its place.
    labels : ColumnDataSource
        District of each unit.
    acknowledged : ColumnDataSource
        Set by the browser: how many sets of labels it has painted.
    numbers : ColumnDataSource
        Where the number of each district is written.
    enacted : GlyphRenderer
        The line between the districts of the enacted plan.
    """

    figure: figure
    view: ColumnDataSource
    frame: ColumnDataSource
    labels: ColumnDataSource
    acknowledged: ColumnDataSource
    numbers: ColumnDataSource
    enacted: GlyphRenderer

    def show_frame(self, scene: Scene, view: View, width: int, height: int) -> None:
        """Send the picture of unit numbers of a view."""
        pixels = rasterise(scene.rings, view, width, height)
        per_pixel = (view.right - view.left) / width
        side = float(np.sqrt(np.median(scene.area))) / per_pixel
        self.frame.data = {
            "pixels": [pixels],
            "x": [view.left],
            "y": [view.bottom],
            "dw": [view.right - view.left],
            "dh": [view.top - view.bottom],
            "show_units": [side >= _UNITS_FROM_PIXELS],
        }

    def show_plan(self, scene: Scene, assignment: NDArray[np.integer], names: tuple[str, ...]) -> None:
        """Send the district of each unit, and where the names of the districts go."""
        dtype = np.uint8 if len(names) <= 256 else np.uint16
        self.labels.data = {"district": assignment.astype(dtype)}
        points = label_points(scene, assignment, len(names))
        self.numbers.data = {"x": points[:, 0], "y": points[:, 1], "name": list(names)}

    def show_enacted(self, boundary: NDArray[np.float64]) -> None:
        """Draw the line between the districts of another enacted plan."""
        self.enacted.data_source.data = {"xs": [boundary[:, 0]], "ys": [boundary[:, 1]]}


def build_map_figure(scene: Scene, layers: tuple[Layer, ...], n_districts: int) -> MapFigure:
    """Make the figure, still without a picture: the browser asks for one as soon as it knows its size."""
    bounds = _with_margin(scene.rings.total_bounds)
    plot = figure(
        x_range=Range1d(bounds.left, bounds.right),
        y_range=Range1d(bounds.bottom, bounds.top),
        tools="",
    )
    _style(plot)
    enacted = add_layers(plot, layers)[ENACTED_LAYER]

    view = ColumnDataSource({name: [] for name in (*View._fields, "width", "height")})
    frame = ColumnDataSource({name: [] for name in ("pixels", "x", "y", "dw", "dh", "show_units")})
    labels = ColumnDataSource({"district": []})
    acknowledged = ColumnDataSource({"n": [0]})
    numbers = ColumnDataSource({"x": [], "y": [], "name": []})
    painted = ColumnDataSource(
        {
            "image": [np.zeros((1, 1), dtype=np.uint32)],
            "x": [bounds.left],
            "y": [bounds.bottom],
            "dw": [1],
            "dh": [1],
        }
    )
    picture = plot.image_rgba("image", x="x", y="y", dw="dw", dh="dh", source=painted, level="image")
    picture.nonselection_glyph = None
    plot.scatter(
        "x", "y", source=numbers, size=26, fill_color="white", fill_alpha=0.92, line_color=INK, line_width=1.5
    )
    plot.text(
        "x",
        "y",
        text="name",
        source=numbers,
        text_align="center",
        text_baseline="middle",
        text_font_size="15px",
        text_font_style="bold",
        text_color=INK,
    )

    colors = district_colors(n_districts)
    paint = CustomJS(
        args={
            "frame": frame,
            "labels": labels,
            "painted": painted,
            "acknowledged": acknowledged,
            "fills": packed_colors(colors).tolist(),
            "borders": packed_colors(colors, brightness=0.42).tolist(),
            "edges": packed_colors(colors, brightness=0.9).tolist(),
        },
        code=(_CODE / "paint.js").read_text(encoding="utf-8"),
    )
    # Nothing that is drawn refers to these: the browser would not get them.
    plot.tags = [frame, labels]
    frame.js_on_change("data", paint)
    labels.js_on_change("data", paint)
    report = CustomJS(
        args={"plot": plot, "view": view, "bounds": list(bounds)},
        code=(_CODE / "viewport.js").read_text(encoding="utf-8"),
    )
    for name in ("inner_width", "inner_height"):
        plot.js_on_change(name, report)
    for axis in (plot.x_range, plot.y_range):
        axis.js_on_change("start", report)
        axis.js_on_change("end", report)
    scale_with_page(plot)
    return MapFigure(plot, view, frame, labels, acknowledged, numbers, enacted)


def _with_margin(bounds: View) -> View:
    width, height = bounds.right - bounds.left, bounds.top - bounds.bottom
    return View(
        bounds.left - _MARGIN * width,
        bounds.bottom - _MARGIN * height,
        bounds.right + _MARGIN * width,
        bounds.top + _MARGIN * height,
    )


def _style(plot: figure) -> None:
    wheel = WheelZoomTool()
    plot.tools = [PanTool(), wheel, ResetTool()]
    plot.toolbar.active_scroll = wheel
    plot.toolbar.logo = None
    plot.toolbar_location = "right"
    plot.sizing_mode = "stretch_both"
    plot.lod_threshold = None
    plot.outline_line_color = None
    plot.min_border = 0
    plot.grid.visible = False
    plot.axis.visible = False
    plot.background_fill_color = "white"
    plot.border_fill_color = "white"
