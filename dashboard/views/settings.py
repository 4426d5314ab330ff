"""Settings of the walk: what an analyst may change and a hearing need not see."""

import panel as pn
import panel_material_ui as pmui
import param

from bottomup.dashboard.session import Session
from bottomup.dashboard.views.style import NUMBER_THEME, TEXT_STYLE, THEME, say

__all__ = ["SettingsView"]

_WEIGHTINGS = {"By its units": "coverage", "All alike": "mass"}
_MOVES = {"Mixture (fast)": "mixture", "Marked Edge Walk alone": "walk"}


class SettingsView(pn.viewable.Viewer):
    """Fields of everything that decides the law besides ε and the score.

    Parameters
    ----------
    session : Session
    """

    def __init__(self, session: Session) -> None:
        super().__init__()
        self._session = session
        settings = session.settings
        self._tolerance = pmui.FloatInput(
            label="Population tolerance (%)",
            value=100 * settings.tolerance,
            start=0.1,
            end=50,
            step=0.5,
            **_NUMBER,
        )
        self._tolerance.param.watch(self._set_tolerance, "value")
        settings.param.watch(self._show_tolerance, "tolerance")
        fields: list[pn.viewable.Viewable] = []
        if len(session.prepared.inputs.plans) > 1:
            fields.append(
                pmui.Select.from_param(settings.param.enacted, label="Enacted plan (red line)", **_FIELD)
            )
        fields += [
            self._tolerance,
            pmui.FloatInput.from_param(
                settings.param.compactness, label="Compactness β", step=0.0005, format="0.0000", **_NUMBER
            ),
            pmui.IntInput.from_param(settings.param.seed, label="Seed", step=1, **_NUMBER),
            pmui.Select.from_param(settings.param.moves, label="Moves", options=_MOVES, **_FIELD),
        ]
        if session.prepared.has_clusters:
            fields.append(
                pmui.Select.from_param(
                    settings.param.weighting,
                    label="A testimony weighs in its cluster",
                    options=_WEIGHTINGS,
                    **_FIELD,
                )
            )
        self._words = pn.pane.HTML(**TEXT_STYLE, sizing_mode="stretch_width")
        settings.param.watch(lambda *_: self.refresh(), "running")
        self.refresh()
        self._layout = pn.Column(
            self._words,
            *fields,
            sizing_mode="stretch_width",
            margin=0,
            styles={"max-width": "26rem"},
        )

    def __panel__(self) -> pn.viewable.Viewable:
        return self._layout

    def refresh(self) -> None:
        """Say what a change does."""
        does = "A change here starts all walks anew, and so does another score."
        if self._session.saved is not None:
            does = (
                "The plans here are stored ones, of these settings. Of others there are none until "
                "“Sample anew” lets walks make some."
            )
        say(self._words, f"<p>{does} Plans saved before stay in the ledger.</p>")

    def _set_tolerance(self, event: param.parameterized.Event) -> None:
        if event.new is not None:
            self._session.settings.tolerance = round(event.new / 100, 6)

    def _show_tolerance(self, event: param.parameterized.Event) -> None:
        self._tolerance.value = round(100 * event.new, 4)


_FIELD = {"sizing_mode": "stretch_width", "margin": (6, 4, 6, 4), "theme_config": THEME, "size": "small"}
_NUMBER = {**_FIELD, "theme_config": NUMBER_THEME}
