"""What the report of a study says beside its charts, as HTML."""

import html
from collections.abc import Iterator
from datetime import UTC, datetime

import numpy as np
import pandas as pd

from bottomup.dashboard.report_html import disclosed, facts_table
from bottomup.dashboard.study_charts import law_title, quantity_families
from bottomup.dashboard.study_draws import QUANTITY_OF
from bottomup.dashboard.study_material import Law, StudyMaterial
from bottomup.dashboard.views.numbers import numbers_table
from bottomup.dashboard.wording import SCORE_TITLES, share_title
from bottomup.data.errors import count, list_some
from bottomup.sampler.diagnostics import ESS_AT_LEAST, RHAT_BELOW

__all__ = [
    "cluster_words",
    "convergence_words",
    "header",
    "provenance",
    "score_words",
    "share_words",
]


def header(material: StudyMaterial) -> str:
    """Title, and what was sampled."""
    inputs, folder = material.inputs, material.folder
    n_testimonies = 0 if inputs.testimonies is None else inputs.testimonies.n_testimonies
    about = (
        f"{inputs.geography.name}: {inputs.geography.n_units:,} units, "
        f"{count(material.n_districts, 'district')}, {count(n_testimonies, 'testimony', 'testimonies')}. "
        f"{inputs.note}"
    )
    rows = [
        {
            "law": law_title(law.group),
            "ε": ", ".join(f"{epsilon:g}" for epsilon in law.epsilons),
            "chains at each ε": len(law.draws[0].chains),
            "steps of each": f"{max(int(steps[-1]) for steps in law.draws[0].steps):,}",
            "plans on record": f"{sum(len(steps) for draws in law.draws for steps in draws.steps):,}",
        }
        for law in material.laws
    ]
    unfinished = [cell.name for cell in folder.cells if not cell.is_finished]
    left_out = (
        f"<p>Not finished, and left out: {html.escape(list_some(unfinished))}.</p>" if unfinished else ""
    )
    made = datetime.now(UTC).strftime("%Y-%m-%d %H:%M UTC")
    return (
        f"<header><h1>{html.escape(folder.title)}</h1>"
        f'<p class="quiet">Report of a study, {made}</p><p>{html.escape(about.strip())}</p>'
        f"{numbers_table(pd.DataFrame(rows), 'What was sampled')}{left_out}"
        "<p>Figures are of the later half of each chain's steps; what came before is taken as warming up.</p>"
        "</header>"
    )


def convergence_words(material: StudyMaterial) -> str:
    """Up to which epsilon the chains of each law agree on what, and how well they exchange plans."""
    rows = [row for law in material.laws for row in _agreement_rows(material, law)]
    alone = [law_title(law.group) for law in material.laws if len(law.draws[0].chains) < 2]
    words = (
        f"<p>One chain alone, so nothing can be said: {html.escape(', '.join(alone))}.</p>" if alone else ""
    )
    alike = [law_title(law.group) for law in material.laws if _begins_alike(material, law)]
    if alike:
        words += (
            "<p>Chains began at plans that are alike, so that their agreement is no news: "
            f"{html.escape(', '.join(alike))}.</p>"
        )
    if rows:
        words += numbers_table(pd.DataFrame(rows), "On what the chains of each law agree")
    words += (
        f'<p class="quiet">R-hat compares chains from unlike starts; below {RHAT_BELOW:g}, with '
        f"{ESS_AT_LEAST:g} effective draws or more, they are said to agree. It cannot show that chains have "
        "forgotten their starts, only that they have not.</p>"
    )
    exchanges = [row for law in material.laws for row in _exchange_rows(material, law)]
    if exchanges:
        table = numbers_table(pd.DataFrame(exchanges), "Exchange of plans between neighbouring ε")
        words += disclosed("How ladders exchange plans", table)
    return words


def _begins_alike(material: StudyMaterial, law: Law) -> bool:
    """Whether some run of several chains says that they began at plans that are alike."""
    return any(
        rung["verdict"] == "one start"
        for cell in law.group.cells
        for rung in material.folder.run_of(cell)["outcome"]["diagnostics"]["by_epsilon"]
        if len(law.draws[0].chains) > len(law.group.cells)
    )


def _agreement_rows(material: StudyMaterial, law: Law) -> Iterator[dict[str, str]]:
    if len(law.draws[0].chains) < 2:
        return
    for name, quantities in quantity_families(material, law).items():
        found = [[own[each] for each in quantities if not own[each].is_constant] for own in law.convergences]
        agreed = [
            f"{epsilon:g}"
            for epsilon, own in zip(law.epsilons, found, strict=True)
            if all(each.agrees() for each in own)
        ]
        yield {
            "law": law_title(law.group),
            "quantity": name,
            "largest R-hat": _at(law.epsilons, [max((e.rhat for e in own), default=np.nan) for own in found]),
            "least effective draws": _at(
                law.epsilons,
                [min((min(e.ess_bulk, e.ess_tail) for e in own), default=np.nan) for own in found],
                largest=False,
            ),
            "agree at ε": "all" if len(agreed) == len(found) else ", ".join(agreed) or "none",
        }


def _at(epsilons: list[float], values: list[float], *, largest: bool = True) -> str:
    """The largest or the least of values, and at which epsilon."""
    if not all(map(np.isfinite, values)):
        return "unknown"
    place = int(np.argmax(values) if largest else np.argmin(values))
    shown = f"{values[place]:.3f}" if largest else f"{values[place]:,.0f}"
    return f"{shown} at ε = {epsilons[place]:g}" if len(epsilons) > 1 else shown


