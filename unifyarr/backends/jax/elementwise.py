"""Elementwise functions on JAX: its own, except where the values of some dtypes are not NumPy's."""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

from ..kernels import worked_around
from . import _complex
from ._compiled import COMPLEX, INEXACT_REAL, INTEGER, Kernel, compiled, engine, in_single, is_concrete, with_operands
from ._complex import differentiated_as
from ._memory import fetched


def _as_in_c99(native: Kernel, exact: Kernel, real: Kernel | None = None) -> Kernel:
    """Return ``native``, or ``real`` in its place; of complex arrays ``exact``, with the derivative of ``native``."""
    of_complex = differentiated_as(native, exact)

    @worked_around("XLA's complex infinities, NaN and signs of zero are not those of C99")
    @compiled
    def kernel(*arrays: jax.Array) -> jax.Array:
        function = of_complex if arrays[0].dtype in COMPLEX else real or native
        return function(*arrays)

    return kernel


abs = _as_in_c99(jnp.abs, _complex.absolute)
acos = _as_in_c99(jnp.acos, _complex.acos)
acosh = _as_in_c99(jnp.acosh, _complex.acosh)
add = engine(jnp.add)
asin = _as_in_c99(jnp.asin, _complex.asin)
asinh = _as_in_c99(jnp.asinh, _complex.asinh)
atan = _as_in_c99(jnp.atan, _complex.atan)
atan2 = engine(jnp.atan2)
atanh = _as_in_c99(jnp.atanh, _complex.atanh)
bitwise_and = engine(jnp.bitwise_and)
bitwise_invert = engine(jnp.bitwise_invert)
bitwise_left_shift = engine(jnp.bitwise_left_shift)
bitwise_or = engine(jnp.bitwise_or)
bitwise_right_shift = engine(jnp.bitwise_right_shift)
bitwise_xor = engine(jnp.bitwise_xor)
ceil = engine(jnp.ceil)
conj = engine(jnp.conj)
copysign = engine(jnp.copysign)
cos = _as_in_c99(jnp.cos, _complex.cos)
cosh = _as_in_c99(jnp.cosh, _complex.cosh)
exp = _as_in_c99(jnp.exp, _complex.exp)
expm1 = _as_in_c99(jnp.expm1, _complex.expm1)
floor = engine(jnp.floor)
hypot = engine(jnp.hypot)
isfinite = engine(jnp.isfinite)
isinf = engine(jnp.isinf)
isnan = engine(jnp.isnan)
log = _as_in_c99(jnp.log, _complex.log)
log10 = _as_in_c99(jnp.log10, _complex.log10)
log1p = _as_in_c99(jnp.log1p, _complex.log1p)
log2 = _as_in_c99(jnp.log2, _complex.log2)
logical_and = engine(jnp.logical_and)
logical_not = engine(jnp.logical_not)
logical_or = engine(jnp.logical_or)
logical_xor = engine(jnp.logical_xor)
multiply = engine(jnp.multiply)
negative = engine(jnp.negative)
nextafter = engine(jnp.nextafter)
positive = engine(jnp.positive)
round = engine(jnp.round)
signbit = engine(jnp.signbit)
sin = _as_in_c99(jnp.sin, _complex.sin)
sinh = _as_in_c99(jnp.sinh, _complex.sinh)
sqrt = _as_in_c99(jnp.sqrt, _complex.sqrt)
square = engine(jnp.square)
subtract = engine(jnp.subtract)
tan = _as_in_c99(jnp.tan, _complex.tan)
tanh = _as_in_c99(jnp.tanh, _complex.tanh)
trunc = engine(jnp.trunc)

logaddexp = worked_around("JAX rounds each step to half precision")(compiled(in_single(jnp.logaddexp)))


# -- comparisons ------------------------------------------------------------------------------------------------------


def _comparison(native: Kernel, of_complex: Kernel) -> Kernel:
    @worked_around("JAX compares int64 with uint64 as floats, and complex numbers without looking for NaN")
    @compiled
    def compare(x1: jax.Array, x2: jax.Array, /) -> jax.Array:
        if x1.dtype in COMPLEX:
            return of_complex(x1, x2)
        if x1.dtype == x2.dtype:
            return native(x1, x2)
        # All that is negative compares with unsigned numbers as it does with zero.
        if x1.dtype == np.int64:
            return jnp.where(x1 < 0, native(x1, 0), native(x1.astype(np.uint64), x2))
        return jnp.where(x2 < 0, native(0, x2), native(x1, x2.astype(np.uint64)))

    return compare


