"""What natives hold and which memory they share: what calls and graphs are checked by."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np

from .handle import Handle


def native_values(backend: Handle, native: Any) -> np.ndarray:
    """Return a copy of a native array's values."""
    # A NumPy view of an immutable native would keep it from being donated to the next write.
    return np.array(backend.to_numpy(native if backend.mutable else backend.copy(native)), order="K")


def same_bits(first: np.ndarray, second: np.ndarray) -> bool:
    """Return whether two arrays are equal to the last bit, whatever is not a number included."""
    return first.dtype == second.dtype and first.shape == second.shape and first.tobytes() == second.tobytes()


def agree(first: np.ndarray, second: np.ndarray) -> bool:
    """Return whether two arrays of one shape and dtype are equal, as far as kernels may round differently."""
    import ml_dtypes

    # Two kernels round differently: in proportion to the largest of the values that may have cancelled out.
    if first.dtype.kind in "biu":
        return np.array_equal(first, second)
    tolerance = float(np.sqrt(float(ml_dtypes.finfo(first.dtype).eps)))
    wide = np.complex128 if first.dtype.kind == "c" else np.float64
    first, second = first.astype(wide), second.astype(wide)
    finite = np.abs(first[np.isfinite(first)])
    return np.allclose(first, second, rtol=tolerance, atol=tolerance * finite.max(initial=0.0), equal_nan=True)


def same(first: np.ndarray, second: np.ndarray) -> bool:
    """Return whether two results are of one shape and dtype, and of equal values up to rounding."""
    return first.shape == second.shape and first.dtype == second.dtype and agree(first, second)


def natives_share_memory(backend: Handle, first: Any, second: Any) -> bool:
    """Return whether a write of the engine to one of two natives may be seen through the other."""
    # What is read from a variable is its own.
    writable = backend.can_write(first) and backend.can_write(second)
    return bool(writable and backend.may_share_memory(first, second))


def restore(backend: Handle, natives: Iterable[Any], copies: Iterable[Any]) -> None:
    """Write the copies of natives back to those that have changed since."""
    for native, copy in zip(natives, copies, strict=True):
        if not same_bits(native_values(backend, native), native_values(backend, copy)):
            backend.assign(native, copy)
