"""Write the golden exports: python tests/golden/write_plans.py, in a commit that says why they change."""

from pathlib import Path

import geopandas as gpd
import numpy as np
import shapely

from bottomup.data import Geography, Plan, plan_csv, plan_geojson
from bottomup.data.adjacency import rook_edges
from bottomup.data.polygons import local_crs


def golden_plan() -> tuple[Geography, Plan]:
    """Return four towns around a lake, one with an island, and a plan of two districts."""
    lake = shapely.box(-92.195, 38.505, -92.185, 38.515)
    towns = [
        shapely.box(-92.2, 38.5, -92.19, 38.51).difference(lake),
        shapely.box(-92.19, 38.5, -92.18, 38.51).difference(lake),
        shapely.box(-92.2, 38.51, -92.19, 38.52).difference(lake),
        shapely.box(-92.19, 38.51, -92.18, 38.52).difference(lake),
    ]
    towns[3] = towns[3].union(shapely.box(-92.1876543, 38.5087654, -92.1865432, 38.5098765))
    outlines = gpd.GeoSeries([*towns, lake.difference(towns[3])], crs="EPSG:4326")
    edges, shared_perimeter = rook_edges(outlines)
    geography = Geography(
        name="towns",
        ids=("001", "002", "003", "004", "lake"),
        population=np.array([120, 80, 60, 150, 0]),
        edges=edges,
        shared_perimeter=shared_perimeter,
        geometry=outlines.to_crs(local_crs(outlines)),
        id_column="GEOID20",
    )
    return geography, Plan(
        "example", np.array([0, 0, 1, 1, 1], dtype=np.int32), ("07", "North \u201cEnd\u201d")
    )


def golden_files() -> dict[str, str]:
    """Return the text of each golden file by name."""
    geography, plan = golden_plan()
    provenance = {"name": "1f2e", "seed": 1}
    statistics = {"black_vap_share": np.array([0.25, np.nan]), "n_whole": np.array([3, 4])}
    return {
        "plan_districts.geojson": plan_geojson(
            geography, plan, kind="districts", statistics=statistics, provenance=provenance
        ),
        "plan_units.geojson": plan_geojson(geography, plan, kind="units"),
        "plan.csv": plan_csv(geography, plan),
    }


if __name__ == "__main__":
    for name, text in golden_files().items():
        (Path(__file__).parent / name).write_text(text, encoding="utf-8")
