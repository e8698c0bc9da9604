"""The parts of floating-point numbers, and powers that are exact or in double precision."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from .._core.arrays.array import Array
from .._core.arrays.convert import as_array, common_backend, device_of
from .._core.arrays.weak import kind_of
from .._core.calling.invoke import attempt, attempt_several
from .._core.declaring.declare import compositional, mixed
from .._core.engines import dtypes
from .._core.engines.current import current
from .._core.values.records import Record
from .creation import ones_like
from .data_type import finfo
from .elementwise import (
    abs,
    add,
    bitwise_and,
    clip,
    copysign,
    divide,
    equal,
    floor,
    floor_divide,
    greater_equal,
    isfinite,
    isinf,
    less,
    log2,
    logical_and,
    multiply,
    negative,
    nextafter,
    not_equal,
    pow,
    subtract,
    trunc,
)
from .gradients import stop_gradient
from .manipulation import broadcast_arrays
from .searching import where

if TYPE_CHECKING:
    from .._core.engines.dtypes import DType
    from ..typing import ArrayLike, Scalar

# The binary digits behind the first one, and the exponent of the least normal number.
_BITS = {"float16": (10, 14), "bfloat16": (7, 126), "float32": (23, 126), "float64": (52, 1022)}


class FrexpResult(Record):
    """The result of ``frexp``."""

    mantissa: Array
    exponent: Array


class ModfResult(Record):
    """The result of ``modf``."""

    fractional: Array
    integral: Array


def _in_loop(ufunc: np.ufunc, *given: ArrayLike | Scalar) -> tuple[list[Array], list[DType]]:
    """Return operands as arrays of the dtypes in which NumPy computes a ufunc, and the dtypes of its results."""
    backend = common_backend(given, current())
    device = device_of(given, backend)
    arrays = [as_array(x, backend, device) for x in given]
    kinds: list[Any] = [
        kind if (kind := kind_of(x)) in dtypes.SCALARS else array.dtype for x, array in zip(given, arrays, strict=True)
    ]
    found = dtypes.loop(ufunc, *kinds)
    cast = [x.astype(dtype, copy=False) for x, dtype in zip(arrays, found[: ufunc.nin], strict=True)]
    return list(broadcast_arrays(*cast)) if len(cast) > 1 else cast, list(found[ufunc.nin :])


@compositional()
def float_power(x1: ArrayLike | Scalar, x2: ArrayLike | Scalar, /, *, out: Array | None = None) -> Array:
    """Raise each element of x1 to the power of that of x2, in double precision at least.

    Parameters
    ----------
    x1, x2
        Arrays whose shapes broadcast, or scalars.
    out
        An array of the broadcast shape for the result.

    Returns
    -------
    Array
        A new array of float64 or complex128, or ``out``.

    Examples
    --------
    >>> import unifyarr as ua
    >>> ua.float_power(ua.asarray([2, 3]), -1)
    array([0.5       , 0.33333333])

    Source: NumPy, ``float_power``.
    """
    (base, exponent), _ = _in_loop(np.float_power, x1, x2)
    return pow(base, exponent)


@mixed(kernels=("ldexp",))
def ldexp(x1: ArrayLike | Scalar, x2: ArrayLike | Scalar, /, *, out: Array | None = None) -> Array:
    """Compute ``x1 * 2**x2``, which is exact where it can be.

    Parameters
    ----------
    x1, x2
        Arrays of real numbers and of integers, whose shapes broadcast, or scalars.
    out
        An array of the broadcast shape for the result.

    Returns
    -------
    Array
        A new floating-point array of the broadcast shape, or ``out``.

    Raises
    ------
    DtypeError
        If ``x1`` is complex, or ``x2`` isn't of integers.

    Examples
    --------
    >>> import unifyarr as ua
    >>> ua.ldexp(ua.asarray([0.75, -1.0]), ua.asarray([2, 10]))
    array([    3., -1024.])

    Source: NumPy, ``ldexp``.
    """
    (x, exponent), _ = _in_loop(np.ldexp, x1, x2)
    found = attempt("ldexp", x, exponent)
    if found is not None:
        return found
    digits, least = _BITS[x.dtype.name]
    # Whatever is further away is an infinity or zero.
    most = 2 * (least + digits)
    exponent, reach = clip(exponent.astype("int64"), -most, most), least // 2
    # In steps whose powers are numbers: all but the last are exact, unless they overflow.
    for _ in range(5):
        step = clip(exponent, -reach, reach)
        x, exponent = multiply(x, _power_of_two(step, x.dtype)), subtract(exponent, step)
    return x


def _power_of_two(exponent: Array, dtype: DType) -> Array:
    # Exact, as products of powers are, where exp2() of an engine may be off by one digit.
    result, size, most = ones_like(exponent, dtype=dtype), abs(exponent), finfo(dtype).max
    for bit in range(10):
        factor = 2.0 ** (1 << bit)
        if factor > most:
            break
        result = where(not_equal(bitwise_and(size, 1 << bit), 0), multiply(result, factor), result)
    return where(less(exponent, 0), divide(1, result), result)


@mixed(kernels=("frexp",))
def frexp(x: ArrayLike | Scalar, /, *, out: tuple[Array, ...] | None = None) -> FrexpResult:
    """Split numbers into fractions, from 1/2 to 1, and exponents of two: ``x == mantissa * 2**exponent``.

    Parameters
    ----------
    x
        An array of real numbers, or a scalar.
    out
        A tuple of two arrays of the shape of ``x`` to write the results to; it's returned then.

    Returns
    -------
    FrexpResult
        ``mantissa``, a floating-point array, with the sign of ``x``, and ``exponent``, of int32. Zeros, infinities and
        NaN are their own mantissas, of exponent 0.

    Raises
    ------
    DtypeError
        If ``x`` is complex.

    Examples
    --------
    >>> import unifyarr as ua
    >>> ua.frexp(ua.asarray([3.0, -0.25]))
    FrexpResult(mantissa=array([ 0.75, -0.5 ]), exponent=array([ 2, -1], dtype=int32))

    Source: NumPy, ``frexp``.
    """
    (x,), (_, last) = _in_loop(np.frexp, x)
    found = attempt_several("frexp", x)
    if found is not None:
        return FrexpResult(*found)
    digits, _ = _BITS[x.dtype.name]
    plain = logical_and(isfinite(x), not_equal(x, 0))
    size = where(plain, abs(x), 1)
    small = less(size, finfo(x.dtype).smallest_normal * 2)
    size = where(small, multiply(size, 2.0 ** (digits + 2)), size)
    exponent = add(floor(log2(stop_gradient(size))).astype("int64"), 1)
    half = floor_divide(negative(exponent), 2)
    fraction = multiply(multiply(size, _power_of_two(half, x.dtype)), _power_of_two(-exponent - half, x.dtype))
    # The logarithm may be rounded to the next whole number.
    great, little = greater_equal(fraction, 1), less(fraction, 0.5)
    fraction = where(great, divide(fraction, 2), where(little, multiply(fraction, 2), fraction))
    exponent = where(great, add(exponent, 1), where(little, subtract(exponent, 1), exponent))
    exponent = where(small, subtract(exponent, digits + 2), exponent)
    fraction = where(less(x, 0), negative(fraction), fraction)
    return FrexpResult(where(plain, fraction, x), where(plain, exponent, 0).astype(last))


@mixed(kernels=("modf",))
def modf(x: ArrayLike | Scalar, /, *, out: tuple[Array, ...] | None = None) -> ModfResult:
    """Split numbers into the part behind the point and the whole part, both with the sign of the number.

    Parameters
    ----------
    x
        An array of real numbers, or a scalar.
    out
        A tuple of two arrays of the shape of ``x`` to write the results to; it's returned then.

    Returns
    -------
    ModfResult
        ``fractional`` and ``integral``, two floating-point arrays of the shape of ``x``.

    Raises
    ------
    DtypeError
        If ``x`` is complex.

    Examples
    --------
    >>> import unifyarr as ua
    >>> ua.modf(ua.asarray([3.25, -0.5]))
    ModfResult(fractional=array([ 0.25, -0.5 ]), integral=array([ 3., -0.]))

    Source: NumPy, ``modf``.
    """
    (x,), _ = _in_loop(np.modf, x)
    found = attempt_several("modf", x)
    if found is not None:
        return ModfResult(*found)
    whole = trunc(x)
    rest = where(isinf(x), 0, subtract(x, whole))
    # Zeros have signs too.
    return ModfResult(where(equal(rest, 0), copysign(0.0, stop_gradient(x)), rest), whole)


@mixed(kernels=("spacing",))
def spacing(x: ArrayLike | Scalar, /, *, out: Array | None = None) -> Array:
    """Compute the distance to the next number away from zero, with the sign of the number.

    Parameters
    ----------
    x
        An array of real numbers, or a scalar.
    out
        An array of the shape of ``x`` for the result.

    Returns
    -------
    Array
        A new floating-point array of the shape of ``x``, or ``out``; a constant to derivatives. NaN for infinities.

    Raises
    ------
    DtypeError
        If ``x`` is complex.

    Examples
    --------
    >>> import unifyarr as ua
    >>> ua.spacing(ua.asarray([1.0, -1.0])) == ua.finfo(ua.float64).eps
    array([ True, False])

    Source: NumPy, ``spacing``.
    """
    (x,), _ = _in_loop(np.spacing, x)
    found = attempt("spacing", x)
    if found is not None:
        return found
    x = stop_gradient(x)
    # In half precision NumPy's is the distance to the next number above.
    size = x if x.dtype is dtypes.float16 else abs(x)
    gap = where(isinf(x), float("nan"), subtract(nextafter(size, float("inf")), size))
    return gap if size is x else copysign(gap, x)
