"""Values on which functions of engines are compared, to the last bit."""

from __future__ import annotations

from functools import cache

import numpy as np


@cache
def samples(dtype: np.dtype[np.inexact], count: int, seed: int = 0) -> np.ndarray:
    """Return random bits, numbers of the sizes that are common, and values at the edges, as an array to read."""
    part = np.dtype(f"f{dtype.itemsize // 2}") if dtype.kind == "c" else dtype
    length = count * dtype.itemsize // part.itemsize
    rng, limits = np.random.default_rng(seed), np.finfo(part)
    found = np.frombuffer(rng.bytes(length * part.itemsize), part).copy()
    for start, numbers in enumerate((rng.normal(size=length), rng.normal(size=length) * 10, rng.random(length))):
        found[start::4] = numbers[start::4]
    edges = [0.0, 1.0, np.inf, np.nan, 0.5, 2.0, limits.max, limits.tiny, limits.tiny / 2, limits.smallest_subnormal]
    both = np.array([*edges, *(-each for each in edges)], part)
    # Each at several places, and beside others where there are two operands.
    places = rng.permutation(length)[: length // 4]
    found[places] = np.resize(rng.permutation(both), len(places))
    result = found.view(dtype)
    result.flags.writeable = False
    return result
