"""What the report of a study says of how far chains are from each other, and from the law itself."""

import html
from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
import pandas as pd

from bottomup.dashboard.chart import Chart
from bottomup.dashboard.prints.study_prints import Line, draw_histograms, draw_lines
from bottomup.dashboard.study_charts import begin, law_key, law_title, source_line
from bottomup.dashboard.study_draws import QUANTITY_TITLES
from bottomup.dashboard.study_material import Law, StudyMaterial
from bottomup.dashboard.views.numbers import numbers_table
from bottomup.sampler.agreement import (
    Distance,
    Sample,
    known_law,
    ks_distance,
    ks_to_reference,
    pairwise_curve,
    pairwise_ks,
    pairwise_limits,
    reference_curve,
    sample_of_chains,
)
from bottomup.sampler.target import Target
from bottomup.sampler.tree_law import PARETO_BELOW, Reference, TreeLawError, draw_reference
from bottomup.sampler.types import FloatArray

__all__ = ["agreement_section"]

TREES = 300_000
"""Random trees that a reference is made of."""


@dataclass(frozen=True)
class _Compared:
    """Chains of one law at epsilon 0 beside plans that were drawn without them."""

    law: Law
    target: Target
    reference: Reference
    sample: Sample
    of_each: list[Distance]
    together: Distance


def agreement_section(material: StudyMaterial) -> tuple[str, list[Chart]]:
    """Words as HTML, and charts of distances between chains and from the law."""
    rows, charts, words = [], [], []
    for law in material.laws:
        if len(law.draws[0].chains) < 2:
            continue
        own = list(_pair_rows(law))
        rows += own
        compared, why_not = _compare(material, law)
        if why_not:
            words.append(f"<p>{html.escape(why_not)}</p>")
        if compared is not None:
            words.append(_reference_words(compared))
            charts.append(_law_chart(material, compared))
        if len(law.draws) > 1:
            charts.append(_by_epsilon_chart(material, law, own))
        else:
            charts.append(_curve_chart(material, law, compared))
    if not rows:
        return "", []
    about = (
        "<p>The distance of two chains is the largest difference of the shares of plans up to any value, "
        "from 0 to 1 (Kolmogorov and Smirnov). What chance alone would exceed once in a thousand pairs "
        "follows from how many independent plans each chain is worth.</p>"
    )
    table = numbers_table(pd.DataFrame(rows).round(4), "Distances between chains")
    return about + "".join(words) + table, charts


def _pair_rows(law: Law) -> Iterator[dict[str, Any]]:
    """Distances between the later halves of chains, by epsilon and quantity."""
    for draws in law.draws:
        for quantity, name in QUANTITY_TITLES.items():
            if quantity not in draws.quantities:
                continue
            chains = draws.later_chains(quantity)
            pairs = np.triu_indices(len(chains), 1)
            distances, limits = pairwise_ks(chains)[pairs], pairwise_limits(chains)[pairs]
            yield {
                "law": law_title(law.group),
                "epsilon": draws.epsilon,
                "quantity": name,
                "pairs": len(distances),
                "mean distance": float(distances.mean()),
                "largest": float(distances.max()),
                # Unknown where a chain has told too little.
                "mean limit": float(limits.mean()) if np.isfinite(limits).all() else np.nan,
                "beyond their limit": int((distances > limits).sum()),
            }


def _compare(material: StudyMaterial, law: Law) -> tuple[_Compared | None, str]:
    """Chains at epsilon 0 beside the law of two districts; or nothing, and perhaps why."""
    if material.n_districts != 2 or law.epsilons[0] != 0:
        return None, ""
    run = material.folder.run_of(law.group.cells[0])
    print(f"Drawing {TREES:,} random trees beside the chains: {law_title(law.group)} ...", flush=True)
    target = Target(**{**run["target"], "epsilon": 0.0})
    try:
        reference = draw_reference(material.problem, target, TREES)
    except TreeLawError as error:
        return None, f"{law_title(law.group)}: no plans could be drawn beside the chains: {error}."
    sample = reference.sample()
    chains = law.draws[0].later_chains("cut_edges")
    compared = _Compared(
        law=law,
        target=target,
        reference=reference,
        sample=sample,
        of_each=[ks_to_reference([chain], sample) for chain in chains],
        together=ks_to_reference(chains, sample),
    )
    return compared, ""


def _reference_words(compared: _Compared) -> str:
    """How far the chains' cut edges are from the law, and whether chance may have made that."""
    together, each, reference = compared.together, compared.of_each, compared.reference
    sentence = (
        f"{html.escape(begin(law_title(compared.law.group)))}: the cut edges of all chains together are "
        f"<b>{together.value:.4f}</b> from the law, {_beside_chance(together)}. A chain alone is "
        f"{np.mean([distance.value for distance in each]):.4f} from it on average, "
    )
    if all(np.isfinite(distance.limit) for distance in each):
        beyond = sum(not distance.agrees for distance in each)
        sentence += (
            f"and {beyond or 'none'} of {len(each)} {'are' if beyond > 1 else 'is'} beyond its limit. "
        )
    else:
        sentence += "and tells too little by itself to say more. "
    sentence += (
        f"From the law's bare Gaussian they are {_from_gaussian(compared):.4f} away, as they should be: "
    )
    sentence += "there are more plans with more cut edges."
    drawn = (
        f"The law is known from {reference.n_trees:,} random trees, cut into plans and weighted, with no "
        f"Markov chain. They are worth {reference.effective_size:,.0f} trees of equal weight, and the tail "
        f"of their weights has shape {reference.pareto_k:.2f} (below {PARETO_BELOW:g} is well)"
    )
    drawn += "." if reference.is_trusted else ": <b>too few come near this law to rely on it</b>."
    return f'<p>{sentence}</p><p class="quiet">{drawn}</p>'


