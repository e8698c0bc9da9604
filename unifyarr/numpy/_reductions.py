"""Sums, products, extremes and counts, along axes."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy

from .. import functions as ua
from .._core.arrays.array import Array
from .._core.engines import dtypes
from ..errors import AxisError
from ._folding import cast
from ._following import NO_VALUE, as_array, deliver, follows, together
from ._ufuncs import UFUNCS


def is_true(flag: Any) -> bool:
    return flag is not NO_VALUE and bool(flag)


def mask_of(where: Any) -> Any:
    return True if where is NO_VALUE else where


def _fits(a: Any, out: Any, axis: Any) -> bool:
    """Return whether results are written as the main function writes them: in the dtype of an array."""
    if type(a) is not Array or type(out) is not Array or a.dtype is not out.dtype or dtypes.rank(a.dtype) < 2:
        return False
    return axis is None or a.ndim > 0


def _reduced(
    function: Callable[..., Array],
    ufunc: str,
    a: Any,
    axis: Any,
    dtype: Any,
    out: Any,
    keepdims: Any,
    initial: Any,
    where: Any,
) -> Array:
    """Reduce by the main function where it can, and otherwise by the ufunc."""
    if initial is NO_VALUE and where is NO_VALUE and dtype is None:
        if out is None:
            try:
                return function(a, axis=axis) if keepdims is NO_VALUE else function(a, axis=axis, keepdims=keepdims)
            except AxisError:
                # A number has an axis 0 here.
                pass
        elif not ufunc.startswith("logical") and _fits(a, out, axis):
            return function(a, axis=axis, keepdims=is_true(keepdims), out=out)
    return UFUNCS[ufunc].reduce(a, axis, dtype, out, is_true(keepdims), initial, mask_of(where))


@follows(numpy.sum)
def sum(
    a: Any,
    axis: Any = None,
    dtype: Any = None,
    out: Any = None,
    keepdims: Any = NO_VALUE,
    initial: Any = NO_VALUE,
    where: Any = NO_VALUE,
) -> Array:
    """Add up the elements along axes."""
    return _reduced(ua.sum, "add", a, axis, dtype, out, keepdims, initial, where)


@follows(numpy.prod)
def prod(
    a: Any,
    axis: Any = None,
    dtype: Any = None,
    out: Any = None,
    keepdims: Any = NO_VALUE,
    initial: Any = NO_VALUE,
    where: Any = NO_VALUE,
) -> Array:
    """Multiply the elements along axes."""
    return _reduced(ua.prod, "multiply", a, axis, dtype, out, keepdims, initial, where)


@follows(numpy.max, numpy.amax)
def max(
    a: Any, axis: Any = None, out: Any = None, keepdims: Any = NO_VALUE, initial: Any = NO_VALUE, where: Any = NO_VALUE
) -> Array:
    """Return the greatest element along axes; NaN where there is one."""
    return _reduced(ua.max, "maximum", a, axis, None, out, keepdims, initial, where)


@follows(numpy.min, numpy.amin)
def min(
    a: Any, axis: Any = None, out: Any = None, keepdims: Any = NO_VALUE, initial: Any = NO_VALUE, where: Any = NO_VALUE
) -> Array:
    """Return the least element along axes; NaN where there is one."""
    return _reduced(ua.min, "minimum", a, axis, None, out, keepdims, initial, where)


@follows(numpy.all)
def all(a: Any, axis: Any = None, out: Any = None, keepdims: Any = NO_VALUE, *, where: Any = NO_VALUE) -> Array:
    """Return whether all elements along axes are true."""
    return _reduced(ua.all, "logical_and", a, axis, None, out, keepdims, NO_VALUE, where)


@follows(numpy.any)
def any(a: Any, axis: Any = None, out: Any = None, keepdims: Any = NO_VALUE, *, where: Any = NO_VALUE) -> Array:
    """Return whether any element along axes is true."""
    return _reduced(ua.any, "logical_or", a, axis, None, out, keepdims, NO_VALUE, where)


@follows(numpy.mean)
def mean(
    a: Any, axis: Any = None, dtype: Any = None, out: Any = None, keepdims: Any = NO_VALUE, *, where: Any = NO_VALUE
) -> Array:
    """Return the arithmetic mean along axes; NaN of no elements."""
    if dtype is None and out is None and where is NO_VALUE:
        return ua.mean(a, axis=axis) if keepdims is NO_VALUE else ua.mean(a, axis=axis, keepdims=keepdims)
    if dtype is None and where is NO_VALUE and _fits(a, out, axis):
        return ua.mean(a, axis=axis, keepdims=is_true(keepdims), out=out)
    x = as_array(a)
    working = _working(x, dtype)
    if where is NO_VALUE or where is True:
        result = ua.mean(cast(x, working), axis=axis, keepdims=is_true(keepdims))
    else:
        total, count = _total(cast(x, working), axis, is_true(keepdims), where)
        result = _per(total, count)
    return deliver(finished(result, x, dtype), out)


def _working(x: Array, dtype: Any) -> Any:
    """Return the dtype to compute means in: for integers float64, and single precision for halves."""
    if dtype is None:
        return dtypes.float64 if dtypes.rank(x.dtype) < 2 else dtypes.single_of(x.dtype)
    wanted = dtypes.as_dtype(dtype)
    return dtypes.float64 if dtypes.rank(wanted) < 2 else wanted


def finished(result: Array, x: Array, dtype: Any) -> Array:
    if dtype is not None:
        # A variance of complex numbers is real, and of their dtype only if that is asked for.
        return cast(result, dtypes.as_dtype(dtype))
    return result.astype(x.dtype) if x.dtype in dtypes.HALVES else result


def _total(x: Array, axis: Any, keepdims: bool, where: Any) -> tuple[Array, Array]:
    """Return sums and numbers of the elements that aren't masked."""
    mask = ua.broadcast_to(together(x, where)[1], x.shape)
    total = ua.sum(ua.where(mask, x, ua.zeros_like(x)), axis=axis, keepdims=keepdims)
    return total, ua.sum(mask, axis=axis, keepdims=keepdims)


