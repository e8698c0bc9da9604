"""Sorting on torch: NaN last, or first where descending; always stable, which the standard allows.

Complex numbers, for which torch has no order, are sorted as in NumPy: by real, then by imaginary part, NaN last.
"""

from __future__ import annotations

from torch import Tensor

from ..kernels import worked_around
from ._order import order_of, sort_along
from ._shared import UNSIGNED, flip_order


@worked_around("no kernel for complex numbers, none for long arrays of uint16, uint32, uint64")
def sort(x: Tensor, /, *, axis: int, descending: bool, stable: bool) -> Tensor:
    if x.is_complex():
        return x.take_along_dim(order_of(x, axis, descending), axis)
    if x.dtype in UNSIGNED:
        return flip_order(sort_along(flip_order(x), axis, descending).values).view(x.dtype)
    # With ``out`` torch sorts slower than it sorts and copies.
    return sort_along(x, axis, descending).values


@worked_around("no kernel for complex numbers, none for long arrays of uint16, uint32, uint64")
def argsort(x: Tensor, /, *, axis: int, descending: bool, stable: bool) -> Tensor:
    return order_of(x, axis, descending)
