"""Plans that runs without a page have stored, as a page shows them: read in batches, and thinned evenly."""

from __future__ import annotations

import json
import math
import zlib
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from bottomup.dashboard.design import Design
from bottomup.dashboard.health import Workings, values_of_plan
from bottomup.dashboard.ladders import TREE_MADE
from bottomup.dashboard.pool import RecordedLadders, StoredRun
from bottomup.dashboard.prepared import Prepared
from bottomup.dashboard.recording import COMPRESSION, Held, Plans, Recording
from bottomup.dashboard.starting import TREES
from bottomup.dashboard.worker import Standing
from bottomup.data.errors import DataError
from bottomup.sampler.chain import Outcomes, assignment_dtype
from bottomup.sampler.ladder import placing_rounds
from bottomup.sampler.runs import RUN
from bottomup.sampler.statistics import find_preserved
from bottomup.sampler.store import iterate_rows
from bottomup.sampler.types import Mixture

__all__ = ["MOST_AT_RUNG", "MOST_OF_WALK", "Course", "Run", "read_run", "read_standing", "thinning"]

MOST_OF_WALK = 1000
"""Plans of a walk that a page holds at each rung, as many as of a walk of its own."""
MOST_AT_RUNG = 4000
"""Plans of all walks together that a page holds at each rung: charts weigh the later half of them at once."""
_COLUMNS = ["chain", "epsilon", "step", "cut_edges", "score_testimony", "score_cluster"]


class Course(NamedTuple):
    """How long a run was, and where; runs that are shown together have the same."""

    rungs: tuple[float, ...]
    steps: int
    """Of each walk, the burn-in left out."""
    thin: int
    """Steps from one record to the next."""
    steps_per_round: int
    """1 for chains, which have no rounds."""
    burn_in: int
    """Rounds."""
    placings: tuple[int, ...]
    mixture: Mixture


@dataclass(frozen=True, eq=False)
class Run:
    """A finished run.

    Attributes
    ----------
    folder : Path
    about : dict
        What ``run.json`` says.
    course : Course
    """

    folder: Path
    about: dict[str, Any]
    course: Course

    @property
    def stored(self) -> StoredRun:
        """Its name and seed."""
        return StoredRun(str(self.about["name"]), int(self.about["seed"]))

    @property
    def is_of_ladders(self) -> bool:
        """Or else of chains at one epsilon."""
        return self.about["exchange"] is not None

    @property
    def n_walks(self) -> int:
        """At each rung."""
        return int(self.about["chains"])

    @property
    def start_names(self) -> list[str]:
        """What each walk began at, in the words of the page."""
        seed = self.stored.seed
        named = [TREE_MADE if name == TREES else f"plan {name}" for name in self.about["start_plans"]]
        return [f"{name}, seed {seed}" for name in named]


def read_run(folder: Path) -> Run:
    """Read what a finished run says of itself.

    Raises
    ------
    DataError
        When that cannot be read.
    """
    try:
        about = json.loads((folder / RUN).read_text(encoding="utf-8"))
        return Run(folder, about, _course_of(about))
    except (OSError, ValueError, LookupError, TypeError) as error:
        raise _damaged(folder / RUN, error) from error


def _course_of(about: dict[str, Any]) -> Course:
    outcome, exchange = about["outcome"], about["exchange"] or {}
    burn_in = int(exchange.get("burn_in_rounds", 0))
    are_placed = exchange.get("rungs_are") == "placed in burn-in"
    return Course(
        rungs=tuple(map(float, outcome.get("rungs", [about["target"]["epsilon"]]))),
        steps=int(outcome["steps"]),
        thin=int(outcome["thin"]),
        steps_per_round=int(exchange.get("steps_per_round", 1)),
        burn_in=burn_in,
        placings=placing_rounds(burn_in) if are_placed else (),
        mixture=Mixture(**about["mixture"]),
    )


def _damaged(path: Path, error: Exception | str) -> DataError:
    return DataError(
        "study",
        f"{path} cannot be read: {str(error).rstrip('.')}.",
        remedy="Remove the folder of this run, and let `bottomup sweep` make it anew.",
    )


