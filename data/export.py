"""Plans for other programs: GeoJSON as RFC 7946 has it, and a table of two columns."""

from __future__ import annotations

import csv
import io
import json
import re
from collections.abc import Mapping
from typing import Any, Literal

import numpy as np
import shapely
from numpy.typing import ArrayLike, NDArray

from bottomup.data.errors import DataError
from bottomup.data.geography import Geography
from bottomup.data.plans import Plan
from bottomup.data.polygons import WGS84, polygonal

# Six decimals of a degree are a tenth of a metre.
_DECIMALS = 6
_GRID = 10.0**-_DECIMALS
_LONG_DECIMAL = re.compile(r"-?\d+\.\d{7,}")
_DISTRICT_PROPERTIES = ("id", "district", "n_units", "population", "deviation", "deviation_fraction")


def plan_geojson(
    geography: Geography,
    plan: Plan,
    *,
    kind: Literal["districts", "units"],
    statistics: Mapping[str, ArrayLike] | None = None,
    provenance: Mapping[str, Any] | None = None,
) -> str:
    """Write a plan as a GeoJSON feature collection.

    Coordinates are longitudes and latitudes (WGS84) with at most six decimals, outer rings run anticlockwise,
    and ids and district labels are text.

    Parameters
    ----------
    geography : Geography
        The map, with shapes.
    plan : Plan
        The plan.
    kind : {"districts", "units"}
        A feature for each district, its units dissolved, with the number of units, the population, its
        deviation from the ideal in people and as a fraction, and the statistics; or a feature for each unit
        with its district and population.
    statistics : mapping, optional
        Name to an array of shape (n_districts,), for districts only.
    provenance : mapping, optional
        What made the plan; kept as the member ``provenance`` of the collection.

    Returns
    -------
    str
        One line per feature, so that files can be compared.

    Raises
    ------
    DataError
        If the map has no shapes, or statistics do not fit the plan.
    """
    shapes, properties = plan_features(geography, plan, kind=kind, statistics=statistics)
    return _feature_collection(shapes, properties, provenance)


def plan_features(
    geography: Geography,
    plan: Plan,
    *,
    kind: Literal["districts", "units"],
    statistics: Mapping[str, ArrayLike] | None = None,
) -> tuple[NDArray[np.object_], list[dict[str, Any]]]:
    """Return the shapes and the properties of the features of a plan; parameters as of :func:`plan_geojson`.

    Returns
    -------
    shapes : object array
        In longitudes and latitudes with six decimals.
    properties : list of dict
        Of each shape, the same keys in the same order.

    Raises
    ------
    DataError
        If the map has no shapes, or statistics do not fit the plan.
    """
    if geography.geometry is None:
        raise DataError(
            "no_unit_shapes",
            "the map has no shapes to write.",
            remedy="Give shapes with the units, or save the plan as a table.",
        )
    if len(plan.assignment) != geography.n_units:
        raise DataError(
            "wrong_n_units",
            f"plan {plan.name!r} assigns {len(plan.assignment):,} units; the map has {geography.n_units:,}.",
        )
    rounded = _rounded(geography.geometry.to_crs(WGS84).to_numpy())
    if kind == "districts":
        shapes = _dissolved(rounded, plan)
        properties = _district_properties(geography, plan, statistics or {})
    elif kind == "units":
        if statistics:
            raise DataError("bad_statistics", "statistics belong to districts; got some for units.")
        shapes = rounded
        properties = [
            {"id": unit, "district": plan.labels[district], "population": int(people)}
            for unit, district, people in zip(
                geography.ids, plan.assignment, geography.population, strict=True
            )
        ]
    else:
        raise DataError("bad_kind", f"kind must be 'districts' or 'units'; got {kind!r}.")
    return shapes, properties


