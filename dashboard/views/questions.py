"""The four questions of the page, as tabs that give their answers in short."""

from importlib.resources import files
from typing import ClassVar

import param
from panel.custom import JSComponent

__all__ = ["Questions"]

_CSS = """
div[role=tablist] { display: flex; gap: 0.5rem; }
button { flex: 1 1 0; min-width: 0; text-align: left; font: inherit; color: var(--ink);
  background: var(--card); border: 1px solid var(--line); border-top: 4px solid var(--line);
  border-radius: 4px; padding: 0.3rem 0.7rem; cursor: pointer; display: flex; flex-direction: column;
  gap: 1px; line-height: 1.25; }
button[aria-selected=true] { border-top-color: var(--accent); background: var(--ground); }
button:focus-visible { outline: 3px solid var(--accent); outline-offset: 1px; }
.question { font-weight: 700; font-size: 1rem; }
.answer { color: var(--quiet); font-size: 0.9375rem; white-space: nowrap; overflow: hidden;
  text-overflow: ellipsis; max-width: 100%; }
:host { font-family: var(--font); font-size: 1rem; }
@media (max-width: 1000px) {
  div[role=tablist] { flex-wrap: wrap; }
  button { flex: 1 1 45%; }
}
"""


class Questions(JSComponent):
    """Tabs with a question and its short answer each."""

    questions = param.List(item_type=str, doc="In the order in which they stand.")
    answers = param.List(item_type=str, doc="Of each question; empty while none is known.")
    active = param.Integer(0, bounds=(-1, None), doc="Whose view is open; -1 when it is none of theirs.")
    label = param.String("Questions", doc="Name of the row for screen readers.")
    opened = param.Integer(0, doc="How many times the visitor has opened a view.")
    opens = param.String("", doc="Name of the part of the page that views open in.")

    _esm = (files("bottomup.dashboard") / "questions.js").read_text(encoding="utf-8")
    _stylesheets: ClassVar[list[str]] = [_CSS]
