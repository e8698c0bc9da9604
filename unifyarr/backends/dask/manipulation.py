"""Changing shapes and joining arrays on dask."""

from __future__ import annotations

import math
from typing import Any

import dask.array as da
import numpy as np
from dask.layers import ArrayChunkShapeDep

from ._chunks import ChunkTask, few_from_host, filled, from_host, number_of, whole
from ._elementwise import elementwise
from ._layout import chunks
from ._repeating import repeated, repeated_by

real, imag = elementwise("manipulation", "real"), elementwise("manipulation", "imag")


def broadcast_to(x: da.Array, /, *, shape: tuple[int, ...]) -> da.Array:
    """Return ``x`` repeated; a write of the result goes on with ``x``, which is small."""
    number = number_of(x)
    return repeated(x, shape) if number is None else filled(number, chunks(shape, x.dtype))


def permute_dims(x: da.Array, /, *, axes: tuple[int, ...]) -> da.Array:
    number = number_of(x)
    if number is not None:
        return filled(number, tuple(x.chunks[axis] for axis in axes))
    source = repeated_by(x)
    if source.size == 1 != x.size:
        return repeated(source, tuple([x.shape[axis] for axis in axes]))
    return da.transpose(x, axes)


def reshape(x: da.Array, /, *, shape: tuple[int, ...]) -> da.Array:
    """Return ``x`` in another shape, in C order; where that has ``None``, only axes of one element come and go."""
    if None in shape:
        x = x[tuple(0 if length == 1 else slice(None) for length in x.shape)]
        return x[tuple(None if length == 1 else slice(None) for length in shape)]
    if x.shape == shape:
        return x
    if not x.size:
        return da.empty(shape, dtype=x.dtype, chunks=shape)
    number = number_of(x)
    if number is not None:
        return filled(number, chunks(shape, x.dtype))
    source = repeated_by(x)
    if source.size == 1 != x.size:
        return repeated(reshape(source, shape=()), shape)
    labels, known = _labels(x, shape), few_from_host(x)
    if labels is not None:
        pairs = zip(labels, shape, strict=True)
        lengths = tuple(x.chunks[label] if label < x.ndim else (each,) for label, each in pairs)
        if known is not None:
            return da.from_array(known.reshape(shape), lengths)
        meta = np.empty((0,) * len(shape), x.dtype)
        # dask's ``new_axes`` would have one chunk beside an array that has several along them.
        operands = (x, tuple(range(x.ndim)), ArrayChunkShapeDep(lengths), labels)
        return da.blockwise(ReshapedChunk(), labels, *operands, dtype=x.dtype, meta=meta, align_arrays=False)
    if known is not None:
        return da.from_array(known.reshape(shape), chunks(shape, x.dtype))
    try:
        return da.reshape(x, shape)
    except NotImplementedError:
        # dask merges or splits whole axes; through one axis every shape leads to every other.
        return da.reshape(da.reshape(x, (math.prod(x.shape),)), shape)


def _labels(x: da.Array, shape: tuple[int, ...]) -> tuple[int, ...] | None:
    """Return for each axis of a new shape the axis that it comes from, or a number beyond them for one of one chunk.

    ``None`` where a chunk of the result doesn't come from one chunk. A reshape of chunks is a layer that can be joined
    with others, unlike dask's own.
    """
    if [each for each in x.shape if each != 1] == [each for each in shape if each != 1]:
        kept = iter([axis for axis, length in enumerate(x.shape) if length != 1])
        return tuple(x.ndim + axis if length == 1 else next(kept) for axis, length in enumerate(shape))
    # Axes of one chunk each are merged and split; those before and after them stay.
    ranks = min(x.ndim, len(shape))
    before = next((axis for axis in range(ranks) if x.shape[axis] != shape[axis]), ranks)
    after = next((axis for axis in range(ranks - before) if x.shape[-1 - axis] != shape[-1 - axis]), ranks - before)
    if any(blocks > 1 for blocks in x.numblocks[before : x.ndim - after]):
        return None
    new = range(x.ndim + before, x.ndim + len(shape) - after)
    return (*range(before), *new, *range(x.ndim - after, x.ndim))


