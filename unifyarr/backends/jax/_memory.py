"""What JAX and NumPy have of each other's memory: NumPy's at addresses that JAX uses, and JAX's own for NumPy."""

from __future__ import annotations

import sys
import threading
from typing import Any

import jax
import numpy as np

from ..memory import ALIGNMENT, aligned_part, is_aligned

# Pieces of at most so many bytes are kept for later calls, and so many at all: of larger ones NumPy's own come in huge
# pages, which take less time to get than to fill.
KEPT, LIMIT = 2**22, 2**26

_rooms: dict[int, list[np.ndarray]] = {}
_held = 0
_lock = threading.Lock()


def aligned(array: np.ndarray) -> np.ndarray:
    """Return an array whose memory JAX uses as it is: the array itself, or a copy as long as who gets it has it."""
    if array.flags.c_contiguous and array.dtype.isnative and is_aligned(array):
        return array
    # JAX would copy by itself what isn't aligned, to memory that takes several times as long to get.
    copy = _room_for(array.nbytes).view(array.dtype.newbyteorder("=")).reshape(array.shape)
    copy[...] = array
    return copy


def adopted(native: jax.Array) -> np.ndarray:
    """Return NumPy's array over the memory of an array of JAX that nobody else has or will have."""
    values = np.asarray(native)
    if not values.flags.c_contiguous or values.flags.owndata or native.nbytes == 0:
        return np.array(values)
    bits = np.dtype(f"u{values.itemsize}") if values.dtype.kind == "V" else values.dtype
    return np.asarray(_Adopted(native, values, bits)).view(values.dtype)


class _Adopted:
    """What lets NumPy write to the memory of an array that nobody else has, and keeps that alive."""

    def __init__(self, native: jax.Array, values: np.ndarray, bits: np.dtype[Any]) -> None:
        self.native = native
        self.__array_interface__ = {
            **values.__array_interface__,
            "data": (values.ctypes.data, False),
            "typestr": bits.str,
        }


def _room_for(nbytes: int) -> np.ndarray:
    # Aligned bytes that nobody else uses as long as the caller, or who got them from it, has them.
    global _held
    if nbytes > KEPT:
        return aligned_part(np.empty(nbytes + ALIGNMENT, np.uint8), nbytes)
    with _lock:
        rooms = _rooms.setdefault(nbytes, [])
        for place in range(len(rooms)):
            # Only the list has it, and this call: who uses a room has a view of it.
            if sys.getrefcount(rooms[place]) == _ALONE:
                return aligned_part(rooms[place], nbytes)
        room = np.empty(nbytes + ALIGNMENT, np.uint8)
        if _held + nbytes <= LIMIT:
            _held += nbytes
            rooms.append(room)
        return aligned_part(room, nbytes)


# How many references are counted of what a list alone has: it depends on the version of Python.
_listed = [np.empty(1)]
_ALONE = sys.getrefcount(_listed[0])
