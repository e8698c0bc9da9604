"""Joining, splitting, inserting and repeating."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from .. import functions as ua
from .._core.arrays.array import Array
from .._core.engines import dtypes
from ..errors import AxisError, CastingError, ShapeError
from ._following import deliver, follows, together
from ._manipulation import atleast_3d

_LISTS = frozenset((list, tuple))
_RULES = ("no", "equiv", "safe", "same_kind", "unsafe")


def _listed(arrays: Any, dtype: Any = None, casting: str = "same_kind") -> list[Array]:
    # On one backend, and cast to a dtype if one is passed.
    if not isinstance(arrays, (list, tuple, Array, np.ndarray)):
        raise TypeError(f"arrays are joined from a list or a tuple of them, not from {type(arrays).__name__}")
    if casting not in _RULES:
        raise ValueError(f"casting is one of {', '.join(_RULES)}, not {casting!r}")
    joined = list(arrays) if all(isinstance(x, Array) for x in arrays) else together(*arrays)
    if not joined:
        raise ShapeError("there are no arrays to join: pass one at least")
    if dtype is None:
        return joined
    wanted = dtypes.as_dtype(dtype)
    return [_cast(x, wanted, casting) for x in joined]


def _cast(x: Array, wanted: dtypes.DType, casting: str) -> Array:
    if not np.can_cast(x.dtype.dtype, wanted.dtype, casting):  # type: ignore[arg-type]
        raise CastingError(f"{x.dtype} can't be cast to {wanted} under {casting!r}: cast it first, with astype()")
    return x.astype(wanted, copy=False)


@follows(np.concatenate, np.concat)
def concatenate(
    arrays: Any, /, axis: Any = 0, out: Any = None, *, dtype: Any = None, casting: str = "same_kind"
) -> Array:
    """Return arrays joined along an axis; with ``axis=None`` their elements.

    >>> import unifyarr.numpy as np
    >>> np.concatenate([[1, 2], [3.5]])
    array([1. , 2. , 3.5])
    """
    if out is None and dtype is None and casting == "same_kind" and type(arrays) in _LISTS:
        return ua.concat(arrays, axis=axis)
    return _joined(ua.concat, arrays, axis, out, dtype, casting)


def _joined(function: Callable[..., Array], arrays: Any, axis: Any, out: Any, dtype: Any, casting: str) -> Array:
    if out is not None and dtype is not None:
        raise TypeError("out and dtype aren't taken together: out has a dtype")
    listed = _listed(arrays, dtype, casting)
    if out is None:
        return function(listed, axis=axis)
    if not isinstance(out, Array):
        return deliver(function(listed, axis=axis), out, casting=casting)
    # Each is cast to the dtype of out by itself, so that out decides on it.
    return function([_cast(x, out.dtype, casting) for x in listed], axis=axis, out=out)


@follows(np.stack)
def stack(arrays: Any, axis: Any = 0, out: Any = None, *, dtype: Any = None, casting: str = "same_kind") -> Array:
    """Return arrays of one shape joined along a new axis."""
    if out is None and dtype is None and casting == "same_kind" and type(arrays) in _LISTS:
        return ua.stack(arrays, axis=axis)
    return _joined(ua.stack, arrays, axis, out, dtype, casting)


@follows(np.vstack)
def vstack(tup: Any, *, dtype: Any = None, casting: str = "same_kind") -> Array:
    """Return arrays joined along the first axis; vectors are rows.

    >>> import unifyarr.numpy as np
    >>> np.vstack([[1, 2], [3, 4]])
    array([[1, 2],
           [3, 4]])
    """
    if dtype is None and casting == "same_kind" and type(tup) in _LISTS and tup and type(tup[0]) is Array:
        count = tup[0].ndim
        try:
            if count:
                return ua.concat(tup, axis=0) if count > 1 else ua.stack(tup)
        except ShapeError:
            # Arrays of several shapes, vectors and matrices for example, or invalid arrays.
            pass
    rows = [x if x.ndim > 1 else ua.reshape(x, (1, -1)) for x in _listed(tup, dtype, casting)]
    return ua.concat(rows, axis=0)


def row_stack(tup: Any, *, dtype: Any = None, casting: str = "same_kind") -> Array:
    """Return arrays joined as ``vstack`` joins them."""
    return vstack(tup, dtype=dtype, casting=casting)


# NumPy has the name until 2.4.
if hasattr(np, "row_stack"):
    row_stack = follows(np.row_stack)(row_stack)


@follows(np.hstack)
def hstack(tup: Any, *, dtype: Any = None, casting: str = "same_kind") -> Array:
    """Return arrays joined along the second axis, vectors along their only one.

    >>> import unifyarr.numpy as np
    >>> np.hstack([[1, 2], [3]])
    array([1, 2, 3])
    """
    if dtype is None and casting == "same_kind" and type(tup) in _LISTS and tup and type(tup[0]) is Array:
        try:
            return ua.concat(tup, axis=1 if tup[0].ndim > 1 else 0)
        except (ShapeError, AxisError):
            # Numbers, or invalid arrays.
            pass
    arrays = [x if x.ndim else ua.reshape(x, (1,)) for x in _listed(tup, dtype, casting)]
    return ua.concat(arrays, axis=0 if arrays[0].ndim == 1 else 1)


@follows(np.dstack)
def dstack(tup: Any) -> Array:
    """Return arrays joined along the third axis."""
    return ua.concat([atleast_3d(x) for x in _listed(tup)], axis=2)


@follows(np.column_stack)
def column_stack(tup: Any) -> Array:
    """Return a matrix of columns: vectors, or matrices joined along the second axis.

    >>> import unifyarr.numpy as np
    >>> np.column_stack([[1, 2], [3, 4]])
    array([[1, 3],
           [2, 4]])
    """
    return ua.concat([x if x.ndim >= 2 else ua.reshape(x, (-1, 1)) for x in _listed(tup)], axis=1)


@follows(np.block)
def block(arrays: Any) -> Array:
    """Return an array made of blocks: nested lists of arrays, the innermost joined along the last axis.

    >>> import unifyarr.numpy as np
    >>> np.block([[np.ones((2, 2)), np.zeros((2, 1))], [3, 3, 3]])
    array([[1., 1., 0.],
           [1., 1., 0.],
           [3., 3., 3.]])
    """
    depth = _depth(arrays)
    leaves: list[Any] = []
    tree = _gather(arrays, leaves)
    joined = together(*leaves)
    ndim = max(depth, *(x.ndim for x in joined))
    grown = [ua.reshape(x, (1,) * (ndim - x.ndim) + x.shape) for x in joined]

    def join(part: Any, level: int) -> Array:
        if isinstance(part, int):
            return grown[part]
        return ua.concat([join(each, level + 1) for each in part], axis=ndim - depth + level)

    result = join(tree, 0)
    return result if depth else result.copy()


def _gather(part: Any, leaves: list[Any]) -> Any:
    if isinstance(part, list):
        return [_gather(each, leaves) for each in part]
    leaves.append(part)
    return len(leaves) - 1


def _depth(part: Any, place: str = "arrays") -> int:
    if isinstance(part, tuple):
        raise TypeError(f"{place} is a tuple: block() takes lists, whose depth says how arrays are joined")
    if not isinstance(part, list):
        return 0
    if not part:
        raise ValueError(f"{place} is an empty list: block() needs an array in each")
    depths = {_depth(each, f"{place}[{number}]") for number, each in enumerate(part)}
    if len(depths) > 1:
        raise ValueError(f"lists are nested equally deep in all of {place}, not {sorted(depths)} deep")
    return 1 + depths.pop()
