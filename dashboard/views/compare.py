"""Compare ε: what another limit on the influence of a testimony would buy, from the plans at hand."""

import html
from typing import Any

import pandas as pd
import panel as pn
from bokeh.events import Tap
from bokeh.plotting import figure

from bottomup.dashboard.binning import Bins, choose_bins
from bottomup.dashboard.chart_tables import tradeoff_table
from bottomup.dashboard.early import FEW_PLANS
from bottomup.dashboard.session import Session
from bottomup.dashboard.state import EPSILONS
from bottomup.dashboard.tradeoff import AtEpsilon, LadderLook, tradeoff_sentence
from bottomup.dashboard.tradeoff_figure import TradeoffPlot, ladder_plot, tradeoff_plot
from bottomup.dashboard.views.following import follow
from bottomup.dashboard.views.guard import guarded
from bottomup.dashboard.views.numbers import NumbersTable, disclosure
from bottomup.dashboard.views.style import TEXT_STYLE, key, room_for, say, segments
from bottomup.dashboard.wording import SCORE_TITLES

__all__ = ["CompareView"]

_PARTS = {"What ε buys": "curve", "ε by ε": "ladder", "Both scores": "both"}
_ODDS = "ε, and how far one testimony can change the odds"
_LADDER = (0.0, 0.2, 0.5, 1.0, 2.0, 5.0)


