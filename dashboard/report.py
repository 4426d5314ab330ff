"""A report to give away: one HTML file of plans, charts, communities, the promise and its sources."""

import html
from collections.abc import Callable, Collection, Mapping, Sequence
from typing import NamedTuple

from bottomup.dashboard.answers import QUESTIONS
from bottomup.dashboard.chart import Chart
from bottomup.dashboard.prints.sheet import Form
from bottomup.dashboard.releases import Books
from bottomup.dashboard.report_charts import chart_titles, make_chart
from bottomup.dashboard.report_html import document, figure, section
from bottomup.dashboard.report_material import Material
from bottomup.dashboard.report_parts import (
    communities_words,
    comparison_words,
    epsilons_words,
    influence_words,
    plans_words,
    provenance_words,
    reliability_words,
    spread_words,
    table_words,
)
from bottomup.data.errors import count
from bottomup.sampler.accounting import Release

__all__ = ["PARTS", "Drawn", "draw_charts", "shows_plan", "shows_plans", "write_report"]

PARTS = {
    "plans": "The plan on the map beside the enacted one",
    "communities": QUESTIONS[0],
    "comparison": QUESTIONS[1],
    "epsilons": "What does every ε buy?",
    "spread": QUESTIONS[2],
    "influence": QUESTIONS[3],
    "table": "Every community",
    "reliability": "Can this be relied on?",
    "provenance": "Where does this come from?",
}
"""Parts of a report, in their order, and their headings."""
_CHARTS_OF = {
    "plans": ("map",),
    "communities": ("clusters",),
    "comparison": ("scores",),
    "epsilons": ("epsilon",),
    "spread": ("districts",),
    "influence": ("influence",),
}
_WORDS: dict[str, Callable[[Material], str]] = {
    "plans": plans_words,
    "communities": communities_words,
    "comparison": comparison_words,
    "epsilons": epsilons_words,
    "spread": spread_words,
    "influence": influence_words,
    "table": table_words,
    "reliability": reliability_words,
}


# Of maps that stand side by side.
_MAP_INCHES = 3.9


class Drawn(NamedTuple):
    """A chart and its picture."""

    chart: Chart
    contents: bytes
    form: Form


def shows_plan(parts: Collection[str]) -> bool:
    """Whether a report of these parts shows the plan on the map."""
    return "plans" in parts


def shows_plans(parts: Collection[str]) -> bool:
    """Whether a report of these parts tells of the plans on record."""
    return bool({"communities", "comparison", "epsilons", "spread", "table", "reliability"} & set(parts))


def draw_charts(material: Material, parts: Collection[str]) -> dict[str, list[Drawn]]:
    """Draw the charts of some parts, for a thread of its own.

    Parameters
    ----------
    material : Material
    parts : collection of str
        Keys of `PARTS`.

    Returns
    -------
    dict of str to list of Drawn
        By part.
    """
    keys = chart_titles(material.prepared)
    found: dict[str, list[Drawn]] = {}
    for part, kinds in _CHARTS_OF.items():
        if part not in parts:
            continue
        own = [key for key in keys if key.partition("-")[0] in kinds]
        if material.shown.kind == "enacted" and "map" in own:
            # It is the same map.
            own.remove("map")
        charts = [make_chart(material, key, _MAP_INCHES) for key in own]
        found[part] = []
        for chart in charts:
            if chart is not None:
                # Outlines of a whole state are smaller as a picture.
                form: Form = "png" if part == "plans" else "svg"
                found[part].append(Drawn(chart, chart.picture(form), form))
    return found


def write_report(
    material: Material,
    drawn: Mapping[str, list[Drawn]],
    parts: Collection[str],
    books: Books,
    *,
    title: str,
    note: str,
    releases: Sequence[Release],
) -> str:
    """Put the file together.

    Parameters
    ----------
    material : Material
    drawn : mapping of str to list of Drawn
        See `draw_charts`.
    parts : collection of str
        Keys of `PARTS`.
    books : Books
        What the ledger says, with this report's own lines.
    title, note : str
        The presenter's words, as plain text.
    releases : sequence of Release
        Its own lines in the ledger.
    """
    name = material.prepared.inputs.geography.name
    heading = title.strip() or f"{name}: report of a redistricting session"
    body = [
        f"<header><h1>{html.escape(heading)}</h1>",
        f'<p class="quiet">{html.escape(material.source)}</p>',
        f'<p class="note">{html.escape(note.strip())}</p>' if note.strip() else "",
        f"<p>{_about(material)}</p></header>",
        "<main>",
    ]
    for part, title_of_part in PARTS.items():
        if part in parts:
            charts = "".join(map(_figure, drawn.get(part, [])))
            words = (
                provenance_words(material, books, releases)
                if part == "provenance"
                else _WORDS[part](material)
            )
            body.append(section(title_of_part, words, _pair(charts, part)))
    body.append("</main>")
    return document(heading, body)


def _about(material: Material) -> str:
    inputs = material.prepared.inputs
    words = (
        f"{html.escape(inputs.geography.name)}: {inputs.geography.n_units:,} units, "
        f"{count(material.enacted.n_districts, 'district')}, "
        f"{count(material.prepared.testimonies.n_testimonies, 'testimony', 'testimonies')}, "
        f"at ε = {material.epsilon:g}."
    )
    return f"{words} {html.escape(inputs.note)}" if inputs.note else words


def _figure(drawn: Drawn) -> str:
    chart = drawn.chart
    return figure(drawn.contents, drawn.form, chart.alt, chart.title, chart.table)


def _pair(charts: str, part: str) -> str:
    return f'<div class="pair">{charts}</div>' if part == "plans" and charts else charts
