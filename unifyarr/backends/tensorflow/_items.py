"""Fast paths of indexing on TensorFlow, with NumPy's semantics; anything in doubt declines."""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import lru_cache
from typing import Any

import numpy as np

from ..base.plain import Plain, of_numbers
from ._engine import (
    MAX_SLICE,
    NUMPY_DTYPES,
    SIGNED,
    from_fresh,
    from_host,
    integer,
    integers,
    is_alone,
    raw,
    tf,
)
from ._indices import normalised
from ._private import EagerTensor, dtype_of_eager, is_eager, shape_of_eager

# How many numbers and places are kept as tensors.
_KEPT = 4096
# Dtypes for which the engine's scatter adds.
_ADDED = frozenset({tf.float32, tf.float64, tf.int32, tf.int64})
_INT = frozenset({int})
_ENDS = frozenset({int, type(None)})
_DTYPES = frozenset(dtype.as_datatype_enum for dtype in NUMPY_DTYPES)
# A list of more numbers goes to memory that other engines can share.
_FEW = 64


@lru_cache(maxsize=_KEPT)
def _place(key: tuple[Any, ...], shape: tuple[int, ...]) -> tuple[Any, Any, Any, int, tuple[int, ...]] | None:
    """Return where a part begins and ends, its steps, the mask of the axes that it lacks, and its shape.

    ``key`` has integers and slices. Return ``None`` if it is out of bounds, empty or reversed.
    """
    if not len(key) <= len(shape) <= MAX_SLICE:
        return None
    begin, end, steps, lacks, lengths = [], [], [], 0, []
    for axis, length in enumerate(shape):
        each = key[axis] if axis < len(key) else (None, None, None)
        if type(each) is int:
            if not -length <= each < length:
                return None
            start, step, count, lacks = each % length, 1, 1, lacks | 1 << axis
        else:
            there = range(length)[slice(*each)]
            start, step, count = there.start, there.step, len(there)
            if step < 0 or not count:
                return None
            lengths.append(count)
        begin.append(start)
        end.append(start + step * (count - 1) + 1)
        steps.append(step)
    return *map(from_host, map(np.array, (begin, end, steps))), lacks, tuple(lengths)


def _hashable(key: tuple[Any, ...]) -> tuple[Any, ...] | None:
    """Return a key of integers and slices of such with tuples for its slices, ``None`` for any other."""
    found: list[Any] = []
    for each in key:
        if type(each) is slice:
            ends = each.start, each.stop, each.step
            if not _ENDS.issuperset(map(type, ends)):
                return None
            found.append(ends)
        elif type(each) is int:
            found.append(each)
        else:
            return None
    return tuple(found)


def get_copy(x: Any, key: Any) -> Any:
    """Return an element, or the elements along the first axis at the integers of a tensor.

    ``NotImplemented`` stands for any other key.
    """
    if not is_alone() or type(x) is not EagerTensor:
        # Elsewhere the operation would run on the default device.
        return NotImplemented
    if type(key) is int:
        key = (key,)
    if type(key) is tuple and key and _INT.issuperset(map(type, key)) and is_eager():
        place = _place(key, shape_of_eager(x))
        if place is None or place[-1]:
            # More than one element needs a view.
            return NotImplemented
        # Not by an op that gathers, which has no derivative for one element.
        begin, end, steps, lacks, _ = place
        try:
            return raw.StridedSlice(x, begin, end, steps, 0, 0, 0, 0, lacks)
        except tf.errors.NotFoundError:
            # The engine reads no part of integers of four bits.
            return NotImplemented
    if type(key) is not EagerTensor or key.dtype is not tf.int64 or not shape_of_eager(key) or not is_eager():
        # A 0-d tensor is an integer, of which there's a view.
        return NotImplemented
    return raw.GatherV2(params=x, indices=normalised(key, x.shape[0]), axis=integer(0))


_TRUTH = dtype_of_eager and dtype_of_eager(tf.constant(True))
_numbers: dict[Any, Any] = {}


