"""The charts of a study's report, each with its numbers and the words for those who do not see it."""

from collections.abc import Iterator
from functools import partial

import numpy as np
import pandas as pd

from bottomup.dashboard.box_figure import LEVELS, quantiles_by_rank
from bottomup.dashboard.chart import Chart
from bottomup.dashboard.prints.study_prints import (
    Level,
    Line,
    draw_boxes_by_epsilon,
    draw_changes,
    draw_convergence,
    draw_lines,
    draw_ranked,
)
from bottomup.dashboard.study_draws import QUANTITY_OF, QUANTITY_TITLES, Group
from bottomup.dashboard.study_material import Law, NamedPlan, StudyMaterial
from bottomup.dashboard.wording import SCORE_TITLES, ranks_title, share_title
from bottomup.data.errors import count
from bottomup.sampler.diagnostics import RHAT_BELOW

__all__ = [
    "begin",
    "cluster_charts",
    "convergence_charts",
    "law_key",
    "law_title",
    "quantity_families",
    "score_charts",
    "share_charts",
    "source_line",
    "testimony_table",
]

_TOP = 3
"""Ranked districts whose spread is followed by epsilon."""
_MOST_SIDE_BY_SIDE = 4


def law_key(group: Group) -> str:
    """What files call a law."""
    words = [group.score or "baseline"]
    if group.cut_edges is not None:
        words.append(f"cuts{group.cut_edges:g}")
    return "-".join([*words, *(["attacked"] if group.is_attacked else [])])


def begin(words: str) -> str:
    """Words as a sentence or a heading begins."""
    return f"{words[:1].upper()}{words[1:]}"


def law_title(group: Group) -> str:
    """What headings call a law."""
    words = "base measure" if group.score is None else f"{group.score} score"
    if group.cut_edges is not None:
        words += f", around {group.cut_edges:g} cut edges"
    return f"{words}, after the attack" if group.is_attacked else words


def source_line(material: StudyMaterial, law: Law) -> str:
    """Where the figures of a law come from, as one line below a chart."""
    runs = ", ".join(str(cell.run) for cell in law.group.cells)
    n_plans = sum(sum(draws.n_later) for draws in law.draws)
    return (
        f"{material.inputs.geography.name} · {law_title(law.group)} · runs {runs} · {n_plans:,} plans, the "
        f"later half of {len(law.draws[0].chains)} chains at each ε"
    )


def score_charts(material: StudyMaterial, law: Law) -> Iterator[Chart]:
    """Distributions of both scores by epsilon."""
    for kind, quantity in QUANTITY_OF.items():
        if quantity not in law.draws[0].quantities:
            continue
        values = [draws.later(quantity) for draws in law.draws]
        quantiles = np.array([np.quantile(own, LEVELS) for own in values]).T
        levels = [Level(_plan_name(plan), plan.value(quantity), plan.is_enacted) for plan in material.plans]
        table = {
            "epsilon": law.epsilons,
            "plans": [len(own) for own in values],
            "mean": [own.mean() for own in values],
            "sd": [own.std(ddof=1) for own in values],
            **{f"quantile_{level:g}": row for level, row in zip(LEVELS, quantiles, strict=True)},
            **{
                f"share_above_{plan.name}": [(own > plan.value(quantity)).mean() for own in values]
                for plan in material.plans
            },
            "rhat": [found[quantity].rhat for found in law.convergences],
            "ess_bulk": [found[quantity].ess_bulk for found in law.convergences],
        }
        title = f"{SCORE_TITLES[kind]}, sampled for the {law_title(law.group)}"
        yield Chart(
            f"scores-{law_key(law.group)}-by-{kind}",
            title,
            f"Boxes by epsilon. The middle plan has {quantiles[2, 0]:.1%} at epsilon {law.epsilons[0]:g} and "
            f"{quantiles[2, -1]:.1%} at {law.epsilons[-1]:g}; "
            + "; ".join(f"{level.name} has {level.value:.1%}" for level in levels)
            + ".",
            pd.DataFrame(table),
            partial(
                draw_boxes_by_epsilon,
                title,
                source_line(material, law),
                SCORE_TITLES[kind].lower(),
                law.epsilons,
                quantiles,
                [not found[quantity].agrees() for found in law.convergences],
                levels,
            ),
        )


