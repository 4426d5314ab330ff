r"""The attack experiment: how often communities are kept whole, with and without a group's testimonies.

The testimonies as submitted and those that a group has changed are run side by side, each with ladders of its
own, and the fate of the same communities is followed in both: those taken out, those put in their place, and
all others. A community that is not submitted is followed all the same: only so can be told what submitting
it is worth.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from bottomup.data.changes import deduplicate
from bottomup.data.testimonies import pack_units, people_in
from bottomup.sampler.chain import Records
from bottomup.sampler.counterfactual import Counterfactual
from bottomup.sampler.ladder import Ladder
from bottomup.sampler.problem import Problem, Score
from bottomup.sampler.recording import BATCH_BYTES, draws_of_rung
from bottomup.sampler.sensitivity import Sensitivity, Weighting, unit_weights
from bottomup.sampler.statistics import find_preserved
from bottomup.sampler.traces import Thinning
from bottomup.sampler.types import FloatArray, IntArray, LongArray

if TYPE_CHECKING:
    from bottomup.data import Testimonies
    from bottomup.data.changes import Change

__all__ = [
    "MIN_ROUNDS",
    "QUANTITIES",
    "Attack",
    "Communities",
    "Draws",
    "Measure",
    "Measured",
    "Trial",
    "run_trials",
]

QUANTITIES = (
    *("kept_honest", "kept_adversary", "kept_others"),
    *("best_honest", "best_adversary", "score", "cut_edges"),
)
"""What is measured of every plan: shares of each group kept whole, shares of the two groups' weight in the
group's best district, the score that the law has, and the cut edges."""
MIN_ROUNDS = 8
"""So many rounds leave enough draws in the later half to compare two starts, though not to trust them."""
TURN_SECONDS = 1.0
"""About so long every run goes on before the next has its turn, together."""


class Communities(NamedTuple):
    """Sets of units, whether or not they are submitted as testimony."""

    ids: tuple[str, ...]
    indptr: LongArray
    units: IntArray

    @classmethod
    def choose(cls, testimonies: Testimonies, chosen: Sequence[int] | LongArray) -> Communities:
        """Those of the testimonies at some places."""
        units = [testimonies.units_of(int(place)) for place in chosen]
        return cls(tuple(testimonies.ids[int(place)] for place in chosen), *pack_units(units))

    def are_kept(self, plans: NDArray[np.integer]) -> NDArray[np.bool_]:
        """Which of them each plan keeps whole, bool array, shape (R, number of them)."""
        return find_preserved(plans, self.indptr, self.units)

    def hopeless(self, population: LongArray, upper: int) -> tuple[str, ...]:
        """Ids of those that no plan can keep whole: without a unit, or larger than a district may be."""
        is_hopeless = (np.diff(self.indptr) == 0) | (people_in(self.indptr, self.units, population) > upper)
        return tuple(name for name, own in zip(self.ids, is_hopeless, strict=True) if own)

    def best_share(self, plans: NDArray[np.integer], n_districts: int, weighting: Weighting) -> FloatArray:
        """Share of their weight, as of one cluster, in its best district, shape (R,); nan without weight."""
        units, place = np.unique(self.units, return_inverse=True)
        weight = np.bincount(place, unit_weights(np.diff(self.indptr), weighting), len(units))
        if not weight.sum():
            return np.full(len(plans), np.nan)
        some = plans[:, units]
        by_district = [(some == district) @ weight for district in range(n_districts)]
        return np.asarray(np.max(by_district, axis=0) / weight.sum(), dtype=np.float64)


