"""Interpolation between the points of a sampled function."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from .._core.arrays.array import Array
from .._core.arrays.convert import within_bounds
from .._core.calling.invoke import attempt
from .._core.declaring.declare import mixed
from .._core.engines import dtypes
from ..errors import DtypeError, ShapeError
from .elementwise import (
    add,
    divide,
    equal,
    greater,
    imag,
    isfinite,
    isinf,
    isnan,
    less,
    logical_and,
    logical_or,
    minimum,
    multiply,
    not_equal,
    real,
    remainder,
    subtract,
)
from .linalg import narrowed, widened
from .manipulation import concat
from .searching import searchsorted, where
from .sorting import argsort
from .statistical import cumulative_sum

if TYPE_CHECKING:
    from ..typing import Scalar


@mixed()
def interp(
    x: Array,
    xp: Array,
    fp: Array,
    /,
    *,
    left: Scalar | None = None,
    right: Scalar | None = None,
    period: float | None = None,
    out: Array | None = None,
) -> Array:
    """Interpolate linearly between the points of a function of one variable.

    Parameters
    ----------
    x
        Where to evaluate it: a real array of any shape.
    xp
        The places of the points: a real 1-d array, ascending unless there's a period, with NaN at its end. Between a
        point and one at NaN the value is NaN. It isn't checked, as it isn't by NumPy: places in another order have
        values that depend on the backend.
    fp
        The values at the points: a 1-d array of the same length, real or complex.
    left, right
        The values before the first point and after the last one: by default those at these points.
    period
        The period of ``x`` and ``xp``: the points may come in any order, ``left`` and ``right`` count for nothing.
    out
        An array of the result's shape for the result.

    Returns
    -------
    Array
        A new array of the shape of ``x``, of the floating-point dtype that the three promote to, or ``out``.

    Raises
    ------
    ShapeError
        If the points aren't 1-d arrays of one length, or there are none.
    DtypeError
        If ``x`` or ``xp`` is complex, or ``left`` or ``right`` where ``fp`` is real.
    ValueError
        If the period is zero.

    Examples
    --------
    >>> import unifyarr as ua
    >>> ua.interp(ua.asarray([0.5, 2.5]), ua.asarray([0, 1, 2]), ua.asarray([0, 10, 30]))
    array([ 5., 30.])

    Source: values as NumPy's ``interp``, in the dtype that the arrays promote to.
    """
    _check_points(x, xp, fp, period)
    dtype, (values,) = widened(fp.astype(dtypes.promote(x.dtype, xp.dtype, fp.dtype), copy=False))
    x, xp = (each.astype(dtypes.real_of(values.dtype), copy=False) for each in (x, xp))
    for value in (left, right):
        if isinstance(value, complex) and dtypes.rank(dtype) < 3:
            raise DtypeError(f"left and right are real where fp is, unlike {value!r}")
    if period is not None:
        x, xp, values = _periodic(x, xp, values, abs(float(period)))
        left = right = None
    result = (x.shape, values.dtype)
    found = attempt("interp", x, xp, values, left=left, right=right, out=_of(out, dtype, values), result=result)
    if found is not None:
        return narrowed(found, dtype)
    within = _between(x, xp, values)
    before = where(less(x, xp[0, ...]), values[0, ...] if left is None else left, within)
    return narrowed(where(greater(x, xp[-1, ...]), values[-1, ...] if right is None else right, before), dtype)


def _check_points(x: Array, xp: Array, fp: Array, period: float | None) -> None:
    if xp.ndim != 1 or fp.shape != xp.shape or not xp.size:
        raise ShapeError(f"interp() takes 1-d points, one or more, of one length: not of shapes {xp.shape}, {fp.shape}")
    if dtypes.rank(x.dtype) > 2 or dtypes.rank(xp.dtype) > 2:
        raise DtypeError(f"interp() takes real x and xp, not {x.dtype} and {xp.dtype}")
    if period is not None and not period:
        raise ValueError("the period of interp() isn't zero")


def _of(out: Array | None, dtype: dtypes.DType, values: Array) -> Array | None:
    # ``out`` takes only values of the result's dtype: other ones are cast first.
    return out if dtypes.rank(dtype) < 2 or dtype == values.dtype else None


def _periodic(x: Array, xp: Array, fp: Array, period: float) -> tuple[Array, Array, Array]:
    # Reduce all points to one period, and add the next point on both sides.
    x, xp = remainder(x, period), remainder(xp, period)
    order = argsort(xp)
    xp, fp = xp[order], fp[order]
    return x, concat([xp[-1:] - period, xp, xp[:1] + period]), concat([fp[-1:], fp, fp[:1]])


def _between(x: Array, xp: Array, fp: Array) -> Array:
    # Interpolate between the two points around each element of ``x``, which lies between the first and the last point.
    if xp.size == 1:
        return fp[0, ...]
    inner = xp[1:]
    # NaN is sorted last, so that points after a NaN are never used.
    reached = equal(cumulative_sum(isnan(inner)), 0)
    passed = searchsorted(where(reached, inner, math.nan), x, side="right")
    before = within_bounds(minimum(passed, xp.size - 2), 0, xp.size - 2)
    after = within_bounds(before + 1, 1, xp.size - 1)
    place = x, xp[before], xp[after]
    if dtypes.rank(fp.dtype) < 3:
        found = _on_line(*place, fp[before], fp[after])
    else:
        # The product of an infinity with a complex number would have NaN in both parts.
        parts = [_on_line(*place, part[before], part[after]) for part in (real(fp), imag(fp))]
        found = parts[0].astype(fp.dtype)
        imag(found)[...] = parts[1]
    found = where(equal(passed, xp.size - 1), fp[-1, ...], found)
    return where(isnan(x), x, found)


def _on_line(x: Array, x0: Array, x1: Array, y0: Array, y1: Array) -> Array:
    """Return the ordinates of real points between two others.

    For infinite points the result is the limit, if there is one: halfway to a point with an infinite abscissa the
    ordinate is that of the other point.
    """
    width, offset = subtract(x1, x0), subtract(x, x0)
    ordinary = isfinite(add(width, offset))
    for each in (y0, y1):
        ordinary = logical_and(ordinary, isfinite(each))
    ordinary = logical_and(ordinary, not_equal(width, 0))
    # Replace numbers that aren't ordinary: their gradients aren't finite, and would make all of them NaN.
    share = divide(where(ordinary, offset, 0), where(ordinary, width, 1))
    half0, half1 = multiply(y0, 0.5), multiply(y1, 0.5)
    # The difference of the halves is finite where that of the values might overflow.
    mixture = multiply(add(half0, multiply(share, subtract(half1, half0))), 2)
    infinities = [isinf(each) for each in (x0, x1, y0, y1)]
    count = add(*(add(*(each.astype(dtypes.int8) for each in pair)) for pair in (infinities[:2], infinities[2:])))
    limit = where(logical_or(infinities[0], infinities[3]), y1, y0)
    # With two infinities there's no limit.
    unknown = logical_or(greater(count, 1), isnan(add(width, add(y0, y1))))
    limit = where(unknown, math.nan, limit)
    # At a point, and between two equal values, an infinity or NaN beside it has no effect.
    limit = where(logical_or(equal(x, x0), equal(y0, y1)), y0, limit)
    return where(ordinary, mixture, limit)
