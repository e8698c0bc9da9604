"""Windows on dask: boxes of arrays with steps, read and written; a write is one task for each chunk."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from typing import Any

import dask.array as da
import numpy as np
from dask import base
from dask.highlevelgraph import HighLevelGraph
from dask.layers import ArrayBlockIdDep

from ...errors import ShapeError, UnknownShapeError
from ._chunks import ChunkTask, number_of
from ._dividing import Windowed, divided, noted
from ._parts import parts
from ._private import alias, data
from ._repeating import repeated_by

# Start, step (not 0) and length of each axis, in bounds. A window of length 0 may start anywhere. (0, 1, None) is a
# whole axis of unknown length.
Window = tuple[tuple[int, int, Any], ...]
# For each chunk of an axis, where a window begins in it and how many elements it has there; ``None`` for all.
Pieces = list[tuple[int, int | None]]


def get_window(x: da.Array, /, *, window: Window) -> da.Array:
    slices = tuple(_slice(*each) for each in window)
    if all(
        blocks == 1 or each in ((0, 1, length), (0, 1, None))
        for blocks, each, length in zip(x.numblocks, window, x.shape, strict=True)
    ):
        # Each chunk comes from one: unlike dask's own slices this is a layer that can be joined with others.
        labels = tuple(range(x.ndim))
        known = [axis for axis in labels if window[axis][2] is not None]
        lengths = {axis: (window[axis][2],) for axis in known if x.numblocks[axis] == 1}
        return da.blockwise(ChunkSlice(slices), labels, x, labels, adjust_chunks=lengths, dtype=x.dtype, meta=x._meta)
    if not all(n == n for n in x.shape) or any(step < 0 or not length for _, step, length in window):
        return x[slices]
    own = [_pieces(lengths, *each) for lengths, each in zip(x.chunks, window, strict=True)]
    found = None
    # dask computes only the needed chunks of the source of a slice with steps, or of a slice that drops chunks.
    if all(step == 1 or blocks == 1 for blocks, (_, step, _) in zip(x.numblocks, window, strict=True)):
        found = parts(x, window, [tuple(count or 0 for _, count in axis) for axis in own])
    return noted(x[slices] if found is None else found.made(found), Windowed(x, window))


def _slice(start: int, step: int, length: int | None) -> slice:
    if length is None:
        return slice(None)
    stop = start + step * length
    return slice(0, 0) if length == 0 else slice(start, None if stop < 0 else stop, step)


class ChunkSlice(ChunkTask):
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
    write = Write(same, tuple(step for _, step, _ in ascending), _unknown(value))
    return da.blockwise(write, labels, *operands, dtype=x.dtype, meta=x._meta, align_arrays=False)


def _unknown(x: da.Array) -> list[int]:
    """Return the axes, counted from the end, whose lengths aren't known."""
    return [axis for axis, length in enumerate(x.shape, -x.ndim) if length != length]


def _aligned(value: da.Array, window: Window, pieces: list[Pieces]) -> da.Array:
    """Return the value of a window with a chunk for each piece of it, and axes with positive steps."""
    flips = tuple(
        (length - 1, -1, length) if step < 0 and length > 1 else (0, 1, length if length == length else None)
        for (_, step, _), length in zip(window, value.shape, strict=True)
    )
    if any(step < 0 for _, step, _ in flips):
        value = get_window(value, window=flips)
    # An axis of one element is written to all chunks as it is. Others get a chunk of no elements for each of ``x``
    # that the window doesn't meet.
    counts: list[Any] = [
        tuple(count for _, count in axis) if length > 1 else (length,)
        for axis, length in zip(pieces, value.shape, strict=True)
    ]
    for axis in _unknown(value):
        counts[axis] = value.chunks[axis]
        if len(counts[axis]) != len(pieces[axis]):
            raise UnknownShapeError(
                "a write to an axis whose length isn't known takes what has as many chunks there, not "
                f"{len(counts[axis])} for {len(pieces[axis])}: compute the lengths first, x.compute() or x.persist()"
            )
    known = {axis: tuple(filter(None, each)) for axis, each in enumerate(counts) if all(n == n for n in each)}
    return spread(_divided(value, known), counts)


