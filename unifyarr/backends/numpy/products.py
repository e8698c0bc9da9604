"""Convolution on NumPy."""

from __future__ import annotations

from ..kernels import declines
from . import _direct as np
from ._bfloat16 import BFLOAT16


@declines(lambda x1, x2, **_: x1.dtype == BFLOAT16)
def convolve(x1: np.ndarray, x2: np.ndarray, /, *, start: int, length: int) -> np.ndarray:
    """Convolve two vectors, the second one not longer; only the part that is wanted."""
    if x1.dtype == BFLOAT16:
        return NotImplemented
    modes = {x1.size + x2.size - 1: "full", x1.size: "same", x1.size - x2.size + 1: "valid"}
    return np.convolve(x1, x2, modes[length])  # type: ignore[call-overload]
