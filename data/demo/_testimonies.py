"""The drawn testimonies: connected, ball-like communities around real places of Missouri."""

from __future__ import annotations

import heapq
from dataclasses import dataclass

import numpy as np
from scipy.sparse import csr_matrix

from bottomup.data.demo._density import to_plane
from bottomup.data.demo._facts import SEED


@dataclass(frozen=True)
class Place:
    """A real place that a cluster of testimonies speaks of.

    Attributes
    ----------
    name : str
        The cluster's name.
    lon, lat : float
        Its middle, in degrees.
    n_testimonies : int
    reach : float
        Kilometres over which the middles of the testimonies scatter.
    size : float
        Median number of block groups in a testimony.
    spread : float
        Standard deviation of the logarithm of that number.
    """

    name: str
    lon: float
    lat: float
    n_testimonies: int
    reach: float
    size: float
    spread: float


#: Spread of sizes in town, in the country, and among those who speak for a whole metropolitan region.
#: With the places below, the plan of 2025 keeps about 62 per cent of the testimonies whole, and about 71
#: per cent of the clusters' weight in their best districts: the figures published for the real
#: testimonies.
CITY_SPREAD, COUNTRY_SPREAD, REGION_SPREAD = 1.4, 0.8, 0.5

PLACES = (
    Place("North St. Louis", -90.235, 38.670, 48, 3.0, 18, CITY_SPREAD),
    Place("South St. Louis", -90.255, 38.595, 34, 3.0, 19, CITY_SPREAD),
    Place("Central St. Louis", -90.250, 38.640, 22, 3.0, 21, CITY_SPREAD),
    Place("Greater St. Louis", -90.320, 38.650, 12, 6.0, 330, REGION_SPREAD),
    Place("Ferguson and Florissant", -90.305, 38.770, 38, 5.0, 21, CITY_SPREAD),
    Place("University City and Clayton", -90.335, 38.655, 33, 4.0, 19, CITY_SPREAD),
    Place("Webster Groves and Kirkwood", -90.380, 38.590, 34, 4.0, 19, CITY_SPREAD),
    Place("South St. Louis County", -90.330, 38.500, 25, 5.0, 22, CITY_SPREAD),
    Place("Chesterfield and West County", -90.550, 38.630, 31, 6.0, 22, CITY_SPREAD),
    Place("Maryland Heights and Creve Coeur", -90.440, 38.690, 21, 4.0, 19, CITY_SPREAD),
    Place("St. Charles and St. Peters", -90.560, 38.780, 32, 7.0, 19, CITY_SPREAD),
    Place("O'Fallon and Wentzville", -90.790, 38.800, 21, 7.0, 18, COUNTRY_SPREAD),
    Place("Northern Jefferson County", -90.430, 38.410, 18, 7.0, 20, COUNTRY_SPREAD),
    Place("Franklin County", -91.000, 38.480, 11, 14.0, 14, COUNTRY_SPREAD),
    Place("Greater Kansas City", -94.520, 39.050, 25, 7.0, 330, REGION_SPREAD),
    Place("Kansas City east side", -94.535, 39.060, 74, 4.0, 21, CITY_SPREAD),
    Place("Downtown and midtown Kansas City", -94.580, 39.080, 42, 3.0, 19, CITY_SPREAD),
    Place("South Kansas City", -94.555, 38.960, 19, 5.0, 21, CITY_SPREAD),
    Place("Kansas City Northland", -94.560, 39.220, 30, 7.0, 19, CITY_SPREAD),
    Place("Independence", -94.415, 39.085, 28, 4.0, 19, CITY_SPREAD),
    Place("Lee's Summit and Raytown", -94.400, 38.950, 23, 5.0, 21, CITY_SPREAD),
    Place("Eastern Jackson County", -94.240, 39.010, 13, 6.0, 22, CITY_SPREAD),
    Place("St. Joseph", -94.840, 39.765, 10, 6.0, 14, COUNTRY_SPREAD),
    Place("Columbia and Boone County", -92.330, 38.960, 22, 9.0, 21, CITY_SPREAD),
    Place("Jefferson City", -92.180, 38.560, 15, 9.0, 16, COUNTRY_SPREAD),
    Place("Lake of the Ozarks", -92.700, 38.130, 10, 14.0, 16, COUNTRY_SPREAD),
    Place("Sedalia and Warrensburg", -93.480, 38.730, 7, 20.0, 14, COUNTRY_SPREAD),
    Place("Kirksville and the northern counties", -92.600, 40.150, 6, 25.0, 14, COUNTRY_SPREAD),
    Place("Hannibal and the Mississippi counties", -91.430, 39.640, 5, 22.0, 16, COUNTRY_SPREAD),
    Place("Rolla and Fort Leonard Wood", -91.980, 37.880, 12, 16.0, 18, COUNTRY_SPREAD),
    Place("Springfield", -93.290, 37.210, 31, 6.0, 19, CITY_SPREAD),
    Place("Branson and Table Rock Lake", -93.260, 36.690, 9, 14.0, 16, COUNTRY_SPREAD),
    Place("Joplin and Carthage", -94.440, 37.100, 17, 10.0, 18, COUNTRY_SPREAD),
    Place("Cape Girardeau", -89.580, 37.330, 14, 10.0, 16, COUNTRY_SPREAD),
    Place("Bootheel", -89.730, 36.420, 16, 20.0, 22, COUNTRY_SPREAD),
)

