"""What a visitor's ladders are built for."""

from typing import NamedTuple

from bottomup.sampler.problem import Score
from bottomup.sampler.sensitivity import WeightingKind

__all__ = ["Design"]


class Design(NamedTuple):
    """What decides every plan of a page; a change starts all walks anew. Epsilon is not among it."""

    enacted: str
    tolerance: float
    compactness: float
    seed: int
    moves: str = "mixture"
    """``"mixture"`` of moves, or ``"walk"`` for the Marked Edge Walk alone."""
    score: Score = "testimony"
    weighting: WeightingKind = "coverage"
    """How testimonies weigh in their clusters."""
