"""Searching on torch."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor

from ..kernels import worked_around
from ._shared import UNSIGNED, as_signed, flip_order, holds
from .sorting import ranks

where = torch.where


def sortable(x: Tensor, *, nan: int) -> Tensor:
    """Return an array of the same order that torch compares, with the rank ``nan`` for all complex NaN."""
    if x.dtype in UNSIGNED:
        return flip_order(x)
    if x.is_complex():
        return ranks(x)[0].masked_fill(torch.isnan(x), nan)
    return x.view(torch.uint8) if x.dtype is torch.bool else x


def _argument(native: Any, name: str, nan: int) -> Any:
    @worked_around("no kernel for bool, uint16, uint32, uint64 and complex numbers")
    def kernel(x: Tensor, /, *, axis: int | None, keepdims: bool) -> Tensor:
        if (x.numel() if axis is None else x.shape[axis]) == 0:
            raise ValueError(f"{name} of an array without elements has no value")
        result = native(sortable(x, nan=nan), axis, keepdims and axis is not None)
        return result.reshape((1,) * x.ndim) if axis is None and keepdims else result

    return kernel


# A NaN wins, whatever is searched.
argmax = _argument(torch.argmax, "argmax", torch.iinfo(torch.int64).max)
argmin = _argument(torch.argmin, "argmin", -1)


def nonzero(x: Tensor, /) -> tuple[Tensor, ...]:
    return tuple(torch.nonzero(as_signed(x), as_tuple=True))


@worked_around("no kernel for bool, uint16, uint32, uint64 and complex numbers; NaN is not above all numbers")
def searchsorted(x1: Tensor, x2: Tensor, /, *sorter: Tensor, side: Any) -> Tensor:
    if x1.is_floating_point() or x1.is_complex():
        last = x1[sorter[0][-1:]] if sorter else x1[-1:]
        if x1.is_complex() or holds(torch.isnan(last).any() | torch.isnan(x2).any(), unknown=True):
            x1, x2 = ranks(x1, x2)
    else:
        x1, x2 = sortable(x1, nan=0), sortable(x2, nan=0)
    # The engine warns about strides.
    order = sorter[0].contiguous() if sorter else None
    return torch.searchsorted(x1.contiguous(), x2.contiguous(), side=side, sorter=order)
