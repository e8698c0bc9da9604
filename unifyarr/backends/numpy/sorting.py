"""Sorting on NumPy: NaN last, or first where descending; always stable, which the standard allows."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..kernels import support_native_out
from ._bfloat16 import ordered


@ordered
@support_native_out
def sort(x: np.ndarray, /, *, axis: int, descending: bool, stable: bool, out: Any = None) -> np.ndarray:
    result: np.ndarray = np.empty_like(x) if out is None else out
    ascending = np.flip(result, axis) if descending else result
    np.copyto(ascending, x)
    ascending.sort(axis, stable=stable)
    return result


@ordered
def argsort(x: np.ndarray, /, *, axis: int, descending: bool, stable: bool) -> np.ndarray:
    if not descending:
        return np.argsort(x, axis, stable=stable)
    # Sorting the reversed array ascending and reversing the result keeps equal elements in their order.
    result = np.flip(np.argsort(np.flip(x, axis), axis, stable=stable), axis)
    return x.shape[axis] - 1 - result


@ordered
def partition(x: np.ndarray, /, *, places: tuple[int, ...]) -> np.ndarray:
    """Return ``x`` with the elements at those places of the last axis where sorting would put them."""
    return np.partition(x, places)
