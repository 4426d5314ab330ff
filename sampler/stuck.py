"""Why a chain stands still, from how its latest steps ended."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

from bottomup.sampler.chain import Outcomes
from bottomup.sampler.target import Target

__all__ = ["MIN_STEPS", "STUCK_BELOW", "Reason", "Stuck", "why_stuck"]

STUCK_BELOW = 1e-4
"""A move works when at least this share of its steps changes the plan."""
MIN_STEPS = 10_000
"""Steps below which a window cannot tell a share of ``STUCK_BELOW`` from none."""
FAR_FROM_CENTER = 3.0
"""Standard deviations of the compactness term beyond which a plan is far from its centre."""

Reason = Literal["population bounds", "marked edges", "ratio"]


@dataclass(frozen=True)
class Stuck:
    """A chain that stands still, and the test that stops its proposals.

    Proposals that would change the plan meet three tests in this order: no edge marked twice, populations
    within the bounds (and districts in one piece), the Metropolis ratio.
    """

    reason: Reason
    """The test with the smallest pass rate. What it leaves for the next one to refuse is never counted
    against the next one, and a healthy chain too has most of its proposals refused by the bounds."""
    moves: tuple[str, ...]
    """Moves that took steps."""
    n_steps: int
    n_accepted: int
    """Steps that changed the plan."""
    n_reached: int
    """Proposals that got as far as the test that is the reason."""
    n_passed: int
    """Those of them that passed it."""
    share_rejected_population: float
    """Of all steps; so are the next two."""
    share_rejected_marked: float
    share_rejected_ratio: float

    def sentence(self, chain: str, target: Target, cut_edges: int) -> str:
        """What has happened and what to do about it, in plain English.

        Parameters
        ----------
        chain : str
            What to call the chain, such as "Chain 3".
        target : Target
            The chain's own.
        cut_edges : int
            Of its present plan.
        """
        advice = {
            "population bounds": ("met the population bounds", "raise the population tolerance"),
            "marked edges": ("did not mark an edge twice", "start from a plan with larger districts"),
            "ratio": ("passed the test of the target law", _advise_on_target(target, cut_edges)),
        }
        passed, remedy = advice[self.reason]
        if len(self.moves) == 1:
            remedy += ", or use the mixture of moves, which reaches further"
        return (
            f"{chain} is stuck: {self.n_accepted:,} of its last {self.n_steps:,} steps changed the plan. "
            f"{self.n_passed:,} of {self.n_reached:,} proposals {passed}: {remedy}."
        )


def _advise_on_target(target: Target, cut_edges: int) -> str:
    beyond = abs(cut_edges - target.cut_edges) * math.sqrt(2 * target.compactness)
    if beyond > FAR_FROM_CENTER:
        return (
            f"its plan has {cut_edges:,} cut edges, far from the {target.cut_edges:,.0f} that compactness is "
            "centred on; move the centre towards the plan or lower the weight of compactness"
        )
    remedies = []
    if target.epsilon > 0:
        remedies.append(f"lower epsilon, now {target.epsilon:g}")
    if target.compactness > 0:
        remedies.append(f"lower the weight of compactness, now {target.compactness:g}")
    return " or ".join(remedies) or "start from another plan"


def why_stuck(outcomes_by_move: Mapping[str, Outcomes]) -> Stuck | None:
    """Tell whether a chain stands still, and which test of its proposals is to blame.

    A chain is stuck when no move changes the plan in at least ``STUCK_BELOW`` of its own steps: a few
    merge-splits that are accepted keep a chain going among many flips that are not.

    Parameters
    ----------
    outcomes_by_move : mapping of str to Outcomes
        How the steps of a window ended: ``Chain.outcomes_by_move`` at its end less that at its beginning.

    Returns
    -------
    Stuck or None
        None when the chain moves, and when the window has fewer than ``MIN_STEPS`` steps.
    """
    by_move = {move: outcomes for move, outcomes in outcomes_by_move.items() if sum(outcomes)}
    n_steps = sum(sum(outcomes) for outcomes in by_move.values())
    works = any(outcomes.accepted >= STUCK_BELOW * sum(outcomes) for outcomes in by_move.values())
    if n_steps < MIN_STEPS or works:
        return None
    accepted = sum(outcomes.accepted for outcomes in by_move.values())
    ratio = sum(outcomes.rejected_ratio for outcomes in by_move.values())
    population = sum(outcomes.rejected_population for outcomes in by_move.values())
    marked = sum(outcomes.rejected_marked for outcomes in by_move.values())
    within = accepted + ratio
    passes: dict[Reason, tuple[int, int]] = {
        "population bounds": (within, within + population),
        "marked edges": (within + population, within + population + marked),
        "ratio": (accepted, within),
    }
    # One more that passes and one more that does not: a test that met few proposals is not blamed on them.
    reason = min(passes, key=lambda test: (passes[test][0] + 1) / (passes[test][1] + 2))
    n_passed, n_reached = passes[reason]
    return Stuck(
        reason=reason,
        moves=tuple(by_move),
        n_steps=n_steps,
        n_accepted=accepted,
        n_reached=n_reached,
        n_passed=n_passed,
        share_rejected_population=population / n_steps,
        share_rejected_marked=marked / n_steps,
        share_rejected_ratio=ratio / n_steps,
    )
