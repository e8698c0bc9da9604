"""Weights beside arrays, and quantiles of weighted elements."""

from __future__ import annotations

import math
from typing import Any

from .. import functions as ua
from .._core.arrays.array import Array
from .._core.engines import dtypes
from .._core.values.shapes import as_axes, reduced
from ..functions._quantiles import known_values
from ._following import together


def beside(weights: Array, x: Array, axis: Any) -> Array:
    """Return weights of the shape of ``x``, or of the shape of the axes that are averaged, as they broadcast to it."""
    if weights.shape == x.shape:
        return weights
    if axis is None:
        raise TypeError(f"weights have shape {weights.shape} and the array has {x.shape}: pass the axis they lie along")
    axes = as_axes(axis, x.ndim)
    if weights.shape != tuple(x.shape[each] for each in axes):
        raise ValueError(f"weights have shape {weights.shape}, unlike axis {axis} of an array of shape {x.shape}")
    order = sorted(range(len(axes)), key=axes.__getitem__)
    moved = ua.permute_dims(weights, tuple(order))
    return ua.reshape(moved, tuple(length if place in axes else 1 for place, length in enumerate(x.shape)))


def quantile(a: Any, q: Any, axis: Any, method: str, keepdims: bool, weights: Any, *, passing_nan: bool) -> Array:
    """Return the least elements whose weights, with those of all less ones, are the given parts of the whole."""
    if method != "inverted_cdf":
        raise ValueError(f"quantiles of weighted elements are chosen by method='inverted_cdf', not {method!r}")
    x, q, weights = together(a, q, weights)
    if dtypes.rank(x.dtype) == 3 or dtypes.rank(weights.dtype) == 3:
        raise TypeError("quantiles are of real numbers, which have an order")
    if any(not 0 <= each <= 1 for each in known_values(q) or ()):
        raise ValueError("quantiles lie in [0, 1]")
    if any(each < 0 for each in known_values(weights) or ()):  # NaN isn't, and fails below.
        raise ValueError("weights aren't negative")
    axes = as_axes(axis, x.ndim)
    weights = ua.broadcast_to(beside(weights, x, axis), x.shape)
    floating = dtypes.rank(x.dtype) == 2
    nan = ua.isnan(x)
    if passing_nan and floating:
        weights = ua.where(nan, ua.zeros_like(weights), weights)
    rows, heavy = _rows(x, axes), _rows(weights.astype("float64"), axes)
    order = ua.argsort(rows, axis=0)
    rows, heavy = (ua.take_along_axis(each, order, axis=0) for each in (rows, heavy))
    share = ua.cumulative_sum(heavy, axis=0)
    if any(not 0 < each < math.inf for each in known_values(share[-1]) or ()) and not passing_nan:
        raise ValueError("weights are finite and not all zero")
    # By an array of the same shape: XLA multiplies by the inverse of a broadcast divisor, and the exact shares decide
    # on positions here.
    share = share / ua.broadcast_to(share[-1], share.shape)
    # Elements without weight at the beginning aren't the quantile 0.
    share = ua.where(share == 0, -1, share)
    parts = ua.reshape(q.astype("float64"), (-1,) + (1,) * rows.ndim)
    places = ua.sum(share < parts, axis=1)
    places = ua.clip(places, 0, rows.shape[0] - 1)
    result = ua.take_along_axis(rows, places, axis=0)
    if floating:
        lost = ua.all(nan, axis=axes) if passing_nan else ua.any(nan, axis=axes)
        result = ua.where(lost, math.nan, result)
    return ua.reshape(result, (*q.shape, *reduced(x.shape, axes, keepdims)))


def _rows(x: Array, axes: tuple[int, ...]) -> Array:
    kept = tuple(each for each in range(x.ndim) if each not in axes)
    moved = ua.permute_dims(x, (*axes, *kept))
    return ua.reshape(moved, (math.prod(moved.shape[: len(axes)]), *moved.shape[len(axes) :]))
