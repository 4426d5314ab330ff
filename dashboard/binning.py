"""Bars of a histogram that stay put while plans come in."""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

__all__ = ["Bins", "choose_bins"]

_AIM_BARS = 40
_NICE = (1.0, 2.0, 2.5, 5.0, 10.0)
_LEAST_FILLED = 0.35


@dataclass(frozen=True)
class Bins:
    """Bars of equal width.

    Attributes
    ----------
    start : float
        Left end of the first bar.
    width : float
    n_bars : int
    """

    start: float
    width: float
    n_bars: int

    @property
    def edges(self) -> NDArray[np.float64]:
        """Ends of the bars, shape (n_bars + 1,)."""
        return self.start + self.width * np.arange(self.n_bars + 1, dtype=np.float64)

    @property
    def end(self) -> float:
        """Right end of the last bar."""
        return self.start + self.width * self.n_bars

    def bar_of(self, values: ArrayLike) -> NDArray[np.int64]:
        """Bar of each value, -1 outside all bars."""
        bar = np.floor((np.asarray(values, dtype=float) - self.start) / self.width).astype(np.int64)
        return np.where((bar >= 0) & (bar < self.n_bars), bar, -1)

    def counts(self, values: ArrayLike) -> NDArray[np.int64]:
        """How many of the values are in each bar, shape (n_bars,)."""
        bars = self.bar_of(values)
        return np.bincount(bars[bars >= 0], minlength=self.n_bars)

    def shares(self, values: ArrayLike) -> NDArray[np.float64]:
        """Share of the values in each bar, shape (n_bars,); zeros when there are no values."""
        return self.counts(values) / max(1, np.size(values))

    def span_of(self, first: float, last: float) -> tuple[float, float] | None:
        """Ends of the bars that lie between two points, or hold one of them; None outside all bars.

        Parameters
        ----------
        first, last : float
            In any order.
        """
        low, high = sorted((first, last))
        if high < self.start or low >= self.end:
            return None
        low_bar = max(0, math.floor((low - self.start) / self.width))
        high_bar = min(self.n_bars - 1, math.floor((high - self.start) / self.width))
        edges = self.edges
        return float(edges[low_bar]), float(edges[high_bar + 1])


def choose_bins(
    values: Sequence[ArrayLike], *, step: float | None = None, before: Bins | None = None
) -> Bins:
    """Bars that hold all finite values, in round widths.

    Parameters
    ----------
    values : sequence of array_like
    step : float, optional
        Values are multiples of it: bars are then a whole number of steps wide and end between two values, so
        that none holds more possible values than its neighbour.
    before : Bins, optional
        Bars in use; kept while they hold all values and are not far too wide.
    """
    joined = np.concatenate([np.atleast_1d(np.asarray(part, dtype=float)) for part in values])
    finite = joined[np.isfinite(joined)]
    low, high = (float(finite.min()), float(finite.max())) if finite.size else (0.0, 1.0)
    if before is not None:
        inside = before.start <= low and high < before.end
        if inside and (high - low) >= _LEAST_FILLED * before.width * before.n_bars:
            return before
    # Room for the walk to move on without new bars at every moment.
    spread = max(high - low, 0.02)
    low, high = low - 0.15 * spread, high + 0.15 * spread
    width = _nice_width((high - low) / _AIM_BARS)
    if step is None:
        start = math.floor(low / width) * width
    else:
        width = max(1, round(width / step)) * step
        start = (math.floor(low / step) - 0.5) * step
    n_bars = math.ceil((high - start) / width) + 1
    return Bins(start, width, n_bars)


def _nice_width(width: float) -> float:
    power = 10.0 ** math.floor(math.log10(width))
    return next(factor for factor in _NICE if factor * power >= width * (1 - 1e-9)) * power
