"""Reading and writing parts of arrays that are spread over devices, so that no more than the part is sent.

For a slice or an update whose start is an operand, XLA gathers all of an array on each device if a sharded axis is cut.
For a slice with a known start, and for padding, it sends only what crosses devices. So a window that stays sharded, and
a write of sharded values, is compiled for its start, as JAX's own indexing does. A window that each device gets, or
has, in full goes by indices, for which XLA sends no more than the window.

Where a mesh has explicit axes, JAX's operations want to be told how their results are spread: as the array was, but for
the axes that are cut.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax
from jax.sharding import AxisType, NamedSharding, PartitionSpec, SingleDeviceSharding, auto_axes

from ._compiled import COMPLEX, compiled
from ._devices import parts_of
from ._private import ARRAYS, known_value

Window = tuple[tuple[int, int, int], ...]

# Whether the function that is now traced will get sharded arrays.
_among_spread: ContextVar[bool] = ContextVar("unifyarr_jax_among_spread", default=False)


class Split(NamedTuple):
    """Into how many parts each axis of an array is split, 0 if unknown; its sharding if the mesh has explicit axes."""

    parts: tuple[int, ...]
    explicit: NamedSharding | None

    def without(self, *cut: int) -> NamedSharding | None:
        """Return the explicit sharding of a result that is whole along some axes."""
        return self.replaced(lambda names: [None if axis in cut else name for axis, name in enumerate(names)])

    def replaced(self, change: Callable[[list[Any]], list[Any]]) -> NamedSharding | None:
        """Return the explicit sharding of a result, given how the axes of the array are sharded."""
        if self.explicit is None:
            return None
        spec = self.explicit.spec
        names = change([*spec, *[None] * (len(self.parts) - len(spec))])
        return NamedSharding(self.explicit.mesh, PartitionSpec(*names))


def split_of(x: Any) -> Split | None:
    """Return how an array is spread over devices, ``None`` for one on a single device."""
    if type(x) is ARRAYS[0]:
        sharding = x.sharding
        return None if type(sharding) is SingleDeviceSharding else _split(sharding, x.shape)
    if not isinstance(x, jax.core.Tracer):
        return None
    sharding = getattr(x.aval, "sharding", None)
    if sharding is not None and _is_explicit(sharding):
        return _split(sharding, x.shape)
    known = known_value(x)
    if known is not None:
        return split_of(known)
    return Split((0,) * x.ndim, None) if _among_spread.get() else None


@contextmanager
def among_spread() -> Iterator[None]:
    """Trace inside of the block for arrays that are spread over devices: a tracer doesn't tell."""
    token = _among_spread.set(True)
    try:
        yield
    finally:
        _among_spread.reset(token)


def _is_explicit(sharding: Any) -> bool:
    return isinstance(sharding, NamedSharding) and AxisType.Explicit in sharding.mesh.axis_types


@functools.lru_cache(maxsize=1024)
def _split(sharding: Any, shape: tuple[int, ...]) -> Split:
    return Split(parts_of(sharding, shape), sharding if _is_explicit(sharding) else None)


def _run(function: Callable[..., jax.Array], out: NamedSharding | None, *arrays: Any) -> jax.Array:
    return function(*arrays) if out is None else auto_axes(function, out_sharding=out)(*arrays)


def _without_elements(x: jax.Array, shape: tuple[int, ...], split: Split) -> jax.Array | None:
    """Return a result that has no elements, ``None`` for any other one.

    JAX computes it on one device, and fails where a mesh with explicit axes has more.
    """
    return jnp.zeros(shape, x.dtype) if split.explicit is not None and 0 in shape else None


# -- windows ----------------------------------------------------------------------------------------------------------


def _cut_axes(split: Split, shape: tuple[int, ...], window: Window) -> list[int]:
    return [
        axis
        for axis, (parts, length, part) in enumerate(zip(split.parts, shape, window, strict=True))
        if parts != 1 and part != (0, 1, length)
    ]


def _limits(window: Window) -> list[tuple[int, int, int]]:
    """Return the first place, the one after the last, and the step between places, all in increasing order."""
    found = []
    for start, step, length in window:
        first = start if step > 0 else start + step * (length - 1)
        found.append((first, first + (length - 1) * abs(step) + 1, abs(step)) if length else (0, 0, 1))
    return found


def _reversed_axes(window: Window) -> list[int]:
    return [axis for axis, (_, step, _) in enumerate(window) if step < 0]


@compiled
def _get_known(x: jax.Array, /, *, window: Window, out: Any) -> jax.Array:
    def read(x: jax.Array) -> jax.Array:
        return lax.rev(lax.slice(x, *zip(*_limits(window), strict=True)), _reversed_axes(window))

    return _run(read, out, x)