def thinning(n_plans: int, n_walks: int) -> int:
    """One plan in how many is held, when each of some walks has stored so many at a rung."""
    most = max(1, min(MOST_OF_WALK, MOST_AT_RUNG // n_walks))
    return max(1, math.ceil(n_plans / most))


def read_standing(
    runs: Sequence[Run],
    starts: Sequence[Sequence[NDArray[np.int32]]],
    design: Design,
    prepared: Prepared,
    source: str,
) -> Standing:
    """Read the plans of runs that differ in their seeds alone: their walks stand side by side.

    Memory holds one batch of rows besides what is kept.

    Parameters
    ----------
    runs : sequence of Run
    starts : sequence of sequence of int32 arrays, each of shape (n,)
        The plan that each walk of each run began at.
    design : Design
        The seed is that of the first run.
    prepared : Prepared
        The inputs that the runs were made of.
    source : str
        See `Standing`.

    Raises
    ------
    DataError
        When plans are missing or damaged, or runs are of other courses.
    """
    first = runs[0]
    for run in runs:
        if run.course != first.course:
            raise _damaged(run.folder / RUN, f"the run has other rungs or steps than {first.folder.name}")
    course, n_walks = first.course, sum(run.n_walks for run in runs)
    one_in = thinning(course.steps // course.thin, n_walks)
    rows: list[tuple[Recording, ...]] = []
    for run in runs:
        rows += _Reader(run, prepared, design, one_in).read()
    problem, enacted = prepared.problem_of(design.weighting), prepared.plan(design.enacted)
    burn_in = course.burn_in
    recorded = RecordedLadders(
        design=design,
        delta=problem.sensitivity(design.score).delta,
        starts=tuple(name for run in runs for name in run.start_names),
        epsilons=course.rungs,
        placings=course.placings,
        steps_per_round=course.steps_per_round,
        recordings=tuple(rows),
        enacted=enacted.assignment,
        population=problem.graph.population,
        runs=tuple(run.stored for run in runs for _ in range(run.n_walks)),
        n_unrecorded=burn_in - (course.placings[-1] if course.placings else 0),
        one_in=one_in,
    )
    start_plans = tuple(plan for own in starts for plan in own)
    last_step = course.steps // (course.thin * one_in) * course.thin * one_in
    current = [recorded.plan_at(0, rung, last_step) for rung in range(len(course.rungs))]
    return Standing(
        rounds=burn_in + course.steps // course.steps_per_round,
        burn_in=burn_in,
        current=tuple(plan for plan in current if plan is not None),
        recorded=recorded,
        workings=_workings(runs, recorded, start_plans, prepared),
        start_plans=start_plans,
        source=source,
    )


class _Reader:
    """Reads the plans of one run into recordings, one for each rung of each walk."""

    def __init__(self, run: Run, prepared: Prepared, design: Design, one_in: int) -> None:
        self._run, self._prepared, self._course = run, prepared, run.course
        self._problem = prepared.problem_of(design.weighting)
        self._n_districts = prepared.plan(design.enacted).n_districts
        self._spacing = run.course.thin * one_in
        self._n_plans = run.course.steps // self._spacing
        self._dtype = np.dtype(assignment_dtype(self._n_districts))
        self._places = run.n_walks, len(run.course.rungs), self._n_plans
        self._columns = self._make_columns()
        self._packed: list[bytes] = [b""] * math.prod(self._places)

    def _make_columns(self) -> dict[str, NDArray]:
        n_bytes, k = -(-self._problem.n_testimonies // 8), self._n_districts
        columns: dict[str, NDArray] = {
            "step": np.zeros(self._places, np.int64),
            "cut_edges": np.empty(self._places, np.int32),
            "testimony": np.empty(self._places),
            "cluster": np.empty(self._places),
            "preserved": np.empty((*self._places, n_bytes), np.uint8),
        }
        shares = {name: np.empty((*self._places, k), np.float32) for name in self._prepared.shares}
        return columns | shares

    def read(self) -> list[tuple[Recording, ...]]:
        """All plans, by walk and rung."""
        folder, shares = self._run.folder, self._prepared.shares.values()
        try:
            names = [*_COLUMNS, *(share.column for share in shares), "assignment"]
            for batch in iterate_rows(folder, names):
                steps = batch["step"].to_numpy()
                kept = batch.filter(pa.array(steps % self._spacing == 0))
                if len(kept):
                    self._take(kept)
            if not self._n_plans or not self._columns["step"].all():
                raise ValueError("plans are missing")
        except (OSError, ValueError, LookupError, TypeError) as error:
            raise _damaged(folder, error) from error
        n_walks, n_rungs, _ = self._places
        return [tuple(self._recording(walk, rung) for rung in range(n_rungs)) for walk in range(n_walks)]

    def _take(self, batch: pa.RecordBatch) -> None:
        """Keep the rows of a batch."""
        step, rungs = batch["step"].to_numpy(), np.array(self._course.rungs)
        rung = np.searchsorted(rungs, batch["epsilon"].to_numpy())
        if not np.array_equal(rungs.take(rung, mode="clip"), batch["epsilon"].to_numpy()):
            raise ValueError("a plan is of no rung")
        place = batch["chain"].to_numpy(), rung, step // self._spacing - 1
        plans = _table(batch["assignment"], self._problem.n_units)
        if plans.size and plans.max() >= self._n_districts:
            raise ValueError("a plan has districts that are not there")
        plans = plans.astype(self._dtype)
        testimony = self._problem.testimony
        own = {
            "step": step,
            "cut_edges": batch["cut_edges"].to_numpy(),
            "testimony": batch["score_testimony"].to_numpy(zero_copy_only=False),
            "cluster": batch["score_cluster"].to_numpy(zero_copy_only=False),
            "preserved": np.packbits(
                find_preserved(plans, testimony.member_indptr, testimony.member), axis=1
            ),
        }
        for name, share in self._prepared.shares.items():
            own[name] = np.sort(_table(batch[share.column], self._n_districts), axis=1)
        for name, values in own.items():
            self._columns[name][place] = values
        for number, plan in zip(np.ravel_multi_index(place, self._places), plans, strict=True):
            self._packed[number] = zlib.compress(plan.tobytes(), COMPRESSION)

    def _recording(self, walk: int, rung: int) -> Recording:
        columns = {name: values[walk, rung] for name, values in self._columns.items()}
        shares = {name: columns.pop(name) for name in self._prepared.shares}
        first = (walk * self._places[1] + rung) * self._n_plans
        packed = tuple(self._packed[first : first + self._n_plans])
        held = Held(Plans(**columns, shares=shares), packed, self._dtype)
        return Recording.holding(held, spacing=self._spacing)


def _table(column: pa.ListArray, width: int) -> NDArray:
    """Lists of the same length as the rows of an array."""
    return column.flatten().to_numpy(zero_copy_only=False).reshape(len(column), width)


def _workings(
    runs: Sequence[Run],
    recorded: RecordedLadders,
    start_plans: Sequence[NDArray[np.int32]],
    prepared: Prepared,
) -> Workings:
    """What the runs have counted: of ladders, over all of a run together."""
    first, k = runs[0], prepared.plan(recorded.design.enacted).n_districts
    problem = prepared.problem_of(recorded.design.weighting)
    columns = {name: (share.numerator, share.denominator) for name, share in prepared.shares.items()}
    counts = [_counts(run) for run in runs]
    are_summed = first.is_of_ladders and any(run.n_walks > 1 for run in runs)
    outcomes = [run.about["outcome"] for run in runs]
    rates = np.array([own.get("exchange_rates", []) for own in outcomes], dtype=np.float64)
    return Workings(
        epsilons=recorded.epsilons,
        starts=recorded.starts,
        start_values=tuple(values_of_plan(problem, plan, k, columns) for plan in start_plans),
        mixture=first.course.mixture,
        counter=np.concatenate(counts),
        exchange_rates=tuple(rates.mean(axis=0).tolist()),
        round_trips=tuple(int(n) for own in outcomes for n in own.get("round_trips", [])),
        drift=math.nan,
        counted=tuple(f"seed {run.stored.seed}" for run in runs) if are_summed else (),
        stuck=_stuck(runs),
    )


def _counts(run: Run) -> NDArray[np.int64]:
    """How steps ended, shape (rows, E, 4, 6): a row for the ladders of a run, or for each chain."""
    places = run.about["outcome"]["outcomes"]
    table = np.zeros((len(places), len(Mixture._fields), len(Outcomes._fields)), dtype=np.int64)
    for place, by_move in enumerate(places):
        for move, outcomes in by_move.items():
            table[place, Mixture._fields.index(move)] = Outcomes(**outcomes)
    return table[None] if run.is_of_ladders else table[:, None]


def _stuck(runs: Sequence[Run]) -> dict[tuple[int, int], str]:
    """By walk and rung, what was said of walks that stood still in the later half of a run."""
    found: dict[tuple[int, int], str] = {}
    walk = 0
    for run in runs:
        said = run.about["outcome"]["diagnostics"]["stuck"]
        for number, start in enumerate(run.start_names):
            for rung, epsilon in enumerate(run.course.rungs):
                name = f"Ladder {number} at epsilon {epsilon:.3g}" if run.is_of_ladders else f"Chain {number}"
                for sentence in said:
                    if sentence.startswith(f"{name} is stuck"):
                        rest = sentence.removeprefix(name)
                        found[walk, rung] = f"The walk at ε = {epsilon:.3g} (start: {start}){rest}"
            walk += 1
    return found
