"""Starts made of plans that cannot be one as they are, and what is said about it."""

from typing import Any, NamedTuple

from bottomup.dashboard.options import Inputs
from bottomup.data.errors import DataError
from bottomup.data.plan_repair import nearest_start
from bottomup.data.plans import Plan, check_plan, check_start

__all__ = ["Start", "plan_sentences", "start_of"]


class Start(NamedTuple):
    """The plan that a walk starts from.

    Attributes
    ----------
    plan : Plan
        Valid.
    name : str
        Of the plan, and whether it was repaired.
    repair : dict or None
        What changed hands, ready for JSON; None when nothing did.
    sentences : list of str
        The same in words.
    """

    plan: Plan
    name: str
    repair: dict[str, Any] | None
    sentences: list[str]


def start_of(inputs: Inputs, plan: Plan, lower: int, upper: int, n_districts: int | None = None) -> Start:
    """Return the plan, or where the inputs allow repairs, the nearest one that a walk can start from.

    Parameters
    ----------
    inputs : Inputs
    plan : Plan
    lower, upper : int
        Smallest and largest population of a district.
    n_districts : int, optional
        How many districts the walk has; the plan's number otherwise.

    Raises
    ------
    DataError
        When the plan cannot be a start, and repairs are not allowed or do not help.
    """
    geography = inputs.geography
    filled = () if plan.match is None else plan.match.missing
    check = check_plan(geography, plan, lower, upper, n_districts)
    codes = {finding.code for finding in check.findings}
    can_repair = not check.is_start and not codes & {"wrong_n_districts", "empty_district"}
    if not (can_repair and inputs.repair_plan):
        try:
            check_start(geography, plan, lower, upper, n_districts)
        except DataError as error:
            if not can_repair or error.code not in codes:
                raise
            remedy = f"{error.remedy} With --repair-plan the nearest plan that can be a start is taken."
            raise DataError(error.code, error.message, remedy=remedy, units=error.units) from error
        return Start(plan, plan.name, _description(plan, filled, {"moved": {}}) if filled else None, [])
    repair = nearest_start(geography, plan, lower, upper)
    description = _description(repair.plan, filled, repair.description(geography))
    sentences = [*(f"Not a start as it is: {finding}" for finding in check.findings), repair.sentence()]
    return Start(repair.plan, f"{plan.name}, repaired", description, sentences)


def _description(plan: Plan, filled: tuple[str, ...], changed: dict[str, Any]) -> dict[str, Any]:
    from bottomup.sampler.naming import plan_digest

    return {
        "plan": plan.name,
        **changed,
        "without_district_in_file": list(filled),
        "digest": plan_digest(plan.assignment),
    }


def plan_sentences(plan: Plan) -> list[str]:
    """Say how the file of a plan fits the map; nothing for a plan that comes with the units."""
    if plan.match is None:
        return []
    first, *others = plan.match.sentences()
    return [f"Plan {plan.name!r}: {first}", *(f"  {sentence}" for sentence in others)]
