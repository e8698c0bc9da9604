"""Windows that slide over an array: NumPy's ``lib.stride_tricks``.

Elements that overlap are one in NumPy's memory, which most engines can't have. Here they are read-only arrays of the
same values, so that a write, which would be seen elsewhere in NumPy, raises.
"""

from __future__ import annotations

import operator
from typing import Any

import numpy as np

from ... import functions as ua
from ..._core.arrays.array import Array
from ..._core.arrays.recipes import geometry
from ..._core.engines.tracing import current
from ..._core.values.shapes import as_shape, c_strides
from ...typing import Shape
from .._following import as_array, follows
from .._strides import memory_of, strided
from .array_utils import normalize_axis_tuple

__all__ = ["as_strided", "sliding_window_view"]


def _read_only(x: Array) -> Array:
    return ua.broadcast_to(x, x.shape)


@follows(np.lib.stride_tricks.sliding_window_view)
def sliding_window_view(
    x: Any, window_shape: Any, axis: Any = None, *, subok: bool = False, writeable: bool = False
) -> Array:
    """Return all windows of a shape, along axes: one more axis for each stands at the end, along the window.

    >>> from unifyarr.numpy.lib.stride_tricks import sliding_window_view
    >>> sliding_window_view([1, 2, 3, 4], 3)
    array([[1, 2, 3],
           [2, 3, 4]])
    """
    if writeable:
        raise ValueError("windows overlap, and can't be written here: write to the array itself")
    lengths = tuple(map(operator.index, window_shape)) if np.iterable(window_shape) else (operator.index(window_shape),)
    array = as_array(x)
    if any(length < 0 for length in lengths):
        raise ValueError(f"a window has no negative lengths, unlike {lengths}")
    axes = tuple(range(array.ndim)) if axis is None else normalize_axis_tuple(axis, array.ndim, allow_duplicate=True)
    if len(axes) != len(lengths):
        raise ValueError(f"the window has {len(lengths)} lengths, for {len(axes)} axes: give as many of both")
    result = array
    for along, length in zip(axes, lengths, strict=True):
        count = result.shape[along] - length + 1
        if count < 1:
            raise ValueError(
                f"a window of length {length} is longer than axis {along}, of length {result.shape[along]}"
            )
        places = np.arange(count)[:, None] + np.arange(length)
        result = ua.moveaxis(result[(*(slice(None),) * along, places)], along + 1, -1)
    return _read_only(result)


@follows(np.lib.stride_tricks.as_strided)
def as_strided(x: Any, shape: Any = None, strides: Any = None, subok: bool = False, writeable: bool = True) -> Array:
    """Return the elements a shape and strides in bytes lead to from the first of ``x``, in the memory ``x`` lies in.

    It's a view, which may be written, where slices, transposes and new axes of a reshaped array can express it: no
    two elements are one, and each stride is a multiple of the next smaller one. Otherwise it's read-only.

    >>> import unifyarr.numpy as np
    >>> from unifyarr.numpy.lib.stride_tricks import as_strided
    >>> as_strided(np.arange(4), (3, 2), (8, 8))
    array([[0, 1],
           [1, 2],
           [2, 3]])
    >>> x = np.arange(6)
    >>> as_strided(x[1:], (2, 2), (24, 8))[...] = 0
    >>> x
    array([0, 0, 0, 3, 0, 0])
    """
    array = as_array(x)
    own = geometry(current(array)).strides
    lengths = array.shape if shape is None else as_shape(shape)
    if strides is None:
        contiguous = own == c_strides(array.shape, array.dtype.itemsize)
        steps = c_strides(lengths, array.dtype.itemsize) if contiguous else own
    else:
        steps = tuple(map(operator.index, strides))
    if len(steps) != len(lengths):
        raise ValueError(f"strides {steps} are as many as the axes of shape {lengths}")
    memory = memory_of(array)
    if memory is None:
        return _read_only(_picked(array, own, lengths, steps))
    result = strided(*memory, lengths, steps, "the array, nor of the one it's a view of")
    return result if writeable and array.flags.writeable else _read_only(result)


def _picked(array: Array, own: Shape, lengths: Shape, steps: Shape) -> Array:
    # Elements of the array itself, whose memory isn't known.
    there = _offsets(array.shape, own).reshape(-1)
    wanted = _offsets(lengths, steps)
    order = np.argsort(there, kind="stable")
    places = np.searchsorted(there, wanted, sorter=order)
    found = order[np.minimum(places, max(there.size - 1, 0))] if there.size else places
    if wanted.size and (not there.size or (there[found] != wanted).any()):
        raise ValueError(f"strides {steps} and shape {lengths} lead to memory that isn't of the array")
    return ua.reshape(ua.reshape(array, (-1,))[found.reshape(-1)], lengths)


def _offsets(shape: Shape, strides: Shape) -> np.ndarray:
    # How many bytes from the first element each one lies.
    offsets = np.zeros((1,) * len(shape), np.int64)
    for axis, (length, stride) in enumerate(zip(shape, strides, strict=True)):
        along = np.arange(length) * stride
        offsets = offsets + along.reshape(tuple(-1 if other == axis else 1 for other in range(len(shape))))
    return offsets
