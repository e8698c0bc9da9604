"""Sets on NumPy: values in ascending order, each NaN a value of its own, -0.0 and 0.0 one value."""

from __future__ import annotations

from .. import kernels
from . import _direct as np
from ._bfloat16 import ordered


@ordered
def isin(x1: np.ndarray, x2: np.ndarray, /, *, invert: bool) -> np.ndarray:
    return np.asarray(np.isin(x1, x2, invert=invert))


@ordered
def unique_all(x: np.ndarray, /) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Return values, first indices, inverse (of the shape of ``x``) and counts."""
    return tuple(np.unique_all(x))  # type: ignore[return-value]


@ordered
def unique_counts(x: np.ndarray, /) -> tuple[np.ndarray, np.ndarray]:
    if x.dtype == np.float16:
        values, _, _, counts = unique_all(x)
        return values, counts
    return tuple(np.unique_counts(x))  # type: ignore[return-value]


@ordered
def unique_inverse(x: np.ndarray, /) -> tuple[np.ndarray, np.ndarray]:
    return kernels.unique_inverse(x)


@ordered
def unique_values(x: np.ndarray, /) -> np.ndarray:
    # Not np.unique_values: that one doesn't sort.
    if x.dtype == np.float16:
        # Sorted as ``sort`` says: not by NumPy's unstable sort.
        return np.unique(x.astype(np.float32), equal_nan=False).astype(x.dtype)
    return np.unique(x, equal_nan=False)
