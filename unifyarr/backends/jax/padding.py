"""Padding on JAX."""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp
from jax import lax

from ._compiled import compiled
from ._operands import number

Pairs = tuple[tuple[Any, Any], ...]


@compiled
def _pad_with(x: jax.Array, value: jax.Array, /, *, widths: Pairs) -> jax.Array:
    return lax.pad(x, value, [(*pair, 0) for pair in widths])


@compiled
def _pad(x: jax.Array, /, *constants: jax.Array, widths: Pairs, mode: str) -> jax.Array:
    values = [constants[i : i + 2] for i in range(0, len(constants), 2)]
    return jnp.pad(x, widths, mode, **({"constant_values": values} if values else {}))


def pad(x: jax.Array, /, *, widths: Pairs, mode: str, values: Pairs) -> jax.Array:
    constants = {repr(value): value for pair in values for value in pair}
    if mode == "constant" and len(constants) == 1:
        [constant] = constants.values()
        return _pad_with(x, number(constant, x.dtype, x), widths=widths)
    # As static arguments 0.0 and -0.0, or 1 and 1.0, would be one within a tuple.
    return _pad(x, *(number(value, x.dtype, x) for pair in values for value in pair), widths=widths, mode=mode)
