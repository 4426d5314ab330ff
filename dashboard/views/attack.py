"""An attack: what a group reaches that takes a community's place, or sends one testimony many times."""

import html
from collections.abc import Callable

import numpy as np
import panel as pn
import panel_material_ui as pmui

from bottomup.dashboard.influence import in_hundred
from bottomup.dashboard.plots import LimitPlot, limit_plot
from bottomup.dashboard.pool import RecordedLadders
from bottomup.dashboard.session import Session
from bottomup.dashboard.state import EPSILONS
from bottomup.dashboard.views.style import TEXT_STYLE, THEME, key, room_for, say
from bottomup.dashboard.whatif import GroupShares, WhatIf, answer_what_if, collect_plans
from bottomup.data.changes import Change, find_cluster, flood, replace_by_drawn
from bottomup.sampler.counterfactual import Counterfactual

__all__ = ["AttackView"]

_KINDS = {"Others take its place": "replace", "One of it, many times": "flood"}
_COPIES = [2, 5, 9, 25, 100, 400]


class AttackView(pn.viewable.Viewer):
    """The attack on one community, answered from the plans on record.

    Parameters
    ----------
    session : Session
    """

    def __init__(self, session: Session) -> None:
        super().__init__()
        self._session = session
        testimonies = session.prepared.testimonies
        clusters = testimonies.clusters
        self._seed = 1
        self._asked: tuple[object, ...] = ()
        self._change: Change | None = None
        kinds = _KINDS if clusters is not None else {label: k for label, k in _KINDS.items() if k == "flood"}
        self._kind = pmui.Select(
            label="What happens", options=kinds, value=next(iter(kinds.values())), **_FIELD
        )
        self._cluster = pmui.Select(label="Community", options=_communities(session), **_FIELD)
        if clusters is not None:
            self._cluster.value = find_cluster(testimonies)
        self._copies = pmui.DiscreteSlider(
            label="Copies", options=_COPIES, value=_COPIES[-2], margin=(4, 14, 0, 10), **_SLIDER
        )
        self._elsewhere = pmui.Button(label="Push another place", icon="casino", **_BUTTON)
        self._words = pn.pane.HTML(
            stylesheets=[*TEXT_STYLE["stylesheets"], _TABLE],
            margin=0,
            sizing_mode="stretch_width",
            styles=room_for(9),
        )
        self._key = pn.pane.HTML(_key_of(has_limit=True), **TEXT_STYLE)
        self._plots: dict[str, LimitPlot] = {
            name: limit_plot(title, EPSILONS, x_title)
            for name, title, x_title in (
                ("added", "What the group pushes is kept whole", ""),
                ("removed", "What gave way is kept whole", "ε"),
            )
        }
        self._panes = {
            name: pn.Column(
                pn.pane.Bokeh(plot.figure, sizing_mode="stretch_both", margin=0),
                sizing_mode="stretch_both",
                margin=0,
                styles={"flex": "1 0 auto", "min-height": "11rem"},
            )
            for name, plot in self._plots.items()
        }
        for widget in (self._kind, self._cluster, self._copies):
            widget.param.watch(lambda *_: self._begin(), "value")
        self._elsewhere.on_click(lambda *_: self._move())
        self._layout = pn.Column(
            pn.Row(self._cluster, self._kind, margin=0, sizing_mode="stretch_width"),
            self._copies,
            self._elsewhere,
            self._words,
            self._key,
            *self._panes.values(),
            sizing_mode="stretch_both",
            margin=0,
            styles={"flex": "1 0 auto"},
        )
        self._begin()

    def __panel__(self) -> pn.viewable.Viewable:
        return self._layout

    def _move(self) -> None:
        self._seed += 1
        self._begin()

    def _begin(self) -> None:
        """Work it out in the background, from the plans of this moment."""
        session = self._session
        is_flood = self._kind.value == "flood"
        self._copies.visible = is_flood
        self._elsewhere.visible = not is_flood
        standing = session.worker.progress.standing
        if standing is None:
            self._asked = ()
            return
        recorded = standing.recorded
        geography, weighting = session.prepared.inputs.geography, session.problem.weighting
        score, seed, choice = recorded.design.score, self._seed, self._cluster.value
        self._asked = _stage(recorded)
        try:
            change = self._change = self._make_change(choice, seed)
        except ValueError as error:
            session.background.stop()
            self._change = None
            self._words.object = f"<p>{html.escape(str(error))}</p>"
            return

        def work(is_stopped: Callable[[], bool]) -> list[WhatIf] | None:
            counterfactual = Counterfactual(geography, change, score, weighting)
            plans = collect_plans(recorded, counterfactual, is_stopped)
            if plans is None:
                return None
            cost = change.cost if counterfactual.has_limit else None
            return answer_what_if(plans, recorded.within(EPSILONS), recorded.delta, cost)

        session.background.start(work)
        self.refresh()

    def _make_change(self, choice: int, seed: int) -> Change:
        session = self._session
        testimonies, geography = session.prepared.testimonies, session.prepared.inputs.geography
        if self._kind.value == "flood":
            clusters = testimonies.clusters
            members = np.array([choice]) if clusters is None else clusters.members(choice)
            return flood(testimonies, geography, testimonies.ids[int(members[0])], self._copies.value)
        enacted = session.prepared.plan(session.settings.enacted).assignment
        return replace_by_drawn(testimonies, geography, choice, session.n_districts, seed, enacted)

    def refresh(self) -> None:
        """Show the outcome when it is there; begin anew when walks have, or have recorded twice as much."""
        standing = self._session.worker.progress.standing
        if standing is not None and self._asked != _stage(standing.recorded):
            self._begin()
            return
        outcome, change = self._session.background.outcome, self._change
        if standing is None or change is None:
            if standing is None:
                say(self._words, "<p>Waiting for the first plans.</p>")
            return
        what = f"<b>{html.escape(change.words[0].upper() + change.words[1:])}.</b>"
        if outcome.is_running:
            say(self._words, f"<p>{what} Counting …</p>")
            return
        if outcome.error:
            say(self._words, f"<p>{what} It could not be worked out: {html.escape(outcome.error)}</p>")
            return
        answers = outcome.result or []
        if not answers:
            say(self._words, f"<p>{what} Too few plans on record so far.</p>")
            return
        self._say_answer(what, answers)
        for name, plot in self._plots.items():
            shares = {answer.epsilon: getattr(answer, name) for answer in answers}
            is_there = any(own is not None for own in shares.values())
            self._panes[name].visible = is_there
            if is_there:
                plot.fill({epsilon: own for epsilon, own in shares.items() if own is not None})

    def _say_answer(self, what: str, answers: list[WhatIf]) -> None:
        epsilon = self._session.settings.epsilon
        here = [answer for answer in answers if answer.epsilon <= epsilon][-1]
        groups = {"What the group pushes": here.added, "What gave way": here.removed}
        shown = {subject: shares for subject, shares in groups.items() if shares is not None}
        rows = "".join(_row(subject, shares) for subject, shares in shown.items())
        has_limit = all(shares.has_limit for shares in shown.values())
        beyond = (
            ""
            if here.epsilon == epsilon
            else f" Beyond ε\u00a0=\u00a0{here.epsilon:g} the plans on record say too little."
        )
        say(
            self._words,
            f'<p class="said">{what}</p><table><tr><td>Kept whole, of 100 plans at '
            f"ε\u00a0=\u00a0{here.epsilon:g}</td><th>with the attack</th><th>without it</th><th>baseline</th>"
            f"<th>the limit allows</th></tr>{rows}</table>"
            f'<p class="quiet">Counted in the plans on record, weighted to the changed testimonies; worth '
            f"{here.n_effective:,.0f} plans at this ε.{beyond}</p>" + ("" if has_limit else _NO_LIMIT),
        )
        say(self._key, _key_of(has_limit))


