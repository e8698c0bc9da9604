"""Sorting and searching."""

from __future__ import annotations

import operator
from typing import Any

import numpy as np

from .. import functions as ua
from .._core.arrays.array import Array
from .._core.engines import dtypes
from .._core.values.shapes import as_axis
from ..errors import ShapeError
from ._following import as_array, follows, together

__all__ = ["argpartition", "argsort", "lexsort", "partition", "searchsorted", "sort", "sort_complex"]

_KINDS = {"q": False, "h": False, "m": True, "s": True}


def _stable(kind: Any, order: Any, stable: Any) -> bool:
    if order is not None:
        raise ValueError("order= names fields of records, and arrays hold numbers: leave it out")
    if kind is not None and stable is not None:
        raise ValueError("sort() takes kind or stable, and not both")
    if kind is None:
        return bool(stable)
    if not isinstance(kind, str) or kind[:1].lower() not in _KINDS:
        raise ValueError(f"kind is quicksort, heapsort, mergesort or stable, not {kind!r}")
    return _KINDS[kind[0].lower()]


def _along(a: Any, axis: Any) -> tuple[Array, int]:
    x = as_array(a)
    if axis is None:
        return ua.reshape(x, (-1,)), -1
    if x.ndim == 0:
        as_axis(axis, 1)
        return x, -1
    return x, axis


@follows(np.sort)
def sort(a: Any, axis: Any = -1, kind: Any = None, order: Any = None, *, stable: Any = None) -> Array:
    """Return a sorted copy: along an axis, or of all elements with ``axis=None``."""
    if kind is not None or order is not None or stable is not None:
        stable = _stable(kind, order, stable)
    x, axis = _along(a, axis)
    return ua.sort(x, axis=axis, stable=bool(stable)) if x.ndim else _whole(x)


def _whole(x: Array) -> Array:
    raise ShapeError("a 0-d array has no axis to sort along: pass axis=None")


@follows(np.argsort)
def argsort(a: Any, axis: Any = -1, kind: Any = None, order: Any = None, *, stable: Any = None) -> Array:
    """Return the indices that sort an array along an axis, or its elements with ``axis=None``."""
    if kind is not None or order is not None or stable is not None:
        stable = _stable(kind, order, stable)
    x, axis = _along(a, axis)
    if x.ndim == 0:
        return ua.zeros((), dtype=dtypes.int64, device=x.device, backend=x.backend)
    return ua.argsort(x, axis=axis, stable=bool(stable))


@follows(np.lexsort)
def lexsort(keys: Any, axis: Any = -1) -> Array:
    """Return the indices that sort by several keys, of which the last counts first.

    >>> import unifyarr.numpy as np
    >>> np.lexsort(([3, 1, 2], [0, 1, 0]))
    array([2, 0, 1])
    """
    arrays = together(*keys)
    if not arrays:
        raise TypeError("lexsort() needs a key at least")
    first = arrays[0]
    if any(key.shape != first.shape for key in arrays):
        raise ShapeError(f"keys have one shape, unlike {', '.join(str(key.shape) for key in arrays)}")
    if first.ndim == 0:
        return ua.zeros((), dtype=dtypes.int64, device=first.device, backend=first.backend)
    axis = as_axis(axis, first.ndim)
    order = ua.argsort(first, axis=axis)
    for key in arrays[1:]:
        again = ua.argsort(ua.take_along_axis(key, order, axis=axis), axis=axis)
        order = ua.take_along_axis(order, again, axis=axis)
    return order


def _check_kth(kth: Any, length: int, kind: str, order: Any) -> None:
    if kind != "introselect":
        raise ValueError(f"kind is 'introselect', not {kind!r}")
    if order is not None:
        raise ValueError("order= names fields of records, and arrays hold numbers: leave it out")
    places = as_array(kth)
    if places.dtype.kind not in "iu":
        raise TypeError(f"kth is of integers, not of {places.dtype}")
    if places.ndim > 1:
        raise ValueError("kth is a number or a vector of them")
    for each in places.tolist() if places.ndim else [places.item()]:
        if not -length <= operator.index(each) < length:
            raise ValueError(f"kth {each} is out of bounds for an axis of length {length}")


@follows(np.partition)
def partition(a: Any, kth: Any, axis: Any = -1, kind: str = "introselect", order: Any = None) -> Array:
    """Return a copy whose ``kth`` elements stand where sorting would put them, smaller ones before: all are sorted."""
    x, axis = _along(a, axis)
    if x.size or x.ndim == 0:
        _check_kth(kth, x.shape[axis] if x.ndim else 1, kind, order)
    return ua.sort(x, axis=axis) if x.ndim else x.copy()


@follows(np.argpartition)
def argpartition(a: Any, kth: Any, axis: Any = -1, kind: str = "introselect", order: Any = None) -> Array:
    """Return the indices that ``partition`` would take."""
    x, axis = _along(a, axis)
    if x.size or x.ndim == 0:
        _check_kth(kth, x.shape[axis] if x.ndim else 1, kind, order)
    return argsort(x, axis, stable=True)


@follows(np.searchsorted)
def searchsorted(a: Any, v: Any, side: str = "left", sorter: Any = None) -> Array:
    """Return where values would be inserted in a sorted vector: before equal ones, or with ``side="right"`` behind.

    >>> import unifyarr.numpy as np
    >>> np.searchsorted([1, 2, 3], [2.5, 1])
    array([2, 0])
    """
    if sorter is None:
        x, values = together(a, v)
    else:
        x, values, sorter = together(a, v, sorter)
        if sorter.dtype.kind not in "iu":
            raise TypeError(f"sorter is of integers, not of {sorter.dtype}")
    if x.ndim != 1:
        raise ShapeError(f"searchsorted() searches a vector, not an array of shape {x.shape}")
    name = side[:1].lower() if isinstance(side, str) else ""
    if name not in ("l", "r"):
        raise ValueError(f"side is 'left' or 'right', not {side!r}")
    return ua.searchsorted(x, values, side="left" if name == "l" else "right", sorter=sorter)


@follows(np.sort_complex)
def sort_complex(a: Any) -> Array:
    """Return a sorted copy as complex numbers, by real part, then by imaginary part."""
    x = as_array(a)
    if x.dtype.kind != "c":
        small = x.dtype in (dtypes.int8, dtypes.uint8, dtypes.int16, dtypes.uint16, dtypes.float16)
        x = x.astype(dtypes.complex64 if small or x.dtype == dtypes.float32 else dtypes.complex128)
    return ua.sort(x)
