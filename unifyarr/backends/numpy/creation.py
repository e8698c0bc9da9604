"""Creation functions on NumPy."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..memory import aligned_empty, aligned_zeros


def empty(*, shape: tuple[int, ...], dtype: np.dtype[Any], device: object) -> np.ndarray:
    return aligned_empty(shape, dtype)


def zeros(*, shape: tuple[int, ...], dtype: np.dtype[Any], device: object) -> np.ndarray:
    return aligned_zeros(shape, dtype)


def ones(*, shape: tuple[int, ...], dtype: np.dtype[Any], device: object) -> np.ndarray:
    return full(shape=shape, fill_value=1, dtype=dtype, device=device)


def full(*, shape: tuple[int, ...], fill_value: complex, dtype: np.dtype[Any], device: object) -> np.ndarray:
    result = aligned_empty(shape, dtype)
    np.copyto(result, fill_value, casting="unsafe")
    return result


def tril(x: np.ndarray, /, *, k: int) -> np.ndarray:
    return np.tril(x, k)


def triu(x: np.ndarray, /, *, k: int) -> np.ndarray:
    return np.triu(x, k)