def _ordered(strict: Kernel, native: Kernel) -> Kernel:
    """Compare complex numbers by their real parts, equal ones by their imaginary parts; with NaN nothing is ordered."""

    def compare(x1: jax.Array, x2: jax.Array) -> jax.Array:
        known = ~(jnp.isnan(x1.imag) | jnp.isnan(x2.imag))
        return (strict(x1.real, x2.real) & known) | ((x1.real == x2.real) & native(x1.imag, x2.imag))

    return compare


equal = _comparison(jnp.equal, jnp.equal)
not_equal = _comparison(jnp.not_equal, jnp.not_equal)
less = _comparison(jnp.less, _ordered(jnp.less, jnp.less))
less_equal = _comparison(jnp.less_equal, _ordered(jnp.less, jnp.less_equal))
greater = _comparison(jnp.greater, _ordered(jnp.greater, jnp.greater))
greater_equal = _comparison(jnp.greater_equal, _ordered(jnp.greater, jnp.greater_equal))


def _extreme(native: Kernel, comes_first: Kernel) -> Kernel:
    @worked_around("of complex numbers with NaN JAX gives another one than NumPy, which gives the first")
    @compiled
    def extreme(x1: jax.Array, x2: jax.Array, /) -> jax.Array:
        if x1.dtype not in COMPLEX:
            return native(x1, x2)
        return jnp.where(comes_first(x1, x2) | jnp.isnan(x1), x1, x2)

    return extreme


maximum = _extreme(jnp.maximum, greater_equal)
minimum = _extreme(jnp.minimum, less_equal)


@compiled
def _clip(low: jax.Array, high: jax.Array, x: jax.Array, /) -> jax.Array:
    # The engine's minimum and maximum choose between zeros by their signs; NumPy keeps that of the array.
    limited = jnp.minimum(jnp.maximum(x, low), high)
    if x.dtype not in INEXACT_REAL:
        return limited
    return jnp.where((x == limited) & (jnp.signbit(x) != jnp.signbit(limited)), x, limited)


@with_operands(_clip)
def clip(x: jax.Array, /, *, min: float, max: float) -> Any:
    """Limit an array to a range of Python numbers, in its own dtype; any other call declines."""
    if not (_holds(x.dtype, min) and _holds(x.dtype, max)):
        return None
    return [(min, x.dtype), (max, x.dtype)], {}


def _holds(dtype: np.dtype[Any], value: float) -> bool:
    kind = type(value)
    if dtype in INEXACT_REAL:
        return kind is float or (kind is int and -_SMALL <= value <= _SMALL)
    return dtype in INTEGER and kind is int and np.iinfo(dtype).min <= value <= np.iinfo(dtype).max


# Integers up to this are the same numbers in half precision.
_SMALL = 128


# -- division ---------------------------------------------------------------------------------------------------------


def _real_divide(x1: jax.Array, x2: jax.Array) -> jax.Array:
    # JAX would divide small integers in float32.
    return jnp.divide(*(x.astype(np.float64) if x.dtype in INTEGER else x for x in (x1, x2)))


def _real_reciprocal(x: jax.Array) -> jax.Array:
    if x.dtype not in INTEGER:
        return jnp.reciprocal(x)
    # One and, if there are such, minus one are their own; NumPy casts the infinity that zero gives.
    own = (x == 1) | ((x == -1) if x.dtype.kind == "i" else False)
    of_zero = jnp.iinfo(x.dtype).min if x.dtype.kind == "i" and x.dtype.itemsize > 2 else 0
    return jnp.where(own, x, jnp.where(x == 0, jnp.array(of_zero, x.dtype), np.zeros((), x.dtype)))


divide = _as_in_c99(jnp.divide, _complex.divide, _real_divide)
reciprocal = _as_in_c99(jnp.reciprocal, _complex.reciprocal, _real_reciprocal)


