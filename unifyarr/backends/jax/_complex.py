"""Complex functions whose special values and signs of zero are those of C99, which NumPy and the standard share.

XLA's own are right on ordinary values; most of them ignore the sign of zero and answer NaN beside infinities. Each
function here takes and returns complex arrays. Those odd and symmetric under conjugation are computed in the first
quadrant alone, and take their signs from their argument.
"""

from __future__ import annotations

import math
from typing import Any

import jax
import jax.numpy as jnp
from jax import lax

from ._compiled import Kernel

# Beyond it, cosh, sinh and exp / 2 are one number in double precision.
LARGE = 20.0
LOG_2, LOG_10 = math.log(2), math.log(10)


def differentiated_as(native: Kernel, function: Kernel) -> Kernel:
    """Return ``function`` with the derivative of the engine's ``native``, which differs at special points alone."""
    wrapped = jax.custom_jvp(function)

    def jvp(primals: Any, tangents: Any) -> Any:
        return wrapped(*primals), jax.jvp(native, primals, tangents)[1]

    wrapped.defjvp(jvp)
    return wrapped


def _parts(z: jax.Array) -> tuple[jax.Array, jax.Array]:
    return lax.real(z), lax.imag(z)


def _infinite(a: jax.Array, b: jax.Array) -> jax.Array:
    return jnp.isinf(a) | jnp.isinf(b)


def _unknown(a: jax.Array, b: jax.Array) -> jax.Array:
    return jnp.isnan(a) | jnp.isnan(b)


# -- exponential and hyperbolic functions -----------------------------------------------------------------------------

# Products with exp(a) are taken with exp(a / 2) twice: they overflow only where they are too large themselves.


def exp(z: jax.Array) -> jax.Array:
    a, b = _parts(z)
    lost = ~jnp.isfinite(b)
    half = jnp.exp(a / 2)
    cosine = jnp.where(lost & jnp.isinf(a), 1, jnp.cos(b))
    sine = jnp.where(lost & (a == -jnp.inf), jnp.copysign(0, b), jnp.sin(b))
    return lax.complex(half * cosine * half, jnp.where(b == 0, b, half * sine * half))


def expm1(z: jax.Array) -> jax.Array:
    a, b = _parts(z)
    real, imag = _parts(exp(z))
    near = jnp.expm1(a) * jnp.cos(b) - 2 * jnp.sin(b / 2) ** 2
    real = jnp.where((jnp.abs(a) < LARGE) & jnp.isfinite(b), near, real - 1)
    # The standard's answer to -0 + 0i is +0 + 0i.
    return lax.complex(jnp.where(b == 0, jnp.where(a == 0, 0, jnp.expm1(a)), real), imag)


def _hyperbolic(a: jax.Array) -> tuple[jax.Array, jax.Array, jax.Array]:
    """Return ``cosh(a)`` and ``sinh(a)``, both to be multiplied by the third twice."""
    large = jnp.abs(a) > LARGE
    inner = jnp.where(large, 0, a)
    half = jnp.where(large, jnp.exp(jnp.abs(a) / 2), 1)
    return jnp.where(large, 0.5, jnp.cosh(inner)), jnp.where(large, jnp.copysign(0.5, a), jnp.sinh(inner)), half


def cosh(z: jax.Array) -> jax.Array:
    a, b = _parts(z)
    lost = ~jnp.isfinite(b)
    even, odd, half = _hyperbolic(a)
    real = even * jnp.where(lost & jnp.isinf(a), 1, jnp.cos(b)) * half * half
    imag = jnp.where(lost & (a == 0), 0, odd * jnp.sin(b) * half * half)
    return lax.complex(real, jnp.where(b == 0, jnp.where(jnp.isnan(a), b, b * jnp.copysign(1, a)), imag))


def sinh(z: jax.Array) -> jax.Array:
    a, b = _parts(z)
    lost = ~jnp.isfinite(b)
    even, odd, half = _hyperbolic(a)
    cosine = jnp.where(lost & jnp.isinf(a), jnp.copysign(1, a), jnp.where(lost & (a == 0), 1, jnp.cos(b)))
    real = odd * cosine * half * half
    return lax.complex(real, jnp.where(b == 0, b, even * jnp.sin(b) * half * half))


