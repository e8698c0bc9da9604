"""Sets on JAX: values in ascending order, each NaN a value of its own, -0.0 and 0.0 one value."""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from .. import kernels
from ..kernels import by_host, has_subnormals
from . import _ordering
from ._compiled import INDEX, compiled, is_concrete
from ._memory import beside, fetched


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


def _on_host(x: jax.Array) -> bool:
    # NumPy sorts no bfloat16 with NaN, and tells subnormal numbers from zeros.
    return is_concrete(x) and x.dtype.kind != "V" and not has_subnormals(fetched(x))


@by_host("how many values there are depends on the values: JAX compiles for each number")
def unique_all(x: jax.Array, /) -> tuple[jax.Array, ...]:
    if _on_host(x):
        return beside(x, *np.unique_all(fetched(x)))
    values, order, begins = _sorted(x)
    (first,) = jnp.nonzero(begins)
    counts = jnp.diff(first, append=np.full(1, x.size, INDEX))
    return values[first], order[first], _inverse(order, begins, shape=x.shape), counts


@by_host("how many values there are depends on the values: JAX compiles for each number")
def unique_counts(x: jax.Array, /) -> Any:
    return beside(x, *np.unique_counts(fetched(x))) if _on_host(x) else NotImplemented


@by_host("how many values there are depends on the values: JAX compiles for each number")
def unique_inverse(x: jax.Array, /) -> Any:
    return beside(x, *kernels.unique_inverse(fetched(x))) if _on_host(x) else NotImplemented


@by_host("how many values there are depends on the values: JAX compiles for each number")
def unique_values(x: jax.Array, /) -> jax.Array:
    if _on_host(x):
        return beside(x, np.unique(fetched(x), equal_nan=False))[0]
    values, _, begins = _sorted(x)
    return values[jnp.nonzero(begins)]
