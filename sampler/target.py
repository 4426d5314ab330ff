"""The law that a chain samples."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import get_args

from bottomup.sampler.problem import Problem, Score
from bottomup.sampler.types import Law

__all__ = ["Target"]


@dataclass(frozen=True)
class Target:
    r"""The exponential mechanism over balanced, connected plans.

    .. math:: \pi(\xi) \propto 1[\text{balanced, connected}] \;
              e^{-\beta (\mathrm{cut}(\xi) - c_0)^2} \; e^{\varepsilon s(t, \xi) / (2\Delta)}

    Everything before the last factor is fixed before any testimony is read: the base measure, which is also
    the law at epsilon 0. Scores are higher when more is kept together, so the exponent is positive.

    Attributes
    ----------
    n_districts : int
        At least 2.
    lower, upper : int
        Least and largest population of a district, in people.
    compactness : float
        Beta, the weight of the squared distance of the number of cut edges from ``cut_edges``.
    cut_edges : float
        The number of cut edges at the centre, usually the enacted plan's.
    score : {"testimony", "cluster"}
    epsilon : float
        Per released plan; 0 leaves testimony out.

    Raises
    ------
    ValueError
        Naming the attribute, what it must be and what was given.
    """

    n_districts: int
    lower: int
    upper: int
    compactness: float = 0.0
    cut_edges: float = 0.0
    score: Score = "testimony"
    epsilon: float = 0.0

    def __post_init__(self) -> None:
        if self.n_districts < 2:
            raise ValueError(f"n_districts must be at least 2; got {self.n_districts}")
        if not 0 <= self.lower <= self.upper:
            raise ValueError(
                f"lower and upper must satisfy 0 <= lower <= upper; got {self.lower}, {self.upper}"
            )
        if not (self.compactness >= 0 and math.isfinite(self.compactness)):
            raise ValueError(f"compactness must be finite and not negative; got {self.compactness}")
        if not math.isfinite(self.cut_edges):
            raise ValueError(f"cut_edges must be finite; got {self.cut_edges}")
        if self.score not in get_args(Score):
            raise ValueError(f"score must be one of {', '.join(get_args(Score))}; got {self.score!r}")
        if not (self.epsilon >= 0 and math.isfinite(self.epsilon)):
            raise ValueError(f"epsilon must be finite and not negative; got {self.epsilon}")

    def law(self, problem: Problem) -> Law:
        """The law in the kernels' units.

        One more preserved testimony, or unit of cluster weight, is worth epsilon / (2 most) in log-odds, see
        :mod:`bottomup.sampler.sensitivity`; for a testimony that is epsilon / 2.

        Raises
        ------
        ValueError
            When epsilon is positive and the problem lacks what the score needs.
        """
        per_testimony = per_cluster_weight = 0.0
        if self.epsilon > 0:
            worth = self.epsilon / (2 * problem.sensitivity(self.score).most)
            if self.score == "testimony":
                per_testimony = worth
            else:
                per_cluster_weight = worth
        return Law(
            lower=self.lower,
            upper=self.upper,
            compactness=float(self.compactness),
            cut_edges=float(self.cut_edges),
            per_testimony=per_testimony,
            per_cluster_weight=per_cluster_weight,
            tree_count=1.0,
            proposal=1.0,
        )
