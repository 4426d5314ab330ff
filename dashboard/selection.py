"""What the visitor points at, and which plans of an ensemble that picks out."""

from typing import NamedTuple

import numpy as np
import param
from numpy.typing import NDArray

from bottomup.dashboard.pool import Sample
from bottomup.data.testimonies import Clusters

__all__ = [
    "Cluster",
    "District",
    "Pointed",
    "Selection",
    "Span",
    "Subset",
    "Testimony",
    "Unit",
    "pick_out",
    "pick_span",
]


class Testimony(NamedTuple):
    """One testimony, by its place among all."""

    place: int


class Cluster(NamedTuple):
    """One cluster of testimonies, by its place among all."""

    place: int


class Unit(NamedTuple):
    """One unit of the map, by its place."""

    place: int


class District(NamedTuple):
    """One district of the plan on the map, by its place from 0."""

    place: int


Pointed = Testimony | Cluster | Unit | District
"""Things that can be pointed at."""


class Span(NamedTuple):
    """Scores from ``low`` to below ``high``: a bar of a histogram, or several side by side."""

    score: str
    """``"testimony"`` or ``"cluster"``."""
    low: float
    high: float


class Selection(param.Parameterized):
    """One thing pointed at, and one span of scores; every view shows what they mean for it."""

    pointed = param.ClassSelector(
        class_=(Testimony, Cluster, Unit, District), default=None, doc="A `Pointed`, or None."
    )
    span = param.ClassSelector(class_=Span, default=None, doc="Plans outside it step back.")

    def clear(self) -> None:
        """Point at nothing, and take all plans again."""
        self.param.update(pointed=None, span=None)


class Subset(NamedTuple):
    """Some of the plans of a sample.

    Attributes
    ----------
    rows : bool array, shape (R,)
        Which plans of the sample.
    words : str
        What they have in common, to follow "plans that", in plain text.
    """

    rows: NDArray[np.bool_]
    words: str

    @property
    def n_plans(self) -> int:
        """How many plans."""
        return int(self.rows.sum())


def pick_span(sample: Sample, span: Span) -> Subset:
    """Plans of a sample whose score lies in a span."""
    scores = sample.scores(span.score)
    what = "of testimonies whole" if span.score == "testimony" else "of cluster weight in best districts"
    return Subset(
        (scores >= span.low) & (scores < span.high), f"have {span.low:.1%} to {span.high:.1%} {what}"
    )


def pick_out(
    sample: Sample,
    selection: Selection,
    ids: tuple[str, ...],
    clusters: Clusters | None,
    enacted: NDArray[np.bool_],
) -> Subset | None:
    """Which plans a selection picks out; None when it picks out none in particular.

    A span picks out the plans whose score lies in it; a testimony those that keep it whole; a cluster those
    that keep at least as many of its testimonies whole as the enacted plan does. Both together pick out what
    they have in common. Units and districts pick out nothing.

    Parameters
    ----------
    sample : Sample
    selection : Selection
    ids : tuple of str, length T
        Of the testimonies.
    clusters : Clusters or None
    enacted : bool array, shape (T,)
        Which testimonies the enacted plan keeps whole.
    """
    rows: list[NDArray[np.bool_]] = []
    words: list[str] = []
    span, pointed = selection.span, selection.pointed
    if span is not None:
        in_span = pick_span(sample, span)
        rows.append(in_span.rows)
        words.append(in_span.words)
    if isinstance(pointed, Testimony):
        rows.append(_whole(sample, np.array([pointed.place]), len(ids))[:, 0])
        words.append(f"keep testimony {ids[pointed.place]} whole")
    elif isinstance(pointed, Cluster) and clusters is not None:
        members = clusters.members(pointed.place)
        least = int(enacted[members].sum())
        rows.append(_whole(sample, members, len(ids)).sum(axis=1) >= least)
        words.append(
            f"keep at least {least} of the {len(members)} testimonies of {clusters.names[pointed.place]} "
            "whole, as the enacted plan does"
        )
    if not rows:
        return None
    return Subset(np.logical_and.reduce(rows), " and ".join(words))


def _whole(sample: Sample, places: NDArray[np.int64], n_testimonies: int) -> NDArray[np.bool_]:
    """Which plans keep which testimonies whole, shape (R, number of places)."""
    whole = np.unpackbits(sample.plans.preserved, axis=1, count=n_testimonies)
    return whole[:, places].astype(bool)
