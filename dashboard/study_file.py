"""The file of a study, read and checked without its inputs."""

import argparse
import math
import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from bottomup.dashboard.options import add_input_options, add_weighting_options, check_score_options
from bottomup.dashboard.sample_options import check_sample_options
from bottomup.dashboard.starting import add_law_options
from bottomup.dashboard.study import OF_EVERY_CELL, Study, sample_parser
from bottomup.dashboard.walk_options import moves_of
from bottomup.data.errors import DataError, list_some

__all__ = ["find_study", "read_study", "shipped_studies"]

SCORES = ("testimony", "cluster")
_LISTS = ("scores", "epsilons", "cut_edges", "seeds")
_ATTACK = ("cluster", "adversary_seed")
_FOLDER = Path(__file__).parent / "studies"


def shipped_studies() -> dict[str, Path]:
    """The studies that come along, by name."""
    return {path.stem: path for path in sorted(_FOLDER.glob("*.toml"))}


def find_study(name: str) -> Path:
    """The file of a study: one that is there, or one that comes along, by its name.

    Raises
    ------
    DataError
        When there is none.
    """
    if Path(name).is_file():
        return Path(name)
    shipped = shipped_studies()
    if name in shipped:
        return shipped[name]
    raise DataError(
        "study",
        f"{name} is not a file.",
        remedy=f"Name the file of a study, or one of those that come along: {', '.join(shipped)}. They are "
        f"in {_FOLDER}.",
    )


def read_study(path: Path, inputs: Mapping[str, Any] | None = None, start: list[str] | None = None) -> Study:
    """Read a study and check it without its inputs.

    Parameters
    ----------
    path : path
        Of a file in TOML with the tables ``inputs``, ``law`` and ``sweep``, perhaps ``attack``, and perhaps
        a ``title``.
    inputs : mapping, optional
        In place of those in the file; files are then relative to the current folder.
    start : list of str, optional
        Further plans to start from, in place of those in the file.

    Raises
    ------
    DataError
        When it is no TOML, or naming the key that is unknown, of the wrong type or contradicted.
    OSError
        When it cannot be read.
    """
    try:
        found = tomllib.loads(path.read_bytes().decode("utf-8-sig"))
    except ValueError as error:
        raise DataError("study", f"{path} is not TOML: {error}.") from error
    allowed = _keys()
    _check_names(path, "the study", found, ["title", *allowed])
    title = found.pop("title", "")
    if not _is_text(title):
        raise _refusal(path, "title", title, "a text")
    tables: dict[str, dict[str, Any]] = {name: {} for name in allowed}
    for table, values in found.items():
        if not isinstance(values, dict):
            raise _refusal(path, table, values, "a table", f"Write [{table}] on a line of its own.")
        _check_names(path, f"[{table}]", values, allowed[table])
        for name, value in values.items():
            action = allowed[table][name]
            key = f"{table}.{name}"
            tables[table][name] = value if action is None else _check_value(path, key, value, action)
    if inputs is not None:
        tables["inputs"] = dict(inputs)
    if start is not None:
        tables["sweep"]["start"] = start
    has_testimonies = bool(tables["inputs"].get("testimonies") or tables["inputs"].get("demo"))
    tables["sweep"] |= _check_lists(path, tables["sweep"], has_testimonies)
    attack = None
    if "attack" in found:
        attack = _check_attack(path, tables["attack"], has_testimonies)
        _check_baseline(path, tables["sweep"]["epsilons"])
    study = Study(
        path=path.resolve(),
        base=path.resolve().parent if inputs is None else Path.cwd(),
        title=title,
        inputs=tables["inputs"],
        law=tables["law"],
        sweep=tables["sweep"],
        attack=attack,
    )
    _check_options(study)
    return study


def _keys() -> dict[str, dict[str, argparse.Action | None]]:
    """The keys of each table, with the option that each stands for; None for what has none."""
    inputs, law = argparse.ArgumentParser(add_help=False), argparse.ArgumentParser(add_help=False)
    add_input_options(inputs)
    add_law_options(law)
    add_weighting_options(law)
    options = _named(sample_parser())
    return {
        "inputs": dict(_named(inputs)),
        "law": dict(_named(law)),
        "sweep": {**dict.fromkeys(_LISTS), **{name: options[name] for name in OF_EVERY_CELL}},
        "attack": dict.fromkeys(_ATTACK),
    }


def _named(parser: argparse.ArgumentParser) -> dict[str, argparse.Action]:
    return {action.dest: action for action in parser._actions}


def _check_names(path: Path, where: str, found: Mapping[str, Any], allowed: Any) -> None:
    unknown = [name for name in found if name not in allowed]
    if unknown:
        raise DataError(
            "study",
            f"{path}: {where} has unknown keys.",
            remedy=f"Allowed are {', '.join(allowed)}.",
            units=unknown,
        )


def _refusal(path: Path, key: str, value: Any, wanted: str, remedy: str = "") -> DataError:
    shown = str(value).lower() if isinstance(value, bool) else repr(value)
    return DataError("study", f"{path}: {key} must be {wanted}; got {shown}.", remedy=remedy)


def _is_whole(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)


def _is_number(value: Any) -> bool:
    return _is_whole(value) or (isinstance(value, float) and math.isfinite(value))


def _is_text(value: Any) -> bool:
    return isinstance(value, str)


