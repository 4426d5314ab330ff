"""Plans picked out by their score with the keyboard: from one bar of a histogram to another."""

from collections.abc import Mapping

import panel as pn
import panel_material_ui as pmui
import param

from bottomup.dashboard.binning import Bins
from bottomup.dashboard.selection import Span
from bottomup.dashboard.session import Session
from bottomup.dashboard.views.style import THEME

__all__ = ["SpanView"]

_LABELS = {
    "testimony": "Plans from … to … of testimonies whole",
    "cluster": "Plans from … to … of cluster weight in best districts",
}


class SpanView(pn.viewable.Viewer):
    """A slider with two thumbs for each score.

    Parameters
    ----------
    session : Session
    bins : mapping of str to Bins
        By score; filled and changed by the histograms that the sliders stand beside.
    """

    def __init__(self, session: Session, bins: Mapping[str, Bins]) -> None:
        super().__init__()
        self._session, self._bins = session, bins
        kinds = list(_LABELS) if session.prepared.has_clusters else ["testimony"]
        self._sliders = {
            kind: pmui.RangeSlider(
                label=_LABELS[kind],
                start=0.0,
                end=1.0,
                step=0.01,
                value=(0.0, 1.0),
                format="0.0%",
                tooltips=False,
                margin=(4, 14, 0, 10),
                sizing_mode="stretch_width",
                theme_config=THEME,
            )
            for kind in kinds
        }
        self._is_following = False
        for kind, slider in self._sliders.items():
            slider.param.watch(lambda event, kind=kind: self._pick(kind, event), "value_throttled")
        self._layout = pn.Column(*self._sliders.values(), sizing_mode="stretch_width", margin=0)

    def __panel__(self) -> pn.viewable.Viewable:
        return self._layout

    def _pick(self, kind: str, event: param.parameterized.Event) -> None:
        bins = self._bins.get(kind)
        if self._is_following or bins is None or event.new is None:
            return
        # Midpoints: what the browser adds up to the end of a bar may lie a hair before or after it.
        low, high = sorted(event.new)
        ends = bins.span_of(low + bins.width / 2, max(high - bins.width / 2, low + bins.width / 2))
        is_all = ends is not None and ends[0] <= bins.start and ends[1] >= bins.edges[-1]
        self._session.selection.span = None if is_all or ends is None else Span(kind, *ends)

    def refresh(self) -> None:
        """Follow the bars and the selection."""
        span = self._session.selection.span
        self._is_following = True
        try:
            for kind, slider in self._sliders.items():
                bins = self._bins.get(kind)
                if bins is None:
                    continue
                start, end = float(bins.edges[0]), float(bins.edges[-1])
                value = (start, end)
                if span is not None and span.score == kind:
                    value = (max(start, span.low), min(end, span.high))
                if (slider.start, slider.end, slider.value) != (start, end, value):
                    slider.param.update(start=start, end=end, step=bins.width, value=value)
        finally:
            self._is_following = False
