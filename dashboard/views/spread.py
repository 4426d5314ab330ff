"""Who ends up where? Shares of people by ranked district."""

import html
from typing import Literal

import panel as pn
import panel_material_ui as pmui

from bottomup.dashboard.plots import BoxPlot, box_plot
from bottomup.dashboard.session import Session
from bottomup.dashboard.views.style import TEXT_STYLE, THEME, key, room_for, say
from bottomup.sampler.shares import judged_shares

__all__ = ["SpreadView"]

Kind = Literal["group", "election"]
_KINDS: dict[Kind, str] = {"group": "Group", "election": "Election"}
_MISSING: dict[Kind, str] = {
    "group": (
        "The units have no columns of voting-age people and of groups of them, such as Black voting-age "
        "people, so that spread is left out."
    ),
    "election": "The units have no columns of Democratic and Republican votes, so that spread is left out.",
}


class SpreadView(pn.viewable.Viewer):
    """Box plots by ranked district, against the enacted plan: one of a group, one of an election.

    Where a map has several groups or elections the viewer chooses one of them.

    Parameters
    ----------
    session : Session
    """

    def __init__(self, session: Session) -> None:
        super().__init__()
        self._session = session
        self._charts: list[_Chart] = []
        rows: list[pn.viewable.Viewable] = []
        if session.prepared.shares:
            rows.append(
                pn.pane.HTML(
                    key(
                        ("box", "middle half of plans; lines reach the middle 90 %"),
                        ("point", "enacted plan"),
                    ),
                    **TEXT_STYLE,
                    sizing_mode="stretch_width",
                )
            )
        for kind in _KINDS:
            if not any(share.kind == kind for share in session.prepared.shares.values()):
                rows.append(
                    pn.pane.HTML(f"<p>{_MISSING[kind]}</p>", **TEXT_STYLE, sizing_mode="stretch_width")
                )
                continue
            chart = _Chart(session, kind)
            self._charts.append(chart)
            rows += chart.rows
        self._plans = pn.pane.HTML(**TEXT_STYLE, sizing_mode="stretch_width", styles=room_for(2))
        self._layout = pn.Column(*rows, self._plans, sizing_mode="stretch_both", margin=0)

    def __panel__(self) -> pn.viewable.Viewable:
        return self._layout

    def refresh(self) -> None:
        """Draw the latest shares."""
        sample = self._session.sample()
        if sample is None or not self._charts:
            return
        for chart in self._charts:
            chart.refresh()
        say(
            self._plans,
            f'<p class="quiet">From {sample.n_plans:,} plans. In every plan the '
            "districts are put in order first, so a box tells of the lowest, the second lowest and so on, "
            f"not of one place.{self._judged()}</p>",
        )

    def _judged(self) -> str:
        """Which shares walks are to agree on, where there are others."""
        shares = self._session.prepared.shares
        judged = judged_shares(shares)
        if len(judged) == len(shares):
            return ""
        names = " and ".join(html.escape(shares[name].of) for name in judged)
        return f" Whether walks agree is judged by {names} alone."


class _Chart:
    """The box plot of one share of a kind, and the choice of it where there are several."""

    def __init__(self, session: Session, kind: Kind) -> None:
        self._session = session
        self._kind = kind
        names = {share.of: name for name, share in session.prepared.shares.items() if share.kind == kind}
        self._name = next(iter(names.values()))
        self._plot: BoxPlot = box_plot("", self._ranks(), session.n_districts)
        self._title = pn.pane.HTML(
            self._heading(),
            stylesheets=TEXT_STYLE["stylesheets"],
            margin=(8, 0, 0, 0),
            sizing_mode="stretch_width",
        )
        head: pn.viewable.Viewable = self._title
        if len(names) > 1:
            choice = pmui.Select(
                label=_KINDS[kind],
                options=names,
                value=self._name,
                size="small",
                variant="outlined",
                margin=(6, 0, 2, 12),
                theme_config=THEME,
                styles={"flex": "none", "width": "14rem"},
            )
            choice.param.watch(self._choose, "value")
            head = pn.Row(self._title, choice, sizing_mode="stretch_width", margin=0)
        self.rows = [
            head,
            pn.pane.Bokeh(self._plot.figure, sizing_mode="stretch_both", margin=0, min_height=120),
        ]

    def _choose(self, event: object) -> None:
        self._name = event.new  # type: ignore[attr-defined]
        say(self._title, self._heading())
        self._plot.figure.xaxis[0].axis_label = self._ranks()
        self.refresh()

    def _heading(self) -> str:
        of = html.escape(self._session.prepared.shares[self._name].of)
        if self._kind == "group":
            return f"<h2>{of} share of voting-age people</h2>"
        return f"<h2>Democratic share of two-party votes, {of}</h2>"

    def _ranks(self) -> str:
        if self._kind == "election":
            return "districts from the least Democratic to the most"
        of = self._session.prepared.shares[self._name].of
        return f"districts from the lowest {of} share to the highest"

    def refresh(self) -> None:
        """Draw the latest shares."""
        sample = self._session.sample()
        if sample is not None:
            enacted = self._session.enacted_numbers.shares
            self._plot.fill(sample.plans.shares[self._name], enacted[self._name])
