"""How ``bottomup sample --resume`` finds out what a run was made with, and that it still is so."""

import argparse
import hashlib
import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from bottomup.data.errors import DataError

__all__ = ["check_files", "check_same_run", "describe_files", "is_finished", "named_files", "saved_options"]

_FILES = ("units", "edges", "shapes", "testimonies", "crosswalk", "repairs")
_FILES_OR_COLUMNS = ("plan", "clusters", "start")
_FREE = ("out", "resume", "threads", "scheduler", "run", "command")
"""Options that may be others when a run goes on: they leave no trace in the plans."""


def is_finished(out: Path) -> bool:
    """Whether a folder holds a run that has come to its end."""
    try:
        outcome = json.loads((out / "run.json").read_text(encoding="utf-8"))["outcome"]
        return bool(outcome["complete"])
    except (OSError, ValueError, KeyError, TypeError):
        return False


def named_files(options: argparse.Namespace, others: frozenset[str]) -> dict[str, Any]:
    """The options of a run ready for JSON, every file by its whole path, so that it is found from anywhere.

    Parameters
    ----------
    options : argparse.Namespace
    others : frozenset of str
        Names of columns and plans, which are meant even where a file is called the same.
    """

    def whole(value: str) -> str:
        return str(Path(value).resolve()) if Path(value).is_file() and value not in others else value

    named: dict[str, Any] = {}
    for option, value in vars(options).items():
        if option in _FREE and option != "threads":
            continue
        if option in _FILES and value is not None:
            named[option] = str(Path(value).resolve())
        elif option in _FILES_OR_COLUMNS and value:
            named[option] = whole(value) if isinstance(value, str) else [whole(each) for each in value]
        else:
            named[option] = value
    return named


def _paths(options: Mapping[str, Any]) -> Iterator[Path]:
    """Every file that options name, with those that belong to it."""
    for option in (*_FILES, *_FILES_OR_COLUMNS):
        value = options.get(option) or []
        for each in [value] if isinstance(value, str) else value:
            path = Path(each)
            if not path.is_absolute():
                continue
            if path.is_dir():
                yield from sorted(inner for inner in path.rglob("*") if inner.is_file())
            elif path.suffix.lower() == ".shp":
                yield from sorted(path.parent.glob(f"{path.stem}.*"))
            else:
                yield path


def describe_files(options: Mapping[str, Any]) -> dict[str, str]:
    """SHA-256, in hexadecimal, of every file that options of :func:`named_files` name, by its path."""
    found = {}
    for path in _paths(options):
        with path.open("rb") as file:
            found[str(path)] = hashlib.file_digest(file, "sha256").hexdigest()
    return found


def saved_options(
    given: argparse.Namespace, saved: Mapping[str, Any], defaults: Mapping[str, Any]
) -> argparse.Namespace:
    """The options that a run was begun with, with those given now that may be others.

    Parameters
    ----------
    given : argparse.Namespace
        With the options that stand on the command line alone.
    saved : mapping
        Of :func:`named_files`.
    defaults : mapping
        Of options that the run does not know, for it was begun with an earlier version.

    Raises
    ------
    ValueError
        Naming an option that is given now and was another then.
    """
    now = named_files(given, frozenset())
    for option, value in vars(given).items():
        if option in _FREE or saved.get(option) in (value, now.get(option)):
            continue
        raise ValueError(
            f"{_spell(option, value)} contradicts the run in {given.out}, which was begun "
            f"{_with(option, saved.get(option))}; leave it out, or start another run in another folder"
        )
    free = {option: value for option, value in vars(given).items() if option in _FREE}
    return argparse.Namespace(**{**defaults, **saved, **free})


def _spell(option: str, value: Any) -> str:
    """An option as it is given on the command line."""
    words = [] if value is True else value if isinstance(value, list) else [value]
    return " ".join([f"--{option.replace('_', '-')}", *map(str, words)])


def _with(option: str, value: Any) -> str:
    return "without it" if value in (None, False, []) else f"with {_spell(option, value)}"


def check_files(options: Mapping[str, Any], before: Mapping[str, str]) -> None:
    """Refuse inputs that are not those that a run was begun with.

    Raises
    ------
    DataError
        Naming the files that have changed, have gone or have come.
    """
    gone = [path for path in before if not Path(path).is_file()]
    if gone:
        raise DataError(
            "inputs_changed",
            "Files that the run was begun with are not there any more.",
            remedy="Put them back, or start another run in another folder.",
            units=gone,
        )
    now = describe_files(options)
    changed = [path for path in {**before, **now} if now.get(path) != before.get(path)]
    if changed:
        raise DataError(
            "inputs_changed",
            "Files have changed since the run was begun, so it cannot go on with them.",
            remedy="Put back what they were, or start another run in another folder.",
            units=changed,
        )


def check_same_run(description: Mapping[str, Any], before: Mapping[str, Any]) -> None:
    """Refuse to go on as another run: other versions, for one, can make other plans of the same seed.

    Parameters
    ----------
    description, before : mapping
        Of ``run.json``: as it would be now, and as it was when the run was begun.

    Raises
    ------
    DataError
        Naming what differs.
    """
    now = json.loads(json.dumps(description))
    if now == before:
        return
    versions = [
        f"{package} {before['versions'][package]}"
        for package, version in now["versions"].items()
        if before["versions"].get(package) not in (version, None)
    ]
    if versions:
        raise DataError(
            "other_versions",
            "The run was begun with other versions, which can make other plans of the same seed.",
            remedy="Install these versions to go on with it, or start another run in another folder.",
            units=versions,
        )
    raise DataError(
        "other_run",
        "What the run was begun with has changed.",
        remedy="Put back what it was, or start another run in another folder.",
        units=[name for name in {**before, **now} if now.get(name) != before.get(name) and name != "name"],
    )
