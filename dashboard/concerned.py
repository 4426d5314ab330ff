"""Which testimonies something on the page concerns, and which a search finds."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from bottomup.dashboard.selection import Cluster, District, Pointed, Unit
from bottomup.data.errors import count
from bottomup.data.testimonies import Testimonies

__all__ = ["Concerned", "concerned", "find_words"]


class Concerned(NamedTuple):
    """Some of the testimonies."""

    rows: NDArray[np.bool_]
    """bool array, shape (T,)."""
    words: str
    """What they have to do with the thing pointed at, as a sentence of plain text."""


def concerned(
    pointed: Pointed | None,
    testimonies: Testimonies,
    unit_ids: tuple[str, ...],
    assignment: NDArray[np.int32],
    district_names: tuple[str, ...],
) -> Concerned | None:
    """Testimonies that cover a unit, that have to do with a district, or that are in a cluster.

    Parameters
    ----------
    pointed : Pointed or None
    testimonies : Testimonies
    unit_ids : tuple of str, length n
    assignment : int32 array, shape (n,)
        Of the plan on the map.
    district_names : tuple of str
        Of that plan.

    Returns
    -------
    Concerned or None
        None when a testimony is pointed at, or nothing.
    """
    sizes = testimonies.sizes
    if isinstance(pointed, Unit):
        rows = _units_inside(testimonies, testimonies.units == pointed.place) > 0
        n = int(rows.sum())
        verb = "covers" if n == 1 else "cover"
        words = f"{count(n, 'testimony', 'testimonies')} {verb} unit {unit_ids[pointed.place]}."
        return Concerned(rows, words if n else f"No testimony covers unit {unit_ids[pointed.place]}.")
    if isinstance(pointed, District):
        inside = _units_inside(testimonies, assignment[testimonies.units] == pointed.place)
        lies, is_cut = (inside == sizes) & (sizes > 0), (inside > 0) & (inside < sizes)
        n = int(lies.sum())
        verb = "lies" if n == 1 else "lie"
        return Concerned(
            lies | is_cut,
            f"In the plan on the map {count(n, 'testimony', 'testimonies')} {verb} in district "
            f"{district_names[pointed.place]}, and its border cuts {int(is_cut.sum()):,}.",
        )
    if isinstance(pointed, Cluster) and testimonies.clusters is not None:
        rows = testimonies.clusters.of_testimony == pointed.place
        n = int(rows.sum())
        name = testimonies.clusters.names[pointed.place]
        are = "is" if n == 1 else "are"
        return Concerned(rows, f"{count(n, 'testimony', 'testimonies')} {are} in cluster {name}.")
    return None


def _units_inside(testimonies: Testimonies, is_inside: NDArray[np.bool_]) -> NDArray[np.int64]:
    """How many of a testimony's units are marked, shape (T,)."""
    return np.diff(np.concatenate([[0], np.cumsum(is_inside)])[testimonies.indptr])


def find_words(texts: list[str], wanted: str) -> NDArray[np.bool_]:
    """Which texts hold every word that is wanted, in any case and order."""
    words = wanted.casefold().split()
    return np.array([all(word in text.casefold() for word in words) for text in texts], dtype=bool)
