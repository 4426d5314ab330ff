"""Sentences about what plans keep together."""

import html

import numpy as np
from numpy.typing import NDArray

from bottomup.dashboard.fates_now import FatesNow
from bottomup.dashboard.selection import Cluster, Testimony
from bottomup.dashboard.session import ShownPlan
from bottomup.data.errors import count
from bottomup.data.testimonies import Testimonies

__all__ = ["counts_sentence", "fate_sentence", "plan_sentence"]


def plan_sentence(
    shown: ShownPlan, kept: NDArray[np.bool_], enacted: NDArray[np.bool_], mean: float | None
) -> str:
    """What the plan on the map keeps whole, beside the enacted one and the ensemble, as HTML.

    Parameters
    ----------
    shown : ShownPlan
    kept, enacted : bool arrays, shape (T,)
        Which testimonies the plan on the map and the enacted one keep whole.
    mean : float or None
        Share that plans of the ensemble keep on average; None before the first.
    """
    of_all = f"<b>{int(kept.sum()):,}</b> of {count(len(kept), 'testimony', 'testimonies')}"
    ensemble = "" if mean is None else f", the ensemble <b>{mean * len(kept):,.1f}</b> on average"
    if shown.origin is None:
        return f"The enacted plan, on the map, keeps {of_all} whole{ensemble}."
    enacted_words = f", the enacted plan <b>{int(enacted.sum()):,}</b>"
    return f"The plan on the map keeps {of_all} whole{enacted_words}{ensemble}."


def counts_sentence(now: FatesNow) -> str:
    """How many testimonies gain and how many are sacrificed, and why, as HTML."""
    if now.sample.epsilon == 0:
        return "At ε = 0 testimony is ignored, so that nothing gains and nothing is sacrificed."
    if not now.is_judged:
        return "It is too early to compare them with the baseline."
    fates = now.by_testimony
    gained, lost = int(fates.is_gaining.sum()), int(fates.is_sacrificed.sum())
    where = "In the plans picked out" if now.subset is not None else "In the ensemble"
    words = f"{where} <b>{gained:,}</b> {_are(gained)} whole clearly more often than in the baseline"
    if not lost:
        return f"{words}, none clearly less often."
    words += f"; <b>{lost:,}</b>, clearly less often, {_are(lost)} <b>sacrificed</b> (▼)"
    if now.subset is not None:
        return f"{words}."
    return f"{words}: others that need the same districts gain more."


def _are(n: int) -> str:
    return "is" if n == 1 else "are"


def fate_sentence(now: FatesNow | None, testimonies: Testimonies, pointed: Testimony | Cluster) -> str:
    """What becomes of one testimony or cluster, with its text and what is kept in its place, as HTML."""
    is_testimony, place = isinstance(pointed, Testimony), pointed.place
    clusters = testimonies.clusters
    name = testimonies.ids[place] if is_testimony or clusters is None else clusters.names[place]
    text = testimonies.texts.get(name, "") if is_testimony else ""
    words = f"<b>{html.escape(name)}</b>{': ' if text else ''}{html.escape(text)}"
    fates = None if now is None else (now.by_testimony if is_testimony else now.by_cluster)
    if now is None or fates is None or np.isnan(fates.kept[place]):
        return words
    kept, baseline = f"{fates.kept[place]:.1%}", f"{fates.baseline[place]:.1%}"
    if is_testimony:
        words += f" – whole in {kept} of plans, {baseline} in the baseline"
    else:
        words += f" – {kept} of its testimonies are whole on average, {baseline} in the baseline"
    if now.is_judged:
        words += f" ({100 * fates.change[place]:+.1f} ± {200 * fates.error[place]:.1f} points)"
    words += "."
    if fates.is_sacrificed[place]:
        words += " <b>Sacrificed</b>: others that need the same districts gain more."
    rivals = now.rivals(place) if is_testimony else ()
    if rivals:
        named = " and ".join(
            f"{html.escape(testimonies.ids[rival.place])} ({rival.when_split:.0%} against "
            f"{rival.when_whole:.0%})"
            for rival in rivals
        )
        words += f" Plans that split it more often keep {named}."
    return words
