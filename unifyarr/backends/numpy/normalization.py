"""Helpers for normalization on NumPy."""

from __future__ import annotations

import math

from ..kernels import scaled_root_mean_square, worked_around
from . import _direct as np


@worked_around("NumPy's own functions of squares keep all of them")
def root_mean_square(x: np.ndarray, /, *, axis: tuple[int, ...], eps: float) -> np.ndarray:
    places = list(range(x.ndim))
    kept = [place for place in places if place not in axis]
    shape = tuple(1 if place in axis else length for place, length in enumerate(x.shape))
    count = math.prod(x.shape[place] for place in axis)

    def mean_square(part: np.ndarray) -> np.ndarray:
        total = np.einsum(part, places, part, places, kept, dtype=np.float64, casting="same_kind")
        return np.asarray(total).reshape(shape) / count

    with np.errstate(all="ignore"):
        found = mean_square(x)
        if np.isinf(found).any():
            found = scaled_root_mean_square(np, x, axis, eps)
        else:
            found = np.sqrt(found + eps)
        return np.asarray(found).astype(x.dtype)
