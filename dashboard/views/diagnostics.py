"""How far the walks can be relied on, for those who want to know why: figures, traces and moves."""

import html
import time
from collections.abc import Callable

import panel as pn
import panel_material_ui as pmui

from bottomup.dashboard.health import quantities_of, ranked_figures, trace_of
from bottomup.dashboard.health_words import (
    basis,
    exchange_table,
    figures_table,
    headline,
    moves_sentence,
    moves_table,
    remedies,
    run_table,
    title_of,
    trace_sentence,
)
from bottomup.dashboard.reliability import LEAST_PLANS
from bottomup.dashboard.session import Session
from bottomup.dashboard.trace_plot import LINES, trace_plot
from bottomup.dashboard.views.style import TEXT_STYLE, THEME, room_for, say, segments
from bottomup.dashboard.wording import number_of_plans
from bottomup.sampler.reweighting import neighbouring_rungs
from bottomup.sampler.shares import judged_shares

__all__ = ["DiagnosticsView"]

# Sorting, reading and drawing are done no oftener, unless something else is asked for.
_EVERY_SECONDS = 3.0
# A part that is shown for the first time is left alone for so long: changes must not overtake it.
_SETTLING_SECONDS = 1.0
_FEW_ROWS = 10


class DiagnosticsView(pn.viewable.Viewer):
    """The verdict in large words, what it rests on, and the figures behind it.

    Parameters
    ----------
    session : Session
    """

    def __init__(self, session: Session) -> None:
        super().__init__()
        self._session = session
        self._verdict = pn.pane.HTML(**_WORDS)
        self._basis = pn.pane.HTML(**_WORDS)
        self._choice = segments("What to look at", {name: name for name in _PARTS}, "Figures")
        self._parts: dict[str, _Part] = {}
        self._frame = pn.Column(sizing_mode="stretch_both", margin=0, styles={"flex": "none"})
        self._asked: tuple[object, ...] = ()
        self._filled_at = self._settled_at = 0.0
        self._show_part()
        self._settled_at = 0.0
        self._choice.param.watch(lambda *_: self._show_part(), "value")
        self._layout = pn.Column(
            self._verdict,
            self._basis,
            self._choice,
            self._frame,
            sizing_mode="stretch_both",
            margin=0,
            styles={"overflow-y": "auto", "overflow-x": "hidden"},
        )

    def __panel__(self) -> pn.viewable.Viewable:
        return self._layout

    def _show_part(self) -> None:
        """Show the chosen part, which is made when it is first asked for and filled before it is sent."""
        name = self._choice.value
        if name not in self._parts:
            self._parts[name] = _PARTS[name](self._session)
            self._settled_at = time.monotonic() + _SETTLING_SECONDS
        self._parts[name].refresh()
        self._frame.objects = [self._parts[name]]

    def refresh(self) -> None:
        """Say what is known now; figures and charts are brought up to date every few seconds."""
        now = time.monotonic()
        if now < self._settled_at:
            return
        session = self._session
        epsilon = session.settings.epsilon
        progress = session.worker.progress
        kind, words = headline(progress, epsilon)
        say(self._verdict, f'<div class="verdict {kind}" role="status">{words}</div>')
        found = progress.reliability
        is_judged = found is not None and found.epsilon == epsilon
        asked = (epsilon, is_judged, None if found is None else found.stuck, progress.phase)
        if asked == self._asked and now < self._filled_at + _EVERY_SECONDS:
            return
        self._asked, self._filled_at = asked, now
        say(self._basis, self._rests_on())
        self._parts[self._choice.value].refresh()

    def _rests_on(self) -> str:
        session = self._session
        progress, settings = session.worker.progress, session.settings
        found, standing, sample = progress.reliability, progress.standing, session.sample()
        if found is None or standing is None or found.epsilon != settings.epsilon:
            return ""
        stuck = f"<p>{html.escape(found.stuck)}</p>" if found.stuck else ""
        plans = "" if sample is None else f'<p class="quiet">{number_of_plans(sample)}</p>'
        n_plans = len(session.prepared.inputs.plans)
        help_ = remedies(found, settings.design, n_plans, standing.is_saved)
        rests_on = f"{basis(found, standing.recorded.starts, session.n_districts)}{plans}"
        return f"{stuck}{help_}{rests_on}" if found.stuck else f"{rests_on}{help_}"


