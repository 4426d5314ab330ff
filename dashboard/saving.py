"""Files of a plan: their names, and what they say about where the plan comes from."""

import re
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bottomup.dashboard.session import Session, ShownPlan
from bottomup.data.export import plan_csv, plan_geojson
from bottomup.data.plans import Plan
from bottomup.sampler.naming import name_of, package_versions
from bottomup.sampler.statistics import district_shares

__all__ = ["FORMATS", "file_name", "file_text", "provenance"]

FORMATS = {"districts": "geojson", "units": "geojson", "table": "csv"}
"""Kinds of file and their endings."""

_OTHER_THAN_WORDS = re.compile(r"[^0-9A-Za-z.]+")


def file_name(session: Session, shown: ShownPlan, kind: str) -> str:
    """Name of a file: map, plan, ε, score and step, in characters that every file system takes."""
    parts = [session.prepared.inputs.geography.name]
    if shown.kind == "enacted":
        parts.append(session.settings.enacted)
    else:
        parts += [f"{shown.kind} plan", f"eps {shown.aim.epsilon:g}", shown.aim.score, f"step {shown.step}"]
    parts.append(kind)
    words = "_".join(_OTHER_THAN_WORDS.sub("-", part).strip("-.") for part in parts)
    return f"{words}.{FORMATS[kind]}"


def provenance(session: Session, shown: ShownPlan) -> dict[str, Any]:
    """What made the plan, so that it can be made again: the same name stands for the same plan."""
    inputs, design = session.prepared.inputs, session.settings.design
    made: dict[str, Any] = {
        "versions": package_versions(),
        "map": inputs.geography.name,
        "geography_sha256": inputs.geography.digest,
        "plan": shown.title,
    }
    if inputs.note:
        made["note"] = inputs.note
    if shown.kind == "enacted":
        return made
    made |= {
        "testimonies_sha256": session.prepared.testimonies.digest,
        "epsilon": shown.aim.epsilon,
        "score": shown.aim.score,
        "enacted": design.enacted,
        "tolerance": design.tolerance,
        "compactness": design.compactness,
        "seed": design.seed,
        "moves": design.moves,
        "step": shown.step,
        "walk": [
            {"from_step": step, "epsilon": aim.epsilon, "score": aim.score} for step, aim in shown.history
        ],
    }
    return {"name": name_of(made), **made}


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
        f"{name}_share": district_shares(
            plan.assignment[None, :], plan.n_districts, share.numerator, share.denominator
        )[0]
        for name, share in session.prepared.shares.items()
    }
