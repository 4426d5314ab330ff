"""The one exception that this package raises about a user's files."""

from __future__ import annotations

from collections.abc import Sequence

N_LISTED = 10


def list_some(names: Sequence[str], n_listed: int = N_LISTED) -> str:
    """Return the first names separated by commas, and how many more there are.

    Parameters
    ----------
    names : sequence of str
        What to list, in the order in which to list it.
    n_listed : int
        How many to spell out.

    Returns
    -------
    str
        For example ``"a, b, c and 12 more"``.
    """
    listed = ", ".join(names[:n_listed])
    n_more = len(names) - n_listed
    return f"{listed} and {n_more:,} more" if n_more > 0 else listed


def count(n: int, one: str, many: str = "") -> str:
    """Return a number and its noun: ``"1 unit"``, ``"1,200 units"``.

    Parameters
    ----------
    n : int
        How many.
    one : str
        The noun for one.
    many : str
        The noun for any other number; `one` with an s when not given.
    """
    return f"{n:,} {one if n == 1 else many or one + 's'}"


class DataError(ValueError):
    """A file or a plan that cannot be used, and what to do about it.

    Parameters
    ----------
    code : str
        Short stable name of the problem, for programs.
    message : str
        What is wrong, in a sentence without the list of offenders.
    remedy : str
        What the user can do.
    units : sequence of str
        Ids of everything concerned: all of them, although the text lists a few only. A blank one is listed
        as ``(blank)``.

    Attributes
    ----------
    code, message, remedy : str
        As given.
    units : tuple of str
        As given.
    """

    def __init__(self, code: str, message: str, *, remedy: str = "", units: Sequence[str] = ()) -> None:
        super().__init__(code, message)
        self.code = code
        self.message = message
        self.remedy = remedy
        self.units = tuple(units)

    def __str__(self) -> str:
        text = self.message
        if self.units:
            text = f"{text.rstrip('.')}: {list_some([unit or '(blank)' for unit in self.units])}."
        return f"{text} {self.remedy}".rstrip()
