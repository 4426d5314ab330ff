"""What a report is made of: everything that a session has at one moment, while its walks may go on."""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import UTC, datetime
from functools import cached_property

import numpy as np

from bottomup.dashboard.design import Design
from bottomup.dashboard.facts import collect_whole_plans
from bottomup.dashboard.fates import units_of_clusters
from bottomup.dashboard.fates_now import FatesNow, Spread, effective_plans, fates_of
from bottomup.dashboard.pool import RecordedLadders, Sample
from bottomup.dashboard.prepared import PlanNumbers, Prepared
from bottomup.dashboard.recording import Recording
from bottomup.dashboard.releases import release_of_charts, release_of_ladder
from bottomup.dashboard.saved_sessions import Extent
from bottomup.dashboard.saving import provenance
from bottomup.dashboard.session import Session, ShownPlan
from bottomup.dashboard.state import EPSILONS
from bottomup.dashboard.tradeoff import AtEpsilon, measure_ladder
from bottomup.dashboard.wording import walks
from bottomup.dashboard.worker import Progress
from bottomup.data.plans import Plan
from bottomup.sampler.accounting import Release
from bottomup.sampler.problem import Problem

__all__ = ["Material", "gather", "ladder_extent", "release_behind", "take"]

_VERDICTS = {
    "agree": "{walks} from unlike starts agree",
    "disagree": "{walks} still disagree: not yet to be relied on",
    "too early": "too early to say whether this can be relied on",
    "one start": "one walk alone: whether this can be relied on is not known",
}


@dataclass(frozen=True, eq=False)
class Material:
    """A session at one moment.

    Attributes
    ----------
    prepared : Prepared
    design : Design
    epsilon : float
    shown : ShownPlan
        The plan on the map.
    shown_numbers, enacted_numbers : PlanNumbers
    made_of : dict
        What made the plan on the map, see `bottomup.dashboard.saving.provenance`.
    progress : Progress
    time : str
        UTC, such as ``2025-03-01 14:05 UTC``.
    recorded : RecordedLadders or None
        A copy that does not grow; None before there are plans on record at every rung.
    sample, baseline : Sample or None
        Of it.
    run : str
        Name of the draw behind the charts; empty without one.
    """

    prepared: Prepared
    design: Design
    epsilon: float
    shown: ShownPlan
    shown_numbers: PlanNumbers
    enacted_numbers: PlanNumbers
    made_of: dict[str, object]
    progress: Progress
    time: str
    recorded: RecordedLadders | None = None
    sample: Sample | None = None
    baseline: Sample | None = None
    run: str = ""

    @property
    def problem(self) -> Problem:
        """What the walks are about."""
        return self.prepared.problem_of(self.design.weighting)

    @property
    def enacted(self) -> Plan:
        """The plan that stands as the enacted one."""
        return self.prepared.plan(self.design.enacted)

    @property
    def kinds(self) -> list[str]:
        """Scores that there are."""
        return ["testimony", "cluster"] if self.prepared.has_clusters else ["testimony"]

    @property
    def verdict(self) -> str:
        """In a few words, whether the plans can be relied on."""
        found = self.progress.reliability
        if found is None or found.epsilon != self.epsilon:
            return "not yet judged"
        if found.stuck:
            return "a walk stands still: not to be relied on"
        standing = self.progress.standing
        return _VERDICTS[found.verdict].format(walks=walks(2 if standing is None else standing.n_walks))

    @property
    def source(self) -> str:
        """Where the figures come from, as one line below a chart."""
        name = self.prepared.inputs.geography.name
        if self.sample is None:
            return f"{name} · {self.time}"
        return (
            f"{name} · run {self.run} · {self.time} · {self.sample.n_plans:,} plans at "
            f"ε = {self.epsilon:g} · {self.verdict}"
        )

    @cached_property
    def at_epsilons(self) -> list[AtEpsilon]:
        """Scores at every ε of the slider; empty while there are none."""
        if self.recorded is None:
            return []
        return measure_ladder(self.recorded, EPSILONS, lambda: False) or []

    @cached_property
    def fates(self) -> FatesNow | None:
        """What becomes of communities; None before the first plans."""
        if self.sample is None or self.baseline is None:
            return None
        ess = effective_plans(self.progress.reliability, self.epsilon)
        return fates_of(self.prepared.testimonies, self.sample, self.baseline, None, ess)

    @cached_property
    def spread(self) -> tuple[Spread, Spread]:
        """Over how many districts testimonies and clusters are spread; see `FatesReader.spread`."""
        testimonies = self.prepared.testimonies
        packed = units_of_clusters(testimonies)
        plans = None
        if self.recorded is not None and self.sample is not None:
            plans = collect_whole_plans(self.recorded, self.sample, lambda: False)
        if plans is None:
            return _unknown(testimonies.n_testimonies), _unknown(len(packed[0]) - 1)
        return plans.spread(testimonies.indptr, testimonies.units), plans.spread(*packed)


