"""Elementwise functions; their dtypes are those of NumPy's ufunc loops.

Operands broadcast. Python scalars are weak: they take the other operand's dtype. Integers become floating-point
where the result has to, as in NumPy. For most declarations the signature and the ufunc are enough;
``@elementwise`` completes their docstrings with the parts that are common to all.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from .._core.arrays.array import Array
from .._core.arrays.recipes import make_view
from .._core.arrays.views import Part, Window
from .._core.arrays.weak import kind_of, known
from .._core.calling.invoke import attempt, invoke
from .._core.calling.invoke import elementwise as compute
from .._core.declaring.declare import elementwise, mixed, primary, view
from .._core.engines import dtypes
from .._core.kernels.record import Derivative, Fails
from ..typing import Scalar
from .creation import zeros_like

if TYPE_CHECKING:
    from ..typing import ArrayLike


@elementwise(np.abs)
def abs(x: ArrayLike, /, *, out: Array | None = None) -> Array:
    """Compute the absolute value of each element; of a complex one the magnitude, which is real.

    Examples
    --------
    >>> import unifyarr as ua
    >>> ua.abs(ua.asarray([-1.5, 0.0, 1.0]))
    array([1.5, 0. , 1. ])
    """


@elementwise(np.acos, harmless=0)
def acos(x: ArrayLike, /, *, out: Array | None = None) -> Array:
    """Compute the inverse cosine, in radians, in [0, π].

    Examples
    --------
    >>> import unifyarr as ua
    >>> ua.acos(ua.asarray([-1.0, 0.0, 1.0]))
    array([3.14159265, 1.57079633, 0.        ])
    """


@elementwise(np.acosh, harmless=2)
def acosh(x: ArrayLike, /, *, out: Array | None = None) -> Array:
    """Compute the inverse hyperbolic cosine.

    Examples
    --------
    >>> import unifyarr as ua
    >>> ua.acosh(ua.asarray([1.0, 2.0]))
    array([0.       , 1.3169579])
    """


@elementwise(np.asin, harmless=0)
def asin(x: ArrayLike, /, *, out: Array | None = None) -> Array:
    """Compute the inverse sine, in radians, in [-π/2, π/2].

    Examples
    --------
    >>> import unifyarr as ua
    >>> ua.asin(ua.asarray([-1.0, 0.0, 1.0]))
    array([-1.57079633,  0.        ,  1.57079633])
    """


@elementwise(np.asinh)
def asinh(x: ArrayLike, /, *, out: Array | None = None) -> Array:
    """Compute the inverse hyperbolic sine.

    Examples
    --------
    >>> import unifyarr as ua
    >>> ua.asinh(ua.asarray([-1.5, 0.0, 1.0]))
    array([-1.19476322,  0.        ,  0.88137359])
    """


@elementwise(np.atan)
def atan(x: ArrayLike, /, *, out: Array | None = None) -> Array:
    """Compute the inverse tangent, in radians, in [-π/2, π/2].

    Examples
    --------
    >>> import unifyarr as ua
    >>> ua.atan(ua.asarray([-1.5, 0.0, 1.0]))
    array([-0.98279372,  0.        ,  0.78539816])
    """


@elementwise(np.atanh, harmless=0)
def atanh(x: ArrayLike, /, *, out: Array | None = None) -> Array:
    """Compute the inverse hyperbolic tangent.

    Examples
    --------
    >>> import unifyarr as ua
    >>> ua.atanh(ua.asarray([0.0, 0.5]))
    array([0.        , 0.54930614])
    """


@elementwise(np.bitwise_invert)
def bitwise_invert(x: ArrayLike, /, *, out: Array | None = None) -> Array:
    """Invert each bit; of a bool, negate it.

    Examples
    --------
    >>> import unifyarr as ua
    >>> ua.bitwise_invert(ua.asarray([0, 1, -8]))
    array([-1, -2,  7])
    """


@elementwise(np.cbrt, standard=False)
def cbrt(x: ArrayLike, /, *, out: Array | None = None) -> Array:
    """Compute the real cube root, which is negative for negative numbers.

    Examples
    --------
    >>> import unifyarr as ua
    >>> ua.cbrt(ua.asarray([-8.0, 0.0, 27.0]))
    array([-2.,  0.,  3.])
    """


@elementwise(np.ceil, derivative=Derivative.CONSTANT)
def ceil(x: ArrayLike, /, *, out: Array | None = None) -> Array:
    """Round each element up to the next integer, keeping the dtype.

    Examples
    --------
    >>> import unifyarr as ua
    >>> ua.ceil(ua.asarray([-1.5, 0.0, 1.0]))
    array([-1.,  0.,  1.])
    """


@elementwise(np.conj)
def conj(x: ArrayLike, /, *, out: Array | None = None) -> Array:
    """Compute the complex conjugate.

    Examples
    --------
    >>> import unifyarr as ua
    >>> ua.conj(ua.asarray([1.0 + 2.0j, -1.0j]))
    array([ 1.-2.j, -0.+1.j])
    """


@elementwise(np.cos)
def cos(x: ArrayLike, /, *, out: Array | None = None) -> Array:
    """Compute the cosine of angles in radians.

    Examples
    --------
    >>> import unifyarr as ua
    >>> ua.cos(ua.asarray([-1.5, 0.0, 1.0]))
    array([0.0707372 , 1.        , 0.54030231])
    """


@elementwise(np.cosh)
def cosh(x: ArrayLike, /, *, out: Array | None = None) -> Array:
    """Compute the hyperbolic cosine.

    Examples
    --------
    >>> import unifyarr as ua
    >>> ua.cosh(ua.asarray([-1.5, 0.0, 1.0]))
    array([2.35240962, 1.        , 1.54308063])
    """


@elementwise(np.exp)
def exp(x: ArrayLike, /, *, out: Array | None = None) -> Array:
    """Compute the exponential.

    Examples
    --------
    >>> import unifyarr as ua
    >>> ua.exp(ua.asarray([-1.5, 0.0, 1.0]))
    array([0.22313016, 1.        , 2.71828183])
    """


@elementwise(np.expm1)
def expm1(x: ArrayLike, /, *, out: Array | None = None) -> Array:
    """Compute ``exp(x) - 1``, accurately for small elements.

    Examples
    --------
    >>> import unifyarr as ua
    >>> ua.expm1(ua.asarray([-1.5, 0.0, 1.0]))
    array([-0.77686984,  0.        ,  1.71828183])
    """


@elementwise(np.floor, derivative=Derivative.CONSTANT)
def floor(x: ArrayLike, /, *, out: Array | None = None) -> Array:
    """Round each element down to the next integer, keeping the dtype.

    Examples
    --------
    >>> import unifyarr as ua
    >>> ua.floor(ua.asarray([-1.5, 0.0, 1.0]))
    array([-2.,  0.,  1.])
    """


@elementwise(np.isfinite)
def isfinite(x: ArrayLike, /, *, out: Array | None = None) -> Array:
    """Test whether each element is neither infinite nor NaN.

    Examples
    --------
    >>> import unifyarr as ua
    >>> ua.isfinite(ua.asarray([1.0, float("inf"), float("nan")]))
    array([ True, False, False])
    """


@elementwise(np.isinf)
def isinf(x: ArrayLike, /, *, out: Array | None = None) -> Array:
    """Test whether each element is infinite.

    Examples
    --------
    >>> import unifyarr as ua
    >>> ua.isinf(ua.asarray([1.0, float("inf"), float("nan")]))
    array([False,  True, False])
    """


@elementwise(np.isnan)
def isnan(x: ArrayLike, /, *, out: Array | None = None) -> Array:
    """Test whether each element is NaN.

    Examples
    --------
    >>> import unifyarr as ua
    >>> ua.isnan(ua.asarray([1.0, float("inf"), float("nan")]))
    array([False, False,  True])
    """


@elementwise(np.log)
def log(x: ArrayLike, /, *, out: Array | None = None) -> Array:
    """Compute the natural logarithm.

    Examples
    --------
    >>> import unifyarr as ua
    >>> ua.log(ua.asarray([1.0, 10.0]))
    array([0.        , 2.30258509])
    """


@elementwise(np.log10)
def log10(x: ArrayLike, /, *, out: Array | None = None) -> Array:
    """Compute the logarithm to base 10.

    Examples
    --------
    >>> import unifyarr as ua
    >>> ua.log10(ua.asarray([1.0, 1000.0]))
    array([0., 3.])
    """


@elementwise(np.log1p)
def log1p(x: ArrayLike, /, *, out: Array | None = None) -> Array:
    """Compute ``log(1 + x)``, accurately for small elements.

    Examples
    --------
    >>> import unifyarr as ua
    >>> ua.log1p(ua.asarray([0.0, 1e-10]))
    array([0.e+00, 1.e-10])
    """


@elementwise(np.log2)
def log2(x: ArrayLike, /, *, out: Array | None = None) -> Array:
    """Compute the logarithm to base 2.

    Examples
    --------
    >>> import unifyarr as ua
    >>> ua.log2(ua.asarray([1.0, 8.0]))
    array([0., 3.])
    """


@elementwise(np.logical_not)
def logical_not(x: ArrayLike, /, *, out: Array | None = None) -> Array:
    """Negate the truth of each element; elements that aren't zero are true.

    Examples
    --------
    >>> import unifyarr as ua
    >>> ua.logical_not(ua.asarray([True, False]))
    array([False,  True])
    """


@elementwise(np.negative)
def negative(x: ArrayLike, /, *, out: Array | None = None) -> Array:
    """Compute the negative of each element; unsigned integers wrap.

    Examples
    --------
    >>> import unifyarr as ua
    >>> ua.negative(ua.asarray([-1.5, 0.0, 1.0]))
    array([ 1.5, -0. , -1. ])
    """


@elementwise(np.positive)
def positive(x: ArrayLike, /, *, out: Array | None = None) -> Array:
    """Copy each element with its sign: an independent array.

    Examples
    --------
    >>> import unifyarr as ua
    >>> ua.positive(ua.asarray([-1.5, 0.0, 1.0]))
    array([-1.5,  0. ,  1. ])
    """


@elementwise(np.reciprocal)
def reciprocal(x: ArrayLike, /, *, out: Array | None = None) -> Array:
    """Compute ``1 / x``; of integers the quotient rounded toward zero, as in NumPy.

    Examples
    --------
    >>> import unifyarr as ua
    >>> ua.reciprocal(ua.asarray([2.0, 4.0]))
    array([0.5 , 0.25])
    """


@elementwise(np.sign, derivative=Derivative.CONSTANT)
def sign(x: ArrayLike, /, *, out: Array | None = None) -> Array:
    """Compute the sign of each element: -1, 0 or 1; of a complex one ``x / abs(x)``; NaN stays.

    Examples
    --------
    >>> import unifyarr as ua
    >>> ua.sign(ua.asarray([-1.5, 0.0, 1.0]))
    array([-1.,  0.,  1.])
    """


@elementwise(np.signbit)
def signbit(x: ArrayLike, /, *, out: Array | None = None) -> Array:
    """Test whether the sign bit is set: negative elements, -0.0 and NaN with a sign.

    Examples
    --------
    >>> import unifyarr as ua
    >>> ua.signbit(ua.asarray([-1.5, 0.0, 1.0]))
    array([ True, False, False])
    """


@elementwise(np.sin)
def sin(x: ArrayLike, /, *, out: Array | None = None) -> Array:
    """Compute the sine of angles in radians.

    Examples
    --------
    >>> import unifyarr as ua
    >>> ua.sin(ua.asarray([-1.5, 0.0, 1.0]))
    array([-0.99749499,  0.        ,  0.84147098])
    """


@elementwise(np.sinh)
def sinh(x: ArrayLike, /, *, out: Array | None = None) -> Array:
    """Compute the hyperbolic sine.

    Examples
    --------
    >>> import unifyarr as ua
    >>> ua.sinh(ua.asarray([-1.5, 0.0, 1.0]))
    array([-2.12927946,  0.        ,  1.17520119])
    """


@elementwise(np.sqrt)
def sqrt(x: ArrayLike, /, *, out: Array | None = None) -> Array:
    """Compute the square root.

    Examples
    --------
    >>> import unifyarr as ua
    >>> ua.sqrt(ua.asarray([4.0, 9.0]))
    array([2., 3.])
    """


@elementwise(np.square)
def square(x: ArrayLike, /, *, out: Array | None = None) -> Array:
    """Compute the square of each element.

    Examples
    --------
    >>> import unifyarr as ua
    >>> ua.square(ua.asarray([-1.5, 0.0, 1.0]))
    array([2.25, 0.  , 1.  ])
    """


@elementwise(np.tan)
def tan(x: ArrayLike, /, *, out: Array | None = None) -> Array:
    """Compute the tangent of angles in radians.

    Examples
    --------
    >>> import unifyarr as ua
    >>> ua.tan(ua.asarray([-1.5, 0.0, 1.0]))
    array([-14.10141995,   0.        ,   1.55740772])
    """


@elementwise(np.tanh)
def tanh(x: ArrayLike, /, *, out: Array | None = None) -> Array:
    """Compute the hyperbolic tangent.

    Examples
    --------
    >>> import unifyarr as ua
    >>> ua.tanh(ua.asarray([-1.5, 0.0, 1.0]))
    array([-0.90514825,  0.        ,  0.76159416])
    """


@elementwise(np.trunc, derivative=Derivative.CONSTANT)
def trunc(x: ArrayLike, /, *, out: Array | None = None) -> Array:
    """Round each element toward zero, keeping the dtype.

    Examples
    --------
    >>> import unifyarr as ua
    >>> ua.trunc(ua.asarray([-1.5, 0.0, 1.0]))
    array([-1.,  0.,  1.])
    """


@elementwise(np.add, commutes=True)
def add(x1: ArrayLike | Scalar, x2: ArrayLike | Scalar, /, *, out: Array | None = None) -> Array:
    """Add, element by element; of bools, the logical or.

    Examples
    --------
    >>> import unifyarr as ua
    >>> ua.add(ua.asarray([1, 2, 3]), ua.asarray([3, 2, 1]))
    array([4, 4, 4])
    """


@elementwise(np.atan2)
def atan2(x1: ArrayLike | Scalar, x2: ArrayLike | Scalar, /, *, out: Array | None = None) -> Array:
    """Compute the angle of the point (x2, x1) in radians, in [-π, π].

    Examples
    --------
    >>> import unifyarr as ua
    >>> ua.atan2(ua.asarray([1.0, 2.0, 3.0]), ua.asarray([-3.0, 2.0, 1.0]))
    array([2.8198421 , 0.78539816, 1.24904577])
    """


@elementwise(np.bitwise_and, commutes=True)
def bitwise_and(x1: ArrayLike | Scalar, x2: ArrayLike | Scalar, /, *, out: Array | None = None) -> Array:
    """Compute the bitwise and of integers or bools.

    Examples
    --------
    >>> import unifyarr as ua
    >>> ua.bitwise_and(ua.asarray([1, 2, 3]), ua.asarray([3, 2, 1]))
    array([1, 2, 1])
    """


@elementwise(np.bitwise_left_shift, fails=Fails.INTEGERS)
def bitwise_left_shift(x1: ArrayLike | Scalar, x2: ArrayLike | Scalar, /, *, out: Array | None = None) -> Array:
    """Shift the bits of x1 left by x2 places; beyond the width the result is 0.

    Examples
    --------
    >>> import unifyarr as ua
    >>> ua.bitwise_left_shift(ua.asarray([1, 2, 3]), ua.asarray([3, 2, 1]))
    array([8, 8, 6])
    """


@elementwise(np.bitwise_or, commutes=True)
def bitwise_or(x1: ArrayLike | Scalar, x2: ArrayLike | Scalar, /, *, out: Array | None = None) -> Array:
    """Compute the bitwise or of integers or bools.

    Examples
    --------
    >>> import unifyarr as ua
    >>> ua.bitwise_or(ua.asarray([1, 2, 3]), ua.asarray([3, 2, 1]))
    array([3, 2, 3])
    """


@elementwise(np.bitwise_right_shift, fails=Fails.INTEGERS)
def bitwise_right_shift(x1: ArrayLike | Scalar, x2: ArrayLike | Scalar, /, *, out: Array | None = None) -> Array:
    """Shift the bits of x1 right by x2 places, copying the sign.

    Examples
    --------
    >>> import unifyarr as ua
    >>> ua.bitwise_right_shift(ua.asarray([1, 2, 3]), ua.asarray([3, 2, 1]))
    array([0, 0, 1])
    """


@elementwise(np.bitwise_xor, commutes=True)
def bitwise_xor(x1: ArrayLike | Scalar, x2: ArrayLike | Scalar, /, *, out: Array | None = None) -> Array:
    """Compute the bitwise exclusive or of integers or bools.

    Examples
    --------
    >>> import unifyarr as ua
    >>> ua.bitwise_xor(ua.asarray([1, 2, 3]), ua.asarray([3, 2, 1]))
    array([2, 0, 2])
    """


@elementwise(np.copysign)
def copysign(x1: ArrayLike | Scalar, x2: ArrayLike | Scalar, /, *, out: Array | None = None) -> Array:
    """Give the magnitude of x1 the sign of x2.

    Examples
    --------
    >>> import unifyarr as ua
    >>> ua.copysign(ua.asarray([1.0, 2.0, 3.0]), ua.asarray([-3.0, 2.0, 1.0]))
    array([-1.,  2.,  3.])
    """


@elementwise(np.divide)
def divide(x1: ArrayLike | Scalar, x2: ArrayLike | Scalar, /, *, out: Array | None = None) -> Array:
    """Divide, to a floating-point result; integers divide to float64.

    Examples
    --------
    >>> import unifyarr as ua
    >>> ua.divide(ua.asarray([1.0, 2.0, 3.0]), ua.asarray([-3.0, 2.0, 1.0]))
    array([-0.33333333,  1.        ,  3.        ])
    """


@elementwise(np.equal, commutes=True)
def equal(x1: ArrayLike | Scalar, x2: ArrayLike | Scalar, /, *, out: Array | None = None) -> Array:
    """Test for equality; NaN equals nothing.

    Examples
    --------
    >>> import unifyarr as ua
    >>> ua.equal(ua.asarray([1, 2, 3]), ua.asarray([3, 2, 1]))
    array([False,  True, False])
    """


@elementwise(np.floor_divide, derivative=Derivative.CONSTANT)
def floor_divide(x1: ArrayLike | Scalar, x2: ArrayLike | Scalar, /, *, out: Array | None = None) -> Array:
    """Divide and round toward negative infinity, keeping the dtype.

    Examples
    --------
    >>> import unifyarr as ua
    >>> ua.floor_divide(ua.asarray([1, 2, 3]), ua.asarray([3, 2, 1]))
    array([0, 1, 3])
    """


@elementwise(np.greater)
def greater(x1: ArrayLike | Scalar, x2: ArrayLike | Scalar, /, *, out: Array | None = None) -> Array:
    """Test whether x1 is greater than x2.

    Examples
    --------
    >>> import unifyarr as ua
    >>> ua.greater(ua.asarray([1, 2, 3]), ua.asarray([3, 2, 1]))
    array([False, False,  True])
    """


@elementwise(np.greater_equal)
def greater_equal(x1: ArrayLike | Scalar, x2: ArrayLike | Scalar, /, *, out: Array | None = None) -> Array:
    """Test whether x1 is greater than or equal to x2.

    Examples
    --------
    >>> import unifyarr as ua
    >>> ua.greater_equal(ua.asarray([1, 2, 3]), ua.asarray([3, 2, 1]))
    array([False,  True,  True])
    """


@elementwise(np.hypot)
def hypot(x1: ArrayLike | Scalar, x2: ArrayLike | Scalar, /, *, out: Array | None = None) -> Array:
    """Compute the length of the hypotenuse, without overflow on the way.

    Examples
    --------
    >>> import unifyarr as ua
    >>> ua.hypot(ua.asarray([1.0, 2.0, 3.0]), ua.asarray([-3.0, 2.0, 1.0]))
    array([3.16227766, 2.82842712, 3.16227766])
    """


@elementwise(np.less)
def less(x1: ArrayLike | Scalar, x2: ArrayLike | Scalar, /, *, out: Array | None = None) -> Array:
    """Test whether x1 is less than x2.

    Examples
    --------
    >>> import unifyarr as ua
    >>> ua.less(ua.asarray([1, 2, 3]), ua.asarray([3, 2, 1]))
    array([ True, False, False])
    """


@elementwise(np.less_equal)
def less_equal(x1: ArrayLike | Scalar, x2: ArrayLike | Scalar, /, *, out: Array | None = None) -> Array:
    """Test whether x1 is less than or equal to x2.

    Examples
    --------
    >>> import unifyarr as ua
    >>> ua.less_equal(ua.asarray([1, 2, 3]), ua.asarray([3, 2, 1]))
    array([ True,  True, False])
    """


@elementwise(np.logaddexp)
def logaddexp(x1: ArrayLike | Scalar, x2: ArrayLike | Scalar, /, *, out: Array | None = None) -> Array:
    """Compute ``log(exp(x1) + exp(x2))``, without overflow on the way.

    Examples
    --------
    >>> import unifyarr as ua
    >>> ua.logaddexp(ua.asarray([1.0, 2.0, 3.0]), ua.asarray([-3.0, 2.0, 1.0]))
    array([1.01814993, 2.69314718, 3.12692801])
    """


@elementwise(np.logical_and, commutes=True)
def logical_and(x1: ArrayLike | Scalar, x2: ArrayLike | Scalar, /, *, out: Array | None = None) -> Array:
    """Compute the logical and of truth values; elements that aren't zero are true.

    Examples
    --------
    >>> import unifyarr as ua
    >>> ua.logical_and(ua.asarray([True, True, False]), ua.asarray([True, False, False]))
    array([ True, False, False])
    """


@elementwise(np.logical_or, commutes=True)
def logical_or(x1: ArrayLike | Scalar, x2: ArrayLike | Scalar, /, *, out: Array | None = None) -> Array:
    """Compute the logical or of truth values; elements that aren't zero are true.

    Examples
    --------
    >>> import unifyarr as ua
    >>> ua.logical_or(ua.asarray([True, True, False]), ua.asarray([True, False, False]))
    array([ True,  True, False])
    """


@elementwise(np.logical_xor, commutes=True)
def logical_xor(x1: ArrayLike | Scalar, x2: ArrayLike | Scalar, /, *, out: Array | None = None) -> Array:
    """Compute the logical exclusive or of truth values; elements that aren't zero are true.

    Examples
    --------
    >>> import unifyarr as ua
    >>> ua.logical_xor(ua.asarray([True, True, False]), ua.asarray([True, False, False]))
    array([False,  True, False])
    """


@elementwise(np.maximum)
def maximum(x1: ArrayLike | Scalar, x2: ArrayLike | Scalar, /, *, out: Array | None = None) -> Array:
    """Take the greater element; NaN where either is.

    Examples
    --------
    >>> import unifyarr as ua
    >>> ua.maximum(ua.asarray([1, 2, 3]), ua.asarray([3, 2, 1]))
    array([3, 2, 3])
    """


@elementwise(np.minimum)
def minimum(x1: ArrayLike | Scalar, x2: ArrayLike | Scalar, /, *, out: Array | None = None) -> Array:
    """Take the smaller element; NaN where either is.

    Examples
    --------
    >>> import unifyarr as ua
    >>> ua.minimum(ua.asarray([1, 2, 3]), ua.asarray([3, 2, 1]))
    array([1, 2, 1])
    """


@elementwise(np.multiply, commutes=True)
def multiply(x1: ArrayLike | Scalar, x2: ArrayLike | Scalar, /, *, out: Array | None = None) -> Array:
    """Multiply, element by element; of bools, the logical and.

    Examples
    --------
    >>> import unifyarr as ua
    >>> ua.multiply(ua.asarray([1, 2, 3]), ua.asarray([3, 2, 1]))
    array([3, 4, 3])
    """


@elementwise(np.nextafter)
def nextafter(x1: ArrayLike | Scalar, x2: ArrayLike | Scalar, /, *, out: Array | None = None) -> Array:
    """Find the next floating-point number after x1 toward x2.

    Examples
    --------
    >>> import unifyarr as ua
    >>> ua.nextafter(ua.asarray([0.0]), ua.asarray([1.0]))
    array([5.e-324])
    """


@elementwise(np.not_equal, commutes=True)
def not_equal(x1: ArrayLike | Scalar, x2: ArrayLike | Scalar, /, *, out: Array | None = None) -> Array:
    """Test for inequality; NaN is unequal to everything.

    Examples
    --------
    >>> import unifyarr as ua
    >>> ua.not_equal(ua.asarray([1, 2, 3]), ua.asarray([3, 2, 1]))
    array([ True, False,  True])
    """


@elementwise(np.pow, fails=Fails.INTEGERS)
def pow(x1: ArrayLike | Scalar, x2: ArrayLike | Scalar, /, *, out: Array | None = None) -> Array:
    """Raise x1 to the power x2; integers don't take negative integer powers.

    Examples
    --------
    >>> import unifyarr as ua
    >>> ua.pow(ua.asarray([1, 2, 3]), ua.asarray([3, 2, 1]))
    array([1, 4, 3])
    """


@elementwise(np.subtract)
def subtract(x1: ArrayLike | Scalar, x2: ArrayLike | Scalar, /, *, out: Array | None = None) -> Array:
    """Subtract, element by element; bools can't be subtracted.

    Examples
    --------
    >>> import unifyarr as ua
    >>> ua.subtract(ua.asarray([1, 2, 3]), ua.asarray([3, 2, 1]))
    array([-2,  0,  2])
    """


@primary(kernels=("remainder", "fmod"), takes_numbers=True)
def remainder(
    x1: ArrayLike | Scalar, x2: ArrayLike | Scalar, /, *, modulus: bool = True, out: Array | None = None
) -> Array:
    """Compute the remainder of the division.

    Parameters
    ----------
    x1, x2
        Arrays whose shapes broadcast, or scalars.
    modulus
        If true, of floored division: the remainder has the sign of ``x2``, as in Python. If false, of truncated
        division: it has the sign of ``x1``, as in C.
    out
        An array of the broadcast shape for the result.

    Returns
    -------
    Array
        A new array of the broadcast shape, or ``out``.

    Examples
    --------
    >>> import unifyarr as ua
    >>> ua.remainder(ua.asarray([-7, 7]), 3)
    array([2, 1])
    >>> ua.remainder(ua.asarray([-7, 7]), 3, modulus=False)
    array([-1,  1])

    Source: Array API standard 2025.12, ``remainder``; ``modulus`` is our own.
    """
    if modulus:
        return compute("remainder", np.remainder, (x1, x2), out, None)
    return compute("fmod", np.fmod, (x1, x2), out, None)


@primary()
def round(x: Array, /, *, out: Array | None = None) -> Array:
    """Round each element to the nearest integer, halves to even, keeping the dtype.

    Parameters
    ----------
    x
        An array of any shape.
    out
        An array of the same shape for the result.

    Returns
    -------
    Array
        A new array of the shape of ``x``, or ``out``.

    Examples
    --------
    >>> import unifyarr as ua
    >>> ua.round(ua.asarray([0.5, 1.5, -2.7]))
    array([ 0.,  2., -3.])

    Source: Array API standard 2025.12, ``round``.
    """
    if dtypes.rank(x.dtype) < 2:
        return positive(x, out=out) if x.dtype != dtypes.bool else positive(x.astype(dtypes.float16), out=out)
    return invoke("round", x, out=out, result=(x.shape, x.dtype), aligned=True)


# Numbers that a kernel may take as they are; it declines those that change the dtype.
_NUMBERS = (int, float)


@mixed(takes_numbers=True)
def clip(
    x: Array,
    /,
    min: ArrayLike | Scalar | None = None,
    max: ArrayLike | Scalar | None = None,
    *,
    out: Array | None = None,
) -> Array:
    """Limit each element to the range from ``min`` to ``max``; NaN stays.

    Parameters
    ----------
    x
        An array of any shape.
    min, max
        Arrays or scalars that broadcast with ``x``; without one, there is no limit on that side, nor by an integer
        out of range of the dtype of ``x``. Where ``min`` is greater than ``max``, the result is ``max``.
    out
        An array of the broadcast shape for the result.

    Returns
    -------
    Array
        A new array of the broadcast shape, or ``out``.

    Examples
    --------
    >>> import unifyarr as ua
    >>> ua.clip(ua.asarray([1, 5, 9]), 2, 6)
    array([2, 5, 6])

    Source: Array API standard 2025.12, ``clip``.
    """
    dtypes.check_computes("clip", x.dtype)
    if dtypes.rank(x.dtype) == 1:
        # A limit that no number of the dtype exceeds is none.
        limits = np.iinfo(x.dtype.dtype)
        min = None if type(min) is int and min <= limits.min else min
        max = None if type(max) is int and max >= limits.max else max
    if min is None and max is None:
        return positive(x, out=out) if x.dtype != dtypes.bool else x.copy()
    if min is None:
        assert max is not None
        return minimum(x, max, out=out)
    if max is None:
        return maximum(x, min, out=out)
    if kind_of(min) in _NUMBERS and kind_of(max) in _NUMBERS:
        # The kernel is given values, since its zeros may have other signs than those of the composition.
        min, max = known(min), known(max)
        found = attempt("clip", x, min=min, max=max, out=out, result=(x.shape, x.dtype), aligned=True)
        if found is not None:
            return found
    return minimum(maximum(x, min), max, out=out)


@view()
def real(x: Array, /, *, out: Array | None = None) -> Array:
    """Return the real part: a view of a complex array, and of a real one all of it.

    Parameters
    ----------
    x
        An array of any shape.
    out
        An array of the same shape for a copy of the part.

    Returns
    -------
    Array
        A view of the shape of ``x``, or ``out``.

    Examples
    --------
    >>> import unifyarr as ua
    >>> x = ua.asarray([1 + 2j, 3j])
    >>> ua.real(x)[1] = 7
    >>> x
    array([1.+2.j, 7.+3.j])

    Source: Array API standard 2025.12, ``real``.
    """
    if dtypes.rank(x.dtype) < 3:
        return make_view(x, Window.of_order(x.shape, range(x.ndim)))
    return make_view(x, Part("real"))


@view()
def imag(x: Array, /, *, out: Array | None = None) -> Array:
    """Return the imaginary part: a view of a complex array, zeros for a real one.

    Parameters
    ----------
    x
        An array of any shape.
    out
        An array of the same shape for a copy of the part.

    Returns
    -------
    Array
        A view of the shape of ``x`` if it's complex, a new array of zeros if not, or ``out``.

    Examples
    --------
    >>> import unifyarr as ua
    >>> ua.imag(ua.asarray([1 + 2j, 3j]))
    array([2., 3.])

    Source: Array API standard 2025.12, ``imag``.
    """
    if dtypes.rank(x.dtype) < 3:
        return zeros_like(x)
    return make_view(x, Part("imag"))
