"""What an attack has shown, score by score, and as a table."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from bottomup.sampler.attack_findings import Estimate, Finding, Point, Reader, compare
from bottomup.sampler.problem import Score
from bottomup.sampler.sensitivity import Sensitivity

if TYPE_CHECKING:
    from bottomup.sampler.attack import Attack, Measured

__all__ = ["Outcome", "ScoreOutcome", "read_score", "table"]


@dataclass(frozen=True)
class ScoreOutcome:
    """Both data sets at one score."""

    score: Score
    findings: tuple[Finding, ...]
    """For each epsilon, the first of them 0; empty when there are too few draws."""
    before: Sensitivity
    after: Sensitivity

    @property
    def title(self) -> str:
        """What to call the score."""
        return f"{self.score.capitalize()} score"

    @property
    def has_limit(self) -> bool:
        """Whether the two laws are as alike as the promise says.

        They are not where the sensitivity is read off the data and the attack changes it: then every
        testimony counts for more, or less, than before.
        """
        return self.before.most == self.after.most

    def baseline(self, quantity: str) -> Estimate | None:
        """The figure at epsilon 0, from both data sets: there they have the same law."""
        if not self.findings or quantity not in self.findings[0].honest.estimates:
            return None
        first = self.findings[0]
        return _pool(first.honest.estimates[quantity], first.attacked.estimates[quantity])


def read_score(before: "Measured", after: "Measured", epsilons: Sequence[float]) -> ScoreOutcome:
    """Read the draws for testimonies as submitted, and as attacked, at every epsilon."""
    measure = before.measure
    sensitivities = measure.sensitivity, after.measure.sensitivity
    found = ScoreOutcome(measure.score, (), *sensitivities)
    readers = Reader(before), Reader(after)
    if not all(reader.has_draws for reader in readers):
        return found
    cost = measure.attack.change.cost if found.has_limit else None
    findings = tuple(compare(*readers, epsilon, cost) for epsilon in epsilons)
    return ScoreOutcome(measure.score, findings, *sensitivities)


def _pool(one: Estimate, other: Estimate) -> Estimate:
    """The mean of two independent estimates of the same figure, each by its effective size.

    Not by their errors: a sample that has seen little of what varies believes itself the more certain.
    """
    rhat = float(np.max([one.rhat, other.rhat]))
    size = one.effective_size + other.effective_size
    if math.isnan(size):
        return Estimate((one.mean + other.mean) / 2, math.nan, math.nan, rhat)
    share, rest = one.effective_size / size, other.effective_size / size
    error = math.hypot(share * one.error, rest * other.error)
    return Estimate(share * one.mean + rest * other.mean, error, size, rhat)


@dataclass(frozen=True)
class Outcome:
    """What an attack has shown."""

    attack: "Attack"
    scores: tuple[ScoreOutcome, ...]
    are_comparable: bool
    """Whether the starts are unlike, so that their agreement means something."""
    hopeless: frozenset[str]
    """Groups, "honest" or "adversary", of which no plan can keep any community whole."""

    is_flood: bool = False

    def ids(self, group: str) -> tuple[str, ...]:
        """Of the communities of a group, "honest" or "adversary"."""
        return self.attack.groups[group].ids

    def groups(self) -> list[str]:
        """The groups of which some plan can keep a community whole."""
        return [group for group in ("adversary", "honest") if self.ids(group) and group not in self.hopeless]

    def is_reliable(self, finding: Finding) -> bool:
        """Whether unlike starts agree, on enough draws, about both groups in both data sets."""
        return self.are_comparable and all(found.is_reliable for found in self._judged(finding))

    def least_certain(self, finding: Finding) -> tuple[float, float]:
        """Least effective size and largest R-hat of the two groups in both data sets; nan where any is."""
        judged = self._judged(finding)
        if not judged:
            return math.nan, math.nan
        return (
            float(np.min([found.effective_size for found in judged])),
            float(np.max([found.rhat for found in judged])),
        )

    def _judged(self, finding: Finding) -> list[Estimate]:
        points = finding.honest, finding.attacked
        return [point.estimates[f"kept_{name}"] for point in points for name in self.groups()]


def table(outcome: Outcome, found: ScoreOutcome, kind: str) -> list[str]:
    """Lines of a table: figures without the attack and with it, predicted, and the limit.

    Parameters
    ----------
    outcome : Outcome
    found : ScoreOutcome
    kind : {"kept", "best"}
        Communities kept whole, or the share of a group's weight in its best district.
    """
    what = "kept whole, of 100 plans" if kind == "kept" else "% of a group's weight in its best district"
    groups = [("adversary", "the attack's communities", "at most")]
    if outcome.ids("honest"):
        groups.append(("honest", "those it replaced", "at least"))
    lines = [
        f"{found.title}, {what}, ± standard error; the limits allow for two",
        f"{'':>6}" + "".join(f"{title:>40}" for _, title, _ in groups) + f"{'all others':>16}",
        f"{'ε':>6}"
        + "".join(f"{'without':>11}{'with':>10}{'predicted':>10}{side:>9}" for _, _, side in groups)
        + f"{'without':>9}{'with':>7}{'ESS':>8}{'R-hat':>7}",
    ]
    for finding in found.findings:
        cells = ""
        for group, _, _ in groups:
            name = f"{kind}_{group}"
            limit, predicted = finding.limits.get(name), finding.prediction(name)
            cells += f"{_cell(finding.honest, name):>11}{_cell(finding.attacked, name):>10}"
            cells += f"{_percent(None if predicted is None else predicted.mean):>10}"
            cells += f"{_percent(None if limit is None else limit.with_error):>9}"
        others = [point.estimates.get("kept_others") for point in (finding.honest, finding.attacked)]
        without, under = (_percent(None if each is None else each.mean) for each in others)
        ess, rhat = outcome.least_certain(finding)
        lines.append(
            f"{finding.epsilon:>6g}{cells}{without:>9}{under:>7}"
            f"{_number(ess, ',.0f'):>8}{_number(rhat, '.2f'):>7}"
        )
    return lines


def _percent(share: float | None) -> str:
    return "-" if share is None else f"{100 * share:.1f}"


def _cell(point: Point, quantity: str) -> str:
    found = point.estimates.get(quantity)
    return "-" if found is None else f"{_percent(found.mean)}±{_number(100 * found.error, '.1f')}"


def _number(value: float, form: str) -> str:
    if math.isnan(value):
        return "-"
    return "inf" if math.isinf(value) else format(value, form)
