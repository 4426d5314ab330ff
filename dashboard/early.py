"""Whether a chart is drawn from too little to be relied on: marked, not hidden."""

from bottomup.dashboard.reliability import Reliability

__all__ = ["FEW_PLANS", "early_words"]

FEW_PLANS = 200
"""Fewer plans of equal weight than this are early days."""


def early_words(n_effective: float, epsilon: float, found: Reliability | None = None) -> str:
    """Why plans at an ε are to be read with care, in three words or so; empty when they are not.

    Parameters
    ----------
    n_effective : float
        How many plans of equal weight would tell as much.
    epsilon : float
    found : Reliability or None
        Of this ε or another.
    """
    if n_effective < FEW_PLANS:
        return "few plans: early"
    if found is None or found.epsilon != epsilon:
        return ""
    if found.stuck:
        return "a walk stands still"
    return {"disagree": "walks still disagree", "too early": "few plans: early"}.get(found.verdict, "")
