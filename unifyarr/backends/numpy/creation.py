"""Creation functions on NumPy."""

from __future__ import annotations

from typing import Any

import numpy as np


def empty(*, shape: tuple[int, ...], dtype: np.dtype[Any], device: object) -> np.ndarray:
    return np.empty(shape, dtype)


def zeros(*, shape: tuple[int, ...], dtype: np.dtype[Any], device: object) -> np.ndarray:
    return np.zeros(shape, dtype)


def ones(*, shape: tuple[int, ...], dtype: np.dtype[Any], device: object) -> np.ndarray:
    return np.ones(shape, dtype)


def full(*, shape: tuple[int, ...], fill_value: complex, dtype: np.dtype[Any], device: object) -> np.ndarray:
    return np.full(shape, fill_value, dtype)


def tril(x: np.ndarray, /, *, k: int) -> np.ndarray:
    return np.tril(x, k)


def triu(x: np.ndarray, /, *, k: int) -> np.ndarray:
    return np.triu(x, k)