@dataclass(frozen=True, eq=False)
class Attack:
    """A change of testimonies, and the communities whose fate is followed.

    Attributes
    ----------
    submitted : Change
    change : Change
        The same as the laws have it: where copies count once, they are left out.
    honest : Communities
        Those taken out; of a flood there are none.
    adversary : Communities
        Those put in; of a flood the one that is submitted again and again.
    others : Communities
        All that are in both data sets and have a unit on the map.
    """

    submitted: Change
    change: Change
    honest: Communities
    adversary: Communities
    others: Communities

    @classmethod
    def prepare(
        cls, change: Change, *, flooded: str | None = None, copies_count_once: bool = False
    ) -> Attack:
        """Find the groups of a change, and let copies count once when that is asked for.

        Parameters
        ----------
        change : Change
            See :mod:`bottomup.data.changes`. Where copies count once, ``before`` is rid of them already.
        flooded : str, optional
            Of a flood, the id of the testimony that is submitted again.
        copies_count_once : bool
        """
        before = change.before
        origin = [] if flooded is None else [before.ids.index(flooded)]
        is_other = before.sizes > 0
        is_other[change.removed] = False
        is_other[origin] = False
        adversary = (
            Communities.choose(change.after, change.added)
            if flooded is None
            else Communities.choose(before, origin)
        )
        return cls(
            submitted=change,
            change=_count_once(change) if copies_count_once else change,
            honest=Communities.choose(before, change.removed),
            adversary=adversary,
            others=Communities.choose(before, np.flatnonzero(is_other)),
        )

    @property
    def groups(self) -> dict[str, Communities]:
        """The communities by the name of their group."""
        return {"honest": self.honest, "adversary": self.adversary, "others": self.others}

    def hopeless(self, population: LongArray, upper: int) -> frozenset[str]:
        """Names of the groups of which no plan can keep any community whole."""
        return frozenset(
            name
            for name, group in self.groups.items()
            if group.ids and len(group.hopeless(population, upper)) == len(group.ids)
        )

    def measure(
        self, plans: NDArray[np.integer], n_districts: int, weighting: Weighting
    ) -> tuple[dict[str, FloatArray], NDArray[np.bool_]]:
        """What becomes of the groups in each plan.

        Returns
        -------
        quantities : dict of str to float64 array, shape (R,)
            nan for a group of none.
        kept : bool array, shape (R, number of honest and adversarial communities)
        """
        kept = {name: group.are_kept(plans) for name, group in self.groups.items()}
        found = {
            f"kept_{name}": each.mean(axis=1) if each.shape[1] else np.full(len(plans), np.nan)
            for name, each in kept.items()
        }
        for name in ("honest", "adversary"):
            found[f"best_{name}"] = self.groups[name].best_share(plans, n_districts, weighting)
        return found, np.concatenate([kept["honest"], kept["adversary"]], axis=1)


def _count_once(change: Change) -> Change:
    """The change with copies left out of what comes after.

    A testimony that stays may be the later of two copies; its place then has lost its units to the earlier
    one, which is how the change is told: it is among the removed.
    """
    after = deduplicate(change.after)
    place_after = {name: place for place, name in enumerate(after.ids)}
    is_removed = np.zeros(change.before.n_testimonies, dtype=bool)
    is_removed[change.removed] = True
    emptied = [
        place
        for place, name in enumerate(change.before.ids)
        if not is_removed[place] and change.before.sizes[place] and not after.sizes[place_after[name]]
    ]
    return replace(
        change,
        after=after,
        removed=np.union1d(change.removed, emptied).astype(np.int64),
        added=change.added[after.sizes[change.added] > 0],
        words=f"{change.words}; copies count once",
    )


class Draws:
    """What was measured of one ladder at one rung, in bounded memory, oldest first; see `Thinning`."""

    def __init__(self, n_communities: int, max_draws: int) -> None:
        self.figures: FloatArray = np.empty((0, len(QUANTITIES) + 1))
        self.kept: NDArray[np.bool_] = np.empty((0, n_communities), dtype=bool)
        self._thinning = Thinning(max_draws)

    def choose(self, n_new: int) -> NDArray[np.bool_]:
        """Which of so many new draws are to be measured and appended."""
        return self._thinning.choose(n_new)

    def append(self, figures: FloatArray, kept: NDArray[np.bool_]) -> None:
        """Add draws that were chosen: the quantities and the gain, and which communities are kept."""
        rows = self._thinning.drop(len(self.figures) + len(figures))
        self.figures = np.concatenate([self.figures, figures])[rows]
        self.kept = np.concatenate([self.kept, kept])[rows]

    def quantity(self, name: str) -> FloatArray:
        """The draws of one quantity."""
        return self.figures[:, QUANTITIES.index(name)]

    @property
    def gain(self) -> FloatArray:
        """Log-ratio of the attacked law to this one at each draw, for epsilon 1; nan where not asked for."""
        return self.figures[:, len(QUANTITIES)]


@dataclass(frozen=True, eq=False)
class Measure:
    """What is measured of every plan of one data set at one score.

    Attributes
    ----------
    attack : Attack
    problem : Problem
        With the testimonies of the data set.
    score : {"testimony", "cluster"}
    n_districts : int
    counterfactual : Counterfactual or None
        Of the attack's change, for the data set before it: what its draws say about the other.
    """

    attack: Attack
    problem: Problem
    score: Score
    n_districts: int
    counterfactual: Counterfactual | None = None

    @property
    def sensitivity(self) -> Sensitivity:
        """Of the score."""
        return self.problem.sensitivity(self.score)

    def begin(self, n_rungs: int) -> list[Draws]:
        """Room for the draws of one ladder, rung by rung."""
        n_communities = len(self.attack.honest.ids) + len(self.attack.adversary.ids)
        max_draws = draws_of_rung(n_rungs)
        return [Draws(n_communities, max_draws) for _ in range(n_rungs)]

    def take(
        self, plans: NDArray[np.integer], scores: FloatArray, cut_edges: NDArray[np.integer]
    ) -> tuple[FloatArray, NDArray[np.bool_]]:
        """The figures of some plans, and which communities each keeps whole, as :class:`Draws` has them."""
        found, kept = self.attack.measure(plans, self.n_districts, self.problem.weighting)
        found |= {"score": scores, "cut_edges": cut_edges.astype(np.float64)}
        gain = np.full(len(plans), np.nan)
        if self.counterfactual is not None:
            gain = self.counterfactual.exponent_change(plans, scores, 1.0)
        return np.column_stack([*(found[name] for name in QUANTITIES), gain]), kept


