"""The page's four questions, and the short answer to each."""

import numpy as np

from bottomup.dashboard.influence import times
from bottomup.dashboard.pool import Sample
from bottomup.dashboard.session import Session

__all__ = ["QUESTIONS", "answers"]

QUESTIONS = (
    "Which communities does this plan keep together?",
    "How does it compare with what is possible?",
    "Who ends up where?",
    "How much can anyone sway it?",
)
"""In the order in which a hearing asks them."""


def answers(session: Session) -> list[str]:
    """A few words for each question, from what is at hand; empty while nothing is."""
    # Weighting plans to ε takes a while: once for all.
    sample = session.sample()
    return [
        _communities(session),
        _comparison(session, sample),
        _spread(session, sample),
        _influence(session),
    ]


def _communities(session: Session) -> str:
    shown = session.shown_plan()
    numbers, enacted = session.numbers_of(shown), session.enacted_numbers
    words = f"{numbers.score_testimony:.0%} of testimonies whole"
    return words if shown.kind == "enacted" else f"{words}; enacted {enacted.score_testimony:.0%}"


def _comparison(session: Session, sample: Sample | None) -> str:
    if sample is None:
        return ""
    kind = session.settings.score
    above = float(np.mean(sample.scores(kind) > session.enacted_numbers.score(kind)))
    return f"{above:.0%} of plans keep more than the enacted one"


def _spread(session: Session, sample: Sample | None) -> str:
    if sample is None or not session.prepared.shares:
        return ""
    name = next(iter(session.prepared.shares))
    typical = float(np.median(sample.plans.shares[name][:, -1]))
    enacted = float(session.enacted_numbers.shares[name][-1])
    return f"Highest {name} share {typical:.0%}; enacted {enacted:.0%}"


def _influence(session: Session) -> str:
    epsilon = session.settings.epsilon
    if epsilon == 0:
        return "Not at all: testimony is ignored"
    return f"Any one testimony: odds at most {times(epsilon)}"
