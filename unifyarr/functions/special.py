"""The error function and the normal distribution, which the standard leaves out."""

from __future__ import annotations

import math

from .._core.arrays.array import Array
from .._core.arrays.convert import as_real_floating
from .._core.calling.invoke import attempt, invoke
from .._core.declaring.declare import compositional, mixed, primary
from ._special import as_double, described, offered
from .elementwise import (
    abs,
    add,
    divide,
    exp,
    greater_equal,
    less,
    log,
    log1p,
    multiply,
    negative,
    sign,
    square,
    subtract,
)
from .searching import where

_ROOT_OF_HALF = math.sqrt(0.5)
# Below, log_ndtr() is a series in 1/x², whose terms are these; erfc() of it is a normal number in float32.
_FAR = -12.0
_TAIL = (-1.0, 3.0, -15.0, 105.0, -945.0, 10395.0, -135135.0, 2027025.0, -34459425.0, 654729075.0)


@primary()
def erf(x: Array, /, *, out: Array | None = None) -> Array:
    """Compute the error function: 2/√π times the integral of exp(-t²) from 0 to each element.

    Parameters
    ----------
    x
        An array of real numbers; bools and integers are taken as float64.
    out
        An array of the result's shape for the result.

    Returns
    -------
    Array
        A new array of the shape and dtype of ``x``, or ``out``.

    Raises
    ------
    DtypeError
        If ``x`` is complex.

    Examples
    --------
    >>> import unifyarr as ua
    >>> ua.erf(ua.asarray([-0.5, 0.0, 1.0]))
    array([-0.52049988,  0.        ,  0.84270079])

    Source: NIST Digital Library of Mathematical Functions, 7.2.1.
    """
    x = as_real_floating(x, "erf")
    return invoke("erf", x, out=out, result=(x.shape, x.dtype), aligned=True)


@primary()
def erfc(x: Array, /, *, out: Array | None = None) -> Array:
    """Compute the complement of the error function, 1 - erf(x), without its loss of digits where that is small.

    Parameters
    ----------
    x
        An array of real numbers; bools and integers are taken as float64.
    out
        An array of the result's shape for the result.

    Returns
    -------
    Array
        A new array of the shape and dtype of ``x``, or ``out``.

    Raises
    ------
    DtypeError
        If ``x`` is complex.

    Examples
    --------
    >>> import unifyarr as ua
    >>> ua.erfc(ua.asarray([-1.0, 0.0, 10.0]))
    array([1.84270079e+00, 1.00000000e+00, 2.08848758e-45])

    Source: NIST Digital Library of Mathematical Functions, 7.2.2.
    """
    x = as_real_floating(x, "erfc")
    return invoke("erfc", x, out=out, result=(x.shape, x.dtype), aligned=True)


@mixed(namespace="special")
@described("An array of numbers in [-1, 1]; the result is NaN outside")
def erfinv(x: Array, /, *, out: Array | None = None) -> Array:
    """Compute the number whose error function is each element.

    Examples
    --------
    >>> import unifyarr as ua
    >>> ua.special.erfinv(ua.asarray([-1.0, 0.0, 0.5]))
    array([      -inf, 0.        , 0.47693628])

    Source: NIST Digital Library of Mathematical Functions, 7.17.1; SciPy's ``erfinv``.
    """
    x = as_real_floating(x, "erfinv")
    found = attempt("erfinv", x, out=out, result=(x.shape, x.dtype), aligned=True)
    if found is not None:
        return found
    dtype, x = x.dtype, as_double(x)
    size = abs(x)
    is_far = greater_equal(size, 0.5)
    # The difference to 1 is exact there.
    far = multiply(ndtri(multiply(subtract(1, where(is_far, size, 0.75)), 0.5)), -_ROOT_OF_HALF)
    near = where(is_far, 0, x)
    # Near 0 the sum has few digits of x. A step of Newton brings them back.
    start = multiply(ndtri(multiply(add(near, 1), 0.5)), _ROOT_OF_HALF)
    slope = multiply(exp(square(start)), math.sqrt(math.pi) / 2)
    near = subtract(start, multiply(subtract(erf(start), near), slope))
    return where(is_far, multiply(far, sign(x)), near).astype(dtype, copy=False)


