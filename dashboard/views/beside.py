"""Another plan beside the shown one, to the right of a divider on the map."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from bottomup.dashboard.facts import WholePlans
from bottomup.dashboard.map_figure import MapFigure
from bottomup.dashboard.pool import number_districts
from bottomup.dashboard.scene import Scene
from bottomup.dashboard.session import Session
from bottomup.dashboard.state import SHOWN
from bottomup.dashboard.typical import typical_plan
from bottomup.dashboard.views.following import follow
from bottomup.dashboard.views.style import map_choice

__all__ = ["Beside"]

_CHOICES = {"Nothing": "none", "Enacted plan": "enacted", "Typical baseline plan": "typical"}


class Beside:
    """The choice of the other plan; it is sent when it is another one than before.

    Parameters
    ----------
    session : Session
    scene : Scene
    drawn : MapFigure
    """

    def __init__(self, session: Session, scene: Scene, drawn: MapFigure) -> None:
        self._session = session
        self._scene = scene
        self._drawn = drawn
        self.assignment: NDArray[np.int32] | None = None
        """The other plan, while there is one."""
        self._sent: tuple[object, ...] = ()
        self._typical: tuple[WholePlans, NDArray[np.int32]] | None = None
        self.choice = map_choice("Compare with", _CHOICES, "none", "2 1 7rem")
        self.choice.param.watch(lambda *_: self.refresh(), "value")
        follow(session.settings, ["enacted"], self.refresh)
        follow(session.shown, ["kind", "chosen"], self.refresh)

    @property
    def is_waiting(self) -> bool:
        """Whether a plan that has been chosen is not known yet."""
        return self.choice.value != "none" and self.assignment is None

    def refresh(self) -> None:
        """Send the other plan, when there is one and it has changed."""
        enacted = self._session.prepared.plan(self._session.settings.enacted)
        other: NDArray[np.int32] | None = None
        title = ""
        if self.choice.value == "enacted":
            other, title = enacted.assignment, f"Enacted plan {enacted.name}"
        elif self.choice.value == "typical":
            other, title = self._most_typical(enacted.assignment), "Typical baseline plan"
        titles = (SHOWN[self._session.shown_plan().kind], title)
        self.assignment = other
        now = () if other is None else (id(other), titles)
        if now == self._sent:
            return
        self._sent = now
        if other is None:
            self._drawn.show_alone()
        else:
            self._drawn.show_beside(self._scene, other, enacted.labels, titles)

    def _most_typical(self, enacted: NDArray[np.int32]) -> NDArray[np.int32] | None:
        """The medoid of the baseline, its districts numbered after the enacted ones; None while unknown."""
        whole = self._session.baseline_whole_plans()
        if whole is None:
            return None
        if self._typical is None or self._typical[0] is not whole:
            geography = self._session.prepared.inputs.geography
            plan = whole.plans[typical_plan(whole, geography.edges)]
            self._typical = (whole, number_districts(plan, enacted, geography.population))
        return self._typical[1]
