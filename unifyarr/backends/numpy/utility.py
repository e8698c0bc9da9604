"""Tests over whole arrays on NumPy."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ..base.single import Fold
from ..kernels import Kernel, support_native_out, with_core
from . import _direct as np


def _test(ufunc: np.ufunc) -> Callable[[Kernel], Kernel]:
    def core(x: Any, *, axis: tuple[int, ...], keepdims: bool) -> Fold | None:
        return Fold("whole", ufunc) if len(axis) == len(x.shape) and x.dtype == bool else None

    return with_core(core)


@_test(np.logical_and)
@support_native_out
def all(x: np.ndarray, /, *, axis: tuple[int, ...], keepdims: bool, out: Any = ...) -> np.ndarray:
    """Return whether all elements over ``axis`` are true (not zero), for any dtype."""
    return np.logical_and.reduce(x, axis, None, out=out, keepdims=keepdims)


@_test(np.logical_or)
@support_native_out
def any(x: np.ndarray, /, *, axis: tuple[int, ...], keepdims: bool, out: Any = ...) -> np.ndarray:
    return np.logical_or.reduce(x, axis, None, out=out, keepdims=keepdims)