def convergence_charts(material: StudyMaterial, law: Law) -> Iterator[Chart]:
    """R-hat of every quantity by epsilon, where there are several."""
    if len(law.draws[0].chains) < 2 or len(law.draws) < 2:
        return
    rows = [
        {
            "epsilon": draws.epsilon,
            "quantity": each.quantity,
            "chains": each.n_chains,
            "draws_of_each": each.n_draws,
            "rhat": each.rhat,
            "ess_bulk": each.ess_bulk,
            "ess_tail": each.ess_tail,
        }
        for draws, found in zip(law.draws, law.convergences, strict=True)
        for each in found.values()
    ]
    lines = []
    for name, quantities in quantity_families(material, law).items():
        rhats = [max((found[each].rhat for each in quantities), default=np.nan) for found in law.convergences]
        lines.append(Line(name, rhats))
    title = f"R-hat by ε, sampled for the {law_title(law.group)}"
    worst = [law.worst_rhat(place) for place in range(len(law.draws))]
    yield Chart(
        f"convergence-{law_key(law.group)}",
        title,
        f"Lines of R-hat by epsilon. The largest of any quantity is {worst[0]:.3f} at epsilon "
        f"{law.epsilons[0]:g} and {worst[-1]:.3f} at {law.epsilons[-1]:g}; chains agree below "
        f"{RHAT_BELOW:g}.",
        pd.DataFrame(rows),
        partial(
            draw_convergence,
            title,
            source_line(material, law),
            law.epsilons,
            lines,
            Level(f"chains agree below {RHAT_BELOW:g}", RHAT_BELOW),
        ),
    )


def quantity_families(material: StudyMaterial, law: Law) -> dict[str, list[str]]:
    """Quantities that share a line: of ranked shares the worst tells."""
    known = law.convergences[0]
    families = {words: [name] for name, words in QUANTITY_TITLES.items() if name in known}
    for share in material.shares:
        own = [name for name in known if name.startswith(f"{share} ")]
        families[f"{share} share, worst district"] = own
    return families


def cluster_charts(material: StudyMaterial, law: Law) -> Iterator[Chart]:
    """What becomes of each cluster by epsilon."""
    testimonies = material.inputs.testimonies
    if testimonies is None or testimonies.clusters is None or not law.whole or law.epsilons[0] != 0:
        return
    fates = [law.fates(place, testimonies, by_cluster=True) for place in range(len(law.draws))]
    changes = np.array([each.change for each in fates]).T
    lost = np.array([each.is_sacrificed for each in fates]).T
    names = testimonies.clusters.names
    has_members = np.isfinite(changes).any(axis=1)
    rows = [
        {
            "cluster": names[row],
            "epsilon": epsilon,
            "kept": each.kept[row],
            "baseline": each.baseline[row],
            "change": each.change[row],
            "standard_error": each.error[row],
            "sacrificed": int(each.is_sacrificed[row]),
        }
        for row in np.flatnonzero(has_members).tolist()
        for epsilon, each in zip(law.epsilons, fates, strict=True)
    ]
    title = f"How much of each cluster is kept whole, sampled for the {law_title(law.group)}"
    yield Chart(
        f"clusters-{law_key(law.group)}",
        title,
        f"A table of colours: {int(has_members.sum())} clusters by epsilon. At epsilon {law.epsilons[-1]:g} "
        f"{int(lost[:, -1].sum())} are kept whole clearly less often than in the baseline.",
        pd.DataFrame(rows),
        partial(
            draw_changes,
            title,
            source_line(material, law),
            [name for name, own in zip(names, has_members, strict=True) if own],
            law.epsilons,
            changes[has_members],
            lost[has_members],
        ),
    )


def testimony_table(material: StudyMaterial, law: Law) -> pd.DataFrame | None:
    """How often every testimony is kept whole by epsilon, beside the baseline; None where there is none."""
    testimonies = material.inputs.testimonies
    if testimonies is None or not law.whole or law.epsilons[0] != 0:
        return None
    names = [""] * testimonies.n_testimonies
    if testimonies.clusters is not None:
        names = [testimonies.clusters.names[c] if c >= 0 else "" for c in testimonies.clusters.of_testimony]
    parts = []
    for place, epsilon in enumerate(law.epsilons):
        fates = law.fates(place, testimonies, by_cluster=False)
        parts.append(
            pd.DataFrame(
                {
                    "testimony": list(testimonies.ids),
                    "cluster": names,
                    "epsilon": epsilon,
                    "kept": fates.kept,
                    "baseline": fates.baseline,
                    "change": fates.change,
                    "standard_error": fates.error,
                    "sacrificed": fates.is_sacrificed.astype(int),
                }
            )
        )
    return pd.concat(parts)


