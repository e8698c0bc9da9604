"""Changing shapes and joining arrays on dask."""

from __future__ import annotations

import math
from typing import Any

import dask.array as da
import numpy as np

from ._chunks import elementwise, few_from_host
from ._layout import chunks
from ._repeating import repeated, repeated_by

real, imag = elementwise("manipulation", "real"), elementwise("manipulation", "imag")


def broadcast_to(x: da.Array, /, *, shape: tuple[int, ...]) -> da.Array:
    """Return ``x`` repeated; a write of the result goes on with ``x``, which is small."""
    return repeated(x, shape)


def permute_dims(x: da.Array, /, *, axes: tuple[int, ...]) -> da.Array:
    source = repeated_by(x)
    if source.size == 1 != x.size:
        return repeated(source, tuple([x.shape[axis] for axis in axes]))
    return da.transpose(x, axes)


def reshape(x: da.Array, /, *, shape: tuple[int, ...]) -> da.Array:
    """Return ``x`` in another shape, in C order."""
    if x.shape == shape:
        return x
    if not x.size:
        return da.empty(shape, dtype=x.dtype, chunks=shape)
    source = repeated_by(x)
    if source.size == 1 != x.size:
        return repeated(reshape(source, shape=()), shape)
    known = few_from_host(x)
    if known is not None:
        return da.from_array(known.reshape(shape), chunks(shape, x.dtype))
    if x.size == 1:
        # dask has no rule for axes that come from none.
        flat = x[(0,) * x.ndim]
        return flat[(None,) * len(shape)]
    try:
        return da.reshape(x, shape)
    except NotImplementedError:
        # dask merges or splits whole axes; through one axis every shape leads to every other.
        return da.reshape(da.reshape(x, (math.prod(x.shape),)), shape)


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
    x = x.rechunk({x.ndim - 1: -1})
    return x.map_blocks(_viewed, dtype, dtype=dtype, chunks=(*x.chunks[:-1], (x.shape[-1] * before // after,)))


def _viewed(x: Any, dtype: Any) -> Any:
    return np.ascontiguousarray(x).reshape(x.shape).view(dtype)


def concat(*arrays: da.Array, axis: int) -> da.Array:
    return da.concatenate(arrays, axis)


def stack(*arrays: da.Array, axis: int) -> da.Array:
    return da.stack(arrays, axis)


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
    # Of a length that only the values of ``times`` decide.
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
