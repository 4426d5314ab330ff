"""One box plot of a share by ranked district, with the choice of the share and its numbers."""

import html
from collections.abc import Callable
from typing import Literal

import numpy as np
import pandas as pd
import panel as pn
import panel_material_ui as pmui
from bokeh.events import Tap
from numpy.typing import NDArray

from bottomup.dashboard.box_figure import BoxPlot, box_plot
from bottomup.dashboard.chart_tables import shares_table
from bottomup.dashboard.pool import Sample
from bottomup.dashboard.selection import District, Subset
from bottomup.dashboard.session import Session
from bottomup.dashboard.views.following import follow
from bottomup.dashboard.views.guard import guarded
from bottomup.dashboard.views.numbers import NumbersTable, chart_saving
from bottomup.dashboard.views.style import TEXT_STYLE, THEME, say
from bottomup.dashboard.wording import ranks_title, share_title
from bottomup.sampler.statistics import district_shares

__all__ = ["KINDS", "Kind", "SpreadChart"]

Kind = Literal["group", "election"]
KINDS: dict[Kind, str] = {"group": "Group", "election": "Election"}
"""Kinds of shares, and what the choice among them is called."""


class SpreadChart:
    """The box plot of one share of a kind, and the choice of it where there are several.

    Parameters
    ----------
    session : Session
    kind : {"group", "election"}
    redraw : callable
        Called when another share is chosen.

    Attributes
    ----------
    rows : list of panel.viewable.Viewable
        From top to bottom.
    table : NumbersTable
    """

    def __init__(self, session: Session, kind: Kind, redraw: Callable[[], None]) -> None:
        self._session = session
        self._kind = kind
        self._redraw = redraw
        names = {share.of: name for name, share in session.prepared.shares.items() if share.kind == kind}
        self._name = next(iter(names.values()))
        self._plot: BoxPlot = box_plot("", self._ranks(), session.n_districts)
        self._plot.figure.name = f"spread-{kind}"
        self._plot.figure.on_event(Tap, guarded(self._point))
        self._title = pn.pane.HTML(
            self._heading(),
            stylesheets=TEXT_STYLE["stylesheets"],
            margin=(8, 0, 0, 0),
            sizing_mode="stretch_width",
        )
        head: pn.viewable.Viewable = self._title
        if len(names) > 1:
            self._choice = pmui.Select(
                label=KINDS[kind],
                options=names,
                value=self._name,
                size="small",
                variant="outlined",
                margin=(6, 0, 2, 12),
                theme_config=THEME,
                # The width in the style, which grows with the words, is used only without one in the layout.
                width=None,
                styles={"flex": "none", "width": "12rem"},
            )
            follow(self._choice, ["value"], self._choose)
            head = pn.Row(self._title, self._choice, sizing_mode="stretch_width", margin=0)
        # The least height in the style, not in the layout: the page must not grow with it.
        chart = pn.Column(
            pn.pane.Bokeh(self._plot.figure, sizing_mode="stretch_both", margin=0),
            sizing_mode="stretch_both",
            margin=0,
            styles={"flex": "1 0 9rem", "min-height": "0"},
        )
        self.rows: list[pn.viewable.Viewable] = [head, chart]
        self.table = NumbersTable(
            lambda: f"{self._name}: {self._ranks()}, shares in %",
            self._make_table,
            chart_saving(session, f"shares_by_{kind}.csv", self._make_table),
        )

    def _choose(self) -> None:
        self._name = self._choice.value
        say(self._title, self._heading())
        self._plot.figure.xaxis[0].axis_label = self._ranks()
        self._redraw()

    def _of(self) -> str:
        return self._session.prepared.shares[self._name].of

    def _heading(self) -> str:
        return f"<h2>{html.escape(share_title(self._session.prepared.shares[self._name]))}</h2>"

    def _ranks(self) -> str:
        return ranks_title(self._session.prepared.shares[self._name])

    def _by_district(self, assignment: NDArray[np.int32]) -> NDArray[np.float64]:
        """Share of each district of one plan."""
        share = self._session.prepared.shares[self._name]
        n_districts = self._session.n_districts
        return district_shares(assignment[None, :], n_districts, share.numerator, share.denominator)[0]

    def _point(self, event: Tap) -> None:
        """Point at the district of the plan on the map that has the rank of the box."""
        if event.x is None or not 1 <= (rank := round(event.x)) <= self._session.n_districts:
            return
        order = np.argsort(self._by_district(self._session.shown_plan().assignment), kind="stable")
        district, selection = District(int(order[rank - 1])), self._session.selection
        selection.pointed = None if selection.pointed == district else district

    def fill(
        self,
        sample: Sample,
        subset: Subset | None,
        assignment: NDArray[np.int32],
        district: int | None,
        early: str,
    ) -> str:
        """Show a sample, the plans picked out of it and a district of the plan on the map.

        Returns
        -------
        str
            Share and rank of the district as HTML; empty without one.
        """
        marked, words = None, ""
        if district is not None:
            shares = self._by_district(assignment)
            rank = int(np.flatnonzero(np.argsort(shares, kind="stable") == district)[0]) + 1
            what = "Democratic" if self._kind == "election" else html.escape(self._of())
            if np.isfinite(shares[district]):
                marked = (rank, float(shares[district]))
                words = f"{what} share {shares[district]:.1%}, number {rank} of {len(shares)} in the order"
            else:
                words = f"{what} share unknown, for nobody is counted there"
        self._plot.fill(
            sample.plans.shares[self._name],
            self._session.enacted_numbers.shares[self._name],
            rows=None if subset is None else subset.rows,
            marked=marked,
            early=early,
        )
        return words

    def _make_table(self) -> pd.DataFrame | None:
        sample = self._session.sample()
        if sample is None:
            return None
        shares, enacted = sample.plans.shares[self._name], self._session.enacted_numbers.shares[self._name]
        subset = self._session.subset_of(sample)
        parts = {"": shares} if subset is None else {"picked out, ": shares[subset.rows], "all, ": shares}
        return shares_table(enacted, parts)
