"""Factorials and numbers of combinations."""

from __future__ import annotations

import math

import numpy as np

from .._core.arrays.array import Array
from .._core.arrays.convert import as_index, as_real_floating, table_beside, within_bounds
from .._core.declaring.declare import compositional
from .._core.engines import dtypes
from ..typing import Scalar
from ._special import as_double, described, operands
from .betas import betaln
from .elementwise import (
    add,
    divide,
    equal,
    exp,
    floor,
    greater,
    less,
    less_equal,
    logical_and,
    logical_or,
    negative,
    round,
    subtract,
)
from .gammas import gammaln
from .gradients import stop_gradient
from .indexing import take
from .searching import where

# The greatest number whose factorial is finite in float64.
_LAST = 170


@compositional(namespace="special")
@described("An array of real numbers; the result is 0 for negative ones")
def factorial(x: Array, /, *, out: Array | None = None) -> Array:
    """Compute the factorials of integers, and between them the gamma function of x + 1.

    Factorials of integers are rounded once.

    Examples
    --------
    >>> import unifyarr as ua
    >>> ua.special.factorial(ua.asarray([0, 3, 0.5, 20]))
    array([1.00000000e+00, 6.00000000e+00, 8.86226925e-01, 2.43290201e+18])

    Source: NIST Digital Library of Mathematical Functions, 5.4.1; SciPy's ``factorial``.
    """
    x = as_real_floating(x, "factorial")
    dtype, x = x.dtype, as_double(x)
    is_negative = less(x, 0)
    positive = where(is_negative, 0, x)
    found = exp(gammaln(add(positive, 1)))
    is_whole = logical_and(equal(positive, floor(positive)), less_equal(positive, _LAST))
    places = as_index(where(is_whole, positive, 0).astype(dtypes.int32).reshape(-1))
    exact = take(_factorials(x), within_bounds(places, 0, _LAST)).reshape(x.shape)
    return where(is_negative, 0, _corrected(found, exact, is_whole)).astype(dtype, copy=False)


def _factorials(x: Array) -> Array:
    known = np.array([math.factorial(k) for k in range(_LAST + 1)], np.float64)
    with np.errstate(over="ignore"):
        return table_beside(known.astype(x.dtype.dtype), x)


@compositional(namespace="special", takes_numbers=True)
@described(
    x="An array of how many there are, real numbers.",
    k="An array of how many are taken, whose shape broadcasts with that of ``x``, or a number.",
)
def comb(x: Array, k: Array | Scalar, /, *, out: Array | None = None) -> Array:
    """Compute in how many ways k of x things can be taken: 0 where k is greater than x, or one of them is negative.

    For integers, results below 2 ** 45 are exact.

    Examples
    --------
    >>> import unifyarr as ua
    >>> ua.special.comb(ua.asarray([3, 10, 52]), ua.asarray([4, 3, 5]))
    array([0.00000e+00, 1.20000e+02, 2.59896e+06])

    Source: NIST Digital Library of Mathematical Functions, 1.2.6; SciPy's ``comb``.
    """
    dtype, (x, k) = operands("comb", x, k)
    x, k = as_double(x), as_double(k)
    is_none = logical_or(greater(k, x), logical_or(less(x, 0), less(k, 0)))
    x, k = where(is_none, 1, x), where(is_none, 1, k)
    found = divide(exp(negative(betaln(add(subtract(x, k), 1), add(k, 1)))), add(x, 1))
    is_whole = logical_and(logical_and(equal(x, floor(x)), equal(k, floor(k))), less(found, 2.0**45))
    return where(is_none, 0, _corrected(found, round(found), is_whole)).astype(dtype, copy=False)


def _corrected(found: Array, exact: Array, where_exact: Array) -> Array:
    """Return the exact values where they are known, with the derivative of the others.

    They differ by rounding, so that their difference is exact, and the sum with it.
    """
    is_known = logical_and(where_exact, less(found, math.inf))
    return add(found, stop_gradient(subtract(where(is_known, exact, 0), where(is_known, found, 0))))
