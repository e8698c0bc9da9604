"""Evenly spaced values, and multiples."""

from __future__ import annotations

import inspect
import operator
from typing import Any

import numpy as np

from .. import functions as ua
from .._core.arrays.array import Array
from .._core.arrays.weak import kind_of
from .._core.engines import dtypes
from ..functions._spacing import evenly_spaced
from ._creation import check_like, is_known
from ._following import as_array, follows, together


@follows(np.arange)
def arange(*limits: Any, device: Any = None, like: Any = None, **named: Any) -> Array:
    """Return evenly spaced values: ``arange(stop)``, ``arange(start, stop, step, dtype)``.

    >>> import unifyarr.numpy as np
    >>> np.arange(0, 6, 2, np.float32)
    array([0., 2., 4.], dtype=float32)
    """
    if like is not None:
        check_like(like)
    if not named and len(limits) == 1 and type(limits[0]) is int:
        return ua.arange(limits[0], device=device)
    names = ("start", "stop", "step", "dtype")
    given = dict(zip(names, limits, strict=False))
    wrong = [each for each in named if each not in names or each in given]
    if wrong or len(limits) > len(names):
        raise TypeError(f"arange() takes start, stop, step and dtype once each, unlike {wrong or limits}")
    given |= named
    if given.get("stop") is None:
        if not limits:
            raise TypeError("arange() needs the end: pass stop")
        given["stop"], given["start"] = given["start"], 0
        if given["stop"] is None:
            raise TypeError("arange() needs the end, and not None")
    start, step = given.get("start"), given.get("step")
    return _range(0 if start is None else start, given["stop"], 1 if step is None else step, given.get("dtype"), device)


def _range(start: Any, stop: Any, step: Any, dtype: Any, device: Any) -> Array:
    if kind_of(step) in dtypes.SCALARS and step == 0:
        raise ZeroDivisionError("arange() takes a step that isn't zero")
    try:
        values = ua.arange(start, stop, step, dtype=dtype, device=device)
    except OverflowError as error:
        raise ValueError(f"no memory holds the values from {start} to {stop} by {step}: {error}") from None
    if values.dtype is dtypes.bool and values.shape[0] > 2:
        raise TypeError("a range of bools has two values at most: compare a range of integers")
    return values


vars(arange)["__signature__"] = inspect.signature(np.arange)


def _count(num: Any) -> int:
    count = operator.index(num)
    if count < 0:
        raise ValueError(f"num is a number of values, and none is negative, unlike {num}")
    return count


def _is_number(x: Any) -> bool:
    return kind_of(x) in dtypes.SCALARS


@follows(np.linspace)
def linspace(
    start: Any, stop: Any, num: Any = 50, endpoint: Any = True, retstep: Any = False, dtype: Any = None, axis: Any = 0,
    *, device: Any = None,
) -> Any:  # fmt: skip
    """Return evenly spaced values from ``start`` to ``stop``, which may be arrays; with ``retstep`` their distance too.

    >>> import unifyarr.numpy as np
    >>> np.linspace(0, [1, 10], 3)
    array([[ 0. ,  0. ],
           [ 0.5,  5. ],
           [ 1. , 10. ]])
    """
    count = _count(num)
    if not retstep and _is_number(start) and _is_number(stop) and axis in (0, -1):
        return ua.linspace(start, stop, count, endpoint=bool(endpoint), dtype=dtype, device=device)
    first, last = _floating(start, stop)
    values, step = evenly_spaced(first, last, count, bool(endpoint))
    wanted = None if dtype is None else dtypes.as_dtype(dtype)
    if wanted is not None:
        values = (ua.floor(values) if wanted.kind in "iu" and values.dtype.kind == "f" else values).astype(wanted)
    values = ua.moveaxis(values, 0, axis) if axis != 0 else values
    return (values, step) if retstep else values


def _floating(start: Any, stop: Any) -> list[Array]:
    # Python numbers and integers become float64, as by NumPy's ``asanyarray(x) * 1.0``.
    first, last = (x * 1.0 if isinstance(x, Array) else as_array(x) * 1.0 for x in together(start, stop))
    kinds = (type(each) if _is_number(each) else x.dtype for each, x in ((start, first), (stop, last)))
    dtype = dtypes.promote(*kinds, float)
    return [first.astype(dtype), last.astype(dtype)]


@follows(np.logspace)
def logspace(
    start: Any, stop: Any, num: Any = 50, endpoint: Any = True, base: Any = 10.0, dtype: Any = None, axis: Any = 0
) -> Array:
    """Return powers of ``base``, whose exponents are evenly spaced from ``start`` to ``stop``."""
    if not isinstance(base, (int, float, complex)) and (of := as_array(base)).ndim:
        # A base for each row, as NumPy broadcasts it with the ends.
        most = max(np.ndim(each) if not isinstance(each, Array) else each.ndim for each in (start, stop, of))
        start, stop, base = (_to_axes(each, most) for each in (start, stop, of))
        base = ua.moveaxis(ua.expand_dims(base, 0), 0, axis)
    exponents = linspace(start, stop, num, endpoint, axis=axis)
    values = ua.pow(base, exponents)
    return values if dtype is None else values.astype(dtype)


def _to_axes(x: Any, count: int) -> Array:
    x = as_array(x)
    return ua.reshape(x, (1,) * (count - x.ndim) + x.shape)


@follows(np.geomspace)
def geomspace(start: Any, stop: Any, num: Any = 50, endpoint: Any = True, dtype: Any = None, axis: Any = 0) -> Array:
    """Return values from ``start`` to ``stop``, each a constant multiple of the one before.

    >>> import unifyarr.numpy as np
    >>> np.geomspace(1, 1000, 4)
    array([   1.,   10.,  100., 1000.])
    """
    first, last = together(start, stop)
    for x in (first, last):
        if is_known(x) and bool(ua.any(x == 0)):
            raise ValueError("no multiples lead from zero or to zero: pass ends that aren't zero")
    count = _count(num)
    wanted = dtypes.as_dtype(dtype) if dtype is not None else None
    kind = dtypes.promote(first.dtype, last.dtype, float if wanted is None or wanted.kind in "biu" else wanted)
    first, last = ua.broadcast_arrays(first.astype(kind), last.astype(kind))
    sign = first / abs(first) if kind.kind == "c" else ua.sign(first)
    first, last = first / sign, last / sign
    values = logspace(ua.log10(first), ua.log10(last), count, endpoint, 10.0)
    if count > 0:
        values[0] = first
        if count > 1 and endpoint:
            values[-1] = last
    values = ua.moveaxis(values * sign, 0, axis) if axis != 0 else values * sign
    return values if wanted is None else values.astype(wanted)
