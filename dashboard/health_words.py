"""How well the walks work, in words and in tables: the verdict, what it rests on, and what would help."""

import html
import math
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from bottomup.dashboard.design import Design
from bottomup.dashboard.health import Figure, Finding, Trace, Workings, ranked_figures
from bottomup.dashboard.reliability import Reliability
from bottomup.dashboard.wording import how_long, walks
from bottomup.dashboard.worker import Progress
from bottomup.sampler.chain import Outcomes
from bottomup.sampler.diagnostics import ESS_AT_LEAST, RHAT_BELOW
from bottomup.sampler.report import quantity_title

__all__ = [
    "FINDINGS",
    "Headline",
    "basis",
    "exchange_table",
    "figures_table",
    "headline",
    "moves_sentence",
    "moves_table",
    "remedies",
    "run_table",
    "title_of",
    "trace_sentence",
    "value_of",
]

FINDINGS: dict[Finding, str] = {
    "disagree": "walks differ",
    "too few": "too few plans",
    "unknown": "cannot tell",
    "agree": "agrees",
    "constant": "never varies",
}
"""What the figures of a quantity amount to."""

_MOVES = {
    "flips": "Single units",
    "community_flips": "Whole communities",
    "merge_splits": "Merge and split",
    "walks": "Marked Edge Walk",
}
_REFUSALS = {
    "rejected_population": "the population bounds or a district in pieces",
    "rejected_marked": "an edge that was marked already",
    "rejected_ratio": "the odds of the target (Metropolis)",
}
# Heads of columns of words, which begin at the left.
_OF_WORDS = ("Walk", "Finding", "Figure")
_ORDER = ("first", "second", "third", "fourth", "fifth", "sixth", "seventh", "eighth", "ninth", "tenth")
# Plans hardly pass between two rungs that exchange more seldom.
_RARE = 0.2
# So much time to go is a reason to sample something easier.
_LONG_SECONDS = 3600.0


class Headline(NamedTuple):
    """The verdict in large words, and how it is marked: a class of the stylesheet."""

    kind: str
    words: str


def headline(progress: Progress, epsilon: float) -> Headline:
    """The verdict at an ε: the same judgement as the line of the strip."""
    found = progress.reliability
    if progress.phase == "failed":
        return Headline("disagree", "Stopped by an error")
    if progress.standing is None:
        waits = progress.phase == "waiting"
        return Headline("wait", "Nothing to judge yet: press Start" if waits else "Preparing the walks …")
    if found is None or found.epsilon != epsilon:
        return Headline("wait", "Looking at this ε …")
    if found.stuck:
        several = len(found.stuck_by) > 1
        return Headline("disagree", f"Stuck: {'walks stand' if several else 'a walk stands'} still")
    if found.verdict == "agree":
        return Headline("agree", f"{walks(progress.standing.n_walks).capitalize()} from unlike starts agree")
    if found.verdict == "one start":
        return Headline("disagree", "Cannot be judged: there is no second, unlike start")
    if progress.standing.is_saved:
        keep_on = ""
    else:
        keep_on = ": keep sampling"
        keep_on += "" if found.seconds_left is None else f", {how_long(found.seconds_left)}"
    if found.verdict == "too early":
        return Headline("too-early", f"Too early to say{keep_on}")
    apart = f"Not yet{keep_on}" if keep_on else "Not to be relied on: walks still disagree"
    return Headline("disagree", apart)