@primary(namespace="special")
@described("An array of numbers in [0, 2]; the result is NaN outside")
def erfcinv(x: Array, /, *, out: Array | None = None) -> Array:
    """Compute the number of which erfc() is each element, with its digits where elements are small.

    Examples
    --------
    >>> import unifyarr as ua
    >>> ua.special.erfcinv(ua.asarray([1e-300, 0.5, 1.5]))
    array([26.20946996,  0.47693628, -0.47693628])

    Source: NIST Digital Library of Mathematical Functions, 7.17; SciPy's ``erfcinv``.
    """
    x = as_real_floating(x, "erfcinv")
    return invoke("erfcinv", x, out=out, result=(x.shape, x.dtype), aligned=True)


@compositional(namespace="special")
@described()
def ndtr(x: Array, /, *, out: Array | None = None) -> Array:
    """Compute the probability that a standard normal variable is less than each element, with its digits where small.

    Examples
    --------
    >>> import unifyarr as ua
    >>> ua.special.ndtr(ua.asarray([-10.0, 0.0, 1.0]))
    array([7.61985302e-24, 5.00000000e-01, 8.41344746e-01])

    Source: NIST Digital Library of Mathematical Functions, 7.18(iv); SciPy's ``ndtr``.
    """
    x = as_real_floating(x, "ndtr")
    return _ndtr(as_double(x)).astype(x.dtype, copy=False)


def _ndtr(x: Array) -> Array:
    return multiply(erfc(multiply(x, -_ROOT_OF_HALF)), 0.5)


@primary(namespace="special")
@described("An array of probabilities, in [0, 1]; the result is NaN outside")
def ndtri(x: Array, /, *, out: Array | None = None) -> Array:
    """Compute the number that a standard normal variable is less than with the probability that each element is.

    Examples
    --------
    >>> import unifyarr as ua
    >>> ua.special.ndtri(ua.asarray([0.0, 0.5, 0.975]))
    array([      -inf, 0.        , 1.95996398])

    Source: SciPy's ``ndtri``.
    """
    x = as_real_floating(x, "ndtri")
    return invoke("ndtri", x, out=out, result=(x.shape, x.dtype), aligned=True)


@mixed(namespace="special")
@described()
def log_ndtr(x: Array, /, *, out: Array | None = None) -> Array:
    """Compute the logarithm of ndtr(), which stays finite where that vanishes.

    Examples
    --------
    >>> import unifyarr as ua
    >>> ua.special.log_ndtr(ua.asarray([-100.0, 0.0, 10.0]))
    array([-5.00552421e+03, -6.93147181e-01, -7.61985302e-24])

    Source: NIST Digital Library of Mathematical Functions, 7.12.1; SciPy's ``log_ndtr``.
    """
    x = as_real_floating(x, "log_ndtr")
    dtype, x = x.dtype, as_double(x)
    found = offered("log_ndtr", x, dtype=dtype)
    if found is not None:
        return found
    is_far, is_low = less(x, _FAR), less(x, -1)
    upper = log1p(negative(_ndtr(where(is_low, 0, negative(x)))))
    middle = log(_ndtr(where(is_low, where(is_far, 0, x), 0)))
    far = where(is_far, x, _FAR)
    inverse = square(divide(1, far))
    series = add(multiply(inverse, _TAIL[-1]), _TAIL[-2])
    for term in _TAIL[-3::-1]:
        series = add(multiply(inverse, series), term)
    lower = subtract(
        log1p(multiply(inverse, series)), add(multiply(square(far), 0.5), log(multiply(far, -math.sqrt(2 * math.pi))))
    )
    return where(is_far, lower, where(is_low, middle, upper)).astype(dtype, copy=False)
