"""NumPy's order of complex numbers: by real, then by imaginary parts, those with NaN last.

JAX orders them so too, except with NaN: there it looks at the real parts first.
"""

from __future__ import annotations

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

from ._compiled import COMPLEX, INDEX


def sort_keys(x: jax.Array) -> tuple[jax.Array, ...]:
    """Return real arrays in whose order, the first one first, the elements of ``x`` come."""
    if x.dtype not in COMPLEX:
        return (x,)
    real, imag = lax.real(x), lax.imag(x)
    place = 2 * jnp.isnan(real).astype(np.int8) + jnp.isnan(imag).astype(np.int8)
    return place, jnp.where(jnp.isnan(real), 0, real), jnp.where(jnp.isnan(imag), 0, imag)


def sort(x: jax.Array, axis: int) -> jax.Array:
    if x.dtype not in COMPLEX:
        return jnp.sort(x, axis, stable=True)
    return lax.sort((*sort_keys(x), x), dimension=axis, is_stable=True, num_keys=3)[-1]


def argsort(x: jax.Array, axis: int) -> jax.Array:
    if x.dtype not in COMPLEX:
        return jnp.argsort(x, axis, stable=True)
    places = lax.broadcasted_iota(INDEX, x.shape, axis)
    return lax.sort((*sort_keys(x), places), dimension=axis, is_stable=True, num_keys=3)[-1]


def ranks(x: jax.Array) -> jax.Array:
    """Return integers in the order of the elements of a 1-d array, equal ones for equal elements."""
    order = argsort(x, 0)
    changes = jnp.zeros(x.shape, bool)
    for key in sort_keys(x):
        ordered = key[order]
        changes = changes.at[1:].max(ordered[1:] != ordered[:-1])
    return jnp.zeros(x.shape, INDEX).at[order].set(jnp.cumsum(changes, dtype=INDEX))


def argmax_complex(x: jax.Array, axis: int) -> jax.Array:
    """Return the index of the first NaN along ``axis``, without one that of the first maximum."""
    unknown = jnp.isnan(x)
    best = ~unknown
    for part in (lax.real(x), lax.imag(x)):
        part = jnp.where(best, part, -jnp.inf)
        best = best & (part == jnp.max(part, axis, keepdims=True))
    return jnp.argmax(jnp.where(jnp.any(unknown, axis, keepdims=True), unknown, best), axis, keepdims=True)


def argmin_complex(x: jax.Array, axis: int) -> jax.Array:
    return argmax_complex(-x, axis)
