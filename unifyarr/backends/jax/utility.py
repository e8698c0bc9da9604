"""Tests over whole arrays on JAX."""

from __future__ import annotations

import jax
import jax.numpy as jnp

from ._compiled import compiled

# JAX casts complex numbers to bool by their real parts alone: comparing with zero looks at both.


@compiled
def all(x: jax.Array, /, *, axis: tuple[int, ...], keepdims: bool) -> jax.Array:
    return jnp.all(x != 0, axis, keepdims=keepdims)


@compiled
def any(x: jax.Array, /, *, axis: tuple[int, ...], keepdims: bool) -> jax.Array:
    return jnp.any(x != 0, axis, keepdims=keepdims)
