"""What an inspection says about plans and testimonies, beside what it says about the map."""

from __future__ import annotations

import numpy as np

from bottomup.data.errors import count
from bottomup.data.findings import Findings, Severity
from bottomup.data.geography import Geography
from bottomup.data.plans import Plan, check_feasible, check_plan, population_bounds
from bottomup.data.testimonies import Testimonies

__all__ = ["inspect_districts", "inspect_plan", "inspect_testimonies"]


def inspect_districts(
    geography: Geography, n_districts: int, tolerance: float, findings: Findings
) -> tuple[int, int] | None:
    """Find out whether the map can be divided into so many districts.

    Returns
    -------
    (int, int) or None
        Smallest and largest population of a district; None when there are no such numbers.
    """
    if not geography.total_population:
        return None
    with findings.catching():
        lower, upper = population_bounds(geography.total_population, n_districts, tolerance)
        with findings.catching():
            check_feasible(geography, n_districts, lower, upper)
        return lower, upper
    return None


def inspect_plan(
    geography: Geography,
    plan: Plan,
    bounds: tuple[int, int],
    findings: Findings,
    *,
    is_repaired: bool = False,
) -> None:
    """Say how a plan fits the map, and what keeps a walk from starting at it.

    Parameters
    ----------
    geography : Geography
    plan : Plan
    bounds : (int, int)
        Smallest and largest population of a district.
    findings : Findings
    is_repaired : bool
        Whether walks may start from the nearest plan that can be a start, so that nothing need be settled.
    """
    if plan.match is not None:
        match = plan.match
        odd = (*match.unknown, *match.duplicate)
        findings.add(
            "look" if odd else "note",
            "plan_match",
            " ".join(match.sentences()).rstrip("."),
            "Look whether the file is of this map." if match.unknown else "",
            odd,
        )
    for found in check_plan(geography, plan, *bounds).findings:
        severity: Severity = "look" if is_repaired else "settle"
        remedy = f"{found.remedy} With --repair-plan the nearest plan that can be a start is taken."
        findings.add(severity, found.code, found.message, remedy, found.units)


def inspect_testimonies(
    geography: Geography, testimonies: Testimonies, upper: int | None, findings: Findings
) -> None:
    """Say what has become of the testimonies, and which cannot be kept by any plan."""
    findings.add("note", "testimonies", testimonies.summary().rstrip("."))
    for remark in testimonies.remarks:
        findings.add("note", "testimonies_read", remark.rstrip("."))
    empty = [name for name, size in zip(testimonies.ids, testimonies.sizes, strict=True) if size == 0]
    most = int(np.iinfo(np.int64).max) if upper is None else upper
    never_whole = testimonies.never_whole(geography.population, most)
    too_large = [name for name in never_whole if name not in set(empty)]
    total = count(testimonies.n_testimonies, "testimony", "testimonies")
    for code, what, names in (
        ("testimony_empty", "without a unit on the map", empty),
        ("testimony_too_large", "with more people than a district may have", too_large),
    ):
        if names:
            findings.add(
                "look",
                code,
                f"{len(names):,} of {total} {what}",
                "They count all the same, and no plan keeps them whole.",
                names,
            )
