"""Padding."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from .. import functions as ua
from .._core.arrays import convert
from .._core.arrays.array import Array
from .._core.engines import dtypes
from .._core.values.shapes import as_axis
from ..errors import ShapeError
from ._creation import on_host
from ._following import as_array, follows
from ._ranges import linspace

__all__ = ["pad"]

# The keywords of each mode.
_KEYWORDS: dict[str, tuple[str, ...]] = {
    "empty": (), "edge": (), "wrap": (), "constant": ("constant_values",), "linear_ramp": ("end_values",),
    "maximum": ("stat_length",), "mean": ("stat_length",), "median": ("stat_length",), "minimum": ("stat_length",),
    "reflect": ("reflect_type",), "symmetric": ("reflect_type",),
}  # fmt: skip
_STATISTICS: dict[str, Callable[..., Array]] = {
    "maximum": ua.max, "minimum": ua.min, "mean": ua.mean, "median": ua.median,
}  # fmt: skip


@follows(np.pad)
def pad(array: Any, pad_width: Any, mode: Any = "constant", **kwargs: Any) -> Array:
    """Return an array with more elements before and after those along each axis.

    >>> import unifyarr.numpy as np
    >>> np.pad([1, 2, 3], (2, 1), "linear_ramp", end_values=(5, 0))
    array([5, 3, 1, 2, 3, 0])
    """
    x = as_array(array)
    if not kwargs and x.ndim and (mode == "constant" or (mode in ("edge", "wrap") and x.size)):
        return ua.pad(x, pad_width, mode)
    widths = _widths(pad_width, x.ndim)
    if callable(mode):
        return _by_function(x, widths, mode, kwargs)
    if mode not in _KEYWORDS:
        raise ValueError(f"mode is one of {', '.join(_KEYWORDS)}, or a function, not {mode!r}")
    unknown = [name for name in kwargs if name not in _KEYWORDS[mode]]
    if unknown:
        raise ValueError(f"mode {mode!r} takes no {', '.join(unknown)}")
    if mode == "constant":
        values = _pairs_of_values(kwargs.get("constant_values", 0), x)
        return ua.pad(x, widths, constant_values=values) if x.ndim else x.copy()
    for axis, (length, width) in enumerate(zip(x.shape, widths, strict=True)):
        if length == 0 and any(width) and mode != "empty":
            raise ShapeError(f"there are no elements along axis {axis} of shape {x.shape} to pad from, with {mode!r}")
    if mode == "empty":
        return ua.pad(x, widths) if x.ndim else x.copy()
    if mode == "linear_ramp":
        return _ramps(x, widths, _pairs_of_values(kwargs.get("end_values", 0), x))
    if mode in _STATISTICS:
        return _statistics(x, widths, _STATISTICS[mode], _stat_lengths(kwargs.get("stat_length"), x, mode))
    kind = kwargs.get("reflect_type", "even")
    if kind not in ("even", "odd"):
        raise ValueError(f"reflect_type is 'even' or 'odd', not {kind!r}")
    return _odd(x, widths, mode == "symmetric") if kind == "odd" else ua.pad(x, widths, mode)


Pairs = list[tuple[Any, Any]]


def _pairs(given: np.ndarray, ndim: int, name: str) -> Pairs:
    try:
        return [(before, after) for before, after in np.broadcast_to(given, (ndim, 2)).tolist()]
    except ValueError:
        text = f"{name} is a number, a pair, or a pair for each of the {ndim} axes, not of shape {given.shape}"
        raise ShapeError(text) from None


def _widths(given: Any, ndim: int) -> Pairs:
    if isinstance(given, dict):
        pairs: Pairs = [(0, 0)] * ndim
        for axis, each in given.items():
            pairs[as_axis(axis, ndim)] = _widths(each, 1)[0]
        return pairs
    widths = on_host(given, "pad()")
    if widths.dtype.kind not in "iu":
        raise TypeError(f"pad_width holds integers, not {widths.dtype}")
    if (widths < 0).any():
        raise ValueError("pad_width holds no negative numbers")
    return _pairs(widths, ndim, "pad_width")


def _pairs_of_values(given: Any, x: Array) -> Pairs:
    # Each is cast to the dtype of the array, whatever it is, as by an assignment.
    values = convert.as_array(given, x._backend).astype(x.dtype)
    if values.ndim == 0:
        return [(values, values)] * x.ndim
    places = _pairs(np.arange(values.size).reshape(values.shape), x.ndim, "the values")
    flat = ua.reshape(values, (-1,))
    return [(flat[before], flat[after]) for before, after in places]


def _stat_lengths(given: Any, x: Array, mode: str) -> Pairs:
    if given is None:
        return [(length, length) for length in x.shape]
    lengths = on_host(given, "pad()")
    if lengths.dtype.kind not in "iu":
        raise TypeError(f"stat_length holds integers, not {lengths.dtype}")
    if (lengths < 0).any():
        raise ValueError("stat_length holds no negative numbers")
    if (lengths == 0).any() and mode in ("maximum", "minimum"):
        raise ValueError(f"stat_length of 0 yields no value for mode {mode!r}")
    pairs = _pairs(lengths, x.ndim, "stat_length")
    return [(min(a, length), min(b, length)) for (a, b), length in zip(pairs, x.shape, strict=True)]


def _part(x: Array, axis: int, begin: int | None, end: int | None, step: int = 1) -> Array:
    return x[(*(slice(None),) * axis, slice(begin, end, step))]


def _around(x: Array, axis: int, before: Array | None, after: Array | None) -> Array:
    parts = [part for part in (before, x, after) if part is not None]
    return ua.concat(parts, axis=axis) if len(parts) > 1 else x


def _ramps(x: Array, widths: Pairs, ends: Pairs) -> Array:
    for axis, ((before, after), (first, last)) in enumerate(zip(widths, ends, strict=True)):
        left, right = _part(x, axis, 0, 1), _part(x, axis, x.shape[axis] - 1, None)
        x = _around(
            x,
            axis,
            _ramp(first, left, before, axis) if before else None,
            ua.flip(_ramp(last, right, after, axis), axis=axis) if after else None,
        )
    return x.copy() if not any(map(any, widths)) else x


def _ramp(end: Array, edge: Array, count: int, axis: int) -> Array:
    edge = ua.squeeze(edge, axis)
    return linspace(end, edge, count, endpoint=False, dtype=edge.dtype, axis=axis)


def _statistics(x: Array, widths: Pairs, function: Callable[..., Array], lengths: Pairs) -> Array:
    for axis, ((before, after), (first, last)) in enumerate(zip(widths, lengths, strict=True)):
        size = x.shape[axis]
        left = _statistic(_part(x, axis, 0, first), axis, function, before)
        right = _statistic(_part(x, axis, size - last, None), axis, function, after)
        x = _around(x, axis, left, right)
    return x.copy() if not any(map(any, widths)) else x


def _statistic(part: Array, axis: int, function: Callable[..., Array], count: int) -> Array | None:
    if not count:
        return None
    integral = part.dtype.kind in "biu"
    found = function(
        part.astype(dtypes.float64) if integral and function in (ua.mean, ua.median) else part, axis=axis, keepdims=True
    )
    found = (ua.round(found) if part.dtype.kind in "iu" and found.dtype.kind == "f" else found).astype(part.dtype)
    return ua.broadcast_to(found, (*part.shape[:axis], count, *part.shape[axis + 1 :]))


def _odd(x: Array, widths: Pairs, with_edge: bool) -> Array:
    # Mirrored elements turned around the one at the edge, and again while there is more to fill. Each round mirrors
    # what stands so far.
    for axis, (before, after) in enumerate(widths):
        skip = 0 if with_edge or x.shape[axis] == 1 else 1
        while before or after:
            length = x.shape[axis]
            period = max(length - skip, 1)
            left, right = min(before, period), min(after, period)
            first, last = _part(x, axis, 0, 1), _part(x, axis, length - 1, None)
            head = _turned(first, _part(x, axis, skip, skip + left), axis) if left else None
            tail = _turned(last, _part(x, axis, length - skip - right, length - skip), axis) if right else None
            x = _around(x, axis, head, tail)
            before, after = before - left, after - right
    return x.copy() if not any(map(any, widths)) else x


def _turned(edge: Array, part: Array, axis: int) -> Array:
    turned: Array = 2 * edge - ua.flip(part, axis=axis)
    return turned.astype(edge.dtype, copy=False)


def _by_function(x: Array, widths: Pairs, function: Callable[..., Any], options: dict[str, Any]) -> Array:
    padded = ua.pad(x, widths) if x.ndim else x.copy()
    for axis in range(padded.ndim):
        rows = ua.moveaxis(padded, axis, -1)
        for place in np.ndindex(rows.shape[:-1]):
            function(rows[place], widths[axis], axis, options)
    return padded