def put_copy(x: Any, key: Any, value: Any) -> Any:
    """Return a tensor with a number, or a tensor of its dtype that has no axes or the part's, in the place of a part.

    These are the elements that integers and slices select, or where a mask is true. ``NotImplemented`` means any other
    key.
    """
    if not is_alone() or not is_eager():
        return NotImplemented
    if type(value) is not EagerTensor:
        if type(value) is not int and type(value) is not float:
            return NotImplemented
        value = _beside(value, x)
    elif dtype_of_eager(value) != dtype_of_eager(x):
        return NotImplemented
    shape, given = shape_of_eager(x), shape_of_eager(value)
    if type(key) is EagerTensor:
        is_mask = dtype_of_eager(key) == _TRUTH and shape_of_eager(key) == shape != () == given
        return raw.SelectV2(key, value, x) if is_mask else NotImplemented
    if type(key) is not tuple:
        key = (key,)
    if not key or (not _INT.issuperset(map(type, key)) and (key := _hashable(key)) is None):
        return NotImplemented
    place = _place(key, shape)
    if place is None:
        return NotImplemented
    begin, end, steps, lacks, lengths = place
    if given != lengths:
        if given:
            return NotImplemented
        value = raw.BroadcastTo(value, integers(*lengths))
    return raw.TensorStridedSliceUpdate(x, begin, end, steps, value, 0, 0, 0, 0, lacks)


@lru_cache(maxsize=_KEPT)
def _positions(axes: tuple[tuple[int, int, int], ...], order: tuple[int | None, ...]) -> tuple[Any, Any]:
    """Return the indices of a window's elements along a last axis, and its shape; ``None`` twice of many elements."""
    lengths = tuple([length for _, _, length in axes])
    if order != tuple(range(len(axes))) or not 0 < math.prod(lengths) <= _FEW:
        return None, None
    places = [start + step * np.arange(length) for start, step, length in axes]
    return from_host(np.stack(np.meshgrid(*places, indexing="ij"), -1)), lengths


def into_window(op: Callable[..., Any]) -> Callable[..., Any]:
    """Return a function that adds a tensor to a small window by a scatter op, without reading the window."""

    def into(x: Any, value: Any, axes: Any, order: Any) -> Any:
        if x.dtype not in _ADDED or dtype_of_eager(value) != dtype_of_eager(x) or not is_eager():
            return NotImplemented
        places, lengths = _positions(axes, order)
        return op(x, places, value) if lengths is not None and shape_of_eager(value) == lengths else NotImplemented

    return into


def _fits(value: Any, dtype: Any) -> bool:
    if dtype in SIGNED:
        return type(value) is int
    # In single precision without an overflow, which NumPy warns of.
    return dtype is tf.float64 or (dtype is tf.float32 and abs(value) < 1e38)


def _beside(value: Any, x: Any) -> Any:
    """Return the 0-d tensor that stands for a number beside a tensor: it raises where that has another dtype."""
    # A text tells the zeros apart.
    key = dtype_of_eager(x), value.__class__, value or repr(value)
    found = _numbers.get(key)
    if found is None:
        if not _fits(value, x.dtype):
            raise TypeError
        if len(_numbers) >= _KEPT:
            _numbers.clear()
        found = _numbers[key] = from_host(np.array(value, NUMPY_DTYPES[x.dtype]))
    return found


def asarray(obj: Any, dtype: Any, device: Any, copy: Any) -> Any:
    """Return a tensor of a list of a few numbers of Python's, or a tensor itself."""
    if not dtype is device is copy is None or not is_eager():
        return NotImplemented
    if type(obj) is EagerTensor:
        return obj if dtype_of_eager(obj) in _DTYPES else NotImplemented
    made = of_numbers(obj)
    return NotImplemented if made is None or not made.size else from_fresh(made)


# Without the names of the engine's own that these need, all calls take the general path.
ITEMS: dict[str, Callable[..., Any]] = {} if dtype_of_eager is None else {"get_copy": get_copy, "put_copy": put_copy}
PLAIN = {} if dtype_of_eager is None else {"asarray": Plain(kernel=asarray)}
