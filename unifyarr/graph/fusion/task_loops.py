"""The loops of steps: NumPy's own for ufuncs, and a few of ours."""

from __future__ import annotations

from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np

from .known import NONE, known_of
from .region import CAST, MADE, WHERE, FusedStep, ufunc_of

# The dtypes that NumPy's C loops compute without the interpreter.
DTYPES = tuple(map(np.dtype, ("?", *"bBhHiIqQ", *"efd", *"FD")))

# The loops that compute otherwise if the second operand is the same for all elements.
WHOLE_EXPONENT = frozenset({"power", "float_power"})

# Casts between these are defined by C, and by NumPy as in C. (From float to int what is out of range isn't.)
_CASTS = frozenset("?bBhHiIlLqQfdFD")


class Loop(NamedTuple):
    """A loop that runs a step: the one of this number of a ufunc, or, without one, our own for ``step.name``."""

    ufunc: Any = None
    number: int = 0


class TaskOperation(NamedTuple):
    """A step that makes a value; ``number`` is the step's in the region, or -1 for a copy."""

    step: FusedStep
    number: int
    inputs: tuple[int, ...]
    value: int


class Task(NamedTuple):
    """Operations that run as one loop, the values that it reads, and those that it makes for others.

    ``saved`` are the inputs that a generated loop overwrites, and stores elsewhere before: its operations may have to
    run again.
    """

    operations: tuple[TaskOperation, ...]
    inputs: tuple[int, ...]
    outputs: tuple[int, ...]
    saved: tuple[int, ...] = ()


def find_loop(step: FusedStep) -> Loop | None:
    """Return the loop that computes a step with NumPy's bits, or ``None``."""
    return _find_loop(step.name, step.dtypes, step.reduces)


def is_exact(step: FusedStep) -> bool:
    """Return whether the bits of a step's result don't depend on the layout of memory."""
    plain = all(dtype.kind != "c" for dtype in step.dtypes) or step.name in (WHERE, CAST, "copy")
    return step.dtypes[0].kind in "biu" or (known_of(step.name).is_exact and plain) or step.name in MADE


def runs_in_place(step: FusedStep) -> bool:
    """Return whether a step's result may be in the memory of one of its inputs, with the same bits."""
    whole = {dtype.itemsize for dtype in step.dtypes}
    return is_exact(step) and not step.reduces and len(whole) == 1


def first_value(step: FusedStep) -> np.ndarray:
    """Return what a reduction begins with, as a 0-d array."""
    dtype = step.dtypes[-1]
    if step.name == "add":
        # Whether that's 0.0 or -0.0 is up to the version of NumPy, and shows in a sum of -0.0.
        return np.array(np.add.reduce(np.full(1, -0.0).astype(dtype)), dtype)
    return np.array(known_of(step.name).begins, dtype)


@lru_cache(maxsize=4096)
def _find_loop(name: str, dtypes: tuple[np.dtype[Any], ...], reduces: bool) -> Loop | None:
    if not all(dtype in DTYPES and dtype.isnative for dtype in dtypes):
        return None
    if name == WHERE:
        mask, first, second, result = dtypes
        return Loop() if mask == np.dtype("?") and first == second == result else None
    if name == CAST:
        return Loop() if _is_defined(*dtypes) else None
    ufunc = ufunc_of(name)
    if ufunc is None or ufunc.nout != 1 or ufunc.signature is not None:
        return None
    if reduces:
        value, result = dtypes
        if known_of(name).begins is NONE or value != result or (name.startswith("logical") and value != np.dtype("?")):
            return None
        dtypes = (value, value, value)
    kind = dtypes[0].kind
    if kind in known_of(name).by_place or (name == "power" and kind in "iu"):
        # The last one raises an error for negative exponents.
        return None
    for index, types in enumerate(ufunc.types):
        codes = types.replace("->", "")
        if tuple(map(np.dtype, codes)) == dtypes:
            return Loop(ufunc, index)
    return None


def _is_defined(source: np.dtype[Any], target: np.dtype[Any]) -> bool:
    if source.char not in _CASTS or target.char not in _CASTS:
        return False
    if source.kind == "c":
        # To real numbers NumPy warns that it discards the imaginary part.
        return target.kind in "cb"
    return source.kind != "f" or target.kind in "fcb"
