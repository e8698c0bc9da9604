"""Elementwise functions: of each operand the cotangent is ``g`` times the partial derivative."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from ..rule import rule
from .backward import backward

if TYPE_CHECKING:
    from ..._core.values.native import Native
    from ...modes.rule_kernels import Kernels

# -- arithmetic -------------------------------------------------------------------------------------------------------

rule("add", lambda k, g, out, x, y: g, uses=())
rule("subtract", lambda k, g, out, x, y: g, lambda k, g, out, x, y: k.negative(g), uses=())
rule("multiply", lambda k, g, out, x, y: k.multiply(g, y), lambda k, g, out, x, y: k.multiply(g, x), uses=(0, 1))
rule(
    "divide",
    lambda k, g, out, x, y: k.divide(g, y),
    lambda k, g, out, x, y: k.negative(k.divide(k.multiply(g, out), y)),
    uses=(1, "out"),
)
rule("negative", lambda k, g, out, x: k.negative(g), uses=())
rule("positive", lambda k, g, out, x: g, uses=())
rule("reciprocal", lambda k, g, out, x: k.negative(k.multiply(g, k.square(out))), uses=("out",))
rule("square", lambda k, g, out, x: k.multiply(g, k.multiply(x, 2.0)), uses=(0,))
rule("sqrt", lambda k, g, out, x: k.divide(k.multiply(g, 0.5), out), uses=("out",))
rule("cbrt", lambda k, g, out, x: k.divide(g, k.multiply(k.square(out), 3.0)), uses=("out",))
rule("deg2rad", lambda k, g, out, x: k.multiply(g, math.pi / 180), uses=())
rule("rad2deg", lambda k, g, out, x: k.multiply(g, 180 / math.pi), uses=())


def _slope(k: Kernels, out: Native, x: Native, number: float) -> Native:
    """Return the derivative of a power by a number that is known, whose next lower power is another function."""
    if number in (0, 2):
        return k.multiply(x, number)
    if number == 0.5 and not k.is_complex(x):
        # The root of a negative zero may be one.
        return k.divide(0.5, k.abs(out))
    # Not by a Python number: engines may take roots in the place of such a power, which differ at minus infinity.
    lower = k.square(x) if number == 3 else k.pow(x, k.number(number - 1, x))
    return k.multiply(lower, number)


def _pow_base(k: Kernels, g: Native, out: Native, x: Native, y: Native) -> Native:
    is_like = not k.shape(y) and k.dtype(x) == k.dtype(y) and not k.is_complex(y)
    number = k.handle.known_number(y) if is_like else None
    if number is not None:
        return k.multiply(g, _slope(k, out, x, number)) if number != 1 else g
    # The power of zero is constant, at zero too, where the next lower power is infinite.
    lower = k.where(k.equal(y, 0), 1, k.subtract(y, 1))
    return k.multiply(g, k.multiply(y, k.pow(x, lower)))


def _pow_exponent(k: Kernels, g: Native, out: Native, x: Native, y: Native) -> Native:
    return k.multiply(g, k.multiply(k.log(k.safe(x)), out))


rule("pow", _pow_base, _pow_exponent)


def _quotient(k: Kernels, g: Native, out: Native, x: Native, y: Native) -> Native:
    # How often the divisor was taken off, a whole number.
    return k.multiply(g, k.divide(k.subtract(out, x), y))


rule("remainder", lambda k, g, out, x, y: g, _quotient)
rule("fmod", lambda k, g, out, x, y: g, _quotient)

# -- signs and choices ------------------------------------------------------------------------------------------------

rule("abs", lambda k, g, out, x: k.multiply(g, k.conjugate(k.sign(x))), uses=(0,))
rule(
    "copysign",
    lambda k, g, out, x, y: k.where(k.not_equal(k.signbit(x), k.signbit(y)), k.negative(g), g),
    None,
    uses=(0, 1),
)


def _chosen(k: Kernels, g: Native, out: Native, x: Native, y: Native) -> Native:
    # Equal operands share the cotangent.
    return k.where(k.equal(x, out), k.where(k.equal(x, y), k.multiply(g, 0.5), g), 0)


def _other_chosen(k: Kernels, g: Native, out: Native, x: Native, y: Native) -> Native:
    return _chosen(k, g, out, y, x)


rule("maximum", _chosen, _other_chosen)
rule("minimum", _chosen, _other_chosen)
rule("fmax", _chosen, _other_chosen)
rule("fmin", _chosen, _other_chosen)
rule("clip", lambda k, g, out, x, **limits: k.where(k.equal(x, out), g, 0), uses=(0, "out"))
rule("heaviside", None, lambda k, g, out, x, y: k.where(k.equal(x, 0), g, 0), uses=(0,))
rule(
    "hypot",
    lambda k, g, out, x, y: k.multiply(g, k.divide(x, k.safe(out))),
    lambda k, g, out, x, y: k.multiply(g, k.divide(y, k.safe(out))),
)

# -- exponentials and logarithms --------------------------------------------------------------------------------------

rule("exp", lambda k, g, out, x: k.multiply(g, out), uses=("out",))
rule("exp2", lambda k, g, out, x: k.multiply(g, k.multiply(out, math.log(2))), uses=("out",))
rule("expm1", lambda k, g, out, x: k.multiply(g, k.exp(x)), uses=(0,))
rule("log", lambda k, g, out, x: k.divide(g, x), uses=(0,))
rule("log1p", lambda k, g, out, x: k.divide(g, k.add(x, 1)), uses=(0,))
rule("log2", lambda k, g, out, x: k.divide(g, k.multiply(x, math.log(2))), uses=(0,))
rule("log10", lambda k, g, out, x: k.divide(g, k.multiply(x, math.log(10))), uses=(0,))


def _share(k: Kernels, x: Native, y: Native, out: Native, half: float) -> Native:
    """Return the logarithm of an operand's part of the sum; equal infinities have a half each."""
    return k.where(k.equal(x, out), k.where(k.equal(x, y), half, k.full(0, x)), k.subtract(x, out))


