"""Plain sentences about releases: what they add up to, and what the next one adds."""

import html
import math
from collections.abc import Sequence

from bottomup.dashboard.influence import USELESS
from bottomup.dashboard.releases import IN_PUBLIC, Books
from bottomup.dashboard.state import odds_factor
from bottomup.data.errors import count
from bottomup.sampler.accounting import (
    ALREADY_RELEASED,
    BY_LOT,
    CHARTS,
    COUNTED,
    CURRENT_PLAN,
    FROM_CHART,
    PLAN,
    Entry,
    Release,
    Total,
)

__all__ = [
    "added_sentence",
    "adding_sentence",
    "epsilon_figure",
    "others_sentence",
    "plans_sentence",
    "rows_table",
    "showing_sentence",
    "sum_words",
]

_CHOSEN = {
    CURRENT_PLAN: "Walk's plan",
    BY_LOT: "Plan by lot",
    FROM_CHART: "Plan from a chart",
}


def epsilon_figure(epsilon: float) -> str:
    """An epsilon, or a sum of some, in three figures."""
    return f"{epsilon:,.0f}" if epsilon >= 1000 else f"{epsilon:.3g}"


def sum_words(total: Total) -> str:
    """What has been released so far, and what it means, as HTML paragraphs."""
    if not total.n_plans + total.n_charts:
        return '<p class="said"><b>Nothing has been released so far.</b></p>'
    parts = [count(total.n_plans, "plan")] if total.n_plans else []
    if total.n_charts:
        parts.append(count(total.n_charts, "whole sample behind charts", "whole samples behind charts"))
    so_far = f"Released so far: {' and '.join(parts)}, ε\u00a0{epsilon_figure(total.epsilon)} in all."
    words = f'<p class="said"><b>{so_far} {_limit_sentence(total)}</b></p>'
    if total.is_conditional:
        words += (
            '<p class="quiet">This rests on conditions: for some of it Δ or the clusters were taken from the '
            "testimonies.</p>"
        )
    return words


def _limit_sentence(total: Total) -> str:
    if total.n_picked:
        picked = count(
            total.n_picked, "plan was picked for what it keeps", "plans were picked for what they keep"
        )
        return f"No limit holds for all of it: {picked}."
    if not total.epsilon:
        return "Testimony was ignored for all of it and changes no odds."
    if not _is_useful(total.epsilon_with_slack):
        return "That is no useful limit on what any one testimony can sway."
    words, plans = "With or without any one testimony, the ", "all plans released"
    # With slack it is chances that are bounded, not odds.
    slack = f"grow at most ×{odds_factor(total.epsilon_with_slack)} and one in a million."
    if not _is_useful(total.epsilon):
        return f"{words}chances of {plans} {slack}"
    words += f"odds of {plans} change at most ×{odds_factor(total.epsilon)}."
    return f"{words} Their chances {slack}" if total.epsilon_with_slack < total.epsilon else words


def others_sentence(n_others: int) -> str:
    """Of lines in the same ledger about other testimonies; empty without any."""
    if not n_others:
        return ""
    are = "is" if n_others == 1 else "are"
    return (
        f"{count(n_others, 'line')} of this ledger {are} about other testimonies and not in this sum. For "
        "people who spoke in both, the two sums add up."
    )


def adding_sentence(release: Release | None, books: Books) -> str:
    """What saving the plan on the map would add, before it happens; release is None for an enacted plan."""
    if release is None:
        return "Saving the enacted plan is no release and adds nothing."
    if books.error:
        return "It cannot be saved before the ledger can be read: every release is written down first."
    if books.has(release):
        return "Already released: saving it again, in any form, adds nothing."
    counts = f"it counts as {_counts_and_adds(release)}"
    if release.chosen == FROM_CHART:
        return (
            f"Picked after looking at {count(release.draws, 'plan')}: {counts}. And as it was picked for "
            "what it keeps, no limit holds. <b>Better: draw a plan by lot.</b>"
        )
    if release.chosen == CURRENT_PLAN:
        words = f"Saving it is a release: {counts}, if the moment was not chosen for what the map showed."
    elif release.draws == 1:
        words = f"Saving it is a release: drawn by lot, {counts}."
    else:
        words = (
            f"Drawn by lot, after {count(release.draws - 1, 'plan')} drawn and not released: {counts}, if "
            "none was passed over for what it keeps."
        )
    return f"{words} {_afterwards(books.total, release)}"