def _per(total: Array, count: Array) -> Array:
    return ua.divide(total, count.astype(dtypes.real_of(total.dtype)))


def correction_of(ddof: Any, correction: Any) -> Any:
    if correction is NO_VALUE:
        return ddof
    if ddof != 0:
        raise ValueError("ddof and correction are the same: pass one of them")
    return correction


@follows(numpy.var)
def var(
    a: Any,
    axis: Any = None,
    dtype: Any = None,
    out: Any = None,
    ddof: Any = 0,
    keepdims: Any = NO_VALUE,
    *,
    where: Any = NO_VALUE,
    mean: Any = NO_VALUE,
    correction: Any = NO_VALUE,
) -> Array:
    """Return the variance along axes."""
    correction = correction_of(ddof, correction)
    if dtype is None and out is None and where is NO_VALUE and mean is NO_VALUE:
        return ua.var(a, axis=axis, correction=correction, keepdims=is_true(keepdims))
    x = as_array(a)
    return deliver(finished(variance(x, axis, dtype, correction, is_true(keepdims), where, mean), x, dtype), out)


def variance(x: Array, axis: Any, dtype: Any, correction: Any, keepdims: bool, where: Any, mean: Any) -> Array:
    values = cast(x, _working(x, dtype))
    where = ua.full_like(x, True, dtype=dtypes.bool) if where is NO_VALUE else where
    if mean is NO_VALUE:
        mean = _per(*_total(values, axis, True, where))
    else:
        # A mean without the axes that were reduced doesn't broadcast; NumPy demands them too.
        mean = together(values, mean)[1]
    deviation = values - mean
    squares = ua.abs(deviation) ** 2 if dtypes.rank(values.dtype) == 3 else deviation * deviation
    total, count = _total(squares, axis, keepdims, where)
    left = count - correction
    return _per(total, ua.where(left < 0, 0, left))


@follows(numpy.std)
def std(
    a: Any,
    axis: Any = None,
    dtype: Any = None,
    out: Any = None,
    ddof: Any = 0,
    keepdims: Any = NO_VALUE,
    *,
    where: Any = NO_VALUE,
    mean: Any = NO_VALUE,
    correction: Any = NO_VALUE,
) -> Array:
    """Return the standard deviation along axes."""
    correction = correction_of(ddof, correction)
    if dtype is None and out is None and where is NO_VALUE and mean is NO_VALUE:
        return ua.std(a, axis=axis, correction=correction, keepdims=is_true(keepdims))
    x = as_array(a)
    root = ua.sqrt(variance(x, axis, dtype, correction, is_true(keepdims), where, mean))
    return deliver(finished(root, x, dtype), out)