class ReshapedChunk(ChunkTask):
    """A chunk in another shape."""

    joins_dropped_axes = True

    def __call__(self, x: Any, shape: tuple[int, ...]) -> Any:
        """Return a view of the chunk, which may lie in lists: one for each axis that is dropped."""
        while isinstance(x, list):
            (x,) = x
        return x.reshape(shape)


def set_real(x: da.Array, value: da.Array, /) -> da.Array:
    return _with_parts(value, imag(x), dtype=x.dtype)


def set_imag(x: da.Array, value: da.Array, /) -> da.Array:
    return _with_parts(real(x), value, dtype=x.dtype)


def _with_parts(first: da.Array, second: da.Array, dtype: np.dtype[Any]) -> da.Array:
    return da.core.elemwise(_complex, first, second, dtype=dtype)


def _complex(first: Any, second: Any) -> Any:
    shape = np.broadcast_shapes(first.shape, second.shape)
    result = np.empty(shape, np.result_type(first, 1j) if first.dtype != np.float32 else np.complex64)
    result.real, result.imag = first, second
    return result


def bitcast(x: da.Array, /, *, dtype: np.dtype[Any]) -> da.Array:
    """Return the memory of an array read as another dtype; numbers of another size scale the last axis."""
    before, after = x.dtype.itemsize, dtype.itemsize
    if before == after:
        return x.map_blocks(_viewed, dtype, dtype=dtype)
    x = whole(x, (x.ndim - 1,), "view")
    return x.map_blocks(_viewed, dtype, dtype=dtype, chunks=(*x.chunks[:-1], (x.shape[-1] * before // after,)))


def _viewed(x: Any, dtype: Any) -> Any:
    return np.ascontiguousarray(x).reshape(x.shape).view(dtype)


def concat(*arrays: da.Array, axis: int) -> da.Array:
    return da.concatenate(arrays, axis)


def stack(*arrays: da.Array, axis: int) -> da.Array:
    return da.stack(arrays, axis, allow_unknown_chunksizes=True)


def repeat(x: da.Array, /, *repeats: da.Array, count: int | None, axis: int | None) -> da.Array:
    """Repeat each element ``count`` times; where that is ``None``, as often as the int64 array after ``x`` says."""
    if axis is None:
        x, axis = reshape(x, shape=(math.prod(x.shape),)), 0
    if count is None:
        times = from_host(repeats[0])
        if times is None:
            return _repeated(x, da.broadcast_to(repeats[0], (x.shape[axis],)), axis)
        indices = np.repeat(np.arange(x.shape[axis]), times if times.size != 1 else times.reshape(()))
        return da.take(x, indices, axis)
    if not x.size or not count:
        shape = (*x.shape[:axis], x.shape[axis] * count, *x.shape[axis + 1 :])
        return da.empty(shape, dtype=x.dtype, chunks=shape)
    return da.repeat(x, count, axis)


def _repeated(x: da.Array, times: da.Array, axis: int) -> da.Array:
    # The new length depends on the values of ``times``.
    places = tuple(range(x.ndim))
    return da.blockwise(
        np.repeat, places, x, places, times, (axis,), axis=axis, dtype=x.dtype, adjust_chunks={axis: lambda _: np.nan}
    )


def roll(x: da.Array, /, *, shift: tuple[int, ...], axis: tuple[int, ...]) -> da.Array:
    """Shift cyclically along each axis: the two tuples have one length, an axis may stand there twice."""
    for step, place in zip(shift, axis, strict=True):
        length = x.shape[place]
        if length and step % length:
            before = (slice(None),) * place
            split = length - step % length
            x = da.concatenate([x[(*before, slice(split, None))], x[(*before, slice(split))]], place)
    return x
