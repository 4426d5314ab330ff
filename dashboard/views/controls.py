"""The strip on the left: how much testimony may count, what counts as kept, and the walk's buttons."""

import html
from collections.abc import Sequence
from typing import Any

import panel as pn
import panel_material_ui as pmui

from bottomup.dashboard.design import Design
from bottomup.dashboard.session import Session
from bottomup.dashboard.state import EPSILONS, promise
from bottomup.dashboard.views.style import TEXT_STYLE, THEME, room_for, say, segments
from bottomup.dashboard.wording import NO_STORED_PLANS, progress_line, reliability_line

__all__ = ["ControlsView"]

_SCORES = {"Whole testimonies": "testimony", "Shares of clusters": "cluster"}
_WORDS_OF_SCORE = {
    "testimony": "A testimony counts when all its units lie in one district.",
    "cluster": "A cluster counts by the share of its weight in its best district.",
}


class ControlsView(pn.viewable.Viewer):
    """Widgets of a session's settings.

    Parameters
    ----------
    session : Session
    """

    def __init__(self, session: Session) -> None:
        super().__init__()
        self._session = session
        settings = session.settings
        self._epsilon = pmui.DiscreteSlider(
            label="ε, weight of a testimony",
            options=_positions(session.epsilons),
            value=settings.epsilon,
            sizing_mode="stretch_width",
            margin=(0, 14, 0, 10),
            tooltips=False,
            theme_config=THEME,
        )
        self._promise = pn.pane.HTML(**TEXT_STYLE, sizing_mode="stretch_width")
        self._score = segments(
            "Score",
            _SCORES,
            settings.score,
            disabled=not session.prepared.has_clusters,
            sizing_mode="stretch_width",
        )
        self._score_words = pn.pane.HTML(**TEXT_STYLE, sizing_mode="stretch_width")
        self._run = pmui.Button(label="Start", color="primary", icon="play_arrow", **_BUTTON)
        self._pause = pmui.Button(label="Pause", color="primary", variant="outlined", icon="pause", **_BUTTON)
        self._reset = pmui.Button(
            label="Reset", color="primary", variant="outlined", icon="replay", **_BUTTON
        )
        self._progress = pn.pane.HTML(**TEXT_STYLE, sizing_mode="stretch_width")
        self._reliability = pn.pane.HTML(**TEXT_STYLE, sizing_mode="stretch_width", styles=room_for(3))
        self._link()
        self._describe()
        self.refresh()
        how_much = pn.Column(
            pn.pane.HTML("<h2>How much may testimony count?</h2>", **TEXT_STYLE),
            self._epsilon,
            pn.pane.HTML(
                '<div class="ends"><span>each testimony sways little</span>'
                "<span>each testimony can sway more</span></div>",
                **TEXT_STYLE,
                sizing_mode="stretch_width",
            ),
            self._promise,
            **_GROUP,
        )
        what = pn.Column(
            pn.pane.HTML(
                "<h2>What counts as kept together?</h2>",
                stylesheets=TEXT_STYLE["stylesheets"],
                margin=(6, 0, 0, 0),
            ),
            self._score,
            self._score_words,
            pn.Row(self._run, self._pause, self._reset, margin=(8, 0, 4, 0), sizing_mode="stretch_width"),
            self._reliability,
            self._progress,
            **_GROUP,
        )
        self._layout = pn.Column(
            how_much,
            what,
            sizing_mode="stretch_both",
            margin=(0, 16, 0, 16),
            styles={"gap": "6px"},
            css_classes=["controls"],
            stylesheets=[_CSS],
        )

    def __panel__(self) -> pn.viewable.Viewable:
        return self._layout

    def _link(self) -> None:
        settings = self._session.settings
        # Also while the thumb is on its way: the ladder answers at once.
        self._epsilon.param.watch(lambda event: settings.param.update(epsilon=event.new), "value")
        self._score.param.watch(lambda event: settings.param.update(score=event.new), "value")
        settings.param.watch(lambda *_: self._describe(), ["epsilon", "score", "weighting", "running"])
        settings.param.watch(lambda *_: self._offer(), ["epsilon", "running", *Design._fields])
        settings.param.watch(lambda event: setattr(self._score, "value", event.new), "score")
        self._run.on_click(lambda *_: self._start())
        self._pause.on_click(lambda *_: self._stop())
        self._reset.on_click(lambda *_: self._session.reset())

    def _start(self) -> None:
        self._session.settings.running = True
        # After an error the settings still say running: the worker is to try again.
        self._session.worker.run()

    def _stop(self) -> None:
        self._session.settings.running = False

    def _offer(self) -> None:
        """Let the slider stand at ε, among the positions that there are now."""
        positions, epsilon = _positions(self._session.epsilons), self._session.settings.epsilon
        if positions != self._epsilon.options:
            self._epsilon.param.update(options=positions, value=epsilon)
        else:
            self._epsilon.value = epsilon

    def _describe(self) -> None:
        """Words and buttons that follow the settings."""
        settings, prepared = self._session.settings, self._session.prepared
        top = self._session.epsilons[-1]
        up_to = "" if top == EPSILONS[-1] else f" The stored plans go up to ε\u00a0=\u00a0{top:g}."
        self._promise.object = (
            f'<p style="margin-top: 4px"><b>{promise(settings.epsilon)}</b></p>'
            f'<p class="quiet">{self._session.caption()}{up_to}</p>'
        )
        reason = (
            ""
            if prepared.has_clusters
            else " The testimonies have no clusters, so there is no cluster score."
        )
        self._score_words.object = f'<p class="quiet">{_WORDS_OF_SCORE[settings.score]}{reason}</p>'
        is_saved = self._session.saved is not None
        self._run.label = "Sample anew" if is_saved else "Start"
        self._run.disabled = settings.running
        self._pause.disabled = not settings.running
        self._reset.disabled = is_saved

    def refresh(self) -> None:
        """Show how far the worker is."""
        progress = self._session.worker.progress
        if progress.phase == "failed" and self._run.disabled:
            self._run.disabled = False
        line = html.escape(progress_line(progress), quote=False)
        judged = reliability_line(progress, self._session.settings.epsilon)
        if self._session.has_no_plans:
            line, judged = NO_STORED_PLANS, ""
        if progress.phase == "running":
            line += f" · {progress.steps_per_second:,.0f} steps a second"
        say(self._progress, f'<p class="quiet">{line}</p>')
        say(self._reliability, judged)


def _positions(epsilons: Sequence[float]) -> dict[str, float]:
    return {_epsilon_label(epsilon): epsilon for epsilon in epsilons}


def _epsilon_label(value: float) -> str:
    return "0 (off)" if value == 0 else f"{value:g}"


_CSS = """
:host(.controls) { flex: none !important; width: 19.4rem !important; overflow: hidden auto; }
@media (max-width: 1000px) {
  :host(.controls) { width: auto !important; height: auto !important; max-height: none !important;
    overflow: visible; flex-direction: row !important; gap: 1.5rem !important; }
  :host(.group) { flex: 1 1 0 !important; }
}
:host(.group) { flex: none; max-height: none !important; }
"""
_GROUP: dict[str, Any] = {
    "sizing_mode": "stretch_width",
    "margin": 0,
    "styles": {"gap": "6px", "min-width": "0"},
    "css_classes": ["group"],
    "stylesheets": [_CSS],
}
_BUTTON = {"margin": (0, 6, 0, 0), "theme_config": THEME, "size": "small"}
