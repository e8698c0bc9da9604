"""Writing into a window: one task for each chunk that it meets."""

from __future__ import annotations

import itertools
from typing import Any

import dask.array as da
import numpy as np
from dask.base import tokenize
from dask.highlevelgraph import HighLevelGraph

# Of each axis: start, step (not 0) and length, in bounds. A window of length 0 may start anywhere.
Window = tuple[tuple[int, int, int], ...]


def set_window(x: da.Array, value: da.Array, /, *, window: Window) -> da.Array:
    """Return ``x`` with ``value``, of the window's shape or broadcast to it, in place of the window.

    A chunk that the window meets is one task, all others are left alone.
    """
    if any(length == 0 for _, _, length in window):
        return x
    value = value[(None,) * (x.ndim - value.ndim)]
    value = value[tuple(slice(None, None, -1 if step < 0 else 1) for _, step, _ in window)]
    axes = [_pieces(lengths, *_ascending(*each)) for lengths, each in zip(x.chunks, window, strict=True)]
    # An axis of length 1 is broadcast in each task: its chunk is that of all chunks of ``x``.
    wide = [length > 1 for length in value.shape]
    value = value.rechunk(
        {axis: tuple(count for _, count in pieces if count) for axis, pieces in enumerate(axes) if wide[axis]}
    )
    steps = tuple(abs(step) for _, step, _ in window)
    name = f"write-{tokenize(x, value, window)}"
    graph: dict[Any, Any] = {}
    for places in itertools.product(*map(_numbered, axes)):
        block, of_value, starts, counts = zip(*places, strict=True) if places else ((), (), (), ())
        key = (x.name, *block)
        if all(counts):
            chunk = (value.name, *(each if broad else 0 for each, broad in zip(of_value, wide, strict=True)))
            graph[name, *block] = (write, key, chunk, starts, steps, counts)
        else:
            graph[name, *block] = key
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


def _numbered(pieces: list[tuple[int, int]]) -> list[tuple[int, int, int, int]]:
    """Return for each chunk of an axis its number, that of the value's chunk, and where and how much is written."""
    found, count = [], 0
    for number, (start, length) in enumerate(pieces):
        found.append((number, count, start, length))
        count += length > 0
    return found


def write(x: Any, value: Any, starts: tuple[int, ...], steps: tuple[int, ...], counts: tuple[int, ...]) -> Any:
    """Return a copy of a chunk with values where the window meets it."""
    result = np.array(x)
    axes = zip(starts, steps, counts, strict=True)
    result[tuple(slice(start, start + (count - 1) * step + 1, step) for start, step, count in axes)] = value
    return result


