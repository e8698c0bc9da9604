"""Buffers of large results, used again once nothing refers to them.

Memory that is fresh from the system costs more than the arithmetic on large arrays: the system clears each page when it
is first written. NumPy writes into temporaries of its expressions instead, which it can't do with those that our arrays
hold. The pool keeps its own reference to each large result that it allocated. When that is the only one left, nobody
can read the array any more, and the next result of its shape and dtype takes its memory. So the pool reuses memory
exactly where the allocator might have done so: views, other threads, debuggers, exported buffers and C code that holds
an array each have a reference of their own. References that an interpreter borrows (Python 3.14) have an owner
elsewhere, which is counted.
"""

from __future__ import annotations

import sys
import threading
from collections import OrderedDict
from collections.abc import Callable
from sys import getrefcount
from typing import Any

import numpy as np

from ..references import has_no_lock

# From how many bytes on a result comes from the pool; NumPy's own temporaries are reused from there on too.
LARGE = 1 << 18
# How many bytes the pool refers to at most, those in use included, and how many buffers of one shape and dtype.
MOST_BYTES = 1 << 28
_MOST_ALIKE = 4

Key = tuple[tuple[int, ...], "np.dtype[Any]"]


def _references(buffer: np.ndarray) -> int:
    return getrefcount(buffer)


def _alone() -> int:
    """Return the count of a buffer that a local variable alone refers to, as ``take`` asks for it."""
    buffers = [np.empty(1)]
    buffer = buffers.pop()
    return _references(buffer)


class Pool:
    """Large arrays, each with the reference that the pool holds."""

    def __init__(self) -> None:
        self._kept: OrderedDict[Key, list[np.ndarray]] = OrderedDict()
        self._bytes = 0
        self._lock = threading.Lock()

    def take(self, shape: tuple[int, ...], dtype: np.dtype[Any]) -> np.ndarray:
        """Return a C-contiguous array, whose values aren't set, that nothing else refers to."""
        key = (shape, dtype)
        buffers = self._kept.get(key)
        if buffers is not None:
            for _ in range(len(buffers)):
                try:
                    # The one that was used last, which the processor's cache may hold. From here on no other thread
                    # finds it.
                    buffer = buffers.pop()
                except IndexError:
                    break
                if _references(buffer) == _ALONE:
                    buffers.append(buffer)
                    return buffer
                buffers.insert(0, buffer)
        buffer = np.empty(shape, dtype)
        self._keep(key, buffer)
        return buffer

    def _keep(self, key: Key, buffer: np.ndarray) -> None:
        with self._lock:
            buffers = self._kept.setdefault(key, [])
            self._kept.move_to_end(key)
            buffers.append(buffer)
            self._bytes += buffer.nbytes
            if len(buffers) > _MOST_ALIKE:
                self._bytes -= buffers.pop(0).nbytes
            while self._bytes > MOST_BYTES and self._kept:
                # The shape that was longest not asked for goes first.
                _, oldest = self._kept.popitem(last=False)
                self._bytes -= sum(each.nbytes for each in oldest)

    def clear(self) -> None:
        """Forget all buffers. Those in use stay as they are."""
        with self._lock:
            self._kept.clear()
            self._bytes = 0


_ALONE = _alone()
# Without the global lock a thread may use a buffer before its reference is counted.
COUNTS = sys.implementation.name == "cpython" and not has_no_lock()
POOL = Pool()


def empty_like(x: np.ndarray) -> np.ndarray:
    """Return an array of the shape, dtype and layout of another; in memory of the pool, if it's a large result."""
    if COUNTS and x.nbytes >= LARGE and x.flags.c_contiguous:
        return POOL.take(x.shape, x.dtype)
    return np.empty_like(x)


def large(ufunc: np.ufunc) -> Callable[..., Any]:
    """Return what computes a ufunc of large arrays into memory of the pool."""
    dtypes: dict[Any, Any] = {}

    def dtype_of(kinds: tuple[Any, ...]) -> Any:
        # What the loop gives, by a call on nothing; a Python number is one of its type.
        samples = [np.empty(0, kind) if isinstance(kind, np.dtype) else kind(1) for kind in kinds]
        found = ufunc(*samples).dtype
        dtypes[kinds] = found
        return found

    def unary(x: np.ndarray) -> Any:
        if not x.flags.c_contiguous:
            return ufunc(x)
        kinds = (x.dtype,)
        return ufunc(x, out=POOL.take(x.shape, dtypes.get(kinds) or dtype_of(kinds)))

    def binary(x1: Any, x2: Any) -> Any:
        one = isinstance(x1, np.ndarray)
        x = x1 if one else x2
        if one and isinstance(x2, np.ndarray):
            if x1.shape != x2.shape or not x2.flags.c_contiguous:
                return ufunc(x1, x2)
            kinds = (x1.dtype, x2.dtype)
        else:
            kinds = (x1.dtype, type(x2)) if one else (type(x1), x2.dtype)
        if not x.flags.c_contiguous:
            return ufunc(x1, x2)
        return ufunc(x1, x2, out=POOL.take(x.shape, dtypes.get(kinds) or dtype_of(kinds)))

    return unary if ufunc.nin == 1 else binary