@compiled
def _pick(
    x: jax.Array,
    /,
    *starts: Any,
    steps: tuple[int, ...],
    lengths: tuple[int, ...],
    cut: tuple[int, ...],
    bits: bool,
    out: Any,
) -> jax.Array:
    def read(x: jax.Array, *starts: Any) -> jax.Array:
        # Sharded axes come last, when there are fewer elements.
        for axis in sorted(range(x.ndim), key=cut.__contains__):
            if axis in cut or lengths[axis] < x.shape[axis] or steps[axis] != 1:
                x = jnp.take(x, starts[axis] + np.arange(lengths[axis]) * steps[axis], axis, mode="clip")
        return x

    return _select(read, x, *starts, bits=bits, out=out)


def get_window(x: jax.Array, window: Window, split: Split) -> jax.Array | None:
    """Return a window of an array, ``None`` where no device needs anything of another one."""
    cut = _cut_axes(split, x.shape, window)
    if not cut and split.explicit is None:
        return None
    if (empty := _without_elements(x, tuple(length for _, _, length in window), split)) is not None:
        return empty
    whole = [axis for axis in cut if split.parts[axis] and window[axis][2] % split.parts[axis]]
    if cut and len(whole) == len(cut):
        # Each device gets all of it.
        starts, steps, lengths = zip(*window, strict=True)
        return _pick(
            x, *starts, steps=steps, lengths=lengths, cut=tuple(cut), bits=_has_bits(x), out=split.without(*cut)
        )
    # An axis stays sharded if it is long enough.
    return _get_known(x, window=window, out=split.without(*whole))


def _write_known(x: jax.Array, value: jax.Array, /, *, window: Window, out: Any) -> jax.Array:
    def write(x: jax.Array, value: jax.Array) -> jax.Array:
        value = lax.rev(jnp.broadcast_to(value, [length for _, _, length in window]), _reversed_axes(window))
        written: Any = True
        for axis, (first, end, step) in enumerate(_limits(window)):
            if step > 1:
                # XLA fails at padding between elements that are split, so that each fills its step.
                value = lax.slice_in_dim(jnp.repeat(value, step, axis), 0, end - first, axis=axis)
            around = [(0, 0, 0)] * x.ndim
            around[axis] = first, x.shape[axis] - end, 0
            value = lax.pad(value, np.zeros((), value.dtype), around)
            place = lax.broadcasted_iota(np.int32 if x.shape[axis] < 2**31 else np.int64, x.shape, axis)
            written &= (place >= first) & (place < end) & ((place - first) % step == 0)
        return jnp.where(written, value, x)

    return _run(write, out, x, value)


def _write_whole(
    x: jax.Array, value: jax.Array, /, *starts: Any, steps: tuple[int, ...], lengths: tuple[int, ...], out: Any
) -> jax.Array:
    def write(x: jax.Array, value: jax.Array, *starts: Any) -> jax.Array:
        value = jnp.broadcast_to(value, lengths)
        written: Any = True
        for axis, (start, step, length) in enumerate(zip(starts, steps, lengths, strict=True)):
            away = np.arange(x.shape[axis]) - start
            number = away // step
            value = jnp.take(value, jnp.clip(number, 0, length - 1), axis)
            is_in = (number >= 0) & (number < length) & (number * step == away)
            written &= jnp.expand_dims(is_in, [each for each in range(x.ndim) if each != axis])
        return jnp.where(written, value, x)

    return _run(write, out, x, value, *starts)


def _write_one(x: jax.Array, value: jax.Array, /, *starts: Any, lengths: tuple[int, ...], out: Any) -> jax.Array:
    def write(x: jax.Array, value: jax.Array, *starts: Any) -> jax.Array:
        return lax.dynamic_update_slice(x, jnp.broadcast_to(value, lengths), starts, allow_negative_indices=False)

    return _run(write, out, x, value, *starts)


def _is_whole(value: Any) -> bool:
    """Return whether each device that gets a value gets all of it."""
    if isinstance(value, jax.core.Tracer):
        return False
    split = split_of(value)
    return split is None or set(split.parts) <= {1}


def _written(*kernels: Callable[..., jax.Array]) -> Callable[..., jax.Array | None]:
    write_known, write_whole, write_one = kernels

    def set_window(
        x: jax.Array, value: jax.Array, window: Window, split: Split, **results: list[Any]
    ) -> jax.Array | None:
        cut = _cut_axes(split, x.shape, window)
        if not cut and split.explicit is None:
            return None
        out = split.without()
        starts, steps, lengths = zip(*window, strict=True) if window else ((), (), ())
        if all(lengths[axis] == 1 for axis in cut) and all(step == 1 or n == 1 for _, step, n in window):
            return write_one(x, value, *starts, lengths=lengths, out=out, **results)
        if _is_whole(value):
            return write_whole(x, value, *starts, steps=steps, lengths=lengths, out=out, **results)
        return write_known(x, value, window=window, out=out, **results)

    return set_window


