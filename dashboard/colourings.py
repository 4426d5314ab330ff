"""What else than districts the map can show: a class of colour for each unit, and what the classes mean."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from bokeh.palettes import BrBG, RdBu, YlGnBu
from numpy.typing import NDArray

from bottomup.data.testimonies import Testimonies
from bottomup.sampler.shares import Share

__all__ = [
    "NOTHING",
    "NO_CLASS",
    "Colouring",
    "coverage",
    "coverage_colouring",
    "covering",
    "kept_colouring",
    "mean_over_covering",
    "population_colouring",
    "share_colouring",
    "together_colouring",
    "waiting",
]

NO_CLASS = 255
"""Class of a unit about which there is nothing to say."""
NOTHING = "#d3d8dc"
"""Colour of such a unit."""
_N_CLASSES = 6
_SEQUENCE = YlGnBu[9][:1:-1]
_SQUARE_METRES_PER_SQUARE_MILE = 1609.344**2
_POINTS = (-0.2, -0.1, -0.02, 0.02, 0.1, 0.2)
_VOTES = (0.25, 0.4, 0.5, 0.6, 0.75)
_TOGETHER = (0.1, 0.25, 0.5, 0.75, 0.9)


@dataclass(frozen=True, eq=False)
class Colouring:
    """A class for each unit.

    Attributes
    ----------
    title : str
        What is shown, with its measure; plain text.
    classes : uint8 array, shape (n,)
        `NO_CLASS` where there is nothing to say.
    colors : tuple of str
        By class, as ``#rrggbb``.
    marks : tuple of str
        The number at which each class but the first begins.
    nothing : str
        Why units have no class; empty when all have one, or when the title says it.
    """

    title: str
    classes: NDArray[np.uint8]
    colors: tuple[str, ...]
    marks: tuple[str, ...]
    nothing: str


def _classify(
    title: str,
    values: NDArray[np.floating],
    breaks: Sequence[float],
    colors: Sequence[str],
    write: Callable[[float], str],
    nothing: str,
) -> Colouring:
    """Classes from below the first break to the last break and above; NaN has none."""
    # A share that is computed, such as 0.3, may lie a hair below the break that it equals.
    classes = np.searchsorted(np.array(breaks) - 1e-12, values, side="right").astype(np.uint8)
    classes[np.isnan(values)] = NO_CLASS
    marks = tuple(write(value) for value in breaks)
    return Colouring(title, classes, tuple(colors), marks, nothing if np.isnan(values).any() else "")


def _sequential(n_classes: int) -> tuple[str, ...]:
    """Light to dark; colour-blind eyes can go by lightness alone. Dark lines stand out on the darkest."""
    places = np.linspace(0, len(_SEQUENCE) - 1, n_classes).round().astype(int)
    return tuple(_SEQUENCE[place] for place in places)


def _percent(share: float) -> str:
    return f"{100 * share:.0f}"


def _quantiles(values: NDArray[np.floating]) -> NDArray[np.float64]:
    known = values[np.isfinite(values)]
    if not len(known):
        return np.empty(0)
    return np.asarray(np.quantile(known, np.arange(1, _N_CLASSES) / _N_CLASSES), dtype=np.float64)


def _round_to_series(values: NDArray[np.float64]) -> list[float]:
    """The nearest of 1, 2, 5, 10, 20, 50 …, each once."""
    series = np.outer(10.0 ** np.arange(-2, 8), (1, 2, 5)).ravel()
    positive = values[values > 0]
    nearest = np.abs(np.log(series[None, :]) - np.log(positive[:, None])).argmin(axis=1)
    return [float(value) for value in np.unique(series[nearest])]


def population_colouring(population: NDArray[np.integer], square_metres: NDArray[np.floating]) -> Colouring:
    """People per square mile, in classes of about as many units each."""
    square_miles = np.asarray(square_metres, dtype=np.float64) / _SQUARE_METRES_PER_SQUARE_MILE
    with np.errstate(invalid="ignore", divide="ignore"):
        density = np.where(square_miles > 0, population / square_miles, np.nan)
    breaks = _round_to_series(_quantiles(density))
    colors = _sequential(len(breaks) + 1)
    return _classify(
        "People per square mile", density, breaks, colors, lambda value: f"{value:,.12g}", "no area"
    )


def share_colouring(share: Share) -> Colouring:
    """A group's share in classes of about as many units each, or a two-party share around one half."""
    with np.errstate(invalid="ignore", divide="ignore"):
        values = np.where(share.denominator > 0, share.numerator / share.denominator, np.nan)
    if share.kind == "election":
        title = f"Democratic share of two-party votes, {share.of}, %"
        colors = RdBu[len(_VOTES) + 1][::-1]
        return _classify(title, values, _VOTES, colors, _percent, "no votes")
    quantiles = _quantiles(values)
    # Steps that can be read; finer ones only where the shares are close together.
    breaks = next(
        (found for step in (0.05, 0.01) if len(found := _multiples(quantiles, step)) >= 3),
        _multiples(quantiles, 0.01),
    )
    title = f"{share.of} share of voting-age people, %"
    return _classify(title, values, breaks, _sequential(len(breaks) + 1), _percent, "nobody of voting age")


