"""Fast paths of NumPy: calls that need none of the general machinery; anything in doubt declines.

A decliner returns ``NotImplemented``, or ``False`` where it would write.
"""

from __future__ import annotations

import builtins
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

from ._bfloat16 import BFLOAT16

_BASIC = frozenset({slice, int, type(None), type(Ellipsis)})
_ARRAYS = frozenset({np.ndarray, list})


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
        or (type(key) is tuple and not _ARRAYS.isdisjoint(map(type, key)))
    ):
        found = x[key]
        # A 0-d integer array makes a copy in NumPy too.
        return np.array(found) if not isinstance(found, np.ndarray) or np.may_share_memory(found, x) else found
    return NotImplemented


def _is_key(x: np.ndarray, key: Any) -> bool:
    # Basic indices, and arrays in memory of their own: NumPy checks all of an index before it writes.
    kind = type(key)
    if kind is tuple:
        return builtins.all(_is_key(x, item) for item in key)
    return kind in _BASIC or (kind is np.ndarray and key.dtype.kind in "bi" and not np.may_share_memory(x, key))


def set_item(x: np.ndarray, key: Any, value: np.ndarray) -> bool:
    """Write a value of the array's dtype to an index."""
    if value.dtype != x.dtype or not x.flags.writeable or not _is_key(x, key):
        return False
    kind = type(key)
    if kind is not slice:
        if kind not in _BASIC and np.may_share_memory(x, value):
            return False
        if value.ndim and builtins.sum(type(item) is int for item in (key if kind is tuple else (key,))) == x.ndim:
            # An element takes a 0-d value only, where NumPy takes any of size one.
            return False
    try:
        x[key] = value
    except (ValueError, IndexError, TypeError):
        # The general path says what is wrong.
        return False
    return True


def set_scalar(x: np.ndarray, key: Any, value: float) -> bool:
    """Write a Python number to an index, where the dtype takes it as it is."""
    kind = x.dtype.kind
    if not (kind in "fc" or (kind in "iu" and type(value) is int)) or not x.flags.writeable or not _is_key(x, key):
        return False
    try:
        x[key] = value
    except (ValueError, IndexError, OverflowError):
        return False
    return True


def _ufunc_of(kernel: Callable[..., Any]) -> Callable[..., Any]:
    # Without ``out=...``, which costs a third of a small call: ``as_native`` makes arrays of scalars.
    return kernel.func if isinstance(kernel, partial) else getattr(kernel, "native", kernel)


def _with_scalar(kernel: Callable[..., Any]) -> Callable[..., Any]:
    ufunc = _ufunc_of(kernel)
    # A Python number is weak beside bfloat16 too, which NumPy's promotion doesn't know.
    return lambda x, value: NotImplemented if x.dtype is BFLOAT16 else ufunc(x, value)


def _reflected(kernel: Callable[..., Any]) -> Callable[..., Any]:
    ufunc = _ufunc_of(kernel)
    return lambda x, value: NotImplemented if x.dtype is BFLOAT16 else ufunc(value, x)


def _into_out(kernel: Callable[..., Any]) -> Callable[..., Any]:
    ufunc = _ufunc_of(kernel)
    if not isinstance(ufunc, np.ufunc):
        return lambda x1, x2, target: False

    def fast(x1: np.ndarray, x2: Any, target: Any) -> bool:
        out = target._native
        # The ufunc itself refuses read-only arrays and casts, and copies what overlaps; only it would broadcast to out.
        if x1.shape != out.shape or (x1.dtype is BFLOAT16 and type(x2) is not np.ndarray):
            return False
        return ufunc(x1, x2, out=out) is out

    if ufunc is np.pow:
        # Of integers it can fail when it has written already.
        return lambda x1, x2, target: x1.dtype.kind in "fc" and fast(x1, x2, target)
    return fast


FORMS = {"": _ufunc_of, "scalar": _with_scalar, "reflected": _reflected, "out": _into_out}

# The codes of the dtypes that sums keep: a code is found faster than a dtype.
_KEEPS = frozenset("lLqQfdFD") - (frozenset("lL") if np.dtype("l").itemsize < 8 else frozenset())


def _total(ufunc: np.ufunc) -> Callable[..., Any]:
    reduce = ufunc.reduce

    def fast(x: np.ndarray, axis: Any, dtype: Any, keepdims: Any) -> Any:
        if dtype is None and x.dtype.char in _KEEPS and (axis is None or (type(axis) is int and x.ndim)):
            return reduce(x, axis, None, out=..., keepdims=keepdims) if keepdims else reduce(x, axis, out=...)
        return NotImplemented

    return fast


def _extremum(ufunc: np.ufunc) -> Callable[..., Any]:
    reduce = ufunc.reduce

    def fast(x: np.ndarray, axis: Any, keepdims: Any) -> Any:
        if axis is None or (type(axis) is int and x.ndim):
            return reduce(x, axis, None, out=..., keepdims=keepdims) if keepdims else reduce(x, axis, out=...)
        return NotImplemented

    return fast


sum = _total(np.add)
prod = _total(np.multiply)
max = _extremum(np.maximum)
min = _extremum(np.minimum)
all = _extremum(np.logical_and)
any = _extremum(np.logical_or)


def mean(x: np.ndarray, axis: Any, keepdims: Any) -> Any:
    if x.size and x.dtype.char in "fd" and (axis is None or (type(axis) is int and x.ndim)):
        return x.mean(axis, keepdims=keepdims)
    return NotImplemented


def matmul(x1: np.ndarray, x2: np.ndarray) -> Any:
    if x1.dtype == x2.dtype != BFLOAT16 and x1.ndim == x2.ndim == 2 and x1.shape[1] == x2.shape[0]:
        return np.matmul(x1, x2)
    return NotImplemented


PATHS: dict[str, Callable[..., Any]] = {
    path.__name__: path for path in (get_item, get_copy, set_item, set_scalar, mean, matmul)
} | {"sum": sum, "prod": prod, "max": max, "min": min, "all": all, "any": any}
