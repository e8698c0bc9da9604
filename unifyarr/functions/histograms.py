"""Counting: how often integers occur, and how many elements fall into bins."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np

from .._core.arrays.array import Array
from .._core.arrays.convert import as_floating, as_index, device_of, from_host, has_dtype
from .._core.arrays.leaving import must_stay
from .._core.arrays.numbers import as_number
from .._core.calling.invoke import attempt
from .._core.declaring.declare import mixed
from .._core.engines import dtypes
from .._core.engines.dtypes import DType
from .._core.values.arguments import as_integer, shown
from .._core.values.shapes import check_memory
from ..errors import DtypeError, ShapeError, UnknownShapeError
from ._from_numbers import entered
from ._quantiles import known_bounds, known_values
from .creation import full_beside, ones_like
from .elementwise import clip, divide, equal, greater_equal, less, logical_and, subtract
from .manipulation import reshape
from .searching import searchsorted, where
from .segments import combine_segments
from .statistical import max, min, sum
from .utility import diff


def _check_weights(x: Array, weights: Array | None, name: str) -> None:
    if weights is not None and weights.shape != x.shape:
        raise ShapeError(
            f"{name}() takes a weight for each element of shape {x.shape}, but weights has {weights.shape}"
        )


@mixed(scratch=True)
def bincount(x: Array, /, *, weights: Array | None = None, minlength: int = 0, out: Array | None = None) -> Array:
    """Count how often each of the integers from 0 on occurs, or add up the weights of its occurrences.

    Parameters
    ----------
    x
        A 1-d array of integers that aren't negative, or of bools.
    weights
        An array of the shape of ``x``: what each element counts; bools and integers are taken as float64.
    minlength
        The least length of the result.
    out
        An array of the result's shape for the result.

    Returns
    -------
    Array
        A new array, or ``out``, whose length is one more than the greatest element: int64, or of the dtype of the
        weights.

    Raises
    ------
    ValueError
        If an element or ``minlength`` is negative.
    ShapeError
        If ``x`` isn't 1-d, if the weights have another shape, or inside a trace, where the length isn't known.

    See Also
    --------
    segment_sum : with the length given, works inside a trace too.

    Examples
    --------
    >>> import unifyarr as ua
    >>> ua.bincount(ua.asarray([0, 1, 1, 3]))
    array([1, 2, 0, 1])
    >>> ua.bincount(ua.asarray([0, 1, 1, 3]), weights=ua.asarray([0.5, 1.0, 2.0, 4.0]))
    array([0.5, 3. , 0. , 4. ])

    Source: NumPy, ``bincount``.
    """
    if dtypes.rank(x.dtype) > 1:
        raise DtypeError(f"bincount() counts integers, not {x.dtype}")
    if x.ndim != 1:
        raise ShapeError(f"bincount() counts the elements of a 1-d array, not of one of shape {x.shape}: flatten it")
    _check_weights(x, weights, "bincount")
    length = as_integer(minlength, "minlength")
    if length < 0:
        raise ValueError(f"minlength is not negative, unlike {length}")
    ids = as_index(x)
    # A dtype whose numbers all have a place decides the length without values.
    if 0 not in ids.shape and not 0 <= _greatest(x.dtype) < length:
        bounds = known_bounds(ids)
        if bounds is None:
            raise UnknownShapeError(
                "the length of bincount() depends on values, which aren't known before they are computed: give it, "
                "with segment_sum(ones_like(x), x, num_segments=...), or call x.compute() first"
            )
        low, high = bounds
        if low < 0:
            raise ValueError(f"bincount() counts integers that aren't negative, unlike {low}")
        length = length if length > high else int(high) + 1
    given = [] if weights is None else [as_floating(weights)]
    check_memory((length,), given[0].dtype if given else ids.dtype)
    counted = attempt("bincount", ids, *given, length=length, out=out)
    if counted is not None:
        return counted
    values = given[0] if given else ones_like(ids)
    return combine_segments(values, ids, length, "add", values.dtype, out)


def _greatest(dtype: DType) -> int:
    """Return the greatest number of a dtype that has no negative ones, -1 for others."""
    if dtype is dtypes.bool:
        return 1
    return int(np.iinfo(dtype.dtype).max) if dtype.dtype.kind == "u" else -1


@mixed(kernels=("count_between",))
def histogram(
    x: Array,
    /,
    bins: int | Array = 10,
    *,
    range: tuple[float, float] | None = None,
    weights: Array | None = None,
    density: bool = False,
    out: tuple[Array, ...] | None = None,
) -> tuple[Array, ...]:
    """Count how many elements fall into each of several bins.

    A bin holds its lower edge but not its upper one; the last holds both. Elements outside of all bins, NaN among them,
    don't count.

    Parameters
    ----------
    x
        An array of real numbers; its shape doesn't matter.
    bins
        How many bins of equal width there are, or a 1-d array of their edges, which don't descend.
    range
        The first and the last of the edges of bins of equal width; the least and the greatest element by default, or 0
        and 1 if there is none. If they are equal, the edges are half below and half above them.
    weights
        An array of the shape of ``x``: what each element counts.
    density
        Whether the counts are divided by their sum and the width of the bin, so that the integral is 1.
    out
        A tuple of two arrays, of the results' shapes, to write the results to; it's returned then.

    Returns
    -------
    tuple of Array
        The counts, int64 or of the dtype of the weights, with ``density`` float64 or complex128; and the edges, which
        have one element more. Edges of equal bins are floating-point numbers of the dtype of ``x``, float64 for
        integers; eagerly they are NumPy's to the last bit, inside a trace to rounding.

    Raises
    ------
    ValueError
        If there's no bin, ``range`` isn't finite, descends or has too few numbers for the bins, or the edges descend.
    ShapeError
        If the weights have another shape, or the edges aren't 1-d.
    DtypeError
        If ``x`` is complex.

    Examples
    --------
    >>> import unifyarr as ua
    >>> counts, edges = ua.histogram(ua.asarray([0.5, 1.0, 2.0, 3.0, 9.0]), 3, range=(0, 3))
    >>> counts
    array([1, 1, 2])
    >>> edges
    array([0., 1., 2., 3.])

    Source: NumPy, ``histogram``.
    """
    if dtypes.rank(x.dtype) == 3:
        raise DtypeError(f"histogram() takes real numbers, which have an order, not {x.dtype}")
    _check_weights(x, weights, "histogram")
    x = reshape(x, (-1,)) if 0 not in x.shape else reshape(x, (0,))
    uniform = not (isinstance(bins, Array) and bins.ndim)
    edges = _equal_edges(x, as_integer(bins, "bins"), range) if uniform else _given_edges(bins)  # type: ignore[arg-type]
    weights = None if weights is None else reshape(weights, x.shape)
    counts = _counted(x, edges, weights, uniform)
    if density:
        width = diff(edges.astype(dtypes.float64 if has_dtype(x._backend, dtypes.float64) else dtypes.float32))
        counts = divide(divide(counts, width), sum(counts))
    return counts, edges


def _counted(x: Array, edges: Array, weights: Array | None, uniform: bool) -> Array:
    dtype = dtypes.promote(x.dtype, edges.dtype)
    operands = [x.astype(dtype, copy=False), edges.astype(dtype, copy=False)]
    operands += [] if weights is None else [weights]
    counted = attempt("count_between", *operands, uniform=uniform)
    if counted is not None:
        return counted
    count = edges.shape[0] - 1
    place = subtract(searchsorted(edges, x, side="right"), 1)
    place = where(equal(x, edges[-1]), count - 1, place)
    inside = logical_and(greater_equal(place, 0), less(place, count))
    values = as_index(inside) if weights is None else _within(inside, weights)
    return combine_segments(values, clip(place, 0, count - 1), count, "add", values.dtype)


def _within(inside: Array, weights: Array) -> Array:
    return where(inside, weights, full_beside(weights, (), 0, weights.dtype))


def _given_edges(bins: Array) -> Array:
    if bins.ndim != 1 or bins.shape[0] < 2:
        raise ShapeError(f"the edges of bins are a 1-d array of two or more, not one of shape {bins.shape}")
    if dtypes.rank(bins.dtype) == 3:
        raise DtypeError(f"the edges of bins are real numbers, not {bins.dtype}")
    edges = known_values(bins)
    if edges is not None and any(low > high for low, high in pairwise(edges)):
        raise ValueError("the edges of bins don't descend, but these do: sort them")
    return bins.copy()


def _equal_edges(x: Array, count: int, range: tuple[float, float] | None) -> Array:
    if count < 1:
        raise ValueError(f"histogram() counts in one bin or more, not in {count}")
    dtype = x.dtype if dtypes.rank(x.dtype) > 1 else dtypes.float64
    ends: tuple[Any, Any] = (0.0, 1.0)
    if range is not None:
        try:
            first, last = (as_number(each, "range of histogram()") for each in range)
        except (TypeError, ValueError):
            raise TypeError(f"the range of a histogram is a pair of numbers, not {shown(range)}") from None
        ends = (float(first.known), float(last.known))
        if not ends[0] <= ends[1] or not np.isfinite(ends).all():
            raise ValueError(f"the range of a histogram is finite and doesn't descend, unlike {range}")
        if first.stays or last.stays:
            device = device_of([x], x._backend)
            least, most = (entered(each, x._backend, device, dtype) for each in (first, last))
            return _composed_edges(least, most, count)
    elif x.size:
        x = x.astype(dtypes.uint8) if x.dtype == dtypes.bool else x
        least, most = min(x), max(x)
        if must_stay(least):
            return _composed_edges(as_floating(least), as_floating(most), count)
        # NumPy rounds to the dtype at each step, but it doesn't know bfloat16.
        working = dtypes.float32.dtype if x.dtype == dtypes.bfloat16 else x.dtype.dtype
        ends = (_value(least, working), _value(most, working))
        if not np.isfinite(ends).all():
            raise ValueError(f"bins from {ends[0]} to {ends[1]} have no width: give a finite range=(first, last)")
    if ends[0] == ends[1]:
        ends = (ends[0] - 0.5, ends[1] + 0.5)
    edges = np.linspace(*ends, count + 1).astype(dtype.dtype)
    if not (edges[:-1] < edges[1:]).all():
        raise ValueError(
            f"there are no {count} bins from {ends[0]} to {ends[1]} in {dtype}: take fewer, or a wider range"
        )
    return from_host(edges, dtype, x.device, x._backend, varies=True)


def _value(x: Array, dtype: np.dtype[Any]) -> Any:
    return x._values().astype(dtype)[()]


def _composed_edges(least: Array, most: Array, count: int) -> Array:
    same = equal(least, most)
    least, most = where(same, least - 0.5, least), where(same, most + 0.5, most)
    step = from_host(np.arange(count + 1), least.dtype, least.device, least._backend)
    return where(equal(step, count), most, step * ((most - least) / count) + least)
