"""Helpers for medians and quantiles: the two sorted elements that they lie between, and the weights.

Each method says where the quantile ``q`` of ``n`` elements is among them, counted from 0: at ``n q + m - 1`` with
``m = alpha + q (1 - alpha - beta)``, and what weight the element above that place has.
"""

from __future__ import annotations

import builtins
import math
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, NamedTuple

from .._core.arrays.array import Array
from .._core.arrays.convert import as_floating, as_index, device_of, has_dtype, within_bounds
from .._core.arrays.leaving import knows_values
from .._core.arrays.ownership import read
from .._core.arrays.scratch import reuse
from .._core.calling.invoke import attempt
from .._core.engines import dtypes
from .._core.engines.tracing import unrepeatable
from .._core.values.shapes import as_axes, reduced
from ..errors import DtypeError, ShapeError
from .creation import full_beside
from .elementwise import add, clip, divide, equal, floor, greater, isnan, less, multiply, round
from .indexing import take, take_along_axis
from .manipulation import moveaxis, permute_dims, reshape, stack
from .searching import where
from .sorting import sort
from .statistical import max as greatest
from .statistical import min as least
from .statistical import sum

if TYPE_CHECKING:
    from ..typing import Scalar

Axis = int | tuple[int, ...] | None

# The parameters (alpha, beta). For all other methods both are 1: the quantiles 0 and 1 are the ends of the array.
_PARAMETERS = {
    "inverted_cdf": (0.0, 1.0),
    "averaged_inverted_cdf": (0.0, 1.0),
    "closest_observation": (-0.5, 1.5),
    "interpolated_inverted_cdf": (0.0, 1.0),
    "hazen": (0.5, 0.5),
    "weibull": (0.0, 0.0),
    "median_unbiased": (1 / 3, 1 / 3),
    "normal_unbiased": (3 / 8, 3 / 8),
}
# Methods that choose one of the elements, and so keep the dtype.
CHOOSING = frozenset({"inverted_cdf", "closest_observation", "lower", "higher", "nearest"})
# Those whose weights tell only whether a place lies between two elements.
_STEPWISE = (CHOOSING - {"nearest"}) | {"averaged_inverted_cdf", "midpoint"}
METHODS = (*_PARAMETERS, "linear", "lower", "higher", "midpoint", "nearest")
# For at most this many quantiles the array is only partitioned.
_FEW = 8


class _Steps(NamedTuple):
    """The functions that positions are computed with: of arrays, or of Python's numbers."""

    floor: Callable[[Any], Any]
    round: Callable[[Any], Any]
    # 1 for positive numbers, otherwise 0.
    is_positive: Callable[[Any], Any]


_OF_ARRAYS = _Steps(floor, round, lambda x: greater(x, 0).astype(x.dtype))
_OF_NUMBERS = _Steps(math.floor, builtins.round, lambda x: float(x > 0))


def _place(q: Any, count: Any, last: Any, method: str) -> Any:
    if method not in _PARAMETERS:
        return q * last
    alpha, beta = _PARAMETERS[method]
    return q * count + (q * (1 - alpha - beta) + alpha) - 1


def _below(place: Any, method: str, steps: _Steps) -> tuple[Any, Any]:
    """Return the index below a place, and the weight of the element above it; the one below it has the rest."""
    below = steps.floor(place)
    if method == "nearest":
        return below, steps.round(place) - below
    beyond = place - below
    if method not in _STEPWISE:
        return below, beyond
    between = steps.is_positive(beyond)
    if method in ("inverted_cdf", "higher"):
        return below, between
    if method == "averaged_inverted_cdf":
        return below, 0.5 + 0.5 * between
    if method == "closest_observation":
        # Halfway between two elements, take the one whose position, counted from 1, is even.
        return below, between + (1 - between) * (1 - below % 2)
    return below, (0.5 if method == "midpoint" else 0) * between


def known_values(x: Array) -> list[Any] | None:
    """Return the elements of an array as Python numbers, ``None`` inside a trace and on a lazy engine."""
    unrepeatable()
    return x._backend.to_numpy(read(x)).ravel().tolist() if knows_values(x) else None


def known_bounds(x: Array) -> tuple[Any, Any] | None:
    """Return the least and the greatest element, ``None`` inside a trace and on a lazy engine."""
    if not x._backend.has_values and knows_values(x):
        values = x._values()
        return values.min(), values.max()
    low, high = least(x), greatest(x)
    if knows_values(x) and device_of([x], x._backend) is not None:
        # An accelerator is waited for once.
        found = known_values(stack([low, high]))
        return None if found is None else (found[0], found[1])
    lows, highs = known_values(low), known_values(high)
    return None if lows is None or highs is None else (lows[0], highs[0])


def _checked(q: Array | Scalar, name: str, whole: int) -> list[float] | None:
    """Return quantiles, given as parts of a whole, as Python numbers if their values are known."""
    if dtypes.rank(q.dtype if isinstance(q, Array) else type(q)) > 2:
        raise DtypeError(f"q of {name}() is real, not {q.dtype if isinstance(q, Array) else type(q).__name__}")
    values = known_values(q) if isinstance(q, Array) else [float(q)]  # type: ignore[arg-type]
    outside = [each for each in values or () if not 0 <= each <= whole]
    if outside:
        raise ValueError(f"q of {name}() lies in [0, {whole}], unlike {outside[0]}")
    return None if values is None else [each / whole for each in values]