def basis(found: Reliability, starts: Sequence[str], n_districts: int) -> str:
    """What a verdict rests on, as HTML paragraphs."""
    names = [html.escape(name) for name in starts]
    began = f"<p>There is one walk at every ε, and nothing to compare it with. Its start: {names[0]}.</p>"
    if len(names) > 1:
        who = walks(len(names)).capitalize()
        # The names of several have commas of their own.
        said = " and ".join(names) if len(names) == 2 else "; ".join(names)
        began = f"<p>{who} at every ε are compared. Starts: {said}.</p>"
    if not found.rungs:
        return began
    figures = ranked_figures(found.rungs)
    within = sum(figure.finding == "agree" for figure in figures)
    still = sum(figure.finding == "constant" for figure in figures)
    draws = min(figure.convergence.n_draws for figure in figures)
    rungs = [f"{rung.epsilon:.3g}" for rung in found.rungs if rung.epsilon]
    at = f"at ε = {' and '.join(rungs)}, and " if rungs else ""
    words = (
        f"<p>Compared over the latest {draws:,} plans of each walk: {len(figures)} quantities, {at}where "
        f"testimony is ignored. <b>{within} are within both limits</b>: R-hat below {RHAT_BELOW:g}, at least "
        f"{ESS_AT_LEAST:,.0f} effective plans."
    )
    if still:
        words += f" {still} never {'varies' if still == 1 else 'vary'}, which speaks neither for nor against."
    worst = figures[0]
    if worst.finding not in ("agree", "constant"):
        words += (
            f" Worst: {html.escape(quantity_title(worst.convergence.quantity, n_districts))} {_where(worst)}"
            f", R-hat {_rhat(worst)}."
        )
    return f"{began}{words}</p>"


def _where(figure: Figure) -> str:
    return f"at ε = {figure.epsilon:.3g}" if figure.epsilon else "where testimony is ignored"


def remedies(found: Reliability, design: Design, n_plans: int, is_saved: bool = False) -> str:
    """What to do about walks that stand still, or that would take very long to agree; empty otherwise.

    Parameters
    ----------
    found : Reliability
    design : Design
    n_plans : int
        Enacted plans to choose from.
    is_saved : bool
        Whether the walks have come to their end, so that waiting is of no use.
    """
    is_slow = found.verdict == "disagree" and (
        found.seconds_left is None or found.seconds_left > _LONG_SECONDS
    )
    if not found.stuck and not is_slow:
        return ""
    # Of a slow walk no test is known to be to blame.
    reasons = set(found.stuck_by) or {"population bounds", "ratio"}
    items = []
    if "population bounds" in reasons:
        items.append(f"Widen the population tolerance, now {100 * design.tolerance:g} %.")
    if design.moves == "walk":
        items.append("Use the mixture of moves in place of the walk alone: it reaches further.")
    if "ratio" in reasons and design.compactness > 0:
        items.append(f"Lower the weight of compactness, now {design.compactness:g}.")
    if "ratio" in reasons and found.epsilon > 0:
        items.append(f"Look at a smaller ε than {found.epsilon:g}: testimony then holds plans less fast.")
    if is_saved:
        items.append("Let longer walks be made.")
    other = ", or another enacted plan" if n_plans > 1 else ""
    items.append(f"Start elsewhere: take another seed, which makes another second start{other}.")
    rows = "".join(f"<li>{item}</li>" for item in items)
    return (
        f"<h2>{'What would help' if found.stuck or is_saved else 'If that is too long'}</h2><ul>{rows}</ul>"
        '<p class="quiet">A changed setting starts all walks anew; ε does not.</p>'
    )


def title_of(quantity: str, n_districts: int) -> str:
    """What to call a quantity, as HTML."""
    title = quantity_title(quantity, n_districts)
    return html.escape(f"{title[:1].upper()}{title[1:]}")


def value_of(quantity: str, value: float) -> str:
    """A value of a quantity: a number of edges, or a share."""
    return f"{value:,.0f}" if quantity == "cut_edges" else f"{value:.1%}"


def _rhat(figure: Figure) -> str:
    rhat = figure.convergence.rhat
    return "infinite" if math.isinf(rhat) else _number(rhat, ".3f")


def _number(value: float | None, form: str) -> str:
    return "–" if value is None or math.isnan(value) else f"{value:{form}}"


