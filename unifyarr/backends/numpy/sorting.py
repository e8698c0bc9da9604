"""Sorting on NumPy: NaN last, or first where descending; always stable, which the standard allows."""

from __future__ import annotations

import numpy as np

from ._bfloat16 import ordered


@ordered
def sort(x: np.ndarray, /, *, axis: int, descending: bool, stable: bool) -> np.ndarray:
    result = np.sort(x, axis, stable=stable)
    return np.flip(result, axis) if descending else result


@ordered
def argsort(x: np.ndarray, /, *, axis: int, descending: bool, stable: bool) -> np.ndarray:
    if not descending:
        return np.argsort(x, axis, stable=stable)
    # Sorting the reversed array ascending and reversing the result keeps equal elements in their order.
    result = np.flip(np.argsort(np.flip(x, axis), axis, stable=stable), axis)
    return x.shape[axis] - 1 - result
