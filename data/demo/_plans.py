"""The two enacted plans on the drawn block groups: whole counties as enacted, others by population."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pandas as pd
from scipy.sparse import csr_matrix
from scipy.sparse.csgraph import connected_components

from bottomup.data.demo._density import to_plane


@dataclass(frozen=True)
class Part:
    """One district's part of a divided county: where it begins and how it grows.

    Attributes
    ----------
    district : int
    towards : tuple of float
        East and north component of the direction in which the part lies.
    around : tuple of float, optional
        Longitude and latitude of its middle; the part grows around it instead.
    """

    district: int
    towards: tuple[float, float] = (0.0, 0.0)
    around: tuple[float, float] | None = None

    def distance(self, centres: np.ndarray) -> np.ndarray:
        """Return how late each cell joins the part; the lowest joins first."""
        if self.around is not None:
            return np.hypot(*(centres - to_plane(np.array([self.around]))).T)
        return -centres @ np.array(self.towards)


#: The divided counties of each plan. Parts are drawn in this order; the last district takes what is left.
DIVIDED: dict[str, dict[str, tuple[Part, ...]]] = {
    "cd2022": {
        "29019": (Part(4, towards=(0.1, 1.0)), Part(3)),
        "29029": (Part(3, towards=(0.6, 1.0)), Part(4)),
        "29047": (Part(5, towards=(-1.0, -0.7)), Part(6)),
        "29095": (Part(6, towards=(0.7, 1.0)), Part(4, towards=(1.0, -0.15)), Part(5)),
        "29099": (Part(3, towards=(-1.0, 0.2)), Part(8)),
        "29183": (Part(2, towards=(-0.4, -1.0)), Part(3)),
        "29189": (Part(1, towards=(0.55, 1.0)), Part(2)),
        "29219": (Part(2, towards=(0.0, -1.0)), Part(3)),
        "29225": (Part(4, towards=(0.0, 1.0)), Part(7)),
    },
    "cd2025": {
        "29019": (Part(5, towards=(-0.3, 1.0)), Part(3)),
        "29095": (Part(6, around=(-94.54, 39.13)), Part(4, towards=(0.0, -1.0)), Part(5)),
        "29099": (Part(2, towards=(-1.0, 0.2)), Part(8)),
        "29189": (Part(3, around=(-90.50, 38.75)), Part(1, towards=(0.55, 1.0)), Part(2)),
        "29225": (Part(4, towards=(0.0, 1.0)), Part(7)),
    },
}


def draw_plan(
    name: str,
    shares: pd.DataFrame,
    codes: list[str],
    county: np.ndarray,
    centres: np.ndarray,
    population: np.ndarray,
    adjacency: csr_matrix,
) -> np.ndarray:
    """Give every cell its enacted district.

    Parameters
    ----------
    name : str
        A key of ``DIVIDED``.
    shares : DataFrame
        The shares of :func:`bottomup.data.demo._facts.read_plan_shares`.
    codes : list of str
        County codes in the order of ``county``.
    county : int array, shape (n,)
    centres : float64 array, shape (n, 2)
        Kilometres on the plane.
    population : int64 array, shape (n,)
    adjacency : csr_matrix, shape (n, n)

    Returns
    -------
    int64 array, shape (n,)
        District numbers as enacted, from 1.
    """
    assignment = np.zeros(len(county), dtype=np.int64)
    for group, rows in shares[shares["plan"] == name].groupby("county"):
        code = str(group)
        cells = np.flatnonzero(county == codes.index(code))
        people = dict(zip(rows["district"], rows["pop20"], strict=True))
        if len(people) == 1:
            assignment[cells] = next(iter(people))
            continue
        parts = DIVIDED[name][code]
        if {part.district for part in parts} != set(people):
            raise ValueError(f"{name} divides county {code} among {sorted(people)}, the parts say otherwise")
        left = cells
        for part in parts[:-1]:
            grown = _grow(
                adjacency[left][:, left],
                part.distance(centres[left]),
                population[left],
                people[part.district],
            )
            assignment[left[grown]] = part.district
            left = left[~grown]
        assignment[left] = parts[-1].district
    return assignment


def _grow(adjacency: csr_matrix, distance: np.ndarray, population: np.ndarray, wanted: int) -> np.ndarray:
    """Grow one connected part cell by cell, nearest first, until it holds the people wanted.

    A cell that would cut off some of the remainder brings along what it cuts off. Near the end, cells that
    would take the part further from the number wanted are passed by; smaller ones on its border still join.

    Returns
    -------
    bool array, shape (n,)
    """
    grown = np.zeros(len(distance), dtype=bool)
    border = {int(np.argmin(distance))}
    while border:
        cell = min(border, key=lambda candidate: (distance[candidate], candidate))
        border.discard(cell)
        if grown[cell]:
            continue
        joining = _with_cut_off(adjacency, grown, cell)
        held, more = int(population[grown].sum()), int(population[joining].sum())
        overshoot = held + more - wanted
        if overshoot > (wanted - held if len(joining) == 1 else 0):
            continue
        grown[joining] = True
        for member in joining:
            border.update(n for n in adjacency[member].indices.tolist() if not grown[n])
    return grown


def _with_cut_off(adjacency: csr_matrix, grown: np.ndarray, cell: int) -> np.ndarray:
    """Return a cell and all it would cut off from the largest connected piece of the remainder."""
    rest = np.flatnonzero(~grown)
    rest = rest[rest != cell]
    if len(rest) == 0:
        return np.array([cell])
    piece = connected_components(adjacency[rest][:, rest], directed=False)[1]
    main = np.bincount(piece).argmax()
    return np.concatenate([[cell], rest[piece != main]])
