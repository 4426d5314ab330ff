"""What an attack has shown, in plain sentences."""

import math
from collections.abc import Sequence

from bottomup.dashboard.attack_report import Outcome, ScoreOutcome
from bottomup.dashboard.influence import in_hundred
from bottomup.sampler.attack_findings import Estimate, Finding
from bottomup.sampler.diagnostics import ESS_AT_LEAST, RHAT_BELOW

__all__ = ["list_in_words", "sentences"]

LISTED = 5
"""So many epsilons are named one by one; of more, neighbours are named by the first and last of them."""


def sentences(outcome: Outcome, found: ScoreOutcome) -> list[str]:
    """What one score has shown.

    Parameters
    ----------
    outcome : Outcome
    found : ScoreOutcome
        Of this outcome.
    """
    if not found.findings:
        return [f"{found.title}: too few plans were recorded to say anything."]
    words = []
    for group in ("adversary", "honest"):
        if outcome.ids(group):
            words.append(f"{found.title}: {_course(outcome, found, group)}")
    if found.score == "cluster":
        words += [_graded(outcome, found, group) for group in outcome.groups()]
    words.append(_limit(outcome, found))
    checked = _check(outcome, found)
    return [*words, *([checked] if checked else []), _caveat(outcome, found)]


def list_in_words(items: Sequence[str]) -> str:
    """Items in a row: "a, b and c"."""
    return items[0] if len(items) == 1 else f"{', '.join(items[:-1])} and {items[-1]}"


def _at(found: ScoreOutcome, findings: Sequence[Finding]) -> str:
    """Where some of the findings of a score are."""
    chosen = [finding.epsilon for finding in findings]
    if len(chosen) <= LISTED:
        return f"ε = {list_in_words([f'{epsilon:g}' for epsilon in chosen])}"
    rows: list[list[float]] = [[]]
    for epsilon in (finding.epsilon for finding in found.findings):
        if epsilon in chosen:
            rows[-1].append(epsilon)
        elif rows[-1]:
            rows.append([])
    names = []
    for row in rows:
        some = [f"{epsilon:g}" for epsilon in row]
        names += [f"{some[0]} to {some[-1]}"] if len(some) > 2 else some
    return f"ε = {list_in_words(names)}"


def _figures(chances: Sequence[float]) -> str:
    """Chances in draws of a hundred: each, or of many the lowest and the highest."""
    if len(chances) <= LISTED:
        return list_in_words([in_hundred(chance) for chance in chances])
    return " to ".join(dict.fromkeys([in_hundred(min(chances)), in_hundred(max(chances))]))


def _subject(outcome: Outcome, group: str) -> str:
    """A group as the subject of a sentence, with its verb."""
    if outcome.is_flood:
        return "the community that is submitted again and again is"
    one = len(outcome.ids(group)) == 1
    whose = "the attack's" if group == "adversary" else "the replaced"
    return f"{whose} community is" if one else f"{whose} communities are"


def _course(outcome: Outcome, found: ScoreOutcome, group: str) -> str:
    """How often a group is kept whole from epsilon to epsilon, while submitted and while not."""
    subject = _subject(outcome, group)
    if group in outcome.hopeless:
        return f"{subject} never kept whole: no plan can."
    quantity = f"kept_{group}"
    baseline = found.baseline(quantity)
    assert baseline is not None
    theirs = group == "adversary"
    later = found.findings[1:]
    under = [(finding, finding.attacked.estimates[quantity]) for finding in later]
    without = [(finding, finding.honest.estimates[quantity]) for finding in later]
    first, second = (under, without) if theirs else (without, under)
    heads = ("Under the attack", "without it") if theirs else ("While submitted", "taken out")
    return (
        f"{subject} kept whole in {in_hundred(baseline.mean)} of 100 plans where testimony counts for "
        f"nothing (ε = 0). {heads[0]}: {_compare(found, first, baseline)}. {heads[1].capitalize()}: "
        f"{_compare(found, second, baseline)}."
    )


def _compare(found: ScoreOutcome, points: Sequence[tuple[Finding, Estimate]], baseline: Estimate) -> str:
    """Epsilons by how their figures compare with the baseline."""
    kinds: dict[str, list[tuple[Finding, Estimate]]] = {}
    for finding, estimate in points:
        agrees = estimate.agrees(baseline)
        if agrees is None:
            kind = "it cannot be told how that compares"
        elif agrees:
            kind = "about as often"
        else:
            kind = "more often" if estimate.mean > baseline.mean else "less often"
        kinds.setdefault(kind, []).append((finding, estimate))
    return "; ".join(
        f"{kind} at {_at(found, [finding for finding, _ in some])} "
        f"({_figures([estimate.mean for _, estimate in some])})"
        for kind, some in kinds.items()
    )


