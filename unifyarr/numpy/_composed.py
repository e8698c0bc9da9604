"""Ufuncs that the main namespace has no function for, each composed of its functions."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from .. import functions as ua
from .._core.arrays.array import Array
from .._core.arrays.weak import kind_of
from .._core.engines import dtypes
from ._folding import cast
from ._following import together
from ._ufunc import dtype_of


def composed(function: np.ufunc) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Declare the body of a ufunc: it gets and gives arrays of the dtypes of the loop."""

    def decorate(body: Callable[..., Any]) -> Callable[..., Any]:
        def compute(*inputs: Any, out: Array | None = None) -> Any:
            arrays = together(*inputs)
            given = [
                dtype_of(x if kind_of(x) in (int, float, complex) else y) for x, y in zip(inputs, arrays, strict=True)
            ]
            if all(isinstance(each, type) for each in given):
                given = list(map(dtype_of, arrays))
            loop = [dtypes.as_dtype(x) for x in function.resolve_dtypes((*given, None))]
            result = cast(body(*map(cast, arrays, loop)), loop[-1])
            if out is None:
                return result
            return (
                ua.positive(result, out=out) if result.dtype != dtypes.bool else ua.logical_or(result, False, out=out)
            )

        compute.__name__ = function.__name__
        return compute

    return decorate


@composed(np.rint)
def rint(x: Array) -> Array:
    """Round to the nearest whole number, to the even one in the middle."""
    return ua.round(x)


@composed(np.fabs)
def fabs(x: Array) -> Array:
    """Compute the absolute value as a floating-point number."""
    return ua.abs(x)


@composed(np.bitwise_count)
def bitwise_count(x: Array) -> Array:
    """Count the bits of the absolute value that are one."""
    bits = x if x.dtype.kind == "u" else ua.abs(x)
    count = 8 * x.dtype.dtype.itemsize
    total = ua.zeros_like(bits, dtype=dtypes.uint8)
    for place in range(count):
        total = total + ua.bitwise_and(ua.bitwise_right_shift(bits, place), 1).astype(dtypes.uint8)
    return total


def matvec(x1: Any, x2: Any, /, *, out: Array | None = None) -> Array:
    """Multiply matrices by vectors."""
    x1, x2 = together(x1, x2)
    result = ua.squeeze(ua.matmul(x1, ua.expand_dims(x2, -1)), -1)
    return result if out is None else ua.positive(result, out=out)


def vecmat(x1: Any, x2: Any, /, *, out: Array | None = None) -> Array:
    """Multiply vectors, conjugated, by matrices."""
    x1, x2 = together(x1, x2)
    result = ua.squeeze(ua.matmul(ua.expand_dims(ua.conj(x1), -2), x2), -2)
    return result if out is None else ua.positive(result, out=out)
