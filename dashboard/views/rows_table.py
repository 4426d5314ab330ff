"""A table whose rows can be pointed at with mouse and keys, and that keeps its place as numbers change."""

from collections.abc import Callable
from importlib.resources import files
from typing import Any, ClassVar

import param
from panel.custom import JSComponent

__all__ = ["RowsTable"]

_CSS = """
:host { font-family: var(--font); font-size: 0.9375rem; position: relative; }
.scroller { color: var(--ink); position: absolute; inset: 0; overflow-y: auto; overflow-x: hidden;
  container-type: inline-size; }
table { width: 100%; border-collapse: separate; border-spacing: 0; table-layout: fixed; line-height: 1.25; }
th { position: sticky; top: 0; z-index: 1; background: var(--ground); border-bottom: 2px solid var(--line);
  padding: 0; vertical-align: bottom; width: 10.5%; }
th.name { width: 26%; }
th.change { width: 12%; }
th.mean { width: 9%; }
th button { font: inherit; font-weight: 400; color: var(--quiet); background: none; border: 0; width: 100%;
  text-align: right; padding: 3px; cursor: pointer; hyphens: manual; }
th.name button, th.whole button { text-align: left; }
th[aria-sort=ascending] button, th[aria-sort=descending] button { color: var(--ink); font-weight: 700; }
th .arrow { font-size: 0.7em; margin-left: 2px; }
td { padding: 5px 3px; border-bottom: 1px solid var(--faint); text-align: right; vertical-align: top;
  font-variant-numeric: tabular-nums; white-space: nowrap; }
td.name, td.whole { text-align: left; white-space: normal; }
td.count { white-space: normal; }
td.whole, th.whole button { padding-left: 6px; padding-right: 0; }
tbody tr { cursor: pointer; }
tbody tr:hover td { background: var(--card); }
.id { font-weight: 700; margin-right: 0.25em; }
.mark { color: var(--warn); font-weight: 700; white-space: nowrap; }
.mark:empty { display: none; }
.marked td.change { color: var(--warn); font-weight: 700; }
.lines { overflow-wrap: anywhere; display: -webkit-box; -webkit-box-orient: vertical; -webkit-line-clamp: 2;
  overflow: hidden; }
.note { color: var(--quiet); }
tr[aria-selected=true] td { background: var(--card); border-top: 2px solid var(--accent);
  border-bottom: 2px solid var(--accent); }
tr[aria-selected=true] td:first-child { border-left: 6px solid var(--accent); }
tr:focus-visible, button:focus-visible { outline: 3px solid var(--accent); outline-offset: -3px; }
@container (min-width: 36rem) {
  th { width: 9.5%; }
  th.name { width: 32%; }
  th.change { width: 11.5%; }
}
@container (max-width: 36rem) {
  table { font-size: 0.875rem; }
  th button { font-size: 0.8125rem; }
}
"""


class RowsTable(JSComponent):
    """Rows with a name, a note and numbers.

    Parameters
    ----------
    when_pointed : callable
        Called with the place of a row that was clicked, or on which Enter was pressed.
    """

    label = param.String(doc="Name of the table for screen readers.")
    columns = param.List(item_type=dict, doc="Field, title, hint and kind of each column.")
    names = param.List(item_type=str, doc="Of the rows.")
    notes = param.List(item_type=str, doc="Smaller words below the names; may be empty.")
    mark = param.String(doc="What rows are called that stand out.")
    numbers = param.Dict(default={}, doc="By field a number or None for each row; in `mark` 1 or 0.")
    in_sight = param.List(item_type=int, doc="Places of the rows in sight.")
    selected = param.Integer(-1, doc="Place of the row that is pointed at, or -1.")
    sorted_by = param.List(default=["", False], doc="Field, and whether it descends, at first.")

    _esm = (files("bottomup.dashboard") / "rows_table.js").read_text(encoding="utf-8")
    _stylesheets: ClassVar[list[str]] = [_CSS]

    def __init__(self, when_pointed: Callable[[int], object], **more: Any) -> None:
        super().__init__(**more)
        self._when_pointed = when_pointed

    def _handle_msg(self, msg: object) -> None:
        place = msg.get("row") if isinstance(msg, dict) else None
        if isinstance(place, int) and 0 <= place < len(self.names):
            self._when_pointed(place)
