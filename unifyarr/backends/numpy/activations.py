"""Activation functions on NumPy."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ..kernels import known_by, support_native_out, worked_around
from . import _direct as np

# By the code of a dtype, up to which sum of squares no element is so small that a power of it overflows.
_SMALL = {"f": 88.0**2, "d": 709.0**2}


def _know_sigmoid(x: np.ndarray) -> Callable[[np.ndarray], np.ndarray] | None:
    if not x.ndim or x.dtype.kind == "V":
        return None
    # An array is added sooner than a number.
    one, small, sum_of_products = np.ones((), x.dtype), _SMALL.get(x.dtype.char, 0.0), np.vdot

    def known(x: np.ndarray) -> np.ndarray:
        if small and sum_of_products(x, x) < small:
            # To ignore errors takes longer than to sum.
            result = np.exp(np.negative(x))
        else:
            with np.errstate(over="ignore"):
                result = np.exp(np.negative(x))
        np.add(result, one, result)
        found: np.ndarray = np.reciprocal(result, result)
        return found

    return known


@known_by(_know_sigmoid)
@worked_around("NumPy has none")
@support_native_out
def sigmoid(x: np.ndarray, /, *, out: Any = None) -> np.ndarray:
    # In one array: overflow gives infinity, and its reciprocal 0 is the right result.
    with np.errstate(over="ignore"):
        result = np.exp(np.negative(x, out=out), out=... if out is None else out)
    result += 1
    return np.asarray(np.reciprocal(result, out=result))


@worked_around("NumPy has none")
@support_native_out
def relu(x: np.ndarray, /, *, out: Any = None) -> np.ndarray:
    # A kernel, and not the body of maximum, whose derivative at zero is a half.
    return np.asarray(np.maximum(x, np.zeros((), x.dtype), out=... if out is None else out))