def _float_floor_divide(x1: jax.Array, x2: jax.Array) -> jax.Array:
    quotient = x1 / x2
    rest = lax.rem(*jnp.broadcast_arrays(x1, x2))
    # Without the rest the division is exact but for rounding, which may cross an integer.
    exact = (x1 - rest) / x2 - ((rest != 0) & ((x2 < 0) != (rest < 0)))
    floored = jnp.floor(exact)
    floored = jnp.where(exact == 0, jnp.copysign(0, quotient), floored + (exact - floored > 0.5))
    return jnp.where(jnp.isinf(x1) | jnp.isinf(x2) | (x2 == 0), quotient, floored)


@worked_around("XLA divides integers by zero to -1; JAX loses signs of zero and infinities")
@compiled
def floor_divide(x1: jax.Array, x2: jax.Array, /) -> jax.Array:
    if x1.dtype in INTEGER:
        zero, one = np.zeros((), x1.dtype), np.ones((), x1.dtype)
        return jnp.where(x2 == 0, zero, jnp.floor_divide(x1, jnp.where(x2 == 0, one, x2)))
    return in_single(_float_floor_divide)(x1, x2)


def _float_remainder(x1: jax.Array, x2: jax.Array) -> jax.Array:
    rest = lax.rem(*jnp.broadcast_arrays(x1, x2))
    moved = jnp.where((x2 < 0) != (rest < 0), rest + x2, rest)
    return jnp.where(rest == 0, jnp.copysign(0, x2), moved)


@worked_around("JAX gives a zero the sign of the dividend")
@compiled
def remainder(x1: jax.Array, x2: jax.Array, /) -> jax.Array:
    function = jnp.remainder if x1.dtype in INTEGER else in_single(_float_remainder)
    return function(x1, x2)


# Truncated division, for ``remainder(modulus=False)``.
fmod = engine(jnp.fmod)


# -- sign and power ---------------------------------------------------------------------------------------------------


def _real_sign(x: jax.Array) -> jax.Array:
    # JAX keeps the sign of zero.
    return jnp.where(x == 0, np.zeros((), x.dtype), jnp.sign(x))


def _root_or_power(x1: jax.Array, x2: jax.Array) -> jax.Array:
    power = jnp.pow(x1, x2)
    if x2.ndim:
        return power
    # By the number 1/2 NumPy takes the square root, which differs from the power at -0.0 and minus infinity.
    root = jnp.where(x1 == 0, x1, jnp.where(x1 == -np.inf, np.array(np.nan, x1.dtype), power))
    return jnp.where(x2 == 0.5, root, power)


_float_power = differentiated_as(jnp.pow, _root_or_power)


def _real_power(x1: jax.Array, x2: jax.Array) -> jax.Array:
    return (_integer_power if x1.dtype in INTEGER else _float_power)(x1, x2)


def _integer_power(x1: jax.Array, x2: jax.Array) -> jax.Array:
    """Multiply and square for each bit of the exponents, of which JAX reads only six."""
    x1, x2 = jnp.broadcast_arrays(x1, x2)

    def step(state: tuple[jax.Array, ...]) -> tuple[jax.Array, ...]:
        result, base, exponent = state
        return jnp.where(exponent & 1 == 1, result * base, result), base * base, exponent >> 1

    start = (jnp.ones_like(x1), x1, jnp.maximum(x2, 0))
    return lax.while_loop(lambda state: jnp.any(state[2] > 0), step, start)[0]


def _cube_root(x: jax.Array) -> jax.Array:
    # One step of Newton's method; of infinities and zeros it would make NaN.
    root = jnp.cbrt(x)
    regular = jnp.isfinite(x) & (x != 0)
    number, guess = (jnp.where(regular, each, np.ones((), x.dtype)) for each in (x, root))
    return root - (guess - number / (guess * guess)) / 3


cbrt = worked_around("JAX raises to a third that is rounded, and misses whole cube roots")(
    compiled(in_single(differentiated_as(jnp.cbrt, _cube_root)))
)
sign = _as_in_c99(jnp.sign, _complex.sign, _real_sign)
_power = _as_in_c99(jnp.pow, _complex.power, _real_power)


@worked_around("JAX reads six bits of integer exponents, takes negative ones, and differs from C99 on complex numbers")
def pow(x1: jax.Array, x2: jax.Array, /) -> jax.Array:
    if x2.dtype.kind == "i" and is_concrete(x2) and (fetched(x2) < 0).any():
        raise ValueError("Integers to negative integer powers are not allowed.")
    return _power(x1, x2)
