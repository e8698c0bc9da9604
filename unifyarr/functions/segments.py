"""Reductions over segments: the parts of an array that have one number in common."""

from __future__ import annotations

from typing import TYPE_CHECKING, SupportsIndex

from .._core.arrays.array import Array
from .._core.arrays.convert import as_floating, as_index, within_bounds
from .._core.arrays.scratch import room
from .._core.calling.invoke import invoke
from .._core.declaring.declare import compositional
from .._core.engines import dtypes
from .._core.values.arguments import as_integer
from .._core.values.lengths import equal_as_known, leading
from .._core.values.shapes import check_memory
from ..errors import DtypeError, ShapeError, UnknownShapeError
from ._quantiles import known_bounds
from .creation import full_beside, ones_like
from .manipulation import reshape
from .nan_reductions import per_number
from .scattering import check_mode, identity, working_dtype
from .statistical import accumulator

if TYPE_CHECKING:
    from .._core.engines.dtypes import DType


def _ids_and_count(x: Array, ids: Array, num_segments: SupportsIndex | None, name: str) -> tuple[Array, int]:
    if dtypes.rank(ids.dtype) != 1:
        raise DtypeError(f"{name}() takes segment_ids of integers, not of {ids.dtype}")
    if ids.ndim != 1 or x.ndim == 0 or not equal_as_known(leading(x.shape, 1), ids.shape):
        raise ShapeError(
            f"{name}() takes 1-d segment_ids, one for each element of the first axis of x, but they have shape "
            f"{ids.shape} and x has {x.shape}"
        )
    ids = as_index(ids)
    count = None if num_segments is None else as_integer(num_segments, "num_segments")
    if count is not None and count < 0:
        raise ValueError(f"num_segments is not negative, unlike {count}")
    if tuple.__getitem__(ids.shape, 0) == 0:
        return ids, count or 0
    bounds = known_bounds(ids)
    if bounds is None:
        if count is None:
            raise UnknownShapeError(
                f"how many segments {name}() has isn't known before values are computed: say it, with num_segments="
            )
        return ids, count
    low, high = bounds
    if low < 0 or (count is not None and high >= count):
        wanted = "not negative" if count is None else f"in range({count})"
        raise IndexError(f"segment_ids of {name}() are {wanted}, but one is {low if low < 0 else high}")
    return within_bounds(ids, int(low), int(high)), int(high) + 1 if count is None else count


def combine_segments(x: Array, ids: Array, count: int, mode: str, dtype: DType, out: Array | None = None) -> Array:
    """Reduce the segments of ``x``, whose ``ids`` are int64 and in bounds, to an array of ``dtype``."""
    shape, working = (count, *x.shape[1:]), working_dtype(dtype, mode)
    check_memory(shape, working)
    x = x.astype(working, copy=False)
    total = room(out, shape, working, x, ids)
    nothing = identity(mode, working)
    if total is None:
        total = full_beside(x, shape, nothing, working)
    else:
        total[...] = nothing
    # If gradients are recorded, the engine may need the old values of the total: then it isn't overwritten.
    target = room(total, shape, working, x, ids)
    result = invoke("scatter_reduce", total, x, ids, reduction=mode, out=target, result=(shape, working), aligned=True)
    return result.astype(dtype, copy=False)


def _segment(
    mode: str, name: str, x: Array, ids: Array, num_segments: SupportsIndex | None, out: Array | None
) -> Array:
    check_mode(mode, x.dtype, name)
    ids, count = _ids_and_count(x, ids, num_segments, name)
    dtype = accumulator(x, None) if mode in ("add", "multiply") else x.dtype
    return combine_segments(x, ids, count, mode, dtype, out)


@compositional(scratch=True)
def segment_max(
    x: Array, segment_ids: Array, /, *, num_segments: SupportsIndex | None = None, out: Array | None = None
) -> Array:
    """Return the greatest element of each segment; NaN where there is one.

    Parameters
    ----------
    x
        An array of at least one dimension.
    segment_ids
        A 1-d array of integers, in any order: for each element of the first axis of ``x`` the number of its segment.
    num_segments
        How many segments there are; by default one more than the greatest number, which inside a trace isn't known.
    out
        An array of the result's shape for the result.

    Returns
    -------
    Array
        A new array of shape ``(num_segments, *x.shape[1:])``, or ``out``; where a segment is
        empty, the least value of the dtype (-inf, False).

    Raises
    ------
    IndexError
        If a number is negative or not less than ``num_segments``; inside a trace, where values aren't known, the
        engine's own rule holds.
    ShapeError
        If there isn't one number for each element of the first axis.
    DtypeError
        If ``x`` is complex.

    Examples
    --------
    >>> import unifyarr as ua
    >>> ua.segment_max(ua.asarray([1.0, 2.0, 3.0]), ua.asarray([0, 2, 0]))
    array([  3., -inf,   2.])

    Source: TensorFlow, ``tf.math.unsorted_segment_max``.
    """
    return _segment("max", "segment_max", x, segment_ids, num_segments, out)


