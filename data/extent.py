"""What one testimony covers on the map, for people to look at: its units, as they are scored."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from bottomup.data.adjacency import components
from bottomup.data.errors import DataError, list_some
from bottomup.data.geography import Geography
from bottomup.data.testimonies import Testimonies


class Extent(NamedTuple):
    """The units of one testimony.

    Attributes
    ----------
    units : int32 array, shape (n_covered,)
        Their positions, ascending.
    ids : tuple of str, length n_covered
    population : int64 array, shape (n_covered,)
    piece : int32 array, shape (n_covered,)
        Which connected piece of the testimony each unit is in, from 0.
    unknown : tuple of str
        Units that it names and the map does not have.
    """

    units: NDArray[np.int32]
    ids: tuple[str, ...]
    population: NDArray[np.int64]
    piece: NDArray[np.int32]
    unknown: tuple[str, ...]

    @property
    def n_pieces(self) -> int:
        """Number of connected pieces; 0 for a testimony without units."""
        return int(self.piece.max(initial=-1)) + 1


def extent_of(testimonies: Testimonies, geography: Geography, name: str) -> Extent:
    """Return the units that a testimony covers.

    Parameters
    ----------
    testimonies : Testimonies
    geography : Geography
    name : str
        Id of the testimony.

    Raises
    ------
    DataError
        When there is no such testimony.
    """
    if name not in testimonies.ids:
        raise DataError(
            "unknown_testimony",
            f"There is no testimony {name!r}.",
            remedy=f"Ids look like {list_some(list(testimonies.ids[:3]))}.",
        )
    units = testimonies.units_of(testimonies.ids.index(name))
    is_covered = np.zeros(geography.n_units, dtype=bool)
    is_covered[units] = True
    return Extent(
        units=units,
        ids=tuple(geography.ids[unit] for unit in units),
        population=geography.population[units],
        piece=components(geography.n_units, geography.edges, is_covered)[units],
        unknown=testimonies.unknown_units.get(name, ()),
    )
