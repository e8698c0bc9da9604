"""Reading and writing parts of arrays on JAX: a write returns a new array, or writes into a mutable reference."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

from ..kernels import bound_by, facts_of, known_by, writes_apart
from . import _spread
from ._bounds import check_all_bounds, check_bounds
from ._compiled import compiled
from ._operands import at_place, starts_at, starts_beside
from ._spread import Window, split_of
from ._writing import with_twin

# A window is of each axis: start, step (not 0) and length, in bounds. One of length 0 may start anywhere.


# -- windows ----------------------------------------------------------------------------------------------------------

# A window is the block it spans (contiguous, its start an operand), of which a static slice takes every ``step``-th
# element. So a new start compiles nothing anew, which JAX's own indexing does for each strided read.


def _spans(steps: tuple[int, ...], lengths: tuple[int, ...]) -> list[int]:
    return [max(0, (length - 1) * abs(step) + 1) for step, length in zip(steps, lengths, strict=True)]


def _block_starts(window: Window) -> tuple[int, ...]:
    return tuple(start if step > 0 else max(0, start + step * (length - 1)) for start, step, length in window)


def _reversed_axes(steps: tuple[int, ...]) -> list[int]:
    return [axis for axis, step in enumerate(steps) if step < 0]


def _dynamic_slice(x: jax.Array, starts: Any, sizes: list[int]) -> jax.Array:
    # Without the flag JAX adds the normalisation of negative starts to each program.
    return lax.dynamic_slice(x, starts, sizes, allow_negative_indices=False)


@compiled
def _get_window(*arrays: Any, steps: tuple[int, ...], lengths: tuple[int, ...]) -> jax.Array:
    # The array comes after the starts, one for each axis.
    *starts, x = arrays
    block = _dynamic_slice(x, starts, _spans(steps, lengths))
    strided = lax.slice(block, [0] * block.ndim, block.shape, [abs(step) for step in steps])
    return lax.rev(strided, _reversed_axes(steps))


def _write_window(
    x: jax.Array,
    value: jax.Array,
    /,
    *starts: Any,
    steps: tuple[int, ...],
    lengths: tuple[int, ...],
    apart: bool = False,
) -> jax.Array:
    value = jnp.broadcast_to(value, lengths)
    if any(step != 1 for step in steps):
        # The old elements stay between the elements of the value.
        holes = [(0, 0, abs(step) - 1) for step in steps]
        value = lax.rev(value, _reversed_axes(steps))
        spread = lax.pad(value, np.zeros((), value.dtype), holes)
        written = lax.pad(jnp.ones(value.shape, bool), False, holes)
        value = jnp.where(written, spread, _dynamic_slice(x, starts, _spans(steps, lengths)))
    update = functools.partial(lax.dynamic_update_slice, start_indices=starts, allow_negative_indices=False)
    if not apart:
        return update(x, value)
    # XLA on the CPU writes to the memory of an array that was reshaped, while the value still reads it.
    return jnp.where(update(jnp.zeros(x.shape, bool), jnp.ones(value.shape, bool)), update(jnp.zeros_like(x), value), x)


_set_window = compiled(_write_window)
_destroy_window = compiled(_write_window, destructive=True)


def _reading(*, window: Window) -> Callable[[jax.Array], jax.Array]:
    _, steps, lengths = zip(*window, strict=True) if window else ((), (), ())
    starts, bound = _block_starts(window), facts_of(_get_window)["bind"](steps=steps, lengths=lengths)
    read = at_place(lambda place: functools.partial(bound, *starts_at(starts, place)))

    def reading(x: jax.Array, /) -> jax.Array:
        if (split := split_of(x)) is not None and (found := _spread.get_window(x, window, split)) is not None:
            return found
        return read(x)

    return reading


@bound_by(_reading)
def get_window(x: jax.Array, /, *, window: Window) -> jax.Array:
    if (split := split_of(x)) is not None and (found := _spread.get_window(x, window, split)) is not None:
        return found
    _, steps, lengths = zip(*window, strict=True) if window else ((), (), ())
    return _get_window(*starts_beside(_block_starts(window), x), x, steps=steps, lengths=lengths)


def _window_writer(write: Callable[..., jax.Array], write_spread: Callable[..., Any]) -> Callable[..., jax.Array]:
    def set_window(
        x: jax.Array, value: jax.Array, /, *, window: Window, apart: bool = False, **results: list[Any]
    ) -> jax.Array:
        if (split := split_of(x)) is not None:
            found: jax.Array | None = write_spread(x, value, window, split, **results)
            if found is not None:
                return found
        _, steps, lengths = zip(*window, strict=True) if window else ((), (), ())
        starts = starts_beside(_block_starts(window), x)
        return write(x, value, *starts, steps=steps, lengths=lengths, apart=apart, **results)

    return set_window


set_window = with_twin(
    writes_apart(_window_writer(_set_window, _spread.set_window)),
    _window_writer(_destroy_window, _spread.destroy_window),
)


def _arranged(x: jax.Array, order: tuple[int | None, ...], lengths: tuple[int, ...]) -> jax.Array:
    kept = [axis for axis in order if axis is not None]
    dropped = [axis for axis in range(len(lengths)) if axis not in kept]
    moved = lax.transpose(x, [*kept, *dropped])
    return lax.reshape(moved, [1 if axis is None else lengths[axis] for axis in order])


def _arranged_back(value: jax.Array, order: tuple[int | None, ...], lengths: tuple[int, ...]) -> jax.Array:
    kept = [axis for axis in order if axis is not None]
    moved = [*kept, *(axis for axis in range(len(lengths)) if axis not in kept)]
    return lax.transpose(lax.reshape(value, [lengths[axis] for axis in moved]), np.argsort(moved))


def _updating(kernel: Callable[..., Any]) -> Callable[..., Any]:
    """Return a function that updates a window by an elementwise kernel: see ``Backend.updating``."""

    @functools.lru_cache(maxsize=1024)
    def compiled_for(steps: tuple[int, ...], lengths: tuple[int, ...], order: tuple[int | None, ...]) -> Any:
        def update(x: jax.Array, other: jax.Array, /, *starts: Any) -> jax.Array:
            before = _arranged(_get_window(*starts, x, steps=steps, lengths=lengths), order, lengths)
            value = kernel(before, other)
            if value.shape != before.shape:
                raise ValueError(f"a result of shape {value.shape} doesn't fit a window of shape {before.shape}")
            value = _arranged_back(lax.convert_element_type(value, x.dtype), order, lengths)
            return _write_window(x, value, *starts, steps=steps, lengths=lengths)

        def update_last(*arrays: Any) -> jax.Array:
            *starts, x, other = arrays
            return update(x, other, *starts)

        return compiled(update_last), compiled(update, destructive=True)

    @functools.lru_cache(maxsize=1024)
    def of_window(window: Window, order: tuple[int | None, ...]) -> tuple[Callable[..., Any], Callable[..., Any]]:
        _, steps, lengths = zip(*window, strict=True)
        pure, destructive = compiled_for(steps, lengths, order)
        starts = _block_starts(window)

        def destroying(place: Any) -> Callable[..., Any]:
            there = starts_at(starts, place)
            return lambda x, other, *, results: destructive(x, other, *there, results=results)

        return at_place(lambda place: functools.partial(pure, *starts_at(starts, place))), at_place(destroying)

    return of_window


# -- integer and boolean indices --------------------------------------------------------------------------------------


@compiled
def _gather(x: jax.Array, /, *indices: jax.Array) -> jax.Array:
    return x[indices]


def gather(x: jax.Array, /, *indices: jax.Array) -> jax.Array:
    check_all_bounds(x, indices)
    if (split := split_of(x)) is not None:
        return _spread.gather(x, indices, split)
    return _gather(x, *indices)


def _write_elements(x: jax.Array, value: jax.Array, /, *indices: jax.Array) -> jax.Array:
    return x.at[indices].set(value)


def _within_bounds(write: Callable[..., jax.Array], write_spread: Callable[..., jax.Array]) -> Callable[..., jax.Array]:
    def scatter(x: jax.Array, value: jax.Array, /, *indices: jax.Array, **results: list[Any]) -> jax.Array:
        check_all_bounds(x, indices)
        if (split := split_of(x)) is not None:
            return write_spread(x, value, indices, split, **results)
        return write(x, value, *indices, **results)

    return scatter


scatter = with_twin(
    _within_bounds(compiled(_write_elements), _spread.scatter),
    _within_bounds(compiled(_write_elements, destructive=True), _spread.destroy_elements),
)


def _write_masked(x: jax.Array, value: jax.Array, mask: jax.Array, /) -> jax.Array:
    return jnp.where(mask, value, x)


put_mask = with_twin(compiled(_write_masked), compiled(_write_masked, destructive=True))


@compiled
def _take(x: jax.Array, indices: jax.Array, /, *, axis: int | None) -> jax.Array:
    return jnp.take(x, indices, axis)


def _taking(x: jax.Array, indices: jax.Array, /, *, axis: int | None) -> Callable[..., jax.Array]:
    size, call = x.size if axis is None else x.shape[axis], facts_of(_take)["bind"](axis=axis)

    def known(x: jax.Array, indices: jax.Array) -> jax.Array:
        check_bounds(indices, size, axis or 0)
        return call(x, indices)

    def known_spread(x: jax.Array, indices: jax.Array) -> jax.Array:
        split = split_of(x)
        if split is None:
            return known(x, indices)
        check_bounds(indices, size, axis or 0)
        return _spread.take(x, indices, axis, split)

    return known if len(jax.devices()) == 1 else known_spread


@known_by(_taking)
def take(x: jax.Array, indices: jax.Array, /, *, axis: int | None) -> jax.Array:
    return _taking(x, indices, axis=axis)(x, indices)


@compiled
def _take_along_axis(x: jax.Array, indices: jax.Array, /, *, axis: int) -> jax.Array:
    return jnp.take_along_axis(x, indices, axis)


def take_along_axis(x: jax.Array, indices: jax.Array, /, *, axis: int) -> jax.Array:
    check_bounds(indices, x.shape[axis], axis)
    if (split := split_of(x)) is not None:
        return _spread.take_along_axis(x, indices, axis, split)
    return _take_along_axis(x, indices, axis=axis)
