"""Creation functions on JAX."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

from ._compiled import INDEX, compiled, is_concrete, with_operands
from ._devices import fitting, made_on, wanted
from ._operands import number_at


def _filled(value: complex, shape: tuple[int, ...], dtype: np.dtype[Any], device: Any) -> jax.Array:
    # The value is an operand: it's cast as NumPy casts it, and another value compiles nothing anew.
    place = made_on(device, shape)
    return _filler_on(place, shape)(number_at(value, dtype, fitting(place, ())))


@functools.lru_cache(maxsize=4096)
def _filler_on(device: Any, shape: tuple[int, ...]) -> Callable[..., jax.Array]:
    """Return a compiled function that spreads one value over a new array on ``device``."""
    sharding = device
    if isinstance(device, jax.Device):
        sharding = jax.sharding.SingleDeviceSharding(device)
    return jax.jit(lambda value: lax.broadcast(value, shape), inline=True, out_shardings=sharding)


def full(*, shape: tuple[int, ...], fill_value: complex, dtype: np.dtype[Any], device: object) -> jax.Array:
    return _filled(fill_value, shape, dtype, device)


def zeros(*, shape: tuple[int, ...], dtype: np.dtype[Any], device: object) -> jax.Array:
    return _filled(0, shape, dtype, device)


def ones(*, shape: tuple[int, ...], dtype: np.dtype[Any], device: object) -> jax.Array:
    return _filled(1, shape, dtype, device)


# JAX has no uninitialised memory.
empty = zeros


Prepared = tuple[list[Any], dict[str, Any]]


@compiled
def _tril(k: Any, x: jax.Array, /) -> jax.Array:
    row, column = (lax.broadcasted_iota(INDEX, x.shape[-2:], axis) for axis in (0, 1))
    return jnp.where(column - row <= k, x, np.zeros((), x.dtype))


@compiled
def _triu(k: Any, x: jax.Array, /) -> jax.Array:
    row, column = (lax.broadcasted_iota(INDEX, x.shape[-2:], axis) for axis in (0, 1))
    return jnp.where(column - row >= k, x, np.zeros((), x.dtype))


@with_operands(_tril)
def tril(x: jax.Array, /, *, k: int) -> Prepared:
    return [(k, INDEX)], {}


@with_operands(_triu)
def triu(x: jax.Array, /, *, k: int) -> Prepared:
    return [(k, INDEX)], {}


def shard(x: jax.Array, /, *, sharding: Any, spec: Any) -> jax.Array:
    there = wanted(x.shape, sharding, spec)
    return jax.device_put(x, there) if is_concrete(x) else lax.with_sharding_constraint(x, there)
