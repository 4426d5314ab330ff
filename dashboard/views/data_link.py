"""The way from a page to the screen for files of one's own, and back."""

import panel as pn

from bottomup.dashboard.views.style import TEXT_STYLE

__all__ = ["DATA", "MAP", "data_link", "gone"]

DATA = "data"
"""In the address of the page: show the data screen."""
MAP = "map"
"""In the address of the page: the token of a map that a visitor opened."""

_LOOK = """
a { color: var(--accent); border-radius: 4px; white-space: nowrap; }
a:focus-visible { outline: 3px solid var(--accent); outline-offset: 1px; }
"""


def data_link() -> pn.viewable.Viewable:
    """A link to the data screen."""
    return _pane(f'<a href="?{DATA}">Open the page on files of your own</a>', {"flex": "none"})


def gone() -> pn.viewable.Viewable:
    """What stands in place of a page whose map is kept no longer."""
    return _pane(
        "<h1>This map is no longer here</h1><p>A map made of your own files is kept while a browser shows it "
        f'and a few minutes longer. <a href="?{DATA}">Open it again from its files</a>, or go to '
        '<a href="?">the page that this server was started with</a>.</p>',
        {"padding": "20px", "max-width": "48rem"},
    )


def _pane(markup: str, styles: dict[str, str]) -> pn.pane.HTML:
    return pn.pane.HTML(
        markup,
        stylesheets=[*TEXT_STYLE["stylesheets"], _LOOK],
        margin=TEXT_STYLE["margin"],
        styles=styles,
    )
