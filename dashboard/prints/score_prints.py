"""Scores on paper: how many plans have which score, and what every ε buys."""

from collections.abc import Sequence

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from numpy.typing import ArrayLike, NDArray

from bottomup.dashboard.binning import Bins
from bottomup.dashboard.early import FEW_PLANS
from bottomup.dashboard.figures import factor_or_off
from bottomup.dashboard.palette import CHOSEN, ENACTED, ENSEMBLE, INK, MUTED, PALE, PAPER
from bottomup.dashboard.prints.sheet import add_key, label_line, new_sheet, percent_axis, say_empty
from bottomup.dashboard.tradeoff import AtEpsilon

__all__ = ["draw_histogram", "draw_tradeoff", "epsilon_axis"]

_HEADROOM = 1.3
_NAMED = (0.0, 0.1, 0.2, 0.5, 1.0, 2.0, 5.0, 10.0)


def draw_histogram(
    title: str,
    source: str,
    x_title: str,
    bins: Bins,
    ensemble: ArrayLike,
    baseline: ArrayLike,
    enacted: float,
    early: str = "",
) -> Figure:
    """Bars of an ensemble, outline and mean of the baseline, and the enacted plan as a red line.

    Parameters
    ----------
    title, source, x_title : str
    bins : Bins
    ensemble, baseline : array_like of float
        Scores between 0 and 1; those that are not known are left out.
    enacted : float
    early : str
        Why the bars are to be read with care; they are hatched then.
    """
    figure, axes = new_sheet(title, source, 3.6)
    values, ignoring = _known(ensemble), _known(baseline)
    edges, heights, shares = bins.edges, bins.counts(values) / max(1, len(values)), bins.shares(ignoring)
    axes.set_xlim(bins.start, bins.end)
    axes.set_ylim(0, _HEADROOM * max(float(heights.max()), float(shares.max()), 0.05))
    axes.set_xlabel(x_title)
    axes.set_ylabel("share of plans")
    if len(values):
        axes.bar(
            edges[:-1],
            heights,
            bins.width,
            align="edge",
            facecolor=ENSEMBLE,
            edgecolor=PAPER,
            linewidth=0.4,
            hatch="////" if early else None,
            label=f"this ensemble ({early})" if early else "this ensemble",
        )
    else:
        say_empty(axes)
    if len(ignoring):
        axes.stairs(shares, edges, color=INK, linewidth=1.2, label="baseline, testimony ignored")
        mean = float(ignoring.mean())
        axes.axvline(mean, color=MUTED, linewidth=1.6, linestyle=(0, (4, 2)), label="its mean")
        label_line(axes, mean, f"baseline mean {mean:.1%}", MUTED, row=1, to_left=mean <= enacted)
    if np.isfinite(enacted):
        axes.axvline(enacted, color=ENACTED, linewidth=2.4, label="enacted plan")
        to_left = bool(len(ignoring)) and enacted < ignoring.mean()
        label_line(axes, enacted, f"enacted {enacted:.1%}", ENACTED, row=0, to_left=to_left, bold=True)
    percent_axis(axes, "x")
    percent_axis(axes, "y")
    add_key(axes)
    return figure


def _known(values: ArrayLike) -> NDArray[np.float64]:
    found = np.asarray(values, dtype=np.float64)
    return found[np.isfinite(found)]


def epsilon_axis(axes: Axes, epsilons: Sequence[float]) -> None:
    """Lay ε out evenly as on the slider, and name some with by how much they let odds change."""
    named: list[int] = []
    for place, epsilon in enumerate(epsilons):
        if epsilon in _NAMED and (not named or place > named[-1] + 1):
            named.append(place)
    axes.set_xticks(
        named, [f"{epsilons[place]:g}\n{factor_or_off(epsilons[place])}" for place in named], fontsize=8
    )
    axes.set_xlim(-0.6, max(1, len(epsilons)) - 0.4)
    axes.set_xlabel("ε, and by how much any one testimony can change the odds of a plan")


def draw_tradeoff(
    title: str,
    source: str,
    y_title: str,
    kind: str,
    found: Sequence[AtEpsilon],
    epsilon: float,
    enacted: float,
) -> Figure:
    """Mean of a score by ε with the middle 90 % of plans, the baseline, the chosen ε and the enacted plan.

    Parameters
    ----------
    title, source, y_title : str
    kind : {"testimony", "cluster"}
    found : sequence of AtEpsilon
        From ε = 0 up.
    epsilon : float
        The chosen one.
    enacted : float
    """
    figure, axes = new_sheet(title, source, 3.8)
    places = np.arange(len(found))
    means = np.array([each.mean(kind) for each in found])
    bands = np.array([each.band(kind) for each in found]).reshape(-1, 2)
    epsilon_axis(axes, [each.epsilon for each in found])
    axes.set_ylabel(y_title)
    if np.isfinite(means).any():
        axes.fill_between(places, *bands.T, color=PALE, linewidth=0, label="middle 90 % of plans")
        axes.plot(places, means, color=ENSEMBLE, linewidth=2, label="average")
        few = np.array([each.n_effective < FEW_PLANS for each in found])
        for rows, face, words in ((~few, ENSEMBLE, None), (few, PAPER, "few plans: early")):
            if rows.any():
                axes.plot(
                    places[rows],
                    means[rows],
                    "o",
                    markersize=4.5,
                    markerfacecolor=face,
                    markeredgecolor=ENSEMBLE,
                    label=words,
                )
        axes.axhline(means[0], color=MUTED, linewidth=1.4, linestyle=(0, (4, 2)), label="baseline")
        here = [place for place, each in enumerate(found) if each.epsilon == epsilon]
        axes.plot(here, means[here], "D", color=CHOSEN, markersize=9, label=f"chosen, ε = {epsilon:g}")
    else:
        say_empty(axes)
    if np.isfinite(enacted):
        axes.axhline(enacted, color=ENACTED, linewidth=2.2, label=f"enacted plan {enacted:.1%}")
    percent_axis(axes, "y")
    add_key(axes, 3)
    return figure
