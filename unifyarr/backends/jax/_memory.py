"""Memory at addresses that JAX uses as it is, for NumPy's arrays that lie elsewhere."""

from __future__ import annotations

import sys
import threading

import numpy as np

# What addresses are multiples of.
ALIGNMENT = 64
# Pieces of at most so many bytes are kept for later calls, and so many at all: of larger ones NumPy's own come in huge
# pages, which take less time to get than to fill.
KEPT, LIMIT = 2**22, 2**26

_rooms: dict[int, list[np.ndarray]] = {}
_held = 0
_lock = threading.Lock()


def is_aligned(array: np.ndarray) -> bool:
    """Say whether JAX can use an array's memory as it is."""
    return array.ctypes.data % ALIGNMENT == 0


def room_for(nbytes: int) -> np.ndarray:
    """Return aligned bytes that nobody else uses as long as the caller, or who got them from it, has them."""
    global _held
    if nbytes > KEPT:
        return _aligned(nbytes)
    with _lock:
        rooms = _rooms.setdefault(nbytes, [])
        for place in range(len(rooms)):
            # Only the list has it, and this call: who uses a room has a view of it.
            if sys.getrefcount(rooms[place]) == _ALONE:
                return rooms[place][:]
        room = _aligned(nbytes)
        if _held + nbytes <= LIMIT:
            _held += nbytes
            rooms.append(room)
        return room[:]


def _aligned(nbytes: int) -> np.ndarray:
    memory = np.empty(nbytes + ALIGNMENT, np.uint8)
    start = -memory.ctypes.data % ALIGNMENT
    # A view's base is who owns the memory: as an array over a buffer it's itself what others refer to.
    return np.frombuffer(memory.data, np.uint8, nbytes, start) if nbytes else memory[:0]


# How many references are counted of what a list alone has: it depends on the version of Python.
_listed = [np.empty(1)]
_ALONE = sys.getrefcount(_listed[0])
