"""Elementwise functions on NumPy: its ufuncs, which write into ``out`` and keep 0-d arrays with ``out=...``."""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import partial
from typing import Any

from ..kernels import declines, state, support_native_out, worked_around
from . import _direct as np
from ._bfloat16 import in_float32
from ._powers import complex_power, is_root


def _ufunc(function: np.ufunc) -> Callable[..., np.ndarray]:
    # ``out=...`` (an Ellipsis) makes a ufunc return arrays where it would return scalars, and costs a third of a small
    # call.
    kernel = support_native_out(partial(function, out=...))
    state(kernel, with_axes=function)
    return kernel


abs = _ufunc(np.abs)
acos = _ufunc(np.acos)
acosh = _ufunc(np.acosh)
add = _ufunc(np.add)
asin = _ufunc(np.asin)
asinh = _ufunc(np.asinh)
atan = _ufunc(np.atan)
atan2 = _ufunc(np.atan2)
atanh = _ufunc(np.atanh)
bitwise_and = _ufunc(np.bitwise_and)
bitwise_invert = _ufunc(np.bitwise_invert)
bitwise_left_shift = _ufunc(np.bitwise_left_shift)
bitwise_or = _ufunc(np.bitwise_or)
bitwise_right_shift = _ufunc(np.bitwise_right_shift)
bitwise_xor = _ufunc(np.bitwise_xor)
cbrt = _ufunc(np.cbrt)
ceil = _ufunc(np.ceil)
conj = _ufunc(np.conj)
copysign = _ufunc(np.copysign)
cos = _ufunc(np.cos)
cosh = _ufunc(np.cosh)
divide = _ufunc(np.divide)
equal = _ufunc(np.equal)
exp = _ufunc(np.exp)
floor = _ufunc(np.floor)
greater = _ufunc(np.greater)
greater_equal = _ufunc(np.greater_equal)
hypot = _ufunc(np.hypot)
isfinite = _ufunc(np.isfinite)
isinf = _ufunc(np.isinf)
isnan = _ufunc(np.isnan)
less = _ufunc(np.less)
less_equal = _ufunc(np.less_equal)
log = _ufunc(np.log)
log10 = _ufunc(np.log10)
log1p = _ufunc(np.log1p)
log2 = _ufunc(np.log2)
logaddexp = _ufunc(np.logaddexp)
logical_and = _ufunc(np.logical_and)
logical_not = _ufunc(np.logical_not)
logical_or = _ufunc(np.logical_or)
logical_xor = _ufunc(np.logical_xor)
maximum = _ufunc(np.maximum)
minimum = _ufunc(np.minimum)
multiply = _ufunc(np.multiply)
negative = _ufunc(np.negative)
not_equal = _ufunc(np.not_equal)
positive = _ufunc(np.positive)
reciprocal = _ufunc(np.reciprocal)
remainder = _ufunc(np.remainder)
# The standard's sign of -0.0 is 0.0, as NumPy has it for its own dtypes.
sign = in_float32("ml_dtypes keeps the sign of a bfloat16 zero")(_ufunc(np.sign))
signbit = _ufunc(np.signbit)
sin = _ufunc(np.sin)
sinh = _ufunc(np.sinh)
sqrt = _ufunc(np.sqrt)
square = _ufunc(np.square)
subtract = _ufunc(np.subtract)
trunc = _ufunc(np.trunc)
# Truncated division, for ``remainder(modulus=False)``.
fmod = _ufunc(np.fmod)


@support_native_out
def round(x: np.ndarray, /, *, out: Any = None) -> np.ndarray:
    return np.asarray(np.round(x, out=out))


@support_native_out
def pow(x1: Any, x2: Any, /, *, out: Any = ...) -> np.ndarray:
    if x1.dtype.kind in "iu":
        # NumPy raises at the first negative exponent of integers, when ``out`` is already partly written.
        return np.pow(x1, x2, out=...)
    if x2.ndim == 0 and is_root(x1, x2):
        return np.sqrt(x1, out=out)
    if x1.dtype.kind == "c" and (function := complex_power(x1, x2)) is not None:
        return np.asarray(function(x1, out=out))
    return np.pow(x1, x2, out=out)


state(pow, native=np.pow)


_HALF = np.dtype(np.float16)
# Python numbers beyond may be infinite as an array's dtype.
_GREATEST = float(np.finfo(np.float16).max)


