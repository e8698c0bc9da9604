"""What is constant to derivatives, on NumPy."""

from __future__ import annotations

import numpy as np


def stop_gradient(x: np.ndarray, /) -> np.ndarray:
    return np.array(x)
