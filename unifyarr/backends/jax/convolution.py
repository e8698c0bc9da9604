"""Convolutions on JAX."""

from __future__ import annotations

from typing import Any

import jax
from jax import lax

from ._compiled import compiled, in_single


@compiled
@in_single
def _convolution(
    x: jax.Array,
    weight: jax.Array,
    /,
    *biases: jax.Array,
    stride: tuple[int, ...],
    padding: tuple[tuple[int, int], ...],
    dilation: tuple[int, ...],
    groups: int,
) -> jax.Array:
    result = lax.conv_general_dilated(
        x, weight, stride, padding, rhs_dilation=dilation, feature_group_count=groups, precision=lax.Precision.HIGHEST
    )
    for bias in biases:
        result += bias.reshape(-1, *(1 for _ in stride))
    return result


def convolution(x: jax.Array, weight: jax.Array, /, *biases: jax.Array, **options: Any) -> Any:
    # XLA multiplies no truth values.
    return NotImplemented if x.dtype == bool else _convolution(x, weight, *biases, **options)
