"""Shapes from GIS files: read, checked, repaired, projected."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import geopandas as gpd
import numpy as np
import pandas as pd
import pyproj
import shapely
from numpy.typing import NDArray

from bottomup.data.errors import DataError
from bottomup.data.tables import require_file

WGS84 = pyproj.CRS.from_epsg(4326)
_POLYGONS = (shapely.GeometryType.POLYGON, shapely.GeometryType.MULTIPOLYGON)


def read_shapes(path: str | Path) -> gpd.GeoDataFrame:
    """Read any file that GeoPandas reads, and make sure that its coordinates are what they claim to be.

    Raises
    ------
    DataError
        If the file cannot be read, holds no features, names no CRS, or holds longitudes and latitudes that
        are none.
    """
    found = require_file(path)
    try:
        if found.suffix.lower() in {".parquet", ".geoparquet"}:
            frame = gpd.read_parquet(found)
        else:
            frame = gpd.read_file(found)
    except (OSError, RuntimeError, ValueError) as error:
        raise DataError(
            "unreadable",
            f"{str(path)!r} could not be read as a map: {error}.",
            remedy="Give a shapefile (all its parts, or zipped), GeoPackage, GeoJSON or another GIS file.",
        ) from error
    if not isinstance(frame, gpd.GeoDataFrame) or frame.geometry.isna().all():
        raise DataError(
            "no_shapes", f"{str(path)!r} holds no shapes.", remedy="Give a GIS file with polygons."
        )
    if frame.crs is None:
        raise DataError(
            "no_crs",
            f"{str(path)!r} does not say in which coordinate reference system its coordinates are.",
            remedy="Add the .prj file, or set the CRS in a GIS program and save again.",
        )
    if frame.crs.is_geographic:
        west, south, east, north = frame.total_bounds
        if west < -360 or east > 360 or south < -90.001 or north > 90.001:
            raise DataError(
                "wrong_crs",
                f"{str(path)!r} claims to hold longitudes and latitudes, but its coordinates run from "
                f"({west:.6g}, {south:.6g}) to ({east:.6g}, {north:.6g}).",
                remedy="They look projected: set the CRS that they are really in and save again.",
            )
    return frame.reset_index(drop=True)


def polygonal(shapes: NDArray[np.object_]) -> NDArray[np.object_]:
    """Return valid polygons or multipolygons in two dimensions; other shapes lose all that is not polygon.

    Parameters
    ----------
    shapes : object array
        Shapely geometries; missing ones stay missing.
    """
    flat = shapely.force_2d(shapes)
    other = ~shapely.is_valid(flat) | ~np.isin(shapely.get_type_id(flat), _POLYGONS)
    for position in np.flatnonzero(other & ~shapely.is_missing(flat)):
        # Part by part, or parts that overlap would cancel out.
        parts = shapely.get_parts(shapely.make_valid(shapely.get_parts(flat[position])))
        flat[position] = shapely.union_all(parts[np.isin(shapely.get_type_id(parts), _POLYGONS)])
    return flat


def clean_polygons(geometry: gpd.GeoSeries, ids: Sequence[str]) -> tuple[gpd.GeoSeries, tuple[str, ...]]:
    """Check that every unit has a polygon, and repair those that cross themselves.

    Parameters
    ----------
    geometry : GeoSeries, length n_units
        As read.
    ids : sequence of str
        Ids of the units.

    Returns
    -------
    geometry : GeoSeries
        Valid polygons and multipolygons, in the same CRS.
    repaired : tuple of str
        Ids of the units whose polygons were made valid; those without area are given a hair's breadth.

    Raises
    ------
    DataError
        For shapes that are missing, not polygons, or beyond repair: one error for each of the three.
    """
    shapes = geometry.to_numpy()
    names = np.asarray(ids, dtype=object)
    missing = shapely.is_missing(shapes) | shapely.is_empty(shapes)
    if missing.any():
        raise DataError(
            "null_geometry",
            f"{missing.sum():,} of {len(names):,} units have no shape",
            remedy="Remove these rows, or give them their polygons.",
            units=names[missing],
        )
    other = ~np.isin(shapely.get_type_id(shapes), _POLYGONS)
    if other.any():
        kinds = sorted({shape.geom_type for shape in shapes[other]})
        raise DataError(
            "not_polygon",
            f"{other.sum():,} of {len(names):,} units are not polygons but {', '.join(kinds)}",
            remedy="Units must be areas: give polygons or multipolygons.",
            units=names[other],
        )
    invalid = ~shapely.is_valid(shapes)
    clean = polygonal(shapes)
    # Simplification can flatten a small unit to a line; a hair's breadth keeps it on the map and beside its
    # neighbours.
    flat = np.flatnonzero(shapely.is_empty(clean))
    hair = 1e-5 if geometry.crs is not None and geometry.crs.is_geographic else 1.0
    clean[flat] = shapely.buffer(shapely.make_valid(shapes[flat]), hair, quad_segs=1)
    lost = shapely.is_empty(clean) | ~shapely.is_valid(clean)
    if lost.any():
        raise DataError(
            "invalid_geometry",
            f"{lost.sum():,} of {len(names):,} units have polygons that cannot be repaired",
            remedy="Draw these polygons again in a GIS program.",
            units=names[lost],
        )
    return gpd.GeoSeries(clean, crs=geometry.crs), tuple(names[invalid])


def local_crs(geometry: gpd.GeoSeries) -> pyproj.CRS:
    """Return an equal-area projection in metres centred on the shapes.

    One rule for any state: a file's own projection may be in feet, or stretch lengths as web maps do.
    """
    bounds = geometry.bounds.to_numpy()
    bounds = bounds[~np.isnan(bounds).any(axis=1)]
    x, y = (bounds[:, 0] + bounds[:, 2]) / 2, (bounds[:, 1] + bounds[:, 3]) / 2
    longitude, latitude = pyproj.Transformer.from_crs(geometry.crs, WGS84, always_xy=True).transform(x, y)
    # The mean direction, because longitudes jump from 180 to -180 in the middle of the Aleutians.
    turns = np.exp(1j * np.radians(longitude)).mean()
    centre = (latitude.min() + latitude.max()) / 2
    return pyproj.CRS.from_dict(
        {
            "proj": "laea",
            "lat_0": round(float(centre), 2),
            "lon_0": round(float(np.degrees(np.angle(turns))), 2),
            "datum": "WGS84",
            "units": "m",
        }
    )


def plain_columns(frame: gpd.GeoDataFrame) -> pd.DataFrame:
    """Return everything of a GIS table but its shapes."""
    return pd.DataFrame(frame.drop(columns=frame.geometry.name))
