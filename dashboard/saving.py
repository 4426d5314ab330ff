"""Files of a plan: their names, and what they say about where the plan comes from."""

import re
from dataclasses import replace
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bottomup.dashboard.session import Session, ShownPlan
from bottomup.data.export import plan_csv, plan_geojson
from bottomup.data.plans import Plan
from bottomup.data.testimonies import Testimonies, pack_units
from bottomup.sampler.naming import name_of, package_versions
from bottomup.sampler.statistics import district_shares

__all__ = ["FORMATS", "file_name", "file_text", "provenance", "submitted_digest"]

FORMATS = {"districts": "geojson", "units": "geojson", "table": "csv"}
"""Kinds of file and their endings."""

_OTHER_THAN_WORDS = re.compile(r"[^0-9A-Za-z.]+")


def file_name(session: Session, shown: ShownPlan, kind: str) -> str:
    """Name of a file: map, plan, ε, score and round, in characters that every file system takes."""
    parts = [session.prepared.inputs.geography.name]
    origin = shown.origin
    if origin is None:
        parts.append(session.settings.enacted)
    else:
        score = origin.design.score
        assert shown.draw is not None
        parts += [shown.draw.chosen, f"eps {origin.epsilon:.3g}", score, f"round {origin.round}"]
    parts.append(kind)
    words = "_".join(_OTHER_THAN_WORDS.sub("-", part).strip("-.") for part in parts)
    return f"{words}.{FORMATS[kind]}"


def provenance(session: Session, shown: ShownPlan) -> dict[str, Any]:
    """What made the plan, so that it can be made again: the same name stands for the same draw.

    How it came to be chosen is no part of the name.
    """
    inputs, origin = session.prepared.inputs, shown.origin
    made: dict[str, Any] = {
        "versions": package_versions(),
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


def file_text(session: Session, shown: ShownPlan, kind: str) -> str:
    """Contents of a file of the shown plan.

    Parameters
    ----------
    session : Session
    shown : ShownPlan
    kind : {"districts", "units", "table"}
    """
    geography = session.prepared.inputs.geography
    plan = Plan(shown.title, shown.assignment, shown.names)
    if kind == "table":
        return plan_csv(geography, plan)
    made = provenance(session, shown)
    if kind == "units":
        return plan_geojson(geography, plan, kind="units", provenance=made)
    return plan_geojson(
        geography, plan, kind="districts", statistics=_statistics(session, plan), provenance=made
    )


def _statistics(session: Session, plan: Plan) -> dict[str, NDArray[np.float64]]:
    """Shares by district, in the order of the districts."""
    return {
        share.column: district_shares(
            plan.assignment[None, :], plan.n_districts, share.numerator, share.denominator
        )[0]
        for share in session.prepared.shares.values()
    }
