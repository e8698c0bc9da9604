"""Splitting, repeating, inserting and deleting."""

from __future__ import annotations

import operator
from itertools import pairwise
from typing import Any

import numpy as np

from .. import functions as ua
from .._core.arrays import convert
from .._core.arrays.array import Array
from .._core.engines import dtypes
from .._core.values.shapes import as_axes, as_axis, as_shape
from ..errors import ShapeError
from ._creation import on_host
from ._following import as_array, follows, together


@follows(np.array_split)
def array_split(ary: Any, indices_or_sections: Any, axis: Any = 0) -> list[Array]:
    """Return the parts of an array, as views: so many of nearly equal lengths, or those between positions."""
    x = as_array(ary)
    axis = as_axis(axis, x.ndim)
    length = x.shape[axis]
    sections = _sections(indices_or_sections)
    if isinstance(sections, int):
        if sections <= 0:
            raise ValueError(f"there is at least one section, not {sections}")
        each, more = divmod(length, sections)
        ends = [place * each + min(place, more) for place in range(sections + 1)]
    else:
        ends = [0, *sections, length]
    before = (slice(None),) * axis
    return [x[(*before, slice(begin, end))] for begin, end in pairwise(ends)]


def _sections(given: Any) -> int | list[int]:
    if not isinstance(given, (list, tuple, Array, np.ndarray)):
        return operator.index(given)
    host = on_host(given if isinstance(given, Array) else np.asarray(given), "split()")
    return [operator.index(each) for each in host] if host.ndim else operator.index(host[()])


@follows(np.split)
def split(ary: Any, indices_or_sections: Any, axis: Any = 0) -> list[Array]:
    """Return the parts of an array, as views: so many of equal lengths, or those between positions.

    >>> import unifyarr.numpy as np
    >>> np.split(np.arange(6), [1, 4])
    [array([0]), array([1, 2, 3]), array([4, 5])]
    """
    x = as_array(ary)
    sections = _sections(indices_or_sections)
    if sections == 0:
        raise ZeroDivisionError("there is at least one section, not 0")
    if isinstance(sections, int) and (length := x.shape[as_axis(axis, x.ndim)]) % sections:
        raise ShapeError(
            f"an axis of length {length} isn't split into {sections} equal parts: array_split() makes others"
        )
    return array_split(x, sections, axis)


def _split_along(x: Array, sections: Any, axis: int, name: str) -> list[Array]:
    if x.ndim <= axis:
        raise ShapeError(f"{name}() takes an array of more than {axis} dimensions, not one of shape {x.shape}")
    return split(x, sections, axis)


@follows(np.hsplit)
def hsplit(ary: Any, indices_or_sections: Any) -> list[Array]:
    """Return the parts of an array along its second axis, of a vector along its only one."""
    x = as_array(ary)
    if x.ndim == 0:
        raise ShapeError("hsplit() takes an array of at least one dimension, not a 0-d one")
    return split(x, indices_or_sections, 1 if x.ndim > 1 else 0)


@follows(np.vsplit)
def vsplit(ary: Any, indices_or_sections: Any) -> list[Array]:
    """Return the parts of an array of two dimensions or more along its first axis."""
    x = as_array(ary)
    if x.ndim < 2:
        raise ShapeError(f"vsplit() takes an array of at least two dimensions, not one of shape {x.shape}")
    return split(x, indices_or_sections, 0)


@follows(np.dsplit)
def dsplit(ary: Any, indices_or_sections: Any) -> list[Array]:
    """Return the parts of an array of three dimensions or more along its third axis."""
    return _split_along(as_array(ary), indices_or_sections, 2, "dsplit")


@follows(np.unstack)
def unstack(x: Any, /, *, axis: Any = 0) -> tuple[Array, ...]:
    """Return the parts of an array along an axis, without that axis."""
    return ua.unstack(as_array(x), axis=axis)


# -- repeating ------------------------------------------------------------------------------------------------------


@follows(np.tile)
def tile(A: Any, reps: Any) -> Array:  # noqa: N803
    """Return an array repeated as a whole, so often along each axis."""
    return ua.tile(A, as_shape(reps))


@follows(np.repeat)
def repeat(a: Any, repeats: Any, axis: Any = None) -> Array:
    """Return an array whose elements are repeated, each so often: along an axis, or of the elements as a vector."""
    x = as_array(a)
    if not isinstance(repeats, int):
        counts = as_array(repeats)
        if counts.size == 0 and not isinstance(repeats, (Array, np.ndarray)):
            counts = counts.astype(dtypes.int64)
        if counts.dtype.kind not in "biu":
            raise TypeError(f"repeats are integers, not {counts.dtype}")
        repeats = counts.astype(dtypes.int64) if counts.dtype.kind == "b" else counts
        if counts.ndim == 0 or counts.shape == (1,):
            repeats = int(counts if counts.ndim == 0 else counts[0])
    return ua.repeat(x, repeats, axis=axis)


@follows(np.resize)
def resize(a: Any, new_shape: Any) -> Array:
    """Return an array of a shape, filled with the elements of another, again from the first when they end.

    >>> import unifyarr.numpy as np
    >>> np.resize([1, 2, 3], (2, 2))
    array([[1, 2],
           [3, 1]])
    """
    x = as_array(a)
    shape = as_shape(new_shape)
    return ua.reshape(cycled(x, int(np.prod(shape, dtype=object))), shape)