def _multiples(values: NDArray[np.float64], step: float) -> list[float]:
    found = np.unique(np.round(values / step))
    return [float(value * step) for value in found if 0 < value * step < 1]


def covering(testimonies: Testimonies, unit: int) -> NDArray[np.int64]:
    """Places of the testimonies that cover a unit, ascending."""
    return np.searchsorted(testimonies.indptr, np.flatnonzero(testimonies.units == unit), side="right") - 1


def coverage(testimonies: Testimonies, n_units: int) -> NDArray[np.int64]:
    """How many testimonies cover each unit, shape (n,)."""
    return np.bincount(testimonies.units, minlength=n_units)


def mean_over_covering(
    values: NDArray[np.floating], testimonies: Testimonies, n_units: int
) -> NDArray[np.float64]:
    """For each unit the mean of a value over the testimonies that cover it, shape (n,); NaN without any."""
    counts = coverage(testimonies, n_units)
    sums = np.bincount(testimonies.units, np.repeat(values, testimonies.sizes), n_units)
    return np.divide(sums, counts, out=np.full(n_units, np.nan), where=counts > 0)


def coverage_colouring(testimonies: Testimonies, n_units: int) -> Colouring:
    """How many testimonies cover each unit."""
    counts = coverage(testimonies, n_units)
    steps = np.unique(counts[counts > 0])
    if len(steps) > _N_CLASSES:
        steps = np.unique([1, *_quantiles(counts[counts > 0].astype(np.float64)).round()])
    breaks = [int(step) for step in steps[1:]]
    values = np.where(counts > 0, counts, np.nan)
    return _classify(
        "Testimonies that cover each unit",
        values,
        breaks,
        _sequential(len(breaks) + 1),
        lambda value: f"{value:,}",
        "none",
    )


def kept_colouring(
    kept: NDArray[np.floating], baseline: NDArray[np.floating], testimonies: Testimonies, n_units: int
) -> Colouring:
    """How much more often than in the baseline the testimonies over each unit are kept whole.

    Parameters
    ----------
    kept, baseline : float arrays, shape (T,)
        Shares of plans that keep each testimony whole.
    testimonies : Testimonies
    n_units : int
    """
    values = mean_over_covering(kept - baseline, testimonies, n_units)
    return _classify(
        "Kept whole more (+) or less often than in the baseline, points",
        values,
        _POINTS,
        BrBG[len(_POINTS) + 1][::-1],
        lambda value: f"{100 * value:+.0f}".replace("-", "\u2212"),
        "no testimony",
    )


def together_colouring(together: NDArray[np.floating], unit: str) -> Colouring:
    """How often each unit shares a district with one of them, whose id is given."""
    return _classify(
        f"In the same district as {unit}, % of plans",
        np.asarray(together, dtype=np.float64),
        _TOGETHER,
        _sequential(len(_TOGETHER) + 1),
        _percent,
        "",
    )


def waiting(title: str, n_units: int) -> Colouring:
    """All units without a class, until there is something to show; the title says for what it waits."""
    return Colouring(title, np.full(n_units, NO_CLASS, dtype=np.uint8), (), (), "")
