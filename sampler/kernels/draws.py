"""Uniform whole numbers from a generator's uniform fractions."""

import numpy as np

from bottomup.sampler.jit import kernel

__all__ = ["draw_below"]

_RANGE = 1 << 53


@kernel
def draw_below(rng, n):
    """A whole number from 0 to ``n`` - 1, all with exactly the same chance.

    A fraction of the generator is one of 2^53 equally likely multiples of 2^-53; those past the largest
    multiple of ``n`` are drawn again. numba's own ``Generator.integers`` makes an array for every number.
    """
    while True:
        drawn = np.int64(rng.random() * _RANGE)
        rest = drawn % n
        if drawn - rest <= _RANGE - n:
            return rest
