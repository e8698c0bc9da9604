"""Reductions on NumPy."""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import partial
from typing import Any

from ..base.single import Fold
from ..kernels import Kernel, bound_by, support_native_out, with_core
from . import _direct as np
from ._bfloat16 import BFLOAT16

Axis = tuple[int, ...]
# The codes of dtypes, which are found faster than dtypes.
_HALF = frozenset({"e", BFLOAT16.char})
_WIDE = frozenset("fd")


def _in_single(function: Callable[..., Any], x: np.ndarray, dtype: np.dtype[Any], **options: Any) -> np.ndarray:
    # NumPy rounds half precision at each step, along some axes, and ml_dtypes does everywhere.
    return np.asarray(function(x.astype(dtype, copy=False), dtype=np.float32, **options)).astype(dtype)


def _folding(ufunc: np.ufunc) -> Callable[[Kernel], Kernel]:
    def core(x: Any, *, axis: Axis, keepdims: bool, dtype: object = None) -> Fold | None:
        if x.dtype.char in _HALF or dtype not in (None, x.dtype):
            return None
        whole = len(axis) == len(x.shape)
        return Fold("whole" if whole else "rows", ufunc) if whole or axis == (0,) else None

    return with_core(core)


@_folding(np.add)
@support_native_out
def sum(x: np.ndarray, /, *, axis: Axis, dtype: np.dtype[Any], keepdims: bool, out: Any = ...) -> np.ndarray:
    if dtype.char in _HALF:
        return _in_single(np.add.reduce, x, dtype, axis=axis, keepdims=keepdims)
    return np.add.reduce(x, axis, dtype, out=out, keepdims=keepdims)


@_folding(np.multiply)
@support_native_out
def prod(x: np.ndarray, /, *, axis: Axis, dtype: np.dtype[Any], keepdims: bool, out: Any = ...) -> np.ndarray:
    if dtype.char in _HALF:
        return _in_single(np.multiply.reduce, x, dtype, axis=axis, keepdims=keepdims)
    return np.multiply.reduce(x, axis, dtype, out=out, keepdims=keepdims)


@_folding(np.maximum)
@support_native_out
def max(x: np.ndarray, /, *, axis: Axis, keepdims: bool, out: Any = ...) -> np.ndarray:
    return np.maximum.reduce(x, axis, None, out=out, keepdims=keepdims)


@_folding(np.minimum)
@support_native_out
def min(x: np.ndarray, /, *, axis: Axis, keepdims: bool, out: Any = ...) -> np.ndarray:
    return np.minimum.reduce(x, axis, None, out=out, keepdims=keepdims)


@support_native_out
def mean(x: np.ndarray, /, *, axis: Axis, keepdims: bool, out: Any = None) -> np.ndarray:
    """Return the mean of a floating-point array; without elements it is NaN."""
    count = _count(x, axis)
    if count == 0:
        # NumPy answers NaN too, with a warning.
        return np.multiply(np.add.reduce(x, axis, out=..., keepdims=keepdims), x.dtype.type(np.nan), out=...)
    if x.dtype.char in _HALF:
        return _in_single(np.mean, x, x.dtype, axis=axis, keepdims=keepdims)
    if x.dtype.char in _WIDE:
        total = np.add.reduce(x, axis, None, out=... if out is None else out, keepdims=keepdims)
        return np.true_divide(total, count, out=total)
    return np.asarray(np.mean(x, axis, keepdims=keepdims, out=out))


@support_native_out
def var(x: np.ndarray, /, *, axis: Axis, correction: float, keepdims: bool, out: Any = None) -> np.ndarray:
    """Return the variance of a floating-point array, real also where ``x`` is complex."""
    count = _count(x, axis)
    if count == 0 or correction >= count:
        # NumPy divides by zero too, with a warning.
        return _divided_by_zero(x, axis, keepdims)
    if x.dtype.char in _HALF:
        return _in_single(np.var, x, x.dtype, axis=axis, ddof=correction, keepdims=keepdims)
    if x.dtype.char in _WIDE:
        return _variance(x, axis, count, correction, keepdims, out)
    return np.asarray(np.var(x, axis, ddof=correction, keepdims=keepdims, out=out))


