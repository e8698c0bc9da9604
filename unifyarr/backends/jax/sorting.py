"""Sorting on JAX: NaN last, or first where descending; always stable."""

from __future__ import annotations

import jax
import jax.numpy as jnp

from . import _ordering
from ._compiled import compiled


@compiled
def sort(x: jax.Array, /, *, axis: int, descending: bool, stable: bool) -> jax.Array:
    result = _ordering.sort(x, axis)
    return jnp.flip(result, axis) if descending else result


@compiled
def argsort(x: jax.Array, /, *, axis: int, descending: bool, stable: bool) -> jax.Array:
    if not descending:
        return _ordering.argsort(x, axis)
    # Sorting the reversed array ascending and reversing the result keeps equal elements in their order.
    return x.shape[axis] - 1 - jnp.flip(_ordering.argsort(jnp.flip(x, axis), axis), axis)
