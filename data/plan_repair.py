"""The nearest plan that a walk can start from: detached pieces join neighbours, and borders move."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bottomup.data.adjacency import components
from bottomup.data.balancing import balance
from bottomup.data.bounds import check_feasible
from bottomup.data.districts import Plan
from bottomup.data.errors import DataError, count, list_some
from bottomup.data.geography import Geography
from bottomup.data.plan_checks import check_plan, main_pieces

__all__ = ["PlanRepair", "join_loose", "nearest_start"]

MAX_MOVES = 5_000
"""Moves of all attempts together."""


@dataclass(frozen=True, eq=False)
class PlanRepair:
    """A plan, the valid start made of it, and what changed hands.

    Attributes
    ----------
    before, plan : Plan
        As it was, and as it has become; with the same labels.
    moved : int array
        Positions of the units that changed their district, ascending.
    n_people : int
        People in these.
    """

    before: Plan
    plan: Plan
    moved: NDArray[np.int64]
    n_people: int

    def sentence(self) -> str:
        """Say what changed hands."""
        return (
            f"The nearest start to plan {self.before.name!r} that was found differs in "
            f"{count(len(self.moved), 'unit')} with {count(self.n_people, 'person', 'people')}."
        )

    def description(self, geography: Geography) -> dict[str, Any]:
        """Return what changed hands, ready for JSON: the districts of each unit before and after."""
        labels = self.plan.labels
        return {
            "plan": self.before.name,
            "n_units": len(self.moved),
            "n_people": self.n_people,
            "moved": {
                geography.ids[unit]: [
                    labels[self.before.assignment[unit]],
                    labels[self.plan.assignment[unit]],
                ]
                for unit in self.moved
            },
        }


def nearest_start(
    geography: Geography,
    plan: Plan,
    lower: int,
    upper: int,
    *,
    seed: int = 0,
    max_moves: int = MAX_MOVES,
) -> PlanRepair:
    """Change a plan as little as can be found until a walk can start from it.

    Every detached piece of a district goes to the neighbouring district with which it shares most of its
    border. Then units on borders change their district, along the fewest people that have to cross borders
    for all districts to be within bounds; last, those that can go home do.

    Parameters
    ----------
    geography : Geography
        The map.
    plan : Plan
        Without empty districts.
    lower, upper : int
        Smallest and largest population of a district.
    seed : int
        Decides what is tried when the first attempt fails. The same seed makes the same plan.
    max_moves : int
        Moves of all attempts together.

    Returns
    -------
    PlanRepair

    Raises
    ------
    DataError
        When no plan of the map can be a start, a district is empty, or no start was found within `max_moves`.
    """
    check_feasible(geography, plan.n_districts, lower, upper)
    for finding in check_plan(geography, plan, lower, upper).findings:
        if finding.code in ("wrong_n_districts", "empty_district"):
            raise DataError(finding.code, finding.message, remedy=finding.remedy)
    joined = plan.assignment.copy()
    loose = ~main_pieces(geography, joined)
    within = joined[geography.edges[:, 0]] == joined[geography.edges[:, 1]]
    pieces = components(geography.n_units, geography.edges[within])
    joined[loose] = -1
    joined = join_loose(geography, joined, plan.n_districts, pieces)
    balanced = balance(geography, plan.assignment, joined, plan.n_districts, lower, upper, seed, max_moves)
    if balanced is None:
        raise _not_found(geography, plan, joined, lower, upper)
    found = _send_home(geography, plan.assignment, balanced, lower, upper, plan.n_districts)
    moved = np.flatnonzero(found != plan.assignment)
    return PlanRepair(
        before=plan,
        plan=Plan(plan.name, found, plan.labels, plan.match),
        moved=moved,
        n_people=int(geography.population[moved].sum()),
    )


def join_loose(
    geography: Geography,
    assignment: NDArray[np.int32],
    n_districts: int,
    groups: NDArray[np.int32] | None = None,
) -> NDArray[np.int32]:
    """Give units without a district that of the neighbours with which they share most of their border.

    Parameters
    ----------
    geography : Geography
        The map.
    assignment : int32 array, shape (n_units,)
        District of each unit, -1 for those without.
    n_districts : int
    groups : int32 array, shape (n_units,), optional
        Units without a district that are to stay together have the same number.

    Raises
    ------
    DataError
        When units have no way to any district.
    """
    assignment = assignment.copy()
    group_of = np.arange(geography.n_units, dtype=np.int32) if groups is None else groups
    length = geography.shared_perimeter
    ends = np.concatenate([geography.edges, geography.edges[:, ::-1]])
    weights = np.ones(len(ends)) if length is None else np.concatenate([length, length])
    while (assignment < 0).any():
        leads = (assignment[ends[:, 0]] < 0) & (assignment[ends[:, 1]] >= 0)
        if not leads.any():
            lost = [geography.ids[unit] for unit in np.flatnonzero(assignment < 0)]
            raise DataError(
                "no_repair",
                f"there are {count(len(lost), 'unit')} without a district and without a way to any",
                remedy="Add edges to them, or give them a district.",
                units=lost,
            )
        border = np.zeros((int(group_of.max()) + 1, n_districts))
        np.add.at(border, (group_of[ends[leads, 0]], assignment[ends[leads, 1]]), weights[leads])
        reached = border.max(axis=1) > 0
        if not reached.any():
            # Edges that were added by hand may have no length, and lead to a neighbour all the same.
            weights = np.ones(len(ends))
            continue
        joins = (assignment < 0) & reached[group_of]
        assignment[joins] = border.argmax(axis=1)[group_of[joins]].astype(np.int32)
    return assignment


def _send_home(
    geography: Geography,
    home: NDArray[np.int32],
    assignment: NDArray[np.int32],
    lower: int,
    upper: int,
    n_districts: int,
) -> NDArray[np.int32]:
    """Give units their own district back, one at a time, where the plan stays a start."""
    assignment = assignment.copy()
    people = np.bincount(assignment, geography.population, n_districts).astype(np.int64)
    ends = np.concatenate([geography.edges, geography.edges[:, ::-1]])
    has_changed = True
    while has_changed:
        has_changed = False
        for unit in np.flatnonzero(assignment != home):
            source, target, own = assignment[unit], home[unit], geography.population[unit]
            if people[source] - own < lower or people[target] + own > upper:
                continue
            if not (assignment[ends[ends[:, 0] == unit, 1]] == target).any():
                continue
            rest = assignment == source
            rest[unit] = False
            if components(geography.n_units, geography.edges, rest).max(initial=-1) != 0:
                continue
            assignment[unit] = target
            people[source] -= own
            people[target] += own
            has_changed = True
    return assignment


def _not_found(
    geography: Geography, plan: Plan, joined: NDArray[np.int32], lower: int, upper: int
) -> DataError:
    people = np.bincount(joined, geography.population, plan.n_districts).astype(np.int64)
    wrong = np.flatnonzero((people < lower) | (people > upper))
    listed = list_some([f"{plan.labels[district]} ({people[district]:,})" for district in wrong])
    return DataError(
        "no_repair",
        f"no start near plan {plan.name!r} was found: districts may have {lower:,} to {upper:,} people, and "
        f"these could not be brought within: {listed}.",
        remedy="Raise the tolerance, or start from another plan.",
    )
