"""Tests over whole arrays on JAX."""

from __future__ import annotations

import jax
import jax.numpy as jnp
from jax import lax

from ._compiled import compiled

# JAX casts complex numbers to bool by their real parts alone: comparing with zero looks at both.


@compiled
def diff(x: jax.Array, /, *, axis: int) -> jax.Array:
    after, before = lax.slice_in_dim(x, 1, None, axis=axis), lax.slice_in_dim(x, 0, -1, axis=axis)
    return after != before if x.dtype == bool else after - before


@compiled
def all(x: jax.Array, /, *, axis: tuple[int, ...], keepdims: bool) -> jax.Array:
    return jnp.all(x != 0, axis, keepdims=keepdims)


@compiled
def any(x: jax.Array, /, *, axis: tuple[int, ...], keepdims: bool) -> jax.Array:
    return jnp.any(x != 0, axis, keepdims=keepdims)
