"""Reductions on NumPy."""

from __future__ import annotations

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
    return np.asarray(np.mean(x, axis, keepdims=keepdims, out=out))


@support_native_out
def var(x: np.ndarray, /, *, axis: Axis, correction: float, keepdims: bool, out: Any = None) -> np.ndarray:
    """Return the variance of a floating-point array, real also where ``x`` is complex."""
    return np.asarray(np.var(x, axis, ddof=correction, keepdims=keepdims, out=out))


@support_native_out
def std(x: np.ndarray, /, *, axis: Axis, correction: float, keepdims: bool, out: Any = None) -> np.ndarray:
    return np.asarray(np.std(x, axis, ddof=correction, keepdims=keepdims, out=out))


def cumulative_sum(x: np.ndarray, /, *, axis: int, dtype: np.dtype[Any], include_initial: bool) -> np.ndarray:
    return np.cumulative_sum(x, axis=axis, dtype=dtype, include_initial=include_initial)


def cumulative_prod(x: np.ndarray, /, *, axis: int, dtype: np.dtype[Any], include_initial: bool) -> np.ndarray:
    return np.cumulative_prod(x, axis=axis, dtype=dtype, include_initial=include_initial)
