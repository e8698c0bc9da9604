"""Helpers of functions of matrices on JAX."""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp
from jax import lax

from ._compiled import compiled, is_concrete
from ._memory import fetched

# Inside a trace a matrix is squared so often at most: it's of a norm up to 1e20 then.
MOST = 64


@compiled
def _square_repeatedly(x: jax.Array, counts: jax.Array, /) -> jax.Array:
    # A loop of a length known before has a gradient.
    def step(x: jax.Array, count: jax.Array) -> tuple[jax.Array, None]:
        return lax.cond(jnp.any(counts > count), lambda x: jnp.where(counts > count, x @ x, x), lambda x: x, x), None

    result, _ = lax.scan(step, x, jnp.arange(MOST, dtype=counts.dtype))
    return jnp.where(counts > MOST, jnp.nan, result)


def square_repeatedly(x: jax.Array, counts: jax.Array, /) -> Any:
    """Square each matrix as often as its count says; inside a trace those whose count is too great become NaN."""
    if is_concrete(counts) and (fetched(counts) > MOST).any():
        return NotImplemented
    return _square_repeatedly(x, counts)
