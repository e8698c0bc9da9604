"""Reductions that pass over NaN.

NaN is replaced before anything is computed with it, so that no gradient comes back through it as NaN.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from .._core.arrays.array import Array
from .._core.arrays.convert import as_single
from .._core.arrays.scratch import reuse
from .._core.calling.invoke import attempt
from .._core.declaring.declare import compositional, mixed
from .._core.engines import dtypes
from .._core.values.shapes import as_axes, reduced
from ..errors import DtypeError
from ._quantiles import Axis, known_values, quantiles
from .elementwise import divide, equal, greater, imag, isnan, logical_and, logical_not, real, sqrt, square, subtract
from .searching import argmax, argmin, where
from .statistical import max, mean, min, prod, std, sum, var
from .utility import all, any

if TYPE_CHECKING:
    from ..typing import DTypeLike, Scalar


def _has_nan(x: Array) -> bool:
    return dtypes.rank(x.dtype) > 1


def _replaced(x: Array, nan: Array, value: Scalar) -> Array:
    return where(nan, value, x)


def per_number(total: Array, number: Array) -> Array:
    """Divide totals, temporary arrays of the caller's own, by how many numbers they are of; NaN where there are none.

    No engine warns, as NumPy does where it divides by zero, or complex numbers by NaN.
    """
    some = greater(number, 0)
    if dtypes.rank(total.dtype) < 3:
        return divide(total, where(some, number, math.nan), out=reuse(total))
    return where(some, divide(total, where(some, number, 1.0), out=reuse(total)), complex(math.nan, math.nan))


def _per(total: Array, nan: Array, axis: Axis, correction: float, keepdims: bool) -> Array:
    number = sum(logical_not(nan), axis=axis, dtype=dtypes.real_of(total.dtype), keepdims=keepdims)
    return per_number(total, number - correction if correction else number)


def _mean(x: Array, nan: Array, axis: Axis, keepdims: bool) -> Array:
    return _per(sum(_replaced(x, nan, 0), axis=axis, keepdims=keepdims), nan, axis, 0.0, keepdims)


def squared_magnitude(x: Array) -> Array:
    """Return the squares of the absolute values."""
    return square(real(x)) + square(imag(x)) if dtypes.rank(x.dtype) == 3 else square(x)


def _var(x: Array, axis: Axis, correction: float, keepdims: bool) -> Array:
    nan = isnan(x)
    deviation = _replaced(subtract(x, _mean(x, nan, axis, True)), nan, 0)
    return _per(sum(squared_magnitude(deviation), axis=axis, keepdims=keepdims), nan, axis, correction, keepdims)


def _computed_in(x: Array, dtype: DTypeLike | None, name: str) -> Array:
    if dtype is None:
        return x
    wanted = dtypes.as_dtype(dtype)
    if dtypes.rank(wanted) < (3 if dtypes.rank(x.dtype) == 3 else 2):
        kind = "complex" if dtypes.rank(x.dtype) == 3 else "floating-point"
        raise DtypeError(f"dtype of {name}() of an array of {x.dtype} is {kind}, not {wanted}")
    return x.astype(wanted, copy=False)


def _extremum(x: Array, axis: Axis, keepdims: bool, out: Array | None, sign: int) -> Array:
    extremum = max if sign < 0 else min
    if not _has_nan(x):
        return extremum(x, axis=axis, keepdims=keepdims, out=out)
    nan = isnan(x)
    found = extremum(_replaced(x, nan, _beyond(x, sign)), axis=axis, keepdims=keepdims)
    return where(all(nan, axis=axis, keepdims=keepdims), math.nan, found, out=out)


def _beyond(x: Array, sign: int) -> Scalar:
    # The number that no element is less than (or greater than).
    return complex(sign * math.inf, sign * math.inf) if dtypes.rank(x.dtype) == 3 else sign * math.inf


def _arg_extremum(x: Array, axis: int | None, keepdims: bool, out: Array | None, sign: int, name: str) -> Array:
    if not _has_nan(x):
        return (argmax if sign < 0 else argmin)(x, axis=axis, keepdims=keepdims, out=out)
    nan = isnan(x)
    filled = _replaced(x, nan, _beyond(x, sign))
    # An infinity is equal to the replacement of NaN, but it's a number: prefer it.
    found = logical_and(equal(filled, (max if sign < 0 else min)(filled, axis=axis, keepdims=True)), logical_not(nan))
    place = argmax(found, axis=axis, keepdims=keepdims)
    exists = any(found, axis=axis, keepdims=keepdims)
    known = known_values(all(exists))
    if known == [False]:
        raise ValueError(f"{name}() of nothing but NaN along axis {axis} has no number to choose")
    return where(exists, place, -1, out=out) if known is None else place


@compositional()
def nanargmax(
    x: Array,
    /,
    *,
    axis: int | None = None,
    keepdims: bool = False,
    out: Array | None = None,
) -> Array:
    """Return the indices of the maxima, passing over NaN: the first where there are several.

    Parameters
    ----------
    x
        An array.
    axis
        The axis; ``None`` counts in the flattened array.
    keepdims
        Whether the axes stay, with length one.
    out
        An array of the result's shape for the result.

    Returns
    -------
    Array
        A new int64 array, or ``out``. Inside a trace, where values aren't known, -1 for nothing but NaN.

    Raises
    ------
    ValueError
        If there is nothing but NaN along the axis.
    ShapeError
        If there are no elements along the axis.

    Examples
    --------
    >>> import unifyarr as ua
    >>> x = ua.asarray([[1.0, ua.nan, 6.0], [ua.nan, 2.0, ua.nan]])
    >>> ua.nanargmax(x, axis=1)
    array([2, 1])

    Source: NumPy, ``nanargmax``.
    """
    return _arg_extremum(x, axis, keepdims, out, -1, "nanargmax")


@compositional()
def nanargmin(
    x: Array,
    /,
    *,
    axis: int | None = None,
    keepdims: bool = False,
    out: Array | None = None,
) -> Array:
    """Return the indices of the minima, passing over NaN: the first where there are several.

    Parameters
    ----------
    x
        An array.
    axis
        The axis; ``None`` counts in the flattened array.
    keepdims
        Whether the axes stay, with length one.
    out
        An array of the result's shape for the result.

    Returns
    -------
    Array
        A new int64 array, or ``out``. Inside a trace, where values aren't known, -1 for nothing but NaN.

    Raises
    ------
    ValueError
        If there is nothing but NaN along the axis.
    ShapeError
        If there are no elements along the axis.

    Examples
    --------
    >>> import unifyarr as ua
    >>> x = ua.asarray([[1.0, ua.nan, 6.0], [ua.nan, 2.0, ua.nan]])
    >>> ua.nanargmin(x, axis=1)
    array([0, 1])

    Source: NumPy, ``nanargmin``.
    """
    return _arg_extremum(x, axis, keepdims, out, 1, "nanargmin")


@compositional()
def nanmax(
    x: Array,
    /,
    *,
    axis: Axis = None,
    keepdims: bool = False,
    out: Array | None = None,
) -> Array:
    """Return the greatest element, passing over NaN; NaN where there is nothing else.

    Parameters
    ----------
    x
        An array.
    axis
        One or several axes; ``None`` means all.
    keepdims
        Whether the axes stay, with length one.
    out
        An array of the result's shape for the result.

    Returns
    -------
    Array
        A new array of the dtype of ``x``, or ``out``.

    Raises
    ------
    ShapeError
        If there are no elements to choose from.

    Examples
    --------
    >>> import unifyarr as ua
    >>> x = ua.asarray([[1.0, ua.nan, 6.0], [ua.nan, 2.0, ua.nan]])
    >>> ua.nanmax(x, axis=1)
    array([6., 2.])

    Source: NumPy, ``nanmax``.
    """
    return _extremum(x, axis, keepdims, out, -1)


@compositional()
def nanmean(
    x: Array,
    /,
    *,
    axis: Axis = None,
    dtype: DTypeLike | None = None,
    keepdims: bool = False,
    out: Array | None = None,
) -> Array:
    """Return the arithmetic mean, passing over NaN; NaN where there is nothing else.

    Parameters
    ----------
    x
        An array; bools and integers are averaged as float64.
    axis
        One or several axes; ``None`` means all.
    dtype
        The floating-point dtype to compute in, by default that of ``x``.
    keepdims
        Whether the axes stay, with length one.
    out
        An array of the result's shape for the result.

    Returns
    -------
    Array
        A new floating-point array, or ``out``.

    Raises
    ------
    DtypeError
        If ``dtype`` isn't floating-point, or is real and ``x`` complex.

    Examples
    --------
    >>> import unifyarr as ua
    >>> x = ua.asarray([[1.0, ua.nan, 6.0], [ua.nan, 2.0, ua.nan]])
    >>> ua.nanmean(x, axis=1)
    array([3.5, 2. ])

    Source: NumPy, ``nanmean``.
    """
    x = _computed_in(x, dtype, "nanmean")
    if not _has_nan(x):
        return mean(x, axis=axis, keepdims=keepdims, out=out)
    wide = as_single(x)
    return _mean(wide, isnan(wide), axis, keepdims).astype(x.dtype, copy=False)


@mixed(kernels=("partition",))
def nanmedian(
    x: Array,
    /,
    *,
    axis: Axis = None,
    keepdims: bool = False,
    out: Array | None = None,
) -> Array:
    """Return the median, passing over NaN; NaN where there is nothing else.

    Parameters
    ----------
    x
        An array of real numbers; bools and integers are taken as float64.
    axis
        One or several axes; ``None`` means all.
    keepdims
        Whether the axes stay, with length one.
    out
        An array of the result's shape for the result.

    Returns
    -------
    Array
        A new floating-point array, or ``out``.

    Raises
    ------
    DtypeError
        If ``x`` is complex.

    Examples
    --------
    >>> import unifyarr as ua
    >>> x = ua.asarray([[1.0, ua.nan, 6.0], [ua.nan, 2.0, ua.nan]])
    >>> ua.nanmedian(x, axis=1)
    array([3.5, 2. ])

    Source: NumPy, ``nanmedian``.
    """
    return quantiles(x, 0.5, axis, "linear", keepdims, "nanmedian", passing_nan=True)


@compositional()
def nanmin(
    x: Array,
    /,
    *,
    axis: Axis = None,
    keepdims: bool = False,
    out: Array | None = None,
) -> Array:
    """Return the least element, passing over NaN; NaN where there is nothing else.

    Parameters
    ----------
    x
        An array.
    axis
        One or several axes; ``None`` means all.
    keepdims
        Whether the axes stay, with length one.
    out
        An array of the result's shape for the result.

    Returns
    -------
    Array
        A new array of the dtype of ``x``, or ``out``.

    Raises
    ------
    ShapeError
        If there are no elements to choose from.

    Examples
    --------
    >>> import unifyarr as ua
    >>> x = ua.asarray([[1.0, ua.nan, 6.0], [ua.nan, 2.0, ua.nan]])
    >>> ua.nanmin(x, axis=1)
    array([1., 2.])

    Source: NumPy, ``nanmin``.
    """
    return _extremum(x, axis, keepdims, out, 1)


@compositional()
def nanprod(
    x: Array,
    /,
    *,
    axis: Axis = None,
    dtype: DTypeLike | None = None,
    keepdims: bool = False,
    out: Array | None = None,
) -> Array:
    """Return the product of the elements, passing over NaN; 1 where there is nothing else.

    Parameters
    ----------
    x
        An array.
    axis
        One or several axes; ``None`` means all.
    dtype
        The dtype to compute in; int64 or uint64 for small integers by default.
    keepdims
        Whether the axes stay, with length one.
    out
        An array of the result's shape for the result.

    Returns
    -------
    Array
        A new array, or ``out``.

    Examples
    --------
    >>> import unifyarr as ua
    >>> x = ua.asarray([[1.0, ua.nan, 6.0], [ua.nan, 2.0, ua.nan]])
    >>> ua.nanprod(x, axis=1)
    array([6., 2.])

    Source: NumPy, ``nanprod``.
    """
    numbers = _replaced(x, isnan(x), 1) if _has_nan(x) else x
    return prod(numbers, axis=axis, dtype=dtype, keepdims=keepdims, out=out)


@mixed(kernels=("partition",))
def nanquantile(
    x: Array,
    /,
    q: Array | Scalar,
    *,
    axis: Axis = None,
    method: str = "linear",
    keepdims: bool = False,
    out: Array | None = None,
) -> Array:
    """Return quantiles, passing over NaN; NaN where there is nothing else.

    Parameters
    ----------
    x
        An array of real numbers.
    q
        The parts, from 0 to 1: a scalar or an array of any shape. Inside a trace they aren't checked.
    axis
        One or several axes; ``None`` means all.
    method
        What is done between two elements: one of the methods of ``quantile``.
    keepdims
        Whether the axes stay, with length one.
    out
        An array of the result's shape for the result.

    Returns
    -------
    Array
        A new array, or ``out``, of the shape and dtype that ``quantile`` has.

    Raises
    ------
    ValueError
        If a part isn't in [0, 1], or ``method`` is something else.
    DtypeError
        If ``x`` is complex.

    Examples
    --------
    >>> import unifyarr as ua
    >>> x = ua.asarray([[1.0, ua.nan, 6.0], [ua.nan, 2.0, ua.nan]])
    >>> ua.nanquantile(x, 0.25, axis=1)
    array([2.25, 2.  ])

    Source: NumPy, ``nanquantile``.
    """
    return quantiles(x, q, axis, method, keepdims, "nanquantile", passing_nan=True)


@compositional()
def nanstd(
    x: Array,
    /,
    *,
    axis: Axis = None,
    dtype: DTypeLike | None = None,
    correction: float = 0.0,
    ddof: float | None = None,
    keepdims: bool = False,
    out: Array | None = None,
) -> Array:
    """Return the standard deviation, passing over NaN.

    Parameters
    ----------
    x
        An array; integers count as float64; of complex numbers, the distances from the mean count.
    axis
        One or several axes; ``None`` means all.
    dtype
        The floating-point dtype to compute in, by default that of ``x``.
    correction
        What is taken off the count of numbers in the divisor: 1 for an unbiased variance.
    ddof
        NumPy's name of ``correction``, which it replaces where it's passed.
    keepdims
        Whether the axes stay, with length one.
    out
        An array of the result's shape for the result.

    Returns
    -------
    Array
        A new real floating-point array, or ``out``; NaN where there are no more numbers than ``correction``.

    Raises
    ------
    DtypeError
        If ``dtype`` isn't floating-point, or is real and ``x`` complex.

    Examples
    --------
    >>> import unifyarr as ua
    >>> x = ua.asarray([[1.0, ua.nan, 6.0], [ua.nan, 2.0, ua.nan]])
    >>> ua.nanstd(x, axis=1)
    array([2.5, 0. ])

    Source: NumPy, ``nanstd``.
    """
    x = _computed_in(x, dtype, "nanstd")
    correction = correction if ddof is None else ddof
    if not _has_nan(x):
        return std(x, axis=axis, correction=correction, keepdims=keepdims, out=out)
    return sqrt(_var(as_single(x), axis, correction, keepdims)).astype(dtypes.real_of(x.dtype), copy=False)


@mixed()
def nansum(
    x: Array,
    /,
    *,
    axis: Axis = None,
    dtype: DTypeLike | None = None,
    keepdims: bool = False,
    out: Array | None = None,
) -> Array:
    """Return the sum of the elements, passing over NaN; 0 where there is nothing else.

    Parameters
    ----------
    x
        An array.
    axis
        One or several axes; ``None`` means all.
    dtype
        The dtype to compute in; int64 or uint64 for small integers by default.
    keepdims
        Whether the axes stay, with length one.
    out
        An array of the result's shape for the result.

    Returns
    -------
    Array
        A new array, or ``out``.

    Examples
    --------
    >>> import unifyarr as ua
    >>> x = ua.asarray([[1.0, ua.nan, 6.0], [ua.nan, 2.0, ua.nan]])
    >>> ua.nansum(x, axis=1)
    array([7., 2.])

    Source: NumPy, ``nansum``.
    """
    if dtype is None and x.ndim and _has_nan(x):
        axes = as_axes(axis, x.ndim)
        result = reduced(x.shape, axes, bool(keepdims)), x.dtype
        found = attempt("nansum", x, axis=axes, keepdims=bool(keepdims), out=out, result=result) if axes else None
        if found is not None:
            return found
    numbers = _replaced(x, isnan(x), 0) if _has_nan(x) else x
    return sum(numbers, axis=axis, dtype=dtype, keepdims=keepdims, out=out)


@compositional()
def nanvar(
    x: Array,
    /,
    *,
    axis: Axis = None,
    dtype: DTypeLike | None = None,
    correction: float = 0.0,
    ddof: float | None = None,
    keepdims: bool = False,
    out: Array | None = None,
) -> Array:
    """Return the variance, passing over NaN.

    Parameters
    ----------
    x
        An array; integers count as float64; of complex numbers, the distances from the mean count.
    axis
        One or several axes; ``None`` means all.
    dtype
        The floating-point dtype to compute in, by default that of ``x``.
    correction
        What is taken off the count of numbers in the divisor: 1 for an unbiased variance.
    ddof
        NumPy's name of ``correction``, which it replaces where it's passed.
    keepdims
        Whether the axes stay, with length one.
    out
        An array of the result's shape for the result.

    Returns
    -------
    Array
        A new real floating-point array, or ``out``; NaN where there are no more numbers than ``correction``.

    Raises
    ------
    DtypeError
        If ``dtype`` isn't floating-point, or is real and ``x`` complex.

    Examples
    --------
    >>> import unifyarr as ua
    >>> x = ua.asarray([[1.0, ua.nan, 6.0], [ua.nan, 2.0, ua.nan]])
    >>> ua.nanvar(x, axis=1)
    array([6.25, 0.  ])

    Source: NumPy, ``nanvar``.
    """
    x = _computed_in(x, dtype, "nanvar")
    correction = correction if ddof is None else ddof
    if not _has_nan(x):
        return var(x, axis=axis, correction=correction, keepdims=keepdims, out=out)
    return _var(as_single(x), axis, correction, keepdims).astype(dtypes.real_of(x.dtype), copy=False)
