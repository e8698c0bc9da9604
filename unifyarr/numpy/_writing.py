"""Writing by indices, in place."""

from __future__ import annotations

from typing import Any

import numpy as np

from .. import functions as ua
from .._core.arrays import convert
from .._core.arrays.array import Array
from .._core.arrays.weak import kind_of
from .._core.engines import dtypes
from .._core.values.shapes import broadcast
from .._core.writing.inplace import as_target
from ..errors import CastingError, ShapeError
from ._creation import is_known
from ._following import follows
from ._indexing import as_bool, as_positions, indices_along, key_along, within
from ._splitting import cycled


def _writable(x: Any, name: str) -> Array:
    if isinstance(x, (list, tuple, int, float, complex)):
        raise TypeError(f"{name}() writes to an array, not to {type(x).__name__}")
    return as_target(x, name)


def _flat_key(target: Array, places: Array | np.ndarray) -> Any:
    # Indices into an array for positions in the flattened array.
    if target.ndim == 1:
        return places
    key = []
    for length in reversed(target.shape):
        key.append(places % length)
        places = places // length
    return tuple(reversed(key))


@follows(np.put)
def put(a: Any, ind: Any, v: Any, mode: str = "raise") -> None:
    """Write values, again from the first when they end, to positions in an array as a vector.

    >>> import unifyarr.numpy as np
    >>> x = np.zeros((2, 2))
    >>> np.put(x, [0, 3], [1, 2])
    >>> x
    array([[1., 0.],
           [0., 2.]])
    """
    target = _writable(a, "put")
    places = ua.reshape(as_positions(ind, target._backend), (-1,)).astype(dtypes.int64)
    count = target.size
    values = convert.as_array(v, target._backend).astype(target.dtype, copy=False)
    if not places.size or not values.size:
        return
    places = within(places, count, mode)
    if mode == "raise":
        if is_known(places) and bool(ua.any((places < -count) | (places >= count))):
            raise IndexError(f"an index is out of bounds for an array of {count} elements")
        places = ua.where(places < 0, places + count, places)
    if target.ndim == 0:
        target[()] = cycled(values, places.size)[-1]
    else:
        target[_flat_key(target, places)] = cycled(values, places.size)


@follows(np.put_along_axis)
def put_along_axis(arr: Any, indices: Any, values: Any, axis: Any) -> None:
    """Write values to the elements at indices along an axis, each to its own row."""
    target = _writable(arr, "put_along_axis")
    if axis is None:
        _, places, _ = indices_along(target, indices, None)
        if target.ndim == 1:
            target[places] = cast_to(values, target)
            return
        places = ua.where(places < 0, places + target.size, places)
        target[_flat_key(target, places)] = cast_to(values, target)
        return
    x, places, axis = indices_along(target, indices, axis)
    target[key_along(x, places, axis)] = cast_to(values, target)


def cast_to(values: Any, target: Array) -> Any:
    """Return values as a write takes them that casts to the dtype of the target whatever they are."""
    if kind_of(values) in dtypes.SCALARS and dtypes.can_cast(kind_of(values), target.dtype):
        return values
    return convert.as_array(values, target._backend).astype(target.dtype, copy=False)


@follows(np.place)
def place(arr: Any, mask: Any, vals: Any) -> None:
    """Write values one after the other to the places where a mask is true, again from the first when they end.

    >>> import unifyarr.numpy as np
    >>> x = np.arange(5)
    >>> np.place(x, x > 1, [10, 20])
    >>> x
    array([ 0,  1, 10, 20, 10])
    """
    target = _writable(arr, "place")
    test = as_bool(convert.as_array(mask, target._backend))
    if test.size != target.size:
        raise ValueError(f"the mask has as many elements as the array, {target.size}, and not {test.size}")
    values = ua.reshape(convert.as_array(vals, target._backend), (-1,)).astype(target.dtype)
    if not values.size:
        if bool(ua.any(test)):
            raise ValueError("there are no values to write")
        return
    if not target.size:
        return
    test = ua.reshape(test, (-1,))
    order = ua.maximum(ua.cumulative_sum(test.astype(dtypes.int64), axis=0) - 1, 0) % values.shape[0]
    shape = target.shape
    target[...] = ua.where(ua.reshape(test, shape), ua.reshape(ua.take(values, order, axis=0), shape), target)


