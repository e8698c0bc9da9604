"""Evenly spaced values between arrays, for ``linspace``, its twin in ``unifyarr.numpy``, and the ramps of ``pad``."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from .._core.arrays.array import Array
from .._core.arrays.numbers import Number
from .._core.engines import dtypes
from ._from_numbers import beside, counting, is_rounded
from .manipulation import broadcast_to, reshape
from .searching import where
from .utility import any as any_of

if TYPE_CHECKING:
    from .._core.engines.dtypes import DType
    from .._core.engines.handle import Handle


def evenly_spaced(first: Array, last: Array, count: int, endpoint: bool) -> tuple[Array, Array]:
    """Return values from one floating-point array to another along a new first axis, and the step between them."""
    delta = last - first
    intervals = count - 1 if endpoint else count
    places = reshape(counting(count, delta), (-1,) + (1,) * delta.ndim)
    if intervals <= 0:
        return places * delta + first, delta * np.nan
    step = delta / intervals
    # As in NumPy, one step that underflows to zero changes the order of the operations for all of them.
    values = _rounded(where(any_of(step == 0), places / intervals * delta, places * step)) + first
    if endpoint:
        values[-1] = broadcast_to(last, delta.shape)
    return values, step


def _rounded(product: Array) -> Array:
    """Return the product, which XLA can't contract with a sum to one operation that rounds once."""
    if dtypes.rank(product.dtype) > 2:
        return product
    size = abs(product)
    # Zeros go by themselves for their signs and their derivatives.
    return where(product == 0, product, where(product < 0, -size, size))


def between(
    numbers: tuple[Number, Number], count: int, endpoint: bool, dtype: DType, device: object, backend: Handle
) -> Array:
    """Compute ``linspace`` between numbers that stay on their engine."""
    if count < 0:
        raise ValueError(f"linspace() makes no negative number of values, as {count}")
    start, stop = beside(numbers, dtype, device, backend)
    values, _ = evenly_spaced(start, stop, count, endpoint)
    return (values // 1 if is_rounded(values, dtype) else values).astype(dtype, copy=False)