#: A testimony holds at least and at most this many block groups; no district of the enacted plans is smaller.
SMALLEST = 3
LARGEST = 480


def draw_testimonies(centres: np.ndarray, adjacency: csr_matrix) -> list[tuple[str, np.ndarray]]:
    """Draw every testimony.

    Parameters
    ----------
    centres : float64 array, shape (n, 2)
        Middles of the cells on the plane, in kilometres.
    adjacency : csr_matrix, shape (n, n)

    Returns
    -------
    list of (str, int64 array)
        Name of the cluster and the cells, ascending; clusters are mixed as they would come in at a hearing.
    """
    drawn: list[tuple[str, np.ndarray]] = []
    for number, place in enumerate(PLACES):
        rng = np.random.default_rng([SEED, 3, number])
        middle = to_plane(np.array([[place.lon, place.lat]]))
        for _ in range(place.n_testimonies):
            where = middle + place.reach * rng.standard_normal(2)
            size = round(place.size * float(np.exp(place.spread * rng.standard_normal())))
            stretch, angle = float(np.exp(0.35 * rng.standard_normal())), np.pi * rng.random()
            turn = np.array([[np.cos(angle), -np.sin(angle)], [np.sin(angle), np.cos(angle)]])
            offset = (centres - where) @ turn * np.array([stretch, 1.0 / stretch])
            start = int(np.argmin(((centres - where) ** 2).sum(axis=1)))
            cells = _ball(adjacency, np.hypot(*offset.T), start, min(max(size, SMALLEST), LARGEST))
            drawn.append((place.name, cells))
    order = np.argsort(np.random.default_rng([SEED, 4]).random(len(drawn)), kind="stable")
    return [drawn[position] for position in order]


def _ball(adjacency: csr_matrix, distance: np.ndarray, start: int, size: int) -> np.ndarray:
    """Return the first ``size`` cells reached from a start when the nearest cell on the border joins next."""
    inside: set[int] = set()
    seen = {start}
    border = [(float(distance[start]), start)]
    while border and len(inside) < size:
        cell = heapq.heappop(border)[1]
        inside.add(cell)
        for other in adjacency.indices[adjacency.indptr[cell] : adjacency.indptr[cell + 1]].tolist():
            if other not in seen:
                seen.add(other)
                heapq.heappush(border, (float(distance[other]), other))
    return np.array(sorted(inside), dtype=np.int64)
