"""The folder of a study: what ``study.json`` says of it, and the runs that it holds."""

import argparse
import json
from collections.abc import Mapping, Sequence
from contextlib import chdir
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, NamedTuple

from bottomup.dashboard.going_on import (
    check_files,
    check_same_run,
    describe_files,
    is_finished,
    named_files,
)
from bottomup.dashboard.options import Inputs, add_input_options, load_inputs, weighting_of
from bottomup.dashboard.starting import add_law_options
from bottomup.dashboard.study import Cell, Study, sample_parser
from bottomup.data.errors import DataError

__all__ = [
    "RECORD",
    "StoredCell",
    "StudyFolder",
    "check_study_folder",
    "describe_study",
    "save_record",
]

RECORD = "study.json"
RUN = "run.json"
SCHEMA = 2


class StoredCell(NamedTuple):
    """A cell of a study in its folder."""

    name: str
    folder: Path
    run: str | None
    """Name of the run; None before it is begun."""
    score: str | None
    seed: int
    cut_edges: float | None
    is_attacked: bool
    is_finished: bool


@dataclass(frozen=True)
class StudyFolder:
    """A study that a sweep has made, or has begun.

    Attributes
    ----------
    path : Path
        Of the folder.
    record : dict
        What ``study.json`` says.
    """

    path: Path
    record: dict[str, Any]

    @classmethod
    def open(cls, path: str | Path) -> "StudyFolder":
        """Read what ``study.json`` says.

        Raises
        ------
        DataError
            When the folder holds no study, or one that this version does not read.
        """
        folder = Path(path)
        if not (folder / RECORD).is_file():
            raise DataError(
                "no_study",
                f"{folder} holds no study: {RECORD} not found.",
                remedy="Name the folder that was given to `bottomup sweep` with --out.",
            )
        return cls(folder.resolve(), _read(folder))

    @cached_property
    def cells(self) -> list[StoredCell]:
        """All of them, in the order of the study."""
        return [
            StoredCell(name, self.path / name, **own, is_finished=is_finished(self.path / name))
            for name, own in self.record["runs"].items()
        ]

    @property
    def finished(self) -> list[StoredCell]:
        """Cells whose runs have come to their end."""
        return [cell for cell in self.cells if cell.is_finished]

    @property
    def title(self) -> str:
        """What the study is called; the name of its folder where it has no title."""
        return str(self.record["study"]["title"]) or self.path.name

    @property
    def options(self) -> argparse.Namespace:
        """The options that name inputs, law and further starts; files by their whole paths."""
        defaults = sample_parser().parse_args(["--out", str(self.path)])
        return argparse.Namespace(**{**vars(defaults), **self.record["options"]})

    def run_of(self, cell: StoredCell) -> dict[str, Any]:
        """What the ``run.json`` of a cell that is begun says."""
        return dict(json.loads((cell.folder / RUN).read_text(encoding="utf-8")))

    def load_inputs(self) -> Inputs:
        """Read the inputs that the study was made of.

        Raises
        ------
        DataError
            When they are not what they were, naming the files.
        """
        check_files(self.record["options"], self.record["files"])
        return load_inputs(self.options, needs_plan=self.options.districts is None)


def describe_study(study: Study, out: Path) -> tuple[dict[str, Any], Inputs]:
    """What ``study.json`` says of a study, and its inputs, so that they are refused once and for all."""
    from bottomup.sampler.naming import package_versions
    from bottomup.sampler.problem import Problem
    from bottomup.sampler.statistics import evaluate_plan

    options = study.parsed(study.cells(out)[0])
    with chdir(study.base):
        inputs = load_inputs(options, needs_plan=options.districts is None)
        plans = inputs.plans if options.units is None else ()
        named = named_files(options, frozenset(map(str, [*inputs.geography.columns, *plans])))
        files = describe_files(named)
    enacted = None
    if inputs.enacted is not None and inputs.testimonies is not None:
        problem = Problem.build(inputs.geography, inputs.testimonies, weighting_of(options))
        plan = inputs.enacted
        found = evaluate_plan(problem, plan.assignment, plan.n_districts)
        enacted = {"score_testimony": found.score_testimony}
        if len(found.cluster_best_share):
            enacted["score_cluster"] = found.score_cluster
    record = {
        "schema": SCHEMA,
        "study": study.tables(),
        "options": {name: named[name] for name in _shared_options()},
        "files": files,
        "enacted": enacted,
        "versions": package_versions(),
    }
    return record, inputs


