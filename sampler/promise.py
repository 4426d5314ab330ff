r"""What is promised about influence, in numbers: releases, groups, and what is not certain.

A plan drawn at epsilon is a release. One testimony replaced by another moves the odds of the release by a
factor of exp(epsilon) or less, see :mod:`bottomup.sampler.sensitivity`. This is a promise about influence:
testimony is public, and nothing here keeps it secret.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass, replace

__all__ = ["Promise", "bounded_chance", "compose", "odds_factor"]


def odds_factor(log_odds: float) -> float:
    """exp(log_odds), infinite where it is larger than any float."""
    return math.exp(log_odds) if log_odds < 709 else math.inf


def bounded_chance(chance: float, log_odds: float) -> float:
    """The chance whose log-odds lie ``log_odds`` above those of another.

    With odds o = p/(1 - p) and f = exp(log_odds) it is f o/(1 + f o). With a negative ``log_odds`` it is the
    least chance.

    Parameters
    ----------
    chance : float
        From 0 to 1.
    log_odds : float
    """
    if chance <= 0 or chance >= 1:
        return float(chance)
    at = math.log(chance) - math.log1p(-chance) + log_odds
    return 1 / (1 + math.exp(-at)) if at > -709 else 0.0


@dataclass(frozen=True)
class Promise:
    r"""Bounded influence of one testimony, or a group, on one plan, or several.

    Each figure is the promise for replacing testimonies; adding or removing costs half, see
    :attr:`if_left_out`.

    Attributes
    ----------
    epsilon : float
        Of each released plan.
    delta : float
        Of each released plan; 0 for a sample of exactly the law.
    releases : int
        Plans that are released, drawn one by one, and not chosen for what they show.
    group_size : int
        Testimonies that are replaced together.

    Raises
    ------
    ValueError
        Naming the attribute.
    """

    epsilon: float
    delta: float = 0.0
    releases: int = 1
    group_size: int = 1

    def __post_init__(self) -> None:
        if not (self.epsilon >= 0 and math.isfinite(self.epsilon)):
            raise ValueError(f"epsilon must be finite and not negative; got {self.epsilon}")
        if not 0 <= self.delta <= 1:
            raise ValueError(f"delta must lie between 0 and 1; got {self.delta}")
        if self.releases < 0:
            raise ValueError(f"releases must not be negative; got {self.releases}")
        if self.group_size < 0:
            raise ValueError(f"group_size must not be negative; got {self.group_size}")

    @classmethod
    def assuming(cls, epsilon: float, total_variation: float, releases: int = 1) -> Promise:
        r"""The promise when the law of each released plan may be off by a total-variation error eta.

        Let q, q' be the laws of the released plan for neighbouring testimonies, each within eta of pi, pi'.
        For any set S of plans

        .. math:: q(S) \le \pi(S) + \eta \le e^\varepsilon \pi'(S) + \eta
                  \le e^\varepsilon (q'(S) + \eta) + \eta ,

        so delta = (1 + exp(epsilon)) eta. Eta is an assumption. No run measures it.
        """
        if not 0 <= total_variation <= 1:
            raise ValueError(f"total_variation must lie between 0 and 1; got {total_variation}")
        delta = min(1.0, (1 + odds_factor(epsilon)) * total_variation) if total_variation else 0.0
        return cls(epsilon, delta, releases)

    def for_group(self, group_size: int) -> Promise:
        """The same releases, with a group of another size."""
        return replace(self, group_size=group_size)

    @property
    def of_group(self) -> tuple[float, float]:
        r"""Epsilon and delta of one release for the whole group.

        g steps from neighbour to neighbour, each (epsilon, delta):

        .. math:: q_0(S) \le e^{g\varepsilon} q_g(S) + \delta \sum_{i<g} e^{i \varepsilon} .
        """
        g, epsilon = self.group_size, self.group_size * self.epsilon
        if not self.delta or not self.epsilon:
            return epsilon, min(1.0, g * self.delta)
        # The sum, written so that no term overflows while the sum does not.
        steps = odds_factor(epsilon - self.epsilon) * math.expm1(-epsilon) / math.expm1(-self.epsilon)
        return epsilon, min(1.0, self.delta * steps)

    def basic(self) -> tuple[float, float]:
        """Epsilon and delta of all releases: their sums.

        Holds also when a later release looks at earlier ones.
        """
        epsilon, delta = self.of_group
        return self.releases * epsilon, min(1.0, self.releases * delta)

    def advanced(self, slack: float) -> tuple[float, float]:
        r"""Epsilon and delta of all releases by advanced composition, for a further delta of ``slack``.

        .. math:: \varepsilon' = \sqrt{2 m \ln(1/\delta')}\,\varepsilon + m \varepsilon (e^\varepsilon - 1) ,
                  \qquad m\delta + \delta'

        (C. Dwork, G. Rothblum and S. Vadhan, Boosting and differential privacy, FOCS 2010, theorem III.3),
        or, since a draw of the exponential mechanism that is epsilon-bounded in range is epsilon^2/8-
        concentrated (M. Cesar and R. Rogers, Bounding, concentrating, and truncating, ALT 2021),

        .. math:: \varepsilon' = \rho + 2 \sqrt{\rho \ln(1/\delta')}, \qquad \rho = m \varepsilon^2 / 8

        (M. Bun and T. Steinke, Concentrated differential privacy, TCC 2016, proposition 1.3), the least of
        these and of the sum. The second is for draws of exactly the law, so it is left out when delta is
        positive.

        Parameters
        ----------
        slack : float
            Delta' above, more than 0 and less than 1.
        """
        if not 0 < slack < 1:
            raise ValueError(f"slack must lie between 0 and 1; got {slack}")
        epsilon, delta = self.of_group
        m = self.releases
        sums = self.basic()
        if not m or not epsilon:
            return sums
        found = math.sqrt(2 * m * math.log(1 / slack)) * epsilon
        found += m * epsilon * (odds_factor(epsilon) - 1)
        if not delta:
            rho = m * epsilon * epsilon / 8
            found = min(found, rho + 2 * math.sqrt(rho * math.log(1 / slack)))
        if found >= sums[0]:
            return sums
        return found, min(1.0, m * delta + slack)

    @property
    def log_odds(self) -> float:
        r"""How far the log-odds of what is released can move, at delta 0: the sum over releases.

        For releases that do not look at one another exponents add up, see the module on sensitivity. For
        others it takes a proof, since composition in general bounds probabilities and not odds. Let the laws
        of the first release x be p(x) and, up to a factor, t(x) p(x), where no two t are further apart than
        E; let y(x) be the chance of the event given x, whose odds move by E' or less, at worst to
        E'y/(1 - y). With Z = 1 + (E' - 1)y the odds of the event are then

        .. math:: E' \sum_x \frac{p t y}{Z} \Big/ \sum_x \frac{p t (1 - y)}{Z} , \text{ and have been }
                  \sum_x p y \Big/ \sum_x p (1 - y) .

        The first is EE' times the second or less: multiplied out, that holds for each pair of first releases
        a, b with y_a >= y_b. With u = y_a(1 - y_b), v = y_b(1 - y_a) and r = t_a Z_b/(t_b Z_a), which is E or
        less since Z_b <= Z_a, it says that ru + v <= E(u + rv), or r(u - Ev) <= Eu - v. If u > Ev, the left
        is E(u - Ev) or less, hence Eu - v or less; else it is negative or 0, and the right is not, as u >= v.
        """
        return self.basic()[0]

    @property
    def if_left_out(self) -> float:
        """The same when the group is left out, or joins, with nothing in its place: half of it."""
        return self.log_odds / 2

    def chances(self, chance: float) -> tuple[float, float]:
        """Least and largest chance with the group, at delta 0, of what has this chance without it."""
        return bounded_chance(chance, -self.log_odds), bounded_chance(chance, self.log_odds)


def compose(promises: Iterable[Promise], slack: float | None = None) -> tuple[float, float]:
    r"""Epsilon and delta of everything that is released under several promises, each with its own epsilon.

    The sums of the epsilons and of the deltas (basic composition) hold also when a later release, or its
    epsilon, is chosen after a look at earlier ones (R. Rogers, A. Roth, J. Ullman and S. Vadhan, Privacy
    odometers and filters, NIPS 2016).

    With a ``slack``, a smaller epsilon for a further delta of that size, where there is one: a draw of the
    exponential mechanism at epsilon is epsilon^2/8-concentrated, see :meth:`Promise.advanced`, the
    concentrations of all draws add up (M. Bun and T. Steinke, Concentrated differential privacy, TCC 2016),
    and proposition 1.3 there turns their sum rho into

    .. math:: \varepsilon' = \rho + 2 \sqrt{\rho \ln(1/\delta')} , \qquad
              \rho = \sum_i m_i \varepsilon_i^2 / 8 .

    It takes the epsilons as settled beforehand and every draw as one of exactly the law, so it is left out
    when any promise has a delta of its own.

    Parameters
    ----------
    promises : iterable of Promise
        About the same testimonies.
    slack : float, optional
        Delta' above, more than 0 and less than 1; None for the sums alone.
    """
    if slack is not None and not 0 < slack < 1:
        raise ValueError(f"slack must lie between 0 and 1; got {slack}")
    released = list(promises)
    sums = [promise.basic() for promise in released]
    epsilon = math.fsum(each for each, _ in sums)
    delta = min(1.0, math.fsum(each for _, each in sums))
    if slack is None or delta:
        return epsilon, delta
    rho = math.fsum(promise.basic()[0] * promise.of_group[0] / 8 for promise in released)
    found = rho + 2 * math.sqrt(rho * math.log(1 / slack))
    return (found, slack) if found < epsilon else (epsilon, 0.0)
