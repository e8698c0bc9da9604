"""Reading and writing parts of arrays on dask: a write is one task for each chunk."""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from typing import Any

import dask.array as da
import numpy as np
from dask import base
from dask._task_spec import Alias, DataNode
from dask.highlevelgraph import HighLevelGraph
from dask.layers import ArrayBlockIdDep

from ._chunks import Chunk, Task, divided_as, from_host, joining, number_of, whole
from ._repeating import repeated_by
from ._selecting import put_selected as put_selected
from ._selecting import select as select
from .manipulation import reshape
from .searching import where

# Of each axis: start, step (not 0) and length, in bounds. A window of length 0 may start anywhere.
Window = tuple[tuple[int, int, int], ...]


def get_window(x: da.Array, /, *, window: Window) -> da.Array:
    slices = tuple(_slice(*each) for each in window)
    if all(
        blocks == 1 or each == (0, 1, length) for blocks, each, length in zip(x.numblocks, window, x.shape, strict=True)
    ):
        # Each chunk comes from one: unlike dask's own slices this is a layer that can be joined with others.
        labels = tuple(range(x.ndim))
        lengths = {axis: (window[axis][2],) for axis in labels if x.numblocks[axis] == 1}
        return da.blockwise(Cut(slices), labels, x, labels, adjust_chunks=lengths, dtype=x.dtype, meta=x._meta)
    return x[slices]


def _slice(start: int, step: int, length: int) -> slice:
    stop = start + step * length
    return slice(0, 0) if length == 0 else slice(start, None if stop < 0 else stop, step)


class Cut(Task):
    """A part of each chunk, the same in all: slices and indices of one axis."""

    def __init__(self, key: tuple[Any, ...]) -> None:
        self.key = key

    def __call__(self, x: Any) -> Any:
        """Return the part, a view where the key has slices alone."""
        return x[self.key]


def set_window(x: da.Array, value: da.Array, /, *, window: Window) -> da.Array:
    """Return ``x`` with ``value``, of the window's shape or broadcast to it, in place of the window."""
    if any(length == 0 for _, _, length in window):
        return x
    value = repeated_by(value)
    number = number_of(value)
    ascending = tuple(
        (start, step, length) if step > 0 else (start + step * (length - 1), -step, length)
        for start, step, length in window
    )
    pieces = [_pieces(lengths, *each) for lengths, each in zip(x.chunks, ascending, strict=True)]
    labels = tuple(range(x.ndim))
    operands: list[Any] = [x, labels]
    if number is not None:
        operands += [number, None]
    else:
        missing = x.ndim - value.ndim
        operands += [_aligned(value, window[missing:], pieces[missing:]), labels[missing:]]
    same = [axis[:1] if len(set(axis)) == 1 else axis for axis in pieces]
    if any(len(axis) > 1 for axis in same):
        operands += [ArrayBlockIdDep(x.chunks), labels]
    write = Write(same, tuple(step for _, step, _ in ascending))
    return da.blockwise(write, labels, *operands, dtype=x.dtype, meta=x._meta, align_arrays=False)


def _aligned(value: da.Array, window: Window, pieces: list[list[tuple[int, int]]]) -> da.Array:
    """Return the value of a window with a chunk for each piece of it, and axes with positive steps."""
    flips = tuple(
        (length - 1, -1, length) if step < 0 and length > 1 else (0, 1, length)
        for (_, step, _), length in zip(window, value.shape, strict=True)
    )
    if any(step < 0 for _, step, _ in flips):
        value = get_window(value, window=flips)
    # An axis of one element is written to all chunks as it is. Others get a chunk of no elements for each of ``x``
    # that the window doesn't meet.
    counts = [
        tuple(count for _, count in axis) if length > 1 else (length,)
        for axis, length in zip(pieces, value.shape, strict=True)
    ]
    return _spread(value.rechunk(tuple(tuple(filter(None, axis)) for axis in counts)), counts)