def figures_table(figures: Sequence[Figure], n_all: int, n_districts: int) -> str:
    """The figures of quantities as an HTML table; `n_all` is how many there are with those not shown."""
    caption = (
        f"{'All' if len(figures) == n_all else f'The worst {len(figures)} of'} {n_all} quantities, the worst "
        f"first. Wanted: R-hat below {RHAT_BELOW:g}, and at least {ESS_AT_LEAST:,.0f} effective plans (ESS) "
        "both in the bulk and in the tails."
    )
    heads = ("Quantity", "ε", "R-hat", "Bulk ESS", "Tail ESS", "ESS a second", "Finding")
    rows = []
    for figure in figures:
        own = figure.convergence
        bulk, tail = own.ess_bulk_per_second, own.ess_tail_per_second
        rate = None if bulk is None or tail is None else float(np.minimum(bulk, tail))
        cells = (
            f"{figure.epsilon:.3g}",
            _rhat(figure),
            _number(own.ess_bulk, ",.0f"),
            _number(own.ess_tail, ",.0f"),
            _number(rate, ".2g"),
        )
        kind = {"agree": "good", "constant": "plain"}.get(figure.finding, "poor")
        rows.append(
            f'<tr><th scope="row">{title_of(own.quantity, n_districts)}</th>'
            f"{''.join(f'<td>{cell}</td>' for cell in cells)}"
            f'<td class="words {kind}">{FINDINGS[figure.finding]}</td></tr>'
        )
    return _table(caption, heads, rows)


def _table(caption: str, heads: Sequence[str], rows: Sequence[str]) -> str:
    columns = "".join(
        f'<th scope="col"{" class=words" if head in _OF_WORDS else ""}>{head}</th>' for head in heads
    )
    return (
        f'<div class="scroll"><table><caption>{caption}</caption><thead><tr>{columns}</tr></thead>'
        f"<tbody>{''.join(rows)}</tbody></table></div>"
    )


def trace_sentence(quantity: str, traces: Sequence[Trace], start_values: Sequence[float]) -> str:
    """What the lines of a trace show."""
    parts = [
        f"The {_ordinal(number)} walk began at {value_of(quantity, start)}; in its later half it averages "
        f"<b>{value_of(quantity, trace.mean)}</b>, the middle 90 % from {value_of(quantity, trace.low)} to "
        f"{value_of(quantity, trace.high)}."
        for number, (trace, start) in enumerate(zip(traces, start_values, strict=True))
    ]
    return f"<p>{' '.join(parts)}</p>"


def moves_sentence(workings: Workings, rung: int) -> str:
    """How often the walks at a rung change their plan, and what refuses most of the rest."""
    parts = []
    for row, counts in enumerate(workings.counter[:, rung]):
        total = Outcomes(*(int(n) for n in counts.sum(axis=0)))
        n_steps = sum(total)
        if not n_steps:
            continue
        name = max(_REFUSALS, key=lambda refusal: getattr(total, refusal))
        who = f"The {_ordinal(row)} walk changed its plan"
        if workings.counted:
            who = f"The walks of {html.escape(workings.counted[row])} together changed their plans"
        words = f"{who} in <b>{_share(total.accepted, n_steps)}</b> of {n_steps:,} steps"
        if refused := getattr(total, name):
            words += f"; {_share(refused, n_steps)} were refused by {_REFUSALS[name]}"
        parts.append(f"{words}.")
    return f"<p>{' '.join(parts)}</p>" if parts else "<p>No step has been counted yet.</p>"


def _ordinal(number: int) -> str:
    return _ORDER[number] if number < len(_ORDER) else f"{number + 1}th"


def _share(part: int, whole: int) -> str:
    if not part or not whole:
        return "0" if whole else "–"
    return "under 0.1%" if part / whole < 0.001 else f"{part / whole:.1%}"


