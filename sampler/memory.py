"""What a run that was broken off needs to go on: arrays by name, and generators as numbers."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

__all__ = ["Memory", "nest", "overwrite", "pack_generator", "unpack_generator", "within"]

Memory = dict[str, NDArray[Any]]
"""Arrays by name; the parts of a thing are told apart by slashes, such as ``chains/0/forest/parent``."""

_WORD = 2**64


def nest(name: str, memory: Mapping[str, NDArray[Any]]) -> Memory:
    """A memory as a part of a larger one."""
    return {f"{name}/{inner}": array for inner, array in memory.items()}


def within(name: str, memory: Mapping[str, NDArray[Any]]) -> Memory:
    """A part of a memory; empty when there is none of that name."""
    start = f"{name}/"
    return {key.removeprefix(start): array for key, array in memory.items() if key.startswith(start)}


def overwrite(arrays: Mapping[str, NDArray[Any]], memory: Mapping[str, NDArray[Any]]) -> None:
    """Write what is remembered into arrays of the same names.

    Raises
    ------
    ValueError
        When one has another shape: the memory is that of another run.
    """
    for name, array in arrays.items():
        if array.shape != memory[name].shape:
            raise ValueError(f"{name} must have shape {array.shape}; got {memory[name].shape}")
        array[...] = memory[name]


def pack_generator(generator: np.random.Generator) -> NDArray[np.uint64]:
    """The state of a PCG64 generator.

    Returns
    -------
    uint64 array, shape (6,)
        State and increment, the upper half of each first; whether half a draw is left over, and which.
    """
    state = generator.bit_generator.state
    numbers = state["state"]
    halves = [*divmod(numbers["state"], _WORD), *divmod(numbers["inc"], _WORD)]
    return np.array([*halves, state["has_uint32"], state["uinteger"]], dtype=np.uint64)


def unpack_generator(generator: np.random.Generator, packed: NDArray[np.uint64]) -> None:
    """Give a PCG64 generator the state that :func:`pack_generator` made of another."""
    upper, lower, upper_increment, lower_increment, has_left, left = (int(word) for word in packed)
    generator.bit_generator.state = {
        "bit_generator": "PCG64",
        "state": {"state": upper * _WORD + lower, "inc": upper_increment * _WORD + lower_increment},
        "has_uint32": has_left,
        "uinteger": left,
    }
