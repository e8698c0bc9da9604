"""Sorting and searching."""

from __future__ import annotations

from typing import Any

import numpy as np

from .. import functions as ua
from .._core.arrays.array import Array
from .._core.engines import dtypes
from .._core.values.shapes import as_axis
from ..errors import AxisError, ShapeError
from ._creation import on_host
from ._following import as_array, follows, together

_KINDS = {"q": False, "h": False, "m": True, "s": True}
# The default of ``descending``, which came with NumPy 2.5.
_UNSAID: Any = np._NoValue


def _stable(kind: Any, order: Any, stable: Any, descending: Any) -> bool:
    if order is not None:
        raise ValueError("order= names fields of records, and arrays hold numbers: leave it out")
    if kind is not None and not (stable is None and (descending is None or descending is _UNSAID)):
        raise ValueError("sort() takes kind, or stable and descending, and not both")
    if kind is None:
        return bool(stable)
    if not isinstance(kind, str) or kind[:1].lower() not in _KINDS:
        error = ValueError if isinstance(kind, str) else TypeError
        raise error(f"kind is quicksort, heapsort, mergesort or stable, not {kind!r}")
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
def sort(
    a: Any,
    axis: Any = -1,
    kind: Any = None,
    order: Any = None,
    *,
    stable: Any = None,
    descending: Any = _UNSAID,
) -> Array:
    """Return a sorted copy: along an axis, or of all elements with ``axis=None``. NaN comes last in both directions.

    >>> import unifyarr.numpy as np
    >>> np.sort([2.0, np.nan, 3.0], descending=True)
    array([ 3.,  2., nan])
    """
    if kind is not None or order is not None or stable is not None or descending is not _UNSAID:
        stable = _stable(kind, order, stable, descending)
    elif axis is not None and isinstance(a, Array) and a.ndim:
        return ua.sort(a, axis=axis, stable=False)
    x, axis = _along(a, axis)
    return _ordered(ua.sort, x, axis, stable, descending) if x.ndim else _whole(x)


def _ordered(function: Any, x: Array, axis: int, stable: Any, descending: Any) -> Array:
    """Call ``ua.sort`` or ``ua.argsort`` so that NaN comes last in both directions.

    The standard's descending order puts it first. The ascending order of the negative numbers puts it last.
    """
    descending = descending is not _UNSAID and bool(descending)
    negates = descending and ua.isdtype(x.dtype, ("real floating", "complex floating"))
    found: Array = function(-x if negates else x, axis=axis, stable=bool(stable), descending=descending and not negates)
    return -found if negates and function is ua.sort else found


def _whole(x: Array) -> Array:
    raise AxisError("a 0-d array has no axis to sort along: pass axis=None")


def _first(x: Array) -> Array:
    # The index of a number alone.
    return ua.zeros(1, dtype=dtypes.int64, device=x.device, backend=x.backend)


@follows(np.argsort)
def argsort(
    a: Any,
    axis: Any = -1,
    kind: Any = None,
    order: Any = None,
    *,
    stable: Any = None,
    descending: Any = _UNSAID,
) -> Array:
    """Return the indices that ``sort`` takes along an axis, or from all elements with ``axis=None``."""
    if kind is not None or order is not None or stable is not None or descending is not _UNSAID:
        stable = _stable(kind, order, stable, descending)
    elif axis is not None and isinstance(a, Array) and a.ndim:
        return ua.argsort(a, axis=axis, stable=False)
    x, axis = _along(a, axis)
    return _ordered(ua.argsort, x, axis, stable, descending) if x.ndim else _first(x)


@follows(np.lexsort)
def lexsort(keys: Any, axis: Any = -1) -> Array:
    """Return the indices that sort by several keys, of which the last counts first.

    >>> import unifyarr.numpy as np
    >>> np.lexsort(([3, 1, 2], [0, 1, 0]))
    array([2, 0, 1])
    """
    if not len(keys):
        raise TypeError("lexsort() needs a key at least")
    if (first := as_array(keys[0])).ndim == 0:
        return _first(first)
    return ua.lexsort(together(*keys), axis=axis)


def _as_places(kth: Any, kind: Any, order: Any) -> Any:
    if not (isinstance(kind, str) and kind == "introselect"):
        raise (ValueError if isinstance(kind, str) else TypeError)(f"kind is 'introselect', not {kind!r}")
    if order is not None:
        raise ValueError("order= names fields of records, and arrays hold numbers: leave it out")
    places = on_host(kth, "partition()")
    if places.dtype.kind not in "iu":
        raise TypeError(f"kth is of integers, not of {places.dtype}")
    return places.tolist()


@follows(np.partition)
def partition(a: Any, kth: Any, axis: Any = -1, kind: str = "introselect", order: Any = None) -> Array:
    """Return a copy whose ``kth`` elements stand where sorting would put them, those that aren't greater before."""
    x, axis = _along(a, axis)
    places = _as_places(kth, kind, order)
    if x.ndim == 0:
        _whole(x)
    return ua.partition(x, places, axis=axis) if x.size else x.copy()


@follows(np.argpartition)
def argpartition(a: Any, kth: Any, axis: Any = -1, kind: str = "introselect", order: Any = None) -> Array:
    """Return the indices that ``partition`` would take."""
    x, axis = _along(a, axis)
    places = _as_places(kth, kind, order)
    if x.ndim == 0:
        return _first(x)
    return ua.argpartition(x, places, axis=axis) if x.size else ua.argsort(x, axis=axis)


@follows(np.searchsorted)
def searchsorted(a: Any, v: Any, side: str = "left", sorter: Any = None) -> Array:
    """Return where values would be inserted in a sorted vector: before equal ones, or with ``side="right"`` behind.

    >>> import unifyarr.numpy as np
    >>> np.searchsorted([1, 2, 3], [2.5, 1])
    array([2, 0])
    """
    if sorter is None:
        if isinstance(a, Array) and a.ndim == 1 and isinstance(v, Array) and side in ("left", "right"):
            return ua.searchsorted(a, v, side=side)
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
        small = x.dtype in (dtypes.int8, dtypes.uint8, dtypes.int16, dtypes.uint16)
        x = x.astype(dtypes.complex64 if small else dtypes.complex128)
    return ua.sort(x)
