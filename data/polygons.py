"""Shapes from GIS files: read, checked, repaired, projected."""

from __future__ import annotations

import re
import warnings
import zipfile
from pathlib import Path
from typing import Any

import geopandas as gpd
import numpy as np
import pandas as pd
import pyogrio
import pyproj
import shapely
from numpy.typing import NDArray

from bottomup.data.errors import DataError, list_some
from bottomup.data.tables import require_file

WGS84 = pyproj.CRS.from_epsg(4326)
_HIDDEN_CRS = re.compile(r'"name"\s*:\s*"(?:urn:ogc:def:crs:)?EPSG:{1,2}(\d+)"')
_N_PEEKED = 20
POLYGONS = (shapely.GeometryType.POLYGON, shapely.GeometryType.MULTIPOLYGON)


def read_shapes(path: str | Path) -> gpd.GeoDataFrame:
    """Read any file that GeoPandas reads, and make sure that its coordinates are what they claim to be.

    Shapes that cannot be read, or whose coordinates are not finite, are missing from the result. Longitudes
    of a map that crosses the antimeridian go on beyond 180.

    Raises
    ------
    DataError
        If the file cannot be read, holds no shapes or several layers of them, names no CRS, or its
        coordinates cannot be in the CRS that it names.
    """
    frame = open_shapes(path)
    check_crs(frame, path)
    return unwrap(frame)[0]


def open_shapes(path: str | Path) -> gpd.GeoDataFrame:
    """Read a file as `read_shapes` does, with its coordinates as they are.

    Raises
    ------
    DataError
        If the file cannot be read, holds no shapes or several layers of them.
    """
    frame = _read_frame(require_file(path))
    if isinstance(frame, gpd.GeoDataFrame):
        frame = frame.reset_index(drop=True)
        coordinates, owner = shapely.get_coordinates(frame.geometry.to_numpy(), return_index=True)
        frame.loc[owner[~np.isfinite(coordinates).all(axis=1)], frame.geometry.name] = None
    if (
        not isinstance(frame, gpd.GeoDataFrame)
        or not (~frame.geometry.isna() & ~frame.geometry.is_empty).any()
    ):
        raise DataError(
            "no_shapes", f"{str(path)!r} holds no shapes.", remedy="Give a GIS file with polygons."
        )
    return frame


def peek_columns(path: str | Path) -> pd.DataFrame:
    """Return what the first rows of a GIS file say, without their shapes: enough to know its columns.

    Raises
    ------
    DataError
        If the file cannot be read, or holds several layers of shapes.
    """
    frame = _read_frame(require_file(path), rows=_N_PEEKED, ignore_geometry=True)
    return plain_columns(frame) if isinstance(frame, gpd.GeoDataFrame) else frame


def check_crs(frame: gpd.GeoDataFrame, path: str | Path) -> None:
    """Raise a DataError if shapes name no CRS, or their coordinates cannot be in the one that they name."""
    if frame.crs is None:
        raise DataError(
            "no_crs",
            f"{str(path)!r} does not say in which coordinate reference system its coordinates are.",
            remedy="Add the .prj file, set the CRS in a GIS program and save again, or say which it is with "
            "`--repair set-crs EPSG:…`.",
        )
    doubt = _doubt_about_crs(frame)
    if doubt:
        west, south, east, north = frame.total_bounds
        raise DataError(
            "wrong_crs",
            f"{str(path)!r} has coordinates from ({west:.6g}, {south:.6g}) to ({east:.6g}, {north:.6g}) in "
            f"the coordinate reference system {frame.crs.name!r}, {doubt}.",
            remedy=_advice_on_crs(path),
        )


def _advice_on_crs(path: str | Path) -> str:
    """Name the CRS that some programs write where no reader looks: inside the geometry of each feature."""
    hidden: set[str] = set()
    if Path(path).suffix.lower() in {".geojson", ".json"}:
        text = Path(path).read_bytes().decode("utf-8", errors="replace")
        hidden = set(_HIDDEN_CRS.findall(text))
    if len(hidden) == 1:
        code = hidden.pop()
        return (
            f"The file names EPSG:{code} where readers of GeoJSON do not look. If it is in that, say so with "
            f"`--repair set-crs EPSG:{code}`."
        )
    return (
        "Set the CRS that they are really in and save again, or say which it is with "
        "`--repair set-crs EPSG:…`."
    )


def set_crs(frame: gpd.GeoDataFrame, name: str) -> gpd.GeoDataFrame:
    """Return the same coordinates as those of another CRS.

    Raises
    ------
    DataError
        If there is no CRS of that name.
    """
    try:
        return frame.set_crs(pyproj.CRS.from_user_input(name), allow_override=True)
    except pyproj.exceptions.CRSError as error:
        raise DataError(
            "unknown_crs",
            f"there is no coordinate reference system {name!r}.",
            remedy="Give its code, such as EPSG:4326 or EPSG:26915.",
        ) from error


