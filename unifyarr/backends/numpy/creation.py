"""Creation functions on NumPy."""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import partial
from typing import Any

from ..kernels import bound_by
from ..memory import aligned_empty, aligned_zeros
from . import _direct as np
from ._pool import COUNTS, LARGE, POOL

# Up to so many bytes a shortcut keeps a filled array, of which it returns copies.
_SMALL = 1 << 10
# Graphs fill memory of the pool up to this many bytes. Larger arrays may leave pages of the system untouched.
_LARGEST = 1 << 25


def _copying(name: str) -> Callable[..., Callable[..., np.ndarray]]:
    def bind(*, shape: tuple[int, ...], dtype: np.dtype[Any], **static: Any) -> Callable[..., np.ndarray]:
        make = partial(globals()[name], shape=shape, dtype=dtype, **static)
        return make().copy if math.prod(shape) * dtype.itemsize <= _SMALL else make

    return bind


def _pooled(name: str, value: complex) -> Callable[..., Callable[..., np.ndarray]]:
    """Return a function that binds a kernel in a graph, where nearly every new array is written.

    Pages that are fresh from the system cost more than the filling of memory that was used before.
    """

    def bind(
        *, shape: tuple[int, ...], dtype: np.dtype[Any], fill_value: complex = value, **static: Any
    ) -> Callable[..., np.ndarray]:
        if not COUNTS or not LARGE <= math.prod(shape) * dtype.itemsize <= _LARGEST:
            own = {"fill_value": fill_value} if name == "full" else {}
            return _copying(name)(shape=shape, dtype=dtype, **own, **static)

        def make() -> np.ndarray:
            result = POOL.take(shape, dtype)
            np.copyto(result, fill_value, casting="unsafe")
            return result

        return make

    return bind


def empty(*, shape: tuple[int, ...], dtype: np.dtype[Any], device: object) -> np.ndarray:
    return aligned_empty(shape, dtype)


@bound_by(_copying("zeros"), _pooled("zeros", 0))
def zeros(*, shape: tuple[int, ...], dtype: np.dtype[Any], device: object) -> np.ndarray:
    return aligned_zeros(shape, dtype)


@bound_by(_copying("ones"), _pooled("ones", 1))
def ones(*, shape: tuple[int, ...], dtype: np.dtype[Any], device: object) -> np.ndarray:
    return full(shape=shape, fill_value=1, dtype=dtype, device=device)


@bound_by(_copying("full"), _pooled("full", 0))
def full(*, shape: tuple[int, ...], fill_value: complex, dtype: np.dtype[Any], device: object) -> np.ndarray:
    result = aligned_empty(shape, dtype)
    np.copyto(result, fill_value, casting="unsafe")
    return result


def tril(x: np.ndarray, /, *, k: int) -> np.ndarray:
    return np.tril(x, k)


def triu(x: np.ndarray, /, *, k: int) -> np.ndarray:
    return np.triu(x, k)