@follows(np.putmask)
def putmask(a: Any, /, mask: Any, values: Any) -> None:
    """Write values to the places where a mask is true: each place has its own, again from the first when they end."""
    target = _writable(a, "putmask")
    test = as_bool(convert.as_array(mask, target._backend))
    if test.size != target.size:
        raise ValueError(f"the mask has as many elements as the array, {target.size}, and not {test.size}")
    given = cast_to(values, target)
    if isinstance(given, Array):
        if not given.size:
            return
        given = ua.reshape(cycled(given, target.size), target.shape) if given.ndim else given
    target[...] = ua.where(ua.reshape(test, target.shape), given, target)


@follows(np.copyto)
def copyto(dst: Any, src: Any, casting: str = "same_kind", where: Any = True) -> None:
    """Write an array that broadcasts to another one, where a mask is true.

    >>> import unifyarr.numpy as np
    >>> x = np.zeros(3)
    >>> np.copyto(x, [1, 2, 3], where=[True, False, True])
    >>> x
    array([1., 0., 3.])
    """
    target = _writable(dst, "copyto")
    values = convert.as_array(src, target._backend)
    weak = kind_of(src) if kind_of(src) in dtypes.SCALARS else None
    if not _may_copy(weak, values, target.dtype, casting):
        raise CastingError(
            f"{weak.__name__ if weak else values.dtype} can't be cast to {target.dtype} under {casting!r}"
        )
    if weak is not None and not dtypes.can_cast(weak, target.dtype):
        values = values.astype(target.dtype)
    elif weak is not None:
        values = convert.scalar_array(src, target.dtype, target._backend, convert.device_of([target], target._backend))
    values = values.astype(target.dtype, copy=False)
    if where is True:
        target[...] = values
        return
    test = convert.as_array(where, target._backend)
    if test.dtype is not dtypes.bool and not isinstance(where, (Array, np.ndarray)):
        test = as_bool(test)
    if test.dtype is not dtypes.bool:
        raise TypeError(f"where= is of bools, not of {test.dtype}")
    if broadcast(test.shape, values.shape, target.shape) != target.shape:
        raise ShapeError(
            f"where= of shape {test.shape} and the values of {values.shape} don't broadcast to {target.shape}"
        )
    target[...] = ua.where(test, values, target)


def _may_copy(weak: type | None, values: Array, to: dtypes.DType, casting: str) -> bool:
    if casting not in ("no", "equiv", "safe", "same_kind", "unsafe"):
        raise ValueError(f"casting is one of no, equiv, safe, same_kind and unsafe, not {casting!r}")
    if casting == "unsafe":
        return True
    if weak is not None:
        return dtypes.can_cast(weak, to)
    if casting == "same_kind":
        return dtypes.can_cast(values.dtype, to)
    return values.dtype is to or bool(np.can_cast(values.dtype.dtype, to.dtype, casting))  # type: ignore[arg-type]


@follows(np.fill_diagonal)
def fill_diagonal(a: Any, val: Any, wrap: bool = False) -> None:
    """Write values to the main diagonal; with ``wrap``, of a tall matrix to another one after it.

    >>> import unifyarr.numpy as np
    >>> x = np.zeros((2, 2), int)
    >>> np.fill_diagonal(x, 5)
    >>> x
    array([[5, 0],
           [0, 5]])
    """
    target = _writable(a, "fill_diagonal")
    if target.ndim < 2:
        raise ValueError(f"fill_diagonal() takes an array of at least two dimensions, not one of shape {target.shape}")
    if target.ndim > 2 and len(set(target.shape)) > 1:
        raise ValueError(f"more than two axes are equally long, unlike those of shape {target.shape}")
    if 0 in target.shape:
        return
    if target.ndim == 2:
        rows, columns = target.shape
        end = None if wrap else columns * columns
        flat = np.arange(rows * columns)[: end : columns + 1]
        key: Any = flat // columns, flat % columns
    else:
        key = (np.arange(target.shape[0]),) * target.ndim
    values = cast_to(val, target)
    if isinstance(values, Array) and values.size == 0:
        raise ValueError("there are no values to write")
    target[key] = cycled(values, len(key[0])) if isinstance(values, Array) and values.ndim else values
