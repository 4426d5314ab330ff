"""Plain sentences: what a chart shows, in words that stand beside it."""

import html
import math

import numpy as np
from numpy.typing import NDArray

from bottomup.dashboard.early import FEW_PLANS
from bottomup.dashboard.pool import Sample
from bottomup.dashboard.prepared import PlanNumbers
from bottomup.dashboard.reliability import Reliability
from bottomup.dashboard.worker import Progress
from bottomup.data.errors import count
from bottomup.sampler.shares import Share

__all__ = [
    "NO_STORED_PLANS",
    "SCORE_TITLES",
    "comparison",
    "how_long",
    "ladder_line",
    "number_of_plans",
    "plan_figures",
    "progress_line",
    "ranks_title",
    "reference_line",
    "reliability_line",
    "share_title",
    "walks",
]

SCORE_TITLES = {
    "testimony": "Share of testimonies kept whole",
    "cluster": "Share of cluster weight in best districts",
}
"""What each score measures."""

NO_STORED_PLANS = "There are no stored plans of these settings. “Sample anew” lets walks make some."
"""Said where a saved session or a study is open, and settings are others than its own."""
_NUMBERS = ("no", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten")
_QUANTITIES = {
    "score_testimony": "testimonies kept whole",
    "score_cluster": "cluster shares",
    "cut_edges": "compactness (cut edges)",
}


def walks(number: int) -> str:
    """Words for a number of walks."""
    word = _NUMBERS[number] if number < len(_NUMBERS) else f"{number:,}"
    return f"{word} walk{'' if number == 1 else 's'}"


def number_of_plans(sample: Sample) -> str:
    """From how many plans the charts are drawn, and of which rungs."""
    words = (
        f"Drawn from {sample.n_plans:,} plans, the later half of {walks(sample.n_ladders)} up to round "
        f"{sample.last_round:,}"
    )
    if sample.one_in > 1:
        words += f", one in {sample.one_in:,} of those in the study"
    if len(sample.rungs) > 1:
        low, high = sample.rungs
        words += (
            f"; met at ε\u00a0=\u00a0{low:.2g} and {high:.2g} and weighted to {sample.epsilon:g}, "
            f"they are worth {sample.n_effective:,.0f}"
        )
    early = " Early days: expect change." if sample.n_effective < FEW_PLANS else ""
    return f"{words}.{early}"


def reliability_line(progress: Progress, epsilon: float) -> str:
    """Whether what is shown for an ε can be relied on, as an HTML paragraph; empty before there is any."""
    found = progress.reliability
    if progress.standing is None or found is None:
        return ""
    kind = "disagree" if found.stuck else found.verdict.replace(" ", "-")
    keep_on = "" if progress.standing.is_saved else _keep_on(found)
    who = walks(progress.standing.n_walks)
    return f'<p class="reliability {kind}">{_reliability(found, epsilon, who, keep_on)}</p>'


def _reliability(found: Reliability, epsilon: float, who: str, keep_on: str) -> str:
    if found.epsilon != epsilon:
        return "Looking at this ε …"
    if found.stuck:
        return f"<b>Do not rely on this.</b> {html.escape(found.stuck)}"
    if found.verdict == "agree":
        return f"<b>Can be relied on:</b> {who} from unlike starts agree on scores, compactness and shares."
    if found.verdict == "one start":
        return (
            "<b>Cannot be judged:</b> no second plan, unlike the first, was found to start from, so whether "
            "another walk agrees is not known."
        )
    if found.verdict == "too early":
        return f"<b>Too early to say</b> whether this can be relied on.{keep_on}"
    name = _QUANTITIES.get(found.quantity) or _districts_shares(found.quantity)
    where = " when testimony is ignored" if found.in_baseline else ""
    return (
        f"<b>Not yet to be relied on:</b> {who} from unlike starts still disagree on {name}{where}.{keep_on}"
    )


def _districts_shares(quantity: str) -> str:
    """Words for a quantity such as "Democratic 3", or "Democratic, President 2020 3"."""
    name, _, of = quantity.rsplit(" ", 1)[0].partition(", ")
    return f"the districts' {html.escape(name)} shares" + (f" ({html.escape(of)})" if of else "")


def _keep_on(found: Reliability) -> str:
    left = found.seconds_left
    return " Keep sampling." if left is None else f" Keep sampling: {how_long(left)}."


def how_long(seconds: float) -> str:
    """Words for a time that sampling may still take."""
    if seconds > 3600:
        return "it may take more than an hour"
    minutes = max(1, math.ceil(seconds / 60))
    return f"about {minutes} more {'minute' if minutes == 1 else 'minutes'}"


def ladder_line(progress: Progress) -> str:
    """How well the ladders work, for those who know them; empty before the first exchange."""
    standing, found = progress.standing, progress.reliability
    if standing is None:
        return ""
    rates = np.array(standing.workings.exchange_rates)
    rates = rates[np.isfinite(rates)]
    if not len(rates):
        return ""
    recorded = standing.recorded
    words = (
        f"{len(recorded.starts)} × {len(recorded.epsilons)} walks at ε = 0 to {recorded.epsilons[-1]:g}; "
        f"neighbours exchange plans in {rates.min():.0%} to {rates.max():.0%} of tries; "
        f"round trips: {sum(standing.workings.round_trips):,}."
    )
    if found is not None and not math.isnan(found.rhat):
        words += (
            f" At ε = {found.epsilon:g} and 0: largest R-hat {found.rhat:.2f}, least ESS {found.ess:,.0f}."
        )
    return words


def comparison(kind: str, ensemble: NDArray[np.float64], enacted: float) -> str:
    """How an ensemble compares with the enacted plan on one score, as HTML."""
    if not len(ensemble):
        return "Waiting for the first plans."
    what = (
        "of testimonies are kept whole" if kind == "testimony" else "of cluster weight is in best districts"
    )
    above = float(np.mean(ensemble > enacted))
    return (
        f"On average <b>{np.mean(ensemble):.1%}</b> {what}; <b>{above:.0%}</b> of plans score higher than "
        "the enacted one."
    )


def reference_line(baseline: NDArray[np.float64], enacted: float) -> str:
    """What an ensemble is compared with, in plain text."""
    without = f"with testimony ignored {np.mean(baseline):.1%} on average, " if len(baseline) else ""
    return f"{without}in the enacted plan {enacted:.1%}"


def share_title(share: Share) -> str:
    """What a share by district is."""
    if share.kind == "election":
        return f"Democratic share of two-party votes, {share.of}"
    return f"{share.of} share of voting-age people"


def ranks_title(share: Share) -> str:
    """How districts are put in order by a share."""
    if share.kind == "election":
        return "districts from the least Democratic to the most"
    return f"districts from the lowest {share.of} share to the highest"


def plan_figures(numbers: PlanNumbers) -> list[tuple[str, str]]:
    """Figures of one plan as pairs of name and value."""
    figures = [("of testimonies whole", f"{numbers.score_testimony:.1%}")]
    if np.isfinite(numbers.score_cluster):
        figures.append(("cluster share", f"{numbers.score_cluster:.1%}"))
    figures.append(("cut edges", f"{numbers.cut_edges:,}"))
    figures.append(("largest deviation", f"{numbers.max_deviation:.2%}"))
    return figures


def progress_line(progress: Progress) -> str:
    """Where the walks stand, in one line."""
    if progress.phase == "waiting":
        return "Not started yet."
    if progress.phase == "preparing":
        return "Preparing the walks. On a new machine they are compiled first, which can take a minute …"
    if progress.phase == "failed":
        return "Stopped by an error; see the message."
    standing = progress.standing
    if standing is None:
        return "Preparing the walks …"
    if standing.is_saved:
        return f"{standing.source}: {count(standing.rounds, 'round')}, nothing is being sampled"
    if standing.rounds < standing.burn_in:
        return f"Warming up: round {standing.rounds:,} of {standing.burn_in:,}"
    return f"Round {standing.rounds:,}"