def tanh(z: jax.Array) -> jax.Array:
    a, b = _parts(z)
    sine, cosine = jnp.sin(b), jnp.cos(b)
    even, odd, _ = _hyperbolic(jnp.clip(a, -LARGE, LARGE))
    scale = odd**2 + cosine**2
    real = jnp.where(jnp.abs(a) > LARGE, jnp.copysign(1, a), odd * even / scale)
    real = jnp.where(jnp.isfinite(b) | jnp.isinf(a), real, jnp.where(a == 0, a, jnp.nan))
    imag = sine * cosine * jnp.where(jnp.abs(a) > LARGE, 4 * jnp.exp(-2 * jnp.abs(a)), 1 / scale)
    imag = jnp.where(jnp.isinf(a), jnp.copysign(0, b), jnp.where(b == 0, b, imag))
    return lax.complex(jnp.where(b == 0, jnp.tanh(a), real), imag)


# -- roots, logarithms and inverse functions --------------------------------------------------------------------------


def sqrt(z: jax.Array) -> jax.Array:
    a, b = _parts(z)
    real, imag = _parts(lax.sqrt(lax.complex(a, jnp.abs(b))))
    unknown = jnp.where(jnp.isnan(b), b, 0)
    real = jnp.where(a == jnp.inf, a, jnp.where(a == -jnp.inf, unknown, real))
    imag = jnp.where(a == jnp.inf, unknown, jnp.where(a == -jnp.inf, jnp.inf, imag))
    real, imag = (jnp.where(jnp.isinf(b), jnp.inf, part) for part in (real, imag))
    return lax.complex(real, jnp.copysign(imag, b))


def log(z: jax.Array) -> jax.Array:
    a, b = _parts(z)
    return lax.complex(jnp.where(_infinite(a, b), jnp.inf, lax.real(lax.log(z))), jnp.atan2(b, a))


def log2(z: jax.Array) -> jax.Array:
    real, imag = _parts(log(z))
    return lax.complex(real / LOG_2, imag / LOG_2)


def log10(z: jax.Array) -> jax.Array:
    real, imag = _parts(log(z))
    return lax.complex(real / LOG_10, imag / LOG_10)


def log1p(z: jax.Array) -> jax.Array:
    a, b = _parts(z)
    return lax.complex(jnp.where(_infinite(a, b), jnp.inf, lax.real(lax.log1p(z))), jnp.atan2(b, a + 1))


def asinh(z: jax.Array) -> jax.Array:
    a, b = (jnp.abs(part) for part in _parts(z))
    real, imag = _parts(lax.asinh(lax.complex(a, b)))
    real, imag = (jnp.where(_unknown(a, b), jnp.nan, part) for part in (real, imag))
    real = jnp.where(_infinite(a, b), jnp.inf, real)
    imag = jnp.where(_infinite(a, b), jnp.atan2(b, a), jnp.where(b == 0, 0, imag))
    return _with_signs(real, imag, z)


def atanh(z: jax.Array) -> jax.Array:
    a, b = (jnp.abs(part) for part in _parts(z))
    real, imag = _parts(lax.atanh(lax.complex(a, b)))
    real, imag = (jnp.where(_unknown(a, b), jnp.nan, part) for part in (real, imag))
    real = jnp.where(_infinite(a, b) | ((a == 0) & jnp.isnan(b)), 0, real)
    imag = jnp.where(_infinite(a, b), jnp.where(jnp.isnan(b), b, jnp.pi / 2), imag)
    return _with_signs(real, imag, z)


def acos(z: jax.Array) -> jax.Array:
    a, b = _parts(z)
    real, imag = _parts(lax.acos(lax.complex(a, jnp.abs(b))))
    real, imag = (jnp.where(_unknown(a, b), jnp.nan, part) for part in (real, imag))
    real = jnp.where(_infinite(a, b), jnp.atan2(jnp.abs(b), a), jnp.where((a == 0) & jnp.isnan(b), jnp.pi / 2, real))
    imag = jnp.where(_infinite(a, b), jnp.inf, imag)
    return lax.complex(real, jnp.copysign(imag, -b))


def acosh(z: jax.Array) -> jax.Array:
    real, imag = _parts(acos(z))
    return lax.complex(jnp.abs(imag), jnp.copysign(real, lax.imag(z)))


def _with_signs(real: jax.Array, imag: jax.Array, z: jax.Array) -> jax.Array:
    return lax.complex(jnp.copysign(real, lax.real(z)), jnp.copysign(imag, lax.imag(z)))


# -- functions of i z -------------------------------------------------------------------------------------------------


def _rotated(function: Kernel) -> Kernel:
    """Return ``i f(-i z)``."""

    def rotated(z: jax.Array) -> jax.Array:
        a, b = _parts(z)
        real, imag = _parts(function(lax.complex(b, -a)))
        return lax.complex(-imag, real)

    return rotated


sin = _rotated(sinh)
tan = _rotated(tanh)
asin = _rotated(asinh)
atan = _rotated(atanh)


