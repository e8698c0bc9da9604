"""Whether NumPy's loops may run on parts of arrays: asked of each loop when it's first used.

A fused region runs a loop on chunks of its arrays. It gives NumPy's bits if those of an element don't depend on where
in a chunk it stands, and if NumPy reduces a row by one call of the loop. Neither is laid down anywhere, and a new
version may change it. A step that differs isn't fused.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from functools import cache

import numpy as np

from ...backends.base.samples import samples
from .machine import bind
from .region import MADE, Axis, FusedRegion, FusedStep, Operand, ufunc_of
from .task_loops import WHOLE_EXPONENT, find_loop, is_exact

# How many values a loop is asked with: more than the vectors of any processor hold, with a rest.
COUNT = 1031
# The lengths of the parts that it gets them in, one after the other.
LENGTHS = (1, 2, 3, 5, 8, 13, 31, 64, 100, 257)
# The lengths of rows: beyond those at which unrolled loops end, pairwise sums are divided, and buffers are full.
ROWS = (9, 129, 257, 8199)


def can_run(step: FusedStep) -> bool:
    """Return whether a step of a region can be run, with the bits of NumPy's function."""
    if find_loop(step) is None:
        return False
    # Integers have one result; other engines' functions are compared where they're found.
    if step.dtypes[0].kind not in "fc" or step.name in MADE:
        return True
    if step.reduces:
        return reduces_rows(step.name, step.dtypes[-1])
    return is_exact(step) or has_no_places(step.name, step.dtypes)


@cache
def has_no_places(name: str, dtypes: tuple[np.dtype, ...]) -> bool:
    """Return whether an element's bits are the same wherever it stands in a loop over dense memory."""
    ufunc = ufunc_of(name)
    arrays = [_values(dtype, seed) for seed, dtype in enumerate(dtypes[:-1])]
    with np.errstate(all="ignore"):
        whole = ufunc(*arrays)
        return all(_same(ufunc(*(each[part] for each in arrays)), whole[part]) for part in _parts())


def is_same_alone(step: FusedStep) -> bool:
    """Return whether one element has the same bits by itself as in a loop over dense memory.

    A step that reduces takes rows, of which ``can_run`` asks.
    """
    if step.reduces or is_exact(step):
        return True
    return step.name not in WHOLE_EXPONENT and _is_same_alone(step.name, step.dtypes)


@cache
def _is_same_alone(name: str, dtypes: tuple[np.dtype, ...]) -> bool:
    ufunc = ufunc_of(name)
    # With gaps, and in dense memory of one element, of which NumPy makes another stride if it's a 0-d array.
    arrays = [np.repeat(_values(dtype, seed), 2)[::2] for seed, dtype in enumerate(dtypes[:-1])]
    with np.errstate(all="ignore"):
        whole = ufunc(*map(np.ascontiguousarray, arrays))
        return all(
            _same(ufunc(*(each[place, ...] for each in arrays)), whole[place : place + 1])
            and _same(ufunc(*(each[place : place + 1] for each in arrays)), whole[place : place + 1])
            for place in range(0, COUNT, 4)
        )


def _values(dtype: np.dtype, seed: int) -> np.ndarray:
    if dtype.kind in "fc":
        return samples(dtype, COUNT, seed)
    return np.random.default_rng(seed).integers(0, 9, COUNT).astype(dtype)


def _parts() -> Iterator[slice]:
    begin = 0
    for length in itertools.cycle(LENGTHS):
        if begin >= COUNT:
            return
        yield slice(begin, begin + length)
        begin += length


@cache
def reduces_rows(name: str, dtype: np.dtype) -> bool:
    """Return whether NumPy reduces along the last axis as the compiled part does, each row by one call of a loop."""
    reduce = ufunc_of(name).reduce
    # Numbers whose sums and products are finite, or else all kinds.
    sums = name in ("add", "multiply")
    values = np.random.default_rng(0).normal(size=COUNT) + 0.5 if sums else samples(dtype, COUNT)
    for length in ROWS:
        rows, made = np.resize(values, (3, length)).astype(dtype), np.empty((3, 1), dtype)
        with np.errstate(all="ignore"):
            bind(_reduction(name, rows))(rows, made)
            if not _same(made[:, 0], reduce(rows, axis=-1)):
                return False
    return True


def _reduction(name: str, rows: np.ndarray) -> FusedRegion:
    whole = Operand(0, (0, 0), (Axis(0), Axis(1)))
    made = Operand(1, (0, 0), (Axis(0), Axis(None)))
    arguments = (rows.shape, rows.dtype), ((len(rows), 1), rows.dtype)
    return FusedRegion(
        rows.shape, arguments, (whole,), (), (FusedStep(name, (0,), (rows.dtype,) * 2, True),), ((1, made),)
    )


def _same(one: np.ndarray, other: np.ndarray) -> bool:
    return one.tobytes() == np.ascontiguousarray(other).tobytes()
