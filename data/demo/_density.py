"""How thickly people live at a point: towns as smooth hills on an even countryside."""

from __future__ import annotations

import numpy as np
import pandas as pd

from bottomup.data.demo._facts import KILOMETRES_PER_DEGREE, LONGITUDE_SCALE

#: Share of a county's people spread evenly over it, the towns taking the rest.
COUNTRYSIDE = 0.25


def to_plane(points: np.ndarray) -> np.ndarray:
    """Turn degrees into kilometres on a plane, east and north of 0° N, 0° W.

    Parameters
    ----------
    points : float64 array, shape (n, 2)
        Longitudes and latitudes in degrees.

    Returns
    -------
    float64 array, shape (n, 2)
        Kilometres; true to about two per cent anywhere in the state.
    """
    return np.asarray(points) * np.array([LONGITUDE_SCALE, 1.0]) * KILOMETRES_PER_DEGREE


def to_degrees(points: np.ndarray) -> np.ndarray:
    """Undo :func:`to_plane`."""
    return np.asarray(points) / (np.array([LONGITUDE_SCALE, 1.0]) * KILOMETRES_PER_DEGREE)


def town_density(points: np.ndarray, towns: pd.DataFrame) -> np.ndarray:
    """Return people per square kilometre that the towns alone explain.

    Each town is a Gaussian hill that holds its population; a larger town is wider and denser at its centre.

    Parameters
    ----------
    points : float64 array, shape (n, 2)
        Positions on the plane of :func:`to_plane`.
    towns : DataFrame
        The towns of :func:`bottomup.data.demo._facts.read_towns`.

    Returns
    -------
    float64 array, shape (n,)
    """
    centres = to_plane(towns[["lon", "lat"]].to_numpy())
    population = towns["population"].to_numpy(dtype=float)
    peak = 400.0 * (population / 1000.0) ** 0.3
    variance = population / (2.0 * np.pi * peak)
    squared = ((points[:, None, :] - centres[None, :, :]) ** 2).sum(axis=2)
    return (peak * np.exp(-squared / (2.0 * variance))).sum(axis=1)


def smooth_field(points: np.ndarray, length: float, rng: np.random.Generator) -> np.ndarray:
    """Draw a smooth random field of mean 0 and variance about 1.

    Parameters
    ----------
    points : float64 array, shape (n, 2)
        Positions in kilometres.
    length : float
        Distance in kilometres over which the field changes.
    rng : numpy.random.Generator

    Returns
    -------
    float64 array, shape (n,)
    """
    n_waves = 24
    angle = rng.random(n_waves) * 2.0 * np.pi
    frequency = (0.4 + 1.2 * rng.random(n_waves)) / length
    phase = rng.random(n_waves) * 2.0 * np.pi
    directions = np.stack([np.cos(angle), np.sin(angle)]) * frequency
    return np.cos(points @ directions + phase).sum(axis=1) * np.sqrt(2.0 / n_waves)