def _log_add(k: Kernels, g: Native, out: Native, x: Native, y: Native) -> Native:
    return k.multiply(g, k.exp(_share(k, x, y, out, -math.log(2))))


def _log_add_2(k: Kernels, g: Native, out: Native, x: Native, y: Native) -> Native:
    return k.multiply(g, k.exp2(_share(k, x, y, out, -1.0)))


rule("logaddexp", _log_add, lambda k, g, out, x, y: _log_add(k, g, out, y, x))
rule("logaddexp2", _log_add_2, lambda k, g, out, x, y: _log_add_2(k, g, out, y, x))

# -- angles -----------------------------------------------------------------------------------------------------------


def _beside_one(k: Kernels, x: Native) -> Native:
    """Return ``1 - x**2``, exact near ``x = 1``."""
    return k.multiply(k.subtract(1, x), k.add(x, 1))


rule("sin", lambda k, g, out, x: k.multiply(g, k.cos(x)), uses=(0,))
rule("cos", lambda k, g, out, x: k.negative(k.multiply(g, k.sin(x))), uses=(0,))
rule("tan", lambda k, g, out, x: k.multiply(g, k.add(k.square(out), 1)), uses=("out",))
rule("sinh", lambda k, g, out, x: k.multiply(g, k.cosh(x)), uses=(0,))
rule("cosh", lambda k, g, out, x: k.multiply(g, k.sinh(x)), uses=(0,))
rule("tanh", lambda k, g, out, x: k.multiply(g, k.subtract(1, k.square(out))), uses=("out",))
rule("asin", lambda k, g, out, x: k.divide(g, k.sqrt(_beside_one(k, x))), uses=(0,))
rule("acos", lambda k, g, out, x: k.negative(k.divide(g, k.sqrt(_beside_one(k, x)))), uses=(0,))
rule("atan", lambda k, g, out, x: k.divide(g, k.add(k.square(x), 1)), uses=(0,))
rule("atanh", lambda k, g, out, x: k.divide(g, _beside_one(k, x)), uses=(0,))
rule(
    "acosh",
    lambda k, g, out, x: k.divide(g, k.multiply(k.sqrt(k.subtract(x, 1)), k.sqrt(k.add(x, 1)))),
    uses=(0,),
)


def _asinh(k: Kernels, g: Native, out: Native, x: Native) -> Native:
    return k.divide(g, k.sqrt(k.add(k.square(x), 1)) if k.is_complex(x) else k.hypot(x, 1))


def _turn(k: Kernels, g: Native, x: Native, y: Native) -> Native:
    # In two divisions, whose squares don't overflow.
    distance = k.hypot(x, y)
    return k.divide(k.multiply(g, k.divide(x, distance)), distance)


rule("asinh", _asinh, uses=(0,))
rule(
    "atan2",
    lambda k, g, out, y, x: _turn(k, g, x, y),
    lambda k, g, out, y, x: k.negative(_turn(k, g, y, x)),
    uses=(0, 1),
)

# -- complex numbers --------------------------------------------------------------------------------------------------

rule("conj", lambda k, g, out, x: k.conjugate(g), uses=())
rule("real", lambda k, g, out, x: g, uses=())
rule("imag", lambda k, g, out, x: k.multiply(g, -1j), uses=())
rule(
    "set_real",
    lambda k, g, out, x, part: k.set_real(g, k.full(0, k.real(g))),
    lambda k, g, out, x, part: k.real(g),
    uses=(),
)
rule(
    "set_imag",
    lambda k, g, out, x, part: k.set_imag(g, k.full(0, k.real(g))),
    lambda k, g, out, x, part: k.negative(k.imag(g)),
    uses=(),
)

# -- activations ------------------------------------------------------------------------------------------------------

_of_relu = backward("relu_backward", lambda k, g, out: k.where(k.less_equal(out, 0), 0, g))
rule("relu", lambda k, g, out, x: _of_relu(k, g, out), uses=("out",))
rule("sigmoid", lambda k, g, out, x: k.multiply(g, k.multiply(out, k.subtract(1, out))), uses=("out",))


def _softmax(k: Kernels, g: Native, out: Native, *, axis: int) -> Native:
    weighed = k.multiply(g, out)
    return k.subtract(weighed, k.multiply(out, k.sum(weighed, axis=(axis,), keepdims=True)))


def _log_softmax(k: Kernels, g: Native, out: Native, *, axis: int) -> Native:
    return k.subtract(g, k.multiply(k.exp(out), k.sum(g, axis=(axis,), keepdims=True)))


_of_softmax = backward("softmax_backward", _softmax)
_of_log_softmax = backward("log_softmax_backward", _log_softmax)
rule("softmax", lambda k, g, out, x, *, axis: _of_softmax(k, g, out, axis=axis), uses=("out",))
rule("log_softmax", lambda k, g, out, x, *, axis: _of_log_softmax(k, g, out, axis=axis), uses=("out",))

# -- what jumps or doesn't change -------------------------------------------------------------------------------------

# The next number moves with its first operand.
rule("nextafter", lambda k, g, out, x, y: g, None, uses=())
