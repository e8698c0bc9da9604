"""Every way to write to an array, beside NumPy's, and what to write to."""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import unifyarr as ua


def setitem(x: Any, value: Any) -> Any:
    """Write ``x[...] = value``."""
    x[...] = value
    return x


# Each writes to its first argument and returns it, and means the same to NumPy as its neighbour.
Write = Callable[[Any, Any], Any]
WRITES: dict[str, tuple[Write, Write]] = {
    "x[...] = v": (setitem, setitem),
    "x += v": (operator.iadd, operator.iadd),
    "x -= v": (operator.isub, operator.isub),
    "x *= v": (operator.imul, operator.imul),
    "add(out=x)": (lambda x, v: ua.add(x, v, out=x), lambda x, v: np.add(x, v, out=x)),
    "sum(out=x)": (
        lambda x, v: ua.sum(ua.stack([x, x]), axis=0, out=x),
        lambda x, v: np.sum(np.stack([x, x]), axis=0, out=x),
    ),
    "inplace_update": (ua.inplace_update, setitem),
    "inplace_increment": (ua.inplace_increment, operator.iadd),
    "inplace_decrement": (ua.inplace_decrement, operator.isub),
}
each_write = pytest.mark.parametrize(("write", "numpy_write"), WRITES.values(), ids=WRITES.keys())
TARGETS: dict[str, Callable[[Any], Any]] = {
    "array": lambda x: x,
    "x[1:]": lambda x: x[1:],
    "x[::-1]": lambda x: x[::-1],
    "x.T": lambda x: x.T,
    "x.T[::-1, 1:]": lambda x: x.T[::-1, 1:],
    "reshape": lambda x: x.reshape(3, 2),
}


def pair(shape: tuple[int, ...] = (2, 3), dtype: str = "float64") -> tuple[np.ndarray, ua.Array]:
    """Return NumPy's array and ours, of equal values in separate memory."""
    values = np.arange(10, 10 + np.prod(shape, dtype=int)).reshape(shape).astype(dtype)
    return values, ua.asarray(values, copy=True)


each_target = pytest.mark.parametrize("target", TARGETS.values(), ids=TARGETS.keys())