def _exchange_rows(material: StudyMaterial, law: Law) -> Iterator[dict[str, str]]:
    for cell in law.group.cells:
        outcome = material.folder.run_of(cell)["outcome"]
        for low, rate in enumerate(outcome.get("exchange_rates", [])):
            rungs = outcome["rungs"]
            yield {
                "cell": cell.name,
                "between ε": f"{rungs[low]:g} and {rungs[low + 1]:g}",
                "exchanges accepted": "" if rate is None else f"{rate:.0%}",
                "ways up and back, by ladder": ", ".join(map(str, outcome["round_trips"])),
            }


def score_words(material: StudyMaterial) -> str:
    """What epsilon buys, in comparison with the plans."""
    items = []
    for law in material.honest:
        quantity = QUANTITY_OF.get(law.group.score or "")
        if quantity is None or quantity not in law.draws[0].quantities:
            continue
        means = [float(draws.later(quantity).mean()) for draws in law.draws]
        sentence = (
            f"Sampled for the {law_title(law.group)}, the {SCORE_TITLES[law.group.score or ''].lower()} is "
            f"{means[0]:.1%} on average at ε = {law.epsilons[0]:g}, and {means[-1]:.1%} at "
            f"ε = {law.epsilons[-1]:g}"
        )
        for plan in material.plans:
            value = plan.value(quantity)
            above = [epsilon for epsilon, mean in zip(law.epsilons, means, strict=True) if mean > value]
            kind = "the enacted plan" if plan.is_enacted else "the plan"
            when = "at no ε" if not above else f"from ε = {above[0]:g} on"
            sentence += f"; the average passes {kind} {html.escape(plan.name)} ({value:.1%}) {when}"
        items.append(f"<li>{sentence}.</li>")
    return f"<ul>{''.join(items)}</ul>" if items else ""


def cluster_words(material: StudyMaterial) -> str:
    """How many communities gain and how many are sacrificed, at a few epsilons."""
    testimonies = material.inputs.testimonies
    if testimonies is None:
        return ""
    rows = []
    for law in material.honest:
        if not law.whole or law.epsilons[0] != 0:
            continue
        for place in range(1, len(law.draws)):
            fates = law.fates(place, testimonies, by_cluster=False)
            row = {
                "sampled for": law_title(law.group),
                "ε": f"{law.epsilons[place]:g}",
                "testimonies kept clearly more often": int(fates.is_gaining.sum()),
                "clearly less often": int(fates.is_sacrificed.sum()),
            }
            if testimonies.clusters is not None:
                by_cluster = law.fates(place, testimonies, by_cluster=True)
                row |= {
                    "clusters kept clearly more": int(by_cluster.is_gaining.sum()),
                    "clusters kept clearly less": int(by_cluster.is_sacrificed.sum()),
                }
            rows.append(row)
    if not rows:
        return ""
    return (
        "<p>Beside the baseline, which ignores testimony. Clearly: by more than five points, and by more "
        "than two standard errors.</p>"
        + numbers_table(pd.DataFrame(rows), "Communities by ε")
        + "<p>Every testimony by itself is in tables/testimonies-….csv beside this page.</p>"
    )


def share_words(material: StudyMaterial) -> str:
    """How evenly the highest districts share a group or votes."""
    if not material.shares:
        return "<p>The units have no columns of groups of people or of votes.</p>"
    items = []
    for law in material.honest:
        for name, share in material.shares.items():
            first, last = (law.draws[place].later_shares(name).mean(axis=0) for place in (0, -1))
            if not (np.isfinite(first).all() and np.isfinite(last).all()) or len(first) < 3:
                continue
            sentence = (
                f"Sampled for the {law_title(law.group)}, {share_title(share)} in the three highest "
                f"districts: {_three(first)} on average at ε = {law.epsilons[0]:g}"
            )
            if len(law.draws) > 1:
                sentence += f", {_three(last)} at ε = {law.epsilons[-1]:g}"
            for plan in material.plans:
                sentence += f"; {_three(plan.shares[name])} in the plan {plan.name}"
            items.append(f"<li>{html.escape(sentence)}.</li>")
    return (
        "<p>In every plan the districts are put in order first, so a box tells of the lowest, the second "
        f"lowest and so on, not of one place.</p><ul>{''.join(items)}</ul>"
    )


def _three(shares: np.ndarray) -> str:
    return ", ".join(f"{share:.1%}" for share in shares[::-1][:3])


def provenance(material: StudyMaterial) -> str:
    """Inputs, law and runs, so that another team can make the same."""
    record = material.folder.record
    study = record["study"]
    facts = [
        *((f"law: {name}", str(value)) for name, value in study["law"].items()),
        *((f"sweep: {name}", str(value)) for name, value in study["sweep"].items()),
        *((f"attack: {name}", str(value)) for name, value in (study["attack"] or {}).items()),
        *((f"inputs: {name}", str(value)) for name, value in study["inputs"].items()),
        *((f"SHA-256 of {path.rpartition('/')[2]}", digest) for path, digest in record["files"].items()),
        *((f"run {cell.name}", str(cell.run)) for cell in material.folder.finished),
        *((f"version of {package}", version) for package, version in record["versions"].items()),
    ]
    return (
        "<p>The same study file, inputs, seeds and versions give the same plans, whatever the number of "
        "processes and however often the sweep was broken off.</p>" + facts_table(facts)
    )
