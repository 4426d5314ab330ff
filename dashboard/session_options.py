"""The options that name the inputs of a saved session, or of a study: kept, and found again later."""

import argparse
from pathlib import Path
from typing import NoReturn

from bottomup.dashboard.options import add_page_options, page_arguments
from bottomup.dashboard.saved_sessions import SessionFile
from bottomup.dashboard.stored_study import PageStudy
from bottomup.data.errors import DataError

__all__ = ["input_arguments", "with_inputs_of", "with_inputs_of_study"]

_NO_INPUTS = ("ledger", "session_file", "study", "visitors")
_FILES = ("units", "edges", "shapes", "repairs", "testimonies", "crosswalk")
# A file, or something else.
_MAYBE_FILES = ("plan", "clusters")
_AS_SAVED = "Name the inputs on the command line, with the options of when it was saved."


class _Parser(argparse.ArgumentParser):
    """Raises what is wrong, in place of ending the program."""

    def error(self, message: str) -> NoReturn:
        raise ValueError(message)


def _parser() -> argparse.ArgumentParser:
    parser = _Parser(add_help=False)
    add_page_options(parser)
    return parser


def input_arguments(options: argparse.Namespace) -> list[str]:
    """The options that name the inputs, as a command line that holds from any folder."""
    named = argparse.Namespace(**vars(options))
    for name in _NO_INPUTS:
        setattr(named, name, None)
    for name in (*_FILES, *_MAYBE_FILES):
        value = getattr(named, name)
        if value is not None and Path(value).exists():
            setattr(named, name, str(Path(value).absolute()))
    return page_arguments(named)


def with_inputs_of(options: argparse.Namespace, file: SessionFile) -> argparse.Namespace:
    """The options, and where they name no inputs, those that the saved session was made of.

    Raises
    ------
    DataError
        When the file does not say where its inputs are, or they are not there.
    """
    if _name_inputs(options):
        return options
    parser = _parser()
    if file.arguments is None:
        raise DataError("session", f"{file.name} does not say where its inputs are.", remedy=_AS_SAVED)
    try:
        found = parser.parse_args(file.arguments)
    except ValueError as error:
        raise DataError(
            "session", f"{file.name} was saved with other options than there are: {error}.", remedy=_AS_SAVED
        ) from error
    for name in _FILES:
        value = getattr(found, name)
        if value is not None and not Path(value).exists():
            raise DataError(
                "session", f"{file.name} was made of {value}, which is not there.", remedy=_AS_SAVED
            )
    for name in _NO_INPUTS:
        setattr(found, name, getattr(options, name))
    return found


def with_inputs_of_study(options: argparse.Namespace, study: PageStudy) -> argparse.Namespace:
    """The options, and where they name no inputs, those that the study was made of.

    Raises
    ------
    DataError
        When these are not what they were, naming the files.
    """
    if _name_inputs(options):
        return options
    study.check_files()
    # Of all that a command takes, what a page takes for its inputs.
    names = [name for name in vars(_parser().parse_args([])) if name not in _NO_INPUTS]
    return argparse.Namespace(**vars(options) | {name: study.options[name] for name in names})


def _name_inputs(options: argparse.Namespace) -> bool:
    plain = vars(_parser().parse_args([]))
    return any(getattr(options, name) != value for name, value in plain.items() if name not in _NO_INPUTS)
