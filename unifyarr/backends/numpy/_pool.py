"""Buffers of large results, used again once nothing refers to them.

Memory that is fresh from the system costs more than the arithmetic on large arrays: the system clears each page when it
is first written. NumPy writes into temporaries of its expressions instead, which it can't do with those that our arrays
hold. The pool keeps its own reference to each large result that it allocated. When no other one is left,
the array is dead, and the next result of its shape and dtype takes its memory. So the pool reuses memory
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

from ..forks import free_after_fork
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
        self._lock = free_after_fork(threading.Lock())

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

    def has(self, buffer: np.ndarray, shape: tuple[int, ...], dtype: np.dtype[Any]) -> bool:
        """Return whether an array is a buffer of the pool, of this shape and dtype."""
        return any(buffer is each for each in self._kept.get((shape, dtype), ()))

    def _keep(self, key: Key, buffer: np.ndarray) -> None:
        with self._lock:
            buffers = self._kept.setdefault(key, [])
            self._kept.move_to_end(key)
            buffers.append(buffer)
            self._bytes += buffer.nbytes
            if len(buffers) > _MOST_ALIKE:
                self._bytes -= buffers.pop(0).nbytes
            self._shrink()

    def _shrink(self) -> None:
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


def _in_order(x: np.ndarray) -> bool:
    """Return whether a result has C's order beside this operand, whose elements may lie apart or be broadcast."""
    if x.flags.c_contiguous:
        return True
    strides = [stride for stride, length in zip(x.strides, x.shape, strict=True) if length > 1 and stride]
    return min(strides, default=1) > 0 and strides == sorted(strides, reverse=True)


def large(ufunc: np.ufunc) -> Callable[..., Any]:
    """Return a function that computes a ufunc of large arrays into memory of the pool.

    That may be the memory of an operand that nothing else refers to: its last argument has a bit for each such.
    """
    # The result's dtype by operands' dtypes and types of numbers, ``None`` where NumPy promotes otherwise.
    dtypes: dict[Any, np.dtype[Any] | None] = {}
    # Integers to negative powers fail when some of the result is written.
    fails = "iu" if ufunc is np.power else ""

    def dtype_of(*kinds: Any) -> np.dtype[Any] | None:
        if kinds not in dtypes:
            # Some dtypes of other packages compute nothing, and NumPy's promotion doesn't treat numbers as weak beside
            # them.
            known = all(kind.isbuiltin == 1 for kind in kinds if isinstance(kind, np.dtype))
            # The loop's result dtype, found by a call on empty arrays.
            samples = [np.empty(0, kind) if isinstance(kind, np.dtype) else kind(1) for kind in kinds]
            dtype = ufunc(*samples).dtype if known else None
            # Complex powers to one number are other functions.
            dtypes[kinds] = None if ufunc is np.power and dtype is not None and dtype.kind == "c" else dtype
        return dtypes[kinds]

    def unary(x: np.ndarray, spare: int = 0) -> Any:
        dtype = dtype_of(x.dtype)
        if dtype is None:
            return NotImplemented
        if not _in_order(x):
            return ufunc(x)
        if spare and POOL.has(x, x.shape, dtype):
            return ufunc(x, out=x)
        return ufunc(x, out=POOL.take(x.shape, dtype))

    def binary(x1: Any, x2: Any, spare: int = 0) -> Any:
        one, two = isinstance(x1, np.ndarray), isinstance(x2, np.ndarray)
        dtype = dtype_of(x1.dtype if one else type(x1), x2.dtype if two else type(x2))
        if dtype is None:
            return NotImplemented
        if not ((not one or _in_order(x1)) and (not two or _in_order(x2))):
            return ufunc(x1, x2)
        shape = x1.shape if one else x2.shape
        if one and two and x2.shape != shape:
            shape = np.broadcast(x1, x2).shape
        if spare and dtype.kind not in fails:
            if spare & 1 and one and POOL.has(x1, shape, dtype):
                return ufunc(x1, x2, out=x1)
            if spare & 2 and two and POOL.has(x2, shape, dtype):
                return ufunc(x1, x2, out=x2)
        return ufunc(x1, x2, out=POOL.take(shape, dtype))

    return unary if ufunc.nin == 1 else binary
