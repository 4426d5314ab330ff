"""Plain sentences: what a chart shows, in words that stand beside it."""

import numpy as np
from numpy.typing import NDArray

from bottomup.dashboard.prepared import PlanNumbers
from bottomup.dashboard.recording import Scores
from bottomup.dashboard.worker import Progress

__all__ = [
    "ONE_WALK",
    "SCORE_TITLES",
    "comparison",
    "number_of_plans",
    "plan_figures",
    "progress_line",
]

SCORE_TITLES = {
    "testimony": "Share of testimonies kept whole",
    "cluster": "Share of cluster weight in best districts",
}
"""What each score measures."""

ONE_WALK = "One walk from one start: whether a walk from an unlike start agrees is not shown here."

# Below this many plans a chart says that it is early.
_FEW = 200


def number_of_plans(scores: Scores) -> str:
    """From how many plans the charts are drawn."""
    if not scores.n_used:
        return "No plans yet."
    early = " Early days: expect change." if scores.n_used < _FEW else ""
    return (
        f"Drawn from {scores.n_used:,} plans: the later half of {scores.n_recorded:,} recorded since the "
        f"last change. The first half is taken as warming up.{early}"
    )


def comparison(
    kind: str, ensemble: NDArray[np.float64], baseline: NDArray[np.float64], enacted: float
) -> str:
    """How an ensemble compares with the baseline and the enacted plan on one score."""
    if not len(ensemble):
        return "Waiting for the first plans."
    what = (
        "of testimonies are kept whole" if kind == "testimony" else "of cluster weight is in best districts"
    )
    above = float(np.mean(ensemble > enacted))
    without = f"; with testimony ignored {np.mean(baseline):.1%}" if len(baseline) else ""
    return (
        f"On average <b>{np.mean(ensemble):.1%}</b> {what}{without}; in the enacted plan {enacted:.1%}. "
        f"<b>{above:.0%}</b> of plans score higher than the enacted one."
    )


def plan_figures(numbers: PlanNumbers) -> list[tuple[str, str]]:
    """Figures of one plan as pairs of name and value."""
    figures = [("of testimonies whole", f"{numbers.score_testimony:.1%}")]
    if np.isfinite(numbers.score_cluster):
        figures.append(("cluster share", f"{numbers.score_cluster:.1%}"))
    figures.append(("cut edges", f"{numbers.cut_edges:,}"))
    figures.append(("largest deviation", f"{numbers.max_deviation:.2%}"))
    return figures


def progress_line(progress: Progress) -> str:
    """Where the walk stands, in one line."""
    if progress.phase == "waiting":
        return "Not started yet."
    if progress.phase == "preparing":
        return "Preparing the walk. On a new machine it is compiled first, which can take a minute …"
    if progress.phase == "failed":
        return "Stopped by an error; see the message."
    recorded = 0 if progress.recording is None else len(progress.recording)
    return f"{progress.steps:,} steps · {recorded:,} {'plan' if recorded == 1 else 'plans'} recorded"