_KERNELS = _write_known, _write_whole, _write_one
set_window = _written(*(compiled(kernel) for kernel in _KERNELS))
destroy_window = _written(*(compiled(kernel, destructive=True) for kernel in _KERNELS))


# -- elements at places that only values tell -------------------------------------------------------------------------


def _exactly(read: Callable[..., jax.Array], x: jax.Array, *arrays: Any) -> jax.Array:
    """Read elements as their bits: XLA adds up the devices' parts, which would turn -0.0 into 0.0."""
    dtype = x.dtype
    if dtype in COMPLEX:
        return lax.complex(_exactly(read, lax.real(x), *arrays), _exactly(read, lax.imag(x), *arrays))
    if not jnp.issubdtype(dtype, jnp.floating):
        return read(x, *arrays)
    bits = read(lax.bitcast_convert_type(x, np.dtype(f"u{dtype.itemsize}")), *arrays)
    return lax.bitcast_convert_type(bits, dtype)


def _select(read: Callable[..., jax.Array], x: jax.Array, *arrays: Any, bits: bool, out: Any) -> jax.Array:
    return _run(functools.partial(_exactly, read) if bits else read, out, x, *arrays)


def _has_bits(x: Any) -> bool:
    # Bits have no derivative, and a tracer may need one.
    return not isinstance(x, jax.core.Tracer)


@compiled
def _gather(x: jax.Array, /, *indices: jax.Array, bits: bool, out: Any) -> jax.Array:
    return _select(lambda x, *indices: x[indices], x, *indices, bits=bits, out=out)


def gather(x: jax.Array, indices: tuple[jax.Array, ...], split: Split) -> jax.Array:
    """Return the elements that index arrays pick from the leading axes."""
    count = np.broadcast_shapes(*[each.shape for each in indices])
    if (empty := _without_elements(x, (*count, *x.shape[len(indices) :]), split)) is not None:
        return empty
    out = split.replaced(lambda names: [*[None] * len(count), *names[len(indices) :]])
    return _gather(x, *indices, bits=_has_bits(x), out=out)


@compiled
def _take(x: jax.Array, indices: jax.Array, /, *, axis: int | None, bits: bool, out: Any) -> jax.Array:
    return _select(functools.partial(jnp.take, axis=axis), x, indices, bits=bits, out=out)


def take(x: jax.Array, indices: jax.Array, axis: int | None, split: Split) -> jax.Array:
    """Return the elements at indices along an axis."""
    found = [None] * indices.ndim
    shape = indices.shape if axis is None else (*x.shape[:axis], *indices.shape, *x.shape[axis + 1 :])
    if (empty := _without_elements(x, shape, split)) is not None:
        return empty
    out = split.replaced(lambda names: found if axis is None else [*names[:axis], *found, *names[axis + 1 :]])
    return _take(x, indices, axis=axis, bits=_has_bits(x), out=out)


@compiled
def _take_along_axis(x: jax.Array, indices: jax.Array, /, *, axis: int, bits: bool, out: Any) -> jax.Array:
    return _select(functools.partial(jnp.take_along_axis, axis=axis), x, indices, bits=bits, out=out)


def take_along_axis(x: jax.Array, indices: jax.Array, axis: int, split: Split) -> jax.Array:
    """Return the elements at indices along an axis, at each place of the others."""
    lengths = [*x.shape[:axis], 1, *x.shape[axis + 1 :]]
    if (empty := _without_elements(x, np.broadcast_shapes(lengths, indices.shape), split)) is not None:
        return empty
    return _take_along_axis(x, indices, axis=axis, bits=_has_bits(x), out=split.without(axis))


def _write_elements(x: jax.Array, value: jax.Array, /, *indices: jax.Array, out: Any) -> jax.Array:
    return _run(lambda x, value, *indices: x.at[indices].set(value), out, x, value, *indices)


def _scattered(write: Callable[..., jax.Array]) -> Callable[..., jax.Array]:
    def scatter(
        x: jax.Array, value: jax.Array, indices: tuple[jax.Array, ...], split: Split, **results: list[Any]
    ) -> jax.Array:
        return write(x, value, *indices, out=split.without(), **results)

    return scatter


scatter = _scattered(compiled(_write_elements))
destroy_elements = _scattered(compiled(_write_elements, destructive=True))