def moves_table(workings: Workings, rung: int) -> str:
    """How the steps of each kind and walk ended, as an HTML table of shares."""
    caption = (
        f"How steps ended at ε = {workings.epsilons[rung]:.3g}, as shares of the steps of each kind. "
        "Bounds: refused because of the population bounds, or because a district would fall apart (counted "
        "together). Marked: an edge would be marked twice. Odds: refused by the target's Metropolis test."
    )
    heads = ("Move", "Walk", "Steps", "Plan changed", "Tree only", "No change", "Bounds", "Marked", "Odds")
    n_rows = len(workings.counter)
    # In one line, as narrow columns would break it.
    names = [f"{html.escape(run)}, all".replace(" ", "\u00a0") for run in workings.counted]
    names = names or [_ordinal(row) for row in range(n_rows)]
    rows = []
    by_row = [workings.outcomes(row, rung) for row in range(n_rows)]
    for move in by_row[0]:
        for row, (name, outcomes) in enumerate(zip(names, by_row, strict=True)):
            n_steps = sum(outcomes[move])
            head = f'<th scope="rowgroup" rowspan="{n_rows}">{_MOVES[move]}</th>' if not row else ""
            cells = "".join(f"<td>{_share(count, n_steps)}</td>" for count in outcomes[move])
            rows.append(f'<tr>{head}<th scope="row">{name}</th><td>{n_steps:,}</td>{cells}</tr>')
    return _table(caption, heads, rows)


def exchange_table(workings: Workings) -> str:
    """How often neighbouring rungs exchange plans, as an HTML table."""
    caption = (
        "Walks at neighbouring ε exchange plans, which carries plans up and down. Mean chance of an "
        f"exchange; below {_RARE:.0%} it is rare."
    )
    pairs = zip(workings.epsilons[:-1], workings.epsilons[1:], workings.exchange_rates, strict=True)
    rows = []
    for low, high, rate in pairs:
        word = "not tried yet" if math.isnan(rate) else "rare" if rate < _RARE else "good"
        shown = "–" if math.isnan(rate) else f"{rate:.0%}"
        rows.append(
            f'<tr><th scope="row">{low:.3g} and {high:.3g}</th><td>{shown}</td>'
            f'<td class="words {"poor" if word == "rare" else "plain"}">{word}</td></tr>'
        )
    return _table(caption, ("Between ε", "Exchanged", "Finding"), rows)


def run_table(progress: Progress, n_bytes: int) -> str:
    """Speed, length and memory of the walks, as an HTML table; `n_bytes` of the recordings."""
    standing = progress.standing
    assert standing is not None
    workings, recorded = standing.workings, standing.recorded
    n_walks = len(workings.starts) * len(workings.epsilons)
    spacing = recorded.recordings[0][0].spacing // recorded.steps_per_round
    often = "one every round" if spacing == 1 else f"one every {spacing:,} rounds"
    trips = " and ".join(f"{n:,}" for n in workings.round_trips)
    speed = f"{progress.steps_per_second:,.0f}" if progress.steps_per_second else "paused"
    first = f"{min(standing.rounds, standing.burn_in):,}"
    are_given = bool(recorded.runs) and not recorded.placings
    before = f"{first} before the first plan" if are_given else f"{first} to place the ε"
    if recorded.one_in > 1:
        often += f"; the runs have stored {recorded.one_in:,} times as many"
    facts = {
        "Rounds": f"{standing.rounds:,}, of which {before}",
        "Steps a second": f"{speed}, all {n_walks} walks together" if progress.steps_per_second else speed,
        "Plans on record": f"{recorded.n_recorded:,} of each walk, {often}",
        "Memory of plans": f"{n_bytes / 1e6:,.1f} MB",
    }
    if trips:
        facts["Round trips"] = f"{trips} from ε = 0 to the largest and back, by walk"
    if recorded.runs:
        runs = dict.fromkeys(recorded.runs)
        facts["Runs"] = ", ".join(html.escape(f"{run.name} (seed {run.seed})") for run in runs)
    if not math.isnan(workings.drift):
        facts["Rounding"] = (
            f"{workings.drift:.1g} at most in the log of the number of trees"
            if workings.drift
            else "none noticed in the log of the number of trees"
        )
    rows = [
        f'<tr><th scope="row">{name}</th><td class="words">{fact}</td></tr>' for name, fact in facts.items()
    ]
    since = "from the first round on" if are_given else "from when the ε were last placed"
    return _table(f"Round trips, steps of moves and rounding count {since}.", ("What", "Figure"), rows)