def _unknown(n: int) -> Spread:
    return np.full(n, np.nan), np.full(n, np.nan)


def take(session: Session, shown: ShownPlan | None) -> Material:
    """What can be taken at once, for the thread of the page; `gather` adds the plans on record.

    Parameters
    ----------
    session : Session
    shown : ShownPlan or None
        The plan on the map, or None where it is not to be told of: the enacted one then stands in its place.
    """
    if shown is None:
        plan = session.prepared.plan(session.settings.enacted)
        title = f"Enacted plan {plan.name}"
        shown = ShownPlan("enacted", plan.assignment, plan.labels, title, None, None)
    return Material(
        prepared=session.prepared,
        design=session.settings.design,
        epsilon=session.settings.epsilon,
        shown=shown,
        shown_numbers=session.numbers_of(shown),
        enacted_numbers=session.enacted_numbers,
        made_of=provenance(session, shown),
        progress=session.worker.progress,
        time=datetime.now(UTC).strftime("%Y-%m-%d %H:%M UTC"),
    )


def gather(session: Session, material: Material) -> Material:
    """Add a copy of the plans on record, for a thread of its own.

    The plans of walks that have yet to start anew, after another setting, are left out.
    """
    standing = material.progress.standing
    if standing is None or standing.recorded.design != material.design:
        return material
    recorded = _copy(standing.recorded)
    if recorded is None:
        return material
    sample, baseline = recorded.sample(material.epsilon), recorded.sample(0.0)
    release = release_of_charts(session, sample=sample)
    run = "" if release is None else release.run
    return replace(material, recorded=recorded, sample=sample, baseline=baseline, run=run)


def _copy(recorded: RecordedLadders) -> RecordedLadders | None:
    rows: list[tuple[Recording, ...]] = []
    for row in recorded.recordings:
        held = [(recording.read_all(), recording.spacing) for recording in row]
        copies = [Recording.holding(own, spacing=spacing) for own, spacing in held if own is not None]
        if len(copies) < len(held):
            return None
        rows.append(tuple(copies))
    return replace(recorded, recordings=tuple(rows))


def ladder_extent(recorded: RecordedLadders, epsilon: float) -> Extent | None:
    """How much a chart of every ε lets out: the later half of all recordings but the baseline's."""
    rungs = [
        (recording, rung)
        for row in recorded.recordings
        for recording, rung in zip(row, recorded.epsilons, strict=True)
    ]
    if not all(len(recording) for recording, _ in rungs):
        return None
    n_plans = sum(len(recording) - len(recording) // 2 for recording, rung in rungs if rung > 0)
    last_step = max(len(recording) * recording.spacing for recording, _ in rungs)
    return Extent(epsilon, recorded.epsilons, n_plans, recorded.round_of(last_step))


def release_behind(
    session: Session,
    recorded: RecordedLadders | None,
    sample: Sample | None,
    how: str,
    *,
    of_every_epsilon: bool,
) -> Release | None:
    """What letting out charts of a sample, or of every ε as well, is; None while they are empty."""
    if recorded is None or sample is None:
        return None
    if not of_every_epsilon:
        return release_of_charts(session, how, sample)
    extent = ladder_extent(recorded, sample.epsilon)
    return None if extent is None else release_of_ladder(session, recorded, extent, how)
