"""NumPy's memory at addresses that other engines use as they are."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

# What addresses are multiples of: XLA, which compiles for JAX and TensorFlow, copies what lies elsewhere.
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
    """Say whether an array begins where every engine on the host can share its memory."""
    return array.ctypes.data % ALIGNMENT == 0


def aligned_part(memory: np.ndarray, nbytes: int) -> np.ndarray:
    """Return so many bytes of a memory that has ``ALIGNMENT`` more, from an address that can be shared on."""
    start = -memory.ctypes.data % ALIGNMENT
    return memory[start : start + nbytes]


def _aligned(make: Any, shape: tuple[int, ...], dtype: np.dtype[Any]) -> np.ndarray:
    nbytes = math.prod(shape) * dtype.itemsize
    if not SMALLEST <= nbytes <= LARGEST:
        made: np.ndarray = make(shape, dtype)
        return made
    aligned: np.ndarray = aligned_part(make(nbytes + ALIGNMENT, np.uint8), nbytes).view(dtype).reshape(shape)
    return aligned