def _beside_chance(distance: Distance) -> str:
    """A distance beside what chance would make it, with what that rests on."""
    worth = (
        f"with {distance.effective_size:,.0f} effective plans of the chains and "
        f"{distance.reference_size:,.0f} of the law"
    )
    if not np.isfinite(distance.limit):
        return f"{worth}: too few to say what chance alone would make it"
    verdict = "within" if distance.agrees else "<b>beyond</b>"
    return (
        f"{verdict} the {distance.limit:.4f} that chance alone would exceed once in a thousand times, {worth}"
    )


def _gaussian(compared: _Compared, values: FloatArray) -> FloatArray:
    """The bare Gaussian of the law at whole numbers of cut edges, of sum 1."""
    weights = np.exp(-compared.target.compactness * (values - compared.target.cut_edges) ** 2)
    return np.asarray(weights / weights.sum(), dtype=np.float64)


def _from_gaussian(compared: _Compared) -> float:
    chains = sample_of_chains(compared.law.draws[0].later_chains("cut_edges"))
    centre = round(compared.target.cut_edges)
    values = np.arange(max(0, centre - 200), centre + 200, dtype=np.float64)
    return ks_distance(chains, known_law(values, _gaussian(compared, values)))


def _law_chart(material: StudyMaterial, compared: _Compared) -> Chart:
    """Cut edges of each chain beside the law."""
    chains = compared.law.draws[0].later_chains("cut_edges")
    draws = np.concatenate([*chains, compared.sample.values])
    values = np.arange(draws.min(), draws.max() + 1)
    shares = [np.array([(chain == value).mean() for value in values]) for chain in chains]
    of_law = np.array([compared.sample.weights[compared.sample.values == value].sum() for value in values])
    gaussian = _gaussian(compared, values)
    # Ends where there is nothing to see are left out.
    seen = np.flatnonzero(np.max([*shares, of_law], axis=0) > 1e-4)
    rows = slice(seen[0], seen[-1] + 1)
    title = f"Cut edges of every chain beside the law, sampled for the {law_title(compared.law.group)}"
    return Chart(
        f"cut-edges-{law_key(compared.law.group)}",
        title,
        f"Steps of {len(chains)} chains and of the law, whose largest difference for all chains together is "
        f"{compared.together.value:.4f}.",
        pd.DataFrame(
            {
                "cut_edges": values[rows].astype(int),
                "law": of_law[rows],
                "bare_gaussian": gaussian[rows],
                **{
                    name: share[rows]
                    for name, share in zip(compared.law.draws[0].chains, shares, strict=True)
                },
            }
        ),
        partial(
            draw_histograms,
            title,
            source_line(material, compared.law),
            "cut edges",
            values[rows],
            [share[rows] for share in shares],
            of_law[rows],
            gaussian[rows],
        ),
    )


def _curve_chart(material: StudyMaterial, law: Law, compared: _Compared | None) -> Chart:
    """Mean distances over ever more draws, from the first on."""
    chains = law.draws[0].quantities["cut_edges"]
    n_draws, between = pairwise_curve(chains)
    lines = [Line("between two chains", between)]
    table = {"draws": n_draws, "between_chains": between}
    if compared is not None:
        from_law = reference_curve(chains, compared.sample)[1]
        lines.append(Line("from the law", from_law))
        table["from_the_law"] = from_law
    title = f"Distance of the cut edges over the length of chains, {law_title(law.group)}"
    return Chart(
        f"distance-{law_key(law.group)}",
        title,
        f"Lines that fall from {between[0]:.2f} after one plan to {between[-1]:.4f} after {n_draws[-1]:,} "
        "plans between two chains.",
        pd.DataFrame(table),
        partial(
            draw_lines,
            title,
            source_line(material, law),
            "plans of each chain, the first ones",
            "mean distance",
            n_draws.tolist(),
            lines,
            is_log=True,
        ),
    )


def _by_epsilon_chart(material: StudyMaterial, law: Law, rows: list[dict[str, Any]]) -> Chart:
    """Mean distances between chains by epsilon."""
    frame = pd.DataFrame(rows)
    lines = [
        Line(str(name), own.sort_values("epsilon")["mean distance"].to_numpy())
        for name, own in frame.groupby("quantity", sort=False)
    ]
    title = f"Distance between chains by ε, sampled for the {law_title(law.group)}"
    worst = frame.loc[frame["mean distance"].idxmax()]
    return Chart(
        f"distance-{law_key(law.group)}",
        title,
        f"Lines by epsilon. The largest mean distance is {worst['mean distance']:.3f}, for the "
        f"{worst['quantity']} at epsilon {worst['epsilon']:g}.",
        frame.drop(columns="law"),
        partial(
            draw_lines,
            title,
            source_line(material, law),
            "ε",
            "mean distance of two chains",
            law.epsilons,
            lines,
            [],
        ),
    )
