"""How does it compare? Histograms of both scores against the baseline and the enacted plan."""

from functools import partial

import panel as pn
from bokeh.events import DoubleTap, Tap

from bottomup.dashboard.binning import Bins, choose_bins
from bottomup.dashboard.plots import HistogramPlot, histogram_plot
from bottomup.dashboard.session import Session
from bottomup.dashboard.state import BarPlan
from bottomup.dashboard.views.style import TEXT_STYLE, key, room_for
from bottomup.dashboard.wording import SCORE_TITLES, comparison, number_of_plans, reliability_line

__all__ = ["HistogramsView"]


class HistogramsView(pn.viewable.Viewer):
    """Histograms; a tap on a bar shows a plan from it.

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
        kinds = ["testimony", "cluster"] if session.prepared.has_clusters else ["testimony"]
        rows: list[pn.viewable.Viewable] = [
            pn.pane.HTML(
                key(
                    ("bar", "this ensemble"),
                    ("outline", "baseline, testimony ignored"),
                    ("mean", "its mean"),
                    ("enacted", "enacted plan"),
                ),
                **TEXT_STYLE,
                sizing_mode="stretch_width",
            )
        ]
        for kind in kinds:
            plot = self._plots[kind] = histogram_plot(SCORE_TITLES[kind])
            plot.figure.name = f"histogram-{kind}"
            # Of two quick taps the second comes as a double tap, and it asks for the next plan all the same.
            for tap in (Tap, DoubleTap):
                plot.figure.on_event(tap, partial(self._choose, kind))
            self._sentences[kind] = pn.pane.HTML(
                stylesheets=TEXT_STYLE["stylesheets"],
                margin=(6, 0, 0, 0),
                sizing_mode="stretch_width",
                styles=room_for(3),
            )
            rows += [
                self._sentences[kind],
                pn.pane.Bokeh(plot.figure, sizing_mode="stretch_both", margin=0, min_height=120),
            ]
        self._plans = pn.pane.HTML(**TEXT_STYLE, sizing_mode="stretch_width", styles=room_for(3))
        self._layout = pn.Column(*rows, self._plans, sizing_mode="stretch_both", margin=0)
        session.shown.param.watch(lambda *_: self.refresh(), ["chosen", "kind"])

    def __panel__(self) -> pn.viewable.Viewable:
        return self._layout

    def _choose(self, kind: str, event: Tap | DoubleTap) -> None:
        bins = self._bins.get(kind)
        if bins is None or event.x is None:
            return
        bar = int(bins.bar_of(event.x))
        if bar >= 0:
            low, high = bins.edges[bar], bins.edges[bar + 1]
            self._session.choose_from_bar(kind, float(low), float(high))

    def refresh(self) -> None:
        """Draw the latest scores."""
        session = self._session
        sample, ignoring = session.sample(), session.baseline()
        if sample is None or ignoring is None:
            return
        chosen = session.shown.chosen if session.shown.kind == "chosen" else None
        for kind, plot in self._plots.items():
            values, reference = sample.scores(kind), ignoring.scores(kind)
            enacted = session.enacted_numbers.score(kind)
            step = session.problem.sensitivity("testimony").delta if kind == "testimony" else None
            bins = choose_bins([values, reference, [enacted]], step=step, before=self._bins.get(kind))
            self._bins[kind] = bins
            marked = None
            if isinstance(chosen, BarPlan) and chosen.score == kind:
                bar = int(bins.bar_of((chosen.low + chosen.high) / 2))
                marked = bar if bar >= 0 else None
            plot.fill(bins, values, reference, enacted=enacted, marked_bar=marked)
            self._sentences[kind].object = f"<p>{comparison(kind, values, reference, enacted)}</p>"
        self._plans.object = (
            f"{reliability_line(session.worker.progress, session.settings.epsilon)}"
            f'<p class="quiet">{number_of_plans(sample)} Tap a bar to see a plan from it.</p>'
        )
