"""Counting on NumPy."""

from __future__ import annotations

from typing import Any

from ..kernels import declines
from . import _direct as np

# The dtypes of real weights, which NumPy adds up in float64.
_WEIGHTS = frozenset("efd")


@declines(lambda x, *weights, **_: any(weight.dtype.char not in _WEIGHTS for weight in weights))
def bincount(x: np.ndarray, /, *weights: np.ndarray, length: int) -> Any:
    """Count or weigh each of the integers below ``length``, in an int64 array ``x`` of one axis and no others."""
    if not weights:
        return np.bincount(x, minlength=length)
    [weight] = weights
    if weight.dtype.char not in _WEIGHTS:
        return NotImplemented
    with np.errstate(over="ignore"):
        return np.bincount(x, weight, length).astype(weight.dtype, copy=False)


# Types don't tell whether the range of evenly spaced edges is finite.
@declines(
    lambda x, edges, *weights, uniform: (
        x.dtype != np.float64 or uniform or any(weight.dtype.char not in _WEIGHTS for weight in weights)
    )
)
def count_between(x: np.ndarray, edges: np.ndarray, /, *weights: np.ndarray, uniform: bool) -> Any:
    """Count or weigh the elements between neighbours among ``edges``, of the dtype of ``x``; both have one axis.

    ``uniform`` says that edges are evenly spaced, as NumPy's own ``linspace`` has them.
    """
    if x.dtype != np.float64 or (weights and weights[0].dtype.char not in _WEIGHTS):
        return NotImplemented
    if not uniform:
        return np.histogram(x, edges, weights=weights[0] if weights else None)[0]
    first, last = float(edges[0]), float(edges[-1])
    if not np.isfinite(last - first):
        return NotImplemented
    return np.histogram(x, len(edges) - 1, (first, last), weights=weights[0] if weights else None)[0]
