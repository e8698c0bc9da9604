"""The loops of steps: NumPy's own for ufuncs, and a few of ours."""

from __future__ import annotations

from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np

from .region import CAST, WHERE, Step

# The dtypes that NumPy's C loops compute without the interpreter.
DTYPES = tuple(map(np.dtype, ("?", *"bBhHiIqQ", *"efd", *"FD")))

# The ufuncs whose reductions of a row are one call of their loop, and what the loop begins with: a value, or the
# row's first element.
REDUCTIONS = {"add": 0, "multiply": 1, "maximum": None, "minimum": None, "logical_and": True, "logical_or": False}

# Casts between these are defined by C, and by NumPy as in C. (From float to int what is out of range isn't.)
_CASTS = frozenset("?bBhHiIlLqQfdFD")


class Loop(NamedTuple):
    """A loop that runs a step: the one of this index of a ufunc, or, without one, our own for ``step.name``."""

    ufunc: Any = None
    index: int = 0


def find_loop(step: Step) -> Loop | None:
    """Return the loop that computes a step with NumPy's bits, or ``None``."""
    return _find_loop(step.name, step.dtypes, step.reduces)


@lru_cache(maxsize=4096)
def _find_loop(name: str, dtypes: tuple[np.dtype[Any], ...], reduces: bool) -> Loop | None:
    if not all(dtype in DTYPES and dtype.isnative for dtype in dtypes):
        return None
    if name == WHERE:
        mask, first, second, result = dtypes
        return Loop() if mask == np.dtype("?") and first == second == result else None
    if name == CAST:
        return Loop() if _is_defined(*dtypes) else None
    ufunc = getattr(np, name, None) or getattr(np._core.umath, name, None)
    if not isinstance(ufunc, np.ufunc) or ufunc.nout != 1 or ufunc.signature is not None:
        return None
    if reduces:
        value, result = dtypes
        if name not in REDUCTIONS or value != result or (name.startswith("logical") and value != np.dtype("?")):
            return None
        dtypes = (value, value, value)
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