def share_charts(material: StudyMaterial, law: Law) -> Iterator[Chart]:
    """Ranked districts for some epsilons, and the highest ones by epsilon."""
    for name, share in material.shares.items():
        by_epsilon = [draws.later_shares(name) for draws in law.draws]
        known = [np.isfinite(own).all() for own in by_epsilon]
        if not all(known):
            continue
        quantiles = [quantiles_by_rank(own) for own in by_epsilon]
        some = _some(len(law.draws))
        title = f"{share_title(share)}, sampled for the {law_title(law.group)}"
        key = f"{share.column}-{law_key(law.group)}"
        rows = [
            {
                "epsilon": epsilon,
                "rank": rank + 1,
                "mean": own[:, rank].mean(),
                **{f"quantile_{level:g}": box[place, rank] for place, level in enumerate(LEVELS)},
            }
            for epsilon, own, box in zip(law.epsilons, by_epsilon, quantiles, strict=True)
            for rank in range(own.shape[1])
        ]
        rows += [
            {"epsilon": None, "plan": plan.name, "rank": rank + 1, "mean": value}
            for plan in material.plans
            for rank, value in enumerate(plan.shares[name])
        ]
        top = by_epsilon[-1].mean(axis=0)[-1]
        yield Chart(
            f"ranked-{key}",
            title,
            f"Boxes by ranked district, for {count(len(some), 'value')} of epsilon. The highest district has "
            f"{by_epsilon[0].mean(axis=0)[-1]:.1%} on average at epsilon {law.epsilons[0]:g} and {top:.1%} "
            f"at {law.epsilons[-1]:g}.",
            pd.DataFrame(rows),
            partial(
                draw_ranked,
                title,
                source_line(material, law),
                ranks_title(share),
                [(f"ε = {law.epsilons[place]:g}", quantiles[place]) for place in some],
                [(_plan_name(plan), plan.is_enacted, plan.shares[name]) for plan in material.plans],
            ),
        )
        if len(law.draws) < 2:
            continue
        means = np.array([own.mean(axis=0) for own in by_epsilon])
        lines = [Line(_ordinal(rank), means[:, -1 - rank]) for rank in range(min(_TOP, means.shape[1]))]
        title = f"{share_title(share)}: the highest districts by ε, sampled for the {law_title(law.group)}"
        gap = means[:, -1] - means[:, -min(_TOP, means.shape[1])]
        yield Chart(
            f"highest-{key}",
            title,
            f"Lines of the mean share of the {len(lines)} highest districts by epsilon. From the first to "
            f"the last of them it falls by {100 * gap[0]:.1f} points at epsilon {law.epsilons[0]:g} and by "
            f"{100 * gap[-1]:.1f} at {law.epsilons[-1]:g}.",
            pd.DataFrame({"epsilon": law.epsilons, **{line.name: np.asarray(line.values) for line in lines}}),
            partial(
                draw_lines,
                title,
                source_line(material, law),
                "ε",
                "mean share",
                law.epsilons,
                lines,
                [
                    Level("" if rank else _plan_name(plan), value, is_enacted=True)
                    for plan in material.plans
                    if plan.is_enacted
                    for rank, value in enumerate(plan.shares[name][::-1][: len(lines)])
                ],
                is_share=True,
            ),
        )


def _some(n: int) -> list[int]:
    """Places of a few epsilons, the first and the last among them."""
    return np.unique(np.linspace(0, n - 1, min(n, _MOST_SIDE_BY_SIDE)).round().astype(int)).tolist()


def _plan_name(plan: NamedPlan) -> str:
    return f"enacted plan {plan.name}" if plan.is_enacted else f"plan {plan.name}"


def _ordinal(rank: int) -> str:
    return ("highest district", "second highest", "third highest")[rank]
