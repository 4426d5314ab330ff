"""The folder of an attack: all figures, a tidy table, the adversary's testimonies and a figure."""

import argparse
import csv
import json
import math
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from bottomup.dashboard.attack_report import Outcome, ScoreOutcome
from bottomup.dashboard.attack_words import sentences
from bottomup.dashboard.study_attack import write_submitted

if TYPE_CHECKING:
    from bottomup.dashboard.attack_runs import Run
    from bottomup.data.geography import Geography
    from bottomup.sampler.attack import Attack, Trial
    from bottomup.sampler.attack_findings import Estimate, Finding, Point

__all__ = ["COLUMNS", "FILES", "AttackFolder", "describe_attack", "rows_of"]

RECORD, TABLE, ADVERSARY, FIGURE, PICTURE = (
    "attack.json",
    "attack.csv",
    "adversary.csv",
    "attack.svg",
    "attack.png",
)
FILES = (RECORD, TABLE, ADVERSARY, FIGURE, PICTURE)
"""What the folder holds at the end."""
COLUMNS = (
    *("score", "epsilon", "data_set", "group", "n_communities"),
    *("kept", "kept_error", "effective_size", "rhat"),
    *("best_share", "best_share_error"),
    *("limit", "limit_with_error", "predicted", "predicted_error", "predicted_effective_size"),
)
"""Of the table, which has a row for each score, epsilon, data set and group."""


def describe_attack(attack: "Attack", runs: "Sequence[Run]", options: argparse.Namespace) -> dict[str, Any]:
    """Everything that decides the figures besides the number of rounds, and a short name made of it.

    Parameters
    ----------
    attack : Attack
    runs : sequence of Run
    options : argparse.Namespace
        Of the command.
    """
    from bottomup.sampler.naming import name_of

    if options.flood is not None:
        origin = f"copies of {options.flood}"
    elif options.adversary is not None:
        origin = f"file {Path(options.adversary).name}"
    else:
        origin = f"drawn with seed {options.adversary_seed}"
    change, submitted = attack.change, attack.submitted
    description: dict[str, Any] = {
        "change": {
            "words": change.words,
            "adversary": origin,
            "copies_count_once": bool(options.deduplicate),
            "removed": [submitted.before.ids[place] for place in submitted.removed],
            "added": [submitted.after.ids[place] for place in submitted.added],
            "n_replaced": change.n_replaced,
            "cost": change.cost,
            "digests": {"honest": change.before.digest, "attacked": change.after.digest},
        },
        "epsilons": [float(epsilon) for epsilon in options.epsilons],
        "seed": int(options.seed),
        "runs": [{"score": run.score, "data_set": run.data_set, **run.description} for run in runs],
    }
    return {"name": name_of(description), **description}


class AttackFolder:
    """Writer of the folder; made only when something is about to be recorded.

    Parameters
    ----------
    folder : Path
    geography : Geography
    attack : Attack
    description : dict
        See :func:`describe_attack`.
    """

    def __init__(
        self, folder: Path, geography: "Geography", attack: "Attack", description: dict[str, Any]
    ) -> None:
        self._folder = folder
        self._description = description
        folder.mkdir(parents=True, exist_ok=True)
        submitted = attack.submitted
        write_submitted(folder / ADVERSARY, geography, submitted.after, submitted.added.tolist())
        self._save({"complete": False})

    def finish(self, outcome: Outcome, trials: "Sequence[Trial]", is_complete: bool) -> None:
        """Write what was found."""
        with (self._folder / TABLE).open("w", newline="", encoding="utf-8") as file:
            writer = csv.DictWriter(file, COLUMNS, lineterminator="\n")
            writer.writeheader()
            for found in outcome.scores:
                writer.writerows(rows_of(outcome, found))
        if any(found.findings for found in outcome.scores):
            # Imported here: the figure's library takes a second, and nothing else needs it.
            from bottomup.dashboard.attack_figure import save_figure

            save_figure(
                outcome, self._description["change"]["words"], self._folder / FIGURE, self._folder / PICTURE
            )
        self._save(
            {
                "complete": is_complete,
                "runs": [_run_record(trial) for trial in trials],
                "scores": [_score_record(outcome, found) for found in outcome.scores],
            }
        )

    def _save(self, outcome: dict[str, Any]) -> None:
        text = json.dumps({**self._description, "outcome": outcome}, indent=2, allow_nan=False)
        (self._folder / RECORD).write_text(text + "\n", encoding="utf-8")


