"""Elementwise functions of NumPy that the standard lacks; see ``elementwise`` for their common rules."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from .._core.declaring.declare import elementwise

if TYPE_CHECKING:
    from .._core.arrays.array import Array
    from ..typing import ArrayLike, Scalar


@elementwise(np.deg2rad, standard=False)
def deg2rad(x: ArrayLike, /, *, out: Array | None = None) -> Array:
    """Convert angles from degrees to radians.

    Examples
    --------
    >>> import unifyarr as ua
    >>> ua.deg2rad(ua.asarray([0.0, 90.0, -180.0]))
    array([ 0.        ,  1.57079633, -3.14159265])
    """


@elementwise(np.exp2, standard=False)
def exp2(x: ArrayLike, /, *, out: Array | None = None) -> Array:
    """Compute two to the power of each element.

    Examples
    --------
    >>> import unifyarr as ua
    >>> ua.exp2(ua.asarray([-1.0, 0.0, 10.0]))
    array([5.000e-01, 1.000e+00, 1.024e+03])
    """


@elementwise(np.fmax, standard=False)
def fmax(x1: ArrayLike | Scalar, x2: ArrayLike | Scalar, /, *, out: Array | None = None) -> Array:
    """Take the greater element; where one is NaN the other.

    Examples
    --------
    >>> import unifyarr as ua
    >>> ua.fmax(ua.asarray([1.0, 2.0, ua.nan]), ua.asarray([ua.nan, 1.0, ua.nan]))
    array([ 1.,  2., nan])
    """


@elementwise(np.fmin, standard=False)
def fmin(x1: ArrayLike | Scalar, x2: ArrayLike | Scalar, /, *, out: Array | None = None) -> Array:
    """Take the smaller element; where one is NaN the other.

    Examples
    --------
    >>> import unifyarr as ua
    >>> ua.fmin(ua.asarray([1.0, 2.0, ua.nan]), ua.asarray([ua.nan, 1.0, ua.nan]))
    array([ 1.,  1., nan])
    """


@elementwise(np.fmod, standard=False)
def fmod(x1: ArrayLike | Scalar, x2: ArrayLike | Scalar, /, *, out: Array | None = None) -> Array:
    """Compute the remainder of truncated division, which has the sign of x1.

    Examples
    --------
    >>> import unifyarr as ua
    >>> ua.fmod(ua.asarray([-7, 7]), 3)
    array([-1,  1])
    """


@elementwise(np.gcd, standard=False)
def gcd(x1: ArrayLike | Scalar, x2: ArrayLike | Scalar, /, *, out: Array | None = None) -> Array:
    """Compute the greatest common divisor of integers, which isn't negative; of zero and a number, the number's size.

    Examples
    --------
    >>> import unifyarr as ua
    >>> ua.gcd(ua.asarray([12, -18, 0]), ua.asarray([18, 12, 5]))
    array([6, 6, 5])
    """


@elementwise(np.heaviside, standard=False)
def heaviside(x1: ArrayLike | Scalar, x2: ArrayLike | Scalar, /, *, out: Array | None = None) -> Array:
    """Compute the step function: 0 where x1 is negative, x2 where it's zero, 1 where it's positive.

    Examples
    --------
    >>> import unifyarr as ua
    >>> ua.heaviside(ua.asarray([-1.5, 0.0, 2.0]), 0.5)
    array([0. , 0.5, 1. ])
    """


@elementwise(np.lcm, standard=False)
def lcm(x1: ArrayLike | Scalar, x2: ArrayLike | Scalar, /, *, out: Array | None = None) -> Array:
    """Compute the least common multiple of integers, which isn't negative.

    Examples
    --------
    >>> import unifyarr as ua
    >>> ua.lcm(ua.asarray([12, -4, 0]), ua.asarray([18, 6, 5]))
    array([36, 12,  0])
    """


@elementwise(np.logaddexp2, standard=False)
def logaddexp2(x1: ArrayLike | Scalar, x2: ArrayLike | Scalar, /, *, out: Array | None = None) -> Array:
    """Compute ``log2(2**x1 + 2**x2)``, without overflow on the way.

    Examples
    --------
    >>> import unifyarr as ua
    >>> ua.logaddexp2(ua.asarray([1.0, 2.0]), ua.asarray([1.0, -ua.inf]))
    array([2., 2.])
    """


@elementwise(np.rad2deg, standard=False)
def rad2deg(x: ArrayLike, /, *, out: Array | None = None) -> Array:
    """Convert angles from radians to degrees.

    Examples
    --------
    >>> import unifyarr as ua
    >>> ua.rad2deg(ua.asarray([0.0, ua.pi]))
    array([  0., 180.])
    """
