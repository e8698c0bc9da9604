"""Combining values where indices say, on NumPy."""

from __future__ import annotations

from typing import Any

from ..kernels import support_native_out
from . import _direct as np

_UFUNCS = {"add": np.add, "multiply": np.multiply, "max": np.maximum, "min": np.minimum}


@support_native_out
def scatter_reduce(
    x: np.ndarray, value: np.ndarray, /, *indices: np.ndarray, reduction: str, out: Any = None
) -> np.ndarray:
    """Return ``x`` with ``value`` (of the shape of ``x[indices]`` and the dtype of ``x``) combined with it there.

    Equal indices accumulate all values; ``"set"``, which only replaces, keeps the last one. ``out`` may be ``x``
    itself.
    """
    # Bounds are checked before writing in place; for a copy, NumPy checks them itself.
    for axis, index in enumerate(indices if out is not None else ()):
        length = x.shape[axis]
        if index.size and not (-length <= index.min() and index.max() < length):
            raise IndexError(f"an index is out of bounds for axis {axis} with size {length}")
    result: np.ndarray = x.copy() if out is None else out
    if result is not x:
        result[...] = x
    if reduction == "set":
        result[indices] = value
    else:
        _UFUNCS[reduction].at(result, indices, value)
    return result
