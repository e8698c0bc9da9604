"""Reading and writing by indices."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np

from .. import functions as ua
from .. import linalg
from .._core.arrays import convert
from .._core.arrays.array import Array
from .._core.engines import dtypes
from .._core.values.arguments import MOST_AXES
from .._core.values.shapes import as_axis, broadcast
from .._core.writing.inplace import as_target
from ..errors import AxisError, CastingError, ShapeError
from ._creation import is_known
from ._following import as_array, deliver, follows, together
from ._joining import cycled

__all__ = [
    "argwhere", "choose", "compress", "copyto", "diagonal", "extract", "fill_diagonal", "flatnonzero", "nonzero",
    "place", "put", "put_along_axis", "putmask", "select", "take", "take_along_axis", "where",
]  # fmt: skip

_MODES = ("raise", "wrap", "clip")


def as_bool(x: Array) -> Array:
    """Return an array as one of bools: what isn't zero is true."""
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
    kinds = (type(each) if type(each) in dtypes.SCALARS else x.dtype for each, x in zip(given, arrays, strict=True))
    return dtypes.promote(*kinds)


def _check_mode(mode: str) -> None:
    if mode not in _MODES:
        raise ValueError(f"mode is one of {', '.join(_MODES)}, not {mode!r}")


def _within(indices: Array, length: int, mode: str) -> Array:
    # What is out of bounds, brought back; with "raise" as it is.
    _check_mode(mode)
    if mode == "raise":
        return indices
    if length == 0 and indices.size:
        raise IndexError("no index is within an axis of length 0")
    return ua.remainder(indices, length) if mode == "wrap" else ua.clip(indices, 0, length - 1)


def _writable(x: Any, name: str) -> Array:
    if isinstance(x, (list, tuple, int, float, complex)):
        raise TypeError(f"{name}() writes to an array, not to {type(x).__name__}")
    return as_target(x, name)


# -- reading --------------------------------------------------------------------------------------------------------


@follows(np.take)
def take(a: Any, indices: Any, axis: Any = None, out: Any = None, mode: str = "raise") -> Array:
    """Return the elements, or the parts along an axis, at indices.

    >>> import unifyarr.numpy as np
    >>> np.take([10, 20, 30], [[0, 2], [1, 3]], mode="wrap")
    array([[10, 30],
           [20, 10]])
    """
    x, _ = together(a, indices) if isinstance(indices, Array) else (as_array(a), None)
    places = as_positions(indices, x._backend)
    if axis is None:
        x, axis = ua.reshape(x, (-1,)), 0
    axis = as_axis(axis, x.ndim)
    places = _within(places, x.shape[axis], mode)
    found = ua.take(x, ua.reshape(places, (-1,)) if places.ndim != 1 else places, axis=axis)
    if places.ndim != 1:
        found = ua.reshape(found, (*x.shape[:axis], *places.shape, *x.shape[axis + 1 :]))
    return found if out is None else deliver(found, out, casting="unsafe" if mode != "raise" else "same_kind")


def _of_axis(arr: Any, indices: Any, axis: Any) -> tuple[Array, Array, int]:
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


def _key_of_axis(x: Array, places: Array, axis: int) -> tuple[Any, ...]:
    # Positions along the other axes, which broadcast with the indices.
    key: list[Any] = []
    for each, length in enumerate(x.shape):
        shape = tuple(-1 if other == each else 1 for other in range(x.ndim))
        key.append(places if each == axis else np.arange(length).reshape(shape))
    return tuple(key)


@follows(np.take_along_axis)
def take_along_axis(arr: Any, indices: Any, axis: Any = -1) -> Array:
    """Return the elements at indices along an axis, each from its own row."""
    x, places, axis = _of_axis(arr, indices, axis)
    try:
        if all(m == n for each, (m, n) in enumerate(zip(x.shape, places.shape, strict=True)) if each != axis):
            return ua.take_along_axis(x, places, axis=axis)
        return x[_key_of_axis(x, places, axis)]
    except ShapeError as error:
        raise IndexError(f"indices of shape {places.shape} don't broadcast to the shape {x.shape}: {error}") from None


@follows(np.nonzero)
def nonzero(a: Any) -> tuple[Array, ...]:
    """Return the positions of what isn't zero, one vector for each axis."""
    return ua.nonzero(a)


@follows(np.flatnonzero)
def flatnonzero(a: Any) -> Array:
    """Return the positions of what isn't zero, in the array as a vector."""
    return ua.flatnonzero(a)


@follows(np.argwhere)
def argwhere(a: Any) -> Array:
    """Return the positions of what isn't zero, one row for each."""
    return ua.argwhere(a)


@follows(np.where)
def where(condition: Any, x: Any = None, y: Any = None, /) -> Any:
    """Return elements of ``x`` where a condition holds, else of ``y``; without both, the positions where it holds.

    >>> import unifyarr.numpy as np
    >>> np.where([True, False], 1, [10, 20])
    array([ 1, 20])
    """
    if x is None and y is None:
        return ua.nonzero(condition)
    if x is None or y is None:
        raise ValueError("where() takes both x and y, or neither")
    if isinstance(condition, Array) and condition.dtype is dtypes.bool:
        return ua.where(condition, x, y)
    test = together(condition, *(each for each in (x, y) if isinstance(each, Array)))[0]
    return ua.where(as_bool(test), x, y)


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
    numbers = _within(as_positions(numbers, numbers._backend), len(arrays), mode)
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


# -- writing --------------------------------------------------------------------------------------------------------


def _flat_key(target: Array, places: Array | np.ndarray) -> Any:
    # What indexes an array by positions in it as a vector.
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
    places = _within(places, count, mode)
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
        _, places, _ = _of_axis(target, indices, None)
        if target.ndim == 1:
            target[places] = cast_to(values, target)
            return
        places = ua.where(places < 0, places + target.size, places)
        target[_flat_key(target, places)] = cast_to(values, target)
        return
    x, places, axis = _of_axis(target, indices, axis)
    target[_key_of_axis(x, places, axis)] = cast_to(values, target)


def cast_to(values: Any, target: Array) -> Any:
    """Return values as a write takes them that casts to the dtype of the target whatever they are."""
    if type(values) in dtypes.SCALARS and dtypes.can_cast(type(values), target.dtype):
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
    weak = type(src) if type(src) in dtypes.SCALARS else None
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
