"""Words and markers of figures that grow with those of the page.

The sizes that a figure is built with are meant for a page whose font measures 16 pixels. The server does not
know the visitor's window, so the browser scales them.
"""

from importlib.resources import files

from bokeh.models import CustomJS
from bokeh.plotting import figure

__all__ = ["scale_with_page"]

_CODE = files("bottomup.dashboard") / "scale.js"


def scale_with_page(plot: figure) -> None:
    """Let the browser scale words and markers, now and whenever the figure gets another size."""
    scale = CustomJS(args={"plot": plot}, code=_CODE.read_text(encoding="utf-8"))
    plot.js_on_change("inner_width", scale)