def _may_be_infinite(x: Any) -> bool:
    if type(x) is not np.ndarray:
        return not -_GREATEST <= x <= _GREATEST
    if x.dtype.char in "fd" and math.isfinite(np.vdot(x, x)):
        # Squares may overflow, but a finite sum of them has no infinite one.
        return False
    return x.dtype.kind in "fV" and bool(np.isinf(x).any())


def _are_finite(x1: Any, x2: Any) -> bool:
    # An infinite element makes the product infinite, or NaN beside a zero, and so the sum.
    if type(x1) is np.ndarray is type(x2) and x1.dtype is x2.dtype and x1.dtype.char in "fd" and x1.shape == x2.shape:
        # The method ``dot`` would warn.
        return math.isfinite(np.vdot(x1, x2))
    return False


@worked_around("NumPy answers NaN for infinite dividends and -1 for finite ones by infinities, as Python does")
@support_native_out
def floor_divide(x1: Any, x2: Any, /, *, out: Any = ...) -> np.ndarray:
    if _are_finite(x1, x2) or not (_may_be_infinite(x1) or _may_be_infinite(x2)):
        return np.floor_divide(x1, x2, out=out)
    with np.errstate(invalid="ignore"):
        result = np.floor_divide(x1, x2, out=...)
    if result.dtype.kind not in "fV":
        return result
    x1, x2 = (np.asarray(x, result.dtype) for x in (x1, x2))
    infinite = np.isinf(x1) | np.isinf(x2)
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.where(infinite, np.floor(np.divide(x1, x2)), result)


@worked_around("NumPy's complex special values of expm1 aren't those of exp(x) - 1")
@support_native_out
def expm1(x: Any, /, *, out: Any = ...) -> np.ndarray:
    if x.dtype.kind != "c":
        return np.expm1(x, out=out)
    with np.errstate(invalid="ignore"):
        result = np.expm1(x, out=...)
    special = ~np.isfinite(x) | (x == 0)
    return np.where(special, np.exp(x) - result.dtype.type(1), result) if special.any() else result


@worked_around("NumPy loses the sign of a zero imaginary part where the real part is infinite")
@support_native_out
def tanh(x: Any, /, *, out: Any = ...) -> np.ndarray:
    if x.dtype.kind != "c":
        return np.tanh(x, out=out)
    result = np.tanh(x, out=...)
    special = np.isinf(x.real) & np.isfinite(x.imag)
    np.copysign(0, x.imag, out=result.imag, where=special)
    return result


@worked_around("NumPy's complex special values of tan aren't those of -i tanh(iz)")
@support_native_out
def tan(x: Any, /, *, out: Any = ...) -> np.ndarray:
    if x.dtype.kind != "c":
        return np.tan(x, out=out)
    with np.errstate(invalid="ignore"):
        result = np.tan(x, out=...)
    special = ~np.isfinite(x)
    if special.any():
        turned = np.empty_like(x)
        turned.real, turned.imag = -x.imag, x.real
        with np.errstate(invalid="ignore"):
            turned = tanh(turned)
        np.copyto(result.real, turned.imag, where=special)
        np.copyto(result.imag, -turned.real, where=special)
    return result


@worked_around("NumPy's float16 loop answers the first of two zeros, not the second")
@support_native_out
def nextafter(x1: Any, x2: Any, /, *, out: Any = ...) -> np.ndarray:
    if (x1 if type(x1) is np.ndarray else x2).dtype != _HALF:
        return np.nextafter(x1, x2, out=out)
    result = np.nextafter(x1, x2, out=...)
    return np.where(np.equal(x1, x2), x2, result).astype(result.dtype)


def _leaves_clip(x: Any, /, *, min: float, max: float) -> bool:
    if x.dtype.kind == "f":
        # Greater integers are no floating-point numbers.
        return any(type(each) is int and each.bit_length() > 1000 for each in (min, max))
    if x.dtype.kind not in "iu" or type(min) is not int or type(max) is not int:
        return True
    limits = np.iinfo(x.dtype)
    return not (limits.min <= min <= limits.max and limits.min <= max <= limits.max)


@declines(_leaves_clip)
@support_native_out
def clip(x: np.ndarray, /, *, min: float, max: float, out: Any = ...) -> Any:
    """Limit an array to a range of Python numbers, in its own dtype; any other call declines."""
    if x.dtype.kind != "f" and not (x.dtype.kind in "iu" and type(min) is int and type(max) is int):
        return NotImplemented
    try:
        return x.clip(min, max, out)
    except OverflowError:
        # The composition says which number is out of bounds.
        return NotImplemented
