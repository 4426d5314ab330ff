"""Figures: each builder returns a figure together with the sources through which it is filled."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from bokeh.models import ColumnDataSource, FactorRange, NumeralTickFormatter, Range1d
from bokeh.plotting import figure
from numpy.typing import ArrayLike

from bottomup.dashboard.figures import FONT, base_figure, name_epsilons
from bottomup.dashboard.palette import BASELINE, ENACTED, ENSEMBLE, INK, MUTED, PALE
from bottomup.dashboard.whatif import GroupShares

__all__ = ["ClusterPlot", "LimitPlot", "cluster_plot", "limit_plot"]

_ROW_PIXELS = 25


@dataclass(frozen=True, eq=False)
class ClusterPlot:
    """One row per cluster: how often its testimonies are kept whole.

    Attributes
    ----------
    figure : bokeh.plotting.figure
    rows : ColumnDataSource
        ``name``, ``ensemble``, ``baseline``, ``enacted``, shares between 0 and 1.
    height : int
        Pixels that it takes for every name to be read, at a font of 16 pixels on the page.
    """

    figure: figure
    rows: ColumnDataSource
    height: int

    def fill(self, ensemble: ArrayLike, baseline: ArrayLike, enacted: ArrayLike) -> None:
        """Show these shares, one per cluster."""
        self.rows.data = {
            "name": self.rows.data["name"],
            "ensemble": np.asarray(ensemble, dtype=float),
            "baseline": np.asarray(baseline, dtype=float),
            "enacted": np.asarray(enacted, dtype=float),
        }


def cluster_plot(names: Sequence[str]) -> ClusterPlot:
    """Make an empty chart with a row for each cluster, the first at the top."""
    empty = np.full(len(names), np.nan)
    rows = ColumnDataSource({"name": list(names), "ensemble": empty, "baseline": empty, "enacted": empty})
    plot = base_figure(
        "testimonies kept whole", "", y_range=FactorRange(factors=list(reversed(names)), range_padding=0.01)
    )
    plot.x_range = Range1d(-0.03, 1.04)
    plot.xaxis.formatter = NumeralTickFormatter(format="0.[0]%")
    plot.xaxis.ticker.desired_num_ticks = 5
    plot.add_layout(plot.xaxis[0].clone(axis_label=None), "above")
    plot.ygrid.grid_line_color = None
    plot.yaxis.major_tick_line_color = None
    plot.hbar("name", 0.62, "ensemble", 0, source=rows, color=ENSEMBLE, fill_alpha=0.85)
    plot.scatter(
        "baseline", "name", source=rows, size=11, fill_color="white", line_color=MUTED, line_width=2.2
    )
    plot.scatter(
        "enacted",
        "name",
        source=rows,
        size=19,
        marker="dash",
        angle=np.pi / 2,
        line_color=ENACTED,
        line_width=4,
    )
    return ClusterPlot(plot, rows, 90 + _ROW_PIXELS * len(names))


@dataclass(frozen=True, eq=False)
class LimitPlot:
    """A share by ε: with an attack, without it, and between them what the limit allows.

    Attributes
    ----------
    figure : bokeh.plotting.figure
    points : ColumnDataSource
        ``place`` of ε on the slider, ``under``, ``without``, ``baseline``, ``least`` and ``most``.
    epsilons : tuple of float
        Positions of the slider.
    """

    figure: figure
    points: ColumnDataSource
    epsilons: tuple[float, ...]

    def fill(self, shares: Mapping[float, GroupShares]) -> None:
        """Show these shares, by ε; the area of the limit is left out where there is none."""
        self.points.data = {
            "place": [self.epsilons.index(epsilon) for epsilon in shares],
            **{
                name: [getattr(own, name) for own in shares.values()]
                for name in ("under", "without", "baseline")
            },
            **{
                name: np.array([getattr(own, name) for own in shares.values()], dtype=np.float64)
                for name in ("least", "most")
            },
        }


def limit_plot(title: str, epsilons: Sequence[float], x_title: str = "") -> LimitPlot:
    """Make an empty chart of a share between 0 and 1 by ε, evenly spread as on the slider."""
    names = ("place", "under", "without", "baseline", "least", "most")
    points = ColumnDataSource({name: [] for name in names})
    plot = base_figure(x_title, "", title=title)
    plot.title.text_font, plot.title.text_font_size = FONT, "15px"
    plot.title.text_color = INK
    plot.x_range = Range1d(-0.5, len(epsilons) - 0.5)
    plot.y_range = Range1d(-0.02, 1.02)
    plot.yaxis.formatter = NumeralTickFormatter(format="0%")
    plot.yaxis.ticker.desired_num_ticks = 4
    name_epsilons(plot, epsilons)
    plot.varea("place", "least", "most", source=points, fill_color=PALE, fill_alpha=0.45)
    plot.line("place", "baseline", source=points, color=BASELINE, line_width=2.5)
    plot.line("place", "without", source=points, color=MUTED, line_width=3, line_dash="dashed")
    plot.line("place", "under", source=points, color=ENSEMBLE, line_width=4)
    plot.scatter("place", "under", source=points, size=7, color=ENSEMBLE)
    return LimitPlot(plot, points, tuple(epsilons))
