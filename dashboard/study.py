"""The file of a study: which inputs, which law, and which scores, epsilons and seeds to go through."""

import argparse
import math
import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

from bottomup.dashboard.options import add_input_options, add_weighting_options, check_score_options
from bottomup.dashboard.sample_options import add_sample_options, check_sample_options
from bottomup.dashboard.starting import add_law_options
from bottomup.dashboard.walk_options import moves_of
from bottomup.data.errors import DataError

__all__ = ["Cell", "Study", "find_study", "read_study"]

DEMO = "demo"
SCORES = ("testimony", "cluster")
_OF_EVERY_CELL = ("chains", "start", "steps", "thin", "burn_in", "moves", "step")
_LISTS = ("scores", "epsilons", "seeds")


class Cell(NamedTuple):
    """One run of a study: its name, which is that of its folder, and its options for ``bottomup sample``."""

    name: str
    score: str
    seed: int
    options: tuple[str, ...]
    """Without ``--out``; files are relative to the folder of the study."""


@dataclass(frozen=True)
class Study:
    """A study as its file has it, checked.

    Attributes
    ----------
    path : Path
        Of the file, whole.
    inputs, law, sweep : dict
        Its tables: options of ``bottomup sample`` by name, and in ``sweep`` the lists ``scores``,
        ``epsilons`` and ``seeds`` as well, which are always there.
    """

    path: Path
    inputs: dict[str, Any]
    law: dict[str, Any]
    sweep: dict[str, Any]

    def cells(self) -> list[Cell]:
        """Every run, score after score, each in the order of the seeds."""
        return [
            Cell(f"{score}-seed{seed}", score, seed, tuple(self._options(score, seed)))
            for score in self.sweep["scores"]
            for seed in self.sweep["seeds"]
        ]

    def _options(self, score: str, seed: int) -> Iterator[str]:
        yield "sample"
        shared = {name: self.sweep[name] for name in _OF_EVERY_CELL if name in self.sweep}
        for name, value in {**self.inputs, **self.law, **shared, "score": score, "seed": seed}.items():
            option = f"--{name.replace('_', '-')}"
            if isinstance(value, bool):
                if value:
                    yield option
                continue
            # In one word, so that what begins with a dash is no option.
            for each in value if isinstance(value, list) else [value]:
                yield f"{option}={each}"
        epsilons = self.sweep["epsilons"]
        if len(epsilons) == 1:
            yield f"--epsilon={epsilons[0]}"
        else:
            yield from ("--exchange", "--rungs", *map(str, epsilons))

    def parsed(self, cell: Cell) -> argparse.Namespace:
        """The options of a cell, as the command that runs it reads them."""
        return _parser().parse_args([*cell.options[1:], "--out", cell.name])

    def tables(self) -> dict[str, Any]:
        """The study ready for JSON."""
        return {"inputs": self.inputs, "law": self.law, "sweep": self.sweep}


def find_study(name: str) -> Path:
    """The file of a study: one that is there, or ``demo`` for the one that comes along.

    Raises
    ------
    DataError
        When there is none.
    """
    if Path(name).is_file():
        return Path(name)
    shipped = Path(__file__).parent / "studies" / f"{DEMO}.toml"
    if name == DEMO:
        return shipped
    raise DataError(
        "study",
        f"{name} is not a file.",
        remedy=f"Name the file of a study, or `{DEMO}` for that of the demonstration, {shipped}.",
    )


def read_study(path: Path) -> Study:
    """Read a study and check it without its inputs.

    Parameters
    ----------
    path : path
        Of a file in TOML with the tables ``inputs``, ``law`` and ``sweep``.

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
    _check_names(path, "the study", found, allowed)
    tables: dict[str, dict[str, Any]] = {name: {} for name in allowed}
    for table, values in found.items():
        if not isinstance(values, dict):
            raise _refusal(path, table, values, "a table", f"Write [{table}] on a line of its own.")
        _check_names(path, f"[{table}]", values, allowed[table])
        for name, value in values.items():
            action = allowed[table][name]
            key = f"{table}.{name}"
            tables[table][name] = value if action is None else _check_value(path, key, value, action)
    tables["sweep"] |= _check_lists(path, tables["sweep"])
    study = Study(path.resolve(), tables["inputs"], tables["law"], tables["sweep"])
    _check_options(study)
    return study


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="bottomup sample")
    add_sample_options(parser)
    return parser


def _keys() -> dict[str, dict[str, argparse.Action | None]]:
    """The keys of each table, with the option that each stands for; None for the lists of the sweep."""
    inputs, law = argparse.ArgumentParser(add_help=False), argparse.ArgumentParser(add_help=False)
    add_input_options(inputs)
    add_law_options(law)
    add_weighting_options(law)
    options = _named(_parser())
    sweep = {name: options[name] for name in _OF_EVERY_CELL}
    return {
        "inputs": dict(_named(inputs)),
        "law": dict(_named(law)),
        "sweep": {**dict.fromkeys(_LISTS), **sweep},
    }


def _named(parser: argparse.ArgumentParser) -> dict[str, argparse.Action]:
    return {action.dest: action for action in parser._actions}


def _check_names(path: Path, where: str, found: Mapping[str, Any], allowed: Mapping[str, Any]) -> None:
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


def _check_lists(path: Path, sweep: Mapping[str, Any]) -> dict[str, list[Any]]:
    """The lists to go through, with those of the command where none are given."""
    scores = sweep.get("scores", ["testimony"])
    epsilons, seeds = sweep.get("epsilons", [0]), sweep.get("seeds", [1])
    checks = (
        ("scores", scores, SCORES.__contains__, f"from {', '.join(SCORES)}"),
        ("epsilons", epsilons, lambda each: _is_number(each) and each >= 0, "of numbers from 0 up"),
        ("seeds", seeds, lambda each: _is_whole(each) and each >= 0, "of whole numbers from 0 up"),
    )
    for name, values, is_fit, wanted in checks:
        is_list = isinstance(values, list) and len(values) > 0 and all(map(is_fit, values))
        if not is_list or len(set(values)) < len(values):
            raise _refusal(path, f"sweep.{name}", values, f"a list {wanted}, each once")
    return {"scores": scores, "epsilons": [float(epsilon) for epsilon in epsilons], "seeds": seeds}


def _check_options(study: Study) -> None:
    """Refuse what ``bottomup sample`` refuses before it reads anything."""
    options = study.parsed(study.cells()[0])
    if "units" not in study.inputs and not study.inputs.get("demo"):
        raise DataError(
            "study",
            f"{study.path}: [inputs] names no map.",
            remedy="Name the file of units, or write demo = true for the demonstration state.",
        )
    try:
        moves_of(options)
        check_sample_options(options)
        check_score_options(options)
    except ValueError as error:
        raise DataError("study", f"{study.path}: {error}.") from error