def cycled(x: Array, count: int) -> Array:
    """Return so many elements of an array as a vector, again from the first when they end; zeros if it has none."""
    flat = ua.reshape(x, (-1,))
    if flat.shape[0] == count:
        return flat.copy()
    if not flat.shape[0]:
        return ua.zeros(count, dtype=x.dtype, device=x.device, backend=x.backend)
    return flat[np.arange(count) % flat.shape[0]]


# -- inserting and deleting -----------------------------------------------------------------------------------------


def _along(arr: Any, axis: Any) -> tuple[Array, int]:
    x = as_array(arr)
    if axis is None:
        x = x if x.ndim == 1 else ua.reshape(x, (-1,))
        return x, 0
    return x, as_axis(axis, x.ndim)


def _places(obj: Any, length: int, what: str) -> tuple[np.ndarray, bool]:
    # The positions that a slice, an integer or a list means, and whether that is one.
    if isinstance(obj, slice):
        return np.arange(*obj.indices(length)), False
    given = on_host(obj, what)
    if given.dtype == bool:
        if given.ndim != 1:
            raise ValueError(f"a mask of positions has one axis, not the shape {given.shape}")
        return given, False
    if given.size == 0 and not isinstance(obj, (np.ndarray, Array)):
        given = given.astype(np.int64)
    if given.dtype.kind not in "iu":
        raise IndexError(f"positions are integers, not {given.dtype}")
    outside = given[(given < -length) | (given > length)]
    if outside.size:
        raise IndexError(f"index {outside.flat[0]} is out of bounds for an axis of length {length}")
    return np.where(given < 0, given + length, given).astype(np.int64), given.ndim == 0


@follows(np.insert)
def insert(arr: Any, obj: Any, values: Any, axis: Any = None) -> Array:
    """Return an array with values inserted before positions.

    >>> import unifyarr.numpy as np
    >>> np.insert([1, 2, 3], 1, [8, 9])
    array([1, 8, 9, 2, 3])
    """
    x, axis = _along(arr, axis)
    length = x.shape[axis]
    places, is_one = _places(obj, length, "insert()")
    if places.dtype == bool:
        places = np.flatnonzero(places)
    if places.ndim > 1:
        raise ValueError(f"positions stand in one axis, not in the shape {places.shape}")
    added = convert.as_array_beside(values, x).astype(x.dtype, copy=False)
    if places.size == 1:
        # As many as there are, all before one position.
        added = ua.reshape(added, (1,) * (x.ndim - added.ndim) + added.shape)
        added = ua.moveaxis(added, 0, axis) if is_one else added
        places = np.repeat(places.reshape(-1), added.shape[axis])
    count = len(places)
    added = ua.broadcast_to(added, (*x.shape[:axis], count, *x.shape[axis + 1 :]))
    order = np.argsort(places, kind="stable")
    targets = np.empty(count, np.int64)
    targets[order] = places[order] + np.arange(count)
    sources = np.empty(length + count, np.int64)
    old = np.ones(length + count, bool)
    old[targets] = False
    sources[targets], sources[old] = length + np.arange(count), np.arange(length)
    return ua.concat([x, added], axis=axis)[(slice(None),) * axis + (sources,)]


@follows(np.delete)
def delete(arr: Any, obj: Any, axis: Any = None) -> Array:
    """Return an array without the elements at positions, which may be a mask.

    >>> import unifyarr.numpy as np
    >>> np.delete([1, 2, 3], 1)
    array([1, 3])
    """
    x, axis = _along(arr, axis)
    length = x.shape[axis]
    places, _ = _places(obj, length, "delete()")
    kept = np.ones(length, bool)
    if places.dtype == bool:
        if places.shape != (length,):
            raise ValueError(f"a mask for an axis of length {length} is as long, unlike {places.shape[0]}")
        kept = ~places
    else:
        if (places == length).any():
            raise IndexError(f"index {length} is out of bounds for an axis of length {length}")
        kept[places.reshape(-1)] = False
    return x[(slice(None),) * axis + (np.flatnonzero(kept),)]


@follows(np.append)
def append(arr: Any, values: Any, axis: Any = None) -> Array:
    """Return an array with values joined to its end: along an axis, or of the elements of both."""
    first, second = together(arr, values)
    return ua.concat([first, second], axis=None if axis is None else as_axis(axis, first.ndim))


@follows(np.trim_zeros)
def trim_zeros(filt: Any, trim: Any = "fb", axis: Any = None) -> Array:
    """Return a view without the zeros at the front and at the back, of all axes or of some.

    >>> import unifyarr.numpy as np
    >>> np.trim_zeros([0, 1, 0, 2, 0])
    array([1, 0, 2])
    """
    x = as_array(filt)
    trim = trim.lower() if isinstance(trim, str) else trim
    if not isinstance(trim, str) or trim not in ("fb", "bf", "f", "b"):
        raise ValueError(f"trim holds 'f' for the front and 'b' for the back, unlike {trim!r}")
    key = [slice(None)] * x.ndim
    for along in as_axes(axis, x.ndim):
        others = tuple(each for each in range(x.ndim) if each != along)
        (found,) = ua.nonzero(ua.any(x != 0, axis=others))
        if not found.shape[0]:
            key[along] = slice(0, 0)
            continue
        key[along] = slice(int(found[0]) if "f" in trim else None, int(found[-1]) + 1 if "b" in trim else None)
    return x[tuple(key)]
