"""A study on the page: which of its runs are shown, what they are checked against, and words for the rest."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bottomup.dashboard.design import Design
from bottomup.dashboard.frozen import StoredStudy
from bottomup.dashboard.going_on import check_files
from bottomup.dashboard.prepared import Prepared
from bottomup.dashboard.starting import find_starts
from bottomup.dashboard.state import Settings
from bottomup.dashboard.stored_runs import Run, read_run, read_standing
from bottomup.dashboard.study_folder import StoredCell, StudyFolder
from bottomup.dashboard.walk_options import moves_of
from bottomup.data.errors import DataError, list_some
from bottomup.data.plans import population_bounds
from bottomup.sampler.naming import assignment_digest

__all__ = ["PageStudy", "open_study"]

_REPORT = "`bottomup report` tells of runs that the page does not show."
_AS_MADE = "Name the inputs on the command line, with the options of the study."


@dataclass(frozen=True)
class PageStudy:
    """A study whose runs a page can show, before it is known whether they fit the inputs.

    Attributes
    ----------
    folder : StudyFolder
    cells : tuple of StoredCell
        Whose plans are shown, in the order of the study.
    notes : tuple of str
        Which others are not, in sentences.
    """

    folder: StudyFolder
    cells: tuple[StoredCell, ...]
    notes: tuple[str, ...]

    @property
    def options(self) -> dict[str, Any]:
        """The options that name the inputs, as the study has them."""
        return dict(self.folder.record["options"])

    def check_files(self) -> None:
        """Refuse files that are not those that the study was made of.

        Raises
        ------
        DataError
            Naming them.
        """
        try:
            check_files(self.options, self.folder.record["files"])
        except DataError as error:
            are_gone = not all(Path(unit).is_file() for unit in error.units)
            raise DataError(
                "study",
                f"The study {self.folder.title} was made of other files. "
                f"{'Not there any more' if are_gone else 'Changed since then'}.",
                remedy=f"Put back what they were. {'' if not are_gone else _AS_MADE}".rstrip(),
                units=error.units,
            ) from error

    def fit(self, prepared: Prepared) -> StoredStudy:
        """Put the study together with its inputs.

        Raises
        ------
        DataError
            When the inputs are others than those that its runs were made of, or plans cannot be read.
        """
        law = self.folder.options
        by_score: dict[str | None, list[Run]] = {}
        elsewhere = []
        for cell in self.cells:
            run = read_run(cell.folder)
            _refuse_others(run, law, prepared)
            if _is_centred_elsewhere(run, cell, law, prepared):
                elsewhere.append(cell)
            else:
                by_score.setdefault(cell.score, []).append(run)
        about_centres = _note("Not shown, for the law is centred on another number of cut edges", elsewhere)
        notes = (*self.notes, *([about_centres] if elsewhere else []))
        if not by_score:
            raise _refusal(self.folder, f"has no run that the page can show. {' '.join(notes)}", _REPORT)
        standings = []
        for score, runs in by_score.items():
            design = _design(self.folder, prepared, score, runs[0])
            starts = [_starts_of(run, law, prepared) for run in runs]
            standings.append(read_standing(runs, starts, design, prepared, self._source(runs)))
        return StoredStudy(
            name=self.folder.title,
            standings=tuple(standings),
            versions=dict(self.folder.record["versions"]),
            notes=notes,
        )

    def _source(self, runs: Sequence[Run]) -> str:
        """What plans were read from, as a line begins."""
        cells = self.folder.cells
        n_left = sum(not cell.is_finished for cell in cells)
        left = f", {n_left} of its {len(cells)} runs unfinished" if n_left else ""
        names = list_some([run.stored.name for run in runs], 4)
        return f"The study {self.folder.title}{left}; run{'s' * (len(runs) > 1)} {names}"


def open_study(path: str | Path) -> PageStudy:
    """Find out which runs of a study a page can show.

    Raises
    ------
    DataError
        When the folder holds no study, or none of its runs can be shown, in words that say why.
    """
    folder = StudyFolder.open(path)
    if folder.options.districts is not None:
        raise _refusal(folder, "has no enacted plan, which the page compares with", _REPORT)
    if folder.options.cap is not None:
        raise _refusal(folder, "caps what a testimony may weigh, and the page does not", _REPORT)
    cells = folder.cells
    if all(cell.score is None for cell in cells):
        raise _refusal(folder, "has no testimonies, which the page is about", _REPORT)
    finished = folder.finished
    if not finished:
        raise _refusal(
            folder,
            "has no finished run yet",
            "Enter its `bottomup sweep` again to go on with it, and open it then.",
        )
    attacked = [cell for cell in finished if cell.is_attacked]
    plain = [cell for cell in finished if cell.score is not None and not cell.is_attacked]
    without_0 = [cell for cell in plain if not _has_baseline(folder, cell)]
    shown = [cell for cell in plain if cell not in without_0]
    notes = [
        _note("Not finished yet", [cell for cell in cells if not cell.is_finished]),
        _note("Not shown, for their testimonies are those after the attack", attacked),
        _note("Not shown, for they have no plans at ε = 0", without_0),
    ]
    said = tuple(note for note in notes if note)
    if not shown and without_0 and len(without_0) == len(plain):
        raise _refusal(
            folder,
            "holds plans at a single ε, and the page needs ladders of several ε from 0 on",
            f"Let epsilons begin with 0, such as [0, 0.5, 1, 2]. {_REPORT}",
        )
    if not shown:
        raise _refusal(folder, f"has no run that the page can show. {' '.join(said)}", _REPORT)
    return PageStudy(folder, tuple(shown), said)


def _refusal(folder: StudyFolder, why: str, remedy: str) -> DataError:
    return DataError("study", f"The study {folder.title} {why.rstrip('.')}.", remedy=remedy)


def _note(words: str, cells: Sequence[StoredCell]) -> str:
    return f"{words}: {list_some([cell.name for cell in cells])}." if cells else ""


def _is_centred_elsewhere(run: Run, cell: StoredCell, law: argparse.Namespace, prepared: Prepared) -> bool:
    """Whether the law of a run is centred on cut edges that were given, and not on the enacted plan's."""
    if cell.cut_edges is None and law.cut_edges is None:
        return False
    enacted = prepared.numbers_of(prepared.enacted, law.weighting).cut_edges
    return bool(run.about["target"]["cut_edges"] != enacted)