def _stage(recorded: RecordedLadders) -> tuple[object, ...]:
    """What must be worked out anew when it changes."""
    return recorded.design, recorded.epsilons, recorded.n_recorded.bit_length()


def _key_of(has_limit: bool) -> str:
    limit = [("box", "what the limit allows")] if has_limit else []
    return key(("bar", "with the attack"), ("mean", "without it"), *limit, ("outline", "baseline"))


def _row(subject: str, shares: GroupShares) -> str:
    allowed = "no limit"
    if shares.least is not None and shares.most is not None:
        allowed = f"{in_hundred(shares.least)} to {in_hundred(shares.most)}"
    return (
        f"<tr><th>{subject}</th><td><b>{in_hundred(shares.under)}</b></td><td>{in_hundred(shares.without)}</td>"
        f"<td>{in_hundred(shares.baseline)}</td>"
        f"<td>{allowed}</td></tr>"
    )


def _communities(session: Session) -> dict[str, int]:
    """Communities to choose from, by what to call them: clusters, or without any the testimonies."""
    testimonies = session.prepared.testimonies
    clusters = testimonies.clusters
    if clusters is None:
        return {name: number for number, name in enumerate(testimonies.ids)}
    members = np.bincount(clusters.of_testimony[clusters.of_testimony >= 0], minlength=len(clusters.names))
    return {
        f"{name} ({n})": number
        for number, (name, n) in enumerate(zip(clusters.names, members, strict=True))
        if n
    }


_NO_LIMIT = (
    "<p><b>No limit holds.</b> Δ is read off the testimonies, and the attack changes the largest of them, so "
    "that every other counts for more, or less, than before. Where all testimonies weigh alike a "
    "limit holds.</p>"
)
_FIELD = {"sizing_mode": "stretch_width", "margin": (6, 8, 2, 4), "theme_config": THEME, "size": "small"}
_TABLE = """
table { border-collapse: collapse; margin: 4px 0 6px 0; }
th, td { padding: 2px 0.9rem 2px 0; text-align: right; vertical-align: bottom; }
th { font-weight: 400; color: var(--quiet); }
tr > :first-child { text-align: left; color: var(--ink); }
td b { font-size: 1.375rem; }
"""
_SLIDER = {"sizing_mode": "stretch_width", "tooltips": False, "theme_config": THEME}
_BUTTON = {
    "color": "primary",
    "variant": "outlined",
    "margin": (0, 6, 0, 4),
    "theme_config": THEME,
    "size": "small",
}
