"""Creation functions on NumPy."""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import partial
from typing import Any

from ..kernels import bound_by
from ..memory import aligned_empty, aligned_zeros
from . import _direct as np

# Up to so many bytes a shortcut keeps a filled array, of which it returns copies.
_SMALL = 1 << 10


def _copying(name: str) -> Callable[..., Callable[..., np.ndarray]]:
    def bind(*, shape: tuple[int, ...], dtype: np.dtype[Any], **static: Any) -> Callable[..., np.ndarray]:
        make = partial(globals()[name], shape=shape, dtype=dtype, **static)
        return make().copy if math.prod(shape) * dtype.itemsize <= _SMALL else make

    return bind


def empty(*, shape: tuple[int, ...], dtype: np.dtype[Any], device: object) -> np.ndarray:
    return aligned_empty(shape, dtype)


@bound_by(_copying("zeros"))
def zeros(*, shape: tuple[int, ...], dtype: np.dtype[Any], device: object) -> np.ndarray:
    return aligned_zeros(shape, dtype)


@bound_by(_copying("ones"))
def ones(*, shape: tuple[int, ...], dtype: np.dtype[Any], device: object) -> np.ndarray:
    return full(shape=shape, fill_value=1, dtype=dtype, device=device)


@bound_by(_copying("full"))
def full(*, shape: tuple[int, ...], fill_value: complex, dtype: np.dtype[Any], device: object) -> np.ndarray:
    result = aligned_empty(shape, dtype)
    np.copyto(result, fill_value, casting="unsafe")
    return result


def tril(x: np.ndarray, /, *, k: int) -> np.ndarray:
    return np.tril(x, k)


def triu(x: np.ndarray, /, *, k: int) -> np.ndarray:
    return np.triu(x, k)
