"""Reading and writing by indices."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np

from .. import functions as ua
from .. import linalg
from .._core.arrays import convert
from .._core.arrays.array import Array
from .._core.arrays.weak import kind_of
from .._core.engines import dtypes
from .._core.values.arguments import MOST_AXES
from .._core.values.shapes import as_axis, broadcast
from ..errors import AxisError, ShapeError
from ._following import as_array, deliver, follows, together

_MODES = ("raise", "wrap", "clip")


def as_bool(x: Array) -> Array:
    """Return an array as bools: elements other than zero are true."""
    return x if x.dtype is dtypes.bool else x.astype(dtypes.bool)


def as_positions(x: Any, backend: Any) -> Array:
    """Return integers that index, as an array; an empty list counts as integers."""
    array = convert.as_array(x, backend)
    if array.size == 0 and not isinstance(x, (Array, np.ndarray)):
        return array.astype(dtypes.int64)
    if array.dtype.kind not in "biu":
        raise TypeError(f"indices are integers, not {array.dtype}: cast them first, with astype()")
    return array.astype(dtypes.int64) if array.dtype.kind == "b" else array


def promoted(given: Iterable[Any], arrays: list[Array]) -> dtypes.DType:
    """Return the dtype that arrays promote to, where those of Python numbers are weak."""
    kinds = (
        kind_of(each) if kind_of(each) in dtypes.SCALARS else x.dtype for each, x in zip(given, arrays, strict=True)
    )
    return dtypes.promote(*kinds)


def _check_mode(mode: str) -> None:
    if mode not in _MODES:
        raise ValueError(f"mode is one of {', '.join(_MODES)}, not {mode!r}")


def within(indices: Array, length: int, mode: str) -> Array:
    # Indices out of bounds, wrapped or clipped; with "raise" unchanged.
    _check_mode(mode)
    if mode == "raise":
        return indices
    if length == 0 and indices.size:
        raise IndexError("no index is within an axis of length 0")
    return ua.remainder(indices, length) if mode == "wrap" else ua.clip(indices, 0, length - 1)


@follows(np.take)
def take(a: Any, indices: Any, axis: Any = None, out: Any = None, mode: str = "raise") -> Array:
    """Return the elements, or the parts along an axis, at indices.

    >>> import unifyarr.numpy as np
    >>> np.take([10, 20, 30], [[0, 2], [1, 3]], mode="wrap")
    array([[10, 30],
           [20, 10]])
    """
    if out is None and mode == "raise" and axis is not None and isinstance(a, Array) and isinstance(indices, Array):
        return ua.take(a, indices, axis=axis)
    x = together(a, indices)[0] if isinstance(indices, Array) else as_array(a)
    places = as_positions(indices, x._backend)
    if axis is None:
        x, axis = ua.reshape(x, (-1,)), 0
    axis = as_axis(axis, x.ndim)
    places = within(places, x.shape[axis], mode)
    found = ua.take(x, places, axis=axis)
    return found if out is None else deliver(found, out, casting="unsafe" if mode != "raise" else "same_kind")


def indices_along(arr: Any, indices: Any, axis: Any) -> tuple[Array, Array, int]:
    x = as_array(arr)
    places = convert.as_array(indices, x._backend)
    if places.dtype.kind not in "iu":
        raise IndexError(f"indices are integers, not {places.dtype}")
    if axis is None:
        if places.ndim != 1:
            raise ValueError(f"without an axis the indices are a vector, not of shape {places.shape}")
        return ua.reshape(x, (-1,)), places, 0
    if places.ndim != x.ndim:
        raise ValueError(f"indices have as many axes as the array, {x.ndim}, and not {places.ndim}")
    return x, places, as_axis(axis, x.ndim)


def key_along(x: Array, places: Array, axis: int) -> tuple[Any, ...]:
    # Positions along the other axes, which broadcast with the indices.
    key: list[Any] = []
    for each, length in enumerate(x.shape):
        shape = tuple(-1 if other == each else 1 for other in range(x.ndim))
        key.append(places if each == axis else np.arange(length).reshape(shape))
    return tuple(key)


@follows(np.take_along_axis)
def take_along_axis(arr: Any, indices: Any, axis: Any = -1) -> Array:
    """Return the elements at indices along an axis, each from its own row."""
    x, places, axis = indices_along(arr, indices, axis)
    try:
        if all(m == n for each, (m, n) in enumerate(zip(x.shape, places.shape, strict=True)) if each != axis):
            return ua.take_along_axis(x, places, axis=axis)
        return x[key_along(x, places, axis)]
    except ShapeError as error:
        raise IndexError(f"indices of shape {places.shape} don't broadcast to the shape {x.shape}: {error}") from None


@follows(np.nonzero)
def nonzero(a: Any) -> tuple[Array, ...]:
    """Return the positions of nonzero elements, one vector for each axis."""
    return ua.nonzero(a)


@follows(np.flatnonzero)
def flatnonzero(a: Any) -> Array:
    """Return the positions of nonzero elements in the flattened array."""
    return ua.flatnonzero(a)


@follows(np.argwhere)
def argwhere(a: Any) -> Array:
    """Return the positions of nonzero elements, one row for each."""
    return ua.argwhere(a)


@follows(np.where)
def where(condition: Any, x: Any = None, y: Any = None, /) -> Any:
    """Return elements of ``x`` where a condition holds, else of ``y``; without both, the positions where it holds.

    A Python integer that the other's dtype can't hold raises ``OverflowError``, as with NumPy 2.5 and later.

    >>> import unifyarr.numpy as np
    >>> np.where([True, False], 1, [10, 20])
    array([ 1, 20])
    """
    if x is None and y is None:
        return ua.nonzero(condition)
    if x is None or y is None:
        raise ValueError("where() takes both x and y, or neither")
    if not (isinstance(condition, Array) and condition.dtype is dtypes.bool):
        condition = as_bool(together(condition, *(each for each in (x, y) if isinstance(each, Array)))[0])
    return ua.where(condition, x, y)


@follows(np.compress)
def compress(condition: Any, a: Any, axis: Any = None, out: Any = None) -> Array:
    """Return the parts along an axis for which a vector of bools, which may be shorter, is true."""
    x, test = together(a, condition)
    if test.ndim != 1:
        raise ValueError(f"the condition is a vector, not of shape {test.shape}")
    if axis is None:
        x, axis = ua.reshape(x, (-1,)), 0
    (places,) = ua.nonzero(test)
    found = ua.take(x, places, axis=as_axis(axis, x.ndim))
    return found if out is None else deliver(found, out)


@follows(np.extract)
def extract(condition: Any, arr: Any) -> Array:
    """Return the elements where a condition holds, as a vector."""
    x, test = together(arr, condition)
    (places,) = ua.nonzero(ua.reshape(test, (-1,)))
    return ua.take(ua.reshape(x, (-1,)), places, axis=0)


@follows(np.choose)
def choose(a: Any, choices: Any, out: Any = None, mode: str = "raise") -> Array:
    """Return at each place the element of the array of that number.

    >>> import unifyarr.numpy as np
    >>> np.choose([1, 0], [[1, 2], [10, 20]])
    array([10,  2])
    """
    numbers, *arrays = together(a, *choices)
    if not 0 < len(arrays) < MOST_AXES:
        raise ValueError(f"choose() chooses from 1 to {MOST_AXES - 1} arrays, not from {len(arrays)}")
    dtype = promoted(choices, arrays)
    numbers = within(as_positions(numbers, numbers._backend), len(arrays), mode)
    shape = broadcast(numbers.shape, *(x.shape for x in arrays), name="choose")
    if mode == "raise":
        # Negative ones count from the end elsewhere, and are out of bounds here.
        numbers = ua.where(numbers < 0, len(arrays), numbers.astype(dtypes.int64))
    stacked = ua.stack([ua.broadcast_to(x.astype(dtype, copy=False), shape) for x in arrays])
    try:
        found = ua.take_along_axis(stacked, ua.broadcast_to(numbers, shape)[None], axis=0)[0, ...]
    except IndexError:
        raise ValueError(f"choose() takes numbers of {len(arrays)} arrays, and one is none of them") from None
    return found if out is None else deliver(found, out)


@follows(np.select)
def select(condlist: Any, choicelist: Any, default: Any = 0) -> Array:
    """Return at each place the element of the array whose condition holds first, else the default.

    >>> import unifyarr.numpy as np
    >>> x = np.arange(5)
    >>> np.select([x < 2, x > 3], [x, 10 * x], -1)
    array([ 0,  1, -1, -1, 40])
    """
    if len(condlist) != len(choicelist):
        raise ValueError(f"there are {len(condlist)} conditions, and {len(choicelist)} arrays to choose from")
    if not len(condlist):
        raise ValueError("select() needs a condition at least")
    values = [*choicelist, default]
    arrays = together(*condlist, *values)
    tests, choices = arrays[: len(condlist)], arrays[len(condlist) :]
    for number, test in enumerate(tests):
        if test.dtype is not dtypes.bool:
            raise TypeError(f"condition {number} is of bools, not of {test.dtype}")
    dtype = promoted(values, choices)
    *choices, result = (x.astype(dtype) for x in choices)
    for test, choice in zip(reversed(tests), reversed(choices), strict=True):
        result = ua.where(test, choice, result)
    # The default alone may have decided on the shape.
    shape = broadcast(*(x.shape for x in (*tests, *choices)), result.shape)
    return result if result.shape == shape else ua.broadcast_to(result, shape).copy()


@follows(np.diagonal)
def diagonal(a: Any, offset: Any = 0, axis1: Any = 0, axis2: Any = 1) -> Array:
    """Return the diagonals of the matrices along two axes, as a read-only view; the last axis runs along them."""
    x = as_array(a)
    if x.ndim < 2:
        raise ShapeError(f"diagonal() takes an array of at least two dimensions, not one of shape {x.shape}")
    first, second = as_axis(axis1, x.ndim), as_axis(axis2, x.ndim)
    if first == second:
        raise AxisError(f"axis1 and axis2 differ, and both are {first}")
    if (first, second) != (x.ndim - 2, x.ndim - 1):
        x = ua.moveaxis(x, (first, second), (-2, -1))
    return linalg.diagonal(x, offset=offset)