def _is_from_0(value: Any) -> bool:
    return _is_number(value) and value >= 0


def _check_value(path: Path, key: str, value: Any, action: argparse.Action) -> Any:
    """A value of the type that its option takes."""
    if isinstance(action, argparse._StoreTrueAction):
        is_fit, wanted = isinstance(value, bool), "true or false"
    elif isinstance(action, argparse._AppendAction):
        is_fit = isinstance(value, list) and all(map(_is_text, value))
        wanted = "a list of texts"
    elif action.choices is not None:
        is_fit, wanted = value in action.choices, f"one of {', '.join(action.choices)}"
    elif action.type is int:
        is_fit, wanted = _is_whole(value), "a whole number"
    elif action.type is float:
        is_fit, wanted = _is_number(value), "a number"
    else:
        is_fit, wanted = _is_text(value), "a text"
    if not is_fit:
        raise _refusal(path, key, value, wanted)
    return value


def _check_lists(path: Path, sweep: Mapping[str, Any], has_testimonies: bool) -> dict[str, Any]:
    """The lists to go through, with those of the command where none are given."""
    scores = sweep.get("scores", ["testimony"] if has_testimonies else [])
    cut_edges, seeds = sweep.get("cut_edges", []), sweep.get("seeds", [1])
    checks = (
        ("scores", scores, SCORES.__contains__, f"from {', '.join(SCORES)}"),
        ("cut_edges", cut_edges, _is_from_0, "of numbers from 0 up"),
        ("seeds", seeds, lambda each: _is_whole(each) and each >= 0, "of whole numbers from 0 up"),
    )
    for name, values, is_fit, wanted in checks:
        may_be_empty = name not in sweep
        _check_list(path, f"sweep.{name}", values, is_fit, wanted, may_be_empty)
    if scores and not has_testimonies:
        raise DataError(
            "study",
            f"{path}: sweep.scores is given, and [inputs] names no testimonies.",
            remedy="Name their file, or leave scores out.",
        )
    # Without testimonies there is one kind of cell, the baseline.
    kinds = scores or ["baseline"]
    found = sweep.get("epsilons", [0])
    by_kind = found if isinstance(found, dict) else dict.fromkeys(kinds, found)
    if set(by_kind) != set(kinds):
        wanted = f"a list, or a table with lists for {list_some(kinds)}"
        raise _refusal(path, "sweep.epsilons", found, wanted)
    for kind, values in by_kind.items():
        key = f"sweep.epsilons.{kind}" if isinstance(found, dict) else "sweep.epsilons"
        _check_list(path, key, values, _is_from_0, "of numbers from 0 up")
    epsilons = {kind: [float(epsilon) for epsilon in by_kind[kind]] for kind in kinds}
    if not scores and epsilons["baseline"] != [0.0]:
        raise DataError(
            "study",
            f"{path}: sweep.epsilons must be [0] where [inputs] names no testimonies.",
            remedy="Name their file, or leave epsilons out.",
        )
    return {"scores": scores, "epsilons": epsilons, "cut_edges": cut_edges, "seeds": seeds}


def _check_list(
    path: Path, key: str, values: Any, is_fit: Any, wanted: str, may_be_empty: bool = False
) -> None:
    is_list = isinstance(values, list) and (may_be_empty or len(values) > 0) and all(map(is_fit, values))
    if not is_list or len(set(values)) < len(values):
        raise _refusal(path, key, values, f"a list {wanted}, each once")


def _check_attack(path: Path, attack: Mapping[str, Any], has_testimonies: bool) -> dict[str, Any]:
    cluster, seed = attack.get("cluster"), attack.get("adversary_seed", 1)
    if cluster is not None and not _is_text(cluster):
        raise _refusal(path, "attack.cluster", cluster, "a text")
    if not _is_whole(seed) or seed < 0:
        raise _refusal(path, "attack.adversary_seed", seed, "a whole number from 0 up")
    if not has_testimonies:
        raise DataError(
            "study",
            f"{path}: [attack] changes testimonies, and [inputs] names none.",
            remedy="Name their file, or leave [attack] out.",
        )
    return {"cluster": cluster, "adversary_seed": seed}


def _check_baseline(path: Path, epsilons: Mapping[str, list[float]]) -> None:
    """Refuse an attack that could not be compared with the baseline."""
    for score, own in epsilons.items():
        if len(own) < 2:
            raise DataError(
                "study",
                f"{path}: [attack] is told beside the baseline, and sweep.epsilons has one epsilon for the "
                f"{score} score.",
                remedy="Give 0 and at least one more.",
            )


def _check_options(study: Study) -> None:
    """Refuse what ``bottomup sample`` refuses before it reads anything."""
    if "units" not in study.inputs and not study.inputs.get("demo"):
        raise DataError(
            "study",
            f"{study.path}: [inputs] names no map.",
            remedy="Name the file of units there or with --units, or write demo = true for the demonstration "
            "state.",
        )
    if study.sweep["cut_edges"] and "cut_edges" in study.law:
        raise DataError(
            "study",
            f"{study.path}: law.cut_edges and sweep.cut_edges are both given.",
            remedy="Leave one of them out.",
        )
    for cell in study.cells(study.path.parent):
        options = study.parsed(cell)
        try:
            moves_of(options)
            check_sample_options(options)
            check_score_options(options)
        except ValueError as error:
            raise DataError("study", f"{study.path}: {error}.") from error
