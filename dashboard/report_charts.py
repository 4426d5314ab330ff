"""The charts of a report, each with its numbers, words for those who do not see it, and what it lets out."""

import html
import re
from typing import Literal

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from bottomup.dashboard.binning import choose_bins
from bottomup.dashboard.chart import Chart
from bottomup.dashboard.chart_tables import scores_table, shares_table, tradeoff_table
from bottomup.dashboard.early import early_words
from bottomup.dashboard.fates import frequencies
from bottomup.dashboard.influence import odds_sentence
from bottomup.dashboard.pool import Sample
from bottomup.dashboard.prepared import Prepared
from bottomup.dashboard.prints.influence_print import draw_influence
from bottomup.dashboard.prints.map_print import draw_map
from bottomup.dashboard.prints.score_prints import draw_histogram, draw_tradeoff
from bottomup.dashboard.prints.share_prints import draw_boxes, draw_clusters
from bottomup.dashboard.report_material import Material
from bottomup.dashboard.state import EPSILONS
from bottomup.dashboard.tradeoff import tradeoff_sentence
from bottomup.dashboard.wording import (
    SCORE_TITLES,
    comparison,
    ranks_title,
    reference_line,
    share_title,
)
from bottomup.sampler.promise import Promise
from bottomup.sampler.statistics import district_shares

__all__ = ["GROUP_SIZES", "chart_titles", "lets_out", "make_chart", "plain"]

LetsOut = Literal["nothing", "the plan", "the charts", "every ε"]
GROUP_SIZES = (1, 3, 9)
"""Of testimonies that act together."""


def plain(words: str) -> str:
    """HTML without its marks."""
    return html.unescape(re.sub(r"<[^>]*>", "", words))


def chart_titles(prepared: Prepared) -> dict[str, str]:
    """What charts there can be, and what to call each."""
    titles: dict[str, str] = {}
    if prepared.scene is not None:
        titles |= {"map": "The plan on the map", "map-enacted": "The enacted plan"}
    if prepared.has_clusters:
        titles["clusters"] = "How much of each cluster is kept whole"
    kinds = ("testimony", "cluster") if prepared.has_clusters else ("testimony",)
    titles |= {f"scores-{kind}": SCORE_TITLES[kind] for kind in kinds}
    titles |= {f"epsilon-{kind}": f"What every ε buys: {SCORE_TITLES[kind].lower()}" for kind in kinds}
    for number, share in enumerate(prepared.shares.values(), 1):
        titles[f"districts-{number}"] = share_title(share)
    return titles | {"influence": "How far the odds of a plan can change"}


def lets_out(key: str) -> LetsOut:
    """What giving a chart away lets out."""
    kind = key.partition("-")[0]
    if key == "map":
        return "the plan"
    if kind in ("map", "influence"):
        return "nothing"
    return "every ε" if kind == "epsilon" else "the charts"


def make_chart(material: Material, key: str, map_inches: float = 6.2) -> Chart | None:
    """A chart by its key, or None while there are no plans for it; maps in a size."""
    title = chart_titles(material.prepared)[key]
    kind, _, which = key.partition("-")
    if kind == "map":
        return _map(material, key, map_inches)
    if kind == "influence":
        return _influence(material, key, title)
    sample, baseline = material.sample, material.baseline
    if sample is None or baseline is None:
        return None
    if kind == "clusters":
        return _clusters(material, key, title)
    if kind == "scores":
        return _scores(material, key, title, which, sample, baseline)
    if kind == "districts":
        return _districts(material, key, title, int(which), sample)
    return _epsilons(material, key, title, which)


def _early(material: Material, sample: Sample) -> str:
    return early_words(sample.n_effective, sample.epsilon, material.progress.reliability)


def _map(material: Material, key: str, inches: float) -> Chart:
    scene, enacted, shown = material.prepared.scene, material.enacted, material.shown
    assert scene is not None
    is_enacted = key == "map-enacted"
    title = f"Enacted plan {enacted.name}" if is_enacted else shown.title
    assignment = enacted.assignment if is_enacted else shown.assignment
    names = enacted.labels if is_enacted else shown.names
    table = _district_table(material, assignment, names)
    return Chart(
        key,
        title,
        f"Map of {len(names)} districts. {title}. A red line: the enacted plan {enacted.name}.",
        table,
        lambda: draw_map(
            scene, assignment, names, title, material.source, enacted=enacted.name, inches=inches
        ),
    )


