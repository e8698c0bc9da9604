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

_BITS = {"float16": (10, 14), "float32": (23, 126), "float64": (52, 1022)}


def composed(function: np.ufunc) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Declare the body of a ufunc: it gets and gives arrays of the dtypes of the loop."""

    def decorate(body: Callable[..., Any]) -> Callable[..., Any]:
        count = function.nin

        def compute(*inputs: Any, out: Array | None = None) -> Any:
            arrays = together(*inputs)
            given = [
                dtype_of(x if kind_of(x) in (int, float, complex) else y) for x, y in zip(inputs, arrays, strict=True)
            ]
            if all(isinstance(each, type) for each in given):
                given = list(map(dtype_of, arrays))
            loop = [dtypes.as_dtype(x) for x in function.resolve_dtypes((*given, *(None,) * function.nout))]
            found = body(*map(cast, arrays, loop))
            if function.nout > 1:
                return tuple(map(cast, found, loop[count:]))
            result = cast(found, loop[-1])
            if out is None:
                return result
            return (
                ua.positive(result, out=out) if result.dtype != dtypes.bool else ua.logical_or(result, False, out=out)
            )

        compute.__name__ = function.__name__
        return compute

    return decorate


@composed(np.float_power)
def float_power(x1: Array, x2: Array) -> Array:
    """Compute the power in double precision at least."""
    return ua.pow(x1, x2)


@composed(np.rint)
def rint(x: Array) -> Array:
    """Round to the nearest whole number, to the even one in the middle."""
    return ua.round(x)


@composed(np.fabs)
def fabs(x: Array) -> Array:
    """Compute the absolute value as a floating-point number."""
    return ua.abs(x)


@composed(np.modf)
def modf(x: Array) -> tuple[Array, Array]:
    """Return the part behind the point and the whole part, both with the sign of the number."""
    whole = ua.trunc(x)
    rest = ua.where(ua.isinf(x), 0, x - whole)
    return ua.copysign(rest, x), whole


@composed(np.ldexp)
def ldexp(x: Array, exponent: Array) -> Array:
    """Compute ``x * 2**exponent``, in steps whose powers are numbers: the first two are exact, unless they overflow."""
    digits, least = _BITS[x.dtype.name]
    # Whatever is further away is an infinity or zero.
    exponent = ua.clip(exponent.astype(dtypes.int64), -2 * (least + digits), 2 * (least + digits))
    upward = least // 2
    for _ in range(5):
        step = ua.clip(exponent, -upward, upward)
        x = x * _power_of_two(step, x.dtype)
        exponent = exponent - step
    return x


def _power_of_two(exponent: Array, dtype: Any) -> Array:
    # Exact, as products of powers are, where exp2() of an engine may be off by one digit.
    result = ua.ones_like(exponent, dtype=dtype)
    size = ua.abs(exponent)
    for bit in range(10):
        factor = 2.0 ** (1 << bit)
        if factor > float(np.finfo(dtype.dtype).max):
            break
        result = ua.where(ua.bitwise_and(size, 1 << bit) != 0, result * factor, result)
    return ua.where(exponent < 0, 1 / result, result)


@composed(np.frexp)
def frexp(x: Array) -> tuple[Array, Array]:
    """Return the fraction, from 1/2 to 1, and the exponent of two."""
    digits, _ = _BITS[x.dtype.name]
    plain = ua.logical_and(ua.isfinite(x), x != 0)
    size = ua.where(plain, ua.abs(x), 1)
    least = float(np.finfo(x.dtype.dtype).smallest_normal)
    small = size < least * 2
    size = ua.where(small, size * 2.0 ** (digits + 2), size)
    exponent = ua.floor(ua.log2(size)).astype(dtypes.int64) + 1
    fraction = _scaled(size, -exponent)
    # The logarithm may be rounded to the next whole number.
    exponent = ua.where(fraction >= 1, exponent + 1, ua.where(fraction < 0.5, exponent - 1, exponent))
    fraction = ua.where(fraction >= 1, fraction / 2, ua.where(fraction < 0.5, fraction * 2, fraction))
    exponent = ua.where(small, exponent - (digits + 2), exponent)
    return ua.where(plain, ua.copysign(fraction, x), x), ua.where(plain, exponent, 0)


def _scaled(x: Array, exponent: Array) -> Array:
    half = exponent // 2
    return x * _power_of_two(half, x.dtype) * _power_of_two(exponent - half, x.dtype)


@composed(np.spacing)
def spacing(x: Array) -> Array:
    """Compute the distance to the next number away from zero, with the sign of the number."""
    size = ua.abs(x)
    gap = ua.nextafter(size, float("inf")) - size
    # In half precision NumPy's has no sign.
    return gap if x.dtype == dtypes.float16 else ua.copysign(gap, x)


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
