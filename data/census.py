"""What the Census Bureau publishes about a state, as files of this project: units with people, and plans.

A P.L. 94-171 summary file is a ZIP of tables without headings and with ``|`` between fields. The table of
places has a row for each place of each summary level (block groups 150, voting districts 700, the state 040);
tables of figures have the same rows, known by their logical record number.
"""

from __future__ import annotations

import csv
import zipfile
from dataclasses import dataclass
from pathlib import Path
from typing import IO

import geopandas as gpd
import pandas as pd

from bottomup.data.districts import clean_label
from bottomup.data.errors import DataError, count
from bottomup.data.polygons import read_shapes
from bottomup.data.tables import find_column, text_ids

__all__ = ["FIGURES", "Figures", "make_plan", "make_testimonies", "make_units", "read_figures"]

FIGURES = ("P0010001", "P0030001", "P0030004")
"""People; people of voting age; those of them who are Black alone."""
STATE_LEVEL = "040"
# Positions of fields. Each table of figures begins with five fields that say what the row is about.
_PLACE = {2: "level", 4: "component", 7: "record", 9: "GEOID"}
_N_PLACE_FIELDS = 97
_RECORD = 4
_SEGMENTS = {
    "000012020.pl": ({5: "P0010001"}, 149),
    "000022020.pl": ({5: "P0030001", 8: "P0030004"}, 152),
}
_WHOLE = "00"
_UNIT_IDS = ("GEOID20", "GEOID")
# Districts of the Census Bureau that are water.
_NO_DISTRICT = "ZZ"


@dataclass(frozen=True, eq=False)
class Figures:
    """People by place.

    Attributes
    ----------
    path : Path
    by_level : dict of str to DataFrame
        For each summary level, the columns of `FIGURES` by GEOID.
    """

    path: Path
    by_level: dict[str, pd.DataFrame]

    @property
    def n_people(self) -> int:
        """People in the state."""
        return int(self.by_level[STATE_LEVEL]["P0010001"].sum())


def read_figures(path: Path, levels: tuple[str, ...] = ("150", "700")) -> Figures:
    """Read population and voting-age population from a P.L. 94-171 summary file.

    Parameters
    ----------
    path : path
        The ZIP file of a state.
    levels : tuple of str
        The summary levels to read; the state itself always is.

    Raises
    ------
    DataError
        If a table is missing or of another shape.
    """
    with zipfile.ZipFile(path) as archive:
        places = _read_table(archive, path, "geo2020.pl", _PLACE, _N_PLACE_FIELDS)
        chosen = places["level"].isin((STATE_LEVEL, *levels)) & (places["component"] == _WHOLE)
        table = places[chosen].set_index("record")
        for suffix, (fields, n_fields) in _SEGMENTS.items():
            segment = _read_table(archive, path, suffix, {_RECORD: "record", **fields}, n_fields)
            segment = segment.set_index("record")
            missing = table.index.difference(segment.index)
            if len(missing):
                raise DataError(
                    "no_figures",
                    f"the table *{suffix} in {str(path)!r} lacks records of its table of places",
                    remedy="Fetch the file anew.",
                    units=list(missing),
                )
            table = table.join(segment)
    for name in FIGURES:
        table[name] = pd.to_numeric(table[name]).astype("int64")
    by_level = {
        level: table.loc[table["level"] == level].set_index("GEOID")[list(FIGURES)]
        for level in (STATE_LEVEL, *levels)
    }
    return Figures(path, by_level)


def _read_table(
    archive: zipfile.ZipFile, path: Path, suffix: str, fields: dict[int, str], n_fields: int
) -> pd.DataFrame:
    names = [name for name in archive.namelist() if name.lower().endswith(suffix)]
    if len(names) != 1:
        raise DataError(
            "no_table",
            f"{str(path)!r} must hold one table *{suffix}, but holds {len(names)}.",
            remedy="It is no P.L. 94-171 summary file of 2020 in the older format; fetch it anew.",
        )
    with archive.open(names[0]) as stream:
        n_found = stream.readline().count(b"|") + 1
    if n_found != n_fields:
        raise DataError(
            "other_table",
            f"{names[0]} in {str(path)!r} has {n_found} fields in a row, where that of 2020 has {n_fields}.",
            remedy="Fetch the file anew.",
        )
    with archive.open(names[0]) as stream:
        return _read_fields(stream, fields)