def plans_sentence(release: Release | None, books: Books) -> str:
    """What saving all plans behind the charts would add, before it happens."""
    if release is None:
        return "There are no plans on record yet."
    if books.error:
        return "They cannot be saved before the ledger can be read: every release is written down first."
    if books.has(release):
        return "Already released: saving them again adds nothing."
    words = (
        f"Saving them is a release of the whole sample: {count(release.draws, 'plan')} on record count as "
        f"{_counts_and_adds(release)}."
    )
    return f"{words} {_afterwards(books.total, release)}" if release.epsilon else words


def showing_sentence(release: Release | None, books: Books) -> str:
    """What showing something in public would add, before it is written down."""
    if release is None:
        return "Showing the enacted plan is no release and adds nothing."
    if books.error:
        return "It cannot be written down before the ledger can be read."
    if books.has(release):
        return "Already released: showing it adds nothing."
    adds = _counts_and_adds(release)
    if release.what != CHARTS:
        return f"The plan on the map counts as if it were saved: as {adds}."
    return (
        f"The charts stand for {count(release.draws, 'plan')}: they count as {adds}. The scores drawn in "
        "them are figures of the testimonies, which no sum covers."
    )


def _counts_and_adds(release: Release) -> str:
    epsilon = release.draws * release.epsilon
    words = f"{count(release.draws, 'draw')}, which adds ε\u00a0{epsilon_figure(epsilon)}"
    return words if _is_useful(epsilon) else f"{words}: no useful limit"


def _afterwards(total: Total, release: Release) -> str:
    after = total.epsilon + release.draws * release.epsilon
    if after == total.epsilon:
        return "It was drawn with testimony ignored."
    words = f"That makes ε\u00a0{epsilon_figure(after)} in all: "
    if total.n_picked or not _is_useful(after):
        return f"{words}no useful limit."
    return f"{words}the odds change at most ×{odds_factor(after)}."


def added_sentence(entry: Entry) -> str:
    """What has been written down."""
    if entry.status == ALREADY_RELEASED:
        return "Written in the ledger: it was released already and adds nothing."
    if entry.status == COUNTED:
        return f"Written in the ledger: it adds ε\u00a0{epsilon_figure(entry.adds)}."
    return "Noted in the ledger, and not counted."


def rows_table(entries: Sequence[Entry], n_rows: int = 6) -> str:
    """The last lines, latest first, as an HTML table."""
    rows = "".join(
        f"<tr><td>{entry.time[:10]} {entry.time[11:16]}</td><td>{html.escape(_what(entry))}</td>"
        f"<td>{_draws(entry.release)}</td><td>{epsilon_figure(entry.adds)}</td></tr>"
        for entry in reversed(entries[-n_rows:])
    )
    return (
        '<table><thead><tr><th scope="col">Time (UTC)</th><th scope="col">What</th>'
        f'<th scope="col">ε</th><th scope="col">Adds</th></tr></thead><tbody>{rows}</tbody></table>'
    )


def _what(entry: Entry) -> str:
    release = entry.release
    if release.what == PLAN:
        what = f"{_CHOSEN[release.chosen]}, {release.how}"
    elif release.what == CHARTS and release.how != IN_PUBLIC:
        what = f"Plans behind the charts, {release.how}"
    else:
        what = f"{'Charts' if release.what == CHARTS else 'Page'} {release.how}"
    return what if entry.status == COUNTED else f"{what} ({entry.status})"


def _draws(release: Release) -> str:
    epsilon = epsilon_figure(release.epsilon)
    return epsilon if release.draws == 1 else f"{release.draws:,}\u00a0×\u00a0{epsilon}"


def _is_useful(log_odds: float) -> bool:
    return log_odds <= math.log(USELESS)
