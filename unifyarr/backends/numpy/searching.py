"""Searching on NumPy."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any, Literal

from ..base.single import Fold
from ..kernels import Kernel, bound_by, known_by, support_native_out, with_core
from . import _direct as np
from ._bfloat16 import ordered


def _place(kind: Literal["greatest", "least"]) -> Callable[[Kernel], Kernel]:
    def core(x: Any, *, axis: int | None, keepdims: bool) -> Fold | None:
        return Fold(kind) if axis is None or len(x.shape) == 1 else None

    return with_core(core)


@_place("greatest")
@support_native_out
def argmax(x: np.ndarray, /, *, axis: int | None, keepdims: bool, out: Any = None) -> np.ndarray:
    """Return the first index of the maximum (of the first NaN, if there is one), as int64."""
    return np.asarray(x.argmax(axis, out, keepdims=keepdims))


@_place("least")
@support_native_out
def argmin(x: np.ndarray, /, *, axis: int | None, keepdims: bool, out: Any = None) -> np.ndarray:
    return np.asarray(x.argmin(axis, out, keepdims=keepdims))


def nonzero(x: np.ndarray, /) -> tuple[np.ndarray, ...]:
    """Return an int64 array for each axis, in C order; ``x`` has at least one axis."""
    return x.nonzero()


@ordered
def searchsorted(x1: np.ndarray, x2: np.ndarray, /, *sorter: np.ndarray, side: Any) -> np.ndarray:
    """Return where to insert ``x2``, of any shape, into the 1-d ``x1`` (sorted by ``sorter``, if given), as int64."""
    return np.asarray(x1.searchsorted(x2, side, sorter[0] if sorter else None))


@support_native_out
def where(condition: np.ndarray, x1: np.ndarray, x2: np.ndarray, /, *, out: Any = None) -> np.ndarray:
    if out is None or out is condition:
        return np.where(condition, x1, x2)
    # Any of the choices may be ``out`` itself, whose elements stay then where they are chosen.
    if out is x1:
        np.copyto(out, x2, where=~condition)
        return x1
    if out is not x2:
        np.copyto(out, x2)
    np.copyto(out, x1, where=condition)
    return np.asarray(out)


def _counting(*, axis: tuple[int, ...], keepdims: bool) -> Callable[[np.ndarray], np.ndarray]:
    if keepdims:
        return partial(count_nonzero, axis=axis, keepdims=True)
    axes = len(axis)

    def count(x: np.ndarray, /) -> np.ndarray:
        return np.asarray(np.count_nonzero(x) if axes == x.ndim else np.count_nonzero(x, axis))

    return count


_nonzeros, _array = np.count_nonzero, np.array


def _count(x: np.ndarray, /) -> np.ndarray:
    return _array(_nonzeros(x))


def _know_count(x: np.ndarray, *, axis: tuple[int, ...], keepdims: bool) -> Any:
    return None if keepdims or len(axis) != x.ndim else _count


@known_by(_know_count)
@bound_by(_counting)
def count_nonzero(x: np.ndarray, /, *, axis: tuple[int, ...], keepdims: bool) -> np.ndarray:
    """Return how many elements over ``axis`` aren't zero, as int64."""
    if len(axis) == x.ndim and not keepdims:
        return _count(x)
    return np.asarray(np.count_nonzero(x, axis, keepdims=keepdims))