def _read_fields(stream: IO[bytes], fields: dict[int, str]) -> pd.DataFrame:
    table = pd.read_csv(
        stream,
        sep="|",
        header=None,
        usecols=list(fields),
        dtype=str,
        keep_default_na=False,
        quoting=csv.QUOTE_NONE,
        encoding="latin-1",
    )
    return table.rename(columns=fields).apply(lambda column: column.str.strip())


def make_units(shapes: Path, figures: Figures, level: str, out: Path) -> str:
    """Write units with their people as a GeoPackage; return what it holds, in words.

    Parameters
    ----------
    shapes : path
        TIGER/Line shapefile of the units.
    figures : Figures
    level : str
        Their summary level.
    out : path
        The file to write: ``GEOID``, ``name``, ``county``, the columns of `FIGURES`, outlines.

    Raises
    ------
    DataError
        If units and figures are not of the same places.
    """
    frame = read_shapes(shapes)
    columns = [str(name) for name in frame.columns]
    units = gpd.GeoDataFrame(
        {"GEOID": text_ids(_column(frame, shapes, *_UNIT_IDS))},
        geometry=frame.geometry.to_numpy(),
        crs=frame.crs,
    )
    name = find_column(columns, ("NAMELSAD20", "NAMELSAD"))
    units["name"] = "" if name is None else frame[name]
    units["county"] = units["GEOID"].str[:5]
    people = figures.by_level[level]
    has_land = pd.to_numeric(_column(frame, shapes, "ALAND20", "ALAND")).to_numpy() > 0
    is_counted = units["GEOID"].isin(people.index).to_numpy()
    uncounted = units.loc[~is_counted & has_land, "GEOID"]
    if len(uncounted):
        raise DataError(
            "no_figures",
            f"{count(len(uncounted), 'unit')} of {str(shapes)!r} are not in {str(figures.path)!r}",
            remedy="Both must be of 2020 and of one state; fetch them anew.",
            units=list(uncounted),
        )
    unplaced = people.index[(people["P0010001"] > 0) & ~people.index.isin(units["GEOID"])]
    if len(unplaced):
        raise DataError(
            "no_outline",
            f"{count(len(unplaced), 'place')} with people in {str(figures.path)!r} have no outline in "
            f"{str(shapes)!r}",
            remedy="Both must be of 2020 and of one state; fetch them anew.",
            units=list(unplaced),
        )
    # What is water only need not be counted.
    for figure in FIGURES:
        units[figure] = people[figure].reindex(units["GEOID"]).fillna(0).astype("int64").to_numpy()
    _write(units.sort_values("GEOID", ignore_index=True), out)
    n_people = int(units["P0010001"].sum())
    text = f"{count(len(units), 'unit')}, {count(n_people, 'person', 'people')}"
    if n_people != figures.n_people:
        text += f" of the state's {figures.n_people:,}: they do not cover it all"
    return text


def make_plan(shapes: Path, column: str, out: Path) -> str:
    """Write districts as a GeoPackage with a column ``district``; return what it holds, in words."""
    frame = read_shapes(shapes)
    labels = text_ids(_column(frame, shapes, column))
    plan = gpd.GeoDataFrame(
        {"district": [clean_label(label) for label in labels]},
        geometry=frame.geometry.to_numpy(),
        crs=frame.crs,
    )
    plan = plan[[label != _NO_DISTRICT for label in labels]].reset_index(drop=True)
    _write(plan, out)
    return count(len(plan), "district")


def make_testimonies(shapes: Path, column: str, out: Path) -> str:
    """Write submitted communities as a GeoPackage with a column ``testimony`` and nothing else about them."""
    frame = read_shapes(shapes)
    ids = [text.strip() for text in text_ids(_column(frame, shapes, column))]
    _write(gpd.GeoDataFrame({"testimony": ids}, geometry=frame.geometry.to_numpy(), crs=frame.crs), out)
    return count(len(ids), "testimony", "testimonies")


def _column(frame: gpd.GeoDataFrame, path: Path, *names: str) -> pd.Series:
    found = find_column([str(name) for name in frame.columns], [name.lower() for name in names])
    if found is None:
        raise DataError(
            "no_column",
            f"{str(path)!r} has no column {' or '.join(names)}.",
            remedy="The published file is another one than it was; look at it in a GIS.",
        )
    return frame[found]


def _write(frame: gpd.GeoDataFrame, out: Path) -> None:
    # Written beside and moved, so that no half of it is taken for the whole.
    new = out.with_name(f"{out.stem}.new{out.suffix}")
    new.unlink(missing_ok=True)
    frame.to_file(new, driver="GPKG", layer=out.stem)
    new.replace(out)
