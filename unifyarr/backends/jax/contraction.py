"""Einstein's summation of two arrays on JAX."""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp

from ._compiled import COMPLEX, INEXACT_REAL, compiled

_PRODUCTS = INEXACT_REAL | COMPLEX


@compiled
def _einsum(x1: jax.Array, x2: jax.Array, /, *, subscripts: str) -> jax.Array:
    return jnp.einsum(subscripts, x1, x2)


def einsum(x1: jax.Array, x2: jax.Array, /, *, subscripts: str) -> Any:
    return _einsum(x1, x2, subscripts=subscripts) if x1.dtype in _PRODUCTS else NotImplemented