def _sorted_rows(x: Array, axes: tuple[int, ...], values: list[float] | None) -> Array:
    """Return ``x`` with ``axes`` as one, the first, and sorted along it, or no more than the quantiles need."""
    kept = tuple(axis for axis in range(x.ndim) if axis not in axes)
    rows = permute_dims(x, (*kept, *sorted(axes)))
    count = math.prod(x.shape[axis] for axis in axes)
    rows = reshape(rows, (*(x.shape[axis] for axis in kept), count))
    found = None
    if values is not None and len(values) <= _FEW:
        # The positions that any method may choose from, and the last one, where NaN is.
        near = (math.floor(count * each) + step for each in values for step in range(-3, 2))
        places = {min(max(place, 0), count - 1) for place in near} | {count - 1}
        found = attempt("partition", rows, places=tuple(sorted(places)))
    return moveaxis(sort(rows) if found is None else found, -1, 0)


def _chosen(rows: Array, index: Array) -> Array:
    # The indices differ along the other axes, or are the same for all of them.
    index = within_bounds(as_index(index), 0, len(rows) - 1)
    return take_along_axis(rows, index, axis=0) if index.ndim == rows.ndim > 1 else take(rows, index, axis=0)


def quantiles(
    x: Array,
    q: Array | Scalar,
    axis: Axis,
    method: str,
    keepdims: bool,
    name: str,
    *,
    passing_nan: bool = False,
    whole: int = 1,
) -> Array:
    """Return quantiles for parts of a ``whole``, of the numbers among the elements only where ``passing_nan``."""
    if method not in METHODS:
        raise ValueError(f"method of {name}() is one of {', '.join(METHODS)}, not {method!r}")
    if dtypes.rank(x.dtype) == 3:
        raise DtypeError(f"{name}() takes real numbers, which have an order, not {x.dtype}")
    if method not in CHOOSING:
        x = as_floating(x)
    floating = dtypes.rank(x.dtype) == 2
    axes = as_axes(axis, x.ndim)
    values = _checked(q, name, whole)
    shape = (*(q.shape if isinstance(q, Array) else ()), *reduced(x.shape, axes, keepdims))
    count = math.prod(x.shape[each] for each in axes)
    if count == 0:
        if not floating:
            raise ShapeError(
                f"{name}() of an array of shape {x.shape} has no elements along axis {axis} to choose from"
            )
        return full_beside(x, shape, math.nan, x.dtype)
    passing_nan = passing_nan and floating
    rows = _sorted_rows(x, axes, None if passing_nan else values)
    if values is not None and not isinstance(q, Array) and not passing_nan:
        result = _at_number(rows, values[0], count, method)
        if floating:
            result = where(isnan(rows[-1]), math.nan, result)
        return reshape(result.astype(x.dtype, copy=not floating), shape)
    wide = dtypes.float64 if has_dtype(x._backend, dtypes.float64) else dtypes.float32
    quantiles: Any = q if isinstance(q, Array) else float(q) / whole  # type: ignore[arg-type]
    if isinstance(q, Array):
        parts = q.astype(wide, copy=False)
        parts = parts if whole == 1 else divide(parts, whole)
        quantiles = reshape(parts, (-1,) + (1,) * (rows.ndim - 1) * passing_nan)
    # Nothing but NaN is unequal to itself.
    number = sum(equal(rows, rows), axis=0, dtype=wide, keepdims=True) if passing_nan else count
    last = number - 1
    below, weight = _below(_place(quantiles, number, last, method), method, _OF_ARRAYS)
    result = _between(rows, below, weight, last, choosing=method in CHOOSING)
    if floating and not passing_nan:
        result = where(isnan(rows[-1]), math.nan, result)
    return reshape(result.astype(x.dtype, copy=False), shape)


def _between(rows: Array, below: Array, weight: Array, last: Any, *, choosing: bool) -> Array:
    if choosing:
        return _chosen(rows, _within(below + weight, last))
    # With a weight of 0, take the mean of the element with itself: the next one may be infinite, and 0 * inf is NaN.
    alone = weight == 0
    above = where(alone, below, below + 1)
    weight = where(alone, 0.5, weight)
    low, high = _chosen(rows, _within(below, last)), _chosen(rows, _within(above, last))
    working = dtypes.single_of(rows.dtype)
    low, high, weight = (each.astype(working, copy=False) for each in (low, high, weight))
    if weight.ndim < low.ndim:
        weight = reshape(weight, weight.shape + (1,) * (low.ndim - weight.ndim))
    return _mixed(low, high, weight)


def _at_number(rows: Array, q: float, count: int, method: str) -> Array:
    """Return the quantile at one number, whose place Python computes: the elements beside it are views."""
    below, weight = _below(_place(q, count, count - 1, method), method, _OF_NUMBERS)
    places = [below, below + 1]
    if weight == 0 or method in CHOOSING:
        places = [below + int(weight)] * 2
    low, high = (rows[min(max(place, 0), count - 1)] for place in places)
    if places[0] == places[1]:
        return low
    working = dtypes.single_of(rows.dtype)
    return _mixed(low.astype(working, copy=False), high.astype(working, copy=False), weight)


def _mixed(low: Array, high: Array, weight: Any) -> Array:
    # This order can't overflow. Rounding may leave the interval by a bit, which is clipped.
    share = multiply(low, 1 - weight)
    result = add(share, multiply(high, weight), out=reuse(share))
    result = where(less(result, low), low, result)
    return where(greater(result, high), high, result)


def _within(place: Array, last: Any) -> Array:
    if isinstance(last, int):
        return clip(place, 0, last)
    # If there are no numbers at all, the first element is taken, which is NaN.
    return clip(clip(place, max=last), 0)
