"""Quantiles, averages, covariances and histograms."""

from __future__ import annotations

from typing import Any

import numpy

from .. import functions as ua
from .._core.arrays.array import Array
from .._core.arrays.weak import kind_of
from .._core.engines import dtypes
from ..functions._quantiles import CHOOSING, known_values
from . import _reductions, _weighted
from ._folding import cast
from ._following import NO_VALUE, as_array, deliver, follows, together


@follows(numpy.median)
def median(a: Any, axis: Any = None, out: Any = None, overwrite_input: bool = False, keepdims: Any = False) -> Array:
    """Return the middle of the sorted elements along axes; NaN where there is one."""
    return deliver(ua.median(a, axis=axis, keepdims=keepdims), out)


@follows(numpy.nanmedian)
def nanmedian(
    a: Any, axis: Any = None, out: Any = None, overwrite_input: bool = False, keepdims: Any = NO_VALUE
) -> Array:
    """Return the middle of the sorted numbers along axes, passing over NaN."""
    return deliver(ua.nanmedian(a, axis=axis, keepdims=_reductions.is_true(keepdims)), out)


@follows(numpy.quantile)
def quantile(
    a: Any,
    q: Any,
    axis: Any = None,
    out: Any = None,
    overwrite_input: bool = False,
    method: str = "linear",
    keepdims: Any = False,
    *,
    weights: Any = None,
) -> Array:
    """Return the values below which given parts of the elements lie; NaN where there is one.

    >>> import unifyarr.numpy as np
    >>> np.quantile([[10, 7, 4], [3, 2, 1]], 0.5, axis=0)
    array([6.5, 4.5, 2.5])
    """
    if weights is not None:
        return _into(_weighted.quantile(a, q, axis, method, bool(keepdims), weights, passing_nan=False), out)
    return _into(ua.quantile(_beside(a, q, method), q, axis=axis, method=method, keepdims=keepdims), out)


@follows(numpy.percentile)
def percentile(
    a: Any,
    q: Any,
    axis: Any = None,
    out: Any = None,
    overwrite_input: bool = False,
    method: str = "linear",
    keepdims: Any = False,
    *,
    weights: Any = None,
) -> Array:
    """Return quantiles whose parts are given in hundredths."""
    return quantile(a, _hundredths(q), axis, out, overwrite_input, method, keepdims, weights=weights)


@follows(numpy.nanquantile)
def nanquantile(
    a: Any,
    q: Any,
    axis: Any = None,
    out: Any = None,
    overwrite_input: bool = False,
    method: str = "linear",
    keepdims: Any = NO_VALUE,
    *,
    weights: Any = None,
) -> Array:
    """Return the values below which given parts of the numbers lie, passing over NaN."""
    keep = _reductions.is_true(keepdims)
    if weights is not None:
        return _into(_weighted.quantile(a, q, axis, method, keep, weights, passing_nan=True), out)
    return _into(ua.nanquantile(_beside(a, q, method), q, axis=axis, method=method, keepdims=keep), out)


@follows(numpy.nanpercentile)
def nanpercentile(
    a: Any,
    q: Any,
    axis: Any = None,
    out: Any = None,
    overwrite_input: bool = False,
    method: str = "linear",
    keepdims: Any = NO_VALUE,
    *,
    weights: Any = None,
) -> Array:
    """Return quantiles whose parts are given in hundredths, passing over NaN."""
    return nanquantile(a, _hundredths(q), axis, out, overwrite_input, method, keepdims, weights=weights)


def _beside(a: Any, q: Any, method: str) -> Any:
    """Return the elements in the dtype that they have beside the parts, between which most methods interpolate."""
    kind = getattr(q, "dtype", None)
    if kind is None or method in CHOOSING:
        return a
    x = as_array(a)
    given = dtypes.as_dtype(kind)
    return x.astype(ua.result_type(x.dtype, given), copy=False) if dtypes.rank(given) == 2 else x


