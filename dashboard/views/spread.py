"""Who ends up where? Shares of people by ranked district."""

import panel as pn

from bottomup.dashboard.plots import BoxPlot, box_plot
from bottomup.dashboard.session import Session
from bottomup.dashboard.views.style import TEXT_STYLE, key, room_for

__all__ = ["SpreadView"]

_WORDS = {
    "black_vap": ("Black share of voting-age people", "districts from the lowest Black share to the highest"),
    "democratic": ("Democratic share of two-party votes", "districts from the least Democratic to the most"),
}
_MISSING = {
    "black_vap": (
        "The units have no columns of voting-age people and Black voting-age people, "
        "so that spread is left out."
    ),
    "democratic": "The units have no columns of Democratic and Republican votes, so that spread is left out.",
}


class SpreadView(pn.viewable.Viewer):
    """Box plots by ranked district, against the enacted plan.

    Parameters
    ----------
    session : Session
    """

    def __init__(self, session: Session) -> None:
        super().__init__()
        self._session = session
        self._plots: dict[str, BoxPlot] = {}
        rows: list[pn.viewable.Viewable] = []
        if session.prepared.shares:
            rows.append(
                pn.pane.HTML(
                    key(
                        ("box", "middle half of plans; lines reach the middle 90 %"),
                        ("point", "enacted plan"),
                    ),
                    **TEXT_STYLE,
                    sizing_mode="stretch_width",
                )
            )
        for name, (title, ranks) in _WORDS.items():
            if name not in session.prepared.shares:
                rows.append(
                    pn.pane.HTML(f"<p>{_MISSING[name]}</p>", **TEXT_STYLE, sizing_mode="stretch_width")
                )
                continue
            plot = self._plots[name] = box_plot("", ranks, session.n_districts)
            rows += [
                pn.pane.HTML(
                    f"<h2>{title}</h2>",
                    stylesheets=TEXT_STYLE["stylesheets"],
                    margin=(8, 0, 0, 0),
                    sizing_mode="stretch_width",
                ),
                pn.pane.Bokeh(plot.figure, sizing_mode="stretch_both", margin=0, min_height=120),
            ]
        self._plans = pn.pane.HTML(**TEXT_STYLE, sizing_mode="stretch_width", styles=room_for(2))
        self._layout = pn.Column(*rows, self._plans, sizing_mode="stretch_both", margin=0)

    def __panel__(self) -> pn.viewable.Viewable:
        return self._layout

    def refresh(self) -> None:
        """Draw the latest shares."""
        sample = self._session.sample()
        if sample is None or not self._plots:
            return
        enacted = self._session.enacted_numbers.shares
        for name, plot in self._plots.items():
            plot.fill(sample.plans.shares[name], enacted[name])
        self._plans.object = (
            f'<p class="quiet">From {sample.n_plans:,} plans. In every plan the '
            "districts are put in order first, so a box tells of the lowest, the second lowest and so on, "
            "not of one place.</p>"
        )
