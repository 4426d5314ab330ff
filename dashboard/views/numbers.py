"""The numbers of a chart as a table, for those who cannot see it or want to work with them."""

import html
from collections.abc import Callable

import pandas as pd
import panel as pn
import panel_material_ui as pmui

from bottomup.dashboard.session import Session
from bottomup.dashboard.views.style import TEXT_STYLE, THEME, say
from bottomup.dashboard.views.table_saving import SavedTable, TableSaving

__all__ = ["NumbersTable", "chart_saving", "disclosure", "numbers_table"]

_CSS = """
.numbers { max-height: 18rem; overflow: auto; }
table { border-collapse: collapse; font-size: 0.9375rem; }
caption { text-align: left; padding-bottom: 4px; color: var(--quiet, #4d5864); }
th { text-align: right; font-weight: 400; color: var(--quiet, #4d5864); vertical-align: bottom; }
th, td { padding: 2px 14px 2px 0; border-bottom: 1px solid var(--faint, #e3e7ea); }
td { text-align: right; font-variant-numeric: tabular-nums; }
"""


class NumbersTable(pn.viewable.Viewer):
    """A table, with its numbers as a file if they may be saved.

    Parameters
    ----------
    caption : callable
        Says what the table is, in plain text.
    make : callable
        Makes the table, or gives None while there is nothing to tell.
    saving : TableSaving, optional
    """

    def __init__(
        self,
        caption: Callable[[], str],
        make: Callable[[], pd.DataFrame | None],
        saving: TableSaving | None = None,
    ) -> None:
        super().__init__()
        self._caption, self._make = caption, make
        self._table = pn.pane.HTML(
            stylesheets=[*TEXT_STYLE["stylesheets"], _CSS], margin=0, sizing_mode="stretch_width"
        )
        parts = [] if saving is None else [saving.button, saving]
        self._layout = pn.Column(self._table, *parts, sizing_mode="stretch_width", margin=(0, 0, 8, 0))

    def __panel__(self) -> pn.viewable.Viewable:
        return self._layout

    def refresh(self) -> None:
        """Fill the table with the latest numbers."""
        frame = self._make()
        say(
            self._table,
            '<p class="quiet">Waiting for the first plans.</p>'
            if frame is None
            else numbers_table(frame, self._caption()),
        )


def chart_saving(session: Session, ending: str, make: Callable[[], pd.DataFrame | None]) -> TableSaving:
    """Let a table of a chart be saved as CSV: a release of the plans that the chart is drawn from.

    Parameters
    ----------
    session : Session
    ending : str
        Of the file's name.
    make : callable
        As `NumbersTable` has it.
    """

    def table() -> SavedTable | None:
        sample, frame = session.sample(), make()
        if sample is None or frame is None:
            return None
        return SavedTable(sample, lambda: frame.to_csv(index=False))

    return TableSaving(
        session,
        how="table of a chart as CSV",
        ending=ending,
        about="The table as it stands here.",
        make=table,
    )


def numbers_table(frame: pd.DataFrame, caption: str) -> str:
    """A table as HTML, which can be read row by row and scrolled with the keyboard."""
    head = "".join(f'<th scope="col">{html.escape(str(name))}</th>' for name in frame.columns)
    rows = "".join(
        f"<tr>{''.join(f'<td>{html.escape(_cell(value))}</td>' for value in row)}</tr>"
        for row in frame.itertuples(index=False)
    )
    return (
        f'<div class="numbers" tabindex="0"><table><caption>{html.escape(caption)}</caption>'
        f"<thead><tr>{head}</tr></thead><tbody>{rows}</tbody></table></div>"
    )


def _cell(value: object) -> str:
    if isinstance(value, float):
        return "" if value != value else f"{value:g}"
    return f"{value:,}" if isinstance(value, int) else str(value)


def disclosure(title: str, *parts: pn.viewable.Viewable) -> pmui.Accordion:
    """A heading that opens what lies below it, closed at first."""
    return pmui.Accordion(
        (title, pn.Column(*parts, sizing_mode="stretch_width", margin=0)),
        sizing_mode="stretch_width",
        margin=0,
        theme_config=THEME,
        elevation=0,
        title_variant="body2",
        disable_gutters=True,
        sx=_DISCLOSURE,
        styles={"flex": "none"},
    )


_DISCLOSURE = {
    "& .MuiAccordionSummary-root": {"minHeight": "2rem", "padding": 0},
    "& .MuiAccordionSummary-content": {"margin": 0},
    "& .MuiAccordionDetails-root": {"padding": 0},
}
