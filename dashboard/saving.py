"""Files of a plan: their names, and what they say about where the plan comes from."""

import re
import tempfile
from dataclasses import replace
from functools import lru_cache
from pathlib import Path
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from bottomup.dashboard.session import Session, ShownPlan
from bottomup.data.export_files import PLAN_FORMATS, write_plan
from bottomup.data.plans import Plan
from bottomup.data.testimonies import Testimonies, pack_units
from bottomup.sampler.naming import name_of, package_versions
from bottomup.sampler.statistics import district_shares

__all__ = [
    "FORMS",
    "TABLE",
    "Kind",
    "ensemble_stem",
    "file_bytes",
    "file_name",
    "file_stem",
    "provenance",
    "session_stem",
    "submitted_digest",
]

Kind = Literal["districts", "units", "table"]
TABLE: Kind = "table"
FORMS = {"GeoJSON": "geojson", "GeoPackage": "gpkg", "Shapefile (.zip)": "shp", "GeoParquet": "parquet"}
"""What districts and units can be saved as; a table is a CSV."""

_OTHER_THAN_WORDS = re.compile(r"[^0-9A-Za-z.]+")


def file_name(session: Session, shown: ShownPlan, kind: Kind, form: str) -> str:
    """Name of a file of a plan: map, plan, ε, score, round and run.

    Parameters
    ----------
    session : Session
    shown : ShownPlan
    kind : {"districts", "units", "table"}
    form : str
        See `bottomup.data.export_files.PLAN_FORMATS`.
    """
    origin = shown.origin
    if origin is None:
        return f"{file_stem(session, session.settings.enacted, kind)}{PLAN_FORMATS[form]}"
    assert shown.draw is not None
    parts = shown.draw.chosen, f"eps {origin.epsilon:.3g}", origin.design.score, f"round {origin.round}"
    run = provenance(session, shown)["name"]
    return f"{file_stem(session, *parts, kind, run)}{PLAN_FORMATS[form]}"


def ensemble_stem(session: Session, epsilon: float, score: str, run: str) -> str:
    """Name of a file of all plans, without its ending."""
    return file_stem(session, "all plans", f"eps {epsilon:.3g}", score, run)


def session_stem(session: Session, last_round: int, run: str) -> str:
    """Name of the file of a session, without its ending."""
    return file_stem(session, "session", f"round {last_round}", run)


def file_stem(session: Session, *parts: str) -> str:
    """Name of a file without its ending, in characters that every file system takes, the map's first."""
    named = (session.prepared.inputs.geography.name, *parts)
    return "_".join(_OTHER_THAN_WORDS.sub("-", part).strip("-.") for part in named)


def provenance(session: Session, shown: ShownPlan) -> dict[str, Any]:
    """What made the plan, so that it can be made again: the same name stands for the same draw.

    How it came to be chosen is no part of the name.
    """
    inputs, origin = session.prepared.inputs, shown.origin
    made: dict[str, Any] = {
        "versions": package_versions() if origin is None else session.versions,
        "map": inputs.geography.name,
        "geography_sha256": inputs.geography.digest,
        **inputs.geography.repair_record,
    }
    if inputs.note:
        made["note"] = inputs.note
    if origin is None or shown.draw is None:
        return {"plan": shown.title, **made}
    design = origin.design
    made |= {
        "testimonies_sha256": session.prepared.testimonies.digest,
        "testimonies_as_submitted_sha256": submitted_digest(session.prepared.testimonies),
        "epsilon": origin.epsilon,
        "score": design.score,
        "enacted": design.enacted,
        "tolerance": design.tolerance,
        "compactness": design.compactness,
        "seed": design.seed,
        "moves": design.moves,
        "start": origin.start,
        "round": origin.round,
        "rungs": list(origin.rungs),
        "rungs_placed_after_rounds": list(origin.placings),
    }
    if origin.run:
        made["run"] = origin.run
    chosen = {"plan": shown.title, "chosen": shown.draw.chosen, "counts_as_draws": shown.draw.draws}
    return {"name": name_of(made), **chosen, **made}


@lru_cache(maxsize=8)
def submitted_digest(testimonies: Testimonies) -> str:
    """SHA-256 of the testimonies as they were submitted, however they are clustered and copies counted.

    What is released adds up for the same testimonies, in whatever way they have been put to use.
    """
    place = {name: number for number, name in enumerate(testimonies.ids)}
    units = [
        testimonies.units_of(place[testimonies.duplicate_of.get(name, name)]) for name in testimonies.ids
    ]
    indptr, packed = pack_units(units)
    return replace(testimonies, indptr=indptr, units=packed, clusters=None).digest


def file_bytes(session: Session, shown: ShownPlan, kind: Kind, form: str) -> bytes:
    """Contents of a file of the shown plan; all but a table say what made it.

    Parameters
    ----------
    session : Session
    shown : ShownPlan
    kind : {"districts", "units", "table"}
    form : str
        See `bottomup.data.export_files.PLAN_FORMATS`; a table is a ``"csv"``.

    Raises
    ------
    DataError
        If the map has no shapes, or the form cannot hold the plan.
    """
    geography = session.prepared.inputs.geography
    plan = Plan(shown.title, shown.assignment, shown.names)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / f"plan{PLAN_FORMATS[form]}"
        write_plan(
            path,
            geography,
            plan,
            kind="districts" if kind == "districts" else "units",
            statistics=_statistics(session, plan) if kind == "districts" else None,
            provenance=None if kind == TABLE else provenance(session, shown),
        )
        return path.read_bytes()


def _statistics(session: Session, plan: Plan) -> dict[str, NDArray[np.float64]]:
    """Shares by district, in the order of the districts."""
    return {
        share.column: district_shares(
            plan.assignment[None, :], plan.n_districts, share.numerator, share.denominator
        )[0]
        for share in session.prepared.shares.values()
    }