def _district_table(
    material: Material, assignment: NDArray[np.int32], names: tuple[str, ...]
) -> pd.DataFrame:
    people = np.bincount(assignment, material.prepared.inputs.geography.population, len(names))
    mean = people.sum() / len(names)
    columns: dict[str, object] = {
        "district": list(names),
        "people": people.astype(np.int64),
        "deviation, %": np.round(100 * (people / mean - 1), 2),
    }
    for name, share in material.prepared.shares.items():
        own = district_shares(assignment[None, :], len(names), share.numerator, share.denominator)[0]
        columns[f"{name}, %"] = np.round(100 * own, 2)
    return pd.DataFrame(columns)


def _clusters(material: Material, key: str, title: str) -> Chart | None:
    clusters, fates = material.prepared.testimonies.clusters, material.fates
    if clusters is None or fates is None or fates.by_cluster is None:
        return None
    own = fates.by_cluster
    enacted = frequencies(material.enacted_numbers.preserved[None, :].astype(np.uint8), 1.0, clusters).mean
    table = pd.DataFrame(
        {
            "cluster": list(clusters.names),
            "kept whole, %": np.round(100 * own.kept, 2),
            "baseline, %": np.round(100 * own.baseline, 2),
            "enacted, %": np.round(100 * enacted, 2),
        }
    )
    lost = int(own.is_sacrificed.sum())
    return Chart(
        key,
        title,
        f"Bars of the share of testimonies kept whole in each of {len(clusters.names)} clusters, beside the "
        f"baseline and the enacted plan. {lost} are kept whole clearly less often than in the baseline.",
        table,
        lambda: draw_clusters(title, material.source, clusters.names, own.kept, own.baseline, enacted),
    )


def _scores(material: Material, key: str, title: str, kind: str, sample: Sample, baseline: Sample) -> Chart:
    values, ignoring = sample.scores(kind), baseline.scores(kind)
    enacted = material.enacted_numbers.score(kind)
    step = material.problem.sensitivity("testimony").delta if kind == "testimony" else None
    bins = choose_bins([values, ignoring, [enacted]], step=step)
    return Chart(
        key,
        title,
        f"Histogram. {plain(comparison(kind, values, enacted))} In comparison: "
        f"{reference_line(ignoring, enacted)}.",
        scores_table(bins, values, ignoring),
        lambda: draw_histogram(
            title,
            material.source,
            title.lower(),
            bins,
            values,
            ignoring,
            enacted,
            _early(material, sample),
        ),
    )


def _districts(material: Material, key: str, title: str, number: int, sample: Sample) -> Chart:
    name, share = list(material.prepared.shares.items())[number - 1]
    shares, enacted = sample.plans.shares[name], material.enacted_numbers.shares[name]
    middle = np.median(shares, axis=0)
    return Chart(
        key,
        title,
        f"Box plots of {len(enacted)} districts in order. The highest share is {middle[-1]:.1%} in the "
        f"middle plan and {enacted[-1]:.1%} in the enacted plan, the lowest {middle[0]:.1%} and "
        f"{enacted[0]:.1%}.",
        shares_table(enacted, {"": shares}),
        lambda: draw_boxes(
            title, material.source, ranks_title(share), shares, enacted, _early(material, sample)
        ),
    )


def _epsilons(material: Material, key: str, title: str, kind: str) -> Chart | None:
    found = material.at_epsilons
    if not found:
        return None
    return Chart(
        key,
        title,
        f"Curve of the average by ε. {plain(tradeoff_sentence(kind, found, material.epsilon))}",
        tradeoff_table(found, [kind]),
        lambda: draw_tradeoff(
            title,
            material.source,
            SCORE_TITLES[kind].lower(),
            kind,
            found,
            material.epsilon,
            material.enacted_numbers.score(kind),
        ),
    )


def _influence(material: Material, key: str, title: str) -> Chart:
    columns: dict[str, object] = {"ε": list(EPSILONS)}
    for size in GROUP_SIZES:
        who = "any one testimony" if size == 1 else f"any {size} together"
        limits = [Promise(epsilon, group_size=size) for epsilon in EPSILONS]
        columns[f"odds change at most ×, {who}"] = [f"{np.exp(each.log_odds):.4g}" for each in limits]
    limit = Promise(material.epsilon)
    return Chart(
        key,
        title,
        "Lines of the most by which odds can change, by ε. "
        + plain(odds_sentence(limit, material.prepared.testimonies.n_testimonies)),
        pd.DataFrame(columns),
        lambda: draw_influence(
            title,
            f"{material.prepared.inputs.geography.name} · {material.time} · by calculation, at stationarity",
            EPSILONS,
            GROUP_SIZES,
            material.epsilon,
        ),
    )
