"""Reading and writing parts of arrays on TensorFlow.

Tensors are immutable: kernels that write return a new one. A ``tf.Variable`` is written in place, and returned.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import lru_cache, partial
from typing import Any

import numpy as np

from ..kernels import bound_by, writes_apart
from ._engine import (
    MAX_SLICE,
    EagerTensor,
    broadcast,
    integer,
    integers,
    is_variable,
    may_record,
    raw,
    reshape,
    scalar,
    select,
    tf,
)
from ._indices import joint_indices, lasting, normalised
from ._private import is_for_xla
from ._stored import moves

# Start, step (not 0) and length of each axis, in bounds. A window of length 0 may start anywhere.
Window = tuple[tuple[int, int, int], ...]
# Over how many axes the engine scatters.
_MAX_DEPTH = 7


@lru_cache(maxsize=4096)
def _bounds(window: Window) -> dict[str, Any]:
    """Return a window as the arguments of the strided-slice ops."""
    begin, end, strides, open_end = [], [], [], 0
    for axis, (start, step, length) in enumerate(window):
        if length == 0:
            start, step = 0, 1
        stop = start + step * length
        if stop < 0:
            stop, open_end = 0, open_end | 1 << axis
        begin.append(start)
        end.append(stop)
        strides.append(step)
    return {
        "begin": integers(*begin),
        "end": integers(*end),
        "strides": integers(*strides),
        "end_mask": open_end,
    }


def _positions(window: Window, shape: tuple[int, ...]) -> np.ndarray:
    """Return where in the flat array the elements of a window lie."""
    positions: Any = np.zeros((), np.int64)
    for axis, (start, step, length) in enumerate(window):
        positions = positions[..., None] + (start + step * np.arange(length)) * math.prod(shape[axis + 1 :])
    return np.asarray(positions)


def _reading(*, window: Window) -> Callable[[Any], Any]:
    if len(window) > MAX_SLICE:
        return partial(get_window, window=window)
    bounds, read = _bounds(window), raw.StridedSlice
    return lambda x: read(input=x, **bounds)


@moves()
@bound_by(_reading)
def get_window(x: Any, /, *, window: Window) -> Any:
    if len(window) <= MAX_SLICE:
        return raw.StridedSlice(input=x, **_bounds(window))
    positions = tf.constant(_positions(window, tuple(x.shape)))
    return raw.GatherV2(params=reshape(x, shape=(-1,)), indices=positions, axis=integer(0))


def _writing(*, window: Window, apart: bool = False) -> Callable[[Any, Any], Any]:
    if len(window) > MAX_SLICE or apart:
        return partial(set_window, window=window, apart=apart)
    bounds, write = _bounds(window), raw.TensorStridedSliceUpdate

    def writing(x: Any, value: Any, /) -> Any:
        return write(input=x, value=value, **bounds) if type(x) is EagerTensor else set_window(x, value, window=window)

    return writing


@moves()
@writes_apart
@bound_by(_writing)
def set_window(x: Any, value: Any, /, *, window: Window, apart: bool = False) -> Any:
    """Write ``value``, of the window's shape and of ``x``'s dtype; ``apart`` from the memory of ``x``."""
    if apart:
        # XLA on the CPU writes to the memory of an array that was reshaped, while the value still reads it.
        written, placed = (
            set_window(tf.zeros(x.shape, each.dtype), each, window=window)
            for each in (tf.ones([length for _, _, length in window], tf.bool), value)
        )
        return tf.where(written, placed, x)
    if len(window) > MAX_SLICE:
        return _write_flat(x, value, tf.constant(_positions(window, tuple(x.shape)).ravel()))
    if is_variable(x):
        raw.ResourceStridedSliceAssign(ref=x.handle, value=value, **_bounds(window))
        return x
    if is_for_xla():
        # There the op neither broadcasts nor steps over elements.
        value = broadcast(value, shape=tuple([length for _, _, length in window]))
        if any(abs(step) > 1 for _, step, _ in window):
            return _write_apart(x, value, window)
    return raw.TensorStridedSliceUpdate(input=x, value=value, **_bounds(window))


def _write_apart(x: Any, value: Any, window: Window) -> Any:
    """Write to a window with gaps: each element of ``x`` takes the one of the value at its place, or stays."""
    if 0 in tuple(value.shape):
        return x
    written = tf.constant(True)
    for axis, (start, step, length) in enumerate(window):
        counts, rests = np.divmod(np.arange(x.shape[axis]) - start, step)
        inside = (rests == 0) & (counts >= 0) & (counts < length)
        value = raw.GatherV2(params=value, indices=tf.constant(np.where(inside, counts, 0)), axis=integer(axis))
        shape = [-1 if place == axis else 1 for place in range(len(window))]
        written = raw.LogicalAnd(x=written, y=tf.constant(inside.reshape(shape)))
    return select(written, value, x)


def _write_flat(x: Any, value: Any, positions: Any) -> Any:
    """Write elements at positions in the flat array, of any rank."""
    old = x.value() if is_variable(x) else x
    new = raw.TensorScatterUpdate(
        tensor=reshape(old, shape=(-1,)),
        indices=reshape(positions, shape=(-1, 1)),
        updates=reshape(value, shape=(-1,)),
    )
    new = reshape(new, shape=tuple(x.shape))
    if is_variable(x):
        x.assign(new, read_value=False)
        return x
    return new


@moves()
def gather(x: Any, /, *indices: Any) -> Any:
    """Return ``x[indices]``: index arrays of one shape for the first axes of ``x``."""
    shape, depth = tuple(x.shape), len(indices)
    joint = joint_indices(shape, indices)
    if depth > 1:
        x = reshape(x, shape=(math.prod(shape[:depth]), *shape[depth:]))
    return raw.GatherV2(params=x, indices=joint, axis=integer(0))


@moves()
def scatter(x: Any, value: Any, /, *indices: Any) -> Any:
    """Write ``value``, of the shape of ``gather(x, *indices)`` and of ``x``'s dtype; of equal indices the last wins."""
    shape, depth = tuple(x.shape), len(indices)
    if not math.prod(shape[depth:]):
        # The engine raises where there is nothing to write; out of bounds is an error all the same.
        for index, length in zip(indices, shape, strict=False):
            normalised(index, length)
        return x
    if is_variable(x):
        if depth > _MAX_DEPTH:
            x.assign(scatter(x.value(), value, *indices), read_value=False)
            return x
        places = [
            reshape(normalised(index, length), shape=(-1,)) for index, length in zip(indices, shape, strict=False)
        ]
        updates = reshape(value, shape=(places[0].shape[0], *shape[depth:]))
        raw.ResourceScatterNdUpdate(ref=x.handle, indices=raw.Pack(values=places, axis=1), updates=updates)
        return x
    rows = math.prod(shape[:depth])
    joint = reshape(joint_indices(shape, indices), shape=(-1, 1))
    updates = reshape(value, shape=(joint.shape[0], *shape[depth:]))
    if may_record():
        updates = lasting(updates, reshape(joint, shape=(-1,)), rows)
    flat = reshape(x, shape=(rows, *shape[depth:])) if depth > 1 else x
    new = raw.TensorScatterUpdate(tensor=flat, indices=joint, updates=updates)
    return reshape(new, shape=shape) if depth > 1 else new


