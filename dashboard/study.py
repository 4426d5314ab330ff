"""A study: which inputs and which law, and the scores, epsilons, cut edges and seeds to go through."""

import argparse
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

from bottomup.dashboard.sample_options import add_sample_options
from bottomup.dashboard.study_attack import attacked_inputs

__all__ = ["ATTACKED", "OF_EVERY_CELL", "Cell", "Study", "sample_parser"]

ATTACKED = "attacked.csv"
"""The testimonies of attacked cells, in the folder of the study."""
OF_EVERY_CELL = ("chains", "start", "steps", "thin", "burn_in", "moves", "step")
"""Keys of ``sweep`` that are the same for all cells."""


class Cell(NamedTuple):
    """One run of a study."""

    name: str
    """That of its folder."""
    score: str | None
    """What counts as kept together; None without testimonies."""
    seed: int
    cut_edges: float | None
    """The centre of the law; None for that of every cell."""
    is_attacked: bool
    """Whether its testimonies are those after the attack."""
    options: tuple[str, ...]
    """For ``bottomup``, without ``--out``; files are relative to :attr:`Study.base`."""


@dataclass(frozen=True)
class Study:
    """A study as its file has it, checked.

    Attributes
    ----------
    path : Path
        Of the file, whole.
    base : Path
        The folder that the files of the inputs are relative to.
    title : str
        May be empty.
    inputs, law, sweep : dict
        Its tables: options of ``bottomup sample`` by name, and in ``sweep`` the lists ``scores``, ``seeds``
        and ``cut_edges``, and ``epsilons`` by score, which are always there. ``scores`` and ``cut_edges``
        may be empty: without testimonies, and for the centre that every cell has.
    attack : dict or None
        The cluster to replace, and the seed of the adversary's testimonies.
    """

    path: Path
    base: Path
    title: str
    inputs: dict[str, Any]
    law: dict[str, Any]
    sweep: dict[str, Any]
    attack: dict[str, Any] | None

    def cells(self, out: Path) -> list[Cell]:
        """Every run: by score, centre, with and without the attack, and seed.

        Parameters
        ----------
        out : path
            The folder of the study.
        """
        return [
            self._cell(out, score, cut_edges, is_attacked, seed)
            for score in self.sweep["scores"] or [None]
            for cut_edges in self.sweep["cut_edges"] or [None]
            for is_attacked in ([False] if self.attack is None else [False, True])
            for seed in self.sweep["seeds"]
        ]

    def _cell(
        self, out: Path, score: str | None, cut_edges: float | None, is_attacked: bool, seed: int
    ) -> Cell:
        name = [score or "baseline"]
        own: dict[str, Any] = {} if score is None else {"score": score}
        if cut_edges is not None:
            name.append(f"cuts{cut_edges:g}")
            own["cut_edges"] = cut_edges
        if is_attacked:
            name.append("attacked")
        inputs = attacked_inputs(self.inputs, out / ATTACKED) if is_attacked else self.inputs
        shared = {key: self.sweep[key] for key in OF_EVERY_CELL if key in self.sweep}
        options = {**inputs, **self.law, **shared, **own, "seed": seed}
        words = ("sample", *_words(options), *self._epsilons(score))
        return Cell("-".join([*name, f"seed{seed}"]), score, seed, cut_edges, is_attacked, words)

    def _epsilons(self, score: str | None) -> Iterator[str]:
        epsilons = self.sweep["epsilons"][score or "baseline"]
        if len(epsilons) == 1:
            yield f"--epsilon={epsilons[0]}"
        else:
            yield from ("--exchange", "--rungs", *map(str, epsilons))

    def parsed(self, cell: Cell) -> argparse.Namespace:
        """The options of a cell, as the command that runs it reads them."""
        return sample_parser().parse_args([*cell.options[1:], "--out", cell.name])

    def tables(self) -> dict[str, Any]:
        """The study ready for JSON."""
        return {
            "title": self.title,
            "inputs": self.inputs,
            "law": self.law,
            "sweep": self.sweep,
            "attack": self.attack,
        }


def sample_parser() -> argparse.ArgumentParser:
    """What reads the options of a cell."""
    parser = argparse.ArgumentParser(prog="bottomup sample")
    add_sample_options(parser)
    return parser


def _words(options: dict[str, Any]) -> Iterator[str]:
    for name, value in options.items():
        option = f"--{name.replace('_', '-')}"
        if isinstance(value, bool):
            if value:
                yield option
            continue
        # In one word, so that what begins with a dash is no option.
        for each in value if isinstance(value, list) else [value]:
            yield f"{option}={each}"
