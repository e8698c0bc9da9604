"""NumPy's memory: at addresses that other engines use as they are, and on its way to them through DLPack."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

# The alignment of buffers. XLA, which compiles for JAX and TensorFlow, copies unaligned ones.
ALIGNMENT = 64
# From so many bytes on it pays, and beyond so many NumPy says itself that there's no such memory.
SMALLEST, LARGEST = 2**14, 2**40


def aligned_empty(shape: tuple[int, ...], dtype: np.dtype[Any]) -> np.ndarray:
    """Return an array of unset values, in memory that every engine on the host can share if it's large."""
    return _aligned(np.empty, shape, dtype)


def aligned_zeros(shape: tuple[int, ...], dtype: np.dtype[Any]) -> np.ndarray:
    """Return an array of zeros, in memory that every engine on the host can share if it's large."""
    return _aligned(np.zeros, shape, dtype)


def aligned_copy(array: np.ndarray) -> np.ndarray:
    """Return a C-contiguous copy, in memory that every engine on the host can share if it's large."""
    if array.nbytes < SMALLEST:
        return array.copy()
    copy = aligned_empty(array.shape, array.dtype)
    copy[...] = array
    return copy


def is_aligned(array: np.ndarray) -> bool:
    """Return whether an array begins where every engine on the host can share its memory."""
    # NumPy's ``ctypes`` takes several times as long.
    return bool(array.__array_interface__["data"][0] % ALIGNMENT == 0)


def aligned_part(memory: np.ndarray, nbytes: int) -> np.ndarray:
    """Return so many bytes of a memory that has ``ALIGNMENT`` more, from an address that can be shared on."""
    start = -memory.ctypes.data % ALIGNMENT
    return memory[start : start + nbytes]


def reads_marks(max_version: tuple[int, int] | None) -> bool:
    """Return whether a consumer of that version of DLPack reads the read-only flag."""
    return max_version is not None and tuple(max_version) >= (1, 0)


def export(
    array: np.ndarray, *, writable: bool, copy: bool | None = None, read_only: bool = False, **request: Any
) -> object:
    """Return a DLPack capsule of an array of NumPy's: of its memory if that may be written, else of a copy.

    ``writable`` means that the engine writes the memory in place; ``read_only`` means that it must not be written all
    the same. A copy of read-only memory is flagged, so that no write is lost silently. With ``copy=False``, read-only
    memory is exported with the flag. Some consumers ignore flags, so only an explicit ``copy=False`` gets the memory
    itself. The rest of the ``request`` are the arguments of ``__dlpack__``.
    """
    shares = writable and not read_only
    # A consumer that knows no negative strides may end the process.
    backwards = any(stride < 0 for stride in array.strides)
    obeys = reads_marks(request.get("max_version"))
    marked = read_only and obeys and copy is None
    if copy is False:
        if shares and backwards:
            raise BufferError("copy=False, and only a copy can do: not all consumers know negative strides")
        if not shares and not obeys:
            raise BufferError("copy=False, and only a copy can do: the consumer reads no mark of read-only memory")
        marked = not shares
    elif copy is None and (backwards or not shares):
        array = array.copy()
    if marked:
        array = array.view()
        array.flags.writeable = False
    return array.__dlpack__(copy=copy, **request)


def _aligned(make: Any, shape: tuple[int, ...], dtype: np.dtype[Any]) -> np.ndarray:
    nbytes = math.prod(shape) * dtype.itemsize
    if not SMALLEST <= nbytes <= LARGEST:
        made: np.ndarray = make(shape, dtype)
        return made
    aligned: np.ndarray = aligned_part(make(nbytes + ALIGNMENT, np.uint8), nbytes).view(dtype).reshape(shape)
    return aligned
