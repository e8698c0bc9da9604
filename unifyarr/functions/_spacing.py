"""Evenly spaced values between arrays, for ``linspace``, its twin in ``unifyarr.numpy``, and the ramps of ``pad``."""

from __future__ import annotations

import numpy as np

from .._core.arrays.array import Array
from ._from_numbers import counting
from .manipulation import broadcast_to, reshape
from .searching import where
from .utility import any as any_of


def evenly_spaced(first: Array, last: Array, count: int, endpoint: bool) -> tuple[Array, Array]:
    """Return values from one floating-point array to another along a new first axis, and the step between them."""
    delta = last - first
    intervals = count - 1 if endpoint else count
    places = reshape(counting(count, delta), (-1,) + (1,) * delta.ndim)
    if intervals <= 0:
        return places * delta + first, delta * np.nan
    step = delta / intervals
    # As in NumPy, one step that underflows to zero changes the order of the operations for all of them. The selection
    # also keeps XLA from contracting the product and the sum to one operation, which rounds once.
    values = where(any_of(step == 0), places / intervals * delta, places * step) + first
    if endpoint:
        values[-1] = broadcast_to(last, delta.shape)
    return values, step
