"""Who lives in the drawn block groups: figures that vary smoothly and add up to each county's own."""

from __future__ import annotations

import numpy as np
import pandas as pd

from bottomup.data.demo._cells import Cells
from bottomup.data.demo._density import smooth_field, to_plane, town_density
from bottomup.data.demo._facts import SEED

#: Places where Black residents are many: longitude, latitude, reach in kilometres, strength in log-odds.
BLACK_CENTRES = (
    (-90.240, 38.675, 5.0, 3.2),  # north St. Louis
    (-90.285, 38.735, 8.0, 3.6),  # Ferguson, Jennings
    (-90.225, 38.790, 6.0, 2.2),  # Spanish Lake
    (-90.335, 38.665, 4.0, 1.2),  # University City
    (-94.545, 39.055, 6.0, 3.2),  # Kansas City, east side
    (-94.530, 38.960, 7.0, 1.8),  # Kansas City, south-east
    (-89.690, 36.210, 12.0, 1.6),  # Hayti, Caruthersville
    (-89.345, 36.920, 9.0, 1.8),  # Charleston
    (-89.580, 36.880, 7.0, 1.6),  # Sikeston
    (-89.530, 36.590, 8.0, 1.2),  # New Madrid
    (-92.330, 38.965, 6.0, 1.2),  # Columbia
    (-92.165, 38.570, 5.0, 1.4),  # Jefferson City
    (-92.150, 37.740, 9.0, 1.2),  # Fort Leonard Wood
)

#: Places that vote more Democratic than their density explains: the same four numbers.
DEMOCRATIC_CENTRES = (
    (-92.330, 38.945, 7.0, 0.5),  # Columbia
    (-94.585, 39.055, 6.0, 0.7),  # midtown Kansas City
    (-90.255, 38.610, 6.0, 0.5),  # south St. Louis
    (-90.320, 38.655, 5.0, 0.6),  # University City, Clayton
    (-93.285, 37.205, 5.0, 0.4),  # Springfield
    (-92.583, 40.195, 5.0, 0.3),  # Kirksville
)


def apportion(total: int, weights: np.ndarray, upper: np.ndarray | None = None) -> np.ndarray:
    """Divide a whole number in proportion to weights, by largest remainders.

    Parameters
    ----------
    total : int
        What to divide.
    weights : float64 array, shape (n,)
        Positive.
    upper : int64 array, shape (n,), optional
        No share may pass its bound; what a bound turns away is divided among the others.

    Returns
    -------
    int64 array, shape (n,)
        Adds up to ``total``.

    Raises
    ------
    ValueError
        If the bounds add up to less than ``total``.
    """
    if upper is None:
        upper = np.full(len(weights), total)
    if upper.sum() < total:
        raise ValueError(f"the bounds hold {int(upper.sum())}, {total} are to be divided")
    shares = np.zeros(len(weights), dtype=np.int64)
    while (left := total - int(shares.sum())) > 0:
        open_ = shares < upper
        exact = left * np.where(open_, weights, 0.0) / weights[open_].sum()
        whole = np.minimum(np.floor(exact).astype(np.int64), upper - shares)
        shares += whole
        rest = total - int(shares.sum())
        # Ties go to the earlier cell, so rounding noise cannot decide.
        order = np.argsort(-np.round(exact - np.floor(exact), 9), kind="stable")
        takers = order[(shares < upper)[order]][:rest]
        shares[takers] += 1
    return shares


def draw_people(cells: Cells, counties: pd.DataFrame, towns: pd.DataFrame) -> pd.DataFrame:
    """Give every cell its people, voters and votes.

    Parameters
    ----------
    cells : Cells
    counties : DataFrame
        The figures of :func:`bottomup.data.demo._facts.read_counties`, in the order of ``cells.county``.
    towns : DataFrame

    Returns
    -------
    DataFrame
        One row per cell: ``pop20``, ``vap20``, ``bvap20``, ``pres20_total``, ``pres20_dem``, ``pres20_rep``.
        In every county every column adds up to the county's figure; in every cell bvap20 ≤ vap20 ≤ pop20 and
        pres20_dem + pres20_rep ≤ pres20_total ≤ vap20.
    """
    rng = np.random.default_rng([SEED, 2])
    where = cells.centres
    town = town_density(where, towns)
    urban = np.log10(10.0 + town) - 1.0
    noise = rng.random((len(where), 3)) - 0.5
    crowding = np.exp(0.28 * (urban - 1.0) + 0.15 * smooth_field(where, 25.0, rng) + 0.9 * noise[:, 0])
    adults = 1.5 + 0.12 * smooth_field(where, 15.0, rng) + 0.25 * urban / 2.0
    black = (
        0.5 * urban + 0.35 * smooth_field(where, 12.0, rng) + 0.6 * noise[:, 1] + _hills(where, BLACK_CENTRES)
    )
    turnout = 0.18 * smooth_field(where, 10.0, rng) - 0.15 * urban
    lean = (
        0.4 * urban
        + 0.15 * smooth_field(where, 15.0, rng)
        + 0.3 * noise[:, 2]
        + _hills(where, DEMOCRATIC_CENTRES)
    )
    columns = ["pop20", "vap20", "bvap20", "pres20_total", "pres20_dem", "pres20_rep"]
    people = pd.DataFrame(0, index=range(len(where)), columns=columns)
    for county, figures in enumerate(counties[columns].to_numpy(dtype=np.int64)):
        n_people, n_adults, n_black, n_votes, n_democratic, n_republican = figures.tolist()
        mine = np.flatnonzero(cells.county == county)
        population = apportion(n_people, crowding[mine])
        voting_age = _split(n_adults, population, adults[mine])
        black_voting_age = _split(n_black, voting_age, black[mine])
        total = _split(n_votes, voting_age, turnout[mine])
        neither = n_votes - n_democratic - n_republican
        two_party = total - apportion(neither, total.astype(float), total)
        share = black_voting_age / np.maximum(voting_age, 1)
        democratic = _split(n_democratic, two_party, lean[mine] + 4.0 * share)
        people.loc[mine, columns] = np.stack(
            [population, voting_age, black_voting_age, total, democratic, two_party - democratic], axis=1
        )
    return people


def _hills(where: np.ndarray, centres: tuple[tuple[float, float, float, float], ...]) -> np.ndarray:
    """Add up Gaussian hills."""
    table = np.array(centres)
    squared = ((where[:, None, :] - to_plane(table[:, :2])[None, :, :]) ** 2).sum(axis=2)
    return (table[:, 3] * np.exp(-squared / (2.0 * table[:, 2] ** 2))).sum(axis=1)


def _split(total: int, out_of: np.ndarray, log_odds: np.ndarray) -> np.ndarray:
    """Choose ``total`` out of the members of each cell, cells with larger log-odds giving more of theirs.

    A constant is added to the log-odds, found by halving an interval, so that the shares meet the total.
    """
    low, high = -30.0, 30.0
    for _ in range(60):
        middle = (low + high) / 2.0
        expected = out_of / (1.0 + np.exp(-(log_odds + middle)))
        low, high = (middle, high) if expected.sum() < total else (low, middle)
    return apportion(total, np.maximum(expected, 1e-12), out_of)
