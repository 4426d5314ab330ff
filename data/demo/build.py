"""Rebuild the files of the demonstration state: ``python -m bottomup.data.demo.build [--out FOLDER]``.

The same seed gives the same bytes. Outlines come from ``bokeh_sampledata``, which only this command needs.
"""

from __future__ import annotations

import argparse
import shutil
from collections.abc import Iterable, Sequence
from pathlib import Path

import geopandas as gpd
import numpy as np
import pandas as pd
from scipy.sparse import csr_matrix
from shapely.geometry import Polygon

from bottomup.data.adjacency import build_csr, rook_edges
from bottomup.data.demo._cells import Cells, draw_cells
from bottomup.data.demo._facts import FACT_FILES, FILES, GRID, read_counties, read_plan_shares, read_towns
from bottomup.data.demo._outlines import county_outlines
from bottomup.data.demo._people import draw_people
from bottomup.data.demo._plans import DIVIDED, draw_plan
from bottomup.data.demo._testimonies import draw_testimonies


def build(folder: Path) -> None:
    """Draw the demonstration state and write all of its files.

    Parameters
    ----------
    folder : Path
        Where to write; made if it does not exist.
    """
    counties, towns = read_counties(), read_towns()
    outlines = county_outlines(list(counties.index))
    cells = draw_cells(outlines, counties["block_groups"].to_numpy(), counties["pop20"].to_numpy(), towns)
    people = draw_people(cells, counties, towns)
    edges, shared_perimeter = rook_edges(
        gpd.GeoSeries([Polygon(np.array(ring) * GRID) for ring in cells.rings], crs="EPSG:4326")
    )
    indptr, neighbours, _ = build_csr(len(cells.rings), edges)
    adjacency = csr_matrix((np.ones(len(neighbours), dtype=np.int8), neighbours, indptr))

    units = pd.DataFrame({"id": _ids(cells, counties), "county": counties.index.to_numpy()[cells.county]})
    units = pd.concat([units, people], axis=1)
    shares = read_plan_shares()
    for name in DIVIDED:
        units[name] = draw_plan(
            name,
            shares,
            list(counties.index),
            cells.county,
            cells.centres,
            people["pop20"].to_numpy(),
            adjacency,
        )

    folder.mkdir(parents=True, exist_ok=True)
    if folder.resolve() != FILES.resolve():
        for name in FACT_FILES:
            shutil.copyfile(FILES / name, folder / name)
    _write(folder / "units.csv", units.columns, units.itertuples(index=False))
    _write_outlines(folder, units["id"].tolist(), cells)
    _write(
        folder / "edges.csv",
        ["first", "second", "shared_perimeter"],
        ((u, v, f"{metres:.1f}") for (u, v), metres in zip(edges.tolist(), shared_perimeter, strict=True)),
    )
    _write(
        folder / "testimonies.csv",
        ["testimony", "cluster", "units"],
        (
            (f"t{number:04d}", cluster, " ".join(map(str, covered.tolist())))
            for number, (cluster, covered) in enumerate(draw_testimonies(cells.centres, adjacency), start=1)
        ),
    )


def _ids(cells: Cells, counties: pd.DataFrame) -> list[str]:
    """Number the block groups as the Census does: county, tract of four block groups, block group."""
    ids = []
    for county, code in enumerate(counties.index):
        for number in range(int((cells.county == county).sum())):
            tract, block_group = divmod(number, 4)
            ids.append(f"{code}{tract + 1:04d}00{block_group + 1}")
    return ids


def _write_outlines(folder: Path, ids: Sequence[str], cells: Cells) -> None:
    """Write every vertex once, and each outline as row numbers of its vertices."""
    vertices = sorted({vertex for ring in cells.rings for vertex in ring})
    number = {vertex: row for row, vertex in enumerate(vertices)}
    _write(
        folder / "vertices.csv", ["lon", "lat"], ((f"{x * GRID:.5f}", f"{y * GRID:.5f}") for x, y in vertices)
    )
    _write(
        folder / "outlines.csv",
        ["id", "vertices"],
        ((id_, " ".join(str(number[v]) for v in ring)) for id_, ring in zip(ids, cells.rings, strict=True)),
    )


def _write(path: Path, header: Iterable[str], rows: Iterable[Iterable[object]]) -> None:
    """Write a comma-separated file with the same line ends everywhere."""
    lines = [",".join(header), *(",".join(map(str, row)) for row in rows)]
    path.write_bytes(("\n".join(lines) + "\n").encode())


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the command."""
    parser = argparse.ArgumentParser(prog="python -m bottomup.data.demo.build", description=__doc__)
    parser.add_argument(
        "--out", type=Path, default=FILES, help="folder to write to (default: the shipped files)"
    )
    build(parser.parse_args(arguments).out)


if __name__ == "__main__":
    main()
