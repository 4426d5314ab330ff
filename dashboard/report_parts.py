"""The words and tables of each part of a report, as HTML."""

import html
import json
from collections.abc import Sequence

import numpy as np
import pandas as pd

from bottomup.dashboard.fates import Fates
from bottomup.dashboard.fates_words import counts_sentence, plan_sentence
from bottomup.dashboard.health import ranked_figures
from bottomup.dashboard.health_words import basis, figures_table
from bottomup.dashboard.influence import odds_sentence, promise_in_full, times
from bottomup.dashboard.ledger_words import rows_table, sum_words
from bottomup.dashboard.prepared import PlanNumbers
from bottomup.dashboard.releases import Books
from bottomup.dashboard.report_charts import GROUP_SIZES
from bottomup.dashboard.report_html import disclosed, facts_table
from bottomup.dashboard.report_material import Material
from bottomup.dashboard.tradeoff import tradeoff_sentence
from bottomup.dashboard.views.numbers import numbers_table
from bottomup.dashboard.wording import (
    comparison,
    ladder_line,
    number_of_plans,
    plan_figures,
    reference_line,
    reliability_line,
)
from bottomup.data.errors import count
from bottomup.sampler.accounting import Release
from bottomup.sampler.promise import Promise

__all__ = [
    "communities_words",
    "comparison_words",
    "epsilons_words",
    "influence_words",
    "plans_words",
    "provenance_words",
    "reliability_words",
    "spread_words",
    "table_words",
]

_NO_PLANS = "<p>There were no plans on record yet.</p>"
_RELEASES = 3


def plans_words(material: Material) -> str:
    """Figures of the plan on the map and of the enacted one."""
    columns = {material.shown.title: material.shown_numbers}
    if material.shown.kind != "enacted":
        columns[f"Enacted plan {material.enacted.name}"] = material.enacted_numbers
    table = pd.DataFrame(
        {
            "": [name for name, _ in _plan_facts(material.enacted_numbers)],
            **{title: [value for _, value in _plan_facts(own)] for title, own in columns.items()},
        }
    )
    words = numbers_table(table, "Figures of the plans")
    if material.prepared.scene is None:
        words += "<p>The units came without outlines, so there are no maps.</p>"
    return words


def _plan_facts(numbers: PlanNumbers) -> list[tuple[str, str]]:
    facts = plan_figures(numbers)
    for name, shares in numbers.shares.items():
        facts.append((f"{name} share, lowest and highest district", f"{shares[0]:.1%} to {shares[-1]:.1%}"))
    return facts


def communities_words(material: Material) -> str:
    """What the ensemble and the enacted plan keep whole."""
    fates = material.fates
    if fates is None:
        return _NO_PLANS
    mean = float(fates.sample.plans.testimony.mean())
    enacted = material.enacted_numbers.preserved
    if material.shown.kind == "enacted":
        words = (
            f"Of {count(len(enacted), 'testimony', 'testimonies')} the enacted plan keeps "
            f"<b>{int(enacted.sum()):,}</b> whole, the ensemble <b>{mean * len(enacted):,.1f}</b> on average."
        )
    else:
        words = plan_sentence(material.shown, material.shown_numbers.preserved, enacted, mean)
    return f'<p class="said">{words}</p><p>{counts_sentence(fates)}</p>'


def comparison_words(material: Material) -> str:
    """How the ensemble compares with the baseline and the enacted plan."""
    sample, baseline = material.sample, material.baseline
    if sample is None or baseline is None:
        return _NO_PLANS
    words = ""
    for kind in material.kinds:
        enacted = material.enacted_numbers.score(kind)
        beside = reference_line(baseline.scores(kind), enacted)
        words += f"<p>{comparison(kind, sample.scores(kind), enacted)} In comparison: {beside}.</p>"
    return f'{words}<p class="quiet">{html.escape(number_of_plans(sample))}</p>'


def epsilons_words(material: Material) -> str:
    """What the chosen ε buys."""
    found = material.at_epsilons
    if not found:
        return _NO_PLANS
    words = f"<p>{tradeoff_sentence(material.design.score, found, material.epsilon)}</p>"
    if len(material.kinds) > 1:
        words += (
            f"<p>All plans are sampled for the {material.design.score} score, and measured by both. What is "
            "not sampled for rises only as far as the two go together.</p>"
        )
    return words


def spread_words(material: Material) -> str:
    """How the box plots are to be read."""
    if not material.prepared.shares:
        return "<p>The units have no columns of groups of people or of votes.</p>"
    if material.sample is None:
        return _NO_PLANS
    return (
        f"<p>From {material.sample.n_plans:,} plans. In every plan the districts are put in order first, so "
        "a box tells of the lowest, the second lowest and so on, not of one place.</p>"
    )


def influence_words(material: Material) -> str:
    """The promise in full: what is promised, and what is not."""
    epsilon, testimonies = material.epsilon, material.prepared.testimonies
    n = testimonies.n_testimonies
    single = Promise(epsilon)
    full = promise_in_full(epsilon, material.design.score, material.problem, testimonies)
    several = Promise(epsilon, releases=_RELEASES)
    groups = pd.DataFrame(
        {
            "testimonies that act together": [min(size, n) for size in GROUP_SIZES],
            "odds of any plan change at most": [
                times(Promise(epsilon, group_size=size).log_odds) for size in GROUP_SIZES
            ],
        }
    ).drop_duplicates()
    promised = [
        html.escape(full),
        f"If one testimony is left out, with nothing in its place: {times(single.if_left_out)} at most.",
        f"Every plan that is released counts again: for {_RELEASES} plans together {times(several.log_odds)} "
        "at most.",
    ]
    not_promised = [
        "Secrecy. This is a limit on influence: testimony is public.",
        "The same limit for a group. Testimonies that act together multiply their odds, as the table says.",
        "Anything before stationarity: the limit is that of walks that have forgotten their starts, and no "
        "run can measure how far they are from it. Whether two walks agree is said below.",
        "A limit for a plan that was picked for what it keeps, or for scores and frequencies printed here: "
        "they are figures of the testimonies themselves, which no sum covers.",
        "That any particular community is kept whole.",
    ]
    return (
        f'<p class="said">{odds_sentence(single, n)}</p>'
        f"<h3>What is promised</h3>{_list(promised)}"
        f"{numbers_table(groups, 'What a group can do at most')}"
        f"<h3>What is not promised</h3>{_list(not_promised)}"
    )