class _FiguresPart(pn.viewable.Viewer):
    """R-hat and effective sizes of every quantity, the worst first."""

    def __init__(self, session: Session) -> None:
        super().__init__()
        self._session = session
        self._table = pn.pane.HTML(**_WORDS)
        self._all = pmui.Switch(label="Show all quantities", value=False, theme_config=THEME, visible=False)
        self._all.param.watch(lambda *_: self.refresh(), "value")
        self._layout = pn.Column(self._table, self._all, sizing_mode="stretch_width", margin=0)

    def __panel__(self) -> pn.viewable.Viewable:
        return self._layout

    def refresh(self) -> None:
        """Show the figures of the latest judgement."""
        session = self._session
        found, standing = session.worker.progress.reliability, session.worker.progress.standing
        if found is None or found.epsilon != session.settings.epsilon or not found.rungs:
            why = "they come with the first judgement"
            if standing is not None and standing.rounds >= standing.burn_in:
                why = (
                    f"each walk needs {LEAST_PLANS:,} plans on record, and has "
                    f"{standing.recorded.n_recorded:,}"
                )
            elif standing is not None:
                why = (
                    f"what is recorded in the first {standing.burn_in:,} rounds, in which the ε of the walks "
                    f"are placed, is not judged (round {standing.rounds:,} now)"
                )
            say(self._table, f"<p>No figures yet: {why}.</p>")
            self._all.visible = False
            return
        figures = ranked_figures(found.rungs)
        shown = figures if self._all.value else figures[:_FEW_ROWS]
        say(self._table, figures_table(shown, len(figures), session.n_districts))
        self._all.visible = len(figures) > _FEW_ROWS


class _RungChoice(pn.viewable.Viewer):
    """The choice of one of the rungs that the page shows: those around ε, and the baseline."""

    def __init__(self, session: Session, changed: Callable[[], None]) -> None:
        super().__init__()
        self._session = session
        self._select = pmui.Select(
            label="Walks at", options={"ε = 0": "baseline"}, value="baseline", **_FIELD
        )
        self._is_offering = False
        self._select.param.watch(lambda *_: None if self._is_offering else changed(), "value")

    def __panel__(self) -> pn.viewable.Viewable:
        return self._select

    def rung(self, epsilons: tuple[float, ...]) -> int:
        """Place of the chosen rung among some rungs, and offer these."""
        epsilon = self._session.settings.epsilon
        around = neighbouring_rungs(epsilons, epsilon) if epsilon <= epsilons[-1] else ()
        places = {role: rung for role, rung in zip(("below", "above"), around, strict=False) if rung}
        places["baseline"] = 0
        options = {
            f"ε = {epsilons[rung]:.3g}" if rung else "ε = 0, testimony ignored": role
            for role, rung in places.items()
        }
        if options != self._select.options:
            is_first = len(self._select.options) == 1
            value = (
                self._select.value if self._select.value in places and not is_first else next(iter(places))
            )
            self._is_offering = True
            self._select.param.update(options=options, value=value)
            self._is_offering = False
        rung: int = places[self._select.value]
        return rung


class _TracesPart(pn.viewable.Viewer):
    """A quantity over the rounds of the walks."""

    def __init__(self, session: Session) -> None:
        super().__init__()
        self._session = session
        self._shares = judged_shares(session.prepared.shares)
        self._quantity = pmui.Select(
            label="Quantity",
            options={"Testimony score": "score_testimony"},
            value="score_testimony",
            **_FIELD,
        )
        self._quantity.param.watch(lambda *_: self.refresh(), "value")
        self._rung = _RungChoice(session, self.refresh)
        self._plot = trace_plot()
        self._key = pn.pane.HTML(_key(2), **_WORDS)
        self._sentence = pn.pane.HTML(**_WORDS, styles=room_for(4))
        self._layout = pn.Column(
            pn.Row(self._quantity, self._rung, sizing_mode="stretch_width", margin=0),
            self._key,
            pn.Column(
                pn.pane.Bokeh(self._plot.figure, sizing_mode="stretch_both", margin=0),
                sizing_mode="stretch_both",
                margin=0,
                styles={"flex": "none", "height": "17rem"},
            ),
            self._sentence,
            sizing_mode="stretch_both",
            margin=0,
            styles={"flex": "none"},
        )

    def __panel__(self) -> pn.viewable.Viewable:
        return self._layout

    def refresh(self) -> None:
        """Draw the plans on record."""
        standing = self._session.worker.progress.standing
        if standing is None:
            say(self._sentence, "<p>No plans yet.</p>")
            return
        recorded = standing.recorded
        rung = self._rung.rung(recorded.epsilons)
        read = [row[rung].read() for row in recorded.recordings]
        plans = [each for each in read if each is not None]
        if len(plans) < len(read):
            say(self._sentence, "<p>No plans yet.</p>")
            return
        quantities = quantities_of(plans, self._shares)
        options = {title_of(name, self._session.n_districts): name for name in quantities}
        if options != self._quantity.options:
            self._quantity.options = options
        name = self._quantity.value
        drawn = [(own.step, draws) for own, draws in zip(plans, quantities[name], strict=True)][: len(LINES)]
        traces = [trace_of(*own) for own in drawn]
        starts = [values[name] for values in standing.workings.start_values[: len(LINES)]]
        self._plot.fill(traces, starts, recorded.round_of(0), recorded.round_of, is_share=name != "cut_edges")
        say(self._key, _key(len(traces)))
        left = len(plans) - len(traces)
        more = f'<p class="quiet">Further walks, which are not drawn: {left}.</p>' if left else ""
        say(self._sentence, f"{trace_sentence(name, traces, starts)}{more}")


