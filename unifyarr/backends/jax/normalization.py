"""Helpers for normalization on JAX."""

from __future__ import annotations

import jax
import jax.numpy as jnp
from jax import lax

from ..kernels import scaled_root_mean_square, worked_around
from ._compiled import compiled


@worked_around("XLA would compile the derivative of its scale, which cancels out")
@compiled
def root_mean_square(x: jax.Array, /, *, axis: tuple[int, ...], eps: float) -> jax.Array:
    return scaled_root_mean_square(jnp, x, axis, eps, lax.stop_gradient)


def detach(x: jax.Array, /) -> jax.Array:
    return lax.stop_gradient(x)
