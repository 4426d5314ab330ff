"""What counts as a release, and what releases add up to.

A plan that is drawn and let out counts as one draw. Whoever looks at N plans and takes one has let N draws
decide, so that it counts as N. Each draw counts with the epsilon of its law.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime

from bottomup.sampler.promise import Promise, compose

__all__ = [
    "ALREADY_RELEASED",
    "BY_LOT",
    "CHARTS",
    "COUNTED",
    "CURRENT_PLAN",
    "FROM_CHART",
    "ONLY_NOTED",
    "PLAN",
    "SHOWING",
    "SLACK",
    "TIME_FORMAT",
    "WHOLE_SAMPLE",
    "Entry",
    "Release",
    "Total",
    "add_up",
    "check_word",
    "is_released",
]

PLAN, CHARTS, SHOWING = "plan", "charts", "showing"
"""What is released: one plan, all plans behind charts, or something that is to be noted only."""
CURRENT_PLAN, BY_LOT, FROM_CHART, WHOLE_SAMPLE = "current plan", "by lot", "from a chart", "whole sample"
"""How it was chosen."""
COUNTED, ALREADY_RELEASED, ONLY_NOTED = "counted", "already released", "only noted"
"""What became of a release in the ledger; only the first adds to the sum."""

TIME_FORMAT = "%Y-%m-%dT%H:%M:%SZ"
"""UTC, to the second."""
SLACK = 1e-6
"""The chance that the smaller of the two sums leaves out."""

_WHAT = (PLAN, CHARTS, SHOWING)
_CHOSEN = (CURRENT_PLAN, BY_LOT, FROM_CHART, WHOLE_SAMPLE)
_STATUS = (COUNTED, ALREADY_RELEASED, ONLY_NOTED)
_CONTROL = re.compile(r"[\x00-\x1f\x7f-\x9f\u2028\u2029]")


@dataclass(frozen=True)
class Release:
    """Something that is about to be released.

    Attributes
    ----------
    what : {"plan", "charts", "showing"}
    how : str
        The form that it takes, such as the kind of file.
    chosen : {"current plan", "by lot", "from a chart", "whole sample"}
    epsilon : float
        Of each draw that counts; the largest where they differ.
    draws : int
        Draws that it counts as: one for a plan that was drawn and taken, N for one picked among N.
    plan : str
        `bottomup.sampler.naming.plan_digest`; empty for charts.
    run : str
        Name of the draw: the same name and plan are the same draw.
    score : str
    delta : str
        Formula of the score's sensitivity.
    looks_at_data : bool
        Whether the sensitivity does.
    clusters : str
        What the clusters rest on, see `bottomup.sampler.naming.clusters_are`; empty where they do not matter.
    testimonies : str
        Digest of the testimonies as they were submitted.

    Raises
    ------
    ValueError
        Naming the attribute.
    """

    what: str
    how: str
    chosen: str
    epsilon: float
    draws: int
    plan: str
    run: str
    score: str
    delta: str
    looks_at_data: bool
    clusters: str
    testimonies: str

    def __post_init__(self) -> None:
        check_word("what", self.what, _WHAT)
        check_word("chosen", self.chosen, _CHOSEN)
        if not (math.isfinite(self.epsilon) and self.epsilon >= 0):
            raise ValueError(f"epsilon must be finite and not negative; got {self.epsilon}")
        if self.draws < 1:
            raise ValueError(f"draws must be at least 1; got {self.draws}")
        for name in ("how", "plan", "run", "score", "delta", "clusters", "testimonies"):
            text = getattr(self, name)
            if _CONTROL.search(text):
                raise ValueError(f"{name} must be plain text on one line; got {text!r}")

    @property
    def is_conditional(self) -> bool:
        """Whether its promise rests on the data: a sensitivity read off them, or clusters made of them.

        At epsilon 0 testimony is ignored, and nothing rests on it.
        """
        return self.epsilon > 0 and (self.looks_at_data or self.clusters == "conditional")


@dataclass(frozen=True)
class Entry:
    """A line of the ledger.

    Attributes
    ----------
    time : str
        Of writing, UTC, such as ``2025-03-01T14:05:09Z``.
    release : Release
    status : {"counted", "already released", "only noted"}
    """

    time: str
    release: Release
    status: str

    def __post_init__(self) -> None:
        check_word("status", self.status, _STATUS)
        try:
            datetime.strptime(self.time, TIME_FORMAT)
        except ValueError:
            raise ValueError(f"time must be like 2025-03-01T14:05:09Z; got {self.time!r}") from None

    @property
    def adds(self) -> float:
        """What it adds to the sum of the epsilons."""
        return self.release.draws * self.release.epsilon if self.status == COUNTED else 0.0


@dataclass(frozen=True)
class Total:
    """What has been released from the same testimonies.

    Attributes
    ----------
    n_plans, n_charts : int
        Plans, and whole samples behind charts, shown or saved.
    n_picked : int
        Of the plans, those picked from a chart. The pick looked at what the plans keep, that is at the
        testimonies themselves, so no sum over draws bounds how far one of them could sway it.
    epsilon : float
        Sum over all draws.
    epsilon_with_slack : float
        Holds but for a chance of `SLACK`; the sum where that is no larger.
    is_conditional : bool
        Whether any of it is, see `Release.is_conditional`.
    """

    n_plans: int
    n_charts: int
    n_picked: int
    epsilon: float
    epsilon_with_slack: float
    is_conditional: bool


def add_up(entries: Iterable[Entry], testimonies: str) -> Total:
    """Sum what has been released from the testimonies with this digest, see `compose`."""
    counted = [
        entry.release
        for entry in entries
        if entry.status == COUNTED and entry.release.testimonies == testimonies
    ]
    promises = [Promise(release.epsilon, releases=release.draws) for release in counted]
    plans = [release for release in counted if release.what == PLAN]
    return Total(
        n_plans=len(plans),
        n_charts=len(counted) - len(plans),
        n_picked=sum(release.chosen == FROM_CHART for release in plans),
        epsilon=compose(promises)[0],
        epsilon_with_slack=compose(promises, SLACK)[0],
        is_conditional=any(release.is_conditional for release in counted),
    )


def is_released(entries: Iterable[Entry], release: Release) -> bool:
    """Whether the very same draw has been counted: same run, same plan, same testimonies."""
    own = (release.what, release.run, release.plan, release.testimonies)
    return any(
        entry.status == COUNTED
        and (entry.release.what, entry.release.run, entry.release.plan, entry.release.testimonies) == own
        for entry in entries
    )


def check_word(name: str, word: str, words: tuple[str, ...]) -> None:
    """Raise ValueError, naming what it is, unless the word is one of these."""
    if word not in words:
        raise ValueError(f"{name} must be one of {', '.join(words)}; got {word!r}")
