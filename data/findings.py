"""What an inspection of the inputs finds: all of it in one go, with the units concerned and what to do."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Literal

from bottomup.data.errors import DataError

__all__ = ["SEVERITIES", "Finding", "Findings", "Severity"]

Severity = Literal["unreadable", "settle", "look", "note"]
SEVERITIES: dict[Severity, str] = {
    "unreadable": "Cannot be read",
    "settle": "Must be settled before a run",
    "look": "Worth a look",
    "note": "For the record",
}
"""Severities, the gravest first, and their headings for people."""
_UNREADABLE = frozenset({"no_file", "unreadable", "empty_file", "no_shapes", "several_layers"})


@dataclass(frozen=True)
class Finding:
    """One thing that is wrong with the inputs, unusual, or good to know.

    Attributes
    ----------
    code : str
        Short stable name of what was found, for programs.
    severity : {"unreadable", "settle", "look", "note"}
        ``unreadable``: no inspection was possible; ``settle``: a run would be refused; the others do not stop
        a run.
    message : str
        What was found, in a sentence without the list of units.
    remedy : str
        What the user can do; empty when there is nothing to do.
    units : tuple of str
        Ids of all units concerned.
    """

    code: str
    severity: Severity
    message: str
    remedy: str = ""
    units: tuple[str, ...] = ()

    @property
    def stops(self) -> bool:
        """Whether a run would be refused because of it."""
        return self.severity in ("unreadable", "settle")

    def as_error(self) -> DataError:
        """The same as an exception."""
        return DataError(self.code, self.message, remedy=self.remedy, units=self.units)


class Findings:
    """Collects findings, so that an inspection goes on where a run would be refused."""

    def __init__(self) -> None:
        self._found: list[Finding] = []

    def __iter__(self) -> Iterator[Finding]:
        """The gravest first, otherwise in the order in which they were found."""
        order = list(SEVERITIES)
        return iter(sorted(self._found, key=lambda finding: order.index(finding.severity)))

    def add(
        self, severity: Severity, code: str, message: str, remedy: str = "", units: Iterable[str] = ()
    ) -> None:
        """Add a finding."""
        self._found.append(Finding(code, severity, message, remedy, tuple(units)))

    def settle(self, code: str, message: str, remedy: str, units: Sequence[str] = ()) -> None:
        """Add a finding for which a run would be refused."""
        self.add("settle", code, message, remedy, units)

    @contextmanager
    def catching(self, severity: Severity = "settle") -> Iterator[None]:
        """Turn a DataError into a finding and go on after the block.

        Files that cannot be read are so whatever the severity of other errors.
        """
        try:
            yield
        except DataError as error:
            weight: Severity = "unreadable" if error.code in _UNREADABLE else severity
            self.add(weight, error.code, error.message, error.remedy, error.units)

    def raise_first(self) -> None:
        """Raise the first finding that stops a run as a DataError; it says how many more there are.

        Raises
        ------
        DataError
        """
        stopping = [finding for finding in self if finding.stops]
        if not stopping:
            return
        error = stopping[0].as_error()
        n_more = len(stopping) - 1
        if n_more:
            more = "1 more finding" if n_more == 1 else f"{n_more:,} more findings"
            error.remedy = f"{error.remedy} There {'is' if n_more == 1 else 'are'} {more} of that weight; "
            error.remedy += "`bottomup check` lists all."
        raise error