def _with_axis(a: Any, axis: Any) -> tuple[Array, Any]:
    """Return an array and an axis to reduce: a number has an axis 0 here."""
    x = as_array(a)
    return x, None if x.ndim == 0 and axis in (0, -1) else axis


@follows(numpy.argmax)
def argmax(a: Any, axis: Any = None, out: Any = None, *, keepdims: Any = NO_VALUE) -> Array:
    """Return where the greatest element along an axis is, the first one of several."""
    if keepdims is NO_VALUE and out is None and (axis is None or (type(a) is Array and a.ndim)):
        return ua.argmax(a, axis=axis)
    a, axis = _with_axis(a, axis)
    return deliver(ua.argmax(a, axis=axis, keepdims=is_true(keepdims)), out)


@follows(numpy.argmin)
def argmin(a: Any, axis: Any = None, out: Any = None, *, keepdims: Any = NO_VALUE) -> Array:
    """Return where the least element along an axis is, the first one of several."""
    if keepdims is NO_VALUE and out is None and (axis is None or (type(a) is Array and a.ndim)):
        return ua.argmin(a, axis=axis)
    a, axis = _with_axis(a, axis)
    return deliver(ua.argmin(a, axis=axis, keepdims=is_true(keepdims)), out)


@follows(numpy.cumsum)
def cumsum(a: Any, axis: Any = None, dtype: Any = None, out: Any = None) -> Array:
    """Add up the elements along an axis, or those of the flattened array.

    >>> import unifyarr.numpy as np
    >>> np.cumsum([[1, 2], [3, 4]])
    array([ 1,  3,  6, 10])
    """
    if dtype is None and out is None and type(a) is Array and (a.ndim == 1 if axis is None else a.ndim):
        return ua.cumulative_sum(a) if axis is None else ua.cumulative_sum(a, axis=axis)
    return UFUNCS["add"].accumulate(*_flattened(a, axis), dtype, out)


@follows(numpy.cumprod)
def cumprod(a: Any, axis: Any = None, dtype: Any = None, out: Any = None) -> Array:
    """Multiply up the elements along an axis, or those of the flattened array."""
    if dtype is None and out is None and type(a) is Array and (a.ndim == 1 if axis is None else a.ndim):
        return ua.cumulative_prod(a) if axis is None else ua.cumulative_prod(a, axis=axis)
    return UFUNCS["multiply"].accumulate(*_flattened(a, axis), dtype, out)


def _flattened(a: Any, axis: Any) -> tuple[Array, int]:
    x = as_array(a)
    if axis is None:
        return ua.reshape(x, (-1,)), 0
    return (ua.reshape(x, (1,)) if x.ndim == 0 else x), axis


@follows(numpy.cumulative_sum)
def cumulative_sum(
    x: Any, /, *, axis: Any = None, dtype: Any = None, out: Any = None, include_initial: bool = False
) -> Array:
    """Add up the elements along an axis, which may be left out for one dimension."""
    return deliver(ua.cumulative_sum(x, axis=axis, dtype=dtype, include_initial=include_initial), out)


@follows(numpy.cumulative_prod)
def cumulative_prod(
    x: Any, /, *, axis: Any = None, dtype: Any = None, out: Any = None, include_initial: bool = False
) -> Array:
    """Multiply up the elements along an axis, which may be left out for one dimension."""
    return deliver(ua.cumulative_prod(x, axis=axis, dtype=dtype, include_initial=include_initial), out)


@follows(numpy.count_nonzero)
def count_nonzero(a: Any, axis: Any = None, *, keepdims: Any = False) -> Array:
    """Count the elements that aren't zero."""
    return ua.count_nonzero(a, axis=axis, keepdims=keepdims)


@follows(numpy.ptp)
def ptp(a: Any, axis: Any = None, out: Any = None, keepdims: Any = NO_VALUE) -> Array:
    """Return the greatest element less the least one."""
    keep = is_true(keepdims)
    a, axis = _with_axis(a, axis)
    return deliver(ua.subtract(ua.max(a, axis=axis, keepdims=keep), ua.min(a, axis=axis, keepdims=keep)), out)
