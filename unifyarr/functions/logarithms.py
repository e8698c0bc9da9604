"""Functions of probabilities and their logarithms: logit and its inverse, and the terms of entropies."""

from __future__ import annotations

from .._core.arrays.array import Array
from .._core.arrays.convert import as_real_floating, as_single
from .._core.declaring.declare import compositional, mixed
from ..typing import Scalar
from ._special import as_double, described, offered, operands
from .activations import sigmoid
from .elementwise import (
    abs,
    add,
    divide,
    equal,
    greater,
    greater_equal,
    isinf,
    isnan,
    less,
    less_equal,
    log,
    log1p,
    logical_and,
    logical_or,
    multiply,
    negative,
    subtract,
)
from .searching import where

_INFINITY = float("inf")


@mixed(namespace="special")
@described("An array of probabilities, in [0, 1]; the result is NaN outside")
def logit(x: Array, /, *, out: Array | None = None) -> Array:
    """Compute the logarithm of the odds, log(x / (1 - x)), with its digits near one half too.

    Examples
    --------
    >>> import unifyarr as ua
    >>> ua.special.logit(ua.asarray([0.25, 0.5, 0.75]))
    array([-1.09861229,  0.        ,  1.09861229])

    Source: SciPy's ``logit``.
    """
    x = as_real_floating(x, "logit")
    dtype, x = x.dtype, as_single(x)
    found = offered("logit", x, dtype=dtype)
    if found is not None:
        return found
    # Twice the distance to one half is exact within these bounds.
    is_near = less(abs(subtract(x, 0.5)), 0.2)
    twice = subtract(multiply(where(is_near, x, 0.5), 2), 1)
    near = subtract(log1p(twice), log1p(negative(twice)))
    far = where(is_near, 0.25, x)
    far = subtract(log(far), log1p(negative(far)))
    return where(is_near, near, far).astype(dtype, copy=False)


@compositional(namespace="special")
@described()
def expit(x: Array, /, *, out: Array | None = None) -> Array:
    """Compute the logistic function 1 / (1 + exp(-x)), the same as nn.sigmoid().

    Examples
    --------
    >>> import unifyarr as ua
    >>> ua.special.expit(ua.asarray([-1000.0, 0.0, 2.0]))
    array([0.        , 0.5       , 0.88079708])

    Source: SciPy's ``expit``.
    """
    return sigmoid(x, out=out)


@mixed(namespace="special", takes_numbers=True)
@described(
    x="An array of real numbers.",
    y="An array whose shape broadcasts with that of ``x``, or a number.",
)
def xlogy(x: Array, y: Array | Scalar, /, *, out: Array | None = None) -> Array:
    """Compute x log(y), and 0 where x is 0, unless y is NaN.

    Examples
    --------
    >>> import unifyarr as ua
    >>> ua.special.xlogy(ua.asarray([0.0, 2.0]), ua.asarray([0.0, 3.0]))
    array([0.        , 2.19722458])

    Source: SciPy's ``xlogy``.
    """
    dtype, (x, y) = operands("xlogy", x, y)
    x, y = as_single(x), as_single(y)
    found = offered("xlogy", x, y, dtype=dtype)
    return _xlogy(x, y).astype(dtype, copy=False) if found is None else found


def _xlogy(x: Array, y: Array) -> Array:
    is_lost = logical_and(equal(x, 0), logical_or(less_equal(y, 0), equal(y, _INFINITY)))
    return multiply(x, log(where(is_lost, 1, y)))


@mixed(namespace="special", takes_numbers=True)
@described(
    x="An array of real numbers.",
    y="An array whose shape broadcasts with that of ``x``, or a number.",
)
def xlog1py(x: Array, y: Array | Scalar, /, *, out: Array | None = None) -> Array:
    """Compute x log(1 + y), with its digits where y is small, and 0 where x is 0, unless y is NaN.

    Examples
    --------
    >>> import unifyarr as ua
    >>> ua.special.xlog1py(ua.asarray([0.0, 2.0]), ua.asarray([-1.0, 1e-20]))
    array([0.e+00, 2.e-20])

    Source: SciPy's ``xlog1py``.
    """
    dtype, (x, y) = operands("xlog1py", x, y)
    x, y = as_single(x), as_single(y)
    found = offered("xlog1py", x, y, dtype=dtype)
    if found is not None:
        return found
    is_lost = logical_and(equal(x, 0), logical_or(less_equal(y, -1), equal(y, _INFINITY)))
    return multiply(x, log1p(where(is_lost, 0, y))).astype(dtype, copy=False)