def _has_baseline(folder: StudyFolder, cell: StoredCell) -> bool:
    return 0.0 in folder.record["study"]["sweep"]["epsilons"][cell.score]


def _refuse_others(run: Run, law: argparse.Namespace, prepared: Prepared) -> None:
    """Refuse inputs that are not those of a run."""
    about, geography = run.about, prepared.inputs.geography
    plan = prepared.plan(prepared.enacted)
    bounds = population_bounds(geography.total_population, plan.n_districts, law.tolerance)
    target = about["target"]
    differs = []
    if about["geography"]["digest"] != geography.digest:
        differs.append(
            f"the map (of the run: {about['geography']['name']}, {about['geography']['n_units']:,} units; "
            f"here: {geography.name}, {geography.n_units:,} units)"
        )
    if (about["testimonies"] or {}).get("digest") != prepared.testimonies.digest:
        differs.append("the testimonies, their units or their clusters")
    of_run = (target["n_districts"], target["lower"], target["upper"])
    if not differs and of_run != (plan.n_districts, *bounds):
        differs.append("the number of districts, or the people in them")
    if differs:
        raise _others(run, differs)


def _others(run: Run, differs: Sequence[str]) -> DataError:
    return DataError(
        "study",
        f"The run in {run.folder} was made with other inputs. What differs: {'; '.join(differs)}.",
        remedy="Start with the same files and options as the study, or without any to have its own.",
    )


def _design(folder: StudyFolder, prepared: Prepared, score: str | None, run: Run) -> Design:
    """What the runs of a score are for, in the settings of the page."""
    law = argparse.Namespace(**{**vars(folder.options), **folder.record["study"]["sweep"]})
    try:
        settings = Settings(
            list(prepared.inputs.plans),
            prepared.enacted,
            tolerance=law.tolerance,
            compactness=law.compactness,
            seed=run.stored.seed,
            moves=moves_of(law),
            score=score,
            weighting=law.weighting,
        )
    except ValueError as error:
        raise _refusal(folder, f"has a law that the page does not go to: {error}", _REPORT) from error
    return settings.design


def _starts_of(run: Run, law: argparse.Namespace, prepared: Prepared) -> list[NDArray[np.int32]]:
    """The plans that a run's walks began at, made again and checked.

    Raises
    ------
    DataError
        When they are others.
    """
    options = argparse.Namespace(**{**vars(law), "seed": run.stored.seed})
    problem = prepared.problem_of(law.weighting)
    found = find_starts(options, prepared.inputs, problem, law.start, run.n_walks, say=lambda sentence: None)
    if [assignment_digest(plan) for plan in found.plans] != run.about["starts"]:
        raise _others(run, ["the plans that its walks began at, the enacted one first"])
    return found.plans
