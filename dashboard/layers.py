"""The layers of the map that rest: county outlines, the enacted plan's line, and the names of towns.

GeoViews draws them once for all visitors; what it made is then copied into each visitor's figure, which takes
a hundredth of the time.
"""

from typing import NamedTuple

import geoviews as gv
import geoviews.plotting.bokeh
import holoviews as hv
import numpy as np
from bokeh.core.properties import field
from bokeh.models import ColumnDataSource, Glyph, GlyphRenderer
from bokeh.plotting import figure
from cartopy import crs

from bottomup.dashboard.palette import ENACTED, INK
from bottomup.dashboard.scene import Scene, names_to_the_left

__all__ = ["ENACTED_LAYER", "Layer", "add_layers", "draw_layers"]

ENACTED_LAYER = "Enacted"
"""Name of the layer that shows the line of the enacted plan."""
_CASING_WIDTH = 5.2


class Layer(NamedTuple):
    """A layer as GeoViews has drawn it.

    Attributes
    ----------
    name : str
    glyph : Glyph
        A pattern to be copied: a Bokeh model belongs to one document.
    data : dict
        Columns of its source.
    """

    name: str
    glyph: Glyph
    data: dict[str, list | np.ndarray]


def draw_layers(scene: Scene) -> tuple[Layer, ...]:
    """Draw the layers of a scene, from the lowest to the highest."""
    hv.Store.set_current_backend("bokeh")
    projection = crs.GOOGLE_MERCATOR
    elements = []
    # Each a single path with gaps: HoloViews takes milliseconds for each path of a list.
    if len(scene.counties):
        counties = gv.Path([scene.counties], crs=projection, group="Counties")
        elements.append(counties.opts(color="white", line_width=1.0, alpha=0.85))
    boundary = next(iter(scene.boundary_of.values()))
    enacted = gv.Path([boundary], crs=projection, group=ENACTED_LAYER)
    elements.append(enacted.opts(color=ENACTED, line_width=2.8))
    if len(scene.towns):
        dots = gv.Points(scene.towns, kdims=["x", "y"], crs=projection)
        names = gv.Labels(scene.towns, kdims=["x", "y"], vdims=["name"], crs=projection)
        elements.append(dots.opts(color=INK, size=5))
        elements.append(names.opts(text_color=INK, text_font_size="14px", text_align="left"))
    overlay = gv.Overlay(elements).opts(gv.opts.Overlay(projection=projection, xaxis=None, yaxis=None))
    drawn = hv.renderer("bokeh").get_plot(overlay)
    layers = []
    for (name, _), subplot in drawn.subplots.items():
        glyph = subplot.handles["glyph"]
        data = dict(subplot.handles["source"].data)
        if name == "Labels":
            layers += _halo_and_names(scene, glyph, data)
        else:
            layers.append(Layer(name, glyph, data))
    return tuple(layers)


def _halo_and_names(scene: Scene, glyph: Glyph, data: dict[str, list | np.ndarray]) -> list[Layer]:
    """Names of towns over a white halo; those near the right edge stand to the left of their dots."""
    to_the_left = names_to_the_left(scene.towns, scene.rings.total_bounds)
    data = data | {
        "align": ["right" if left else "left" for left in to_the_left],
        "offset": np.where(to_the_left, -7, 7),
    }
    glyph.update(text_align=field("align"), x_offset=field("offset"), text_baseline="middle")
    halo = glyph.clone()
    halo.update(text_color="white", text_outline_color="white", text_outline_width=3)
    return [Layer("Halo", halo, data), Layer("Labels", glyph, data)]


def add_layers(plot: figure, layers: tuple[Layer, ...]) -> dict[str, GlyphRenderer]:
    """Copy layers into a figure; returns their renderers by name."""
    renderers = {}
    for layer in layers:
        source = ColumnDataSource(dict(layer.data))
        if layer.name == ENACTED_LAYER:
            # On red, the line needs an edge to be seen.
            casing = layer.glyph.clone()
            casing.update(line_color="white", line_width=_CASING_WIDTH, line_alpha=0.85)
            plot.add_glyph(source, casing, level="glyph")
        renderers[layer.name] = plot.add_glyph(source, layer.glyph.clone(), level="glyph")
    return renderers
