"""Who can sway it? What one testimony, or a group, can do at most, and what that costs and buys."""

import panel as pn
import panel_material_ui as pmui

from bottomup.dashboard.backwards import find_smallest_epsilon
from bottomup.dashboard.influence import (
    draws_of_hundred,
    error_sentence,
    group_sizes,
    in_hundred,
    odds_sentence,
    times,
)
from bottomup.dashboard.session import Session
from bottomup.dashboard.state import EPSILONS
from bottomup.dashboard.views.attack import AttackView
from bottomup.dashboard.views.style import NUMBER_THEME, TEXT_STYLE, THEME, room_for, say, segments
from bottomup.dashboard.wording import reliability_line
from bottomup.sampler.promise import Promise

__all__ = ["InfluenceView"]

_PARTS = {"One or a group": "limit", "Working backwards": "backwards", "An attack": "attack"}
_RELEASES = 3


class InfluenceView(pn.viewable.Viewer):
    """The limit of influence, the way back from a goal to an ε, and the attack.

    Parameters
    ----------
    session : Session
    """

    def __init__(self, session: Session) -> None:
        super().__init__()
        self._session = session
        self._part = segments("What to look at", _PARTS, "limit", margin=(0, 0, 6, 0))
        self._limit = _LimitView(session)
        self._backwards = _BackwardsView(session)
        self._attack: AttackView | None = None
        self._frame = pn.Column(self._limit, sizing_mode="stretch_both", margin=0)
        self._part.param.watch(lambda *_: self._switch(), "value")
        self._layout = pn.Column(
            self._part,
            self._frame,
            sizing_mode="stretch_both",
            margin=0,
            styles={"overflow-y": "auto", "overflow-x": "hidden"},
        )

    def __panel__(self) -> pn.viewable.Viewable:
        return self._layout

    def _shown(self) -> "_LimitView | _BackwardsView | AttackView":
        if self._part.value == "limit":
            return self._limit
        if self._part.value == "backwards":
            return self._backwards
        if self._attack is None:
            self._attack = AttackView(self._session)
        return self._attack

    def _switch(self) -> None:
        view = self._shown()
        view.refresh()
        self._frame.objects = [view]

    def refresh(self) -> None:
        """Bring the part in sight up to date."""
        self._shown().refresh()


class _LimitView(pn.viewable.Viewer):
    """What a group can do at most, in odds and in draws of a hundred."""

    def __init__(self, session: Session) -> None:
        super().__init__()
        self._session = session
        self._n_testimonies = session.prepared.testimonies.n_testimonies
        self._size = pmui.DiscreteSlider(
            label="Testimonies that act together",
            options=group_sizes(self._n_testimonies),
            value=1,
            **_SLIDER,
        )
        self._chance = pmui.IntSlider(
            label="A kind of plan that, without them, comes up in so many of 100 draws",
            start=1,
            end=99,
            value=20,
            **_SLIDER,
        )
        self._error = pmui.FloatInput(
            label="Assumed error η", value=0.01, start=0.0, end=1.0, step=0.01, **_FIELD
        )
        self._sentence = pn.pane.HTML(**_WORDS, styles=room_for(2))
        self._hundreds = pn.pane.HTML(
            stylesheets=[*TEXT_STYLE["stylesheets"], _HUNDREDS], margin=(2, 0, 6, 0), **_WIDE
        )
        self._more = pn.pane.HTML(**_WORDS)
        self._caption = pn.pane.HTML(**_WORDS)
        self._error_words = pn.pane.HTML(**_WORDS)
        self._reliability = pn.pane.HTML(**_WORDS)
        for widget in (self._size, self._chance, self._error):
            widget.param.watch(lambda *_: self.refresh(), "value")
        self._layout = pn.Column(
            self._sentence,
            self._size,
            self._chance,
            self._hundreds,
            self._more,
            pn.pane.HTML("<h2>On what does this rest?</h2>", **_WORDS),
            self._caption,
            self._reliability,
            self._error,
            self._error_words,
            **_WIDE,
            margin=0,
        )

    def __panel__(self) -> pn.viewable.Viewable:
        return self._layout

    def refresh(self) -> None:
        """Say it for the chosen ε, score and group."""
        session, settings = self._session, self._session.settings
        promise = Promise(settings.epsilon, group_size=self._size.value)
        size = promise.group_size
        say(self._sentence, f'<p class="said">{odds_sentence(promise, self._n_testimonies)}</p>')
        say(self._hundreds, draws_of_hundred(promise, self._chance.value / 100))
        who = "it is" if size == 1 else "they are"
        several = Promise(settings.epsilon, releases=_RELEASES, group_size=size)
        say(
            self._more,
            f"<p>If {who} left out, with nothing in place: {times(promise.if_left_out)} at most. Every plan "
            f"that is released counts again: for {_RELEASES} plans together {times(several.log_odds)} at "
            "most.</p>"
            if settings.epsilon
            else "",
        )
        say(
            self._caption,
            f"<p>{session.caption()} This is a limit on influence, not secrecy: testimony is public.</p>",
        )
        say(self._reliability, reliability_line(session.worker.progress, settings.epsilon))
        say(self._error_words, f'<p class="quiet">{error_sentence(promise, self._error.value or 0.0)}</p>')


