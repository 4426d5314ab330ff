"""How many people a district may have, and whether a map allows it."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np

from bottomup.data.errors import DataError
from bottomup.data.geography import Geography


def population_bounds(total: int, n_districts: int, tolerance: float) -> tuple[int, int]:
    """Return the smallest and the largest population that a district may have.

    Parameters
    ----------
    total : int
        People on the map.
    n_districts : int
        Number of districts.
    tolerance : float
        Largest deviation from the ideal population total / n_districts, as a fraction of it.

    Returns
    -------
    lower, upper : int
        People; both allowed.

    Raises
    ------
    DataError
        If an argument makes no sense, or no whole numbers of people are that equal.
    """
    if n_districts < 1:
        raise DataError("bad_n_districts", f"the number of districts must be at least 1; got {n_districts}.")
    if not 0 <= tolerance < 1:
        raise DataError(
            "bad_tolerance",
            f"tolerance must be at least 0 and below 1; got {tolerance}.",
            remedy="Pass 0.05 for 5 %.",
        )
    ideal = Fraction(int(total), n_districts)
    # The decimal that the user typed, so that 5 % of a round number is not a hair more or less.
    width = Fraction(str(tolerance))
    lower, upper = math.ceil(ideal * (1 - width)), math.floor(ideal * (1 + width))
    if lower * n_districts > total or upper * n_districts < total:
        raise DataError(
            "tolerance_too_tight",
            f"tolerance {tolerance} is too tight: {total:,} people cannot be divided into {n_districts} "
            f"districts of {float(ideal * (1 - width)):,.2f} to {float(ideal * (1 + width)):,.2f} people.",
            remedy=f"{pass_tolerance(_least_tolerance(ideal))}choose fewer districts.",
        )
    return lower, upper


def check_feasible(geography: Geography, n_districts: int, lower: int, upper: int) -> None:
    """Make sure that no unit or sum rules out every plan.

    Raises
    ------
    DataError
        If units are larger than `upper`, there are fewer units than districts or fewer than two districts, or
        the bounds cannot add up to the population.
    """
    if not 2 <= n_districts <= geography.n_units:
        raise DataError(
            "bad_n_districts",
            f"the number of districts must be from 2 to the number of units, {geography.n_units:,}; got "
            f"{n_districts}.",
            remedy="Choose another number, or a plan with more districts.",
        )
    total = geography.total_population
    if not lower * n_districts <= total <= upper * n_districts:
        raise DataError(
            "bounds_infeasible",
            f"{n_districts} districts of {lower:,} to {upper:,} people cannot hold the {total:,} people "
            "of the map.",
            remedy="Widen the tolerance.",
        )
    large = geography.population > upper
    if large.any():
        largest = int(geography.population.max())
        raise DataError(
            "unit_too_large",
            f"a district may have {upper:,} people, but {large.sum():,} of {geography.n_units:,} units hold "
            f"more (the largest {largest:,})",
            remedy=f"{pass_tolerance(largest * n_districts / total - 1)}divide these units.",
            units=[geography.ids[position] for position in np.flatnonzero(large)],
        )


def _least_tolerance(ideal: Fraction) -> float:
    whole = math.floor(ideal)
    return 0.0 if whole == ideal else float(max(ideal - whole, whole + 1 - ideal) / ideal)


def pass_tolerance(least: float) -> str:
    """Return advice to be completed by what else helps: to pass a larger tolerance, if that can help."""
    rounded = round_up(least)
    return f"Pass a tolerance of at least {rounded}, or " if rounded < 1 else "No tolerance helps: "


def round_up(fraction: float) -> float:
    """Return a fraction with four decimals that is not below the given one."""
    return math.ceil(fraction * 10_000) / 10_000
