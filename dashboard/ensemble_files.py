"""All plans behind the charts as a file: a run that `bottomup export` reads, with the baseline beside it."""

import io
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from bottomup.dashboard.pool import RecordedLadders, number_districts
from bottomup.dashboard.session import Session
from bottomup.data.errors import count
from bottomup.data.export_files import write_archive
from bottomup.sampler.chain import Records
from bottomup.sampler.reweighting import neighbouring_rungs
from bottomup.sampler.runs import Part, RunFolder

__all__ = ["ChartPlans", "ensemble_file", "gather_plans"]


@dataclass(frozen=True, eq=False)
class ChartPlans:
    """The plans on record that the charts of a moment are made of, each once, and those of the baseline.

    The charts weigh plans of the nearest rungs to epsilon, by their scores. Here every plan stands as it was
    drawn, for its own rung: weights would be figures of the testimonies.

    Attributes
    ----------
    recorded : RecordedLadders
    epsilon : float
        That was chosen.
    rungs : tuple of float
        Of the charts: epsilon itself, or the nearest rungs below and above.
    parts : tuple of Part
        By rung and ladder; those of the baseline come first.
    spacing : int
        Rounds from one plan to the next, at most.
    """

    recorded: RecordedLadders
    epsilon: float
    rungs: tuple[float, ...]
    parts: tuple[Part, ...]
    spacing: int

    @property
    def n_plans(self) -> int:
        """Plans of the charts' rungs."""
        return sum(len(part.records.step) for part in self._of_charts)

    @property
    def last_round(self) -> int:
        """The latest round of any of these."""
        return self.recorded.round_of(max(int(part.records.step[-1]) for part in self._of_charts))

    @property
    def _of_charts(self) -> list[Part]:
        return [part for part in self.parts if part.epsilon in self.rungs]

    def words(self) -> str:
        """How many plans there are of each rung, and how far apart they were met."""
        sizes: dict[float, int] = {}
        for part in self.parts:
            sizes[part.epsilon] = sizes.get(part.epsilon, 0) + len(part.records.step)
        each = ", ".join(f"{count(size, 'plan')} at ε = {epsilon:.3g}" for epsilon, size in sizes.items())
        apart = "every round" if self.spacing == 1 else f"one round in {self.spacing:,}"
        return f"{each}; of the later half of the walk {apart} is on record"


def gather_plans(recorded: RecordedLadders, epsilon: float) -> ChartPlans | None:
    """Read the plans that the charts at an epsilon are made of; None while a rung has none, or beyond them.

    Plans that are dropped while they are read, as a full recording drops every second one, are left out.
    """
    if not recorded.within([epsilon]):
        return None
    charted = neighbouring_rungs(recorded.epsilons, epsilon)
    parts = []
    for rung in sorted({0, *charted}):
        for ladder, row in enumerate(recorded.recordings):
            held = row[rung].read()
            if held is None:
                return None
            later = held.take(slice(len(held.step) // 2, None))
            still, assignments = row[rung].read_assignments(later.step)
            if not len(still):
                return None
            kept = later.take(still)
            unscored = np.full(len(still), np.nan)
            named = [number_districts(own, recorded.enacted, recorded.population) for own in assignments]
            records = Records(
                step=kept.step,
                assignment=np.array(named, dtype=assignments.dtype),
                cut_edges=kept.cut_edges,
                score_testimony=unscored,
                score_cluster=unscored,
                preserved=np.empty((len(still), 0), dtype=np.uint8),
                cluster_best_share=np.empty((len(still), 0), dtype=np.float32),
            )
            parts.append(Part(ladder, recorded.epsilons[rung], records))
    spacing = max(row[rung].spacing for row in recorded.recordings for rung in {0, *charted})
    rungs = tuple(recorded.epsilons[rung] for rung in charted)
    return ChartPlans(recorded, epsilon, rungs, tuple(parts), spacing // recorded.steps_per_round)


def ensemble_file(session: Session, plans: ChartPlans, name: str, stem: str) -> bytes:
    """A zipped folder as ``bottomup sample`` leaves it, see `bottomup.sampler.runs.RunFolder`.

    The scores are left out: they are figures of the testimonies.

    Parameters
    ----------
    session : Session
    plans : ChartPlans
    name : str
        Of the draw, as the ledger has it.
    stem : str
        What to call the folder.
    """
    enacted = session.prepared.plan(plans.recorded.design.enacted)
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place) / stem
        description = _describe(session, plans, name, enacted.labels)
        with RunFolder(folder, session.prepared.inputs.geography, enacted.n_districts, description) as run:
            run.write(plans.parts)
        run.finish({"complete": True})
        packed = io.BytesIO()
        write_archive(packed, folder, within=stem)
    return packed.getvalue()


def _describe(session: Session, plans: ChartPlans, name: str, labels: tuple[str, ...]) -> dict[str, Any]:
    inputs, recorded = session.prepared.inputs, plans.recorded
    geography, design = inputs.geography, recorded.design
    return {
        "name": name,
        "versions": session.versions,
        "geography": {"name": geography.name, "digest": geography.digest, **geography.repair_record},
        **({"note": inputs.note} if inputs.note else {}),
        "testimonies": {"digest": session.prepared.testimonies.digest},
        "target": {"n_districts": len(labels), **design._asdict()},
        "epsilon": plans.epsilon,
        "rungs_of_charts": list(plans.rungs),
        "rungs": list(recorded.epsilons),
        "rungs_placed_after_rounds": list(recorded.placings),
        "start_plans": list(recorded.starts),
        "steps_per_round": recorded.steps_per_round,
        "rounds_between_plans": plans.spacing,
        **({"runs": [run.name for run in recorded.runs]} if recorded.runs else {}),
        "districts": list(labels),
        "id_column": geography.id_column,
    }