def unwrap(frame: gpd.GeoDataFrame) -> tuple[gpd.GeoDataFrame, bool]:
    """Let the longitudes of a map that crosses the antimeridian go on beyond 180, so that it is in one piece.

    Returns
    -------
    frame : GeoDataFrame
    crosses : bool
        Whether the map crosses the antimeridian.
    """
    west, _, east, _ = frame.total_bounds
    if frame.crs is None or not frame.crs.is_geographic or east - west <= 180:
        return frame, False
    longitudes = np.unique(shapely.get_coordinates(frame.geometry.to_numpy())[:, 0])
    widest = int(np.argmax(np.diff(longitudes)))
    if longitudes[widest + 1] - longitudes[widest] < 180:
        return frame, False
    split = longitudes[widest + 1]

    def shift(coordinates: NDArray[np.float64]) -> NDArray[np.float64]:
        return coordinates + np.where(coordinates[:, :1] < split, [[360.0, 0.0]], 0.0)

    shapes = shapely.transform(frame.geometry.to_numpy(), shift)
    # Parts that were cut apart at the antimeridian are one again.
    several = np.flatnonzero(shapely.get_num_geometries(shapes) > 1)
    shapes[several] = polygonal(shapes[several])
    return frame.set_geometry(gpd.GeoSeries(shapes, index=frame.index, crs=frame.crs)), True


def _read_frame(found: Path, **part: Any) -> pd.DataFrame:
    """Return the only layer that has shapes, or the named part of it; a plain DataFrame when none has."""
    try:
        # What GDAL warns of is harmless or leaves a shape missing, which is an error with its unit later.
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            if found.suffix.lower() in {".parquet", ".geoparquet"}:
                return gpd.read_parquet(found)
            source = _inside_zip(found)
            layers = [str(name) for name, kind in pyogrio.list_layers(source) if kind is not None]
            if len(layers) < 2:
                layer = layers[0] if layers else None
                # GeoJSON knows no dates or times: a precinct called 12:30 is not what GDAL takes it for.
                return gpd.read_file(source, layer=layer, on_invalid="ignore", DATE_AS_STRING="YES", **part)
    except (OSError, RuntimeError, ValueError, zipfile.BadZipFile) as error:
        raise DataError(
            "unreadable",
            f"{str(found)!r} could not be read as a map: {_reason(error, found)}.",
            remedy="Give a shapefile (all its parts, or zipped), GeoPackage, GeoJSON or another GIS file.",
        ) from error
    raise DataError(
        "several_layers",
        f"{str(found)!r} holds {len(layers):,} layers with shapes: {list_some(layers)}.",
        remedy="Save the one that is meant to a file of its own.",
    )


def _inside_zip(found: Path) -> str:
    """Return what to open: for a zipped folder with one map in it, the map, which GDAL does not look for."""
    if found.suffix.lower() == ".zip" and zipfile.is_zipfile(found):
        with zipfile.ZipFile(found) as archive:
            maps = [
                name
                for name in archive.namelist()
                if name.lower().endswith((".shp", ".gpkg", ".geojson")) and not name.startswith("__MACOSX/")
            ]
        if len(maps) == 1 and "/" in maps[0]:
            return f"/vsizip/{found}/{maps[0]}"
    return str(found)


def _reason(error: Exception, found: Path) -> str:
    """Return what GDAL says, without the name of the file and its advice to programmers."""
    said = str(error).split("; It might help")[0].replace("/vsizip/", "")
    return " ".join(said.removeprefix(f"{str(found)!r} ").split()).rstrip(".")


def _doubt_about_crs(frame: gpd.GeoDataFrame) -> str:
    """Return why coordinates cannot be in the CRS of their file; the empty string when they can."""
    crs = frame.crs
    west, south, east, north = frame.total_bounds
    if crs.is_geographic:
        if west < -360 or east > 360 or south < -90.001 or north > 90.001:
            return "but longitudes and latitudes, in this order, lie between (-180, -90) and (180, 90)"
    elif not crs.is_projected:
        return "which has no place on Earth"
    elif west >= -180 and east <= 180 and south >= -90 and north <= 90:
        return "but they look like degrees"
    try:
        on_earth = bool(np.isfinite(_centres(frame.geometry)).all())
    except pyproj.exceptions.ProjError:
        on_earth = False
    return "" if on_earth else "which are not on Earth"


def polygonal(shapes: NDArray[np.object_]) -> NDArray[np.object_]:
    """Return valid polygons or multipolygons in two dimensions; other shapes lose all that is not polygon.

    Parameters
    ----------
    shapes : object array
        Shapely geometries; missing ones stay missing.
    """
    flat = shapely.force_2d(shapes)
    other = ~shapely.is_valid(flat) | ~np.isin(shapely.get_type_id(flat), POLYGONS)
    for position in np.flatnonzero(other & ~shapely.is_missing(flat)):
        # Part by part, or parts that overlap would cancel out.
        parts = shapely.get_parts(shapely.make_valid(shapely.get_parts(flat[position])))
        flat[position] = shapely.union_all(parts[np.isin(shapely.get_type_id(parts), POLYGONS)])
    return flat


def local_crs(geometry: gpd.GeoSeries) -> pyproj.CRS:
    """Return an equal-area projection in metres centred on the shapes.

    One rule for any state: a file's own projection may be in feet, or stretch lengths as web maps do.
    """
    longitude, latitude = _centres(geometry)
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


def _centres(geometry: gpd.GeoSeries) -> NDArray[np.float64]:
    """Return longitudes and latitudes of the middle of each shape; infinite ones for places not on Earth."""
    bounds = geometry.bounds.to_numpy()
    bounds = bounds[~np.isnan(bounds).any(axis=1)]
    x, y = (bounds[:, 0] + bounds[:, 2]) / 2, (bounds[:, 1] + bounds[:, 3]) / 2
    return np.array(pyproj.Transformer.from_crs(geometry.crs, WGS84, always_xy=True).transform(x, y))


def plain_columns(frame: gpd.GeoDataFrame) -> pd.DataFrame:
    """Return everything of a GIS table but its shapes."""
    return pd.DataFrame(frame.drop(columns=frame.geometry.name))
