"""Casting on JAX."""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

from ..base.abilities import STORED
from ..kernels import worked_around
from ._compiled import HALF, cast, compiled


def _truncate(x: jax.Array, dtype: Any) -> jax.Array:
    """Cast to int32 or int64; what doesn't fit, and NaN, becomes the smallest integer, as the processor does it."""
    limit = 2.0 ** (8 * np.dtype(dtype).itemsize - 1)
    fits = (x >= -limit) & (x < limit)
    return jnp.where(fits, x.astype(dtype), jnp.iinfo(dtype).min)


def _to_integer(x: jax.Array, dtype: np.dtype[Any]) -> jax.Array:
    if x.dtype in HALF:
        x = x.astype(np.float32)
    widest = np.dtype(np.int64 if jax.config.jax_enable_x64 else np.int32)
    if dtype.kind == "u" and dtype.itemsize == widest.itemsize:
        # Nothing signed is wider: the upper half is cast apart.
        half = 2.0 ** (8 * widest.itemsize - 1)
        high = _truncate(x - half, widest) ^ jnp.iinfo(widest).min
        return jnp.where(x >= half, high, _truncate(x, widest)).astype(dtype)
    return _truncate(x, widest if dtype.name in ("uint32", "int64") else np.int32).astype(dtype)


def _wide(dtype: np.dtype[Any]) -> np.dtype[Any]:
    # Storage-only dtypes are cast through these on every engine, so that they round alike.
    return np.dtype(np.float32 if dtype.name.startswith("float") else np.int32)


@worked_around("XLA saturates where a float doesn't fit an integer, NumPy wraps")
@compiled
def astype(x: jax.Array, /, *, dtype: np.dtype[Any]) -> jax.Array:
    if dtype.kind == "b":
        return x != 0
    if jnp.issubdtype(x.dtype, jnp.complexfloating) and not jnp.issubdtype(dtype, jnp.complexfloating):
        x = x.real
    if x.dtype.name in STORED:
        x = lax.convert_element_type(x, _wide(x.dtype))
    if dtype.name in STORED:
        return lax.convert_element_type(_cast(x, _wide(dtype)), dtype)
    return _cast(x, dtype)


def _cast(x: jax.Array, dtype: np.dtype[Any]) -> jax.Array:
    if dtype.kind in "iu" and jnp.issubdtype(x.dtype, jnp.floating):
        return _to_integer(x, dtype)
    return cast(x, dtype)
