"""A quantity over the rounds of the walks."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from bokeh.models import BoxAnnotation, ColumnDataSource, NumeralTickFormatter, Range1d
from bokeh.plotting import figure

from bottomup.dashboard.figures import base_figure
from bottomup.dashboard.health import Trace
from bottomup.dashboard.palette import BASELINE, ENSEMBLE

__all__ = ["LINES", "TracePlot", "trace_plot"]

LINES = (
    (ENSEMBLE, "solid", "circle"),
    ("#b35900", "dashed", "square"),
    ("#2e7d4f", "dotted", "triangle"),
    ("#7b4ea3", "dotdash", "diamond"),
)
"""Colour and dashes of each walk's line, and the mark of where it began."""
_MARGIN = 0.08


@dataclass(frozen=True, eq=False)
class TracePlot:
    """Lines of as many walks as there are `LINES`, with what is left out shaded and the starts as points.

    Attributes
    ----------
    figure : bokeh.plotting.figure
    lines, starts : tuple of ColumnDataSource
        ``round`` and ``value`` of each walk.
    left_out : BoxAnnotation
    """

    figure: figure
    lines: tuple[ColumnDataSource, ...]
    starts: tuple[ColumnDataSource, ...]
    left_out: BoxAnnotation

    def fill(
        self,
        traces: Sequence[Trace],
        start_values: Sequence[float],
        begin: int,
        round_of: Callable[[int], int],
        *,
        is_share: bool,
    ) -> None:
        """Show these traces.

        Parameters
        ----------
        traces : sequence of Trace
        start_values : sequence of float
            Of the plan that each walk began at; NaN where it has none.
        begin : int
            Round after which recording began, where starts are marked.
        round_of : callable
            The round of a step.
        is_share : bool
            Or else a count.
        """
        seen = [np.asarray(start_values, dtype=np.float64)]
        for number, (line, start) in enumerate(zip(self.lines, self.starts, strict=True)):
            if number >= len(traces):
                line.data = start.data = {"round": [], "value": []}
                continue
            trace = traces[number]
            line.data = {"round": [round_of(int(step)) for step in trace.step], "value": trace.value}
            start.data = {"round": [begin], "value": [start_values[number]]}
            seen.append(trace.value)
        values = np.concatenate(seen)
        low, high = float(np.nanmin(values)), float(np.nanmax(values))
        margin = _MARGIN * max(high - low, 0.01 if is_share else 1.0)
        last = max(round_of(int(trace.step[-1])) for trace in traces)
        self.left_out.update(left=begin, right=max(round_of(trace.counts_from) for trace in traces))
        self.figure.x_range.update(start=begin - 0.02 * (last - begin), end=max(last, begin + 1))
        self.figure.y_range.update(start=low - margin, end=high + margin)
        form = "0.[0]%" if is_share else "0,0"
        if self.figure.yaxis.formatter.format != form:
            self.figure.yaxis.formatter.format = form


def trace_plot() -> TracePlot:
    """Make an empty chart of traces."""
    plot = base_figure("round", "")
    plot.x_range, plot.y_range = Range1d(0, 1), Range1d(0, 1)
    plot.xaxis.formatter = NumeralTickFormatter(format="0,0")
    plot.xaxis.ticker.desired_num_ticks = 5
    plot.yaxis.formatter = NumeralTickFormatter(format="0.[0]%")
    plot.yaxis.ticker.desired_num_ticks = 5
    left_out = BoxAnnotation(left=0, right=0, fill_color=BASELINE, fill_alpha=0.2, line_color=None)
    plot.add_layout(left_out)
    lines, starts = [], []
    for color, dash, marker in LINES:
        line, start = (ColumnDataSource({"round": [], "value": []}) for _ in range(2))
        plot.line("round", "value", source=line, color=color, line_dash=dash, line_width=1.8)
        plot.scatter(
            "round",
            "value",
            source=start,
            size=12,
            marker=marker,
            fill_color=color,
            line_color="white",
            line_width=1.5,
        )
        lines.append(line)
        starts.append(start)
    return TracePlot(plot, tuple(lines), tuple(starts), left_out)