class _BackwardsView(pn.viewable.Viewer):
    """From an acceptable level of preservation to the smallest ε that reaches it."""

    def __init__(self, session: Session) -> None:
        super().__init__()
        self._session = session
        self._level = pmui.IntSlider(
            label="Keep together at least so many percent, on average", start=1, end=100, value=75, **_SLIDER
        )
        self._words = pn.pane.HTML(**_WORDS, styles=room_for(6))
        self._use = pmui.Button(
            label="Use this ε",
            color="primary",
            variant="outlined",
            theme_config=THEME,
            size="small",
            margin=(2, 0, 0, 0),
            disabled=True,
        )
        self._found: float | None = None
        self._level.param.watch(lambda *_: self.refresh(), "value")
        self._use.on_click(lambda *_: self._set())
        self._layout = pn.Column(self._level, self._words, self._use, **_WIDE, margin=0)

    def __panel__(self) -> pn.viewable.Viewable:
        return self._layout

    def _set(self) -> None:
        if self._found is not None:
            self._session.settings.epsilon = self._found

    def refresh(self) -> None:
        """Look again, for the plans on record have become more."""
        standing, settings = self._session.worker.progress.standing, self._session.settings
        reached = (
            None
            if standing is None
            else find_smallest_epsilon(standing.recorded, self._level.value / 100, EPSILONS)
        )
        self._found = None if reached is None else reached.epsilon
        self._use.disabled = self._found is None or self._found == settings.epsilon
        if reached is None:
            say(self._words, "<p>Waiting for the first plans.</p>")
            return
        of_what = "testimonies" if settings.score == "testimony" else "the clusters' weight"
        if reached.epsilon is None:
            words = (
                f'<p class="said"><b>No ε on record keeps {self._level.value} % of {of_what}.</b></p>'
                f"<p>The most is {reached.mean:.1%}, at ε\u00a0=\u00a0{reached.at:g}; "
                f"{reached.baseline:.1%} when testimony is ignored.</p>"
            )
        elif reached.epsilon == 0:
            words = (
                f'<p class="said"><b>Plans that ignore testimony keep {reached.mean:.1%} of {of_what} '
                "already.</b></p><p>It costs nothing: nobody's testimony changes any odds.</p>"
            )
        else:
            promise = Promise(reached.epsilon)
            least, most = promise.chances(0.2)
            words = (
                f'<p class="said"><b>ε\u00a0=\u00a0{reached.epsilon:g}</b> is the smallest on record: on '
                f"average {reached.mean:.1%} of {of_what}, against {reached.baseline:.1%} when testimony is "
                "ignored.</p><p>It costs: any one testimony can change the odds of any plan by "
                f"{times(promise.log_odds)}. What comes up in 20 of 100 draws without it comes up in "
                f"{in_hundred(least)} to {in_hundred(most)} with it.</p>"
            )
        caution = '<p class="quiet">Found in the plans on record so far; it can move as they become more.</p>'
        say(self._words, words + caution)


_WIDE = {"sizing_mode": "stretch_width"}
_WORDS = {**TEXT_STYLE, **_WIDE}
_SLIDER = {"sizing_mode": "stretch_width", "margin": (4, 14, 0, 10), "tooltips": False, "theme_config": THEME}
_FIELD = {"width": 260, "margin": (6, 4, 2, 4), "theme_config": NUMBER_THEME, "size": "small"}
_HUNDREDS = """
.hundreds { display: flex; flex-wrap: wrap; gap: 0.5rem 1.4rem; }
.hundreds figure { margin: 0; }
.hundreds div { display: grid; grid-template-columns: repeat(10, 0.68rem); gap: 0.12rem; }
.hundreds i { width: 0.68rem; height: 0.68rem; border-radius: 2px; background: #e3e7ea;
  filter: var(--of-charts); }
.hundreds i.on { background: #2f6fb0; }
.hundreds i.weak { background: #b35900; }
.hundreds figcaption { margin-top: 4px; }
.hundreds figcaption b { font-size: 1.375rem; }
"""
