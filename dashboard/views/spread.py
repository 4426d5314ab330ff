"""Who ends up where? Shares of people by ranked district."""

import html

import numpy as np
import panel as pn
from numpy.typing import NDArray

from bottomup.dashboard.early import early_words
from bottomup.dashboard.selection import District, Unit
from bottomup.dashboard.session import Session
from bottomup.dashboard.views.following import follow
from bottomup.dashboard.views.numbers import disclosure
from bottomup.dashboard.views.picked import PickedView
from bottomup.dashboard.views.spread_chart import KINDS, Kind, SpreadChart
from bottomup.dashboard.views.style import TEXT_STYLE, key, room_for, say
from bottomup.sampler.shares import judged_shares

__all__ = ["SpreadView"]

_MISSING: dict[Kind, str] = {
    "group": (
        "The units have no columns of voting-age people and of groups of them, such as Black voting-age "
        "people, so that spread is left out."
    ),
    "election": "The units have no columns of Democratic and Republican votes, so that spread is left out.",
}
_HINT = "Tap a box to find that district of the plan on the map."


class SpreadView(pn.viewable.Viewer):
    """Box plots by ranked district, against the enacted plan: one of a group, one of an election.

    Where a map has several groups or elections the viewer chooses one of them. A tap on a box points at the
    district of the plan on the map that has its rank.

    Parameters
    ----------
    session : Session
    """

    def __init__(self, session: Session) -> None:
        super().__init__()
        self._session = session
        self._drawn: tuple[object, ...] = ()
        self._charts: list[SpreadChart] = []
        self._picked = PickedView(session, _HINT)
        rows: list[pn.viewable.Viewable] = []
        if session.prepared.shares:
            rows.append(
                pn.pane.HTML(
                    key(
                        ("box", "half of the plans; with the lines 90 %"),
                        ("point", "enacted plan"),
                    ),
                    **TEXT_STYLE,
                    sizing_mode="stretch_width",
                )
            )
            rows.append(self._picked)
        for kind in KINDS:
            if not any(share.kind == kind for share in session.prepared.shares.values()):
                rows.append(
                    pn.pane.HTML(f"<p>{_MISSING[kind]}</p>", **TEXT_STYLE, sizing_mode="stretch_width")
                )
                continue
            chart = SpreadChart(session, kind, self._redraw)
            self._charts.append(chart)
            rows += chart.rows
        self._plans = pn.pane.HTML(**TEXT_STYLE, sizing_mode="stretch_width", styles=room_for(2))
        rows.append(self._plans)
        if self._charts:
            self._more = disclosure("As a table", *(chart.table for chart in self._charts))
            self._more.param.watch(lambda *_: self._fill_tables(), "active")
            rows.append(self._more)
        self._layout = pn.Column(
            *rows,
            sizing_mode="stretch_both",
            margin=0,
            styles={"overflow-y": "auto", "overflow-x": "hidden"},
        )
        follow(session.selection, ["pointed", "span"], self.refresh)
        follow(session.shown, ["chosen", "kind"], self.refresh)

    def __panel__(self) -> pn.viewable.Viewable:
        return self._layout

    def _redraw(self) -> None:
        self._drawn = ()
        self.refresh()

    def refresh(self) -> None:
        """Draw the latest shares."""
        session = self._session
        progress, selection = session.worker.progress, session.selection
        shown = session.shown_plan()
        now = (
            progress.standing,
            progress.reliability,
            session.settings.epsilon,
            session.settings.enacted,
            shown.title,
            id(shown.assignment),
            selection.pointed,
            selection.span,
        )
        if now == self._drawn or not self._charts:
            return
        sample = session.sample()
        if sample is None:
            return
        self._drawn = now
        subset = session.subset_of(sample)
        district = self._district(shown.assignment)
        early = early_words(sample.n_effective, sample.epsilon, progress.reliability)
        words = [chart.fill(sample, subset, shown.assignment, district, early) for chart in self._charts]
        self._picked.show(sample, subset)
        self._fill_tables()
        say(
            self._plans,
            f'<p class="quiet">From {sample.n_plans:,} plans. In every plan the '
            "districts are put in order first, so a box tells of the lowest, the second lowest and so on, "
            f"not of one place.{self._judged()}</p>"
            if district is None
            else self._marked_words(district, shown.names, words),
        )

    def _district(self, assignment: NDArray[np.int32]) -> int | None:
        """Place of the district pointed at, itself or by one of its units."""
        pointed = self._session.selection.pointed
        if isinstance(pointed, Unit):
            return int(assignment[pointed.place])
        return pointed.place if isinstance(pointed, District) else None

    def _marked_words(self, district: int, names: tuple[str, ...], ranks: list[str]) -> str:
        """What is marked in the charts, as HTML."""
        pointed = self._session.selection.pointed
        words = f"District <b>{html.escape(names[district])}</b> of the plan on the map is marked (◇)"
        if isinstance(pointed, Unit):
            unit = self._session.prepared.inputs.geography.ids[pointed.place]
            words += f", in which unit {html.escape(unit)} lies"
        return f'<p role="status">{words}: {"; ".join(ranks)}.</p>'

    def _fill_tables(self) -> None:
        """Only while they are in sight."""
        if self._more.active:
            for chart in self._charts:
                chart.table.refresh()

    def _judged(self) -> str:
        """Which shares walks are to agree on, where there are others."""
        shares = self._session.prepared.shares
        judged = judged_shares(shares)
        if len(judged) == len(shares):
            return ""
        names = " and ".join(html.escape(shares[name].of) for name in judged)
        return f" Whether walks agree is judged by {names} alone."
