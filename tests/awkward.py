"""Files of the kinds that people who do this job have trouble with: a grid of squares, each with one flaw."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import geopandas as gpd
import networkx as nx
import numpy as np
import pandas as pd
import shapely

CRS = "EPSG:32615"
X, Y, METRES = 500_000, 4_200_000, 1000


def box(column: float, row: float, columns: float = 1, rows: float = 1) -> shapely.Polygon:
    """Some squares of the grid."""
    corner = (X + column * METRES, Y + row * METRES)
    return shapely.box(*corner, corner[0] + columns * METRES, corner[1] + rows * METRES)


def grid(side: int = 8) -> gpd.GeoDataFrame:
    """Squares of a kilometre in four districts, row by row; the last two digits of an id are its number."""
    number = np.arange(side * side)
    row, column = np.divmod(number, side)
    half = side // 2
    return gpd.GeoDataFrame(
        {
            "GEOID": [f"0900{i:04d}" for i in number],
            "TOTPOP": 100 + number * 37 % 50,
            "district": 1 + 2 * (row // half) + column // half,
        },
        geometry=[box(x, y) for x, y in zip(column, row, strict=True)],
        crs=CRS,
    )


def with_island(n_units: int) -> gpd.GeoDataFrame:
    """Units in a row far from the others."""
    island = gpd.GeoDataFrame(
        {"GEOID": [f"0999{i:04d}" for i in range(n_units)], "TOTPOP": 120, "district": 1},
        geometry=[box(20 + i, 0) for i in range(n_units)],
        crs=CRS,
    )
    return pd.concat([grid(), island], ignore_index=True)


def with_value(column: str, rows: list[int], value: object) -> gpd.GeoDataFrame:
    """Some cells have another value."""
    frame = grid()
    if column == "geometry":
        shapes = frame.geometry.to_numpy().copy()
        shapes[rows] = value
        return frame.set_geometry(gpd.GeoSeries(shapes, crs=CRS))
    if not isinstance(value, int):
        frame[column] = frame[column].astype(object if isinstance(value, str) else float)
    frame.loc[rows, column] = value
    return frame


def bow_tie() -> shapely.Polygon:
    """Unit 10 drawn so that it crosses itself."""
    west, south, east, north = box(2, 1).bounds
    return shapely.Polygon([(west, south), (east, north), (east, south), (west, north)])


def with_labels() -> gpd.GeoDataFrame:
    """Districts, and a point with the name of each."""
    districts = grid().dissolve("district").reset_index()
    points = gpd.GeoDataFrame({"name": list("abcd")}, geometry=districts.centroid, crs=CRS)
    return pd.concat([districts, points], ignore_index=True)


def unbalanced() -> gpd.GeoDataFrame:
    """Seven rows in the first district."""
    frame = grid()
    frame["district"] = np.where(np.arange(64) < 56, 1, 2 + (np.arange(64) - 56) // 3)
    return frame


def large() -> gpd.GeoDataFrame:
    """9,025 units in eight districts."""
    frame = grid(95)
    frame["district"] = 1 + np.arange(len(frame)) % 95 // 12
    return frame


FRAMES: dict[str, Callable[[], gpd.GeoDataFrame]] = {
    "plain": grid,
    "island of one unit": lambda: with_island(1),
    "island of two units": lambda: with_island(2),
    "detached unit": lambda: with_value(
        "geometry", [27], shapely.union_all([box(3, 3).buffer(-250), box(0, 15, 0.5, 0.5)])
    ),
    "nobody in three units": lambda: with_value("TOTPOP", [0, 1, 2], 0),
    "no population in two units": lambda: with_value("TOTPOP", [5, 9], np.nan),
    "negative population": lambda: with_value("TOTPOP", [4], -7),
    "text for people": lambda: with_value("TOTPOP", [4], "1,370"),
    "one huge unit": lambda: with_value("TOTPOP", [0], int(grid()["TOTPOP"].sum())),
    "bow tie": lambda: with_value("geometry", [10], bow_tie()),
    "no shape": lambda: with_value("geometry", [10], None),
    "points mixed in": with_labels,
    "overlap": lambda: with_value("geometry", [10], box(2, 1, 1.3, 1)),
    "narrow gap": lambda: with_value("geometry", [10], box(2, 1, 0.999, 1)),
    "plan in pieces": lambda: with_value("district", [3], 4),
    "unbalanced plan": unbalanced,
    "9,025 units": large,
}


def write(name: str, folder: Path) -> Path:
    """Write the file of that name; one of `FRAMES` or of `OTHERS`."""
    if name in OTHERS:
        path, text = OTHERS[name]()
        (folder / path).write_text(text)
        return folder / path
    frame = FRAMES[name]()
    if name in ("overlap", "narrow gap"):
        # In the coordinates in which lines are straight, or there would be others of a centimetre.
        frame.to_file(folder / "units.gpkg")
        return folder / "units.gpkg"
    frame.to_crs(4326).to_file(folder / "units.geojson")
    return folder / "units.geojson"


def _hidden_crs() -> tuple[str, str]:
    """Metres in GeoJSON, and what they are inside of each geometry."""
    features = json.loads(grid().to_json())
    features.pop("crs", None)
    for feature in features["features"]:
        feature["geometry"]["crs"] = {"type": "name", "properties": {"name": CRS}}
    return "units.geojson", json.dumps(features)


def _heights() -> tuple[str, str]:
    features = json.loads(shapely_force_3d(grid().to_crs(4326)).to_json())
    features.pop("crs", None)
    return "units.geojson", json.dumps(features)


def shapely_force_3d(frame: gpd.GeoDataFrame) -> gpd.GeoDataFrame:
    """Give every vertex a height of 0."""
    return frame.set_geometry(shapely.force_3d(frame.geometry.to_numpy()), crs=frame.crs)


def graph() -> nx.Graph:
    """The dual graph of the grid, with its people."""
    of_grid = nx.convert_node_labels_to_integers(nx.grid_2d_graph(8, 8))
    nx.set_node_attributes(of_grid, dict(enumerate(grid()["TOTPOP"].tolist())), "TOTPOP")
    return of_grid


OTHERS: dict[str, Callable[[], tuple[str, str]]] = {
    "hidden CRS": _hidden_crs,
    "heights": _heights,
    "links": lambda: ("graph.json", json.dumps(nx.node_link_data(graph(), edges="links"))),
    "edges": lambda: ("graph.json", json.dumps(nx.node_link_data(graph(), edges="edges"))),
    "adjacency": lambda: ("graph.json", json.dumps(nx.adjacency_data(graph()))),
    "table alone": lambda: ("units.csv", grid().drop(columns="geometry").to_csv(index=False)),
    "no map": lambda: ("units.geojson", "no map"),
}
