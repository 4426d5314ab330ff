"""What the report of a study is made of: its inputs, the draws of each law, and what plans keep whole."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from bottomup.dashboard.fates import Fates, Frequencies, compare, frequencies
from bottomup.dashboard.options import Inputs, weighting_of
from bottomup.dashboard.study_draws import Group, LawDraws, group_cells, read_draws
from bottomup.dashboard.study_folder import StudyFolder
from bottomup.data.errors import DataError
from bottomup.data.plans import Plan, load_plan
from bottomup.data.testimonies import Clusters, Testimonies
from bottomup.sampler.diagnostics import Convergence, diagnose
from bottomup.sampler.problem import Problem
from bottomup.sampler.shares import Share, available_shares, judged_shares
from bottomup.sampler.statistics import evaluate_plan, find_preserved, ranked_shares
from bottomup.sampler.store import iterate_rows
from bottomup.sampler.types import FloatArray

__all__ = ["Law", "NamedPlan", "StudyMaterial", "gather_study"]

_BATCH = 256


class NamedPlan(NamedTuple):
    """A plan that charts show beside the ensembles."""

    name: str
    is_enacted: bool
    score_testimony: float
    """nan without testimonies."""
    score_cluster: float
    """nan without clusters."""
    cut_edges: int
    shares: dict[str, FloatArray]
    """float64 arrays, shape (k,), ascending, by name."""

    def value(self, quantity: str) -> float:
        """By the name that draws have, such as ``score_testimony``."""
        return float(getattr(self, quantity))


@dataclass(frozen=True, eq=False)
class Law:
    """The finished cells of one law but for epsilon, read."""

    group: Group
    draws: list[LawDraws]
    """By epsilon, ascending."""
    whole: list[NDArray[np.uint8]]
    """For each epsilon, of plans from the later half, shape (R, ceil(T / 8)): a bit for each testimony, 1
    where it is whole. Empty for attacked cells and without testimonies."""

    @property
    def epsilons(self) -> list[float]:
        """Ascending."""
        return [each.epsilon for each in self.draws]

    @cached_property
    def convergences(self) -> list[dict[str, Convergence]]:
        """For each epsilon, by quantity, of all chains of all seeds together."""
        return [{each.quantity: each for each in diagnose(draws.quantities)} for draws in self.draws]

    def effective_plans(self, place: int) -> float:
        """Independent plans that would tell as much, by the quantity that tells least; nan where unknown."""
        sizes = [each.ess_bulk for each in self.convergences[place].values() if not each.is_constant]
        return float(np.min(sizes)) if sizes else np.nan

    def worst_rhat(self, place: int) -> float:
        """The largest R-hat of any quantity at an epsilon; nan where one is unknown."""
        rhats = [each.rhat for each in self.convergences[place].values() if not each.is_constant]
        return float(np.max(rhats)) if rhats else np.nan

    def kept(self, place: int, testimonies: Testimonies, *, by_cluster: bool) -> Frequencies:
        """How often testimonies, or how much of clusters, is kept whole at an epsilon."""
        whole = np.unpackbits(self.whole[place], axis=1, count=testimonies.n_testimonies)
        clusters: Clusters | None = testimonies.clusters if by_cluster else None
        return frequencies(whole, self.effective_plans(place), clusters)

    def fates(self, place: int, testimonies: Testimonies, *, by_cluster: bool) -> Fates:
        """The same beside epsilon 0, which must be among the epsilons."""
        is_judged = not (np.isnan(self.effective_plans(place)) or np.isnan(self.effective_plans(0)))
        kept = self.kept(place, testimonies, by_cluster=by_cluster)
        return compare(kept, self.kept(0, testimonies, by_cluster=by_cluster), is_judged=is_judged)


@dataclass(frozen=True, eq=False)
class StudyMaterial:
    """A study, read.

    Attributes
    ----------
    folder : StudyFolder
    inputs : Inputs
    problem : Problem
        Of the testimonies as they were submitted.
    n_districts : int
    shares : dict of str to Share
        Those that chains are to agree on.
    plans : list of NamedPlan
        The enacted plan, and the further plans that walks start from, as they are in their files.
    laws : list of Law
        In the order of the study.
    """

    folder: StudyFolder
    inputs: Inputs
    problem: Problem
    n_districts: int
    shares: dict[str, Share]
    plans: list[NamedPlan]
    laws: list[Law]

    @property
    def honest(self) -> list[Law]:
        """Laws without an attack."""
        return [law for law in self.laws if not law.group.is_attacked]


def gather_study(path: str | Path) -> StudyMaterial:
    """Read the finished cells of a study and its inputs.

    Raises
    ------
    DataError
        When the folder holds no study, no cell is finished, or the inputs are others than they were.
    """
    folder = StudyFolder.open(path)
    groups = group_cells(folder)
    if not groups:
        raise DataError(
            "no_finished_cell",
            f"No cell of the study in {path} is finished yet.",
            remedy="Wait for `bottomup sweep`, or enter it again to go on.",
        )
    inputs = folder.load_inputs()
    options = folder.options
    geography, testimonies = inputs.geography, inputs.testimonies
    problem = Problem.build(geography, testimonies, weighting_of(options))
    n_districts = options.districts if inputs.enacted is None else inputs.enacted.n_districts
    every = available_shares(geography)
    shares = {name: every[name] for name in judged_shares(every)}
    further = [
        inputs.plans.get(name) or load_plan(name, geography, fill_missing=inputs.repair_plan)
        for name in options.start
    ]
    enacted = [] if inputs.enacted is None else [inputs.enacted]
    plans = [
        _measure(plan, place == 0 and bool(enacted), problem, shares)
        for place, plan in enumerate([*enacted, *further])
    ]
    laws = []
    for group in groups:
        draws = read_draws(group.cells, shares)
        is_followed = testimonies is not None and not group.is_attacked
        whole = _whole(group, draws, testimonies) if is_followed and testimonies is not None else []
        laws.append(Law(group, draws, whole))
    return StudyMaterial(folder, inputs, problem, n_districts, shares, plans, laws)


def _measure(plan: Plan, is_enacted: bool, problem: Problem, shares: dict[str, Share]) -> NamedPlan:
    found = evaluate_plan(problem, plan.assignment, plan.n_districts)
    return NamedPlan(
        name=plan.name,
        is_enacted=is_enacted,
        score_testimony=found.score_testimony,
        score_cluster=found.score_cluster,
        cut_edges=found.cut_edges,
        shares={
            name: ranked_shares(plan.assignment[None], plan.n_districts, share.numerator, share.denominator)[
                0
            ]
            for name, share in shares.items()
        },
    )


def _whole(group: Group, draws: Sequence[LawDraws], testimonies: Testimonies) -> list[NDArray[np.uint8]]:
    """Which plans of the later half keep which testimonies whole, by epsilon."""
    later = {
        (each.epsilon, chain): steps[-n]
        for each in draws
        for chain, steps, n in zip(each.chains, each.steps, each.n_later, strict=True)
    }
    found: dict[float, list[NDArray[np.uint8]]] = {each.epsilon: [] for each in draws}
    for cell in group.cells:
        for batch in iterate_rows(cell.folder, ["chain", "epsilon", "step", "assignment"], _BATCH):
            epsilon, step = batch["epsilon"].to_numpy(), batch["step"].to_numpy()
            first = np.array(
                [
                    later[own, f"{cell.name}, {chain}"]
                    for own, chain in zip(epsilon, batch["chain"].to_numpy(), strict=True)
                ]
            )
            rows = np.flatnonzero(step >= first)
            plans = batch["assignment"].flatten().to_numpy().reshape(len(step), -1)[rows]
            packed = np.packbits(find_preserved(plans, testimonies.indptr, testimonies.units), axis=1)
            for value in np.unique(epsilon[rows]):
                found[float(value)].append(packed[epsilon[rows] == value])
    return [np.concatenate(parts) for parts in found.values()]
