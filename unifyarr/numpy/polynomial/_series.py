"""Values and fits of series: of powers, or of polynomials that a recurrence of three terms gives."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from types import ModuleType
from typing import Any

import numpy

from ... import functions as ua
from ..._core.arrays.array import Array
from ..._core.engines import dtypes
from .._following import as_array, together
from .._polynomials import check_points, fitted

# For k the numbers (a, b, c) of the recurrence: the polynomial k + 1 is (a x + b) times that of k, less c times that
# of k - 1.
Recurrence = Callable[[int], tuple[float, float, float]]


def powers(k: int) -> tuple[float, float, float]:
    """Return the recurrence of powers."""
    return 1, 0, 0


def _basis(x: Array, count: int, recurrence: Recurrence) -> Iterator[Array]:
    """Yield the values of the first polynomials."""
    before, current = ua.zeros_like(x), ua.ones_like(x)
    for k in range(count):
        yield current
        a, b, c = recurrence(k)
        following = a * x * current
        following = following + b * current if b else following
        before, current = current, following - c * before if c else following


def _floating(x: Array) -> Array:
    return x if dtypes.rank(x.dtype) > 1 else x.astype("float64")


def value(x: Any, c: Any, tensor: bool, recurrence: Recurrence) -> Array:
    """Return the values of a series, whose coefficients lie along the first axis of ``c``."""
    given = x if isinstance(x, (Array, list, tuple)) or hasattr(x, "dtype") else as_array(x)
    x, c = (_floating(each) for each in together(given, c))
    if c.ndim == 0:
        c = ua.reshape(c, (1,))
    if tensor:
        c = ua.reshape(c, c.shape + (1,) * x.ndim)
    if recurrence is powers:
        total: Array = c[-1] + ua.zeros_like(x)
        for place in range(c.shape[0] - 2, -1, -1):
            total = c[place] + total * x
        return total
    first, *others = (ua.multiply(c[place], each) for place, each in enumerate(_basis(x, c.shape[0], recurrence)))
    for each in others:
        first = first + each
    return first


def vander(x: Any, deg: Any, recurrence: Recurrence) -> Array:
    """Return the values of the polynomials up to a degree, along a new last axis."""
    if deg < 0:
        raise ValueError(f"the degree of a polynomial is zero or more, not {deg}")
    x = _floating(as_array(x))
    x = ua.reshape(x, (1,)) if x.ndim == 0 else x
    return ua.stack(list(_basis(x, int(deg) + 1, recurrence)), axis=-1)


def fit(x: Any, y: Any, deg: Any, rcond: Any, full: bool, w: Any, recurrence: Recurrence) -> Any:
    """Return the coefficients of the series of least squares, the lowest first."""
    degrees = numpy.asarray(deg)
    if degrees.ndim > 1 or degrees.dtype.kind not in "iu" or degrees.size == 0:
        raise TypeError(f"deg is a whole number or a list of them, not {deg!r}")
    x, y = (_floating(each) for each in together(x, y))
    check_points(x, y, int(degrees.min()) + 1)
    rows = vander(x, int(degrees.max()), recurrence)
    chosen = None if degrees.ndim == 0 else sorted(degrees.tolist())
    if chosen is not None:
        rows = ua.take(rows, together(rows, chosen)[1], axis=1)
    result, residuals, rank, values, rcond, _ = fitted(rows, y, w, x, rcond)
    if chosen is not None:
        # The terms that weren't asked for are zero.
        zero = ua.zeros_like(result[0])
        result = ua.stack([result[chosen.index(k)] if k in chosen else zero for k in range(chosen[-1] + 1)])
    return (result, [residuals, rank, values, rcond]) if full else result


def missing(module: str, theirs: ModuleType, name: str) -> AttributeError:
    """Return the error for a name of NumPy's module that isn't here."""
    said = f"module 'unifyarr.numpy.polynomial.{module}' has no {name!r}"
    if hasattr(theirs, name):
        return AttributeError(f"{said}: values and fits of series are here, all else is in NumPy's own")
    return AttributeError(f"{said}, as NumPy's has none")
