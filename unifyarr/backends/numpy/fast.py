"""Fast paths of NumPy: calls that need none of the general machinery; anything in doubt declines.

A decliner returns ``NotImplemented``, or ``False`` where it would write.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ._bfloat16 import BFLOAT16

_BASIC = frozenset({slice, int, type(None), type(Ellipsis)})


def get_item(x: np.ndarray, key: Any) -> Any:
    """Return the view of a basic index that leaves an axis."""
    kind = type(key)
    if kind is slice:
        return x[key] if x.ndim else NotImplemented
    if kind is int:
        return x[key] if x.ndim > 1 else NotImplemented
    if kind is tuple and _BASIC.issuperset(map(type, key)):
        view = x[key]
        return view if type(view) is np.ndarray else NotImplemented
    return NotImplemented


def get_copy(x: np.ndarray, key: Any) -> Any:
    """Return what an index of integers for all axes, or one by arrays, selects: in memory of its own."""
    if (
        type(key) is int
        or isinstance(key, np.ndarray)
        or (type(key) is tuple and not _BASIC.issuperset(map(type, key)))
    ):
        found = x[key]
        # A 0-d integer array makes a copy in NumPy too.
        return np.array(found) if not isinstance(found, np.ndarray) or np.may_share_memory(found, x) else found
    return NotImplemented


def set_item(x: np.ndarray, key: Any, value: np.ndarray) -> bool:
    """Write a value of the array's dtype to a basic index."""
    if value.dtype != x.dtype or not x.flags.writeable:
        return False
    kind = type(key)
    if kind is slice or kind is int or (kind is tuple and _BASIC.issuperset(map(type, key))):
        try:
            x[key] = value
        except (ValueError, IndexError):
            # The general path says what is wrong.
            return False
        return True
    return False


def set_scalar(x: np.ndarray, key: Any, value: float) -> bool:
    """Write a Python number to a basic index, where the dtype takes it as it is."""
    kind = x.dtype.kind
    if (kind in "fc" or (kind in "iu" and type(value) is int)) and x.flags.writeable:
        of_key = type(key)
        if of_key is slice or of_key is int or (of_key is tuple and _BASIC.issuperset(map(type, key))):
            try:
                x[key] = value
            except (ValueError, IndexError, OverflowError):
                return False
            return True
    return False


_KEEPS = frozenset(np.dtype(name) for name in ("int64", "uint64", "float32", "float64", "complex64", "complex128"))


def _is_plain(axis: Any, x: np.ndarray) -> bool:
    return axis is None or (type(axis) is int and -x.ndim <= axis < x.ndim)


def _total(ufunc: np.ufunc) -> Callable[..., Any]:
    reduce = ufunc.reduce

    def fast(x: np.ndarray, axis: Any, dtype: Any, keepdims: Any) -> Any:
        if dtype is None and _is_plain(axis, x) and x.dtype in _KEEPS:
            return reduce(x, axis, None, out=..., keepdims=keepdims)
        return NotImplemented

    return fast


def _extremum(ufunc: np.ufunc) -> Callable[..., Any]:
    reduce = ufunc.reduce

    def fast(x: np.ndarray, axis: Any, keepdims: Any) -> Any:
        if x.size and _is_plain(axis, x):
            return reduce(x, axis, None, out=..., keepdims=keepdims)
        return NotImplemented

    return fast


sum = _total(np.add)
prod = _total(np.multiply)
max = _extremum(np.maximum)
min = _extremum(np.minimum)


def mean(x: np.ndarray, axis: Any, keepdims: Any) -> Any:
    if x.size and x.dtype.char in "fd" and _is_plain(axis, x):
        return np.asarray(x.mean(axis, keepdims=keepdims))
    return NotImplemented


def all(x: np.ndarray, axis: Any, keepdims: Any) -> Any:
    if _is_plain(axis, x):
        return np.logical_and.reduce(x, axis, None, out=..., keepdims=keepdims)
    return NotImplemented


def any(x: np.ndarray, axis: Any, keepdims: Any) -> Any:
    if _is_plain(axis, x):
        return np.logical_or.reduce(x, axis, None, out=..., keepdims=keepdims)
    return NotImplemented


def matmul(x1: np.ndarray, x2: np.ndarray) -> Any:
    if x1.dtype == x2.dtype != BFLOAT16 and x1.ndim == x2.ndim == 2 and x1.shape[1] == x2.shape[0]:
        return np.matmul(x1, x2)
    return NotImplemented


PATHS: dict[str, Callable[..., Any]] = {
    path.__name__: path for path in (get_item, get_copy, set_item, set_scalar, mean, all, any, matmul)
} | {"sum": sum, "prod": prod, "max": max, "min": min}
