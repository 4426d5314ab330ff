"""What a plan is: a district for every unit, under the names that its user gave them."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from bottomup.data.identifiers import without_decimals
from bottomup.data.matching import MatchReport

__all__ = ["Plan", "clean_label", "natural_order", "plan_from_labels"]

_DIGITS = re.compile(r"(\d+)")


@dataclass(frozen=True, eq=False)
class Plan:
    """A district for every unit; nothing is promised about connection or balance.

    Attributes
    ----------
    name : str
        What to call it.
    assignment : int32 array, shape (n_units,)
        District of each unit, counted from 0.
    labels : tuple of str, length n_districts
        The districts as the user wrote them, in natural order (2 before 10).
    match : MatchReport or None
        How the file that it was read from fits the map; None for a plan that comes from nowhere else.
    """

    name: str
    assignment: NDArray[np.int32]
    labels: tuple[str, ...]
    match: MatchReport | None = None

    @property
    def n_districts(self) -> int:
        """Number of districts."""
        return len(self.labels)


@lru_cache(maxsize=4096)
def clean_label(text: str) -> str:
    """Return a label as it comes back from any file: one line, no outer blanks, ``1`` for ``1.0``."""
    printable = "".join(character if character.isprintable() else " " for character in text)
    return without_decimals(" ".join(printable.split()))


def natural_order(labels: Iterable[str]) -> list[str]:
    """Return labels in the order in which people list them: 2 before 10."""

    def key(label: str) -> list[tuple[int, int, str]]:
        parts = _DIGITS.split(label)
        return [(0, int(part), part) if part.isdecimal() else (1, 0, part) for part in parts if part]

    return sorted(labels, key=key)


def plan_from_labels(name: str, labels_by_unit: Sequence[str], match: MatchReport | None = None) -> Plan:
    """Build a plan from the label of each unit."""
    clean = {label: clean_label(label) for label in set(labels_by_unit)}
    labels = tuple(natural_order(set(clean.values())))
    number = {label: district for district, label in enumerate(labels)}
    assignment = np.array([number[clean[label]] for label in labels_by_unit], dtype=np.int32)
    return Plan(name, assignment, labels, match)
