"""How does it compare with what is possible? Both scores against the baseline and the enacted plan."""

from functools import partial

import pandas as pd
import panel as pn
from bokeh.events import DoubleTap, SelectionGeometry, Tap

from bottomup.dashboard.binning import Bins, choose_bins
from bottomup.dashboard.chart_tables import scores_table
from bottomup.dashboard.early import early_words
from bottomup.dashboard.histogram_figure import HistogramPlot, histogram_plot
from bottomup.dashboard.selection import Span
from bottomup.dashboard.session import Session
from bottomup.dashboard.state import BarPlan
from bottomup.dashboard.views.following import follow
from bottomup.dashboard.views.guard import guarded
from bottomup.dashboard.views.numbers import NumbersTable, chart_saving, disclosure
from bottomup.dashboard.views.picked import PickedView
from bottomup.dashboard.views.span import SpanView
from bottomup.dashboard.views.style import TEXT_STYLE, key, room_for, say
from bottomup.dashboard.wording import (
    SCORE_TITLES,
    comparison,
    number_of_plans,
    reference_line,
    reliability_line,
)

__all__ = ["HistogramsView"]

_HINT = "Tap a bar for a plan from it. Drag across bars to pick plans out."


class HistogramsView(pn.viewable.Viewer):
    """Histograms; a tap on a bar shows a plan from it, a drag picks out the plans of several bars.

    Parameters
    ----------
    session : Session
    """

    def __init__(self, session: Session) -> None:
        super().__init__()
        self._session = session
        self._plots: dict[str, HistogramPlot] = {}
        self._bins: dict[str, Bins] = {}
        self._sentences: dict[str, pn.pane.HTML] = {}
        self._drawn: tuple[object, ...] = ()
        kinds = ["testimony", "cluster"] if session.prepared.has_clusters else ["testimony"]
        self._picked = PickedView(session, _HINT)
        rows: list[pn.viewable.Viewable] = [
            pn.pane.HTML(
                key(("bar", "this ensemble"), ("outline", "baseline, testimony ignored")),
                **TEXT_STYLE,
                sizing_mode="stretch_width",
            ),
            self._picked,
        ]
        for kind in kinds:
            rows += self._chart(kind)
        self._plans = pn.pane.HTML(**TEXT_STYLE, sizing_mode="stretch_width", styles=room_for(2))
        self._span = SpanView(session, self._bins)
        self._tables = {
            kind: NumbersTable(
                partial(self._caption, kind),
                partial(self._table, kind),
                chart_saving(session, f"plans_by_{kind}_score.csv", partial(self._table, kind)),
            )
            for kind in kinds
        }
        self._more = disclosure(
            "Pick plans by their score, and as a table", self._span, *self._tables.values()
        )
        self._more.param.watch(lambda *_: self._fill_tables(), "active")
        self._layout = pn.Column(
            *rows,
            self._plans,
            self._more,
            sizing_mode="stretch_both",
            margin=0,
            styles={"overflow-y": "auto", "overflow-x": "hidden"},
        )
        follow(session.shown, ["chosen", "kind"], self.refresh)
        follow(session.selection, ["pointed", "span"], self.refresh)

    def __panel__(self) -> pn.viewable.Viewable:
        return self._layout

    def _chart(self, kind: str) -> list[pn.viewable.Viewable]:
        plot = self._plots[kind] = histogram_plot(SCORE_TITLES[kind])
        plot.figure.name = f"histogram-{kind}"
        # Of two quick taps the second comes as a double tap, and it asks for the next plan all the same.
        for tap in (Tap, DoubleTap):
            plot.figure.on_event(tap, guarded(partial(self._choose, kind)))
        plot.figure.on_event(SelectionGeometry, guarded(partial(self._drag, kind)))
        self._sentences[kind] = pn.pane.HTML(
            stylesheets=TEXT_STYLE["stylesheets"],
            margin=(4, 0, 0, 0),
            sizing_mode="stretch_width",
            styles=room_for(2),
        )
        # The least height in the style, not in the layout: the page must not grow with it.
        chart = pn.Column(
            pn.pane.Bokeh(plot.figure, sizing_mode="stretch_both", margin=0),
            sizing_mode="stretch_both",
            margin=0,
            styles={"flex": "1 0 9rem", "min-height": "0"},
        )
        return [self._sentences[kind], chart]

    def _choose(self, kind: str, event: Tap | DoubleTap) -> None:
        bins = self._bins.get(kind)
        bar = None if bins is None or event.x is None else bins.span_of(event.x, event.x)
        if bar is not None:
            self._session.selection.span = Span(kind, *bar)
            self._session.choose_from_bar(kind, *bar)

    def _drag(self, kind: str, event: SelectionGeometry) -> None:
        bins = self._bins.get(kind)
        if bins is None or not event.final:
            return
        ends = bins.span_of(event.geometry["x0"], event.geometry["x1"])
        if ends is not None:
            self._session.selection.span = Span(kind, *ends)

    def refresh(self) -> None:
        """Draw the latest scores."""
        session = self._session
        progress, selection = session.worker.progress, session.selection
        now = (
            progress.standing,
            progress.reliability,
            session.settings.epsilon,
            session.settings.enacted,
            session.shown.kind,
            session.shown.chosen,
            selection.pointed,
            selection.span,
        )
        if now == self._drawn:
            return
        sample, ignoring = session.sample(), session.baseline()
        if sample is None or ignoring is None:
            return
        self._drawn = now
        subset = session.subset_of(sample)
        early = early_words(sample.n_effective, sample.epsilon, progress.reliability)
        for kind, plot in self._plots.items():
            values, reference = sample.scores(kind), ignoring.scores(kind)
            enacted = session.enacted_numbers.score(kind)
            step = session.problem.sensitivity("testimony").delta if kind == "testimony" else None
            bins = choose_bins([values, reference, [enacted]], step=step, before=self._bins.get(kind))
            self._bins[kind] = bins
            plot.fill(
                bins,
                values,
                reference,
                enacted=enacted,
                rows=None if subset is None else subset.rows,
                marked_bar=self._marked_bar(kind),
                early=early,
            )
            say(self._sentences[kind], f"<p>{comparison(kind, values, enacted)}</p>")
        self._picked.show(sample, subset)
        self._span.refresh()
        self._fill_tables()
        say(
            self._plans,
            f"{reliability_line(progress, session.settings.epsilon)}"
            f'<p class="quiet">{number_of_plans(sample)}</p>',
        )

    def _marked_bar(self, kind: str) -> int | None:
        """The bar from which the plan on the map comes."""
        shown = self._session.shown
        chosen = shown.chosen if shown.kind == "chosen" else None
        if not isinstance(chosen, BarPlan) or chosen.score != kind:
            return None
        bar = int(self._bins[kind].bar_of((chosen.low + chosen.high) / 2))
        return bar if bar >= 0 else None

    def _fill_tables(self) -> None:
        """Only while they are in sight: two long tables a second would be much to send."""
        if self._more.active:
            for table in self._tables.values():
                table.refresh()

    def _caption(self, kind: str) -> str:
        ignoring, enacted = self._session.baseline(), self._session.enacted_numbers.score(kind)
        if ignoring is None:
            return SCORE_TITLES[kind]
        return f"{SCORE_TITLES[kind]}: {reference_line(ignoring.scores(kind), enacted)}."

    def _table(self, kind: str) -> pd.DataFrame | None:
        bins, session = self._bins.get(kind), self._session
        sample, ignoring = session.sample(), session.baseline()
        if bins is None or sample is None or ignoring is None:
            return None
        subset, scores = session.subset_of(sample), sample.scores(kind)
        picked = None if subset is None else scores[subset.rows]
        return scores_table(bins, scores, ignoring.scores(kind), picked)
