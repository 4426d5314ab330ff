"""Runs cut into segments, each of which any computer can do: a state goes in, records and the next state out.

A segment is a pure function, :func:`run_segment`, of all that decides it, so that one that is lost with its
computer is simply done again, and leaves no trace. How a run is cut up leaves none either, see
:mod:`bottomup.sampler.checkpoints`. Who does segments, and where, is up to a function that is given: see
:data:`Perform`.
"""

from __future__ import annotations

import pickle
import time
from collections.abc import Callable, Sequence
from functools import lru_cache
from typing import NamedTuple

from bottomup.data.errors import DataError
from bottomup.sampler.burning import BurnIn
from bottomup.sampler.chain import Outcomes
from bottomup.sampler.ladder import Ladder
from bottomup.sampler.memory import Memory
from bottomup.sampler.naming import package_versions
from bottomup.sampler.parting import put_together, take_apart
from bottomup.sampler.recording import Batches
from bottomup.sampler.runs import Part
from bottomup.sampler.sources import Chains, Ladders, Source
from bottomup.sampler.target import Target
from bottomup.sampler.types import IntArray

__all__ = [
    "SEGMENTS",
    "Perform",
    "Recipe",
    "Segment",
    "SegmentedBurnIn",
    "SegmentedSource",
    "Task",
    "make_burn_in",
    "make_ladders",
    "run_segment",
]

SEGMENTS = Batches(seconds=30.0, n_bytes=64e6)
"""What a segment takes, about: no more than this is lost with a computer."""

Recipe = Callable[[], Chains | Ladders | BurnIn]
"""Makes what goes on. It is sent to where that is done, so it must be possible to pickle it."""


class Task(NamedTuple):
    """A segment to do: its title, and the arguments of :func:`run_segment`."""

    title: str
    """What it is, in words."""
    recipe: bytes
    """A pickled :data:`Recipe`; chains that are made are then given the state below."""
    memory: bytes
    """The pickled memory from which it goes on."""
    number: int
    """Of the first chain, or ladder."""
    size: int
    """Steps of each chain, or rounds."""
    versions: dict[str, str]
    """See :func:`package_versions`; others may draw other plans."""


class Segment(NamedTuple):
    """What comes out of a :class:`Task`."""

    parts: list[Part]
    """None in a burn-in."""
    memory: bytes
    """As it goes into the next one."""
    seconds: float
    """By the clock of whoever did it."""


Perform = Callable[[Sequence[Task]], list[Segment] | None]
"""Does segments side by side, and gives them in their order; None when it is stopped before all are done."""


def run_segment(recipe: bytes, memory: bytes, number: int, size: int, versions: dict[str, str]) -> Segment:
    """Go on from a state by so many steps or rounds; the parameters are those of :class:`Task`.

    Raises
    ------
    DataError
        When it is done with other versions than it was asked for.
    """
    here = package_versions()
    if here != versions:
        other = [f"{name} {version}" for name, version in here.items() if version != versions.get(name)]
        raise DataError("other_versions", f"Its versions are others: {', '.join(other)}.")
    began = time.perf_counter()
    running = _read(recipe)()
    # In one piece, as bytes: arrays that are received on their own may not be written, and for those numba
    # would compile every kernel a second time.
    running.recall(pickle.loads(memory))
    parts: list[Part] = []
    if isinstance(running, BurnIn):
        left = size
        while left and not running.is_over:
            left -= running.advance(left)
    else:
        parts = running.advance(size)
    parts = [part._replace(chain=number + part.chain) for part in parts]
    return Segment(parts, pickle.dumps(running.memory()), time.perf_counter() - began)


@lru_cache(maxsize=4)
def _read(recipe: bytes) -> Recipe:
    """Kept for the next segment of the same run: what a problem works out for its laws stays with it."""
    found: Recipe = pickle.loads(recipe)
    return found


def make_ladders(make_ladder: Callable[[], Ladder], record_every: int) -> Ladders:
    """A recipe of ladders, once its arguments are given."""
    return Ladders(make_ladder(), record_every)


def make_burn_in(make_ladder: Callable[[], Ladder], n_rounds: int, is_placing: bool) -> BurnIn:
    """A recipe of a burn-in, once its arguments are given."""
    return BurnIn(make_ladder(), n_rounds, is_placing)