def _list(items: list[str]) -> str:
    return f"<ul>{''.join(f'<li>{item}</li>' for item in items)}</ul>"


def table_words(material: Material) -> str:
    """What becomes of every community, those kept whole less often first."""
    now = material.fates
    if now is None:
        return _NO_PLANS
    testimonies = material.prepared.testimonies
    spread, spread_of_clusters = material.spread
    clusters, enacted = testimonies.clusters, material.enacted_numbers.preserved
    parts = [f"<p>{counts_sentence(now)}</p>"]
    groups = [""] * testimonies.n_testimonies
    if clusters is not None:
        groups = [clusters.names[int(c)] if c >= 0 else "" for c in clusters.of_testimony]
    table = pd.DataFrame(
        {
            "testimony": list(testimonies.ids),
            "cluster": groups,
            **_fate_columns(now.by_testimony, is_judged=now.is_judged),
            "districts": np.round(spread[0], 1),
            "enacted plan": np.where(enacted, "whole", "split"),
            "text": [testimonies.texts.get(name, "") for name in testimonies.ids],
        }
    )
    lost = table[now.by_testimony.is_sacrificed].sort_values("change", kind="stable")
    if now.is_judged and len(lost):
        parts.append(
            "<h3>Kept whole less often than in the baseline</h3>"
            + numbers_table(lost, f"{count(len(lost), 'testimony', 'testimonies')}, most clearly first")
        )
    if clusters is not None and now.by_cluster is not None:
        members = [clusters.members(place) for place in range(len(clusters.names))]
        by_cluster = pd.DataFrame(
            {
                "cluster": list(clusters.names),
                "testimonies": [len(own) for own in members],
                **_fate_columns(now.by_cluster, is_judged=now.is_judged),
                "districts": np.round(spread_of_clusters[0], 1),
                "whole in the enacted plan": [int(enacted[own].sum()) for own in members],
            }
        )
        parts.append(disclosed("All clusters", numbers_table(by_cluster, _COLUMNS), is_open=True))
    parts.append(disclosed("All testimonies", numbers_table(table, _COLUMNS), is_open=True))
    return "".join(parts)


def _fate_columns(fates: Fates, *, is_judged: bool) -> dict[str, object]:
    compared = np.full(len(fates.kept), "no clear change" if is_judged else "too early to say", dtype=object)
    compared[fates.is_sacrificed], compared[fates.is_gaining] = "less often (▼)", "more often"
    return {
        "kept whole, %": np.round(100 * fates.kept, 1),
        "baseline, %": np.round(100 * fates.baseline, 1),
        "change": np.round(100 * fates.change, 1),
        "± 2 s.e.": np.round(200 * fates.error, 1),
        "compared with the baseline": compared,
    }


_COLUMNS = (
    "How often it is kept whole, with testimony and without (baseline); change in points with two standard "
    "errors; over how many districts it is spread on average."
)


def reliability_words(material: Material) -> str:
    """Whether walks agree, and the figures behind it."""
    found, standing = material.progress.reliability, material.progress.standing
    if found is None or standing is None or found.epsilon != material.epsilon:
        return "<p>It was not judged yet.</p>"
    n_districts = material.enacted.n_districts
    words = reliability_line(material.progress, material.epsilon)
    words += basis(found, standing.recorded.starts, n_districts)
    words += f'<p class="quiet">{html.escape(ladder_line(material.progress))}</p>'
    if found.rungs:
        figures = ranked_figures(found.rungs)
        table = figures_table(figures, len(figures), n_districts)
        words += disclosed("R-hat and effective sizes of every quantity", table)
    return words


def provenance_words(material: Material, books: Books, releases: Sequence[Release]) -> str:
    """What made it, and what the ledger says."""
    facts = [("Time of this report", material.time)]
    if material.run:
        facts.append(("Run of the charts", material.run))
    facts += [(f"Name in the ledger, {release.what}", release.run) for release in releases]
    facts += [(name.replace("_", " "), _words(value)) for name, value in material.made_of.items()]
    if "testimonies_sha256" not in material.made_of:
        facts.append(("testimonies sha256", material.prepared.testimonies.digest))
    facts += [(f"design: {name}", _words(value)) for name, value in material.design._asdict().items()]
    facts.append(("ε", f"{material.epsilon:g}"))
    if material.recorded is not None:
        facts.append(("rungs on record", _words([round(each, 4) for each in material.recorded.epsilons])))
        facts.append(("walks began at", _words(list(material.recorded.starts))))
    ledger = sum_words(books.total) + (rows_table(books.entries) if books.entries else "")
    return (
        f"<h3>What made it</h3>{facts_table(facts)}<h3>The ledger, with this report</h3>{ledger}"
        '<p class="quiet">Whatever was released from the same testimonies adds up.</p>'
    )


def _words(value: object) -> str:
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
