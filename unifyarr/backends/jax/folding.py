"""Windows as columns on JAX, and columns added up."""

from __future__ import annotations

import itertools

import jax
import jax.numpy as jnp
from jax import lax

from ..kernels import for_derivatives, worked_around
from ._compiled import compiled

_by_slices = worked_around("XLA has windows of channels alone")


@for_derivatives
@_by_slices
@compiled
def unfold(
    x: jax.Array, /, *, window: tuple[int, ...], stride: tuple[int, ...], dilation: tuple[int, ...]
) -> jax.Array:
    axes = len(window)
    leading, steps = x.shape[:-axes], (1,) * (x.ndim - axes) + stride
    each = zip(x.shape[-axes:], window, stride, dilation, strict=True)
    count = [(length - d * (size - 1) - 1) // s + 1 for length, size, s, d in each]
    parts = []
    for place in itertools.product(*map(range, window)):
        starts = [i * d for i, d in zip(place, dilation, strict=True)]
        stops = [start + s * (n - 1) + 1 for start, n, s in zip(starts, count, stride, strict=True)]
        parts.append(lax.slice(x, (*(0,) * len(leading), *starts), (*leading, *stops), steps))
    return jnp.stack(parts, axis=len(leading)).reshape(*leading, *window, *count)


@for_derivatives
@_by_slices
@compiled
def fold(x: jax.Array, /, *, lengths: tuple[int, ...], stride: tuple[int, ...], dilation: tuple[int, ...]) -> jax.Array:
    axes = len(lengths)
    like = jax.ShapeDtypeStruct((*x.shape[: -2 * axes], *lengths), x.dtype)
    window = x.shape[-2 * axes : -axes]
    (found,) = jax.linear_transpose(lambda y: unfold(y, window=window, stride=stride, dilation=dilation), like)(x)
    return found
