"""Activation functions of neural networks that take each element by itself."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from .._core.arrays.array import Array
from .._core.arrays.convert import as_real_floating, as_single, check_real
from .._core.arrays.numbers import as_number
from .._core.arrays.scratch import reuse, room
from .._core.calling.invoke import attempt, attempt_for_derivative
from .._core.declaring.declare import compositional, mixed
from .._core.engines import dtypes
from ._special import offered
from .data_type import finfo
from .elementwise import (
    abs,
    add,
    clip,
    divide,
    exp,
    expm1,
    greater,
    greater_equal,
    less_equal,
    logaddexp,
    maximum,
    multiply,
    negative,
    tanh,
)
from .searching import where
from .special import erfc

if TYPE_CHECKING:
    from .._core.engines.dtypes import DType

# At and below these numbers sigmoid(x) and erfc(-x) are 0. Arguments are clipped there, since -inf * 0 would be NaN.
_NO_SIGMOID = -1000.0
_NO_ERFC = -40.0
# The constants for which mean 0 and variance 1 are a fixed point.
_SELU_ALPHA = 1.6732632423543772
_SELU_SCALE = 1.0507009873554805


def _operand(x: Array, name: str) -> tuple[Array, DType]:
    """Return real numbers as an array to compute with, and the dtype of the result."""
    x = as_real_floating(x, name)
    return as_single(x), x.dtype


def _elu(x: Array, alpha: float | Array, out: Array | None) -> Array:
    positive = greater(x, 0)
    # For positive elements, whose exponential isn't used, take exp(0): an overflow would make the gradient NaN.
    exponents = where(positive, 0, x, out=room(out, x.shape, x.dtype, x))
    powers = expm1(exponents, out=reuse(exponents))
    return where(positive, x, multiply(powers, alpha, out=reuse(powers, alpha)), out=reuse(powers, alpha))


@mixed(namespace="nn", scratch=True, takes_numbers=True)
def elu(x: Array, /, *, alpha: float | Array = 1.0, out: Array | None = None) -> Array:
    """Keep positive elements, and bend the others towards ``-alpha``: alpha (exp(x) - 1).

    Parameters
    ----------
    x
        An array of real numbers; bools and integers are taken as float64.
    alpha
        What the result is for minus infinity, negated.
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
    >>> ua.nn.elu(ua.asarray([-1.0, 0.0, 2.0]))
    array([-0.63212056,  0.        ,  2.        ])

    Source: Clevert et al., "Fast and Accurate Deep Network Learning by Exponential Linear Units" (2015).
    """
    x, dtype = _operand(x, "elu")
    factor = as_number(alpha, "alpha").value
    found = offered("elu", x, dtype=dtype, alpha=factor)
    return _elu(x, factor, out).astype(dtype, copy=False) if found is None else found


@mixed(namespace="nn", derivatives=("gelu_with_slope",), scratch=True)
def gelu(x: Array, /, *, approximate: str = "none", out: Array | None = None) -> Array:
    """Multiply each element by the probability that a standard normal variable is less.

    Digits aren't lost where that probability is small, and of minus infinity the result is -0.0.

    Parameters
    ----------
    x
        An array of real numbers; bools and integers are taken as float64.
    approximate
        ``"none"``, or ``"tanh"`` for an approximation by the hyperbolic tangent, which some models were trained with.
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
    ValueError
        If there's no such approximation.

    Examples
    --------
    >>> import unifyarr as ua
    >>> ua.nn.gelu(ua.asarray([-1.0, 0.0, 2.0]))
    array([-0.15865525,  0.        ,  1.95449974])

    Source: Hendrycks and Gimpel, "Gaussian Error Linear Units" (2016).
    """
    x, dtype = _operand(x, "gelu")
    if approximate not in ("none", "tanh"):
        raise ValueError(f"approximate of gelu() is 'none' or 'tanh', not {approximate!r}")
    if approximate == "none" and x.dtype == dtype:
        several = attempt_for_derivative("gelu_with_slope", x)
        if several is not None:
            return several[0]
    if approximate == "none":
        found = offered("gelu", x, dtype=dtype)
        if found is not None:
            return found
    bounded = maximum(x, _NO_ERFC, out=room(out, x.shape, x.dtype))
    if approximate == "tanh":
        # (1 + tanh(t)) / 2 is sigmoid(2t). It's constant beyond these bounds, where the cube would overflow.
        near = clip(bounded, _NO_ERFC, -_NO_ERFC)
        cubic = multiply(near, add(multiply(multiply(near, near), 0.044715), 1.0))
        probability = sigmoid(multiply(cubic, 2 * math.sqrt(2 / math.pi), out=reuse(cubic)), out=reuse(cubic))
    else:
        scaled = multiply(bounded, -math.sqrt(0.5))
        probability = erfc(scaled, out=reuse(scaled))
        probability = multiply(probability, 0.5, out=reuse(probability))
    return multiply(bounded, probability, out=reuse(bounded)).astype(dtype, copy=False)


@mixed(namespace="nn", scratch=True)
def hardswish(x: Array, /, *, out: Array | None = None) -> Array:
    """Multiply each element by (x + 3) / 6, kept between 0 and 1.

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
    >>> ua.nn.hardswish(ua.asarray([-4.0, -1.5, 0.0, 4.0]))
    array([-0.   , -0.375,  0.   ,  4.   ])

    Source: Howard et al., "Searching for MobileNetV3" (2019).
    """
    x, dtype = _operand(x, "hardswish")
    found = offered("hardswish", x, dtype=dtype)
    if found is not None:
        return found
    bounded = where(less_equal(x, -3), -3, x, out=room(out, x.shape, x.dtype))
    gate = where(greater_equal(bounded, 3), 3, bounded)
    gate = add(gate, 3, out=reuse(gate))
    return multiply(bounded, divide(gate, 6, out=reuse(gate)), out=reuse(bounded)).astype(dtype, copy=False)


@mixed(namespace="nn", scratch=True, takes_numbers=True)
def leaky_relu(x: Array, /, *, negative_slope: float | Array = 0.01, out: Array | None = None) -> Array:
    """Keep positive elements, and multiply the others by a slope.

    Parameters
    ----------
    x
        An array of real numbers; bools and integers are taken as float64.
    negative_slope
        The slope.
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
    >>> ua.nn.leaky_relu(ua.asarray([-1.0, 0.0, 2.0]))
    array([-0.01,  0.  ,  2.  ])

    Source: Maas et al., "Rectifier Nonlinearities Improve Neural Network Acoustic Models" (2013).
    """
    x, dtype = _operand(x, "leaky_relu")
    slope = as_number(negative_slope, "negative_slope").value
    found = offered("leaky_relu", x, dtype=dtype, negative_slope=slope)
    if found is not None:
        return found
    sloping = multiply(x, slope, out=room(out, x.shape, x.dtype, x))
    return where(greater(x, 0), x, sloping, out=reuse(sloping)).astype(dtype, copy=False)


@mixed(namespace="nn", scratch=True)
def mish(x: Array, /, *, out: Array | None = None) -> Array:
    """Multiply each element by tanh(softplus(x)).

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
    >>> ua.nn.mish(ua.asarray([-1.0, 0.0, 2.0]))
    array([-0.30340146,  0.        ,  1.94395896])

    Source: Misra, "Mish: A Self Regularized Non-Monotonic Activation Function" (2019).
    """
    x, dtype = _operand(x, "mish")
    found = offered("mish", x, dtype=dtype)
    if found is not None:
        return found
    bounded = maximum(x, _NO_SIGMOID, out=room(out, x.shape, x.dtype))
    gate = logaddexp(bounded, 0)
    return multiply(bounded, tanh(gate, out=reuse(gate)), out=reuse(bounded)).astype(dtype, copy=False)


@mixed(namespace="nn")
def relu(x: Array, /, *, out: Array | None = None) -> Array:
    """Keep positive elements, and make the others zero.

    The gradient at zero is zero.

    Parameters
    ----------
    x
        An array of real numbers.
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
    >>> ua.nn.relu(ua.asarray([-1.0, 0.0, 2.0]))
    array([0., 0., 2.])

    Source: Nair and Hinton, "Rectified Linear Units Improve Restricted Boltzmann Machines" (2010).
    """
    check_real(x, "relu")
    found = attempt("relu", x, out=out, result=(x.shape, x.dtype), aligned=True)
    return maximum(x, False if x.dtype == dtypes.bool else 0, out=out) if found is None else found


@mixed(namespace="nn", scratch=True)
def selu(x: Array, /, *, out: Array | None = None) -> Array:
    """Scale elu(), so that mean 0 and variance 1 last through the layers of a network.

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
    >>> ua.nn.selu(ua.asarray([-1.0, 0.0, 2.0]))
    array([-1.11133074,  0.        ,  2.10140197])

    Source: Klambauer et al., "Self-Normalizing Neural Networks" (2017).
    """
    x, dtype = _operand(x, "selu")
    found = offered("selu", x, dtype=dtype)
    if found is not None:
        return found
    unscaled = _elu(x, _SELU_ALPHA, out)
    return multiply(unscaled, _SELU_SCALE, out=reuse(unscaled)).astype(dtype, copy=False)


@mixed(namespace="nn", scratch=True)
def sigmoid(x: Array, /, *, out: Array | None = None) -> Array:
    """Compute the logistic function, 1 / (1 + exp(-x)).

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
    >>> ua.nn.sigmoid(ua.asarray([-1000.0, -1.0, 0.0, 2.0]))
    array([0.        , 0.26894142, 0.5       , 0.88079708])

    Source: Verhulst, "Recherches mathématiques sur la loi d'accroissement de la population" (1845).
    """
    x, dtype = _operand(x, "sigmoid")
    narrow = x.dtype != dtype
    found = attempt("sigmoid", x, out=None if narrow else out, result=(x.shape, x.dtype), aligned=True)
    if found is not None:
        return found.astype(dtype) if narrow else found
    positive = greater_equal(x, 0)
    exponents = where(positive, negative(x), x, out=room(out, x.shape, x.dtype, x))
    powers = exp(exponents, out=reuse(exponents))
    total = add(powers, 1)
    return divide(where(positive, 1, powers, out=reuse(powers)), total, out=reuse(total)).astype(dtype, copy=False)


@mixed(namespace="nn", scratch=True)
def silu(x: Array, /, *, out: Array | None = None) -> Array:
    """Multiply each element by its sigmoid().

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
    >>> ua.nn.silu(ua.asarray([-1.0, 0.0, 2.0]))
    array([-0.26894142,  0.        ,  1.76159416])

    Source: Elfwing et al., "Sigmoid-Weighted Linear Units for Neural Network Function Approximation" (2017).
    """
    x, dtype = _operand(x, "silu")
    found = offered("silu", x, dtype=dtype)
    if found is not None:
        return found
    bounded = maximum(x, _NO_SIGMOID, out=room(out, x.shape, x.dtype))
    return multiply(bounded, sigmoid(bounded), out=reuse(bounded)).astype(dtype, copy=False)


@compositional(namespace="nn", scratch=True, takes_numbers=True)
def softplus(x: Array, /, *, beta: float | Array = 1.0, out: Array | None = None) -> Array:
    """Compute log(1 + exp(beta x)) / beta, which is smooth and close to relu().

    Parameters
    ----------
    x
        An array of real numbers; bools and integers are taken as float64.
    beta
        How sharp the bend is.
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
    >>> ua.nn.softplus(ua.asarray([-1000.0, 0.0, 2.0]))
    array([0.        , 0.69314718, 2.12692801])

    Source: Dugas et al., "Incorporating Second-Order Functional Knowledge for Better Option Pricing" (2000).
    """
    x, dtype = _operand(x, "softplus")
    number = as_number(beta, "beta")
    is_one, beta = type(number.value) in dtypes.SCALARS and number.value == 1, number.value
    scaled = x if is_one else multiply(x, beta, out=room(out, x.shape, x.dtype))
    result = logaddexp(scaled, 0, out=room(out, x.shape, x.dtype) if scaled is x else reuse(scaled))
    return (result if is_one else divide(result, beta, out=reuse(result))).astype(dtype, copy=False)


@compositional(namespace="nn", scratch=True)
def softsign(x: Array, /, *, out: Array | None = None) -> Array:
    """Divide each element by one more than its absolute value.

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
    >>> ua.nn.softsign(ua.asarray([-3.0, 0.0, 1.0]))
    array([-0.75,  0.  ,  0.5 ])

    Source: Bergstra et al., "Quadratic Polynomials Learn Better Image Features" (2009).
    """
    x, dtype = _operand(x, "softsign")
    greatest = float(finfo(x.dtype).max)
    bounded = clip(x, -greatest, greatest, out=room(out, x.shape, x.dtype))
    total = abs(bounded)
    return divide(bounded, add(total, 1, out=reuse(total)), out=reuse(bounded)).astype(dtype, copy=False)
