"""The logarithm of the gamma function, its derivatives, its incomplete integrals, and the zeta function."""

from __future__ import annotations

import math

from .._core.arrays.array import Array
from .._core.arrays.convert import as_real_floating
from .._core.calling.invoke import invoke
from .._core.declaring.declare import compositional, primary
from .._core.engines import dtypes
from .._core.values.arguments import as_integer
from ..errors import DtypeError
from ..typing import Scalar
from ._special import as_double, check_constant, described, operands
from .elementwise import add, equal, exp, less, multiply, negative, remainder, round
from .gradients import stop_gradient
from .searching import where

# The greatest number whose factorial is finite in float64.
_LAST = 170


@primary(namespace="special")
@described()
def gammaln(x: Array, /, *, out: Array | None = None) -> Array:
    """Compute the logarithm of the absolute value of the gamma function.

    It is infinite for 0 and for negative integers. Near its zeros the error is that of numbers near 1.

    Examples
    --------
    >>> import unifyarr as ua
    >>> ua.special.gammaln(ua.asarray([0.5, 1.0, 100.0]))
    array([  0.57236494,   0.        , 359.13420537])

    Source: NIST Digital Library of Mathematical Functions, 5.2.1; SciPy's ``gammaln``.
    """
    x = as_real_floating(x, "gammaln")
    return invoke("gammaln", x, out=out, result=(x.shape, x.dtype), aligned=True)


@primary(namespace="special")
@described()
def digamma(x: Array, /, *, out: Array | None = None) -> Array:
    """Compute the derivative of gammaln().

    At 0 it is the infinity of the other sign, and at negative integers NaN. Near its zeros the absolute error is that
    of numbers near 1.

    Examples
    --------
    >>> import unifyarr as ua
    >>> ua.special.digamma(ua.asarray([0.5, 1.0, 100.0]))
    array([-1.96351003, -0.57721566,  4.60016185])

    Source: NIST Digital Library of Mathematical Functions, 5.2.2; SciPy's ``digamma``.
    """
    x = as_real_floating(x, "digamma")
    return invoke("digamma", x, out=out, result=(x.shape, x.dtype), aligned=True)


@compositional(namespace="special")
def polygamma(n: int | Array, x: Array, /, *, out: Array | None = None) -> Array:
    """Compute the derivative of digamma() of order n.

    Parameters
    ----------
    n
        The order, an integer that isn't negative, or an array of such integers that broadcasts with ``x``.
    x
        An array of real numbers; bools and integers are taken as float64.
    out
        An array of the result's shape for the result.

    Returns
    -------
    Array
        A new array of the broadcast shape and the dtype of ``x``, or ``out``. For negative numbers, as in SciPy, it is
        NaN or infinite if the order isn't 0. In an array of orders a negative one gives NaN.

    Raises
    ------
    DtypeError
        If ``x`` is complex.
        Likewise if ``n`` is an array of anything but integers.
    ValueError
        If the order is one negative number.

    Examples
    --------
    >>> import unifyarr as ua
    >>> ua.special.polygamma(1, ua.asarray([0.5, 1.0, 100.0]))
    array([4.9348022 , 1.64493407, 0.01005017])

    Source: NIST Digital Library of Mathematical Functions, 5.15.1; SciPy's ``polygamma``.
    """
    if isinstance(n, Array) and n.ndim:
        return _of_orders(n, x)
    n = as_integer(n, "n of polygamma()")
    if n < 0:
        raise ValueError(f"n of polygamma() is {n}: pass the order of a derivative, 0 or more")
    if n == 0:
        return digamma(x)
    x = as_real_floating(x, "polygamma")
    given = x.dtype
    # Beyond, all values are infinite.
    factor = (-1.0) ** (n + 1) * (math.factorial(n) if n <= _LAST else math.inf)
    _, (x, order) = operands("polygamma", as_double(x), float(n + 1))
    return multiply(zeta(order, x), factor).astype(given, copy=False)


