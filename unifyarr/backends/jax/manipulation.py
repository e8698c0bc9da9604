"""Changing shapes and joining arrays on JAX."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

from ..kernels import bits, facts_of, known_by
from ._compiled import INDEX, compiled, engine, with_operands
from ._memory import beside, fetched
from ._spread import split_of
from ._writing import writes
from .indexing import take


@compiled
def broadcast_to(x: jax.Array, /, *, shape: tuple[int, ...]) -> jax.Array:
    return jnp.broadcast_to(x, shape)


@compiled
def permute_dims(x: jax.Array, /, *, axes: tuple[int, ...]) -> jax.Array:
    return lax.transpose(x, axes)


@compiled
def reshape(x: jax.Array, /, *, shape: tuple[int, ...]) -> jax.Array:
    return jnp.reshape(x, shape)


real = engine(lax.real)
imag = engine(lax.imag)


@compiled
def bitcast(x: jax.Array, /, *, dtype: np.dtype[Any]) -> jax.Array:
    taken, unit, found = bits(x.shape, x.dtype, dtype)
    if x.dtype.kind == "b":
        x = x.astype(np.uint8)
    elif x.dtype.kind == "c":
        x = jnp.stack([lax.real(x), lax.imag(x)], axis=-1)
    x = jnp.reshape(lax.bitcast_convert_type(jnp.reshape(x, taken), unit), found)
    if dtype.kind == "c":
        return lax.complex(x[..., 0], x[..., 1])
    return x != 0 if dtype.kind == "b" else x


@writes
@compiled
def set_real(x: jax.Array, value: jax.Array, /) -> jax.Array:
    return lax.complex(jnp.broadcast_to(value, x.shape), lax.imag(x))


@writes
@compiled
def set_imag(x: jax.Array, value: jax.Array, /) -> jax.Array:
    return lax.complex(lax.real(x), jnp.broadcast_to(value, x.shape))


@compiled
def concat(*arrays: jax.Array, axis: int) -> jax.Array:
    return lax.concatenate(arrays, axis)


@compiled
def stack(*arrays: jax.Array, axis: int) -> jax.Array:
    return jnp.stack(arrays, axis)


def repeat(x: jax.Array, /, *repeats: jax.Array, count: int | None, axis: int | None) -> jax.Array:
    if count is not None:
        return _repeat_each(x, count=count, axis=axis)
    # How long the result is depends on values: NumPy repeats the indices, and checks them.
    size = x.size if axis is None else x.shape[axis]
    return take(x, *beside(x, np.repeat(np.arange(size), fetched(repeats[0]))), axis=axis)


@compiled
def _repeat_each(x: jax.Array, /, *, count: int, axis: int | None) -> jax.Array:
    return jnp.repeat(x, count, axis)


# XLA gathers an array over devices on each for slices whose starts are operands.


@compiled
def _roll_known(x: jax.Array, /, *, shift: tuple[int, ...], axis: tuple[int, ...]) -> jax.Array:
    return jnp.roll(x, shift, axis)


@compiled
def _roll(*arrays: jax.Array, axis: tuple[int, ...]) -> jax.Array:
    *starts, x = arrays
    for start, each in zip(starts, axis, strict=True):
        # XLA takes part of two copies along the first axis without making them, but only for a single roll.
        front = 0 if len(axis) == 1 else each
        once = jnp.moveaxis(x, each, front)
        twice = lax.concatenate([once, once], front)
        part = lax.dynamic_slice_in_dim(twice, start, x.shape[each], front, allow_negative_indices=False)
        x = jnp.moveaxis(part, front, each)
    return x


@with_operands(_roll)
def _rolled(x: jax.Array, /, *, shift: tuple[int, ...], axis: tuple[int, ...]) -> tuple[list[Any], dict[str, Any]]:
    # Where the result begins in two copies of the array, one after the other.
    starts = [(-count % (x.shape[each] or 1), INDEX) for count, each in zip(shift, axis, strict=True)]
    return starts, {"axis": axis}


def _rolling(x: jax.Array, /, *, shift: tuple[int, ...], axis: tuple[int, ...]) -> Callable[[jax.Array], jax.Array]:
    move = facts_of(_rolled)["known"](x, shift=shift, axis=axis)
    if move is None:
        raise AssertionError("a roll declines nothing")

    def known(x: jax.Array, /) -> jax.Array:
        return move(x) if split_of(x) is None else _roll_known(x, shift=shift, axis=axis)

    return known


@known_by(_rolling)
def roll(x: jax.Array, /, *, shift: tuple[int, ...], axis: tuple[int, ...]) -> jax.Array:
    return _rolling(x, shift=shift, axis=axis)(x)
