"""Sets on JAX: values in ascending order, each NaN a value of its own, -0.0 and 0.0 one value."""

from __future__ import annotations

import jax
import jax.numpy as jnp
import numpy as np

from ..kernels import worked_around
from . import _ordering
from ._compiled import INDEX, compiled


@compiled
def isin(x1: jax.Array, x2: jax.Array, /, *, invert: bool) -> jax.Array:
    return jnp.isin(x1, x2, invert=invert)


@compiled
def _sorted(x: jax.Array, /) -> tuple[jax.Array, jax.Array, jax.Array]:
    """Return the flat array in ascending order, its indices, and where another value begins."""
    flat = x.reshape(-1)
    order = _ordering.argsort(flat, 0)
    values = flat[order]
    begins = jnp.ones(flat.shape, bool).at[1:].set(values[1:] != values[:-1])
    return values, order, begins


@compiled
def _inverse(order: jax.Array, begins: jax.Array, /, *, shape: tuple[int, ...]) -> jax.Array:
    number = jnp.cumsum(begins, dtype=INDEX) - 1
    return jnp.zeros_like(number).at[order].set(number, unique_indices=True).reshape(shape)


@worked_around("jax.numpy.unique changes complex numbers with NaN")
def unique_all(x: jax.Array, /) -> tuple[jax.Array, jax.Array, jax.Array, jax.Array]:
    values, order, begins = _sorted(x)
    (first,) = jnp.nonzero(begins)
    counts = jnp.diff(first, append=np.full(1, x.size, INDEX))
    return values[first], order[first], _inverse(order, begins, shape=x.shape), counts


@worked_around("jax.numpy.unique changes complex numbers with NaN")
def unique_values(x: jax.Array, /) -> jax.Array:
    values, _, begins = _sorted(x)
    return values[jnp.nonzero(begins)]
