"""Repairs that findings offer, to be chosen on the page as `bottomup check` takes them by `--repair`."""

import re
from collections.abc import Iterable
from dataclasses import dataclass, replace

from bottomup.data.errors import DataError, list_some
from bottomup.data.findings import Finding
from bottomup.data.repairs import Repair, choose_repairs

__all__ = ["PLAN", "Offer", "in_words_of_page", "offers_of", "word_for_page"]

PLAN = "repair-plan"
"""Action that lets walks start from another plan than the enacted one, where that cannot be a start."""
_N_NAMED = 6
_OFFERED = re.compile(r"`--repair ([a-z-]+)(?: (EPSG:\d+))?")
_PLAN = "Start the walks from the nearest plan that can be a start"
_ASKED = {
    "set-crs": ("Take the coordinates for those of another CRS", "CRS, such as EPSG:26915"),
    "add-edge": ("Make two units neighbours", "Their ids, with a comma between"),
}
_COMMAND = re.compile(r":? (?:with )?`--repair [^`]*`")
_FIELDS = {
    "repair-plan": "“Where the plan cannot be a start”",
    "plan-column": "“Column of districts”",
    "plan": "“Enacted plan”",
    "testimonies": "“Testimonies”",
    "edges": "“Neighbours”",
    "shapes": "“Outlines”",
    "id": "“Unit ids”",
    "population": "“People”",
    "repairs": "“Log of repairs”",
    "crosswalk": "“Crosswalk”",
    "units": "“Units”",
    "name": "“Name of the map”",
}
_FOLDER = re.compile(r"[^\s'\"]*bottomup-\w{8}[/\\]+[a-z]+-\d+[/\\]+")
_OPTION = re.compile(rf"--({'|'.join(_FIELDS)})\b(?!-)")


@dataclass(frozen=True)
class Offer:
    """One repair that settles a finding, or may.

    Attributes
    ----------
    number : int
        Of the finding; of the offers of one finding one is enough.
    action : str
        A key of `bottomup.data.repairs.ACTIONS`, or ``repair-plan``, which changes no map.
    subjects : tuple of str
        What it is done to; empty while it must be asked for.
    label : str
        What it does, in words.
    asks : str
        What must be typed, in words; empty when nothing must.
    """

    number: int
    action: str
    subjects: tuple[str, ...]
    label: str
    asks: str = ""

    def repairs(self, typed: str = "") -> tuple[Repair, ...]:
        """The repairs for the log.

        Raises
        ------
        DataError
            When what was typed is not what it takes.
        """
        if self.action == PLAN:
            return ()
        subjects = self.subjects
        if self.asks:
            subjects = tuple(word.strip() for word in typed.split(",") if word.strip())
            if len(subjects) != (2 if self.action == "add-edge" else 1):
                raise DataError("bad_repair", f"{self.label}: {self.asks}?", remedy="Type it beside the box.")
        return choose_repairs([[self.action, *subjects]])


def offers_of(findings: Iterable[Finding]) -> tuple[Offer, ...]:
    """Return what the remedies of findings offer, for all units concerned and not only the first."""
    offers: list[Offer] = []
    for number, finding in enumerate(findings):
        if finding.stops and f"--{PLAN}" in finding.remedy and all(one.action != PLAN for one in offers):
            offers.append(Offer(number, PLAN, (), _PLAN))
        for action, crs in _OFFERED.findall(finding.remedy):
            if action == "set-crs" and crs:
                offers.append(Offer(number, action, (crs,), f"Take the coordinates for those of {crs}"))
            elif action in _ASKED:
                offers.append(Offer(number, action, (), *_ASKED[action]))
            elif finding.units:
                # One edge is enough for a piece.
                subjects = finding.units[:1] if action == "join" else finding.units
                offers.append(Offer(number, action, subjects, _label(action, subjects)))
    return tuple(offers)


def _label(action: str, subjects: tuple[str, ...]) -> str:
    named = list_some(subjects, _N_NAMED)
    if len(subjects) > _N_NAMED:
        named = f"{len(subjects):,} units: {named}"
    if action == "join":
        return f"Join {named} to the nearest unit outside of its piece"
    return f"{'Leave out' if action == 'drop' else 'Make valid'} {named}"


def word_for_page(finding: Finding) -> Finding:
    """Let a finding speak of the page, see `in_words_of_page`; what it offers must have been read before."""
    return replace(
        finding, message=in_words_of_page(finding.message), remedy=in_words_of_page(finding.remedy)
    )


def in_words_of_page(text: str) -> str:
    """Let a message name fields of the page in place of options, and uploads without their folders."""
    text = _FOLDER.sub("", _COMMAND.sub(" (under “Repairs on offer”)", text))
    return _OPTION.sub(lambda match: _FIELDS[match[1]], text)
