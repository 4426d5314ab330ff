"""Unit ids: where they stand in a file, and how ids from two files are matched."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Sequence

import numpy as np
from numpy.typing import NDArray

ID_COLUMNS = (
    *("geoid20", "geoid", "geoid10", "geo_id", "geoid_20", "geoid30", "blockid", "unit_id", "unit", "id"),
    *("vtdid", "precinct_id", "precinct"),
)
_DECIMALS = re.compile(r"(\d+)\.0+")


def without_decimals(text: str) -> str:
    """Return a whole number without the decimals that a spreadsheet adds; other text as it is."""
    whole = _DECIMALS.fullmatch(text)
    return whole.group(1) if whole else text


class UnitMatcher:
    """Finds units by id: the exact text first, then what a spreadsheet may have made of it.

    Spreadsheets strip leading zeros and add decimals to numbers. Such an id is accepted when one unit only
    can be meant.

    Parameters
    ----------
    ids : sequence of str
        Ids of the units, each once.

    Attributes
    ----------
    example : str
        One of the ids, to show what they look like.
    """

    def __init__(self, ids: Sequence[str]) -> None:
        self.example = ids[0] if ids else ""
        self._exact = {unit: position for position, unit in enumerate(ids)}
        bare = [_bare(unit) for unit in ids]
        times = Counter(bare)
        self._bare = {unit: position for position, unit in enumerate(bare) if times[unit] == 1}

    def __contains__(self, text: object) -> bool:
        return isinstance(text, str) and self.position(text) >= 0

    def position(self, text: str) -> int:
        """Return the position of the unit that is meant, or -1."""
        found = self._exact.get(text)
        return found if found is not None else self._bare.get(_bare(text), -1)

    def may_be_header(self, text: str) -> bool:
        """Tell whether a cell of the first row can be the name of a column: no unit and no number."""
        return text not in self and not without_decimals(text).isdigit()

    def positions(self, texts: Iterable[str]) -> NDArray[np.int64]:
        """Return the positions of the units that are meant, -1 for unknown ones."""
        return np.array([self.position(text) for text in texts], dtype=np.int64)


def _bare(text: str) -> str:
    digits = without_decimals(text)
    return digits.lstrip("0") or "0" if digits.isdigit() else text
