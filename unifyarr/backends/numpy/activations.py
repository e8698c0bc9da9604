"""Activation functions on NumPy."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..kernels import support_native_out, worked_around


@worked_around("NumPy has none")
@support_native_out
def sigmoid(x: np.ndarray, /, *, out: Any = None) -> np.ndarray:
    # In one array: what overflows is infinite, and its reciprocal 0, as it should be.
    with np.errstate(over="ignore"):
        result = np.exp(np.negative(x, out=out), out=... if out is None else out)
    result += 1
    return np.asarray(np.reciprocal(result, out=result))
