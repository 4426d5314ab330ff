"""Influence on paper: how far one testimony, or a group, can change the odds of a plan at every ε."""

from collections.abc import Sequence

import numpy as np
from matplotlib.figure import Figure
from matplotlib.ticker import FuncFormatter

from bottomup.dashboard.influence import USELESS, WEAK_FACTOR, times
from bottomup.dashboard.palette import CHOSEN, INK, MUTED
from bottomup.dashboard.prints.score_prints import epsilon_axis
from bottomup.dashboard.prints.sheet import add_key, label_line, new_sheet
from bottomup.sampler.promise import Promise

__all__ = ["draw_influence"]

# Told apart by their strokes, also without colours.
_STYLES = ("-", (0, (5, 2)), (0, (1, 1.5)), (0, (5, 2, 1, 2)))


def draw_influence(
    title: str, source: str, epsilons: Sequence[float], sizes: Sequence[int], epsilon: float
) -> Figure:
    """Most by which a group changes the odds of any one plan, by ε, up to a factor of a million.

    Parameters
    ----------
    title, source : str
    epsilons : sequence of float
        From 0 up.
    sizes : sequence of int
        Of groups, at most four.
    epsilon : float
        The chosen one.
    """
    figure, axes = new_sheet(title, source, 3.8)
    places = np.arange(len(epsilons))
    epsilon_axis(axes, epsilons)
    axes.set_yscale("log")
    axes.set_ylim(0.9, USELESS)
    axes.yaxis.set_major_formatter(FuncFormatter(lambda value, _: f"×{value:,.0f}"))
    axes.minorticks_off()
    axes.set_ylabel("odds change at most")
    for size, style in zip(sizes, _STYLES, strict=False):
        odds = np.exp(np.minimum([Promise(each, group_size=size).log_odds for each in epsilons], 700.0))
        words = "any one testimony" if size == 1 else f"any {size:,} together"
        axes.plot(places, odds, color=INK, linestyle=style, linewidth=1.8, label=words)
    axes.axhline(WEAK_FACTOR, color=MUTED, linewidth=0.8)
    axes.annotate(
        f"×{WEAK_FACTOR:g}: even odds become {WEAK_FACTOR:g} to 1",
        (1.0, WEAK_FACTOR),
        xycoords=("axes fraction", "data"),
        xytext=(-3, -3),
        textcoords="offset points",
        ha="right",
        va="top",
        color=MUTED,
        fontsize=8,
    )
    if epsilon in epsilons:
        at = list(epsilons).index(epsilon)
        axes.axvline(at, color=CHOSEN, linewidth=1.0)
        factor = times(epsilon) if epsilon else "testimony is ignored"
        label_line(
            axes,
            at,
            f"chosen, ε = {epsilon:g}: {factor}",
            CHOSEN,
            row=0,
            to_left=at > len(epsilons) / 2,
            bold=True,
        )
        if epsilon:
            axes.plot(at, np.exp(epsilon), "D", color=CHOSEN, markersize=8)
    add_key(axes)
    return figure
