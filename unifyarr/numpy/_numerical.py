"""Rounding, differences, integrals, interpolation and other functions of values."""

from __future__ import annotations

import math
from typing import Any

import numpy

from .. import functions as ua
from .._core.arrays.array import Array
from .._core.arrays.weak import kind_of
from .._core.engines import dtypes
from .._core.values.shapes import as_axis
from .._core.writing.inplace import as_target, check_target, update
from ..functions.bessel import i0 as bessel_i0
from ._folding import cast
from ._following import NO_VALUE, as_array, deliver, follows, together
from ._ufuncs import UFUNCS


@follows(numpy.round, numpy.around)
def round(a: Any, decimals: int = 0, out: Any = None) -> Array:
    """Round to so many decimals; from the middle between two numbers to the even one.

    >>> import unifyarr.numpy as np
    >>> np.round([0.5, 1.5, 1.26], 1)
    array([0.5, 1.5, 1.3])
    """
    x = as_array(a)
    if x.dtype is dtypes.bool:
        x = x.astype(dtypes.float16)
    if decimals == 0:
        return ua.round(x) if out is None else deliver(ua.round(x), out)
    if dtypes.rank(x.dtype) == 1:
        if decimals > 0:
            return deliver(x.copy(), out)
        result = ua.round(x / 10**-decimals) * 10**-decimals
    elif decimals > 0:
        result = ua.round(x * 10**decimals) / 10**decimals
    else:
        result = ua.round(x / 10**-decimals) * 10**-decimals
    return deliver(result.astype(x.dtype, copy=False), out)


@follows(numpy.fix)
def fix(x: Any, out: Any = None) -> Array:
    """Round towards zero."""
    return deliver(ua.trunc(x), out)


@follows(numpy.clip)
def clip(
    a: Any,
    a_min: Any = NO_VALUE,
    a_max: Any = NO_VALUE,
    out: Any = None,
    *,
    min: Any = NO_VALUE,
    max: Any = NO_VALUE,
    **kwargs: Any,
) -> Any:
    """Limit elements to an interval, either end of which may be left out.

    >>> import unifyarr.numpy as np
    >>> np.clip([1, 5, 9], 2, 6)
    array([2, 5, 6])
    """
    if a_min is NO_VALUE and a_max is NO_VALUE:
        a_min, a_max = (None if each is NO_VALUE else each for each in (min, max))
    elif a_min is NO_VALUE or a_max is NO_VALUE:
        raise TypeError("clip() takes both a_min and a_max, or min and max, each of which may be left out")
    elif min is not NO_VALUE or max is not NO_VALUE:
        raise ValueError("clip() got the limits twice: pass min and max, or a_min and a_max")
    if kwargs:
        return _clipped_by_ufuncs(a, a_min, a_max, out, kwargs)
    try:
        result = ua.clip(a, a_min, a_max)
    except OverflowError:
        result = ua.clip(a, *_reached(as_array(a), a_min, a_max))
    return result if out is None else deliver(result, out)


def _reached(x: Array, least: Any, most: Any) -> tuple[Any, Any]:
    """Return limits without those that no integer of the dtype exceeds."""
    limits = numpy.iinfo(x.dtype.dtype)
    if type(least) is int and least < limits.min:
        least = None
    return least, None if type(most) is int and most > limits.max else most


def _clipped_by_ufuncs(a: Any, least: Any, most: Any, out: Any, options: dict[str, Any]) -> Any:
    if least is None and most is None:
        return UFUNCS["positive"](a, out=out, **options)
    if most is None:
        return UFUNCS["maximum"](a, least, out=out, **options)
    if least is not None:
        a = UFUNCS["maximum"](a, least, **{name: each for name, each in options.items() if name != "where"})
    return UFUNCS["minimum"](a, most, out=out, **options)


@follows(numpy.real)
def real(val: Any) -> Any:
    """Return the real parts: of an array a view, of a real one itself."""
    return _with_parts(val).real


@follows(numpy.imag)
def imag(val: Any) -> Any:
    """Return the imaginary parts: of a complex array a view, of a real one zeros."""
    return _with_parts(val).imag


def _with_parts(val: Any) -> Any:
    # The parts of Python numbers are Python numbers. Natives may have the names and raise, as real tensors do.
    return val if type(val) in dtypes.SCALARS or isinstance(val, Array) else as_array(val)


@follows(numpy.angle)
def angle(z: Any, deg: bool = False) -> Array:
    """Return the angles of complex numbers, in radians, or in degrees."""
    return ua.angle(z, deg=deg)


@follows(numpy.real_if_close)
def real_if_close(a: Any, tol: Any = 100) -> Array:
    """Return the real parts if all others are no more than ``tol`` times the dtype's precision, which is a value."""
    x = as_array(a)
    if dtypes.rank(x.dtype) < 3:
        return x
    limit = tol * float(numpy.finfo(dtypes.real_of(x.dtype).dtype).eps) if tol > 1 else tol
    return x.real if bool(ua.all(ua.abs(x.imag) < limit)) else x


@follows(numpy.nan_to_num)
def nan_to_num(x: Any, copy: bool = True, nan: Any = 0.0, posinf: Any = None, neginf: Any = None) -> Array:
    """Replace NaN by zero and infinities by the largest numbers, or by others; without ``copy`` in the array itself."""
    if isinstance(x, Array):
        target, array = x, x
    else:
        array = as_array(x)
        target = array if copy or not hasattr(x, "dtype") else as_target(x, "x")
    if all(numpy.ndim(each) == 0 and not isinstance(each, Array) for each in (nan, posinf, neginf)):
        result = ua.nan_to_num(array, nan=nan, posinf=posinf, neginf=neginf)
    else:
        result = _replaced(array, nan, posinf, neginf)
    if copy:
        return result
    check_target(target)
    update(target, result, what="x")
    return target


