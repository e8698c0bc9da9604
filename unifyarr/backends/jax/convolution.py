"""Convolutions on JAX, and their transposes."""

from __future__ import annotations

from typing import Any

import jax
from jax import lax

from ..kernels import for_derivatives
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


@compiled
@in_single
def _convolution_transpose(
    y: jax.Array, weight: jax.Array, /, *biases: jax.Array, lengths: tuple[int, ...], groups: int, **windows: Any
) -> jax.Array:
    shape = (y.shape[0], weight.shape[1] * groups, *lengths)
    found = _transposed(lambda x: _convolution(x, weight, groups=groups, **windows), shape, y)
    for bias in biases:
        found += bias.reshape(-1, *(1 for _ in lengths))
    return found


@compiled
@in_single
def _convolution_weight(
    x: jax.Array, y: jax.Array, /, *, kernel: tuple[int, ...], groups: int, **windows: Any
) -> jax.Array:
    shape = (y.shape[1], x.shape[1] // groups, *kernel)
    return _transposed(lambda weight: _convolution(x, weight, groups=groups, **windows), shape, y)


def _transposed(function: Any, shape: tuple[int, ...], y: jax.Array) -> Any:
    (found,) = jax.linear_transpose(function, jax.ShapeDtypeStruct(shape, y.dtype))(y)
    return found


def convolution(x: jax.Array, weight: jax.Array, /, *biases: jax.Array, **options: Any) -> Any:
    # XLA multiplies no truth values.
    return NotImplemented if x.dtype == bool else _convolution(x, weight, *biases, **options)


# XLA puts zeros around ``y``, whose products with infinite weights are NaN.
@for_derivatives
def convolution_transpose(y: jax.Array, weight: jax.Array, /, *biases: jax.Array, **options: Any) -> Any:
    # JAX transposes no functions of integers.
    return NotImplemented if y.dtype.kind in "biu" else _convolution_transpose(y, weight, *biases, **options)


def convolution_weight(x: jax.Array, y: jax.Array, /, **options: Any) -> Any:
    return NotImplemented if x.dtype.kind in "biu" else _convolution_weight(x, y, **options)
