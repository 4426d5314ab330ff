"""Small maps drawn for the tests, and the real files where they are present."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

import geopandas as gpd
import numpy as np
import pandas as pd
import pytest
import shapely

from bottomup.data import Geography, read_geography
from bottomup.data.adjacency import rook_edges
from bottomup.data.polygons import local_crs

REAL = Path(__file__).resolve().parents[2].parent / "shared" / "data"


def grid_frame(n_rows: int, n_columns: int, population: Sequence[int] | None = None) -> gpd.GeoDataFrame:
    """Return squares of a hundredth of a degree near Jefferson City, row by row from the south-west.

    Ids have a leading zero: 000, 001, 010, 011 for two rows and two columns.
    """
    corners = [(row, column) for row in range(n_rows) for column in range(n_columns)]
    squares = [
        shapely.box(
            round(-92.2 + column / 100, 2),
            round(38.5 + row / 100, 2),
            round(-92.2 + (column + 1) / 100, 2),
            round(38.5 + (row + 1) / 100, 2),
        )
        for row, column in corners
    ]
    people = [10] * len(corners) if population is None else list(population)
    ids = [f"0{row}{column}" for row, column in corners]
    return gpd.GeoDataFrame({"GEOID20": ids, "pop20": people}, geometry=squares, crs="EPSG:4326")


@pytest.fixture(scope="session")
def make_frame() -> Callable[..., gpd.GeoDataFrame]:
    return grid_frame


@pytest.fixture(scope="session")
def make_grid() -> Callable[..., Geography]:
    """Return a maker of grid maps: rows, columns, population and further columns."""

    def make(n_rows: int, n_columns: int, population: Sequence[int] | None = None, **columns) -> Geography:
        frame = grid_frame(n_rows, n_columns, population)
        edges, shared_perimeter = rook_edges(frame.geometry)
        return Geography(
            name="grid",
            ids=tuple(frame["GEOID20"]),
            population=frame["pop20"].to_numpy(dtype=np.int64),
            edges=edges,
            shared_perimeter=shared_perimeter,
            columns=pd.DataFrame(columns, index=range(len(frame))),
            geometry=frame.geometry.to_crs(local_crs(frame.geometry)),
            id_column="GEOID20",
        )

    return make


@pytest.fixture(scope="session")
def real_data() -> Path:
    if not REAL.is_dir():
        pytest.skip(f"needs the real files in {REAL}")
    return REAL


@pytest.fixture(scope="session")
def missouri(real_data) -> Geography:
    folder = real_data / "missouri_vtd2020"
    return read_geography(
        folder / "nodes.csv", edges=folder / "edges.csv", shapes=folder / "units_simplified.geojson"
    )
