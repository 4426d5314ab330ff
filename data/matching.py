"""How the ids of a file fit the units of a map, in numbers and by name."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from bottomup.data.errors import DataError, count, list_some

__all__ = ["MatchReport"]

_N_NAMED = 5


@dataclass(frozen=True)
class MatchReport:
    """Which units a plan's file gives a district, and what in it is of no unit.

    Attributes
    ----------
    source : str
        The file.
    n_units : int
        Units of the map.
    missing : tuple of str
        Units without a district.
    unknown : tuple of str
        Ids of the file that are no unit; left out.
    duplicate : tuple of str
        Units that the file names more than once, always with the same district.
    conflicting : tuple of str
        Units to which the file gives several districts.
    notes : tuple of str
        What else was made of the file, in sentences.
    """

    source: str
    n_units: int
    missing: tuple[str, ...] = ()
    unknown: tuple[str, ...] = ()
    duplicate: tuple[str, ...] = ()
    conflicting: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()

    @property
    def n_matched(self) -> int:
        """Number of units with a district."""
        return self.n_units - len(self.missing)

    def counts(self) -> str:
        """Return the numbers as part of a sentence."""
        return (
            f"{self.n_matched:,} of {count(self.n_units, 'unit')} matched, {len(self.missing):,} missing, "
            f"{count(len(self.unknown), 'unknown id')}, {count(len(self.duplicate), 'duplicate')}, "
            f"{len(self.conflicting):,} in several districts"
        )

    def sentences(self) -> list[str]:
        """Return the numbers, the first ids of what does not match, and the notes, a sentence each."""
        named = [
            f"{title}: {list_some([unit or '(blank)' for unit in units], _N_NAMED)}."
            for title, units in (
                ("Without a district", self.missing),
                ("Not on the map and left out", self.unknown),
                ("Named more than once", self.duplicate),
            )
            if units
        ]
        return [f"{self.counts()}.", *named, *self.notes]

    def require_complete(self, example: str, *, accept_missing: bool = False) -> None:
        """Refuse a file that does not give every unit one district.

        Parameters
        ----------
        example : str
            An id of the map, to compare with those that are unknown.
        accept_missing : bool
            Let units without a district pass as long as any unit has one.

        Raises
        ------
        DataError
        """
        code, introduction, units, remedy = "", "", self.missing, ""
        if self.missing and not (accept_missing and self.n_matched):
            code, introduction = "plan_missing_units", "Without a district"
            remedy = "Give every unit a district."
            if self.unknown:
                remedy = f"Not on the map: {list_some(self.unknown, 3)}; ids there look like {example!r}."
                remedy += _about_rounding(self.unknown)
        elif self.conflicting:
            code, introduction, units = "plan_repeated_units", "In more than one district", self.conflicting
            remedy = "Leave one row for each."
        if code:
            notes = "".join(f"{note} " for note in self.notes)
            raise DataError(
                code,
                f"{self.source!r} is not a plan of this map: {self.counts()}. {notes}{introduction}",
                remedy=remedy,
                units=units,
            )


def _about_rounding(ids: Sequence[str]) -> str:
    """Return what to do about ids such as 2.9019E+11, of which a spreadsheet has kept a few digits only."""
    if not any("E+" in unit.upper() for unit in ids):
        return ""
    return " A spreadsheet has rounded them: format the column as text in the original and save it again."
