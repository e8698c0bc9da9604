"""Combining values where indices say, on JAX."""

from __future__ import annotations

import jax
import jax.numpy as jnp

from ..kernels import worked_around
from ._bounds import check_all_bounds
from ._compiled import compiled

# A sum of bools is true where one of them is, a product where all are.
_OF_BOOL = {"add": "max", "multiply": "min"}


@compiled
def _scatter_reduce(x: jax.Array, value: jax.Array, /, *indices: jax.Array, reduction: str) -> jax.Array:
    if x.dtype == jnp.bool_:
        reduction = _OF_BOOL.get(reduction, reduction)
    combined: jax.Array = getattr(x.at[indices], reduction)(value)
    return combined


@worked_around("JAX adds and multiplies no bools, and drops what is out of bounds")
def scatter_reduce(x: jax.Array, value: jax.Array, /, *indices: jax.Array, reduction: str) -> jax.Array:
    check_all_bounds(x, indices)
    return _scatter_reduce(x, value, *indices, reduction=reduction)