class _WalksPart(pn.viewable.Viewer):
    """How steps end, how often plans are exchanged, and what it takes."""

    def __init__(self, session: Session) -> None:
        super().__init__()
        self._session = session
        self._rung = _RungChoice(session, self.refresh)
        self._words = pn.pane.HTML(**_WORDS)
        self._layout = pn.Column(self._rung, self._words, sizing_mode="stretch_width", margin=0)

    def __panel__(self) -> pn.viewable.Viewable:
        return self._layout

    def refresh(self) -> None:
        """Show the latest counts."""
        progress = self._session.worker.progress
        standing = progress.standing
        if standing is None:
            say(self._words, "<p>Nothing has been counted yet.</p>")
            return
        workings = standing.workings
        rung = self._rung.rung(workings.epsilons)
        n_bytes = sum(recording.n_bytes for row in standing.recorded.recordings for recording in row)
        say(
            self._words,
            f"{moves_sentence(workings, rung)}{moves_table(workings, rung)}"
            f"<h2>Exchanges</h2>{exchange_table(workings)}<h2>The run</h2>{run_table(progress, n_bytes)}",
        )


_Part = _FiguresPart | _TracesPart | _WalksPart
_PARTS: dict[str, type[_Part]] = {"Figures": _FiguresPart, "Traces": _TracesPart, "The walks": _WalksPart}


def _key(n_walks: int) -> str:
    """What the lines and marks of traces are."""
    borders = ("solid", "dashed", "dotted", "double")
    names = ("first", "second", "third", "fourth")
    lines = "".join(
        f'<span><i style="height: 0; border-top: 3px {border} {color}"></i>{name} walk</span>'
        for (color, _, _), border, name, _ in zip(LINES, borders, names, range(n_walks), strict=False)
    )
    marks = "&#8239;".join("●■▲◆"[:n_walks])
    return (
        f'<div class="key">{lines}'
        f"<span><b aria-hidden='true'>{marks}</b> where each began</span>"
        '<span><i style="height: 0.8125rem; background: #8a939c55"></i>left out as warming up</span></div>'
    )


_TABLES = """
.verdict { font-size: 1.5rem; font-weight: 700; line-height: 1.2; padding: 4px 0 4px 12px; margin-bottom: 8px;
           border-left: 6px solid var(--line); }
.verdict.agree { border-color: var(--good); }
.verdict.disagree { border-color: var(--warn); }
ul { margin: 2px 0 6px 0; padding-left: 1.25rem; }
.scroll { overflow-x: auto; margin-bottom: 10px; }
table { border-collapse: collapse; width: 100%; font-size: 0.875rem; }
td { white-space: nowrap; }
caption { text-align: left; color: var(--quiet); padding-bottom: 4px; }
th, td { padding: 3px 8px 3px 0; border-bottom: 1px solid var(--faint); text-align: right;
         vertical-align: top; }
thead th { border-bottom: 1px solid var(--line); vertical-align: bottom; }
th { font-weight: 400; text-align: right; }
thead th { font-weight: 700; }
th:first-child, th[scope="row"], .words { text-align: left; }
td.words { padding-left: 8px; white-space: normal; }
th.words { padding-left: 8px; }
td.poor, td.good, td.plain { white-space: nowrap; }
td.poor { color: var(--warn); font-weight: 700; }
td.good { color: var(--good); }
"""
_WORDS = {
    "stylesheets": [*TEXT_STYLE["stylesheets"], _TABLES],
    "margin": 0,
    "sizing_mode": "stretch_width",
}
_FIELD = {
    "size": "small",
    "variant": "outlined",
    "margin": (6, 10, 6, 0),
    "theme_config": THEME,
    "sizing_mode": "stretch_width",
    "styles": {"min-width": "0", "max-width": "18rem"},
}
