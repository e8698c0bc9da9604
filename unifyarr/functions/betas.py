"""The beta function, its logarithm, and its incomplete integral."""

from __future__ import annotations

import math

from .._core.arrays.array import Array
from .._core.calling.invoke import invoke
from .._core.declaring.declare import compositional, primary
from .._core.engines.dtypes import DType
from ..typing import Scalar
from ._special import as_double, check_constant, described, operands
from .elementwise import (
    abs,
    add,
    divide,
    equal,
    exp,
    floor,
    greater,
    greater_equal,
    isinf,
    isnan,
    less,
    less_equal,
    log,
    log1p,
    logical_and,
    logical_not,
    logical_or,
    multiply,
    negative,
    remainder,
    square,
    subtract,
)
from .gammas import gammaln
from .searching import where

# From here on the series of gammaln() in 1/x, 1/x³, 1/x⁵, ... is precise, whose terms Bernoulli's numbers give.
_GREAT = 10.0
_STIRLING = (1 / 12, -1 / 360, 1 / 1260, -1 / 1680, 1 / 1188, -691 / 360360, 1 / 156, -3617 / 122400)
_NUMBERS = "An array of real numbers."
_OTHERS = "An array whose shape broadcasts with that of ``a``, or a number."


@compositional(namespace="special", takes_numbers=True)
@described(a=_NUMBERS, b=_OTHERS)
def beta(a: Array, b: Array | Scalar, /, *, out: Array | None = None) -> Array:
    """Compute the beta function, gamma(a) gamma(b) / gamma(a + b).

    Where a gamma function is infinite, so is the result, unless gamma(a + b) is infinite too: then it is the limit.

    Examples
    --------
    >>> import unifyarr as ua
    >>> ua.special.beta(ua.asarray([0.5, 1.0, 2.0]), 2.0)
    array([1.33333333, 0.5       , 0.16666667])

    Source: NIST Digital Library of Mathematical Functions, 5.12.1; SciPy's ``beta``.
    """
    dtype, a, b = _doubles("beta", a, b)
    is_negative = equal(_is_odd(a), equal(_is_odd(b), _is_odd(add(a, b))))
    at_pole = _is_pole(a)
    pole, other = where(at_pole, a, b), where(at_pole, b, a)
    # There the sign is that of the limit, as SciPy has it.
    is_alternating = logical_and(_is_whole(pole), greater(subtract(subtract(1, pole), other), 0))
    is_odd = logical_and(is_alternating, logical_and(_is_whole(other), equal(remainder(other, 2), 1)))
    is_negative = where(_is_pole(pole), is_odd, is_negative)
    size = exp(_betaln(a, b))
    return where(is_negative, negative(size), size).astype(dtype, copy=False)


@compositional(namespace="special", takes_numbers=True)
@described(a=_NUMBERS, b=_OTHERS)
def betaln(a: Array, b: Array | Scalar, /, *, out: Array | None = None) -> Array:
    """Compute the logarithm of the absolute value of beta(a, b), which doesn't overflow.

    For two large numbers it is more accurate than a difference of gammaln(). It is infinite at the poles of beta().

    Examples
    --------
    >>> import unifyarr as ua
    >>> ua.special.betaln(ua.asarray([0.5, 1.0, 1000.0]), 2000.0)
    array([   -3.22802379,    -7.60090246, -1911.87461421])

    Source: Didonato and Morris, "Algorithm 708" (1992); SciPy's ``betaln``.
    """
    dtype, a, b = _doubles("betaln", a, b)
    return _betaln(a, b).astype(dtype, copy=False)


@primary(namespace="special", takes_numbers=True)
@described(
    a="An array of positive numbers. There's no derivative by them.",
    b="Positive numbers whose shape broadcasts with that of ``a``. There's no derivative by them.",
    x="Numbers in [0, 1] whose shape broadcasts with those of the others.",
)
def betainc(a: Array, b: Array | Scalar, x: Array | Scalar, /, *, out: Array | None = None) -> Array:
    """Compute the probability that a beta variable of shapes a and b is less than x.

    It is the regularised incomplete beta function. SciPy computes it on the host, on every engine.

    Examples
    --------
    >>> import unifyarr as ua
    >>> ua.special.betainc(ua.asarray([0.5, 1.0, 2.0]), 2.0, 0.25)
    array([0.6875 , 0.4375 , 0.15625])

    Source: NIST Digital Library of Mathematical Functions, 8.17.2; SciPy's ``betainc``.
    """
    for name, each in (("a", a), ("b", b)):
        if isinstance(each, Array):
            check_constant(each, f"{name} of betainc()")
    dtype, (a, b, x) = operands("betainc", a, b, x)
    return invoke("betainc", a, b, x, out=out, result=(a.shape, dtype), aligned=True)


