"""Tests over whole arrays on NumPy."""

from __future__ import annotations

from typing import Any

from ..kernels import support_native_out
from . import _direct as np


@support_native_out
def all(x: np.ndarray, /, *, axis: tuple[int, ...], keepdims: bool, out: Any = ...) -> np.ndarray:
    """Return whether all elements over ``axis`` are true (not zero), for any dtype."""
    return np.logical_and.reduce(x, axis, None, out=out, keepdims=keepdims)


@support_native_out
def any(x: np.ndarray, /, *, axis: tuple[int, ...], keepdims: bool, out: Any = ...) -> np.ndarray:
    return np.logical_or.reduce(x, axis, None, out=out, keepdims=keepdims)