@mixed(namespace="special")
@described()
def entr(x: Array, /, *, out: Array | None = None) -> Array:
    """Compute -x log(x), what each probability adds to an entropy: 0 for 0, and minus infinity for negative numbers.

    Examples
    --------
    >>> import unifyarr as ua
    >>> ua.special.entr(ua.asarray([-1.0, 0.0, 0.5]))
    array([      -inf, 0.        , 0.34657359])

    Source: SciPy's ``entr``.
    """
    x = as_real_floating(x, "entr")
    dtype, x = x.dtype, as_single(x)
    found = offered("entr", x, dtype=dtype)
    if found is not None:
        return found
    is_negative = less(x, 0)
    # Subtracting makes the zero of zero positive.
    found = subtract(0, _xlogy(where(is_negative, 0, x), where(is_negative, 0, x)))
    return where(is_negative, -_INFINITY, found).astype(dtype, copy=False)


@compositional(namespace="special", takes_numbers=True)
@described(
    x="An array of real numbers.",
    y="An array whose shape broadcasts with that of ``x``, or a number.",
)
def rel_entr(x: Array, y: Array | Scalar, /, *, out: Array | None = None) -> Array:
    """Compute x log(x / y), what each pair of probabilities adds to a relative entropy.

    It is 0 for an x of 0 and a y that isn't negative, and infinite for other numbers that aren't positive.

    Examples
    --------
    >>> import unifyarr as ua
    >>> ua.special.rel_entr(ua.asarray([0.0, 0.5, 0.5]), ua.asarray([0.5, 0.25, 0.0]))
    array([0.        , 0.34657359,        inf])

    Source: Kullback and Leibler, "On Information and Sufficiency" (1951); SciPy's ``rel_entr``.
    """
    dtype, (x, y) = operands("rel_entr", x, y)
    return _rel_entr(as_double(x), as_double(y)).astype(dtype, copy=False)


def _rel_entr(x: Array, y: Array) -> Array:
    is_known = logical_and(greater(x, 0), greater(y, 0))
    x1, y1 = where(is_known, x, 1), where(is_known, y, 1)
    # The logarithm of the quotient, which may overflow, is that of its difference to 1 where that is small.
    is_near = logical_and(less(x1, multiply(y1, 2)), less(y1, multiply(x1, 2)))
    difference = where(is_near, subtract(x1, y1), 0)
    quotient = where(is_near, log1p(divide(difference, y1)), subtract(log(x1), log(y1)))
    is_nothing = logical_and(equal(x, 0), greater_equal(y, 0))
    # NaN for NaN.
    otherwise = where(logical_or(isnan(x), isnan(y)), add(x, y), _INFINITY)
    return where(is_known, multiply(x1, quotient), where(is_nothing, 0, otherwise))


@compositional(namespace="special", takes_numbers=True)
@described(
    x="An array of real numbers.",
    y="An array whose shape broadcasts with that of ``x``, or a number.",
)
def kl_div(x: Array, y: Array | Scalar, /, *, out: Array | None = None) -> Array:
    """Compute rel_entr(x, y) - x + y, which is never negative.

    Examples
    --------
    >>> import unifyarr as ua
    >>> ua.special.kl_div(ua.asarray([0.0, 0.5]), ua.asarray([0.5, 0.5]))
    array([0.5, 0. ])

    Source: SciPy's ``kl_div``.
    """
    dtype, (x, y) = operands("kl_div", x, y)
    x, y = as_double(x), as_double(y)
    relative = _rel_entr(x, y)
    is_infinite = isinf(relative)
    finite = add(subtract(where(is_infinite, 0, relative), x), y)
    return where(is_infinite, _INFINITY, finite).astype(dtype, copy=False)
