"""Padding on JAX."""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp

from ._compiled import compiled

Pairs = tuple[tuple[Any, Any], ...]


@compiled
def _pad(x: jax.Array, /, *, widths: Pairs, mode: str, values: Pairs) -> jax.Array:
    return jnp.pad(x, widths, mode, **({"constant_values": values} if values else {}))


def pad(x: jax.Array, /, *, widths: Pairs, mode: str, values: Pairs) -> jax.Array:
    return _pad(x, widths=widths, mode=mode, values=values)
