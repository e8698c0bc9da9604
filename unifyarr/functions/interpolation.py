"""Interpolation between the points of a sampled function."""

from __future__ import annotations

from typing import TYPE_CHECKING

from .._core import dtypes
from .._core.call import attempt
from .._core.declare import mixed
from ..errors import DtypeError, ShapeError
from .elementwise import (
    add,
    clip,
    divide,
    equal,
    greater,
    isnan,
    less,
    logical_and,
    logical_or,
    multiply,
    remainder,
    subtract,
)
from .linalg_extension import narrowed, widened
from .manipulation import concat
from .searching import searchsorted, where
from .sorting import argsort

if TYPE_CHECKING:
    from ..array import Array
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
        The places of the points: a real 1-d array, ascending unless there's a period.
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
    last = where(equal(x, xp[-1, ...]), values[-1, ...], before)
    return narrowed(where(greater(x, xp[-1, ...]), values[-1, ...] if right is None else right, last), dtype)


def _check_points(x: Array, xp: Array, fp: Array, period: float | None) -> None:
    if xp.ndim != 1 or fp.shape != xp.shape or not xp.size:
        raise ShapeError(f"interp() takes 1-d points, one or more, of one length: not of shapes {xp.shape}, {fp.shape}")
    if dtypes.rank(x.dtype) > 2 or dtypes.rank(xp.dtype) > 2:
        raise DtypeError(f"interp() takes real x and xp, not {x.dtype} and {xp.dtype}")
    if period is not None and not period:
        raise ValueError("the period of interp() isn't zero")


def _of(out: Array | None, dtype: dtypes.DType, values: Array) -> Array | None:
    # What is computed in another dtype than the result's is cast to it first.
    return out if dtypes.rank(dtype) < 2 or dtype == values.dtype else None


def _periodic(x: Array, xp: Array, fp: Array, period: float) -> tuple[Array, Array, Array]:
    # All within one period, and the points next to it on both sides.
    x, xp = remainder(x, period), remainder(xp, period)
    order = argsort(xp)
    xp, fp = xp[order], fp[order]
    return x, concat([xp[-1:] - period, xp, xp[:1] + period]), concat([fp[-1:], fp, fp[:1]])


def _between(x: Array, xp: Array, fp: Array) -> Array:
    # The values between the points next to each place; of none before the first and after the last point.
    if xp.size == 1:
        return fp[0, ...]
    after = clip(searchsorted(xp, x, side="right"), 1, xp.size - 1)
    before = after - 1
    x0, x1, y0, y1 = xp[before], xp[after], fp[before], fp[after]
    width = subtract(x1, x0)
    # No division by zero, which would spoil gradients even where its result isn't chosen.
    share = divide(subtract(x, x0), where(equal(width, 0), 1, width))
    # Infinitely far from the point before is at the point after.
    share = where(logical_and(isnan(share), equal(x, x)), 1, share)
    mixture = add(multiply(y0, subtract(1, share)), multiply(y1, share))
    # At a point, and between two equal values, not even an infinite value beside it counts.
    return where(logical_or(equal(x, x0), equal(y0, y1)), y0, mixture)