def _doubles(name: str, a: Array, b: Array | Scalar) -> tuple[DType, Array, Array]:
    dtype, (a, b) = operands(name, a, b)
    return dtype, as_double(a), as_double(b)


def _is_odd(x: Array) -> Array:
    """Return where the gamma function is negative."""
    return logical_and(less(x, 0), equal(remainder(floor(x), 2), 1))


def _is_whole(x: Array) -> Array:
    return logical_and(equal(x, floor(x)), less(abs(x), math.inf))


def _is_pole(x: Array) -> Array:
    """Return where the gamma function is infinite, or, at minus infinity, has no limit."""
    return logical_and(less_equal(x, 0), equal(x, floor(x)))


def _correction(x: Array) -> Array:
    """Return the difference of gammaln() and Stirling's formula, for large numbers."""
    inverse = divide(1, x)
    step = square(inverse)
    total = multiply(step, _STIRLING[-1])
    for term in _STIRLING[-2:0:-1]:
        total = multiply(add(total, term), step)
    return multiply(add(total, _STIRLING[0]), inverse)


def _ordered(a: Array, b: Array) -> tuple[Array, Array]:
    # Not minimum() and maximum(), whose derivative by equal numbers engines disagree on.
    is_swapped = less(b, a)
    return where(is_swapped, b, a), where(is_swapped, a, b)


def _betaln(a: Array, b: Array) -> Array:
    less_, more = _ordered(a, b)
    # Where the gamma functions of one operand and of the sum are infinite, their quotient is one of positive numbers.
    mirrored = subtract(subtract(1, less_), more)
    is_mirrored = logical_and(_is_pole(less_), logical_and(greater(mirrored, 0), less(mirrored, math.inf)))
    is_mirrored = logical_and(is_mirrored, logical_and(_is_whole(more), greater(more, 0)))
    less_, more = _ordered(where(is_mirrored, mirrored, less_), more)
    is_pole = logical_and(
        logical_or(_is_pole(less_), _is_pole(more)), logical_not(logical_or(isnan(less_), isnan(more)))
    )
    is_endless = logical_and(isinf(more), logical_not(is_pole))
    is_regular = logical_not(logical_or(is_endless, is_pole))
    is_great = logical_and(greater_equal(more, _GREAT), greater_equal(add(less_, more), _GREAT))
    is_great = logical_and(is_great, is_regular)
    both = logical_and(is_great, greater_equal(less_, _GREAT))
    # Safe values for the other elements keep every formula, and its derivative, finite.
    is_other = logical_or(is_great, logical_not(is_regular))
    first, second = where(is_other, 1, less_), where(is_other, 1, more)
    small = subtract(add(gammaln(first), gammaln(second)), gammaln(add(first, second)))
    more = where(is_great, more, _GREAT)
    found = _great(where(is_great, less_, 1), more)
    found = where(both, _both(where(both, less_, _GREAT), more), where(is_great, found, small))
    endless = where(less(less_, 0), math.inf, where(isnan(less_), math.nan, -math.inf))
    return where(is_endless, endless, where(is_pole, math.inf, found))


def _great(a: Array, b: Array) -> Array:
    """Return betaln() for a great b and a great sum: the logarithm of b and the differences of the series."""
    total = add(a, b)
    rest = subtract(a, multiply(subtract(total, 0.5), log1p(divide(a, b))))
    rest = add(rest, subtract(_correction(b), _correction(total)))
    return add(subtract(gammaln(a), multiply(a, log(b))), rest)


def _both(a: Array, b: Array) -> Array:
    """Return betaln() for two great numbers, the lesser one first."""
    total, quotient = add(a, b), divide(a, b)
    series = subtract(add(_correction(a), _correction(b)), _correction(total))
    powers = subtract(multiply(subtract(a, 0.5), log(quotient)), multiply(subtract(total, 0.5), log1p(quotient)))
    return add(add(series, powers), subtract(0.5 * math.log(2 * math.pi), multiply(log(b), 0.5)))
