"""The light and the dark look: a switch, and what applies a remembered one before the first paint."""

from importlib.resources import files
from typing import Any, ClassVar

import panel as pn
import param
from panel.custom import JSComponent

__all__ = ["LookSwitch", "remember_look"]

_REMEMBERED_AS = "bottomup-look"
_TEMPLATE = f"""
{{% block preamble %}}{{{{ super() }}}}
<script>
  try {{
    if (localStorage.getItem("{_REMEMBERED_AS}") === "dark") document.documentElement.dataset.theme = "dark"
  }} catch {{}}
</script>
{{% endblock %}}
"""
_CSS = """
:host { flex: none; }
button { font: 500 0.875rem/1.75 var(--font); color: var(--ink); background: none;
  border: 1px solid var(--line);
  border-radius: 6px; padding: 0 0.6rem; cursor: pointer; }
button[aria-pressed=true] { background: var(--accent); border-color: var(--accent); color: var(--ground); }
button:focus-visible { outline: 3px solid var(--accent); outline-offset: 2px; }
"""


class LookSwitch(JSComponent):
    """A button that is pressed while the look is dark; the server has no part in it."""

    label = param.String("Dark", doc="What the button says.")
    remembered_as = param.String(_REMEMBERED_AS, doc="Key in the browser's storage.")

    _esm = (files("bottomup.dashboard") / "look.js").read_text(encoding="utf-8")
    _stylesheets: ClassVar[list[str]] = [_CSS]

    def __init__(self, **more: Any) -> None:
        super().__init__(**{"margin": (0, 0, 0, 8), "align": "center", **more})


def remember_look() -> None:
    """Let the document that is being served begin with the look that its browser remembers."""
    if pn.state.curdoc is not None:
        pn.state.curdoc.template = _TEMPLATE
