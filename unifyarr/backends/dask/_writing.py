"""Writing into a window: one task for each chunk that it meets."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from typing import Any

import dask.array as da
import numpy as np
from dask.base import tokenize
from dask.highlevelgraph import HighLevelGraph

from ._layout import within

# Of each axis: start, step (not 0) and length, in bounds. A window of length 0 may start anywhere.
Window = tuple[tuple[int, int, int], ...]


def repeated(x: da.Array, shape: tuple[int, ...]) -> da.Array:
    """Return an array repeated along axes, which knows the one that it repeats."""
    # Axes that come from one element are divided as those of a new array: no task gives more than a chunk.
    kept = zip(x.shape, shape[len(shape) - x.ndim :], x.chunks, strict=True)
    own: list[Any] = ["auto"] * (len(shape) - x.ndim)
    own += ["auto" if before == 1 != after else lengths for before, after, lengths in kept]
    divided = within(tuple(own), shape, x.dtype) if "auto" in own else None
    result = da.broadcast_to(x, shape, chunks=divided)
    if result is not x:
        result.unifyarr_repeats = x
    return result


def repeated_by(x: da.Array) -> da.Array:
    """Return the array that an array repeats, or itself."""
    return getattr(x, "unifyarr_repeats", x)


def set_window(x: da.Array, value: da.Array, /, *, window: Window) -> da.Array:
    """Return ``x`` with ``value``, of the window's shape or broadcast to it, in place of the window.

    A chunk that the window meets is one task, all others are left alone.
    """
    if any(length == 0 for _, _, length in window):
        return x
    value = repeated_by(value)
    value = value[(None,) * (x.ndim - value.ndim)]
    if any(step < 0 for _, step, _ in window):
        value = value[tuple(slice(None, None, -1 if step < 0 else 1) for _, step, _ in window)]
    axes = [_pieces(lengths, *_ascending(*each)) for lengths, each in zip(x.chunks, window, strict=True)]
    # An axis of length 1 is broadcast in each task: its chunk is that of all chunks of ``x``.
    wide = [length > 1 for length in value.shape]
    value = value.rechunk(
        {axis: tuple([count for _, count in pieces if count]) for axis, pieces in enumerate(axes) if wide[axis]}
    )
    name = f"write-{tokenize(x, value, window)}"
    chunks = itertools.product(*(range(len(lengths)) for lengths in x.chunks))
    graph: dict[Any, Any] = {(name, *block): (x.name, *block) for block in chunks}
    met = [list(_met(pieces, abs(step), broad)) for pieces, (_, step, _), broad in zip(axes, window, wide, strict=True)]
    for places in itertools.product(*met):
        block, of_value, slices = zip(*places, strict=True) if places else ((), (), ())
        graph[name, *block] = (write, (x.name, *block), (value.name, *of_value), slices)
    layers = HighLevelGraph.from_collections(name, graph, dependencies=[x, value])
    return da.Array(layers, name, x.chunks, meta=x._meta)


def _ascending(start: int, step: int, length: int) -> tuple[int, int, int]:
    return (start, step, length) if step > 0 else (start + step * (length - 1), -step, length)


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


def _met(pieces: list[tuple[int, int]], step: int, broad: bool) -> Iterator[tuple[int, int, slice]]:
    """Yield for each chunk of an axis that the window meets its number, that of the value's chunk, and where."""
    count = 0
    for number, (start, length) in enumerate(pieces):
        if length:
            yield number, count, slice(start, start + (length - 1) * step + 1, step)
            count += broad


def write(x: Any, value: Any, window: tuple[slice, ...]) -> Any:
    """Return a copy of a chunk with values where the window meets it."""
    result = np.array(x)
    result[window] = value
    return result
