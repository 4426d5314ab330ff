"""All that there is to say about the inputs that options name, before anything runs."""

import argparse
from collections.abc import Callable
from dataclasses import dataclass, replace

from bottomup.dashboard.options import Known, files_of, name_options, read_enacted, read_submitted
from bottomup.data.errors import count
from bottomup.data.findings import Finding, Findings
from bottomup.data.geography import Geography, inspect_geography
from bottomup.data.inspection import inspect_districts, inspect_plan, inspect_testimonies

__all__ = ["Inspection", "inspect_inputs"]


@dataclass(frozen=True, eq=False)
class Inspection:
    """The findings, and what they are about.

    Attributes
    ----------
    known : Known
        What was read, as far as it could be made out.
    findings : tuple of Finding
        The gravest first.
    map_is_fit : bool
        Whether the map itself can be used for a run, whatever there is to say about plan and testimonies.
    """

    known: Known
    findings: tuple[Finding, ...]
    map_is_fit: bool

    @property
    def geography(self) -> Geography | None:
        """The map, as far as it could be made out."""
        return self.known.geography

    @property
    def status(self) -> int:
        """0 when the inputs are fit to run, 1 when findings must be settled, 2 when files cannot be read."""
        if any(finding.severity == "unreadable" for finding in self.findings):
            return 2
        return int(any(finding.stops for finding in self.findings))

    def verdict(self) -> str:
        """The outcome in a sentence."""
        n_stopping = sum(finding.stops for finding in self.findings)
        if self.status == 2:
            return "A file cannot be read."
        if self.status == 1:
            return f"{count(n_stopping, 'finding')} must be settled before a run."
        return "Fit to run."


def inspect_inputs(
    options: argparse.Namespace,
    tolerance: float = 0.05,
    n_districts: int | None = None,
    tell: Callable[[str], None] = lambda _: None,
) -> Inspection:
    """Look at all inputs, whatever is wrong with some of them.

    Parameters
    ----------
    options : argparse.Namespace
        With the attributes of `bottomup.dashboard.options.add_input_options`; ``units`` is given.
    tolerance : float
        Largest deviation of a district's population.
    n_districts : int, optional
        Number of districts when there is no plan.
    tell : callable, optional
        Takes words about what is being read; what it raises ends the inspection.
    """
    findings = Findings()
    geography = None
    tell("Reading the units …")
    with findings.catching():
        geography = inspect_geography(files_of(options), findings, name=options.name, thorough=True)
    map_is_fit = geography is not None and not any(finding.stops for finding in findings)
    known = Known()
    if geography is not None:
        known = _inspect_districting(options, geography, tolerance, n_districts, findings, tell)
    named = (replace(finding, remedy=name_options(finding.remedy)) for finding in findings)
    return Inspection(known, tuple(named), map_is_fit)


def _inspect_districting(
    options: argparse.Namespace,
    geography: Geography,
    tolerance: float,
    n_districts: int | None,
    findings: Findings,
    tell: Callable[[str], None],
) -> Known:
    plan = testimonies = None
    tell("Reading the plan …")
    with findings.catching():
        plan = None if options.plan is None else read_enacted(options, geography)
    k = n_districts if plan is None else plan.n_districts
    bounds = None if k is None else inspect_districts(geography, k, tolerance, findings)
    if plan is not None and bounds is not None:
        inspect_plan(geography, plan, bounds, findings, is_repaired=options.repair_plan)
    tell("Reading the testimonies …")
    with findings.catching():
        testimonies = read_submitted(options, geography)
        if testimonies is not None:
            inspect_testimonies(geography, testimonies, bounds and bounds[1], findings)
    return Known(geography, plan, testimonies)
