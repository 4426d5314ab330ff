"""The guide for the staff of a hearing, as a page of its own."""

import base64
import re
from importlib.resources import files

import panel as pn

__all__ = ["GUIDE", "guide", "guide_link"]

GUIDE = "guide"
"""In the address of the page: show the guide."""

_PICTURE = re.compile(r"(!\[[^\]]*\]\()([\w-]+\.png)\)")

_LOOK = """
:host { font-family: var(--font); color: var(--ink); font-size: 1.0625rem; line-height: 1.5; display: block;
  max-width: 52rem; margin: 0 auto !important; padding: 1rem 1.25rem 4rem 1.25rem; }
h1 { font-size: 1.75rem; line-height: 1.2; }
h2 { font-size: 1.3125rem; margin: 2.2rem 0 0.5rem 0; }
a { color: var(--accent); }
img { max-width: 100%; border: 1px solid var(--line); border-radius: 4px; }
code, pre { font-size: 0.9375rem; background: var(--card); border-radius: 4px; }
pre { padding: 0.5rem 0.75rem; overflow-x: auto; }
"""


_LINK = """
:host { flex: none; }
a { color: var(--accent); font: 500 0.875rem/1.75 var(--font); font-size: 1rem; text-decoration: none;
  border-radius: 4px; padding: 0.25rem 0.4rem; }
a:hover { text-decoration: underline; }
a:focus-visible { outline: 3px solid var(--accent); outline-offset: 1px; }
"""


def guide_link() -> pn.viewable.Viewable:
    """A link that opens the guide beside the page, which goes on."""
    return pn.pane.HTML(
        f'<a href="?{GUIDE}" target="_blank" rel="noopener">Guide</a>',
        stylesheets=[_LINK],
        margin=(0, 0, 0, 4),
        align="center",
        styles={"flex": "none", "width": "auto"},
    )


def guide() -> pn.viewable.Viewable:
    """Make the guide, with its pictures inside: nothing else is asked of any server."""
    folder = files("bottomup.dashboard") / "guide"

    def embed(found: re.Match[str]) -> str:
        picture = base64.b64encode((folder / found[2]).read_bytes()).decode("ascii")
        return f"{found[1]}data:image/png;base64,{picture})"

    text = _PICTURE.sub(embed, (folder / "guide.md").read_text(encoding="utf-8"))
    return pn.pane.Markdown(
        text, stylesheets=[_LOOK], sizing_mode="stretch_width", margin=0, disable_anchors=False
    )
