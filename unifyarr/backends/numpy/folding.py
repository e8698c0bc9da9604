"""Windows as columns on NumPy, and columns added up."""

from __future__ import annotations

import math

from ..kernels import for_derivatives, worked_around
from . import _direct as np
from ._windows import BLOCK, windows_of

_by_views = worked_around("NumPy has views of windows alone")


@for_derivatives
@_by_views
def unfold(
    x: np.ndarray, /, *, window: tuple[int, ...], stride: tuple[int, ...], dilation: tuple[int, ...]
) -> np.ndarray:
    """Return windows over the last axes, of shape (..., places in a window, windows); nothing is empty."""
    axes = len(window)
    leading = x.shape[:-axes]
    found = windows_of(x.reshape(1, math.prod(leading), *x.shape[-axes:]), window, stride, dilation)[0]
    return found.copy(order="C").reshape(*leading, *found.shape[1:])


@for_derivatives
@_by_views
def fold(
    x: np.ndarray, /, *, lengths: tuple[int, ...], stride: tuple[int, ...], dilation: tuple[int, ...]
) -> np.ndarray:
    """Add up columns of shape (..., places in a window, windows) to arrays that windows over such lengths are of."""
    axes = len(lengths)
    leading, window = x.shape[: -2 * axes], x.shape[-2 * axes : -axes]
    number = math.prod(leading)
    columns = x.reshape(number, *x.shape[-2 * axes :])
    total = np.zeros((number, *lengths), x.dtype)
    windows = windows_of(total[None], window, stride, dilation, writeable=True)[0]
    # Few at a time, which stay in a processor's cache until all places are added.
    several = max(1, BLOCK // max(1, total[0].nbytes))
    for start in range(0, number, several):
        block, parts = windows[start : start + several], columns[start : start + several]
        for place in np.ndindex(*window):
            part = block[(slice(None), *place)]
            np.add(part, parts[(slice(None), *place)], out=part)
    return total.reshape(*leading, *lengths)