def _of_orders(n: Array, x: Array) -> Array:
    """Compute derivatives of digamma() of several orders."""
    if dtypes.rank(n.dtype) != 1:
        raise DtypeError(f"n of polygamma() is an array of {n.dtype}: pass integers")
    x = as_real_floating(x, "polygamma")
    given = x.dtype
    _, (order, x) = operands("polygamma", as_double(stop_gradient(n).astype("float64")), as_double(x))
    is_first = equal(order, 0)
    # Factorials are powers of e within rounding; those of small numbers are whole.
    factorial = exp(gammaln(add(order, 1)))
    factorial = where(less(order, 20), round(factorial), factorial)
    size = multiply(factorial, zeta(add(where(is_first, 1, order), 1), x))
    signed = where(equal(remainder(order, 2), 0), negative(size), size)
    found = where(is_first, digamma(x), signed)
    return where(less(order, 0), math.nan, found).astype(given, copy=False)


@primary(namespace="special", takes_numbers=True)
@described(
    x="An array of exponents, of 1 or more: the result is NaN for others. There's no derivative by them.",
    q="An array of what is added to the integers, whose shape broadcasts with that of ``x``, or a number.",
)
def zeta(x: Array, q: Array | Scalar = 1.0, /, *, out: Array | None = None) -> Array:
    """Compute the zeta function of Riemann, or of Hurwitz: the sum of 1 / (k + q) ** x for k = 0, 1, 2, ...

    Examples
    --------
    >>> import unifyarr as ua
    >>> ua.special.zeta(ua.asarray([1.0, 2.0, 3.0]))
    array([       inf, 1.64493407, 1.2020569 ])

    Source: NIST Digital Library of Mathematical Functions, 25.11.1; SciPy's ``zeta``.
    """
    check_constant(x, "x of zeta()")
    dtype, (x, q) = operands("zeta", x, q)
    return invoke("zeta", x, q, out=out, result=(x.shape, dtype), aligned=True)


@primary(namespace="special", takes_numbers=True)
@described(
    a="An array of exponents, not negative. There's no derivative by them.",
    x="An array of bounds, not negative, whose shape broadcasts with that of ``a``, or a number.",
)
def gammainc(a: Array, x: Array | Scalar, /, *, out: Array | None = None) -> Array:
    """Compute the probability that a gamma variable of shape a is less than x.

    It is the regularised incomplete gamma function, lower: NaN of negative numbers.
    SciPy computes it on the host, on every engine.

    Examples
    --------
    >>> import unifyarr as ua
    >>> ua.special.gammainc(ua.asarray([0.5, 1.0, 5.0]), 1.0)
    array([0.84270079, 0.63212056, 0.00365985])

    Source: NIST Digital Library of Mathematical Functions, 8.2.4; SciPy's ``gammainc``.
    """
    check_constant(a, "a of gammainc()")
    dtype, (a, x) = operands("gammainc", a, x)
    return invoke("gammainc", a, x, out=out, result=(a.shape, dtype), aligned=True)


@primary(namespace="special", takes_numbers=True)
@described(
    a="An array of exponents, not negative. There's no derivative by them.",
    x="An array of bounds, not negative, whose shape broadcasts with that of ``a``, or a number.",
)
def gammaincc(a: Array, x: Array | Scalar, /, *, out: Array | None = None) -> Array:
    """Compute the probability that a gamma variable of shape a is greater than x, with its digits where small.

    It is the regularised incomplete gamma function, upper: NaN of negative numbers.
    SciPy computes it on the host, on every engine.

    Examples
    --------
    >>> import unifyarr as ua
    >>> ua.special.gammaincc(ua.asarray([0.5, 1.0, 5.0]), 1.0)
    array([0.15729921, 0.36787944, 0.99634015])

    Source: NIST Digital Library of Mathematical Functions, 8.2.4; SciPy's ``gammaincc``.
    """
    check_constant(a, "a of gammaincc()")
    dtype, (a, x) = operands("gammaincc", a, x)
    return invoke("gammaincc", a, x, out=out, result=(a.shape, dtype), aligned=True)
