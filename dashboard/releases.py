"""What a release from the page is: a plan that is saved or shown in public, or the plans behind the charts.

Looking at the ensemble on one's own screen is no release. What leaves it is, and counts by how it was chosen.
A plan drawn by lot, or met by the walk at a moment that nobody picked, is one draw. Of several drawn by lot
the one that is released counts as all of them. A plan picked from a chart was chosen among all that the chart
shows, and by what they keep: it counts as that many draws, and since the pick looked at the testimonies
themselves, no sum over draws bounds how far one of them could have swayed it.
"""

import secrets
from dataclasses import dataclass

from bottomup.dashboard.design import Design
from bottomup.dashboard.ensemble_files import ChartPlans
from bottomup.dashboard.pool import MetPlan, RecordedLadders, Sample
from bottomup.dashboard.saved_sessions import Extent, Moment, Snapshot
from bottomup.dashboard.saving import provenance, submitted_digest
from bottomup.dashboard.session import Session, ShownPlan
from bottomup.dashboard.state import Draw, TakenPlan
from bottomup.sampler.accounting import (
    BY_LOT,
    CHARTS,
    CURRENT_PLAN,
    PLAN,
    SHOWING,
    WHOLE_SAMPLE,
    Entry,
    Release,
    Total,
    add_up,
    is_released,
)
from bottomup.sampler.ledger import LedgerError
from bottomup.sampler.naming import clusters_are, name_of, plan_digest

__all__ = [
    "IN_PUBLIC",
    "Books",
    "draw_by_lot",
    "hold",
    "read_books",
    "release_of",
    "release_of_charts",
    "release_of_ladder",
    "release_of_plans",
    "release_of_session",
    "showing_of",
    "was_released",
]

IN_PUBLIC = "shown in public"
"""The form that a showing takes."""


@dataclass(frozen=True)
class Books:
    """What the ledger says about the testimonies in use.

    Attributes
    ----------
    entries : tuple of Entry
        Lines about these testimonies, oldest first.
    n_others : int
        Lines about other ones.
    total : Total
    error : str
        Why the ledger cannot be read; empty when it can, and then only is the rest to be believed.
    """

    entries: tuple[Entry, ...]
    n_others: int
    total: Total
    error: str = ""

    def has(self, release: Release | None) -> bool:
        """Whether the very same draw has been released before."""
        return release is not None and is_released(self.entries, release)


def read_books(session: Session) -> Books:
    """What the session's ledger says now about the testimonies in use."""
    digest = submitted_digest(session.prepared.testimonies)
    try:
        entries = session.ledger.read()
    except LedgerError as error:
        return Books((), 0, add_up((), digest), str(error))
    own = tuple(entry for entry in entries if entry.release.testimonies == digest)
    return Books(own, len(entries) - len(own), add_up(own, digest))


def draw_by_lot(session: Session) -> bool:
    """Show a recorded plan drawn by lot; False while there is none.

    The randomness is the operating system's, so that nobody can draw until a plan suits by trying seeds.
    """
    standing = session.worker.progress.standing
    if standing is None:
        return False
    plan = standing.recorded.draw(session.settings.epsilon, secrets.SystemRandom())
    if plan is None:
        return False
    session.lots.append(plan.origin.epsilon)
    draw = Draw(BY_LOT, len(session.lots), max(session.lots))
    title = f"A plan drawn by lot at ε = {plan.origin.epsilon:.3g}, met in round {plan.origin.round:,}"
    session.shown.choose(TakenPlan(plan, draw, title))
    return True


def hold(session: Session, shown: ShownPlan) -> None:
    """Keep the walk's plan of a moment on the map, so that what is saved next is the same plan."""
    if shown.kind == "current" and shown.origin is not None and shown.draw is not None:
        session.shown.choose(TakenPlan(MetPlan(shown.assignment, shown.origin), shown.draw, shown.title))


def was_released(session: Session, release: Release) -> None:
    """Take notice that a release has been written down: the lots drawn for it are spent."""
    if release.chosen == BY_LOT:
        session.lots.clear()


def release_of(session: Session, shown: ShownPlan, how: str) -> Release | None:
    """What letting a plan out is, in the form ``how``; None for an enacted plan, which nobody has drawn."""
    origin, draw = shown.origin, shown.draw
    if origin is None or draw is None:
        return None
    return _release(
        session,
        origin.design,
        what=PLAN,
        how=how,
        draw=draw,
        plan=plan_digest(shown.assignment),
        run=provenance(session, shown)["name"],
    )


def release_of_charts(session: Session, how: str = IN_PUBLIC, sample: Sample | None = None) -> Release | None:
    """What letting out the charts of a sample, or of this moment, is; None while they are empty."""
    standing, sample = session.worker.progress.standing, sample or session.sample()
    if standing is None or sample is None:
        return None
    return _whole_release(session, standing.recorded, sample, how)


def release_of_plans(session: Session, plans: ChartPlans, how: str) -> Release:
    """What saving the plans behind the charts is: the same as showing the charts of the same moment.

    Those of the baseline were drawn with testimony ignored and add nothing.
    """
    return _whole_release(session, plans.recorded, plans, how)


def release_of_ladder(session: Session, recorded: RecordedLadders, extent: Extent, how: str) -> Release:
    """What letting out charts of every ε is: plans of all walks, each as large a draw as the largest."""
    return _whole_release(session, recorded, extent, how)


def release_of_session(session: Session, saved: Moment | Snapshot) -> Release:
    """What saving a session is: letting out every plan of every walk, each as large a draw as the largest."""
    moment = saved if isinstance(saved, Moment) else saved.moment
    return _whole_release(session, moment.standing.recorded, saved.extent(), "saved as a session")


def _whole_release(
    session: Session, recorded: RecordedLadders, behind: Sample | ChartPlans | Extent, how: str
) -> Release:
    design = recorded.design
    made = {
        "testimonies": session.prepared.testimonies.digest,
        "design": design._asdict(),
        "epsilon": behind.epsilon,
        "rungs": behind.rungs,
        "plans": behind.n_plans,
        "last_round": behind.last_round,
    }
    if recorded.runs:
        made["runs"] = sorted({run.name for run in recorded.runs})
    return _release(
        session,
        design,
        what=CHARTS,
        how=how,
        draw=Draw(WHOLE_SAMPLE, behind.n_plans, max(behind.rungs)),
        plan="",
        run=name_of(made),
    )


def showing_of(session: Session, shown: ShownPlan) -> Release:
    """A note that the page was shown in public, with the plan on the map."""
    return _release(
        session,
        session.settings.design if shown.origin is None else shown.origin.design,
        what=SHOWING,
        how=IN_PUBLIC,
        draw=shown.draw or Draw(CURRENT_PLAN, 1, 0.0),
        plan=plan_digest(shown.assignment),
        run="",
    )


def _release(
    session: Session, design: Design, *, what: str, how: str, draw: Draw, plan: str, run: str
) -> Release:
    prepared, score = session.prepared, design.score
    sensitivity = prepared.problem_of(design.weighting).sensitivity(score)
    return Release(
        what=what,
        how=how,
        chosen=draw.chosen,
        epsilon=draw.epsilon,
        draws=draw.draws,
        plan=plan,
        run=run,
        score=score,
        delta=sensitivity.formula,
        looks_at_data=sensitivity.looks_at_data,
        clusters=clusters_are(prepared.testimonies) if score == "cluster" else "",
        testimonies=submitted_digest(prepared.testimonies),
    )
