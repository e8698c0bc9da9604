"""Where arrays of JAX lie: on one device, which has a name, or spread over several by a ``Sharding``."""

from __future__ import annotations

import functools
import math
from collections.abc import Iterable
from typing import Any

import jax
import numpy as np
from jax.sharding import Mesh, NamedSharding, PartitionSpec, Sharding, SingleDeviceSharding

from ...errors import ShapeError
from ..kernels import described
from ._private import ARRAYS, NO_TRACE, find_trace, known_value

# Results lie where the arguments do that a compiled function uses: an argument that isn't used is kept, for its device.
jit = functools.partial(jax.jit, keep_unused=True)


@functools.lru_cache
def name_of(device: jax.Device) -> str:
    """Return the name of a device, the same for users of every engine."""
    if device.platform == "cpu" and device.id == 0:
        return "cpu"
    return f"{device.platform}:{device.id}"


def public(device: jax.Device | Sharding) -> str | Sharding:
    """Return ``x.device`` for users: a name for one device, otherwise JAX's own sharding."""
    if isinstance(device, Sharding) and len(device.device_set) == 1:
        (device,) = device.device_set
    return name_of(device) if isinstance(device, jax.Device) else device


def spread(native: Any) -> Sharding | None:
    """Return how a native is spread over devices, ``None`` for one on a single device, or of a trace that hides it."""
    if type(native) is not ARRAYS[0]:
        native = known_value(native)
        if type(native) is not ARRAYS[0]:
            return None
    sharding = native.sharding
    return None if type(sharding) is SingleDeviceSharding else sharding


def place_of(native: Any) -> Sharding | None:
    """Return where an operand from the host goes beside an array: ``None`` where JAX may move both.

    Nobody put such an array on a device, or a trace hides where it is.
    """
    if type(native) is not ARRAYS[0]:
        native = known_value(native)
        if type(native) is not ARRAYS[0]:
            return None
    if not native.committed:
        return None
    sharding: Sharding = native.sharding
    return sharding if type(sharding) is SingleDeviceSharding else whole(sharding)


@functools.lru_cache(maxsize=1024)
def parts_of(sharding: Sharding, shape: tuple[int, ...]) -> tuple[int, ...]:
    """Return for each axis into how many parts it is split between devices."""
    return tuple([length // max(part, 1) or 1 for part, length in zip(sharding.shard_shape(shape), shape, strict=True)])


def _fits(sharding: Sharding, shape: tuple[int, ...]) -> bool:
    if isinstance(sharding, NamedSharding) and len(sharding.spec) > len(shape):
        return False
    try:
        sharding.shard_shape(shape)
    except (ValueError, IndexError):
        # JAX raises one for a length that isn't a multiple, the other for axes that aren't there.
        return False
    return True


@functools.lru_cache(maxsize=1024)
def whole(sharding: Sharding) -> NamedSharding:
    """Return the sharding that has all of an array on each of the devices."""
    if isinstance(sharding, NamedSharding):
        return NamedSharding(sharding.mesh, PartitionSpec(), memory_kind=sharding.memory_kind)
    devices = sorted(sharding.device_set, key=lambda device: device.id)
    return NamedSharding(Mesh(np.array(devices), ("all",)), PartitionSpec())


@functools.lru_cache(maxsize=1024)
def fitting(device: Any, shape: tuple[int, ...]) -> Any:
    """Return a device as it is; a sharding without the splits that a shape doesn't admit, on the same devices."""
    if not isinstance(device, Sharding) or _fits(device, shape):
        return device
    if not isinstance(device, NamedSharding):
        return whole(device)
    sizes = device.mesh.shape
    names = [() if name is None else name if isinstance(name, tuple) else (name,) for name in device.spec]
    kept = [
        name if length % math.prod(sizes[each] for each in name) == 0 else None
        for name, length in zip(names, shape, strict=False)
    ]
    return NamedSharding(device.mesh, PartitionSpec(*kept), memory_kind=device.memory_kind)


def made_on(device: Any, shape: tuple[int, ...]) -> Any:
    """Return where a new array lies: for a tracer, XLA chooses the sharding, as for its other operands."""
    if not isinstance(device, Sharding):
        return device
    return fitting(device, shape) if find_trace() is NO_TRACE else None


def wanted(shape: tuple[int, ...], sharding: Any, spec: Any) -> Sharding:
    """Return the sharding that was asked for, by itself or by a mesh and a spec; an error where a shape doesn't fit."""
    if isinstance(sharding, Mesh):
        if spec is None or isinstance(spec, str) or not isinstance(spec, tuple | list | PartitionSpec):
            # One name for the first axis; a spec of none splits nothing.
            spec = () if spec is None else (spec,)
        sharding = NamedSharding(sharding, PartitionSpec(*spec))
    elif spec is not None or not isinstance(sharding, Sharding):
        raise TypeError(
            f"shard() takes a jax.sharding.Sharding, or a jax.sharding.Mesh and a PartitionSpec, not "
            f"{described(sharding)} and {described(spec)}"
        )
    try:
        sharding.shard_shape(shape)
    except (ValueError, IndexError) as error:
        raise ShapeError(
            f"an array of shape {shape} can't be split by {sharding}: each length has to be a multiple of the number "
            "of devices that share the axis. Pad the array, split another axis, or pass the sharding as device=, which "
            "leaves such axes whole"
        ) from error
    return sharding


def meeting(devices: Iterable[Any], default: str) -> Any:
    """Return the device of a result computed from arrays on several devices, or ``None`` if they can't be mixed.

    Arrays on the ``default`` device may be uncommitted: JAX moves them, or raises at run time.
    """
    found = list(dict.fromkeys(devices))
    several = [each for each in found if isinstance(each, Sharding)]
    if len(found) == 1 or not several:
        return found[0] if len(found) == 1 else None
    alone = {each for each in found if isinstance(each, str)} - {default}
    return several[0] if not alone and len({frozenset(each.device_set) for each in several}) == 1 else None


def may_meet(first: Any, second: Any) -> bool:
    """Return whether JAX computes with two arrays together: one isn't committed, or they're on the same devices."""
    if not (type(first) is type(second) is ARRAYS[0] and first.committed and second.committed):
        # JAX's compiler places tracers.
        return True
    return bool(first.sharding.device_set == second.sharding.device_set)


def extents(native: Any) -> list[tuple[int, int]]:
    """Return where an array's memory on this process's devices begins and ends."""
    parts = [native] if spread(native) is None else [shard.data for shard in native.addressable_shards]
    starts = [part.unsafe_buffer_pointer() for part in parts]
    return [(start, start + part.nbytes) for start, part in zip(starts, parts, strict=True)]
