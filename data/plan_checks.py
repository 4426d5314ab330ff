"""What keeps a plan from being one that a walk can start from: which districts, and by how much."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from bottomup.data.adjacency import components
from bottomup.data.bounds import check_feasible, pass_tolerance
from bottomup.data.districts import Plan
from bottomup.data.errors import DataError, count, list_some
from bottomup.data.geography import Geography

__all__ = ["PlanCheck", "PlanFinding", "check_plan", "check_start", "main_pieces"]


@dataclass(frozen=True)
class PlanFinding:
    """One thing that a start may not be.

    Attributes
    ----------
    code : {"wrong_n_districts", "empty_district", "district_not_connected", "district_out_of_bounds"}
        Short stable name.
    districts : tuple of str
        Labels of the districts concerned.
    units : tuple of str
        Ids of the units concerned: those of detached pieces.
    message : str
        What was found, in a sentence without the list of units.
    remedy : str
        What the user can do.
    """

    code: str
    districts: tuple[str, ...]
    units: tuple[str, ...]
    message: str
    remedy: str

    def __str__(self) -> str:
        return str(DataError(self.code, self.message, units=self.units))


@dataclass(frozen=True)
class PlanCheck:
    """What was found in a plan; such a plan can be scored and shown all the same.

    Attributes
    ----------
    findings : tuple of PlanFinding
        None of them when a walk can start from the plan.
    """

    findings: tuple[PlanFinding, ...]

    @property
    def is_start(self) -> bool:
        """Whether a walk can start from the plan."""
        return not self.findings

    def raise_first(self) -> None:
        """Raise a DataError for the first finding that names the others too.

        Raises
        ------
        DataError
        """
        if self.is_start:
            return
        first, *others = self.findings
        also = f" Besides, {' '.join(str(other) for other in others)}" if others else ""
        raise DataError(first.code, first.message, remedy=f"{first.remedy}{also}", units=first.units)


def check_plan(
    geography: Geography, plan: Plan, lower: int, upper: int, n_districts: int | None = None
) -> PlanCheck:
    """Find out what keeps a walk from starting at a plan: k districts, none empty, connected and balanced.

    Parameters
    ----------
    geography : Geography
        The map.
    plan : Plan
        The plan.
    lower, upper : int
        Smallest and largest population of a district.
    n_districts : int, optional
        How many districts the walk is to have; the plan's number otherwise.

    Returns
    -------
    PlanCheck
        With all findings, and for every district concerned its figures.
    """
    wanted = plan.n_districts if n_districts is None else n_districts
    findings = (
        _find_wrong_number(plan, wanted),
        _find_empty(plan),
        _find_detached(geography, plan),
        _find_unbalanced(geography, plan, lower, upper),
    )
    return PlanCheck(tuple(finding for finding in findings if finding is not None))


def check_start(
    geography: Geography, plan: Plan, lower: int, upper: int, n_districts: int | None = None
) -> None:
    """Make sure that a walk can start from a plan; parameters as of :func:`check_plan`.

    Raises
    ------
    DataError
        When no plan of the map can be a start, or for what was found in this one.
    """
    check = check_plan(geography, plan, lower, upper, n_districts)
    if not any(finding.code in ("wrong_n_districts", "empty_district") for finding in check.findings):
        check_feasible(geography, plan.n_districts, lower, upper)
    check.raise_first()


def main_pieces(geography: Geography, assignment: NDArray[np.int32]) -> NDArray[np.bool_]:
    """Return which units lie in the largest connected piece of their district.

    Of pieces with equally many units the one with the first unit counts.
    """
    within = assignment[geography.edges[:, 0]] == assignment[geography.edges[:, 1]]
    pieces = components(geography.n_units, geography.edges[within])
    sizes = np.bincount(pieces)
    _, first_units = np.unique(pieces, return_index=True)
    district_of = assignment[first_units]
    largest: dict[int, int] = {}
    for piece in np.lexsort((np.arange(len(sizes)), -sizes)):
        largest.setdefault(int(district_of[piece]), int(piece))
    return np.isin(pieces, list(largest.values()))


def _find_wrong_number(plan: Plan, wanted: int) -> PlanFinding | None:
    if plan.n_districts == wanted and plan.assignment.max(initial=-1) < plan.n_districts:
        return None
    return PlanFinding(
        "wrong_n_districts",
        plan.labels,
        (),
        f"plan {plan.name!r} has {count(plan.n_districts, 'district')} ({list_some(plan.labels)}), not "
        f"{wanted}.",
        "Choose another plan, or the plan's number of districts.",
    )


def _find_empty(plan: Plan) -> PlanFinding | None:
    sizes = np.bincount(plan.assignment, minlength=plan.n_districts)
    empty = tuple(label for label, size in zip(plan.labels, sizes, strict=False) if size == 0)
    if not empty:
        return None
    return PlanFinding(
        "empty_district",
        empty,
        (),
        f"plan {plan.name!r} has no units in district {list_some(empty)}.",
        "Start from another plan.",
    )


def _find_detached(geography: Geography, plan: Plan) -> PlanFinding | None:
    outside = ~main_pieces(geography, plan.assignment)
    if not outside.any():
        return None
    within = plan.assignment[geography.edges[:, 0]] == plan.assignment[geography.edges[:, 1]]
    pieces = components(geography.n_units, geography.edges[within])
    units: list[str] = []
    described, districts = [], []
    for district, label in enumerate(plan.labels):
        own = np.flatnonzero(outside & (plan.assignment == district))
        if not len(own):
            continue
        units.extend(geography.ids[position] for position in own)
        districts.append(label)
        people, n_pieces = int(geography.population[own].sum()), 1 + len(np.unique(pieces[own]))
        described.append(
            f"district {label} is in {n_pieces} pieces, with "
            f"{count(people, 'person', 'people')} apart from the largest"
        )
    return PlanFinding(
        "district_not_connected",
        tuple(districts),
        tuple(units),
        f"plan {plan.name!r} is not connected: {list_some(described)}. Detached units",
        "Start from another plan, move them to a neighbouring district, or add edges to them.",
    )


def _find_unbalanced(geography: Geography, plan: Plan, lower: int, upper: int) -> PlanFinding | None:
    people = np.zeros(plan.n_districts, dtype=np.int64)
    np.add.at(people, plan.assignment, geography.population)
    ideal = geography.total_population / plan.n_districts
    outside = np.flatnonzero((people < lower) | (people > upper))
    if not len(outside):
        return None
    deviations = [
        f"district {plan.labels[district]} has {people[district]:,} ({people[district] / ideal - 1:+.2%})"
        for district in outside
    ]
    worst = float(np.abs(people / ideal - 1).max())
    return PlanFinding(
        "district_out_of_bounds",
        tuple(plan.labels[district] for district in outside),
        (),
        f"plan {plan.name!r} is out of balance: districts may have {lower:,} to {upper:,} people, but "
        f"{list_some(deviations)}.",
        f"{pass_tolerance(worst)}start from another plan.",
    )
