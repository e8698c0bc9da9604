"""Constants to derivatives, on NumPy."""

from __future__ import annotations

from . import _direct as np


def stop_gradient(x: np.ndarray, /) -> np.ndarray:
    return np.array(x)
