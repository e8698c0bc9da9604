"""Arrays and helpers for tests of the array object."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import unifyarr as ua

VIEWS: dict[str, Callable[[Any], Any]] = {
    "array": lambda x: x,
    "tail": lambda x: x[1:],
    "reversed": lambda x: x[::-1],
    "transposed": lambda x: x.T,
}
each_view = pytest.mark.parametrize("view", VIEWS.values(), ids=VIEWS.keys())


def pair(shape: tuple[int, ...] = (2, 3), dtype: str = "float64") -> tuple[np.ndarray, ua.Array]:
    """Return NumPy's array and ours, of equal values in separate memory."""
    values = np.arange(1, 1 + np.prod(shape, dtype=int)).reshape(shape).astype(dtype)
    return values, ua.asarray(values, copy=True)
