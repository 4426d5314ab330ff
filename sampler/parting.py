"""The memory of several chains, or ladders, taken apart into one for each, and put together again.

Chains know nothing of each other, and ladders only have their rungs in common, so that each can go on in a
place of its own as long as no rungs are placed anew.
"""

from __future__ import annotations

import re

import numpy as np

from bottomup.sampler.memory import Memory

__all__ = ["put_together", "take_apart"]

_NUMBERED = re.compile(r"((?:ladder/(?:chains|exchange)/)?)(\d+)((?:/.*)?)")
"""Names with the number of a chain or ladder: ``1/forest/parent``, ``ladder/chains/1/0/counter``."""
_BY_LADDER = ("ladder/outcomes", "ladder/replica", "ladder/heading", "ladder/trips")
"""Arrays with a row for each ladder."""
_SUMS = ("ladder/chance_sum", "ladder/n_tries")
"""Sums over all ladders. They say how often exchanges are accepted, and decide nothing once rungs stand."""


def take_apart(memory: Memory, n_starts: int) -> list[Memory]:
    """A memory for each of several chains or ladders, as if it were the only one.

    Parameters
    ----------
    memory : dict of str to array
        Of :class:`bottomup.sampler.sources.Chains`, :class:`bottomup.sampler.sources.Ladders` or
        :class:`bottomup.sampler.burning.BurnIn`.
    n_starts : int
        How many there are.

    Returns
    -------
    list of dict
        Sums over all ladders stay with the first.
    """
    parts: list[Memory] = [{} for _ in range(n_starts)]
    for name, array in memory.items():
        found = _NUMBERED.fullmatch(name)
        if found is not None:
            parts[int(found[2])][f"{found[1]}0{found[3]}"] = array
            continue
        for number, part in enumerate(parts):
            if name in _BY_LADDER:
                part[name] = array[number : number + 1]
            elif name in _SUMS and number:
                part[name] = np.zeros_like(array)
            else:
                part[name] = array
    return parts


def put_together(parts: list[Memory]) -> Memory:
    """The memory that :func:`take_apart` makes these of; all must have gone on by as much."""
    memory: Memory = {}
    for name, array in parts[0].items():
        found = _NUMBERED.fullmatch(name)
        if found is not None:
            memory |= {f"{found[1]}{number}{found[3]}": part[name] for number, part in enumerate(parts)}
        elif name in _BY_LADDER:
            memory[name] = np.concatenate([part[name] for part in parts])
        elif name in _SUMS:
            memory[name] = np.sum([part[name] for part in parts], axis=0)
        else:
            memory[name] = array
    return memory
