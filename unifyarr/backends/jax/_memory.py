"""Memory shared between JAX and NumPy: NumPy arrays at addresses that JAX accepts, and JAX's buffers for NumPy."""

from __future__ import annotations

import functools
import sys
import threading
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from ..forks import free_after_fork
from ..memory import ALIGNMENT, SMALLEST, aligned_part, is_aligned
from ..references import COUNTED
from ._devices import fitting, place_of
from ._private import ARRAYS, NO_TRACE, batched_device_put, eval_context, trace_cell

# Pieces of at most so many bytes are kept for later calls, and so many at all: of larger ones NumPy's own come in huge
# pages, which take less time to get than to fill.
KEPT, LIMIT = 2**22, 2**26

# After this many copies of one shape and dtype, the copy is compiled.
OFTEN = 512
# How many shapes and dtypes are kept.
_MOST = 4096

# Arguments for JAX's array constructor: the type, sharding and devices of an earlier result of ``jax.device_put``.
_entered: dict[Any, tuple[Any, Any, list[Any]]] = {}

_copy = jax.jit(lambda native: jnp.array(native, copy=True))
_copies: dict[Any, int] = {}

_rooms: dict[int, list[np.ndarray]] = {}
_held = 0
_lock = free_after_fork(threading.Lock())


def aligned(array: np.ndarray) -> np.ndarray:
    """Return an array whose memory JAX uses as it is: the array itself, or an aligned copy.

    The memory of a copy comes from a pool, to which it returns when the caller drops the copy. A small array JAX copies
    by itself as fast.
    """
    if array.dtype.isnative and (array.nbytes < SMALLEST or (array.flags.c_contiguous and is_aligned(array))):
        return array
    # JAX would copy an unaligned array itself, into memory that takes several times as long to allocate.
    copy = _room_for(array.nbytes).view(array.dtype.newbyteorder("=")).reshape(array.shape)
    copy[...] = array
    return copy


def adopted(native: jax.Array) -> np.ndarray:
    """Return a NumPy array over the memory of a JAX array; nothing else refers, or will refer, to that."""
    values = fetched(native)
    if values.nbytes < SMALLEST:
        return values.copy()
    if not values.flags.c_contiguous or values.flags.owndata or native.nbytes == 0:
        return np.array(values)
    bits = np.dtype(f"u{values.itemsize}") if values.dtype.kind == "V" else values.dtype
    return np.asarray(_Adopted(native, values, bits)).view(values.dtype)


def entered(array: np.ndarray, device: Any = None) -> jax.Array:
    """Return a JAX array of an array that nothing else refers to, in its memory if that is aligned."""
    if trace_cell.value is NO_TRACE:
        return _put(array, device)
    # Outside of the trace the values stay known.
    with eval_context():
        return _put(array, loop_place() if device is None else device)


# Where the arrays of the loop or branch are whose functions JAX traces.
_loop_place: ContextVar[Any] = ContextVar("unifyarr_jax_loop_place", default=None)
loop_place = _loop_place.get


@contextmanager
def made_beside(natives: Iterable[Any]) -> Iterator[None]:
    """While functions are traced, place arrays made of host data beside other arrays: JAX passes them to the loop.

    Tracers of the arrays don't say where they are.
    """
    token = _loop_place.set(next(filter(None, map(place_of, natives)), None))
    try:
        yield
    finally:
        _loop_place.reset(token)


def beside(x: jax.Array, *arrays: np.ndarray) -> tuple[jax.Array, ...]:
    """Return JAX arrays of arrays that nothing else refers to, where another array is."""
    place = place_of(x)
    return tuple([entered(np.asarray(array, order="C"), place) for array in arrays])


def borrow(x: jax.Array, array: np.ndarray) -> Any:
    """Return a copy of a small array, which compiled functions take in less time than a conversion; or decline."""
    if array.nbytes >= SMALLEST or array.dtype not in _TAKEN or not jax.config.jax_enable_x64 or not is_alone():
        return NotImplemented
    return array.copy()


# JAX takes arrays of these dtypes as they are.
_TAKEN = frozenset(map(np.dtype, "?bhilqBHILQefdFD"))


@functools.cache
def is_alone() -> bool:
    """Return whether there's one device: then all arrays are there."""
    return len({*jax.devices(), *jax.devices("cpu")}) == 1


def _put(array: np.ndarray, device: Any) -> jax.Array:
    config, place = jax.config, None if device is None else fitting(device, array.shape)
    kind = array.dtype, array.shape, place or config.jax_default_device, place is None, config.jax_enable_x64
    known = _entered.get(kind)
    if known is not None and lets_pass():
        # As ``jax.device_put`` does at its end.
        aval, sharding, devices = known
        return batched_device_put(aval, sharding, [array], devices, place is not None)
    native = jax.device_put(array, place)
    is_one = type(native) is ARRAYS[0] and len(native.sharding.device_set) == 1
    if batched_device_put is not None and is_one and native.dtype == array.dtype:
        if len(_entered) >= _MOST:
            _entered.clear()
        _entered[kind] = native.aval, native.sharding, list(native.devices())
    return native


# Settings of a transfer guard that allow implicit transfers.
_UNGUARDED = frozenset({None, "allow"})


def lets_pass() -> bool:
    """Return whether JAX allows implicit transfers of numbers and NumPy arrays to a device."""
    return jax.config.jax_transfer_guard_host_to_device in _UNGUARDED


def fetched(native: Any) -> np.ndarray:
    """Return the values on the host, in the memory of an array on the CPU: asked for, which a transfer guard allows."""
    if jax.config.jax_transfer_guard_device_to_host in _UNGUARDED:
        return np.asarray(native)
    return np.asarray(jax.device_get(native))


def copied(native: Any) -> jax.Array:
    """Return an array in memory of its own; the first ones of a shape and dtype are copied without compiling."""
    if type(native) is not ARRAYS[0] or trace_cell.value is not NO_TRACE:
        return _copy(native)
    count = _copies.get(native.aval, 0)
    if count >= OFTEN:
        # In a third of the time, but to compile it takes as long as it saves in so many copies.
        return _copy(native)
    if len(_copies) >= _MOST:
        _copies.clear()
    _copies[native.aval] = count + 1
    return jax.device_put(native, may_alias=False)


class _Adopted:
    """Gives NumPy write access to the memory of an array that nothing else refers to, and keeps it alive."""

    def __init__(self, native: jax.Array, values: np.ndarray, bits: np.dtype[Any]) -> None:
        self.native = native
        self.__array_interface__ = {
            **values.__array_interface__,
            "data": (values.ctypes.data, False),
            "typestr": bits.str,
        }


def _room_for(nbytes: int) -> np.ndarray:
    # Aligned bytes that are the caller's as long as anything refers to them. They are used again only if the count of
    # references shows that nothing does.
    global _held
    if nbytes > KEPT or not COUNTED:
        return aligned_part(np.empty(nbytes + ALIGNMENT, np.uint8), nbytes)
    with _lock:
        rooms = _rooms.setdefault(nbytes, [])
        for place in range(len(rooms)):
            # Only the list refers to it, and this call: a room in use has a view.
            if sys.getrefcount(rooms[place]) == _ALONE:
                return aligned_part(rooms[place], nbytes)
        room = np.empty(nbytes + ALIGNMENT, np.uint8)
        if _held + nbytes <= LIMIT:
            _held += nbytes
            rooms.append(room)
        return aligned_part(room, nbytes)


# The reference count of an object that only a list holds: it depends on the version of Python.
_listed = [np.empty(1)]
_ALONE = sys.getrefcount(_listed[0])
