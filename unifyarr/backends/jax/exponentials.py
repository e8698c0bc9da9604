"""Softmax and its logarithms on JAX, each one compiled function."""

from __future__ import annotations

import jax
import jax.numpy as jnp
from jax import lax

from ._compiled import compiled, in_single


def _shifted(x: jax.Array, axis: int) -> jax.Array:
    # Empty arrays have no maximum. The maximum is a constant to derivatives, since the result doesn't depend on it.
    return x - lax.stop_gradient(jnp.max(x, axis, keepdims=True)) if x.size else x


@compiled
@in_single
def log_softmax(x: jax.Array, /, *, axis: int) -> jax.Array:
    shifted = _shifted(x, axis)
    return shifted - jnp.log(jnp.sum(jnp.exp(shifted), axis, keepdims=True))


@compiled
@in_single
def softmax(x: jax.Array, /, *, axis: int) -> jax.Array:
    powers = jnp.exp(_shifted(x, axis))
    return powers / jnp.sum(powers, axis, keepdims=True)