def cos(z: jax.Array) -> jax.Array:
    a, b = _parts(z)
    return cosh(lax.complex(-b, a))


# -- arithmetic -------------------------------------------------------------------------------------------------------


def absolute(z: jax.Array) -> jax.Array:
    return jnp.where(_infinite(*_parts(z)), jnp.inf, lax.abs(z))


def sign(z: jax.Array) -> jax.Array:
    a, b = _parts(z)
    unknown = _unknown(a, b) | (jnp.isinf(a) & jnp.isinf(b))
    # Beside an infinite part only that one counts.
    a, b = (jnp.where(_infinite(a, b), jnp.where(jnp.isinf(part), jnp.copysign(1, part), 0), part) for part in (a, b))
    # Scaled by the larger part, no modulus of finite parts overflows.
    largest = jnp.maximum(jnp.abs(a), jnp.abs(b))
    a, b = (part / jnp.where(largest == 0, 1, largest) for part in (a, b))
    modulus = jnp.sqrt(a * a + b * b)
    real, imag = (jnp.where(unknown, jnp.nan, jnp.where(largest == 0, 0, part / modulus)) for part in (a, b))
    return lax.complex(real, imag)


def divide(z: jax.Array, w: jax.Array) -> jax.Array:
    """Divide by Smith's method, as NumPy does; division by zero divides the parts."""
    (a, b), (c, d) = _parts(z), _parts(w)
    wide = jnp.abs(c) >= jnp.abs(d)
    larger, smaller = jnp.where(wide, c, d), jnp.where(wide, d, c)
    ratio = smaller / larger
    scale = 1 / (larger + smaller * ratio)
    real = jnp.where(wide, a + b * ratio, a * ratio + b) * scale
    imag = jnp.where(wide, b - a * ratio, b * ratio - a) * scale
    zero = (c == 0) & (d == 0)
    return lax.complex(jnp.where(zero, a / jnp.abs(c), real), jnp.where(zero, b / jnp.abs(c), imag))


def reciprocal(z: jax.Array) -> jax.Array:
    a, b = _parts(z)
    wide = jnp.abs(b) <= jnp.abs(a)
    larger, smaller = jnp.where(wide, a, b), jnp.where(wide, b, a)
    ratio = smaller / larger
    scale = larger + smaller * ratio
    return lax.complex(jnp.where(wide, 1, ratio) / scale, -jnp.where(wide, ratio, 1) / scale)


def _multiply(z: jax.Array, w: jax.Array) -> jax.Array:
    """Multiply as C99 does: an infinite factor gives an infinite product, also beside NaN."""
    (a, b), (c, d) = _parts(z), _parts(w)
    real, imag = a * c - b * d, a * d + b * c
    infinite, infinite_too = _infinite(a, b), _infinite(c, d)
    for mine in (infinite, infinite_too):
        # The infinite factor is replaced by its direction, NaN in the other one by zero.
        a, b = (jnp.where(mine, jnp.copysign(jnp.where(jnp.isinf(part), 1.0, 0.0), part), part) for part in (a, b))
        c, d = (jnp.where(mine & jnp.isnan(part), jnp.copysign(0, part), part) for part in (c, d))
        a, b, c, d = c, d, a, b
    recover = jnp.isnan(real) & jnp.isnan(imag) & (infinite | infinite_too)
    real = jnp.where(recover, jnp.inf * (a * c - b * d), real)
    return lax.complex(real, jnp.where(recover, jnp.inf * (a * d + b * c), imag))


def _integer_power(z: jax.Array, n: jax.Array) -> jax.Array:
    """Raise to integers between -100 and 100 by squaring, in NumPy's order."""
    # XLA would drop operations with a one it knows, and with them signs of zero.
    one = lax.optimization_barrier(jnp.ones_like(z))
    result, power, exponent = one, z, jnp.abs(n)
    for bit in range(7):
        result = jnp.where((exponent >> bit) & 1 == 1, result * power, result)
        power = power * power
    result = jnp.where(n < 0, divide(one, result), result)
    return jnp.select([n == 1, n == 2, n == 3], [z, z * z, z * (z * z)], result)


def power(z: jax.Array, w: jax.Array) -> jax.Array:
    z, w = jnp.broadcast_arrays(z, w)
    c, d = _parts(w)
    small = (d == 0) & (jnp.abs(c) < 100) & (c == jnp.floor(c))
    result = jnp.where(small, _integer_power(z, jnp.where(small, c, 0).astype("int32")), exp(_multiply(w, log(z))))
    result = jnp.where(z == 0, jnp.where(c > 0, 0, lax.complex(jnp.nan * c, jnp.nan * c)), result)
    return jnp.where(w == 0, jnp.ones_like(z), result)
