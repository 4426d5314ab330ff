"""How many plans the selection picks out, and the way back to all of them."""

import html

import panel as pn
import panel_material_ui as pmui

from bottomup.dashboard.pool import Sample
from bottomup.dashboard.selection import Subset
from bottomup.dashboard.session import Session
from bottomup.dashboard.views.style import TEXT_STYLE, THEME, say

__all__ = ["PickedView", "picked_words"]


def picked_words(sample: Sample, subset: Subset) -> str:
    """Which plans of a sample are picked out, as HTML."""
    return f"<b>{subset.n_plans:,} of {sample.n_plans:,} plans</b>: those that {html.escape(subset.words)}."


class PickedView(pn.viewable.Viewer):
    """A sentence on the plans picked out, with a button that takes all of them again.

    Parameters
    ----------
    session : Session
    hint : str
        What to do to pick plans out, as HTML; shown while none are.
    """

    def __init__(self, session: Session, hint: str) -> None:
        super().__init__()
        self._hint = f'<p class="quiet" style="margin: 0">{hint}</p>'
        self._words = pn.pane.HTML(
            self._hint,
            stylesheets=TEXT_STYLE["stylesheets"],
            margin=0,
            sizing_mode="stretch_width",
            align="center",
        )
        self._all = pmui.Button(
            label="Show all plans",
            color="primary",
            variant="outlined",
            size="small",
            margin=0,
            align="center",
            theme_config=THEME,
            visible=False,
            styles={"flex": "none"},
        )
        self._all.on_click(lambda *_: session.selection.clear())
        # As high as the button and as two lines, so that nothing moves when plans are picked out.
        self._layout = pn.Row(
            self._words,
            self._all,
            sizing_mode="stretch_width",
            margin=(2, 0, 2, 0),
            styles={"flex": "none", "min-height": "2.5rem", "align-items": "center", "gap": "0.75rem"},
        )

    def __panel__(self) -> pn.viewable.Viewable:
        return self._layout

    def show(self, sample: Sample, subset: Subset | None) -> None:
        """Say what is picked out of a sample."""
        is_all = subset is None
        say(
            self._words,
            self._hint
            if subset is None
            else f'<p role="status" style="margin: 0">{picked_words(sample, subset)}</p>',
        )
        if self._all.visible == is_all:
            self._all.visible = not is_all
