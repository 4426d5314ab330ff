"""What the report of a study says of its attack."""

import html
from functools import partial

import pandas as pd

from bottomup.dashboard.attack_figure import draw_figure
from bottomup.dashboard.chart import Chart
from bottomup.dashboard.options import weighting_of
from bottomup.dashboard.stored_attack import StoredAttack, attack_of_study
from bottomup.dashboard.study_attack import change_of
from bottomup.dashboard.study_charts import begin, law_key, law_title
from bottomup.dashboard.study_material import Law, StudyMaterial

__all__ = ["attack_section"]


def attack_section(material: StudyMaterial) -> tuple[str, list[Chart]]:
    """Words as HTML, and a chart for each law that was sampled before and after the attack."""
    attack = material.folder.record["study"]["attack"]
    if attack is None:
        return "", []
    change = change_of(material.inputs, material.n_districts, attack["cluster"], attack["adversary_seed"])
    words, charts = [f'<p class="said">{html.escape(begin(change.words))}.</p>'], []
    options = material.folder.options
    for law, attacked in _pairs(material):
        assert law.group.score is not None  # attacks change testimonies
        found = attack_of_study(
            material.inputs,
            change,
            [cell.folder for cell in law.group.cells],
            [cell.folder for cell in attacked.group.cells],
            law.group.score,  # type: ignore[arg-type]
            weighting=weighting_of(options),
            copies_count_once=options.deduplicate,
        )
        items = "".join(f"<li>{html.escape(sentence)}</li>" for sentence in found.sentences)
        words.append(f"<h3>{html.escape(begin(law_title(law.group)))}</h3><ul>{items}</ul>")
        charts.append(_chart(law, found, change.words))
    return ("".join(words), charts) if charts else ("", [])


def _pairs(material: StudyMaterial) -> list[tuple[Law, Law]]:
    """Laws before and after the attack, where both are finished."""
    after = {(law.group.score, law.group.cut_edges): law for law in material.laws if law.group.is_attacked}
    pairs = [(law, after.get((law.group.score, law.group.cut_edges))) for law in material.honest]
    return [(law, attacked) for law, attacked in pairs if attacked is not None]


def _chart(law: Law, found: StoredAttack, words: str) -> Chart:
    return Chart(
        f"attack-{law_key(law.group)}",
        f"What the attack reaches, sampled for the {law_title(law.group)}",
        " ".join(found.sentences),
        pd.DataFrame(found.rows),
        partial(draw_figure, found.outcome, words),
    )
