"""Angles, the sinc function, and numbers in place of those that aren't finite."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from .._core.arrays.array import Array
from .._core.arrays.convert import as_floating
from .._core.declaring.declare import compositional, mixed
from .._core.engines import dtypes
from .._core.values.shapes import as_axis
from ..errors import DtypeError
from ._special import offered
from .data_type import finfo
from .elementwise import (
    abs,
    add,
    atan2,
    divide,
    equal,
    floor_divide,
    greater,
    imag,
    isnan,
    less,
    logical_and,
    multiply,
    real,
    remainder,
    sin,
    square,
    subtract,
)
from .manipulation import concat
from .searching import where
from .statistical import cumulative_sum
from .utility import diff

if TYPE_CHECKING:
    from ..typing import ArrayLike, Scalar


@compositional()
def angle(x: Array, /, *, deg: bool = False, out: Array | None = None) -> Array:
    """Return the angle of complex numbers, counterclockwise from the positive real axis.

    Parameters
    ----------
    x
        An array of any shape; of real numbers the angle is 0 or π.
    deg
        Whether to return degrees, not radians.
    out
        An array of the same shape for the result.

    Returns
    -------
    Array
        A new real array of the shape of ``x``, or ``out``.

    Examples
    --------
    >>> import unifyarr as ua
    >>> ua.angle(ua.asarray([1.0, 1j, -1.0]), deg=True)
    array([  0.,  90., 180.])

    Source: NumPy, ``angle``.
    """
    found = atan2(imag(x), real(x)) if dtypes.rank(x.dtype) == 3 else atan2(0, x)
    return multiply(found, 180 / math.pi) if deg else found


@compositional(takes_numbers=True)
def divmod(
    x1: ArrayLike | Scalar, x2: ArrayLike | Scalar, /, *, out: tuple[Array, ...] | None = None
) -> tuple[Array, Array]:
    """Return the quotient of floored division and its remainder: ``(floor_divide(x1, x2), remainder(x1, x2))``.

    Parameters
    ----------
    x1, x2
        Arrays whose shapes broadcast, or scalars.
    out
        A tuple of two arrays of the broadcast shape to write the results to; it's returned then.

    Returns
    -------
    tuple of Array
        Two new arrays of the broadcast shape, or ``out``.

    Examples
    --------
    >>> import unifyarr as ua
    >>> ua.divmod(ua.asarray([7, -7]), 3)
    (array([ 2, -3]), array([1, 2]))

    Source: NumPy, ``divmod``.
    """
    return floor_divide(x1, x2), remainder(x1, x2)


@mixed()
def nan_to_num(
    x: Array,
    /,
    *,
    nan: float = 0.0,
    posinf: float | None = None,
    neginf: float | None = None,
    out: Array | None = None,
) -> Array:
    """Return an array with finite numbers in place of NaN and infinities.

    Parameters
    ----------
    x
        An array of any shape; of complex numbers each part is treated by itself.
    nan
        What stands for NaN.
    posinf, neginf
        What stands for the infinities: by default the greatest and the least number of the dtype.
    out
        An array of the same shape for the result.

    Returns
    -------
    Array
        A new array of the shape and dtype of ``x``, or ``out``.

    Examples
    --------
    >>> import unifyarr as ua
    >>> ua.nan_to_num(ua.asarray([1.0, ua.nan, -ua.inf]), neginf=-9.0)
    array([ 1.,  0., -9.])

    Source: NumPy, ``nan_to_num``.
    """
    rank = dtypes.rank(x.dtype)
    if rank < 2:
        return x.copy()
    greatest = float(finfo(dtypes.real_of(x.dtype)).max)
    high, low = (greatest if posinf is None else posinf), (-greatest if neginf is None else neginf)
    found = offered("nan_to_num", x, dtype=x.dtype, nan=nan, posinf=high, neginf=low)
    if found is not None:
        return found

    def finite(part: Array) -> Array:
        known = where(isnan(part), nan, part)
        return where(equal(known, -math.inf), low, where(equal(known, math.inf), high, known))

    if rank == 2:
        return finite(x)
    result = finite(real(x)).astype(x.dtype)
    imag(result)[...] = finite(imag(x))
    return result


# Up to this size sin(y) / y is a short series in y².
_NEAR = 0.25
_SERIES = [(-1) ** n / math.factorial(2 * n + 1) for n in range(1, 7)]


@mixed()
def sinc(x: Array, /, *, out: Array | None = None) -> Array:
    """Compute ``sin(πx) / (πx)``, which is 1 at 0.

    Parameters
    ----------
    x
        An array of any shape.
    out
        An array of the same shape for the result.

    Returns
    -------
    Array
        A new floating-point array of the shape of ``x``, or ``out``.

    Examples
    --------
    >>> import unifyarr as ua
    >>> ua.sinc(ua.asarray([0.0, 0.5]))
    array([1.        , 0.63661977])

    Source: NumPy, ``sinc``.
    """
    if dtypes.rank(x.dtype) == 2:
        found = offered("sinc", x, dtype=x.dtype)
        if found is not None:
            return found
    scaled = multiply(x, math.pi)
    # Near zero the derivatives of the quotient are differences of large numbers, and at zero it has none.
    near = less(abs(scaled), _NEAR)
    power = square(where(near, scaled, 0))
    series = multiply(power, _SERIES[-1])
    for term in _SERIES[-2::-1]:
        series = multiply(add(series, term), power)
    scaled = where(near, 1, scaled)
    return where(near, add(series, 1), divide(sin(scaled), scaled))


@compositional()
def unwrap(
    p: Array,
    /,
    *,
    discont: float | None = None,
    axis: int = -1,
    period: float = 2 * math.pi,
    out: Array | None = None,
) -> Array:
    """Remove jumps from angles: add multiples of the period, so that neighbours differ by half a period at most.

    Parameters
    ----------
    p
        A real array of at least one dimension.
    discont
        The least difference that is a jump; half the period by default, and at least.
    axis
        The axis.
    period
        The period; with an integer period, signed integers stay integers.
    out
        An array of the same shape for the result.

    Returns
    -------
    Array
        A new array of the shape of ``p``, or ``out``.

    Raises
    ------
    DtypeError
        If ``p`` is complex.

    Examples
    --------
    >>> import unifyarr as ua
    >>> ua.unwrap(ua.asarray([0, 1, 2, -1, 0]), period=4)
    array([0, 1, 2, 3, 4])

    Source: NumPy, ``unwrap``.
    """
    axis = as_axis(axis, p.ndim)
    if dtypes.rank(p.dtype) > 2:
        raise DtypeError(f"unwrap() takes real angles, not {p.dtype}: angle() has those of complex numbers")
    whole = isinstance(period, int) and p.dtype.kind == "i"
    p = p if whole else as_floating(p)
    half = period // 2 if whole else period / 2
    # Where half a period is a number of the dtype, a step of it up stays one up.
    ambiguous = not whole or period % 2 == 0
    step = diff(p, axis=axis)
    wrapped = add(remainder(add(step, half), period), -half)
    if ambiguous:
        wrapped = where(logical_and(equal(wrapped, -half), greater(step, 0)), half, wrapped)
    least = period / 2 if discont is None else discont
    correction = where(less(abs(step), least), 0, subtract(wrapped, step))
    before = (slice(None),) * axis
    first, rest = p[(*before, slice(None, 1))], p[(*before, slice(1, None))]
    return concat([first, add(rest, cumulative_sum(correction, axis=axis, dtype=p.dtype))], axis=axis)
