"""Comparisons of whole arrays, exact and approximate."""

from __future__ import annotations

import builtins
from typing import TYPE_CHECKING, Any

from .._core.arrays.array import Array
from .._core.declaring.declare import compositional
from .._core.engines import dtypes
from .._core.values.shapes import broadcast
from ..errors import ShapeError, UnknownShapeError
from .creation import full_beside
from .elementwise import abs, add, equal, isfinite, isnan, less_equal, logical_and, logical_or, multiply, subtract
from .utility import all

if TYPE_CHECKING:
    from ..typing import ArrayLike, Scalar

_REAL = (int, float)
_NUMBERS = (int, float, complex)


@compositional(takes_numbers=True)
def isclose(
    x1: ArrayLike | Scalar,
    x2: ArrayLike | Scalar,
    /,
    *,
    rtol: ArrayLike | Scalar = 1e-05,
    atol: ArrayLike | Scalar = 1e-08,
    equal_nan: bool = False,
    out: Array | None = None,
) -> Array:
    """Test whether each element of x1 is near that of x2: ``abs(x1 - x2) <= atol + rtol * abs(x2)``, or both infinite.

    Parameters
    ----------
    x1, x2
        Arrays whose shapes broadcast, or scalars; bools and integers are compared as floating-point numbers.
    rtol, atol
        The relative and the absolute tolerance: numbers, or arrays that broadcast.
    equal_nan
        Whether NaN is near NaN.
    out
        An array of the broadcast shape for the result.

    Returns
    -------
    Array
        A new bool array of the broadcast shape, or ``out``.

    Examples
    --------
    >>> import unifyarr as ua
    >>> ua.isclose(ua.asarray([1.0, 1.0]), ua.asarray([1.0 + 1e-9, 1.1]))
    array([ True, False])

    Source: NumPy, ``isclose``.
    """
    weak: Any = x2
    margin: Any = atol
    finite: Any
    missing: Any
    if type(x2) in _NUMBERS and type(rtol) in _REAL and isinstance(x1, Array):
        # Scalars are weak, and so are results computed from them.
        wanted = weak + 0.0
        # An infinity less itself is NaN.
        finite, missing, size = wanted - wanted == 0, wanted != wanted, builtins.abs(wanted) * rtol
    else:
        # A sum with 0.0 is a floating-point number, and infinite parts stay as they are.
        wanted = add(x2, 0.0)
        finite, missing, size = isfinite(wanted), equal_nan and isnan(wanted), multiply(abs(wanted), rtol)
    limit = size + margin if type(size) is float and type(atol) in _REAL else add(size, atol)
    near = less_equal(abs(subtract(x1, wanted)), limit)
    near = logical_or(logical_and(near, finite), equal(x1, wanted))
    return logical_or(near, logical_and(isnan(add(x1, 0.0)), missing)) if equal_nan else near


@compositional(takes_numbers=True)
def allclose(
    x1: ArrayLike | Scalar,
    x2: ArrayLike | Scalar,
    /,
    *,
    rtol: ArrayLike | Scalar = 1e-05,
    atol: ArrayLike | Scalar = 1e-08,
    equal_nan: bool = False,
    out: Array | None = None,
) -> Array:
    """Test whether all elements of two arrays are near each other, as ``isclose`` has it.

    Parameters
    ----------
    x1, x2
        Arrays whose shapes broadcast, or scalars.
    rtol, atol
        The relative and the absolute tolerance.
    equal_nan
        Whether NaN is near NaN.
    out
        A 0-d array for the result.

    Returns
    -------
    Array
        A new 0-d bool array, or ``out``.

    Examples
    --------
    >>> import unifyarr as ua
    >>> ua.allclose(ua.asarray([1.0, 2.0]), ua.asarray([1.0 + 1e-9, 2.0]))
    array(True)

    Source: NumPy, ``allclose``.
    """
    return all(isclose(x1, x2, rtol=rtol, atol=atol, equal_nan=equal_nan), out=out)


@compositional()
def array_equal(x1: Array, x2: Array, /, *, equal_nan: bool = False, out: Array | None = None) -> Array:
    """Test whether two arrays have one shape and equal elements.

    Parameters
    ----------
    x1, x2
        Arrays of any shapes.
    equal_nan
        Whether NaN equals NaN.
    out
        A 0-d array for the result.

    Returns
    -------
    Array
        A new 0-d bool array, or ``out``.

    Examples
    --------
    >>> import unifyarr as ua
    >>> ua.array_equal(ua.asarray([1, 2]), ua.asarray([1, 2])), ua.array_equal(ua.asarray([1, 2]), ua.asarray([1]))
    (array(True), array(False))

    Source: NumPy, ``array_equal``.
    """
    if x1.shape != x2.shape:
        return full_beside(x1, (), False, dtypes.bool)
    same = equal(x1, x2)
    return all(logical_or(same, logical_and(isnan(x1), isnan(x2))) if equal_nan else same, out=out)


@compositional()
def array_equiv(x1: Array, x2: Array, /, *, out: Array | None = None) -> Array:
    """Test whether two arrays broadcast, and have equal elements then.

    Parameters
    ----------
    x1, x2
        Arrays of any shapes.
    out
        A 0-d array for the result.

    Returns
    -------
    Array
        A new 0-d bool array, or ``out``.

    Examples
    --------
    >>> import unifyarr as ua
    >>> ua.array_equiv(ua.asarray([1, 1]), ua.asarray([[1], [1]]))
    array(True)

    Source: NumPy, ``array_equiv``.
    """
    try:
        broadcast(x1.shape, x2.shape)
    except UnknownShapeError:
        # Nothing tells whether they broadcast.
        raise
    except ShapeError:
        return full_beside(x1, (), False, dtypes.bool)
    return all(equal(x1, x2), out=out)
