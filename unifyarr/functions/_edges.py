"""The elements that ``pad`` puts around others: statistics, ramps and mirrored elements."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from .._core.arrays.array import Array
from .._core.arrays.convert import as_floating, from_host
from . import elementwise, statistical
from ._spacing import evenly_spaced
from .manipulation import broadcast_to, concat, flip, moveaxis, squeeze
from .order_statistics import median

STATISTICS: dict[str, Callable[..., Array]] = {
    "maximum": statistical.max,
    "mean": statistical.mean,
    "median": median,
    "minimum": statistical.min,
}
# The elements before and after the inner ones along an axis; None where there are none to add.
Around = tuple[Array | None, Array | None]
Pair = tuple[int, int]
Pairs = tuple[Pair, ...]


def _part(x: Array, axis: int, begin: int, end: int | None) -> Array:
    return x[(*(slice(None),) * axis, slice(begin, end))]


def grown(x: Array, widths: Pairs, edges: Callable[[Array, int], Around]) -> Array:
    """Return a new array with elements around those of another, which a function of it and the axis returns."""
    wider = x
    for axis, width in enumerate(widths):
        if any(width):
            before, after = edges(wider, axis)
            wider = concat([part for part in (before, wider, after) if part is not None], axis=axis)
    return x.copy() if wider is x else wider


def statistics(x: Array, axis: int, width: Pair, lengths: Pair, mode: str) -> Around:
    """Return a statistic of the elements at either edge, once for each element to add."""
    (before, after), (first, last), size = width, lengths, x.shape[axis]
    return (
        _statistic(_part(x, axis, 0, first), axis, before, STATISTICS[mode]) if before else None,
        _statistic(_part(x, axis, size - last, None), axis, after, STATISTICS[mode]) if after else None,
    )


def _statistic(part: Array, axis: int, count: int, function: Callable[..., Array]) -> Array:
    values = as_floating(part) if function in (statistical.mean, median) else part
    found = function(values, axis=axis, keepdims=True)
    if part.dtype.kind in "iu" and found.dtype.kind == "f":
        found = elementwise.round(found)
    return broadcast_to(found.astype(part.dtype), (*part.shape[:axis], count, *part.shape[axis + 1 :]))


def ramps(x: Array, axis: int, width: Pair, ends: tuple[Any, Any]) -> Around:
    """Return evenly spaced values from one number to the first element, and from the last one to another."""
    (before, after), (first, last) = width, ends
    left, right = _part(x, axis, 0, 1), _part(x, axis, x.shape[axis] - 1, None)
    return (
        _ramp(first, left, before, axis) if before else None,
        flip(_ramp(last, right, after, axis), axis=axis) if after else None,
    )


def _ramp(end: Any, edge: Array, count: int, axis: int) -> Array:
    if not isinstance(end, Array):
        end = from_host(np.asarray(end, edge.dtype.dtype), None, edge.device, edge._backend)
    last = squeeze(edge, axis)
    values, _ = evenly_spaced(as_floating(end.astype(edge.dtype)), as_floating(last), count, endpoint=False)
    return moveaxis((elementwise.floor(values) if edge.dtype.kind in "iu" else values).astype(edge.dtype), 0, axis)


def reflections(x: Array, axis: int, width: Pair, with_edge: bool) -> Around:
    """Return elements mirrored at either edge, or just behind it, and subtracted from twice the one there."""
    # Each round mirrors those of the previous rounds too.
    (before, after), length = width, x.shape[axis]
    skip = 0 if with_edge or length == 1 else 1
    wider, begin = x, 0
    while begin < before or wider.shape[axis] - begin - length < after:
        size = wider.shape[axis]
        period = max(size - skip, 1)
        left = min(before - begin, period)
        right = min(after - (size - begin - length), period)
        first, last = _part(wider, axis, 0, 1), _part(wider, axis, size - 1, None)
        head = _turned(first, _part(wider, axis, skip, skip + left), axis)
        tail = _turned(last, _part(wider, axis, size - skip - right, size - skip), axis)
        wider, begin = concat([head, wider, tail], axis=axis), begin + left
    return _part(wider, axis, 0, before), _part(wider, axis, before + length, None)


def _turned(edge: Array, part: Array, axis: int) -> Array:
    return (2 * edge - flip(part, axis=axis)).astype(edge.dtype, copy=False)