def plan_csv(geography: Geography, plan: Plan) -> str:
    """Write a plan as a table of two columns: the id column of the map, and ``district``."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow([geography.id_column, "district"])
    writer.writerows(zip(geography.ids, (plan.labels[district] for district in plan.assignment), strict=True))
    return text.getvalue()


def _district_properties(
    geography: Geography, plan: Plan, statistics: Mapping[str, ArrayLike]
) -> list[dict[str, Any]]:
    columns = {}
    for name, values in statistics.items():
        array = np.asarray(values)
        if name in _DISTRICT_PROPERTIES or array.shape != (plan.n_districts,):
            raise DataError(
                "bad_statistics",
                f"statistics must be arrays of {plan.n_districts} numbers, one for each district, under "
                f"names other than {', '.join(_DISTRICT_PROPERTIES)}; got {name!r} with shape {array.shape}.",
            )
        columns[name] = [_number(value) for value in array.tolist()]
    n_units = np.bincount(plan.assignment, minlength=plan.n_districts)
    population = np.zeros(plan.n_districts, dtype=np.int64)
    np.add.at(population, plan.assignment, geography.population)
    ideal = geography.total_population / plan.n_districts
    return [
        {
            "id": label,
            "district": label,
            "n_units": int(n_units[district]),
            "population": int(population[district]),
            "deviation": round(float(population[district] - ideal), 3),
            "deviation_fraction": _number(round(float(population[district] / ideal - 1), 8))
            if ideal
            else None,
            **{name: values[district] for name, values in columns.items()},
        }
        for district, label in enumerate(plan.labels)
    ]


def _number(value: Any) -> Any:
    """Return None, which JSON knows, for numbers that it does not."""
    return None if isinstance(value, float) and not np.isfinite(value) else value


def _rounded(shapes: NDArray[np.object_]) -> NDArray[np.object_]:
    """Round every vertex by itself, so that neighbours keep the same line, and mend what that breaks."""
    mended = _snapped(polygonal(_on_grid(shapes)))
    # A unit smaller than the grid would vanish; a hair's breadth keeps it.
    lost = shapely.is_empty(mended)
    mended[lost] = _snapped(shapely.buffer(shapes[lost], 2 * _GRID, quad_segs=1))
    return mended


def _dissolved(units: NDArray[np.object_], plan: Plan) -> NDArray[np.object_]:
    districts = np.empty(plan.n_districts, dtype=object)
    for district in range(plan.n_districts):
        own = units[plan.assignment == district]
        try:
            whole = shapely.coverage_union_all(own)
        except shapely.GEOSException:
            whole = None
        # Units that overlap are no coverage: their union is wrong without an error.
        if whole is None or not shapely.is_valid(whole):
            whole = shapely.union_all(own, grid_size=_GRID)
        districts[district] = whole
    return _snapped(polygonal(districts))


def _on_grid(shapes: NDArray[np.object_]) -> NDArray[np.object_]:
    return shapely.transform(shapes, lambda coordinates: np.round(coordinates, _DECIMALS))


def _snapped(shapes: NDArray[np.object_]) -> NDArray[np.object_]:
    """Bring the vertices that a repair or a union has made onto the grid, and leave other shapes alone."""
    coordinates, owner = shapely.get_coordinates(shapes, return_index=True)
    changed = np.unique(owner[(np.round(coordinates, _DECIMALS) != coordinates).any(axis=1)])
    snapped = shapes.copy()
    snapped[changed] = _on_grid(polygonal(shapely.set_precision(shapes[changed], _GRID)))
    return snapped


def _feature_collection(
    shapes: NDArray[np.object_],
    properties: list[dict[str, Any]],
    provenance: Mapping[str, Any] | None,
) -> str:
    # GEOS writes some numbers with more digits than they need: 43.592333000000004.
    geometries = [
        _LONG_DECIMAL.sub(lambda number: repr(float(number[0])), geometry)
        for geometry in shapely.to_geojson(shapely.orient_polygons(shapes, exterior_cw=False))
    ]
    features = ",\n".join(
        f'{{"type":"Feature","id":{_json(own["id"])},"properties":{_json(own)},"geometry":{geometry}}}'
        for own, geometry in zip(properties, geometries, strict=True)
    )
    foreign = "" if provenance is None else f'"provenance":{_json(dict(provenance))},\n'
    return f'{{"type":"FeatureCollection",\n{foreign}"features":[\n{features}\n]}}\n'


def _json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
