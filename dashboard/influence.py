"""What bounded influence means, in words and in draws of a hundred."""

import math

from bottomup.dashboard.state import odds_factor, promise, promise_caption
from bottomup.data.testimonies import Testimonies
from bottomup.sampler.problem import Problem, Score
from bottomup.sampler.promise import Promise

__all__ = [
    "USELESS",
    "WEAK_FACTOR",
    "caption",
    "draws_of_hundred",
    "error_sentence",
    "group_sizes",
    "in_hundred",
    "odds_sentence",
    "promise_in_full",
]

WEAK_FACTOR = 3.0
"""Odds that can change by more than this are marked: even odds become more than three to one."""
USELESS = 1e6


def caption(score: Score, problem: Problem, testimonies: Testimonies) -> str:
    """On what the promise for a score rests."""
    clusters = testimonies.clusters
    are_public = None if score == "testimony" or clusters is None else clusters.is_public
    return promise_caption(problem.sensitivity(score), are_public)


def promise_in_full(epsilon: float, score: Score, problem: Problem, testimonies: Testimonies) -> str:
    """The promise at an ε and on what it rests."""
    sensitivity = problem.sensitivity(score)
    named = "".join(f", {name} = {value:,}" for name, value in sensitivity.public.items())
    return (
        f"{promise(epsilon)} {caption(score, problem, testimonies)} "
        f"(Δ = {sensitivity.delta:.4g}, {sensitivity.formula}{named}.)"
    )


def group_sizes(n_testimonies: int) -> list[int]:
    """Sizes of groups to choose from: 1, 2, 3, 5, 9 and so on up to all testimonies."""
    sizes = [1, 2, 3, 5, 9, 15, 25, 50, 100, 200, 400, 800, 1600, 3200, 6400, 12800]
    return sorted({min(size, n_testimonies) for size in sizes})


def times(log_odds: float) -> str:
    """A factor of the odds as it is read aloud; above a million it is no useful limit."""
    if log_odds > math.log(USELESS):
        return "more than a million times"
    return f"×{odds_factor(log_odds)}"


def odds_sentence(limits: Promise, n_testimonies: int) -> str:
    """How far the odds of any plan can change, as HTML."""
    if limits.epsilon == 0:
        return "<b>Testimony is ignored: nothing that anybody says changes the odds of any plan.</b>"
    size = limits.group_size
    who = "any one testimony says, and with or without it"
    if size > 1:
        who = f"any {size:,} of the {n_testimonies:,} testimonies say"
    limit = times(limits.log_odds)
    if limits.log_odds > math.log(USELESS):
        return f"<b>Whatever {who}: the odds of any plan may change {limit}, which is no useful limit.</b>"
    return f"<b>Whatever {who}, the odds of any plan change at most {limit}.</b>"


def in_hundred(chance: float) -> str:
    """A chance as draws of a hundred, never rounded to none or all unless it is."""
    if 0 < chance < 0.005:
        return "under 1"
    if 0.995 < chance < 1:
        return "over 99"
    return f"{100 * chance:.0f}"


def draws_of_hundred(limits: Promise, chance: float) -> str:
    """Three times a hundred draws as HTML: at least with the group, without it, at most with it."""
    least, most = limits.chances(chance)
    is_weak = limits.log_odds > math.log(WEAK_FACTOR)
    fields = [
        _field(least, chance if is_weak else least, "with them, at least"),
        _field(chance, chance, "without them"),
        _field(most, chance if is_weak else most, "with them, at most"),
    ]
    return f'<div class="hundreds">{"".join(fields)}</div>'


def error_sentence(limits: Promise, total_variation: float) -> str:
    """What an assumed error of the sampled law adds."""
    # At once for the whole group: the law moves by its epsilon, and either end may be off by the error.
    delta = Promise.assuming(limits.group_size * limits.epsilon, total_variation).delta
    if total_variation == 0:
        return "With no error at all the limit holds without exception."
    if delta >= 1:
        return "With an error as large as that nothing is promised."
    return (
        f"With an error of {total_variation:g}, up to {in_hundred(delta)} of 100 draws may come on top of "
        "the limit. This is an assumption: no run can measure the error."
    )


def _field(chance: float, marked_from: float, words: str) -> str:
    """A hundred squares, as many filled as come up; those between two numbers of draws are marked."""
    filled, other = round(100 * chance), round(100 * marked_from)
    low, high = sorted((filled, other))
    squares = "".join(
        f'<i class="{"weak" if low <= place < high else "on" if place < low else ""}"></i>'
        for place in range(100)
    )
    return (
        f'<figure role="img" aria-label="{in_hundred(chance)} in 100 {words}"><div>{squares}</div>'
        f"<figcaption><b>{in_hundred(chance)}</b> in 100<br>{words}</figcaption></figure>"
    )