def _into(result: Array, out: Any) -> Array:
    """Return a result, or write it to ``out``, to whose shape it broadcasts."""
    if out is not None and result.shape != out.shape:
        result = ua.broadcast_to(result, out.shape)
    return deliver(result, out)


def _hundredths(q: Any) -> Any:
    if kind_of(q) in (int, float) or (not hasattr(q, "dtype") and not hasattr(q, "__len__")):
        return q / 100
    q = as_array(q)
    # By an array of the same shape: XLA multiplies by the inverse of a number, and 0.7 isn't 70 times 0.01.
    return ua.divide(q, ua.full_like(q, 100))


@follows(numpy.average)
def average(a: Any, axis: Any = None, weights: Any = None, returned: bool = False, *, keepdims: Any = NO_VALUE) -> Any:
    """Return the mean of weighted elements along axes; with ``returned`` the sums of the weights too."""
    x = as_array(a)
    keep = _reductions.is_true(keepdims)
    if weights is None:
        result = _reductions.mean(x, axis, keepdims=keep)
        total = ua.full_like(result, x.size / result.size if result.size else 0)
        return (result, total) if returned else result
    x, given = together(x, weights)
    wanted = ua.result_type(x.dtype, given.dtype, *(("float64",) if dtypes.rank(x.dtype) < 2 else ()))
    given = _weighted.beside(given, x, axis)
    total = ua.sum(ua.broadcast_to(given, x.shape), axis=axis, dtype=wanted, keepdims=keep)
    if 0 in (known_values(total) or ()):
        raise ZeroDivisionError("the weights add up to zero, and can't be normalized")
    result = ua.divide(ua.sum(ua.multiply(cast(x, wanted), given), axis=axis, dtype=wanted, keepdims=keep), total)
    return (result, total) if returned else result


@follows(numpy.cov)
def cov(
    m: Any,
    y: Any = None,
    rowvar: bool = True,
    bias: bool = False,
    ddof: Any = None,
    fweights: Any = None,
    aweights: Any = None,
    *,
    dtype: Any = None,
) -> Array:
    """Estimate the covariances of variables, which are rows."""
    if ddof is not None and ddof != int(ddof):
        raise ValueError(f"ddof is a whole number, not {ddof}")
    x, y = _wide(m, y, dtype)
    correction = ddof if ddof is not None else int(not bias)
    for name, given in (("fweights", fweights), ("aweights", aweights)):
        if given is not None and as_array(given).shape != x.shape[-1:] and (rowvar or x.ndim < 2):
            shape = as_array(given).shape
            raise RuntimeError(f"{name} have an element for each of {x.shape[-1:]} observations, not shape {shape}")
    if fweights is not None:
        fweights = as_array(fweights)
        if dtypes.rank(fweights.dtype) == 2:
            if any(each != int(each) for each in known_values(fweights) or ()):
                raise TypeError("fweights are whole numbers: how often each observation occurred")
            fweights = fweights.astype("int64")
    return ua.cov(x, y, rowvar=rowvar, correction=correction, fweights=fweights, aweights=aweights)


@follows(numpy.corrcoef)
def corrcoef(x: Any, y: Any = None, rowvar: bool = True, *, dtype: Any = None) -> Array:
    """Return the correlation coefficients of variables, which are rows."""
    x, y = _wide(x, y, dtype)
    return ua.corrcoef(x, y, rowvar=rowvar)


def _wide(x: Any, y: Any, dtype: Any) -> tuple[Array, Array | None]:
    """Return variables in the dtype of covariances: double precision at least."""
    arrays = together(x) if y is None else together(x, y)
    for each in arrays:
        if each.ndim > 2:
            raise ValueError(f"variables are the rows of an array of one or two dimensions, not of {each.ndim}")
    wanted = ua.result_type(*(each.dtype for each in arrays), "float64") if dtype is None else dtypes.as_dtype(dtype)
    first, *others = (cast(each, wanted) for each in arrays)
    return first, others[0] if others else None