class _Segmented:
    """What goes on elsewhere, in one task for each of its parts at a time.

    Parameters
    ----------
    local : Chains, Ladders or BurnIn
        The same, here. It stands still until :meth:`settle`.
    recipe : Recipe
        Of one chain or ladder; of all where they cannot be taken apart.
    n_parts : int
        1 for all in one.
    of_part : str
        What to call a part, and steps or rounds, in words.
    perform : Perform
    """

    def __init__(
        self, local: Chains | Ladders | BurnIn, recipe: Recipe, n_parts: int, of_part: str, perform: Perform
    ) -> None:
        self._local = local
        self._recipe = recipe
        self._n_parts = n_parts
        self._of_part = of_part
        self._perform = perform
        self._pickled = b""
        self._states: list[bytes] | None = None
        self._n_done = local.n_done
        self.waited = 0.0

    @property
    def n_done(self) -> int:
        """Steps, or rounds, so far."""
        return self._n_done

    def memory(self) -> Memory:
        """All that decides how it goes on."""
        if self._states is None:
            return self._local.memory()
        memories = [pickle.loads(state) for state in self._states]
        return put_together(memories) if self._n_parts > 1 else memories[0]

    def recall(self, memory: Memory) -> None:
        """Go on from where another stood."""
        self._local.recall(memory)
        self._n_done, self._states = self._local.n_done, None

    def settle(self) -> None:
        """Have the local one stand where this stands."""
        if self._states is not None and self._local.n_done != self._n_done:
            self._local.recall(self.memory())

    def _go_on(self, size: int, what: str) -> list[Part] | None:
        """Records of the parts in their order; None, and nothing has changed, when it was stopped."""
        began = time.perf_counter()
        if self._states is None:
            memory = self._local.memory()
            parts = take_apart(memory, self._n_parts) if self._n_parts > 1 else [memory]
            self._states = [pickle.dumps(part) for part in parts]
            self._pickled = pickle.dumps(self._recipe)
        title = f"{what} {self._n_done:,} to {self._n_done + size:,}"
        versions = package_versions()
        tasks = [
            Task(
                f"{title} of {self._of_part} {number}" if self._n_parts > 1 else title,
                self._pickled,
                state,
                number,
                size,
                versions,
            )
            for number, state in enumerate(self._states)
        ]
        done = self._perform(tasks)
        seconds = time.perf_counter() - began
        if done is None:
            self.waited += seconds
            return None
        self.waited += max(0.0, seconds - max(segment.seconds for segment in done))
        self._states = [segment.memory for segment in done]
        self._n_done += size
        return [part for segment in done for part in segment.parts]


class SegmentedSource(_Segmented):
    """Chains or ladders whose batches are segments; the plans are those of the local source.

    Parameters
    ----------
    source : Chains or Ladders
        Made as for a run here. At the end :meth:`settle` brings it where this stands.
    recipe : Recipe
        Of a single one of its chains or ladders, from any start: its state is overwritten.
    perform : Perform
    """

    def __init__(self, source: Chains | Ladders, recipe: Recipe, perform: Perform) -> None:
        self._source: Source = source
        is_ladder = isinstance(source, Ladders)
        self._what = "rounds" if is_ladder else "steps"
        super().__init__(source, recipe, source.n_starts, "ladder" if is_ladder else "chain", perform)
        self.target: Target = source.target
        self.n_starts: int = source.n_starts
        self.per_record: int = source.per_record

    @property
    def epsilons(self) -> tuple[float, ...]:
        """One for each column of parts."""
        return self._source.epsilons

    @property
    def n_steps(self) -> int:
        """Steps of all chains together."""
        self.settle()
        return self._source.n_steps

    def advance(self, size: int) -> list[Part]:
        """Go on by so many steps, or rounds; nothing, and it stands still, when it is stopped meanwhile."""
        return self._go_on(size, self._what) or []

    def outcomes(self) -> list[dict[str, Outcomes]]:
        """How steps ended: of each chain, or of each rung of each ladder."""
        self.settle()
        return self._source.outcomes()

    def present(self, place: int) -> tuple[str, Target, IntArray]:
        """What to call the chain, or rung, that has a place in the outcomes, its target, and its plan now."""
        self.settle()
        return self._source.present(place)


class SegmentedBurnIn(_Segmented):
    """A burn-in in segments.

    Parameters
    ----------
    burn_in : BurnIn
        At the end :meth:`settle` brings it, and its ladder, where this stands.
    recipe : Recipe
        Of the burn-in of a single ladder from any start, with the same rounds; of all of its ladders, with
        the same seed, when it places the rungs, for which all are needed.
    is_apart : bool
        Whether it is of a single one.
    perform : Perform
    """

    def __init__(self, burn_in: BurnIn, recipe: Recipe, is_apart: bool, perform: Perform) -> None:
        super().__init__(burn_in, recipe, burn_in.ladder.n_ladders if is_apart else 1, "ladder", perform)
        self._n_rounds = burn_in.n_rounds

    @property
    def is_over(self) -> bool:
        """Whether all rounds have been run."""
        return self._n_done >= self._n_rounds

    def advance(self, most: int) -> int:
        """Run so many rounds, or all that are left; returns how many, 0 when it is stopped meanwhile."""
        before = self._n_done
        self._go_on(min(most, self._n_rounds - before), "burn-in, rounds")
        return self._n_done - before
