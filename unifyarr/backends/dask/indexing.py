"""Reading and writing parts of arrays on dask: a write is one task for each chunk."""

from __future__ import annotations

import math
from typing import Any

import dask.array as da
import numpy as np

from ._chunks import Chunk, ChunkTask, from_host, whole
from ._dividing import aligned, divided_as
from ._repeating import repeated_by
from ._selecting import put_selected as put_selected
from ._selecting import select as select
from ._windows import ChunkSlice
from ._windows import get_window as get_window
from ._windows import set_window as set_window
from .manipulation import reshape
from .searching import where


def put_mask(x: da.Array, value: da.Array, mask: da.Array, /) -> da.Array:
    """Return ``x`` with ``value``, broadcastable to ``x`` and of its dtype, where ``mask``, of its shape, is true."""
    # The result is divided as ``x`` is, as after every write.
    own = dict(enumerate(x.chunks, -x.ndim))
    return where(*(divided_as(repeated_by(each), own) for each in (mask, value)), x)


def gather(x: da.Array, /, *indices: da.Array) -> da.Array:
    """Return ``x[indices]``: index arrays of one shape for the first axes of ``x``."""
    return _by_indices(Chunk("indexing", "gather"), x, None, indices)


def scatter(x: da.Array, value: da.Array, /, *indices: da.Array) -> da.Array:
    """Return ``x`` with ``value`` at the indices: of equal ones the last wins."""
    return _into_blocks(x, value, indices, "set")


def scatter_reduce(x: da.Array, value: da.Array, /, *indices: da.Array, reduction: str) -> da.Array:
    """Return ``x`` with ``value`` combined with it there."""
    return _into_blocks(x, value, indices, reduction)


def _labels(x: da.Array, value: da.Array | None, indices: tuple[da.Array, ...]) -> tuple[list[int], list[int]]:
    places = list(range(x.ndim))
    return places, list(range(x.ndim, x.ndim + indices[0].ndim))


def _known(index: da.Array, length: int, axis: int) -> np.ndarray | None:
    """Return the values of indices that came from the host, checked and not negative; others are found out later."""
    values = from_host(repeated_by(index))
    if values is None:
        return None
    if values.size and not (-length <= values.min() and values.max() < length):
        raise IndexError(f"an index is out of bounds for axis {axis} with size {length}")
    return np.broadcast_to(np.where(values < 0, values + length, values), index.shape)


def _by_indices(chunk: Chunk, x: da.Array, value: None, indices: tuple[da.Array, ...]) -> da.Array:
    count = len(indices)
    values = [_known(index, x.shape[axis], axis) for axis, index in enumerate(indices)]
    if count == 1 and values[0] is not None and values[0].ndim == 1:
        return x[values[0]]
    # The axes that are indexed come into one chunk, since any index may name any of their elements.
    x = whole(x, range(count), "gather")
    indices = tuple(aligned(indices))
    places, found = _labels(x, value, indices)
    operands: list[Any] = [x, tuple(places)]
    for index in indices:
        operands += [index, tuple(found)]
    out = (*found, *places[count:])
    meta = np.empty((0,) * len(out), x.dtype)
    # The indices have no axis in common with the array.
    return da.blockwise(chunk, out, *operands, dtype=x.dtype, concatenate=True, align_arrays=False, meta=meta)


def _into_blocks(x: da.Array, value: da.Array, indices: tuple[da.Array, ...], reduction: str) -> da.Array:
    """Gather all indices in one chunk, and have each chunk of ``x`` take its own part."""
    count = len(indices)
    for axis, index in enumerate(indices):
        _known(index, x.shape[axis], axis)
    if not value.size:
        return x
    places, found = _labels(x, value, indices)
    lead = len(found)
    beside = {lead + place: lengths for place, lengths in enumerate(x.chunks[count:])}
    # How many places there are need not be known.
    values = whole(value, range(lead), "scatter").rechunk(beside)
    operands: list[Any] = [x, tuple(places), values, (*found, *places[count:])]
    for index in indices:
        operands += [whole(index, range(lead), "scatter"), tuple(found)]
    starts = tuple(da.from_array(_starts(x.chunks[axis]), chunks=1) for axis in range(count))
    for axis, each in enumerate(starts):
        operands += [each, (axis,)]
    step = Scatter(reduction, tuple(x.shape[:count]))
    return da.blockwise(
        step, tuple(places), *operands, dtype=x.dtype, concatenate=True, align_arrays=False, meta=x._meta
    )


