"""Nearness and equality of arrays, kinds of numbers, and windows."""

from __future__ import annotations

from typing import Any

import numpy

from .. import functions as ua
from .._core.arrays.array import Array
from .._core.arrays.numbers import as_real
from .._core.engines import dtypes
from ._following import as_array, deliver, follows, together


@follows(numpy.isclose)
def isclose(a: Any, b: Any, rtol: Any = 1e-05, atol: Any = 1e-08, equal_nan: bool = False) -> Array:
    """Return whether elements differ by no more than ``atol + rtol * abs(b)``."""
    return ua.isclose(a, b, rtol=rtol, atol=atol, equal_nan=equal_nan)


@follows(numpy.allclose)
def allclose(a: Any, b: Any, rtol: Any = 1e-05, atol: Any = 1e-08, equal_nan: bool = False) -> bool:
    """Return whether all elements are close to each other, as a bool: it can't be traced, unlike ``all(isclose(...))``.

    >>> import unifyarr.numpy as np
    >>> np.allclose([1e10, 1e-7], [1.00001e10, 1e-8])
    False
    """
    return bool(ua.allclose(a, b, rtol=rtol, atol=atol, equal_nan=equal_nan))


@follows(numpy.array_equal)
def array_equal(a1: Any, a2: Any, equal_nan: bool = False) -> bool:
    """Return whether two arrays have the same shape and elements, as a bool."""
    try:
        first, second = together(a1, a2)
    except (TypeError, ValueError):
        # As in NumPy, data that aren't an array of numbers equal nothing.
        return False
    return bool(ua.array_equal(first, second, equal_nan=equal_nan))


@follows(numpy.array_equiv)
def array_equiv(a1: Any, a2: Any) -> bool:
    """Return whether two arrays are equal when one is broadcast to the other, as a bool."""
    try:
        first, second = together(a1, a2)
    except (TypeError, ValueError):
        return False
    return bool(ua.array_equiv(first, second))


def _infinite(x: Any, out: Any, name: str, *, negative: bool) -> Array:
    x = as_array(x)
    if dtypes.rank(x.dtype) == 3:
        raise TypeError(f"{name}() takes real numbers: complex infinities have no sign")
    sign = ua.signbit(x) if x.dtype != dtypes.bool and x.dtype.kind != "u" else ua.zeros_like(x, dtype=dtypes.bool)
    return deliver(ua.logical_and(ua.isinf(x), sign if negative else ua.logical_not(sign)), out)


@follows(numpy.isposinf)
def isposinf(x: Any, out: Any = None) -> Array:
    """Return which elements are positive infinity."""
    return _infinite(x, out, "isposinf", negative=False)


@follows(numpy.isneginf)
def isneginf(x: Any, out: Any = None) -> Array:
    """Return which elements are negative infinity."""
    return _infinite(x, out, "isneginf", negative=True)


@follows(numpy.iscomplex)
def iscomplex(x: Any) -> Array:
    """Return which elements have an imaginary part."""
    x = as_array(x)
    return x.imag != 0 if dtypes.rank(x.dtype) == 3 else ua.zeros_like(x, dtype=dtypes.bool)


@follows(numpy.isreal)
def isreal(x: Any) -> Array:
    """Return which elements have no imaginary part."""
    return ua.logical_not(iscomplex(x))


@follows(numpy.iscomplexobj)
def iscomplexobj(x: Any) -> bool:
    """Return whether the dtype is complex."""
    return dtypes.rank(as_array(x).dtype) == 3


@follows(numpy.isrealobj)
def isrealobj(x: Any) -> bool:
    """Return whether the dtype isn't complex."""
    return not iscomplexobj(x)


@follows(numpy.isscalar)
def isscalar(element: Any) -> bool:
    """Return whether something is a number: of Python's, of NumPy's, or an array of no dimensions.

    Such arrays are NumPy's scalars here, as results of ``x[0]`` and ``sum(x)``.
    """
    return element.ndim == 0 if isinstance(element, Array) else bool(numpy.isscalar(element))


def _window(name: str, count: Any, *shape: float) -> Array:
    # How many points there are is a shape, and these are constants.
    return ua.asarray(getattr(numpy, name)(as_real(count, "M") if isinstance(count, Array) else count, *shape))


@follows(numpy.bartlett)
def bartlett(M: Any) -> Array:  # noqa: N803
    """Return the Bartlett window: a triangle with zeros at the ends."""
    return _window("bartlett", M)


@follows(numpy.blackman)
def blackman(M: Any) -> Array:  # noqa: N803
    """Return the Blackman window: three terms of a sum of cosines."""
    return _window("blackman", M)


@follows(numpy.hamming)
def hamming(M: Any) -> Array:  # noqa: N803
    """Return the Hamming window: a raised cosine that doesn't end at zero."""
    return _window("hamming", M)


@follows(numpy.hanning)
def hanning(M: Any) -> Array:  # noqa: N803
    """Return the Hann window: a raised cosine."""
    return _window("hanning", M)


@follows(numpy.kaiser)
def kaiser(M: Any, beta: Any) -> Array:  # noqa: N803
    """Return the Kaiser window, whose shape is ``beta``."""
    return _window("kaiser", M, as_real(beta, "beta of kaiser()"))