@support_native_out
def std(x: np.ndarray, /, *, axis: Axis, correction: float, keepdims: bool, out: Any = None) -> np.ndarray:
    count = _count(x, axis)
    if count == 0 or correction >= count:
        return _divided_by_zero(x, axis, keepdims)
    if x.dtype.char in _HALF:
        return _in_single(np.std, x, x.dtype, axis=axis, ddof=correction, keepdims=keepdims)
    if x.dtype.char in _WIDE:
        squared = _variance(x, axis, count, correction, keepdims, out)
        return np.sqrt(squared, out=squared)
    return np.asarray(np.std(x, axis, ddof=correction, keepdims=keepdims, out=out))


def _variance(x: np.ndarray, axis: Axis, count: int, correction: float, keepdims: bool, out: Any) -> np.ndarray:
    # The steps of NumPy's own, which are Python too.
    center = np.add.reduce(x, axis, None, out=..., keepdims=True)
    deviation = np.subtract(x, np.true_divide(center, count, out=center), out=...)
    squares = np.multiply(deviation, deviation, out=deviation)
    total = np.add.reduce(squares, axis, None, out=... if out is None else out, keepdims=keepdims)
    return np.true_divide(total, count - correction, out=total)


def _count(x: np.ndarray, axis: Axis) -> int:
    shape = x.shape
    return x.size if len(axis) == len(shape) else math.prod([shape[each] for each in axis])


def _divided_by_zero(x: np.ndarray, axis: Axis, keepdims: bool) -> np.ndarray:
    # The squares' sum over zero: infinite where there's any deviation, else NaN.
    center = np.add.reduce(x, axis, out=..., keepdims=True) / (_count(x, axis) or 1)
    total = np.add.reduce(np.abs(x - center) ** 2, axis, out=..., keepdims=keepdims)
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.divide(total, 0, dtype=total.dtype, out=...)


def _accumulating(ufunc: np.ufunc, name: str) -> Callable[..., Callable[[np.ndarray], np.ndarray]]:
    def bind(*, axis: int, dtype: np.dtype[Any], include_initial: bool) -> Callable[[np.ndarray], np.ndarray]:
        if include_initial or dtype.char in _HALF:
            return partial(globals()[name], axis=axis, dtype=dtype, include_initial=include_initial)
        return lambda x, /: ufunc.accumulate(x, axis, dtype)

    return bind


def _running(ufunc: np.ufunc) -> Callable[[Kernel], Kernel]:
    def core(x: Any, *, axis: int, dtype: np.dtype[Any], include_initial: bool) -> Fold | None:
        is_plain = len(x.shape) == 1 and dtype == x.dtype and not include_initial and dtype.char not in _HALF
        return Fold("running", ufunc) if is_plain else None

    return with_core(core)


@_running(np.add)
@bound_by(_accumulating(np.add, "cumulative_sum"))
@support_native_out
def cumulative_sum(
    x: np.ndarray, /, *, axis: int, dtype: np.dtype[Any], include_initial: bool, out: Any = None
) -> np.ndarray:
    if dtype.char in _HALF:
        return _in_single(np.cumulative_sum, x, dtype, axis=axis, include_initial=include_initial)
    return np.cumulative_sum(x, axis=axis, dtype=dtype, include_initial=include_initial, out=out)


@_running(np.multiply)
@bound_by(_accumulating(np.multiply, "cumulative_prod"))
@support_native_out
def cumulative_prod(
    x: np.ndarray, /, *, axis: int, dtype: np.dtype[Any], include_initial: bool, out: Any = None
) -> np.ndarray:
    if dtype.char in _HALF:
        return _in_single(np.cumulative_prod, x, dtype, axis=axis, include_initial=include_initial)
    return np.cumulative_prod(x, axis=axis, dtype=dtype, include_initial=include_initial, out=out)


def _highest(ufunc: np.ufunc) -> Callable[..., np.ndarray]:
    @bound_by(lambda *, axis: lambda x, /: kernel(x, axis=axis))
    @support_native_out
    def kernel(x: np.ndarray, /, *, axis: int, out: Any = None) -> np.ndarray:
        if x.dtype.char == BFLOAT16.char:
            # ml_dtypes compares with NaN, and warns.
            with np.errstate(invalid="ignore"):
                return ufunc.accumulate(x, axis, None, out)
        return ufunc.accumulate(x, axis, None, out)

    return kernel


cumulative_max = _highest(np.maximum)
cumulative_min = _highest(np.minimum)
