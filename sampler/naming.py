"""Names of runs: the same name gives the same plans."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from dataclasses import asdict
from importlib.metadata import version
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike

from bottomup.sampler.chain import WALK_ALONE, Step
from bottomup.sampler.problem import Problem
from bottomup.sampler.sensitivity import Sensitivity
from bottomup.sampler.target import Target
from bottomup.sampler.types import Mixture

if TYPE_CHECKING:
    from bottomup.data import Geography, Testimonies

__all__ = [
    "assignment_digest",
    "clusters_are",
    "describe_exchange",
    "describe_run",
    "describe_sensitivity",
    "name_of",
    "package_versions",
    "plan_digest",
]

PACKAGES = ("bottomup", "numba", "numpy", "scipy")
"""Packages whose version can change what a seed gives."""


def plan_digest(assignment: ArrayLike) -> str:
    """SHA-256, in hexadecimal, of a plan: the same whatever its districts are called.

    Districts are numbered in the order of their first units; the numbers follow in the order of the units, 4
    bytes each.
    """
    _, first, district = np.unique(np.asarray(assignment), return_index=True, return_inverse=True)
    return assignment_digest(np.argsort(np.argsort(first))[district])


def assignment_digest(numbers: ArrayLike) -> str:
    """SHA-256, in hexadecimal, of a plan with the numbers that its districts have."""
    return hashlib.sha256(np.ascontiguousarray(numbers, dtype="<i4").tobytes()).hexdigest()


def package_versions() -> dict[str, str]:
    """Versions of the packages that can change what a seed gives."""
    return {package: version(package) for package in PACKAGES}


def name_of(description: dict[str, Any]) -> str:
    """A short name made of everything in a description that is ready for JSON."""
    text = json.dumps(description, sort_keys=True, separators=(",", ":"))
    return hashlib.sha256(text.encode()).hexdigest()[:12]


def describe_run(
    geography: Geography,
    testimonies: Testimonies | None,
    problem: Problem,
    target: Target,
    starts: Sequence[ArrayLike],
    seed: int,
    step: Step,
    mixture: Mixture = WALK_ALONE,
    exchange: dict[str, Any] | None = None,
) -> dict[str, Any]:
    """Everything that decides the plans of a run, and a short name made of it.

    Parameters
    ----------
    geography : Geography
    testimonies : Testimonies, optional
    problem : Problem
        Of these two.
    target : Target
    starts : sequence of array_like of int, each of shape (n,)
        One for each chain or ladder.
    seed : int
    step : {"mixed", "paper"}
    mixture : Mixture
    exchange : dict, optional
        Of ladders, see :func:`describe_exchange`; None for separate chains.

    Returns
    -------
    dict
        Ready for JSON. ``name`` is a hash of the rest.
    """
    sensitivity: dict[str, Any] | None = None
    # At epsilon 0 testimony may lack what the score needs: it does not count.
    if problem.n_testimonies and (target.score == "testimony" or problem.cluster_total):
        sensitivity = describe_sensitivity(problem.sensitivity(target.score))
        if target.score == "cluster":
            sensitivity["clusters"] = clusters_are(testimonies)
            sensitivity["weighting"] = problem.weighting._asdict()
    description: dict[str, Any] = {
        "geography": {
            "name": geography.name,
            "digest": geography.digest,
            "n_units": geography.n_units,
            "n_edges": geography.n_edges,
            "population": geography.total_population,
            **geography.repair_record,
        },
        "testimonies": None
        if testimonies is None
        else {
            "digest": testimonies.digest,
            "n_testimonies": testimonies.n_testimonies,
            **_how_clustered(testimonies),
        },
        "target": asdict(target),
        "sensitivity": sensitivity,
        "chains": len(starts),
        # With the numbers as they are: under others a seed gives other plans.
        "starts": [assignment_digest(start) for start in starts],
        "exchange": exchange,
        "step": step,
        "mixture": mixture._asdict(),
        "seed": int(seed),
        "versions": package_versions(),
    }
    return {"name": name_of(description), **description}


def describe_sensitivity(sensitivity: Sensitivity) -> dict[str, Any]:
    """A sensitivity with all that it rests on, ready for JSON."""
    return {
        "delta": sensitivity.delta,
        "formula": sensitivity.formula,
        "relation": "replace one testimony",
        "public": sensitivity.public,
        "looks_at_data": sensitivity.looks_at_data,
    }


def clusters_are(testimonies: Testimonies | None) -> str:
    """Whether the promise for clusters is conditional on them, in a word for records."""
    clusters = None if testimonies is None else testimonies.clusters
    return "public geography" if clusters is not None and clusters.is_public else "conditional"


def _how_clustered(testimonies: Testimonies) -> dict[str, str]:
    """How clusters of near testimonies were made: another linkage is another run, whatever it finds."""
    clusters = testimonies.clusters
    return {} if clusters is None or clusters.tree is None else {"clusters_by": clusters.source}


def describe_exchange(
    rungs: ArrayLike, are_placed: bool, burn_in_rounds: int, steps_per_round: int
) -> dict[str, Any]:
    """What decides the plans of ladders besides what decides those of chains.

    Parameters
    ----------
    rungs : array_like of float, shape (E,)
        As given, or those that the burn-in begins with.
    are_placed : bool
        Whether the burn-in places them anew.
    burn_in_rounds, steps_per_round : int
    """
    return {
        "first_rungs" if are_placed else "rungs": [float(epsilon) for epsilon in np.asarray(rungs)],
        "rungs_are": "placed in burn-in" if are_placed else "given",
        "burn_in_rounds": int(burn_in_rounds),
        "steps_per_round": int(steps_per_round),
    }