class CompareView(pn.viewable.Viewer):
    """A score by ε as a curve and as histograms, and both scores on the same plans.

    Parameters
    ----------
    session : Session
    """

    def __init__(self, session: Session) -> None:
        super().__init__()
        self._session = session
        self._look = LadderLook(EPSILONS)
        self._bins: Bins | None = None
        self._drawn: tuple[object, ...] = ()
        kinds = ["testimony", "cluster"] if session.prepared.has_clusters else ["testimony"]
        self._part = segments(
            "What to look at",
            {label: part for label, part in _PARTS.items() if part != "both" or len(kinds) > 1},
            "curve",
        )
        self._words = pn.pane.HTML(**TEXT_STYLE, sizing_mode="stretch_width", styles=room_for(3))
        self._curve = tradeoff_plot(_ODDS, EPSILONS)
        self._ladder = ladder_plot()
        self._both = {kind: tradeoff_plot(_ODDS if kind == kinds[-1] else "", EPSILONS) for kind in kinds}
        self._curve.figure.name, self._ladder.figure.name = "tradeoff", "ladder"
        for plot in (self._curve, *self._both.values()):
            plot.figure.on_event(Tap, guarded(self._choose))
        self._ladder.figure.on_event(Tap, guarded(self._choose_row))
        curve_key = _wide(
            key(
                ("bar", "average"),
                ("box", "middle 90 %"),
                ("circle", "few plans: early"),
            )
        )
        both: list[pn.viewable.Viewable] = []
        for kind, plot in self._both.items():
            both += [_wide(f"<h2>{SCORE_TITLES[kind]}</h2>"), _chart(plot.figure, "8rem")]
        self._frames = {
            "curve": pn.Column(curve_key, _chart(self._curve.figure, "12rem"), **_FILL),
            "ladder": pn.Column(_chart(self._ladder.figure, "16rem"), **_FILL),
            "both": pn.Column(*both, **_FILL),
        }
        self._table = NumbersTable(lambda: "Scores by ε", self._make_table)
        self._more = disclosure("As a table", self._table)
        self._frame = pn.Column(
            self._frames["curve"], **_FILL, styles={"flex": "1 0 20rem", "min-height": "0"}
        )
        self._layout = pn.Column(
            self._part,
            self._words,
            self._frame,
            self._more,
            sizing_mode="stretch_both",
            margin=0,
            styles={"overflow-y": "auto", "overflow-x": "hidden"},
        )
        self._part.param.watch(lambda *_: self._switch(), "value")
        self._more.param.watch(lambda *_: self._fill_table(), "active")
        follow(session.settings, ["epsilon", "score", "enacted"], self.refresh)

    def __panel__(self) -> pn.viewable.Viewable:
        return self._layout

    def _choose(self, event: Tap) -> None:
        if event.x is not None:
            self._choose_epsilon(self._curve.epsilon_at(event.x))

    def _choose_row(self, event: Tap) -> None:
        rows = self._rows()
        if event.y is not None and 0 <= event.y < len(rows):
            self._choose_epsilon(rows[len(rows) - 1 - int(event.y)])

    def _choose_epsilon(self, epsilon: float) -> None:
        if epsilon in self._session.epsilons:
            self._session.settings.epsilon = epsilon

    def _rows(self) -> list[float]:
        """Some ε from 0 up, as far as there are plans, and the chosen one among them."""
        session = self._session
        return sorted({*_LADDER, session.settings.epsilon} & {*session.epsilons})

    def _found(self) -> list[AtEpsilon]:
        standing = self._session.worker.progress.standing
        return [] if standing is None else self._look.at(standing.recorded, standing.rounds) or []

    def _switch(self) -> None:
        # Filled before it is sent.
        self._drawn = ()
        self.refresh()
        self._frame.objects = [self._frames[self._part.value]]

    def refresh(self) -> None:
        """Draw the part in sight, when there is anything new."""
        session = self._session
        settings = session.settings
        found = self._found()
        now = (found, settings.epsilon, settings.score, settings.enacted)
        if self._look.error:
            words = f"The scores could not be measured: {html.escape(self._look.error)}"
            say(self._words, f'<p class="error" role="alert">{words}</p>')
            self._drawn = ()
        elif not found:
            say(self._words, "<p>Waiting for the first plans at every ε.</p>")
        elif now != self._drawn:
            self._drawn = now
            {"curve": self._draw_curve, "ladder": self._draw_ladder, "both": self._draw_both}[
                self._part.value
            ](found)
            self._fill_table()

    def _draw_curve(self, found: list[AtEpsilon]) -> None:
        session, kind = self._session, self._session.settings.score
        self._curve.figure.yaxis.axis_label = SCORE_TITLES[kind]
        self._fill(self._curve, kind, found)
        say(
            self._words,
            f"<p>{tradeoff_sentence(kind, found, session.settings.epsilon)} Tap the curve to take another "
            "ε.</p>",
        )

    def _draw_ladder(self, found: list[AtEpsilon]) -> None:
        session, kind = self._session, self._session.settings.score
        shown = [each for each in found if each.epsilon in self._rows()]
        enacted = session.enacted_numbers.score(kind)
        step = session.problem.sensitivity("testimony").delta if kind == "testimony" else None
        values = [each.scores[kind] for each in shown]
        self._bins = choose_bins([*values, [enacted]], step=step, before=self._bins)
        self._ladder.figure.xaxis.axis_label = SCORE_TITLES[kind]
        self._ladder.fill(kind, shown, self._bins, chosen=session.settings.epsilon, enacted=enacted)
        say(
            self._words,
            "<p>Each row holds the plans at one ε; below it stands how far any one testimony can change the "
            "odds of a plan. The dotted line is their average. The shaded row is in use: tap another to "
            f"take it.{_hatched(shown)}</p>",
        )

    def _draw_both(self, found: list[AtEpsilon]) -> None:
        score = self._session.settings.score
        for kind, plot in self._both.items():
            self._fill(plot, kind, found)
        say(
            self._words,
            f"<p>All plans are sampled for one score, the <b>{SCORE_TITLES[score].lower()}</b>, and "
            "measured by both. What is not sampled for rises only as far as the two go together.</p>",
        )

    def _fill(self, plot: TradeoffPlot, kind: str, found: list[AtEpsilon]) -> None:
        session = self._session
        plot.fill(kind, found, chosen=session.settings.epsilon, enacted=session.enacted_numbers.score(kind))

    def _fill_table(self) -> None:
        """Only while it is in sight."""
        if self._more.active:
            self._table.refresh()

    def _make_table(self) -> pd.DataFrame | None:
        found = self._found()
        return tradeoff_table(found, list(self._both)) if found else None


def _hatched(shown: list[AtEpsilon]) -> str:
    few = any(each.n_effective < FEW_PLANS for each in shown)
    return " Hatched rows rest on few plans: early." if few else ""


_FILL: dict[str, Any] = {"sizing_mode": "stretch_both", "margin": 0}


def _wide(words: str) -> pn.pane.HTML:
    return pn.pane.HTML(words, **TEXT_STYLE, sizing_mode="stretch_width")


def _chart(plot: figure, least: str) -> pn.Column:
    """A chart with a least height in its style, not in the layout: the page must not grow with it."""
    return pn.Column(
        pn.pane.Bokeh(plot, sizing_mode="stretch_both", margin=0),
        sizing_mode="stretch_both",
        margin=0,
        styles={"flex": f"1 0 {least}", "min-height": "0"},
    )
