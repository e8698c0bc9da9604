"""Convolution on JAX."""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp
from jax import lax

from ._compiled import COMPLEX, HALF, INEXACT_REAL, compiled

_FULL_PRECISION = (INEXACT_REAL - HALF) | COMPLEX


@compiled
def _convolve(x1: jax.Array, x2: jax.Array, /, *, start: int, length: int) -> jax.Array:
    return lax.slice(jnp.convolve(x1, x2), (start,), (start + length,))


def convolve(x1: jax.Array, x2: jax.Array, /, *, start: int, length: int) -> Any:
    if x1.dtype not in _FULL_PRECISION:
        return NotImplemented
    return _convolve(x1, x2, start=start, length=length)