def _starts(lengths: tuple[int, ...]) -> np.ndarray:
    return np.cumsum([0, *lengths[:-1]])


class Scatter(ChunkTask):
    """Writes those of all values whose indices are in a chunk."""

    def __init__(self, reduction: str, shape: tuple[int, ...]) -> None:
        self.reduction, self.shape = reduction, shape

    def __call__(self, x: Any, value: Any, *rest: Any) -> Any:
        """Return the new chunk."""
        count = len(self.shape)
        indices, starts = rest[:count], [int(each[0]) for each in rest[count:]]
        local, inside = [], np.ones(indices[0].shape, bool)
        for index, start, length, chunk in zip(indices, starts, self.shape, x.shape, strict=False):
            if index.size and not (-length <= index.min() and index.max() < length):
                raise IndexError(f"an index is out of bounds for an axis of size {length}")
            place = np.where(index < 0, index + length, index) - start
            inside &= (place >= 0) & (place < chunk)
            local.append(place)
        return Chunk("scattering", "scatter_reduce", reduction=self.reduction)(
            x, value[inside], *(place[inside] for place in local)
        )


def take(x: da.Array, indices: da.Array, /, *, axis: int | None) -> da.Array:
    if axis is None:
        x, axis = reshape(x, shape=(math.prod(x.shape),)), 0
    values = _known(indices, x.shape[axis], axis)
    if values is not None and not values.ndim:
        one = take(x, da.from_array(values.reshape(1)), axis=axis)
        return reshape(one, shape=(*x.shape[:axis], *x.shape[axis + 1 :]))
    if values is not None and values.ndim == 1:
        if x.numblocks[axis] == 1 and len(values) <= x.shape[axis]:
            labels = tuple(range(x.ndim))
            cut = ChunkSlice((slice(None),) * axis + (values,))
            return da.blockwise(
                cut, labels, x, labels, adjust_chunks={axis: (len(values),)}, dtype=x.dtype, meta=x._meta
            )
        return x[(slice(None),) * axis + (values,)]
    x = whole(x, (axis,), "take")
    places = list(range(x.ndim))
    found = list(range(x.ndim, x.ndim + indices.ndim))
    out = (*places[:axis], *found, *places[axis + 1 :])
    return da.blockwise(
        Chunk("indexing", "take", axis=axis),
        out,
        x,
        tuple(places),
        indices,
        tuple(found),
        dtype=x.dtype,
        concatenate=True,
        align_arrays=False,
        meta=np.empty((0,) * len(out), x.dtype),
    )


def take_along_axis(x: da.Array, indices: da.Array, /, *, axis: int) -> da.Array:
    places = tuple(range(x.ndim))
    shape = tuple(
        max(pair) if place != axis else pair[0] for place, pair in enumerate(zip(x.shape, indices.shape, strict=True))
    )
    x = da.broadcast_to(whole(x, (axis,), "take_along_axis"), shape)
    wanted = tuple(length if place != axis else indices.shape[axis] for place, length in enumerate(shape))
    indices = da.broadcast_to(indices, wanted).rechunk({place: x.chunks[place] for place in places if place != axis})
    inner = (*places[:axis], x.ndim, *places[axis + 1 :])
    return da.blockwise(
        Chunk("indexing", "take_along_axis", axis=axis),
        inner,
        x,
        places,
        indices,
        inner,
        dtype=x.dtype,
        concatenate=True,
        meta=x._meta,
    )
