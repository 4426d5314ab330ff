"""The figure of the map: resting layers over a picture that the browser colours.

The picture of unit numbers (see `bottomup.dashboard.raster`) travels once per view. A new plan travels as one
small integer per unit, and so does another colouring; ``paint.js`` turns them into colours and borders.
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

from bottomup.dashboard.colourings import NOTHING, Colouring
from bottomup.dashboard.layers import ENACTED_LAYER, Layer, add_layers
from bottomup.dashboard.palette import INK, district_colors, packed_colors
from bottomup.dashboard.pointing import Marking
from bottomup.dashboard.raster import View, rasterise
from bottomup.dashboard.scaling import scale_with_page
from bottomup.dashboard.scene import Scene, label_points

__all__ = ["MapFigure", "build_map_figure"]

_MARGIN = 0.02
# Outlines of units are drawn from here on, in pixels by which a unit measures on the side.
_UNITS_FROM_PIXELS = 22
# What is narrower than this share of the map gets a ring around it.
_SMALL = 0.04
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
    picture : GlyphRenderer
        The coloured picture.
    tint : ColumnDataSource
        A class of colour of each unit, in place of its district's colour.
    beside : ColumnDataSource
        Another plan, to the right of a divider, and what the plans on both sides are called.
    numbers_beside : ColumnDataSource
        Where the numbers of its districts are written.
    marked : ColumnDataSource
        What is pointed at.
    pin : ColumnDataSource
        Where a ring shows what may be too small to be seen.
    tapped, rested : ColumnDataSource
        Set by the browser: the unit tapped at, and the one under a resting pointer; -1 outside of all.
        The pointer may be on the plan to the right of the divider.
    card : ColumnDataSource
        What stands beside the resting pointer, for which unit, and in which district.
    """

    figure: figure
    view: ColumnDataSource
    frame: ColumnDataSource
    labels: ColumnDataSource
    acknowledged: ColumnDataSource
    numbers: ColumnDataSource
    enacted: GlyphRenderer
    picture: GlyphRenderer
    tint: ColumnDataSource
    beside: ColumnDataSource
    numbers_beside: ColumnDataSource
    marked: ColumnDataSource
    pin: ColumnDataSource
    tapped: ColumnDataSource
    rested: ColumnDataSource
    card: ColumnDataSource

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
        self.labels.data = {"district": _labels(assignment, names)}
        self.numbers.data = _numbers(scene, assignment, names)

    def show_beside(
        self,
        scene: Scene,
        assignment: NDArray[np.integer],
        names: tuple[str, ...],
        titles: tuple[str, str],
    ) -> None:
        """Send another plan to stand to the right of a divider; the titles are of the left and right plan."""
        self.numbers_beside.data = _numbers(scene, assignment, names)
        self.beside.data = {"label": [_labels(assignment, names)], "titles": [list(titles)]}

    def show_alone(self) -> None:
        """Take the divider and the other plan away."""
        self.beside.data = {"label": [], "titles": []}

    def show_colouring(self, colouring: Colouring | None) -> None:
        """Send a class of each unit, and the colours of the classes; None for the districts' own colours."""
        if colouring is None:
            self.tint.data = {"class": [], "colors": []}
            return
        colors = packed_colors([*colouring.colors, NOTHING])
        self.tint.data = {"class": [colouring.classes], "colors": [colors]}

    def mark(self, scene: Scene, marking: Marking) -> None:
        """Mark what is pointed at."""
        units = np.zeros(len(scene.center) if len(marking.units) else 0, dtype=np.uint8)
        units[marking.units] = 1
        self.marked.data = {
            "units": [units],
            "chosen": [marking.district],
            "steps_back": [marking.steps_back],
        }
        at = scene.center[marking.units]
        if len(at):
            bounds = scene.rings.total_bounds
            is_small = np.ptp(at, axis=0).max() < _SMALL * (bounds.right - bounds.left)
            at = at.mean(axis=0, keepdims=True)[: int(is_small)]
        self.pin.data = {"x": at[:, 0], "y": at[:, 1]}

    def show_card(self, unit: int, district: int, words: str) -> None:
        """Answer a pointer that rests on a unit; the words are HTML."""
        self.card.data = {"unit": [unit], "of": [district], "html": [words]}

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
        html_attributes={"role": "group", "aria-label": "Map of the plan; find units by id under Layers"},
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
    written = ColumnDataSource({"x": [], "y": [], "name": []})
    _write_numbers(plot, written)
    pin = ColumnDataSource({"x": [], "y": []})
    for color, width in (("white", 7), (INK, 3)):
        plot.scatter("x", "y", source=pin, size=34, fill_color=None, line_color=color, line_width=width)

    tint = ColumnDataSource({"class": [], "colors": []})
    beside = ColumnDataSource({"label": [], "titles": []})
    numbers_beside = ColumnDataSource({"x": [], "y": [], "name": []})
    marked = ColumnDataSource({"units": [[]], "chosen": [-1], "steps_back": [False]})
    tapped = ColumnDataSource({"unit": [-1], "n": [0]})
    rested = ColumnDataSource({"unit": [-1], "is_beside": [False], "n": [0]})
    card = ColumnDataSource({"unit": [-1], "of": [-1], "html": [""]})
    colors = district_colors(n_districts)
    sources = {"plot": plot, "frame": frame, "labels": labels, "beside": beside}
    paint = _script(
        "paint.js",
        **sources,
        tint=tint,
        marked=marked,
        painted=painted,
        acknowledged=acknowledged,
        fills=packed_colors(colors).tolist(),
        borders=packed_colors(colors, brightness=0.42).tolist(),
        ink=int(packed_colors([INK])[0]),
    )
    swipe = _script(
        "swipe.js",
        plot=plot,
        beside=beside,
        paint=paint,
        numbers=numbers,
        numbers_beside=numbers_beside,
        written=written,
    )
    point = _script(
        "map_hover.js",
        plot=plot,
        frame=frame,
        labels=labels,
        beside=beside,
        tapped=tapped,
        rested=rested,
        card=card,
    )
    # Nothing that is drawn refers to these: the browser would not get them.
    plot.tags = [frame, labels, tint, beside, numbers, numbers_beside, marked, card]
    for source in (frame, labels, tint, beside, marked):
        source.js_on_change("data", paint)
    for source in (numbers, beside):
        source.js_on_change("data", swipe)
    for source in (card, labels):
        source.js_on_change("data", point)
    for name in ("tap", "mousemove", "mouseleave", "pan", "wheel"):
        plot.js_on_event(name, point)
    report = _script("viewport.js", plot=plot, view=view, bounds=list(bounds))
    for name in ("inner_width", "inner_height"):
        plot.js_on_change(name, report, swipe)
    plot.x_range.js_on_change("start", swipe)
    for axis in (plot.x_range, plot.y_range):
        axis.js_on_change("start", report)
        axis.js_on_change("end", report)
    scale_with_page(plot)
    return MapFigure(
        figure=plot,
        view=view,
        frame=frame,
        labels=labels,
        acknowledged=acknowledged,
        numbers=numbers,
        enacted=enacted,
        picture=picture,
        tint=tint,
        beside=beside,
        numbers_beside=numbers_beside,
        marked=marked,
        pin=pin,
        tapped=tapped,
        rested=rested,
        card=card,
    )


def _script(name: str, **arguments: object) -> CustomJS:
    return CustomJS(args=arguments, code=(_CODE / name).read_text(encoding="utf-8"))


def _labels(assignment: NDArray[np.integer], names: tuple[str, ...]) -> NDArray[np.unsignedinteger]:
    return assignment.astype(np.uint8 if len(names) <= 256 else np.uint16)


def _numbers(scene: Scene, assignment: NDArray[np.integer], names: tuple[str, ...]) -> dict[str, object]:
    points = label_points(scene, assignment, len(names))
    return {"x": points[:, 0], "y": points[:, 1], "name": list(names)}


def _write_numbers(plot: figure, source: ColumnDataSource) -> None:
    """Write the numbers of districts on discs."""
    plot.scatter(
        "x", "y", source=source, size=26, fill_color="white", fill_alpha=0.92, line_color=INK, line_width=1.5
    )
    plot.text(
        "x",
        "y",
        text="name",
        source=source,
        text_align="center",
        text_baseline="middle",
        text_font_size="15px",
        text_font_style="bold",
        text_color=INK,
    )


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
    # Outside of the map the page shows through.
    plot.background_fill_color = None
    plot.border_fill_color = None
