"""Everything that all visitors share: the inputs, and what is worked out from them once."""

from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from bottomup.dashboard.design import Design
from bottomup.dashboard.ladders import PageLadders
from bottomup.dashboard.layers import Layer, draw_layers
from bottomup.dashboard.options import Inputs
from bottomup.dashboard.scene import Scene, build_scene
from bottomup.data.errors import DataError
from bottomup.data.findings import Finding
from bottomup.data.plans import Plan
from bottomup.data.testimonies import Testimonies
from bottomup.sampler.problem import Problem
from bottomup.sampler.sensitivity import Weighting, WeightingKind
from bottomup.sampler.shares import Share, available_shares
from bottomup.sampler.statistics import evaluate_plan, ranked_shares

__all__ = ["PlanNumbers", "Prepared", "prepare"]


@dataclass(frozen=True, eq=False)
class PlanNumbers:
    """The figures of one plan.

    Attributes
    ----------
    score_testimony, score_cluster : float
        The cluster score is NaN without clusters.
    cut_edges : int
    max_deviation : float
        Largest deviation of a district's population from the mean, as a share of the mean.
    preserved : bool array, shape (T,)
        Whether each testimony lies inside one district.
    shares : dict of str to float64 array, shape (k,)
        Ranked shares by name, ascending.
    """

    score_testimony: float
    score_cluster: float
    cut_edges: int
    max_deviation: float
    preserved: NDArray[np.bool_]
    shares: dict[str, NDArray[np.float64]]

    def score(self, name: str) -> float:
        """Return the score of that name: ``"testimony"`` or ``"cluster"``."""
        return self.score_testimony if name == "testimony" else self.score_cluster


@dataclass(frozen=True, eq=False)
class Prepared:
    """The inputs and what follows from them; never changed.

    Attributes
    ----------
    inputs : Inputs
    enacted : str
        Name of the plan that stands as the enacted one at first.
    testimonies : Testimonies
    problem : Problem
        With clusters weighted by coverage.
    scene : Scene or None
        None when the units have no outlines.
    layers : tuple of Layer
        What rests on the map.
    shares : dict of str to Share
        Every share by district that the columns allow.
    findings : tuple of Finding
        What is good to know about the user's files.
    """

    inputs: Inputs
    enacted: str
    testimonies: Testimonies
    problem: Problem
    scene: Scene | None
    layers: tuple[Layer, ...]
    shares: dict[str, Share]
    findings: tuple[Finding, ...] = ()

    @property
    def has_clusters(self) -> bool:
        """Whether the cluster score can be used."""
        return self.problem.cluster_total > 0

    def plan(self, name: str) -> Plan:
        """Return the plan of that name."""
        return self.inputs.plans[name]

    def build_ladders(self, design: Design) -> PageLadders:
        """The ladders of a page; for a worker's thread."""
        return PageLadders(self.inputs, self.problem_of(design.weighting), design)

    @lru_cache(maxsize=2)  # noqa: B019 (shared by all visitors, it lives as long as the process)
    def problem_of(self, weighting: WeightingKind) -> Problem:
        """The problem with clusters weighted in one of the ways."""
        if weighting == "coverage":
            return self.problem
        return Problem.build(self.inputs.geography, self.testimonies, Weighting(weighting))

    @lru_cache(maxsize=32)  # noqa: B019
    def numbers_of(self, name: str, weighting: WeightingKind) -> PlanNumbers:
        """Figures of a plan that may stand as the enacted one."""
        plan = self.plan(name)
        return self.describe(plan.assignment, plan.n_districts, weighting)

    def describe(
        self, assignment: NDArray[np.int32], n_districts: int, weighting: WeightingKind
    ) -> PlanNumbers:
        """Figures of any plan."""
        return _describe(self.problem_of(weighting), self.shares, assignment, n_districts)


def prepare(inputs: Inputs, findings: tuple[Finding, ...] = ()) -> Prepared:
    """Work out what all visitors share; `findings` are what there is to say about the user's files.

    Raises
    ------
    DataError
        When there are no testimonies, which the page is about, or no enacted plan to compare with.
    """
    if inputs.enacted is None:
        raise DataError(
            "plan",
            "The page needs an enacted plan, and none was given.",
            remedy="Name it with --plan: a column of the units file, or a two-column CSV.",
        )
    if inputs.testimonies is None or not inputs.testimonies.n_testimonies:
        raise DataError(
            "testimonies",
            "The page needs testimonies, and none were given.",
            remedy="Name a file with --testimonies: a CSV (testimony, unit[, cluster]) or polygons.",
        )
    problem = Problem.build(inputs.geography, inputs.testimonies)
    shares = available_shares(inputs.geography)
    scene = None
    if inputs.geography.geometry is not None:
        scene = build_scene(inputs.geography, inputs.plans, inputs.counties, inputs.towns)
    return Prepared(
        inputs=inputs,
        enacted=inputs.enacted.name,
        testimonies=inputs.testimonies,
        problem=problem,
        scene=scene,
        layers=() if scene is None else draw_layers(scene),
        shares=shares,
        findings=findings,
    )


def _describe(
    problem: Problem, shares: dict[str, Share], assignment: NDArray[np.int32], n_districts: int
) -> PlanNumbers:
    statistics = evaluate_plan(problem, assignment, n_districts)
    people = np.bincount(assignment, problem.graph.population, n_districts)
    mean = people.sum() / n_districts
    return PlanNumbers(
        score_testimony=float(statistics.score_testimony),
        score_cluster=float(statistics.score_cluster),
        cut_edges=int(statistics.cut_edges),
        max_deviation=float(np.abs(people - mean).max() / mean),
        preserved=np.asarray(statistics.preserved, dtype=bool),
        shares={
            name: ranked_shares(assignment[None, :], n_districts, share.numerator, share.denominator)[0]
            for name, share in shares.items()
        },
    )
