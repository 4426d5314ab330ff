"""How fast chains go and how soon what they draw is new, on two chains from unlike starts.

Times are CPU seconds of the calling thread, so that whatever else the machine does counts for little. The
first half of the time is taken as warming up; every figure is of the second half.
"""

from __future__ import annotations

import math
import time
import tracemalloc
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from bottomup.sampler.chain import WALK_ALONE, Chain, Records, default_mixture
from bottomup.sampler.diagnostics import Convergence, diagnose
from bottomup.sampler.problem import Problem
from bottomup.sampler.target import Target
from bottomup.sampler.types import Mixture

__all__ = ["Measurement", "compared_mixtures", "measure", "resident_memory"]

N_DRAWS = 2000
"""Records of each chain to aim at: more than the effective samples of a run, and too few to cost time."""
BATCH_SECONDS = 0.1
"""An interrupt from the keyboard waits for so long at most, once for each chain."""
NO_RECORDS = 2**62
"""Steps from one record to the next while chains warm up."""
MEGABYTE = 1e6


class Measurement(NamedTuple):
    """What :func:`measure` found."""

    n_steps: int
    """Steps of all chains in the measured half."""
    proposals_per_second: float
    accepted_per_second: float
    """Steps that changed the plan."""
    score: Convergence | None
    """Of the target's score, with the seconds of the measured half; None without what the score needs."""
    cut_edges: Convergence
    resident: float | None
    """Megabytes that the process held at most, looked at after every batch; None where it is not known."""
    growth: float
    """Megabytes that the chains and their records took at most, per chain."""
    seconds: float
    """CPU seconds of both halves."""


def compared_mixtures(n_units: int) -> dict[str, Mixture]:
    """The mixtures to compare on a map, by the names that the options of the commands have for them."""
    return {"walk": WALK_ALONE, "mixture": default_mixture(n_units)}


def measure(
    problem: Problem,
    target: Target,
    starts: Sequence[ArrayLike],
    mixture: Mixture,
    seconds: float,
    seed: int = 1,
) -> Measurement:
    """Run a chain from every start and measure.

    The kernels should have been compiled, see :func:`bottomup.sampler.chain.warm_up`. All chains take the
    same number of steps, in turns.

    Parameters
    ----------
    problem : Problem
    target : Target
    starts : sequence of array_like of int, shape (n,)
        Valid plans, as unlike as can be: agreement of chains from like starts shows nothing.
    mixture : Mixture
    seconds : float
        CPU seconds for all chains together, both halves.
    seed : int
        Of the first chain; each further one has the next.

    Raises
    ------
    StartError
        When a start is not connected and balanced.
    ValueError
        When ``seconds`` is not positive, there are no starts, or the target needs what the problem lacks.
    """
    if not (seconds > 0 and math.isfinite(seconds)):
        raise ValueError(f"seconds must be a positive number; got {seconds}")
    if not starts:
        raise ValueError("starts must hold at least one plan to start from; got none")
    # The order of elimination is the map's, not the chains'.
    _ = problem.pattern
    tracemalloc.start()
    try:
        return _run(
            [Chain(problem, target, start, seed + i, mixture=mixture) for i, start in enumerate(starts)],
            seconds,
        )
    finally:
        tracemalloc.stop()


def _run(chains: list[Chain], seconds: float) -> Measurement:
    half, warming, n_steps, batch = seconds / 2, 0.0, 0, 200
    while warming < half:
        elapsed = _advance(chains, batch, NO_RECORDS)[1]
        warming += elapsed
        n_steps += batch
        batch = _next_batch(batch, elapsed / len(chains))
    thin = max(1, int(n_steps / warming * half / N_DRAWS))
    n_steps, accepted = 0, sum(chain.outcomes.accepted for chain in chains)
    score, cut_edges = [], []
    resident, measured = resident_memory(), 0.0
    while measured < half:
        records, elapsed = _advance(chains, thin * max(1, batch // thin), thin)
        measured += elapsed
        n_steps += sum(len(record.step) for record in records) * thin
        # The rest of the records, above all the plans, is let go of: memory stays flat.
        score.append([getattr(record, f"score_{chains[0].target.score}") for record in records])
        cut_edges.append([record.cut_edges for record in records])
        batch = _next_batch(batch, elapsed / len(chains))
        if resident is not None:
            resident = max(resident, resident_memory() or 0.0)
    accepted = sum(chain.outcomes.accepted for chain in chains) - accepted
    growth = tracemalloc.get_traced_memory()[1] / MEGABYTE / len(chains)
    convergence = {
        name: diagnose({name: list(np.concatenate(draws, axis=1))}, measured, warm_up_share=0)[0]
        for name, draws in (("score", score), ("cut edges", cut_edges))
    }
    has_score = np.isfinite(score[0]).all()
    return Measurement(
        n_steps=n_steps,
        proposals_per_second=n_steps / measured,
        accepted_per_second=accepted / measured,
        score=convergence["score"] if has_score else None,
        cut_edges=convergence["cut edges"],
        resident=resident,
        growth=growth,
        seconds=warming + measured,
    )


def _advance(chains: list[Chain], n_steps: int, thin: int) -> tuple[list[Records], float]:
    began = time.thread_time()
    records = [chain.advance(n_steps, thin) for chain in chains]
    # A clock may stand still over a few steps on a tiny map.
    return records, max(time.thread_time() - began, 1e-6)


def _next_batch(batch: int, seconds: float) -> int:
    return int(np.clip(batch * BATCH_SECONDS / seconds, batch / 2 + 1, batch * 2))


def resident_memory() -> float | None:
    """Megabytes of memory that the process holds now; None where the system has no ``/proc``."""
    try:
        status = Path("/proc/self/status").read_text(encoding="ascii")
    except OSError:
        return None
    # The kernel's kB are of 1,024 bytes.
    return next(
        (int(line.split()[1]) * 1024 / MEGABYTE for line in status.splitlines() if line.startswith("VmRSS:")),
        None,
    )
