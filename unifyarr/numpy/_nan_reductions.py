"""Reductions that pass over NaN."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy

from .. import functions as ua
from .._core.arrays.array import Array
from .._core.engines import dtypes
from ._following import NO_VALUE, as_array, deliver, follows
from ._reductions import correction_of, cumprod, cumsum, finished, is_true, mask_of, mean, variance
from ._ufuncs import UFUNCS


def _not_nan(x: Array, where: Any) -> Any:
    """Return where there are numbers, among those that ``where`` leaves; ``True`` if they are everywhere."""
    if dtypes.rank(x.dtype) < 2:
        return mask_of(where)
    numbers = ua.logical_not(ua.isnan(x))
    return numbers if where is NO_VALUE or where is True else ua.logical_and(numbers, where)


def _nan_total(reduce: Callable[..., Array], a: Any, where: Any, *arguments: Any) -> Array:
    x = as_array(a)
    return reduce(x, *arguments, _not_nan(x, where))


@follows(numpy.nansum)
def nansum(
    a: Any,
    axis: Any = None,
    dtype: Any = None,
    out: Any = None,
    keepdims: Any = NO_VALUE,
    initial: Any = NO_VALUE,
    where: Any = NO_VALUE,
) -> Array:
    """Add up the elements along axes, passing over NaN."""
    if dtype is None and out is None and initial is NO_VALUE and where is NO_VALUE:
        return ua.nansum(a, axis=axis, keepdims=is_true(keepdims))
    return _nan_total(UFUNCS["add"].reduce, a, where, axis, dtype, out, is_true(keepdims), initial)


@follows(numpy.nanprod)
def nanprod(
    a: Any,
    axis: Any = None,
    dtype: Any = None,
    out: Any = None,
    keepdims: Any = NO_VALUE,
    initial: Any = NO_VALUE,
    where: Any = NO_VALUE,
) -> Array:
    """Multiply the elements along axes, passing over NaN."""
    if dtype is None and out is None and initial is NO_VALUE and where is NO_VALUE:
        return ua.nanprod(a, axis=axis, keepdims=is_true(keepdims))
    return _nan_total(UFUNCS["multiply"].reduce, a, where, axis, dtype, out, is_true(keepdims), initial)


@follows(numpy.nanmax)
def nanmax(
    a: Any, axis: Any = None, out: Any = None, keepdims: Any = NO_VALUE, initial: Any = NO_VALUE, where: Any = NO_VALUE
) -> Array:
    """Return the greatest number along axes, passing over NaN; NaN where there's no number."""
    if initial is NO_VALUE and where is NO_VALUE:
        return deliver(ua.nanmax(a, axis=axis, keepdims=is_true(keepdims)), out)
    return deliver(UFUNCS["fmax"].reduce(a, axis, None, None, is_true(keepdims), initial, mask_of(where)), out)


@follows(numpy.nanmin)
def nanmin(
    a: Any, axis: Any = None, out: Any = None, keepdims: Any = NO_VALUE, initial: Any = NO_VALUE, where: Any = NO_VALUE
) -> Array:
    """Return the least number along axes, passing over NaN; NaN where there's no number."""
    if initial is NO_VALUE and where is NO_VALUE:
        return deliver(ua.nanmin(a, axis=axis, keepdims=is_true(keepdims)), out)
    return deliver(UFUNCS["fmin"].reduce(a, axis, None, None, is_true(keepdims), initial, mask_of(where)), out)


@follows(numpy.nanmean)
def nanmean(
    a: Any, axis: Any = None, dtype: Any = None, out: Any = None, keepdims: Any = NO_VALUE, *, where: Any = NO_VALUE
) -> Array:
    """Return the mean of the numbers along axes, passing over NaN."""
    if dtype is None and out is None and where is NO_VALUE:
        return ua.nanmean(a, axis=axis, keepdims=is_true(keepdims))
    x = as_array(a)
    _check_inexact(x, dtype, out)
    return mean(x, axis, dtype, out, keepdims, where=_not_nan(x, where))


def _check_inexact(x: Array, dtype: Any, out: Any) -> None:
    if dtypes.rank(x.dtype) < 2:
        return
    for name, each in (("dtype", dtype), ("out", None if out is None else out.dtype)):
        if each is not None and dtypes.rank(dtypes.as_dtype(each)) < 2:
            raise TypeError(f"{name} of what may be NaN is floating-point, not {each}")


@follows(numpy.nanvar)
def nanvar(
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
    """Return the variance of the numbers along axes, passing over NaN."""
    correction = correction_of(ddof, correction)
    if dtype is None and out is None and where is NO_VALUE and mean is NO_VALUE:
        return ua.nanvar(a, axis=axis, correction=correction, keepdims=is_true(keepdims))
    x = as_array(a)
    _check_inexact(x, dtype, out)
    return _nan_variance(x, axis, dtype, out, correction, keepdims, where, mean, root=False)


@follows(numpy.nanstd)
def nanstd(
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
    """Return the standard deviation of the numbers along axes, passing over NaN."""
    correction = correction_of(ddof, correction)
    if dtype is None and out is None and where is NO_VALUE and mean is NO_VALUE:
        return ua.nanstd(a, axis=axis, correction=correction, keepdims=is_true(keepdims))
    x = as_array(a)
    _check_inexact(x, dtype, out)
    return _nan_variance(x, axis, dtype, out, correction, keepdims, where, mean, root=True)


def _nan_variance(
    x: Array, axis: Any, dtype: Any, out: Any, correction: Any, keepdims: Any, where: Any, mean: Any, *, root: bool
) -> Array:
    numbers = _not_nan(x, where)
    numbers = ua.full_like(x, True, dtype=dtypes.bool) if numbers is True else numbers
    count = ua.sum(ua.broadcast_to(numbers, x.shape), axis=axis, keepdims=is_true(keepdims))
    found = variance(x, axis, dtype, correction, is_true(keepdims), numbers, mean)
    result = ua.where(count - correction > 0, found, float("nan"))
    return deliver(finished(ua.sqrt(result) if root else result, x, dtype), out)


@follows(numpy.nanargmax)
def nanargmax(a: Any, axis: Any = None, out: Any = None, *, keepdims: Any = NO_VALUE) -> Array:
    """Return where the greatest number along an axis is, passing over NaN."""
    return deliver(ua.nanargmax(a, axis=axis, keepdims=is_true(keepdims)), out)


@follows(numpy.nanargmin)
def nanargmin(a: Any, axis: Any = None, out: Any = None, *, keepdims: Any = NO_VALUE) -> Array:
    """Return where the least number along an axis is, passing over NaN."""
    return deliver(ua.nanargmin(a, axis=axis, keepdims=is_true(keepdims)), out)


def _replaced(a: Any, value: int) -> Array:
    x = as_array(a)
    return x if dtypes.rank(x.dtype) < 2 else ua.where(ua.isnan(x), ua.full_like(x, value), x)


@follows(numpy.nancumsum)
def nancumsum(a: Any, axis: Any = None, dtype: Any = None, out: Any = None) -> Array:
    """Add up the elements along an axis, NaN as zero."""
    return cumsum(_replaced(a, 0), axis, dtype, out)


@follows(numpy.nancumprod)
def nancumprod(a: Any, axis: Any = None, dtype: Any = None, out: Any = None) -> Array:
    """Multiply up the elements along an axis, NaN as one."""
    return cumprod(_replaced(a, 1), axis, dtype, out)
