"""What a visitor sees while a server shows the page to as many people as it can."""

import panel as pn
import param
from panel.custom import JSComponent

from bottomup.dashboard.views.style import TEXT_STYLE

__all__ = ["crowded"]

_AGAIN_SECONDS = 30


class Again(JSComponent):
    """Asks for the same address again after some seconds."""

    seconds = param.Integer(_AGAIN_SECONDS, doc="When.")

    _esm = """
    export function render({ model, el }) {
      el.style.display = "none"
      const timer = setTimeout(() => window.location.reload(), 1000 * model.seconds)
      model.on("remove", () => clearTimeout(timer))
    }
    """


def crowded(most: int) -> pn.viewable.Viewable:
    """Say that there is no room, and try again."""
    people = "one person" if most == 1 else f"{most} people at once"
    words = (
        f'<div role="status"><h1>Please wait a moment</h1><p class="said">This server shows the page to '
        f"{people}, so that each of them gets enough of it. Leave this tab open: it looks every "
        f"{_AGAIN_SECONDS} seconds whether there is room.</p><p>Or open the page on a machine of your own "
        "with <code>bottomup serve</code>. Who runs this server can let in more people with "
        "<code>--visitors</code>.</p></div>"
    )
    return pn.Column(
        pn.pane.HTML(words, **TEXT_STYLE, sizing_mode="stretch_width"),
        Again(width=0, height=0, margin=0),
        margin=0,
        sizing_mode="stretch_width",
        styles={"padding": "24px", "max-width": "46rem"},
    )
