"""Casting on NumPy."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np


def astype(x: np.ndarray, /, *, dtype: np.dtype[Any]) -> np.ndarray:
    if x.dtype.kind == "c" and dtype.kind not in "cb":
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", np.exceptions.ComplexWarning)
            return x.astype(dtype)
    return x.astype(dtype)