@compositional(scratch=True)
def segment_mean(
    x: Array, segment_ids: Array, /, *, num_segments: SupportsIndex | None = None, out: Array | None = None
) -> Array:
    """Return the arithmetic mean of each segment.

    Parameters
    ----------
    x
        An array of at least one dimension; bools and integers are averaged as float64.
    segment_ids
        A 1-d array of integers, in any order: for each element of the first axis of ``x`` the number of its segment.
    num_segments
        How many segments there are; by default one more than the greatest number, which inside a trace isn't known.
    out
        An array of the result's shape for the result.

    Returns
    -------
    Array
        A new array of shape ``(num_segments, *x.shape[1:])``, or ``out``; where a segment is empty, NaN.

    Raises
    ------
    IndexError
        If a number is negative or not less than ``num_segments``; inside a trace, where values aren't known, the
        engine's own rule holds.
    ShapeError
        If there isn't one number for each element of the first axis.

    Examples
    --------
    >>> import unifyarr as ua
    >>> ua.segment_mean(ua.asarray([1.0, 2.0, 3.0]), ua.asarray([0, 2, 0]))
    array([ 2., nan,  2.])

    Source: TensorFlow, ``tf.math.unsorted_segment_mean``.
    """
    x = as_floating(x)
    ids, count = _ids_and_count(x, segment_ids, num_segments, "segment_mean")
    working = dtypes.single_of(x.dtype)
    total = combine_segments(x, ids, count, "add", working, out)
    number = combine_segments(ones_like(ids, dtype=dtypes.real_of(working)), ids, count, "add", dtypes.real_of(working))
    return per_number(total, reshape(number, (count,) + (1,) * (x.ndim - 1))).astype(x.dtype, copy=False)


@compositional(scratch=True)
def segment_min(
    x: Array, segment_ids: Array, /, *, num_segments: SupportsIndex | None = None, out: Array | None = None
) -> Array:
    """Return the least element of each segment; NaN where there is one.

    Parameters
    ----------
    x
        An array of at least one dimension.
    segment_ids
        A 1-d array of integers, in any order: for each element of the first axis of ``x`` the number of its segment.
    num_segments
        How many segments there are; by default one more than the greatest number, which inside a trace isn't known.
    out
        An array of the result's shape for the result.

    Returns
    -------
    Array
        A new array of shape ``(num_segments, *x.shape[1:])``, or ``out``; where a segment is
        empty, the greatest value of the dtype (inf, True).

    Raises
    ------
    IndexError
        If a number is negative or not less than ``num_segments``; inside a trace, where values aren't known, the
        engine's own rule holds.
    ShapeError
        If there isn't one number for each element of the first axis.
    DtypeError
        If ``x`` is complex.

    Examples
    --------
    >>> import unifyarr as ua
    >>> ua.segment_min(ua.asarray([1.0, 2.0, 3.0]), ua.asarray([0, 2, 0]))
    array([ 1., inf,  2.])

    Source: TensorFlow, ``tf.math.unsorted_segment_min``.
    """
    return _segment("min", "segment_min", x, segment_ids, num_segments, out)


@compositional(scratch=True)
def segment_prod(
    x: Array, segment_ids: Array, /, *, num_segments: SupportsIndex | None = None, out: Array | None = None
) -> Array:
    """Return the product of the elements of each segment.

    Parameters
    ----------
    x
        An array of at least one dimension; bools and small integers are multiplied in int64 or uint64.
    segment_ids
        A 1-d array of integers, in any order: for each element of the first axis of ``x`` the number of its segment.
    num_segments
        How many segments there are; by default one more than the greatest number, which inside a trace isn't known.
    out
        An array of the result's shape for the result.

    Returns
    -------
    Array
        A new array of shape ``(num_segments, *x.shape[1:])``, or ``out``; where a segment is empty, 1.

    Raises
    ------
    IndexError
        If a number is negative or not less than ``num_segments``; inside a trace, where values aren't known, the
        engine's own rule holds.
    ShapeError
        If there isn't one number for each element of the first axis.

    Notes
    -----
    JAX records no gradient of it.

    Examples
    --------
    >>> import unifyarr as ua
    >>> ua.segment_prod(ua.asarray([1.0, 2.0, 3.0]), ua.asarray([0, 2, 0]))
    array([3., 1., 2.])

    Source: TensorFlow, ``tf.math.unsorted_segment_prod``.
    """
    return _segment("multiply", "segment_prod", x, segment_ids, num_segments, out)


@compositional(scratch=True)
def segment_sum(
    x: Array, segment_ids: Array, /, *, num_segments: SupportsIndex | None = None, out: Array | None = None
) -> Array:
    """Return the sum of the elements of each segment.

    Parameters
    ----------
    x
        An array of at least one dimension; bools and small integers are added in int64 or uint64.
    segment_ids
        A 1-d array of integers, in any order: for each element of the first axis of ``x`` the number of its segment.
    num_segments
        How many segments there are; by default one more than the greatest number, which inside a trace isn't known.
    out
        An array of the result's shape for the result.

    Returns
    -------
    Array
        A new array of shape ``(num_segments, *x.shape[1:])``, or ``out``; where a segment is empty, 0.

    Raises
    ------
    IndexError
        If a number is negative or not less than ``num_segments``; inside a trace, where values aren't known, the
        engine's own rule holds.
    ShapeError
        If there isn't one number for each element of the first axis.

    Examples
    --------
    >>> import unifyarr as ua
    >>> ua.segment_sum(ua.asarray([1.0, 2.0, 3.0]), ua.asarray([0, 2, 0]))
    array([4., 0., 2.])

    Source: TensorFlow, ``tf.math.unsorted_segment_sum``.
    """
    return _segment("add", "segment_sum", x, segment_ids, num_segments, out)
