"""Read the shipped demonstration state."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import geopandas as gpd
import numpy as np
import pandas as pd
import shapely
from numpy.typing import NDArray

from bottomup.data.demo._facts import FILES, read_counties, read_towns
from bottomup.data.electorate import Electorate, Votes
from bottomup.data.geography import Geography
from bottomup.data.plans import Plan, plan_from_column
from bottomup.data.polygons import local_crs
from bottomup.data.testimonies import USED, Testimonies, build_testimonies

NOTE = (
    "Real: the county outlines, the figures of each county, the towns, and the share of each county in each "
    "district of both plans. Drawn: the block groups and the people in each, the lines of both plans inside "
    "divided counties, and all testimonies."
)


@dataclass(frozen=True, eq=False)
class Demo:
    """Missouri with drawn block groups.

    Attributes
    ----------
    geography : Geography
        5,031 drawn block groups; column ``county`` holds the code of the county.
    plans : dict of str to Plan
        ``cd2022`` and ``cd2025``, eight districts each.
    testimonies : Testimonies
        808 drawn testimonies in 35 clusters.
    counties : GeoDataFrame
        Columns ``county``, ``name`` and the outline, EPSG:4326.
    towns : DataFrame
        Columns ``name``, ``lon``, ``lat`` and ``population``, largest first.
    note : str
        What is real and what is drawn, for people.
    """

    geography: Geography
    plans: dict[str, Plan]
    testimonies: Testimonies
    counties: gpd.GeoDataFrame
    towns: pd.DataFrame
    note: str


def load_demo(folder: Path = FILES) -> Demo:
    """Read the demonstration state.

    Parameters
    ----------
    folder : Path
        Where the files are; those shipped with the package unless a rebuilt set is to be read.

    Returns
    -------
    Demo
    """
    units = pd.read_csv(folder / "units.csv", dtype={"id": str, "county": str})
    outlines = _read_outlines(folder)
    edges = pd.read_csv(folder / "edges.csv")
    geography = Geography(
        name="Missouri (demonstration)",
        ids=tuple(units["id"]),
        population=units["pop20"].to_numpy(dtype=np.int64),
        edges=edges[["first", "second"]].to_numpy(dtype=np.int32),
        shared_perimeter=edges["shared_perimeter"].to_numpy(dtype=np.float64),
        columns=units.drop(columns=["id", "pop20"]),
        geometry=outlines.to_crs(local_crs(outlines)),
        electorate=Electorate(
            "vap20", {"Black": "bvap20"}, {"President 2020": Votes("pres20_dem", "pres20_rep")}
        ),
        note=NOTE,
    )
    return Demo(
        geography=geography,
        plans={name: plan_from_column(geography, name) for name in ("cd2022", "cd2025")},
        testimonies=_read_testimonies(folder),
        counties=_county_outlines(units["county"], outlines, folder),
        towns=read_towns(folder),
        note=NOTE,
    )


def _numbers(lists: pd.Series) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Read a column of numbers separated by spaces: all of them in one array, and how many in each row."""
    counts = np.array([text.count(" ") + 1 for text in lists], dtype=np.int64)
    return np.array(" ".join(lists).split(), dtype=np.int64), counts


def _read_outlines(folder: Path) -> gpd.GeoSeries:
    """Put the polygons together from the vertices that neighbours share."""
    vertices = pd.read_csv(folder / "vertices.csv")[["lon", "lat"]].to_numpy()
    numbers, counts = _numbers(pd.read_csv(folder / "outlines.csv", dtype=str)["vertices"])
    rings = shapely.linearrings(vertices[numbers], indices=np.repeat(np.arange(len(counts)), counts))
    return gpd.GeoSeries(shapely.polygons(rings), crs="EPSG:4326")


def _read_testimonies(folder: Path) -> Testimonies:
    """Read testimonies, each with the numbers of the rows of its units."""
    table = pd.read_csv(folder / "testimonies.csv", dtype=str)
    numbers, counts = _numbers(table["units"])
    units = np.split(numbers, np.cumsum(counts)[:-1])
    return build_testimonies(
        dict(zip(table["testimony"], units, strict=True)),
        [USED] * len(table),
        dict(zip(table["testimony"], table["cluster"], strict=True)),
        note=NOTE,
    )


def _county_outlines(county: pd.Series, outlines: gpd.GeoSeries, folder: Path) -> gpd.GeoDataFrame:
    """Join the block groups of each county: its outline matches theirs vertex by vertex."""
    names = read_counties(folder)["name"]
    rows = outlines.groupby(county.to_numpy()).indices
    polygons = [shapely.coverage_union_all(outlines.to_numpy()[rows[code]]) for code in names.index]
    return gpd.GeoDataFrame(
        {"county": names.index.to_numpy(), "name": names.to_numpy()},
        geometry=gpd.GeoSeries(polygons, crs="EPSG:4326"),
    )
