"""Elementwise functions on JAX that the standard lacks."""

from __future__ import annotations

import math

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

from ..kernels import worked_around
from . import elementwise as _elementwise
from ._compiled import COMPLEX, Kernel, compiled, engine, in_single

deg2rad = engine(jnp.deg2rad)
rad2deg = engine(jnp.rad2deg)


@worked_around("beside NaN JAX 0.10.0 gives the second operand")
@compiled
def heaviside(x1: jax.Array, x2: jax.Array, /) -> jax.Array:
    return jnp.where(jnp.isnan(x1), x1, jnp.heaviside(x1, x2))


def _real_exp2(x: jax.Array) -> jax.Array:
    return jnp.pow(np.array(2, x.dtype), x)


@worked_around("XLA misses whole powers of two, and complex infinities")
@compiled
def exp2(x: jax.Array, /) -> jax.Array:
    return _elementwise.exp(x * math.log(2)) if x.dtype in COMPLEX else in_single(_real_exp2)(x)


def _extreme(wins: Kernel) -> Kernel:
    @worked_around("of complex numbers with NaN JAX gives another one than NumPy, and of zeros the second")
    @compiled
    def extreme(x1: jax.Array, x2: jax.Array, /) -> jax.Array:
        return jnp.where(jnp.isnan(x2) | wins(x1, x2), x1, x2)

    return extreme


fmax = _extreme(_elementwise.greater_equal)
fmin = _extreme(_elementwise.less_equal)


def _log_add(x1: jax.Array, x2: jax.Array) -> jax.Array:
    larger, difference = jnp.maximum(x1, x2), jnp.abs(x1 - x2)
    # The difference of two equal infinities is NaN, and has a NaN for its derivative.
    known = ~jnp.isnan(difference)
    added = jnp.log1p(jnp.exp(-math.log(2) * jnp.where(known, difference, np.inf))) / math.log(2)
    # XLA multiplies by a rounded reciprocal.
    return jnp.where(known, larger, x1 + x2) + jnp.where(difference == 0, np.ones((), x1.dtype), added)


logaddexp2 = worked_around("of equal numbers the sum is rounded")(compiled(in_single(_log_add)))


# -- whole numbers ----------------------------------------------------------------------------------------------------


def _size(x: jax.Array) -> jax.Array:
    # The size of the least integer is an unsigned one.
    return x if x.dtype == np.uint64 else jnp.abs(x.astype(np.int64)).astype(np.uint64)


def _euclid(x1: jax.Array, x2: jax.Array) -> jax.Array:
    def step(pair: tuple[jax.Array, jax.Array]) -> tuple[jax.Array, jax.Array]:
        first, second = pair
        done = second == 0
        rest = lax.rem(first, jnp.where(done, np.uint64(1), second))
        return jnp.where(done, first, second), jnp.where(done, np.uint64(0), rest)

    return lax.while_loop(lambda pair: jnp.any(pair[1] != 0), step, (x1, x2))[0]


@worked_around("JAX never returns for the least integer")
@compiled
def gcd(x1: jax.Array, x2: jax.Array, /) -> jax.Array:
    return _euclid(*map(_size, jnp.broadcast_arrays(x1, x2))).astype(x1.dtype)


@worked_around("JAX never returns for the least integer")
@compiled
def lcm(x1: jax.Array, x2: jax.Array, /) -> jax.Array:
    first, second = map(_size, jnp.broadcast_arrays(x1, x2))
    divisor = _euclid(first, second)
    return (first // jnp.where(divisor == 0, np.uint64(1), divisor) * second).astype(x1.dtype)
