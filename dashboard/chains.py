"""The pair of chains that a page runs, built from the inputs for a design and an aim."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from bottomup.dashboard.options import Inputs
from bottomup.dashboard.recording import Recording
from bottomup.dashboard.worker import Aim, Design
from bottomup.data.plans import check_start, population_bounds
from bottomup.sampler.chain import WALK_ALONE, Chain, Records, default_mixture
from bottomup.sampler.problem import Problem
from bottomup.sampler.statistics import evaluate_plan, ranked_shares
from bottomup.sampler.target import Target

__all__ = ["PageChains", "Share", "available_shares"]

# Plans held in memory per recording; the later half is shown.
_CAPACITY = 4000
# Of the walk alone, so many plans in as many steps as there are units; of the mixture, one in every cycle.
# Either way the first plans come within a second or two, on maps of any size.
_RECORDS_PER_SWEEP = 50
# Length of the baseline, in sweeps of the walk or cycles of the mixture: minutes on a whole state.
_BASELINE_SWEEPS, _BASELINE_CYCLES = 200, 1500


class Share(NamedTuple):
    """A part of the people by district that is compared over plans."""

    numerator: NDArray[np.float64]
    denominator: NDArray[np.float64]


def available_shares(inputs: Inputs) -> dict[str, Share]:
    """Shares that the geography's columns allow: ``"black_vap"``, ``"democratic"``, both or none."""
    role = inputs.geography.role
    shares = {}
    vap, black_vap, dem, rep = role("vap"), role("black_vap"), role("dem"), role("rep")
    if vap is not None and black_vap is not None:
        shares["black_vap"] = Share(black_vap, vap)
    if dem is not None and rep is not None:
        shares["democratic"] = Share(dem, dem + rep)
    return shares


class PageChains:
    """Both chains of one design, from the enacted plan on.

    Parameters
    ----------
    inputs : Inputs
    problem : Problem
        Of these inputs.
    design : Design
    aim : Aim

    Raises
    ------
    DataError
        When the enacted plan cannot be the start under the design's tolerance.
    """

    def __init__(self, inputs: Inputs, problem: Problem, design: Design, aim: Aim) -> None:
        plan = inputs.plans[design.enacted]
        geography = inputs.geography
        lower, upper = population_bounds(geography.total_population, plan.n_districts, design.tolerance)
        check_start(geography, plan, lower, upper)
        self._shares = available_shares(inputs)
        self._n_districts = plan.n_districts
        self._design = design
        self._bounds = lower, upper
        self._cut_edges = float(evaluate_plan(problem, plan.assignment, plan.n_districts).cut_edges)
        if design.moves == "mixture":
            mixture = default_mixture(geography.n_units)
            self._spacing = sum(mixture)
            self.n_baseline_steps = _BASELINE_CYCLES * self._spacing
        else:
            mixture = WALK_ALONE
            self._spacing = max(1, geography.n_units // _RECORDS_PER_SWEEP)
            self.n_baseline_steps = _BASELINE_SWEEPS * geography.n_units
        # Two streams of one seed: the chains of a page never share their randomness.
        seeds = np.random.SeedSequence(design.seed).generate_state(2)
        start = plan.assignment
        self.baseline = Chain(
            problem, self._target(Aim(0.0, aim.score)), start, int(seeds[0]), mixture=mixture
        )
        self.ensemble = Chain(problem, self._target(aim), start, int(seeds[1]), mixture=mixture)

    def _target(self, aim: Aim) -> Target:
        return Target(
            n_districts=self._n_districts,
            lower=self._bounds[0],
            upper=self._bounds[1],
            compactness=self._design.compactness,
            cut_edges=self._cut_edges,
            score=aim.score,
            epsilon=aim.epsilon,
        )

    def aim(self, aim: Aim) -> None:
        """Let the ensemble's chain favour something else, from where it stands."""
        self.ensemble.retarget(self._target(aim))

    def new_recording(self) -> Recording:
        """Make an empty recording."""
        return Recording(spacing=self._spacing, capacity=_CAPACITY, shares=self._shares)

    def ranked_shares(self, records: Records) -> dict[str, NDArray[np.float64]]:
        """Shares by ranked district of recorded plans, shape (R, k) each, by name."""
        return {
            name: ranked_shares(records.assignment, self._n_districts, share.numerator, share.denominator)
            for name, share in self._shares.items()
        }