class Measured(Protocol):
    """Draws of one data set at one score from ladders with the same rungs, wherever they come from."""

    @property
    def measure(self) -> Measure:
        """What has been measured."""

    @property
    def epsilons(self) -> FloatArray:
        """The rungs, float64 array, ascending."""

    @property
    def draws(self) -> Sequence[Sequence[Draws]]:
        """For each ladder, at each rung."""


class Trial:
    """One data set at one score: ladders that are run, and the fate of the communities in their plans.

    Parameters
    ----------
    ladder : Ladder
        After its burn-in.
    attack : Attack
    counterfactual : Counterfactual, optional
        See :class:`Measure`.
    """

    def __init__(self, ladder: Ladder, attack: Attack, counterfactual: Counterfactual | None = None) -> None:
        target = ladder.target
        self.ladder = ladder
        self.measure = Measure(attack, ladder.problem, target.score, target.n_districts, counterfactual)
        self._before = ladder.rounds
        self.seconds = 0.0
        self.draws = [self.measure.begin(ladder.n_rungs) for _ in range(ladder.n_ladders)]

    @property
    def n_rounds(self) -> int:
        """Rounds recorded so far."""
        return self.ladder.rounds - self._before

    @property
    def epsilons(self) -> FloatArray:
        """The rungs."""
        return self.ladder.epsilons

    def advance(self, n_rounds: int, is_stopped: Callable[[], bool] = lambda: False) -> None:
        """Run rounds and measure the plans of each."""
        began = time.perf_counter()
        parts = self.ladder.advance(n_rounds, 1, is_stopped)
        all_draws = [draws for row in self.draws for draws in row]
        chosen = [
            records.take(draws.choose(len(records.step)))
            for records, draws in zip((records for row in parts for records in row), all_draws, strict=True)
        ]
        # Together: what is made for a measurement is the same for all plans.
        records = Records.concatenate(chosen)
        is_whole = self.measure.score == "testimony"
        scores = records.score_testimony if is_whole else records.score_cluster
        figures, kept = self.measure.take(records.assignment, scores, records.cut_edges)
        end = 0
        for draws, own in zip(all_draws, chosen, strict=True):
            begin, end = end, end + len(own.step)
            draws.append(figures[begin:end], kept[begin:end])
        self.seconds += time.perf_counter() - began


def run_trials(
    trials: Sequence[Trial],
    n_rounds: int | None,
    seconds: float | None = None,
    progress: Callable[[int], object] = lambda n_rounds: None,
    is_stopped: Callable[[], bool] = lambda: False,
) -> bool:
    """Run trials in turns, so that all have the same number of rounds; return whether nobody stopped them.

    Parameters
    ----------
    trials : sequence of Trial
    n_rounds : int or None
        Of each trial; None to go by the clock alone.
    seconds : float, optional
        For all trials together. A turn that has begun is finished, and ``MIN_ROUNDS`` rounds are run.
    progress : callable
        Called with the rounds of each turn.
    is_stopped : callable
    """
    if n_rounds is None and seconds is None:
        raise ValueError("n_rounds or seconds must be given, or the trials would never end")
    began, done, batch = time.perf_counter(), 0, 1
    most = min(
        int(BATCH_BYTES // (trial.ladder.problem.n_units * trial.ladder.n_rungs * trial.ladder.n_ladders))
        for trial in trials
    )
    while True:
        elapsed = time.perf_counter() - began
        if n_rounds is not None and done >= n_rounds:
            return True
        if seconds is not None and elapsed >= seconds and done >= MIN_ROUNDS:
            return True
        # How a run is cut up leaves no trace in its plans, so the size of a turn may follow the clock.
        if done:
            batch = int(np.clip(TURN_SECONDS * done / max(elapsed, 1e-3), batch / 2, batch * 4))
        size = max(1, min(batch, most, batch if n_rounds is None else n_rounds - done))
        for trial in trials:
            trial.advance(size, is_stopped)
        if is_stopped():
            return False
        done += size
        progress(size)