def _replaced(x: Array, nan: Any, posinf: Any, neginf: Any) -> Array:
    # By arrays, an element for each.
    if dtypes.rank(x.dtype) < 2:
        return x.copy()
    if dtypes.rank(x.dtype) == 3:
        return _replaced(x.real, nan, posinf, neginf) + 1j * _replaced(x.imag, nan, posinf, neginf)
    ends = numpy.finfo(x.dtype.dtype)
    for where, value in (
        (ua.isnan(x), nan),
        (x == math.inf, float(ends.max) if posinf is None else posinf),
        (x == -math.inf, float(ends.min) if neginf is None else neginf),
    ):
        x = ua.where(where, cast(together(x, value)[1], x.dtype), x)
    return x


@follows(numpy.sinc)
def sinc(x: Any) -> Array:
    """Compute ``sin(pi x) / (pi x)``, which is 1 at zero."""
    return ua.sinc(x)


@follows(numpy.i0)
def i0(x: Any) -> Array:
    """Compute the modified Bessel function of the first kind and order zero."""
    x = as_array(x)
    if dtypes.rank(x.dtype) == 3:
        raise TypeError("i0() takes real numbers")
    return bessel_i0(x if dtypes.rank(x.dtype) == 2 else x.astype("float64"))


@follows(numpy.diff)
def diff(a: Any, n: int = 1, axis: int = -1, prepend: Any = NO_VALUE, append: Any = NO_VALUE) -> Array:
    """Return the differences of neighbours along an axis, ``n`` times.

    >>> import unifyarr.numpy as np
    >>> np.diff([1, 2, 4, 7], prepend=0)
    array([1, 1, 2, 3])
    """
    if n < 0:
        raise ValueError(f"diff() takes differences zero times or more, not {n} times")
    if prepend is NO_VALUE and append is NO_VALUE:
        return a if n == 0 else ua.diff(a, n=n, axis=axis)
    x = as_array(a)
    axis = as_axis(axis, x.ndim)
    parts = [_beside(prepend, x, axis), x, _beside(append, x, axis)]
    joined = ua.concat([each for each in parts if each is not None], axis=axis)
    return x if n == 0 else ua.diff(joined, n=n, axis=axis)


def _beside(value: Any, x: Array, axis: int) -> Array | None:
    if value is NO_VALUE:
        return None
    added = together(x, value)[1]
    return added if added.ndim else ua.broadcast_to(added, (*x.shape[:axis], 1, *x.shape[axis + 1 :]))


@follows(numpy.ediff1d)
def ediff1d(ary: Any, to_end: Any = None, to_begin: Any = None) -> Array:
    """Return the differences of neighbours in the flattened array, between given elements at the ends."""
    x = ua.reshape(as_array(ary), (-1,))
    parts = [x[1:] - x[:-1] if x.dtype != dtypes.bool else x[1:] != x[:-1]]
    for name, given in (("to_begin", to_begin), ("to_end", to_end)):
        if given is None:
            continue
        end = ua.reshape(together(x, given)[1], (-1,))
        weak = kind_of(given) in (int, float)
        if not numpy.can_cast(end.dtype.dtype, x.dtype.dtype, "same_kind") and not (weak and type(given) is int):
            raise TypeError(f"{name} has dtype {end.dtype}, which can't be cast to {x.dtype} under 'same_kind'")
        end = end.astype(x.dtype, copy=False)
        parts = [end, *parts] if name == "to_begin" else [*parts, end]
    return ua.concat(parts) if len(parts) > 1 else parts[0]


@follows(numpy.gradient)
def gradient(f: Any, *varargs: Any, axis: Any = None, edge_order: int = 1) -> Any:
    """Return the derivatives along axes, by differences of second order, of values at even or at given places."""
    return ua.gradient(f, *varargs, axis=axis, edge_order=edge_order)


@follows(numpy.trapezoid)
def trapezoid(y: Any, x: Any = None, dx: Any = 1.0, axis: int = -1) -> Array:
    """Integrate along an axis by the trapezoidal rule."""
    return ua.trapezoid(y, x, dx=dx, axis=axis)


@follows(numpy.unwrap)
def unwrap(p: Any, discont: Any = None, axis: int = -1, *, period: Any = 2 * numpy.pi) -> Array:
    """Remove the jumps of angles, by adding periods."""
    return ua.unwrap(p, discont=discont, axis=axis, period=period)


_DOUBLE = dtypes.float64


@follows(numpy.interp)
def interp(x: Any, xp: Any, fp: Any, left: Any = None, right: Any = None, period: Any = None) -> Array:
    """Interpolate linearly between points, in double precision.

    >>> import unifyarr.numpy as np
    >>> np.interp(2.5, [1, 2, 3], [3, 2, 0])
    array(1.)
    """
    if not (
        type(x) is type(xp) is type(fp) is Array and x.dtype is _DOUBLE and xp.dtype is _DOUBLE and fp.dtype is _DOUBLE
    ):
        x, xp, fp = together(x, xp, fp)
        x, xp = _as_float64(x), _as_float64(xp)
        fp = fp.astype("complex128", copy=False) if dtypes.rank(fp.dtype) == 3 else _as_float64(fp)
    if left is None and right is None and period is None:
        return ua.interp(x, xp, fp)
    return ua.interp(x, xp, fp, left=left, right=right, period=period)


def _as_float64(x: Array) -> Array:
    if x.dtype is dtypes.float64:
        return x
    if dtypes.rank(x.dtype) == 3:
        raise TypeError(f"places to interpolate between are real numbers, not {x.dtype}")
    return x.astype("float64", copy=False)