@moves()
def put_mask(x: Any, value: Any, mask: Any, /) -> Any:
    """Write ``value``, broadcastable to ``x`` and of ``x``'s dtype, where ``mask``, of the shape of ``x``, is true."""
    if is_variable(x):
        x.assign(select(mask, value, x.value()), read_value=False)
        return x
    return select(mask, value, x)


@moves()
def take(x: Any, indices: Any, /, *, axis: int | None) -> Any:
    if axis is None:
        x, axis = reshape(x, shape=(-1,)), 0
    return raw.GatherV2(params=x, indices=normalised(indices, x.shape[axis]), axis=integer(axis))


@moves()
def take_along_axis(x: Any, indices: Any, /, *, axis: int) -> Any:
    length = x.shape[axis]
    if x.ndim == 1:
        return raw.GatherV2(params=x, indices=normalised(indices, length), axis=integer(0))
    before = np.broadcast_shapes(tuple(x.shape[:axis]), tuple(indices.shape[:axis]))
    after = np.broadcast_shapes(tuple(x.shape[axis + 1 :]), tuple(indices.shape[axis + 1 :]))
    x = broadcast(x, shape=(*before, length, *after))
    indices = normalised(indices, length)
    shape = (*before, indices.shape[axis], *after)
    indices = broadcast(indices, shape=shape)
    outer, inner = math.prod(before), math.prod(after)
    # In the flat array an element lies at (place in outer * length + index) * inner + place in inner.
    base = np.arange(outer)[:, None, None] * (length * inner) + np.arange(inner)
    flat = raw.AddV2(
        x=raw.Mul(x=reshape(indices, shape=(outer, shape[axis], inner)), y=scalar(inner, indices)), y=tf.constant(base)
    )
    taken = raw.GatherV2(params=reshape(x, shape=(-1,)), indices=flat, axis=integer(0))
    return reshape(taken, shape=shape)