def _divided(value: da.Array, known: dict[int, tuple[int, ...]]) -> da.Array:
    chunks = tuple(known.get(axis, own) for axis, own in enumerate(value.chunks))
    return divided(value, chunks) if len(known) == value.ndim else value.rechunk(known)


def _pieces(lengths: tuple[int, ...], start: int, step: int, length: int | None) -> Pieces:
    """Return for each chunk of an axis where in it the window begins, and how many of its elements are there."""
    if length is None:
        return [(0, None)] * len(lengths)
    found: Pieces = []
    begin = 0
    for chunk in lengths:
        end = begin + chunk
        first = max(0, -(-(begin - start) // step))
        last = min(length, max(0, -(-(end - start) // step)))
        found.append((start + first * step - begin, max(0, last - first)))
        begin = end
    return found


def spread(value: da.Array, counts: Sequence[tuple[int, ...]]) -> da.Array:
    """Return an array with chunks of length 0 in some places among its own."""
    if all(0 not in axis for axis in counts):
        return value
    name = f"spread-{base.tokenize(value.name, counts)}"
    # An unknown length, NaN, counts as non-zero.
    found = [np.cumsum(np.asarray(axis) != 0) - 1 for axis in counts]
    graph: dict[Any, Any] = {}
    for place in itertools.product(*(range(len(axis)) for axis in counts)):
        lengths = [axis[each] for axis, each in zip(counts, place, strict=True)]
        if all(lengths):
            origin = (value.name, *(int(axis[each]) for axis, each in zip(found, place, strict=True)))
            graph[name, *place] = alias((name, *place), origin)
        else:
            # Nothing reads it, whatever the other lengths are.
            shape = [each if each == each else 0 for each in lengths]
            graph[name, *place] = data((name, *place), np.empty(shape, value.dtype))
    layers = HighLevelGraph.from_collections(name, graph, dependencies=[value])
    return da.Array(layers, name, tuple(counts), dtype=value.dtype, meta=value._meta)


class Write(ChunkTask):
    """Writes into a copy of a chunk: for each axis, where the window begins in a chunk, and its length there.

    ``exact`` are axes along which the lengths of the chunk and of the value weren't known, and have to be equal.
    """

    def __init__(self, pieces: list[Pieces], steps: tuple[int, ...], exact: Sequence[int] = ()) -> None:
        self.pieces, self.steps, self.exact = pieces, steps, exact

    # A chunk that isn't dead is copied.
    may_overwrite = True

    @property
    def makes_new(self) -> bool:
        """Whether the result is never a view of the operand: a chunk outside the window is returned unchanged."""
        return all(count != 0 for axis in self.pieces for _, count in axis)

    def into(self, places: tuple[int, ...], x: Any, value: Any, place: tuple[int, ...] | None = None) -> Any:
        """Return the new chunk, in the memory of the old one if that is in one of the places."""
        return self(x, value, place, overwrites=0 in places)

    def __call__(self, x: Any, value: Any, place: tuple[int, ...] | None = None, *, overwrites: bool = False) -> Any:
        """Return the new chunk: the old one where the window doesn't meet it."""
        met = [axis[place[each] if place and len(axis) > 1 else 0] for each, axis in enumerate(self.pieces)]
        if any(count == 0 for _, count in met):
            return x
        for axis in self.exact:
            if x.shape[axis] != value.shape[axis]:
                raise ShapeError(f"{value.shape[axis]} elements are written to {x.shape[axis]} of a chunk")
        if all(count in (None, length) for (_, count), length in zip(met, x.shape, strict=True)):
            return np.array(np.broadcast_to(value, x.shape))
        result = x if overwrites else np.array(x)
        result[
            tuple(
                slice(None) if count is None else slice(first, first + (count - 1) * step + 1, step)
                for (first, count), step in zip(met, self.steps, strict=True)
            )
        ] = value
        return result