def rows_of(outcome: Outcome, found: ScoreOutcome) -> list[dict[str, Any]]:
    """What one score has shown, row by row; a figure that there is not is left out.

    Parameters
    ----------
    outcome : Outcome
    found : ScoreOutcome
        Of this outcome.

    Returns
    -------
    list of dict
        By the names in ``COLUMNS``.
    """
    return [row for finding in found.findings for row in _rows_at(outcome, found.score, finding)]


def _rows_at(outcome: Outcome, score: str, finding: "Finding") -> list[dict[str, Any]]:
    rows = []
    for data_set, point in (("honest", finding.honest), ("attacked", finding.attacked)):
        for group, communities in outcome.attack.groups.items():
            kept, best = (point.estimates.get(f"{kind}_{group}") for kind in ("kept", "best"))
            if kept is None:
                continue
            row: dict[str, Any] = {
                "score": score,
                "epsilon": finding.epsilon,
                "data_set": data_set,
                "group": group,
                "n_communities": len(communities.ids),
                "kept": kept.mean,
                "kept_error": kept.error,
                "effective_size": kept.effective_size,
                "rhat": kept.rhat,
            }
            if best is not None:
                row |= {"best_share": best.mean, "best_share_error": best.error}
            if data_set == "attacked":
                limit, predicted = finding.limits.get(f"kept_{group}"), finding.prediction(f"kept_{group}")
                if limit is not None:
                    row |= {"limit": limit.value, "limit_with_error": limit.with_error}
                if predicted is not None:
                    row |= {
                        "predicted": predicted.mean,
                        "predicted_error": predicted.error,
                        "predicted_effective_size": predicted.effective_size,
                    }
            rows.append({name: _cell(value) for name, value in row.items()})
    return rows


def _cell(value: Any) -> Any:
    return _short(value) if isinstance(value, float) else value


def _short(value: float) -> float | None:
    """A figure with six digits; None, that is null or an empty cell, where it is undefined or infinite."""
    return float(f"{value:.6g}") if math.isfinite(value) else None


def _run_record(trial: "Trial") -> dict[str, Any]:
    ladder = trial.ladder
    return {
        "rounds": trial.n_rounds,
        "draws_kept": min(len(draws.figures) for row in trial.draws for draws in row),
        "seconds": round(trial.seconds, 3),
        "rungs": [float(epsilon) for epsilon in ladder.epsilons],
        "exchange_rates": [_short(float(rate)) for rate in ladder.exchange_rates],
        "round_trips": ladder.round_trips.tolist(),
    }


def _score_record(outcome: Outcome, found: ScoreOutcome) -> dict[str, Any]:
    from bottomup.sampler.naming import describe_sensitivity

    return {
        "score": found.score,
        "sensitivity": {
            "honest": describe_sensitivity(found.before),
            "attacked": describe_sensitivity(found.after),
        },
        "formal_limit_holds": found.has_limit,
        "sentences": sentences(outcome, found),
        "findings": [
            {
                "epsilon": finding.epsilon,
                "reliable": outcome.is_reliable(finding),
                "honest": _point_record(finding.honest),
                "attacked": _point_record(finding.attacked),
                "predicted": _point_record(finding.predicted),
                "limits": {
                    name: {"value": _short(limit.value), "with_error": _short(limit.with_error)}
                    for name, limit in finding.limits.items()
                },
                "exceeded": [name for name in finding.limits if finding.exceeds(name)],
            }
            for finding in found.findings
        ],
    }


def _point_record(point: "Point") -> dict[str, Any]:
    return {
        "rungs": list(point.rungs),
        "n_draws": point.n_draws,
        "estimates": {name: _estimate_record(found) for name, found in point.estimates.items()},
        "kept_each": {group: [_short(float(share)) for share in own] for group, own in point.kept.items()},
    }


def _estimate_record(found: "Estimate") -> dict[str, float | None]:
    return {name: _short(value) for name, value in found._asdict().items()}
