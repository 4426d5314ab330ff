"""Clusters from public geography: a testimony's zone follows from itself, whatever other testimonies say.

Clusters of near testimonies, which do not, are in `bottomup.data.proximity`.
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from bottomup.data.errors import DataError, list_some
from bottomup.data.geography import Geography
from bottomup.data.identifiers import ID_COLUMNS
from bottomup.data.merge_tree import LINKAGES
from bottomup.data.plans import natural_order
from bottomup.data.proximity import cluster_by_distance
from bottomup.data.snapping import snap_polygons
from bottomup.data.tables import find_column, text_ids
from bottomup.data.testimonies import Clusters, Testimonies

__all__ = ["Zones", "cluster_as", "cluster_by_zones", "is_by_distance", "read_zones", "zone_of"]

NAME_COLUMNS = ("name", "zone", "county", "countyname", "namelsad", "label", *ID_COLUMNS)
"""Columns of a layer that its zones may be called by."""
HAUSDORFF = "hausdorff"


class Zones(NamedTuple):
    """Public geography that units lie in."""

    names: tuple[str, ...]
    of_unit: NDArray[np.int32]
    """int32 array, shape (n_units,): -1 for a unit in none."""
    source: str


def read_zones(name: str | Path, geography: Geography) -> Zones:
    """Take zones from a column of the units, or from a layer of polygons.

    Parameters
    ----------
    name : str or path
        A column of the units, such as their county, or a GIS file with a polygon per zone. A unit belongs to
        a polygon that holds half of its area or more.
    geography : Geography

    Returns
    -------
    Zones

    Raises
    ------
    DataError
        When there is no such column or file, or no unit lies in any zone.
    """
    if str(name) in geography.columns:
        of_row = text_ids(geography.columns[str(name)])
        names = tuple(natural_order({zone for zone in of_row if zone}))
        number = {zone: place for place, zone in enumerate(names)}
        of_unit = np.array([number.get(zone, -1) for zone in of_row], dtype=np.int32)
        source = f"column {name} of the units"
    elif Path(name).exists():
        snapped = snap_polygons(name, geography, 0.5)
        columns = [str(column) for column in snapped.properties.columns]
        called = find_column(columns, NAME_COLUMNS)
        rows = range(1, len(snapped.properties) + 1)
        labels = [str(row) for row in rows] if called is None else text_ids(snapped.properties[called])
        names = tuple(natural_order({label for label in labels if label}))
        number = {zone: place for place, zone in enumerate(names)}
        of_unit = np.full(geography.n_units, -1, dtype=np.int32)
        # Exact halves of a unit: the first polygon of the file has it.
        for label, units in reversed(list(zip(labels, snapped.units, strict=True))):
            of_unit[units] = number.get(label, -1)
        source = f"layer {Path(name).name}"
    else:
        raise DataError(
            "zones",
            f"Clusters are to be taken from {str(name)!r}, but that is no column of the units and no file.",
            remedy=f"Name a column, {list_some([str(own) for own in geography.columns])}, or a GIS file.",
        )
    if not (of_unit >= 0).any():
        raise DataError(
            "zones",
            f"No unit lies in any zone of {str(name)!r}.",
            remedy="The column must not be blank; polygons must lie on the map and hold half of a unit.",
        )
    return Zones(names, of_unit, source)


def is_by_distance(name: str | Path) -> bool:
    """Whether a user's choice of clusters asks for those of near testimonies, see `cluster_as`."""
    return str(name).split(":")[0].strip().lower() == HAUSDORFF


def cluster_as(name: str | Path, testimonies: Testimonies, geography: Geography) -> Testimonies:
    """The same testimonies in clusters of the user's choice.

    Parameters
    ----------
    name : str or path
        ``hausdorff:N`` for N clusters of near testimonies, see `cluster_by_distance`, or
        ``hausdorff:N:LINKAGE`` for another linkage than average; otherwise zones, see `read_zones`.
    testimonies : Testimonies
    geography : Geography

    Raises
    ------
    DataError
        When there are no such zones, no such linkage, or there cannot be that many clusters.
    """
    _, *more = [part.strip() for part in str(name).split(":")]
    if not is_by_distance(name) or str(name) in geography.columns:
        return cluster_by_zones(testimonies, geography, read_zones(name, geography))
    if not more or not more[0].isdecimal():
        raise DataError(
            "number_of_clusters",
            f"Clusters by distance need their number; {str(name)!r} has none.",
            remedy=f"Give it after a colon, such as {HAUSDORFF}:35.",
        )
    given = ":".join(more[1:]).lower()
    linkage = next((own for own in LINKAGES if own == (given or LINKAGES[0])), None)
    if linkage is None:
        why = (
            " Ward's linkage needs points with a mean, and testimonies have distances only."
            if given.startswith("ward")
            else ""
        )
        raise DataError(
            "unknown_linkage",
            f"There is no linkage {given!r} for clusters by distance.{why}",
            remedy=f"Choose {', '.join(LINKAGES[:-1])} or {LINKAGES[-1]}, such as "
            f"{HAUSDORFF}:{more[0]}:{LINKAGES[0]}, which is taken when none is named.",
        )
    return cluster_by_distance(testimonies, geography, int(more[0]), linkage)


def zone_of(
    units: NDArray[np.int32], zone_of_unit: NDArray[np.int32], n_zones: int, population: NDArray[np.int64]
) -> int:
    """The zone that holds most people of a testimony, among equals most of its units, then the first.

    -1 for a testimony that has no unit in any zone.
    """
    inside = units[zone_of_unit[units] >= 0]
    if not len(inside):
        return -1
    people = np.bincount(zone_of_unit[inside], population[inside], n_zones)
    count = np.bincount(zone_of_unit[inside], minlength=n_zones)
    return int(np.lexsort((-np.arange(n_zones), count, people))[-1])


def cluster_by_zones(testimonies: Testimonies, geography: Geography, zones: Zones) -> Testimonies:
    """The same testimonies, each in the cluster of its zone; see :func:`zone_of`.

    Raises
    ------
    DataError
        When there are testimonies, and none has a unit in any zone.
    """
    of_testimony = np.array(
        [
            zone_of(testimonies.units_of(number), zones.of_unit, len(zones.names), geography.population)
            for number in range(testimonies.n_testimonies)
        ],
        dtype=np.int32,
    )
    if len(of_testimony) and not (of_testimony >= 0).any():
        raise DataError(
            "zones",
            f"No testimony has a unit in any zone of {zones.source}, so none has a cluster.",
            remedy="Take zones that cover the places testimony is about.",
        )
    return replace(
        testimonies, clusters=Clusters(zones.names, of_testimony, zones.source, zone_of_unit=zones.of_unit)
    )