def _pieces(lengths: tuple[int, ...], start: int, step: int, length: int) -> list[tuple[int, int]]:
    """Return for each chunk of an axis where in it the window begins, and how many of its elements are there."""
    found, begin = [], 0
    for chunk in lengths:
        end = begin + chunk
        first = max(0, -(-(begin - start) // step))
        last = min(length, max(0, -(-(end - start) // step)))
        found.append((start + first * step - begin, max(0, last - first)))
        begin = end
    return found


def _spread(value: da.Array, counts: Sequence[tuple[int, ...]]) -> da.Array:
    """Return an array with chunks of length 0 in some places among its own."""
    if all(0 not in axis for axis in counts):
        return value
    name = f"spread-{base.tokenize(value.name, counts)}"
    found = [np.cumsum(np.asarray(axis) > 0) - 1 for axis in counts]
    graph: dict[Any, Any] = {}
    for place in itertools.product(*(range(len(axis)) for axis in counts)):
        lengths = [axis[each] for axis, each in zip(counts, place, strict=True)]
        if all(lengths):
            origin = (value.name, *(int(axis[each]) for axis, each in zip(found, place, strict=True)))
            graph[name, *place] = Alias((name, *place), origin)
        else:
            graph[name, *place] = DataNode((name, *place), np.empty(lengths, value.dtype))
    layers = HighLevelGraph.from_collections(name, graph, dependencies=[value])
    return da.Array(layers, name, tuple(counts), dtype=value.dtype, meta=value._meta)


class Write(Task):
    """Writes into a copy of a chunk: for each axis, where the window begins in a chunk, and its length there."""

    def __init__(self, pieces: list[list[tuple[int, int]]], steps: tuple[int, ...]) -> None:
        self.pieces, self.steps = pieces, steps

    # A chunk that isn't dead is copied.
    may_overwrite = True

    @property
    def makes_new(self) -> bool:
        """Whether the result is always in memory of its own: a chunk that the window doesn't meet stays as it is."""
        return all(count for axis in self.pieces for _, count in axis)

    def into(self, places: tuple[int, ...], x: Any, value: Any, place: tuple[int, ...] | None = None) -> Any:
        """Return the new chunk, in the memory of the old one if that is in one of the places."""
        return self(x, value, place, overwrites=0 in places)

    def __call__(self, x: Any, value: Any, place: tuple[int, ...] | None = None, *, overwrites: bool = False) -> Any:
        """Return the new chunk: the old one where the window doesn't meet it."""
        met = [axis[place[each] if place and len(axis) > 1 else 0] for each, axis in enumerate(self.pieces)]
        if not all(count for _, count in met):
            return x
        if all(count == length for (_, count), length in zip(met, x.shape, strict=True)):
            return np.array(np.broadcast_to(value, x.shape))
        result = x if overwrites else np.array(x)
        result[
            tuple(
                slice(first, first + (count - 1) * step + 1, step)
                for (first, count), step in zip(met, self.steps, strict=True)
            )
        ] = value
        return result


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
    if any(blocks > 1 for blocks in x.numblocks[:count]):
        joining("gather", x)
    x = whole(x, range(count))
    places, found = _labels(x, value, indices)
    operands: list[Any] = [x, tuple(places)]
    for index in indices:
        operands += [index, tuple(found)]
    out = (*found, *places[count:])
    return da.blockwise(chunk, out, *operands, dtype=x.dtype, concatenate=True, meta=np.empty((0,) * len(out), x.dtype))


def _into_blocks(x: da.Array, value: da.Array, indices: tuple[da.Array, ...], reduction: str) -> da.Array:
    """Have each chunk of ``x`` look at all indices, which come into one chunk, and take what is for it."""
    count = len(indices)
    for axis, index in enumerate(indices):
        _known(index, x.shape[axis], axis)
    if not value.size:
        return x
    places, found = _labels(x, value, indices)
    lead = len(found)
    aligned = {lead + place: lengths for place, lengths in enumerate(x.chunks[count:])}
    operands: list[Any] = [x, tuple(places), value.rechunk({**dict.fromkeys(range(lead), -1), **aligned})]
    operands.append((*found, *places[count:]))
    for index in indices:
        operands += [index.rechunk(-1), tuple(found)]
    starts = tuple(da.from_array(_starts(x.chunks[axis]), chunks=1) for axis in range(count))
    for axis, each in enumerate(starts):
        operands += [each, (axis,)]
    step = Scatter(reduction, tuple(x.shape[:count]))
    return da.blockwise(
        step, tuple(places), *operands, dtype=x.dtype, concatenate=True, align_arrays=False, meta=x._meta
    )


def _starts(lengths: tuple[int, ...]) -> np.ndarray:
    return np.cumsum([0, *lengths[:-1]])


class Scatter(Task):
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
    if values is not None and values.ndim == 1:
        if x.numblocks[axis] == 1 and len(values) <= x.shape[axis]:
            labels = tuple(range(x.ndim))
            cut = Cut((slice(None),) * axis + (values,))
            return da.blockwise(
                cut, labels, x, labels, adjust_chunks={axis: (len(values),)}, dtype=x.dtype, meta=x._meta
            )
        return x[(slice(None),) * axis + (values,)]
    if any(blocks > 1 for blocks in x.numblocks[axis : axis + 1]):
        joining("take", x)
    x = whole(x, (axis,))
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
        meta=np.empty((0,) * len(out), x.dtype),
    )


def take_along_axis(x: da.Array, indices: da.Array, /, *, axis: int) -> da.Array:
    places = tuple(range(x.ndim))
    if x.numblocks[axis] > 1:
        joining("take_along_axis", x)
    shape = tuple(
        max(pair) if place != axis else pair[0] for place, pair in enumerate(zip(x.shape, indices.shape, strict=True))
    )
    x = da.broadcast_to(whole(x, (axis,)), shape)
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