def _shared_options() -> list[str]:
    """Those that all cells have but for testimonies after an attack."""
    parser = argparse.ArgumentParser(add_help=False)
    add_input_options(parser)
    add_law_options(parser)
    return [*(action.dest for action in parser._actions), "weighting", "cap", "start"]


def check_study_folder(out: Path, record: Mapping[str, Any], cells: Sequence[Cell]) -> None:
    """Refuse a folder with another study, or with runs that are none of this one."""
    from bottomup.sampler.runs import check_folder

    known: set[str] = set()
    if (out / RECORD).exists():
        before = _read(out)
        known = set(before["runs"])
        _check_study(out, record["study"], before["study"])
        files = {**before["files"], **record["files"]}
        changed = [path for path in files if before["files"].get(path) != record["files"].get(path)]
        if changed:
            raise DataError(
                "inputs_changed",
                f"Files have changed since the study in {out} was begun.",
                remedy="Put back what they were, or name another folder with --out.",
                units=changed,
            )
        check_same_run({"versions": record["versions"]}, {"versions": before["versions"]})
    for cell in cells:
        if cell.name not in known:
            check_folder(out / cell.name)


def _read(out: Path) -> dict[str, Any]:
    try:
        before = json.loads((out / RECORD).read_text(encoding="utf-8"))
        schema = int(before["schema"])
    except (ValueError, KeyError, TypeError) as error:
        raise DataError(
            "damaged_study", f"{out / RECORD} is damaged.", remedy="Name another folder with --out."
        ) from error
    if schema != SCHEMA:
        when = "later" if schema > SCHEMA else "earlier"
        raise DataError(
            f"{when}_version",
            f"{out / RECORD} was written by a version of bottomup that is {when} than this one.",
            remedy="Use that version, or name another folder.",
        )
    return dict(before)


def _check_study(out: Path, now: Mapping[str, Any], before: Mapping[str, Any]) -> None:
    """Refuse changes but for another title, and more scores, centres and seeds.

    Raises
    ------
    DataError
        Naming the keys that differ.
    """
    changed = []
    for table in ("inputs", "law", "sweep", "attack"):
        old_table, new_table = before[table], now[table]
        if old_table is None or new_table is None:
            # An attack may be added: the cells that are there stay as they are.
            if new_table is None and old_table is not None:
                changed.append(table)
            continue
        for key in dict.fromkeys([*old_table, *new_table]):
            old, new = old_table.get(key), new_table.get(key)
            if old != new and not (table == "sweep" and _is_more(key, old, new)):
                changed.append(f"{table}.{key}")
    if changed:
        raise DataError(
            "study_changed",
            f"The study has changed since the one in {out} was begun.",
            remedy="Only scores, seeds, further cut edges and an attack may be added. Put back what it was, "
            "or name another folder with --out.",
            units=changed,
        )


def _is_more(key: str, old: Any, new: Any) -> bool:
    """Whether the cells that there were are there still."""
    if key in ("scores", "seeds", "cut_edges"):
        return bool(old) and set(old) <= set(new)
    return key == "epsilons" and all(new.get(score) == epsilons for score, epsilons in old.items())


def save_record(out: Path, record: Mapping[str, Any], cells: Sequence[Cell]) -> None:
    """Write ``study.json``, with the names that the runs have so far."""
    from bottomup.sampler.durable import write_whole

    runs = {
        cell.name: {
            "run": _name(out / cell.name),
            "score": cell.score,
            "seed": cell.seed,
            "cut_edges": cell.cut_edges,
            "is_attacked": cell.is_attacked,
        }
        for cell in cells
    }
    text = json.dumps({**record, "runs": runs}, indent=2)
    write_whole(out / RECORD, lambda file: file.write(f"{text}\n".encode()))


def _name(folder: Path) -> str | None:
    """The name of a run; None before it is begun."""
    try:
        return str(json.loads((folder / RUN).read_text(encoding="utf-8"))["name"])
    except (OSError, ValueError, KeyError, TypeError):
        return None