def _graded(outcome: Outcome, found: ScoreOutcome, group: str) -> str:
    quantity = f"best_{group}"
    baseline, last = found.baseline(quantity), found.findings[-1]
    assert baseline is not None
    whose = "the attack's" if group == "adversary" else "the replaced"
    submitted, not_submitted = last.attacked, last.honest
    if group == "honest":
        submitted, not_submitted = not_submitted, submitted
    return (
        f"What the cluster score rewards, the share of {whose} weight in one district: "
        f"{baseline.mean:.0%} at ε = 0, and at ε = {last.epsilon:g} "
        f"{submitted.estimates[quantity].mean:.0%} when submitted, "
        f"{not_submitted.estimates[quantity].mean:.0%} when not."
    )


def _limit(outcome: Outcome, found: ScoreOutcome) -> str:
    """What the promise allows, and whether it was kept to."""
    if not found.has_limit:
        return (
            f"No formal limit holds: the sensitivity is read off the data ({found.before.formula}), and the "
            f"attack changes its largest testimony, so that every other counts for "
            f"{'less' if found.after.most > found.before.most else 'more'} than before. A public --cap, or "
            "--weighting mass, has a limit."
        )
    beyond = [
        finding for finding in found.findings if any(finding.exceeds(quantity) for quantity in finding.limits)
    ]
    verdict = (
        f"It is exceeded at {_at(found, beyond)} by more than errors explain: the runs have not forgotten "
        "their starts, or something is wrong."
        if beyond
        else "It is nowhere exceeded."
    )
    cost = outcome.attack.change.cost
    if cost == 0:
        return f"Formal limit: the attack changes nothing that counts, so nothing may change. {verdict}"
    allowed = []
    for name, side in (("adversary", "at most"), ("honest", "at least")):
        if name not in outcome.groups():
            continue
        values = [in_hundred(finding.limits[f"kept_{name}"].with_error) for finding in found.findings[1:]]
        told = (
            list_in_words(values)
            if len(values) <= LISTED
            else f"{values[0]} at the first and {values[-1]} at the last"
        )
        whose = _subject(outcome, name).rsplit(" ", 1)[0]
        allowed.append(f"{whose} {side} {told}")
    if not allowed:
        return f"Formal limit: odds times e^({cost:g} ε). {verdict}"
    return (
        f"Formal limit, odds times e^({cost:g} ε) and two standard errors: under the attack, of 100 plans at "
        f"{_at(found, found.findings[1:])}, {'; '.join(allowed)}. {verdict}"
    )


def _check(outcome: Outcome, found: ScoreOutcome) -> str:
    """Whether the honest run, weighted to the attacked law, tells the same as the attacked run.

    At epsilon 0, where there is nothing to weigh, as well: the baseline is taken from both.
    """
    kinds = ("kept", "best") if found.score == "cluster" else ("kept",)
    agreed: list[Finding] = []
    apart: list[Finding] = []
    for finding in found.findings:
        told = [
            (finding.prediction(name), finding.attacked.estimates[name])
            for name in (f"{kind}_{group}" for kind in kinds for group in outcome.groups())
        ]
        verdicts = [predicted.agrees(measured) for predicted, measured in told if predicted is not None]
        known = [verdict for verdict in verdicts if verdict is not None]
        if known:
            (agreed if all(known) else apart).append(finding)
    words = []
    if agreed:
        words.append(f"the same within errors at {_at(found, agreed)}")
    if apart:
        words.append(f"something else at {_at(found, apart)}, so the runs have not forgotten their starts")
    if not words:
        return ""
    return (
        "Cross-check: the plans for the testimonies as submitted, weighted to the attack, say "
        f"{list_in_words(words)}."
    )


def _caveat(outcome: Outcome, found: ScoreOutcome) -> str:
    """How far the figures can be relied on."""
    if not outcome.groups():
        return "There is nothing to rely on or not: no plan can keep any of these communities whole."
    certain = [outcome.least_certain(finding) for finding in found.findings]
    weak = [finding for finding in found.findings if not outcome.is_reliable(finding)]
    if not weak:
        return (
            f"Starts agree (R-hat up to {max(rhat for _, rhat in certain):.2f}), on at least "
            f"{min(ess for ess, _ in certain):,.0f} effective plans."
        )
    if not outcome.are_comparable:
        return (
            "Not to be relied on: the starts are not two unlike plans, so whether others would lead to the "
            "same is not known."
        )
    figures = [outcome.least_certain(finding) for finding in weak]
    reasons = []
    if any(ess < ESS_AT_LEAST for ess, _ in figures):
        least = min(ess for ess, _ in figures if ess < ESS_AT_LEAST)
        reasons.append(f"fewer than {ESS_AT_LEAST:.0f} effective plans (down to {least:,.0f})")
    if any(rhat >= RHAT_BELOW for _, rhat in figures):
        largest = max(rhat for _, rhat in figures if rhat >= RHAT_BELOW)
        reasons.append(f"unlike starts that disagree (R-hat up to {largest:.2f})")
    if any(math.isnan(ess) for ess, _ in figures):
        reasons.append("communities whose fate never varied, so that nothing can be said of errors")
    return f"Not to be relied on yet at {_at(found, weak)}: {list_in_words(reasons)}. Run longer."
