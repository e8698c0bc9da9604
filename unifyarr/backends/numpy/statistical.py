"""Reductions on NumPy."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ..kernels import support_native_out

Axis = tuple[int, ...]


@support_native_out
def sum(x: np.ndarray, /, *, axis: Axis, dtype: np.dtype[Any], keepdims: bool, out: Any = ...) -> np.ndarray:
    return np.add.reduce(x, axis, dtype, out=out, keepdims=keepdims)


@support_native_out
def prod(x: np.ndarray, /, *, axis: Axis, dtype: np.dtype[Any], keepdims: bool, out: Any = ...) -> np.ndarray:
    return np.multiply.reduce(x, axis, dtype, out=out, keepdims=keepdims)


@support_native_out
def max(x: np.ndarray, /, *, axis: Axis, keepdims: bool, out: Any = ...) -> np.ndarray:
    return np.maximum.reduce(x, axis, None, out=out, keepdims=keepdims)


@support_native_out
def min(x: np.ndarray, /, *, axis: Axis, keepdims: bool, out: Any = ...) -> np.ndarray:
    return np.minimum.reduce(x, axis, None, out=out, keepdims=keepdims)


@support_native_out
def mean(x: np.ndarray, /, *, axis: Axis, keepdims: bool, out: Any = None) -> np.ndarray:
    """Return the mean of a floating-point array; without elements it is NaN."""
    if _count(x, axis) == 0:
        # NumPy answers NaN too, with a warning.
        return np.multiply(np.add.reduce(x, axis, out=..., keepdims=keepdims), x.dtype.type(np.nan), out=...)
    return np.asarray(np.mean(x, axis, keepdims=keepdims, out=out))


@support_native_out
def var(x: np.ndarray, /, *, axis: Axis, correction: float, keepdims: bool, out: Any = None) -> np.ndarray:
    """Return the variance of a floating-point array, real also where ``x`` is complex."""
    count = _count(x, axis)
    if count == 0 or correction >= count:
        # NumPy divides by zero too, with a warning.
        return _divided_by_zero(x, axis, keepdims)
    return np.asarray(np.var(x, axis, ddof=correction, keepdims=keepdims, out=out))


@support_native_out
def std(x: np.ndarray, /, *, axis: Axis, correction: float, keepdims: bool, out: Any = None) -> np.ndarray:
    count = _count(x, axis)
    if count == 0 or correction >= count:
        return _divided_by_zero(x, axis, keepdims)
    return np.asarray(np.std(x, axis, ddof=correction, keepdims=keepdims, out=out))


def _count(x: np.ndarray, axis: Axis) -> int:
    return math.prod(x.shape[each] for each in axis)


def _divided_by_zero(x: np.ndarray, axis: Axis, keepdims: bool) -> np.ndarray:
    # The squares' sum over zero: infinite where there's any deviation, else NaN.
    center = np.add.reduce(x, axis, out=..., keepdims=True) / (_count(x, axis) or 1)
    total = np.add.reduce(np.abs(x - center) ** 2, axis, out=..., keepdims=keepdims)
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.divide(total, 0, dtype=total.dtype, out=...)


@support_native_out
def cumulative_sum(
    x: np.ndarray, /, *, axis: int, dtype: np.dtype[Any], include_initial: bool, out: Any = None
) -> np.ndarray:
    return np.cumulative_sum(x, axis=axis, dtype=dtype, include_initial=include_initial, out=out)


@support_native_out
def cumulative_prod(
    x: np.ndarray, /, *, axis: int, dtype: np.dtype[Any], include_initial: bool, out: Any = None
) -> np.ndarray:
    return np.cumulative_prod(x, axis=axis, dtype=dtype, include_initial=include_initial, out=out)
