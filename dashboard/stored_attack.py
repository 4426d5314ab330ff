"""What an attack has shown in the runs of a study, made of the plans that they have left."""

import itertools
import json
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from bottomup.dashboard.attack_files import rows_of
from bottomup.dashboard.attack_report import Outcome, read_score
from bottomup.dashboard.attack_words import sentences
from bottomup.dashboard.options import Inputs
from bottomup.data.errors import DataError, list_some
from bottomup.sampler.sensitivity import Weighting

if TYPE_CHECKING:
    from bottomup.data.changes import Change
    from bottomup.sampler.attack import Attack
    from bottomup.sampler.problem import Score
    from bottomup.sampler.stored_draws import StoredDraws

__all__ = ["StoredAttack", "attack_of_study"]

_PARTS = {"geography": ("digest",), "target": None, "exchange": ("rungs",)}
"""What runs have in common that differ in testimonies and seeds alone, by the tables of ``run.json``."""


class StoredAttack(NamedTuple):
    """What an attack has shown at one score."""

    outcome: Outcome
    """With this score alone; ``outcome.attack.change.words`` says what has been done."""
    rows: list[dict[str, Any]]
    """Of the table, see :func:`bottomup.dashboard.attack_files.rows_of`."""
    sentences: list[str]


def attack_of_study(
    inputs: Inputs,
    change: "Change",
    honest: Sequence[Path],
    attacked: Sequence[Path],
    score: "Score",
    epsilons: Sequence[float] | None = None,
    *,
    weighting: Weighting = Weighting(),  # noqa: B008 (never changed)
    copies_count_once: bool = False,
) -> StoredAttack:
    """Compare runs for testimonies as submitted with runs for those after a change.

    Parameters
    ----------
    inputs : Inputs
        Of the runs before the change.
    change : Change
        See :func:`bottomup.dashboard.study_attack.change_of`.
    honest, attacked : sequence of Path
        Folders of runs, one for each seed, with the same law and rungs.
    score : {"testimony", "cluster"}
        That of the law.
    epsilons : sequence of float, optional
        Ascending from 0, within the rungs; by default the rungs.
    weighting : Weighting
    copies_count_once : bool
        Whether the runs were made with ``--deduplicate``.

    Raises
    ------
    DataError
        When the runs have different laws or rungs, another score or no rung at epsilon 0, when there are no
        plans yet, or they are not of these testimonies.
    """
    # Imported here: numba takes a second, and a command may end before.
    from bottomup.sampler.attack import Attack

    runs = [_read(folder) for folder in (*honest, *attacked)]
    _check_law([*honest, *attacked], runs)
    attack = Attack.prepare(change, copies_count_once=copies_count_once)
    target = runs[0]["target"]
    if target["score"] != score:
        raise DataError(
            "other_score",
            f"The run in {honest[0]} goes by the {target['score']} score, not the {score} score.",
            remedy="Name runs of that score.",
        )
    before, after = (
        _measure(folders, inputs, attack, score, target["n_districts"], weighting, is_honest=is_honest)
        for folders, is_honest in ((honest, True), (attacked, False))
    )
    wanted = before.epsilons.tolist() if epsilons is None else list(epsilons)
    _check_epsilons(wanted, before.epsilons.tolist())
    found = read_score(before, after, wanted)
    outcome = Outcome(
        attack,
        (found,),
        are_comparable=all(map(_has_unlike_starts, runs)),
        hopeless=attack.hopeless(inputs.geography.population, target["upper"]),
    )
    return StoredAttack(outcome, rows_of(outcome, found), sentences(outcome, found))


def _read(folder: Path) -> dict[str, Any]:
    """What a run says of itself."""
    from bottomup.sampler.runs import RUN

    try:
        return dict(json.loads((folder / RUN).read_text(encoding="utf-8")))
    except (OSError, ValueError, TypeError) as error:
        raise DataError(
            "no_run", f"{folder} holds no run that can be read.", remedy="Run the study to its end."
        ) from error


def _check_law(folders: Sequence[Path], runs: Sequence[dict[str, Any]]) -> None:
    """Refuse runs that differ in more than testimonies and seeds."""
    first = runs[0]
    for folder, run in zip(folders, runs, strict=True):
        differing = []
        for table, keys in _PARTS.items():
            one, other = first[table] or {}, run[table] or {}
            differing += [key for key in keys or {**one, **other} if one.get(key) != other.get(key)]
        if differing:
            raise DataError(
                "unlike_runs",
                f"The runs in {folders[0]} and {folder} differ in more than testimonies and seeds.",
                remedy="Compare runs of one study, before and after its attack.",
                units=[key.replace("_", " ") for key in differing],
            )


def _measure(
    folders: Sequence[Path],
    inputs: Inputs,
    attack: "Attack",
    score: "Score",
    n_districts: int,
    weighting: Weighting,
    *,
    is_honest: bool,
) -> "StoredDraws":
    from bottomup.sampler.attack import Measure
    from bottomup.sampler.counterfactual import Counterfactual
    from bottomup.sampler.problem import Problem
    from bottomup.sampler.stored_draws import measure_stored

    geography, change = inputs.geography, attack.change
    problem = Problem.build(geography, change.before if is_honest else change.after, weighting)
    counterfactual = Counterfactual(geography, change, score, weighting) if is_honest else None
    return measure_stored(folders, Measure(attack, problem, score, n_districts, counterfactual))


def _check_epsilons(epsilons: Sequence[float], rungs: Sequence[float]) -> None:
    ascends = all(below < above for below, above in itertools.pairwise(epsilons))
    if len(epsilons) < 2 or epsilons[0] != 0 or not ascends or epsilons[-1] > rungs[-1] or rungs[0] != 0:
        raise DataError(
            "epsilons",
            "What testimony does is told by comparison with plans for which it counts for nothing: epsilons "
            f"must ascend from 0 and hold at least one more, up to {rungs[-1]:g}; got "
            f"{list_some([f'{epsilon:g}' for epsilon in epsilons])}, and the runs begin at {rungs[0]:g}.",
            remedy="Let the study have 0 among its epsilons.",
        )


def _has_unlike_starts(run: dict[str, Any]) -> bool:
    """Whether agreement means something; a run that is not finished has not said that it does not."""
    rungs = run["outcome"].get("diagnostics", {}).get("by_epsilon", [])
    return run["chains"] > 1 and all(rung["verdict"] != "one start" for rung in rungs)
